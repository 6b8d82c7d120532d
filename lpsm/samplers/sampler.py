"""The sampler: a margin learner, a query rule, and the protocol that keeps them honest.

What it models: round t shows an instance; `decide` predicts its label and says whether to
ask for it; only then does `learn` take the label, using the products `decide` left.
`run` is the same over a whole stream, compiled.  A randomised rule consumes one uniform a
round, asked or not; deterministic rules none; evictions draw from a spawned generator.
What it leaves out: which learner goes with which rule (`catalogue`), labels other than
-1 and +1.
Source: Cesa-Bianchi et al. 2004, section 2; Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lpsm.samplers import layout
from lpsm.samplers.algebra import WIDE
from lpsm.samplers.checks import as_instance, as_instances, as_labels, at_least
from lpsm.samplers.composition import bias_at, floor_at, plan_of
from lpsm.samplers.dual import CallableKernel, Kernel, grow, new_state, new_work
from lpsm.samplers.kernels import Outcome, Stream, close_round, margins, open_round, stream
from lpsm.samplers.layout import Plan, State
from lpsm.samplers.learners import BudgetPerceptron, MarginLearner
from lpsm.samplers.record import Decision, RunLog
from lpsm.samplers.rules import RANDOMIZED, AdaptiveSampler, Halving, QueryRule

__all__ = ["Sampler"]

_NOTHING: NDArray[Any] = np.zeros(0, dtype=np.int32)


class Sampler:
    """A margin learner asking by a query rule.

    Parameters
    ----------
    learner, rule
        Records from `learners` and `rules`.
    n_features
        Dimension d of the instances.
    stores
        "mistakes": of the queried examples those predicted wrongly; "queried": all of
        them.  The adaptive sampler stores what it scheduled, either way.
    normalize
        Whether instances are divided by their norm first; a zero vector is then an error.
    kernel
        None for weights over features; otherwise coefficients over stored instances.
    rng
        The coins of a randomised rule, one uniform a round; None for one of seed 0.
    dtype
        float64 or float32, of the learner's arrays.

    >>> from lpsm.samplers import learners, rules
    >>> s = Sampler(learners.LeastSquares(), rules.Always(), n_features=2)
    >>> s.decide([1.0, 0.0])
    Decision(margin=0.0, prediction=1, query=True, probability=1.0)
    >>> s.learn([1.0, 0.0], -1)
    True
    >>> s.decide([1.0, 0.0]).margin  # p = -1/2, r = 1/2
    -0.3333333333333333
    """

    def __init__(
        self,
        learner: MarginLearner,
        rule: QueryRule,
        *,
        n_features: int,
        stores: str = "mistakes",
        normalize: bool = False,
        kernel: Kernel | None = None,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float64,
        key: str = "",
    ) -> None:
        at_least("n_features", n_features, 1)
        if stores not in ("mistakes", "queried"):
            raise ValueError(f"stores must be 'mistakes' or 'queried', got {stores!r}")
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise ValueError(f"dtype must be float64 or float32, got {self.dtype}")
        self.learner, self.rule, self.kernel = learner, rule, kernel
        self.n_features, self.stores, self.normalize, self.key = int(n_features), stores, bool(normalize), key
        self._plan = plan_of(learner, rule, kernel, stores, bool(normalize))
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
        self._pending: tuple[Any, ...] | None = None

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
        self._make_room(len(values), is_sparse)
        if isinstance(self.kernel, CallableKernel):
            self.kernel.fill(self._state, self._work, self._scaled(values))
        t = self.rounds + 1
        u = float(self._rng.random()) if self.randomized and self._rng is not None else 0.0
        square, norm2, p, r, margin, prediction, query, chance = open_round(
            self._plan,
            self._state,
            self._work,
            values,
            _NOTHING if columns is None else columns,
            is_sparse,
            u,
            floor_at(self.rule, self.n_features, t),
            bias_at(self.rule, t),
        )
        self._pending = (values, columns, square, norm2, p, r) if query else None
        return Decision(float(margin), int(prediction), bool(query), float(chance))

    def learn(self, x: Any, y: int) -> bool:
        """Take the label `y` of the instance `decide` asked about; return whether the example was stored.

        Raises
        ------
        RuntimeError
            If the last `decide` did not ask.
        ValueError
            If `x` is not the instance it asked about, or `y` is neither -1 nor +1.
        """
        if self._pending is None:
            raise RuntimeError("learn needs a label that decide asked for: the last decision was not a query")
        values, columns, square, norm2, p, r = self._pending
        given, at = self._instance(x)
        same = np.array_equal(given, values) and (at is None) == (columns is None)
        if not same or (at is not None and not np.array_equal(at, columns)):
            raise ValueError("x must be the instance that decide asked about")
        if y not in (-1, 1):
            raise ValueError(f"y must be -1 or +1, got {y}")
        self._pending = None
        eviction, evicted = 0.0, int(self._state.counts[layout.EVICTED])
        if self._evictions is not None:
            resume = self._evictions.bit_generator.state
            eviction = float(self._evictions.random())
        stored = close_round(
            self._plan,
            self._state,
            self._work,
            len(values),
            columns is not None,
            square,
            norm2,
            p,
            r,
            float(y),
            eviction,
        )
        if self._evictions is not None and int(self._state.counts[layout.EVICTED]) == evicted:
            self._evictions.bit_generator.state = resume  # nothing was evicted: the draw was not used
        return bool(stored)

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
        self._pending = None
        if isinstance(self.kernel, CallableKernel):
            return self._run_one_by_one(table, labels)
        is_sparse = sparse.issparse(table)
        world = self._world(table, labels, is_sparse)
        exact = self._plan.learner != layout.SECOND_ORDER or not self._plan.includes_instance
        before = None if exact or rounds == 0 else State(*(a.copy() for a in self._state))
        evicted = int(self._state.counts[layout.EVICTED])
        if self._evictions is not None:
            resume = self._evictions.bit_generator.state
            world = world._replace(evictions=self._evictions.random(rounds))
            self._evictions.bit_generator.state = resume
        self._state, out = _drive(self._plan, self._state, self.n_features, world, is_sparse, lazy=True)
        self._work = new_work(self._plan, self._state, self.n_features, self.dtype)
        if self._evictions is not None:
            self._evictions.random(int(self._state.counts[layout.EVICTED]) - evicted)

        if before is None:
            return RunLog(out.prediction, out.queried, out.stored, out.margin)
        plan, n_features, start = self._plan, self.n_features, before

        def replay() -> NDArray[np.float64]:
            margin: NDArray[np.float64] = _drive(plan, start, n_features, world, is_sparse, lazy=False)[1].margin
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
                world = self._world(table[t : t + 1], np.ones(1), is_sparse, draw=False)
                margins(self._plan, self._state, work, world, is_sparse, out[t : t + 1])
        else:
            world = self._world(table, np.ones(table.shape[0]), is_sparse, draw=False)
            margins(self._plan, self._state, work, world, is_sparse, out)
        return out

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return the signs of the margins of the rows of X, SGN(0) = +1."""
        return np.where(self.margins(X) >= 0.0, 1, -1).astype(np.int8)

    # -- what it has done ---------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """Rounds so far, t."""
        return int(self._state.counts[layout.ROUND])

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
        """Return everything that determines the future, as a versioned dict of arrays."""
        from lpsm.samplers.saving import state_of

        return state_of(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Sampler:
        """Return the sampler `state` was taken from, ready for its next round."""
        from lpsm.samplers.saving import sampler_of

        return sampler_of(state)

    # -- inside -------------------------------------------------------------------------------

    def _instance(self, x: Any) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
        if self._remembers and self._sparse_memory is not None and sparse.issparse(x) != self._sparse_memory:
            x = sparse.csr_matrix(np.atleast_2d(x)) if self._sparse_memory else np.asarray(x.toarray()).ravel()
        values, columns = as_instance(x, self.n_features, self.dtype)
        if self.normalize and not values.any():
            raise ValueError("x must not be zero where instances are normalised")
        if values is x:
            values = values.copy()
        return values, columns

    def _table(self, X: Any, remember: bool = True) -> Any:
        table = as_instances(X, self.n_features, self.dtype)
        if self._remembers:
            if self._sparse_memory is None and remember:
                self._sparse_memory = bool(sparse.issparse(table))
            if self._sparse_memory is not None and sparse.issparse(table) != self._sparse_memory:
                table = sparse.csr_matrix(table) if self._sparse_memory else np.ascontiguousarray(table.toarray())
        if self.normalize and table.shape[0]:
            if sparse.issparse(table):
                zero = np.asarray(abs(table).max(axis=1).toarray()).ravel() == 0.0
            else:
                zero = ~table.any(axis=1)
            if zero.any():
                raise ValueError(f"X must have no zero row where instances are normalised, row {int(zero.argmax())} is")
        return table

    def _scaled(self, values: NDArray[Any]) -> NDArray[Any]:
        return values / np.sqrt(values @ values) if self.normalize else values

    def _make_room(self, width: int, is_sparse: bool) -> None:
        if not self._remembers:
            return
        if self._sparse_memory is None:
            self._sparse_memory = is_sparse
        full = self._state.counts[layout.SIZE] >= len(self._state.labels) and self._plan.learner != layout.BUDGET
        if full or width > self._state.rows.shape[1]:
            self._state = grow(self._plan, self._state, width, is_sparse)
            self._work = new_work(self._plan, self._state, self.n_features, self.dtype)

    def _world(self, table: Any, labels: NDArray[np.float64], is_sparse: bool, draw: bool = True) -> Stream:
        rounds = len(labels)
        nothing = np.zeros(0)
        floors, biases = nothing, nothing
        if draw and isinstance(self.rule, AdaptiveSampler):
            at = range(self.rounds + 1, self.rounds + rounds + 1)
            floors = np.array([floor_at(self.rule, self.n_features, t) for t in at])
            biases = np.array([bias_at(self.rule, t) for t in at])
        coins = draw and self.randomized and self._rng is not None
        uniforms = self._rng.random(rounds) if coins and self._rng is not None else np.zeros(rounds if draw else 0)
        return Stream(
            dense=np.zeros((0, 0), dtype=self.dtype) if is_sparse else table,
            values=table.data if is_sparse else np.zeros(0, dtype=self.dtype),
            columns=table.indices.astype(np.int32, copy=False) if is_sparse else _NOTHING,
            starts=table.indptr.astype(np.int64, copy=False) if is_sparse else np.zeros(0, dtype=np.int64),
            labels=labels,
            uniforms=uniforms,
            evictions=nothing,
            floors=floors,
            biases=biases,
        )

    def _run_one_by_one(self, table: Any, labels: NDArray[np.float64]) -> RunLog:
        rounds = len(labels)
        margin, prediction = np.zeros(rounds), np.zeros(rounds, dtype=np.int8)
        queried, stored = np.zeros(rounds, np.bool_), np.zeros(rounds, np.bool_)
        for t in range(rounds):
            decision = self.decide(table[t])
            margin[t], prediction[t], queried[t] = decision.margin, decision.prediction, decision.query
            if decision.query:
                stored[t] = self.learn(table[t], int(labels[t]))
        return RunLog(prediction, queried, stored, margin)


def _drive(
    plan: Plan, state: State, n_features: int, world: Stream, is_sparse: bool, lazy: bool
) -> tuple[State, Outcome]:
    """Run a stream from `state`, growing the arrays of stored instances where it stops for want of room."""
    rounds = len(world.labels)
    flags = np.zeros((2, rounds), dtype=np.bool_)
    out = Outcome(np.zeros(rounds), np.zeros(rounds, dtype=np.int8), flags[0], flags[1])
    evicted = int(state.counts[layout.EVICTED])
    at = 0
    while True:
        work = new_work(plan, state, n_features, state.weights.dtype)
        at = stream(plan, state, work, world, is_sparse, lazy, out, at, evicted)
        if at == rounds:
            return state, out
        width = int(world.starts[at + 1] - world.starts[at]) if is_sparse else n_features
        state = grow(plan, state, width, is_sparse)
