"""A sampler on one's own stream against the theorem about it: mistakes, labels, bound, and whether that says anything.

What it models: a deterministic sampler is held against its bound in one run.  Of a randomised one the theorem speaks
in the mean over its coins: half of the runs choose the comparator, the others are averaged; and the inequality
behind it, summed over the update rounds, holds in every run and is checked in the first.  That labels are in the
mean the sum of the coins is an identity, and checked as one.
What it leaves out: the theorems, and the comparators that make their bounds small (`sampler_theorems`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import sparse

from lpsm.arrays import Floats
from lpsm.bounds.sampler_theorems import Theorem, comparators, quadratic_forms, theorem_of
from lpsm.bounds.verdicts import Row, compare, void
from lpsm.checks import generator
from lpsm.samplers.checks import Rows, as_instances, as_labels, squared_lengths
from lpsm.samplers.linear_algebra import Table
from lpsm.samplers.run_log import RunLog
from lpsm.samplers.sampler import Sampler

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.9999  # of the interval of a mean; only if all of it is beyond the bound is the bound violated


def report_sampler(
    sampler: Sampler, X: Rows, y: ArrayLike, *, runs: int = 20, rng: np.random.Generator | int | None = None
) -> pd.DataFrame:
    """What is proved about a sampler against what it does on a labelled stream, as a table like `bounds.report`.

    Parameters
    ----------
    sampler
        As `lpsm.samplers.make` gives it, before its first round; copies of it are run.
    X, y
        The stream: instances (T, d), array or sparse, and labels -1 and +1.
    runs
        How often a randomised sampler runs, at least 2; a deterministic one runs once.
    rng
        The runs' coins; None for a generator of seed 0.

    >>> from lpsm import samplers
    >>> table = report_sampler(samplers.make("perceptron", 2), [[3.0, 4.0], [-3.0, -4.0]] * 20, [-1, 1] * 20)
    >>> print(*table[["statement", "measured", "verdict"]].iloc[0])
    R 3.1, mistakes 1.0 holds
    """
    import pandas as pd

    if runs < 2:
        raise ValueError(f"runs must be at least 2, since a mean is checked, got {runs}")
    table = as_instances(X, sampler.n_features, np.float64)
    labels = as_labels(y, table.shape[0])
    norms = np.sqrt(squared_lengths(table))
    if sampler.normalize:
        norms = np.where(norms > 0.0, norms, 1.0)  # the sampler itself refuses zeros
        scale = sparse.diags(1.0 / norms)
        table = sparse.csr_matrix(scale @ table) if sparse.issparse(table) else table * (1.0 / norms)[:, None]
        norms = np.ones(len(norms))
    theorem = theorem_of(sampler)
    coins = generator("rng", 0 if rng is None else rng).spawn(runs)
    logs: list[RunLog] = []
    probabilities = np.ones(len(labels))
    for number in range(runs if sampler.randomized and isinstance(theorem, Theorem) else 1):
        copy = type(sampler).from_state(sampler.state())
        if sampler.randomized:
            copy._rng = coins[number]
        if number == 0 and sampler.randomized:
            log, probabilities = copy._exactly(X, labels)
        else:
            log = copy.run(X, labels)
            log = type(log)(log.prediction, log.queried, log.stored, np.zeros(0))  # no state is kept for its margins
        logs.append(log)
    mistakes = np.array([np.count_nonzero(log.prediction != labels) for log in logs], dtype=np.float64)
    asked = float(logs[0].queried.sum())
    why = theorem if isinstance(theorem, str) else _unmet(theorem, sampler, logs, norms)
    if why:
        name = "mistakes" if isinstance(theorem, str) else f"{theorem.name}, mistakes"
        rows = [void(name, "upper", why, float(mistakes.mean())), void("labels", "upper", why, asked)]
    else:
        assert isinstance(theorem, Theorem)
        rows = [*_held(theorem, logs, mistakes, table, labels), _labels(asked, probabilities)]
    return pd.DataFrame(rows, columns=list(Row._fields))


def _held(theorem: Theorem, logs: list[RunLog], mistakes: Floats, table: Table, labels: Floats) -> Iterator[Row]:
    """The statements about the mistakes of the runs."""

    def forms(log: RunLog) -> Floats:
        return quadratic_forms(table[log.stored], theorem.b, theorem.c)

    def bound(w: Floats, log: RunLog, r: Floats) -> float:
        return theorem.bound(w, table, labels, log.stored, r)

    first, rounds = logs[0], len(labels)
    r = forms(first)
    of_first = [bound(w, first, r) for w in comparators(theorem, table, labels, first.stored.astype(np.float64))]
    if not theorem.coin:
        yield _upper(f"{theorem.name}, mistakes", float(mistakes[0]), min(of_first), rounds)
        return
    half = len(logs) // 2
    (w,) = comparators(theorem, table, labels, np.mean([log.stored for log in logs[:half]], axis=0))
    limits = np.array([bound(w, log, forms(log)) for log in logs[half:]])
    yield _mean(f"{theorem.name}, mistakes in the mean of {len(limits)} runs", mistakes[half:], limits, rounds)
    margins = np.abs(first.margin)
    costs = float((theorem.coin + theorem.cost(margins[first.stored], r)).sum())
    most = float((theorem.coin + theorem.cost(margins, np.ones(rounds))).sum())  # had every round been an update
    yield _upper(f"{theorem.path}, every run, costs of the updates", costs, theorem.coin * of_first[0], most)


def _unmet(theorem: Theorem, sampler: Sampler, logs: list[RunLog], norms: Floats) -> str:
    """Which hypothesis fails, if one does."""
    if sampler.rounds:
        return "the sampler has had rounds before"
    if sampler.kernel is not None and type(sampler.kernel).__name__ != "Linear":
        return "the comparators of a kernel are not at hand"
    most = sampler.max_queries
    if most is not None and any(log.queried.sum() >= most for log in logs):
        return "the budget ended the questions"
    if theorem.unit and (norms > 1.0 + 1e-9).any():
        longest = int(norms.argmax())
        return f"instances must have a norm of at most 1, that of round {longest + 1} has {norms[longest]:.4g}"
    return ""


def _upper(statement: str, measured: float, bound: float, trivial: float) -> Row:
    rounding = 1e-9 * max(1.0, abs(bound))
    useless = "" if bound < trivial - rounding else f"it is at most {trivial:g} anyway"
    return compare(statement, "upper", measured, bound, rounding, useless)


def _mean(statement: str, measured: Floats, bounds: Floats, trivial: float) -> Row:
    """The means of both sides; violated if all of the interval of their difference is on the wrong side."""
    mean, bound, n = float(measured.mean()), float(bounds.mean()), len(measured)
    excess = measured - bounds
    if n > 1 and excess.std() > 0.0:
        half = float(scipy.stats.t.ppf((1.0 + LEVEL) / 2.0, n - 1) * excess.std(ddof=1) / sqrt(n))
    else:  # so often other runs can have fewer, and none less than 0
        half = (1.0 - (1.0 - LEVEL) ** (1.0 / n)) * mean
    row = _upper(statement, mean - half, bound, trivial)
    if row.verdict == "holds" and mean > bound:
        row = row._replace(verdict=f"holds: the mean is known to +- {half:.3g} only")
    return row._replace(measured=mean, slack=bound - mean)


def _labels(asked: float, probabilities: Floats) -> Row:
    """Labels asked for against their mean, the sum of the coins' probabilities: within five standard deviations."""
    spread = sqrt(float((probabilities * (1.0 - probabilities)).sum()))
    name = "labels: the sum of the coins, in the mean"
    return compare(name, "identity", asked, float(probabilities.sum()), 5.0 * spread + 5.0 * (spread > 0.0))
