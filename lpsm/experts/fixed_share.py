"""Static-expert, Fixed-share and Markov-share: one assumption each about how the best expert changes.

What it models: the Bayesian mixture over experts of equation (2.2) with transition
probabilities that forbid change, allow it at one rate (2.3), or are any matrix.
What it leaves out: learning the rate (see `learn_alpha`).
Source: Monteleoni 2006, section 2.2.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm._compile import compiled
from lpsm.checks import state_array
from lpsm.experts import kernels
from lpsm.experts.hierarchy import Hierarchy
from lpsm.experts.learner import Floats, Learner, Rounds, checked_prior, checked_rate
from lpsm.experts.scaled import add_scaled, decay_scaled, scaled_column_round

__all__ = ["FixedShare", "MarkovShare", "StaticExpert"]


class FixedShare(Learner):
    """Track the best expert, which changes with a known probability a round: equations (2.2), (2.3).

    Parameters
    ----------
    n_experts
        Number n of experts.
    alpha
        Switching rate in [0, 1]; alpha / (n - 1) goes to each *other* expert.
    prior
        Distribution over experts before the first round, shape (n,); uniform if not given.
    signed
        Whether losses may be negative.

    Raises
    ------
    ValueError
        If a parameter is outside its range or shape.

    >>> learner = FixedShare(n_experts=3, alpha=0.3)
    >>> round(learner.update([0.0, float("inf"), float("inf")]), 6)
    1.098612
    >>> learner.weights.round(6).tolist()
    [0.7, 0.15, 0.15]
    """

    def __init__(self, n_experts: int, alpha: float, *, prior: ArrayLike | None = None, signed: bool = False) -> None:
        super().__init__(n_experts, signed=signed)
        n, rate = self.n_experts, np.array([checked_rate("alpha", alpha)])
        self._hierarchy = Hierarchy(n, rate, checked_prior("prior", prior, n), np.ones(1), self._lower)

    @property
    def alpha(self) -> float:
        """The switching rate."""
        return float(self._hierarchy.alphas[0])

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the next outcome, shape (n,)."""
        return self._hierarchy.mixture()

    def update(self, losses: ArrayLike, awake: ArrayLike | None = None) -> float:
        """Learn from one round and return the mixture loss, nats; see `Learner.update`."""
        loss = self._hierarchy.quick_round(losses, awake)
        return loss if loss == loss else super().update(losses, awake)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_experts={self.n_experts}, alpha={self.alpha})"

    def _round(self, losses: Floats, awake: NDArray[np.bool_] | None) -> float:
        return self._hierarchy.round(losses, awake)

    def _run(self, losses: Floats, awake: NDArray[np.bool_] | None, weights: bool, alpha_weights: bool) -> Rounds:
        return self._hierarchy.run(losses, awake, weights, alpha_weights)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return self._hierarchy.to_arrays()

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._hierarchy = Hierarchy.from_arrays(self.n_experts, state)


class StaticExpert(FixedShare):
    """Follow the expert that is best over the whole past: p_{t+1}(i) is proportional to p_t(i) exp(-L(i, t)).

    It is Fixed-share with the switching rate 0.

    Parameters
    ----------
    n_experts
        Number n of experts.
    prior, signed
        As for `FixedShare`.

    >>> learner = StaticExpert(n_experts=2)
    >>> _ = learner.update([0.0, 1.0])
    >>> learner.weights.round(6).tolist()
    [0.731059, 0.268941]
    """

    def __init__(self, n_experts: int, *, prior: ArrayLike | None = None, signed: bool = False) -> None:
        super().__init__(n_experts, 0.0, prior=prior, signed=signed)


class MarkovShare(Learner):
    """Track the best expert, which changes by a Markov chain: equation (2.2) with any transition matrix.

    Parameters
    ----------
    P
        ``P[j, i]`` is the probability that i is best next when j is now; shape (n, n),
        non-negative, rows summing to 1 (to 1e-9; they are normalised).
    prior, signed
        As for `FixedShare`.

    >>> learner = MarkovShare([[0.9, 0.1], [0.5, 0.5]])
    >>> _ = learner.update([0.0, float("inf")])
    >>> learner.weights.round(6).tolist()
    [0.9, 0.1]
    """

    def __init__(self, P: ArrayLike, *, prior: ArrayLike | None = None, signed: bool = False) -> None:
        matrix = np.array(P, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
            raise ValueError(f"P must have shape (n, n) with n >= 1, got {matrix.shape}")
        super().__init__(matrix.shape[0], signed=signed)
        if not (matrix >= 0.0).all():
            raise ValueError(f"P must be non-negative, got {matrix[~(matrix >= 0.0)][0]}")
        sums = matrix.sum(axis=1)
        if not (np.abs(sums - 1.0) <= 1e-9).all():
            raise ValueError(f"rows of P must sum to 1, got {sums[~(np.abs(sums - 1.0) <= 1e-9)][0]}")
        self._matrix = matrix / sums[:, None]
        self._weights = np.array(np.frexp(checked_prior("prior", prior, self.n_experts)), dtype=np.float64)

    @property
    def P(self) -> Floats:  # noqa: N802 - the paper's name
        """The transition matrix, shape (n, n)."""
        return np.array(self._matrix)

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the next outcome, shape (n,)."""
        values: Floats = np.ldexp(self._weights[0], np.maximum(self._weights[1], -2000.0).astype(np.int64))
        return np.asarray(values / values.sum())

    def _round(self, losses: Floats, awake: NDArray[np.bool_] | None) -> float:
        mask = np.ones(self.n_experts, dtype=np.bool_) if awake is None else awake
        return markov_round(losses, mask, self._matrix, self._weights)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"P": self._matrix, "scaled_weights": self._weights}

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        n = self.n_experts
        self._matrix = state_array(state, "P", (n, n), low=0.0)
        self._weights = state_array(state, "scaled_weights", (2, n))


@compiled
def markov_round(losses: Floats, awake: NDArray[np.bool_], matrix: Floats, weights: Floats) -> float:
    """One round on scaled `weights` (2, n): evidence, then the transition; return the mixture loss, nats."""
    n = losses.size
    lowest, abstains = np.inf, True
    for i in range(n):
        if awake[i] and weights[0, i] > 0.0:
            abstains = False
            lowest = min(lowest, losses[i])
    if abstains:
        lowest = 0.0
    if lowest == np.inf:
        return np.inf
    factor = np.empty((2, n))
    decay_scaled(losses, lowest, factor[0], factor[1])
    ratio, exponent = scaled_column_round(weights[0], weights[1], factor[0], factor[1], awake, lowest)
    before = weights.copy()
    for i in range(n):
        total, total_exponent = 0.0, 0.0
        for j in range(n):
            total, total_exponent = add_scaled(total, total_exponent, before[0, j] * matrix[j, i], before[1, j])
        part, shift = math.frexp(total)
        weights[0, i] = part
        weights[1, i] = total_exponent + shift
    return lowest - (math.log(ratio) + exponent * kernels.LN2)
