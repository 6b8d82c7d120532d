"""The round of Learn-alpha and the mean of the experts' values after it, in one sweep over the weights.

What it models: `kernels.learn_alpha_round` and then `kernels.mixture_mean`, but for the order of some additions.
Reading the weights a second time would take as long as the round itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.experts import kernels
from lpsm.experts.scaled import decay
from lpsm.experts.vectors import dot, lowest_loss, weigh_first_rows, weigh_two_rows

__all__ = ["learn_alpha_mean_round"]

Floats = NDArray[np.float64]


@compiled
def learn_alpha_mean_round(
    values: Floats, losses: Floats, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats
) -> float:
    """One round, and the mean of the experts' `values` for the next, in one sweep; the mixture loss goes to `head`."""
    n, m = weights.shape
    if slow.shape[2] > 0 or head[kernels.SINCE] < 0.0 or m == 1 or n % 2:
        head[kernels.LOSS] = kernels.learn_alpha_round(losses, weights, columns, slow, head, work)
        return kernels.mixture_mean(values, weights, columns, slow, head, work)
    lowest = lowest_loss(losses, head[kernels.LOWER])
    if not lowest < np.inf:
        head[kernels.LOSS] = lowest
        return kernels.mixture_mean(values, weights, columns, slow, head, work)
    factor, keep, spread = work[0], columns[kernels.KEEP, :m], columns[kernels.SPREAD, :m]
    share, mass, mean, top = (
        columns[kernels.WORK, :m],
        columns[kernels.MASS, :m],
        columns[kernels.MEAN, :m],
        columns[kernels.TOP, :m],
    )
    decay(losses, lowest, factor)
    weigh_first_rows(
        weights[0], weights[1], keep, spread, share, mass, mean, factor[0], factor[1], values[0], values[1]
    )
    for q in range(1, n // 2):
        i = 2 * q
        weigh_two_rows(
            weights[i], weights[i + 1], keep, share, mass, mean, factor[i], factor[i + 1], values[i], values[i + 1]
        )
    level, total = values.sum(), dot(top, mass)
    for j in range(m):
        mean[j] = keep[j] * mean[j] + spread[j] * mass[j] * level
    found = dot(top, mean) / total
    head[kernels.LOSS] = kernels.close_round(weights, columns, head, lowest, total, False)
    return found if total >= kernels.TOO_SMALL else kernels.mixture_mean(values, weights, columns, slow, head, work)
