"""First-order learners: one vector, and what a stored example adds to it.

What it models: the Perceptron, its modified and shifting forms, and the Perceptron on a budget, which keeps what it may
have to forget.  Each is a record of parameters; all work on the same arrays.
What it leaves out: which examples are stored (`rules`), their forms over stored instances (`kernels`).
Sources: Cesa-Bianchi et al. 2004 (W) figure 1; Monteleoni 2006 (T) section 3.4 and figure 3-2; Moroshko and Crammer
2014 (D) section 5.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from lpsm.arrays import Array
from lpsm.checks import between, non_negative, positive, whole
from lpsm.native import compiled
from lpsm.samplers.linear_algebra import Row, add, write_scores
from lpsm.samplers.protocol import EVICTED, READY, SIZE, STORED, Learner, Round, checked_by, parameters

Record: TypeAlias = Any  # a named tuple of arrays, numbers and such records, as a learner or an ensemble has them


class Memory(NamedTuple):
    """Stored instances, in arrays that double when full."""

    rows: Array  # (capacity, d), or (capacity, width) values when sparse
    columns: Array  # (capacity, width) their columns when sparse
    lengths: Array  # (capacity,) their number of values
    squares: Array  # (capacity,) their squared norms
    labels: Array  # (capacity,)


def new_memory(capacity: int, dtype: DTypeLike) -> Memory:
    """Return room for instances whose width is not known yet."""
    rows, columns = np.zeros((capacity, 0), dtype=dtype), np.zeros((capacity, 0), dtype=np.int32)
    return Memory(rows, columns, np.zeros(capacity, dtype=np.int64), np.zeros(capacity), np.zeros(capacity))


def memory_of(record: Record) -> Memory | None:
    """Return the stored instances of a learner, None if it stores none."""
    memory: Memory | None = getattr(getattr(record, "held", record), "memory", None)
    return memory if memory is not None and len(memory.labels) else None


@compiled
def keep(memory: Memory, now: Round, budget: int) -> int:
    """Keep the instance and return its slot: the next free one, or if the budget is spent that of one that goes."""
    row, slot = now.row, now.counts[SIZE]
    if slot == budget:
        now.counts[EVICTED] += 1
        slot = evicted(now, budget)
    else:
        now.counts[SIZE] += 1
    for j in range(row.n):
        memory.rows[slot, j] = row.x[j]
        if row.sparse:
            memory.columns[slot, j] = row.columns[j]
    memory.lengths[slot] = row.n
    memory.squares[slot] = now.square
    memory.labels[slot] = now.y
    return int(slot)


@compiled
def evicted(now: Round, budget: int) -> int:
    """The slot of the instance that goes where the budget is spent, drawn uniformly."""
    return min(int(now.eviction * budget), budget - 1)


@compiled
def coefficient(learner: Record, now: Round) -> float:
    """Of x in the update: eta y, or that of the modified Perceptron, whose first example is v itself."""
    if learner.factor < 0.0:
        return float(learner.eta * now.y)
    return float(-learner.factor * now.p if now.counts[READY] != 0 else now.y)


@compiled
def shrink(learner: Record, now: Round, n: int) -> None:
    """Multiply the first n weights of every class by 1 - lambda_k."""
    if learner.lambda_ > 0.0:
        factor = 1.0 - learner.lambda_ / (learner.lambda_ + now.counts[STORED])
        for c in range(learner.weights.shape[0]):
            for i in range(n):
                learner.weights[c, i] *= factor


class Vector(NamedTuple):
    """Arrays of all of them; what a learner has not is neutral."""

    weights: Array  # (k, d)
    memory: Memory  # of a budget; without one there is no room
    eta: float
    lambda_: float  # 0: does not shift
    factor: float  # -1: is not modified

    @property
    def buys_first(self) -> bool:
        """Whether v = 0 would never move, so that a first example initialises it."""
        return self.factor >= 0.0

    def score(self, now: Round) -> None:
        """W_c.x."""
        write_scores(self.weights, now.row, now.scores, now.s)

    def update(self, now: Round) -> None:
        """V += coefficient x, after the oldest were shrunk, or one was evicted."""
        weights, memory, budget = self.weights, self.memory, self.memory.labels.shape[0]
        shrink(self, now, weights.shape[1])
        if budget > 0:
            if now.counts[SIZE] == budget:
                slot = evicted(now, budget)
                old = Row(memory.rows[slot], memory.columns[slot], memory.lengths[slot], now.row.sparse)
                add(weights[0], -self.eta * memory.labels[slot], old)
            keep(memory, now, budget)
        add(weights[now.label], coefficient(self, now), now.row)
        if weights.shape[0] > 1:  # Crammer and Singer 2003: the pair that is moved
            add(weights[now.other], -self.eta, now.row)


def steps(learner: Learner) -> tuple[float, float, float]:
    """Return eta, lambda and factor of a first-order learner, neutral where it has none."""
    eta, lambda_, factor = (getattr(learner, name, none) for name, none in (("eta", 1), ("lambda_", 0), ("factor", -1)))
    return float(eta), float(lambda_), float(factor)


def _vector(learner: Learner, n_features: int, k: int, dtype: DTypeLike) -> Vector:
    """Return its arrays before the first round, for k classes."""
    memory = new_memory(learner.B, dtype)
    return Vector(np.zeros((k, n_features), dtype=dtype), memory, *steps(learner))


@parameters
class Perceptron(Learner):
    """Margin v.x; v += eta y x (W figure 1, T section 3.4).  Only the ratio of eta to the rule's b matters."""

    eta: float = 1.0
    ranges = checked_by(eta=positive)
    takes_classes = True
    arrays = _vector


@parameters
class ModifiedPerceptron(Learner):
    """Margin v.x; v -= factor (v.x) x, started from v = x y (T figure 3-2 with factor 2; D section 5 with factor 1).

    On unit vectors factor 2 is a reflection: the norm of v stays 1.
    """

    factor: float = 2.0
    ranges = checked_by(factor=partial(between, 0.0, 2.0))
    arrays = _vector


@parameters
class ShiftingPerceptron(Learner):
    """Margin v.x; after k updates v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k) (D section 5)."""

    lambda_: float = 0.01
    ranges = checked_by(lambda_=non_negative)
    arrays = _vector


@parameters
class BudgetPerceptron(Learner):
    """A Perceptron on at most B stored examples: when full, one drawn uniformly goes first (D section 5)."""

    B: int = 500
    eta: float = 1.0
    ranges = checked_by(B=partial(whole, 1), eta=positive)
    arrays = _vector
