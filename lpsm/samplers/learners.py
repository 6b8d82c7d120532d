"""Margin learners in primal form: Perceptrons, regularised least squares, and learners of the hinge loss.

What it models: **first order**, the Perceptron, its modified and shifting forms, and the Perceptron on a budget, which
keeps what it may have to forget: one vector, and what a stored example adds to it.

**Second order**: with A = a I + sum of x x' over the stored examples, g = A^-1 x, r = x'g and p = w.x, the margin is
p/(1+r) where the current instance is part of the inverse (Vovk, Azoury and Warmuth) and p where it is not; storing
(x, y) is

    w += g (y - p)/(1+r),   A^-1 -= g g'/(1+r)                            (rank one, O(d^2)).

LASEC (D figure 1) is the same recursion on M = D^-1 + I/c, whose diagonal gains 1/c after each stored example: from
S = M^-1 + x x' and w = D^-1 e follow x'S^-1 (I + D/c)^-1 e = p/(1+r) and D_new^-1 e_new = w + g (y-p)/(1+r), so that no
d x d system is ever solved.  M is kept as a matrix, less h h' for the updates that wait to be applied to it in one
pass: the first d/2 of them, since until then the h alone cost less than the matrix, and eight at a time after that.
The h of the first updates stay, for bounds on r that cost less than a product.  Several classes share M; each has its
w, and targets +1 and -1.

**The hinge loss** max(0, 1 - y p), which also updates where the margin is right but small: AROW with the diagonal of
its matrix (with the whole of it, it is least squares on the examples that it stores), and AdaGrad with steps that a
weight cannot carry beyond a margin of 1.

Each is a record of parameters, and a named tuple of arrays with the methods that `protocol` names.
What it leaves out: which examples are asked for (`rules`), the forms over stored instances (`kernels`).
Sources: Cesa-Bianchi et al. 2004 (W) figures 1 and 2; Monteleoni 2006 (T) section 3.4 and figure 3-2; Moroshko and
Crammer 2014 (D); Cesa-Bianchi 2007 (R) section 2; Cavallanti et al. 2010 (A) (1); Crammer, Kulesza and Dredze 2009
(AROW) figure 1; Duchi, Hazan and Singer 2011 (AG) figure 1; Karampatziakis and Langford 2011 (IU), the update for the
hinge loss; Crammer and Singer 2003 for several classes.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from lpsm.arrays import Array, Floats
from lpsm.checks import number, positive
from lpsm.native import compiled
from lpsm.samplers.linear_algebra import (
    Row,
    add,
    add_four,
    along,
    downdate,
    place,
    product,
    step_along,
    step_of,
    write_clear_scores,
    write_scores,
)
from lpsm.samplers.protocol import EVICTED, PENDING, READY, SIZE, STORED, WEIGHT, Learner, Round, parameters

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
    rows, columns = np.zeros((capacity, 0), dtype), np.zeros((capacity, 0), np.int32)
    return Memory(rows, columns, np.zeros(capacity, np.int64), np.zeros(capacity), np.zeros(capacity))


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
    return Vector(np.zeros((k, n_features), dtype), memory, *steps(learner))


@parameters
class Perceptron(Learner):
    """Margin v.x; v += eta y x (W figure 1, T section 3.4).  Only the ratio of eta to the rule's b matters."""

    eta: float = 1.0
    takes_classes = True
    arrays = _vector


@parameters
class ModifiedPerceptron(Learner):
    """Margin v.x; v -= factor (v.x) x, started from v = x y (T figure 3-2 with factor 2; D section 5 with factor 1).

    On unit vectors factor 2 is a reflection: the norm of v stays 1.
    """

    factor: float = 2.0
    arrays = _vector


@parameters
class ShiftingPerceptron(Learner):
    """Margin v.x; after k updates v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k) (D section 5)."""

    lambda_: float = 0.01
    arrays = _vector


@parameters
class BudgetPerceptron(Learner):
    """A Perceptron on at most B stored examples: when full, one drawn uniformly goes first (D section 5)."""

    B: int = 500
    eta: float = 1.0
    arrays = _vector


BLOCK = 8  # updates that are applied in one pass over the matrix, once there have been d/2
ANCHORS = 32  # updates remembered for good


class Squares(NamedTuple):
    """Arrays of least squares."""

    weights: Array  # (k, d)
    matrix: Array  # (d, d), the upper triangle alone from `linear_algebra.WIDE` on
    g: Array  # (d,) M x
    anchors: Array  # (ANCHORS, d) the h of the first updates
    waiting: Array  # (about d/2 in whole blocks, d) the h that wait
    ridge: float  # 1/a, 1/b for LASEC
    drift: float  # 1/c, 0 without drift
    inside: bool  # whether the current instance is in the inverse

    def score(self, now: Round) -> None:
        """W_c.x; what rounding left of a margin whose terms cancel is 0."""
        write_clear_scores(self.weights, now.row, now.scores, now.s)

    def overlap(self, now: Round) -> float:
        """M is a multiple of I minus h h' of every update; leaving out all but the first only enlarges x'M x."""
        if now.s >= min(now.counts[STORED], ANCHORS):
            return -1.0
        one = along(now.row, self.anchors[now.s])
        return float(one * one)

    def variance(self, now: Round) -> float:
        """The variance r = x'M x, with g = M x."""
        row, g, stored, pending = now.row, self.g, now.counts[STORED], now.counts[PENDING]
        if stored > pending:
            product(self.matrix, row, g)
        else:  # the matrix is still that of the start
            g[:] = 0.0
            add(g, self.ridge, row)
            if stored == 0:  # A = a I: no rounding, so that ties stay ties
                return float(self.ridge * now.norm2)
        whole = pending - pending % 4
        for i in range(0, whole, 4):  # less (h'x) h, four a pass
            h0, h1, h2, h3 = self.waiting[i], self.waiting[i + 1], self.waiting[i + 2], self.waiting[i + 3]
            less = -along(row, h0), -along(row, h1), -along(row, h2), -along(row, h3)
            add_four(g, less, h0, h1, h2, h3)
        for i in range(whole, pending):
            step_of(g, -along(row, self.waiting[i]), self.waiting[i])
        if self.drift > 0.0 and pending > 0:
            add(g, pending * self.drift, row)
        return max(float(along(row, g)), 0.0)

    def update(self, now: Round) -> None:
        """W += g (y - p)/(1 + r), and h = g/sqrt(1 + r) waits to be taken off the matrix."""
        weights, g, counts, y, p = self.weights, self.g, now.counts, now.y, now.p
        for c in range(weights.shape[0]):
            if weights.shape[0] > 1:
                y, p = 1.0 if c == now.label else -1.0, now.scores[now.s, c]
            step_along(weights[c], g, (y - p) / (1.0 + now.r))
        inverse, h = 1.0 / sqrt(1.0 + now.r), self.waiting[counts[PENDING]]
        anchor = self.anchors[counts[STORED]] if counts[STORED] < ANCHORS else h
        for j in range(g.shape[0]):
            h[j] = g[j] * inverse
            anchor[j] = h[j]
        most = self.waiting.shape[0] if counts[STORED] == counts[PENDING] else BLOCK
        counts[PENDING] += 1
        if counts[PENDING] == most:
            for first in range(0, most, BLOCK):
                downdate(self.matrix, self.waiting[first : first + BLOCK], BLOCK * self.drift)
            counts[PENDING] = 0


def _squares(learner: Learner, n_features: int, k: int, dtype: DTypeLike) -> Squares:
    """Return its arrays before the first round, for k classes; updates wait until they are about d/2, in blocks."""
    blocks = max(n_features // 2 // BLOCK, 1)
    weights, anchors, waiting = (np.zeros((n, n_features), dtype) for n in (k, ANCHORS, blocks * BLOCK))
    matrix = np.zeros((n_features, n_features), dtype)
    np.fill_diagonal(matrix, learner.recursion[0])
    return Squares(weights, matrix, np.zeros(n_features, dtype), anchors, waiting, *learner.recursion)


@parameters
class LeastSquares(Learner):
    """Regularised least squares with a > 0: margin p/(1+r) if the current instance is in the inverse, else p.

    R (1) and (7), W figure 2, A equation (1).  As a grows, a p approaches the
    Perceptron's margin.
    """

    a: float = 1.0
    includes_instance: bool = True
    takes_classes = True
    arrays = _squares

    @property
    def recursion(self) -> tuple[float, float, bool]:
        """1/a, drift, and whether the current instance is in the inverse."""
        return 1.0 / self.a, 0.0, bool(self.includes_instance)


@parameters
class Lasec(Learner):
    """Last-step minimax under drift, 0 < b < c (D figure 1); c = inf is `LeastSquares` with a = b."""

    b: float = 1.0
    c: float = 100.0
    includes_instance = True
    takes_classes = True
    arrays = _squares

    def __post_init__(self) -> None:
        positive(b=self.b)
        if not self.b < number("c", self.c):
            raise ValueError(f"c must be larger than b = {self.b}, got {self.c}")

    @property
    def recursion(self) -> tuple[float, float, bool]:
        """1/b, 1/c, and that the current instance is in the inverse."""
        return 1.0 / self.b, 1.0 / self.c, True


@compiled
def move(weights: Floats, now: Round, i: int, step: float) -> None:
    """Move feature i of the true class by the step, and of the best other class by its opposite."""
    weights[now.label, i] += step
    if weights.shape[0] > 1:
        weights[now.other, i] -= step


class Diagonal(NamedTuple):
    """Arrays of AROW with a diagonal matrix."""

    weights: Floats  # (k, d)
    kept: Floats  # (1, d) q with S = 1/(1 + q)
    r: float

    score = Vector.score  # type: ignore[misc]

    def variance(self, now: Round) -> float:
        """X'S x."""
        row, total = now.row, 0.0
        for j in range(row.n):
            x = row.x[j]
            total += x * x / (1.0 + self.kept[0, place(row, j)])
        return total

    def update(self, now: Round) -> None:
        """W += y S x loss/(x'S x + r), and S loses the diagonal of its update."""
        row, kept = now.row, self.kept[0]
        size = now.y * max(0.0, 1.0 - now.y * now.p) / (now.r + self.r)
        for j in range(row.n):
            i, x = place(row, j), row.x[j]
            scale = 1.0 / (1.0 + kept[i])
            move(self.weights, now, i, size * scale * x)
            kept[i] = 1.0 / (scale - scale * scale * x * x / (now.r + self.r)) - 1.0


class Gradients(NamedTuple):
    """Arrays of AdaGrad."""

    weights: Floats  # (k, d)
    kept: Floats  # (1, d) sums of squared gradients
    eta: float

    score = Vector.score  # type: ignore[misc]

    def variance(self, now: Round) -> float:
        """How far a step of weight 1 would move the margin, eta x'D x, D with the gradient of this round."""
        row, total = now.row, 0.0
        for j in range(row.n):
            x = row.x[j]
            if x != 0.0:
                total += x * x / sqrt(self.kept[0, place(row, j)] + x * x)
        return self.eta * total

    def update(self, now: Round) -> None:
        """W += s y D x; an instance of zeros changes nothing."""
        row, kept = now.row, self.kept[0]
        if not now.r > 0.0:
            return
        loss = max(0.0, 1.0 - now.y * now.p)
        size = now.y * min(self.eta * now.scalars[WEIGHT], loss * self.eta / now.r)
        for j in range(row.n):
            i, x = place(row, j), row.x[j]
            if x != 0.0:
                kept[i] += x * x
                move(self.weights, now, i, size * x / sqrt(kept[i]))


def _features(learner: Learner, n_features: int, k: int, dtype: DTypeLike) -> Record:
    """Return its arrays before the first round, for k classes."""
    kind: Record = Gradients if learner.takes_weights else Diagonal
    weights, kept = (np.zeros((n, n_features), dtype) for n in (k, 1))
    return kind(weights, kept, float(getattr(learner, kind._fields[-1])))


@parameters
class DiagonalArow(Learner):
    """AROW with a diagonal matrix S, 1 at first: w += y S x loss/(x'S x + r), and S loses the diagonal of its update.

    Crammer, Kulesza and Dredze 2009, figure 1; loss = max(0, 1 - y w.x).
    """

    r: float = 1.0
    takes_classes = True
    takes_kernels = False
    arrays = _features


@parameters
class AdaGrad(Learner):
    """AdaGrad on the hinge loss: w += s y D x, D = 1/sqrt(sums of x_j^2 at updates), s = min(eta h, loss/x'D x).

    h is the weight of the label.  Duchi, Hazan and Singer 2011, figure 1; Karampatziakis and Langford 2011, section 4.
    """

    eta: float = 0.5
    takes_classes = True
    takes_kernels = False
    takes_weights = True
    arrays = _features
