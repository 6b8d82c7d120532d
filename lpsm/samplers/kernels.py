"""Whole streams, compiled: the loop over rounds with nothing of Python inside.

What it models: test, then train, over the rows of a matrix.  The work of a round that
cannot change a decision is skipped (`lazy`): the sign of the margin is that of w.x,
and the coin is often settled by the range of r alone.  What it leaves out: growing the
stored instances; the stream returns where it stopped for want of room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.layout import BUDGET, EVICTED, PRIMAL, ROUND, SECOND_ORDER, SIZE, Plan, State, Work
from lpsm.samplers.questions import examine, grant, margin, prediction, settle
from lpsm.samplers.rounds import load_dense, load_sparse, numerator, self_similarity, store, variance

__all__ = ["Outcome", "Stream", "close_round", "margins", "open_round", "stream"]

Array = NDArray[Any]


class Stream(NamedTuple):
    """The world of a run: instances (dense, or the three arrays of CSR), labels, and what chance brings."""

    dense: Array  # (T, d); (0, 0) when sparse
    values: Array  # CSR: data, indices, indptr
    columns: Array
    starts: Array
    labels: Array  # (T,)
    uniforms: Array  # (T,) the coin of each round, 0 for deterministic rules
    evictions: Array  # uniforms consumed one an eviction
    floors: Array  # (T,) rho_t, or empty
    biases: Array  # (T,) or empty


class Outcome(NamedTuple):
    """What a run writes, each of shape (T,)."""

    margin: Array
    prediction: Array
    queried: Array
    stored: Array


@compiled
def load(plan: Plan, work: Work, world: Stream, sparse: bool, t: int) -> tuple[int, float]:
    """Bring instance t into the work space; return its number of values and its squared norm."""
    if sparse:
        first, last = world.starts[t], world.starts[t + 1]
        return last - first, load_sparse(plan, work, world.values[first:last], world.columns[first:last])
    return world.dense.shape[1], load_dense(plan, work, world.dense[t])


@compiled
def open_round(
    plan: Plan,
    state: State,
    work: Work,
    values: Array,
    columns: Array,
    sparse: bool,
    u: float,
    floor: float,
    bias: float,
) -> tuple[float, float, float, float, float, int, bool, float]:
    """The first half of one round: square, norm2, p, r, margin, prediction, query, its probability."""
    square = load_sparse(plan, work, values, columns) if sparse else load_dense(plan, work, values)
    norm2 = self_similarity(plan, state, square)
    state.counts[ROUND] += 1
    n = values.shape[0]
    p, r, chance, signal = examine(plan, state, work, n, sparse, square, norm2, u, bias, False)
    query, chance = grant(plan, state, chance, signal, floor)
    return square, norm2, p, r, margin(plan, p, max(r, 0.0)), prediction(plan, p, query), query, chance


@compiled
def close_round(
    plan: Plan,
    state: State,
    work: Work,
    n: int,
    sparse: bool,
    square: float,
    norm2: float,
    p: float,
    r: float,
    y: float,
    eviction: float,
) -> bool:
    """The second half, with the label: returns whether the example was stored."""
    if not settle(plan, state, p, y):
        return False
    store(plan, state, work, n, sparse, square, norm2, p, r, y, eviction)
    return True


@compiled
def has_room(plan: Plan, state: State, n: int) -> bool:
    """Whether one more instance of n values can be stored."""
    if plan.form == PRIMAL and plan.learner != BUDGET:
        return True
    if n > state.rows.shape[1]:
        return False
    return plan.learner == BUDGET or state.counts[SIZE] < state.labels.shape[0]


@compiled
def stream(
    plan: Plan,
    state: State,
    work: Work,
    world: Stream,
    sparse: bool,
    lazy: bool,
    out: Outcome,
    first: int,
    evicted: int,
) -> int:
    """Run rounds first, first + 1, ...; return where it stopped (T, or the round that found no room).

    A margin that was not needed is written as p; with ``lazy=False`` every margin is exact.
    `evicted` is the number of evictions before the first of ``world.evictions``.
    """
    total = len(world.labels)
    bias, floor = 0.0, 0.0
    for t in range(first, total):
        width = world.starts[t + 1] - world.starts[t] if sparse else world.dense.shape[1]
        if not has_room(plan, state, width):
            return int(t)
        n, square = load(plan, work, world, sparse, t)
        norm2 = self_similarity(plan, state, square)
        if world.biases.shape[0] > 0:
            bias = world.biases[t]
        if world.floors.shape[0] > 0:
            floor = world.floors[t]
        state.counts[ROUND] += 1
        u = world.uniforms[t]
        p, r, chance, signal = examine(plan, state, work, n, sparse, square, norm2, u, bias, lazy)
        query, _ = grant(plan, state, chance, signal, floor)
        out.margin[t] = margin(plan, p, max(r, 0.0))
        out.prediction[t] = prediction(plan, p, query)
        out.queried[t] = query
        out.stored[t] = False
        if query:
            y = world.labels[t]
            if settle(plan, state, p, y):
                eviction = 0.0
                if world.evictions.shape[0] > 0:
                    eviction = world.evictions[state.counts[EVICTED] - evicted]
                store(plan, state, work, n, sparse, square, norm2, p, r, y, eviction)
                out.stored[t] = True
    return total


@compiled
def margins(plan: Plan, state: State, work: Work, world: Stream, sparse: bool, out: Array) -> None:
    """Margins of all rows under the present state, which stays as it is."""
    for t in range(out.shape[0]):
        n, square = load(plan, work, world, sparse, t)
        p = numerator(plan, state, work, n, sparse, square)
        r = 0.0
        if plan.learner == SECOND_ORDER and plan.includes_instance:
            r = variance(plan, state, work, n, sparse, self_similarity(plan, state, square))
        out[t] = margin(plan, p, r)
