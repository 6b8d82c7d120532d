"""What a sampler says of a round, and of a whole stream; `RunLog.ledger` takes the labels that it did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm.arrays import Floats, Mask
from lpsm.checks import of_type, whole
from lpsm.online import Ledger
from lpsm.samplers.checks import as_labels


class Decision(NamedTuple):
    """What a sampler commits to on one instance, before any label."""

    margin: float
    prediction: int  # -1 or +1; SGN(0) = +1
    query: bool  # whether the label is asked for (a filter: whether the instance is forwarded)
    probability: float  # with which it was going to be
    ticket: int | None = None  # names the question to `learn`, whenever the label comes; None if it did not ask


class RunLog:
    """What a sampler did over a stream; every array has shape (T,).

    ``margin`` is computed when first read if the run could do without; until then X must not be changed.
    """

    __slots__ = ("_margin", "_said", "prediction", "queried", "replay", "stored")

    def __init__(
        self, prediction: NDArray[np.int8], queried: Mask, stored: Mask, margin: Floats, said: Floats | None = None
    ) -> None:
        self.prediction = prediction
        self.queried = queried
        self.stored = stored
        self._margin, self._said = margin, said
        self.replay: Callable[[], RunLog] | None = None  # plays the run again with exact margins, if these are not

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
        return self.replay is None

    @property
    def margin(self) -> Floats:
        """Signed margin of every round, as `decide` gives it; RuntimeError if X was changed before it was read."""
        if self.replay is not None:
            again = self.replay()
            same = all(
                np.array_equal(getattr(self, name), getattr(again, name))
                for name in ("prediction", "queried", "stored", "_said")
            )
            if not same:
                raise RuntimeError("X must stay as it was in the run until log.margin is read, got another X")
            self._margin, self.replay = again._margin, None
        return self._margin

    def ledger(self, y: ArrayLike) -> Ledger:
        """Return the run's ledger against all labels, those that were never asked for included."""
        mistaken = self.prediction != as_labels(y, len(self.prediction))
        return Ledger(mistaken.astype(np.float64), mistaken, self.queried)

    def __len__(self) -> int:
        return len(self.prediction)

    def __repr__(self) -> str:
        return f"RunLog(rounds={len(self)}, queries={self.queried.sum()}, stored={self.stored.sum()})"

    def __reduce__(self) -> tuple[object, ...]:
        return RunLog, (self.prediction, self.queried, self.stored, self.margin)
