"""Runs of figure 2 of Moroshko and Crammer 2014: a target that is replaced every 500 rounds.

What it models: section 5. Panels a, b, c, e: 10,000 Gaussian instances in 50 dimensions, the
target another Gaussian vector every 500.  Panels d, f: handwritten digits in random order, the
classes that are positive drawn anew every 500.  LASEC's b and c and SOP's a are tuned once for all runs, as in the
paper, on ten draws of their own (the paper: on one), by the one-standard-error rule over draws (`tuning`).
The one parameter that sets each selective sampler's query rate is set on a draw of each run's own: nothing
is tuned on the rounds that count.  Accuracy is cumulative; runs are paired.
What it leaves out: tuning of the Shifting and the Budget Perceptron, whose parameters are the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from experiments.datasets import load
from experiments.papers.kit import Rows, Setup
from experiments.papers.tuning import one_standard_error
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, WORKLOAD, generator

__all__ = ["B_GRID", "C_FACTORS", "FIRST_ORDER", "RATES", "SHIFT", "selective", "supervised", "sweep", "value_for_rate"]

SHIFT = 500
D = 50
POINTS = 100  # of a curve
B_GRID = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
C_FACTORS = (1.01, 1.1, 2.0, 20.0, 200.0, 2000.0, 20_000.0)  # LASEC wants c > b
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
        common: dict[str, Any] = {"seed": setup.seed, "rounds": setup.pick(*rounds), "draws": setup.pick(2, 10), **what}
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


@lru_cache(maxsize=1)
def _multiples(seed: int, rounds: int, draws: int, **data: Any) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """LASEC's b and c over b and SOP's a, b and a as multiples of the mean squared norm: the same in every run."""
    pairs = [{"b": b, "c over b": factor} for b, factor in product(B_GRID, C_FACTORS)]
    ones = [{"a": a} for a in B_GRID]
    mistakes: list[list[float]] = []
    for run in range(draws):
        task = {"seed": seed, "rounds": rounds, "run": run, **data}
        X, y = _draw(task, tuning=True)
        learners = [("lasec", _lasec(pair, X)) for pair in pairs] + [("sop", _sop(one, X)) for one in ones]
        mistakes.append([1.0 - _accuracy(_run(task, key, X, y, **own), y) for key, own in learners])
    losses = np.array(mistakes).T
    return one_standard_error(pairs, losses[: len(pairs)]), one_standard_error(ones, losses[len(pairs) :])


def _lasec(pair: Mapping[str, float], X: Any) -> dict[str, float]:
    b = pair["b"] * _scale(X)
    return {"b": b, "c": b * pair["c over b"]}


def _sop(one: Mapping[str, float], X: Any) -> dict[str, float]:
    return {"a": one["a"] * _scale(X)}


def _tuned(task: dict[str, Any], X: Any) -> tuple[dict[str, float], dict[str, float], list[dict[str, Any]]]:
    """Return LASEC's b and c and SOP's a for instances like these, and the row that says what was chosen."""
    lasec, sop = _multiples(**{name: task[name] for name in task if name not in ("run", "rates")})
    found = _lasec(lasec, X), _sop(sop, X)
    over = {"b_over": lasec["b"], "c_over": lasec["c over b"], "a_over": sop["a"]}
    return *found, [{"run": task["run"], **found[0], **found[1], **over}]


def _fixed(key: str, lasec: Mapping[str, float], sop: Mapping[str, float]) -> dict[str, float]:
    return dict(lasec) if key == "lasec-ss" else dict(sop) if key == "sop-label-efficient" else {}


def supervised(task: dict[str, Any]) -> Rows:
    """Panels a and d: six learners, all labels."""
    tuning = _draw(task, tuning=True)
    lasec, sop, chosen = _tuned(task, tuning[0])
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
    return {"curve": rows, "tuned": chosen}


def selective(task: dict[str, Any]) -> Rows:
    """Panels b, c, e and f: selective samplers at given query rates, set on the draw for tuning."""
    tuning = _draw(task, tuning=True)
    lasec, sop, chosen = _tuned(task, tuning[0])
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
    tables: Rows = {"totals": totals, "tuned": chosen}
    return {"curve": rows, **tables} if rows else tables


def _total(task: dict[str, Any], key: str, wanted: float, log: Any, y: Any) -> dict[str, Any]:
    rates = {"wanted": wanted, "rate": float(log.queried.mean())}
    return {"run": task["run"], "key": key, **rates, "accuracy": _accuracy(log, y)}


def value_for_rate(asked: Callable[[float], float], low: float, high: float, rate: float) -> float:
    """Bisect the parameter, in log scale, for the query rate: every sampler asks more as its parameter grows."""
    for _ in range(9):
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
