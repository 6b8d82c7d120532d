"""Combining forecasts: `combine` for tables, `Combiner` for one round at a time, and what hindsight could combine.

What it models: `combine` plays a table of forecasts in its order, each round's combination made before its outcome
is known; the record holds it against the forecasts, their best fixed mean, their best linear combination and their best
partition in hindsight.  Tables and series of pandas come back as such.  pandas is imported only when it is used.
What it leaves out: the rules of learning (`lpsm.experts.combine`), pictures, and fixed combinations of forecasts that
sleep, which mean nothing.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import sparse

from lpsm import hindsight
from lpsm.arrays import Floats, Ints
from lpsm.checks import array, shaped
from lpsm.experts.combine import Combiner, losses_of
from lpsm.experts.grids import alpha_grid

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["Combination", "Combiner", "combine"]
__dir__ = __all__.copy
Indexed: TypeAlias = Any  # an array, or a Series (T,) or DataFrame (T, n) of pandas if an index was given


def combine(
    forecasts: ArrayLike | DataFrame,
    y: ArrayLike | Series[Any],
    loss: str = "square",
    rate: float | str = "learn",
    *,
    quantile: float | None = None,
    gradient: bool = False,
    alphas: ArrayLike | None = None,
) -> Combination:
    """Combine forecasts in the order of time, none of them using an outcome that is not yet known.

    Parameters
    ----------
    forecasts
        (T, n): a DataFrame with a column a forecaster, or an array.  NaN is asleep.
    y
        Outcomes (T,), a Series or an array; NaN is not known, and nothing is learned from it.  If either of the two
        has an index, what comes out has it too.
    loss, rate, quantile, gradient
        As for `Combiner`.
    alphas
        Switching rates (m,) of Learn-alpha; None for the grid of this horizon, T.

    ValueError if shapes or indices disagree, or a number is out of range.

    >>> result = combine([[1.0, 3.0], [2.0, 3.0], [3.0, 3.0]], [1.0, 2.0, 3.0])
    >>> result.predictions.round(2).tolist()
    [2.0, 2.5, 3.0]
    """
    own, other = (getattr(given, "index", None) if hasattr(given, "to_numpy") else None for given in (forecasts, y))
    if own is not None and other is not None and not own.equals(other):
        raise ValueError("forecasts and y must have the same index")
    table = shaped("forecasts", forecasts, "T", "n", filled=True)
    if alphas is None:
        alphas = alpha_grid(horizon=len(table))
    combiner = Combiner(table.shape[1], loss, rate, quantile=quantile, gradient=gradient, alphas=alphas)
    outcomes = array("y", y)
    predictions, weights = combiner.run(table, outcomes)
    names = list(getattr(forecasts, "columns", range(table.shape[1])))
    return Combination(combiner, table, outcomes, predictions, weights, names, other if own is None else own)


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
        self, combiner: Combiner, table: Floats, y: Floats, predictions: Floats, weights: Floats,
        names: list[Any], index: Any,
    ) -> None:  # fmt: skip
        self.combiner, self.names = combiner, names
        self._table, self._y, self._predictions, self._weights, self._index = table, y, predictions, weights, index
        self._known = ~np.isnan(y) & ~np.isnan(predictions)
        self._loss_of = partial(losses_of, combiner.loss, combiner.quantile)

    @property
    def predictions(self) -> Indexed:
        """The combination of every round, (T,); NaN where nobody was awake."""
        return self._indexed(self._predictions, "combination")

    @property
    def weights(self) -> Indexed:
        """Weights of the forecasts in every round, (T, n); 0 for those asleep."""
        return self._indexed(self._weights)

    @property
    def losses(self) -> Indexed:
        """Loss of every forecast in every round, (T, n); NaN where it slept or the outcome is not known."""
        return self._indexed(self._losses)

    @property
    def loss(self) -> Indexed:
        """Loss of the combination in every round, (T,)."""
        return self._indexed(self._loss[:, 0], "loss")

    @property
    def regret(self) -> Indexed:
        """Cumulative loss beyond each forecast's, (T, n), over the rounds in which it was awake."""
        return self._indexed(np.cumsum(np.nan_to_num(self._loss - self._losses, posinf=0.0, neginf=0.0), axis=0))

    def update(self, forecasts: ArrayLike, y: float) -> float:
        """Go on with one more round; the record stays that of the table."""
        return self.combiner.update(forecasts, y)

    def regret_bound(self, segments: int = 1) -> float:
        """Most that can have been lost beyond the best segments in hindsight (`Combiner.regret_bound`)."""
        return self.combiner.regret_bound(segments)

    def best_partition(self, segments: int) -> hindsight.Partition:
        """The segments, with one forecast each, that lose least; only where nobody slept."""
        losses = self._losses[self._known]
        if np.isnan(losses).any():
            raise ValueError("a partition needs forecasts that never sleep, got NaN")
        return hindsight.best_partition(losses, segments)

    def summary(self, segments: int = 10) -> DataFrame:
        """Return a DataFrame that holds the combination against what could have been, best first.

        A row each: the combination, the plain mean, each forecast, and, where nobody slept, the best fixed mean, the
        best linear combination and the best partition into `segments` in hindsight.  Columns: `rounds`, the mean
        loss in them (and `rmse`, its root, for the square loss), the combination's mean loss in the same rounds,
        and the regret, the sum of their difference.
        """
        import pandas as pd

        known, named = self._known, (self.combiner.loss, self.combiner.quantile)
        table, y, own, losses = self._table[known], self._y[known], self._loss[known, 0], self._losses[known]
        rows: dict[object, Floats] = {
            "combination": own, "mean of those awake": self._loss_of(np.nanmean(table, axis=1), y),
            **dict(zip(self.names, losses.T, strict=True)),
        }  # fmt: skip
        if not np.isnan(table).any():
            rows["best fixed mean"] = self._loss_of(table @ best_convex(*named, table, y), y)
            if (linear := best_linear(*named, table, y)) is not None:
                rows["best linear combination"] = self._loss_of(table @ linear, y)
            path = self._best_path(segments)
            rows[f"best partition, {min(segments, len(y))} segments"] = losses[np.arange(len(y)), path]
        found = []
        for name, values in rows.items():
            there = ~np.isnan(values)
            mean, mine, more = values[there].mean(), own[there].mean(), (own - values)[there].sum()
            found.append((name, int(there.sum()), mean, mine, more))
        frame = pd.DataFrame(found, columns=["", "rounds", "mean_loss", "combination", "regret"]).set_index("")
        if self.combiner.loss == "square":
            frame.insert(2, "rmse", np.sqrt(frame["mean_loss"]))
        return frame.sort_values("mean_loss", kind="stable")

    def history(self, segments: int = 10) -> DataFrame:
        """Return a DataFrame to draw: the weights, the regret against each forecast and, where nobody slept, the best.

        The best forecast of each segment is by its number; ``history().plot(subplots=True)`` draws all.
        """
        import pandas as pd

        parts = [self._weights, np.asarray(self.regret)]
        names = [f"{what} {name}" for what in ("weight of", "regret against") for name in self.names]
        if not np.isnan(self._table[self._known]).any():
            places = np.full(len(self._y), np.nan)
            places[self._known] = self._best_path(segments)
            parts, names = [*parts, places[:, None]], [*names, "best forecast, by number"]
        return pd.DataFrame(np.hstack(parts), columns=names, index=self._index)

    def __repr__(self) -> str:
        rounds, n = self._table.shape
        return f"Combination({rounds} rounds, {n} forecasts, loss={self.combiner.loss!r})"

    @cached_property
    def _losses(self) -> Floats:
        return self._lost(self._table)

    @cached_property
    def _loss(self) -> Floats:
        return self._lost(self._predictions[:, None])

    def _lost(self, forecasts: Floats) -> Floats:
        """Losses of (T, k) forecasts, NaN where there is no forecast or no outcome."""
        out = np.full(forecasts.shape, np.nan)
        there = ~np.isnan(forecasts) & self._known[:, None]
        out[there] = self._loss_of(forecasts[there], np.broadcast_to(self._y[:, None], forecasts.shape)[there])
        return out

    def _best_path(self, segments: int) -> Ints:
        """The best partition as the number of a forecast in each round whose outcome is known."""
        rounds = int(self._known.sum())
        best = self.best_partition(min(segments, rounds))
        return np.repeat(best.experts, np.diff(np.append(best.starts, rounds)))

    def _indexed(self, values: Floats, name: str = "") -> Indexed:
        """An array as it is, or a Series (T,) or DataFrame (T, n) if an index was given."""
        if self._index is None:
            return values
        import pandas as pd

        if values.ndim == 1:
            return pd.Series(values, index=self._index, name=name)
        return pd.DataFrame(values, index=self._index, columns=self.names)


def best_convex(loss: str, quantile: float, forecasts: Floats, y: Floats) -> Floats:
    """Weights (n,), non-negative and of sum 1, of the fixed mean of the forecasts (T, n) that loses least."""
    n = forecasts.shape[1]
    if loss in ("absolute", "pinball"):
        return _linear_programme(loss, quantile, forecasts, y, convex=True)
    if loss == "square":
        size = max(1.0, float(np.abs(forecasts).max()), float(np.abs(y).max()))
        heavy = 1e6 * np.sqrt(len(y))  # a row that holds the sum at 1
        rows = np.vstack([forecasts / size, np.full(n, heavy)])
        weights = scipy.optimize.nnls(rows, np.append(y / size, heavy), maxiter=100 * n)[0]
    else:
        weights = np.maximum(_smooth(loss, quantile, forecasts, y, convex=True), 0.0)
    return np.asarray(weights / weights.sum())


def best_linear(loss: str, quantile: float, forecasts: Floats, y: Floats) -> Floats | None:
    """Coefficients (n,) of the linear combination that loses least; None for the log loss, which needs a mean."""
    if loss == "log":
        return None
    if loss == "square":
        return np.asarray(np.linalg.lstsq(forecasts, y, rcond=None)[0])
    return (_smooth if loss == "logistic" else _linear_programme)(loss, quantile, forecasts, y, convex=False)


def _linear_programme(loss: str, quantile: float, forecasts: Floats, y: Floats, *, convex: bool) -> Floats:
    """Minimise the absolute or the pinball loss: y - f.w = over - under, both non-negative and paid for."""
    (rounds, n), size = forecasts.shape, max(1.0, float(np.abs(forecasts).max()))
    over = quantile if loss == "pinball" else 0.5
    eye = sparse.eye(rounds, format="csr")
    equal, right = sparse.hstack([sparse.csr_matrix(forecasts / size), eye, -eye], format="csr"), y / size
    if convex:
        ones = sparse.csr_matrix(np.repeat([1.0, 0.0], [n, 2 * rounds]))
        equal, right = sparse.vstack([equal, ones], format="csr"), np.append(right, 1.0)
    price = np.repeat([0.0, over, 1.0 - over], [n, rounds, rounds])
    bounds = [(0.0 if convex else None, None)] * n + [(0.0, None)] * (2 * rounds)
    found = scipy.optimize.linprog(price, A_eq=equal, b_eq=right, bounds=bounds, method="highs")
    if not found.success:
        raise RuntimeError(f"the best combination was not found: {found.message}")
    return np.asarray(found.x[:n])


def _smooth(loss: str, quantile: float, forecasts: Floats, y: Floats, *, convex: bool) -> Floats:
    """Minimise the mean loss by its gradient, over means or over all coefficients."""
    rounds, n = forecasts.shape

    def value(w: Floats) -> tuple[float, Floats]:
        p = np.clip(forecasts @ w, 1e-12, 1.0 - 1e-12) if loss == "log" else forecasts @ w
        return float(losses_of(loss, quantile, p, y).mean()), forecasts.T @ losses_of(
            loss, quantile, p, y, True
        ) / rounds

    options: dict[str, object] = {"method": "L-BFGS-B"}
    if convex:
        one = {"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": np.ones_like}
        limits = {"maxiter": 1000, "ftol": 1e-12}
        options = {"method": "SLSQP", "bounds": [(0.0, 1.0)] * n, "constraints": [one], "options": limits}
    return np.asarray(scipy.optimize.minimize(value, np.full(n, 1.0 / n), jac=True, **options).x)
