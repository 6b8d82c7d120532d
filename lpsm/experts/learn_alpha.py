"""Learn-alpha: track the best expert without knowing how often it changes.

What it models: a Static-expert over Fixed-share learners, one per switching rate alpha
(Monteleoni 2006, section 2.2.3, equations (2.6)-(2.8)).  With ``doubling=True`` (ours) no
horizon is needed: epochs of 64, 128, 256, .. rounds each take the grid for their own
length and start every alpha from the mixture over experts reached so far.
What it leaves out: predictions and the loss they suffer; the caller turns outcomes into
losses of the experts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm.checks import state_array
from lpsm.experts import kernels
from lpsm.experts.grids import alpha_grid
from lpsm.experts.hierarchy import Hierarchy
from lpsm.experts.learner import Floats, Learner, Rounds, checked_prior, checked_rate

__all__ = ["LearnAlpha", "doubling_regret"]

FIRST_EPOCH = 64
_LONGEST_EPOCH = 1 << 40


class LearnAlpha(Learner):
    """Mix over experts and over switching rates.

    Parameters
    ----------
    n_experts
        Number n of experts.
    alphas
        Switching rates to mix over, each in [0, 1], shape (m,); see `alpha_grid`.
    prior
        Distribution over experts before the first round, shape (n,); uniform if not given.
    alpha_prior
        Distribution over alphas, positive, shape (m,); uniform if not given.
    signed
        Whether losses may be negative.
    doubling
        Choose the alphas for a horizon that doubles; `alphas` must not be given then.

    Raises
    ------
    ValueError
        If a parameter is outside its range or shape.

    >>> learner = LearnAlpha(n_experts=3, alphas=alpha_grid(horizon=100))
    >>> round(learner.update([0.0, 1.0, 1.0]), 6)
    0.547168
    >>> bool(learner.weights[0] > learner.weights[1])
    True
    """

    def __init__(
        self,
        n_experts: int,
        alphas: ArrayLike | None = None,
        *,
        prior: ArrayLike | None = None,
        alpha_prior: ArrayLike | None = None,
        signed: bool = False,
        doubling: bool = False,
    ) -> None:
        super().__init__(n_experts, signed=signed)
        if doubling:
            if alphas is not None or alpha_prior is not None:
                raise ValueError("alphas and alpha_prior must not be given with doubling=True, which chooses them")
            alphas = alpha_grid(horizon=FIRST_EPOCH)
        elif alphas is None:
            raise ValueError("alphas must be given, or doubling=True, got neither")
        rates = np.array(alphas, dtype=np.float64)
        if rates.ndim != 1 or not rates.size:
            raise ValueError(f"alphas must have shape (m,) with m >= 1, got {rates.shape}")
        for rate in rates:
            checked_rate("alphas", float(rate))
        self._epoch = FIRST_EPOCH if doubling else 0  # length of this epoch; 0 without doubling
        self._rounds_left = self._epoch
        self._hierarchy = Hierarchy(
            self.n_experts,
            rates,
            checked_prior("prior", prior, self.n_experts),
            checked_prior("alpha_prior", alpha_prior, rates.size, positive=True),
            self._lower,
        )

    @property
    def doubling(self) -> bool:
        """Whether the alphas are chosen for a horizon that doubles."""
        return self._epoch > 0

    @property
    def untouched(self) -> bool:
        """Whether no round has been played."""
        head = self._hierarchy.arrays[3]
        return bool(head[kernels.SINCE] < 0.0) and self._epoch in (0, FIRST_EPOCH)

    @property
    def alphas(self) -> Floats:
        """The switching rates, shape (m,); those of the current epoch under doubling."""
        return self._hierarchy.alphas.copy()

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the next outcome, shape (n,)."""
        return self._hierarchy.mixture()

    @property
    def alpha_weights(self) -> Floats:
        """Weights of the alphas before the next outcome, equation (2.6), shape (m,), in the order of `alphas`."""
        return self._hierarchy.posterior()

    def arrays(self) -> tuple[Floats, ...]:
        """The live state, in the order `kernels.learn_alpha_round` takes it after the losses."""
        return self._hierarchy.arrays

    def update(self, losses: ArrayLike, awake: ArrayLike | None = None) -> float:
        """Learn from one round and return the mixture loss (2.8), nats; see `Learner.update`."""
        loss = math.nan if self._epoch else self._hierarchy.quick_round(losses, awake)
        return loss if loss == loss else super().update(losses, awake)

    def __repr__(self) -> str:
        grid = "doubling=True" if self._epoch else f"{self._hierarchy.alphas.size} alphas"
        return f"LearnAlpha(n_experts={self.n_experts}, {grid})"

    def _no_alpha_weights(self) -> str:
        return "whose alphas change with doubling=True" if self._epoch else ""

    def _round(self, losses: Floats, awake: NDArray[np.bool_] | None) -> float:
        loss = self._hierarchy.round(losses, awake)
        self._count(1)
        return loss

    def _run(self, losses: Floats, awake: NDArray[np.bool_] | None, weights: bool, alpha_weights: bool) -> Rounds:
        if not self._epoch:
            return self._hierarchy.run(losses, awake, weights, alpha_weights)
        loss = np.empty(len(losses))
        record = np.empty_like(losses) if weights else None
        done = 0
        while done < len(losses):
            part = slice(done, min(len(losses), done + self._rounds_left))
            run = self._hierarchy.run(losses[part], None if awake is None else awake[part], weights, False)
            loss[part] = run.loss
            if record is not None:
                record[part] = run.weights
            self._count(len(run.loss))
            done = part.stop
        return Rounds(loss, record)

    def _count(self, rounds: int) -> None:
        """Under doubling, begin the next epoch when this one is over."""
        if not self._epoch:
            return
        self._rounds_left -= rounds
        if self._rounds_left == 0:
            self._epoch *= 2
            self._rounds_left = self._epoch
            alphas = alpha_grid(horizon=self._epoch)
            uniform = np.full(alphas.size, 1.0 / alphas.size)
            self._hierarchy = Hierarchy(self.n_experts, alphas, self.weights, uniform, self._lower)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {**self._hierarchy.to_arrays(), "doubling": np.array([self._epoch, self._rounds_left])}

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._hierarchy = Hierarchy.from_arrays(self.n_experts, state)
        self._epoch, self._rounds_left = state_array(state, "doubling", (2,), np.int64, low=0).tolist()
        if not self._rounds_left <= self._epoch <= _LONGEST_EPOCH or bool(self._rounds_left) != bool(self._epoch):
            raise ValueError(f"state must hold doubling as an epoch and what is left of it, got {state['doubling']}")


def doubling_regret(n_rounds: int) -> float:
    """Bound on the regret of ``LearnAlpha(doubling=True)`` against the best alpha in hindsight, nats.

    Epoch k takes m_k alphas and makes T_k transitions; starting it from the mixture keeps at
    least the weights of its best alpha times their posterior, so the sum telescopes to
    sum_k ln m_k + T_k delta_k with delta_k = 1 / (2 T_k): Corollary 1 once an epoch.

    >>> round(doubling_regret(64), 3)
    3.057
    """
    if n_rounds < 1:
        raise ValueError(f"n_rounds must be at least 1, got {n_rounds}")
    regret, epoch, played = 0.0, FIRST_EPOCH, 0
    while played < n_rounds:
        transitions = min(epoch, n_rounds - played - 1)
        regret += math.log(alpha_grid(horizon=epoch).size) + transitions * 0.5 / epoch
        played += epoch
        epoch *= 2
    return regret
