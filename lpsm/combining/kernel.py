"""The compiled rounds of combining: forecasts in, a combination out, then the outcome, and all learn from it.

What it models: K copies of Learn-alpha, one a rate eta_k, learn from eta_k times the losses of the forecasts, each
with weights w_k over those awake and a forecast p_k = w_k.f.  Over the copies stands AdaHedge, which needs no scale,
on the losses of the p_k: weights v, the combination p = v.p_k.  With one copy there is nothing above it.
What it leaves out: names, tables, and checks.
Sources: Monteleoni 2006, equations (2.6)-(2.8); de Rooij, van Erven, Gruenwald and Koolen 2014, figure 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.combining.losses import LOGISTIC, loss_of, slope_of
from lpsm.experts.kernels import learn_alpha_round, masked_round, mixture

__all__ = ["DEVIATION", "GAP", "SCALE", "SQUARES", "STATE", "CombinerState", "combine_rounds"]

Floats = NDArray[np.float64]

# entries of `scalars`: the unit of the rates (0 until the first round in which forecasts differ); AdaHedge's
# mixability gap; the sum of squared spreads of the losses; the largest |f - y|, or |f|; rounds learned from
SCALE, GAP, SQUARES, DEVIATION, LEARNED, STATE = 0, 1, 2, 3, 4, 5
SMALLEST = 1e-306  # of a unit: rates by it are numbers


class CombinerState(NamedTuple):
    """What has been learned; the arrays of `experts.kernels` with an axis for the rates before the others."""

    scalars: Floats  # (STATE,)
    behind: Floats  # (K,) cumulative loss of each copy beyond the best one's
    weights: Floats
    columns: Floats
    slow: Floats
    head: Floats
    work: Floats


@compiled
def top_weights(behind: Floats, gap: float, out: Floats) -> float:
    """Write AdaHedge's weights over the copies and return its rate; while there is no gap, infinite, the leaders'."""
    rate = np.log(float(behind.size)) / gap if gap > 0.0 else np.inf
    total = 0.0
    for k in range(behind.size):
        leads = 1.0 if behind[k] == 0.0 else 0.0
        out[k] = np.exp(-rate * behind[k]) if gap > 0.0 else leads
        total += out[k]
    for k in range(behind.size):
        out[k] /= total
    return rate


@compiled
def hedge(state: CombinerState, losses: Floats, v: Floats, rate: float) -> None:
    """AdaHedge's round on the losses of the copies, whose weights and rate were these."""
    lowest, mean, mixed = np.inf, 0.0, 0.0
    for k in range(v.size):
        if v[k] > 0.0:
            lowest = min(lowest, losses[k])
    for k in range(v.size):
        if v[k] > 0.0:
            mean += v[k] * (losses[k] - lowest)
            if rate < np.inf:
                mixed += v[k] * np.exp(-rate * (losses[k] - lowest))
    mix = -np.log(mixed) / rate if rate < np.inf else 0.0
    state.scalars[GAP] += max(0.0, mean - mix)
    least = np.inf
    for k in range(v.size):
        state.behind[k] += losses[k]
        least = min(least, state.behind[k])
    for k in range(v.size):
        state.behind[k] -= least


@compiled
def combine_rounds(
    forecasts: Floats,
    awake: NDArray[np.bool_],
    y: Floats,
    code: int,
    quantile: float,
    gradient: bool,
    rates: Floats,
    state: CombinerState,
    predictions: Floats,
    record: Floats,
) -> None:
    """Round after round over `forecasts` (T, n): the combination into (T,), its weights into (T, n).

    Where y is NaN nothing is learned.
    """
    rounds, n = forecasts.shape
    n_rates = rates.size
    copies, own, v = np.empty((n_rates, n)), np.empty(n_rates), np.empty(n_rates)
    losses, scaled, top = np.empty(n), np.empty(n), np.empty(n_rates)
    for t in range(rounds):
        f, up, w = forecasts[t], awake[t], record[t]
        n_awake = 0
        for i in range(n):
            n_awake += up[i]
        w[:] = 0.0
        if n_awake == 0:
            predictions[t] = np.nan
            continue
        rate = top_weights(state.behind, state.scalars[GAP], v)
        p = 0.0
        for k in range(n_rates):
            c = copies[k]
            mixture(state.weights[k], state.columns[k], state.slow[k], state.head[k], c)
            total = 0.0
            for i in range(n):
                total += c[i] if up[i] else 0.0
            own[k] = 0.0
            for i in range(n):
                part = 0.0
                if up[i]:
                    part = c[i] / total if total > 0.0 else 1.0 / n_awake
                    own[k] += part * f[i]
                w[i] += v[k] * part
            p += v[k] * own[k]
        predictions[t] = p
        if np.isnan(y[t]):
            continue
        slope = slope_of(code, quantile, p, y[t]) if gradient else 0.0
        least, most = np.inf, -np.inf
        for i in range(n):
            losses[i] = 0.0
            if up[i]:
                losses[i] = slope * (f[i] - p) if gradient else loss_of(code, quantile, f[i], y[t])
                least, most = min(least, losses[i]), max(most, losses[i])
                off = abs(f[i]) if code == LOGISTIC else abs(f[i] - y[t])
                state.scalars[DEVIATION] = max(state.scalars[DEVIATION], off)
        state.scalars[LEARNED] += 1.0
        if state.scalars[SCALE] == 0.0:
            if not most - least > SMALLEST:
                continue  # all alike so far: there is nothing to learn, and nothing to measure by
            state.scalars[SCALE] = most - least
        if most < np.inf:
            state.scalars[SQUARES] += (most - least) * (most - least)
        for k in range(n_rates):
            eta = rates[k] / state.scalars[SCALE]
            for i in range(n):
                scaled[i] = eta * (losses[i] - least) if up[i] and least < np.inf else losses[i]
            if n_awake == n:
                learn_alpha_round(
                    scaled, state.weights[k], state.columns[k], state.slow[k], state.head[k], state.work[k]
                )
            else:
                masked_round(
                    scaled, up, state.weights[k], state.columns[k], state.slow[k], state.head[k], state.work[k]
                )
            top[k] = slope * (own[k] - p) if gradient else loss_of(code, quantile, own[k], y[t])
        if n_rates > 1:
            hedge(state, top, v, rate)
