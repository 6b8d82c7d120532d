"""TCP, the browser and the server: `netsim.tcp`, `netsim.browser` and `netsim.server` in integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from netsim.twin import layout as slot
from netsim.twin.links import down, up, word_of

__all__ = ["at_client", "at_server", "fetch", "next_reply", "reply"]

Ints = NDArray[np.int64]


@compiled
def _sample(w: Ints, rto: int, rtt: int) -> None:
    """RFC 6298 on the fields RTO, SRTT, RTTVAR that begin at `rto`."""
    if w[rto + 1] < 0:
        w[rto + 1] = rtt
        w[rto + 2] = rtt // 2
    else:
        w[rto + 2] += (abs(w[rto + 1] - rtt) - w[rto + 2]) // 4
        w[rto + 1] += (rtt - w[rto + 1]) // 8
    w[rto] = min(max(w[rto + 1] + 4 * w[rto + 2], w[slot.MIN_RTO]), slot.MAX_RTO)


@compiled
def _new_ack(w: Ints, sender: int, ack: int, now: int) -> bool:
    """Take in an ACK at the sender whose fields begin at `sender`; return whether it has more to send."""
    if now >= w[sender + slot.S_DEADLINE]:
        w[slot.BAIL] = slot.TIMER
    if 0 <= w[sender + slot.S_TIMED] <= ack:
        _sample(w, sender + slot.S_RTO, now - w[sender + slot.S_TIMED_AT])
        w[sender + slot.S_TIMED] = -1
    w[sender] = ack
    w[sender + slot.S_CWND] = min(w[sender + slot.S_CWND] + 1, w[slot.WINDOW])
    w[sender + slot.S_DEADLINE] = (
        slot.NEVER if w[sender + slot.S_NEXT] == ack or w[sender + slot.S_ALL] else now + w[sender + slot.S_RTO]
    )
    return w[sender + slot.S_NEXT] < w[sender + slot.S_END]


@compiled
def _push(w: Ints, sender: int, connection: int, ack: int, now: int) -> None:
    """Send what the window, and Nagle if asked for, allow; the client's sender sends up, the server's down."""
    mss, unacked, end = w[slot.MSS], w[sender], w[sender + slot.S_END]
    upwards = sender != w[slot.CONNECTIONS] + connection * slot.N_CONNECTION
    limit = unacked + min(w[sender + slot.S_CWND], w[slot.WINDOW]) * mss
    following = w[sender + slot.S_NEXT]
    while following < end:
        length = min(mss, end - following)
        if (length < mss and w[slot.NAGLE] and following > unacked) or following + length > limit:
            break
        following += length
        if w[sender + slot.S_TIMED] < 0:
            w[sender + slot.S_TIMED] = following
            w[sender + slot.S_TIMED_AT] = now
        if w[sender + slot.S_DEADLINE] == slot.NEVER:
            w[sender + slot.S_DEADLINE] = now + w[sender + slot.S_RTO]
        word = word_of(connection, length, slot.DATA)
        if upwards:
            up(w, word, ack, now, True)
        else:
            down(w, word, ack, now)
    w[sender + slot.S_NEXT] = following


@compiled
def _has_all(w: Ints, sender: int, now: int) -> None:
    """The last, partial segment of a message has arrived: no ACK packet is needed."""
    if now >= w[sender + slot.S_DEADLINE]:
        w[slot.BAIL] = slot.TIMER
    w[sender + slot.S_ALL] = 1
    w[sender + slot.S_DEADLINE] = slot.NEVER


@compiled
def fetch(w: Ints, sizes: Ints, connection: int, now: int, is_open: bool) -> None:
    """Ask for the object taken last (0: the HTML) on `connection`, opening it first if it is new."""
    c = w[slot.CONNECTIONS] + connection * slot.N_CONNECTION
    if not is_open:
        for i in range(c, c + slot.N_CONNECTION):
            w[i] = 0
        w[c + slot.S_CWND] = w[c + slot.C_CWND] = w[slot.FIRST_WINDOW]
        w[c + slot.S_RTO] = w[c + slot.C_RTO] = w[slot.FIRST_RTO]
        w[c + slot.S_SRTT] = w[c + slot.C_SRTT] = w[c + slot.S_TIMED] = w[c + slot.C_TIMED] = -1
        w[c + slot.S_DEADLINE] = w[c + slot.C_DEADLINE] = w[c + slot.REPLY_AT] = slot.NEVER
    index = w[slot.TAKEN]
    w[c + slot.OBJECT] = place = 3 * (w[slot.FIRST_OBJECT] + index)
    w[c + slot.S_EXPECTED] += sizes[place]
    w[c + slot.C_EXPECTED] += sizes[place + 1]
    if is_open:
        w[c + slot.C_END] += sizes[place]
        w[c + slot.C_ALL] = 0
        _push(w, c + slot.C_UNACKED, connection, w[c + slot.C_RECEIVED], now)
    else:
        w[c + slot.C_DEADLINE] = now + w[c + slot.C_RTO]
        w[c + slot.C_TIMED_AT] = now
        up(w, word_of(connection, 0 * now, slot.SYN), 0 * now, now, True)


@compiled
def _arrived(w: Ints, sizes: Ints, connection: int, now: int) -> bool:
    """Go on when a reply is complete; return whether `connection` vanished."""
    c = w[slot.CONNECTIONS] + connection * slot.N_CONNECTION
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
        fetch(w, sizes, connection if here else w[slot.TAKEN], now, here)
    if not stays:
        if now >= min(w[c + slot.S_DEADLINE], w[c + slot.C_DEADLINE]):
            w[slot.BAIL] = slot.TIMER
        w[c + slot.CLOSED] = 1
    if w[slot.MISSING] == 0:
        w[slot.DONE] = now
    return not stays


@compiled
def at_client(w: Ints, sizes: Ints, word: int, ack: int, now: int) -> None:
    """A packet has arrived at the client, which reacts."""
    length, connection, kind = (word >> 2) & slot.LENGTH_MASK, word >> (2 + slot.LENGTH_BITS), word & 3
    c = w[slot.CONNECTIONS] + connection * slot.N_CONNECTION
    w[slot.RECEIVED] = now
    if kind == slot.SYN:
        if now >= w[c + slot.C_DEADLINE]:
            w[slot.BAIL] = slot.TIMER
        w[c + slot.C_DEADLINE] = slot.NEVER
        _sample(w, c + slot.C_RTO, now - w[c + slot.C_TIMED_AT])
        # the handshake ACK: all it does at the server is to end the wait for it
        arrival = up(w, word_of(connection, length, slot.BARE), ack, now, False)
        if arrival >= w[c + slot.S_DEADLINE]:
            w[slot.BAIL] = slot.TIMER
        w[c + slot.S_DEADLINE] = slot.NEVER
        _sample(w, c + slot.S_RTO, arrival - w[c + slot.S_TIMED_AT])
        w[c + slot.C_END] += sizes[w[c + slot.OBJECT]]
        _push(w, c + slot.C_UNACKED, connection, ack, now)
        return
    if ack > w[c + slot.C_UNACKED] and _new_ack(w, c + slot.C_UNACKED, ack, now):
        _push(w, c + slot.C_UNACKED, connection, w[c + slot.C_RECEIVED], now)
    if kind == slot.BARE:
        return
    received = w[c + slot.C_RECEIVED] + length
    w[c + slot.C_RECEIVED] = received
    vanished = False
    if received == w[c + slot.C_EXPECTED]:
        if length < w[slot.MSS]:
            _has_all(w, c, now)
        vanished = _arrived(w, sizes, connection, now)
        if not vanished:  # the next request carries the ACK
            return
    if length == w[slot.MSS]:
        up(w, word_of(connection, 0 * now, slot.BARE), received, now, not vanished)


@compiled
def reply(w: Ints, sizes: Ints, connection: int, now: int) -> None:
    """Write the reply to the request that `connection` carries."""
    c = w[slot.CONNECTIONS] + connection * slot.N_CONNECTION
    w[c + slot.S_END] += sizes[w[c + slot.OBJECT] + 1]
    w[c + slot.S_ALL] = 0
    _push(w, c, connection, w[c + slot.S_RECEIVED], now)


@compiled
def at_server(w: Ints, sizes: Ints, now: int, word: int, ack: int) -> None:
    """A packet has arrived at the server, which reacts."""
    length, connection, kind = (word >> 2) & slot.LENGTH_MASK, word >> (2 + slot.LENGTH_BITS), word & 3
    c = w[slot.CONNECTIONS] + connection * slot.N_CONNECTION
    if w[c + slot.CLOSED]:
        return
    if kind == slot.SYN:
        w[c + slot.S_TIMED_AT] = now
        w[c + slot.S_DEADLINE] = now + w[c + slot.S_RTO]
        down(w, word, ack, now)
        return
    if ack > w[c + slot.S_UNACKED] and _new_ack(w, c, ack, now):
        _push(w, c, connection, w[c + slot.S_RECEIVED], now)
    if kind == slot.BARE:
        return
    w[c + slot.S_RECEIVED] += length
    if w[c + slot.S_RECEIVED] == w[c + slot.S_EXPECTED]:
        if length < w[slot.MSS]:
            _has_all(w, c + slot.C_UNACKED, now)
        delay = sizes[w[c + slot.OBJECT] + 2]
        if delay == 0:  # the reply carries the ACK
            reply(w, sizes, connection, now)
            return
        w[c + slot.REPLY_AT] = now + delay
        w[c + slot.REPLY_SINCE] = now
        w[slot.PENDING] += 1
    if length == w[slot.MSS]:
        down(w, word_of(connection, 0 * now, slot.BARE), w[c + slot.S_RECEIVED], now)


@compiled
def next_reply(w: Ints) -> int:
    """Connection whose delayed reply comes first, of those pending; -2 if two are in one instant."""
    found, at, since = -1, slot.NEVER, slot.NEVER
    for i in range(w[slot.TAKEN] + 1):
        c = w[slot.CONNECTIONS] + i * slot.N_CONNECTION
        due = w[c + slot.REPLY_AT]
        if due == at and due < slot.NEVER and w[c + slot.REPLY_SINCE] == since:
            return -2
        if due < at or (due == at and w[c + slot.REPLY_SINCE] < since):
            found, at, since = i, due, w[c + slot.REPLY_SINCE]
    return found
