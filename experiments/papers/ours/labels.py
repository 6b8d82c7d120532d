"""Beyond the papers: is choosing labels worth it on real streams, and is a share of the labels that is asked for kept?

What it models: Elec2 (whether the price of electricity rises in the next half-hour), mails of which some are spam
(Katakis et al.), and news about acquisitions (Reuters-21578), each in its own order, with a constant feature.  The
first fifth is for tuning only, then everything starts anew on the rest.
`ours/spam-drift` and `ours/elec2`, instances normalised: each sampler of the papers, at five rates, has a twin with the
same learner that asks by a coin of the share the sampler came to ask for.  References, with all labels, are the
second-order Perceptron and repeating the last label (no change).  Replications are the coins' seeds; a sampler without
a coin is the same in all, its twin is not.
`ours/labelling-*`, dense columns standardised by the rows so far: `kept-rate` (of words, AROW with the diagonal of its
matrix by the same rule) against the same learner with labels bought by a coin, and against `SGDClassifier` of
scikit-learn, which learns from every label that it asks for, by the same threshold on its own margin.  The rest is cut
into blocks for the intervals.  On Elec2 `LastLabels` also sees the labels it bought lately; its times were looked for
on the whole of that stream.  Many classes: 40 classes of three clouds each, which no line parts.
What it leaves out: other streams of the same kind, the price of a label, and BBQ, whose question depends on the
instance alone: among 39,916 words it asks about all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.papers.claims import Noted, against, point, steps_inside, where
from experiments.papers.drift.shifting import value_for_rate
from experiments.papers.kit import DataSet, Experiment, Sizes, over
from experiments.papers.predicates import above, each, reaching, wide_enough
from experiments.papers.tuning import one_standard_error
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, WORKLOAD, generator
from lpsm.samplers.last_labels import TIMES
from lpsm.synthetic_streams import drifting

ELEC2 = "elec2", "Elec2 (normalised) as electricity-normalized.csv.gz, in order of time"
MAILS = ("spam_katakis_stream", "the spam stream of Katakis et al. as spam_stream.npz: a CSR matrix of 0 and 1, and y")
NEWS = "reuters21578", "Reuters-21578 as reuters21578.jsonl.gz"


def _stream(name, folder, stand_in, seed, rounds, *, prepared):
    """Return so many (0: all) instances, a constant feature last, labels -1 and +1, and how many are for tuning."""
    from experiments.datasets import named

    if stand_in:
        drawn = drifting(6000, 7, 20.0, generator(seed, WORKLOAD))
        X, y = np.hstack([drawn.X, np.ones((len(drawn.y), 1))]), drawn.y
    else:
        read = {"elec2": named.elec2, "news": named.reuters}.get(name, named.spam_drift)(Path(folder))
        if prepared and name == "elec2":
            read = read.scaled()
        elif prepared and name == "mails":
            lengths = np.sqrt(np.diff(read.X.indptr))
            read = replace(read, X=sparse.csr_matrix(sparse.diags(1.0 / np.maximum(lengths, 1.0)) @ read.X))
        X = read.with_intercept(None if prepared else 1.0).X
        y = np.where(read.y[:, read.classes.index("acq")] if read.y.ndim == 2 else read.y == 1, 1.0, -1.0)
    X, y = X[: rounds or len(y)], y[: rounds or len(y)]
    return X, y, int(0.2 * len(y))


def _study(name, subject, time, data: tuple[str, str]):
    return Experiment(f"ours/{name}", subject, time, DataSet(*data, "a generated target that drifts"))


def _sweep(axes, **common):
    """Return the sweep over axes, on the data that a setup says."""
    return lambda setup: {
        key: task | setup.source() for key, task in over(axes, rounds=Sizes(2000, 0), **common)(setup).items()
    }


CURVES: dict[str, Any] = {"x": "fraction of labels asked for", "y": "accuracy", "x_scale": "log"}

SAMPLERS = {  # key -> parameter that sets how much it asks, and its range
    "sop-label-efficient": ("C", 1e-5, 1e3),
    "sop-ss": ("b", 1e-5, 1e3),
    "ssmd": ("K", 1e-6, 1e3),
    "perceptron-ss": ("b", 1e-5, 1e3),
}
RATES = (0.02, 0.05, 0.1, 0.2, 0.4)
GRID = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # of a


def _run(X, y, key, a=None, rng=None, **parameters):
    """Return a sampler that has run, and its log; the regulariser `a` is for those of second order."""
    own = {"a": a} if a and not key.startswith("perceptron") else {}
    sampler = samplers.make(key, X.shape[1], rng=rng, normalize=True, **own, **parameters)
    return sampler, sampler.run(X, y)


@lru_cache(maxsize=1)  # the same for every seed of coins
def _tuned(*source):
    """Return instances, labels, how many of them are for tuning, and the regulariser that these have chosen."""
    X, y, cut = _stream(*source, prepared=False)
    ones = [{"a": a} for a in GRID]
    mistakes = [_run(X[:cut], y[:cut], "sop", **one)[1].prediction != y[:cut] for one in ones]
    return X, y, cut, one_standard_error(ones, mistakes)["a"]


def asked_or_by_chance(stream, seed, run, rates, rounds, stand_in, folder):
    """Tune on the first fifth, then run every sampler at every rate, each with its twin, and references on the rest."""
    X, y, cut, a = _tuned(stream, folder, stand_in, seed, rounds)
    rest, totals = (X[cut:], y[cut:]), []

    def total(key, wanted, prediction, queried, parameter=0.0):
        row = {"rate": float(np.mean(queried)), "accuracy": float(np.mean(prediction == y[cut:]))}
        totals.append({"run": run, "key": key, "wanted": wanted, **row, "parameter": parameter})

    for (key, (symbol, low, high)), (number, rate) in product(SAMPLERS.items(), enumerate(rates)):
        tossed, coins = generator(seed, SPLIT, run), generator(seed, POLICY, 100 * run + number)

        def asked(value, key=key, symbol=symbol, tossed=tossed):
            return float(_run(X[:cut], y[:cut], key, a, tossed, **{symbol: value})[1].queried.mean())

        value = value_for_rate(asked, low, high, rate)
        sampler, log = _run(*rest, key, a, coins, **{symbol: value})
        total(key, rate, log.prediction, log.queried, value)
        coin = samplers.FixedCoin(rate=float(log.queried.mean()))
        same = {"stores": sampler.stores, "normalize": True, "kernel": sampler.kernel}
        log = samplers.Sampler(sampler.learner, coin, n_features=X.shape[1], rng=coins, **same).run(*rest)
        total(f"{key} at random", rate, log.prediction, log.queried)
    log = _run(*rest, "sop", a)[1]
    total("sop", 1.0, log.prediction, log.queried)
    total("no change", 1.0, y[cut - 1 : -1], True)
    return {"totals": totals, "tuned": [{"run": run, "a": a}]}


def _percent(totals):
    """Return accuracies: a row a run, a column a key and wanted rate; and the shares asked for on the mean."""
    table = totals.pivot(index="run", columns=["key", "wanted"], values="accuracy")
    return 100 * table, totals.groupby(["key", "wanted"])["rate"].mean()


def _over_chance(totals):
    percent, asked = _percent(totals)
    return {
        f"{key}, {rate:g}:": Noted(
            percent[key, rate] - percent[f"{key} at random", rate], f"with {100 * asked[key, rate]:.1f} % of the labels"
        )
        for key, rate in percent.columns if key in SAMPLERS
    }  # fmt: skip


def _over_no_change(totals):
    percent, _ = _percent(totals)
    return against(percent["sop", 1.0], percent["no change", 1.0])


def _margin_and_chance(totals):
    """Yield every sampler's curve over the share of the labels, and its twin's, beside the references' levels."""
    for how, twin in (("margin", ""), ("chance", " at random")):
        rows = [
            point(key, own["rate"].mean(), own["accuracy"]) | {"reference": False}
            for key in SAMPLERS for _, own in where(totals, key=key + twin).groupby("wanted")
        ]  # fmt: skip
        ends = [extreme(row["x"] for row in rows) for extreme in (min, max)]
        for key in ("sop", "no change"):
            level = where(totals, key=key)["accuracy"].mean()
            rows += [{"group": f"{key}, all labels", "x": x, "y": level, "reference": True} for x in ends]
        yield f"asking by {how}", pd.DataFrame(rows)


def _by_margin(stream, subject, data):
    study = _study(stream, subject, "1 min", data)
    axes = {"run": Sizes(range(2), range(10))}
    study.runs(_sweep(axes, stream=stream, rates=Sizes([0.1, 0.4], list(RATES))))(asked_or_by_chance)
    reason = "points of accuracy, paired over the coins' seeds"
    more = "asking by margin is more accurate than by chance, with the same learner and as many labels"
    study.claim(more, above, "", reason)(_over_chance)
    if stream == "elec2":
        study.claim("with all labels the second-order Perceptron beats no change", above, "", reason)(_over_no_change)
    study.claims.append(wide_enough(lambda tuned: {"a": steps_inside(tuned["a"], GRID)}))
    study.picture(stream, **CURVES)(_margin_and_chance)
    return study


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
    blocks, totals = [], []
    for who, played in logs.items():
        right, asked = (np.mean([log[i] for log in played], axis=0) for i in (0, 1))
        common = {"key": who, "wanted": share}
        means = {"accuracy": float(right.mean()), "rate": float(asked.mean())}
        totals.append({**common, **means})
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


def _share_kept(stream, data):
    name = f"labelling-{stream}"
    study = _study(name, f"a share of the labels kept to: {stream}", "2 min", data)
    study.runs(_sweep({"share": Sizes((0.2,), SHARES)}, key="{share:g}", stream=stream))(share_kept)
    reason = f"points of accuracy in {BLOCKS} blocks of the stream after its first fifth, paired"
    study.claim(
        "asking by a threshold that keeps to a share is at least level with scikit-learn's classifier doing so",
        reaching, "", reason, low=0.0,
    )(lambda blocks: _over(blocks, [THEIRS]))  # fmt: skip
    study.claim("it is more accurate than as many labels bought by a coin, with the same learner", above, "", reason)(
        lambda blocks: _over(blocks, [COIN])
    )
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
