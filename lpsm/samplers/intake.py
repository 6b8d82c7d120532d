"""What enters a sampler: instances in the form that it stores, and the world of a run with its coins and schedules.

What it leaves out: the rounds (`sampler`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lpsm.samplers import layout
from lpsm.samplers.algorithms.adaptive import AdaptiveSampler
from lpsm.samplers.checks import as_instance, as_instances, check_columns, squared_lengths
from lpsm.samplers.compiled.algebra import dot
from lpsm.samplers.compiled.memory import grow, new_work
from lpsm.samplers.compiled.stream import Stream, stream_of
from lpsm.samplers.layout import Part, Plan, State, Work

__all__ = ["Intake"]

_LARGEST = {np.dtype(kind): float(np.finfo(kind).max) for kind in (np.float64, np.float32)}


class Intake:
    """The part of a sampler that takes instances in."""

    rule: Part
    n_features: int
    dtype: np.dtype[Any]
    normalize: bool
    randomized: bool
    _plan: Plan
    _state: State
    _work: Work
    _rng: np.random.Generator | None
    _remembers: bool  # whether instances are stored
    _sparse_memory: bool | None  # in which form; None while none is

    @property
    def rounds(self) -> int:
        """Rounds so far, t."""
        return int(self._state.counts[layout.ROUND])

    def _schedule(self, t: int) -> tuple[float, float]:
        """Return rho_t and the bias of the coin, 0 but for the adaptive sampler."""
        return self.rule.schedule(self.n_features, t) if isinstance(self.rule, AdaptiveSampler) else (0.0, 0.0)

    def _instance(self, given: Any) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
        plain = type(given) is np.ndarray and given.dtype.kind in "fiub" and not self._sparse_memory
        if plain and given.shape == (self.n_features,):
            values = np.array(given, dtype=self.dtype, order="C")
            if 0.0 < dot(values, values, len(values)) <= _LARGEST[self.dtype]:  # no NaN, no infinity, not all zero
                return values, None
        x = self._as_remembered(given)
        if sparse.issparse(given) and not sparse.issparse(x):
            x = x.ravel()
        values, columns = as_instance(x, self.n_features, self.dtype)
        if self.normalize and not values.dot(values):
            raise ValueError("x must not be zero where instances are normalised")
        if values is x:
            values = values.copy()
        return values, columns

    def _as_remembered(self, x: Any) -> Any:
        """Return instances, one or many, dense or sparse as those that are stored."""
        if not self._remembers or self._sparse_memory in (None, bool(sparse.issparse(x))):
            return x
        if self._sparse_memory:
            return sparse.csr_matrix(np.atleast_2d(x))
        check_columns(x)
        return np.ascontiguousarray(x.toarray())

    def _table(self, X: Any, remember: bool = True) -> Any:
        table = as_instances(X, self.n_features, self.dtype)
        if self._remembers:
            if self._sparse_memory is None and remember:
                self._sparse_memory = bool(sparse.issparse(table))
            table = self._as_remembered(table)
        if self.normalize and not (nonzero := squared_lengths(table) > 0).all():
            raise ValueError(f"X must have no zero row where instances are normalised, row {int(nonzero.argmin())} is")
        return table

    def _scaled(self, values: NDArray[Any]) -> NDArray[Any]:
        return values / np.sqrt(values @ values) if self.normalize else values

    def _make_room(self, width: int, is_sparse: bool) -> None:
        if not self._remembers:
            return
        if self._sparse_memory is None:
            self._sparse_memory = is_sparse
        full = self._state.counts[layout.SIZE] >= len(self._state.labels) and self._plan.learner != layout.BUDGET
        if full or width > self._state.rows.shape[1]:
            self._state = grow(self._plan, self._state, width, is_sparse)
            self._work = new_work(self._plan, self._state, self.n_features, self.dtype)

    def _world(self, table: Any, labels: NDArray[np.float64], draw: bool = True) -> Stream:
        """Return the stream of a table: with its coins and schedules, or (`draw` False) to read margins only."""
        rounds = len(labels) if draw else 0
        coins = self.randomized and self._rng is not None and draw
        uniforms = self._rng.random(rounds) if coins and self._rng is not None else np.zeros(rounds)
        return stream_of(table, labels, uniforms, self._schedules(rounds))

    def _schedules(self, rounds: int) -> NDArray[np.float64]:
        """Return `_schedule` of the rounds to come, (2, rounds); (2, 0) but for the adaptive sampler."""
        if not isinstance(self.rule, AdaptiveSampler):
            return np.zeros((2, 0))
        at = range(self.rounds + 1, self.rounds + rounds + 1)
        return np.array([self._schedule(t) for t in at]).reshape(-1, 2).T.copy()
