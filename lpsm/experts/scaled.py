"""Positive numbers as mantissa times a power of two, and the share step on columns of them.

What it models: weights that fall below the smallest float and may come back.  A
weight is a pair (mantissa, exponent), so a round multiplies it by exp(-loss)
without underflow and with one rounding, whatever the loss; a logarithm would lose
digits as it grows.  What it leaves out: speed; the columns of Learn-alpha that mix
enough to stay within floats do not come here (see `kernels`).
Source: Monteleoni 2006, section 2.2.1, equations (2.2) and (2.3).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled

__all__ = [
    "add_scaled",
    "decay",
    "decay_scaled",
    "power_of_two",
    "scaled_column_round",
    "scaled_share",
    "scaled_share_of_each",
    "scaled_total",
]

Floats = NDArray[np.float64]

LN2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts: k * LN2_HIGH is exact for |k| < 2**21
LN2_LOW = 1.90821492927058770002e-10
LOG2_E = 1.4426950408889634


@compiled
def power_of_two(exponent: float) -> float:
    """2**exponent for an integral exponent; below the smallest normal number, zero."""
    if exponent < -1022.0:
        return 0.0
    return np.int64((np.int64(min(exponent, 1023.0)) + 1023) << 52).view(np.float64)


@compiled
def _exp_reduced(r: float) -> float:
    """exp(r) for |r| <= ln(2)/2: Taylor's polynomial of degree 13, right to the last place but one."""
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    return p * r + 1.0


@compiled
def decay(losses: Floats, lowest: float, out: Floats) -> None:
    """Out = exp(lowest - losses), written so that it vectorises; zero below exp(-708)."""
    for i in range(out.size):
        x = lowest - losses[i]
        y = max(x, -708.0)
        k = np.floor(y * LOG2_E + 0.5)
        r = (y - k * LN2_HIGH) - k * LN2_LOW
        value = _exp_reduced(r) * np.int64((np.int64(k) + 1023) << 52).view(np.float64)
        out[i] = value if x > -708.0 else 0.0


@compiled
def decay_scaled(losses: Floats, lowest: float, mantissa: Floats, exponent: Floats) -> None:
    """exp(lowest - losses) as scaled numbers; an infinite loss gives zero."""
    for i in range(losses.size):
        x = lowest - losses[i]
        if x == -np.inf:
            mantissa[i] = 0.0
            exponent[i] = 0.0
        else:
            k = np.floor(x * LOG2_E + 0.5)
            r = (x - k * LN2_HIGH) - k * LN2_LOW
            mantissa[i] = _exp_reduced(min(max(r, -1.0), 1.0))
            exponent[i] = k


@compiled
def add_scaled(a: float, a_exponent: float, b: float, b_exponent: float) -> tuple[float, float]:
    """Sum of two scaled numbers."""
    if a == 0.0:
        return b, b_exponent
    if b == 0.0:
        return a, a_exponent
    if a_exponent >= b_exponent:
        return a + b * power_of_two(b_exponent - a_exponent), a_exponent
    return b + a * power_of_two(a_exponent - b_exponent), b_exponent


@compiled
def scaled_total(mantissa: Floats, exponent: Floats) -> tuple[float, float]:
    """Sum of a vector of scaled numbers; (0, 0) if all are zero."""
    peak = -np.inf
    for i in range(mantissa.size):
        if mantissa[i] > 0.0 and exponent[i] > peak:
            peak = exponent[i]
    if peak == -np.inf:
        return 0.0, 0.0
    total = 0.0
    for i in range(mantissa.size):
        if mantissa[i] > 0.0:
            total += mantissa[i] * power_of_two(exponent[i] - peak)
    return total, peak


@compiled
def scaled_share(mantissa: Floats, exponent: Floats, alpha: float) -> None:
    """Apply equation (2.3) in place: 1 - alpha stays, alpha / (n - 1) goes to each other expert."""
    n = mantissa.size
    if alpha > 0.0:
        scaled_share_of_each(mantissa, exponent, np.full(n, 1.0 - alpha), np.full(n, alpha))


@compiled
def scaled_share_of_each(mantissa: Floats, exponent: Floats, stay: Floats, leave: Floats) -> None:
    """Let expert i keep `stay[i]` of its weight and give `leave[i]` of it to the others in equal parts.

    What the others give is added up, never obtained by subtracting one's own, so that
    leaving completely keeps all digits.
    """
    n = mantissa.size
    if n == 1:
        return
    after = np.zeros((2, n))  # given by the experts behind i
    for i in range(n - 2, -1, -1):
        given = leave[i + 1] * mantissa[i + 1]
        after[0, i], after[1, i] = add_scaled(after[0, i + 1], after[1, i + 1], given, exponent[i + 1])
    before, before_exponent = 0.0, 0.0
    for i in range(n):
        own, own_exponent = mantissa[i], exponent[i]
        others, others_exponent = add_scaled(before, before_exponent, after[0, i], after[1, i])
        before, before_exponent = add_scaled(before, before_exponent, leave[i] * own, own_exponent)
        new, new_exponent = add_scaled(stay[i] * own, own_exponent, others / (n - 1), others_exponent)
        part, shift = math.frexp(new)
        mantissa[i] = part
        exponent[i] = new_exponent + shift


@compiled
def scaled_column_round(
    mantissa: Floats,
    exponent: Floats,
    factor: Floats,
    factor_exponent: Floats,
    awake: NDArray[np.bool_],
    lowest: float,
) -> tuple[float, float]:
    """Multiply the awake weights by their factors, the sleeping ones by the common ratio; return that ratio.

    Factors are relative to exp(-lowest).  The column's total stays, and it is not shared.
    If no weight is awake nothing happens (the ratio is 1, that is exp(lowest)); if every
    awake weight dies the column is left alone and the ratio is zero.
    """
    n = mantissa.size
    new = np.zeros((2, n))
    old = np.zeros((2, n))
    for i in range(n):
        if awake[i]:
            old[0, i] = mantissa[i]
            old[1, i] = exponent[i]
            new[0, i] = mantissa[i] * factor[i]
            new[1, i] = exponent[i] + factor_exponent[i]
    base, base_exponent = scaled_total(old[0], old[1])
    if base == 0.0:
        idle = np.empty((2, 1))
        decay_scaled(np.zeros(1), lowest, idle[0], idle[1])
        return idle[0, 0], idle[1, 0]
    total, total_exponent = scaled_total(new[0], new[1])
    if total == 0.0:
        return 0.0, 0.0
    ratio, ratio_exponent = total / base, total_exponent - base_exponent
    for i in range(n):
        if awake[i]:  # relative to the ratio, sleepers stay as they are
            part, shift = math.frexp(new[0, i] / ratio)
            mantissa[i] = part
            exponent[i] = new[1, i] + shift - ratio_exponent if part > 0.0 else 0.0
    return ratio, ratio_exponent
