"""Who plays: copies of one sampler, for most samplers one alone, and the record that the compiled loop works on.

What it models: a `Copy` has a learner's arrays, its counts and scalars, and who draws its evictions.  An `Ensemble`
builds the record of its copies, plays single rows and streams of them, and grows the arrays of stored instances when
the loop stops for want of room.
What it leaves out: the loop (`round`), how copies vote (`tuned`), what may enter (`sampler`).
"""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from operator import attrgetter, is_
from typing import Any

import numpy as np

from lpsm.arrays import Array, Floats, Ints
from lpsm.native import is_plain
from lpsm.samplers import kernels, protocol, rules
from lpsm.samplers.checks import Columns
from lpsm.samplers.kernels import CallableKernel, Kernel
from lpsm.samplers.learners import Record, memory_of
from lpsm.samplers.linear_algebra import NO_COLUMNS, NO_STARTS
from lpsm.samplers.protocol import (
    ENTRIES,
    EVICTED,
    FIRST,
    FRESH,
    LAST,
    N_COUNTS,
    N_SCALARS,
    NO_KERNEL,
    ROUND,
    SIZE,
    WEIGHT,
    Code,
    Learner,
    RoundRecord,
    Rule,
    code_of,
    mode_of,
    play,
)


def pinned(*records: Record) -> tuple[Code, list[Code]]:
    """Return the place of copies of a record, valid as long as their arrays live, and its entries, 0 for none.

    A record is a learner's arrays, those of an ensemble, or a `RoundRecord`.
    """
    if is_plain():
        return records, [getattr(type(records[0]), name, 0) for name in ENTRIES]
    place = np.zeros((len(records), protocol.WORDS), np.int64)
    entries = np.zeros(len(ENTRIES), np.int64)
    for record, own in zip(records, place, strict=True):
        import_module("lpsm.samplers.native_calls").pin(record, own, entries)
    return place.ravel(), entries.tolist()


class Copy:
    """One who learns; the head of an ensemble has counts and scalars alone."""

    def __init__(self, learner: Learner, rule: Rule, kernel: Kernel | None) -> None:
        self.learner, self.rule, self.kernel = learner, rule, kernel
        self.arrays: Record = None
        self.counts, self.scalars = np.zeros(N_COUNTS, np.int64), np.zeros(N_SCALARS)
        self.scalars[WEIGHT] = 1.0
        self.evictions: np.random.Generator | None = None

    def begin(self, *size: Any) -> None:
        """Take arrays as they are before the first round: of so many features and classes, and of this type."""
        self.arrays = kernels.first_arrays(self.learner, self.kernel, *size)
        self.rule.begin(self.counts, self.scalars)

    def make_room(self, width: int, is_sparse: bool) -> None:
        """Grow the arrays of stored instances if there is no room for the next, of `width` values."""
        if (memory := memory_of(self.arrays)) is None:
            return
        capacity = len(memory.labels)
        full = self.counts[SIZE] >= capacity and not self.learner.B
        if full or width > memory.rows.shape[1]:
            self.arrays = kernels.roomier(self.arrays, memory, 2 * capacity if full else capacity, width, is_sparse)

    def limits(self) -> list[float]:
        """The first of `RoundRecord.limits`: ridge, drift, and the values and instances that there is room for."""
        most, arrays = float(protocol.UNLIMITED), self.arrays
        found = [getattr(arrays, "ridge", 0.0), getattr(arrays, "drift", 0.0), most, most]
        if (memory := memory_of(arrays)) is not None:
            found[2:] = memory.rows.shape[1], most if self.learner.B else len(memory.labels)
        return found

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if not self.counts.flags.writeable:  # read from a file that is mapped into memory
            self.counts, self.scalars = self.counts.copy(), self.scalars.copy()
            if self.arrays is not None:
                self.arrays = kernels.changed(self.arrays, lambda _, array: array.copy())
        if self.kernel is not None and self.arrays is not None:  # the machine code of a kernel is of this process
            held = self.arrays.held
            kernel = held.kernel._replace(function=code_of(self.kernel.chance))
            self.arrays = self.arrays._replace(held=held._replace(kernel=kernel))


class Ensemble:
    """Copies that play together by one rule, for a `Sampler` of this size and these settings: the record of its rounds.

    If they vote, `head` has the counts of the whole, and `voters` is a record with the methods `vote` and `reweigh`.
    """

    def __init__(self, of: Any, copies: tuple[Copy, ...], head: Copy | None = None, voters: Record = None) -> None:
        self.copies, self.n_features, self.normalize = copies, of.n_features, of.normalize
        self._limit, self.voters = protocol.UNLIMITED if of.max_queries is None else of.max_queries, voters
        everyone = copies if head is None else (*copies, head)
        counts, scalars = copies[0].counts[None], copies[0].scalars[None]
        place, entries = np.zeros(1, np.int64), [0] * 6
        if head is not None:
            counts, scalars = np.array([one.counts for one in everyone]), np.array([one.scalars for one in everyone])
            for one, own, more in zip(everyone, counts, scalars, strict=True):
                one.counts, one.scalars = own, more
            place, entries = pinned(voters)
        m, first, rule, kernel = len(copies), copies[0].arrays, copies[0].rule, copies[0].kernel
        self.given = kernel if isinstance(kernel, CallableKernel) else None
        self.inside = bool(getattr(first, "inside", False))
        """Whether margins are those with the instance in the inverse."""
        self.record = RoundRecord(
            size=m, **self._learners(len(everyone)), inside=self.inside,
            buys_first=getattr(first, "factor", -1.0) >= 0.0, by_length=kernel is not None,
            kernel=NO_KERNEL if kernel is None else first.held.kernel,
            ensemble=place, vote=entries[4], reweigh=entries[5], counts=counts, scalars=scalars,
            rule=np.array([one.rule.numbers() for one in copies]),
            **{name: code_of(getattr(rule, name)) for name in ("chance", "grants", "answers")},
            needs_variance=rule.needs_variance, filters=rule.filters, stores_all=of.stores == "queried",
            hinge=of.stores == "small margins", normalize=of.normalize, label=np.zeros(1), coin=np.zeros(1),
            evictions=np.zeros((m, 1) if copies[0].evictions is not None else (0, 0)),
            gone=np.zeros(m, np.int64),
            schedules=np.zeros((2 * m if isinstance(rule, rules.AdaptiveSampler) else 0, 1)),
            log=np.zeros((protocol.N_LOG, 0)), scores=np.zeros((1, of.n_classes)),
            outcome=np.zeros((len(everyone), protocol.N_OUTCOME)), mode=np.zeros(8, np.int64),
            scratch=np.zeros(of.n_features, of.dtype),
        )  # fmt: skip
        self._places: dict[tuple[str, bool], tuple[Code, RoundRecord]] = {}  # by mode, and whether rows are sparse
        self._starts = np.zeros(2, np.int64)  # of a row alone

    @property
    def is_current(self) -> bool:
        """Whether the arrays of the copies are still where the record says; others may have made room in them."""
        return all(map(is_, map(attrgetter("arrays"), self.copies), self._pinned))

    def _learners(self, n_outcomes: int) -> dict[str, Any]:
        """Where the learners' arrays are, and what there is room for."""
        self._pinned = [one.arrays for one in self.copies]
        at, entries = pinned(*self._pinned)
        limits = np.full((n_outcomes, 5), float(protocol.UNLIMITED))
        limits[: len(self.copies), :4] = [one.limits() for one in self.copies]
        limits[-1, protocol.MOST] = self._limit
        return {"at": at, **dict(zip(ENTRIES[:4], entries, strict=False)), "limits": limits}

    def schedules(self, rounds: int) -> Floats:
        """Return floors of all copies, then biases, in the rounds to come; (0, T) where there are none."""
        own = [one.rule for one in self.copies if isinstance(one.rule, rules.AdaptiveSampler)]
        now = int(self.record.counts[-1, ROUND])
        at = range(now + 1, now + rounds + 1)
        each = np.array([[rule.schedule(self.n_features, t) for t in at] for rule in own])
        return np.concatenate(each.reshape(len(own), rounds, 2).transpose(2, 0, 1))

    def draws(self, rounds: int) -> dict[str, Array]:
        """Return uniforms for the evictions of so many rounds, and how many there were before; see `drawn`."""
        own = [deepcopy(one.evictions).random(rounds) for one in self.copies if one.evictions is not None]
        gone = np.array([one.counts[EVICTED] for one in self.copies])
        return {"evictions": np.array(own).reshape(len(own), rounds), "gone": gone}

    def drawn(self, gone: Ints) -> None:
        """Take from the generators those that were used."""
        for one, before in zip(self.copies, gone, strict=True):
            if one.evictions is not None:
                one.evictions.random(int(one.counts[EVICTED]) - int(before))

    def play_row(self, values: Array, columns: Columns, mode: str) -> None:
        """Play one row."""
        if self.given is not None and mode[FRESH] == "0":
            self._fill(self.given, values)
        at, starts, rows, how = NO_COLUMNS, NO_STARTS, values[None], (mode, columns is not None)
        if columns is not None:
            at, starts = columns, self._starts
            starts[1] = len(values)
        while (found := self._places.get(how)) is None or not play(found[0], rows, at, starts):
            if found is None:
                record = self.record._replace(mode=mode_of(*how, 1))
                self._places[how] = pinned(record)[0], record
            else:
                self._make_room(len(values), columns is not None)

    def play_rows(self, table: tuple[Array, Array, Array], n: int, mode: str, **own: Any) -> None:
        """Play n rows of a table with these arrays in the record; k(x, x_i) of a given function is filled in a row."""
        at, starts, place = 0, table[2], None
        is_sparse = len(starts) > 0
        modes = mode_of(mode, is_sparse, n)
        while at < n:
            if self.given is not None:
                self._fill(self.given, table[0][at])
                modes[LAST] = at + 1
            if place is None:
                place, _ = pinned(self.record._replace(mode=modes, **own))
            modes[FIRST] = at
            at = play(place, *table)
            if at < modes[LAST]:
                self._make_room(int(starts[at + 1] - starts[at]) if is_sparse else self.n_features, is_sparse)
                place = None

    def _fill(self, kernel: CallableKernel, x: Array) -> None:
        """Compute what a kernel given by a function says of an instance."""
        x = x / np.sqrt(x @ x) if self.normalize else x
        for one in self.copies:
            kernels.fill(one.arrays, kernel, one.counts, one.scalars, x)

    def _make_room(self, width: int, is_sparse: bool) -> None:
        """Grow arrays of stored instances where there is no room."""
        for one in self.copies:
            one.make_room(width, is_sparse)
        self.record, self._places = self.record._replace(**self._learners(len(self.record.outcome))), {}
