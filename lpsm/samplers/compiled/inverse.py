"""The maintained inverse of a second-order learner in primal form.

What it models: M = A^-1 (D^-1 + I/c for LASEC) as a matrix, less h h' for at most eight
updates that wait to be applied to it in one pass.  From M alone: g = M x and r = x'g, the
update by a stored example, and bounds on r that cost less than a product.
What it leaves out: when any of these is needed (`kernels`).
Source: Cesa-Bianchi 2007, section 2; Moroshko and Crammer 2014, figure 1, as in `rounds`.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.compiled.algebra import add, dot, downdate, gather_dot, product
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
    product(matrix, x, columns, n, sparse, g)
    for k in range(counts[PENDING]):
        h = waiting[k]
        overlap = gather_dot(x, columns, n, h) if sparse else dot(x, h, n)
        for j in range(g.shape[0]):
            g[j] -= overlap * h[j]
    if drift > 0.0 and counts[PENDING] > 0:
        add(g, counts[PENDING] * drift, x, columns, n, sparse)
    r = gather_dot(x, columns, n, g) if sparse else dot(x, g, n)
    return max(r, 0.0)


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
    for j in range(weights.shape[0]):
        weights[j] += g[j] * step
        h[j] = g[j] * inverse
    if counts[STORED] < anchors.shape[0]:
        anchors[counts[STORED]] = h
    counts[PENDING] += 1
    if counts[PENDING] == BLOCK:
        downdate(matrix, waiting, BLOCK * drift)
        counts[PENDING] = 0
