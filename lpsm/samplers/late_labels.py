"""Questions whose labels have not come, by ticket: the instance, and what its round came to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from lpsm.arrays import Array, State
from lpsm.checks import shown, state_array, whole
from lpsm.samplers.checks import Columns
from lpsm.samplers.round import N_OUTCOME


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

    def widen(self, more: Array) -> None:
        """Give dense instances more features, the new ones last."""
        for ticket, one in self.items():
            if one.columns is None:
                self[ticket] = one._replace(values=np.append(one.values, more))

    def state(self) -> State:
        """Return them as arrays, whose names begin with their tickets."""
        parts = {f"open_{t}_{name}": part for t, one in self.items() for name, part in one._asdict().items()}
        written = {name: part.copy() for name, part in parts.items() if part is not None}
        return {"open_tickets": np.array(list(self), dtype=np.int64), **written}

    @classmethod
    def of_state(cls, state: Mapping[str, Array], d: int, dtype: DTypeLike, n_outcomes: int, k: int) -> Questions:
        """Return those in a state, checked: so many outcomes of each, of k classes."""
        questions = cls()
        for ticket in state_array(state, "open_tickets", (None,), np.int64, low=1).tolist():
            own, columns = f"open_{ticket}_", None
            if ticket in questions:
                raise ValueError(f"open_tickets must be different ones, got {ticket} twice")
            if f"{own}columns" in state:
                columns = state_array(state, f"{own}columns", (None,), np.int32, low=0)
                whole(0, d, values=len(columns))
                whole(0, d - 1, columns=int(columns.max(initial=0)))
            values = state_array(state, f"{own}values", (d if columns is None else len(columns),), dtype)
            outcome = state_array(state, f"{own}outcome", (n_outcomes, N_OUTCOME))
            scores = state_array(state, f"{own}scores", (1, k)) if k > 1 else None
            questions[ticket] = Question(values, columns, outcome, scores)
        return questions
