"""The losses by name under which forecasts are combined, compiled.

Each is convex in the forecast f: square (f - y)^2; absolute |f - y|; pinball, the loss of the quantile tau,
(y - f) tau where y >= f and (f - y)(1 - tau) elsewhere; log, -ln of the probability f given to what happened
(y = 1 or not); logistic, ln(1 + exp(-y f)) with f in log-odds and y taken as +1 or -1.

Exp-concavity: exp(-rate loss) is concave in f up to a rate that depends on the loss, which makes a mean of
forecasts at least as good as the mixture of exp(-rate loss); `concave_rate` says up to which, given how large
deviations were.  The other losses cost a term of second order (`Combination.regret_bound`).
Source: Cesa-Bianchi and Lugosi 2006, sections 3.3 and 3.7.
"""

from __future__ import annotations

from math import exp, inf, log, log1p

import numpy as np

from lpsm.arrays import Floats
from lpsm.native import compiled

SQUARE, ABSOLUTE, PINBALL, LOG, LOGISTIC = range(5)
LOSSES = {"square": SQUARE, "absolute": ABSOLUTE, "pinball": PINBALL, "log": LOG, "logistic": LOGISTIC}


@compiled
def loss_of(code: int, quantile: float, forecast: float, y: float) -> float:
    """Loss of one forecast."""
    if code == SQUARE:
        return (forecast - y) * (forecast - y)
    if code == ABSOLUTE:
        return abs(forecast - y)
    if code == PINBALL:
        return (y - forecast) * quantile if y >= forecast else (forecast - y) * (1.0 - quantile)
    if code == LOG:
        probability = forecast if y > 0.0 else 1.0 - forecast
        return -log(probability) if probability > 0.0 else inf
    m = forecast if y > 0.0 else -forecast
    return log1p(exp(-m)) if m > 0.0 else log1p(exp(m)) - m


@compiled
def slope_of(code: int, quantile: float, forecast: float, y: float) -> float:
    """A slope of the loss in the forecast."""
    if code == SQUARE:
        return 2.0 * (forecast - y)
    if code == ABSOLUTE:
        return 1.0 if forecast > y else (-1.0 if forecast < y else 0.0)
    if code == PINBALL:
        return -quantile if y > forecast else (1.0 - quantile if y < forecast else 0.0)
    if code == LOG:
        return -1.0 / forecast if y > 0.0 else 1.0 / (1.0 - forecast)
    m = forecast if y > 0.0 else -forecast
    slope = 1.0 / (1.0 + exp(m)) if m < 700.0 else 0.0
    return -slope if y > 0.0 else slope


def losses_of(loss: str, quantile: float, forecasts: Floats, y: Floats) -> Floats:
    """Loss of every forecast, of the shape of `forecasts`, against outcomes that broadcast to it."""
    return _each(forecasts, y, LOSSES[loss], quantile, False)


def slopes_of(loss: str, quantile: float, forecasts: Floats, y: Floats) -> Floats:
    """Slope of the loss at every forecast, as `losses_of`."""
    return _each(forecasts, y, LOSSES[loss], quantile, True)


def concave_rate(code: int, deviation: float) -> float:
    """Largest rate at which exp(-rate loss) is concave, 0 if there is none.

    `deviation` is the largest |f - y| seen for the square loss, the largest |f| for the logistic one.
    """
    if code == SQUARE:
        return 0.5 / deviation**2 if deviation > 1e-150 else inf
    if code == LOG:
        return 1.0
    return exp(-deviation) if code == LOGISTIC else 0.0


def _each(forecasts: Floats, y: Floats, code: int, quantile: float, slopes: bool) -> Floats:
    out = np.array(forecasts, dtype=np.float64, order="C")
    _fill(out.ravel(), np.array(np.broadcast_to(y, out.shape), dtype=np.float64).ravel(), code, quantile, slopes)
    return out


@compiled
def _fill(values: Floats, y: Floats, code: int, quantile: float, slopes: bool) -> None:
    for t in range(values.size):
        forecast = values[t]
        values[t] = slope_of(code, quantile, forecast, y[t]) if slopes else loss_of(code, quantile, forecast, y[t])
