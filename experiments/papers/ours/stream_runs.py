"""Runs on real streams that drift: label-efficient samplers against random asking, in order of time.

What it models: mails of which some are spam (Katakis et al.), and whether the price of electricity goes up in the
next half-hour (Elec2), each in its own order, a constant feature added, instances normalised.  The first fifth is
for tuning only (nearly all of the first 700 mails are spam): with all its labels the regulariser of the second-order
Perceptron and b, c of LASEC, for accuracy by the one-standard-error rule (`tuning`), and by bisection the
one parameter of every sampler that sets how much it asks.  Then every sampler starts anew on the rest, and
accuracy is counted on all of it, label bought or not.  Each has a twin with the same learner that asks by a coin of the
share the sampler came to ask for.
Baselines: three learners with all labels, and repeating the last label, of the last round (no change) or of the last
that a coin bought.
Replications are the coins' seeds; a sampler without a coin is the same in all, its twin is not.
What it leaves out: BBQ, whose question depends on the instance alone: among 39,916 words it asks about all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.papers.drift.shift_runs import value_for_rate
from experiments.papers.kit import Rows, Setup
from experiments.papers.tuning import one_standard_error
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, WORKLOAD, generator
from lpsm.synthetic_streams import drifting

__all__ = ["C_FACTORS", "FULL", "GRID", "RATES", "SAMPLERS", "WINDOWS", "run", "sweep"]

SAMPLERS: Mapping[str, tuple[str, float, float]] = {  # key -> parameter that sets how much it asks, and its range
    "sop-label-efficient": ("C", 1e-5, 1e3),
    "sop-ss": ("b", 1e-5, 1e3),
    "lasec-ss": ("a", 1e-5, 1e3),
    "ssmd": ("K", 1e-6, 1e3),
    "perceptron-ss": ("b", 1e-5, 1e3),
}
FULL = ("sop", "lasec", "perceptron")  # all labels
RATES = (0.02, 0.05, 0.1, 0.2, 0.4)
TUNING = 0.2  # share of the stream, from its start
WINDOWS = {"spam-drift": 500, "elec2": 1344}  # rounds: mails; four weeks of half-hours
GRID = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # of a, and of b
C_FACTORS = (1.1, 2.0, 20.0, 200.0, 2e3, 2e4, 2e5, 2e6, 2e7, 2e8, 2e9)  # of c over b: on Elec2 hardly any drift is best


def sweep(name: str, setup: Setup) -> dict[str, dict[str, Any]]:
    """Return a task for each seed of coins."""
    return {
        f"run {number}": {
            "stream": name,
            "seed": setup.seed,
            "run": number,
            "rates": list(setup.pick((0.1, 0.4), RATES)),
            "rounds": setup.pick(2000, 0),
            **setup.source(),
        }
        for number in range(setup.pick(2, 10))
    }


def _stream(name: str, folder: str, stand_in: bool, seed: int) -> tuple[Any, NDArray[np.float64]]:
    """Return instances in order of time, a constant feature last, and labels -1 and +1."""
    from experiments.datasets import streams

    if stand_in:
        drawn = drifting(6000, 7, 20.0, generator(seed, WORKLOAD))
        return np.hstack([drawn.X, np.ones((len(drawn.y), 1))]), drawn.y
    found = {"spam-drift": streams.spam_drift, "elec2": streams.elec2}[name](Path(folder)).with_intercept(1.0)
    return found.X, np.where(found.y == 1, 1.0, -1.0)


@lru_cache(maxsize=1)  # the same for every seed of coins
def _tuned_stream(rounds: int, *source: Any) -> tuple[Any, NDArray[np.float64], int, dict[str, float]]:
    """Return instances and labels of so many rounds (0: all), how many are for tuning, and what they tune."""
    X, y = _stream(*source)
    if rounds:
        X, y = X[:rounds], y[:rounds]
    cut = int(TUNING * len(y))
    return X, y, cut, _tuned(X[:cut], y[:cut])


def run(task: dict[str, Any]) -> Rows:
    """Tune on the first fifth, then run every sampler at every rate, and what it is compared with, on the rest."""
    X, y, cut, fixed = _tuned_stream(task["rounds"], task["stream"], task["folder"], task["stand_in"], task["seed"])
    parts = {
        key: _against_twin(task, key, symbol, low, high, fixed, X, y, cut)
        for key, (symbol, low, high) in SAMPLERS.items()
    }
    positive = {"positive_tuning": float(np.mean(y[:cut] > 0)), "positive_rest": float(np.mean(y[cut:] > 0))}
    rows: Rows = {"totals": [], "windows": [], "tuned": [{"run": task["run"], **fixed, **positive}]}
    for found in (*parts.values(), _baselines(task, fixed, X, y, cut)):
        for table, more in found.items():
            rows[table] += more
    return rows


def _tuned(X: Any, y: Any) -> dict[str, float]:
    """The a of sop and the b and c of lasec, by their mistakes with all labels."""

    def mistakes(key: str, **parameters: float) -> Any:
        return _make(key, X, None, **parameters).run(X, y).prediction != y

    ones = [{"a": a} for a in GRID]
    pairs = [{"b": b, "c over b": factor} for b, factor in product(GRID, C_FACTORS)]
    sop = one_standard_error(ones, [mistakes("sop", **one) for one in ones])
    lasec = one_standard_error(pairs, [mistakes("lasec", b=p["b"], c=p["b"] * p["c over b"]) for p in pairs])
    return {**sop, "b": lasec["b"], "c": lasec["b"] * lasec["c over b"]}


def _parameters(key: str, fixed: Mapping[str, float]) -> dict[str, float]:
    if key.startswith("lasec"):
        return {"b": fixed["b"], "c": fixed["c"]}
    return {} if key.startswith("perceptron") else {"a": fixed["a"]}


def _make(key: str, X: Any, rng: np.random.Generator | None = None, **parameters: Any) -> samplers.Sampler:
    return samplers.make(key, X.shape[1], rng=rng, normalize=True, **parameters)


def _against_twin(
    task: dict[str, Any], key: str, symbol: str, low: float, high: float, fixed: Mapping[str, float], *stream: Any
) -> Rows:
    X, y, cut = stream
    parameters, rows = _parameters(key, fixed), Rows(totals=[], windows=[])
    for number, rate in enumerate(task["rates"]):
        tossed = generator(task["seed"], SPLIT, task["run"])

        def asked(value: float, tossed: np.random.Generator = tossed) -> float:
            sampler = _make(key, X, tossed, **parameters, **{symbol: value})
            return float(sampler.run(X[:cut], y[:cut]).queried.mean())

        value = value_for_rate(asked, low, high, rate)
        coins = generator(task["seed"], POLICY, 100 * task["run"] + number)
        sampler = _make(key, X, coins, **parameters, **{symbol: value})
        log = sampler.run(X[cut:], y[cut:])
        _count(rows, task, key, rate, log.prediction, log.queried, y[cut:], {"parameter": value})
        coin = samplers.FixedCoin(rate=float(log.queried.mean()))
        same: dict[str, Any] = {"stores": sampler.stores, "normalize": True, "kernel": sampler.kernel}
        twin = samplers.Sampler(sampler.learner, coin, n_features=X.shape[1], rng=coins, **same)
        log = twin.run(X[cut:], y[cut:])
        _count(rows, task, f"{key} at random", rate, log.prediction, log.queried, y[cut:], {"parameter": 0.0})
    return rows


def _baselines(task: dict[str, Any], fixed: Mapping[str, float], X: Any, y: Any, cut: int) -> Rows:
    rows = Rows(totals=[], windows=[])
    rest = y[cut:]
    everything = np.ones(len(rest), dtype=np.bool_)
    for key in FULL:
        log = _make(key, X, None, **_parameters(key, fixed)).run(X[cut:], rest)
        _count(rows, task, key, 1.0, log.prediction, log.queried, rest, {"parameter": 0.0})
    _count(rows, task, "no change", 1.0, y[cut - 1 : -1], everything, rest, {"parameter": 0.0})
    coins = generator(task["seed"], POLICY, 100 * task["run"] + 50)
    for rate in task["rates"]:
        asked = coins.random(len(rest)) < rate
        bought = np.maximum.accumulate(np.where(asked, np.arange(len(rest)), -1))
        bought = np.concatenate([[-1], bought[:-1]])  # what was bought before this round
        repeated = np.where(bought >= 0, rest[bought], y[cut - 1])
        _count(rows, task, "last bought", rate, repeated, asked, rest, {"parameter": 0.0})
    whole = float(np.mean(y[1:] == y[:-1]))
    common = {"run": task["run"], "key": "no change, whole stream", "wanted": 1.0, "rate": 1.0}
    rows["totals"].append({**common, "accuracy": whole, "f_measure": 0.0, "parameter": 0.0})
    return rows


def _count(rows: Rows, task: dict[str, Any], key: str, rate: float, *run: Any) -> None:
    """Append the totals of a run (predictions, queried, labels, more columns), and a row a window, the last shorter."""
    prediction, queried, y, more = run
    common = {"run": task["run"], "key": key, "wanted": rate}
    right, named, positive = prediction == y, prediction > 0, y > 0
    hits = int((named & positive).sum())
    f_measure = 2.0 * hits / max(1, int(named.sum() + positive.sum()))
    rows["totals"].append(
        {**common, "rate": float(np.mean(queried)), "accuracy": float(right.mean()), "f_measure": f_measure, **more}
    )
    width = WINDOWS[task["stream"]]
    for at in range(0, len(y), width):
        own = slice(at, at + width)
        shares = {"rate": float(np.mean(queried[own])), "accuracy": float(right[own].mean())}
        place = {"window": at // width, "end": min(at + width, len(y)), "rounds": len(right[own])}
        rows["windows"].append({**common, **place, **shares})
