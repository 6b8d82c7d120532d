"""Second-order learners: regularised least squares, and its form that forgets.

What it models: with A = a I + sum of x x' over the stored examples, g = A^-1 x, r = x'g and p = w.x, the margin is
p/(1+r) where the current instance is part of the inverse (Vovk, Azoury and Warmuth) and p where it is not; storing
(x, y) is

    w += g (y - p)/(1+r),   A^-1 -= g g'/(1+r)                            (rank one, O(d^2)).

LASEC (Moroshko and Crammer 2014, figure 1) is the same recursion on M = D^-1 + I/c, whose diagonal gains 1/c after
each stored example: from S = M^-1 + x x' and w = D^-1 e follow x'S^-1 (I + D/c)^-1 e = p/(1+r) and
D_new^-1 e_new = w + g (y-p)/(1+r), so that no d x d system is ever solved.

M is kept as a matrix, less h h' for the updates that wait to be applied to it in one pass: the first d/2 of them, since
until then the h alone cost less than the matrix, and eight at a time after that.  The h of the first updates stay, for
bounds on r that cost less than a product.  Several classes share M; each has its w, and targets +1 and -1.

What it leaves out: the form over stored instances (`kernels`).
Sources: Cesa-Bianchi et al. 2004 (W) figure 2; Cesa-Bianchi 2007 (R) section 2; Cavallanti et al. 2010 (A) (1); D.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm.checks import number, positive
from lpsm.samplers import core
from lpsm.samplers.core import PENDING, STORED, Learner, how
from lpsm.samplers.rows import NEARLY_ZERO, Row, add, along, cleared, downdate, product, step_along

__all__ = ["ANCHORS", "BLOCK", "Lasec", "LeastSquares", "Squares", "most_waiting"]

Array = NDArray[Any]

BLOCK = 8  # updates that are applied in one pass over the matrix, once there have been d/2
ANCHORS = 32  # updates remembered for good
FIRST = 1 + ANCHORS  # row of the first that waits, after g and the anchors


class Squares(NamedTuple):
    """Arrays of least squares."""

    weights: Array  # (k, d)
    matrix: Array  # (d, d), the upper triangle alone from `rows.WIDE` on
    vectors: Array  # (1 + ANCHORS + about d/2, d): g, the h of the first updates, the h that wait
    ridge: Any  # 1/a, 1/b for LASEC
    drift: Any  # 1/c, 0 without drift
    inside: Any  # whether the current instance is in the inverse


def most_waiting(n_features: int) -> int:
    """How many updates of the inverse wait before the matrix is first used: about d/2, in whole blocks."""
    return max(n_features // 2 // BLOCK, 1) * BLOCK


def packed(learner: Squares, counts: Array) -> Squares:
    """Return a copy that leaves out the matrix while it is that of the start, and room for updates to come."""
    used = counts[STORED] > counts[PENDING]
    matrix = learner.matrix.copy() if used else np.zeros((0, 0), dtype=learner.matrix.dtype)
    vectors = learner.vectors[: FIRST + int(counts[PENDING])].copy()
    return learner._replace(weights=learner.weights.copy(), matrix=matrix, vectors=vectors)


def unpacked(learner: Squares) -> Squares:
    """Return what was `packed` with everything that was left out."""
    k, d = learner.weights.shape
    full = squares(d, k, learner.weights.dtype, learner.ridge, learner.drift, learner.inside)
    full.vectors[: len(learner.vectors)] = learner.vectors
    return full._replace(
        weights=learner.weights.copy(), matrix=learner.matrix.copy() if learner.matrix.size else full.matrix
    )


def widened(learner: Squares, counts: Array, n_features: int) -> Squares:
    """Return it with more features, the new ones last, which have been 0 so far."""
    (k, d), dtype = learner.weights.shape, learner.weights.dtype
    more = squares(n_features, k, dtype, learner.ridge, learner.drift, learner.inside)
    more.weights[:, :d], more.matrix[:d, :d] = learner.weights, learner.matrix
    more.vectors[: len(learner.vectors), :d] = learner.vectors
    at = np.arange(d, n_features)  # the shifts of updates that wait come with them
    more.matrix[at, at] += (counts[STORED] - counts[PENDING]) * learner.drift
    return more


def squares(n_features: int, k: int, dtype: Any, ridge: float, drift: float, inside: bool) -> Squares:
    """Return the arrays before the first round."""
    matrix = np.zeros((n_features, n_features), dtype=dtype)
    np.fill_diagonal(matrix, ridge)
    vectors = np.zeros((FIRST + most_waiting(n_features), n_features), dtype=dtype)
    return Squares(np.zeros((k, n_features), dtype=dtype), matrix, vectors, ridge, drift, inside)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastSquares(Learner):
    """Regularised least squares with a > 0: margin p/(1+r) if the current instance is in the inverse, else p.

    R (1) and (7), W figure 2, A equation (1).  As a grows, a p approaches the
    Perceptron's margin.
    """

    a: float = 1.0
    includes_instance: bool = True
    takes_classes = True

    def __post_init__(self) -> None:
        positive(a=self.a)

    @property
    def recursion(self) -> tuple[float, float, bool]:
        """1/a, drift, and whether the current instance is in the inverse."""
        return 1.0 / self.a, 0.0, bool(self.includes_instance)

    def arrays(self, n_features: int, k: int, dtype: Any) -> Squares:
        """What it has before the first round, for k classes."""
        return squares(n_features, k, dtype, *self.recursion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasec(Learner):
    """Last-step minimax under drift, 0 < b < c (D figure 1); c = inf is `LeastSquares` with a = b."""

    b: float = 1.0
    c: float = 100.0
    includes_instance = True
    takes_classes = True

    def __post_init__(self) -> None:
        positive(b=self.b)
        if isnan(number("c", self.c)) or not self.b < self.c:
            raise ValueError(f"c must be larger than b = {self.b}, got {self.c}")

    @property
    def recursion(self) -> tuple[float, float, bool]:
        """1/b, 1/c, and that the current instance is in the inverse."""
        return 1.0 / self.b, 1.0 / self.c, True

    def arrays(self, n_features: int, k: int, dtype: Any) -> Squares:
        """What it has before the first round, for k classes."""
        return squares(n_features, k, dtype, *self.recursion)


@how(core.look, Squares)
def _look(learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int) -> None:
    weights = learner.weights
    for c in range(weights.shape[0]):
        scores[s, c] = along(row, weights[c])
    if weights.shape[0] == 1 and abs(scores[s, 0]) < NEARLY_ZERO:
        scores[s, 0] = cleared(scores[s, 0], row, weights[0])


@how(core.overlap, Squares)
def _overlap(learner: Any, counts: Array, row: Row, k: int) -> float:
    """M is a multiple of I minus h h' of every update; leaving out all but the first only enlarges x'M x."""
    if k >= min(counts[STORED], ANCHORS):
        return -1.0
    one = along(row, learner.vectors[1 + k])
    return float(one * one)


@how(core.spread, Squares)
def _spread(learner: Any, counts: Array, scalars: Array, row: Row, norm2: float) -> float:
    vectors, waiting = learner.vectors, counts[PENDING]
    g = vectors[0]
    if counts[STORED] > waiting:
        product(learner.matrix, row, g)
    else:  # the matrix is still that of the start
        g[:] = 0.0
        add(g, learner.ridge, row)
        if counts[STORED] == 0:  # A = a I: no rounding, so that ties stay ties
            return float(learner.ridge * norm2)
    whole = waiting - waiting % 4
    for i in range(FIRST, FIRST + whole, 4):  # less (h'x) h, four a pass
        h0, h1, h2, h3 = vectors[i], vectors[i + 1], vectors[i + 2], vectors[i + 3]
        c0, c1, c2, c3 = along(row, h0), along(row, h1), along(row, h2), along(row, h3)
        for j in range(g.shape[0]):
            g[j] -= (c0 * h0[j] + c1 * h1[j]) + (c2 * h2[j] + c3 * h3[j])
    for i in range(FIRST + whole, FIRST + waiting):
        h = vectors[i]
        one = along(row, h)
        for j in range(g.shape[0]):
            g[j] -= one * h[j]
    if learner.drift > 0.0 and waiting > 0:
        add(g, waiting * learner.drift, row)
    return max(float(along(row, g)), 0.0)


@how(core.store, Squares)
def _store(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    weights, vectors = learner.weights, learner.vectors
    g, h = vectors[0], vectors[FIRST + counts[PENDING]]
    if weights.shape[0] == 1:
        step_along(weights[0], g, (y - p) / (1.0 + r))
    else:
        for c in range(weights.shape[0]):
            step_along(weights[c], g, ((1.0 if c == label else -1.0) - scores[s, c]) / (1.0 + r))
    inverse = 1.0 / sqrt(1.0 + r)
    anchor = vectors[1 + counts[STORED]] if counts[STORED] < ANCHORS else h
    for j in range(g.shape[0]):
        h[j] = g[j] * inverse
        anchor[j] = h[j]
    most = vectors.shape[0] - FIRST if counts[STORED] == counts[PENDING] else BLOCK
    counts[PENDING] += 1
    if counts[PENDING] == most:
        for first in range(FIRST, FIRST + most, BLOCK):
            downdate(learner.matrix, vectors[first : first + BLOCK], BLOCK * learner.drift)
        counts[PENDING] = 0
