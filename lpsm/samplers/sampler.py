"""The sampler: a margin learner, a query rule, and the protocol that keeps them honest.

What it models: round t shows an instance; `decide` predicts its label and says whether to
ask for it; only then does `learn` take the label, using the products `decide` left.
`run` is the same over a whole stream, compiled.  A randomised rule consumes one uniform a
round, asked or not; deterministic rules none; evictions draw from a spawned generator.
A label may come late: the decision's ticket names its question, which stays open until `learn` takes
the label, in any order.  Then whether the prediction was a mistake is judged by what was said in its
round, and the example is stored into the state of the day.
`Player` has what samplers of two classes and of several (`multiclass`) share: a row of weights for each class over one
memory, of which a single row stands for two classes.
What it leaves out: which learner goes with which rule (`catalogue`), the loop (`core`).
Source: Cesa-Bianchi et al. 2004, section 2; Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lpsm.checks import generator, reading, shown, whole
from lpsm.online import play as play_rounds
from lpsm.samplers import core, kernels, rules, saving
from lpsm.samplers.checks import (
    MOST_FEATURES,
    as_instance,
    as_instances,
    as_labels,
    check_columns,
    squared_lengths,
)
from lpsm.samplers.core import ALONE, Desk, Learner, Notes, Rule, Tally, memory_of
from lpsm.samplers.kernels import CallableKernel, Kernel
from lpsm.samplers.least_squares import Squares
from lpsm.samplers.record import Decision, RunLog
from lpsm.samplers.rows import WIDE, table_of

__all__ = ["BLOCK", "RUN", "Player", "Sampler", "has_classes"]

Array = NDArray[Any]

BLOCK = 4096  # rounds whose notes are held at a time
SHORT = 64  # rounds: for so few, exact margins cost less than a copy of the state to find them later
STORES = ("mistakes", "queried", "small margins")

# What is done with rows: `core.DECIDES` and what follows it.
_DECIDE, _LEARN, _LEARN_LATE, _READ = np.array(
    [[1, 0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]
)
RUN, _RUN_LAZILY, _RUN_CAREFULLY = np.array(
    [[1, 1, 0, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]]
)
_LARGEST = {np.dtype(kind): float(np.finfo(kind).max) for kind in (np.float64, np.float32)}
_NO_COLUMNS, _NO_STARTS = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)


class Player:
    """The rounds of a sampler with a row of weights for each class; one row stands for two classes."""

    n_classes = 1
    _decision = Decision

    def __init__(
        self,
        learner: Learner,
        rule: Rule,
        *,
        n_features: int,
        stores: str = "mistakes",
        normalize: bool = False,
        kernel: Kernel | None = None,
        rng: np.random.Generator | int | None = None,
        dtype: Any = np.float64,
        key: str = "",
        max_queries: int | None = None,
    ) -> None:
        self._configure(learner, rule, kernel, n_features, stores, normalize, dtype, key, max_queries)
        coins: Any = rng if rng is None or hasattr(rng, "bit_generator") else generator("rng", rng)
        self._rng = coins if coins is not None or not self.randomized else np.random.default_rng(0)
        self._evictions: np.random.Generator | None = None
        if hasattr(learner, "B"):
            self._evictions = (np.random.default_rng(0) if coins is None else coins).spawn(1)[0]
        size = self.n_features, self.n_classes, self.dtype
        self._learner: Any = learner.arrays(*size) if kernel is None else kernels.over_instances(learner, kernel, *size)
        self._counts, self._scalars = np.zeros(core.N_COUNTS, dtype=np.int64), np.zeros(core.N_SCALARS)
        self._scalars[core.WEIGHT] = 1.0
        rule.begin(self._counts, self._scalars)

    def _configure(
        self, learner: Any, rule: Any, kernel: Any, n_features: int, stores: str, normalize: bool, dtype: Any, key: str,
        max_queries: int | None,
    ) -> None:  # fmt: skip
        """Everything but arrays and chance."""
        for name, part, kind in (("learner", learner, Learner), ("rule", rule, Rule), ("kernel", kernel, Rule | None)):
            if not isinstance(part, kind):
                raise TypeError(f"{name} must be a record of parameters such as LeastSquares(), got {shown(part)}")
        self.n_features = whole(1, MOST_FEATURES, n_features=n_features)
        if stores not in STORES:
            raise ValueError(f"stores must be 'mistakes', 'queried' or 'small margins', got {stores!r}")
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype not in _LARGEST:
            raise ValueError(f"dtype must be float64 or float32, got {self.dtype}")
        rule.suits(learner)
        if kernel is not None and not learner.takes_kernels:
            raise ValueError(f"kernel must be None for a learner that keeps a number a feature, got {kernel}")
        if max_queries is not None:
            whole(max_queries=max_queries)
            if rule.filters:
                raise ValueError(f"max_queries must be None for a filter, which predicts by asking, got {max_queries}")
        if self.n_classes > 1 and not has_classes(learner, rule, kernel):
            raise ValueError(f"key must be a sampler that has a form for several classes, got {key!r}")
        self.learner, self.rule, self.kernel = learner, rule, kernel
        self.stores, self.normalize, self.key, self.max_queries = stores, bool(normalize), key, max_queries
        self.randomized = bool(rule.randomized)
        self._remembers = kernel is not None or hasattr(learner, "B")
        self._sparse_memory: bool | None = False if isinstance(kernel, CallableKernel) else None
        self._questions: dict[int, saving.Owed] = {}  # by ticket
        self._last: int | None = None  # ticket of the last decision, if it asked
        self._fresh = False  # whether the products of the last decision are still there
        self._desk: Desk | None = None
        self._place: Any = None  # of the desk

    # -- what it has done ---------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """Rounds so far, t."""
        return int(self._counts[core.ROUND])

    @property
    def queries(self) -> int:
        """Labels asked for so far."""
        return int(self._counts[core.ASKED])

    @property
    def stored(self) -> int:
        """Examples stored so far (evicted ones included), N."""
        return int(self._counts[core.STORED])

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
        self._owed(ticket)
        del self._questions[ticket]

    def widen(self, n_features: int) -> None:
        """Go on with more features, the new ones last, as if they had been 0 so far; open questions stay open.

        Raises
        ------
        ValueError
            If there would be fewer features than now.
        """
        whole(self.n_features, MOST_FEATURES, n_features=n_features)
        if isinstance(self._learner, Squares):
            self._learner = self._learner.widened(self._counts, n_features)
        else:
            self._learner = kernels.widened(self._learner, n_features, self._sparse_memory is False)
        new = np.zeros(n_features - self.n_features, dtype=self.dtype)
        self._questions = {
            ticket: owed if owed.columns is not None else owed._replace(values=np.append(owed.values, new))
            for ticket, owed in self._questions.items()
        }
        self.n_features, self._fresh, self._desk = n_features, False, None

    def state(self) -> dict[str, Array]:
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
        arrays = saving.arrays_of(self._learner, self._counts, self._scalars)
        rows = {"class_rows": arrays["weights"], "class_targets": arrays["target"]}
        for name in ("weights", "target"):
            arrays[name] = arrays[name][0] if self.n_classes == 1 else np.zeros_like(arrays[name][0])
        return {
            "kind": np.array(type(self).__name__),
            "version": np.array(saving.VERSION),
            "config": saving.as_text(config),
            "coins": saving.position(self._rng),
            "evictions": saving.position(self._evictions),
            **{f"state_{name}": array for name, array in arrays.items()},
            **({} if self.n_classes == 1 else rows),
            **saving.questions_to_arrays(self._questions, self.dtype),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the sampler `state` was taken from, ready for its next round or a late label.

        Raises
        ------
        ValueError
            If the state is of another version, lacks a part, or its arrays do not belong together.
        """
        with reading("a sampler's state"):
            return cls._from(state, 1)

    @classmethod
    def _from(cls, state: dict[str, Any], n_classes: int) -> Self:
        parts = {"evictions", *(f"state_{name}" for name in saving.FIELDS)}
        config = saving.checked_config("a sampler", state, saving.READABLE, parts)
        learner, rule, kernel = (saving.rebuilt(config[name]) for name in ("learner", "rule", "kernel"))
        sampler = cls.__new__(cls)
        sampler.n_classes = n_classes
        settings = {name: config[name] for name in ("n_features", "stores", "normalize", "dtype", "key")}
        sampler._configure(learner, rule, kernel, **settings, max_queries=config.get("max_queries"))
        memory = config["sparse_memory"]
        if memory not in (None, False, True):
            raise ValueError(f"sparse_memory must be true, false or null, got {shown(memory)}")
        sampler._learner, sampler._counts, sampler._scalars = saving.restored(
            state, learner, kernel, sampler.n_features, n_classes, memory, sampler.dtype
        )
        sampler._sparse_memory = memory
        sampler._rng, sampler._evictions = (saving.generator(state, name) for name in ("coins", "evictions"))
        if (sampler.randomized and sampler._rng is None) or (hasattr(learner, "B") and sampler._evictions is None):
            raise ValueError("state must hold coins and evictions as positions of generators, got none")
        sampler._questions = saving.questions_of_arrays(state, sampler.n_features, sampler.dtype)
        return sampler

    def __getstate__(self) -> dict[str, Any]:  # addresses of machine code are of this process
        return {**self.__dict__, "_desk": None, "_place": None, "_fresh": False}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.kernel is not None:  # so is that of the kernel
            held = self._learner.held._replace(similarity=core.code_of(self.kernel.chance))
            self._learner = self._learner._replace(held=held)

    # -- rounds ---------------------------------------------------------------------------------

    def decide(self, x: Any) -> Decision:
        """Predict the label of `x`, shape (d,) or a sparse row, and say whether to ask for it.

        Raises
        ------
        ValueError
            If `x` has another dimension, is not finite, or is zero where it is normalised.
        """
        values, columns = self._instance(x)
        desk = self._desk or self._prepare()
        if self.randomized:
            desk.notes.coin[0] = self._rng.random()
        if len(desk.notes.schedules):
            desk.notes.schedules[:, 0] = self.rule.schedule(self.n_features, self.rounds + 1)
        self._single(desk, values, columns, _DECIDE)
        self._fresh = True
        margin, prediction, query, _, chance, said, *_ = desk.notes.said[0].tolist()
        self._last = self.rounds if query else None
        if self._last is not None:
            due, weight = self._counts.item(core.DUE), self._scalars.item(core.WEIGHT)
            kept = values.copy() if np.may_share_memory(values, x) else values
            self._questions[self._last] = saving.Owed(kept, columns, said, due, weight)
        return self._decision(margin, int(prediction), bool(query), chance, self._last)

    def _prepare(self) -> Desk:
        """Return what single rounds need."""
        core.prepare()
        if not self._counts.flags.writeable:  # it was read from a file that is mapped into memory
            self._learner = _copied(self._learner)
            self._counts, self._scalars = self._counts.copy(), self._scalars.copy()
        rule, scheduled = self.rule, isinstance(self.rule, rules.AdaptiveSampler)
        question = core.Question(
            rule.numbers()[None], core.code_of(rule.chance), core.code_of(rule.grants), core.code_of(rule.answers),
            rule.needs_spread, rule.filters, self.stores == "queried", self.stores == "small margins", self.normalize,
            core.UNLIMITED if self.max_queries is None else self.max_queries,
        )  # fmt: skip
        notes = Notes(
            np.zeros(1), np.zeros(1), np.zeros(1 if self._evictions is not None else 0),
            np.zeros((2, 1) if scheduled else (0, 0)), np.zeros((1, 9)), np.zeros((1, self.n_classes)),
            np.zeros((2, 9)),
        )  # fmt: skip
        scratch, orders = np.zeros(self.n_features, dtype=self.dtype), np.zeros(8, dtype=np.int64)
        tally = Tally(self._counts[None], self._scalars[None])
        return self._pinned(Desk(ALONE, core.learned_of(self._learner), tally, question, notes, scratch, orders))

    def _pinned(self, desk: Desk) -> Desk:
        self._desk, (self._place, _) = desk, core.pinned(desk)
        return desk

    def _single(self, desk: Desk, values: Array, columns: NDArray[np.int32] | None, way: Array) -> None:
        """Play one row."""
        desk.orders[:] = way
        if self._remembers:
            if self._sparse_memory is None:
                self._sparse_memory = columns is not None
            if isinstance(self.kernel, CallableKernel) and way is not _LEARN:
                self._make_room(len(values))
                scaled = values / np.sqrt(values @ values) if self.normalize else values
                kernels.fill(self._learner, self.kernel, self._counts, self._scalars, scaled)
            desk.orders[core.GONE] = self._counts[core.EVICTED]
        at, starts = _NO_COLUMNS, _NO_STARTS
        if columns is not None:
            at, starts = columns, np.array([0, len(values)])
            desk.orders[core.SPARSE] = 1
        rows = values.reshape(1, -1)
        if not core.play(self._place, rows, at, starts):
            self._make_room(len(values))
            core.play(self._place, rows, at, starts)

    def _take(self, ticket: int, y: float) -> bool:
        """Play the second half of the round of a ticket; return whether the example was stored."""
        question = self._owed(ticket)
        desk = self._desk or self._prepare()
        way = _LEARN if self._fresh and ticket == self._last else _LEARN_LATE
        del self._questions[ticket]
        self._fresh = False
        if way is _LEARN_LATE:
            desk.notes.said[0, core.SAID] = question.said
            self._counts[core.DUE] = question.due
            self._scalars[core.WEIGHT] = question.weight
        desk.notes.label[0] = y
        desk.notes.said[0, core.KEPT] = 0.0
        evicted = self._counts[core.EVICTED]
        if self._evictions is not None:
            resume = self._evictions.bit_generator.state
            desk.notes.evictions[0] = self._evictions.random()
        self._single(desk, question.values, question.columns, way)
        if self._evictions is not None and self._counts[core.EVICTED] == evicted:
            self._evictions.bit_generator.state = resume  # nothing was evicted: the draw was not used
        return bool(desk.notes.said[0, core.KEPT])

    def _owed(self, ticket: Any) -> saving.Owed:
        question = self._questions.get(ticket)
        if question is None:
            raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {self.open_tickets}")
        return question

    def _blocks(
        self, table: Any, labels: Array, way: Array, uniforms: Array, schedules: Array
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Play the rows of a table; give for each block of them where it is, the notes, and the scores (B, k)."""
        self._fresh, self._last = False, None
        desk, (values, columns, starts) = self._desk or self._prepare(), table_of(table)
        several, is_sparse = self.n_classes > 1, sparse.issparse(table)
        for start in range(0, len(labels), BLOCK):
            part = slice(start, min(start + BLOCK, len(labels)))
            n = part.stop - start
            of_block = (
                (values, columns, starts[start : part.stop + 1]) if is_sparse else (values[part], columns, starts)
            )
            evictions, resume = desk.notes.evictions, None
            if self._evictions is not None and way[core.LEARNS]:
                resume = self._evictions.bit_generator.state
                evictions = self._evictions.random(n)
                self._evictions.bit_generator.state = resume
            scores, said = np.zeros((n if several else 1, self.n_classes)), np.zeros((n, 9))
            schedule = np.ascontiguousarray(schedules[:, part])
            notes = Notes(labels[part], uniforms[part], evictions, schedule, said, scores, desk.notes.told)
            evicted, at = int(self._counts[core.EVICTED]), 0
            orders = way.copy()
            orders[core.SPARSE], orders[core.GONE] = is_sparse, evicted
            while True:
                of_now = desk._replace(notes=notes, orders=orders)  # its owner, as long as its place is in use
                place, _ = core.pinned(of_now)
                orders[core.FIRST] = at = core.play(place, *of_block)
                if at == n:
                    break
                self._make_room(int(of_block[2][at + 1] - of_block[2][at]) if is_sparse else self.n_features)
                desk = self._desk or desk
            if resume is not None and self._evictions is not None:
                self._evictions.random(int(self._counts[core.EVICTED]) - evicted)
            if several:
                scores /= 1.0 + np.maximum(said[:, core.SPREAD : core.SPREAD + 1], 0.0) * self._inside()
            yield part, said, scores

    def _inside(self) -> bool:
        """Whether scores are those with the instance in the inverse."""
        return bool(getattr(self._learner, "inside", False))

    def _chance(self, rounds: int) -> tuple[Array, Array]:
        """Return the coins of the rounds to come, zeros for deterministic rules, and their schedules."""
        uniforms = self._rng.random(rounds) if self.randomized and self._rng is not None else np.zeros(rounds)
        if not isinstance(self.rule, rules.AdaptiveSampler):
            return uniforms, np.zeros((0, rounds))
        at = range(self.rounds + 1, self.rounds + rounds + 1)
        return uniforms, np.array([self.rule.schedule(self.n_features, t) for t in at]).reshape(-1, 2).T.copy()

    def _reads(self, X: Any) -> tuple[Array, Array]:
        """Return the notes and scores of rows under the present state, which stays as it is."""
        table = self._table(X, remember=False)
        n = table.shape[0]
        said, scores = np.zeros((n, 9)), np.zeros((n, self.n_classes))
        if self._remembers and self._sparse_memory is None:  # nothing is stored, and the form of it is open
            return said, scores
        if isinstance(self.kernel, CallableKernel):
            desk = self._desk or self._prepare()
            self._fresh = False
            for t in range(n):
                self._single(desk, table[t], None, _READ)
                said[t], scores[t] = desk.notes.said[0], desk.notes.scores[0]
            return said, scores
        last = self._last
        for part, notes, found in self._blocks(table, np.zeros(n), _READ, np.zeros(n), np.zeros((0, n))):
            said[part], scores[part] = notes, found
        self._last = last
        return said, scores

    def _make_room(self, width: int) -> None:
        """Grow the arrays of stored instances, if one of `width` values has no room."""
        if (memory := memory_of(self._learner)) is None:
            return
        full = self._counts[core.SIZE] >= len(memory.labels) and not hasattr(self.learner, "B")
        if full or width > memory.rows.shape[1]:
            self._learner = kernels.roomier(self._learner, self._counts, width, bool(self._sparse_memory))
            if self._desk is not None:
                self._pinned(self._desk._replace(learned=core.learned_of(self._learner)))

    # -- what enters ------------------------------------------------------------------------------

    def _instance(self, given: Any) -> tuple[Array, NDArray[np.int32] | None]:
        """Return an instance as values and, if it is sparse, their columns; it may be the caller's own array."""
        plain = type(given) is np.ndarray and given.dtype.kind in "fiub" and not self._sparse_memory
        if plain and given.shape == (self.n_features,):
            values = given if given.dtype == self.dtype and given.flags.carray else given.astype(self.dtype)
            if 0.0 < np.vdot(values, values) <= _LARGEST[self.dtype]:  # no NaN, no infinity, not all zero
                return values, None
        x = self._as_remembered(given)
        if sparse.issparse(given) and not sparse.issparse(x):
            x = x.ravel()
        values, columns = as_instance(x, self.n_features, self.dtype)
        if self.normalize and not values.dot(values):
            raise ValueError("x must not be zero where instances are normalised")
        return values, columns

    def _as_remembered(self, x: Any) -> Any:
        """Return instances, one or many, dense or sparse as those that are stored."""
        if not self._remembers or self._sparse_memory in (None, bool(sparse.issparse(x))):
            return x
        if self._sparse_memory:
            return sparse.csr_matrix(np.atleast_2d(x))
        check_columns(x)
        return np.ascontiguousarray(x.toarray())

    def _table(self, X: Any, remember: bool = True) -> Any:
        table = as_instances(X, self.n_features, self.dtype)
        if self._remembers and self._sparse_memory is None and remember:
            self._sparse_memory = bool(sparse.issparse(table))
        table = self._as_remembered(table)
        if self.normalize and not (nonzero := squared_lengths(table) > 0).all():
            raise ValueError(f"X must have no zero row where instances are normalised, row {int(nonzero.argmin())} is")
        return table


class Sampler(Player):
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
        return self._take(int(x) if isinstance(x, int | np.integer) else self._ticket_of(x), float(y))

    def _ticket_of(self, x: Any) -> int:
        """Return the ticket of the last decision, which must have asked about this very instance."""
        if self._last is None or self._last not in self._questions:
            raise RuntimeError("learn needs a label that decide asked for: the last decision was not a query")
        values, columns, *_ = self._questions[self._last]
        alike = type(x) is np.ndarray and columns is None and (x.dtype, x.shape) == (values.dtype, values.shape)
        if not (alike and x.tobytes() == values.tobytes()):
            given, at = self._instance(x)
            same_columns = at is columns if at is None or columns is None else np.array_equal(at, columns)
            if not (same_columns and np.array_equal(given, values)):
                raise ValueError("x must be the instance that decide asked about")
        return self._last

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
        return self._run(X, y, careful=False)

    def _run(self, X: Any, y: ArrayLike, careful: bool) -> RunLog:
        """`run`; if `careful`, the margins of rounds that ask are exact, also in a log that is not."""
        table = self._table(X)
        rounds = table.shape[0]
        labels = as_labels(y, rounds)
        if isinstance(self.kernel, CallableKernel):
            return RunLog.of(play_rounds(self, table, lambda t: int(labels[t])), rounds)
        stream = (table, labels, *self._chance(rounds))
        if rounds <= SHORT:
            return self._log(*stream, RUN)
        if not self._inside():
            return self._log(*stream, _RUN_LAZILY)
        twin, packs = Sampler.__new__(Sampler), isinstance(self._learner, Squares)  # it stands where this one stands
        learner = self._learner.packed(self._counts) if packs else _copied(self._learner)
        own = {"_learner": learner, "_counts": self._counts.copy(), "_scalars": self._scalars.copy()}
        vars(twin).update({**self.__getstate__(), **own, "_rng": None, "_questions": {}})
        log = self._log(*stream, _RUN_CAREFULLY if careful else _RUN_LAZILY)

        def replay() -> RunLog:
            if packs:
                twin._learner = twin._learner.unpacked(twin.n_features)
            return twin._log(*stream, RUN)

        log.replay = replay
        return log

    def _log(self, table: Any, labels: Array, uniforms: Array, schedules: Array, way: Array) -> RunLog:
        notes = np.zeros((6, len(labels)))
        for part, found, _ in self._blocks(table, labels, way, uniforms, schedules):
            notes[:, part] = found.T[:6]
        margin, prediction, queried, stored, _, said = notes
        return RunLog(prediction.astype(np.int8), queried > 0, stored > 0, margin.copy(), said.copy())

    def margins(self, X: Any) -> NDArray[np.float64]:
        """Return the margins of the rows of X under the present state: no round, no question."""
        return self._reads(X)[0][:, core.MARGIN].copy()

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return the signs of the margins of the rows of X, SGN(0) = +1."""
        return np.where(self.margins(X) >= 0.0, 1, -1).astype(np.int8)

    @property
    def weights(self) -> Array:
        """V or w, shape (d,): p = weights.x (primal); the coefficients of the stored instances (dual)."""
        n = self.n_features if self.kernel is None else int(self._counts[core.SIZE])
        weights: Array = self._learner.weights[0, :n].copy()
        return weights

    @property
    def inverse(self) -> Array:
        """A^-1, shape (d, d), of a second-order learner in primal form; D^-1 + I/c for lasec.

        Raises
        ------
        AttributeError
            If there is no such matrix.
        """
        learner = self._learner
        if not isinstance(learner, Squares):
            raise AttributeError("inverse belongs to second-order learners in primal form")
        waiting = int(self._counts[core.PENDING])
        rows = learner.waiting[:waiting]
        shift = waiting * learner.drift * np.eye(self.n_features, dtype=self.dtype)
        full: Array = learner.matrix - rows.T @ rows + shift
        return np.triu(full) + np.triu(full, 1).T if self.n_features >= WIDE else full

    def __repr__(self) -> str:
        name = repr(self.key) if self.key else f"{self.learner}, {self.rule}"
        return f"Sampler({name}, n_features={self.n_features}, rounds={self.rounds}, queries={self.queries})"


def has_classes(learner: Learner, rule: Rule, kernel: Any = None) -> bool:
    """Whether there is a form for several classes."""
    return learner.takes_classes and not rule.filters and not isinstance(kernel, CallableKernel)


def _copied(record: Any) -> Any:
    return kernels.changed(record, lambda _, array: array.copy())
