"""The run: one packet followed to its end before the next, page after page, beside the messages.

What happens at the server is taken in the order of time.  What the client begins by itself (a page is issued, the run
ends) is due at ISSUE, and comes in between as soon as something would reach the client, or the access point, later.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from netsim.express import layout as slot
from netsim.express.browsing import complete_page, fills_more_than, is_quiet, issue_page, look_ahead, schedule_issue
from netsim.express.layout import Place
from netsim.express.links import acknowledge, air, wire
from netsim.express.push import acknowledged, announce, at_subscriber, next_instant, serve
from netsim.express.station import Rule, note_received, reach
from netsim.express.transport import at_client, at_server, next_reply, reply
from netsim.running.pointers import start

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
    schedule_issue(world, start(pages), arrived)
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
                if fills_more_than(w, 1):
                    w[slot.BAIL] = slot.FULL
                    return
                if w[slot.PAGE] < w[slot.N_PAGES] and is_quiet(w, issue):
                    w[slot.QUIET_PAGE] = w[slot.PAGE]
                    if w[slot.PAGE] >= end or fills_more_than(w, 2):
                        w[slot.NOW] = issue
                        return
                if issue_page(w, pages, sizes, polls, intervals, messages, rule):
                    return
                first = stop = 0 * now
            elif replier == -2 or (now == soonest) + (due == soonest) + (pushed == soonest) > 1:
                w[slot.BAIL] = slot.TIMER  # the order of events decides, which only the packet model has
                return
            elif pushed == soonest:
                c, kind, now = slot.PUSH, slot.DATA, pushed
                first, stop = serve(w, messages, flow, now), w[slot.PUSH_STOP]
                look_ahead(w, messages)
            elif due == soonest:
                w[replier + slot.REPLY_AT] = slot.NEVER
                w[slot.PENDING] -= 1
                c, kind, now = replier, slot.DATA, due
                first, stop = reply(w, sizes, c, now), w[c + slot.S_NEXT]
        if first < 0:
            w[slot.UP_HEAD] = head + 1
            if c == slot.PUSH:
                first, stop = acknowledged(w, flow, w[place + 2], now), w[slot.PUSH_STOP]
                look_ahead(w, messages)
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
                        if at == w[slot.ISSUE] or w[slot.BUSY] == slot.NEVER:
                            w[slot.BAIL] = slot.TIMER  # a client that never sleeps is charged before the access point
                        w[slot.WIRE_DOWN] = free  # and so is all that follows it on the wire
                        first = stop
                    else:
                        issue_page(w, pages, sizes, polls, intervals, messages, rule)
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
                issue_page(w, pages, sizes, polls, intervals, messages, rule)
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
                    schedule_issue(w, pages, messages)
                look_ahead(w, messages)
            else:
                at_client(w, sizes, to, word & 3, free, rule)
                if w[slot.DONE] >= 0:
                    complete_page(w, pages, loads, messages)
