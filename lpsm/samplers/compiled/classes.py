"""The rounds of `MulticlassSampler`, compiled: k rows of weights over one memory, and one question an instance.

What it models: row c of `rows` holds the weights of class c, in the place of the vector of a binary sampler, whose
matrix or factor all rows share; p is half the difference of the two largest scores.  With two classes every number is
that of the binary round, and the second row minus the first is twice its vector.
What it leaves out: growing, checks (`samplers.multiclass`).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.compiled.algebra import add, append_row, dot, gather_dot, solve_upper, step_along
from lpsm.samplers.compiled.inverse import absorb
from lpsm.samplers.compiled.questions import OPEN, YES, examine, grant, margin, probability, settle
from lpsm.samplers.compiled.rounds import (
    keep,
    load_dense,
    load_sparse,
    note_stored,
    numerator,
    self_similarity,
    store_diagonal,
    variance,
)
from lpsm.samplers.compiled.stream import Stream, has_room
from lpsm.samplers.layout import ADAGRAD, DIAGONAL, PRIMAL, ROUND, SECOND_ORDER, SIZE, Plan, State, Work

__all__ = ["best_two", "close_question", "lead", "open_question", "question_stream", "score"]

Array = NDArray[Any]
SMALLEST = float(np.finfo(np.float64).tiny)


@compiled
def score(
    plan: Plan, state: State, rows: Array, work: Work, values: Array, columns: Array, sparse: bool, scores: Array
) -> tuple[float, float]:
    """Bring an instance into the work space and write the k scores; return its squared norm, here and in the kernel."""
    if sparse:
        square = load_sparse(plan.normalize, work.x, work.columns, values, columns)
    else:
        square = load_dense(plan.normalize, work.x, values)
    n, size = len(values), state.counts[SIZE]
    numerator(plan, state, work, n, sparse, square)  # fills the similarities
    for c in range(rows.shape[0]):
        if plan.form != PRIMAL:
            scores[c] = dot(rows[c], work.similarities, size)
        elif sparse:
            scores[c] = gather_dot(work.x, work.columns, n, rows[c])
        else:
            scores[c] = dot(work.x, rows[c], n)
    return square, self_similarity(plan, state, square)


@compiled
def best_two(scores: Array) -> tuple[int, int]:
    """The classes of the largest score, the last of several, and of the largest of the others."""
    first = 0
    for c in range(1, scores.shape[0]):
        if scores[c] >= scores[first]:
            first = c
    second = 0 if first != 0 else 1
    for c in range(scores.shape[0]):
        if c != first and scores[c] >= scores[second]:
            second = c
    return first, second


@compiled
def open_question(
    plan: Plan, state: State, rows: Array, work: Work, values: Array, columns: Array, sparse: bool, u: float,
    floor: float, bias: float, scores: Array,
) -> tuple[float, float, float, float, int, bool, float]:  # fmt: skip
    """The first half of a round: square, norm2, r, margin, predicted class, whether its label is asked for, chance."""
    square, norm2 = score(plan, state, rows, work, values, columns, sparse, scores)
    counts, scalars = state.counts, state.scalars
    counts[ROUND] += 1
    first, second = best_two(scores)
    p = 0.5 * (scores[first] - scores[second])
    r = 0.0 if plan.learner != SECOND_ORDER else -1.0
    verdict, chance = examine(plan, counts, scalars, p, norm2, u, bias, False)
    if verdict == OPEN:
        r = variance(plan, state, work, len(values), sparse, norm2)
        chance = probability(plan, counts, scalars, p, r, norm2, bias)
        verdict = YES if u < chance else 0
    query, chance = grant(plan, counts, scalars, chance, verdict == YES, floor)
    return square, norm2, r, margin(plan, p, max(r, 0.0)), first, query, chance


@compiled
def close_question(
    plan: Plan, state: State, rows: Array, targets: Array, work: Work, n: int, sparse: bool, square: float,
    norm2: float, scores: Array, r: float, said: float, label: int, late: bool,
) -> bool:  # fmt: skip
    """The second half: `said` is half the lead of the true class in its round (negative: it was not predicted)."""
    counts = state.counts
    if not settle(plan, counts, state.scalars, said, 1.0):
        return False
    other = -1
    for c in range(rows.shape[0]):
        if c != label and (other < 0 or scores[c] >= scores[other]):
            other = c
    p = 0.5 * (scores[label] - scores[other])
    if late and plan.hinge and p >= 1.0:
        return False
    if plan.learner == SECOND_ORDER:
        if r < 0.0:
            r = variance(plan, state, work, n, sparse, norm2)
        store_for_all(plan, state, rows, targets, work, n, sparse, square, scores, r, label)
    elif plan.learner == DIAGONAL or plan.learner == ADAGRAD:
        before = np.empty(n)
        for j in range(n):
            before[j] = rows[label, work.columns[j] if sparse else j]
        store_diagonal(plan, with_weights(state, rows[label]), work, n, sparse, p, 1.0)
        for j in range(n):
            i = work.columns[j] if sparse else j
            rows[other, i] -= rows[label, i] - before[j]
    elif plan.form == PRIMAL:
        add(rows[label], plan.step, work.x, work.columns, n, sparse)
        add(rows[other], -plan.step, work.x, work.columns, n, sparse)
    else:
        slot = counts[SIZE]
        keep(state, work, n, sparse, square, 1.0, slot)
        rows[label, slot], rows[other, slot] = plan.step, -plan.step
        counts[SIZE] += 1
    note_stored(counts, state.scalars, norm2)
    return True


@compiled
def lead(scores: Array, label: int, predicted: int) -> float:
    """Half the lead of the true class over the best other one; negative wherever another was predicted."""
    other = -np.inf
    for c in range(scores.shape[0]):
        if c != label:
            other = max(other, scores[c])
    said: float = 0.5 * (scores[label] - other)
    return said if predicted == label else min(said, -SMALLEST)


@compiled
def question_stream(
    plan: Plan, state: State, rows: Array, targets: Array, work: Work, world: Stream, labels: Array, sparse: bool,
    predicted: Array, queried: Array, scores: Array, first: int,
) -> int:  # fmt: skip
    """Run rounds first, first + 1, ...; return where it stopped (T, or the round that found no room).

    `scores` (T, k) are those that the rule looked at, with the instance in the inverse where the learner wants it.
    """
    begin, n, values, columns = 0, world.dense.shape[1], work.x, world.columns
    bias, floor = 0.0, 0.0
    for t in range(first, labels.shape[0]):
        if sparse:
            begin, n = world.starts[t], world.starts[t + 1] - world.starts[t]
            values, columns = world.values[begin : begin + n], world.columns[begin : begin + n]
        else:
            values = world.dense[t]
        if plan.form != PRIMAL and not has_room(plan, state, n):
            return int(t)
        if len(world.floors) > 0:
            bias, floor = world.biases[t], world.floors[t]
        square, norm2, r, _, first_class, query, _ = open_question(
            plan, state, rows, work, values, columns, sparse, world.uniforms[t], floor, bias, scores[t]
        )
        predicted[t], queried[t] = first_class, query
        if query:
            y = labels[t]
            said = lead(scores[t], y, first_class)
            close_question(
                plan, state, rows, targets, work, n, sparse, square, norm2, scores[t], r, said, y, False
            )  # fmt: skip
        if plan.includes_instance:
            for c in range(rows.shape[0]):
                scores[t, c] /= 1.0 + max(r, 0.0)
    return int(labels.shape[0])


@compiled
def with_weights(state: State, weights: Array) -> State:
    """The state with another vector."""
    return State(
        state.counts, state.scalars, weights, state.matrix, state.waiting, state.anchors, state.target, state.rows,
        state.columns, state.lengths, state.squares, state.labels,
    )  # fmt: skip


@compiled
def store_for_all(
    plan: Plan, state: State, rows: Array, targets: Array, work: Work, n: int, sparse: bool, square: float,
    scores: Array, r: float, label: int,
) -> None:  # fmt: skip
    """One example of least squares for every class: its target is 1 for the label and -1 for all others."""
    g, last = work.g, rows.shape[0] - 1
    if plan.form == PRIMAL:
        for c in range(last):
            y = 1.0 if c == label else -1.0
            step_along(rows[c], g, (y - scores[c]) / (1.0 + r))
        y = 1.0 if label == last else -1.0
        absorb(plan.drift, state.counts, rows[last], state.matrix, state.waiting, state.anchors, g, scores[last], r, y)
        return
    size = state.counts[SIZE]
    corner = sqrt(1.0 + r)
    append_row(state.matrix, size, g, corner)
    keep(state, work, n, sparse, square, 1.0, size)
    state.counts[SIZE] = size + 1
    for c in range(last + 1):
        y = 1.0 if c == label else -1.0
        targets[c, size] = (y - dot(g, targets[c], size)) / corner
        solve_upper(state.matrix, size + 1, targets[c], rows[c])
        for i in range(size + 1):
            rows[c, i] *= plan.ridge + i * plan.drift
