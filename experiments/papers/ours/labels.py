"""Beyond the papers: is choosing labels worth it on real streams, and is a share of the labels that is asked for kept?

What it models: Elec2 (whether the price of electricity goes up in the next half-hour), mails of which some are spam
(Katakis et al.), and news about acquisitions (Reuters-21578), each in its own order, with a constant feature.  The
first fifth is for tuning only, then everything starts anew on the rest.

`ours/spam-drift` and `ours/elec2`, instances normalised: all labels of the first fifth choose the regulariser of the
second-order Perceptron and b, c of LASEC, for accuracy by the one-standard-error rule (`tuning`), and bisection the
one parameter of every sampler that sets how much it asks.  Accuracy is counted on all of the rest, label bought or not.
Each sampler has a twin with the same learner that asks by a coin of the share the sampler came to ask for.  Baselines
are three learners with all labels, and repeating the last label, of the last round (no change) or of the last that a
coin bought.  Replications are the coins' seeds; a sampler without a coin is the same in all, its twin is not.

`ours/labelling-*`, dense columns standardised by the rows so far: `kept-rate` (of words, AROW with the diagonal of its
matrix by the same rule) asks for 5, 10 and 20 % of the labels.  Against it stand the same learner with as many labels
bought by a coin, and `SGDClassifier` of scikit-learn, which learns from every label that it asks for, by the same
threshold on its own margin.  The first fifth chooses, at each share, one number of our learner, and the loss and the
step of the other.  The rest is cut into blocks for the intervals.  On Elec2 `LastLabels` is the same sampler that also
sees the labels it bought lately; its times were looked for on the whole of that stream.
Many classes: points of 40 classes, each of three clouds, which no line parts; one question an instance.
What it leaves out: other streams of the same kind, the price of a label, and BBQ, whose question depends on the
instance alone: among 39,916 words it asks about all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.papers.claims import Noted, point, steps_inside
from experiments.papers.drift.shifting import value_for_rate
from experiments.papers.kit import DataSet, Experiment, Sizes, over
from experiments.papers.predicates import above, between, each, reaching, wide_enough
from experiments.papers.tuning import one_standard_error
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, WORKLOAD, generator
from lpsm.samplers.last_labels import TIMES
from lpsm.synthetic_streams import drifting

TUNING = 0.2  # share of the stream, from its start
ELEC2 = "elec2", "Elec2 (normalised) as electricity-normalized.csv.gz, in order of time"
MAILS = (
    "spam_katakis_stream", "the spam stream of Katakis et al. as spam_stream.npz: a CSR matrix of 0 and 1, and y"
)  # fmt: skip
NEWS = "reuters21578", "Reuters-21578 as reuters21578.jsonl.gz"


def _stream(name, folder, stand_in, seed, rounds, *, prepared):
    """Return so many (0: all) instances, a constant feature last, labels -1 and +1, and how many are for tuning."""
    from experiments.datasets import named

    if stand_in:
        drawn = drifting(6000, 7, 20.0, generator(seed, WORKLOAD))
        X, y = np.hstack([drawn.X, np.ones((len(drawn.y), 1))]), drawn.y
    else:
        readers = {
            "elec2": named.elec2,
            "spam-drift": named.spam_drift,
            "mails": named.spam_drift,
            "news": named.reuters,
        }
        read = readers[name](Path(folder))
        if name == "mails":
            lengths = np.sqrt(np.diff(read.X.indptr))
            read = replace(read, X=sparse.csr_matrix(sparse.diags(1.0 / np.maximum(lengths, 1.0)) @ read.X))
        elif prepared and name == "elec2":
            read = read.scaled()
        X = read.with_intercept(None if prepared else 1.0).X
        y = np.where(read.y[:, read.classes.index("acq")] if read.y.ndim == 2 else read.y == 1, 1.0, -1.0)
    X, y = X[: rounds or len(y)], y[: rounds or len(y)]
    return X, y, int(TUNING * len(y))


def _study(name, subject, time, data: tuple[str, str]):
    return Experiment(f"ours/{name}", subject, time, DataSet(*data, "a generated target that drifts"))


def _sweep(axes, **common):
    """Return the sweep over axes, on the data that a setup says."""
    return lambda setup: {
        key: task | setup.source() for key, task in over(axes, rounds=Sizes(2000, 0), **common)(setup).items()
    }


# -- by margin or by chance ----------------------------------------------------------------------------------------

SOP = "sop-label-efficient"
SAMPLERS = {  # key -> parameter that sets how much it asks, and its range
    SOP: ("C", 1e-5, 1e3),
    "sop-ss": ("b", 1e-5, 1e3),
    "lasec-ss": ("a", 1e-5, 1e3),
    "ssmd": ("K", 1e-6, 1e3),
    "perceptron-ss": ("b", 1e-5, 1e3),
}
FULL = ("sop", "lasec", "perceptron")  # all labels
RATES = (0.02, 0.05, 0.1, 0.2, 0.4)
SHOWN = 0.1  # the rate at which samplers are held against the last label bought
GRID = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # of a, and of b
C_FACTORS = (1.1, 2.0, 20.0, 200.0, 2e3, 2e4, 2e5, 2e6, 2e7, 2e8, 2e9)  # of c over b: on Elec2 hardly any drift is best


class Tuned(NamedTuple):
    """Instances and labels, how many of them are for tuning, and what these have chosen."""

    X: Any
    y: Any
    cut: int
    fixed: Mapping[str, float]

    def make(self, key, rng=None, **parameters):
        """Return a sampler with the parameters that were chosen and others."""
        names = "" if key.startswith("perceptron") else "bc" if key.startswith("lasec") else "a"
        parameters = {name: self.fixed[name] for name in names if name in self.fixed} | parameters
        return samplers.make(key, self.X.shape[1], rng=rng, normalize=True, **parameters)

    def early(self, key, rng=None, **parameters):
        """Run a sampler over what is for tuning."""
        return self.make(key, rng, **parameters).run(self.X[: self.cut], self.y[: self.cut])

    def late(self, sampler):
        """Run a sampler over the rest."""
        return sampler.run(self.X[self.cut :], self.y[self.cut :])


@lru_cache(maxsize=1)  # the same for every seed of coins
def _tuned(*source):
    X, y, cut = _stream(*source, prepared=False)
    tuned = Tuned(X, y, cut, {})

    def mistakes(key, **parameters):
        return tuned.early(key, **parameters).prediction != tuned.y[: tuned.cut]

    ones = [{"a": a} for a in GRID]
    pairs = [{"b": b, "c over b": factor} for b, factor in product(GRID, C_FACTORS)]
    sop = one_standard_error(ones, [mistakes("sop", **one) for one in ones])
    lasec = one_standard_error(pairs, [mistakes("lasec", b=p["b"], c=p["b"] * p["c over b"]) for p in pairs])
    return tuned._replace(fixed={**sop, "b": lasec["b"], "c": lasec["b"] * lasec["c over b"]})


def asked_or_by_chance(stream, seed, run, rates, rounds, stand_in, folder):
    """Tune on the first fifth, then run every sampler at every rate, and what it is compared with, on the rest."""
    tuned = _tuned(stream, folder, stand_in, seed, rounds)
    rest, totals = tuned.y[tuned.cut :], []
    for key, wanted, prediction, queried, parameter in chain(
        _samplers(tuned, seed, run, rates), _baselines(tuned, seed, run, rates)
    ):
        accuracy = float(np.mean(prediction == rest))
        row = {"key": key, "wanted": wanted, "rate": float(np.mean(queried)), "accuracy": accuracy}
        totals.append({"run": run, **row, "parameter": parameter})
    same = {"rate": 1.0, "accuracy": float(np.mean(tuned.y[1:] == tuned.y[:-1]))}
    totals.append({"run": run, "key": "no change, whole stream", "wanted": 1.0, **same, "parameter": 0.0})
    return {"totals": totals, "tuned": [{"run": run, **tuned.fixed}]}


def _samplers(tuned, seed, run, rates):
    """Yield key, wanted rate, predictions, whether asked, and parameter of every sampler, each followed by its twin."""
    for (key, (symbol, low, high)), (number, rate) in product(SAMPLERS.items(), enumerate(rates)):
        tossed, coins = generator(seed, SPLIT, run), generator(seed, POLICY, 100 * run + number)

        def asked(value, key=key, symbol=symbol, tossed=tossed):
            return float(tuned.early(key, tossed, **{symbol: value}).queried.mean())

        value = value_for_rate(asked, low, high, rate)
        sampler = tuned.make(key, coins, **{symbol: value})
        log = tuned.late(sampler)
        yield key, rate, log.prediction, log.queried, value
        coin = samplers.FixedCoin(rate=float(log.queried.mean()))
        same = {"stores": sampler.stores, "normalize": True, "kernel": sampler.kernel}
        log = tuned.late(samplers.Sampler(sampler.learner, coin, n_features=tuned.X.shape[1], rng=coins, **same))
        yield f"{key} at random", rate, log.prediction, log.queried, 0.0


def _baselines(tuned, seed, run, rates):
    """Yield the same of learners with all labels, and of repeating the last label, or the last that a coin bought."""
    before, rest = tuned.y[tuned.cut - 1 : -1], tuned.y[tuned.cut :]
    for key in FULL:
        log = tuned.late(tuned.make(key))
        yield key, 1.0, log.prediction, log.queried, 0.0
    yield "no change", 1.0, before, True, 0.0
    coins = generator(seed, POLICY, 100 * run + 50)
    for rate in rates:
        asked = coins.random(len(rest)) < rate
        bought = np.maximum.accumulate(np.where(asked, np.arange(len(rest)), -1))
        bought = np.concatenate([[-1], bought[:-1]])  # what was bought before this round
        yield "last bought", rate, np.where(bought >= 0, rest[bought], before[0]), asked, 0.0


def _percent(totals):
    """Return accuracies: a row a run, a column a key and wanted rate; and the shares asked for on the mean."""
    table = totals.pivot(index="run", columns=["key", "wanted"], values="accuracy")
    return 100 * table, totals.groupby(["key", "wanted"])["rate"].mean()


def _rates(totals):
    return sorted(rate for rate in totals["wanted"].unique() if rate < 1.0)


def _over_chance(totals):
    percent, asked = _percent(totals)
    return {
        f"{key}, {100 * asked[key, rate]:.1f} %:": percent[key, rate] - percent[f"{key} at random", rate]
        for key, rate in product(SAMPLERS, _rates(totals))
    }


def _published(totals):
    return 100 * totals.loc[totals["key"] == "no change, whole stream", "accuracy"]


def _full_over_no_change(totals):
    percent, _ = _percent(totals)
    return {key: percent[key, 1.0] - percent["no change", 1.0] for key in FULL}


def _over_last_bought(totals):
    percent, _ = _percent(totals)
    rate = min(_rates(totals), key=lambda one: abs(one - SHOWN))
    return {key: percent[key, rate] - percent["last bought", rate] for key in SAMPLERS}


def _inside(tuned):
    inside = {name: steps_inside(tuned[name], GRID) for name in ("a", "b")}
    return {**inside, "c over b": steps_inside((tuned["c"] / tuned["b"]).round(6), C_FACTORS)}


def _margin_and_chance(totals):
    """Yield every sampler's curve over the share of the labels, and its twin's, beside the references' levels."""
    for how, twin in (("margin", ""), ("chance", " at random")):
        names = {key: key + twin for key in SAMPLERS} | ({"last bought": "last bought"} if twin else {})
        rows = [
            point(key, own["rate"].mean(), own["accuracy"]) | {"reference": False}
            for key, name in names.items()
            for _, own in totals[totals["key"] == name].groupby("wanted")
        ]
        ends = [extreme(row["x"] for row in rows) for extreme in (min, max)]
        for key in ("sop", "no change"):
            level = float(totals.loc[totals["key"] == key, "accuracy"].mean())
            rows += [{"group": f"{key}, all labels", "x": x, "y": level, "reference": True} for x in ends]
        yield f"asking by {how}", pd.DataFrame(rows)


def _by_margin(stream, subject, data):
    study = _study(stream, subject, "1 min", data)
    study.runs(_sweep({"run": Sizes(range(2), range(10))}, stream=stream, rates=Sizes([0.1, 0.4], list(RATES))))(
        asked_or_by_chance
    )
    reason = "points of accuracy, paired over the coins' seeds"
    more = study.claim("asking by margin is more accurate than by chance, with as many labels", above, "", reason)
    more(_over_chance)
    if stream == "elec2":
        study.claim(
            "repeating the last label is right on the whole stream as often as published", between, "85.33 %",
            low=85.325, high=85.335, unit=" %",
        )(_published)  # fmt: skip
        study.claim("with all labels a linear learner beats no change", above, "", reason, needed=1)(
            _full_over_no_change
        )
        study.claim("every sampler beats repeating the last label that a coin bought", above, "",
                    f"{reason}; set to a tenth of the labels")(_over_last_bought)  # fmt: skip
    study.claims.append(wide_enough(_inside))
    study.picture(stream, x="fraction of labels asked for", y="accuracy", x_scale="log")(_margin_and_chance)
    return study


# -- a share that is kept ------------------------------------------------------------------------------------------

SHARES = (0.05, 0.1, 0.2)
BLOCKS, COINS = 40, 5
STEP = 0.02  # of every threshold
OURS, COIN, THEIRS, LATELY = "ours", "a coin", "scikit-learn", "ours, and the last labels"
DENSE = ("kept-rate", tuple({"c": c} for c in (100.0, 1000.0, 10_000.0, np.inf)))
WORDS = ("arow-diagonal", tuple({"r": r} for r in (0.03, 0.1, 0.3, 1.0)))
SGD = (
    *({"loss": loss, "alpha": alpha} for loss, alpha in product(("log_loss", "hinge"), (1e-5, 1e-4, 1e-3))),
    *({"loss": "log_loss", "learning_rate": "constant", "eta0": eta} for eta in (0.01, 0.1, 1.0)),
)
CLASSES, CLOUDS, FEATURES, APART = 40, 3, 10, 3.5
LINES = ("kept-rate", "ss", "arow-diagonal", "adagrad", "perceptron")


def _ours(key, share, stretch, lately=False, coin=None, **parameters):
    """Play instances and labels by a sampler that keeps to the share, or by one with its learner that asks by a coin.

    Which predictions are right, and which labels were asked for, is returned here and below.
    """
    X, y = stretch
    one = samplers.make(key, X.shape[1] + (len(TIMES) if lately else 0), rate=share, step=STEP, **parameters)
    if coin is not None:
        rule = samplers.FixedCoin(rate=share)
        one = samplers.Sampler(one.learner, rule, n_features=X.shape[1], stores=one.stores, rng=coin)
    log = (samplers.LastLabels(one, TIMES) if lately else one).run(X, y)
    return log.prediction == y, log.queried


def _sgd(share, stretch, **options):
    """Play them by scikit-learn's classifier, which asks where its margin is below a threshold that follows."""
    from sklearn.linear_model import SGDClassifier

    X, y = stretch
    model, s, margin = SGDClassifier(random_state=0, **options), 0.0, 0.0
    right, asked = np.zeros(len(y), dtype=np.bool_), np.zeros(len(y), dtype=np.bool_)
    starts = X.indptr if sparse.issparse(X) else None
    for t in range(len(y)):
        if t:  # the first label is asked for
            x = X[t] if starts is None else X.data[starts[t] : starts[t + 1]]
            w = model.coef_[0] if starts is None else model.coef_[0][X.indices[starts[t] : starts[t + 1]]]
            margin = float(x @ w + model.intercept_[0])
        right[t] = (margin >= 0.0) == (y[t] > 0)
        small = abs(np.tanh(margin / 2.0)) if options["loss"] == "log_loss" else abs(margin)
        asked[t] = small <= s
        s += STEP * (share - asked[t])
        if asked[t]:
            model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
    return right, asked


def _best(grid, play):
    return dict(max(grid, key=lambda one: float(play(**one)[0].mean())))


def _said(setting):
    return " ".join(f"{name}={value}" for name, value in setting.items())


def share_kept(stream, share, seed, rounds, stand_in, folder):
    """Choose on the first fifth, then play the rest."""
    X, y, cut = _stream(stream, folder, stand_in, seed, rounds, prepared=True)
    early, rest = (X[:cut], y[:cut]), (X[cut:], y[cut:])
    key, grid = WORDS if sparse.issparse(X) else DENSE
    own, other = _best(grid, partial(_ours, key, share, early)), _best(SGD, partial(_sgd, share, early))
    logs = {OURS: [_ours(key, share, rest, **own)], THEIRS: [_sgd(share, rest, **other)]}
    logs[COIN] = [_ours(key, share, rest, coin=generator(seed, POLICY, run), **own) for run in range(COINS)]
    if key == "kept-rate":
        lately = _best(grid, partial(_ours, key, share, early, lately=True))
        logs[LATELY] = [_ours(key, share, rest, lately=True, **lately)]
    chosen = {OURS: f"{key} {_said(own)}", THEIRS: _said(other)}
    blocks, totals = [], []
    for who, played in logs.items():
        right, asked = (np.mean([log[i] for log in played], axis=0) for i in (0, 1))
        common = {"key": who, "wanted": share}
        means = {"accuracy": float(right.mean()), "rate": float(asked.mean())}
        totals.append({**common, **means, "chosen": chosen.get(who, "")})
        parts = enumerate(np.array_split(right, BLOCKS))
        blocks += [{**common, "window": window, "accuracy": float(part.mean())} for window, part in parts]
    return {"blocks": blocks, "totals": totals}


def _over(rows, other, own=OURS, index="window"):
    """Points of accuracy, block by block (or run by run), over another (the best of others), by share of the labels."""
    samples = {}
    for share, part in (100 * rows.pivot(index=["wanted", index], columns="key", values="accuracy")).groupby("wanted"):
        best = part[list(other)].mean().idxmax()
        words = f"({part[own].mean():.2f} against {part[best].mean():.2f} % of {best})"
        samples[f"at {100 * share:g} %"] = Noted(part[own] - part[best], words)
    return samples


def _kept(totals):
    own = totals[totals["key"] == OURS]
    return {f"at {100 * share:g} %": [rate / share] for share, rate in zip(own["wanted"], own["rate"], strict=True)}


def _by_share(rows):
    """Return a curve a key over the share wanted."""
    groups = rows.groupby(["key", "wanted"], sort=False)["accuracy"]
    return pd.DataFrame([point(who, share, part) for (who, share), part in groups])


CURVES: dict[str, Any] = {"x": "fraction of labels asked for", "y": "accuracy", "x_scale": "log"}


def _share_kept(stream, data):
    name = f"labelling-{stream}"
    study = _study(name, f"a share of the labels kept to: {stream}", "2 min", data)
    study.runs(_sweep({"share": Sizes((0.2,), SHARES)}, key="{share:g}", stream=stream))(share_kept)
    reason = f"points of accuracy in {BLOCKS} blocks of the stream after its first fifth, paired"
    study.claim(
        "asking by a threshold that keeps to a share is at least level with scikit-learn's classifier doing so",
        reaching, "", reason, low=0.0,
    )(lambda blocks: _over(blocks, [THEIRS]))  # fmt: skip
    study.claim(
        "it is more accurate than as many labels bought by a coin, with the same learner", above, "", reason
    )(lambda blocks: _over(blocks, [COIN]))  # fmt: skip
    if stream == "elec2":
        study.claim("labels bought lately are worth showing where labels come in runs", above, "", reason)(
            lambda blocks: _over(blocks, [OURS], LATELY)
        )
    study.claim("the share asked for is the one wanted", each, "", "over the one wanted", low=0.9, high=1.01)(_kept)
    study.picture(name, **CURVES)(lambda blocks: _by_share(blocks))
    return study


classes = Experiment("ours/labelling-classes", "forty classes that no line parts, one question an instance", "1 min")


@classes.runs(over({"share": Sizes((0.2,), SHARES), "run": Sizes(range(2), range(5))}, rounds=Sizes(3000, 8000)))
def clouds(share, run, seed, rounds):
    """Play the nearest neighbour and learners of lines on the same points."""
    rng = generator(seed, WORKLOAD, run)
    centres = APART / np.sqrt(2.0) * rng.normal(size=(CLASSES, CLOUDS, FEATURES))
    y = rng.integers(CLASSES, size=rounds)
    X = np.hstack([centres[y, rng.integers(CLOUDS, size=rounds)], np.ones((rounds, 1))])
    X[:, :-1] += rng.normal(size=(rounds, FEATURES))
    rows = []
    for key in ("nearest", *LINES):
        said, asked = samplers.MulticlassSampler(key, X.shape[1], CLASSES, rate=share, step=STEP).run(X, y)
        means = {"accuracy": float(np.mean(said == y)), "rate": float(asked.mean())}
        rows.append({"key": key, "wanted": share, "run": run, **means})
    return rows


@classes.claim("with a fifth of the labels the nearest neighbour is right in four of five", above, limit=80.0,
               reason="percent of the whole stream, its start included")  # fmt: skip
def _nearest(clouds):
    return 100 * clouds.loc[(clouds["key"] == "nearest") & (clouds["wanted"] == 0.2), "accuracy"]


@classes.claim("and ahead of the best learner of lines by 20 points", above, limit=20.0, reason="at every share")
def _over_lines(clouds):
    return _over(clouds, LINES, "nearest", "run")


@classes.picture("labelling-classes", **CURVES)
def _classes_by_share(clouds):
    return _by_share(clouds)


EXPERIMENTS = (
    _by_margin("spam-drift", "labels bought of mails that drift, by margin or by chance", MAILS),
    _by_margin("elec2", "labels bought of electricity prices, and the last label repeated", ELEC2),
    *(_share_kept(*one) for one in (("elec2", ELEC2), ("mails", MAILS), ("news", NEWS))),
    classes,
)
