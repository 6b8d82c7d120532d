"""Runs of figure 2 of Moroshko and Crammer 2014: a target that is replaced every 500 rounds.

What it models: section 5. Panels a, b, c, e: 10,000 Gaussian instances in 50 dimensions, the
target another Gaussian vector every 500.  Panels d, f: handwritten digits in random order, the
classes that are positive drawn anew every 500.  LASEC's b and c and SOP's a are tuned on a draw of their
own, and so is the one parameter that sets each selective sampler's query rate: nothing is
tuned on the rounds that count.  Accuracy is cumulative; runs are paired.
What it leaves out: tuning of the Shifting and the Budget Perceptron, whose parameters are the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.datasets import load
from experiments.papers.registry import Rows, Setup
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, WORKLOAD, generator

__all__ = ["B_GRID", "C_FACTORS", "FIRST_ORDER", "RATES", "SHIFT", "selective", "supervised", "sweep", "value_for_rate"]

SHIFT = 500
D = 50
POINTS = 100  # of a curve
# From the middle outwards: of equally accurate values the first is taken.
B_GRID = (1.0, 0.1, 10.0, 0.01, 100.0, 0.001, 1000.0)
C_FACTORS = (20.0, 2.0, 200.0, 1.1, 2000.0, 1.01, 20_000.0)  # LASEC wants c > b
SELECTIVE: Mapping[str, tuple[str, float, float]] = {  # key -> parameter of the query rate, and its range
    "lasec-ss": ("a", 1e-4, 1e3),
    "sop-label-efficient": ("C", 1e-4, 1e3),
    "perceptron-ss": ("b", 1e-4, 1e3),
    "bbq": ("kappa", 1e-3, 5.0),
    "bbq-i": ("kappa", 1e-3, 5.0),
}
FIRST_ORDER = ("perceptron", "shifting-perceptron", "modified-perceptron", "randomized-budget-perceptron")
RATES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def sweep(rounds: tuple[int, int], runs: tuple[int, int], **what: Any) -> Callable[[Setup], dict[str, dict[str, Any]]]:
    """Return the sweep of a task a run; pairs are of the smoke and the full size."""

    def tasks(setup: Setup) -> dict[str, dict[str, Any]]:
        common: dict[str, Any] = {"seed": setup.seed, "rounds": setup.pick(*rounds), **what}
        smaller = common.pop("smoke_rates", None)
        if smaller is not None:
            common["rates"] = setup.pick(smaller, common["rates"])
        if what.get("digits"):
            common |= setup.source()
        return {f"run {run}": {**common, "run": run} for run in range(setup.pick(*runs))}

    return tasks


def _draw(task: dict[str, Any], tuning: bool) -> tuple[Any, Any]:
    """Return instances and labels of a run, or of the draw its parameters are tuned on."""
    rng = generator(task["seed"], SPLIT if tuning else WORKLOAD, task["run"])
    rounds = task["rounds"]
    if task.get("digits"):
        X, y = _digits(task)
        order = rng.permutation(len(y))[:rounds]
        groups = [_subgroup(rng) for _ in range(-(-len(order) // SHIFT))]
        positive = np.array([groups[t // SHIFT][y[row]] for t, row in enumerate(order)])
        return X[order], np.where(positive, 1.0, -1.0)
    X = rng.standard_normal((rounds, D))
    targets = rng.standard_normal((-(-rounds // SHIFT), D))
    return X, np.where(np.sum(X * targets[np.arange(rounds) // SHIFT], axis=1) >= 0.0, 1.0, -1.0)


def _digits(task: dict[str, Any]) -> tuple[Any, Any]:
    if task["stand_in"]:
        from sklearn.datasets import load_digits

        bunch = load_digits()
        return bunch.data / 16.0, bunch.target
    stream = load("usps", Path(task["folder"]))
    return stream.X, stream.y


def _subgroup(rng: np.random.Generator) -> Any:
    """Which of ten digits are positive: not none, not all."""
    while True:
        chosen = rng.random(10) < 0.5
        if 0 < chosen.sum() < 10:
            return chosen


def _run(task: dict[str, Any], key: str, X: Any, y: Any, **parameters: Any) -> Any:
    return samplers.make(key, X.shape[1], rng=generator(task["seed"], POLICY, task["run"]), **parameters).run(X, y)


def _accuracy(log: Any, y: Any) -> float:
    return float(np.mean(log.prediction == y))


def _scale(X: Any) -> float:
    """Mean squared norm of the instances, which b, c and a are multiples of."""
    return float(np.mean(np.sum(X * X, axis=1)))


def _choices(
    task: dict[str, Any], lasec: Mapping[str, float], sop: Mapping[str, float], X: Any
) -> list[dict[str, Any]]:
    """The row that says what was chosen, also as multiples."""
    scale = _scale(X)
    over = {"b_over": lasec["b"] / scale, "c_over": lasec["c"] / lasec["b"], "a_over": sop["a"] / scale}
    return [{"run": task["run"], **lasec, **sop, **over}]


def _tuned(task: dict[str, Any], X: Any, y: Any) -> tuple[dict[str, float], dict[str, float]]:
    """LASEC's b and c and SOP's a: the most accurate with all labels, on the draw for tuning."""
    scale = _scale(X)
    pairs = [{"b": b * scale, "c": b * scale * factor} for b in B_GRID for factor in C_FACTORS]
    lasec = max(pairs, key=lambda pair: _accuracy(_run(task, "lasec", X, y, **pair), y))
    sop = max(({"a": b * scale} for b in B_GRID), key=lambda pair: _accuracy(_run(task, "sop", X, y, **pair), y))
    return lasec, sop


def _fixed(key: str, lasec: Mapping[str, float], sop: Mapping[str, float]) -> dict[str, float]:
    return dict(lasec) if key == "lasec-ss" else dict(sop) if key == "sop-label-efficient" else {}


def supervised(task: dict[str, Any]) -> Rows:
    """Panels a and d: six learners, all labels."""
    tuning = _draw(task, tuning=True)
    lasec, sop = _tuned(task, *tuning)
    X, y = _draw(task, tuning=False)
    shifting, budget = (1e-4, 1000) if task.get("digits") else (0.01, 500)
    learners: dict[str, dict[str, Any]] = {
        "lasec": dict(lasec),
        "sop": dict(sop),
        "perceptron": {},
        "shifting-perceptron": {"lambda_": shifting},
        "modified-perceptron": {"factor": 1.0},
        "randomized-budget-perceptron": {"B": budget},
    }
    rows: list[dict[str, Any]] = []
    for key, parameters in learners.items():
        rows += _curve(task, key, _run(task, key, X, y, **parameters), y)
    return {"curve": rows, "tuned": _choices(task, lasec, sop, tuning[0])}


def selective(task: dict[str, Any]) -> Rows:
    """Panels b, c, e and f: selective samplers at given query rates, set on the draw for tuning."""
    tuning = _draw(task, tuning=True)
    lasec, sop = _tuned(task, *tuning)
    X, y = _draw(task, tuning=False)
    rows, totals = [], []
    for key, (symbol, low, high) in SELECTIVE.items():
        fixed = _fixed(key, lasec, sop)
        for rate in task["rates"]:

            def asked(value: float, key: str = key, symbol: str = symbol, fixed: Mapping[str, float] = fixed) -> float:
                return float(_run(task, key, tuning[0], tuning[1], **fixed, **{symbol: value}).queried.mean())

            value = value_for_rate(asked, low, high, rate)
            log = _run(task, key, X, y, **fixed, **{symbol: value})
            totals.append({**_total(task, key, rate, log, y), "parameter": value})
            if len(task["rates"]) == 1:
                rows += _curve(task, key, log, y)
    totals.append({**_total(task, "lasec", 1.0, _run(task, "lasec", X, y, **lasec), y), "rate": 1.0, "parameter": 0.0})
    tables: Rows = {"totals": totals, "tuned": _choices(task, lasec, sop, tuning[0])}
    return {"curve": rows, **tables} if rows else tables


def _total(task: dict[str, Any], key: str, wanted: float, log: Any, y: Any) -> dict[str, Any]:
    rates = {"wanted": wanted, "rate": float(log.queried.mean())}
    return {"run": task["run"], "key": key, **rates, "accuracy": _accuracy(log, y)}


def value_for_rate(asked: Callable[[float], float], low: float, high: float, rate: float, steps: int = 9) -> float:
    """Bisect the parameter, in log scale, for the query rate: every sampler asks more as its parameter grows."""
    for _ in range(steps):
        middle = float(np.sqrt(low * high))
        if asked(middle) < rate:
            low = middle
        else:
            high = middle
    return float(np.sqrt(low * high))


def _curve(task: dict[str, Any], key: str, log: Any, y: Any) -> list[dict[str, Any]]:
    right = np.cumsum(log.prediction == y)
    step = max(1, len(y) // POINTS)
    return [
        {"run": task["run"], "key": key, "t": t, "accuracy": float(right[t - 1] / t)}
        for t in range(step, len(y) + 1, step)
    ]
