"""One round, compiled: the margin of the instance, whether its label is asked for, what the label changes.

What it models: with A = a I + sum of x x' over the stored examples, g = A^-1 x,
r = x'g and p = w.x, the margin is p/(1+r) where the current instance is part of the
inverse (Vovk, Azoury and Warmuth) and p where it is not; storing (x, y) is

    w += g (y - p)/(1+r),   A^-1 -= g g'/(1+r)                            (rank one, O(d^2)).

LASEC (Moroshko and Crammer 2014, figure 1) is the same recursion on M = D^-1 + I/c,
whose diagonal gains 1/c after each stored example: from S = M^-1 + x x' and
w = D^-1 e follow x'S^-1 (I + D/c)^-1 e = p/(1+r) and D_new^-1 e_new = w + g (y-p)/(1+r),
so that no d x d system is ever solved (`inverse`).  In kernel form both are ridge
regression on f_min(i,j) k(x_i, x_j), f_i = 1/b + (i-1)/c (1/a without drift), kept as a
triangular factor that grows by a column with each stored example.
First-order learners have r = 0 and one vector.
What it leaves out: parameters' ranges and input checks, made before a kernel is entered.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.compiled.algebra import (
    NEARLY_ZERO,
    add,
    append_row,
    cleared,
    dot,
    gather_dot,
    solve_lower,
    solve_upper,
)
from lpsm.samplers.compiled.inverse import absorb, spread
from lpsm.samplers.layout import (
    ADAGRAD,
    BUDGET,
    DIAGONAL,
    EVICTED,
    GIVEN,
    LARGEST_SQUARE,
    MODIFIED,
    POLYNOMIAL,
    PRIMAL,
    RBF,
    READY,
    SECOND_ORDER,
    SELF_SIMILARITY,
    SHIFTING,
    SIZE,
    STORED,
    WEIGHT,
    Plan,
    State,
    Work,
)

__all__ = [
    "load_dense",
    "load_sparse",
    "note_stored",
    "numerator",
    "scale",
    "self_similarity",
    "store",
    "variance",
]

Array = NDArray[Any]


@compiled
def load_dense(normalize: bool, x: Array, source: Array) -> float:
    """Copy one instance into the work space, normalised if so wanted; return its squared norm."""
    n = source.shape[0]
    for j in range(n):
        x[j] = source[j]
    return scale(normalize, x, n)


@compiled
def load_sparse(normalize: bool, x: Array, at: Array, values: Array, columns: Array) -> float:
    """As `load_dense`, for the non-zeros of one instance."""
    n = values.shape[0]
    for j in range(n):
        x[j] = values[j]
        at[j] = columns[j]
    return scale(normalize, x, n)


@compiled
def scale(normalize: bool, x: Array, n: int) -> float:
    """Divide x[:n] by its norm if so wanted; return the squared norm after that."""
    square = dot(x, x, n)
    if normalize:
        inverse = 1.0 / sqrt(square)
        for j in range(n):
            x[j] *= inverse
        return 1.0
    return square


@compiled
def self_similarity(plan: Plan, state: State, square: float) -> float:
    """k(x, x): the squared norm of the instance where the learner lives."""
    if plan.form == RBF:
        return 1.0
    if plan.form == POLYNOMIAL:
        return float((plan.gamma * square + plan.offset) ** plan.degree)
    if plan.form == GIVEN:
        return float(state.scalars[SELF_SIMILARITY])
    return square


@compiled
def fill_similarities(plan: Plan, state: State, work: Work, n: int, sparse: bool, square: float) -> None:
    """Write k(x_i, x) over the stored instances; with a callable kernel they are there already."""
    if plan.form == GIVEN:
        return
    if sparse:
        for j in range(n):
            work.scatter[work.columns[j]] = work.x[j]
    for i in range(state.counts[SIZE]):
        if sparse:
            s = gather_dot(state.rows[i], state.columns[i], state.lengths[i], work.scatter)
        else:
            s = dot(state.rows[i], work.x, n)
        if plan.form == RBF:
            s = exp(-plan.gamma * max(square + state.squares[i] - 2.0 * s, 0.0))
        elif plan.form == POLYNOMIAL:
            s = (plan.gamma * s + plan.offset) ** plan.degree
        work.similarities[i] = s
    if sparse:
        for j in range(n):
            work.scatter[work.columns[j]] = 0.0


@compiled
def numerator(plan: Plan, state: State, work: Work, n: int, sparse: bool, square: float) -> float:
    """P = w.x (or v.x): the margin up to the factor 1/(1+r), hence its sign."""
    second = plan.learner == SECOND_ORDER
    if plan.form != PRIMAL:
        fill_similarities(plan, state, work, n, sparse, square)
        size = state.counts[SIZE]
        p = dot(state.weights, work.similarities, size)
        if second and abs(p) < NEARLY_ZERO:
            p = cleared(p, state.weights, work.similarities, work.columns, size, False)
        return p
    p = gather_dot(work.x, work.columns, n, state.weights) if sparse else dot(work.x, state.weights, n)
    if second and abs(p) < NEARLY_ZERO:
        p = cleared(p, work.x, state.weights, work.columns, n, sparse)
    return p


@compiled
def variance(plan: Plan, state: State, work: Work, n: int, sparse: bool, norm2: float) -> float:
    """Return r = x'g with g = A^-1 x left in the work space for `store`; dual: U'^-1 k is left there."""
    g = work.g
    if plan.learner == DIAGONAL or plan.learner == ADAGRAD:
        return diagonal_variance(plan, state, work, n, sparse, plan.learner == DIAGONAL)
    if plan.form == PRIMAL:
        return spread(
            plan.ridge, plan.drift, state.counts, state.matrix, state.waiting, work.x, work.columns, n, sparse, norm2, g
        )
    size = state.counts[SIZE]
    for i in range(size):
        g[i] = (plan.ridge + i * plan.drift) * work.similarities[i]
    solve_lower(state.matrix, size, g)
    r = (plan.ridge + size * plan.drift) * norm2 - dot(g, g, size)
    return float(max(r, 0.0))


@compiled
def diagonal_variance(plan: Plan, state: State, work: Work, n: int, sparse: bool, arow: bool) -> float:
    """Return x'S x with AROW's diagonal S = 1/(1 + q); of AdaGrad how far its step would move the margin, eta x'D x."""
    kept, total = state.matrix[0], 0.0
    for j in range(n):
        x = work.x[j]
        q = kept[work.columns[j]] if sparse else kept[j]
        if arow:
            total += x * x / (1.0 + q)
        elif x != 0.0:
            total += x * x / sqrt(q + x * x)
    return total if arow else plan.step * total


@compiled
def store_diagonal(plan: Plan, state: State, work: Work, n: int, sparse: bool, p: float, y: float) -> None:
    """AROW with a diagonal S, or AdaGrad on the hinge loss with a step that does not carry the margin beyond 1."""
    kept, weights, arow = state.matrix[0], state.weights, plan.learner == DIAGONAL
    loss = max(0.0, 1.0 - y * p)
    reach = diagonal_variance(plan, state, work, n, sparse, arow)
    if arow:
        size = loss / (reach + plan.step)
    elif reach > 0.0:  # of the gradients with that of this round
        size = min(plan.step * state.scalars[WEIGHT], loss * plan.step / reach)
    else:
        return  # an instance of zeros
    for j in range(n):
        i = work.columns[j] if sparse else j
        x, q = work.x[j], kept[i]
        if arow:
            scale = 1.0 / (1.0 + q)
            weights[i] += size * y * scale * x
            kept[i] = 1.0 / (scale - scale * scale * x * x / (reach + plan.step)) - 1.0
        elif x != 0.0:
            kept[i] = q + x * x
            weights[i] += size * y * x / sqrt(kept[i])


@compiled
def keep(state: State, work: Work, n: int, sparse: bool, square: float, y: float, slot: int) -> None:
    """Copy the instance of this round into a slot of the stored ones."""
    for j in range(n):
        state.rows[slot, j] = work.x[j]
        if sparse:
            state.columns[slot, j] = work.columns[j]
    state.lengths[slot] = n
    state.squares[slot] = square
    state.labels[slot] = y


@compiled
def store_first_order(
    plan: Plan, state: State, work: Work, n: int, sparse: bool, square: float, p: float, y: float, eviction: float
) -> None:
    """Perceptron updates, in the features or over the stored instances."""
    counts, weights = state.counts, state.weights
    if plan.learner == DIAGONAL or plan.learner == ADAGRAD:
        store_diagonal(plan, state, work, n, sparse, p, y)
        return
    coefficient = y
    if plan.learner == MODIFIED:  # v -= factor (v.x) x; the first example is v itself
        if counts[READY] != 0:
            coefficient = -plan.step * p
    elif plan.learner == SHIFTING:
        mistakes = counts[STORED]
        if plan.step > 0.0:
            shrink = 1.0 - plan.step / (plan.step + mistakes)
            for i in range(weights.shape[0]):
                weights[i] *= shrink
    else:
        coefficient = plan.step * y
    if plan.learner == BUDGET:
        capacity = state.labels.shape[0]
        slot = counts[SIZE]
        if slot == capacity:
            slot = min(int(eviction * capacity), capacity - 1)
            counts[EVICTED] += 1
            if plan.form == PRIMAL:
                add(weights, -plan.step * state.labels[slot], state.rows[slot], state.columns[slot],
                    state.lengths[slot], sparse)  # fmt: skip
        else:
            counts[SIZE] += 1
        keep(state, work, n, sparse, square, y, slot)
        if plan.form != PRIMAL:
            weights[slot] = coefficient
    elif plan.form != PRIMAL:
        slot = counts[SIZE]
        keep(state, work, n, sparse, square, y, slot)
        weights[slot] = coefficient
        counts[SIZE] += 1
    if plan.form == PRIMAL:
        add(weights, coefficient, work.x, work.columns, n, sparse)


@compiled
def store_second_order(
    plan: Plan, state: State, work: Work, n: int, sparse: bool, square: float, p: float, r: float, y: float
) -> None:
    """The rank-one update of the inverse, or a column more of the factor."""
    g, weights = work.g, state.weights
    if plan.form == PRIMAL:
        absorb(plan.drift, state.counts, weights, state.matrix, state.waiting, state.anchors, g, p, r, y)
        return
    size = state.counts[SIZE]
    corner = sqrt(1.0 + r)
    append_row(state.matrix, size, g, corner)
    state.target[size] = (y - dot(g, state.target, size)) / corner
    keep(state, work, n, sparse, square, y, size)
    state.counts[SIZE] = size + 1
    solve_upper(state.matrix, size + 1, state.target, weights)
    for i in range(size + 1):  # the margin is sum_i (alpha_i f_i) k(x_i, x)
        weights[i] *= plan.ridge + i * plan.drift


@compiled
def note_stored(counts: Array, scalars: Array, norm2: float) -> None:
    """Count a stored example of squared norm norm2."""
    counts[STORED] += 1
    if norm2 > 0.0:  # a zero vector initialises nothing
        counts[READY] = 1
    scalars[LARGEST_SQUARE] = max(scalars[LARGEST_SQUARE], norm2)


@compiled
def store(
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
) -> None:
    """Update the learner with (x, y); r < 0 says that `variance` has not run in this round."""
    if plan.learner == SECOND_ORDER:
        if r < 0.0:
            r = variance(plan, state, work, n, sparse, norm2)
        store_second_order(plan, state, work, n, sparse, square, p, r, y)
    else:
        store_first_order(plan, state, work, n, sparse, square, p, y, eviction)
    note_stored(state.counts, state.scalars, norm2)
