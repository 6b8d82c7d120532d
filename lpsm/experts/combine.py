"""Combining forecasts as they come: predict, see the outcome, learn.

What it models: forecasters ("experts") of one number, weighted by Learn-alpha, which lets the best of them change: K
copies of it, one a rate eta_k, learn from eta_k times the losses of the forecasts, each with weights w_k over those
awake and a forecast p_k = w_k.f; over the copies stands AdaHedge, which needs no scale, on the losses of the p_k, with
weights v: the combination is v.p_k.  With one copy there is nothing above it.  With the one switching rate 0 they are
exponentially weighted averages.  A forecast that is NaN is asleep: weights go to those awake, and it keeps its share.

The losses are convex in the forecast f: square (f - y)^2; absolute |f - y|; pinball, the loss of the quantile tau,
(y - f) tau where y >= f and (f - y)(1 - tau) elsewhere; log, -ln of the probability f given to what happened
(y = 1 or not); logistic, ln(1 + exp(-y f)) with f in log-odds and y taken as +1 or -1.  exp(-rate loss) is concave in f
up to a rate that depends on the loss (`concave_rate`), which makes a mean of forecasts at least as good as the mixture
of exp(-rate loss); the other losses cost a term of second order (`Combination.regret_bound`).
What it leaves out: forecasts of several numbers at once.
Sources: Monteleoni 2006, equations (2.6)-(2.8); de Rooij, van Erven, Gruenwald and Koolen 2014, figure 1;
Cesa-Bianchi and Lugosi 2006, sections 2.1, 3.3 and 3.7 (losses).
"""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lpsm.arrays import Floats, Mask, State
from lpsm.checks import known, number, positive, probability, shaped, shown, whole
from lpsm.experts import share
from lpsm.experts.grids import alpha_grid
from lpsm.experts.hedge import hedge_round, hedge_weights
from lpsm.experts.learner import MOST_EXPERTS, checked_rates
from lpsm.experts.tracking import MOST_WEIGHTS, LearnAlpha
from lpsm.native import compiled
from lpsm.states import Stateful

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


def losses_of(loss: str, quantile: float, forecasts: Floats, y: Floats, slopes: bool = False) -> Floats:
    """Loss of every forecast, or its slope there, of their shape, against outcomes that broadcast to it."""
    out = np.array(forecasts, float, order="C")
    wanted = np.array(np.broadcast_to(y, out.shape), float).ravel()
    _fill(out.ravel(), wanted, LOSSES[loss], quantile, slopes)
    return out


def concave_rate(code: int, deviation: float) -> float:
    """Largest rate at which exp(-rate loss) is concave, 0 if there is none.

    `deviation` is the largest |f - y| seen for the square loss, the largest |f| for the logistic one.
    """
    if code == SQUARE:
        return 0.5 / deviation**2 if deviation > 1e-150 else inf
    if code == LOG:
        return 1.0
    return exp(-deviation) if code == LOGISTIC else 0.0


@compiled
def _fill(values: Floats, y: Floats, code: int, quantile: float, slopes: bool) -> None:
    for t in range(values.size):
        forecast = values[t]
        values[t] = slope_of(code, quantile, forecast, y[t]) if slopes else loss_of(code, quantile, forecast, y[t])


RATES: Floats = np.array([4.0**k for k in range(2, -10, -1)])  # in units of 1 / (the first difference between losses)
HORIZON = 1000
MOST = 2e150  # of forecasts and outcomes: their squares are added up
SMALLEST = 1e-306  # of a unit: rates by it are numbers

# entries of `scalars`: the unit of the rates (0 until the first round in which forecasts differ); AdaHedge's
# mixability gap; the sum of squared spreads of the losses; the largest |f - y|, or |f|; rounds learned from, and those
# of them with sleepers
SCALE, GAP, SQUARES, DEVIATION, LEARNED, SLEPT, STATE = range(7)


class CombinerState(NamedTuple):
    """What has been learned; all arrays of `experts.share` but scratch have an axis for the rates before the others."""

    scalars: Floats  # (STATE,)
    behind: Floats  # (K,) cumulative loss of each copy beyond the best one's
    weights: Floats
    columns: Floats
    slow: Floats
    head: Floats
    work: Floats


class Combiner(Stateful):
    """Forecasts combined by weights that are learned.

    Parameters
    ----------
    n_experts
        Number n of forecasts a round.
    loss
        "square", "absolute", "pinball" (of `quantile`), "log" (forecasts are probabilities of y = 1) or
        "logistic" (forecasts are log-odds).
    rate
        "learn": twelve rates a factor of 4 apart are tried at once and mixed by AdaHedge, so that the unit of y
        does not matter; under the log loss it is 1, the mixture of Bayes.  Or a positive number: weights fall as
        exp(-rate loss).
    quantile
        Of the pinball loss, in (0, 1); 1/2 if not given.
    gradient
        Whether to learn from the slope of the loss at the combination instead of the losses: the combination then
        competes with the best fixed mean of the forecasts, not only with the best forecast.
    alphas
        Switching rates of Learn-alpha, (m,); None for the grid of a horizon of 1,000 rounds.  0 alone is for a best
        forecast that does not change: exponentially weighted averages.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or is not one of the loss.

    >>> combiner = Combiner(2)
    >>> for y in (1.0, 2.0, 3.0, 4.0):
    ...     _ = combiner.update([y, 5.0], y)  # returns the combination before y was known
    >>> bool(combiner.weights[0] > 0.75)
    True
    """

    TAKES = "n_experts loss rate quantile gradient alphas"

    def __init__(
        self,
        n_experts: int,
        loss: str = "square",
        rate: float | str = "learn",
        *,
        quantile: float | None = None,
        gradient: bool = False,
        alphas: ArrayLike | None = None,
    ) -> None:
        self.n_experts = whole(1, MOST_EXPERTS, n_experts=n_experts)
        known("loss", loss, LOSSES)
        learns = rate == "learn"
        if not learns:
            if isinstance(rate, str):
                raise ValueError(f"rate must be 'learn' or a positive number, got {shown(rate)}")
            positive(rate=rate)
        self.quantile = 0.5 if quantile is None else number("quantile", quantile)
        probability(quantile=self.quantile)
        if loss != "pinball" and self.quantile != 0.5:
            raise ValueError(f"quantile must be left out under the {loss} loss, which has none, got {quantile}")
        if loss == "log" and gradient:
            raise ValueError("gradient must be False for the log loss, whose slope has no bound, got True")
        self.loss, self.gradient = loss, bool(gradient)
        self.rate = rate if learns else number("rate", rate)
        self.alphas = grid = checked_rates(alpha_grid(horizon=HORIZON) if alphas is None else np.atleast_1d(alphas))
        learns_rate = learns and loss != "log"
        self._rates: Floats = RATES.copy() if learns_rate else np.array([1.0 if learns else float(rate)])
        n, k = self.n_experts, self._rates.size
        if n * grid.size * k > MOST_WEIGHTS:
            raise ValueError(f"n_experts x alphas x rates must be at most {MOST_WEIGHTS}, got {n} x {grid.size} x {k}")
        scalars = np.zeros(STATE)
        scalars[SCALE] = 0.0 if learns_rate else 1.0
        *learned, work = LearnAlpha(n, grid, signed=True).arrays()
        copies = [np.repeat(part[None], k, axis=0) for part in learned]
        self._state = CombinerState(scalars, np.zeros(k), *[*copies, work])

    @property
    def weights(self) -> Floats:
        """Weights of the forecasts in the next round if all are awake, (n,)."""
        return np.asarray(self._play(np.zeros((1, self.n_experts)))[1][0])

    @property
    def rounds(self) -> int:
        """Rounds learned from."""
        return int(self._state.scalars[LEARNED])

    def predict(self, forecasts: ArrayLike) -> float:
        """Return the combination of one round's forecasts, (n,), of which NaN are asleep; NaN if all are."""
        return float(self._play(self._table(self._row(forecasts)))[0][0])

    def update(self, forecasts: ArrayLike, y: float) -> float:
        """Combine one round's forecasts, (n,), learn from the outcome, and return the combination.

        Raises
        ------
        ValueError
            As `run`; nothing is learned then.
        """
        return float(self.run(self._row(forecasts), [number("y", y)])[0][0])

    def run(self, forecasts: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Play many rounds, as repeated `update`; return the combinations (T,) and their weights (T, n).

        Parameters
        ----------
        forecasts
            (T, n); NaN is asleep.
        y
            Outcomes (T,); NaN if not known, and nothing is learned in that round.

        Raises
        ------
        ValueError
            If a shape is wrong, a number infinite, or out of the range of the loss.
        """
        table = self._table(forecasts)
        outcomes = shaped("y", y, len(table))
        if (large := np.abs(outcomes) > MOST).any():
            raise ValueError(f"y must lie in [-{MOST:g}, {MOST:g}], got {outcomes[large][0]}")
        if self.loss in ("log", "logistic"):
            strange = ~(np.isnan(outcomes) | np.isin(outcomes, (-1.0, 0.0, 1.0)))
            if strange.any() or (np.isin(-1.0, outcomes) and np.isin(0.0, outcomes)):
                raise ValueError(
                    f"y must be 0 and 1, or -1 and 1, for the {self.loss} loss, got {shown(np.unique(outcomes))}"
                )
        return self._play(table, outcomes)

    def regret_bound(self, segments: int = 1) -> float:
        """Most that the combination can have lost beyond the best `segments` segments of one forecast each.

        It holds for what was learned from so far (under `gradient`, with 1 segment, against every fixed mean of the
        forecasts): for the best of the rates eta,

            (ln n + ln m + (k - 1) ln((n - 1)/alpha) + (T - k) ln(1/(1 - alpha))) / eta + eta S/8 + 2 D,

        alpha the best of the m switching rates, S the sum of the squared spreads of the losses (left out where
        exp(-eta loss) is concave, `losses`), D AdaHedge's mixability gap, 0 with a given rate.
        Sources: Monteleoni 2006, equation (2.8) and Corollary 1; Hoeffding's lemma; de Rooij et al. 2014, lemma 3.

        Raises
        ------
        ValueError
            If a forecast has slept in a round that was learned from, or if `segments` is out of its range.
        """
        n, rounds, scalars = self.n_experts, self.rounds, self._state.scalars
        if scalars[SLEPT]:
            raise ValueError(f"no forecast may have slept for a regret bound, got {scalars[SLEPT]:.0f} rounds with NaN")
        whole(1, max(rounds, 1), segments=segments)
        if scalars[SCALE] == 0.0 or rounds == 0:
            return 0.0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            moves = (segments - 1) * (np.log(max(n - 1, 1)) - np.log(self.alphas)) if segments > 1 else 0.0
            stays = -(rounds - segments) * np.log1p(-self.alphas) if rounds > segments else 0.0
            nats = np.log(n) + np.log(self.alphas.size) + float(np.min(moves + stays))
        etas = self._rates / scalars[SCALE]
        concave = 0.0 if self.gradient else concave_rate(LOSSES[self.loss], float(scalars[DEVIATION]))
        second_order = np.where(etas <= concave, 0.0, etas * scalars[SQUARES] / 8.0)
        return float(np.min(nats / etas + second_order) + 2.0 * scalars[GAP])

    def __repr__(self) -> str:
        return f"Combiner({self.n_experts}, loss={self.loss!r}, rounds={self.rounds})"

    def _arrays(self) -> State:
        arrays = self._state._asdict()
        del arrays["work"]
        return {**arrays, "columns": self._state.columns[:, share.MANTISSA : share.SHARE]}

    def _row(self, forecasts: ArrayLike) -> Floats:
        return shaped("forecasts", forecasts, self.n_experts)[None]

    def _table(self, forecasts: ArrayLike) -> Floats:
        table = shaped("forecasts", forecasts, "T", self.n_experts)
        wrong, rule = np.abs(table) > MOST, f"must lie in [-{MOST:g}, {MOST:g}] or be NaN"
        if self.loss == "log" and not wrong.any():
            wrong, rule = (table < 0.0) | (table > 1.0), "must be probabilities for the log loss"
        if wrong.any():
            t, i = np.argwhere(wrong)[0]
            raise ValueError(f"forecasts {rule}, got {table[t, i]} in round {t}, forecast {i}")
        return table

    def _play(self, table: Floats, outcomes: Floats | None = None) -> tuple[Floats, Floats]:
        """Play rounds; without outcomes nothing is learned."""
        awake, y = ~np.isnan(table), np.full(len(table), np.nan) if outcomes is None else outcomes
        predictions, record = np.empty(len(table)), np.empty(table.shape)
        _combine_rounds(
            np.where(awake, table, 0.0), awake, y, LOSSES[self.loss], self.quantile, self.gradient, self._rates,
            self._state, predictions, record,
        )  # fmt: skip
        return predictions, record


@compiled
def _combine_rounds(
    forecasts: Floats, awake: Mask, y: Floats, code: int, quantile: float, gradient: bool, rates: Floats,
    state: CombinerState, predictions: Floats, record: Floats,
) -> None:  # fmt: skip
    """Round after round over `forecasts` (T, n): the combination into (T,), its weights into (T, n).

    Where y is NaN nothing is learned.
    """
    rounds, n = forecasts.shape
    n_rates = rates.size
    copies, own, v = np.empty((n_rates, n)), np.empty(n_rates), np.empty(n_rates)
    losses, scaled, top = np.empty(n), np.empty(n), np.empty(n_rates)
    for t in range(rounds):
        f, up, w = forecasts[t], awake[t], record[t]
        n_awake = up.sum()
        w[:] = 0.0
        if n_awake == 0:
            predictions[t] = np.nan
            continue
        rate = hedge_weights(state.behind, state.scalars[GAP], v)
        p = 0.0
        for k in range(n_rates):
            c = copies[k]
            share.mixture(state.weights[k], state.columns[k], state.slow[k], state.head[k], c)
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
        if n_awake < n:
            state.scalars[SLEPT] += 1.0
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
            weights, columns, slow, head = state.weights[k], state.columns[k], state.slow[k], state.head[k]
            share.masked_round(scaled, up, weights, columns, slow, head, state.work)
            top[k] = slope * (own[k] - p) if gradient else loss_of(code, quantile, own[k], y[t])
        if n_rates > 1:
            state.scalars[GAP] += hedge_round(top, v, rate, state.behind)
