"""Beyond the papers: is choosing labels worth it on real streams, and is a share of the labels that is asked for kept?

What it models: Elec2 (whether the price of electricity rises in the next half-hour), mails of which some are spam
(Katakis et al.), and news about acquisitions (Reuters-21578), each in its own order, with a constant feature, dense
columns standardised by the rows so far.  The first fifth is for tuning only, then everything starts anew on the rest,
which is cut into blocks for the intervals.  `kept-rate` (of words, AROW with the diagonal of its matrix by the same
rule) is held against the same learner with labels bought by a coin, and against `SGDClassifier` of scikit-learn, which
learns from every label that it asks for, by the same threshold on its own margin.  On Elec2 `LastLabels` also sees the
labels it bought lately; its times were looked for on the whole of that stream.  Many classes: 40 classes of three
clouds each, which no line parts.
What it leaves out: other streams of the same kind, the price of a label, and BBQ, whose question depends on the
instance alone: among 39,916 words it asks about all.
"""

from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from experiments.papers.claims import Noted, points, wide
from experiments.papers.kit import DataSet, Experiment, Sizes, over
from experiments.papers.predicates import above, each, reaching
from experiments.quantities import Row
from lpsm import samplers
from lpsm.randomness import POLICY, WORKLOAD, generator
from lpsm.samplers.last_labels import TIMES
from lpsm.synthetic_streams import drifting

DATA = {
    "elec2": ("elec2", "Elec2 (normalised) as electricity-normalized.csv.gz, in order of time"),
    "mails": ("spam_katakis_stream", "the spam stream of Katakis et al. as spam_stream.npz, a CSR matrix and y"),
    "news": ("reuters21578", "Reuters-21578 as reuters21578.jsonl.gz"),
}
CURVES: Row = {"x": "fraction of labels asked for", "y": "accuracy", "x_scale": "log"}
SHARES, BY_SHARE = (0.05, 0.1, 0.2), ("key", "wanted", "accuracy")
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
    right, asked = np.zeros(len(y), bool), np.zeros(len(y), bool)
    for t in range(len(y)):
        if t:  # the first label is asked for
            margin = float((X[t : t + 1] @ model.coef_[0] + model.intercept_)[0])
        right[t] = (margin >= 0.0) == (y[t] > 0)
        small = abs(np.tanh(margin / 2.0)) if options["loss"] == "log_loss" else abs(margin)
        asked[t] = small <= s
        s += STEP * (share - asked[t])
        if asked[t]:
            model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
    return right, asked


def _best(grid, play):
    return dict(max(grid, key=lambda one: float(play(**one)[0].mean())))


def prepared(stream, folder, stand_in, seed, rounds):
    """Return so many (0: all) instances, a constant feature last, labels -1 and +1, and how many are for tuning."""
    from sklearn.preprocessing import normalize  # slow to import

    from experiments.datasets import named

    if stand_in:
        drawn = drifting(6000, 7, 20.0, generator(seed, WORKLOAD))
        X, y = np.hstack([drawn.X, np.ones((len(drawn.y), 1))]), drawn.y
    else:
        read = {"elec2": named.elec2, "mails": named.spam_drift, "news": named.reuters}[stream](Path(folder))
        if stream == "mails":  # of 0 and 1
            read = replace(read, X=normalize(read.X))
        elif stream == "elec2":
            read = read.scaled()
        X = read.with_intercept(None).X
        y = np.where(read.y[:, read.classes.index("acq")] if read.y.ndim == 2 else read.y == 1, 1.0, -1.0)
    X, y = X[: rounds or len(y)], y[: rounds or len(y)]
    return X, y, int(0.2 * len(y))


def share_kept(stream, share, seed, rounds, stand_in, folder):
    """Choose on the first fifth, then play the rest."""
    X, y, cut = prepared(stream, folder, stand_in, seed, rounds)
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
    for share, part in (100 * wide(rows, "accuracy", "key", ["wanted", index])).groupby("wanted"):
        best = part[list(other)].mean().idxmax()
        words = f"({part[own].mean():.2f} against {part[best].mean():.2f} % of {best})"
        samples[f"at {100 * share:g} %"] = Noted(part[own] - part[best], words)
    return samples


def _kept(totals):
    own = totals[totals["key"] == OURS].set_index("wanted")["rate"]
    return {f"at {100 * share:g} %": [rate / share] for share, rate in own.items()}


def _share_kept(stream, folder, published):
    name = f"labelling-{stream}"
    study = Experiment(f"ours/{name}", f"a share of the labels kept to: {stream}", "2 min",
                       DataSet(folder, published, "a generated target that drifts"))  # fmt: skip
    tasks = over({"share": Sizes((0.2,), SHARES)}, key="{share:g}", stream=stream, rounds=Sizes(2000, 0))
    study.runs(lambda setup: {key: task | setup.source() for key, task in tasks(setup).items()})(share_kept)
    reason = f"points of accuracy in {BLOCKS} blocks of the stream after its first fifth, paired"
    goals: list[tuple[str, Any, str, str]] = [
        ("asking by a threshold that keeps to a share is at least level with scikit-learn's classifier doing so",
         partial(reaching, low=0.0), OURS, THEIRS),
        ("it is more accurate than as many labels bought by a coin, with the same learner", above, OURS, COIN),
        ("labels bought lately are worth showing where labels come in runs", above, LATELY, OURS),
    ]  # fmt: skip
    for statement, test, own, other in goals if stream == "elec2" else goals[:2]:
        study.claim(statement, test, "", reason)(lambda blocks, own=own, other=other: _over(blocks, [other], own))
    study.claim("the share asked for is the one wanted", each, "", "over the one wanted", low=0.9, high=1.01)(_kept)
    study.picture(name, **CURVES)(lambda blocks: points(blocks, *BY_SHARE))
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


classes.picture("labelling-classes", **CURVES)(lambda clouds: points(clouds, *BY_SHARE))


EXPERIMENTS = (*(_share_kept(stream, *data) for stream, data in DATA.items()), classes)
