"""The run: page after page, one packet followed to its end before the next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from lpsm._compile import compiled
from netsim.twin import layout as slot
from netsim.twin.links import air
from netsim.twin.station import Learner, open_gate, reach, stay_awake
from netsim.twin.transport import at_client, at_server, fetch, next_reply, reply

__all__ = ["run_pages", "run_pages_learning"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@intrinsic
def _start(_: Any, array: Any) -> Any:
    """Return the address of an array's first element."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate  # type: ignore[no-untyped-call]


@compiled
def _bare(array: Any) -> Any:
    """Return the same memory, not counted as in use: counting would cost more than a packet does."""
    return carray(_start(array), array.shape)  # type: ignore[call-arg]


@compiled
def _load(
    w: Ints, sizes: Ints, polls: Ints, intervals: Ints, issued: int, learner: Learner
) -> None:  # fmt: skip
    """Load one page: from its issue until DONE is set, or BAIL."""
    for i in range(slot.UP_HEAD, slot.MISSING):
        w[i] = 0
    w[slot.MISSING], w[slot.DONE] = w[slot.N_OBJECTS], -1
    for i in range(w[slot.N_OBJECTS] + 1):
        w[w[slot.CONNECTIONS] + i * slot.N_CONNECTION + slot.REPLY_AT] = slot.NEVER
    stay_awake(w, intervals, issued)
    fetch(w, sizes, 0 * issued, issued, False)
    if not w[slot.GATE]:
        if w[slot.OPENS]:
            open_gate(w, issued)
        else:
            w[slot.UNTIL] = w[slot.AIR_UP]
    none = w[slot.KIND] == slot.NONE
    while w[slot.DONE] < 0 and not w[slot.BAIL]:
        if w[slot.OUT] < w[slot.OUT_TAIL]:  # the gate has been opened: what waited goes onto the air
            place = w[slot.HELD] + 2 * w[slot.OUT]
            at, word, ack = w[slot.OUT_AT], w[place], w[place + 1]
            w[slot.OUT] += 1
        elif w[slot.DOWN_HEAD] < w[slot.DOWN_TAIL]:  # a packet reaches the access point
            place = w[slot.DOWN] + 3 * w[slot.DOWN_HEAD]
            at, word, ack = w[place], w[place + 1], w[place + 2]
            if not none:
                if reach(w, polls, intervals, at, learner):
                    continue
                if not w[slot.GATE]:
                    if w[slot.WAITING] >= w[slot.ROOM]:
                        w[slot.BAIL] = slot.TIMER
                        break
                    place = w[slot.HELD] + 2 * w[slot.WAITING]
                    w[place], w[place + 1] = word, ack
                    w[slot.WAITING] += 1
                    w[slot.WAITING_BYTES] += ((word >> 2) & slot.LENGTH_MASK) + w[slot.HEADER]
            w[slot.DOWN_HEAD] += 1
            if w[slot.DOWN_HEAD] == w[slot.DOWN_TAIL]:
                w[slot.DOWN_HEAD] = w[slot.DOWN_TAIL] = 0
            if not w[slot.GATE]:
                continue
        else:
            place = slot.RING + (w[slot.UP_HEAD] & w[slot.MASK]) * 3
            packet = w[place] if w[slot.UP_HEAD] < w[slot.UP_TAIL] else slot.NEVER
            replier = next_reply(w) if w[slot.PENDING] else -1
            due = w[w[slot.CONNECTIONS] + replier * slot.N_CONNECTION + slot.REPLY_AT] if replier >= 0 else slot.NEVER
            if w[slot.WAITING] and w[slot.WAKE] <= min(packet, due):
                reach(w, polls, intervals, w[slot.WAKE], learner)
            elif replier == -2 or packet == due:  # the order of events decides, which only the packet model has
                w[slot.BAIL] = slot.TIMER
            elif due < packet:
                w[w[slot.CONNECTIONS] + replier * slot.N_CONNECTION + slot.REPLY_AT] = slot.NEVER
                w[slot.PENDING] -= 1
                reply(w, sizes, replier, due)
            else:
                w[slot.UP_HEAD] += 1
                at_server(w, sizes, packet, w[place + 1], w[place + 2])
            continue
        duration = air(w, (word >> 2) & slot.LENGTH_MASK)
        w[slot.AIR_DOWN_BUSY] += duration
        free = max(w[slot.AIR_DOWN], at) + duration
        w[slot.AIR_DOWN] = free
        w[slot.PLANNED] = 0
        w[slot.BUSY] = max(w[slot.BUSY], free + w[slot.AIR_DELAY])
        at_client(w, sizes, word, ack, free + w[slot.AIR_DELAY])


@compiled
def run_pages(
    begin: int, pages: Ints, sizes: Ints, w: Ints, kept: Ints, loads: Ints, polls: Ints, intervals: Ints
) -> int:  # fmt: skip
    """Browse the pages from `begin` on, under a policy that does not learn; return the first one left over.

    If that is not the number of pages, the state is that before its issue, and BAIL says why:
    TIMER, it is one for the packet model; FULL, there must be more room for polls or intervals.

    `pages` has a row a page: instant of its own or -1, think time, first object, number of objects.
    The last row, with -1 for the number of objects, is the end of the run.  `sizes` has three numbers
    an object: request, reply, server delay.
    """
    w, sizes, polls, intervals = _bare(w), _bare(sizes), _bare(polls), _bare(intervals)
    for page in range(begin, pages.shape[0]):
        kept[:] = w[slot.FIRST_STATE : slot.RING]
        _page(page, pages, sizes, w, loads, polls, intervals, None)
        if w[slot.BAIL]:
            _restore(w, kept)
            return page
    return pages.shape[0]


@compiled
def run_pages_learning(
    begin: int, pages: Ints, sizes: Ints, w: Ints, kept: Ints, loads: Ints, polls: Ints, intervals: Ints,
    weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats, experts: Floats,
    kept_weights: Floats, kept_columns: Floats, kept_slow: Floats, kept_head: Floats,
) -> int:  # fmt: skip
    """Do what `run_pages` does under LPSM; the learner is advanced, or left as it was before the page left over."""
    w, sizes, polls, intervals = _bare(w), _bare(sizes), _bare(polls), _bare(intervals)
    learner = (_bare(weights), _bare(columns), _bare(slow), _bare(head), _bare(work), _bare(experts))
    for page in range(begin, pages.shape[0]):
        kept[:] = w[slot.FIRST_STATE : slot.RING]
        kept_weights[:], kept_columns[:], kept_slow[:], kept_head[:] = weights, columns, slow, head
        _page(page, pages, sizes, w, loads, polls, intervals, learner)
        if w[slot.BAIL]:
            _restore(w, kept)
            weights[:], columns[:], slow[:], head[:] = kept_weights, kept_columns, kept_slow, kept_head
            return page
    return pages.shape[0]


@compiled
def _restore(w: Ints, kept: Ints) -> None:
    reason = w[slot.BAIL]
    w[slot.FIRST_STATE : slot.RING] = kept
    w[slot.BAIL] = reason


@compiled
def _page(
    page: int, pages: Ints, sizes: Ints, w: Ints, loads: Ints, polls: Ints, intervals: Ints, learner: Learner
) -> None:  # fmt: skip
    """Browse one page and think about it, or end the run; BAIL is set if it must be done otherwise."""
    w[slot.PAGE_POLLS] = w[slot.N_POLLS]
    issued = max(w[slot.NOW], pages[page, 0])
    if reach(w, polls, intervals, issued, learner):
        w[slot.BAIL] = slot.TIMER  # nothing waits between pages
    awake = w[slot.BEFORE] + max(0, (issued if w[slot.GATE] else min(issued, w[slot.UNTIL])) - w[slot.SINCE])
    beacons = w[slot.BEACONS]
    w[slot.FIRST_OBJECT], w[slot.N_OBJECTS] = pages[page, 2], pages[page, 3]
    last = pages[page, 3] < 0
    if not last and not w[slot.BAIL]:
        _load(w, sizes, polls, intervals, issued, learner)
    if 6 * w[slot.N_POLLS] > polls.size or 2 * w[slot.N_INTERVALS] > intervals.size:
        w[slot.BAIL] = slot.FULL
    if not last and not w[slot.BAIL]:
        done = w[slot.DONE]
        loads[page, 0] = issued
        loads[page, 1] = done
        loads[page, 2] = w[slot.BEFORE] + max(0, done - w[slot.SINCE]) - awake
        loads[page, 3] = w[slot.BEACONS] - beacons
        w[slot.NOW] = done + pages[page, 1]
