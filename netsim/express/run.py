"""The run: page after page, one packet followed to its end before the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from netsim.express import layout as slot
from netsim.express.layout import Place
from netsim.express.links import acknowledge, air, wire
from netsim.express.pointers import start
from netsim.express.station import Rule, note_received, open_gate, reach, stay_awake
from netsim.express.transport import at_client, at_server, fetch, next_reply, reply

__all__ = ["run_pages"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled
def _load(w: Place, sizes: Place, polls: Place, intervals: Place, reached: Place, issued: int, rule: Rule) -> None:
    """Load one page: from its issue until DONE is set, or BAIL."""
    mss = w[slot.MSS]
    for i in range(slot.UP_HEAD, slot.MISSING):
        w[i] = 0
    w[slot.MISSING], w[slot.DONE] = w[slot.N_OBJECTS], -1
    for i in range(w[slot.N_OBJECTS] + 1):
        w[w[slot.CONNECTIONS] + i * slot.N_CONNECTION + slot.REPLY_AT] = slot.NEVER
    stay_awake(w, intervals, issued)
    fetch(w, sizes, w[slot.CONNECTIONS], issued, False, rule)
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
                reach(w, polls, intervals, w[slot.WAKE], rule)
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
                since = reached[w[slot.OUT]]
                w[slot.OUT] += 1
                length = 0 * word if word & 3 != slot.DATA else min(mss, w[(word >> 2) + slot.C_TO_COME])
                at = w[slot.OUT_AT]
            elif first < stop:
                word = c << 2 | kind
                length = 0 * word if kind != slot.DATA else min(mss, stop - first)
                free = max(w[slot.WIRE_DOWN], now) + wire(w, length)
                at = free + w[slot.WIRE_DELAY]  # at the access point
                since = at
                if not w[slot.GATE] or at > w[slot.BUSY]:
                    if w[slot.GATE] or at >= w[slot.WAKE]:
                        if reach(w, polls, intervals, at, rule):
                            continue
                        w[slot.PLANNED] = 0
                    if not w[slot.GATE]:
                        if w[slot.WAITING] >= w[slot.ROOM]:
                            w[slot.BAIL] = slot.TIMER
                            return
                        w[w[slot.HELD] + w[slot.WAITING]] = word
                        reached[w[slot.WAITING]] = at
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
            to = word >> 2
            if w[slot.OBSERVER]:
                note_received(w, rule, to, word & 3, length, since, free)
            to_come = w[to + slot.C_TO_COME]
            if word & 3 == slot.DATA and to_come > mss and w[to + slot.C_UNACKED] == w[to + slot.C_NEXT]:
                w[to + slot.C_TO_COME] = to_come - mss  # the most common packet and its answer
                acknowledge(w, to, free, rule)
            else:
                at_client(w, sizes, to, word & 3, free, rule)


@compiled
def run_pages(
    begin: int, end: int, pages: Ints, sizes: Ints, w: Ints, loads: Ints, polls: Ints, intervals: Ints, reached: Ints,
    ints: Ints, floats: Floats,
) -> int:  # fmt: skip
    """Browse the pages from `begin` to before `end`; return the page that is left over, or `end`.

    If a page is left over, BAIL says why, and the state is of no use: TIMER, the page is one for the packet model;
    FULL, there must be more room for polls or intervals; REFUSED, the policy has planned what it must not.

    Parameters
    ----------
    begin, end : int
        The first page, and the one after the last.
    pages : array of int64, shape (n + 1, 5)
        A row a page: instant of its own or -1, think time, first object, number of objects, deadline or NEVER.  The
        last row, with -1 for the number of objects, is the end of the run.
    sizes : array of int64
        Three numbers an object: request, reply, server delay.
    w : array of int64
        As `layout` says.
    loads, polls, intervals : arrays of int64
        Receive what `netsim.browser.Trip` says.
    reached : array of int64, shape (ROOM,)
        When each frame held back reached the access point.
    ints, floats : arrays
        Of the policy.
    """
    w[slot.POLLS_ROOM], w[slot.INTERVALS_ROOM] = polls.size, intervals.size
    w[slot.BAIL], w[slot.FIXED_POLLS] = 0, w[slot.N_POLLS]
    rule = (start(ints), start(floats))
    for page in range(begin, end):
        _page(
            page,
            start(pages),
            start(sizes),
            start(w),
            start(loads),
            start(polls),
            start(intervals),
            start(reached),
            rule,
        )
        if w[slot.BAIL]:
            return page
    return end


@compiled
def _page(
    page: int, pages: Place, sizes: Place, w: Place, loads: Place, polls: Place, intervals: Place, reached: Place,
    rule: Rule,
) -> None:  # fmt: skip
    """Browse one page and think about it, or end the run; BAIL is set if it must be done otherwise."""
    issued = max(w[slot.NOW], pages[5 * page])
    if reach(w, polls, intervals, issued, rule):
        w[slot.BAIL] = slot.TIMER  # nothing waits between pages
    awake = w[slot.BEFORE] + max(0, (issued if w[slot.GATE] else min(issued, w[slot.UNTIL])) - w[slot.SINCE])
    beacons = w[slot.BEACONS]
    w[slot.FIRST_OBJECT], w[slot.N_OBJECTS] = pages[5 * page + 2], pages[5 * page + 3]
    last = w[slot.N_OBJECTS] < 0
    if not last and not w[slot.BAIL]:
        w[slot.PAGE_DEADLINE] = pages[5 * page + 4]
        _load(w, sizes, polls, intervals, reached, issued, rule)
    if 6 * w[slot.N_POLLS] > w[slot.POLLS_ROOM] or 2 * w[slot.N_INTERVALS] > w[slot.INTERVALS_ROOM]:
        w[slot.BAIL] = slot.FULL
    if last or w[slot.BAIL]:
        return
    done = w[slot.DONE]
    loads[4 * page] = issued
    loads[4 * page + 1] = done
    loads[4 * page + 2] = w[slot.BEFORE] + max(0, done - w[slot.SINCE]) - awake
    loads[4 * page + 3] = w[slot.BEACONS] - beacons
    w[slot.NOW] = done + pages[5 * page + 1]
