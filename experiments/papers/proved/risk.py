"""The hypothesis of a run that is picked by its penalised mistakes on the examples after it, and its risk.

What it models: for independent examples, a bound on the risk of one of the hypotheses that a learner went through.
What it leaves out: the average risk of them all (`lpsm.bounds.risk`).
Source: Cesa-Bianchi 2007 (R), section 3.2.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from lpsm import checks
from lpsm.checks import checked

__all__ = [
    "penalised_hypothesis",
    "selected_risk",
]


@checked
def selected_risk(mistakes: int, n_rounds: int, delta: float) -> float:
    """R (6): with probability 1 - delta, R(w*) <= M/n + 6 sqrt((2/n) ln(2(n+1)/delta)).

    w* is the hypothesis `penalised_hypothesis` picks at the same delta.
    """
    checks.at_least(1, n_rounds=n_rounds)
    checks.between(0, n_rounds, mistakes=mistakes)
    checks.probability(delta=delta)
    return mistakes / n_rounds + 6.0 * sqrt(2.0 / n_rounds * log(2.0 * (n_rounds + 1) / delta))


@checked
def penalised_hypothesis(weights: ArrayLike, starts: ArrayLike, X: ArrayLike, y: ArrayLike, delta: float) -> int:
    """The hypothesis of R (6): least penalised mistakes on the examples that came after it.

    For t < n, the mistakes of w_t on examples t+1..n over n-t, plus
    sqrt(ln(n(n+1)/d')/(2(n-t))) with d' = delta/2; ties go to the earliest.

    Parameters
    ----------
    weights
        The distinct hypotheses in order (k, d): `weights[i]` is w_t for t = `starts[i]` up to the
        next start.  Only the start of each is evaluated, which is enough for a learner that
        changes only on mistakes: until then it errs on nothing, while the penalty grows.
    starts
        Examples seen when each hypothesis came into force, increasing from 0, below n.
    X, y
        The examples (n, d) and labels (n,), as the learner saw them.

    Returns
    -------
    int
        Index into `weights`.

    Raises
    ------
    ValueError
        Shapes disagree, starts are not increasing from 0 and below n, or delta is out of range.
    """
    hypotheses, when = np.asarray(weights, dtype=np.float64), np.asarray(starts)
    instances, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = len(instances)
    checks.probability(delta=delta)
    if when.shape != (len(hypotheses),) or when[0] != 0 or np.any(np.diff(when) <= 0) or when[-1] >= n:
        raise ValueError(f"starts must be one a hypothesis, increasing from 0 and below {n}, got {when}")
    wrong = np.where(instances @ hypotheses.T >= 0.0, 1.0, -1.0) != labels[:, None]
    from_here = np.cumsum(wrong[::-1], axis=0)[::-1]  # [t, i]: mistakes of hypothesis i on examples t+1..n
    rest = n - when
    empirical = from_here[when, np.arange(len(when))] / rest
    return int(np.argmin(empirical + np.sqrt(log(2.0 * n * (n + 1) / delta) / (2.0 * rest))))
