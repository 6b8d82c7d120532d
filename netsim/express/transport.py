"""TCP, the browser and the server: `netsim.tcp`, `netsim.browser` and `netsim.server` in integers.

A connection is named by where its fields begin.  That nothing is lost or overtaken
says what packets need not carry: an ACK alone is of one more full segment; payload
acknowledges all that the other end has sent; its length is that of a full segment,
or what is to come of the message.
"""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.express import layout as slot
from netsim.express.layout import Place
from netsim.express.links import acknowledge, bare_up, up
from netsim.express.station import Rule

__all__ = ["at_client", "at_server", "fetch", "next_reply", "reply", "sample"]


@compiled
def sample(w: Place, sender: int, rtt: int) -> None:
    """Take in a measured round trip: RFC 6298, section 2."""
    if w[sender + slot.SRTT] < 0:
        w[sender + slot.SRTT] = rtt
        w[sender + slot.RTTVAR] = rtt >> 1
    else:
        w[sender + slot.RTTVAR] += (abs(w[sender + slot.SRTT] - rtt) - w[sender + slot.RTTVAR]) >> 2
        w[sender + slot.SRTT] += (rtt - w[sender + slot.SRTT]) >> 3
    timeout = w[sender + slot.SRTT] + 4 * w[sender + slot.RTTVAR]
    w[sender + slot.RTO] = min(max(timeout, w[slot.MIN_RTO]), slot.MAX_RTO)


@compiled
def _new_ack(w: Place, sender: int, ack: int, now: int) -> None:
    """Take in an ACK at the sender whose fields begin at `sender`."""
    if now >= w[sender + slot.DEADLINE]:
        w[slot.BAIL] = slot.TIMER
    if 0 <= w[sender + slot.TIMED] <= ack:
        sample(w, sender, now - w[sender + slot.TIMED_AT])
        w[sender + slot.TIMED] = -1
    w[sender + slot.UNACKED] = ack
    w[sender + slot.CWND] = min(w[sender + slot.CWND] + 1, w[slot.WINDOW])
    w[sender + slot.DEADLINE] = (
        slot.NEVER if w[sender + slot.NEXT] == ack or w[sender + slot.ALL] else now + w[sender + slot.RTO]
    )


@compiled
def _send(w: Place, sender: int, now: int) -> int:
    """Let out what the window, and Nagle if asked for, allow: from the byte returned to S_NEXT."""
    begin, end, mss = w[sender + slot.NEXT], w[sender + slot.END], w[slot.MSS]
    unacked = w[sender + slot.UNACKED]
    stop = unacked + w[sender + slot.CWND] * mss
    if stop >= end:
        stop = end
        if w[slot.NAGLE]:
            partial = (end - begin) % mss
            if partial and end - partial > unacked:
                stop = end - partial
    if stop > begin:
        if w[sender + slot.TIMED] < 0:
            w[sender + slot.TIMED] = min(begin + mss, stop)
            w[sender + slot.TIMED_AT] = now
        if w[sender + slot.DEADLINE] == slot.NEVER:
            w[sender + slot.DEADLINE] = now + w[sender + slot.RTO]
        w[sender + slot.NEXT] = stop
    return begin


@compiled
def _send_up(w: Place, c: int, now: int, rule: Rule) -> None:
    """Do so at the client, and put it onto the air."""
    at, mss = _send(w, c + slot.CLIENT, now), w[slot.MSS]
    while at < w[c + slot.C_NEXT]:
        length = min(mss, w[c + slot.C_NEXT] - at)
        at += length
        up(w, c, slot.DATA, length, now, rule)


@compiled
def _has_all(w: Place, sender: int, now: int) -> None:
    """The last, partial segment of a message has arrived: no ACK packet is needed."""
    if now >= w[sender + slot.DEADLINE]:
        w[slot.BAIL] = slot.TIMER
    w[sender + slot.ALL] = 1
    w[sender + slot.DEADLINE] = slot.NEVER


@compiled
def fetch(w: Place, sizes: Place, c: int, now: int, is_open: bool, rule: Rule) -> None:
    """Ask for the object taken last (0: the HTML) on the connection, opening it first if it is new."""
    place = 3 * (w[slot.FIRST_OBJECT] + w[slot.TAKEN])
    if not is_open:
        for i in range(c, c + slot.N_CONNECTION):
            w[i] = 0
        w[c + slot.S_CWND] = w[c + slot.C_CWND] = w[slot.FIRST_WINDOW]
        w[c + slot.S_RTO] = w[c + slot.C_RTO] = w[slot.FIRST_RTO]
        w[c + slot.S_SRTT] = w[c + slot.C_SRTT] = w[c + slot.S_TIMED] = w[c + slot.C_TIMED] = -1
        w[c + slot.S_DEADLINE] = w[c + slot.REPLY_AT] = slot.NEVER
        w[c + slot.C_DEADLINE] = now + w[c + slot.C_RTO]
        w[c + slot.C_TIMED_AT] = now
        up(w, c, slot.SYN, 0 * now, now, rule)
    w[c + slot.OBJECT] = place
    w[c + slot.S_TO_COME] = sizes[place]
    w[c + slot.C_TO_COME] = sizes[place + 1]
    w[c + slot.UPLOAD] = sizes[place + 1] == 0
    if is_open:
        w[c + slot.C_END] += sizes[place]
        w[c + slot.C_ALL] = 0
        _send_up(w, c, now, rule)


@compiled
def _arrived(w: Place, sizes: Place, c: int, now: int, rule: Rule) -> bool:
    """Go on when a reply is complete; return whether the connection vanished."""
    n = 1  # objects to begin now
    if w[c + slot.OBJECT] == 3 * w[slot.FIRST_OBJECT]:
        n = min(w[slot.MAX_CONNECTIONS], w[slot.N_OBJECTS])
    else:
        w[slot.MISSING] -= 1
        n = min(1, w[slot.N_OBJECTS] - w[slot.TAKEN])
    stays = w[slot.PERSISTENT] != 0 and n > 0
    for i in range(n):
        w[slot.TAKEN] += 1
        here = stays and i == 0
        to = c if here else w[slot.CONNECTIONS] + w[slot.TAKEN] * slot.N_CONNECTION
        fetch(w, sizes, to, now, here, rule)
    if not stays:
        if now >= min(w[c + slot.S_DEADLINE], w[c + slot.C_DEADLINE]):
            w[slot.BAIL] = slot.TIMER
        w[c + slot.CLOSED] = 1
    if w[slot.MISSING] == 0:
        w[slot.DONE] = now
    return not stays


@compiled
def at_client(w: Place, sizes: Place, c: int, kind: int, now: int, rule: Rule) -> None:
    """A packet has arrived at the client, which reacts."""
    mss = w[slot.MSS]
    if kind == slot.SYN:
        if now >= w[c + slot.C_DEADLINE]:
            w[slot.BAIL] = slot.TIMER
        w[c + slot.C_DEADLINE] = slot.NEVER
        sample(w, c + slot.CLIENT, now - w[c + slot.C_TIMED_AT])
        # the handshake ACK: all it does at the server is to end the wait for it
        arrival = bare_up(w, c, now, rule)
        if arrival >= w[c + slot.S_DEADLINE]:
            w[slot.BAIL] = slot.TIMER
        w[c + slot.S_DEADLINE] = slot.NEVER
        sample(w, c + slot.SERVER, arrival - w[c + slot.S_TIMED_AT])
        w[c + slot.C_END] += sizes[w[c + slot.OBJECT]]
        _send_up(w, c, now, rule)
    elif kind == slot.BARE:
        _new_ack(w, c + slot.CLIENT, min(w[c + slot.C_UNACKED] + mss, w[c + slot.C_NEXT]), now)
        _send_up(w, c, now, rule)
        if w[c + slot.UPLOAD] and w[c + slot.C_UNACKED] == w[c + slot.C_END]:
            _arrived(w, sizes, c, now, rule)
    else:
        if w[c + slot.C_UNACKED] < w[c + slot.C_NEXT]:
            _new_ack(w, c + slot.CLIENT, w[c + slot.C_NEXT], now)
        length = min(mss, w[c + slot.C_TO_COME])
        w[c + slot.C_TO_COME] -= length
        if w[c + slot.C_TO_COME]:
            acknowledge(w, c, now, rule)
            return
        if length < mss:
            _has_all(w, c + slot.SERVER, now)
        vanished = _arrived(w, sizes, c, now, rule)
        if vanished and length == mss:  # otherwise the next request carries the ACK
            bare_up(w, c, now, rule)


@compiled
def reply(w: Place, sizes: Place, c: int, now: int) -> int:
    """Write the reply to the request that the connection carries; return the first byte that goes out now."""
    w[c + slot.S_END] += sizes[w[c + slot.OBJECT] + 1]
    w[c + slot.S_ALL] = 0
    return _send(w, c + slot.SERVER, now)


@compiled
def at_server(w: Place, sizes: Place, c: int, kind: int, now: int) -> int:
    """A packet has arrived at the server, which reacts; return the first byte that goes out now, up to S_NEXT.

    A negative number stands for a packet without payload: -1 less its kind.
    """
    mss = w[slot.MSS]
    if w[c + slot.CLOSED]:
        return w[c + slot.S_NEXT]
    if kind == slot.BARE:
        _new_ack(w, c + slot.SERVER, w[c + slot.S_UNACKED] + mss, now)
        return _send(w, c + slot.SERVER, now)
    if kind == slot.SYN:
        w[c + slot.S_TIMED_AT] = now
        w[c + slot.S_DEADLINE] = now + w[c + slot.S_RTO]
        return -1 - slot.SYN
    if w[c + slot.S_UNACKED] < w[c + slot.S_NEXT]:
        _new_ack(w, c + slot.SERVER, w[c + slot.S_NEXT], now)
    length = min(mss, w[c + slot.S_TO_COME])
    w[c + slot.S_TO_COME] -= length
    if w[c + slot.S_TO_COME] == 0:
        if w[c + slot.UPLOAD]:
            return -1 - slot.BARE
        if length < mss:
            _has_all(w, c + slot.CLIENT, now)
        delay = sizes[w[c + slot.OBJECT] + 2]
        if delay == 0:  # the reply carries the ACK
            return reply(w, sizes, c, now)
        w[c + slot.REPLY_AT] = now + delay
        w[c + slot.REPLY_SINCE] = now
        w[slot.PENDING] += 1
    return -1 - slot.BARE if length == mss else w[c + slot.S_NEXT]


@compiled
def next_reply(w: Place) -> int:
    """Connection whose delayed reply comes first, of those pending; -2 if two are in one instant."""
    found, at, since = -1, slot.NEVER, slot.NEVER
    for i in range(w[slot.TAKEN] + 1):
        c = w[slot.CONNECTIONS] + i * slot.N_CONNECTION
        due = w[c + slot.REPLY_AT]
        if due == at and due < slot.NEVER and w[c + slot.REPLY_SINCE] == since:
            return -2
        if due < at or (due == at and w[c + slot.REPLY_SINCE] < since):
            found, at, since = c, due, w[c + slot.REPLY_SINCE]
    return found
