"""Rows of a table, dense or sparse alike, and the linear algebra of a round.

What it models: a row is its values and, if sparse, their columns; y = x'z, g = M x for symmetric M, M - h h',
triangular solves with a factor that gains a row a time.  Every loop runs over contiguous memory and sums in
an order fixed by the source, so that one round and a whole stream round alike.
From `WIDE` columns on only the upper triangle of a symmetric matrix is kept: it is memory
that costs then, and half of it suffices.  What it leaves out: blocking for the caches.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from lpsm.arithmetic import dot
from lpsm.arrays import Array, Floats, Ints
from lpsm.native import compiled

NEARLY_ZERO = 1e-11
"""A sum of terms of the size of margins that is no larger may be what rounding left of terms that cancel."""

_ROUNDING = 2.0**-44  # of the terms: 256 units in the last place

WIDE = 512  # measured: below it, reading the whole matrix row by row is faster


NO_COLUMNS, NO_STARTS = np.zeros(0, np.int32), np.zeros(0, np.int64)
Table: TypeAlias = Any  # instances that were checked: an array (T, d), or CSR, which scipy does not type


class Row(NamedTuple):
    """One instance."""

    x: Array  # values
    columns: Array  # if sparse
    n: int  # number of values
    sparse: bool


def table_of(rows: Table) -> tuple[Array, Array, Array]:
    """Return the table of instances (T, d) or of CSR: values, columns and starts of the rows, as `row_of` reads them.

    Values are (T, d), or (1, n) end to end if sparse; columns int32 and starts (T + 1,) are empty if dense.
    """
    if not sparse.issparse(rows):
        return writeable(rows), NO_COLUMNS, NO_STARTS
    columns = rows.indices.astype(np.int32, copy=False)
    return writeable(rows.data).reshape(1, -1), writeable(columns), rows.indptr.astype(np.int64)


def writeable(array: Array) -> Array:
    """Return the array, or a copy if it has gaps or cannot be written to: compiled code takes that for another type."""
    return array if array.flags.carray else array.copy()


@compiled
def row_of(values: Floats, columns: Ints, starts: Ints, is_sparse: bool, t: int) -> Row:
    """Row t of a table."""
    if is_sparse:
        begin, end = starts[t], starts[t + 1]
        return Row(values[0, begin:end], columns[begin:end], end - begin, True)
    return Row(values[t], columns, values.shape[1], False)


@compiled
def scaled(row: Row, square: float, scratch: Floats) -> Row:
    """The row divided by the root of `square`, its squared length."""
    inverse = 1.0 / sqrt(square)
    for j in range(row.n):
        scratch[j] = row.x[j] * inverse
    return Row(scratch[: row.n], row.columns, row.n, row.sparse)


@compiled
def place(row: Row, j: int) -> int:
    """The column of value j."""
    return row.columns[j] if row.sparse else j


@compiled
def along(row: Row, dense: Floats) -> float:
    """Return the inner product of a row and a dense vector."""
    values, columns, n = row.x, row.columns, row.n
    if not row.sparse:
        return dot(values, dense, n)
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
def write_scores(weights: Floats, row: Row, scores: Floats, s: int) -> None:
    """Write the inner product of the row with the weights of every class into row s of the scores."""
    for c in range(weights.shape[0]):
        scores[s, c] = along(row, weights[c])


@compiled
def write_clear_scores(weights: Floats, row: Row, scores: Floats, s: int) -> None:
    """The same, but a single margin that is what rounding left of terms that cancel is 0, so that ties stay ties."""
    write_scores(weights, row, scores, s)
    if weights.shape[0] > 1 or abs(scores[s, 0]) >= NEARLY_ZERO:
        return
    total, dense = 0.0, weights[0]
    for i in range(row.n):
        total += abs(row.x[i] * dense[place(row, i)])
    if abs(scores[s, 0]) <= _ROUNDING * total:
        scores[s, 0] = 0.0


@compiled
def step_along(weights: Floats, g: Floats, step: float) -> None:
    """Weights += step g; what rounding leaves of a weight that is cancelled is 0, so that ties stay ties."""
    for j in range(weights.shape[0]):
        old = weights[j]
        new = old + g[j] * step
        weights[j] = 0.0 if abs(new) <= _ROUNDING * abs(old) else new


@compiled
def add(weights: Floats, factor: float, row: Row) -> None:
    """Weights += factor x."""
    for j in range(row.n):
        weights[place(row, j)] += factor * row.x[j]


@compiled
def product(matrix: Floats, row: Row, g: Floats) -> None:
    """Write g = matrix x for a symmetric matrix, four rows a pass; only rows of non-zeros if sparse."""
    n, x = row.n, row.x
    g[:] = 0.0
    if matrix.shape[0] >= WIDE:
        product_upper(matrix, row, g)
        return
    whole = n - n % 4
    for i in range(0, whole, 4):
        m0, m1 = matrix[place(row, i)], matrix[place(row, i + 1)]
        m2, m3 = matrix[place(row, i + 2)], matrix[place(row, i + 3)]
        add_four(g, (x[i], x[i + 1], x[i + 2], x[i + 3]), m0, m1, m2, m3)
    for i in range(whole, n):
        step_of(g, x[i], matrix[place(row, i)])


@compiled
def step_of(sums: Floats, factor: float, terms: Floats) -> None:
    """Sums += factor terms."""
    for j in range(terms.shape[0]):
        sums[j] += factor * terms[j]


@compiled
def add_four(
    sums: Floats, factors: tuple[float, float, float, float], a: Floats, b: Floats, c: Floats, d: Floats
) -> None:
    """The same with four rows of terms, so that the sums are read and written once for them."""
    x, y, z, w = factors
    for j in range(a.shape[0]):
        sums[j] += (x * a[j] + y * b[j]) + (z * c[j] + w * d[j])


@compiled
def product_upper(matrix: Floats, row: Row, g: Floats) -> None:
    """Add matrix x to g, reading the upper triangle: each row serves itself and, by symmetry, its column."""
    d, n, x = matrix.shape[0], row.n, row.x
    whole = 0 if row.sparse else n - n % 4
    for i in range(0, whole, 4):
        for k in range(i, i + 4):
            for j in range(i, i + 4):
                g[k] += x[j] * matrix[min(j, k), max(j, k)]
        m0, m1 = matrix[i, i + 4 : d], matrix[i + 1, i + 4 : d]
        m2, m3 = matrix[i + 2, i + 4 : d], matrix[i + 3, i + 4 : d]
        ahead = x[i + 4 : d]
        add_four(g[i + 4 : d], (x[i], x[i + 1], x[i + 2], x[i + 3]), m0, m1, m2, m3)
        g[i] += np.dot(m0, ahead)
        g[i + 1] += np.dot(m1, ahead)
        g[i + 2] += np.dot(m2, ahead)
        g[i + 3] += np.dot(m3, ahead)
    for i in range(whole, n):
        at = place(row, i)
        each = matrix[at, at + 1 : d]
        step_of(g[at + 1 : d], x[i], each)
        if row.sparse:
            for j in range(at + 1):
                g[j] += x[i] * matrix[j, at]
        else:
            g[at] += x[i] * matrix[at, at] + np.dot(each, x[at + 1 : d])


@compiled
def downdate(matrix: Floats, waiting: Floats, shift: float) -> None:
    """Subtract h h' for all rows h of `waiting`, four a pass, exactly symmetric; add `shift` to the diagonal."""
    d = matrix.shape[0]
    for i in range(d):
        first = i if d >= WIDE else 0
        for k in range(0, waiting.shape[0], 4):
            h0, h1 = waiting[k, first:d], waiting[k + 1, first:d]
            h2, h3 = waiting[k + 2, first:d], waiting[k + 3, first:d]
            less = -waiting[k, i], -waiting[k + 1, i], -waiting[k + 2, i], -waiting[k + 3, i]
            add_four(matrix[i, first:d], less, h0, h1, h2, h3)
        matrix[i, i] += shift


@compiled
def solve_lower(upper: Floats, n: int, v: Floats) -> None:
    """Solve U'v = v in place for the leading n x n part of an upper triangular U."""
    for i in range(n):
        v[i] /= upper[i, i]
        step_of(v[i + 1 : n], -v[i], upper[i, i + 1 : n])


@compiled
def solve_upper(upper: Floats, n: int, z: Floats, out: Floats) -> None:
    """Solve U out = z for the leading n x n part of an upper triangular U."""
    for i in range(n - 1, -1, -1):
        row = upper[i]
        out[i] = (z[i] - dot(row[i + 1 : n], out[i + 1 : n], n - i - 1)) / row[i]
