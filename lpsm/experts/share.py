"""The one share step, compiled: Learn-alpha on plain arrays, and Fixed-share as Learn-alpha with a single alpha.

What it models: equations (2.2), (2.3), (2.7) and (2.8) of the thesis.  The weights of the alpha-experts are one matrix
(experts as rows, alphas contiguous); a round reads and writes it once,

    weights[i, j] <- exp(-loss_i) * (keep_j * weights[i, j] + spread_j * mass_j),

which is the share step of the round before followed by this round's evidence.  `mass` is a column's sum, so the top
level needs no logarithm: its weights are mantissas and exponents, into which masses are folded every few rounds.
The share step of alpha leaves every expert at least min(alpha/(n-1), 1-alpha) of a column, which bounds how far masses
fall between folds.  Alphas for which that is too little (0, 1 and their close neighbours) live in `slow`, as
logarithms.  Sleepers keep their part of each column: they are multiplied by the column's own exp(-loss).
What it leaves out: checks of shapes.  Source: Monteleoni 2006, sections 2.2.1-2.2.3.

Arrays: weights (n, m); columns (N_ROWS, m + s), rows named below, the s slow alphas last; slow (s, n), their weights'
logarithms; head (N_HEAD,), named below; work (N_WORK, n), scratch.  No round makes an array of its own: machine code
that asks for no memory stands alone.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from lpsm.arithmetic import LN2_HIGH, LN2_LOW, LOG2_E, decay, dot, dots, log_add, log_others, power_of_two
from lpsm.arrays import Floats, Mask
from lpsm.native import block, compiled

# rows of `columns`
ALPHA, KEEP, SPREAD, MANTISSA, EXPONENT, TOP, MASS, SHARE, MEAN, N_ROWS = range(10)
# entries of `head`: sum of TOP * MASS; exponent TOP is relative to; rounds since the last fold (-1: none played);
# rounds between folds; lowest legal loss; places for the last mixture loss and for a mean of values
TOTAL, PEAK, SINCE, EVERY, LOWER, LOSS, VALUE, N_HEAD = range(8)

N_WORK = 7  # factors of this round, four rows for logarithms, the prior's, and who is awake if all are
TOO_SMALL = 1e-150
FRACTION = np.int64(0x000FFFFFFFFFFFFF)  # of the bits of a float
HALF = np.int64(0x3FE0000000000000)  # sign and exponent of [1/2, 1)
LN2 = 0.6931471805599453


# -- a column of logarithms


@compiled
def share_logs(logs: Floats, stay: Floats, leave: Floats, work: Floats) -> None:
    """Let expert i keep exp(stay[i]) of its weight and give exp(leave[i]) of it to the others in equal parts: (2.3).

    What the others give is added up, never obtained by subtracting one's own, so that leaving completely keeps all
    digits.  Of `work` it takes two rows.
    """
    n = logs.size
    if n == 1:
        return
    for i in range(n):
        work[0, i] = logs[i] + leave[i]
    log_others(work[0], work[1])
    parts = math.log(n - 1.0)
    for i in range(n):
        logs[i] = log_add(logs[i] + stay[i], work[1, i] - parts)


@compiled
def bring_evidence(logs: Floats, losses: Floats, lowest: float, awake: Mask) -> float:
    """Multiply the awake weights by exp(lowest - loss) over their mean; return the logarithm of that mean.

    The column's total stays, and it is not shared.  If no weight is awake nothing happens (the mean is that of 1, which
    is exp(lowest) here); if all that is awake dies nothing happens either, and -inf is returned.
    """
    before = after = -math.inf
    for i in range(losses.size):
        if awake[i]:
            before = max(before, logs[i])
            after = max(after, logs[i] + (lowest - losses[i]))
    if before == -np.inf:
        return lowest
    if after == -np.inf:
        return -np.inf
    base, total = 0.0, 0.0
    for i in range(losses.size):
        if awake[i]:
            total += math.exp(logs[i] + (lowest - losses[i]) - after)
            base += math.exp(logs[i] - before)
    ratio = min(0.0, after - before + math.log(total / base))
    for i in range(losses.size):
        if awake[i]:
            logs[i] = logs[i] + (lowest - losses[i]) - ratio
    return ratio


# -- the round


@compiled
def lowest_loss(losses: Floats, awake: Mask | None, lower: float) -> float:
    """Smallest loss of those awake (of all if `awake` is None), inf for nobody; NaN if one is NaN or below `lower`."""
    lowest, illegal = np.inf, 0
    for i in range(losses.size):
        if awake is None or awake[i]:
            illegal += not losses[i] >= lower
            lowest = losses[i] if losses[i] < lowest else lowest
    return np.nan if illegal else lowest


@compiled
def _parts(value: float) -> tuple[float, float]:
    """Mantissa and exponent of a number that is not subnormal, on its bits; of 0 both are 0."""
    bits = np.float64(value).view(np.int64)
    mantissa = np.int64((bits & FRACTION) | HALF).view(np.float64)
    return mantissa if bits != 0 else 0.0, np.float64((bits >> 52) - 1022) if bits != 0 else 0.0


@compiled
def fold_masses(weights: Floats, columns: Floats, head: Floats) -> None:
    """Move the column masses into the top level's mantissas and exponents, and rescale."""
    n, m = weights.shape
    scale, mass, mantissa, exponent = columns[SHARE], columns[MASS], columns[MANTISSA], columns[EXPONENT]
    for j in range(m):
        mantissa[j], shift = _parts(mantissa[j] * mass[j])
        exponent[j] += shift
        scale[j] = 1.0 / mass[j]
        mass[j] = 1.0
    for i in range(n):
        row = weights[i]
        for j in range(m):
            row[j] *= scale[j]
    peak, total = -np.inf, 0.0
    for j in range(columns.shape[1]):
        if mantissa[j] > 0.0:
            peak = max(peak, exponent[j])
    for j in range(columns.shape[1]):
        columns[TOP, j] = mantissa[j] * power_of_two(exponent[j] - peak)
        total += columns[TOP, j]
    head[TOTAL], head[PEAK], head[SINCE] = total, peak, 0.0


@compiled
def _close_round(weights: Floats, columns: Floats, head: Floats, lowest: float, total: float) -> float:
    """Enter the new total, fold if it is time, and return the mixture loss (2.8)."""
    before: float = head[TOTAL]
    peak: float = head[PEAK]
    safe = TOO_SMALL <= total <= 1.0 / TOO_SMALL
    head[TOTAL] = total
    head[SINCE] += 1.0
    if not safe or head[SINCE] >= head[EVERY]:
        fold_masses(weights, columns, head)
    if not safe:
        gained: float = (head[PEAK] - peak) * LN2
        return lowest + (math.log(before / head[TOTAL]) - gained)
    return lowest + math.log(before / total)


@compiled
def _survives(losses: Floats, awake: Mask, excluded: bool, columns: Floats, slow: Floats) -> bool:
    """Whether some alpha-expert gives the outcome a positive probability, or has no weight awake.

    `excluded` is whether somebody is awake, and all who are lost infinitely.
    """
    m = columns.shape[1] - len(slow)
    for j in range(m):
        if columns[MANTISSA, j] > 0.0 and not excluded:  # a share step has given weight to everybody
            return True
    for q in range(len(slow)):
        if columns[MANTISSA, m + q] > 0.0:
            abstains = True
            for i in range(losses.size):
                if awake[i] and slow[q, i] > -np.inf:
                    abstains = False
                    if losses[i] < np.inf:
                        return True
            if abstains:
                return True
    return False


@compiled
def _share_slow(logs: Floats, alpha: float, work: Floats) -> None:
    """The share step of an alpha whose weights are logarithms."""
    if alpha > 0.0:
        work[2] = np.log1p(-alpha)
        work[3] = np.log(alpha)
        share_logs(logs, work[2], work[3], work)


@compiled
def _slow_columns(
    losses: Floats, awake: Mask, lowest: float, columns: Floats, slow: Floats, head: Floats, work: Floats
) -> float:
    """The round of the alphas kept as logarithms; return their part of the sum of TOP * MASS."""
    total = 0.0
    for q in range(len(slow)):
        j = columns.shape[1] - len(slow) + q
        if columns[MANTISSA, j] > 0.0:
            gained = bring_evidence(slow[q], losses, lowest, awake)
            if gained == -np.inf:
                columns[MANTISSA, j] = 0.0
            else:
                _share_slow(slow[q], columns[ALPHA, j], work)
                k = np.floor(gained * LOG2_E + 0.5)
                part, shift = _parts(columns[MANTISSA, j] * math.exp((gained - k * LN2_HIGH) - k * LN2_LOW))
                columns[MANTISSA, j] = part
                columns[EXPONENT, j] += k + shift
        columns[TOP, j] = columns[MANTISSA, j] * power_of_two(columns[EXPONENT, j] - head[PEAK])
        total += columns[TOP, j]
    return total


@compiled
def _column(weights: Floats, keep: float, share: float, factor: Floats) -> float:
    """The step for one alpha, along the experts, whose weights are contiguous then; return the new mass."""
    for i in range(weights.size):
        weights[i] = factor[i] * (keep * weights[i] + share)
    even, odd = 0.0, 0.0
    for i in range(0, weights.size - 1, 2):
        even += weights[i]
        odd += weights[i + 1]
    return even + odd + float(weights[-1] if weights.size % 2 else 0.0)


@partial(compiled, apart=True)
def _rows(
    a: Floats, b: Floats, c: Floats, d: Floats, f: Floats, keep: Floats, share: Floats, mass: Floats,
    mean: Floats | None, values: Floats,
) -> None:  # fmt: skip
    """The step for four experts at once; unless `mean` is None, their rows times their values are added to it."""
    f0, f1, f2, f3 = f[0], f[1], f[2], f[3]
    if mean is not None:
        u0, u1, u2, u3 = values[0], values[1], values[2], values[3]
    for j in range(a.size):
        k, s = keep[j], share[j]
        v, w = f0 * (k * a[j] + s), f1 * (k * b[j] + s)
        x, y = f2 * (k * c[j] + s), f3 * (k * d[j] + s)
        a[j] = v
        b[j] = w
        c[j] = x
        d[j] = y
        mass[j] = (mass[j] + (v + w)) + (x + y)
        if mean is not None:
            mean[j] = (mean[j] + (u0 * v + u1 * w)) + (u2 * x + u3 * y)


@partial(compiled, apart=True)
def _row(row: Floats, f: float, keep: Floats, share: Floats, mass: Floats, mean: Floats | None, value: float) -> None:
    """The step for one expert."""
    for j in range(row.size):
        v = f * (keep[j] * row[j] + share[j])
        row[j] = v
        mass[j] += v
        if mean is not None:
            mean[j] += value * v


@compiled
def _sweep(weights: Floats, columns: Floats, factor: Floats, mean: Floats | None, values: Floats) -> float:
    """Share step of the last round, then this round's evidence; return the new sum of TOP * MASS.

    With `mean`, that becomes the sum of the rows times their values.
    """
    n, m = weights.shape
    keep, share, mass = columns[KEEP, :m], columns[SHARE, :m], columns[MASS, :m]
    if m == 1:
        mass[0] = _column(block(weights, 0, (n,)), keep[0], columns[SPREAD, 0] * mass[0], factor)
        return float(columns[TOP, 0] * mass[0])
    for j in range(m):
        share[j] = columns[SPREAD, j] * mass[j]
        mass[j] = 0.0
        if mean is not None:
            mean[j] = 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        _rows(
            weights[i], weights[i + 1], weights[i + 2], weights[i + 3], factor[i : i + 4], keep, share, mass, mean,
            values[i : i + 4],
        )  # fmt: skip
    for i in range(whole, n):
        _row(weights[i], factor[i], keep, share, mass, mean, values[i])
    return dot(columns[TOP], mass, m)


@compiled
def _sleepy_sweep(weights: Floats, columns: Floats, factor: Floats, awake: Mask) -> float:
    """As `_sweep`, twice over the weights: those asleep are multiplied by the column's own ratio in the second."""
    n, m = weights.shape
    keep, share, mass, before = columns[KEEP], columns[SHARE], columns[MASS], columns[MEAN]
    for j in range(m):
        share[j] = columns[SPREAD, j] * mass[j]
        mass[j] = 0.0
        before[j] = 0.0
    for i in range(n):
        row, f = weights[i], factor[i]
        if awake[i]:
            for j in range(m):
                weight = keep[j] * row[j] + share[j]
                before[j] += weight
                weight *= f
                row[j] = weight
                mass[j] += weight
        else:
            for j in range(m):
                row[j] = keep[j] * row[j] + share[j]
    for j in range(m):
        before[j] = mass[j] / before[j] if before[j] > 0.0 else 1.0
    for i in range(n):
        if not awake[i]:
            row = weights[i]
            for j in range(m):
                row[j] *= before[j]
                mass[j] += row[j]
    return dot(columns[TOP], mass, m)


@compiled
def _first_round(
    losses: Floats, awake: Mask, lowest: float, weights: Floats, columns: Floats, slow: Floats, head: Floats,
    work: Floats,
) -> float:  # fmt: skip
    """The round in which all columns are the prior still: their posterior is one, and says nothing of alphas."""
    n, m = weights.shape
    logs = work[0]
    for i in range(n):
        logs[i] = np.log(weights[i, 0]) if m > 0 else slow[0, i]
    gained = bring_evidence(logs, losses, lowest, awake)
    if gained == -np.inf:
        return np.inf
    mass = 0.0
    for i in range(n):
        weight = math.exp(logs[i])
        mass += weight
        weights[i] = weight
    columns[MASS, :m] = mass
    for q in range(len(slow)):
        for i in range(n):
            slow[q, i] = logs[i]
        _share_slow(slow[q], columns[ALPHA, m + q], work[1:])
    fold_masses(weights, columns, head)
    return lowest - gained


@compiled
def _everybody(work: Floats) -> Mask:
    """A mask of which all are awake, in the scratch space."""
    mask: Mask = work[N_WORK - 1].view(np.bool_)[: work.shape[1]]
    mask[:] = True
    return mask


@compiled
def masked_round(
    losses: Floats, awake: Mask, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats
) -> float:
    """As `learn_alpha_round`, where some experts sleep, whose losses are not looked at."""
    m, n_awake = weights.shape[1], awake.sum()
    lowest = lowest_loss(losses, awake, head[LOWER])
    if lowest != lowest:
        return np.nan
    excluded = lowest == np.inf and n_awake > 0
    lowest = 0.0 if lowest == np.inf else lowest
    if head[SINCE] < 0.0:
        return _first_round(losses, awake, lowest, weights, columns, slow, head, work)
    if (excluded or len(slow) > 0) and not _survives(losses, awake, excluded, columns, slow):
        return np.inf
    total = _slow_columns(losses, awake, lowest, columns, slow, head, work[1:])
    if excluded:  # columns with weight awake cannot go on
        columns[MANTISSA, :m] = 0.0
        columns[TOP, :m] = 0.0
    elif m > 0:
        factor = work[0]
        decay(losses, lowest, factor)
        if n_awake == losses.size:
            total += _sweep(weights, columns, factor, None, factor)
        else:
            total += _sleepy_sweep(weights, columns, factor, awake)
    return _close_round(weights, columns, head, lowest, total)


@compiled
def _is_plain(slow: Floats, head: Floats) -> bool:
    """Whether a round in which all are awake is one sweep: not the first, and without logarithms."""
    return bool(head[SINCE] >= 0.0) and len(slow) == 0


@compiled
def _plain_round(losses: Floats, weights: Floats, columns: Floats, head: Floats, factor: Floats) -> float:
    lowest = lowest_loss(losses, None, head[LOWER])
    if not lowest < np.inf:  # a share step has given weight to everybody
        return lowest
    decay(losses, lowest, factor)
    return _close_round(weights, columns, head, lowest, _sweep(weights, columns, factor, None, factor))


@compiled
def learn_alpha_round(
    losses: Floats, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats
) -> float:
    """One round: equations (2.2), (2.7); return the mixture loss (2.8), nats.

    NaN, and nothing changed, if a loss is NaN or below the lowest legal one;
    infinity, and nothing changed, if nobody with weight has a finite loss.
    """
    if _is_plain(slow, head):
        return _plain_round(losses, weights, columns, head, work[0])
    return masked_round(losses, _everybody(work), weights, columns, slow, head, work)


@compiled
def learn_alpha_mean_round(
    values: Floats, losses: Floats, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats
) -> float:
    """One round, and the mean of the experts' `values` for the next, in one sweep; the mixture loss goes to `head`.

    Reading the weights a second time would take as long as the round itself.
    """
    m, lowest = weights.shape[1], lowest_loss(losses, None, head[LOWER])
    if _is_plain(slow, head) and m > 1 and lowest < np.inf:
        decay(losses, lowest, work[0])
        mean, level = columns[MEAN, :m], 0.0
        total = _sweep(weights, columns, work[0], mean, values)
        for i in range(values.size):
            level += values[i]
        for j in range(m):
            mean[j] = columns[KEEP, j] * mean[j] + columns[SPREAD, j] * columns[MASS, j] * level
        found = dot(columns[TOP], mean, m) / total
        head[LOSS] = _close_round(weights, columns, head, lowest, total)
        if total >= TOO_SMALL:
            return found
    else:
        head[LOSS] = learn_alpha_round(losses, weights, columns, slow, head, work)
    mixture(weights, columns, slow, head, work[0])
    return dot(values, work[0], values.size)


@compiled
def _single_alpha_run(
    losses: Floats, weights: Floats, columns: Floats, head: Floats, factor: Floats, loss: Floats, record: Floats
) -> None:
    """The rounds of `learn_alpha_run` for one alpha, all but the weights in registers: four times as fast."""
    column = block(weights, 0, (factor.size,))
    keep, spread, top = columns[KEEP, 0], columns[SPREAD, 0], columns[TOP, 0]
    mass, total, since = columns[MASS, 0], head[TOTAL], head[SINCE]
    for t in range(losses.shape[0]):
        share = spread * mass
        if record.shape[0] > 0:
            for i in range(column.size):
                record[t, i] = top * (keep * column[i] + share) / total
        lowest = lowest_loss(losses[t], None, head[LOWER])
        if not lowest < np.inf:
            loss[t] = lowest
            continue
        decay(losses[t], lowest, factor)
        mass = _column(column, keep, share, factor)
        before, total = total, top * mass
        loss[t] = lowest + math.log(before / total)
        since += 1.0
        if since >= head[EVERY]:
            columns[MASS, 0], head[TOTAL] = mass, total
            fold_masses(weights, columns, head)
            top, mass, total, since = columns[TOP, 0], columns[MASS, 0], head[TOTAL], head[SINCE]
    columns[MASS, 0], head[TOTAL], head[SINCE] = mass, total, since


@compiled
def learn_alpha_run(
    losses: Floats, awake: Mask, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats,
    loss: Floats, record: Floats, alpha_record: Floats,
) -> None:  # fmt: skip
    """Round after round over `losses` (T, n) into `loss` (T,); `awake` and the records have T or 0 rows."""
    masked = len(awake) > 0
    single = not masked and weights.shape[1] == 1 and len(slow) == 0 and len(alpha_record) == 0
    for t in range(losses.shape[0]):
        if single and head[SINCE] >= 0.0:
            _single_alpha_run(losses[t:], weights, columns, head, work[0], loss[t:], record[t:])
            return
        if record.shape[0] > 0:
            mixture(weights, columns, slow, head, record[t])
        if alpha_record.shape[0] > 0:
            for j in range(columns.shape[1]):  # equation (2.6)
                alpha_record[t, j] = columns[TOP, j] * columns[MASS, j] / head[TOTAL]
        if not masked and _is_plain(slow, head):
            loss[t] = _plain_round(losses[t], weights, columns, head, work[0])
        else:
            mask = awake[t] if masked else _everybody(work)
            loss[t] = masked_round(losses[t], mask, weights, columns, slow, head, work)


# -- what has been learned


@compiled
def mixture(weights: Floats, columns: Floats, slow: Floats, head: Floats, out: Floats) -> None:
    """Weights over the experts for the next round: out_i = sum_j p_top(j) p_j(i), shape (n,)."""
    n, m = weights.shape
    top, weight, level = columns[TOP], columns[SHARE], 0.0
    started = head[SINCE] >= 0.0
    for j in range(m):
        weight[j] = columns[SPREAD, j] * columns[MASS, j]
    if started:
        level = dot(top, weight, m)
    for j in range(m):
        weight[j] = top[j] * columns[KEEP, j] if started else top[j]
    for i in range(0, n, 2):
        last = min(i + 1, n - 1)
        out[i], out[last] = dots(weights[i], weights[last], weight, m)
    for i in range(n):
        value = level + out[i]
        for q in range(len(slow)):
            value += top[m + q] * math.exp(slow[q, i])
        out[i] = value / head[TOTAL]
