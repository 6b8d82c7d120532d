"""Beyond the papers: a share of the labels that is asked for and kept, beside uncertainty sampling of scikit-learn.

What it models: Elec2, mails that drift (Katakis et al.), and news about acquisitions (Reuters-21578), each in its own
order, with a constant feature, dense columns standardised by the rows so far.  `kept-rate` (of words, AROW with the
diagonal of its matrix by the same rule) asks for 5, 10 and 20 % of the labels.  Against it stand the same learner with
as many labels bought by a coin, and `SGDClassifier` of scikit-learn, which learns from every label that it asks for, by
the same threshold on its own margin.  The first fifth chooses, at each share, one number of our learner, and the loss
and the step of the other.  All then start anew on the rest, which is cut into blocks for the intervals.
On Elec2 `LastLabels` is the same sampler that also sees the labels it bought lately; its times were looked for on the
whole of that stream.
Many classes: points of 40 classes, each of three clouds, which no line parts; one question an instance.
What it leaves out: other streams of the same kind, and the price of a label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.papers.claims import Noted, point
from experiments.papers.kit import DataSet, Experiment, Setup, Sizes, Tasks, over
from experiments.papers.predicates import above, each, reaching
from experiments.study.compare import estimate
from lpsm import samplers
from lpsm.randomness import POLICY, WORKLOAD, generator
from lpsm.samplers.last_labels import TIMES
from lpsm.synthetic_streams import drifting

__all__ = ["EXPERIMENTS"]

SHARES = (0.05, 0.1, 0.2)
TUNING = 0.2  # share of the stream, from its start
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
DATA = {
    "elec2": ("elec2", "Elec2 (normalised) as electricity-normalized.csv.gz, in order of time"),
    "mails": (
        "spam_katakis_stream",
        "the spam stream of Katakis et al. as spam_stream.npz: a CSR matrix of 0 and 1, and y",
    ),
    "news": ("reuters21578", "Reuters-21578 as reuters21578.jsonl.gz"),
}

Log = tuple[Any, Any]  # which predictions are right, and which labels were asked for
Stretch = tuple[Any, Any]  # instances and labels


# -- runs ----------------------------------------------------------------------------------------------------------


def _stream(name: str, folder: str, stand_in: bool, seed: int) -> Stretch:
    """Return instances in order of time, a constant feature last, and labels -1 and +1."""
    from experiments.datasets import named

    if stand_in:
        drawn = drifting(6000, 7, 20.0, generator(seed, WORKLOAD))
        return np.hstack([drawn.X, np.ones((len(drawn.y), 1))]), drawn.y
    if name == "elec2":
        read = named.elec2(Path(folder)).scaled()
    elif name == "mails":
        read = named.spam_drift(Path(folder))
        lengths = np.sqrt(np.diff(read.X.indptr))
        read = replace(read, X=sparse.csr_matrix(sparse.diags(1.0 / np.maximum(lengths, 1.0)) @ read.X))
    else:
        read = named.reuters(Path(folder))
    y = read.y[:, read.classes.index("acq")] if read.y.ndim == 2 else read.y == 1
    return read.with_intercept().X, np.where(y, 1, -1)


def _ours(key: str, share: float, stretch: Stretch, lately: bool = False, coin: Any = None, **parameters: Any) -> Log:
    """Play a stretch by a sampler that keeps to the share, or by one with its learner that asks by a coin."""
    X, y = stretch
    more = len(TIMES) if lately else 0
    one: Any = samplers.make(key, X.shape[1] + more, rate=share, step=STEP, **parameters)
    if coin is not None:
        rule: Any = samplers.FixedCoin(rate=share)
        one = samplers.Sampler(one.learner, rule, n_features=X.shape[1], stores=one.stores, rng=coin)
    log = (samplers.LastLabels(one, TIMES) if lately else one).run(X, y)
    return log.prediction == y, log.queried


def _sgd(share: float, stretch: Stretch, **options: Any) -> Log:
    """Play a stretch by scikit-learn's classifier, which asks where its margin is below a threshold that follows."""
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


def _best(grid: Sequence[Mapping[str, Any]], play: Callable[..., Log]) -> dict[str, Any]:
    return dict(max(grid, key=lambda one: float(play(**one)[0].mean())))


def runs(stream: str, share: float, seed: int, rounds: int, stand_in: bool, folder: str) -> dict[str, Any]:
    """Choose on the first fifth, then play the rest."""
    X, y = _stream(stream, folder, stand_in, seed)
    X, y = X[: rounds or len(y)], y[: rounds or len(y)]
    cut = int(TUNING * len(y))
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
        totals.append(
            {**common, "accuracy": float(right.mean()), "rate": float(asked.mean()), "chosen": chosen.get(who, "")}
        )
        parts = enumerate(np.array_split(right, BLOCKS))
        blocks += [{**common, "window": window, "accuracy": float(part.mean())} for window, part in parts]
    return {"blocks": blocks, "totals": totals}


def _said(setting: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in setting.items())


# -- measures ------------------------------------------------------------------------------------------------------


def _over(blocks: pd.DataFrame, other: str, own: str = OURS) -> dict[str, Any]:
    """Points of accuracy, block by block, over another, by share of the labels."""
    wide: Any = 100 * blocks.pivot(index=["wanted", "window"], columns="key", values="accuracy")
    return {
        f"at {100 * share:g} %": Noted(
            (part[own] - part[other]).to_numpy(), f"({part[own].mean():.2f} against {part[other].mean():.2f} %)"
        )
        for share, part in wide.groupby("wanted")
    }


def _kept(totals: pd.DataFrame) -> dict[str, Any]:
    """The share asked for over that wanted."""
    own = totals[totals["key"] == OURS]
    return {f"at {100 * share:g} %": [rate / share] for share, rate in zip(own["wanted"], own["rate"], strict=True)}


def _levels(blocks: pd.DataFrame, totals: pd.DataFrame) -> pd.DataFrame:
    rows = []
    groups: Any = blocks.groupby(["wanted", "key"], sort=False)
    for (share, who), part in groups:
        level = estimate(100 * part["accuracy"].to_numpy())
        total = totals[(totals["wanted"] == share) & (totals["key"] == who)].iloc[0]
        rows.append(
            {"share": f"{100 * share:g} %", "key": who, "asked": f"{100 * total['rate']:.1f} %",
             "right": f"{level.mean:.2f} ± {level.half_width:.2f} %", "chosen": total["chosen"]}
        )  # fmt: skip
    return pd.DataFrame(rows)


def _by_share(blocks: pd.DataFrame) -> pd.DataFrame:
    """Return a curve a key over the share wanted."""
    return pd.DataFrame(
        [point(who, share, part["accuracy"]) for (who, share), part in blocks.groupby(["key", "wanted"], sort=False)]
    )


# -- the streams ---------------------------------------------------------------------------------------------------

POINTS = f"points of accuracy in {BLOCKS} blocks of the stream after its first fifth, paired"


def _study(stream: str) -> Experiment:
    data = DataSet(*DATA[stream], "a generated target that drifts")
    study = Experiment(f"ours/labelling-{stream}", f"a share of the labels kept to: {stream}", "2 min", data)

    def sweep(setup: Setup) -> Tasks:
        common = {"stream": stream, "seed": setup.seed, "rounds": setup.pick(2000, 0), **setup.source()}
        return {f"{share:g}": {**common, "share": share} for share in setup.pick((0.2,), SHARES)}

    study.runs(sweep)(runs)
    claims: list[Any] = [
        ("asking by a threshold that keeps to a share is at least level with scikit-learn's classifier doing so",
         reaching, THEIRS, OURS, {"low": 0.0, "high": np.inf}),
        ("it is more accurate than as many labels bought by a coin, with the same learner", above, COIN, OURS, {}),
        ("labels bought lately are worth showing where labels come in runs", above, OURS, LATELY, {}),
    ]  # fmt: skip
    for statement, test, other, own, limits in claims[: 3 if stream == "elec2" else 2]:
        study.claim(statement, test, reason=POINTS, **limits)(partial(_over, other=other, own=own))
    study.claim("the share asked for is the one wanted", each, reason="over the one wanted", low=0.9, high=1.01)(_kept)
    study.table(f"labelling-{stream}")(_levels)
    study.picture(f"labelling-{stream}", x="fraction of labels asked for", y="accuracy", x_scale="log")(_by_share)
    return study


# -- many classes --------------------------------------------------------------------------------------------------

classes = Experiment("ours/labelling-classes", "forty classes that no line parts, one question an instance", "1 min")


@classes.runs(over({"share": Sizes((0.2,), SHARES), "run": Sizes(range(2), range(5))}, rounds=Sizes(3000, 8000)))
def clouds(share: float, run: int, seed: int, rounds: int) -> list[dict[str, Any]]:
    """Play the nearest neighbour and learners of lines on the same points."""
    rng = generator(seed, WORKLOAD, run)
    centres = APART / np.sqrt(2.0) * rng.normal(size=(CLASSES, CLOUDS, FEATURES))
    y = rng.integers(CLASSES, size=rounds)
    X = np.hstack([centres[y, rng.integers(CLOUDS, size=rounds)], np.ones((rounds, 1))])
    X[:, :-1] += rng.normal(size=(rounds, FEATURES))
    rows = []
    for key in ("nearest", *LINES):
        said, asked = samplers.MulticlassSampler(key, X.shape[1], CLASSES, rate=share, step=STEP).run(X, y)
        rows.append(
            {
                "key": key,
                "wanted": share,
                "run": run,
                "accuracy": float(np.mean(said == y)),
                "rate": float(asked.mean()),
            }
        )
    return rows


@classes.claim("with a fifth of the labels the nearest neighbour is right in four of five", above, limit=80.0,
               reason="percent of the whole stream, its start included")  # fmt: skip
def _nearest(clouds: pd.DataFrame) -> Any:
    return 100 * clouds.loc[(clouds["key"] == "nearest") & (clouds["wanted"] == 0.2), "accuracy"]


@classes.claim("and ahead of the best learner of lines by 20 points", above, limit=20.0,
               reason="points, at every share")  # fmt: skip
def _over_lines(clouds: pd.DataFrame) -> dict[str, Any]:
    wide: Any = 100 * clouds.pivot(index=["wanted", "run"], columns="key", values="accuracy")
    samples = {}
    for share, part in wide.groupby("wanted"):
        best = part[list(LINES)].mean().idxmax()
        words = f"({part['nearest'].mean():.1f} against {part[best].mean():.1f} % of {best})"
        samples[f"at {100 * share:g} %"] = Noted((part["nearest"] - part[best]).to_numpy(), words)
    return samples


@classes.picture("labelling-classes", x="fraction of labels asked for", y="accuracy", x_scale="log")
def _classes_by_share(clouds: pd.DataFrame) -> pd.DataFrame:
    return _by_share(clouds)


EXPERIMENTS = (*map(_study, DATA), classes)
