"""Many rounds of Learn-alpha in one call: the round of `lpsm.experts.kernels` over a table of losses.

What it models: nothing beyond the round; it saves the calls.  What it leaves out: checks of shapes.
Arrays are those of `lpsm.experts.kernels`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.experts.kernels import (
    EVERY,
    KEEP,
    LOWER,
    MASS,
    SINCE,
    SPREAD,
    TOP,
    TOTAL,
    alpha_posterior,
    fold_masses,
    learn_alpha_round,
    masked_round,
    mixture,
    single_column,
)  # fmt: skip
from lpsm.experts.scaled import decay
from lpsm.experts.vectors import lowest_loss

__all__ = ["learn_alpha_run"]

Floats = NDArray[np.float64]


@compiled
def _single_alpha_run(
    losses: Floats, weights: Floats, columns: Floats, head: Floats, factor: Floats, loss: Floats, record: Floats
) -> None:
    """The rounds of `learn_alpha_run` for one alpha, with everything but the weights in registers."""
    n = factor.size
    column = weights.reshape(n)
    keep, spread, top = columns[KEEP, 0], columns[SPREAD, 0], columns[TOP, 0]
    mass, total, since = columns[MASS, 0], head[TOTAL], head[SINCE]
    every, lower = head[EVERY], head[LOWER]
    for t in range(losses.shape[0]):
        share = spread * mass
        if record.shape[0] > 0:
            row = record[t]
            for i in range(n):
                row[i] = (top * keep * column[i] + top * share) / total
        lowest = lowest_loss(losses[t], lower)
        if not lowest < np.inf:
            loss[t] = lowest
            continue
        decay(losses[t], lowest, factor)
        mass = single_column(column, keep, share, factor)
        before, total = total, top * mass
        loss[t] = lowest + math.log(before / total)
        since += 1.0
        if since >= every:
            columns[MASS, 0], head[TOTAL] = mass, total
            fold_masses(weights, columns, head)
            top, mass, total, since = columns[TOP, 0], columns[MASS, 0], head[TOTAL], head[SINCE]
    columns[MASS, 0], head[TOTAL], head[SINCE] = mass, total, since


@compiled
def learn_alpha_run(
    losses: Floats,
    awake: NDArray[np.bool_],
    weights: Floats,
    columns: Floats,
    slow: Floats,
    head: Floats,
    work: Floats,
    loss: Floats,
    record: Floats,
    alpha_record: Floats,
) -> None:
    """Round after round over `losses` (T, n) into `loss` (T,); `awake` and the two records have T or 0 rows."""
    masked = awake.shape[0] > 0
    single = not masked and weights.shape[1] == 1 and slow.shape[2] == 0 and alpha_record.shape[0] == 0
    for t in range(losses.shape[0]):
        if single and head[SINCE] >= 0.0:
            _single_alpha_run(losses[t:], weights, columns, head, work[0], loss[t:], record[t:])
            return
        if record.shape[0] > 0:
            mixture(weights, columns, slow, head, record[t])
        if alpha_record.shape[0] > 0:
            alpha_posterior(columns, head, alpha_record[t])
        if masked:
            loss[t] = masked_round(losses[t], awake[t], weights, columns, slow, head, work)
        else:
            loss[t] = learn_alpha_round(losses[t], weights, columns, slow, head, work)
