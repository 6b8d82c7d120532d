"""Kernels, and the learners' forms over stored instances.

What it models: k(x, z) linear, radial, polynomial or any function; a first-order learner as coefficients of the
instances it has stored; least squares as ridge regression on f_min(i,j) k(x_i, x_j), f_i = 1/b + (i-1)/c (1/a without
drift), kept as a triangular factor that grows by a column with each stored example; and nearest neighbours.
What it leaves out: choosing a kernel's parameters.
Source: Cesa-Bianchi et al. 2004, remark 2; Cavallanti et al. 2010, section 2.1; Moroshko and Crammer 2014, section 3;
Cover and Hart 1967 for the nearest neighbour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from lpsm.arithmetic import dot
from lpsm.arrays import Array, Floats, Ints
from lpsm.native import compiled
from lpsm.samplers.learners import Memory, Record, coefficient, keep, new_memory, shrink, steps
from lpsm.samplers.linear_algebra import (
    NEARLY_ZERO,
    Row,
    along,
    solve_lower,
    solve_upper,
    write_clear_scores,
    write_scores,
)
from lpsm.samplers.protocol import (
    SELF_SIMILARITY,
    SIZE,
    SMALLEST,
    Learner,
    Round,
    Rule,
    Similarity,
    call,
    code_of,
    parameters,
    self_similarity,
)

FIRST_CAPACITY = 64
NO_DISTANCE = 1e-12  # of the squared norm: a squared distance that rounding may have left


@parameters
class Linear(Rule):
    """k(x, z) = x.z: the dual form of the primal learner."""


@parameters
class Radial(Rule):
    """k(x, z) = exp(-gamma |x - z|^2)."""

    gamma: float = 1.0
    chance = staticmethod(
        lambda kernel, counts, scalars, s, square, other, _, __: exp(-kernel[0] * max(square + other - 2.0 * s, 0.0))
    )


@parameters
class Polynomial(Rule):
    """k(x, z) = (gamma x.z + coef0)^degree, degree a positive integer, coef0 >= 0."""

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    chance = staticmethod(
        lambda kernel, counts, scalars, s, square, other, _, __: float((kernel[1] * s + kernel[2]) ** kernel[0])
    )


@dataclass(frozen=True, slots=True)
class CallableKernel(Rule):
    """k given as a function of two vectors (d,) returning a number; it must be positive semidefinite."""

    function: Callable[[Array, Array], float]


Kernel = Linear | Radial | Polynomial | CallableKernel
KernelLike = Kernel | str | Callable[[Array, Array], float] | None
"""A kernel, its name, a function of two vectors, or None for the primal form."""

NAMED: dict[str, Callable[..., Kernel]] = {
    "linear": Linear, "rbf": Radial, "poly": Polynomial, "polynomial": Polynomial,
}  # fmt: skip


def as_kernel(kernel: KernelLike, **parameters: float) -> Kernel | None:
    """Return the kernel named, given or wrapped; None stays None (the primal form).

    ValueError if there is no such kernel, or `parameters` do not belong to it.
    """
    if isinstance(kernel, str):
        if kernel not in NAMED:
            raise ValueError(f"kernel must be one of {sorted(NAMED)} or a function of two vectors, got {kernel!r}")
        try:
            return NAMED[kernel](**parameters)
        except TypeError as error:
            raise ValueError(f"kernel {kernel!r} does not take these parameters: {sorted(parameters)}") from error
    if parameters:
        raise ValueError(f"parameters of a kernel need its name, got {sorted(parameters)}")
    if kernel is None or isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    raise ValueError(f"kernel must be a name or a function of two vectors, got {kernel!r}")


class Held(NamedTuple):
    """The stored instances under a kernel, and what the present one has in common with them."""

    memory: Memory
    similarities: Array  # (capacity,) k(x_i, x)
    scatter: Array  # (d,) zeros between rounds
    kernel: Similarity


@compiled
def compare(held: Held, now: Round) -> Row:
    """Return k(x_i, x) over the stored instances, written unless they are there already."""
    row, memory, kernel, size = now.row, held.memory, held.kernel, now.counts[SIZE]
    if not kernel.given:
        spread(held.scatter, row, True)
        for i in range(size):
            if row.sparse:
                s = along(Row(memory.rows[i], memory.columns[i], memory.lengths[i], True), held.scatter)
            else:
                s = dot(memory.rows[i], row.x, row.n)
            if kernel.function != 0:
                square = memory.squares[i]
                s = call(kernel.function, kernel.numbers, now.counts, now.scalars, s, square, now.square, 0.0, 0.0)
            held.similarities[i] = s
        spread(held.scatter, row, False)
    return Row(held.similarities, row.columns, size, False)


@compiled
def spread(scatter: Floats, row: Row, fills: bool) -> None:
    """Write the values of a sparse row to their columns, or zeros again."""
    for j in range(row.n if row.sparse else 0):
        scatter[row.columns[j]] = row.x[j] if fills else 0.0


class Expansion(NamedTuple):
    """Arrays of a first-order learner over stored instances."""

    weights: Array  # (k, capacity) a coefficient each
    held: Held
    eta: float
    lambda_: float  # of the shifting Perceptron, or 0
    factor: float  # of the modified Perceptron, or -1
    bounded: bool  # whether the capacity is a budget

    def score(self, now: Round) -> None:
        """The sum of the coefficients times k(x_i, x)."""
        write_scores(self.weights, compare(self.held, now), now.scores, now.s)

    def update(self, now: Round) -> None:
        """Add the instance with its coefficient, in the place of an evicted one where a budget is spent."""
        weights = self.weights
        shrink(self, now, now.counts[SIZE])
        slot = keep(self.held.memory, now, weights.shape[1] if self.bounded else -1)
        step = coefficient(self, now)
        weights[now.label, slot] = step
        if weights.shape[0] > 1:
            weights[now.other, slot] = -step


class Factor(NamedTuple):
    """Arrays of least squares over stored instances."""

    weights: Array  # (k, capacity) a coefficient each
    held: Held
    upper: Array  # (capacity, capacity) U, U'U = I + K
    targets: Array  # (k, capacity) U'^-1 y
    g: Array  # (capacity,) U'^-1 k(., x)
    ridge: float
    drift: float
    inside: bool

    def score(self, now: Round) -> None:
        """The sum of the coefficients times k(x_i, x); what rounding left of one whose terms cancel is 0."""
        write_clear_scores(self.weights, compare(self.held, now), now.scores, now.s)

    def variance(self, now: Round) -> float:
        """The variance r = f k(x, x) - g'g, with g = U'^-1 f_i k(x_i, x)."""
        g, size = self.g, now.counts[SIZE]
        for i in range(size):
            g[i] = (self.ridge + i * self.drift) * self.held.similarities[i]
        solve_lower(self.upper, size, g)
        return max(float((self.ridge + size * self.drift) * now.norm2 - dot(g, g, size)), 0.0)

    def update(self, now: Round) -> None:
        """Grow the factor by a column, and solve for the coefficients of every class."""
        weights, targets, g, size, corner = self.weights, self.targets, self.g, now.counts[SIZE], sqrt(1.0 + now.r)
        for i in range(size):
            self.upper[i, size] = g[i]
        self.upper[size, size] = corner
        keep(self.held.memory, now, -1)
        for c in range(weights.shape[0]):
            wanted = now.y if weights.shape[0] == 1 else 1.0 if c == now.label else -1.0
            targets[c, size] = (wanted - dot(g, targets[c], size)) / corner
            solve_upper(self.upper, size + 1, targets[c], weights[c])
            for i in range(size + 1):  # the margin is sum_i (alpha_i f_i) k(x_i, x)
                weights[c, i] *= self.ridge + i * self.drift


class Nearest(NamedTuple):
    """Arrays of nearest neighbours."""

    weights: Array  # (k, capacity) the squared norm of a stored instance, in the row of its class
    held: Held

    def score(self, now: Round) -> None:
        """-ln of the distance to the nearest instance of each class, of one not seen yet just below the least; or p."""
        scores, s, k, labels = now.scores, now.s, self.weights.shape[0], self.held.memory.labels
        similar, own = compare(self.held, now), self_similarity(self.held.kernel, now.counts, now.scalars, now.square)
        least, plus, minus, low = NO_DISTANCE * own + SMALLEST, inf, inf, inf
        for c in range(k):
            scores[s, c] = inf
        for i in range(similar.n):
            c = int(labels[i]) if k > 1 else 0
            square = max(own - 2.0 * similar.x[i] + self.weights[c, i], least)
            if k > 1:
                scores[s, c] = min(scores[s, c], square)
            elif labels[i] > 0.0:
                plus = min(plus, square)
            else:
                minus = min(minus, square)
        if k == 1:
            unseen = 0.0 if similar.n == 0 else NEARLY_ZERO if minus == inf else -NEARLY_ZERO
            scores[s, 0] = unseen if max(plus, minus) == inf else 0.25 * (log(minus) - log(plus))
            return
        for c in range(k):
            if scores[s, c] < inf:
                scores[s, c] = -0.5 * log(scores[s, c])
                low = min(low, scores[s, c])
        for c in range(k):
            if scores[s, c] == inf:
                scores[s, c] = 0.0 if similar.n == 0 else low - 2.0 * NEARLY_ZERO

    def update(self, now: Round) -> None:
        """Keep the instance with its class."""
        slot = keep(self.held.memory, now, -1)
        if self.weights.shape[0] > 1:
            self.held.memory.labels[slot] = now.label
        self.weights[now.label, slot] = now.norm2


@parameters
class Neighbours(Learner):
    """The nearest stored instance: margin ln(d/d') / 2, d' the distance to it, d that to the nearest of another class.

    Distances are those of the kernel, sqrt(k(x, x) - 2 k(x, z) + k(z, z)).
    """

    takes_classes = True
    by_instances = True


OverInstances = Expansion | Factor | Nearest


def first_arrays(
    learner: Learner, kernel: Kernel | None, n_features: int, k: int, dtype: DTypeLike, capacity: int = 0
) -> Record:
    """Return the arrays of a learner before the first round; `capacity` is for instances, 0 for that of a beginning."""
    if kernel is None:
        return learner.arrays(n_features, k, dtype)
    capacity = learner.B or capacity or FIRST_CAPACITY
    held = Held(
        new_memory(capacity, dtype), np.zeros(capacity, dtype), np.zeros(n_features, dtype),
        Similarity(kernel.numbers(), code_of(kernel.chance), isinstance(kernel, CallableKernel)),
    )  # fmt: skip
    weights = np.zeros((k, capacity), dtype)
    if learner.by_instances:
        return Nearest(weights, held)
    if learner.recursion is not None:
        upper, g = np.zeros((capacity, capacity), dtype), np.zeros(capacity, dtype)
        return Factor(weights, held, upper, weights.copy(), g, *learner.recursion)
    return Expansion(weights, held, *steps(learner), learner.B > 0)


def fill(learner: OverInstances, kernel: CallableKernel, counts: Ints, scalars: Floats, x: Array) -> None:
    """Write k(x, x) and k(x_i, x) for all stored x_i, where the loop looks for them."""
    scalars[SELF_SIMILARITY] = kernel.function(x, x)
    for i in range(int(counts[SIZE])):
        learner.held.similarities[i] = kernel.function(learner.held.memory.rows[i], x)


def changed(record: Record, change: Callable[[str, Array], Array]) -> Record:
    """Return a record of arrays, numbers and such records with change(n, a) in place of every array a of name n."""

    def part(name: str, value: object) -> object:
        if isinstance(value, np.ndarray):
            return change(name, value)
        return changed(value, change) if isinstance(value, tuple) else value

    return type(record)(*map(part, record._fields, record))


def roomier(learner: Record, memory: Memory, capacity: int, width: int, sparse: bool) -> Record:
    """Return a learner with room for so many stored instances of `width` values."""
    wide = max(width, memory.rows.shape[1])
    shapes = {"rows": (capacity, wide), "columns": (capacity, wide if sparse else 0), "upper": (capacity, capacity),
              **dict.fromkeys(("lengths", "squares", "labels", "similarities", "g"), (capacity,))}  # fmt: skip
    if isinstance(learner, OverInstances):
        shapes |= dict.fromkeys(("weights", "targets"), (len(learner.weights), capacity))

    def change(name: str, array: Array) -> Array:
        if (shape := shapes.get(name, array.shape)) == array.shape:
            return array
        larger = np.zeros(shape, array.dtype)
        larger[tuple(map(slice, array.shape))] = array
        return larger

    return changed(learner, change)


def has_classes(learner: Learner, rule: Rule, kernel: Kernel | None = None) -> bool:
    """Whether there is a form for several classes."""
    return learner.takes_classes and not rule.filters and not isinstance(kernel, CallableKernel)
