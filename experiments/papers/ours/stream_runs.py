"""Runs on real streams that drift: label-efficient samplers against random asking, in order of time.

What it models: mails of which some are spam (Katakis et al.), and whether the price of electricity goes up in the
next half-hour (Elec2), each in its own order, with a constant feature added and instances normalised.  The first fifth
is for tuning only (nearly all of the first 700 mails are spam): with all its labels the regulariser of the second-order
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

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, product
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

__all__ = ["C_FACTORS", "FULL", "GRID", "SAMPLERS", "runs", "sweep"]

Counted = tuple[str, float, Any, Any, float]  # key, wanted rate, predictions, whether asked, parameter

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


def sweep(stream: str) -> Callable[[Setup], dict[str, dict[str, Any]]]:
    """Return the sweep of a task for each seed of coins."""
    return lambda setup: {
        f"run {number}": {
            "stream": stream, "seed": setup.seed, "run": number, "rates": list(setup.pick((0.1, 0.4), RATES)),
            "rounds": setup.pick(2000, 0), **setup.source(),
        }
        for number in range(setup.pick(2, 10))
    }  # fmt: skip


def _stream(name: str, folder: str, stand_in: bool, seed: int) -> tuple[Any, NDArray[np.float64]]:
    """Return instances in order of time, a constant feature last, and labels -1 and +1."""
    from experiments.datasets import named

    if stand_in:
        drawn = drifting(6000, 7, 20.0, generator(seed, WORKLOAD))
        return np.hstack([drawn.X, np.ones((len(drawn.y), 1))]), drawn.y
    read = {"spam-drift": named.spam_drift, "elec2": named.elec2}[name](Path(folder)).with_intercept(1.0)
    return read.X, np.where(read.y == 1, 1.0, -1.0)


@lru_cache(maxsize=1)  # the same for every seed of coins
def _tuned_stream(rounds: int, *source: Any) -> tuple[Any, NDArray[np.float64], int, dict[str, float]]:
    """Return instances and labels of so many rounds (0: all), how many are for tuning, and what they tune."""
    X, y = _stream(*source)
    if rounds:
        X, y = X[:rounds], y[:rounds]
    cut = int(TUNING * len(y))

    def mistakes(key: str, **parameters: Any) -> Any:
        return _make(key, X, **parameters).run(X[:cut], y[:cut]).prediction != y[:cut]

    ones = [{"a": a} for a in GRID]
    pairs = [{"b": b, "c over b": factor} for b, factor in product(GRID, C_FACTORS)]
    sop = one_standard_error(ones, [mistakes("sop", **one) for one in ones])
    lasec = one_standard_error(pairs, [mistakes("lasec", b=p["b"], c=p["b"] * p["c over b"]) for p in pairs])
    return X, y, cut, {**sop, "b": lasec["b"], "c": lasec["b"] * lasec["c over b"]}


def _make(key: str, X: Any, rng: np.random.Generator | None = None, **parameters: Any) -> samplers.Sampler:
    return samplers.make(key, X.shape[1], rng=rng, normalize=True, **parameters)


def _parameters(key: str, fixed: Mapping[str, float]) -> dict[str, Any]:
    names = "" if key.startswith("perceptron") else "bc" if key.startswith("lasec") else "a"
    return {name: fixed[name] for name in names}


def runs(
    stream: str, seed: int, run: int, rates: Sequence[float], rounds: int, stand_in: bool, folder: str
) -> Rows:  # fmt: skip
    """Tune on the first fifth, then run every sampler at every rate, and what it is compared with, on the rest."""
    X, y, cut, fixed = _tuned_stream(rounds, stream, folder, stand_in, seed)
    rest, width = y[cut:], WINDOWS[stream]
    positive = {"positive_tuning": float(np.mean(y[:cut] > 0)), "positive_rest": float(np.mean(rest > 0))}
    totals, windows = [], []
    everything = (X, y, cut, fixed, seed, run, rates)
    for key, wanted, prediction, queried, parameter in chain(_samplers(*everything), _baselines(*everything)):
        common = {"run": run, "key": key, "wanted": wanted}
        right, named = prediction == rest, prediction > 0
        f_measure = 2.0 * int((named & (rest > 0)).sum()) / max(1, int(named.sum() + (rest > 0).sum()))
        shares = {"rate": float(np.mean(queried)), "accuracy": float(right.mean()), "f_measure": f_measure}
        totals.append({**common, **shares, "parameter": parameter})
        for at in range(0, len(rest), width):  # the last window is shorter
            own = slice(at, at + width)
            place = {"window": at // width, "end": min(at + width, len(rest)), "rounds": len(right[own])}
            shares = {"rate": float(np.mean(queried[own])), "accuracy": float(right[own].mean())}
            windows.append({**common, **place, **shares})
    whole = {"run": run, "key": "no change, whole stream", "wanted": 1.0, "rate": 1.0}
    totals.append({**whole, "accuracy": float(np.mean(y[1:] == y[:-1])), "f_measure": 0.0, "parameter": 0.0})
    return {"totals": totals, "windows": windows, "tuned": [{"run": run, **fixed, **positive}]}


def _samplers(
    X: Any, y: Any, cut: int, fixed: Mapping[str, float], seed: int, run: int, rates: Sequence[float]
) -> Iterator[Counted]:
    """Run every sampler at every rate, each followed by its twin."""
    for (key, (symbol, low, high)), (number, rate) in product(SAMPLERS.items(), enumerate(rates)):
        make: Any = partial(_make, key, X, **_parameters(key, fixed))
        tossed = generator(seed, SPLIT, run)

        def asked(value: float, make: Any = make, tossed: Any = tossed, symbol: str = symbol) -> float:
            return float(make(tossed, **{symbol: value}).run(X[:cut], y[:cut]).queried.mean())

        value, coins = value_for_rate(asked, low, high, rate), generator(seed, POLICY, 100 * run + number)
        sampler = make(coins, **{symbol: value})
        log = sampler.run(X[cut:], y[cut:])
        yield key, rate, log.prediction, log.queried, value
        coin = samplers.FixedCoin(rate=float(log.queried.mean()))
        same: dict[str, Any] = {"stores": sampler.stores, "normalize": True, "kernel": sampler.kernel}
        log = samplers.Sampler(sampler.learner, coin, n_features=X.shape[1], rng=coins, **same).run(X[cut:], y[cut:])
        yield f"{key} at random", rate, log.prediction, log.queried, 0.0


def _baselines(
    X: Any, y: Any, cut: int, fixed: Mapping[str, float], seed: int, run: int, rates: Sequence[float]
) -> Iterator[Counted]:
    """Run learners with all labels, and repeat the last label, or at each rate the last that a coin bought."""
    rest = y[cut:]
    for key in FULL:
        log = _make(key, X, **_parameters(key, fixed)).run(X[cut:], rest)
        yield key, 1.0, log.prediction, log.queried, 0.0
    yield "no change", 1.0, y[cut - 1 : -1], np.ones(len(rest), dtype=np.bool_), 0.0
    coins = generator(seed, POLICY, 100 * run + 50)
    for rate in rates:
        asked = coins.random(len(rest)) < rate
        bought = np.maximum.accumulate(np.where(asked, np.arange(len(rest)), -1))
        bought = np.concatenate([[-1], bought[:-1]])  # what was bought before this round
        yield "last bought", rate, np.where(bought >= 0, rest[bought], y[cut - 1]), asked, 0.0
