"""Pages one after another: `netsim.browser`'s loop, and the end of the run, in integers.

The next page, or the end, is due at ISSUE; while a page loads, or messages must still be delivered, it is NEVER.
"""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.express import layout as slot
from netsim.express.layout import Place
from netsim.express.push import MESSAGE, next_instant
from netsim.express.station import Rule, awake_ns, open_gate, reach, stay_awake
from netsim.express.transport import fetch

__all__ = ["complete_page", "fills_more_than", "is_quiet", "issue_page", "look_ahead", "schedule_issue"]


@compiled
def is_quiet(w: Place, now: int) -> bool:
    """Return whether nothing but messages to be written is on its way or waits anywhere at `now`, between two pages."""
    if w[slot.N_MESSAGES] == 0:
        return True
    on_links = max(w[slot.WIRE_DOWN] + w[slot.WIRE_DELAY], w[slot.AIR_DOWN] + w[slot.AIR_DELAY]) >= now
    waits = w[slot.WAITING] or w[slot.UP_HEAD] < w[slot.UP_TAIL] or w[slot.PARTIAL_HEAD] < w[slot.PARTIAL_TAIL]
    sending = w[slot.PUSH + slot.S_UNACKED] < w[slot.PUSH + slot.S_END] or w[slot.PUSH + slot.S_DEADLINE] < slot.NEVER
    return not (on_links or waits or sending)


@compiled
def fills_more_than(w: Place, parts: int) -> bool:
    """Return whether so many times the polls and intervals awake so far would not have had room."""
    polls, intervals = 6 * w[slot.N_POLLS], 2 * w[slot.N_INTERVALS]
    return parts * polls > w[slot.POLLS_ROOM] or parts * intervals > w[slot.INTERVALS_ROOM]


@compiled
def issue_page(
    w: Place, pages: Place, sizes: Place, polls: Place, intervals: Place, messages: Place, rule: Rule
) -> bool:
    """Issue the page that is due, or end the run and return True; what a beacon lets out before comes first."""
    issued, page = w[slot.ISSUE], w[slot.PAGE]
    if reach(w, polls, intervals, issued, rule):
        return False
    if fills_more_than(w, 1):
        w[slot.BAIL] = slot.FULL
    if page == w[slot.N_PAGES]:
        w[slot.NOW] = issued
        w[slot.PAGE] = page + 1
        return True
    w[slot.AWAKE_BEFORE], w[slot.BEACONS_BEFORE] = awake_ns(w, issued), w[slot.BEACONS]
    w[slot.FIRST_OBJECT], w[slot.N_OBJECTS] = pages[5 * page + 2], pages[5 * page + 3]
    w[slot.PAGE_DEADLINE] = pages[5 * page + 4]
    w[slot.PENDING] = w[slot.TAKEN] = 0
    w[slot.MISSING], w[slot.DONE], w[slot.NOW] = w[slot.N_OBJECTS], -1, issued
    w[slot.ISSUE] = slot.NEVER
    look_ahead(w, messages)
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
def complete_page(w: Place, pages: Place, loads: Place, messages: Place) -> None:
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
    schedule_issue(w, pages, messages)


@compiled
def schedule_issue(w: Place, pages: Place, messages: Place) -> None:
    """Say when the next page is issued, or the run ends: once its pages are done and its messages delivered."""
    page, n = w[slot.PAGE], w[slot.N_MESSAGES]
    w[slot.ISSUE] = slot.NEVER
    if page < w[slot.N_PAGES]:
        w[slot.ISSUE] = max(w[slot.NOW], pages[5 * page])
    elif w[slot.DELIVERED] == n:
        w[slot.ISSUE] = max(w[slot.NOW], messages[MESSAGE * n - 1]) if n else w[slot.NOW]
    look_ahead(w, messages)


@compiled
def look_ahead(w: Place, messages: Place) -> None:
    """Say when something next happens that is no packet at the server."""
    w[slot.NEXT_AT] = w[slot.ISSUE]
    if w[slot.N_MESSAGES]:
        w[slot.NEXT_AT] = min(w[slot.ISSUE], next_instant(w, messages))
