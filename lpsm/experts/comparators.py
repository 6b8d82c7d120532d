"""Other learners over experts, for comparison: Variable-share, AdaHedge, Squint, NormalHedge.

What it models: four rules for the weights, with the interface of the learners of this
package.  `update` returns the loss -ln sum_i p_i exp(-loss_i) of their weights, so that
they stand on one scale with Learn-alpha, although the last three were made for the
loss sum_i p_i loss_i (`Learner.run` keeps the weights to compute it from).
Deviation: in a round where an expert sleeps, these three charge it the learner's own loss.
What it leaves out: priors, and losses without a bound for the last three (infinity is an error).
Sources: Herbster and Warmuth 1998, section 5 (Variable-share); de Rooij, van Erven, Gruenwald
and Koolen 2014, figure 1 (AdaHedge); Koolen and van Erven 2015, section 4, with the improper
prior (Squint); Chaudhuri, Freund and Hsu 2009, figure 1 (NormalHedge).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from lpsm._compile import compiled
from lpsm.checks import state_array
from lpsm.experts.kernels import LN2
from lpsm.experts.learner import Floats, Learner, checked_prior, checked_rate
from lpsm.experts.scaled import decay_scaled, scaled_column_round, scaled_share_of_each

__all__ = ["AdaHedge", "NormalHedge", "Squint", "VariableShare"]


RATES = 0.25 * np.polynomial.legendre.leggauss(24)[0] + 0.25  # Gauss-Legendre nodes on [0, 1/2] ..
RATE_WEIGHTS = 0.25 * np.polynomial.legendre.leggauss(24)[1]  # .. and their weights


class VariableShare(Learner):
    """Fixed-share whose experts give away weight only as they lose: 1 - (1 - alpha)**loss of it.

    Parameters
    ----------
    n_experts
        Number n of experts.
    alpha
        Part given away at loss 1, in [0, 1); an equal part goes to each other expert.
    prior
        Distribution before the first round, shape (n,); uniform if not given.

    >>> learner = VariableShare(n_experts=2, alpha=0.5)
    >>> _ = learner.update([0.0, 1.0])
    >>> learner.weights.round(6).tolist()
    [0.865529, 0.134471]
    """

    def __init__(self, n_experts: int, alpha: float, *, prior: ArrayLike | None = None) -> None:
        super().__init__(n_experts)
        if checked_rate("alpha", alpha) == 1.0:
            raise ValueError("alpha must lie in [0, 1), got 1.0")
        self.alpha = float(alpha)
        self._weights = np.array(np.frexp(checked_prior("prior", prior, self.n_experts)), dtype=np.float64)

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the next outcome, shape (n,)."""
        values = np.ldexp(self._weights[0], np.maximum(self._weights[1], -2000.0).astype(np.int64))
        return np.asarray(values / values.sum())

    def _round(self, losses: Floats, awake: NDArray[np.bool_] | None) -> float:
        mask = np.ones(self.n_experts, dtype=np.bool_) if awake is None else awake
        return _variable_share_round(losses, mask, math.log1p(-self.alpha), self._weights)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"alpha": np.array(self.alpha), "scaled_weights": self._weights}

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self.alpha = float(state["alpha"])
        self._weights = state_array(state, "scaled_weights", (2, self.n_experts))


@compiled
def _variable_share_round(losses: Floats, awake: NDArray[np.bool_], log_keep: float, weights: Floats) -> float:
    n = losses.size
    lowest, abstains = np.inf, True
    for i in range(n):
        if awake[i] and weights[0, i] > 0.0:
            abstains = False
            lowest = min(lowest, losses[i])
    if abstains:
        return 0.0
    if lowest == np.inf:
        return np.inf
    factor = np.empty((2, n))
    decay_scaled(losses, lowest, factor[0], factor[1])
    ratio, exponent = scaled_column_round(weights[0], weights[1], factor[0], factor[1], awake, lowest)
    stay, leave = np.ones(n), np.zeros(n)
    for i in range(n):
        if awake[i] and log_keep < 0.0:
            stay[i] = math.exp(log_keep * losses[i])
            leave[i] = -math.expm1(log_keep * losses[i])
    scaled_share_of_each(weights[0], weights[1], stay, leave)
    return lowest - (math.log(ratio) + exponent * LN2)


class _Hedge(Learner):
    """What the three made for the loss sum_i p_i loss_i share: finite losses, and sleepers charged that loss."""

    def _check(self, losses: Floats, awake: NDArray[np.bool_] | None) -> None:
        super()._check(losses, awake)
        if np.isposinf(losses if awake is None else losses[awake]).any():
            raise ValueError(f"losses must be finite for {type(self).__name__}, got inf")

    def _round(self, losses: Floats, awake: NDArray[np.bool_] | None) -> float:
        weights = self.weights
        if awake is None:
            self._learn(losses, weights)
            return _mixed(losses, weights, 1.0)
        total = float(weights[awake].sum())
        if total == 0.0:
            self._learn(np.zeros_like(losses), weights)
            return 0.0
        part = weights[awake] / total
        self._learn(np.where(awake, losses, float(part @ losses[awake])), weights)
        return _mixed(losses[awake], part, 1.0)

    def _learn(self, losses: Floats, weights: Floats) -> None:
        """Learn from losses of all experts, given the weights before them."""
        raise NotImplementedError


class AdaHedge(_Hedge):
    """Exponential weights whose learning rate is ln n over the mixability gap so far; needs no range of the losses.

    Parameters
    ----------
    n_experts
        Number n of experts.
    signed
        Whether losses may be negative.

    >>> learner = AdaHedge(n_experts=2)
    >>> _ = learner.update([0.0, 1.0])
    >>> learner.weights.round(6).tolist()
    [0.8, 0.2]
    """

    def __init__(self, n_experts: int, *, signed: bool = False) -> None:
        super().__init__(n_experts, signed=signed)
        self._cumulative = np.zeros(self.n_experts)
        self._gap = 0.0

    @property
    def learning_rate(self) -> float:
        """The rate eta for the next round; infinite while the gap is zero."""
        return math.log(self.n_experts) / self._gap if self._gap > 0.0 else math.inf

    @property
    def weights(self) -> Floats:
        """Weights over the experts before the next outcome, shape (n,): the leaders' while eta is infinite."""
        behind = self._cumulative - self._cumulative.min()
        eta = self.learning_rate
        values = (behind == 0.0).astype(np.float64) if math.isinf(eta) else np.exp(-eta * behind)
        return np.asarray(values / values.sum())

    def _learn(self, losses: Floats, weights: Floats) -> None:
        eta = self.learning_rate
        mixed = float(losses[weights > 0.0].min()) if math.isinf(eta) else _mixed(losses, weights, eta)
        self._gap += max(0.0, float(weights @ losses) - mixed)
        self._cumulative += losses
        self._cumulative -= self._cumulative.min()

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"cumulative": self._cumulative, "gap": np.array(self._gap)}

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._cumulative = state_array(state, "cumulative", (self.n_experts,))
        self._gap = float(state["gap"])


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

    def __init__(self, n_experts: int, *, loss_range: float = 1.0) -> None:
        super().__init__(n_experts)
        if not 0.0 < loss_range < math.inf:
            raise ValueError(f"loss_range must be positive and finite, got {loss_range}")
        self.loss_range = float(loss_range)
        self._regret = np.zeros(self.n_experts)
        self._variance = np.zeros(self.n_experts)

    @property
    def weights(self) -> Floats:
        """Weights over the experts before the next outcome, shape (n,)."""
        return np.asarray(_softmax(_log_evidence(self._regret, self._variance)))

    def _check(self, losses: Floats, awake: NDArray[np.bool_] | None) -> None:
        super()._check(losses, awake)
        largest = (losses if awake is None else losses[awake]).max(initial=0.0)
        if largest > self.loss_range:
            raise ValueError(f"losses must lie in [0, loss_range = {self.loss_range}], got {largest}")

    def _learn(self, losses: Floats, weights: Floats) -> None:
        regret = (float(weights @ losses) - losses) / self.loss_range
        self._regret += regret
        self._variance += regret**2

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"regret": self._regret, "variance": self._variance, "loss_range": np.array(self.loss_range)}

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._regret = state_array(state, "regret", (self.n_experts,))
        self._variance = state_array(state, "variance", (self.n_experts,))
        self.loss_range = float(state["loss_range"])


class NormalHedge(_Hedge):
    """Weights from the regrets alone, without a parameter: p_i ~ [R_i]+ exp([R_i]+^2 / 2c), c kept at potential e.

    Parameters
    ----------
    n_experts
        Number n of experts.
    signed
        Whether losses may be negative.
    """

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

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"regret": self._regret}

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._regret = state_array(state, "regret", (self.n_experts,))


def _mixed(losses: Floats, weights: Floats, eta: float) -> float:
    """-ln(sum_i p_i exp(-eta loss_i)) / eta, shifted by the least loss that has weight."""
    lowest = float(losses[weights > 0.0].min())
    return lowest - math.log(float(weights @ np.exp(np.minimum(eta * (lowest - losses), 700.0)))) / eta


def _softmax(x: Floats) -> Floats:
    values = np.exp(x - x.max())
    return np.asarray(values / values.sum())


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
    R, V = regret[~flat], np.maximum(variance[~flat], 1e-300)
    root = np.sqrt(V)
    low, high = (R - V) / (2 * root), R / (2 * root)  # the Gaussian's ends, in erf's units
    rise = (2 * R - V) / 4  # high**2 - low**2
    level = np.log(np.sqrt(np.pi) / (2 * root))
    value = np.empty_like(R)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        right, left = low > 0.0, high < 0.0
        middle = ~(right | left)
        value[right] = rise[right] + np.log(
            special.erfcx(low[right]) - np.exp(-rise[right]) * special.erfcx(high[right])
        )
        value[left] = np.log(special.erfcx(-high[left]) - np.exp(rise[left]) * special.erfcx(-low[left]))
        value[middle] = high[middle] ** 2 + np.log(special.erf(high[middle]) - special.erf(low[middle]))
    out[~flat] = level + value
    return out
