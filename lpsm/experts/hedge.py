"""Hedges, made for the loss of playing the weights: AdaHedge, Squint, NormalHedge.

What it models: three rules for the weights, with the interface of the learners of this package.  `update` returns the
mixture loss of their weights, so that they stand on one scale with Learn-alpha, although they are made for
sum_i p_i loss_i (`ExpertRun.played_loss`).  AdaHedge's rule is compiled: the combiner mixes its rates by it.
Deviation: in a round where an expert sleeps, these three charge it the learner's own loss.
What it leaves out: priors, and losses without a bound (infinity is an error).
Sources: de Rooij, van Erven, Gruenwald and Koolen 2014, figure 1 (AdaHedge); Koolen and van Erven 2015, section 4, with
the improper prior (Squint); Chaudhuri, Freund and Hsu 2009, figure 1 (NormalHedge).
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from lpsm import checks
from lpsm.arrays import Floats, Mask, State
from lpsm.experts.learner import Learner
from lpsm.native import compiled

RATES = 0.25 * np.polynomial.legendre.leggauss(24)[0] + 0.25  # Gauss-Legendre nodes on [0, 1/2] ..
RATE_WEIGHTS = 0.25 * np.polynomial.legendre.leggauss(24)[1]  # .. and their weights


@compiled
def hedge_weights(behind, gap, out):
    """Write AdaHedge's weights and return its rate, ln n over the gap; while there is no gap, infinite, the leaders'.

    `behind` is each one's cumulative loss beyond the best one's.
    """
    rate = math.log(behind.size) / gap if gap > 0.0 else np.inf
    total = 0.0
    for k in range(behind.size):
        leads = 1.0 if behind[k] == 0.0 else 0.0
        out[k] = math.exp(-rate * behind[k]) if gap > 0.0 else leads
        total += out[k]
    for k in range(behind.size):
        out[k] /= total
    return rate


@compiled
def hedge_round(losses, weights, rate, behind):
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
    for k in range(behind.size):
        behind[k] -= least
    return max(0.0, mean + (math.log(mixed) / rate if rate < np.inf else 0.0))


class _Hedge(Learner):
    """What the three made for the loss sum_i p_i loss_i share: finite losses, and sleepers charged that loss."""

    def _check(self, losses: Floats, awake: Mask | None) -> None:
        if np.isposinf(losses if awake is None else losses[awake]).any():
            raise ValueError(f"losses must be finite for {type(self).__name__}, got inf")
        super()._check(losses, awake)

    def _round(self, losses: Floats, awake: Mask | None) -> float:
        weights = part = self.weights
        charged = awake_losses = losses
        if awake is not None:
            total = float(weights[awake].sum())
            if total == 0.0:
                self._learn(np.zeros_like(losses), weights)
                return 0.0
            part, awake_losses = weights[awake] / total, losses[awake]
            charged = np.where(awake, losses, float(part @ awake_losses))
        self._learn(charged, weights)
        lowest = float(awake_losses[part > 0.0].min())  # the least loss that has weight
        return lowest - math.log(float(part @ np.exp(np.minimum(lowest - awake_losses, 700.0))))

    def _learn(self, losses: Floats, weights: Floats) -> None:
        """Learn from losses of all experts, given the weights before them."""
        raise NotImplementedError


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

    TAKES: ClassVar[tuple[str, ...]] = ("n_experts", "signed", "loss_range")

    def __init__(self, n_experts: int, *, signed: bool = False, loss_range: float = math.inf) -> None:
        super().__init__(n_experts, signed=signed, loss_range=loss_range)
        self._behind = np.zeros(self.n_experts)
        self._gap = np.zeros(1)

    @property
    def learning_rate(self) -> float:
        """The rate eta for the next round; infinite while the gap is zero."""
        return math.log(self.n_experts) / float(self._gap[0]) if self._gap[0] > 0.0 else math.inf

    @property
    def weights(self) -> Floats:
        """Weights over the experts before the next outcome, shape (n,): the leaders' while eta is infinite."""
        out = np.empty(self.n_experts)
        hedge_weights(self._behind, float(self._gap[0]), out)
        return out

    def _learn(self, losses: Floats, weights: Floats) -> None:
        self._gap += hedge_round(losses, weights, self.learning_rate, self._behind)

    def _arrays(self) -> State:
        return {"behind": self._behind, "gap": self._gap}


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

    TAKES: ClassVar[tuple[str, ...]] = ("n_experts", "loss_range")

    def __init__(self, n_experts: int, *, loss_range: float = 1.0) -> None:
        checks.positive(loss_range=loss_range)
        super().__init__(n_experts, loss_range=loss_range)
        self._regret = np.zeros(self.n_experts)
        self._variance = np.zeros(self.n_experts)

    @property
    def weights(self) -> Floats:
        """Weights over the experts before the next outcome, shape (n,)."""
        evidence = _log_evidence(self._regret, self._variance)
        values = np.exp(evidence - evidence.max())
        return np.asarray(values / values.sum())

    def _learn(self, losses: Floats, weights: Floats) -> None:
        regret = (float(weights @ losses) - losses) / self.loss_range
        self._regret += regret
        self._variance += regret**2

    def _arrays(self) -> State:
        return {"regret": self._regret, "variance": self._variance}


class NormalHedge(_Hedge):
    """Weights from the regrets alone, without a parameter: p_i ~ [R_i]+ exp([R_i]+^2 / 2c), c kept at potential e.

    Parameters
    ----------
    n_experts
        Number n of experts.
    signed
        Whether losses may be negative.
    """

    TAKES: ClassVar[tuple[str, ...]] = ("n_experts", "signed")

    def __init__(self, n_experts: int, *, signed: bool = False) -> None:
        super().__init__(n_experts, signed=signed)
        self._regret = np.zeros(self.n_experts)

    @property
    def weights(self) -> Floats:
        """Weights over the experts before the next outcome, shape (n,): uniform while nobody is ahead."""
        ahead = np.maximum(self._regret, 0.0)
        best = float(ahead.max())
        if best == 0.0:
            return np.full(self.n_experts, 1.0 / self.n_experts)
        squares = (ahead / best) ** 2
        exponents = squares * _potential_root(squares)
        values = ahead / best * np.exp(exponents - exponents.max())
        return np.asarray(values / values.sum())

    def _learn(self, losses: Floats, weights: Floats) -> None:
        self._regret += float(weights @ losses) - losses

    def _arrays(self) -> State:
        return {"regret": self._regret}


def _potential_root(squares: Floats) -> float:
    """The x with mean(exp(squares * x)) = e, by Newton on the convex logarithm; the largest square is 1."""
    x = 1.0 + math.log(squares.size)  # not below the root: the largest term alone reaches the mean there
    while True:
        terms = np.exp((squares - 1.0) * x)
        value = x + math.log(float(terms.mean())) - 1.0
        smaller = x - value * float(terms.sum()) / float(terms @ squares)
        if not smaller < x:
            return x
        x = smaller


def _log_evidence(regret: Floats, variance: Floats) -> Floats:
    """Ln of the integral over eta in [0, 1/2] of exp(eta R - eta^2 V), elementwise."""
    flat = (variance < 1e-2) & (np.abs(regret) < 20.0)
    out = np.empty_like(regret)
    if flat.any():
        values = np.exp(RATES * regret[flat, None] - RATES**2 * variance[flat, None])
        out[flat] = np.log(values @ RATE_WEIGHTS)
    if flat.all():
        return out
    from scipy import special  # slow to import, and needed here alone

    R, V = regret[~flat], np.maximum(variance[~flat], 1e-300)
    root, erfcx = np.sqrt(V), special.erfcx
    low, high = (R - V) / (2 * root), R / (2 * root)  # the Gaussian's ends, in erf's units
    rise = (2 * R - V) / 4  # high**2 - low**2
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        right = rise + np.log(erfcx(low) - np.exp(-rise) * erfcx(high))
        left = np.log(erfcx(-high) - np.exp(rise) * erfcx(-low))
        middle = high**2 + np.log(special.erf(high) - special.erf(low))
    value = np.where(low > 0.0, right, np.where(high < 0.0, left, middle))
    out[~flat] = np.log(np.sqrt(np.pi) / (2 * root)) + value
    return out
