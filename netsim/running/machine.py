"""What keeps a compiled run: its records, and how many numbers stand in a row for one thing."""

from __future__ import annotations

from lpsm.native.records import Ints, Part, record
from netsim.model.entities import Connection, Frame

EVENT = 3
"""Numbers of an event: its instant, its order, and what it is about with its code."""
POLL_NUMBERS, INTERVAL_NUMBERS = 6, 2
"""Numbers of a note of a beacon listened to, and of an interval awake."""
FEW = 64
"""Random numbers of a stream that an event may need."""


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
