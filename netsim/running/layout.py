"""How records lie in memory, and what keeps a compiled run.

Every number has eight bytes, and the fields of a record follow one another in the order in which they are declared; a
record that is part of another stands in it.  A reference is an address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from netsim.model.entities import Connection, Frame
from netsim.model.records import RECORDS, Ints, Part, record

EVENT = 3
"""Numbers of an event: its instant, its order, and what it is about with its code."""
POLL, INTERVAL = 6, 2
"""Numbers of a note of a beacon listened to, and of an interval awake."""
FEW = 64
"""Random numbers of a stream that an event may need."""


class Field(NamedTuple):
    """Where a field stands in its record, in words of eight bytes; its annotation; and of a part, its kind."""

    at: int
    what: str
    part: str


@cache
def fields_of(kind: str) -> dict[str, Field]:
    """Return the fields of a kind of record, in their order."""
    found, at = {}, 0
    for name, what in RECORDS[kind].fields.items():
        part = what[5:-1] if what.startswith("Part[") else ""
        found[name] = Field(at, what, part)
        at += words_of(part) if part else 1
    return found


@cache
def words_of(kind: str) -> int:
    """Return how many numbers a record of a kind has."""
    last = list(fields_of(kind).values())[-1]
    return last.at + (words_of(last.part) if last.part else 1)


def _leaves(kind: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in fields_of(kind).items():
        yield from _leaves(field.part, f"{prefix}{name}.") if field.part else [(prefix + name, field.what)]


@cache
def numbers_of(kind: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads the numbers of a record of a kind, those of its parts among them, in the order of its words."""
    return attrgetter(*(name for name, _ in _leaves(kind)))


@cache
def reals_of(kind: str) -> list[int]:
    """Return the places of those that are no integers."""
    return [at for at, (_, what) in enumerate(_leaves(kind)) if what == "float"]


@record
class Heap:
    """Events in a heap, in a row."""

    n: int
    events: Ints


@record
class Ring:
    """Packets in the order of their arrival, in a row that closes to a ring."""

    at: int  # the first of them: its instant, `NEVER` if there is none,
    order: int  # and its order
    head: int  # how many were taken out,
    tail: int  # and how many were put in
    mask: int  # its length less 1, which is a power of 2 less 1
    events: Ints


@record
class Notes:
    """Notes in a row, and beside them of which client each is."""

    n: int
    room: int
    numbers: Ints
    clients: Ints


@record
class Machine:
    """What keeps a compiled run."""

    begun: int
    scheduled: int
    heap_room: int
    near: Part[Heap]
    far: Part[Heap]
    up_wire: Part[Ring]
    down_wire: Part[Ring]
    down_air: Part[Ring]
    free_frame: Frame
    next_frame: int  # addresses: the first that was never used, and where they end
    frames_stop: int
    frame_bytes: int
    free_connection: Connection
    next_connection: int
    connections_stop: int
    connection_bytes: int
    polls: Part[Notes]
    intervals: Part[Notes]
