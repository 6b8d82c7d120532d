"""What a run of mistakes says of the risks R(w) = P(SGN(w.x) != y) of the hypotheses that made them.

What it models: independent examples, and errors of fixed hypotheses where only some labels were bought, each weighted
by the inverse of the probability with which it was asked for.  A bound on a risk at or above 1 is vacuous; nothing is
clipped.  What it leaves out: estimating a risk.
Sources: Cesa-Bianchi 2007 (R), section 3.2; Beygelzimer, Dasgupta and Langford 2009, theorem 1.
"""

from __future__ import annotations

from math import log, sqrt

from lpsm import checks
from lpsm.checks import checked


@checked
def average_risk(mistakes: int, n_rounds: int, delta: float) -> float:
    """R above (6): with probability 1 - delta, (1/n) sum_t R(w_{t-1}) <= M/n + sqrt((2/n) ln(1/delta)).

    It holds of incremental learners on independent examples; w_{t-1} is what predicted in round t.
    """
    checks.between(0, n_rounds, mistakes=mistakes)
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
    """
    checks.between(0.0, 1.0, True, least_probability=least_probability)
    return sqrt(2.0 * log(2.0 * n_hypotheses / delta) / n_rounds) / least_probability
