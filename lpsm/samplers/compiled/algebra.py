"""The linear algebra of a round: products, rank-one updates, the growing factor.

What it models: y = x'z, g = M x for symmetric M, M - h h', triangular solves with a
factor that gains a row a time.  Every loop runs over contiguous memory and sums in
an order fixed by the source, so that one round and a whole stream round alike.
From `WIDE` columns on only the upper triangle of a symmetric matrix is kept: it is memory
that costs then, and half of it suffices.  What it leaves out: blocking for the caches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled

__all__ = [
    "NEARLY_ZERO",
    "WIDE",
    "add",
    "append_row",
    "cleared",
    "dot",
    "downdate",
    "gather_dot",
    "product",
    "solve_lower",
    "solve_upper",
    "step_along",
]

Array = NDArray[Any]

NEARLY_ZERO = 1e-11
"""A sum of terms of the size of margins that is no larger may be what rounding left of terms that cancel."""

_ROUNDING = 2.0**-44  # of the terms: 256 units in the last place

WIDE = 512  # measured: below it reading the whole matrix row by row is faster


@compiled
def dot(a: Array, b: Array, n: int) -> float:
    """Return a[:n]'b[:n] in eight interleaved sums (a single one would wait for each addition)."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
    for i in range(whole, n):
        s0 += a[i] * b[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@compiled
def gather_dot(values: Array, columns: Array, n: int, dense: Array) -> float:
    """Return the sum of values[i] dense[columns[i]] over i < n."""
    s0 = s1 = s2 = s3 = 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        s0 += values[i] * dense[columns[i]]
        s1 += values[i + 1] * dense[columns[i + 1]]
        s2 += values[i + 2] * dense[columns[i + 2]]
        s3 += values[i + 3] * dense[columns[i + 3]]
    for i in range(whole, n):
        s0 += values[i] * dense[columns[i]]
    return (s0 + s1) + (s2 + s3)


@compiled
def cleared(product: float, a: Array, b: Array, columns: Array, n: int, sparse: bool) -> float:
    """A sum of products a[i] b[i], or 0 if it is what rounding left of terms that cancel, so that ties stay ties."""
    total = 0.0
    for i in range(n):
        total += abs(a[i] * (b[columns[i]] if sparse else b[i]))
    return 0.0 if abs(product) <= _ROUNDING * total else product


@compiled
def step_along(weights: Array, g: Array, step: float) -> None:
    """Weights += step g; what rounding leaves of a weight that is cancelled is 0, so that ties stay ties."""
    for j in range(weights.shape[0]):
        old = weights[j]
        new = old + g[j] * step
        weights[j] = 0.0 if abs(new) <= _ROUNDING * abs(old) else new


@compiled
def add(weights: Array, factor: float, x: Array, columns: Array, n: int, sparse: bool) -> None:
    """Weights += factor x."""
    if sparse:
        for j in range(n):
            weights[columns[j]] += factor * x[j]
    else:
        for j in range(n):
            weights[j] += factor * x[j]


@compiled
def product(matrix: Array, x: Array, columns: Array, n: int, sparse: bool, g: Array) -> None:
    """Write g = matrix x for a symmetric matrix, four rows a pass; only rows of non-zeros if sparse."""
    d = matrix.shape[0]
    g[:] = 0.0
    if d >= WIDE:
        product_upper(matrix, x, columns, n, sparse, g)
        return
    whole = n - n % 4
    for i in range(0, whole, 4):
        if sparse:
            i0, i1, i2, i3 = columns[i], columns[i + 1], columns[i + 2], columns[i + 3]
        else:
            i0, i1, i2, i3 = i, i + 1, i + 2, i + 3
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        m0, m1, m2, m3 = matrix[i0], matrix[i1], matrix[i2], matrix[i3]
        for j in range(d):
            g[j] += (x0 * m0[j] + x1 * m1[j]) + (x2 * m2[j] + x3 * m3[j])
    for i in range(whole, n):
        row = matrix[columns[i]] if sparse else matrix[i]
        xi = x[i]
        for j in range(d):
            g[j] += xi * row[j]


@compiled
def product_upper(matrix: Array, x: Array, columns: Array, n: int, sparse: bool, g: Array) -> None:
    """Add matrix x to g, reading the upper triangle: each row serves itself and, by symmetry, its column."""
    d = matrix.shape[0]
    whole = 0 if sparse else n - n % 4
    for i in range(0, whole, 4):  # four rows a pass: g is read and written once for them
        for k in range(i, i + 4):
            for j in range(i, i + 4):
                g[k] += x[j] * matrix[min(j, k), max(j, k)]
        m0, m1 = matrix[i, i + 4 : d], matrix[i + 1, i + 4 : d]
        m2, m3 = matrix[i + 2, i + 4 : d], matrix[i + 3, i + 4 : d]
        rest, ahead = g[i + 4 : d], x[i + 4 : d]
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(rest.shape[0]):
            rest[j] += (x0 * m0[j] + x1 * m1[j]) + (x2 * m2[j] + x3 * m3[j])
        g[i] += np.dot(m0, ahead)
        g[i + 1] += np.dot(m1, ahead)
        g[i + 2] += np.dot(m2, ahead)
        g[i + 3] += np.dot(m3, ahead)
    for i in range(whole, n):
        at = columns[i] if sparse else i
        row, rest = matrix[at, at + 1 : d], g[at + 1 : d]
        xi = x[i]
        for j in range(row.shape[0]):
            rest[j] += xi * row[j]
        if sparse:
            for j in range(at + 1):
                g[j] += xi * matrix[j, at]
        else:
            g[at] += xi * matrix[at, at] + np.dot(row, x[at + 1 : d])


@compiled
def downdate(matrix: Array, waiting: Array, shift: float) -> None:
    """Subtract h h' for all rows h of `waiting`, four a pass, exactly symmetric; add `shift` to the diagonal."""
    d = matrix.shape[0]
    for i in range(d):
        first = i if d >= WIDE else 0
        row = matrix[i, first:d]
        for k in range(0, waiting.shape[0], 4):
            h0, h1 = waiting[k, first:d], waiting[k + 1, first:d]
            h2, h3 = waiting[k + 2, first:d], waiting[k + 3, first:d]
            c0, c1, c2, c3 = waiting[k, i], waiting[k + 1, i], waiting[k + 2, i], waiting[k + 3, i]
            for j in range(d - first):
                row[j] -= (c0 * h0[j] + c1 * h1[j]) + (c2 * h2[j] + c3 * h3[j])
        matrix[i, i] += shift


@compiled
def solve_lower(upper: Array, n: int, v: Array) -> None:
    """Solve U'v = v in place for the leading n x n part of an upper triangular U."""
    for i in range(n):
        row = upper[i]
        vi = v[i] / row[i]
        v[i] = vi
        for j in range(i + 1, n):
            v[j] -= vi * row[j]


@compiled
def solve_upper(upper: Array, n: int, z: Array, out: Array) -> None:
    """Solve U out = z for the leading n x n part of an upper triangular U."""
    for i in range(n - 1, -1, -1):
        row = upper[i]
        out[i] = (z[i] - dot(row[i + 1 : n], out[i + 1 : n], n - i - 1)) / row[i]


@compiled
def append_row(upper: Array, n: int, v: Array, corner: float) -> None:
    """Grow U by the column (v, corner)."""
    for i in range(n):
        upper[i, n] = v[i]
    upper[n, n] = corner
