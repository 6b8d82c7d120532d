"""More than two classes with one question an instance.

What it models: the samplers of the catalogue with a vector of weights for each class over one memory.  The class of the
largest score is predicted, half the lead over the next is the margin that the rule looks at, and the answer is the
class itself.  What is stored is common to all classes: least squares learns the target +1 for the true class and -1
for every other; the Perceptron, AROW's diagonal and AdaGrad move the true class up and the best other one down.
With two classes it is the binary sampler, number for number.
What it leaves out: filters; learners whose update turns or shrinks the vector, or forgets examples.
Sources: those of the binary samplers; Crammer and Singer 2003 for the pair that is moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lpsm.checks import reading, state_array, whole
from lpsm.samplers import layout, saving
from lpsm.samplers.algorithms.kernels import CallableKernel
from lpsm.samplers.catalogue import make
from lpsm.samplers.compiled.classes import best_two, close_question, open_question, question_stream, score
from lpsm.samplers.compiled.classes import lead as lead_of
from lpsm.samplers.compiled.memory import new_work
from lpsm.samplers.compiled.rounds import variance
from lpsm.samplers.sampler import Sampler

__all__ = ["ClassDecision", "MulticlassSampler", "has_classes"]

BLOCK = 4096  # rows of a run, whose scores are held at a time
_NONE: NDArray[Any] = np.zeros(0, dtype=np.int32)
_LEARNERS = (layout.PERCEPTRON, layout.SECOND_ORDER, layout.DIAGONAL, layout.ADAGRAD)
_FILTERS = (layout.FILTER, layout.APPLE_TASTING, layout.LABEL_EFFICIENT_FILTER)


def has_classes(key: str) -> bool:
    """Whether a key of the catalogue has a form for several classes."""
    return _takes_classes(make(key, 1)._plan)


def _takes_classes(plan: layout.Plan) -> bool:
    return plan.learner in _LEARNERS and plan.rule not in _FILTERS


class ClassDecision(NamedTuple):
    """What is committed to on one instance, before any label."""

    margin: float  # half the lead of the predicted class
    prediction: int  # number of the class; of equal scores the last
    query: bool
    probability: float
    ticket: int | None = None


class _Question(NamedTuple):
    values: NDArray[Any]
    columns: NDArray[np.int32] | None
    scores: NDArray[np.float64]
    prediction: int
    due: int
    weight: float


class MulticlassSampler:
    """A sampler of the catalogue for `n_classes` classes.

    Parameters
    ----------
    key, n_features
        As in `lpsm.samplers.make`.
    n_classes
        Number k of classes, at least 2.
    **options
        As in `lpsm.samplers.make`: rng, normalize, kernel (a named one), max_queries, and the key's parameters.

    Raises
    ------
    ValueError
        If the key is a filter, or its learner has no form for more than two classes.

    Attributes
    ----------
    last_scores
        Scores of the classes in the last round, (k,).

    >>> s = MulticlassSampler("ss", 2, 3, K=0.5)
    >>> for x, c in (([1.0, 0.0], 0), ([0.0, 1.0], 1), ([-1.0, -1.0], 2)):
    ...     d = s.decide(x)
    ...     _ = d.query and s.learn(d.ticket, c)
    >>> s.predict([[2.0, 0.0], [0.0, 3.0], [-1.0, -2.0]]).tolist()
    [0, 1, 2]
    """

    def __init__(self, key: str, n_features: int, n_classes: int, **options: Any) -> None:
        whole(2, n_classes=n_classes)
        self._lead: Sampler = make(key, n_features, **options)
        if not _takes_classes(self._lead._plan) or isinstance(self._lead.kernel, CallableKernel):
            raise ValueError(f"key must be a sampler that has a form for several classes, got {key!r}")
        self.key, self.n_features, self.n_classes = key, n_features, int(n_classes)
        width = len(self._lead._state.weights)
        self._rows = np.zeros((self.n_classes, width), dtype=self._lead.dtype)
        self._targets = np.zeros((self.n_classes, len(self._lead._state.target)), dtype=self._lead.dtype)
        self._questions: dict[int, _Question] = {}
        self.last_scores = np.zeros(self.n_classes)

    @property
    def rounds(self) -> int:
        """Rounds so far."""
        return self._lead.rounds

    @property
    def queries(self) -> int:
        """Labels asked for so far: one an instance."""
        return self._lead.queries

    @property
    def stored(self) -> int:
        """Examples stored so far."""
        return self._lead.stored

    @property
    def normalize(self) -> bool:
        """Whether instances are divided by their norm."""
        return self._lead.normalize

    @property
    def open_tickets(self) -> list[int]:
        """Tickets of the questions whose labels have not come, oldest first."""
        return list(self._questions)

    def decide(self, x: Any) -> ClassDecision:
        """Predict the class of `x`, shape (d,) or a sparse row, and say whether to ask for it."""
        lead = self._lead
        values, columns = lead._instance(x)
        self._make_room(len(values), columns is not None)
        t = lead.rounds + 1
        u = float(lead._rng.random()) if lead.randomized and lead._rng is not None else 0.0
        scores = np.zeros(self.n_classes)
        at = _NONE if columns is None else columns
        _, _, r, margin, predicted, query, chance = open_question(
            lead._plan, lead._state, self._rows, lead._work, values, at, columns is not None, u, *lead._schedule(t),
            scores,
        )  # fmt: skip
        self.last_scores = scores / (1.0 + max(r, 0.0)) if lead._plan.includes_instance else scores
        ticket = None
        if query:
            ticket = t
            due, weight = int(lead._state.counts[layout.DUE]), float(lead._state.scalars[layout.WEIGHT])
            self._questions[t] = _Question(values, columns, scores, int(predicted), due, weight)
        return ClassDecision(float(margin), int(predicted), bool(query), float(chance), ticket)

    def learn(self, ticket: int, y: int) -> bool:
        """Take the class `y` of an instance asked about, whenever it comes; return whether it was stored.

        Raises
        ------
        RuntimeError
            If the ticket is not open.
        ValueError
            If `y` is no number of a class.
        """
        if not 0 <= y < self.n_classes:
            raise ValueError(f"y must be a class from 0 to {self.n_classes - 1}, got {y}")
        if ticket not in self._questions:
            raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {self.open_tickets}")
        asked, lead = self._questions.pop(ticket), self._lead
        is_sparse = asked.columns is not None
        self._make_room(len(asked.values), is_sparse)
        scores, at = np.zeros(self.n_classes), _NONE if asked.columns is None else asked.columns
        square, norm2 = score(
            lead._plan, lead._state, self._rows, lead._work, asked.values, at, is_sparse, scores
        )  # fmt: skip
        said = lead_of(asked.scores, int(y), asked.prediction)
        lead._state.counts[layout.DUE] = asked.due
        lead._state.scalars[layout.WEIGHT] = asked.weight
        r = -1.0 if lead._plan.learner == layout.SECOND_ORDER else 0.0
        late = ticket != lead.rounds
        return bool(
            close_question(
                lead._plan, lead._state, self._rows, self._targets, lead._work, len(asked.values), is_sparse, square,
                norm2, scores, r, said, int(y), late,
            )
        )  # fmt: skip

    def forget(self, ticket: int) -> None:
        """Close a question whose label will not come."""
        if self._questions.pop(ticket, None) is None:
            raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {self.open_tickets}")

    def run(self, X: Any, y: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Decide on the rows of X in turn, reading y only where it is asked for; return predictions and questions.

        Equal to the loop of `decide` and `learn`, decision for decision and draw for draw, compiled.

        Raises
        ------
        ValueError
            As `decide`, or if there is not a class for each row; nothing has then been learned.
        """
        blocks = [(said, asked) for said, asked, _ in self._blocks(X, y)]
        return np.concatenate([said for said, _ in blocks]), np.concatenate([asked for _, asked in blocks])

    def _blocks(
        self, X: Any, y: ArrayLike
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64]]]:
        """Play the rows of X; yield for each block of them predictions, questions, and `last_scores` (B, k)."""
        lead, labels = self._lead, np.asarray(y)
        table = lead._table(X)
        rounds = table.shape[0]
        if labels.shape != (rounds,):
            raise ValueError(f"y must have shape ({rounds},), got {labels.shape}")
        if rounds and not (
            np.issubdtype(labels.dtype, np.integer) and 0 <= labels.min() <= labels.max() < self.n_classes
        ):
            raise ValueError(f"y must hold numbers of classes from 0 to {self.n_classes - 1}, got {labels[:3]} ...")
        is_sparse = bool(sparse.issparse(table))
        for start in range(0, max(rounds, 1), BLOCK):
            part = table[start : start + BLOCK]
            codes = labels[start : start + BLOCK].astype(np.int64)
            world = lead._world(part, codes.astype(np.float64))
            predicted, queried = np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=np.bool_)
            scores, at = np.zeros((len(codes), self.n_classes)), 0
            while at < len(codes):
                width = int(world.starts[at + 1] - world.starts[at]) if is_sparse else self.n_features
                self._make_room(width, is_sparse)
                at = question_stream(
                    lead._plan, lead._state, self._rows, self._targets, lead._work, world, codes, is_sparse, predicted,
                    queried, scores, at,
                )  # fmt: skip
            if len(codes):
                self.last_scores = scores[-1].copy()
            yield predicted, queried, scores

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores (T, k) of the rows of X under the present state: no round, no question."""
        lead = self._lead
        table = lead._table(X, remember=False)
        out, work = np.zeros((table.shape[0], self.n_classes)), new_work(
            lead._plan, lead._state, lead.n_features, lead.dtype
        )  # fmt: skip
        is_sparse = bool(sparse.issparse(table))
        for t in range(table.shape[0]):
            part = slice(table.indptr[t], table.indptr[t + 1]) if is_sparse else slice(0)
            values = table.data[part] if is_sparse else table[t]
            at = table.indices[part].astype(np.int32) if is_sparse else _NONE
            norm2 = score(lead._plan, lead._state, self._rows, work, values, at, is_sparse, out[t])[1]
            if lead._plan.includes_instance:
                out[t] /= 1.0 + variance(lead._plan, lead._state, work, len(values), is_sparse, norm2)
        return out

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the numbers of the classes of the largest scores, of several the last."""
        return np.array([best_two(row)[0] for row in self.scores(X)], dtype=np.int64)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that determines the future, as a versioned dict of arrays; see `Sampler.state`."""
        asked = self._questions.values()
        open_questions = {
            ticket: saving.Question(q.values, q.columns, 0.0, q.due, q.weight) for ticket, q in self._questions.items()
        }
        return {
            **self._lead.state(),
            "kind": np.array("MulticlassSampler"),
            "class_rows": self._rows.copy(),
            "class_targets": self._targets.copy(),
            **saving.questions_to_arrays(open_questions, self._lead.dtype),
            "open_scores": np.array([q.scores for q in asked]).reshape(len(asked), self.n_classes),
            "open_predictions": np.array([q.prediction for q in asked], dtype=np.int64),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> MulticlassSampler:
        """Return the sampler `state` was taken from.

        Raises
        ------
        ValueError
            If the state is of another version, lacks a part, or its arrays do not belong together.
        """
        model = cls.__new__(cls)
        with reading("a sampler's state"):
            classes = {name: state[name] for name in ("class_rows", "class_targets", "open_scores", "open_predictions")}
            model._lead = lead = Sampler.from_state(dict(state))
            if not _takes_classes(lead._plan):
                raise ValueError(f"a state of several classes must be of a sampler that has them, got {lead.key!r}")
            k = whole(2, n_classes=np.asarray(classes["class_rows"]).shape[0])
            model._rows = state_array(classes, "class_rows", (k, len(lead._state.weights)), lead.dtype)
            model._targets = state_array(classes, "class_targets", (k, len(lead._state.target)), lead.dtype)
            scores = state_array(classes, "open_scores", (len(lead._questions), k))
            predictions = state_array(classes, "open_predictions", (len(lead._questions),), np.int64, low=0)
            whole(0, k - 1, open_predictions=int(predictions.max(initial=0)))
        model.key, model.n_features, model.n_classes = lead.key, lead.n_features, k
        model._questions = {
            ticket: _Question(q.values, q.columns, scores[i], int(predictions[i]), q.due, q.weight)
            for i, (ticket, q) in enumerate(lead._questions.items())
        }
        lead._questions = {}
        model.last_scores = np.zeros(model.n_classes)
        return model

    def __repr__(self) -> str:
        return (
            f"MulticlassSampler({self.key!r}, n_features={self.n_features}, n_classes={self.n_classes}, "
            f"rounds={self.rounds}, queries={self.queries})"
        )

    def _make_room(self, width: int, is_sparse: bool) -> None:
        lead = self._lead
        lead._make_room(width, is_sparse)
        for name, array in (("_rows", lead._state.weights), ("_targets", lead._state.target)):
            held = getattr(self, name)
            if held.shape[1] != len(array):
                setattr(self, name, np.pad(held, ((0, 0), (0, len(array) - held.shape[1]))))
