"""The sampler: a margin learner, a query rule, and the protocol that keeps them honest.

What it models: round t shows an instance; `decide` predicts its label and says whether to ask for it; only then does
`learn` take the label.  `run` is the same over a whole stream, compiled.  A randomised rule consumes one uniform a
round, asked or not; evictions draw from a spawned generator.  A label may come late, by the ticket of its question, in
any order: whether the prediction was a mistake is judged by what was said in its round, and the example is stored into
the state of the day.  A row of weights stands for two classes (`multiclass` has more), and what plays may be copies
that decide together (`tuned`).
What it leaves out: which learner goes with which rule (`catalogue`), the record and the loop (`ensemble`, `round`).
Source: Cesa-Bianchi et al. 2004, section 2; Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse

from lpsm.arrays import Array, Floats, Ints, State
from lpsm.checks import generator, known, of_type, reading, shown, whole
from lpsm.samplers import kernels, protocol, state_io
from lpsm.samplers.calibration import leads
from lpsm.samplers.checks import (
    MOST_FEATURES,
    Columns,
    Rows,
    as_instance,
    as_instances,
    as_labels,
    check_columns,
    is_sound,
    squared_lengths,
)
from lpsm.samplers.ensemble import Copy, Ensemble
from lpsm.samplers.kernels import CallableKernel, Kernel
from lpsm.samplers.learners import Squares
from lpsm.samplers.linear_algebra import NO_COLUMNS, WIDE, Table, table_of
from lpsm.samplers.protocol import Learner, Rule
from lpsm.samplers.run_log import Decision, Question, Questions, RunLog

SHORT = 64  # rounds: for so few, exact margins cost less than a copy of the state to find them later
STORES = ("mistakes", "queried", "small margins")

# Modes (`round.DECIDES` and what follows): decide, learn, learn late, read, and three ways to run a stream.
_MODES = "10010 01001 01000 00000 11010 11100 11110"
_DECIDE, _LEARN, _LEARN_LATE, _READ, RUN, _RUN_LAZILY, _RUN_CAREFULLY = _MODES.split()
_ROWS = sparse.csr_matrix, sparse.csr_array
_SIZES = "n_features n_classes dtype normalize stores max_queries"


class Sampler:
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
        The coins of a randomised rule, one uniform a round: a generator or its seed; None for seed 0.
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

    n_classes = 1

    def __init__(
        self, learner: Learner, rule: Rule, *, n_features: int, stores: str = "mistakes", normalize: bool = False,
        kernel: Kernel | None = None, rng: np.random.Generator | int | None = None, dtype: DTypeLike = np.float64,
        key: str = "", max_queries: int | None = None,
    ) -> None:  # fmt: skip
        self._configure(learner, rule, kernel, n_features, stores, normalize, dtype, key, max_queries)
        coins = generator("rng", 0 if rng is None else rng)
        self._rng: Any = coins if rng is not None or self.randomized else None
        if learner.B:
            self._own.evictions = coins.spawn(1)[0]
        self._own.begin(self.n_features, self.n_classes, self.dtype)

    def _configure(
        self, learner: Learner, rule: Rule, kernel: Kernel | None, n_features: int, stores: str, normalize: bool,
        dtype: DTypeLike, key: str, max_queries: int | None,
    ) -> None:  # fmt: skip
        """Everything but what it learns and its coins."""
        of_type(Learner, learner=learner)
        of_type(Rule, rule=rule, **({} if kernel is None else {"kernel": kernel}))
        self.n_features = whole(1, MOST_FEATURES, n_features=n_features)
        known("stores", stores, STORES)
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32, got {self.dtype}")
        rule.suits(learner)
        if kernel is None and learner.by_instances:
            raise ValueError(f"kernel must be given for a learner that stores instances, {learner}, got None")
        if kernel is not None and not learner.takes_kernels:
            raise ValueError(f"kernel must be None for a learner that keeps a number a feature, got {kernel}")
        if max_queries is not None:
            whole(max_queries=max_queries)
            if rule.filters:
                raise ValueError(f"max_queries must be None for a filter, which predicts by asking, got {max_queries}")
        if self.n_classes > 1 and not kernels.has_classes(learner, rule, kernel):
            raise ValueError(f"key must be a sampler that has a form for several classes, got {key!r}")
        self.learner, self.rule, self.kernel = learner, rule, kernel
        self.stores, self.normalize, self.key, self.max_queries = stores, bool(normalize), key, max_queries
        self.randomized = bool(rule.randomized)
        self._remembers = kernel is not None or learner.B > 0
        self._sparse_memory: bool | None = False if isinstance(kernel, CallableKernel) else None
        self._own = Copy(learner, rule, kernel)
        self._questions = Questions()
        self._last: int | None = None  # ticket of the last decision, if it asked
        self._fresh = False  # whether the products of the last decision are still there
        self._ensemble: Ensemble | None = None

    # -- what it has done ---------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """Rounds so far, t."""
        return self._own.counts.item(protocol.ROUND)

    @property
    def queries(self) -> int:
        """Labels asked for so far."""
        return int(self._own.counts[protocol.ASKED])

    @property
    def stored(self) -> int:
        """Examples stored so far (evicted ones included), N."""
        return int(self._own.counts[protocol.STORED])

    @property
    def open_tickets(self) -> list[int]:
        """Tickets of the questions whose labels have not come, oldest first; their instances are kept."""
        return list(self._questions)

    @property
    def weights(self) -> Array:
        """V or w, shape (d,): p = weights.x (primal); the coefficients of the stored instances (dual)."""
        n = self.n_features if self.kernel is None else int(self._own.counts[protocol.SIZE])
        return np.array(self._own.arrays.weights[0, :n])

    @property
    def inverse(self) -> Array:
        """A^-1, shape (d, d), of a second-order learner in primal form; D^-1 + I/c for lasec; else AttributeError."""
        learner = self._own.arrays
        if not isinstance(learner, Squares):
            raise AttributeError("inverse belongs to second-order learners in primal form")
        waiting = int(self._own.counts[protocol.PENDING])
        rows, shift = learner.waiting[:waiting], waiting * learner.drift * np.eye(self.n_features, dtype=self.dtype)
        full: Array = learner.matrix - rows.T @ rows + shift
        return np.triu(full) + np.triu(full, 1).T if self.n_features >= WIDE else full

    def __repr__(self) -> str:
        name = repr(self.key) if self.key else f"{self.learner}, {self.rule}"
        done = f"rounds={self.rounds}, queries={self.queries}"
        return f"{type(self).__name__}({name}, n_features={self.n_features}{self._particulars()}, {done})"

    def _particulars(self) -> str:
        """What a subclass says of itself in between."""
        return ""

    # -- saving -------------------------------------------------------------------------------

    def state(self) -> State:
        """Return all that determines the future as a versioned dict of arrays; a function in it is a ValueError."""
        parts = {name: state_io.described(getattr(self, name)) for name in ("learner", "rule", "kernel")}
        config = {"key": self.key, **{name: getattr(self, name) for name in _SIZES.split()}, **parts}
        config |= {"dtype": self.dtype.name, "sparse_memory": self._sparse_memory}
        own = state_io.arrays_of(self._own.arrays, self._own.counts, self._own.scalars)
        return self._state(state_io.VERSION, config, evictions=state_io.position(self._own.evictions), **own)

    def _state(self, version: int, config: Mapping[str, object], **own: Array) -> State:
        return {
            "kind": np.array(type(self).__name__), "version": np.array(version), "config": state_io.as_text(config),
            "coins": state_io.position(self._rng), **own, **self._questions.state(),
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> Self:
        """Return the sampler `state` was taken from; ValueError if its version or its arrays do not fit."""
        with reading("a sampler's state"):
            config = state_io.checked_config("a sampler", state, state_io.VERSION, {"evictions", *state_io.FIELDS})
            parts = {name: state_io.rebuilt(config.pop(name)) for name in ("learner", "rule", "kernel")}
            memory, sampler = config.pop("sparse_memory"), cls.__new__(cls)
            sampler.n_classes = whole(1, n_classes=config.pop("n_classes"))
            sampler._configure(**parts, **config)
            if memory not in (None, False, True):
                raise ValueError(f"sparse_memory must be true, false or null, got {shown(memory)}")
            sampler._sparse_memory = memory
            sampler._resume(state)
            sampler._rng = state_io.generator(state, "coins", sampler.randomized)
            sampler._own.evictions = state_io.generator(state, "evictions", sampler.learner.B > 0)
            size = sampler.n_features, sampler.dtype, 1, sampler.n_classes
            sampler._questions = Questions.of_state(state, *size)
            return sampler

    def _resume(self, state: Mapping[str, Array]) -> None:
        size, own = (self.n_features, self.n_classes, self._sparse_memory, self.dtype), self._own
        self._ensemble = None
        own.arrays, own.counts, own.scalars = state_io.restored(state, self.learner, self.kernel, *size)

    def __getstate__(self) -> dict[str, object]:  # addresses of machine code are of this process
        return {**self.__dict__, "_ensemble": None, "_fresh": False}

    # -- rounds ---------------------------------------------------------------------------------

    def decide(self, x: Rows) -> Decision:
        """Predict the label of `x` and say whether to ask for it.

        Parameters
        ----------
        x
            An array of shape (d,), a sparse row (1, d), or the values of one and their columns: (values, columns).
            A row or a pair of the sampler's type of number, with int32 columns that rise, is taken as it is.

        Raises
        ------
        ValueError
            If `x` has another dimension, is not finite, or is zero where it is normalised.
        """
        values, columns = self._instance(x)
        ensemble = self._ready(columns)
        record = ensemble.record
        if self.randomized:
            record.coin[0] = self._rng.random()
        if len(record.schedules):
            record.schedules[:] = ensemble.schedules(1)
        ensemble.play_row(values, columns, _DECIDE)
        self._fresh = True
        margin, prediction, query, _, chance, *_ = record.outcome[-1].tolist()
        self._last = self.rounds if query else None
        if self._last is not None:
            scores = record.scores.copy() if self.n_classes > 1 else None
            places = None if columns is None else columns.copy()
            self._questions[self._last] = Question(values.copy(), places, record.outcome.copy(), scores)
        return Decision(margin, int(prediction), bool(query), chance, self._last)

    def learn(self, x: Rows | int, y: int) -> bool:
        """Take the label `y` of an instance `decide` asked about; return whether the example was stored.

        Parameters
        ----------
        x
            The instance of the last decision, or the ticket of any decision whose label is still owed.
        y
            Its label, -1 or +1; of several classes the number of one.

        Raises
        ------
        RuntimeError
            If the last `decide` did not ask, or the ticket is not open.
        ValueError
            If `x` is not the instance it asked about, or `y` is no label.
        """
        self._check_label(y)
        return self._take(int(x) if isinstance(x, (int, np.integer)) else self._ticket_of(x), y)

    def _check_label(self, y: int) -> None:
        if y not in (-1, 1):
            raise ValueError(f"y must be -1 or +1, got {y}")

    def forget(self, ticket: int) -> None:
        """Close a question whose label will not come; RuntimeError if the ticket is not open."""
        self._questions.close(ticket)

    def run(self, X: Rows, y: ArrayLike) -> Any:
        """Decide on the rows of X in turn, reading y only where it is asked for; return the `RunLog`.

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
        stream = self._stream(X, y)
        single = self._samplers() == (self,) and not isinstance(self.kernel, CallableKernel)
        lazy = len(stream[1]) > SHORT and single
        if not (lazy and self._prepared().inside):
            return _as_log(self._played(*stream, _RUN_LAZILY if lazy else RUN)[0])
        own, twin = self._own, copy(self)
        begins, learner = own.counts[protocol.STORED] == own.counts[protocol.PENDING], own.arrays
        if begins and isinstance(learner, Squares):  # the matrix is that of the start
            learner = learner._replace(matrix=learner.matrix[:0])
        kept = state_io.arrays_of(learner, own.counts, own.scalars)
        if begins:
            del kept["state_matrix"]
        vars(twin).update(_rng=None, _questions=Questions(), _own=Copy(self.learner, self.rule, self.kernel))
        log = _as_log(self._played(*stream, _RUN_LAZILY)[0])

        def replay() -> RunLog:
            twin._resume(kept)
            return _as_log(twin._played(*stream, RUN)[0])

        log.replay = replay
        return log

    def margin(self, x: Rows) -> float:
        """Return the margin of `x`, as `decide` takes it, under the present state: no round, no question."""
        values, columns = self._instance(x)
        if self._is_blank():
            return 0.0
        self._fresh, ensemble = False, self._prepared()
        ensemble.play_row(values, columns, _READ)
        return float(ensemble.record.outcome[-1, protocol.MARGIN])

    def margins(self, X: Rows) -> Floats:
        """Return the margins of the rows of X under the present state: no round, no question."""
        return self._reads(X)[0]

    def predict(self, X: Rows) -> Ints | NDArray[np.int8]:
        """Return the signs of the margins of the rows of X, SGN(0) = +1."""
        return np.where(self.margins(X) >= 0.0, 1, -1).astype(np.int8)

    # -- the loop -------------------------------------------------------------------------------

    def _samplers(self) -> tuple[Sampler, ...]:
        """Those who learn, each with arrays of its own."""
        return (self,)

    def _prepared(self) -> Ensemble:
        """Return those who play, made anew where they changed."""
        if self._ensemble is None or not self._ensemble.is_current:
            self._ensemble = self._assembled()
        return self._ensemble

    def _assembled(self, **voters: Any) -> Ensemble:
        """Return those who play, and if they vote, how."""
        return Ensemble(self, tuple(one._own for one in self._samplers()), **voters)

    def _ready(self, columns: Columns) -> Ensemble:
        """Return those who play a row with these columns."""
        if self._is_blank():
            self._remember(columns is not None)
        return self._prepared()

    def _take(self, ticket: int, y: float) -> bool:
        """Play the second half of the round of a ticket; return whether the example was stored."""
        fresh = self._fresh and ticket == self._last and self.n_classes == 1
        question = self._questions.close(ticket)
        ensemble = self._ready(question.columns)
        self._fresh, record = False, ensemble.record
        if not fresh:
            record.outcome[:] = question.outcome
            if question.scores is not None:
                record.outcome[0, protocol.PRODUCT] = protocol.lead(
                    question.scores, 0, int(y), int(record.outcome[0, protocol.PREDICTION])
                )
        record.label[0] = y
        if evicts := record.evictions.size > 0:
            for name, drawn in ensemble.draws(1).items():
                getattr(record, name)[:] = drawn
        ensemble.play_row(question.values, question.columns, _LEARN if fresh else _LEARN_LATE)
        if evicts:
            ensemble.drawn(record.gone)
        return bool(record.outcome[-1, protocol.KEPT])

    def _ticket_of(self, x: Rows) -> int:
        """Return the ticket of the last decision, which must have asked about this very instance."""
        if self._last is None or self._last not in self._questions:
            raise RuntimeError("learn needs a label that decide asked for: the last decision was not a query")
        question = self._questions[self._last]
        parts: Any = x if _is_pair(x) else (x.data, x.indices) if isinstance(x, _ROWS) else (x, None)
        alike = type(parts[0]) is np.ndarray and parts[0].shape == question.values.shape
        if not (alike and question.is_about(*parts)) and not question.is_about(*self._instance(x)):
            raise ValueError("x must be the instance that decide asked about")
        return self._last

    def _plays(self, X: Rows, y: ArrayLike) -> tuple[Array, Array, Array]:
        """Play the rows of X; return predictions, questions, and scores (T, k), exact where it asked."""
        log, _ = self._played(*self._stream(X, y), _RUN_CAREFULLY)
        return *protocol.flags_of(log)[:2], leads(log[protocol.LOG_MARGIN])

    def _exactly(self, X: Rows, labels: Floats) -> tuple[RunLog, Floats]:
        """Play the rows of X; return the log, and the probability of asking in each round."""
        log, _ = self._played(*self._stream(X, labels), RUN)
        return _as_log(log), log[protocol.LOG_CHANCE]

    def _played(
        self, table: Table, labels: Floats, uniforms: Floats, schedules: Floats, mode: str
    ) -> tuple[Floats, Floats]:
        """Play the rows of a table; return the log (protocol.N_LOG, T), and the scores (T, k) of several classes."""
        self._fresh, self._last = False, None
        n, several, ensemble = len(labels), self.n_classes > 1, self._prepared()
        draws = ensemble.draws(n if mode[protocol.LEARNS] == "1" else 0)
        log, scores = np.empty((protocol.N_LOG, n)), np.zeros((n if several else 1, self.n_classes))
        ensemble.play_rows(
            table_of(table), n, mode, label=labels, coin=uniforms, schedules=schedules, log=log, scores=scores, **draws
        )
        ensemble.drawn(draws["gone"])
        if several and ensemble.inside:
            scores /= 1.0 + np.maximum(log[protocol.LOG_VARIANCE], 0.0)[:, None]
        return log, scores

    def _stream(self, X: Rows, y: ArrayLike) -> tuple[Table, Floats, Floats, Floats]:
        """Return rows and labels, checked, and of their rounds the coins, 0 for deterministic rules, and schedules."""
        table = self._table(X)
        rounds, labels = table.shape[0], self._labels(y, table.shape[0])
        uniforms = self._rng.random(rounds) if self.randomized else np.zeros(rounds)
        return table, labels, uniforms, self._prepared().schedules(rounds)

    def _labels(self, y: ArrayLike, rounds: int) -> Floats:
        return as_labels(y, rounds)

    def _reads(self, X: Rows) -> tuple[Floats, Floats]:
        """Return margins and scores of rows under the present state, which stays as it is."""
        table, last = self._table(X, remember=False), self._last
        n = table.shape[0]
        if self._is_blank():
            return np.zeros(n), np.zeros((n, self.n_classes))
        log, scores = self._played(table, np.zeros(n), np.zeros(n), np.zeros((0, n)), _READ)
        self._last = last
        return log[protocol.LOG_MARGIN], scores

    # -- what enters ------------------------------------------------------------------------------

    def _instance(self, given: Table) -> tuple[Array, Columns]:
        """Return an instance as values and, if it is sparse, their columns; it may be the caller's own array."""
        values, columns, fits = given, None, True
        if type(given) in _ROWS:
            values, columns = given.data, given.indices
            fits = given.shape == (1, self.n_features) and given.indptr.tolist() == [0, len(values)]
        elif _is_pair(given):
            values, columns = given
        elif fits := type(given) is np.ndarray:
            values = given.astype(self.dtype, copy=False) if given.dtype.kind in "fiub" else given
            fits = values.shape == (self.n_features,)
        at = NO_COLUMNS if columns is None else columns
        if (
            fits and self._sparse_memory in (None, columns is not None) and (columns is None or len(at) == len(values))
            and at.dtype == np.int32 and at.flags.carray and values.dtype == self.dtype and values.flags.carray
            and is_sound(values, at, self.n_features)
        ):  # fmt: skip
            return values, columns
        return self._slowly(given)

    def _slowly(self, given: Table) -> tuple[Array, Columns]:
        """Return the same of an instance that is not seen at once to be sound, and to be taken as it is."""
        if _is_pair(given):
            n, places = len(given[0]), given[1]
            if n != len(places):
                raise ValueError(f"x must have a column for each of {n} values, got {len(places)}")
            if places.dtype.kind not in "iu":
                raise ValueError(f"x must have whole numbers for columns, got {places.dtype}")
            given = sparse.csr_matrix((*given, np.array([0, n])), shape=(1, self.n_features))
        x = self._as_remembered(given)
        if sparse.issparse(given) and not sparse.issparse(x):
            x = x.ravel()
        values, columns = as_instance(x, self.n_features, self.dtype)
        if self.normalize and not values.dot(values):
            raise ValueError("x must not be zero where instances are normalised")
        return values, columns

    def _is_blank(self) -> bool:
        """Whether nothing is stored yet, so that the form of what will be is open."""
        return self._remembers and self._sparse_memory is None

    def _as_remembered(self, x: Table) -> Table:
        """Return instances, one or many, dense or sparse as those that are stored."""
        if not self._remembers or self._sparse_memory in (None, bool(sparse.issparse(x))):
            return x
        if self._sparse_memory:
            return sparse.csr_matrix(np.atleast_2d(x))
        check_columns(x)
        return np.ascontiguousarray(x.toarray())

    def _remember(self, is_sparse: bool) -> None:
        for one in (self, *self._samplers()):
            one._sparse_memory = is_sparse

    def _table(self, X: Rows, remember: bool = True) -> Table:
        table = as_instances(X, self.n_features, self.dtype)
        if remember and self._is_blank():
            self._remember(bool(sparse.issparse(table)))
        table = self._as_remembered(table)
        if self.normalize and not (nonzero := squared_lengths(table) > 0).all():
            raise ValueError(f"X must have no zero row where instances are normalised, row {int(nonzero.argmin())} is")
        return table


def _is_pair(given: object) -> TypeGuard[tuple[Array, Array]]:
    """Whether an instance is given as values and their columns."""
    if type(given) is not tuple or len(given) != 2:
        return False
    return type(given[0]) is type(given[1]) is np.ndarray and given[0].ndim == given[1].ndim == 1


def _as_log(log: Floats) -> RunLog:
    prediction, queried, stored = protocol.flags_of(log)
    return RunLog(prediction.astype(np.int8), queried, stored, log[protocol.LOG_MARGIN], log[protocol.LOG_PRODUCT])
