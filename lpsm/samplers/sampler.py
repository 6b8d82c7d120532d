"""The sampler: a margin learner, a query rule, and the protocol that keeps them honest.

What it models: round t shows an instance; `decide` predicts its label and says whether to
ask for it; only then does `learn` take the label, using the products `decide` left.
`run` is the same over a whole stream, compiled.  A randomised rule consumes one uniform a
round, asked or not; deterministic rules none; evictions draw from a spawned generator.
A label may come late: the decision's ticket names its question, which stays open until `learn` takes
the label, in any order.  Then whether the prediction was a mistake is judged by what was said in its
round, and the example is stored into the state of the day.
What it leaves out: which learner goes with which rule (`catalogue`), labels other than
-1 and +1.
Source: Cesa-Bianchi et al. 2004, section 2; Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lpsm.checks import reading, whole
from lpsm.online import play
from lpsm.samplers import layout, saving
from lpsm.samplers.algorithms import PARTS
from lpsm.samplers.algorithms.composition import plan_of
from lpsm.samplers.algorithms.kernels import CallableKernel
from lpsm.samplers.algorithms.learners import BudgetPerceptron
from lpsm.samplers.algorithms.thresholds import Halving
from lpsm.samplers.checks import as_labels
from lpsm.samplers.compiled.algebra import WIDE
from lpsm.samplers.compiled.memory import new_state, new_work, widen
from lpsm.samplers.compiled.stream import close_round, drive, margins, open_round, reopen_round
from lpsm.samplers.intake import Intake
from lpsm.samplers.layout import RANDOMIZED, Part, State
from lpsm.samplers.record import Decision, RunLog

__all__ = ["Sampler"]

SHORT = 64  # rounds
_NOTHING: NDArray[Any] = np.zeros(0, dtype=np.int32)


class Sampler(Intake):
    """A margin learner asking by a query rule.

    Parameters
    ----------
    learner, rule
        Records such as `LeastSquares` and `SmallMargin`.
    n_features
        Dimension d of the instances.
    stores
        "mistakes": of the queried examples those predicted wrongly; "queried": all of
        them; "small margins": those with y p < 1, as a hinge loss wants it.  The adaptive
        sampler stores what it scheduled, in any case.
    normalize
        Whether instances are divided by their norm first; a zero vector is then an error.
    kernel
        None for weights over features; otherwise coefficients over stored instances.
    rng
        The coins of a randomised rule, one uniform a round; None for one of seed 0.
    dtype
        float64 or float32, of the learner's arrays.
    max_queries
        Labels asked for at most; after that it goes on predicting.  None for no limit.

    >>> from lpsm.samplers import Always, LeastSquares
    >>> s = Sampler(LeastSquares(), Always(), n_features=2)
    >>> s.decide([1.0, 0.0])
    Decision(margin=0.0, prediction=1, query=True, probability=1.0, ticket=1)
    >>> s.learn([1.0, 0.0], -1)
    True
    >>> s.decide([1.0, 0.0]).margin  # p = -1/2, r = 1/2
    -0.3333333333333333
    """

    def __init__(
        self,
        learner: Part,
        rule: Part,
        *,
        n_features: int,
        stores: str = "mistakes",
        normalize: bool = False,
        kernel: Part | None = None,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float64,
        key: str = "",
        max_queries: int | None = None,
    ) -> None:
        whole(1, n_features=n_features)
        if stores not in ("mistakes", "queried", "small margins"):
            raise ValueError(f"stores must be 'mistakes', 'queried' or 'small margins', got {stores!r}")
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise ValueError(f"dtype must be float64 or float32, got {self.dtype}")
        self.learner, self.rule, self.kernel = learner, rule, kernel
        self.n_features, self.stores, self.normalize, self.key = int(n_features), stores, bool(normalize), key
        if max_queries is not None:
            whole(0, max_queries=max_queries)
        self.max_queries = max_queries
        self._plan = plan_of(learner, rule, kernel, stores, bool(normalize), max_queries)
        self.randomized = self._plan.rule in RANDOMIZED
        self._rng = rng if rng is not None or not self.randomized else np.random.default_rng(0)
        self._evictions: np.random.Generator | None = None
        budget = 0
        if isinstance(learner, BudgetPerceptron):
            budget = learner.B
            self._evictions = (np.random.default_rng(0) if rng is None else rng).spawn(1)[0]
        threshold = rule.s_1 if isinstance(rule, Halving) else 0.0
        self._state = new_state(self._plan, self.n_features, budget, threshold, self.dtype)
        self._work = new_work(self._plan, self._state, self.n_features, self.dtype)
        self._remembers = self._plan.form != layout.PRIMAL or budget > 0
        self._sparse_memory: bool | None = False if isinstance(kernel, CallableKernel) else None
        self._questions: dict[int, saving.Question] = {}  # by ticket
        self._last: int | None = None  # ticket of the last decision, if it asked
        self._fresh = False  # whether the work space still holds the products of the last decision

    # -- one instance at a time -----------------------------------------------------------

    def decide(self, x: Any) -> Decision:
        """Predict the label of `x`, shape (d,) or a sparse row, and say whether to ask for it.

        Raises
        ------
        ValueError
            If `x` has another dimension, is not finite, or is zero where it is normalised.
        """
        values, columns = self._instance(x)
        is_sparse = columns is not None
        if self._remembers:
            self._make_room(len(values), is_sparse)
            if isinstance(self.kernel, CallableKernel):
                self.kernel.fill(self._state, self._work, self._scaled(values))
        t = self.rounds + 1
        u = float(self._rng.random()) if self.randomized and self._rng is not None else 0.0
        at = _NOTHING if columns is None else columns
        square, norm2, p, r, margin, prediction, query, chance = open_round(
            self._plan, self._state, self._work, values, at, is_sparse, u, *self._schedule(t)
        )
        self._fresh, self._last = True, None
        if query:
            due = int(self._state.counts[layout.DUE])
            weight = float(self._state.scalars[layout.WEIGHT])
            self._questions[t] = saving.Question(values, columns, p, due, weight, (square, norm2, p, r))
            self._last = t
        return Decision(margin, prediction, query, chance, self._last)

    def learn(self, x: Any, y: int) -> bool:
        """Take the label `y` of an instance `decide` asked about; return whether the example was stored.

        Parameters
        ----------
        x
            The instance of the last decision, or the ticket of any decision whose label is still owed.
        y
            Its label, -1 or +1.

        Raises
        ------
        RuntimeError
            If the last `decide` did not ask, or the ticket is not open.
        ValueError
            If `x` is not the instance it asked about, or `y` is neither -1 nor +1.
        """
        if y not in (-1, 1):
            raise ValueError(f"y must be -1 or +1, got {y}")
        ticket = int(x) if isinstance(x, int | np.integer) else self._ticket_of(x)
        question = self._questions.get(ticket)
        if question is None:
            raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {self.open_tickets}")
        values, columns = question.values, question.columns
        is_sparse = columns is not None
        products = question.products
        if not (self._fresh and ticket == self._last):
            self._make_room(len(values), is_sparse)
            if isinstance(self.kernel, CallableKernel):
                self.kernel.fill(self._state, self._work, self._scaled(values))
            at = _NOTHING if columns is None else columns
            products = reopen_round(self._plan, self._state, self._work, values, at, is_sparse)
        del self._questions[ticket]
        self._fresh = False
        self._state.counts[layout.DUE] = question.due
        self._state.scalars[layout.WEIGHT] = question.weight
        eviction, evicted = 0.0, int(self._state.counts[layout.EVICTED])
        if self._evictions is not None:
            resume = self._evictions.bit_generator.state
            eviction = float(self._evictions.random())
        stored = close_round(
            self._plan, self._state, self._work, len(values), is_sparse, *products, question.said, float(y), eviction
        )
        if self._evictions is not None and int(self._state.counts[layout.EVICTED]) == evicted:
            self._evictions.bit_generator.state = resume  # nothing was evicted: the draw was not used
        return bool(stored)

    @property
    def open_tickets(self) -> list[int]:
        """Tickets of the questions whose labels have not come, oldest first; their instances are kept."""
        return list(self._questions)

    def forget(self, ticket: int) -> None:
        """Close a question whose label will not come; its instance is kept no longer.

        Raises
        ------
        RuntimeError
            If the ticket is not open.
        """
        if self._questions.pop(ticket, None) is None:
            raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {self.open_tickets}")

    # -- whole streams ----------------------------------------------------------------------

    def run(self, X: Any, y: ArrayLike) -> RunLog:
        """Decide on the rows of X in turn, reading y only where it is asked for.

        Equal to the loop of `decide` and `learn`, decision for decision and draw for draw.

        Parameters
        ----------
        X
            Instances, array of shape (T, d) or sparse matrix.
        y
            Labels -1 and +1, shape (T,).

        Raises
        ------
        ValueError
            As `decide` and `learn`; nothing has then been learned.
        """
        table = self._table(X)
        rounds = table.shape[0]
        labels = as_labels(y, rounds)
        if isinstance(self.kernel, CallableKernel):
            return RunLog.of(play(self, table, lambda t: int(labels[t])), rounds)
        self._fresh = False
        is_sparse = sparse.issparse(table)
        world = self._world(table, labels)
        exact = self._plan.learner != layout.SECOND_ORDER or not self._plan.includes_instance
        lazy = rounds > SHORT  # for a few rows, exact margins cost less than a copy of the state to find them later
        before = State(*(a.copy() for a in self._state)) if lazy and not exact else None
        evicted = int(self._state.counts[layout.EVICTED])
        if self._evictions is not None:
            resume = self._evictions.bit_generator.state
            world = world._replace(evictions=self._evictions.random(rounds))
            self._evictions.bit_generator.state = resume
        self._state, out = drive(self._plan, self._state, self.n_features, world, is_sparse, lazy)
        self._work = new_work(self._plan, self._state, self.n_features, self.dtype)
        if self._evictions is not None:
            self._evictions.random(int(self._state.counts[layout.EVICTED]) - evicted)

        if before is None:
            return RunLog(out.prediction, out.queried, out.stored, out.margin)
        plan, n_features, start = self._plan, self.n_features, before

        def replay() -> NDArray[np.float64]:
            margin: NDArray[np.float64] = drive(plan, start, n_features, world, is_sparse, lazy=False)[1].margin
            return margin

        return RunLog(out.prediction, out.queried, out.stored, out.margin, replay)

    def margins(self, X: Any) -> NDArray[np.float64]:
        """Return the margins of the rows of X under the present state: no round, no question."""
        table = self._table(X, remember=False)
        is_sparse = bool(sparse.issparse(table))
        out = np.zeros(table.shape[0])
        work = new_work(self._plan, self._state, self.n_features, self.dtype)  # the round in progress keeps its own
        if isinstance(self.kernel, CallableKernel):
            for t, row in enumerate(table):
                self.kernel.fill(self._state, work, self._scaled(row))
                world = self._world(table[t : t + 1], np.ones(1), draw=False)
                margins(self._plan, self._state, work, world, is_sparse, out[t : t + 1])
        else:
            world = self._world(table, np.ones(table.shape[0]), draw=False)
            margins(self._plan, self._state, work, world, is_sparse, out)
        return out

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return the signs of the margins of the rows of X, SGN(0) = +1."""
        return np.where(self.margins(X) >= 0.0, 1, -1).astype(np.int8)

    def widen(self, n_features: int) -> None:
        """Go on with more features, the new ones last, as if they had been 0 so far; open questions stay open.

        Raises
        ------
        ValueError
            If there would be fewer features than now.
        """
        whole(self.n_features, n_features=n_features)
        self._state = widen(self._plan, self._state, n_features)
        extra = n_features - self.n_features
        self._questions = {
            ticket: question
            if question.columns is not None
            else question._replace(values=np.append(question.values, np.zeros(extra, dtype=self.dtype)))
            for ticket, question in self._questions.items()
        }
        self.n_features, self._fresh = n_features, False
        self._work = new_work(self._plan, self._state, n_features, self.dtype)

    # -- what it has done ---------------------------------------------------------------------

    @property
    def queries(self) -> int:
        """Labels asked for so far."""
        return int(self._state.counts[layout.ASKED])

    @property
    def stored(self) -> int:
        """Examples stored so far (evicted ones included), N."""
        return int(self._state.counts[layout.STORED])

    @property
    def weights(self) -> NDArray[Any]:
        """V or w, shape (d,): p = weights.x (primal); the coefficients of the stored instances (dual)."""
        n = self.n_features if self._plan.form == layout.PRIMAL else int(self._state.counts[layout.SIZE])
        return self._state.weights[:n].copy()

    @property
    def inverse(self) -> NDArray[Any]:
        """A^-1, shape (d, d), of a second-order learner in primal form; D^-1 + I/c for lasec.

        Raises
        ------
        AttributeError
            If there is no such matrix.
        """
        if self._plan.learner != layout.SECOND_ORDER or self._plan.form != layout.PRIMAL:
            raise AttributeError("inverse belongs to second-order learners in primal form")
        waiting = int(self._state.counts[layout.PENDING])
        rows = self._state.waiting[:waiting]
        shift = waiting * self._plan.drift * np.eye(self.n_features, dtype=self.dtype)
        full: NDArray[Any] = self._state.matrix - rows.T @ rows + shift
        return np.triu(full) + np.triu(full, 1).T if self.n_features >= WIDE else full

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that determines the future, open questions included, as a versioned dict of arrays.

        Raises
        ------
        ValueError
            If a parameter is a function, which cannot be written down.
        """
        config = {
            **{name: getattr(self, name) for name in ("key", "n_features", "stores", "normalize", "max_queries")},
            "dtype": self.dtype.name,
            "sparse_memory": self._sparse_memory,
            **{name: saving.described(getattr(self, name)) for name in ("learner", "rule", "kernel")},
        }
        return {
            "kind": np.array("Sampler"),
            "version": np.array(saving.VERSION),
            "config": saving.as_text(config),
            "coins": saving.position(self._rng),
            "evictions": saving.position(self._evictions),
            **saving.kept(self._state),
            **saving.questions_to_arrays(self._questions, self.dtype),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Sampler:
        """Return the sampler `state` was taken from, ready for its next round or a late label.

        Raises
        ------
        ValueError
            If the state is of another version, lacks a part, or its arrays do not belong together.
        """
        with reading("a sampler's state"):
            config = saving.checked_config(state)
            parts = [saving.rebuilt(config[name], PARTS) for name in ("learner", "rule", "kernel")]
            options = {name: config[name] for name in ("n_features", "stores", "normalize", "dtype", "key")}
            d, memory = whole(1, n_features=options["n_features"]), config["sparse_memory"]
            plan = plan_of(parts[0], parts[1], parts[2], options["stores"], False)
            arrays = saving.restored(state, plan, d, getattr(parts[0], "B", 0), memory, options["dtype"])
            sampler = cls(*parts[:2], kernel=parts[2], max_queries=config.get("max_queries"), **options)
            sampler._sparse_memory, sampler._state = memory, arrays
            sampler._rng, sampler._evictions = (saving.generator(state, name) for name in ("coins", "evictions"))
            sampler._work = new_work(sampler._plan, sampler._state, sampler.n_features, sampler.dtype)
            sampler._questions = saving.questions_of_arrays(state, d, sampler.dtype)
        return sampler

    def __repr__(self) -> str:
        name = repr(self.key) if self.key else f"{self.learner}, {self.rule}"
        return f"Sampler({name}, n_features={self.n_features}, rounds={self.rounds}, queries={self.queries})"

    # -- inside -------------------------------------------------------------------------------

    def _ticket_of(self, x: Any) -> int:
        """Return the ticket of the last decision, which must have asked about this very instance."""
        if self._last is None or self._last not in self._questions:
            raise RuntimeError("learn needs a label that decide asked for: the last decision was not a query")
        (values, columns, *_), (given, at) = self._questions[self._last], self._instance(x)
        same_columns = at is columns if at is None or columns is None else np.array_equal(at, columns)
        if not (same_columns and np.array_equal(given, values)):
            raise ValueError("x must be the instance that decide asked about")
        return self._last
