"""What a run of mistakes says of independent examples: risks, and regret against Bayes.

What it models: the passage from a count of mistakes to the risk R(w) = P(SGN(w.x) != y) of the
hypotheses that made them, on independent examples, the regret of rls on labels with linear
noise, and what is known of the errors of fixed hypotheses where only some labels were bought, each weighted by
the inverse of the probability with which it was asked for.  A bound on a risk at or above 1 is vacuous; nothing is
clipped.
What it leaves out: estimating a risk.

Sources: Cesa-Bianchi 2007 (R), sections 3.2 and 3.3; Beygelzimer, Dasgupta and Langford 2009, theorem 1.
"""

from __future__ import annotations

from math import e, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from lpsm import checks
from lpsm.checks import checked

__all__ = [
    "average_risk",
    "importance_weighted_deviation",
    "linear_source_regret",
    "penalised_hypothesis",
    "selected_risk",
]


@checked
def average_risk(mistakes: int, n_rounds: int, delta: float) -> float:
    """R above (6): with probability 1 - delta, (1/n) sum_t R(w_{t-1}) <= M/n + sqrt((2/n) ln(1/delta)).

    Any incremental learner on independent examples; w_{t-1} is what predicted in round t.
    """
    _check(mistakes, n_rounds, delta)
    return mistakes / n_rounds + sqrt(2.0 / n_rounds * log(1.0 / delta))


@checked
def importance_weighted_deviation(n_rounds: int, n_hypotheses: int, least_probability: float, delta: float) -> float:
    """Beygelzimer, Dasgupta and Langford 2009, theorem 1: how far weighted errors are from risks, at most.

    With probability 1 - delta, for each of `n_hypotheses` chosen beforehand, whatever the rule that asks,

        abs((1/n) sum_t 1{asked} 1{h(x_t) != y_t} / P_t - R(h)) <= (sqrt(2)/P) sqrt(ln(2 n_hypotheses/delta)/n)

    with P_t >= P the probability of asking in round t.

    Proof.  Examples are independent, and P_t depends on the past and x_t alone, so that a term's mean, given the past,
    is R(h).  Its difference from R(h) is at most 1/P in size, since 0 <= term <= 1/P and 0 <= R(h) <= 1 <= 1/P.
    Azuma's inequality bounds the probability that the mean of n such differences exceeds epsilon, on either side, by
    2 exp(-n epsilon^2 P^2/2); that is delta/n_hypotheses at the bound, and the hypotheses' probabilities add up.

    Ours: half of it suffices.  The differences lie in an interval of length 1/P, for which Hoeffding's lemma gives
    2 exp(-2 n epsilon^2 P^2).  And on examples that are not independent the same holds of the difference from
    the error over all of them, (1/n) sum_t 1{h(x_t) != y_t}: given x_t and y_t, the mean of a term is 1{h(x_t) != y_t}.

    Raises
    ------
    ValueError
        If there is no round or hypothesis, or P or delta lies outside (0, 1].
    """
    _check(0, n_rounds, delta)
    if n_hypotheses < 1:
        raise ValueError(f"n_hypotheses must be at least 1, got {n_hypotheses}")
    if not 0.0 < least_probability <= 1.0:
        raise ValueError(f"least_probability must lie in (0, 1], got {least_probability}")
    return sqrt(2.0 * log(2.0 * n_hypotheses / delta) / n_rounds) / least_probability


@checked
def selected_risk(mistakes: int, n_rounds: int, delta: float) -> float:
    """R (6): with probability 1 - delta, R(w*) <= M/n + 6 sqrt((2/n) ln(2(n+1)/delta)).

    w* is the hypothesis `penalised_hypothesis` picks at the same delta.
    """
    _check(mistakes, n_rounds, delta)
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


@checked
def linear_source_regret(*, gamma: float, log_det: float) -> float:
    """R Theorem 2: expected mistakes of rls (a = 1) beyond Bayes, 16(1 + 1/e)/gamma^2 sum_i ln(1 + lambda_i).

    For fixed unit instances and P(y = 1 | x) = (1 + v.x)/2, norm(v) = 1; gamma = min_t abs(v.x_t),
    which must be positive; `log_det` is over all instances.  The regret is at most sum_t abs(v.x_t)
    whatever one does, so at or above that the bound is vacuous.
    """
    if not 0.0 < gamma <= 1.0 + 1e-12:
        raise ValueError(f"gamma must lie in (0, 1], got {gamma}")
    checks.non_negative(log_det=log_det)
    return 16.0 * (1.0 + 1.0 / e) / gamma**2 * log_det


def _check(mistakes: int, n_rounds: int, delta: float) -> None:
    checks.at_least(1, n_rounds=n_rounds)
    checks.between(0, n_rounds, mistakes=mistakes)
    checks.probability(delta=delta)
