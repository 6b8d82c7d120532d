"""Combining tables of forecasts, the record of it, and what could have been combined in hindsight.

What it models: `combine` plays a table of forecasts in its order, each round's combination made before its outcome
is known; the record holds it against the forecasts, their best fixed mean, their best linear combination and their best
partition in hindsight.  Tables and series of pandas come back as such.  pandas is imported only when it is used.
What it leaves out: the rules of learning (`combine`), pictures, and fixed combinations of forecasts that sleep, which
mean nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse

from lpsm import hindsight
from lpsm.checks import array
from lpsm.experts.combine import Combiner
from lpsm.experts.grids import alpha_grid
from lpsm.experts.losses import losses_of, slopes_of

__all__ = ["Combination", "combine"]

Floats = NDArray[np.float64]


def combine(
    forecasts: Any,
    y: Any,
    loss: str = "square",
    rate: float | str = "learn",
    *,
    quantile: float | None = None,
    gradient: bool = False,
    alphas: ArrayLike | None = None,
    rule: str = "learn-alpha",
) -> Combination:
    """Combine forecasts in the order of time, none of them using an outcome that is not yet known.

    Parameters
    ----------
    forecasts
        (T, n): a DataFrame with a column a forecaster, or an array.  NaN is asleep.
    y
        Outcomes (T,), a Series or an array; NaN is not known, and nothing is learned from it.  If either of the two
        has an index, what comes out has it too.
    loss, rate, quantile, gradient, rule
        As for `Combiner`.
    alphas
        Switching rates (m,) of Learn-alpha; None for the grid of this horizon, T.

    Raises
    ------
    ValueError
        If shapes or indices disagree, or a number is out of range.

    >>> result = combine([[1.0, 3.0], [2.0, 3.0], [3.0, 3.0]], [1.0, 2.0, 3.0])
    >>> result.predictions.round(2).tolist()
    [2.0, 2.5, 3.0]
    """
    is_frame, is_series = hasattr(forecasts, "columns"), hasattr(y, "to_numpy")
    index = forecasts.index if is_frame else y.index if is_series else None
    if is_frame and is_series and not index.equals(y.index):  # type: ignore[union-attr]
        raise ValueError("forecasts and y must have the same index")
    table = array("forecasts", forecasts)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"forecasts must have shape (T, n) with T, n >= 1, got {table.shape}")
    if alphas is None and rule == "learn-alpha":
        alphas = alpha_grid(horizon=len(table))
    combiner = Combiner(table.shape[1], loss, rate, quantile=quantile, gradient=gradient, alphas=alphas, rule=rule)
    outcomes = array("y", y)
    predictions, weights = combiner.run(table, outcomes)
    names = list(forecasts.columns) if is_frame else list(range(table.shape[1]))
    return Combination(combiner, table, outcomes, predictions, weights, names, index)


class Combination:
    """What combining a table gave.

    Attributes
    ----------
    combiner
        The `Combiner`, which goes on where the table ends.
    names
        Of the forecasts.
    """

    def __init__(
        self, combiner: Combiner, table: Floats, y: Floats, predictions: Floats, weights: Floats, names: list[Any],
        index: Any = None,
    ) -> None:  # fmt: skip
        self.combiner, self.names = combiner, names
        self._table, self._y, self._predictions, self._weights, self._index = table, y, predictions, weights, index
        self._known = ~np.isnan(y) & ~np.isnan(predictions)

    @property
    def predictions(self) -> Any:
        """The combination of every round, (T,); NaN where nobody was awake."""
        return self._series(self._predictions, "combination")

    @property
    def weights(self) -> Any:
        """Weights of the forecasts in every round, (T, n); 0 for those asleep."""
        return self._frame(self._weights)

    @property
    def losses(self) -> Any:
        """Loss of every forecast in every round, (T, n); NaN where it slept or the outcome is not known."""
        return self._frame(self._losses(self._table))

    @property
    def loss(self) -> Any:
        """Loss of the combination in every round, (T,)."""
        return self._series(self._losses(self._predictions[:, None])[:, 0], "loss")

    @property
    def regret(self) -> Any:
        """Cumulative loss beyond each forecast's, (T, n), over the rounds in which it was awake."""
        difference = self._losses(self._predictions[:, None]) - self._losses(self._table)
        return self._frame(np.cumsum(np.nan_to_num(difference, posinf=0.0, neginf=0.0), axis=0))

    def update(self, forecasts: ArrayLike, y: float) -> float:
        """Go on with one more round; the record stays that of the table."""
        return self.combiner.update(forecasts, y)

    def regret_bound(self, segments: int = 1) -> float:
        """Most that can have been lost beyond the best segments in hindsight (`Combiner.regret_bound`)."""
        return self.combiner.regret_bound(segments)

    def best_partition(self, segments: int) -> hindsight.Partition:
        """The segments, with one forecast each, that lose least; only where nobody slept."""
        return hindsight.best_partition(self._awake_losses(), segments)

    def summary(self, segments: int = 10) -> Any:
        """Return a DataFrame that holds the combination against what could have been, best first.

        A row each: the combination, the plain mean, each forecast, and, where nobody slept, the best fixed mean, the
        best linear combination and the best partition into `segments` in hindsight.  Columns: `rounds`, the mean
        loss in them (and `rmse`, its root, for the square loss), the combination's mean loss in the same rounds,
        and the regret, the sum of their difference.
        """
        import pandas as pd

        known = self._known
        table, y, own = self._table[known], self._y[known], self._losses(self._predictions[:, None])[known, 0]
        losses = self._losses(self._table)[known]
        rows: dict[Any, Floats] = {"combination": own}
        rows["mean of those awake"] = losses_of(*self._loss_named(), np.nanmean(table, axis=1), y)
        rows |= {name: losses[:, i] for i, name in enumerate(self.names)}
        if not np.isnan(table).any():
            convex = best_convex(*self._loss_named(), table, y)
            rows["best fixed mean"] = losses_of(*self._loss_named(), table @ convex, y)
            linear = best_linear(*self._loss_named(), table, y)
            if linear is not None:
                rows["best linear combination"] = losses_of(*self._loss_named(), table @ linear, y)
            best = hindsight.best_partition(losses, min(segments, len(losses)))
            experts = np.repeat(best.experts, np.diff(np.append(best.starts, len(losses))))
            rows[f"best partition, {len(best.starts)} segments"] = losses[np.arange(len(losses)), experts]
        found = []
        for name, values in rows.items():
            there = ~np.isnan(values)
            mean, mine = float(values[there].mean()), float(own[there].mean())
            found.append((name, int(there.sum()), mean, mine, float((own - values)[there].sum())))
        frame = pd.DataFrame(found, columns=["", "rounds", "mean_loss", "combination", "regret"]).set_index("")
        if self.combiner.loss == "square":
            frame.insert(2, "rmse", np.sqrt(frame["mean_loss"]))
        return frame.sort_values("mean_loss", kind="stable")

    def history(self, segments: int = 10) -> Any:
        """Return a DataFrame to draw: the weights, the regret against each forecast and, where nobody slept, the best.

        The best forecast of each segment is by its number; ``history().plot(subplots=True)`` draws all.
        """
        import pandas as pd

        weights = pd.DataFrame(self._weights, columns=[f"weight of {name}" for name in self.names])
        regret = pd.DataFrame(np.asarray(self.regret), columns=[f"regret against {name}" for name in self.names])
        parts = [weights, regret]
        if not np.isnan(self._table[self._known]).any():
            best = self.best_partition(min(segments, int(self._known.sum())))
            places = np.full(len(self._y), np.nan)
            places[self._known] = np.repeat(best.experts, np.diff(np.append(best.starts, self._known.sum())))
            parts.append(pd.DataFrame({"best forecast, by number": places}))
        frame = pd.concat(parts, axis=1)
        return frame if self._index is None else frame.set_axis(self._index)

    def __repr__(self) -> str:
        rounds, n = self._table.shape
        return f"Combination({rounds} rounds, {n} forecasts, loss={self.combiner.loss!r}, rule={self.combiner.rule!r})"

    def _loss_named(self) -> tuple[str, float]:
        return self.combiner.loss, self.combiner.quantile

    def _losses(self, forecasts: Floats) -> Floats:
        """Losses of (T, k) forecasts, NaN where there is no forecast or no outcome."""
        out = np.full(forecasts.shape, np.nan)
        there = ~np.isnan(forecasts) & self._known[:, None]
        y = np.broadcast_to(self._y[:, None], forecasts.shape)
        out[there] = losses_of(*self._loss_named(), forecasts[there], y[there])
        return out

    def _awake_losses(self) -> Floats:
        losses = self._losses(self._table)[self._known]
        if np.isnan(losses).any():
            raise ValueError("a partition needs forecasts that never sleep, got NaN")
        return losses

    def _series(self, values: Floats, name: str) -> Any:
        if self._index is None:
            return values
        import pandas as pd

        return pd.Series(values, index=self._index, name=name)

    def _frame(self, values: Floats) -> Any:
        if self._index is None:
            return values
        import pandas as pd

        return pd.DataFrame(values, index=self._index, columns=self.names)


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

    def value(w: Floats) -> tuple[float, Floats]:
        p = np.clip(forecasts @ w, 1e-12, 1.0 - 1e-12) if loss == "log" else forecasts @ w
        slopes = slopes_of(loss, quantile, p, y)
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
