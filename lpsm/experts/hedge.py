"""Hedges, made for the loss of playing the weights: AdaHedge, Squint, NormalHedge.

What it models: three rules for the weights, with the interface of the learners of this package.  `update` returns the
mixture loss of their weights, so that they stand on one scale with Learn-alpha, although they are made for sum_i p_i
loss_i (`ExpertRun.played_loss`).  All rounds are compiled; the combiner mixes its rates by AdaHedge's rule.
Deviation: in a round where an expert sleeps, these three charge it the learner's own loss.
What it leaves out: priors, and losses without a bound (infinity is an error).
Sources: de Rooij, van Erven, Gruenwald and Koolen 2014, figure 1 (AdaHedge); Koolen and van Erven 2015, section 4, with
the improper prior (Squint); Chaudhuri, Freund and Hsu 2009, figure 1 (NormalHedge); for erfcx, Abramowitz and Stegun
1964, 7.1.14.
"""

from __future__ import annotations

import math
from typing import ClassVar, Unpack

import numpy as np

from lpsm import checks
from lpsm.arrays import Floats, Mask, State
from lpsm.experts.learner import Common, Learner, Rounds
from lpsm.native import compiled

RATES = 0.25 * np.polynomial.legendre.leggauss(24)[0] + 0.25  # Gauss-Legendre nodes on [0, 1/2] ..
RATE_WEIGHTS = 0.25 * np.polynomial.legendre.leggauss(24)[1]  # .. and their weights
FAR, TERMS = 5.0, 24  # from here on so many terms of the continued fraction of erfcx leave nothing in a double
ADA_HEDGE, SQUINT, NORMAL_HEDGE = range(3)


@compiled
def hedge_weights(behind: Floats, gap: float, out: Floats) -> float:
    """Write AdaHedge's weights and return its rate, ln n over the gap; while there is no gap, infinite, the leaders'.

    `behind` is each one's cumulative loss beyond the best one's.
    """
    rate = math.log(behind.size) / gap if gap > 0.0 else np.inf
    total = 0.0
    for k in range(behind.size):
        leads = 1.0 if behind[k] == 0.0 else 0.0
        out[k] = math.exp(-rate * behind[k]) if gap > 0.0 else leads
        total += out[k]
    out /= total
    return rate


@compiled
def hedge_round(losses: Floats, weights: Floats, rate: float, behind: Floats) -> float:
    """AdaHedge's round, given its weights and rate: move `behind`, and return the mixability gap of the round."""
    lowest, mean, mixed = np.inf, 0.0, 0.0
    for k in range(weights.size):
        if weights[k] > 0.0:
            lowest = min(lowest, losses[k])
    for k in range(weights.size):
        if weights[k] > 0.0:
            mean += weights[k] * (losses[k] - lowest)
            if rate < np.inf:
                mixed += weights[k] * math.exp(-rate * (losses[k] - lowest))
    least = np.inf
    for k in range(behind.size):
        behind[k] += losses[k]
        least = min(least, behind[k])
    behind -= least
    return max(0.0, mean + (math.log(mixed) / rate if rate < np.inf else 0.0))


@compiled
def erfcx(x: float) -> float:
    """exp(x^2) erfc(x) of x >= 0, right to twelve digits and more.

    Near 0 the product itself, whose exponent is rounded by at most 25 units; beyond, the continued fraction
    1/sqrt(pi) / (x + (1/2)/(x + 1/(x + (3/2)/(x + ...)))).
    """
    if x < FAR:
        return math.exp(x * x) * math.erfc(x)
    rest = x
    for k in range(TERMS, 0, -1):
        rest = x + 0.5 * k / rest
    return 1.0 / (math.sqrt(math.pi) * rest)


@compiled
def log_evidence(R: float, V: float) -> float:
    """Ln of the integral over eta in [0, 1/2] of exp(eta R - eta^2 V)."""
    if V < 1e-2 and abs(R) < 20.0:
        total = 0.0
        for k in range(RATES.size):
            total += RATE_WEIGHTS[k] * math.exp(RATES[k] * R - RATES[k] * RATES[k] * V)
        return math.log(total)
    root = math.sqrt(max(V, 1e-300))
    low, high = (R - V) / (2.0 * root), R / (2.0 * root)  # the Gaussian's ends, in erf's units
    rise = (2.0 * R - V) / 4.0  # high^2 - low^2
    if low > 0.0:
        value = rise + math.log(erfcx(low) - math.exp(-rise) * erfcx(high))
    elif high < 0.0:
        value = math.log(erfcx(-high) - math.exp(rise) * erfcx(-low))
    else:
        value = high * high + math.log(math.erf(high) - math.erf(low))
    return math.log(math.sqrt(math.pi) / (2.0 * root)) + value


@compiled
def squint_weights(regret: Floats, variance: Floats, out: Floats) -> None:
    """Write Squint's weights: the evidence, over its sum."""
    most, total = -np.inf, 0.0
    for i in range(out.size):
        out[i] = log_evidence(regret[i], variance[i])
        most = max(most, out[i])
    for i in range(out.size):
        out[i] = math.exp(out[i] - most)
        total += out[i]
    out /= total


@compiled
def normal_hedge_weights(regret: Floats, out: Floats) -> None:
    """Write NormalHedge's weights: uniform while nobody is ahead."""
    best, total, n = 0.0, 0.0, out.size
    for i in range(n):
        best = max(best, regret[i])
    if best == 0.0:
        out[:] = 1.0 / n
        return
    x = 1.0 + math.log(n)  # not below the root: the largest term alone reaches the mean there
    while True:  # mean(exp(squares x)) = e by Newton on the convex logarithm; the largest square is 1
        rise = 0.0
        total = 0.0
        for i in range(n):
            ahead = max(regret[i], 0.0) / best
            out[i] = math.exp((ahead * ahead - 1.0) * x)
            total += out[i]
            rise += out[i] * ahead * ahead
        smaller = x - (x + math.log(total / n) - 1.0) * total / rise
        if not smaller < x:
            break
        x = smaller
    total = 0.0
    for i in range(n):
        out[i] *= max(regret[i], 0.0) / best
        total += out[i]
    out /= total


@compiled
def weigh(rule: int, first: Floats, second: Floats, out: Floats) -> float:
    """Write the weights of a rule, given its two arrays, and return AdaHedge's rate."""
    if rule == ADA_HEDGE:
        return hedge_weights(first, second[0], out)
    if rule == SQUINT:
        squint_weights(first, second, out)
    else:
        normal_hedge_weights(first, out)
    return 1.0


@compiled
def charge(losses: Floats, awake: Mask, weights: Floats, charged: Floats) -> float:
    """Write what each expert is charged, those asleep the mean of the others; return the mixture loss."""
    total, mean, lowest, mixed = 0.0, 0.0, np.inf, 0.0
    for i in range(losses.size):
        if awake[i]:
            total += weights[i]
            lowest = min(lowest, losses[i]) if weights[i] > 0.0 else lowest
    if total == 0.0:  # nobody is there
        charged[:] = 0.0
        return 0.0
    for i in range(losses.size):
        if weights[i] > 0.0 and awake[i]:
            mean += weights[i] / total * losses[i]
            mixed += weights[i] / total * math.exp(lowest - losses[i])
    for i in range(losses.size):
        charged[i] = losses[i] if awake[i] else mean
    return lowest - math.log(mixed)


@compiled
def play(
    rule: int, losses: Floats, awake: Mask, loss_range: float, first: Floats, second: Floats, loss: Floats,
    record: Floats,
) -> None:  # fmt: skip
    """Play rounds: write the mixture losses, and the weights before each round if there is room."""
    n = losses.shape[1]
    weights, charged = np.empty(n), np.empty(n)
    for t in range(losses.shape[0]):
        rate = weigh(rule, first, second, weights)
        if record.shape[0] > 0:
            record[t] = weights
        loss[t] = charge(losses[t], awake[t], weights, charged)
        if rule == ADA_HEDGE:
            second[0] += hedge_round(charged, weights, rate, first)
            continue
        mean = 0.0
        for i in range(n):
            mean += weights[i] * charged[i]
        for i in range(n):
            regret = (mean - charged[i]) / loss_range
            first[i] += regret
            if rule == SQUINT:
                second[i] += regret * regret


class _Hedge(Learner):
    """What the three made for the loss sum_i p_i loss_i share: finite losses, and sleepers charged that loss."""

    _RULE: ClassVar[int]
    _STATE: ClassVar[str]  # names of its arrays
    _unit = 1.0  # of regrets

    def __init__(self, n_experts: int, **common: Unpack[Common]) -> None:
        super().__init__(n_experts, **common)
        self._first, self._second = np.zeros(self.n_experts), np.zeros(self.n_experts if self._RULE == SQUINT else 1)

    @property
    def weights(self) -> Floats:
        """Weights over the experts before the next outcome, shape (n,)."""
        out = np.empty(self.n_experts)
        weigh(self._RULE, self._first, self._second, out)
        return out

    def _arrays(self) -> State:
        return dict(zip(self._STATE.split(), (self._first, self._second), strict=False))

    def _check(self, losses: Floats, awake: Mask | None) -> None:
        if np.isposinf(losses if awake is None else losses[awake]).any():
            raise ValueError(f"losses must be finite for {type(self).__name__}, got inf")
        super()._check(losses, awake)

    def _round(self, losses: Floats, awake: Mask | None) -> float:
        return float(self._run(losses[None], None if awake is None else awake[None], False, False).loss[0])

    def _run(self, losses: Floats, awake: Mask | None, weights: bool, alpha_weights: bool) -> Rounds:
        loss, mask = np.empty(len(losses)), np.ones(losses.shape, np.bool_) if awake is None else awake.copy()
        record = np.empty(losses.shape if weights else (0, 0))
        play(self._RULE, losses, mask, self._unit, self._first, self._second, loss, record)
        return Rounds(loss, record if weights else None)


class AdaHedge(_Hedge):
    """Exponential weights whose learning rate is ln n over the mixability gap so far; needs no range of the losses.

    Parameters
    ----------
    n_experts
        Number n of experts.
    signed, loss_range
        As for `FixedShare`.

    >>> learner = AdaHedge(n_experts=2)
    >>> _ = learner.update([0.0, 1.0])
    >>> learner.weights.round(6).tolist()
    [0.8, 0.2]
    """

    TAKES = "n_experts signed loss_range"
    _RULE, _STATE = ADA_HEDGE, "behind gap"

    def __init__(self, n_experts: int, *, signed: bool = False, loss_range: float = math.inf) -> None:
        super().__init__(n_experts, signed=signed, loss_range=loss_range)

    @property
    def learning_rate(self) -> float:
        """The rate eta for the next round; infinite while the gap is zero."""
        return weigh(self._RULE, self._first, self._second, np.empty(self.n_experts))


class Squint(_Hedge):
    """Weights by the evidence for every learning rate at once, from regrets R_i and their squares' sum V_i.

    p_i is proportional to the integral over eta in [0, 1/2] of exp(eta R_i - eta^2 V_i).

    Parameters
    ----------
    n_experts
        Number n of experts.
    loss_range
        Largest loss; regrets are divided by it.
    """

    TAKES = "n_experts loss_range"
    _RULE, _STATE = SQUINT, "regret variance"

    def __init__(self, n_experts: int, *, loss_range: float = 1.0) -> None:
        checks.positive(loss_range=loss_range)
        super().__init__(n_experts, loss_range=loss_range)
        self._unit = self.loss_range


class NormalHedge(_Hedge):
    """Weights from the regrets alone, without a parameter: p_i ~ [R_i]+ exp([R_i]+^2 / 2c), c kept at potential e.

    Parameters
    ----------
    n_experts
        Number n of experts.
    signed
        Whether losses may be negative.
    """

    TAKES = "n_experts signed"
    _RULE, _STATE = NORMAL_HEDGE, "regret"

    def __init__(self, n_experts: int, *, signed: bool = False) -> None:
        super().__init__(n_experts, signed=signed)
