"""The compiled round of Learn-alpha, and of Fixed-share as Learn-alpha with a single alpha.

What it models: equations (2.2), (2.7) and (2.8) of the thesis on plain arrays, so that
other compiled code can call it.  The weights of the alpha-experts are one matrix
(experts as rows, alphas contiguous); per round it is read and written once:

    weights[i, j] <- exp(-loss_i) * (keep_j * weights[i, j] + spread_j * mass_j)

which is the share step of the round before followed by this round's evidence.  `mass`
is a column's sum, so the top level needs no logarithm: its weights are mantissas and
exponents (`scaled`), into which the masses are folded every few rounds.

The share step of `alpha` leaves every expert at least min(alpha/(n-1), 1-alpha) of a
column, which bounds how far masses can fall between folds.  Alphas for which that is
too little (0, 1 and their close neighbours) live in `slow`, as scaled numbers.
What it leaves out: checks of shapes.  Source: Monteleoni 2006, sections 2.2.1-2.2.3.

Arrays: weights (n, m); columns (9, m + s), rows named below, the s slow alphas last;
slow (2, n, s) mantissas and exponents; head (6,), named below; work (3, n) scratch.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.experts.scaled import decay, decay_scaled, power_of_two, scaled_column_round, scaled_share
from lpsm.experts.vectors import (
    add_two_rows,
    dot,
    lowest_loss,
    row_products,
    share_first_rows,
    share_four_rows,
    share_row,
    share_two_rows,
)

__all__ = [
    "alpha_posterior",
    "close_round",
    "fold_masses",
    "learn_alpha_round",
    "masked_round",
    "mixture",
    "mixture_mean",
    "single_column",
]

Floats = NDArray[np.float64]

# rows of `columns`
ALPHA, KEEP, SPREAD, MANTISSA, EXPONENT, TOP, MASS, WORK, MEAN, N_ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
# entries of `head`: sum of TOP * MASS; exponent TOP is relative to; rounds since the last fold (-1: none
# played); rounds between folds; lowest legal loss; a place for the last mixture loss
TOTAL, PEAK, SINCE, EVERY, LOWER, LOSS, N_HEAD = 0, 1, 2, 3, 4, 5, 6

TOO_SMALL = 1e-150
FRACTION = np.int64(0x000FFFFFFFFFFFFF)  # of the bits of a float
HALF = np.int64(0x3FE0000000000000)  # sign and exponent of [1/2, 1)
LN2 = 0.6931471805599453


@compiled
def single_column(weights: Floats, keep: float, share: float, factor: Floats) -> float:
    """The sweep for one alpha: along the experts, whose weights are contiguous then."""
    for i in range(weights.size):
        weights[i] = factor[i] * (keep * weights[i] + share)
    even = odd = 0.0
    for q in range(weights.size // 2):
        even += weights[2 * q]
        odd += weights[2 * q + 1]
    return even + odd + (weights[-1] if weights.size % 2 else 0.0)


@compiled
def _sweep(weights: Floats, columns: Floats, factor: Floats) -> float:
    """Share step of the last round, then this round's evidence; return the new sum of TOP * MASS."""
    n, m = weights.shape
    keep, share, mass, top = columns[KEEP, :m], columns[WORK, :m], columns[MASS, :m], columns[TOP, :m]
    if m == 1:
        mass[0] = single_column(weights.reshape(n), keep[0], columns[SPREAD, 0] * mass[0], factor)
        return float(top[0] * mass[0])
    spread = columns[SPREAD, :m]
    if n == 1:
        for j in range(m):  # a single expert: spread is zero
            weights[0, j] *= factor[0]
            mass[j] = weights[0, j]
        return dot(top, mass)
    share_first_rows(weights[0], weights[1], keep, spread, share, mass, factor[0], factor[1])
    i = 2
    while i + 3 < n:
        share_four_rows(
            weights[i], weights[i + 1], weights[i + 2], weights[i + 3], keep, share, mass, factor[i : i + 4]
        )
        i += 4
    if i + 1 < n:
        share_two_rows(weights[i], weights[i + 1], keep, share, mass, factor[i], factor[i + 1])
    if n % 2:
        share_row(weights[n - 1], keep, share, mass, factor[n - 1])
    return dot(top, mass)


@compiled
def fold_masses(weights: Floats, columns: Floats, head: Floats) -> None:
    """Move the column masses into the top level's mantissas and exponents, and rescale."""
    n, m = weights.shape
    scale, mass = columns[WORK, :m], columns[MASS, :m]
    mantissa, exponent = columns[MANTISSA, :m], columns[EXPONENT, :m]
    for j in range(m):
        bits = np.float64(mantissa[j] * mass[j]).view(np.int64)  # frexp on the bits: never subnormal here
        part = np.int64((bits & FRACTION) | HALF).view(np.float64)
        mantissa[j] = part if bits != 0 else 0.0
        exponent[j] += np.float64((bits >> 52) - 1022) if bits != 0 else 0.0
        scale[j] = 1.0 / mass[j]
        mass[j] = 1.0
    for i in range(n):
        row = weights[i]
        for j in range(m):
            row[j] *= scale[j]
    peak = -np.inf
    for j in range(columns.shape[1]):
        if columns[MANTISSA, j] > 0.0:
            peak = max(peak, columns[EXPONENT, j])
    total = 0.0
    for j in range(columns.shape[1]):
        columns[TOP, j] = columns[MANTISSA, j] * power_of_two(columns[EXPONENT, j] - peak)
        total += columns[TOP, j]
    head[TOTAL] = total
    head[PEAK] = peak
    head[SINCE] = 0.0


@compiled
def _survives(
    losses: Floats, awake: NDArray[np.bool_], weights: Floats, columns: Floats, slow: Floats, shared: bool
) -> bool:
    """Whether some alpha-expert gives the outcome a positive probability, or has no weight awake.

    Once `shared`, everybody has weight in the columns that are not slow.
    """
    n, m = weights.shape
    for j in range(columns.shape[1]):
        if columns[MANTISSA, j] > 0.0:
            abstains = True
            for i in range(n):
                weight = slow[0, i, j - m] if j >= m else weights[i, j]
                if awake[i] and (weight > 0.0 or (shared and j < m)):
                    abstains = False
                    if losses[i] < np.inf:
                        return True
            if abstains:
                return True
    return False


@compiled
def _slow_columns(
    columns: Floats, slow: Floats, head: Floats, work: Floats, awake: NDArray[np.bool_], lowest: float
) -> float:
    """The round of the alphas kept as scaled numbers; return their part of the sum of TOP * MASS."""
    total = 0.0
    m = columns.shape[1] - slow.shape[2]
    for q in range(slow.shape[2]):
        j = m + q
        mantissa, exponent = slow[0, :, q].copy(), slow[1, :, q].copy()
        ratio, ratio_exponent = scaled_column_round(mantissa, exponent, work[1], work[2], awake, lowest)
        part, shift = math.frexp(columns[MANTISSA, j] * ratio)
        columns[MANTISSA, j] = part
        columns[EXPONENT, j] += ratio_exponent + shift
        if part > 0.0:
            scaled_share(mantissa, exponent, columns[ALPHA, j])
            slow[0, :, q] = mantissa
            slow[1, :, q] = exponent
        columns[TOP, j] = part * power_of_two(columns[EXPONENT, j] - head[PEAK])
        total += columns[TOP, j]
    return total


@compiled
def close_round(weights: Floats, columns: Floats, head: Floats, lowest: float, total: float, fold: bool) -> float:
    """Enter the new total, fold if it is time, and return the mixture loss (2.8)."""
    before: float = head[TOTAL]
    peak: float = head[PEAK]
    if fold or total < TOO_SMALL:
        fold_masses(weights, columns, head)
        gained: float = (head[PEAK] - peak) * LN2
        return lowest + (math.log(before / head[TOTAL]) - gained)
    head[TOTAL] = total
    head[SINCE] += 1.0
    if head[SINCE] >= head[EVERY]:
        fold_masses(weights, columns, head)
    return lowest + math.log(before / total)


@compiled
def _sleepy_round(
    losses: Floats,
    awake: NDArray[np.bool_],
    weights: Floats,
    columns: Floats,
    slow: Floats,
    head: Floats,
    work: Floats,
    lowest: float,
) -> float:
    """`masked_round` after the first round, with some of finite loss awake: two sweeps over the weights.

    The first shares and brings in the evidence of those awake; the second multiplies those asleep by the column's
    own ratio.  A column's mass falls no further than in a round in which all are awake.
    """
    n, m = weights.shape
    total = 0.0
    if slow.shape[2] > 0:
        decay_scaled(losses, lowest, work[1], work[2])
        total = _slow_columns(columns, slow, head, work, awake, lowest)
    decay(losses, lowest, work[0])
    factor, keep, spread, mass = work[0], columns[KEEP, :m], columns[SPREAD, :m], columns[MASS, :m]
    share, before, after = columns[WORK, :m], np.zeros(m), np.zeros(m)
    for j in range(m):
        share[j] = spread[j] * mass[j]
    for i in range(n):
        row = weights[i]
        if awake[i]:
            f = factor[i]
            for j in range(m):
                value = keep[j] * row[j] + share[j]
                before[j] += value
                value *= f
                after[j] += value
                row[j] = value
        else:
            for j in range(m):
                row[j] = keep[j] * row[j] + share[j]
    for j in range(m):
        before[j] = after[j] / before[j]
        mass[j] = after[j]
    for i in range(n):
        if not awake[i]:
            row = weights[i]
            for j in range(m):
                row[j] *= before[j]
                mass[j] += row[j]
    return close_round(weights, columns, head, lowest, total + dot(columns[TOP, :m], mass), False)


@compiled
def masked_round(
    losses: Floats,
    awake: NDArray[np.bool_],
    weights: Floats,
    columns: Floats,
    slow: Floats,
    head: Floats,
    work: Floats,
) -> float:
    """One round in which some experts may sleep, and the first round, whose weights are a prior of any shape.

    In each column the sleepers keep their part: they are multiplied by the column's own
    exp(-loss).  Returns the mixture loss; NaN, and nothing changed, for an illegal loss;
    infinity, and nothing changed, if nothing could have happened.
    """
    n, m = weights.shape
    started = head[SINCE] >= 0.0
    lowest = np.inf
    for i in range(n):
        if awake[i]:
            if not losses[i] >= head[LOWER]:
                return np.nan
            lowest = min(lowest, losses[i])
    if started and m > 0 and lowest < np.inf:  # everybody has weight in every column that is not slow
        return _sleepy_round(losses, awake, weights, columns, slow, head, work, lowest)
    if not _survives(losses, awake, weights, columns, slow, started):
        return np.inf
    if lowest == np.inf:
        lowest = 0.0  # columns without weight awake stay as they are
    decay_scaled(losses, lowest, work[1], work[2])
    mantissa, exponent = np.empty(n), np.empty(n)
    for j in range(m):
        for i in range(n):
            weight = weights[i, j]
            if started:
                weight = columns[KEEP, j] * weight + columns[SPREAD, j] * columns[MASS, j]
            part, shift = math.frexp(weight)
            mantissa[i] = part
            exponent[i] = shift
        ratio, ratio_exponent = scaled_column_round(mantissa, exponent, work[1], work[2], awake, lowest)
        mass = 0.0
        for i in range(n):
            weights[i, j] = mantissa[i] * power_of_two(exponent[i])
            mass += weights[i, j]
        part, shift = math.frexp(columns[MANTISSA, j] * ratio)
        columns[MANTISSA, j] = part
        columns[EXPONENT, j] += ratio_exponent + shift
        columns[MASS, j] = mass
    total = _slow_columns(columns, slow, head, work, awake, lowest)
    return close_round(weights, columns, head, lowest, total, True)


@compiled
def learn_alpha_round(
    losses: Floats, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats
) -> float:
    """One round: equations (2.2), (2.7); return the mixture loss (2.8), nats.

    NaN, and nothing changed, if a loss is NaN or below the lowest legal one;
    infinity, and nothing changed, if no expert with weight has a finite loss.
    """
    if head[SINCE] < 0.0:
        return masked_round(losses, np.ones(losses.size, dtype=np.bool_), weights, columns, slow, head, work)
    lowest = lowest_loss(losses, head[LOWER])
    if not lowest < np.inf:
        return lowest
    total = 0.0
    if slow.shape[2] > 0:
        awake = np.ones(losses.size, dtype=np.bool_)
        if weights.shape[1] == 0 and not _survives(losses, awake, weights, columns, slow, True):
            return np.inf  # otherwise a share step has given weight to everybody, the one with a finite loss too
        decay_scaled(losses, lowest, work[1], work[2])
        total = _slow_columns(columns, slow, head, work, awake, lowest)
    if weights.shape[1] > 0:
        decay(losses, lowest, work[0])
        total += _sweep(weights, columns, work[0])
    return close_round(weights, columns, head, lowest, total, False)


@compiled
def mixture(weights: Floats, columns: Floats, slow: Floats, head: Floats, out: Floats) -> None:
    """Weights over the experts for the next round: out_i = sum_j p_top(j) p_j(i), shape (n,)."""
    n, m = weights.shape
    started = head[SINCE] >= 0.0
    top, weight = columns[TOP, :m], columns[WORK, :m]
    level = 0.0
    if started:
        keep, spread, mass = columns[KEEP, :m], columns[SPREAD, :m], columns[MASS, :m]
        for j in range(m):
            weight[j] = spread[j] * mass[j]
        level = dot(top, weight)
        for j in range(m):
            weight[j] = top[j] * keep[j]
    else:
        weight[:] = top
    row_products(weights, weight, out)
    for i in range(n):
        value = level + out[i]
        for q in range(slow.shape[2]):
            value += columns[TOP, m + q] * slow[0, i, q] * power_of_two(slow[1, i, q])
        out[i] = value / head[TOTAL]


@compiled
def mixture_mean(values: Floats, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats) -> float:
    """Mean of the experts' `values` (n,) under the weights for the next round, without finding those."""
    n, m = weights.shape
    if slow.shape[2] > 0 or head[SINCE] < 0.0 or m == 1:
        mixture(weights, columns, slow, head, work[0, :n])
        return dot(values, work[0, :n])
    mean = columns[WORK, :m]
    keep, spread, mass = columns[KEEP, :m], columns[SPREAD, :m], columns[MASS, :m]
    level = values.sum()
    for j in range(m):
        mean[j] = spread[j] * mass[j] * level
    for q in range(n // 2):
        add_two_rows(mean, keep, weights[2 * q], weights[2 * q + 1], values[2 * q], values[2 * q + 1])
    if n % 2:
        add_two_rows(mean, keep, weights[n - 1], weights[n - 1], values[n - 1], 0.0)
    return dot(columns[TOP, :m], mean) / float(head[TOTAL])


@compiled
def alpha_posterior(columns: Floats, head: Floats, out: Floats) -> None:
    """Weights of the alphas, in the order of `columns`: equation (2.6), shape (m + s,)."""
    for j in range(out.size):
        out[j] = columns[TOP, j] * columns[MASS, j] / head[TOTAL]
