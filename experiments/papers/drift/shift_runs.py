"""Runs of figure 2 of Moroshko and Crammer 2014: a target that is replaced every 500 rounds.

What it models: section 5. Panels a, b, c, e have 10,000 Gaussian instances in 50 dimensions, and every 500 rounds
another Gaussian vector as target.  Panels d, f have handwritten digits in random order, of which every 500 rounds other
classes, drawn at random, are positive.  LASEC's b and c and SOP's a are tuned once for all runs, as in the paper, on
ten draws of their own (the paper: on one), by the one-standard-error rule over draws (`tuning`).  In panels a and e
SOP's a is LASEC's b, and SOP at its own best a stands beside it: accuracy over whole streams is flat in a, so that
tuning says little of it.  The one parameter that sets each selective sampler's query rate is set on a draw of each
run's own: nothing is tuned on the rounds that count.  Accuracy is cumulative; runs are paired.
What it leaves out: tuning of the Shifting and the Budget Perceptron, whose parameters are the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

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
TUNED_SOP, TUNED_SOP_SS = "sop, own a", "sop-label-efficient, own a"
FIRST_ORDER = ("perceptron", "shifting-perceptron", "modified-perceptron", "randomized-budget-perceptron")
RATES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def sweep(rounds: tuple[int, int], runs: tuple[int, int], **what: Any) -> Callable[[Setup], dict[str, dict[str, Any]]]:
    """Return the sweep of a task a run; pairs are of the smoke and the full size, and so are lists of rates."""

    def tasks(setup: Setup) -> dict[str, dict[str, Any]]:
        common: dict[str, Any] = {"seed": setup.seed, "rounds": setup.pick(*rounds), "draws": setup.pick(2, 10), **what}
        if "rates" in what:
            common["rates"] = setup.pick(*what["rates"])
        if what.get("digits"):
            common |= setup.source()
        return {f"run {run}": {**common, "run": run} for run in range(setup.pick(*runs))}

    return tasks


class Shifts(NamedTuple):
    """Streams whose target is replaced every 500 rounds; runs differ in their draws."""

    seed: int
    rounds: int
    draws: int
    digits: bool = False
    same: bool = False  # SOP's a is LASEC's b
    stand_in: bool = False
    folder: str = ""

    def draw(self, run: int, *, tuning: bool = False) -> tuple[Any, Any]:
        """Return instances and labels of a run, or of the draw that its parameters are tuned on."""
        rng = generator(self.seed, SPLIT if tuning else WORKLOAD, run)
        if self.digits:
            X, y = self._digits()
            order = rng.permutation(len(y))[: self.rounds]
            groups = [_subgroup(rng) for _ in range(-(-len(order) // SHIFT))]
            positive = np.array([groups[t // SHIFT][y[row]] for t, row in enumerate(order)])
            return X[order], np.where(positive, 1.0, -1.0)
        X = rng.standard_normal((self.rounds, D))
        targets = rng.standard_normal((-(-self.rounds // SHIFT), D))
        along = np.sum(X * targets[np.arange(self.rounds) // SHIFT], axis=1)
        return X, np.where(along >= 0.0, 1.0, -1.0)

    def _digits(self) -> tuple[Any, Any]:
        if self.stand_in:
            from sklearn.datasets import load_digits

            bunch = load_digits()
            return bunch.data / 16.0, bunch.target
        stream = load("usps", Path(self.folder))
        return stream.X, stream.y

    def log(self, run: int, key: str, stream: tuple[Any, Any], **parameters: Any) -> Any:
        """Run a sampler over a stream, with the coins of a run."""
        X, y = stream
        return samplers.make(key, X.shape[1], rng=generator(self.seed, POLICY, run), **parameters).run(X, y)


def _subgroup(rng: np.random.Generator) -> Any:
    """Draw which of ten digits are positive: neither none nor all."""
    while True:
        chosen = rng.random(10) < 0.5
        if 0 < chosen.sum() < 10:
            return chosen


def _learner(point: Mapping[str, float], X: Any) -> tuple[str, dict[str, Any]]:
    """Return LASEC or SOP at a point of its grid, whose b and a are multiples of the mean squared norm."""
    scale = float(np.mean(np.sum(X * X, axis=1)))
    if "a" in point:
        return "sop", {"a": point["a"] * scale}
    b = point["b"] * scale
    return "lasec", {"b": b, "c": b * point["c over b"]}


@lru_cache(maxsize=1)
def _tuned(shifts: Shifts) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Return the points of LASEC and SOP, tuned on draws of their own: the same in every run."""
    pairs = [{"b": b, "c over b": factor} for b, factor in product(B_GRID, C_FACTORS)]
    ones = [{"a": a} for a in B_GRID]
    mistakes: list[list[float]] = []
    for run in range(shifts.draws):
        stream = shifts.draw(run, tuning=True)
        learners = [_learner(point, stream[0]) for point in [*pairs, *ones]]
        mistakes.append([1.0 - _accuracy(shifts.log(run, key, stream, **own), stream) for key, own in learners])
    losses = np.array(mistakes).T
    return one_standard_error(pairs, losses[: len(pairs)]), one_standard_error(ones, losses[len(pairs) :])


def _parameters(shifts: Shifts, run: int, X: Any) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return LASEC's and SOP's parameters for instances like these, and the row that says what was chosen."""
    lasec, sop = _tuned(shifts)
    fixed = dict(_learner(point, X) for point in (lasec, sop))
    over = {"b_over": lasec["b"], "c_over": lasec["c over b"], "a_over": sop["a"]}
    row = {"run": run, **fixed["lasec"], **fixed["sop"], **over}
    if shifts.same:
        fixed |= {"sop": {"a": fixed["lasec"]["b"]}, TUNED_SOP: fixed["sop"]}
    return fixed, row


def supervised(run: int, **what: Any) -> Rows:
    """Panels a and d: six learners, all labels."""
    shifts = Shifts(**what)
    fixed, chosen = _parameters(shifts, run, shifts.draw(run, tuning=True)[0])
    stream = shifts.draw(run)
    shifting, budget = (1e-4, 1000) if shifts.digits else (0.01, 500)
    learners: dict[str, dict[str, Any]] = {
        **fixed,
        "perceptron": {},
        "shifting-perceptron": {"lambda_": shifting},
        "modified-perceptron": {"factor": 1.0},
        "randomized-budget-perceptron": {"B": budget},
    }
    curves = (_curve(run, key, shifts.log(run, _sampler(key), stream, **own), stream) for key, own in learners.items())
    return {"curve": list(chain.from_iterable(curves)), "tuned": [chosen]}


def selective(run: int, rates: tuple[float, ...], **what: Any) -> Rows:
    """Panels b, c, e and f: selective samplers at given query rates, set on the draw for tuning."""
    shifts = Shifts(**what)
    tuning = shifts.draw(run, tuning=True)
    fixed, chosen = _parameters(shifts, run, tuning[0])
    stream = shifts.draw(run)
    curves, totals = [], []

    def total(key: str, wanted: float, log: Any, parameter: float) -> None:
        rates = {"wanted": wanted, "rate": float(log.queried.mean())}
        totals.append({"run": run, "key": key, **rates, "accuracy": _accuracy(log, stream), "parameter": parameter})

    given = {"lasec-ss": fixed["lasec"], "sop-label-efficient": fixed["sop"]}
    if shifts.same:
        given[TUNED_SOP_SS] = fixed[TUNED_SOP]
    for key, rate in product([*SELECTIVE, *(key for key in given if key not in SELECTIVE)], rates):
        symbol, low, high = SELECTIVE[_sampler(key)]
        ask: Any = partial(shifts.log, run, _sampler(key), **given.get(key, {}))

        def asked(value: float, ask: Any = ask, symbol: str = symbol) -> float:
            return float(ask(tuning, **{symbol: value}).queried.mean())

        value = value_for_rate(asked, low, high, rate)
        log = ask(stream, **{symbol: value})
        total(key, rate, log, value)
        if len(rates) == 1:
            curves += _curve(run, key, log, stream)
    total("lasec", 1.0, shifts.log(run, "lasec", stream, **fixed["lasec"]), 0.0)
    tables: Rows = {"totals": totals, "tuned": [chosen]}
    return {"curve": curves, **tables} if curves else tables


def _sampler(key: str) -> str:
    """Return the key of the sampler of a learner, which may have another regulariser."""
    return key.partition(",")[0]


def value_for_rate(asked: Callable[[float], float], low: float, high: float, rate: float) -> float:
    """Bisect the parameter, in log scale, for the query rate: every sampler asks more as its parameter grows."""
    for _ in range(9):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if asked(middle) < rate else (low, middle)
    return float(np.sqrt(low * high))


def _accuracy(log: Any, stream: tuple[Any, Any]) -> float:
    return float(np.mean(log.prediction == stream[1]))


def _curve(run: int, key: str, log: Any, stream: tuple[Any, Any]) -> list[dict[str, Any]]:
    right = np.cumsum(log.prediction == stream[1])
    step = max(1, len(right) // POINTS)
    times = range(step, len(right) + 1, step)
    return [{"run": run, "key": key, "t": t, "accuracy": float(right[t - 1] / t)} for t in times]
