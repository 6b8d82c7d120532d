"""The arrays of a sampler: before the first round, the work space of one, and room for more stored instances.

What it models: the memory that dual forms (and the budget Perceptron) keep, the stored instances,
dense or sparse, and a triangular factor, all in arrays that double when full.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpsm.samplers import layout
from lpsm.samplers.layout import Plan, State, Work

__all__ = ["arrays_of", "grow", "most_waiting", "new_state", "new_work", "resized", "widen"]

FIRST_CAPACITY = 64


def new_state(plan: Plan, n_features: int, budget: int, threshold: float, dtype: Any) -> State:
    """Return the state before the first round."""
    counts = np.zeros(layout.N_COUNTS, dtype=np.int64)
    counts[layout.SCHEDULED] = plan.rule == layout.NEXT_LABEL  # the first label is asked for
    scalars = np.zeros(layout.N_SCALARS)
    scalars[layout.THRESHOLD], scalars[layout.WEIGHT] = threshold, 1.0
    capacity = budget or (0 if plan.form == layout.PRIMAL else FIRST_CAPACITY)
    state = State(
        *(np.zeros(shape, dtype=kind) for shape, kind in arrays_of(plan, n_features, capacity, 0, 0, dtype))
    )._replace(counts=counts, scalars=scalars)
    if plan.learner == layout.SECOND_ORDER and plan.form == layout.PRIMAL:
        np.fill_diagonal(state.matrix, plan.ridge)
    return state


def arrays_of(
    plan: Plan, n_features: int, capacity: int, width: int, columns: int, dtype: Any
) -> list[tuple[tuple[int, ...], Any]]:
    """Return shape and type of each array of a `State` that has room for `capacity` instances of `width` values."""
    primal, second, d = plan.form == layout.PRIMAL, plan.learner == layout.SECOND_ORDER, n_features
    side = d if primal else capacity
    matrix = (side, side) if second else (1, d) if plan.learner in (layout.DIAGONAL, layout.ADAGRAD) else (0, 0)
    inverse = second and primal
    return [
        ((layout.N_COUNTS,), np.int64),
        ((layout.N_SCALARS,), np.float64),
        ((side,), dtype),
        (matrix, dtype),
        ((most_waiting(d), d) if inverse else (0, 0), dtype),
        ((layout.ANCHORS if inverse else 0, d if primal else 0), dtype),
        ((capacity if second and not primal else 0,), dtype),
        ((capacity, width), dtype),
        ((capacity, columns), np.int32),
        ((capacity,), np.int64),
        ((capacity,), np.float64),
        ((capacity,), np.float64),
    ]


def most_waiting(n_features: int) -> int:
    """How many updates of the inverse wait before the matrix is first used: about d/2, in whole blocks."""
    return max(n_features // 2 // layout.BLOCK, 1) * layout.BLOCK


def new_work(plan: Plan, state: State, n_features: int, dtype: Any) -> Work:
    """Return a work space that fits the state."""
    primal = plan.form == layout.PRIMAL
    capacity = state.labels.shape[0]
    second = plan.learner == layout.SECOND_ORDER
    return Work(
        x=np.zeros(n_features, dtype=dtype),
        columns=np.zeros(n_features, dtype=np.int32),
        g=np.zeros((n_features if primal else capacity) if second else 0, dtype=dtype),
        similarities=np.zeros(0 if primal else capacity, dtype=dtype),
        scatter=np.zeros(0 if primal else n_features, dtype=dtype),
    )


def grow(plan: Plan, state: State, width: int, sparse: bool) -> State:
    """Return the state with room for one more instance of `width` values, its arrays doubled where full."""
    capacity = state.labels.shape[0]
    wanted = capacity
    if plan.learner != layout.BUDGET and int(state.counts[layout.SIZE]) >= capacity:
        wanted = 2 * capacity
    wide = max(width, state.rows.shape[1])
    return state._replace(
        weights=state.weights if plan.form == layout.PRIMAL else resized(state.weights, (wanted,)),
        matrix=resized(state.matrix, (wanted, wanted)) if plan.learner == layout.SECOND_ORDER else state.matrix,
        target=resized(state.target, (wanted,)) if plan.learner == layout.SECOND_ORDER else state.target,
        rows=resized(state.rows, (wanted, wide)),
        columns=resized(state.columns, (wanted, wide if sparse else 0)),
        lengths=resized(state.lengths, (wanted,)),
        squares=resized(state.squares, (wanted,)),
        labels=resized(state.labels, (wanted,)),
    )


def widen(plan: Plan, state: State, n_features: int) -> State:
    """Return the state with room for `n_features` features, as if those that are new had been 0 all along."""
    if plan.form == layout.PRIMAL:
        d = state.weights.shape[0]
        state = state._replace(weights=resized(state.weights, (n_features,)))
        if plan.learner in (layout.DIAGONAL, layout.ADAGRAD):
            state = state._replace(matrix=resized(state.matrix, (1, n_features)))
        if plan.learner == layout.SECOND_ORDER:
            matrix = resized(state.matrix, (n_features, n_features))
            applied = int(state.counts[layout.STORED] - state.counts[layout.PENDING])  # those waiting come later
            at = np.arange(d, n_features)
            matrix[at, at] = plan.ridge + applied * plan.drift
            state = state._replace(
                matrix=matrix,
                waiting=resized(state.waiting, (most_waiting(n_features), n_features)),
                anchors=resized(state.anchors, (len(state.anchors), n_features)),
            )
    if state.rows.shape[1] and not state.columns.shape[1]:  # dense instances are stored
        state = state._replace(rows=resized(state.rows, (len(state.rows), n_features)))
    return state


def resized(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the array, with zeros where it grows."""
    if array.shape == shape:
        return array
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(slice(0, n) for n in array.shape)] = array
    return larger
