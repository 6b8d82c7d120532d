"""What a sampler says of a round and of a whole stream, and its questions whose labels have not come, by ticket.

`RunLog.ledger` takes the labels that the sampler did not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from lpsm.arrays import Array, Floats, Mask, State
from lpsm.checks import shown, state_array, whole
from lpsm.online import Ledger
from lpsm.samplers.checks import Columns, as_labels
from lpsm.samplers.protocol import N_OUTCOME


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


class Question(NamedTuple):
    """An instance that was asked about, until its label comes."""

    values: Array
    columns: Columns
    outcome: Array  # (1, N_OUTCOME), or (m + 1, N_OUTCOME) of an ensemble: what its round came to
    scores: Array | None = None  # (1, k) of several classes

    def is_about(self, values: Array, columns: Columns) -> bool:
        """Whether its instance is this one."""
        if columns is None or self.columns is None:
            alike = columns is self.columns
        else:
            alike = columns.tobytes() == self.columns.tobytes()
        return alike and (values.tobytes() == self.values.tobytes() or np.array_equal(values, self.values))


class Questions(dict[int, Question]):
    """The open questions, oldest first."""

    def close(self, ticket: int) -> Question:
        """Take the question of a ticket out of them, or raise RuntimeError if it is not open."""
        if ticket not in self:
            raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {shown(list(self))}")
        return self.pop(ticket)

    def state(self) -> State:
        """Return them as arrays, whose names begin with their tickets."""
        parts = {f"open_{t}_{name}": part for t, one in self.items() for name, part in one._asdict().items()}
        written = {name: part.copy() for name, part in parts.items() if part is not None}
        return {"open_tickets": np.array(list(self), np.int64), **written}

    @classmethod
    def of_state(cls, state: Mapping[str, Array], d: int, dtype: DTypeLike, n_outcomes: int, k: int) -> Questions:
        """Return those in a state, checked: so many outcomes of each, of k classes."""
        questions = cls()
        for ticket in state_array(state, "open_tickets", (None,), np.int64, low=1).tolist():
            own, columns = f"open_{ticket}_", None
            if ticket in questions:
                raise ValueError(f"open_tickets must be different ones, got {ticket} twice")
            if f"{own}columns" in state:
                columns = state_array(state, f"{own}columns", (None,), np.int32, 0, d - 1)
                whole(0, d, values=len(columns))
            values = state_array(state, f"{own}values", (d if columns is None else len(columns),), dtype)
            outcome = state_array(state, f"{own}outcome", (n_outcomes, N_OUTCOME))
            scores = state_array(state, f"{own}scores", (1, k)) if k > 1 else None
            questions[ticket] = Question(values, columns, outcome, scores)
        return questions
