"""Kernels, and the learners' forms over stored instances.

What it models: k(x, z) linear, radial, polynomial or any function; a first-order learner as coefficients of the
instances it has stored; least squares as ridge regression on f_min(i,j) k(x_i, x_j), f_i = 1/b + (i-1)/c (1/a without
drift), kept as a triangular factor that grows by a column with each stored example.
What it leaves out: choosing a kernel's parameters.
Source: Cesa-Bianchi et al. 2004, remark 2; Cavallanti et al. 2010, section 2.1; Moroshko and Crammer 2014, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.checks import number, positive, shown
from lpsm.samplers import core
from lpsm.samplers.core import EVICTED, READY, SELF_SIMILARITY, SIZE, STORED, Learner, Rule, how
from lpsm.samplers.perceptrons import BudgetVector, Memory, keep, new_memory
from lpsm.samplers.rows import (
    NEARLY_ZERO,
    Row,
    append_row,
    cleared,
    dot,
    gather_dot,
    solve_lower,
    solve_upper,
)

__all__ = ["CallableKernel", "Kernel", "Linear", "Polynomial", "Radial", "as_kernel", "grown", "over_instances"]

Array = NDArray[Any]

FIRST_CAPACITY = 64


def _radial(
    kernel: Any, counts: Any, scalars: Any, s: float, square: float, other: float, _: float, __: float
) -> float:
    return exp(-kernel[0] * max(square + other - 2.0 * s, 0.0))


def _power(kernel: Any, counts: Any, scalars: Any, s: float, square: float, other: float, _: float, __: float) -> float:
    return float((kernel[1] * s + kernel[2]) ** kernel[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear(Rule):
    """k(x, z) = x.z: the dual form of the primal learner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Radial(Rule):
    """k(x, z) = exp(-gamma |x - z|^2)."""

    gamma: float = 1.0
    chance = staticmethod(_radial)

    def __post_init__(self) -> None:
        positive(gamma=self.gamma)


@dataclass(frozen=True, slots=True, kw_only=True)
class Polynomial(Rule):
    """k(x, z) = (gamma x.z + coef0)^degree, degree a positive integer, coef0 >= 0."""

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    chance = staticmethod(_power)

    def __post_init__(self) -> None:
        positive(gamma=self.gamma)
        if not number("degree", self.degree).is_integer() or self.degree < 1:
            raise ValueError(f"degree must be a positive integer, got {shown(self.degree)}")
        if not number("coef0", self.coef0) >= 0.0:
            raise ValueError(f"coef0 must be non-negative, got {shown(self.coef0)}")


@dataclass(frozen=True, slots=True)
class CallableKernel(Rule):
    """k given as a function of two vectors (d,) returning a number; it must be positive semidefinite."""

    function: Callable[[Array, Array], float]


Kernel = Linear | Radial | Polynomial | CallableKernel

NAMED: dict[str, Callable[..., Kernel]] = {
    "linear": Linear,
    "rbf": Radial,
    "poly": Polynomial,
    "polynomial": Polynomial,
}


def as_kernel(kernel: Any, **parameters: float) -> Kernel | None:
    """Return the kernel named, given or wrapped; None stays None (the primal form).

    Raises
    ------
    ValueError
        If there is no such kernel, or `parameters` do not belong to it.
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
    if kernel is None or isinstance(kernel, Linear | Radial | Polynomial | CallableKernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    raise ValueError(f"kernel must be a name or a function of two vectors, got {kernel!r}")


class Held(NamedTuple):
    """The stored instances under a kernel, and what the present one has in common with them."""

    memory: Memory
    similarities: Array  # (capacity,) k(x_i, x)
    scatter: Array  # (d,) zeros between rounds
    kernel: Array  # its parameters
    similarity: Any  # its function of (x_i.x, |x_i|^2, |x|^2), as functions of rules are; 0: x_i.x itself
    given: Any  # whether similarities are written from outside


class Expansion(NamedTuple):
    """Arrays of a first-order learner over stored instances."""

    weights: Array  # (k, capacity) a coefficient each
    held: Held
    eta: Any
    lambda_: Any  # of the shifting Perceptron, or 0
    factor: Any  # of the modified Perceptron, or -1
    bounded: Any  # whether the capacity is a budget

    @property
    def buys_first(self) -> bool:
        """Whether a first example initialises it."""
        return bool(self.factor >= 0.0)


class Factor(NamedTuple):
    """Arrays of least squares over stored instances."""

    weights: Array  # (k, capacity) a coefficient each
    held: Held
    upper: Array  # (capacity, capacity) U, U'U = I + K
    targets: Array  # (k, capacity) U'^-1 y
    g: Array  # (capacity,) U'^-1 k(., x)
    ridge: Any
    drift: Any
    inside: Any

    @property
    def bounded(self) -> bool:
        """That the capacity is no budget."""
        return False


def over_instances(
    learner: Learner, kernel: Kernel, n_features: int, k: int, dtype: Any, capacity: int = 0
) -> Expansion | Factor:
    """Return the arrays of a learner under a kernel, before the first round; `capacity` 0 for that of a beginning."""
    capacity = getattr(learner, "B", capacity or FIRST_CAPACITY)
    held = Held(
        new_memory(capacity, dtype), np.zeros(capacity, dtype=dtype), np.zeros(n_features, dtype=dtype),
        kernel.numbers(), core.code_of(kernel.chance), isinstance(kernel, CallableKernel),
    )  # fmt: skip
    weights = np.zeros((k, capacity), dtype=dtype)
    if hasattr(learner, "recursion"):
        upper, g = np.zeros((capacity, capacity), dtype=dtype), np.zeros(capacity, dtype=dtype)
        return Factor(weights, held, upper, weights.copy(), g, *learner.recursion)
    eta, lambda_, factor = (
        float(getattr(learner, n, none)) for n, none in (("eta", 1), ("lambda_", 0), ("factor", -1))
    )
    return Expansion(weights, held, eta, lambda_, factor, hasattr(learner, "B"))


def fill(learner: Expansion | Factor, kernel: CallableKernel, counts: Array, scalars: Array, x: Array) -> None:
    """Write k(x, x) and k(x_i, x) for all stored x_i, where the loop looks for them."""
    scalars[SELF_SIMILARITY] = kernel.function(x, x)
    for i in range(int(counts[SIZE])):
        learner.held.similarities[i] = kernel.function(learner.held.memory.rows[i], x)


def resized(array: Array, *shape: int) -> Array:
    """Return the array, with zeros where it grows."""
    if array.shape == shape:
        return array
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(slice(0, n) for n in array.shape)] = array
    return larger


def grown(learner: Any, counts: Array, width: int, sparse: bool) -> Any:
    """Return a learner that stores instances with room for one more of `width` values, doubled where it is full."""
    bounded = isinstance(learner, BudgetVector) or (isinstance(learner, Expansion) and learner.bounded)
    memory = learner.memory if isinstance(learner, BudgetVector) else learner.held.memory
    capacity, wide = len(memory.labels), max(width, memory.rows.shape[1])
    if not bounded and int(counts[SIZE]) >= capacity:
        capacity *= 2
    memory = Memory(
        resized(memory.rows, capacity, wide), resized(memory.columns, capacity, wide if sparse else 0),
        *(resized(array, capacity) for array in memory[2:]),
    )  # fmt: skip
    if isinstance(learner, BudgetVector):
        return learner._replace(memory=memory)
    held = learner.held._replace(memory=memory, similarities=np.zeros(capacity, dtype=learner.weights.dtype))
    learner = learner._replace(held=held, weights=resized(learner.weights, len(learner.weights), capacity))
    if isinstance(learner, Factor):
        targets = resized(learner.targets, len(learner.targets), capacity)
        upper, g = resized(learner.upper, capacity, capacity), np.zeros(capacity, dtype=learner.g.dtype)
        return learner._replace(upper=upper, targets=targets, g=g)
    return learner


@compiled
def compare(held: Held, counts: Array, scalars: Array, row: Row, square: float) -> None:
    """Write k(x_i, x) over the stored instances, unless it is there already."""
    if held.given:
        return
    memory = held.memory
    if row.sparse:
        for j in range(row.n):
            held.scatter[row.columns[j]] = row.x[j]
    for i in range(counts[SIZE]):
        if row.sparse:
            s = gather_dot(memory.rows[i], memory.columns[i], memory.lengths[i], held.scatter)
        else:
            s = dot(memory.rows[i], row.x, row.n)
        if held.similarity != 0:
            s = core.call(held.similarity, held.kernel, counts, scalars, s, memory.squares[i], square, 0.0, 0.0)
        held.similarities[i] = s
    if row.sparse:
        for j in range(row.n):
            held.scatter[row.columns[j]] = 0.0


@how(core.look, Expansion)
def _look(learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int) -> None:
    compare(learner.held, counts, scalars, row, square)
    for c in range(learner.weights.shape[0]):
        scores[s, c] = dot(learner.weights[c], learner.held.similarities, counts[SIZE])


@how(core.look, Factor)
def _look_at_terms(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int
) -> None:  # fmt: skip
    weights, similarities, size = learner.weights, learner.held.similarities, counts[SIZE]
    compare(learner.held, counts, scalars, row, square)
    for c in range(weights.shape[0]):
        scores[s, c] = dot(weights[c], similarities, size)
    if weights.shape[0] == 1 and abs(scores[s, 0]) < NEARLY_ZERO:
        scores[s, 0] = cleared(scores[s, 0], Row(similarities, row.columns, size, False), weights[0])


@how(core.store, Expansion)
def _store_coefficient(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    weights, slot = learner.weights, counts[SIZE]
    coefficient = learner.eta * y
    if learner.factor >= 0.0:
        coefficient = -learner.factor * p if counts[READY] != 0 else y
    if learner.lambda_ > 0.0:
        shrink = 1.0 - learner.lambda_ / (learner.lambda_ + counts[STORED])
        for i in range(slot):
            weights[0, i] *= shrink
    if learner.bounded and slot == weights.shape[1]:
        slot = min(int(eviction * slot), slot - 1)
        counts[EVICTED] += 1
    else:
        counts[SIZE] += 1
    keep(learner.held.memory, row, square, y, slot)
    weights[label, slot] = coefficient
    if weights.shape[0] > 1:
        weights[other, slot] = -coefficient


@how(core.spread, Factor)
def _spread(learner: Any, counts: Array, scalars: Array, row: Row, norm2: float) -> float:
    g, size = learner.g, counts[SIZE]
    for i in range(size):
        g[i] = (learner.ridge + i * learner.drift) * learner.held.similarities[i]
    solve_lower(learner.upper, size, g)
    return max(float((learner.ridge + size * learner.drift) * norm2 - dot(g, g, size)), 0.0)


@how(core.store, Factor)
def _store_column(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    weights, targets, g, size = learner.weights, learner.targets, learner.g, counts[SIZE]
    corner = sqrt(1.0 + r)
    append_row(learner.upper, size, g, corner)
    keep(learner.held.memory, row, square, y, size)
    counts[SIZE] = size + 1
    for c in range(weights.shape[0]):
        wanted = y if weights.shape[0] == 1 else 1.0 if c == label else -1.0
        targets[c, size] = (wanted - dot(g, targets[c], size)) / corner
        solve_upper(learner.upper, size + 1, targets[c], weights[c])
        for i in range(size + 1):  # the margin is sum_i (alpha_i f_i) k(x_i, x)
            weights[c, i] *= learner.ridge + i * learner.drift
