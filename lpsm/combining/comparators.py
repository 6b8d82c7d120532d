"""What forecasts could have been combined to in hindsight: the best fixed mean of them, the best linear combination.

What it leaves out: forecasts that sleep, for which a fixed combination means nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from lpsm.combining.losses import LOSSES, fill_losses, fill_slopes

__all__ = ["best_convex", "best_linear", "losses_of"]

Floats = NDArray[np.float64]


def losses_of(loss: str, quantile: float, forecasts: Floats, y: Floats) -> Floats:
    """Loss of every forecast, of the shape of `forecasts`, against outcomes that broadcast to it."""
    out = np.empty(forecasts.size)
    outcomes = np.ascontiguousarray(np.broadcast_to(y, forecasts.shape)).ravel()
    fill_losses(LOSSES[loss], quantile, np.ascontiguousarray(forecasts).ravel(), outcomes, out)
    return out.reshape(forecasts.shape)


def best_convex(loss: str, quantile: float, forecasts: Floats, y: Floats) -> Floats:
    """Weights (n,), non-negative and of sum 1, of the fixed mean of the forecasts (T, n) that loses least."""
    n = forecasts.shape[1]
    if loss in ("absolute", "pinball"):
        return _linear_programme(forecasts, y, 0.5 if loss == "absolute" else quantile, convex=True)
    if loss == "square":
        size = max(1.0, float(np.abs(forecasts).max()), float(np.abs(y).max()))
        heavy = 1e6 * np.sqrt(len(y))  # a row that holds the sum at 1
        rows = np.vstack([forecasts / size, np.full(n, heavy)])
        weights = optimize.nnls(rows, np.append(y / size, heavy), maxiter=100 * n)[0]
        return np.asarray(weights / weights.sum())
    found = _smooth(loss, quantile, forecasts, y, convex=True)
    weights = np.maximum(found, 0.0)
    return np.asarray(weights / weights.sum())


def best_linear(loss: str, quantile: float, forecasts: Floats, y: Floats) -> Floats | None:
    """Coefficients (n,) of the linear combination that loses least; None for the log loss, which needs a mean."""
    if loss == "log":
        return None
    if loss == "square":
        return np.asarray(np.linalg.lstsq(forecasts, y, rcond=None)[0])
    if loss == "logistic":
        return _smooth(loss, quantile, forecasts, y, convex=False)
    return _linear_programme(forecasts, y, 0.5 if loss == "absolute" else quantile, convex=False)


def _linear_programme(forecasts: Floats, y: Floats, quantile: float, *, convex: bool) -> Floats:
    """Minimise the pinball loss: y - f.w = over - under, both non-negative and paid for."""
    rounds, n = forecasts.shape
    size = max(1.0, float(np.abs(forecasts).max()))
    price = np.concatenate([np.zeros(n), np.full(rounds, quantile), np.full(rounds, 1.0 - quantile)])
    eye = sparse.eye(rounds, format="csr")
    equal = sparse.hstack([sparse.csr_matrix(forecasts / size), eye, -eye], format="csr")
    right = y / size
    if convex:
        ones = sparse.csr_matrix(np.concatenate([np.ones(n), np.zeros(2 * rounds)]))
        equal, right = sparse.vstack([equal, ones], format="csr"), np.append(right, 1.0)
    bounds = [(0.0 if convex else None, None)] * n + [(0.0, None)] * (2 * rounds)
    found = optimize.linprog(price, A_eq=equal, b_eq=right, bounds=bounds, method="highs")
    if not found.success:
        raise RuntimeError(f"the best combination was not found: {found.message}")
    return np.asarray(found.x[:n])


def _smooth(loss: str, quantile: float, forecasts: Floats, y: Floats, *, convex: bool) -> Floats:
    """Minimise the mean loss by its gradient, over means or over all coefficients."""
    rounds, n = forecasts.shape
    slopes = np.empty(rounds)

    def value(w: Floats) -> tuple[float, Floats]:
        p = np.clip(forecasts @ w, 1e-12, 1.0 - 1e-12) if loss == "log" else forecasts @ w
        fill_slopes(LOSSES[loss], quantile, p, y, slopes)
        return float(losses_of(loss, quantile, p, y).mean()), forecasts.T @ slopes / rounds

    start = np.full(n, 1.0 / n)
    if not convex:
        return np.asarray(optimize.minimize(value, start, jac=True, method="L-BFGS-B").x)
    one = {"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": np.ones_like}
    options = {"maxiter": 1000, "ftol": 1e-12}
    found = optimize.minimize(
        value, start, jac=True, method="SLSQP", bounds=[(0.0, 1.0)] * n, constraints=[one], options=options
    )
    return np.asarray(found.x)
