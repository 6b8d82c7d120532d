"""Whole streams, compiled: the loop over rounds with nothing of Python inside.

What it models: test, then train, over the rows of a matrix.  The work of a round that
cannot change a decision is skipped (`lazy`): the sign of the margin is that of w.x,
and the coin is often settled by the range of r alone.  What it leaves out: growing the
stored instances; the stream returns where it stopped for want of room.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lpsm._compile import compiled
from lpsm.samplers import layout
from lpsm.samplers.compiled.algebra import NEARLY_ZERO, add, cleared, dot, gather_dot
from lpsm.samplers.compiled.inverse import absorb, spread
from lpsm.samplers.compiled.memory import grow, new_work
from lpsm.samplers.compiled.questions import (
    NO,
    OPEN,
    SLACK,
    YES,
    examine,
    grant,
    margin,
    prediction,
    probability,
    settle,
)
from lpsm.samplers.compiled.rounds import (
    load_dense,
    load_sparse,
    note_stored,
    numerator,
    self_similarity,
    store,
    variance,
)
from lpsm.samplers.layout import (
    ALWAYS,
    ASKED,
    BUDGET,
    EVICTED,
    MODIFIED,
    PERCEPTRON,
    PRIMAL,
    READY,
    ROUND,
    SECOND_ORDER,
    SIZE,
    STORED,
    UNLIMITED,
    Plan,
    State,
    Work,
)

__all__ = ["Outcome", "Stream", "close_round", "drive", "margins", "open_round", "reopen_round", "stream", "stream_of"]

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


def stream_of(table: Any, labels: Array, uniforms: Array, schedules: Array) -> Stream:
    """Return the world of a table, dense or CSR; `schedules` holds floors and biases, (2, T) or (2, 0)."""
    is_sparse = sparse.issparse(table)
    none = np.zeros(0, dtype=table.dtype)
    return Stream(
        dense=none.reshape(0, 0) if is_sparse else table,
        values=table.data if is_sparse else none,
        columns=table.indices.astype(np.int32, copy=False) if is_sparse else np.zeros(0, dtype=np.int32),
        starts=table.indptr.astype(np.int64, copy=False) if is_sparse else np.zeros(0, dtype=np.int64),
        labels=labels,
        uniforms=uniforms,
        evictions=np.zeros(0),
        floors=schedules[0],
        biases=schedules[1],
    )


class Outcome(NamedTuple):
    """What a run writes, each of shape (T,)."""

    margin: Array
    prediction: Array
    queried: Array
    stored: Array


@compiled
def load(plan: Plan, work: Work, world: Stream, sparse: bool, t: int) -> float:
    """Bring instance t into the work space; return its squared norm there."""
    if sparse:
        first, last = world.starts[t], world.starts[t + 1]
        return load_sparse(plan.normalize, work.x, work.columns, world.values[first:last], world.columns[first:last])
    return load_dense(plan.normalize, work.x, world.dense[t])


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
    counts, scalars = state.counts, state.scalars
    if sparse:
        square = load_sparse(plan.normalize, work.x, work.columns, values, columns)
    else:
        square = load_dense(plan.normalize, work.x, values)
    norm2 = self_similarity(plan, state, square)
    n = len(values)
    counts[ROUND] += 1
    p = numerator(plan, state, work, n, sparse, square)
    r = 0.0 if plan.learner != SECOND_ORDER else -1.0
    verdict, chance = examine(plan, counts, scalars, p, norm2, u, bias, False)
    if verdict == OPEN:
        r = variance(plan, state, work, n, sparse, norm2)
        chance = probability(plan, counts, scalars, p, r, norm2, bias)
        verdict = YES if u < chance else NO
    query, chance = grant(plan, counts, scalars, chance, verdict == YES, floor)
    return square, norm2, p, r, margin(plan, p, max(r, 0.0)), prediction(plan, p, query), query, chance


@compiled
def reopen_round(
    plan: Plan, state: State, work: Work, values: Array, columns: Array, sparse: bool
) -> tuple[float, float, float, float]:
    """Square, norm2, p and r of an instance under the present state, whose label comes late."""
    if sparse:
        square = load_sparse(plan.normalize, work.x, work.columns, values, columns)
    else:
        square = load_dense(plan.normalize, work.x, values)
    norm2 = self_similarity(plan, state, square)
    n = len(values)
    p = numerator(plan, state, work, n, sparse, square)
    r = variance(plan, state, work, n, sparse, norm2) if plan.learner == SECOND_ORDER else 0.0
    return square, norm2, p, r


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
    said: float,
    y: float,
    eviction: float,
) -> bool:
    """The second half, with the label; `said` is the p of the round's own time.  Return whether it was stored."""
    initialised = state.counts[READY] != 0
    if not settle(plan, state.counts, state.scalars, said, y):
        return False
    if plan.learner == MODIFIED and initialised and (p >= 0.0) == (y > 0.0):
        return False  # late: v has come right since, and a modified update would turn it wrong
    if plan.hinge and y * p >= 1.0:
        return False  # late: the margin has become large enough since
    store(plan, state, work, n, sparse, square, norm2, p, r, y, eviction)
    return True


@compiled
def ruled_out(
    plan: Plan,
    counts: Array,
    scalars: Array,
    anchors: Array,
    x: Array,
    columns: Array,
    n: int,
    sparse: bool,
    norm2: float,
    p: float,
    u: float,
    bias: float,
) -> bool:
    """Whether the coin cannot ask, by a bound on r better than k(x,x) (1/b + N/c).

    M is that multiple of I minus h h' of every update; leaving out all but the first
    updates only enlarges x'M x.
    """
    bound = norm2 * (plan.ridge + counts[STORED] * plan.drift)
    slack = bound * (SLACK - 1.0)
    for k in range(min(counts[STORED], anchors.shape[0])):
        overlap = gather_dot(x, columns, n, anchors[k]) if sparse else dot(x, anchors[k], n)
        bound -= overlap * overlap
        if u >= probability(plan, counts, scalars, p, max(bound, 0.0) + slack, norm2, bias):
            return True
    return False


@compiled
def has_room(plan: Plan, state: State, n: int) -> bool:
    """Whether one more instance of n values can be stored."""
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
    counts, scalars, weights, matrix, g = state.counts, state.scalars, state.weights, state.matrix, work.g
    starts, labels, uniforms = world.starts, world.labels, world.uniforms
    primal, remembers = plan.form == PRIMAL, plan.form != PRIMAL or plan.learner == BUDGET
    direct = primal and not plan.normalize and plan.learner <= SECOND_ORDER  # the instance needs no copy
    perceptron, second = primal and plan.learner == PERCEPTRON, primal and plan.learner == SECOND_ORDER
    always = plan.rule == ALWAYS and plan.most == UNLIMITED and (lazy or not plan.includes_instance)
    unknown = -1.0 if plan.learner == SECOND_ORDER else 0.0
    scheduled, bias, floor, square, norm2 = len(world.floors) > 0, 0.0, 0.0, 0.0, 0.0
    begin, n, values, columns = 0, world.dense.shape[1], work.x, work.columns
    total = len(labels)
    for t in range(first, total):
        if sparse:
            begin = starts[t]
            n = starts[t + 1] - begin
        if remembers and not has_room(plan, state, n):
            return int(t)
        if direct and sparse:
            values, columns = world.values[begin : begin + n], world.columns[begin : begin + n]
        elif direct:
            values = world.dense[t]
        else:
            square = load(plan, work, world, sparse, t)
            norm2 = square if primal else self_similarity(plan, state, square)
        if not primal:
            p = numerator(plan, state, work, n, sparse, square)
        elif sparse:
            p = gather_dot(values, columns, n, weights)
        else:
            p = dot(values, weights, n)
        if second and abs(p) < NEARLY_ZERO:
            p = cleared(p, values, weights, columns, n, sparse)
        if direct and not always:
            norm2 = dot(values, values, n)
        if scheduled:
            bias, floor = world.biases[t], world.floors[t]
        counts[ROUND] += 1
        u, r = uniforms[t], unknown
        if always:
            query = True
            counts[ASKED] += 1
        else:
            verdict, chance = examine(plan, counts, scalars, p, norm2, u, bias, lazy)
            if (
                verdict == OPEN
                and lazy
                and second
                and ruled_out(plan, counts, scalars, state.anchors, values, columns, n, sparse, norm2, p, u, bias)
            ):
                verdict = NO
            if verdict == OPEN:
                if second:
                    r = spread(
                        plan.ridge, plan.drift, counts, matrix, state.waiting, values, columns, n, sparse, norm2, g
                    )
                else:
                    r = variance(plan, state, work, n, sparse, norm2)
                chance = probability(plan, counts, scalars, p, r, norm2, bias)
                verdict = YES if u < chance else NO
            query, _ = grant(plan, counts, scalars, chance, verdict == YES, floor)
        y = labels[t]
        out.margin[t] = margin(plan, p, max(r, 0.0))
        out.prediction[t] = prediction(plan, p, query)
        out.queried[t] = query
        stored = query and settle(plan, counts, scalars, p, y)
        out.stored[t] = stored
        if not stored:
            continue
        if direct and always:
            norm2 = dot(values, values, n)
        if perceptron:  # the arithmetic of `store`, without its many arguments
            add(weights, plan.step * y, values, columns, n, sparse)
            note_stored(counts, scalars, norm2)
        elif second:
            if r < 0.0:
                r = spread(plan.ridge, plan.drift, counts, matrix, state.waiting, values, columns, n, sparse, norm2, g)
            absorb(plan.drift, counts, weights, matrix, state.waiting, state.anchors, g, p, r, y)
            note_stored(counts, scalars, norm2)
        else:
            if direct:
                square = load(plan, work, world, sparse, t)
            eviction = world.evictions[counts[EVICTED] - evicted] if len(world.evictions) > 0 else 0.0
            store(plan, state, work, n, sparse, square, norm2, p, r, y, eviction)
    return total


@compiled
def margins(plan: Plan, state: State, work: Work, world: Stream, sparse: bool, out: Array) -> None:
    """Margins of all rows under the present state, which stays as it is."""
    n = world.dense.shape[1]
    for t in range(len(out)):
        if sparse:
            n = world.starts[t + 1] - world.starts[t]
        square = load(plan, work, world, sparse, t)
        p = numerator(plan, state, work, n, sparse, square)
        r = 0.0
        if plan.includes_instance:
            r = variance(plan, state, work, n, sparse, self_similarity(plan, state, square))
        out[t] = margin(plan, p, r)


def drive(
    plan: Plan, state: State, n_features: int, world: Stream, is_sparse: bool, lazy: bool
) -> tuple[State, Outcome]:
    """Run a stream from `state`, growing the arrays of stored instances where it stops for want of room."""
    rounds = len(world.labels)
    flags = np.zeros((2, rounds), dtype=np.bool_)
    out = Outcome(np.zeros(rounds), np.zeros(rounds, dtype=np.int8), flags[0], flags[1])
    evicted = int(state.counts[layout.EVICTED])
    at = 0
    while True:
        work = new_work(plan, state, n_features, state.weights.dtype)
        at = stream(plan, state, work, world, is_sparse, lazy, out, at, evicted)
        if at == rounds:
            return state, out
        width = int(world.starts[at + 1] - world.starts[at]) if is_sparse else n_features
        state = grow(plan, state, width, is_sparse)
