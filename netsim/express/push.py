"""Pushed messages: `netsim.push` in integers, with the whole of TCP's sender (`netsim.tcp`), time-outs included.

The server's end is a sender like any other, but with Reno's recovery: a message that waits for a sleeping client is
often sent again.  The client's end only acknowledges.  What goes out is the bytes from a first one, which functions
return, to PUSH_STOP, in full segments but for the last.

A message's last segment counts as acknowledged when it reaches the client, before anything can have come back to the
server; such instants wait in a queue of their own (PARTIAL) until the server's time has come to them.
"""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.express import layout as slot
from netsim.express.layout import Place
from netsim.express.links import bare_message_up
from netsim.express.station import Rule
from netsim.express.transport import sample

__all__ = ["acknowledged", "announce", "at_subscriber", "next_instant", "serve"]

MESSAGE = 3  # numbers of a message: instant written, last byte counted from the first message's, instant delivered
CWND, THRESHOLD = 0, 1  # of `flow`, segments
_DUPLICATE_ACKS = 3


@compiled
def next_instant(w: Place, messages: Place) -> int:
    """Return when the server next does something by itself: it writes, a message has come, or the timer runs out."""
    first = min(messages[MESSAGE * w[slot.WRITTEN]], w[slot.PUSH + slot.S_DEADLINE])
    if w[slot.PARTIAL_HEAD] < w[slot.PARTIAL_TAIL]:
        first = min(first, w[_partial(w, w[slot.PARTIAL_HEAD])])
    return first


@compiled
def serve(w: Place, messages: Place, flow: Place, now: int) -> int:
    """Do at the server what is due by itself; return the first byte that goes out now, up to PUSH_STOP."""
    write_at = messages[MESSAGE * w[slot.WRITTEN]]
    partial = _partial(w, w[slot.PARTIAL_HEAD])
    came_at = w[partial] if w[slot.PARTIAL_HEAD] < w[slot.PARTIAL_TAIL] else slot.NEVER
    if write_at == came_at == now:  # the order of events decides; a time-out comes last
        w[slot.BAIL] = slot.TIMER
    if write_at == now:
        w[slot.PUSH + slot.S_END] = messages[MESSAGE * w[slot.WRITTEN] + 1]
        w[slot.PUSH + slot.S_ALL] = 0
        w[slot.WRITTEN] += 1
        return _send(w, flow, now)
    if came_at == now:
        w[slot.PARTIAL_HEAD] += 1
        if w[partial + 2]:
            w[slot.PUSH + slot.S_ALL] = 1
            w[slot.PUSH + slot.S_DEADLINE] = slot.NEVER
        return _new_ack(w, flow, w[partial + 1], now)
    return _time_out(w, flow, now)


@compiled
def acknowledged(w: Place, flow: Place, ack: int, now: int) -> int:
    """Take in an ACK at the server; return the first byte that goes out now, up to PUSH_STOP."""
    unacked, following = w[slot.PUSH + slot.S_UNACKED], w[slot.PUSH + slot.S_NEXT]
    if ack > unacked:
        return _new_ack(w, flow, ack, now)
    w[slot.PUSH_STOP] = following
    if ack < unacked or following == ack or w[slot.PUSH + slot.S_ALL]:
        return following
    w[slot.DUPLICATES] += 1
    if w[slot.RECOVERING]:
        flow[CWND] += 1.0
        return _send(w, flow, now)
    if w[slot.DUPLICATES] == _DUPLICATE_ACKS and unacked >= w[slot.RECOVER]:
        _halve(w, flow)
        w[slot.RECOVERING], w[slot.RECOVER] = 1, following
        flow[CWND] = flow[THRESHOLD] + _DUPLICATE_ACKS
        return _send_again(w, now)
    return following


@compiled
def announce(w: Place, messages: Place, now: int) -> None:
    """Let the client's end know of what is written up to `now`."""
    place = MESSAGE * w[slot.ANNOUNCED]
    while messages[place] <= now:
        if messages[place] == now:  # the order of events decides
            w[slot.BAIL] = slot.TIMER
        w[slot.EXPECTED] = messages[place + 1]
        w[slot.ANNOUNCED] += 1
        place += MESSAGE


@compiled
def at_subscriber(w: Place, messages: Place, first: int, length: int, now: int, rule: Rule) -> None:
    """A packet has arrived at the client, which acknowledges it and notes which messages are whole."""
    end = first + length
    if end <= w[slot.HAS]:  # it has come before
        w[slot.ACK_SENT] = w[slot.HAS]
        bare_message_up(w, now, rule)
        return
    w[slot.HAS] = end
    if length == w[slot.MSS]:
        w[slot.ACK_SENT] = end
        bare_message_up(w, now, rule)
    place, before = MESSAGE * w[slot.DELIVERED], w[slot.DELIVERED]
    while messages[place + 1] <= end:
        messages[place + 2] = now
        w[slot.DELIVERED] += 1
        place += MESSAGE
    if w[slot.DELIVERED] > before and w[slot.ACK_SENT] < end:
        w[slot.ACK_SENT] = end
        if w[slot.PARTIAL_TAIL] - w[slot.PARTIAL_HEAD] > w[slot.MASK]:
            w[slot.BAIL] = slot.TIMER
        partial = _partial(w, w[slot.PARTIAL_TAIL])
        w[partial], w[partial + 1], w[partial + 2] = now, end, end == w[slot.EXPECTED]
        w[slot.PARTIAL_TAIL] += 1


@compiled
def _partial(w: Place, number: int) -> int:
    return w[slot.PARTIAL] + slot.N_PARTIAL * (number & w[slot.MASK])


@compiled
def _send(w: Place, flow: Place, now: int) -> int:
    """Let out what the window, and Nagle if asked for, allow."""
    begin, end, mss = w[slot.PUSH + slot.S_NEXT], w[slot.PUSH + slot.S_END], w[slot.MSS]
    unacked = w[slot.PUSH + slot.S_UNACKED]
    limit = unacked + int(min(flow[CWND], w[slot.WINDOW])) * mss
    stop = begin
    while stop < end:
        length = min(mss, end - stop)
        if stop + length > limit or (length < mss and w[slot.NAGLE] and stop > unacked):
            break
        stop += length
    if stop > begin:
        if w[slot.PUSH + slot.S_TIMED] < 0 and stop > w[slot.RECOVER]:  # Karn: nothing that was sent before
            before = max(w[slot.RECOVER] - begin, 0) // mss
            w[slot.PUSH + slot.S_TIMED], w[slot.PUSH + slot.S_TIMED_AT] = min(begin + (before + 1) * mss, stop), now
        if w[slot.PUSH + slot.S_DEADLINE] == slot.NEVER:
            _arm(w, now)
    w[slot.PUSH + slot.S_NEXT] = w[slot.PUSH_STOP] = stop
    return begin


@compiled
def _arm(w: Place, now: int) -> None:
    w[slot.PUSH + slot.S_DEADLINE] = now + w[slot.PUSH + slot.S_RTO]


@compiled
def _new_ack(w: Place, flow: Place, ack: int, now: int) -> int:
    if 0 <= w[slot.PUSH + slot.S_TIMED] <= ack:
        sample(w, slot.PUSH, now - w[slot.PUSH + slot.S_TIMED_AT])
        w[slot.PUSH + slot.S_TIMED] = -1
    w[slot.PUSH + slot.S_UNACKED] = ack
    w[slot.PUSH + slot.S_NEXT] = max(w[slot.PUSH + slot.S_NEXT], ack)
    w[slot.DUPLICATES] = 0
    if w[slot.RECOVERING]:
        w[slot.RECOVERING] = 0
        flow[CWND] = flow[THRESHOLD]
    elif flow[CWND] < flow[THRESHOLD]:
        flow[CWND] += 1.0
    else:
        flow[CWND] = min(flow[CWND] + 1.0 / flow[CWND], w[slot.WINDOW])
    if w[slot.PUSH + slot.S_NEXT] == ack or w[slot.PUSH + slot.S_ALL]:
        w[slot.PUSH + slot.S_DEADLINE] = slot.NEVER
    else:
        _arm(w, now)
    return _send(w, flow, now)


@compiled
def _halve(w: Place, flow: Place) -> None:
    in_flight = (w[slot.PUSH + slot.S_NEXT] - w[slot.PUSH + slot.S_UNACKED]) / w[slot.MSS]
    flow[THRESHOLD] = max(in_flight / 2.0, 2.0)


@compiled
def _send_again(w: Place, now: int) -> int:
    """Send the first unacknowledged segment again."""
    unacked = w[slot.PUSH + slot.S_UNACKED]
    w[slot.PUSH + slot.S_TIMED] = -1  # Karn: no round trip is measured on what was sent twice
    w[slot.PUSH_STOP] = min(unacked + w[slot.MSS], w[slot.PUSH + slot.S_END])
    _arm(w, now)
    return unacked


@compiled
def _time_out(w: Place, flow: Place, now: int) -> int:
    w[slot.PUSH + slot.S_RTO] = min(2 * w[slot.PUSH + slot.S_RTO], slot.MAX_RTO)
    _halve(w, flow)
    flow[CWND] = 1.0
    w[slot.DUPLICATES] = w[slot.RECOVERING] = 0
    w[slot.RECOVER] = max(w[slot.RECOVER], w[slot.PUSH + slot.S_NEXT])
    first = _send_again(w, now)
    w[slot.PUSH + slot.S_NEXT] = w[slot.PUSH_STOP]
    return first
