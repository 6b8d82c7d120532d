"""What happens when, and the records that come and go: `netsim.clock`, and memory.

Events that fall on one instant happen in the order in which they were scheduled, as with SimPy, but time-outs last.
Those that are near wait in a heap of their own, which stays small; most of those that are far are timers that will find
nothing to do.
"""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.air.express import layout as slot
from netsim.express.layout import Place
from netsim.running.pointers import real

__all__ = [
    "append", "draw", "free_connection", "free_frame", "happen", "new_frame", "new_record", "next_event", "note",
    "refer",
]  # fmt: skip


@compiled
def happen(w: Place, at: int, code: int, argument: int) -> None:
    """Schedule an event at the instant `at`, among those that are near or those that are far."""
    queue = slot.N_FAR if at > w[slot.NOW] + slot.SOON_NS else slot.N_NEAR
    hole = w[queue]
    if hole >= w[slot.EVENTS_ROOM]:
        w[slot.STATUS] |= slot.REFUSED
        return
    w[queue] = hole + 1
    order = w[slot.SCHEDULED] | (code == slot.TCP_TIMER) << 61  # a time-out comes after all else at its instant
    w[slot.SCHEDULED] += 1
    heap = w[queue + 1]
    while hole > 0:
        parent = (hole - 1) >> 1
        above = heap + slot.EVENT_SIZE * parent
        if w[above] < at or (w[above] == at and w[above + 1] < order):
            break
        _put(w, heap + slot.EVENT_SIZE * hole, w[above], w[above + 1], w[above + 2])
        hole = parent
    _put(w, heap + slot.EVENT_SIZE * hole, at, order, argument << slot.CODE_BITS | code)


@compiled
def _put(w: Place, place: int, at: int, order: int, what: int) -> None:
    w[place], w[place + 1], w[place + 2] = at, order, what


@compiled
def _is_before(w: Place, one: int, other: int) -> bool:
    """Whether an event comes before another, by their places; without a branch, which nobody could predict."""
    return (w[one] < w[other]) | ((w[one] == w[other]) & (w[one + 1] < w[other + 1]))


@compiled
def next_event(w: Place) -> None:
    """Take out the first event: NOW, EVENT and ARGUMENT."""
    queue = slot.N_NEAR
    if w[slot.N_FAR] and (not w[slot.N_NEAR] or _is_before(w, w[slot.FAR], w[slot.NEAR])):
        queue = slot.N_FAR
    heap, n = w[queue + 1], w[queue] - 1
    w[queue] = n
    w[slot.NOW] = w[heap]
    w[slot.EVENT], w[slot.ARGUMENT] = w[heap + 2] & ((1 << slot.CODE_BITS) - 1), w[heap + 2] >> slot.CODE_BITS
    last, hole, child = heap + slot.EVENT_SIZE * n, 0, 1
    while child < n:  # the lesser child moves up, down to the leaves; `last` itself may take part
        place = heap + slot.EVENT_SIZE * child
        lesser = _is_before(w, place + slot.EVENT_SIZE, place)
        child += lesser
        place += slot.EVENT_SIZE * lesser
        _put(w, heap + slot.EVENT_SIZE * hole, w[place], w[place + 1], w[place + 2])
        hole, child = child, 2 * child + 1
    if hole >= n:
        return
    while hole > 0:  # the last of the heap, which belongs near the leaves, fills the hole
        parent = (hole - 1) >> 1
        above = heap + slot.EVENT_SIZE * parent
        if _is_before(w, above, last):
            break
        _put(w, heap + slot.EVENT_SIZE * hole, w[above], w[above + 1], w[above + 2])
        hole = parent
    _put(w, heap + slot.EVENT_SIZE * hole, w[last], w[last + 1], w[last + 2])


@compiled
def draw(w: Place, stream: int) -> float:
    """Return the next number of the stream whose place and end stand at `stream`; says in time that more are needed."""
    at = w[stream]
    w[stream] = at + 1
    if at + slot.MARGIN >= w[stream + 1]:
        w[slot.STATUS] |= slot.DRAWS
    return real(w[at])


@compiled
def note(w: Place, client: int, what: int, a: int, b: int, c: int, d: int, e: int, f: int) -> None:
    """Enter into the log an interval awake (`what` 0: start, end) or a poll (1), unless the client has left."""
    if w[client + slot.CLIENT_IS_DONE]:
        return
    n = w[slot.N_LOG]
    if n >= w[slot.LOG_ROOM]:
        w[slot.STATUS] |= slot.REFUSED
        return
    place = w[slot.LOG] + slot.LOG_SIZE * n
    w[place], w[place + 1], w[place + 2], w[place + 3] = client, what, a, b
    w[place + 4], w[place + 5], w[place + 6], w[place + 7] = c, d, e, f
    w[slot.N_LOG] = n + 1
    if n >= w[slot.LOG_FEW_LEFT]:
        w[slot.STATUS] |= slot.LOGS


@compiled
def new_record(w: Place, free: int, link: int, size: int, stop: int) -> int:
    """Take the first of the records that are free, which are linked; after the last, memory that was never used."""
    record = w[free]
    if w[record + link]:
        w[free] = w[record + link]
    elif record + 2 * size < w[stop]:
        w[free] = record + size
    else:
        w[slot.STATUS] |= slot.REFUSED
    return record


@compiled
def new_frame(w: Place) -> int:
    """Return a frame, whose fields are as they were left."""
    frame = new_record(w, slot.FREE_FRAME, slot.FRAME_LINK, slot.FRAME_SIZE, slot.FRAMES_STOP)
    w[frame + slot.FRAME_LINK] = 0
    return frame


@compiled
def free_frame(w: Place, frame: int) -> None:
    """Give a frame back."""
    w[frame + slot.FRAME_LINK] = w[slot.FREE_FRAME]
    w[slot.FREE_FRAME] = frame


@compiled
def append(w: Place, queue: int, frame: int) -> None:
    """Put a frame at the end of the queue whose first and last stand at `queue`."""
    w[frame + slot.FRAME_LINK] = 0
    if w[queue]:
        w[w[queue + 1] + slot.FRAME_LINK] = frame
    else:
        w[queue] = frame
    w[queue + 1] = frame


@compiled
def refer(w: Place, connection: int, more: int) -> None:
    """Count those who will come back to a connection; one that is closed and that nobody does is given back."""
    left = w[connection + slot.CONNECTION_REFERENCES] + more
    w[connection + slot.CONNECTION_REFERENCES] = left
    if left == 0 and w[connection + slot.END_CLOSED]:
        free_connection(w, connection)


@compiled
def free_connection(w: Place, connection: int) -> None:
    """Give a connection back, and what came on it out of order."""
    for end in (connection, connection + slot.CONNECTION_SERVER):
        while w[end + slot.END_OUT_OF_ORDER]:
            node = w[end + slot.END_OUT_OF_ORDER]
            w[end + slot.END_OUT_OF_ORDER] = w[node + slot.FRAME_LINK]
            free_frame(w, node)
    w[connection + slot.CONNECTION_LINK] = w[slot.FREE_CONNECTION]
    w[slot.FREE_CONNECTION] = connection
