"""The run: one packet followed to its end before the next, page after page, beside the messages.

What happens at the server is taken in the order of time.  What the client begins by itself (a page is issued, the run
ends) is due at ISSUE, and comes in between as soon as something would reach the client, or the access point, later.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm._pointers import start
from netsim.express import layout as slot
from netsim.express.layout import Place
from netsim.express.links import acknowledge, air, wire
from netsim.express.push import MESSAGE, acknowledged, announce, at_subscriber, next_instant, serve
from netsim.express.station import Rule, note_received, open_gate, reach, stay_awake
from netsim.express.transport import at_client, at_server, fetch, next_reply, reply

__all__ = ["run_pages"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled
def run_pages(
    begin: int, end: int, pages: Ints, sizes: Ints, w: Ints, loads: Ints, polls: Ints, intervals: Ints, reached: Ints,
    messages: Ints, flow: Floats, ints: Ints, floats: Floats,
) -> int:  # fmt: skip
    """Browse from page `begin` to before `end`; return where it stopped: one beyond the last row at the run's end.

    With messages it stops later than asked for, before the first page that is issued while all is quiet; and it stops
    earlier where half of the room for polls or intervals is taken.  If BAIL is set, the state is of no use, and the
    page returned is the last that was issued while all was quiet: TIMER, it is one for the packet model; FULL, there
    must be more room for polls or intervals; REFUSED, the policy has planned what it must not.

    Parameters
    ----------
    begin, end : int
        The first page, and the one after the last.
    pages : array of int64, shape (n + 1, 5)
        A row a page: instant of its own or -1, think time, first object, number of objects, deadline or NEVER.  The
        last row is the end of the run.
    sizes : array of int64
        Three numbers an object: request, reply, server delay.
    w : array of int64
        As `layout` says.
    loads, polls, intervals : arrays of int64
        Receive what `netsim.browser.Trip` says.
    reached : array of int64, shape (ROOM,)
        When each frame held back reached the access point.
    messages : array of int64, shape (m + 1, 3)
        A row a message: instant written, last byte counted from the first message's, instant delivered (received).  The
        last row is never written.
    flow : array of float64, shape (2,)
        Congestion window and slow start threshold of the messages' sender, segments.
    ints, floats : arrays
        Of the policy.
    """
    w[slot.POLLS_ROOM], w[slot.INTERVALS_ROOM] = polls.size, intervals.size
    w[slot.BAIL], w[slot.FIXED_POLLS] = 0, w[slot.N_POLLS]
    w[slot.PAGE], w[slot.QUIET_PAGE] = begin, begin
    rule, world, arrived = (start(ints), start(floats)), start(w), start(messages)
    _schedule_issue(world, start(pages), arrived)
    _follow_packets(
        end, world, start(pages), start(sizes), start(loads), start(polls), start(intervals), start(reached),
        arrived, start(flow), rule,
    )  # fmt: skip
    return w[slot.QUIET_PAGE] if w[slot.BAIL] else w[slot.PAGE]


@compiled
def _follow_packets(
    end: int, w: Place, pages: Place, sizes: Place, loads: Place, polls: Place, intervals: Place, reached: Place,
    messages: Place, flow: Place, rule: Rule,
) -> None:  # fmt: skip
    """Follow every packet from the server to the client, and its answer back into the queue of those on their way up.

    It ends before the page `end`, at the end of the run, or with BAIL.
    """
    mss = w[slot.MSS]
    while not w[slot.BAIL]:
        head = w[slot.UP_HEAD]
        place = slot.RING + (head & w[slot.MASK]) * slot.N_UP
        now = w[place] if head < w[slot.UP_TAIL] else slot.NEVER
        c, kind = w[place + 1] >> 2, w[place + 1] & 3
        first = stop = -1  # bytes that go out
        if w[slot.WAITING] or w[slot.PENDING] or now >= w[slot.NEXT_AT]:
            replier = next_reply(w) if w[slot.PENDING] else -1
            due = w[replier + slot.REPLY_AT] if replier >= 0 else slot.NEVER
            pushed = next_instant(w, messages) if w[slot.N_MESSAGES] else slot.NEVER
            issue = w[slot.ISSUE]
            soonest = min(now, due, pushed)
            if w[slot.WAITING] and w[slot.WAKE] <= min(soonest, issue):
                reach(w, polls, intervals, w[slot.WAKE], rule)
                first = stop = 0 * now
            elif issue <= soonest and issue < slot.NEVER:
                if _fills_more_than(w, 1):
                    w[slot.BAIL] = slot.FULL
                    return
                if w[slot.PAGE] < w[slot.N_PAGES] and _is_quiet(w, issue):
                    w[slot.QUIET_PAGE] = w[slot.PAGE]
                    if w[slot.PAGE] >= end or _fills_more_than(w, 2):
                        w[slot.NOW] = issue
                        return
                if _issue(w, pages, sizes, polls, intervals, messages, rule):
                    return
                first = stop = 0 * now
            elif replier == -2 or (now == soonest) + (due == soonest) + (pushed == soonest) > 1:
                w[slot.BAIL] = slot.TIMER  # the order of events decides, which only the packet model has
                return
            elif pushed == soonest:
                c, kind, now = slot.PUSH, slot.DATA, pushed
                first, stop = serve(w, messages, flow, now), w[slot.PUSH_STOP]
                _look_ahead(w, messages)
            elif due == soonest:
                w[replier + slot.REPLY_AT] = slot.NEVER
                w[slot.PENDING] -= 1
                c, kind, now = replier, slot.DATA, due
                first, stop = reply(w, sizes, c, now), w[c + slot.S_NEXT]
        if first < 0:
            w[slot.UP_HEAD] = head + 1
            if c == slot.PUSH:
                first, stop = acknowledged(w, flow, w[place + 2], now), w[slot.PUSH_STOP]
                _look_ahead(w, messages)
                kind = slot.DATA
            else:
                first, stop = at_server(w, sizes, c, kind, now), w[c + slot.S_NEXT]
                kind = slot.DATA
                if first < 0:
                    kind, stop = -1 - first, 0 * first + 1
                    first = 0 * first
        while True:  # what goes out, one by one, after what waited when the gate was opened
            if w[slot.OUT] < w[slot.OUT_TAIL]:
                held = w[slot.HELD] + slot.N_HELD * w[slot.OUT]
                word, byte, length, since = w[held], w[held + 1], w[held + 2], reached[w[slot.OUT]]
                w[slot.OUT] += 1
                at = w[slot.OUT_AT]
            elif first < stop:
                word, byte = c << 2 | kind, first
                length = 0 * word if kind != slot.DATA else min(mss, stop - first)
                free = max(w[slot.WIRE_DOWN], now) + wire(w, length)
                at = free + w[slot.WIRE_DELAY]  # at the access point
                since = at
                if at >= w[slot.ISSUE]:
                    if w[slot.PAGE] == w[slot.N_PAGES]:  # after the end of the run
                        if at == w[slot.ISSUE]:
                            w[slot.BAIL] = slot.TIMER
                        first = stop
                    else:
                        _issue(w, pages, sizes, polls, intervals, messages, rule)
                    continue
                if not w[slot.GATE] or at > w[slot.BUSY]:
                    if w[slot.GATE] or at >= w[slot.WAKE]:
                        if reach(w, polls, intervals, at, rule):
                            continue
                        w[slot.PLANNED] = 0
                    if not w[slot.GATE]:
                        if w[slot.WAITING] >= w[slot.ROOM]:
                            w[slot.BAIL] = slot.TIMER
                            return
                        held = w[slot.HELD] + slot.N_HELD * w[slot.WAITING]
                        w[held], w[held + 1], w[held + 2] = word, byte, length
                        reached[w[slot.WAITING]] = at
                        w[slot.WAITING] += 1
                        w[slot.WAITING_BYTES] += length + w[slot.HEADER]
                w[slot.WIRE_DOWN] = free
                first = stop if length < mss else first + length
                if not w[slot.GATE]:
                    continue
                w[slot.PLANNED] = 0
            else:
                break
            duration = air(w, length)
            w[slot.AIR_DOWN_BUSY] += duration
            free = max(w[slot.AIR_DOWN], at) + duration
            w[slot.AIR_DOWN] = free
            free += w[slot.AIR_DELAY]
            w[slot.BUSY] = max(w[slot.BUSY], free)
            if free >= w[slot.ISSUE]:
                if free == w[slot.ISSUE]:  # the order of events decides
                    w[slot.BAIL] = slot.TIMER
                if w[slot.PAGE] == w[slot.N_PAGES]:  # after the end of the run
                    continue
                _issue(w, pages, sizes, polls, intervals, messages, rule)
            w[slot.RECEIVED] = free
            to = word >> 2
            if to == slot.PUSH:
                announce(w, messages, free)
            if w[slot.OBSERVER]:
                note_received(w, rule, to, word & 3, byte, length, since, free)
            to_come = w[to + slot.C_TO_COME]
            if word & 3 == slot.DATA and to_come > mss and w[to + slot.C_UNACKED] == w[to + slot.C_NEXT]:
                w[to + slot.C_TO_COME] = to_come - mss  # the most common packet and its answer
                acknowledge(w, to, free, rule)
            elif to == slot.PUSH:
                at_subscriber(w, messages, byte, length, free, rule)
                if w[slot.PAGE] == w[slot.N_PAGES]:
                    _schedule_issue(w, pages, messages)
                _look_ahead(w, messages)
            else:
                at_client(w, sizes, to, word & 3, free, rule)
                if w[slot.DONE] >= 0:
                    _complete(w, pages, loads, messages)


@compiled
def _is_quiet(w: Place, now: int) -> bool:
    """Return whether nothing but messages to be written is on its way or waits anywhere at `now`, between two pages."""
    if w[slot.N_MESSAGES] == 0:
        return True
    on_links = max(w[slot.WIRE_DOWN] + w[slot.WIRE_DELAY], w[slot.AIR_DOWN] + w[slot.AIR_DELAY]) >= now
    waits = w[slot.WAITING] or w[slot.UP_HEAD] < w[slot.UP_TAIL] or w[slot.PARTIAL_HEAD] < w[slot.PARTIAL_TAIL]
    sending = w[slot.PUSH + slot.S_UNACKED] < w[slot.PUSH + slot.S_END] or w[slot.PUSH + slot.S_DEADLINE] < slot.NEVER
    return not (on_links or waits or sending)


@compiled
def _fills_more_than(w: Place, parts: int) -> bool:
    """Return whether so many times the polls and intervals awake so far would not have had room."""
    polls, intervals = 6 * w[slot.N_POLLS], 2 * w[slot.N_INTERVALS]
    return parts * polls > w[slot.POLLS_ROOM] or parts * intervals > w[slot.INTERVALS_ROOM]


@compiled
def _issue(w: Place, pages: Place, sizes: Place, polls: Place, intervals: Place, messages: Place, rule: Rule) -> bool:
    """Issue the page that is due, or end the run and return True; what a beacon lets out before comes first."""
    issued, page = w[slot.ISSUE], w[slot.PAGE]
    if reach(w, polls, intervals, issued, rule):
        return False
    if _fills_more_than(w, 1):
        w[slot.BAIL] = slot.FULL
    if page == w[slot.N_PAGES]:
        w[slot.NOW] = issued
        w[slot.PAGE] = page + 1
        return True
    awake = (issued if w[slot.GATE] else min(issued, w[slot.UNTIL])) - w[slot.SINCE]
    w[slot.AWAKE_BEFORE], w[slot.BEACONS_BEFORE] = w[slot.BEFORE] + max(0, awake), w[slot.BEACONS]
    w[slot.FIRST_OBJECT], w[slot.N_OBJECTS] = pages[5 * page + 2], pages[5 * page + 3]
    w[slot.PAGE_DEADLINE] = pages[5 * page + 4]
    w[slot.PENDING] = w[slot.TAKEN] = 0
    w[slot.MISSING], w[slot.DONE], w[slot.NOW] = w[slot.N_OBJECTS], -1, issued
    w[slot.ISSUE] = slot.NEVER
    _look_ahead(w, messages)
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
    return False


@compiled
def _complete(w: Place, pages: Place, loads: Place, messages: Place) -> None:
    """Enter the page that has come, and think about it."""
    page, done = w[slot.PAGE], w[slot.DONE]
    loads[4 * page] = w[slot.NOW]
    loads[4 * page + 1] = done
    loads[4 * page + 2] = w[slot.BEFORE] + max(0, done - w[slot.SINCE]) - w[slot.AWAKE_BEFORE]
    loads[4 * page + 3] = w[slot.BEACONS] - w[slot.BEACONS_BEFORE]
    w[slot.NOW], w[slot.DONE], w[slot.PAGE] = done + pages[5 * page + 1], -1, page + 1
    tail, kept = w[slot.UP_TAIL], w[slot.UP_HEAD]
    if w[slot.N_MESSAGES]:
        for number in range(kept, tail):
            place = slot.RING + (number & w[slot.MASK]) * slot.N_UP
            if w[place + 1] >> 2 == slot.PUSH:
                to = slot.RING + (kept & w[slot.MASK]) * slot.N_UP
                w[to], w[to + 1], w[to + 2] = w[place], w[place + 1], w[place + 2]
                kept += 1
    w[slot.UP_TAIL] = kept  # the others are for connections that have vanished
    _schedule_issue(w, pages, messages)


@compiled
def _schedule_issue(w: Place, pages: Place, messages: Place) -> None:
    """Say when the next page is issued, or the run ends: once its pages are done and its messages delivered."""
    page, n = w[slot.PAGE], w[slot.N_MESSAGES]
    w[slot.ISSUE] = slot.NEVER
    if page < w[slot.N_PAGES]:
        w[slot.ISSUE] = max(w[slot.NOW], pages[5 * page])
    elif w[slot.DELIVERED] == n:
        w[slot.ISSUE] = max(w[slot.NOW], messages[MESSAGE * n - 1]) if n else w[slot.NOW]
    _look_ahead(w, messages)


@compiled
def _look_ahead(w: Place, messages: Place) -> None:
    """Say when something next happens that is no packet at the server."""
    w[slot.NEXT_AT] = w[slot.ISSUE]
    if w[slot.N_MESSAGES]:
        w[slot.NEXT_AT] = min(w[slot.ISSUE], next_instant(w, messages))
