"""First-order learners: one vector, and what a stored example adds to it.

What it models: the Perceptron, its modified and shifting forms, and the Perceptron on a budget, which keeps what it may
have to forget.  Each is a record of parameters, and the arrays that the loop works on.
What it leaves out: which examples are stored (`rules`), their forms over stored instances (`kernels`).
Sources: Cesa-Bianchi et al. 2004 (W) figure 1; Monteleoni 2006 (T) section 3.4 and figure 3-2; Moroshko and Crammer
2014 (D) section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.checks import between, non_negative, positive, whole
from lpsm.samplers import core
from lpsm.samplers.core import EVICTED, READY, SIZE, STORED, Learner, how
from lpsm.samplers.rows import Row, add, along

__all__ = ["BudgetPerceptron", "Memory", "ModifiedPerceptron", "Perceptron", "ShiftingPerceptron", "keep", "new_memory"]

Array = NDArray[Any]


class Memory(NamedTuple):
    """Stored instances, in arrays that double when full."""

    rows: Array  # (capacity, d), or (capacity, width) values when sparse
    columns: Array  # (capacity, width) their columns when sparse
    lengths: Array  # (capacity,) their number of values
    squares: Array  # (capacity,) their squared norms
    labels: Array  # (capacity,)


def new_memory(capacity: int, dtype: Any) -> Memory:
    """Return room for instances whose width is not known yet."""
    rows, columns = np.zeros((capacity, 0), dtype=dtype), np.zeros((capacity, 0), dtype=np.int32)
    return Memory(rows, columns, np.zeros(capacity, dtype=np.int64), np.zeros(capacity), np.zeros(capacity))


class Vector(NamedTuple):
    """Arrays of the Perceptron, lambda = 0, and of the shifting one, eta = 1."""

    weights: Array  # (k, d)
    eta: Any
    lambda_: Any


class ModifiedVector(NamedTuple):
    """Arrays of the modified Perceptron."""

    weights: Array
    factor: Any

    @property
    def buys_first(self) -> bool:
        """That v = 0 would never move."""
        return True


class BudgetVector(NamedTuple):
    """Arrays of the Perceptron on a budget."""

    weights: Array
    memory: Memory
    eta: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Perceptron(Learner):
    """Margin v.x; v += eta y x (W figure 1, T section 3.4).  Only the ratio of eta to the rule's b matters."""

    eta: float = 1.0
    takes_classes = True

    def __post_init__(self) -> None:
        positive(eta=self.eta)

    def arrays(self, n_features: int, k: int, dtype: Any) -> Vector:
        """What it has before the first round, for k classes."""
        return Vector(np.zeros((k, n_features), dtype=dtype), float(self.eta), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifiedPerceptron(Learner):
    """Margin v.x; v -= factor (v.x) x, started from v = x y (T figure 3-2 with factor 2; D section 5 with factor 1).

    On unit vectors factor 2 is a reflection: the norm of v stays 1.
    """

    factor: float = 2.0

    def __post_init__(self) -> None:
        between(0.0, 2.0, factor=self.factor)

    def arrays(self, n_features: int, k: int, dtype: Any) -> ModifiedVector:
        """What it has before the first round."""
        return ModifiedVector(np.zeros((k, n_features), dtype=dtype), float(self.factor))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftingPerceptron(Learner):
    """Margin v.x; after k updates v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k) (D section 5)."""

    lambda_: float = 0.01

    def __post_init__(self) -> None:
        non_negative(**{"lambda": self.lambda_})

    def arrays(self, n_features: int, k: int, dtype: Any) -> Vector:
        """What it has before the first round."""
        return Vector(np.zeros((k, n_features), dtype=dtype), 1.0, float(self.lambda_))


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPerceptron(Learner):
    """A Perceptron on at most B stored examples: when full, one drawn uniformly goes first (D section 5)."""

    B: int = 500
    eta: float = 1.0

    def __post_init__(self) -> None:
        whole(1, B=self.B)
        positive(eta=self.eta)

    def arrays(self, n_features: int, k: int, dtype: Any) -> BudgetVector:
        """What it has before the first round."""
        return BudgetVector(np.zeros((k, n_features), dtype=dtype), new_memory(self.B, dtype), float(self.eta))


@how(core.look, Vector, ModifiedVector, BudgetVector)
def _look(learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int) -> None:
    for c in range(learner.weights.shape[0]):
        scores[s, c] = along(row, learner.weights[c])


@how(core.store, Vector)
def _store_vector(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    weights = learner.weights
    if learner.lambda_ > 0.0:
        shrink = 1.0 - learner.lambda_ / (learner.lambda_ + counts[STORED])
        for c in range(weights.shape[0]):
            for i in range(weights.shape[1]):
                weights[c, i] *= shrink
    add(weights[label], learner.eta * y, row)
    if weights.shape[0] > 1:  # Crammer and Singer 2003: the pair that is moved
        add(weights[other], -learner.eta, row)


@how(core.store, ModifiedVector)
def _store_modified(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    add(learner.weights[0], -learner.factor * p if counts[READY] != 0 else y, row)  # the first example is v itself


@how(core.store, BudgetVector)
def _store_within_budget(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    memory, capacity, slot = learner.memory, learner.memory.labels.shape[0], counts[SIZE]
    if slot == capacity:
        slot = min(int(eviction * capacity), capacity - 1)
        counts[EVICTED] += 1
        old = Row(memory.rows[slot], memory.columns[slot], memory.lengths[slot], row.sparse)
        add(learner.weights[0], -learner.eta * memory.labels[slot], old)
    else:
        counts[SIZE] += 1
    keep(memory, row, square, y, slot)
    add(learner.weights[0], learner.eta * y, row)


@compiled
def keep(memory: Memory, row: Row, square: float, y: float, slot: int) -> None:
    """Copy an instance into a slot of those that are stored."""
    for j in range(row.n):
        memory.rows[slot, j] = row.x[j]
        if row.sparse:
            memory.columns[slot, j] = row.columns[j]
    memory.lengths[slot] = row.n
    memory.squares[slot] = square
    memory.labels[slot] = y
