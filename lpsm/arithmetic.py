"""Arithmetic of the kernels: exponentials, scalar products and sums of logarithms, each in an order of its own.

Floating-point addition is not associative, and a compiler that may not reorder it needs independent sums written out.
"""

from __future__ import annotations

import math

import numpy as np

from lpsm.arrays import Floats
from lpsm.native import compiled

LN2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts: k * LN2_HIGH is exact for |k| < 2**21
LN2_LOW = 1.90821492927058770002e-10
LOG2_E = 1.4426950408889634
TAYLOR = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))  # of the exponential, highest power first


@compiled
def power_of_two(exponent: float) -> float:
    """2**exponent for an integral exponent; below the smallest normal number, zero."""
    if exponent < -1022.0:
        return 0.0
    return np.int64((np.int64(min(exponent, 1023.0)) + 1023) << 52).view(np.float64)


@compiled
def decay(losses: Floats, lowest: float, out: Floats) -> None:
    """Out = exp(lowest - losses), written so that it vectorises; zero below exp(-708).

    Taylor's polynomial of degree 13 on |r| <= ln(2)/2, right to the last place but one.
    """
    for i in range(out.size):
        x = lowest - losses[i]
        y = max(x, -708.0)
        k = np.floor(y * LOG2_E + 0.5)
        r = (y - k * LN2_HIGH) - k * LN2_LOW
        p = 0.0
        for coefficient in TAYLOR:
            p = p * r + coefficient
        value = p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)
        out[i] = value if x > -708.0 else 0.0


@compiled
def dot(a: Floats, b: Floats, size: int) -> float:
    """Scalar product of the first elements in eight interleaved sums, an order of additions that no machine changes."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = size - size % 8
    for j in range(0, whole, 8):
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
        s4 += a[j + 4] * b[j + 4]
        s5 += a[j + 5] * b[j + 5]
        s6 += a[j + 6] * b[j + 6]
        s7 += a[j + 7] * b[j + 7]
    rest = 0.0
    for j in range(whole, size):
        rest += a[j] * b[j]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + rest


@compiled
def dots(a: Floats, b: Floats, c: Floats, size: int) -> tuple[float, float]:
    """Scalar products of the first elements of two vectors with a third, which is read once."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
    whole = size - size % 4
    for j in range(0, whole, 4):
        x, y, z, w = c[j], c[j + 1], c[j + 2], c[j + 3]
        a0 += a[j] * x
        a1 += a[j + 1] * y
        a2 += a[j + 2] * z
        a3 += a[j + 3] * w
        b0 += b[j] * x
        b1 += b[j + 1] * y
        b2 += b[j + 2] * z
        b3 += b[j + 3] * w
    for j in range(whole, size):
        a0 += a[j] * c[j]
        b0 += b[j] * c[j]
    return (a0 + a1) + (a2 + a3), (b0 + b1) + (b2 + b3)


@compiled
def log_add(a: float, b: float) -> float:
    """Logarithm of exp(a) + exp(b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + math.log1p(math.exp(b - a))


@compiled
def log_others(logs: Floats, out: Floats) -> float:
    """Fill out[i] with ln sum over j != i of exp(logs[j]); return ln of the whole sum."""
    top, second, rest = 0, -np.inf, 0.0
    for i in range(logs.size):
        if logs[i] > logs[top]:
            top = i
    peak = logs[top]
    for i in range(logs.size):
        second = max(second, logs[i]) if i != top else second
    if second == -np.inf:
        out[:] = peak
        out[top] = -np.inf
        return float(peak)
    for i in range(logs.size):
        rest += math.exp(logs[i] - second) if i != top else 0.0
    out[top] = second + math.log(rest)
    rest *= math.exp(second - peak)
    for i in range(logs.size):
        if i != top:  # what remains is at least 1, so nothing cancels
            out[i] = peak + math.log(max(1.0, 1.0 + rest - math.exp(logs[i] - peak)))
    return float(peak + math.log1p(rest))
