"""A sampler on one's own stream against the theorem about it: mistakes, labels, bound, and whether that says anything.

What it models: a deterministic sampler is held against its bound in one run.  Of a randomised one the theorem speaks
in the mean over its coins: half of the runs choose the comparator, the others are averaged; and the inequality
behind it, summed over the update rounds, holds in every run and is checked in the first.  That labels are in the
mean the sum of the coins is an identity, and checked as one.  A hypothesis that fails makes a statement void; a bound
that promises no more than is true anyway is vacuous.
What it leaves out: the theorems, and the comparators that make their bounds small (`sampler_theorems`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, stats

from lpsm.bounds.expert_report import Row
from lpsm.bounds.sampler_theorems import Theorem, comparators, quadratic_forms, sums_of, theorem_of

if TYPE_CHECKING:
    import pandas as pd

    from lpsm.samplers import RunLog, Sampler

__all__ = ["report_sampler"]

Floats = NDArray[np.float64]
LEVEL = 0.9999  # of the interval of a mean; only if all of it is beyond the bound is the bound violated


def report_sampler(
    sampler: Sampler,
    X: Any,
    y: ArrayLike,
    *,
    runs: int = 20,
    rng: np.random.Generator | None = None,
) -> pd.DataFrame:
    """What is proved about a sampler against what it does on a labelled stream, as a table.

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

    Returns
    -------
    pandas.DataFrame
        Columns statement, kind, measured, bound, slack, holds and verdict, as those of `lpsm.bounds.report`.

    >>> from lpsm import samplers
    >>> table = report_sampler(samplers.make("perceptron", 2), [[3.0, 4.0], [-3.0, -4.0]] * 20, [-1, 1] * 20)
    >>> print(*table[["statement", "measured", "verdict"]].iloc[0])
    R 3.1, mistakes 1.0 holds
    """
    import pandas as pd

    from lpsm.samplers.checks import as_instances, as_labels, squared_lengths

    if runs < 2:
        raise ValueError(f"runs must be at least 2, since a mean is checked, got {runs}")
    table = as_instances(X, sampler.n_features, np.float64)
    labels = as_labels(y, table.shape[0])
    if sampler.normalize:
        norms = np.sqrt(squared_lengths(table))
        inverse = 1.0 / np.where(norms > 0.0, norms, 1.0)  # the sampler itself refuses zeros
        table = sparse.csr_matrix(sparse.diags(inverse) @ table) if sparse.issparse(table) else table * inverse[:, None]
    theorem = theorem_of(sampler)
    coins = (np.random.default_rng(0) if rng is None else rng).spawn(runs)
    count = runs if sampler.randomized and isinstance(theorem, Theorem) else 1
    logs: list[RunLog] = []
    probabilities = np.ones(table.shape[0])
    for number in range(count):
        copy = type(sampler).from_state(sampler.state())
        if sampler.randomized:
            copy._rng = coins[number]
        if number == 0 and sampler.randomized:
            log, probabilities = _by_rounds(copy, X, labels)
        else:
            log = copy.run(X, labels)
            log = type(log)(log.prediction, log.queried, log.stored, np.zeros(0))  # no state is kept for its margins
        logs.append(log)
    rows = _held(theorem, sampler, logs, probabilities, table, labels)
    return pd.DataFrame(rows, columns=list(Row._fields))


def _held(
    theorem: Theorem | str, sampler: Sampler, logs: list[RunLog], probabilities: Floats, table: Any, labels: Floats
) -> list[Row]:
    """Every statement about the runs."""
    rounds = len(labels)
    mistakes = np.array([np.count_nonzero(log.prediction != labels) for log in logs], dtype=np.float64)
    asked = float(logs[0].queried.sum())
    if isinstance(theorem, str):
        return [_void("mistakes", float(mistakes[0]), theorem), _void("labels", asked, theorem)]
    name, why = f"{theorem.name}, mistakes", _unmet(theorem, sampler, logs, table)
    if why:
        return [_void(name, float(mistakes.mean()), why), _void("labels", asked, why)]
    if not sampler.randomized:
        stored = logs[0].stored
        r = quadratic_forms(table[stored], theorem.b, theorem.c)
        found = comparators(theorem, table, labels, stored.astype(np.float64))
        bound = min(theorem.bound(sums_of(w, table, labels, stored, r)) for w in found)
        return [_upper(name, float(mistakes[0]), bound, rounds), _labels(asked, probabilities)]
    half = len(logs) // 2
    often = np.mean([log.stored for log in logs[:half]], axis=0)
    (w,) = comparators(theorem, table, labels, often)
    limits = [
        theorem.bound(sums_of(w, table, labels, log.stored, quadratic_forms(table[log.stored], theorem.b, theorem.c)))
        for log in logs[half:]
    ]
    return [
        _mean(f"{name} in the mean of {len(limits)} runs", mistakes[half:], np.array(limits), rounds),
        _path(theorem, logs[0], table, labels),
        _labels(asked, probabilities),
    ]


# -- theorems -------------------------------------------------------------------------------------


def _unmet(theorem: Theorem, sampler: Sampler, logs: list[RunLog], table: Any) -> str | None:
    """Which hypothesis fails, if one does."""
    if sampler.rounds:
        return "the sampler has had rounds before"
    if sampler.kernel is not None and type(sampler.kernel).__name__ != "Linear":
        return "the comparators of a kernel are not at hand"
    most = sampler.max_queries
    if most is not None and any(log.queried.sum() >= most for log in logs):
        return "the budget ended the questions"
    if theorem.unit:
        from lpsm.samplers.checks import squared_lengths

        norms = np.sqrt(squared_lengths(table))
        longest = int(norms.argmax()) if len(norms) else 0
        if len(norms) and norms[longest] > 1.0 + 1e-9:
            return f"instances must have a norm of at most 1, that of round {longest + 1} has {norms[longest]:.4g}"
    return None


def _path(theorem: Theorem, log: RunLog, table: Any, labels: Floats) -> Row:
    """The inequality that holds in every run, with the comparator that is best for this one."""
    assert theorem.cost is not None
    stored = log.stored
    r = quadratic_forms(table[stored], theorem.b, theorem.c)
    (w,) = comparators(theorem, table, labels, stored.astype(np.float64))
    bound = theorem.scale * theorem.bound(sums_of(w, table, labels, stored, r))
    margins = np.abs(log.margin)
    measured = float(theorem.cost(margins[stored], r).sum())
    trivial = float(theorem.cost(margins, np.ones(len(margins))).sum())  # had every round been an update
    return _upper(f"{theorem.path}, costs of the updates", measured, bound, trivial)


def _by_rounds(sampler: Sampler, X: Any, labels: Floats) -> tuple[RunLog, Floats]:
    """A run, and the probability of asking in each of its rounds."""
    from lpsm.online import play
    from lpsm.samplers import RunLog

    chances: list[float] = []

    def noted() -> Iterator[Any]:
        rows: Any = (X[t : t + 1] for t in range(len(labels))) if sparse.issparse(X) else np.asarray(X)
        for decision, stored in play(sampler, rows, lambda t: int(labels[t])):
            chances.append(decision.probability)
            yield decision, stored

    return RunLog.of(noted(), len(labels)), np.array(chances)


# -- rows -------------------------------------------------------------------------------------------


def _void(statement: str, measured: float, why: str) -> Row:
    return Row(statement, "upper", measured, np.nan, np.nan, True, f"void: {why}")


def _upper(statement: str, measured: float, bound: float, trivial: float) -> Row:
    rounding = 1e-9 * max(1.0, abs(bound))
    holds = measured <= bound + rounding
    says = "holds" if bound < trivial - rounding else f"vacuous: it is at most {trivial:g} anyway"
    return Row(statement, "upper", measured, bound, bound - measured, holds, says if holds else "violated")


def _mean(statement: str, measured: Floats, bounds: Floats, trivial: float) -> Row:
    """The means of both sides; violated if all of the interval of their difference is on the wrong side."""
    mean, bound, half = float(measured.mean()), float(bounds.mean()), 0.0
    excess = measured - bounds
    if len(excess) > 1:
        half = float(stats.t.ppf((1.0 + LEVEL) / 2.0, len(excess) - 1) * excess.std(ddof=1) / sqrt(len(excess)))
    row = _upper(statement, mean - half, bound, trivial)
    if row.verdict == "holds" and mean > bound:
        row = row._replace(verdict=f"holds: the mean is known to +- {half:.3g} only")
    return row._replace(measured=mean, slack=bound - mean)


def _labels(asked: float, probabilities: Floats) -> Row:
    """Labels asked for against their mean, the sum of the coins' probabilities: within five standard deviations."""
    expected = float(probabilities.sum())
    spread = sqrt(float((probabilities * (1.0 - probabilities)).sum()))
    holds = abs(asked - expected) <= 5.0 * spread + 5.0 * (spread > 0.0)
    return Row(
        "labels: the sum of the coins, in the mean", "identity", asked, expected, abs(asked - expected), holds,
        "holds" if holds else "violated",
    )  # fmt: skip
