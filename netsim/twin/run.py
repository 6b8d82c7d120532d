"""The run: page after page, one packet followed to its end before the next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray  # type: ignore[attr-defined]
from numpy.typing import NDArray

from lpsm._compile import compiled
from netsim.twin import layout as slot
from netsim.twin.layout import Place, start
from netsim.twin.links import acknowledge, air, wire
from netsim.twin.schedules import REACHED, Schedules, keep, received, take_back
from netsim.twin.station import Learner, open_gate, reach, stay_awake
from netsim.twin.transport import at_client, at_server, fetch, next_reply, reply

__all__ = ["run_pages", "run_pages_learning", "run_pages_on_schedules"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled
def _bare(array: Any) -> Any:
    """Return the same memory, not counted as in use: counting would cost more than a packet does."""
    return carray(start(array), array.shape)


@compiled
def _load(
    w: Place, sizes: Place, polls: Place, intervals: Place, issued: int, learner: Learner, schedules: Schedules
) -> None:
    """Load one page: from its issue until DONE is set, or BAIL."""
    mss = w[slot.MSS]
    for i in range(slot.UP_HEAD, slot.MISSING):
        w[i] = 0
    w[slot.MISSING], w[slot.DONE] = w[slot.N_OBJECTS], -1
    for i in range(w[slot.N_OBJECTS] + 1):
        w[w[slot.CONNECTIONS] + i * slot.N_CONNECTION + slot.REPLY_AT] = slot.NEVER
    stay_awake(w, intervals, issued)
    fetch(w, sizes, w[slot.CONNECTIONS], issued, False, schedules)
    if w[slot.GATE]:
        w[slot.PLANNED] = 0
    elif w[slot.OPENS]:
        open_gate(w, issued)
    else:
        w[slot.UNTIL] = w[slot.AIR_UP]
    while w[slot.DONE] < 0 and not w[slot.BAIL]:  # a packet, or a reply, at the server
        head = w[slot.UP_HEAD]
        place = slot.RING + (head & w[slot.MASK]) * 2
        now = w[place] if head < w[slot.UP_TAIL] else slot.NEVER
        c, kind = w[place + 1] >> 2, w[place + 1] & 3
        first = -1  # byte that goes out
        if w[slot.WAITING] or w[slot.PENDING] or now == slot.NEVER:
            replier = next_reply(w) if w[slot.PENDING] else -1
            due = w[replier + slot.REPLY_AT] if replier >= 0 else slot.NEVER
            if w[slot.WAITING] and w[slot.WAKE] <= min(now, due):
                reach(w, polls, intervals, w[slot.WAKE], learner, schedules)
                c, first = w[slot.CONNECTIONS], w[w[slot.CONNECTIONS] + slot.S_NEXT]
            elif replier == -2 or now == due:  # the order of events decides, which only the packet model has
                w[slot.BAIL] = slot.TIMER
                return
            elif due < now:
                w[replier + slot.REPLY_AT] = slot.NEVER
                w[slot.PENDING] -= 1
                c, now = replier, due
                first = reply(w, sizes, c, now)
        if first < 0:
            w[slot.UP_HEAD] = head + 1
            first = at_server(w, sizes, c, kind, now)
        kind, stop = slot.DATA, w[c + slot.S_NEXT]
        if first < 0:
            kind, stop = -1 - first, 0 * first + 1
            first = 0 * first
        while True:  # what goes out, one by one, after what waited when the gate was opened
            if w[slot.OUT] < w[slot.OUT_TAIL]:
                word = w[w[slot.HELD] + w[slot.OUT]]
                if schedules is not None:
                    reached = schedules[0][schedules[0][REACHED] + w[slot.OUT]]
                w[slot.OUT] += 1
                length = 0 * word if word & 3 != slot.DATA else min(mss, w[(word >> 2) + slot.C_TO_COME])
                at = w[slot.OUT_AT]
            elif first < stop:
                word = c << 2 | kind
                length = 0 * word if kind != slot.DATA else min(mss, stop - first)
                free = max(w[slot.WIRE_DOWN], now) + wire(w, length)
                at = free + w[slot.WIRE_DELAY]  # at the access point
                if schedules is not None:
                    reached = at
                if not w[slot.GATE] or at > w[slot.BUSY]:
                    if w[slot.GATE] or at >= w[slot.WAKE]:
                        if reach(w, polls, intervals, at, learner, schedules):
                            continue
                        w[slot.PLANNED] = 0
                    if not w[slot.GATE]:
                        if w[slot.WAITING] >= w[slot.ROOM]:
                            w[slot.BAIL] = slot.TIMER
                            return
                        w[w[slot.HELD] + w[slot.WAITING]] = word
                        if schedules is not None:
                            schedules[0][schedules[0][REACHED] + w[slot.WAITING]] = at
                        w[slot.WAITING] += 1
                        w[slot.WAITING_BYTES] += length + w[slot.HEADER]
                w[slot.WIRE_DOWN] = free
                first = stop if length < mss else first + length
                if not w[slot.GATE]:
                    continue
            else:
                break
            duration = air(w, length)
            w[slot.AIR_DOWN_BUSY] += duration
            free = max(w[slot.AIR_DOWN], at) + duration
            w[slot.AIR_DOWN] = free
            free += w[slot.AIR_DELAY]
            w[slot.BUSY] = max(w[slot.BUSY], free)
            w[slot.RECEIVED] = free
            if schedules is not None:
                received(w, schedules, word, length, reached, free)
            to = word >> 2
            to_come = w[to + slot.C_TO_COME]
            if word & 3 == slot.DATA and to_come > mss and w[to + slot.C_UNACKED] == w[to + slot.C_NEXT]:
                w[to + slot.C_TO_COME] = to_come - mss  # the most common packet and its answer
                acknowledge(w, to, free, schedules)
            else:
                at_client(w, sizes, to, word & 3, free, schedules)


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
    w[slot.POLLS_ROOM], w[slot.INTERVALS_ROOM] = polls.size, intervals.size
    for page in range(begin, pages.shape[0]):
        if _page(
            page,
            start(pages),
            start(sizes),
            start(w),
            start(kept),
            start(loads),
            start(polls),
            start(intervals),
            None,
            None,
        ):
            return page
    return pages.shape[0]


@compiled
def run_pages_learning(
    begin: int, pages: Ints, sizes: Ints, w: Ints, kept: Ints, loads: Ints, polls: Ints, intervals: Ints,
    weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats, experts: Floats,
    kept_weights: Floats, kept_columns: Floats, kept_slow: Floats, kept_head: Floats,
) -> int:  # fmt: skip
    """Do what `run_pages` does under LPSM; the learner is advanced, or left as it was before the page left over."""
    w[slot.POLLS_ROOM], w[slot.INTERVALS_ROOM] = polls.size, intervals.size
    learner = (_bare(weights), _bare(columns), _bare(slow), _bare(head), _bare(work), _bare(experts))
    for page in range(begin, pages.shape[0]):
        kept_weights[:], kept_columns[:], kept_slow[:], kept_head[:] = weights, columns, slow, head
        if _page(
            page,
            start(pages),
            start(sizes),
            start(w),
            start(kept),
            start(loads),
            start(polls),
            start(intervals),
            learner,
            None,
        ):
            weights[:], columns[:], slow[:], head[:] = kept_weights, kept_columns, kept_slow, kept_head
            return page
    return pages.shape[0]


@compiled
def run_pages_on_schedules(
    begin: int, pages: Ints, sizes: Ints, w: Ints, kept: Ints, loads: Ints, polls: Ints, intervals: Ints,
    integers: Ints, floats: Floats, kept_integers: Ints, kept_floats: Floats,
) -> int:  # fmt: skip
    """Do what `run_pages` does under LPSM2, whose state is advanced, or left as before the page left over."""
    w[slot.POLLS_ROOM], w[slot.INTERVALS_ROOM] = polls.size, intervals.size
    schedules = (start(integers), start(floats), start(kept_floats))
    for page in range(begin, pages.shape[0]):
        keep(integers, floats, kept_integers, kept_floats)
        if _page(
            page,
            start(pages),
            start(sizes),
            start(w),
            start(kept),
            start(loads),
            start(polls),
            start(intervals),
            None,
            schedules,
        ):
            take_back(integers, floats, kept_integers, kept_floats)
            return page
    return pages.shape[0]


@compiled
def _page(
    page: int, pages: Place, sizes: Place, w: Place, kept: Place, loads: Place, polls: Place, intervals: Place,
    learner: Learner, schedules: Schedules,
) -> bool:  # fmt: skip
    """Browse one page and think about it, or end the run; return whether it must be done otherwise, see BAIL."""
    for i in range(slot.RING - slot.FIRST_STATE):
        kept[i] = w[slot.FIRST_STATE + i]
    w[slot.PAGE_POLLS] = w[slot.N_POLLS]
    issued = max(w[slot.NOW], pages[4 * page])
    if reach(w, polls, intervals, issued, learner, schedules):
        w[slot.BAIL] = slot.TIMER  # nothing waits between pages
    awake = w[slot.BEFORE] + max(0, (issued if w[slot.GATE] else min(issued, w[slot.UNTIL])) - w[slot.SINCE])
    beacons = w[slot.BEACONS]
    w[slot.FIRST_OBJECT], w[slot.N_OBJECTS] = pages[4 * page + 2], pages[4 * page + 3]
    last = w[slot.N_OBJECTS] < 0
    if not last and not w[slot.BAIL]:
        _load(w, sizes, polls, intervals, issued, learner, schedules)
    if 6 * w[slot.N_POLLS] > w[slot.POLLS_ROOM] or 2 * w[slot.N_INTERVALS] > w[slot.INTERVALS_ROOM]:
        w[slot.BAIL] = slot.FULL
    if w[slot.BAIL]:
        reason = w[slot.BAIL]
        for i in range(slot.RING - slot.FIRST_STATE):
            w[slot.FIRST_STATE + i] = kept[i]
        w[slot.BAIL] = reason
        return True
    if not last:
        done = w[slot.DONE]
        loads[4 * page] = issued
        loads[4 * page + 1] = done
        loads[4 * page + 2] = w[slot.BEFORE] + max(0, done - w[slot.SINCE]) - awake
        loads[4 * page + 3] = w[slot.BEACONS] - beacons
        w[slot.NOW] = done + pages[4 * page + 1]
    return False
