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

from math import isnan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from lpsm.arrays import Array, Ints
from lpsm.checks import number, positive
from lpsm.samplers.linear_algebra import (
    add,
    add_four,
    along,
    downdate,
    product,
    step_along,
    step_of,
    write_clear_scores,
)
from lpsm.samplers.protocol import PENDING, STORED, Learner, Round, checked_by, parameters

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

    def widened(self, counts: Ints, n_features: int) -> Squares:
        """Return it with more features, the new ones last, which have been 0 so far."""
        more = squares(n_features, len(self.weights), self.weights.dtype, *self[5:])
        for own, other in zip(more[:5], self[:5], strict=True):
            own[tuple(slice(0, n) for n in other.shape)] = other
        at = np.arange(self.weights.shape[1], n_features)  # the shifts of updates that wait come with them
        more.matrix[at, at] += (counts[STORED] - counts[PENDING]) * self.drift
        return more


def squares(n_features: int, k: int, dtype: DTypeLike, ridge: float, drift: float, inside: bool) -> Squares:
    """Return the arrays before the first round; updates wait until they are about d/2, in whole blocks."""
    blocks = max(n_features // 2 // BLOCK, 1)
    weights, anchors, waiting = (np.zeros((n, n_features), dtype=dtype) for n in (k, ANCHORS, blocks * BLOCK))
    matrix = np.zeros((n_features, n_features), dtype=dtype)
    np.fill_diagonal(matrix, ridge)
    return Squares(weights, matrix, np.zeros(n_features, dtype=dtype), anchors, waiting, ridge, drift, inside)


def _squares(learner: Learner, n_features: int, k: int, dtype: DTypeLike) -> Squares:
    """Return its arrays before the first round, for k classes."""
    return squares(n_features, k, dtype, *learner.recursion)


@parameters
class LeastSquares(Learner):
    """Regularised least squares with a > 0: margin p/(1+r) if the current instance is in the inverse, else p.

    R (1) and (7), W figure 2, A equation (1).  As a grows, a p approaches the
    Perceptron's margin.
    """

    a: float = 1.0
    includes_instance: bool = True
    ranges = checked_by(a=positive)
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
        if isnan(number("c", self.c)) or not self.b < self.c:
            raise ValueError(f"c must be larger than b = {self.b}, got {self.c}")

    @property
    def recursion(self) -> tuple[float, float, bool]:
        """1/b, 1/c, and that the current instance is in the inverse."""
        return 1.0 / self.b, 1.0 / self.c, True
