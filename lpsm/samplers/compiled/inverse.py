"""The maintained inverse of a second-order learner in primal form.

What it models: M = A^-1 (D^-1 + I/c for LASEC) as a matrix, less h h' for the updates that wait
to be applied to it in one pass: the first d/2 of them, since until then the h alone cost less than
the matrix, and eight at a time after that.  From M alone: g = M x and r = x'g, the
update by a stored example, and bounds on r that cost less than a product.
What it leaves out: when any of these is needed (`kernels`).
Source: Cesa-Bianchi 2007, section 2; Moroshko and Crammer 2014, figure 1, as in `rounds`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.compiled.algebra import add, dot, downdate, gather_dot, product, step_along
from lpsm.samplers.layout import BLOCK, PENDING, STORED

__all__ = ["absorb", "spread"]

Array = NDArray[Any]


@compiled
def spread(
    ridge: float,
    drift: float,
    counts: Array,
    matrix: Array,
    waiting: Array,
    x: Array,
    columns: Array,
    n: int,
    sparse: bool,
    norm2: float,
    g: Array,
) -> float:
    """Write g = M x and return r = x'g."""
    if counts[STORED] == 0:  # A = a I: no rounding, so that ties stay ties
        g[:] = 0.0
        add(g, ridge, x, columns, n, sparse)
        return ridge * norm2
    if counts[STORED] > counts[PENDING]:
        product(matrix, x, columns, n, sparse, g)
    else:  # the matrix is still that of the start
        g[:] = 0.0
        add(g, ridge, x, columns, n, sparse)
    subtract(waiting, counts[PENDING], x, columns, n, sparse, g)
    if drift > 0.0 and counts[PENDING] > 0:
        add(g, counts[PENDING] * drift, x, columns, n, sparse)
    r = gather_dot(x, columns, n, g) if sparse else dot(x, g, n)
    return max(r, 0.0)


@compiled
def subtract(waiting: Array, rows: int, x: Array, columns: Array, n: int, sparse: bool, g: Array) -> None:
    """Subtract (h'x) h from g for the first rows h of `waiting`, four a pass."""
    whole = rows - rows % 4
    for k in range(0, whole, 4):
        h0, h1, h2, h3 = waiting[k], waiting[k + 1], waiting[k + 2], waiting[k + 3]
        if sparse:
            c0, c1 = gather_dot(x, columns, n, h0), gather_dot(x, columns, n, h1)
            c2, c3 = gather_dot(x, columns, n, h2), gather_dot(x, columns, n, h3)
        else:
            c0, c1, c2, c3 = dot(x, h0, n), dot(x, h1, n), dot(x, h2, n), dot(x, h3, n)
        for j in range(g.shape[0]):
            g[j] -= (c0 * h0[j] + c1 * h1[j]) + (c2 * h2[j] + c3 * h3[j])
    for k in range(whole, rows):
        h = waiting[k]
        overlap = gather_dot(x, columns, n, h) if sparse else dot(x, h, n)
        for j in range(g.shape[0]):
            g[j] -= overlap * h[j]


@compiled
def absorb(
    drift: float,
    counts: Array,
    weights: Array,
    matrix: Array,
    waiting: Array,
    anchors: Array,
    g: Array,
    p: float,
    r: float,
    y: float,
) -> None:
    """Update w and M by the example whose g and r `spread` found; the caller counts it as stored."""
    step = (y - p) / (1.0 + r)
    inverse = 1.0 / sqrt(1.0 + r)
    h = waiting[counts[PENDING]]
    step_along(weights, g, step)
    for j in range(weights.shape[0]):
        h[j] = g[j] * inverse
    if counts[STORED] < anchors.shape[0]:
        anchors[counts[STORED]] = h
    most = waiting.shape[0] if counts[STORED] == counts[PENDING] else BLOCK
    counts[PENDING] += 1
    if counts[PENDING] == most:
        for first in range(0, most, BLOCK):
            downdate(matrix, waiting[first : first + BLOCK], BLOCK * drift)
        counts[PENDING] = 0
