"""Query rules: when a label is asked for.

What it models: each rule is a record of its parameters, with the probability with which the round's coin asks (0 or 1
for deterministic rules), as a function of p = w.x, r = x'A^-1 x and the margin; it never falls in r.  Some also
say what a signal entitles to (`grants`) and what an answer changes (`answers`); `protocol.Rule` has the arguments.
What it leaves out: which rule goes with which learner (`catalogue`).
Sources: Cesa-Bianchi et al. 2004 (W) figures 1, 2 and section 4, and its journal version; Cavallanti et al. 2010
(A) figures 1, 2, 12, sections 3, 5, 6.3; Cesa-Bianchi 2007 (R) section 4; Moroshko and Crammer 2014 (D) figure 1,
section 5; Monteleoni 2006 (T) figures 3-4, 4-3, section 4.6; Beygelzimer, Hsu, Langford and Zhang 2010 (IW)
algorithm 1; Karampatziakis and Langford 2011 (IU); Gibbs and Candès 2021 for a threshold that follows a rate.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isinf, log, sqrt

from lpsm.arrays import Floats, Ints
from lpsm.checks import between, number, positive, shown
from lpsm.native import compiled
from lpsm.samplers.protocol import (
    DUE,
    FALSE_POSITIVES,
    LARGEST_SQUARE,
    ROUND,
    SCHEDULED,
    STORED,
    STREAK,
    THRESHOLD,
    WEIGHT,
    Learner,
    Rule,
    RuleFunction,
    checked_by,
    parameters,
)

__all__ = [
    "AdaptiveSampler", "Always", "AppleTasting", "Coin", "Filter", "FixedCoin", "Halving", "ImportanceWeighted",
    "KeptRate", "LabelEfficientFilter", "NextLabel", "SecondOrderCoin", "SmallMargin", "Variance",
]  # fmt: skip

TimeSchedule = Callable[[int], float]


@parameters
class Always(Rule):
    """Ask for every label."""


# -- coins: a probability that falls with the margin, or one that is fixed --------------------------------


@compiled
def toss(parameter: float, q: float) -> float:
    """parameter/(parameter + q), 1 at an infinite parameter."""
    return 1.0 if isinf(parameter) else parameter / (parameter + q)


@compiled
def scale(rule: Floats, counts: Ints, scalars: Floats, norm2: float) -> float:
    """b, or b_t = beta X_t^2 sqrt(1 + K_t); infinite while there were only zero instances, whose margin is 0."""
    b = float(rule[0])
    if rule[1] == 0.0:
        return b
    b *= max(norm2, scalars[LARGEST_SQUARE]) * sqrt(1.0 + counts[STORED])
    return b if b > 0.0 else inf


@parameters
class Coin(Rule):
    """Ask with probability b/(b + |margin|) (W figure 1); b = inf always asks.

    If `adaptive`, b is beta in b_t = beta X_t^2 sqrt(1 + K_t): X_t the larger of the norm of x_t and the
    norms at earlier updates, K_t the updates so far (W's journal version).  `symbol` is b's name in messages.
    """

    b: float = 0.5
    adaptive: bool = False
    symbol: str = "b"
    randomized = True
    chance = staticmethod(
        lambda rule, counts, scalars, p, r, m, norm2, bias: toss(scale(rule, counts, scalars, norm2), abs(m))
    )


@parameters
class SecondOrderCoin(Rule):
    """Ask with probability b/(b + |m| + m^2 (1 + x'A^-1 x)/2) (W figure 2, (3)); `adaptive` as in `Coin`."""

    b: float = 0.5
    adaptive: bool = False
    symbol: str = "b"
    randomized = True
    chance = staticmethod(  # |m| + m^2 (1 + r)/2 at m = p/(1 + r)
        lambda rule, counts, scalars, p, r, m, norm2, bias: toss(
            scale(rule, counts, scalars, norm2), (abs(p) + 0.5 * p * p) / (1.0 + r)
        )
    )


@parameters
class FixedCoin(Rule):
    """Ask with probability `rate`, whatever the margin (W section 4, T section 4.6)."""

    rate: float = 0.5
    randomized = True
    chance = staticmethod(lambda rule, counts, scalars, p, r, m, norm2, bias: float(rule[0]))


# -- thresholds: the margin, or its variance, beside a number that changes with time --------------------------


@compiled
def small(K: float, counts: Ints, m: float, norm2: float) -> float:
    """1 if m^2 <= |x|^2 K ln t / N, or as long as nothing is stored."""
    if counts[STORED] == 0 or isinf(K):
        return 1.0
    return 1.0 if m * m <= norm2 * (K * log(float(counts[ROUND])) / counts[STORED]) else 0.0


def _next(
    rule: Floats, counts: Ints, scalars: Floats, chance: float, signal: float, floor: float, _: float, __: float
) -> float:
    now = float(counts[SCHEDULED])
    counts[SCHEDULED] = 1 if signal > 0.0 else 0
    return now


def _halve(rule: Floats, counts: Ints, scalars: Floats, p: float, y: float, wrong: float, _: float, __: float) -> float:
    counts[STREAK] = 0 if wrong > 0.0 else counts[STREAK] + 1
    # Deviation: T figure 3-4, read literally, halves at every correct label past the R-th; 4-3 resets
    if counts[STREAK] >= rule[0]:
        scalars[THRESHOLD] *= 0.5
        counts[STREAK] = 0
    return -1.0


def _follow(
    rule: Floats, counts: Ints, scalars: Floats, chance: float, signal: float, floor: float, _: float, __: float
) -> float:
    scalars[THRESHOLD] += rule[1] * (rule[0] - signal)
    return chance


@parameters
class SmallMargin(Rule):
    """Ask if margin^2 <= |x|^2 K ln t / N, N stored so far (A figure 1); R section 4 is K = c^2."""

    K: float = 1.0
    chance = staticmethod(lambda rule, counts, scalars, p, r, m, norm2, bias: small(rule[0], counts, m, norm2))


@parameters
class NextLabel(Rule):
    """A small margin in round t asks for the label of round t + 1 (A section 3.1); the first label is asked for."""

    K: float = 1.0
    chance = staticmethod(SmallMargin.chance)
    grants = staticmethod(_next)

    def begin(self, counts: Ints, scalars: Floats) -> None:
        """Ask for the first label."""
        counts[SCHEDULED] = 1


@parameters
class Variance(Rule):
    """Ask if x'(A + x x')^-1 x > t^-kappa, that is r/(1+r) (D section 5: BBQ)."""

    kappa: float = 0.3
    chance = staticmethod(
        lambda rule, counts, scalars, p, r, m, norm2, bias: (
            1.0 if r / (1.0 + r) > float(counts[ROUND]) ** -rule[0] else 0.0
        )
    )


@parameters
class Halving(Rule):
    """Ask if |margin| <= s_t; s halves after R correct labels in a row (T figures 3-4 and 4-3)."""

    R: int = 10
    s_1: float = 1.0
    chance = staticmethod(
        lambda rule, counts, scalars, p, r, m, norm2, bias: 1.0 if abs(m) <= scalars[THRESHOLD] else 0.0
    )
    answers = staticmethod(_halve)

    def begin(self, counts: Ints, scalars: Floats) -> None:
        """Begin at s_1."""
        scalars[THRESHOLD] = self.s_1


@parameters
class KeptRate(Rule):
    """Ask if |margin| <= s, which is 0 at first; then s += step (rate - 1{asked}).

    Since s_{T+1} = step (rate T - labels), any T rounds ask for at most rate T + 1 labels, and, where no margin exceeds
    M, for no fewer than rate (T - 1) - M/step.  Gibbs and Candès 2021, equation (2), steer the share of errors so.
    """

    rate: float = 0.1
    step: float = 0.02
    chance = staticmethod(Halving.chance)
    grants = staticmethod(_follow)


# -- the adaptive sampler: everything at first, then the example after each small margin ----------------------------


def _appoint(
    rule: Floats, counts: Ints, scalars: Floats, chance: float, signal: float, floor: float, _: float, __: float
) -> float:
    transient = counts[STORED] <= floor  # N is tested before it is incremented
    due, driven = transient or counts[SCHEDULED] == 1, rule[2] > 0.0
    small = signal > 0.0 and not transient
    counts[DUE] = (1 if due else 0) + (2 if small else 0)
    counts[SCHEDULED] = 1 if small and not driven else 0
    return 1.0 if due else chance if driven else 0.0


def _keep_if_due(
    rule: Floats, counts: Ints, scalars: Floats, p: float, y: float, wrong: float, _: float, __: float
) -> float:
    if rule[2] > 0.0 and counts[DUE] >= 2 and wrong > 0.0:
        counts[SCHEDULED] = 1
    return float(counts[DUE] % 2)


def _floor(rho: float | TimeSchedule | None) -> None:
    if rho is not None and not callable(rho) and not number("rho", rho) >= 0.0:
        raise ValueError(f"rho must be non-negative, got {shown(rho)}")


def _coin_of_remark_5(bias: float | TimeSchedule | None) -> None:
    if isinstance(bias, int | float):
        between(0.0, 1.0, bias=bias)


@parameters
class AdaptiveSampler(Rule):
    """Ask while N <= rho_t, then for the next label after margin^2 <= 128 ln t / (lambda N) (A figure 12).

    Parameters
    ----------
    lambda_
        Smallest eigenvalue of the instances' correlation matrix, positive.
    rho
        rho_t as a constant or a function of t; None for Theorem 2's (16/lambda^2) max(d, ln t).
    mistake_driven
        Step 4' of section 6.3: a small margin buys y_t, and the next label if y_t was a mistake.
    bias
        If given, Remark 5: a coin of this bias (a constant or a function of t) stands in for the margin
        of step 4.
    """

    lambda_: float = 1.0
    rho: float | TimeSchedule | None = None
    mistake_driven: bool = False
    bias: float | TimeSchedule | None = None
    ranges = checked_by(lambda_=positive, rho=_floor, bias=_coin_of_remark_5)
    grants = staticmethod(_appoint)
    answers = staticmethod(_keep_if_due)

    _by_margin = staticmethod(
        lambda rule, counts, scalars, p, r, m, norm2, bias: small(128.0 / rule[0], counts, m, 1.0)
    )
    _by_coin = staticmethod(lambda rule, counts, scalars, p, r, m, norm2, bias: bias)

    @property
    def chance(self) -> RuleFunction:
        """Whether the margin is small, or the coin's bias."""
        return self._by_margin if self.bias is None else self._by_coin

    @property
    def randomized(self) -> bool:
        """Whether a coin stands in for the margin."""
        return self.bias is not None

    def schedule(self, n_features: int, t: int) -> tuple[float, float]:
        """Return rho_t and the bias of the coin in round t (0 without a coin)."""
        if self.rho is None:
            floor = 16.0 / self.lambda_**2 * max(number("n_features", n_features), log(t))
        else:
            floor = number("rho", self.rho(t) if callable(self.rho) else self.rho)
        bias = 0.0 if self.bias is None else float(self.bias(t) if callable(self.bias) else self.bias)
        return floor, bias


# -- filters: a label is seen only if the instance is forwarded, which is predicting +1 ---------------------------


def _count_false(
    rule: Floats, counts: Ints, scalars: Floats, p: float, y: float, wrong: float, _: float, __: float
) -> float:
    if y < 0.0 and (p >= 0.0 or rule[0] > 0.0):
        counts[FALSE_POSITIVES] += 1
    return -1.0


@parameters
class Filter(Rule):
    """Forward if margin + |x| sqrt(K ln t / N) >= 0 (A figure 2)."""

    K: float = 1.0
    filters = True
    chance = staticmethod(
        lambda rule, counts, scalars, p, r, m, norm2, bias: 1.0 if m >= 0.0 else small(rule[0], counts, m, norm2)
    )


@parameters
class AppleTasting(Rule):
    """Forward what looks positive, and the rest with probability min(1, sqrt((1+mu)/t)) (A section 3.2).

    mu is the number of false positives so far.  The classifier's own are counted, which gives the paper's figure 10;
    with `count_forced` those that were forced are counted as well, and nearly everything is forwarded.
    """

    count_forced: bool = False
    randomized = True
    filters = True
    chance = staticmethod(
        lambda rule, counts, scalars, p, r, m, norm2, bias: min(
            1.0 if p >= 0.0 else sqrt((1.0 + counts[FALSE_POSITIVES]) / counts[ROUND]), 1.0
        )
    )
    answers = staticmethod(_count_false)


@parameters
class LabelEfficientFilter(Rule):
    """Forward what looks positive, and the rest with probability C/(C + |margin|) (A section 3.2)."""

    C: float = 1.0
    randomized = True
    filters = True
    chance = staticmethod(
        lambda rule, counts, scalars, p, r, m, norm2, bias: 1.0 if p >= 0.0 else toss(rule[0], abs(m))
    )


# -- labels that are weighted by their price --------------------------------------------------------

SQRT_PART, WHOLE_PART = 5.0 + 2.0 * sqrt(2.0), 5.0  # c_1 and c_2 of (IW)


def _importance(
    rule: Floats, counts: Ints, scalars: Floats, p: float, r: float, m: float, norm2: float, bias: float
) -> float:
    t = float(counts[ROUND])
    if t < 2.0 or r <= 0.0:
        return 1.0
    e = rule[0] * log(t) / (t - 1.0)
    gap = abs(p) / (r * t)
    if gap <= sqrt(e) + e:
        return 1.0
    a, b = WHOLE_PART * e, SQRT_PART * sqrt(e)  # a quadratic equation in 1/sqrt(s)
    c = (1.0 - SQRT_PART) * sqrt(e) + (1.0 - WHOLE_PART) * e - gap
    root = (sqrt(b * b - 4.0 * a * c) - b) / (2.0 * a)
    return float(max(rule[1], min(1.0, 1.0 / (root * root))))


def _weigh(
    rule: Floats, counts: Ints, scalars: Floats, chance: float, signal: float, floor: float, _: float, __: float
) -> float:
    scalars[WEIGHT] = 1.0 / chance
    return chance


@parameters
class ImportanceWeighted(Rule):
    """Ask with the probability of (IW), never less than `floor`, and give the label the weight 1/probability.

    With e = c_0 ln t/(t - 1) a label is always asked for while G_t <= sqrt(e) + e; otherwise with the probability s in
    (0, 1) that solves

        G_t = (c_1/sqrt(s) - c_1 + 1) sqrt(e) + (c_2/s - c_2 + 1) e,    c_1 = 5 + 2 sqrt(2), c_2 = 5.

    The right-hand side is sqrt(e) + e at s = 1 and falls in s, so that s exists, is unique, and falls as G_t grows.

    Deviations from (IW): G_t is there the error, on the weighted labels, of the best hypothesis that predicts
    otherwise, less that of the best; here, as in IU, the weight of a label that would turn the prediction of an online
    learner, over t: for AdaGrad's step abs(p)/(t eta x'Dx).  (IW) has no `floor`, and takes c_0 of the order of ln of
    the number of hypotheses; what it proves of consistency and of labels is about the best hypotheses, and
    is not claimed of this learner.  What holds of it, whatever the learner, is the deviation of weighted errors
    (`lpsm.bounds.risk.importance_weighted_deviation`), for which `floor` is there.
    """

    c_0: float = 0.0001
    floor: float = 0.01
    randomized = True
    needs_variance = True
    chance = staticmethod(_importance)
    grants = staticmethod(_weigh)

    def suits(self, learner: Learner) -> None:
        """Refuse learners to which every label counts alike."""
        if not learner.takes_weights:
            raise ValueError(f"ImportanceWeighted needs AdaGrad, which takes weighted labels, got {learner}")
