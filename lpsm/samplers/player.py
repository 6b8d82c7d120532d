"""The rounds of a sampler: what enters, what the loop is given, what is kept, and how that is saved and restored.

What it models: a row of weights for each class over one memory; a single row stands for two classes (`sampler`).
What it leaves out: what is said of a round, and which labels there are (`sampler`, `multiclass`); the loop (`core`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lpsm.checks import reading, shown, whole
from lpsm.samplers import core, hinge, kernels, least_squares, perceptrons, rules, saving
from lpsm.samplers.checks import MOST_FEATURES, as_instance, as_instances, check_columns, squared_lengths
from lpsm.samplers.core import ALONE, Desk, Learner, Notes, Rule, Tally, play
from lpsm.samplers.kernels import CallableKernel, Kernel, resized
from lpsm.samplers.rows import table_of

__all__ = ["BLOCK", "PARTS", "RUN", "RUN_CAREFULLY", "RUN_LAZILY", "Player", "copied", "has_classes"]

Array = NDArray[Any]

BLOCK = 4096  # rounds whose notes are held at a time
STORES = ("mistakes", "queried", "small margins")
PARTS: dict[str, Any] = {
    name: part
    for module in (perceptrons, least_squares, hinge, kernels, rules)
    for name, part in vars(module).items()
    if isinstance(part, type) and issubclass(part, Learner | Rule) and part not in (Learner, Rule, CallableKernel)
}
"""Every record of parameters that a state may hold, by the name of its class."""

# What is done with rows: `core.DECIDES` and what follows it.
_DECIDE, _LEARN, _LEARN_LATE, _READ = np.array(
    [[1, 0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0]]
)
RUN, RUN_LAZILY, RUN_CAREFULLY = np.array(
    [[1, 1, 0, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]]
)
_LARGEST = {np.dtype(kind): float(np.finfo(kind).max) for kind in (np.float64, np.float32)}
_NO_COLUMNS = np.zeros(0, dtype=np.int32)
_NO_STARTS = np.zeros(0, dtype=np.int64)
_NO_SCHEDULES = np.zeros((0, 0))


class Player:
    """The rounds of a sampler with a row of weights for each class; one row stands for two classes."""

    n_classes = 1

    def __init__(
        self,
        learner: Learner,
        rule: Rule,
        *,
        n_features: int,
        stores: str = "mistakes",
        normalize: bool = False,
        kernel: Kernel | None = None,
        rng: np.random.Generator | None = None,
        dtype: Any = np.float64,
        key: str = "",
        max_queries: int | None = None,
    ) -> None:
        self._configure(learner, rule, n_features, stores, normalize, kernel, dtype, key, max_queries)
        if rng is not None and not hasattr(rng, "bit_generator"):
            raise ValueError(f"rng must be a numpy.random.Generator, got {shown(rng)}")
        self._rng = rng if rng is not None or not self.randomized else np.random.default_rng(0)
        self._evictions: np.random.Generator | None = None
        if hasattr(learner, "B"):
            self._evictions = (np.random.default_rng(0) if rng is None else rng).spawn(1)[0]
        k = self.n_classes
        if kernel is None:
            self._learner: Any = learner.arrays(self.n_features, k, self.dtype)
        else:
            self._learner = kernels.over_instances(learner, kernel, self.n_features, k, self.dtype)
        self._counts, self._scalars = np.zeros(core.N_COUNTS, dtype=np.int64), np.zeros(core.N_SCALARS)
        self._scalars[core.WEIGHT] = 1.0
        rule.begin(self._counts, self._scalars)

    def _configure(
        self, learner: Learner, rule: Rule, n_features: int, stores: str, normalize: bool, kernel: Kernel | None,
        dtype: Any, key: str, max_queries: int | None,
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
        extra, learner = n_features - self.n_features, self._learner
        if self.kernel is None:
            k = len(learner.weights)
            if isinstance(learner, least_squares.Squares):
                learner = least_squares.widened(learner, self._counts, n_features)
            else:
                learner = learner._replace(weights=resized(learner.weights, k, n_features))
            if hasattr(learner, "kept"):
                learner = learner._replace(kept=resized(learner.kept, n_features))
        else:
            held = learner.held._replace(scatter=np.zeros(n_features, dtype=self.dtype))
            learner = learner._replace(held=held)
        if self._remembers and self._sparse_memory is False:
            held = learner.held if self.kernel is not None else learner
            memory = held.memory._replace(rows=resized(held.memory.rows, len(held.memory.rows), n_features))
            held = held._replace(memory=memory)
            learner = learner._replace(held=held) if self.kernel is not None else held
        self._learner, self.n_features, self._fresh, self._desk = learner, n_features, False, None
        self._questions = {
            ticket: question
            if question.columns is not None
            else question._replace(values=np.append(question.values, np.zeros(extra, dtype=self.dtype)))
            for ticket, question in self._questions.items()
        }

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
        rows, targets = arrays["weights"], arrays["target"]
        single = self.n_classes == 1
        arrays["weights"], arrays["target"] = (a[0] if single else np.zeros_like(a[0]) for a in (rows, targets))
        return {
            "kind": np.array(type(self).__name__),
            "version": np.array(saving.VERSION),
            "config": saving.as_text(config),
            "coins": saving.position(self._rng),
            "evictions": saving.position(self._evictions),
            **{f"state_{name}": array for name, array in arrays.items()},
            **({} if single else {"class_rows": rows, "class_targets": targets}),
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
        config = saving.checked_config(state)
        learner, rule, kernel = (saving.rebuilt(config[name], PARTS) for name in ("learner", "rule", "kernel"))
        d, stores, normalize = (config[name] for name in ("n_features", "stores", "normalize"))
        sampler = cls.__new__(cls)
        if n_classes > 1:
            sampler.n_classes = n_classes
        limit = config.get("max_queries")
        sampler._configure(learner, rule, d, stores, normalize, kernel, config["dtype"], config["key"], limit)
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

    def __getstate__(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "_desk": None,
            "_place": None,
            "_fresh": False,
        }  # addresses of machine code are of this process

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.kernel is not None:  # so is that of the kernel
            held = self._learner.held._replace(similarity=core.code_of(self.kernel.chance))
            self._learner = self._learner._replace(held=held)

    # -- rounds ---------------------------------------------------------------------------------

    def _prepare(self) -> Desk:
        """Return what single rounds need."""
        core.prepare()
        if not self._counts.flags.writeable:  # it was read from a file that is mapped into memory
            self._learner, self._counts, self._scalars = map(copied, (self._learner, self._counts, self._scalars))
        rule, scheduled = self.rule, isinstance(self.rule, rules.AdaptiveSampler)
        question = core.Question(
            rule.numbers()[None], core.code_of(rule.chance), core.code_of(rule.grants), core.code_of(rule.answers),
            rule.needs_spread, rule.filters, self.stores == "queried", self.stores == "small margins", self.normalize,
            core.UNLIMITED if self.max_queries is None else self.max_queries,
        )  # fmt: skip
        notes = Notes(
            np.zeros(1), np.zeros(1), np.zeros(1 if self._evictions is not None else 0),
            np.zeros((2, 1)) if scheduled else _NO_SCHEDULES, np.zeros((1, 9)), np.zeros((1, self.n_classes)),
            np.zeros((2, 9)),
        )  # fmt: skip
        scratch = np.zeros(self.n_features, dtype=self.dtype)
        tally = Tally(self._counts[None], self._scalars[None])
        orders = np.zeros(8, dtype=np.int64)
        return self._pinned(Desk(ALONE, core.learned_of(self._learner), tally, question, notes, scratch, orders))

    def _pinned(self, desk: Desk) -> Desk:
        self._desk, (self._place, _) = desk, core.pinned(desk)
        return desk

    def _ask(self, x: Any) -> tuple[Array, NDArray[np.int32] | None, list[float]]:
        """Play the first half of a round; return the instance and the notes of the round."""
        values, columns = self._instance(x)
        desk = self._desk or self._prepare()
        if self.randomized:
            desk.notes.coin[0] = self._rng.random()  # type: ignore[union-attr]
        if len(desk.notes.schedules):
            desk.notes.schedules[:, 0] = self.rule.schedule(self.n_features, self.rounds + 1)  # type: ignore[attr-defined]
        self._single(desk, values, columns, _DECIDE)
        self._fresh, self._last = True, None
        said: list[float] = desk.notes.said[0].tolist()
        if said[core.QUERY]:
            self._last = self.rounds
        return values, columns, said

    def _single(self, desk: Desk, values: Array, columns: NDArray[np.int32] | None, way: Array) -> None:
        """Play one row."""
        desk.orders[:] = way
        if self._remembers:
            if self._sparse_memory is None:
                self._sparse_memory = columns is not None
            if isinstance(self.kernel, CallableKernel) and way is not _LEARN:
                self._make_room(len(values))
                kernels.fill(self._learner, self.kernel, self._counts, self._scalars, self._scaled(values))
            desk.orders[core.GONE] = self._counts[core.EVICTED]
        at, starts = _NO_COLUMNS, _NO_STARTS
        if columns is not None:
            at, starts = columns, np.array([0, len(values)])
            desk.orders[core.SPARSE] = 1
        rows = values.reshape(1, -1)
        if not play(self._place, rows, at, starts):
            self._make_room(len(values))
            play(self._place, rows, at, starts)

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
        desk, whole_table = self._desk or self._prepare(), table_of(table)
        several = self.n_classes > 1
        for start in range(0, len(labels), BLOCK):
            part = slice(start, min(start + BLOCK, len(labels)))
            n = part.stop - start
            values, columns, starts = whole_table
            if sparse.issparse(table):
                starts = starts[start : part.stop + 1]
            else:
                values = table[part] if table.flags.writeable else table[part].copy()  # else it is another type
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
            orders[core.SPARSE], orders[core.GONE] = sparse.issparse(table), evicted
            learned = desk.learned
            while True:
                place, _ = core.pinned(desk._replace(learned=learned, notes=notes, orders=orders))
                orders[core.FIRST] = at = play(place, values, columns, starts)
                if at == n:
                    break
                self._make_room(int(starts[at + 1] - starts[at]) if len(starts) else self.n_features)
                learned = self._desk.learned  # type: ignore[union-attr]
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
        if not self._remembers:
            return
        memory = self._learner.held.memory if self.kernel is not None else self._learner.memory
        full = self._counts[core.SIZE] >= len(memory.labels) and not hasattr(self.learner, "B")
        if full or width > memory.rows.shape[1]:
            self._learner = kernels.grown(self._learner, self._counts, width, bool(self._sparse_memory))
            if self._desk is not None:
                self._pinned(self._desk._replace(learned=core.learned_of(self._learner)))

    # -- what enters ------------------------------------------------------------------------------

    def _instance(self, given: Any) -> tuple[Array, NDArray[np.int32] | None]:
        """Return an instance as values and, if it is sparse, their columns; it may be the caller's own array."""
        plain = type(given) is np.ndarray and given.dtype.kind in "fiub" and not self._sparse_memory
        if plain and given.shape == (self.n_features,):
            values = given if given.dtype == self.dtype and given.flags.c_contiguous else given.astype(self.dtype)
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
        if self._remembers:
            if self._sparse_memory is None and remember:
                self._sparse_memory = bool(sparse.issparse(table))
            table = self._as_remembered(table)
        if self.normalize and not (nonzero := squared_lengths(table) > 0).all():
            raise ValueError(f"X must have no zero row where instances are normalised, row {int(nonzero.argmin())} is")
        return table

    def _scaled(self, values: Array) -> Array:
        return values / np.sqrt(values @ values) if self.normalize else values


def has_classes(learner: Learner, rule: Rule, kernel: Any = None) -> bool:
    """Whether there is a form for several classes."""
    return learner.takes_classes and not rule.filters and not isinstance(kernel, CallableKernel)


def copied(record: Any) -> Any:
    """A named tuple of arrays, numbers and such tuples, with copies of the arrays."""
    if isinstance(record, np.ndarray):
        return record.copy()
    return type(record)(*(copied(part) for part in record)) if isinstance(record, tuple) else record
