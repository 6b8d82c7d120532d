"""The state of Learn-alpha on plain arrays, and its rounds through the compiled kernels.

What it models: m + s Fixed-share columns and a Static-expert over them, laid out for
`kernels`; Static-expert and Fixed-share are a hierarchy of one column.  What it leaves
out: checks of the losses (see `learner`) and the choice of the alphas (see `grids`).
Source: Monteleoni 2006, section 2.2.3, equations (2.6)-(2.8).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm.checks import state_array, whole
from lpsm.experts import kernels, runs
from lpsm.experts.learner import Floats, Rounds

__all__ = ["Hierarchy", "packed"]

KernelArrays = tuple[Floats, Floats, Floats, Floats, Floats]

SAFE_FLOOR = 1e-100  # smallest share per round that keeps weights within floats
SAFE_MASS = 1e-140  # how far a column's mass may fall between two folds
SAFE_STAY = 1e-6  # smallest 1 - alpha of which 1 - alpha - alpha/(n-1) keeps ten digits ..
SAFE_STAY_OF_FEW = 1e-2  # .. and fourteen, where there are so few alphas that exactness costs little
FEW = 8
MOST_ROUNDS = 16  # between folds


def packed(
    n_experts: int, alphas: Floats, prior: Floats, alpha_prior: Floats, lower: float
) -> tuple[KernelArrays, NDArray[np.intp]]:
    """Lay out the arrays of `kernels` (weights, columns, slow, head, work), and tell the order of the columns.

    The order says which of `alphas` each column is: the slow ones come last.
    """
    others = max(n_experts - 1, 1)
    floor = np.minimum(alphas / others, 1.0 - alphas)
    stay = SAFE_STAY if alphas.size > FEW else SAFE_STAY_OF_FEW
    is_slow = ((floor < SAFE_FLOOR) | (1.0 - alphas < stay)) & (n_experts > 1)
    order = np.concatenate([np.flatnonzero(~is_slow), np.flatnonzero(is_slow)])
    m, s = int((~is_slow).sum()), int(is_slow.sum())

    columns = np.zeros((kernels.N_ROWS, m + s))
    rates = alphas[order]
    columns[kernels.ALPHA] = rates
    columns[kernels.SPREAD] = rates / others if n_experts > 1 else 0.0
    columns[kernels.KEEP] = 1.0 - rates - rates / others if n_experts > 1 else 1.0
    columns[kernels.MANTISSA], columns[kernels.EXPONENT] = np.frexp(alpha_prior[order])
    columns[kernels.TOP] = alpha_prior[order]
    columns[kernels.MASS] = 1.0

    slow = np.empty((2, n_experts, s))
    for part, values in zip(slow, np.frexp(prior), strict=True):
        part[:] = values[:, None]

    head = np.zeros(kernels.N_HEAD)
    head[kernels.TOTAL] = 1.0
    head[kernels.SINCE] = -1.0
    least = float(floor[~is_slow].min()) if m and n_experts > 1 else 1.0
    rounds = MOST_ROUNDS if least == 1.0 else min(MOST_ROUNDS, int(math.log(SAFE_MASS) / math.log(least)))
    head[kernels.EVERY] = rounds
    head[kernels.LOWER] = lower
    return (np.repeat(prior[:, None], m, axis=1), columns, slow, head, np.zeros((3, n_experts))), order


class Hierarchy:
    """A set of alphas with their weights over experts and their own weights."""

    __slots__ = ("_order", "alphas", "arrays")

    arrays: KernelArrays

    def __init__(self, n_experts: int, alphas: Floats, prior: Floats, alpha_prior: Floats, lower: float) -> None:
        self.alphas = alphas
        self.arrays, order = packed(n_experts, alphas, prior, alpha_prior, lower)
        self._order = order

    def __copy__(self) -> Hierarchy:
        """Return an independent one in the same state; what never changes, and scratch space, is not copied."""
        twin = Hierarchy.__new__(Hierarchy)
        twin.alphas, twin._order = self.alphas, self._order
        weights, columns, slow, head, work = self.arrays
        twin.arrays = (weights.copy(), columns.copy(), slow.copy(), head.copy(), np.empty_like(work))
        return twin

    def mixture(self) -> Floats:
        """Weights over the experts for the next round, shape (n,)."""
        weights, columns, slow, head, work = self.arrays
        out = np.empty(work.shape[1])
        kernels.mixture(weights, columns, slow, head, out)
        return out

    def posterior(self) -> Floats:
        """Weights of the alphas for the next round, shape (m,), in the order given."""
        _, columns, _, head, _ = self.arrays
        by_column = np.empty(self.alphas.size)
        kernels.alpha_posterior(columns, head, by_column)
        return self._in_order(by_column)

    def round(self, losses: Floats, awake: NDArray[np.bool_] | None) -> float:
        """One round; return the mixture loss, NaN for an illegal one."""
        if awake is None:
            return kernels.learn_alpha_round(losses, *self.arrays)
        return kernels.masked_round(losses, awake, *self.arrays)

    def quick_round(self, losses: ArrayLike, awake: ArrayLike | None = None) -> float:
        """One round of arguments that nobody has checked: NaN, and nothing changed, if they are not legal."""
        row = np.ascontiguousarray(losses, dtype=np.float64)
        if row.shape != (self.arrays[4].shape[1],):
            return math.nan
        if awake is None:
            return kernels.learn_alpha_round(row, *self.arrays)
        mask = np.ascontiguousarray(awake)
        if mask.dtype != np.bool_ or mask.shape != row.shape:
            return math.nan
        return kernels.masked_round(row, mask, *self.arrays)

    def run(self, losses: Floats, awake: NDArray[np.bool_] | None, weights: bool, alpha_weights: bool) -> Rounds:
        """Many rounds, shape (T, n)."""
        n_rounds, n_experts = losses.shape
        loss = np.empty(n_rounds)
        record = np.empty((n_rounds if weights else 0, n_experts))
        alpha_record = np.empty((n_rounds if alpha_weights else 0, self.alphas.size))
        mask = np.empty((0, n_experts), dtype=np.bool_) if awake is None else awake
        runs.learn_alpha_run(losses, mask, *self.arrays, loss, record, alpha_record)
        return Rounds(
            loss=loss,
            weights=record if weights else None,
            alpha_weights=self._in_order(alpha_record) if alpha_weights else None,
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The state by name."""
        names = ("weights", "columns", "slow", "head")
        state = dict(zip(names, self.arrays, strict=False))
        state["columns"] = state["columns"][: kernels.MEAN]
        return {**state, "alphas": self.alphas, "order": self._order}

    @classmethod
    def from_arrays(cls, n_experts: int, state: Mapping[str, NDArray[Any]]) -> Hierarchy:
        """The inverse of `to_arrays`; raises ValueError if the shapes do not belong together."""
        hierarchy = cls.__new__(cls)
        m, s = (whole(0, columns=np.asarray(state[name]).shape[-1]) for name in ("weights", "slow"))
        weights = state_array(state, "weights", (n_experts, m), low=0.0)
        columns = state_array(state, "columns", (kernels.MEAN, m + s))
        slow = state_array(state, "slow", (2, n_experts, s))
        head = state_array(state, "head", (kernels.N_HEAD,))
        hierarchy.alphas = state_array(state, "alphas", (whole(1, alphas=m + s),), low=0.0)
        hierarchy._order = state_array(state, "order", (m + s,), np.intp)
        if not np.array_equal(np.sort(hierarchy._order), np.arange(m + s)) or (hierarchy.alphas > 1.0).any():
            raise ValueError(f"state must hold alphas in [0, 1] and their order, got {hierarchy._order.tolist()[:8]}")
        columns = np.vstack([columns, np.zeros((kernels.N_ROWS - kernels.MEAN, m + s))])
        hierarchy.arrays = (weights, columns, slow, head, np.zeros((3, n_experts)))
        return hierarchy

    def _in_order(self, by_column: Floats) -> Floats:
        out = np.empty_like(by_column)
        out[..., self._order] = by_column
        return out
