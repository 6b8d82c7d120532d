"""Inner loops of `kernels` over contiguous vectors.

What it models: nothing; floating-point addition is not associative, so a compiler that
may not reorder it (see `lpsm._compile`) needs independent sums written out, and it
vectorises loops only over whole one-dimensional arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled

__all__ = [
    "add_two_rows",
    "dot",
    "lowest_loss",
    "row_products",
    "share_first_rows",
    "share_four_rows",
    "share_row",
    "share_two_rows",
    "weigh_first_rows",
    "weigh_two_rows",
]

Floats = NDArray[np.float64]


@compiled
def lowest_loss(losses: Floats, lower: float) -> float:
    """Smallest loss; NaN if one is NaN or below `lower`."""
    even = odd = np.inf
    illegal = 0
    for q in range(losses.size // 2):
        a, b = losses[2 * q], losses[2 * q + 1]
        illegal += not (a >= lower and b >= lower)
        even = a if a < even else even
        odd = b if b < odd else odd
    if losses.size % 2:
        a = losses[losses.size - 1]
        illegal += not a >= lower
        even = a if a < even else even
    return np.nan if illegal else min(even, odd)


@compiled
def dot(a: Floats, b: Floats) -> float:
    """Scalar product in eight interleaved sums."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = a.size // 8
    for q in range(whole):
        j = 8 * q
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
        s4 += a[j + 4] * b[j + 4]
        s5 += a[j + 5] * b[j + 5]
        s6 += a[j + 6] * b[j + 6]
        s7 += a[j + 7] * b[j + 7]
    rest = 0.0
    for j in range(8 * whole, a.size):
        rest += a[j] * b[j]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + rest


@compiled
def row_products(matrix: Floats, vector: Floats, out: Floats) -> None:
    """Write matrix @ vector to `out`, four rows at a time, in an order of additions that no machine changes."""
    n, m = matrix.shape
    for q in range(n // 4):
        i = 4 * q
        a, b, c, d = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        a0 = b0 = c0 = d0 = a1 = b1 = c1 = d1 = 0.0
        for p in range(m // 2):
            j = 2 * p
            x, y = vector[j], vector[j + 1]
            a0 += a[j] * x
            b0 += b[j] * x
            c0 += c[j] * x
            d0 += d[j] * x
            a1 += a[j + 1] * y
            b1 += b[j + 1] * y
            c1 += c[j + 1] * y
            d1 += d[j + 1] * y
        if m % 2:
            x = vector[m - 1]
            a0 += a[m - 1] * x
            b0 += b[m - 1] * x
            c0 += c[m - 1] * x
            d0 += d[m - 1] * x
        out[i], out[i + 1], out[i + 2], out[i + 3] = a0 + a1, b0 + b1, c0 + c1, d0 + d1
    for i in range(n - n % 4, n):
        out[i] = dot(matrix[i], vector)


@compiled
def share_row(row: Floats, keep: Floats, share: Floats, mass: Floats, factor: float) -> None:
    """One expert's row of Learn-alpha: row <- factor * (keep * row + share), added to mass."""
    for j in range(row.size):
        value = factor * (keep[j] * row[j] + share[j])
        row[j] = value
        mass[j] += value


@compiled
def share_first_rows(
    row: Floats,
    next_row: Floats,
    keep: Floats,
    spread: Floats,
    share: Floats,
    mass: Floats,
    factor: float,
    next_factor: float,
) -> None:
    """As `share_two_rows`, for the first two experts: share <- spread * mass, and mass starts anew."""
    for j in range(row.size):
        k, s = keep[j], spread[j] * mass[j]
        value = factor * (k * row[j] + s)
        next_value = next_factor * (k * next_row[j] + s)
        share[j] = s
        row[j] = value
        next_row[j] = next_value
        mass[j] = value + next_value


@compiled
def share_two_rows(
    row: Floats, next_row: Floats, keep: Floats, share: Floats, mass: Floats, factor: float, next_factor: float
) -> None:
    """Two experts' rows at once: keep, share and mass are read for both."""
    for j in range(row.size):
        k, s = keep[j], share[j]
        value = factor * (k * row[j] + s)
        next_value = next_factor * (k * next_row[j] + s)
        row[j] = value
        next_row[j] = next_value
        mass[j] += value + next_value


@compiled
def share_four_rows(
    row: Floats,
    second: Floats,
    third: Floats,
    fourth: Floats,
    keep: Floats,
    share: Floats,
    mass: Floats,
    factor: Floats,
) -> None:
    """As `share_two_rows` twice, to the last bit: keep, share and mass are read for four rows."""
    a, b, c, d = factor[0], factor[1], factor[2], factor[3]
    for j in range(row.size):
        k, s = keep[j], share[j]
        v, w = a * (k * row[j] + s), b * (k * second[j] + s)
        x, y = c * (k * third[j] + s), d * (k * fourth[j] + s)
        row[j] = v
        second[j] = w
        third[j] = x
        fourth[j] = y
        mass[j] = (mass[j] + (v + w)) + (x + y)


@compiled
def weigh_first_rows(
    row: Floats,
    next_row: Floats,
    keep: Floats,
    spread: Floats,
    share: Floats,
    mass: Floats,
    mean: Floats,
    factor: float,
    next_factor: float,
    value: float,
    next_value: float,
) -> None:
    """As `share_first_rows`; mean starts anew with the rows times their values."""
    for j in range(row.size):
        k, s = keep[j], spread[j] * mass[j]
        weight = factor * (k * row[j] + s)
        next_weight = next_factor * (k * next_row[j] + s)
        share[j] = s
        row[j] = weight
        next_row[j] = next_weight
        mass[j] = weight + next_weight
        mean[j] = value * weight + next_value * next_weight


@compiled
def weigh_two_rows(
    row: Floats,
    next_row: Floats,
    keep: Floats,
    share: Floats,
    mass: Floats,
    mean: Floats,
    factor: float,
    next_factor: float,
    value: float,
    next_value: float,
) -> None:
    """As `share_two_rows`; the rows times their values are added to mean."""
    for j in range(row.size):
        k, s = keep[j], share[j]
        weight = factor * (k * row[j] + s)
        next_weight = next_factor * (k * next_row[j] + s)
        row[j] = weight
        next_row[j] = next_weight
        mass[j] += weight + next_weight
        mean[j] += value * weight + next_value * next_weight


@compiled
def add_two_rows(out: Floats, keep: Floats, row: Floats, next_row: Floats, factor: float, next_factor: float) -> None:
    """Add keep * (factor * row + next_factor * next_row) to out."""
    for j in range(out.size):
        out[j] += keep[j] * (factor * row[j] + next_factor * next_row[j])
