"""Combining forecasts as they come: predict, see the outcome, learn.

What it models: forecasters ("experts") of one number, mixed by Learn-alpha, so that the best of them may change; the
rate at which losses turn into weights is given or learned (`combine` in `lpsm.combining.table` is the same for
whole tables).  A forecast that is NaN is asleep: weights go to those awake, and it keeps its share.
What it leaves out: forecasts of several numbers at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm.checks import reading, state_array, state_text
from lpsm.combining.kernel import DEVIATION, GAP, LEARNED, SCALE, SQUARES, STATE, CombinerState, combine_rounds
from lpsm.combining.losses import LOSSES, concave_rate
from lpsm.experts.grids import alpha_grid
from lpsm.experts.hierarchy import packed

__all__ = ["Combiner"]

Floats = NDArray[np.float64]

RATES: Floats = np.array([4.0**k for k in range(2, -10, -1)])  # in units of 1 / (the first difference between losses)
HORIZON = 1000


class Combiner:
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
        Of the pinball loss, in (0, 1).
    gradient
        Whether to learn from the slope of the loss at the combination instead of the losses: the combination then
        competes with the best fixed mean of the forecasts, not only with the best forecast.
    alphas
        Switching rates of Learn-alpha, (m,); None for the grid of a horizon of 1,000 rounds.

    Raises
    ------
    ValueError
        If a parameter is out of its range.

    >>> combiner = Combiner(2)
    >>> for y in (1.0, 2.0, 3.0, 4.0):
    ...     _ = combiner.update([y, 5.0], y)  # returns the combination before y was known
    >>> bool(combiner.weights[0] > 0.75)
    True
    """

    VERSION = 1

    def __init__(
        self,
        n_experts: int,
        loss: str = "square",
        rate: float | str = "learn",
        *,
        quantile: float = 0.5,
        gradient: bool = False,
        alphas: ArrayLike | None = None,
    ) -> None:
        if not (isinstance(n_experts, int | np.integer) and n_experts >= 1):
            raise ValueError(f"n_experts must be an integer of at least 1, got {n_experts!r}")
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
        if rate != "learn" and not (isinstance(rate, int | float) and 0.0 < rate < np.inf):
            raise ValueError(f"rate must be 'learn' or a positive number, got {rate!r}")
        if not 0.0 < quantile < 1.0:
            raise ValueError(f"quantile must lie in (0, 1), got {quantile}")
        if loss == "log" and gradient:
            raise ValueError("gradient must be False for the log loss, whose slope has no bound, got True")
        self.n_experts, self.loss, self.rate = int(n_experts), loss, rate
        self.quantile, self.gradient = float(quantile), bool(gradient)
        grid = alpha_grid(horizon=HORIZON) if alphas is None else np.atleast_1d(np.asarray(alphas, dtype=np.float64))
        if grid.ndim != 1 or not grid.size or not ((grid >= 0.0) & (grid <= 1.0)).all():
            raise ValueError(f"alphas must lie in [0, 1], shape (m,) with m >= 1, got {alphas!r}")
        self.alphas = grid
        given = 1.0 if rate == "learn" and loss == "log" else rate
        self._rates: Floats = RATES.copy() if given == "learn" else np.array([float(given)])
        n, k = self.n_experts, self._rates.size
        uniform = np.full(n, 1.0 / n), np.full(grid.size, 1.0 / grid.size)
        arrays, _ = packed(n, grid, *uniform, -float(np.finfo(np.float64).max))
        scalars = np.zeros(STATE)
        scalars[SCALE] = 0.0 if given == "learn" else 1.0
        self._state = CombinerState(scalars, np.zeros(k), *(np.repeat(array[None], k, axis=0) for array in arrays))

    @property
    def weights(self) -> Floats:
        """Weights of the forecasts in the next round if all are awake, (n,)."""
        return np.asarray(self._peek(np.zeros((1, self.n_experts)))[1][0])

    @property
    def rounds(self) -> int:
        """Rounds learned from."""
        return int(self._state.scalars[LEARNED])

    def predict(self, forecasts: ArrayLike) -> float:
        """Return the combination of one round's forecasts, (n,), of which NaN are asleep; NaN if all are."""
        return float(self._peek(self._table(np.asarray(forecasts, dtype=np.float64)[None]))[0][0])

    def update(self, forecasts: ArrayLike, y: float) -> float:
        """Combine one round's forecasts, (n,), learn from the outcome, and return the combination.

        Raises
        ------
        ValueError
            As `run`; nothing is learned then.
        """
        return float(self.run(np.asarray(forecasts, dtype=np.float64)[None], [y])[0][0])

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
        table, outcomes = self._table(np.asarray(forecasts, dtype=np.float64)), np.array(y, dtype=np.float64)
        if outcomes.shape != (len(table),):
            raise ValueError(f"y must have shape ({len(table)},), got {outcomes.shape}")
        if np.isinf(outcomes).any():
            raise ValueError(f"y must be finite, got {outcomes[np.isinf(outcomes)][0]}")
        if self.loss in ("log", "logistic"):
            strange = ~(np.isnan(outcomes) | np.isin(outcomes, (-1.0, 0.0, 1.0)))
            if strange.any() or (np.isin(-1.0, outcomes) and np.isin(0.0, outcomes)):
                raise ValueError(f"y must be 0 and 1, or -1 and 1, for the {self.loss} loss, got {np.unique(outcomes)}")
        return self._play(table, outcomes, self._state)

    def regret_bound(self, segments: int = 1) -> float:
        """Most that the combination can have lost beyond the best `segments` segments of one forecast each.

        It holds for what was learned from so far, if nobody slept (under `gradient`, with 1 segment, against every
        fixed mean of the forecasts): for the best of the rates eta,

            (ln n + ln m + (k - 1) ln((n - 1)/alpha) + (T - k) ln(1/(1 - alpha))) / eta + eta S/8 + 2 D,

        alpha the best of the m switching rates, S the sum of the squared spreads of the losses (left out where
        exp(-eta loss) is concave, `losses`), D AdaHedge's mixability gap, 0 with a given rate.
        Sources: Monteleoni 2006, equation (2.8) and Corollary 1; Hoeffding's lemma; de Rooij et al. 2014, lemma 3.
        """
        n, rounds, scalars = self.n_experts, self.rounds, self._state.scalars
        if not 1 <= segments <= max(rounds, 1):
            raise ValueError(f"segments must lie in [1, {max(rounds, 1)}], got {segments}")
        if scalars[SCALE] == 0.0 or rounds == 0:
            return 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = (segments - 1) * (np.log(max(n - 1, 1)) - np.log(self.alphas)) if segments > 1 else 0.0
            stays = -(rounds - segments) * np.log1p(-self.alphas) if rounds > segments else 0.0
            nats = np.log(n) + np.log(self.alphas.size) + float(np.min(moves + stays))
        etas = self._rates / scalars[SCALE]
        concave = 0.0 if self.gradient else concave_rate(LOSSES[self.loss], float(scalars[DEVIATION]))
        second_order = np.where(etas <= concave, 0.0, etas * scalars[SQUARES] / 8.0)
        return float(np.min(nats / etas + second_order) + 2.0 * scalars[GAP])

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything needed to go on, as a versioned dict of arrays; ``numpy.savez(path, **state)`` writes it."""
        return {
            "kind": np.array("Combiner"),
            "version": np.array(self.VERSION),
            "n_experts": np.array(self.n_experts),
            "loss": np.array(self.loss),
            "rate": np.array(self.rate),
            "quantile": np.array(self.quantile),
            "gradient": np.array(self.gradient),
            "alphas": self.alphas.copy(),
            **{name: array.copy() for name, array in self._state._asdict().items()},
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Combiner:
        """Rebuild the combiner from `state()`, or from what ``numpy.load`` gives for its file.

        Raises
        ------
        ValueError
            If the state is of another kind or version, incomplete, or its arrays do not belong together.
        """
        with reading("state"):
            return cls._from(state)

    @classmethod
    def _from(cls, state: Mapping[str, Any]) -> Combiner:
        if (str(state.get("kind")), str(state.get("version"))) != ("Combiner", str(cls.VERSION)):
            raise ValueError(f"state must be of a Combiner of version {cls.VERSION}, got {state.get('kind')!r}")
        rate, n = str(state["rate"]), int(state["n_experts"])
        sizes = {name: np.asarray(state[name]).shape[-1] for name in ("work", "weights", "slow")}
        if (n, len(state["alphas"])) != (sizes["work"], sizes["weights"] + sizes["slow"]):  # before any is made
            raise ValueError(f"state must hold arrays of {n} experts and {len(state['alphas'])} alphas, got {sizes}")
        combiner = cls(
            n,
            state_text(state, "loss"),
            rate if rate == "learn" else float(rate),
            quantile=float(state["quantile"]),
            gradient=bool(state["gradient"]),
            alphas=state_array(state, "alphas", (None,)),
        )
        shapes = {name: array.shape for name, array in combiner._state._asdict().items()}
        combiner._state = CombinerState(**{name: state_array(state, name, shape) for name, shape in shapes.items()})
        return combiner

    def __repr__(self) -> str:
        return f"Combiner({self.n_experts}, loss={self.loss!r}, rate={self.rate!r}, rounds={self.rounds})"

    def _table(self, table: Floats) -> Floats:
        if table.ndim != 2 or table.shape[1] != self.n_experts:
            raise ValueError(f"forecasts must have shape (T, {self.n_experts}), got {table.shape}")
        if np.isinf(table).any():
            t, i = np.argwhere(np.isinf(table))[0]
            raise ValueError(f"forecasts must be finite or NaN, got {table[t, i]} in round {t}, forecast {i}")
        if self.loss == "log" and ((table < 0.0) | (table > 1.0)).any():
            t, i = np.argwhere((table < 0.0) | (table > 1.0))[0]
            raise ValueError(f"forecasts must be probabilities for the log loss, got {table[t, i]} in round {t}")
        return table

    def _peek(self, table: Floats) -> tuple[Floats, Floats]:
        """Combine without learning: no outcome is known."""
        return self._play(table, np.full(len(table), np.nan), self._state)

    def _play(self, table: Floats, outcomes: Floats, state: CombinerState) -> tuple[Floats, Floats]:
        awake = ~np.isnan(table)
        predictions, record = np.empty(len(table)), np.empty(table.shape)
        combine_rounds(
            np.ascontiguousarray(np.where(awake, table, 0.0)),
            np.ascontiguousarray(awake),
            outcomes,
            LOSSES[self.loss],
            self.quantile,
            self.gradient,
            self._rates,
            state,
            predictions,
            record,
        )
        return predictions, record
