"""What a sampler says of a round, and of a whole stream.

What it models: the decision on one instance, and the log of a run.  What it leaves out:
mistakes, which need all labels: `RunLog.ledger` takes them afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm.checks import of_type, whole
from lpsm.online import Ledger
from lpsm.samplers.checks import as_labels

__all__ = ["Decision", "RunLog"]


class Decision(NamedTuple):
    """What a sampler commits to on one instance, before any label."""

    margin: float
    prediction: int  # -1 or +1; SGN(0) = +1
    query: bool  # whether the label is asked for (a filter: whether the instance is forwarded)
    probability: float  # with which it was going to be
    ticket: int | None = None  # names the question to `learn`, whenever the label comes; None if it did not ask


class RunLog:
    """What a sampler did over a stream; every array has shape (T,).

    ``margin`` is computed when first read if the run could do without: deciding needs its
    sign, and seldom its size.  Until then the instances of the run must not be changed.
    """

    __slots__ = ("_margin", "_replay", "prediction", "queried", "stored")

    def __init__(
        self,
        prediction: NDArray[np.int8],
        queried: NDArray[np.bool_],
        stored: NDArray[np.bool_],
        margin: NDArray[np.float64],
        replay: Callable[[], NDArray[np.float64]] | None = None,
    ) -> None:
        self.prediction = prediction
        self.queried = queried
        self.stored = stored
        self._margin = margin
        self._replay = replay

    @classmethod
    def of(cls, rounds: Iterable[tuple[Decision, bool]], n_rounds: int) -> RunLog:
        """Return the log of rounds played one by one, each a decision and whether its example was stored."""
        whole(0, 2**31, n_rounds=n_rounds)
        margin, prediction = np.zeros(n_rounds), np.zeros(n_rounds, dtype=np.int8)
        queried, stored = np.zeros(n_rounds, dtype=np.bool_), np.zeros(n_rounds, dtype=np.bool_)
        for t, (decision, stored[t]) in enumerate(rounds):
            of_type(Decision, rounds=decision)
            margin[t], prediction[t], queried[t] = decision.margin, decision.prediction, decision.query
        return cls(prediction, queried, stored, margin)

    @property
    def exact(self) -> bool:
        """Whether `margin` is there, and need not be computed."""
        return self._replay is None

    @property
    def margin(self) -> NDArray[np.float64]:
        """Signed margin of every round, as `decide` gives it."""
        if self._replay is not None:
            self._margin = self._replay()
            self._replay = None
        return self._margin

    def ledger(self, y: ArrayLike) -> Ledger:
        """Return the run's ledger against all labels, those that were never asked for included."""
        mistaken = self.prediction != as_labels(y, len(self.prediction))
        ledger = Ledger()
        ledger.extend(mistaken.astype(np.float64), mistaken, self.queried)
        return ledger

    def __len__(self) -> int:
        return len(self.prediction)

    def __reduce__(self) -> tuple[Any, ...]:
        return RunLog, (self.prediction, self.queried, self.stored, self.margin)
