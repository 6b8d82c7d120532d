"""The compiled twin of the packet model: the same pages without an event heap.

All links are first in, first out, and the client reacts at once to what reaches
it.  So a packet can be followed from the server through the access point to the
client, and the client's answers back into a queue of packets on their way to the
server, before the next packet is looked at; the only events are a packet (or a
delayed reply) at the server, and a beacon that finds frames waiting.  Every hop is
max(arrival, link free) + transmission.

It covers runs without loss.  Instead of retransmitting it notices that a timer
would have run out (never too late, and sometimes though it would not have) and
stops at the beginning of that page, for the packet model to take it.  Names and
rules are those of `netsim.tcp`, `netsim.station`, `netsim.browser`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.polling import polling_round

__all__ = ["finish", "run_pages"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NEVER = 2**62
MAX_RTO = 60_000_000_000

# parameters: of the links (a numerator and a denominator of ns a byte each), TCP, the browser, the policy
(
    AIR_NUM, AIR_DEN, AIR_DELAY, WIRE_NUM, WIRE_DEN, WIRE_DELAY,
    MSS, HEADER, FIRST_WINDOW, WINDOW, MIN_RTO, FIRST_RTO, NAGLE,
    PERSISTENT, MAX_CONNECTIONS, INTERVAL,
    KIND, PERIOD, TIMEOUT, NUMERATOR, DENOMINATOR, HOLD, MAX_BEACONS,
    RING_MASK,
    AIR_FULL, AIR_BARE, WIRE_FULL, WIRE_BARE,
    N_PARAMETERS,
) = range(29)  # fmt: skip
NONE, PSM, BSD, LPSM = range(4)

# state: of the run, the links, the station
(
    NOW, BAIL,
    AIR_UP, WIRE_UP, WIRE_DOWN, AIR_DOWN, AIR_UP_BUSY, AIR_DOWN_BUSY,
    GATE, BUSY, PLANNED, SLEEP, PLAN_WAKE, PLAN_REPEAT, PLAN_OPENS,
    WAKE, REPEAT, OPENS, SINCE, UNTIL, BEFORE, SLEPT, BEACONS, SENT, RECEIVED,
    WAITING, WAITING_BYTES, LPSM_BEACONS,
    N_POLLS, N_INTERVALS, PAGE_POLLS,
    HEAD, TAIL, PENDING, TAKEN, MISSING, DONE,
    N_STATE,
) = range(38)  # fmt: skip

# a connection: the server's sender, its receiver, the client's sender, its receiver, what is fetched
(
    S_UNACKED, S_NEXT, S_END, S_CWND, S_DEADLINE, S_RTO, S_SRTT, S_RTTVAR, S_TIMED, S_TIMED_AT, S_ALL,
    S_RECEIVED, S_EXPECTED,
    C_UNACKED, C_NEXT, C_END, C_CWND, C_DEADLINE, C_RTO, C_SRTT, C_RTTVAR, C_TIMED, C_TIMED_AT, C_ALL,
    C_RECEIVED, C_EXPECTED,
    OBJECT, CLOSED, REPLY_AT, REPLY_SINCE,
    N_CONNECTION,
) = range(31)  # fmt: skip

TIMER, FULL = 1, 2
SYN, ACK, REQUEST = 0, 1, 2
SYN_ACK, BARE_ACK, DATA = 0, 1, 2

_LENGTH_BITS = 24
_LENGTH_MASK = 2**_LENGTH_BITS - 1


# -- links


@compiled
def _air(p: Ints, length: int) -> int:
    """Time on the air of a packet with `length` bytes of payload."""
    if length == p[MSS]:
        return p[AIR_FULL]
    if length == 0:
        return p[AIR_BARE]
    return (length + p[HEADER]) * p[AIR_NUM] // p[AIR_DEN]


@compiled
def _wire(p: Ints, length: int) -> int:
    if length == p[MSS]:
        return p[WIRE_FULL]
    if length == 0:
        return p[WIRE_BARE]
    return (length + p[HEADER]) * p[WIRE_NUM] // p[WIRE_DEN]


@compiled
def _up(p: Ints, s: Ints, now: int, length: int) -> int:
    """Carry a packet from the client to the server; return when it is there."""
    s[SENT] = now
    duration = _air(p, length)
    s[AIR_UP_BUSY] += duration
    free = max(s[AIR_UP], now) + duration
    s[AIR_UP] = free
    if s[GATE] and p[KIND] != NONE:
        s[PLANNED] = 0
        s[BUSY] = max(s[BUSY], free)
    free = max(s[WIRE_UP], free + p[AIR_DELAY]) + _wire(p, length)
    s[WIRE_UP] = free
    return free + p[WIRE_DELAY]


@compiled
def _queue(p: Ints, s: Ints, ring: Ints, arrival: int, kind: int, connection: int, length: int, ack: int) -> None:
    """Enter a packet that will reach the server at `arrival`."""
    if s[TAIL] - s[HEAD] > p[RING_MASK]:
        s[BAIL] = TIMER
        return
    place = (s[TAIL] & p[RING_MASK]) * 3
    ring[place] = arrival
    ring[place + 1] = ack
    ring[place + 2] = (connection << _LENGTH_BITS | length) << 2 | kind
    s[TAIL] += 1


# -- the policy: what the station asks


@compiled
def _plan_idle(p: Ints, s: Ints, now: int) -> None:
    """What holds from `now` on, when the client could sleep: SLEEP, PLAN_WAKE, PLAN_REPEAT, PLAN_OPENS."""
    kind, interval = p[KIND], p[INTERVAL]
    asleep = now
    if kind == PSM:
        if p[TIMEOUT]:
            asleep = max(now, max(s[SENT], s[RECEIVED]) + p[TIMEOUT])
        s[PLAN_WAKE] = (asleep // p[PERIOD] + 1) * p[PERIOD]
        s[PLAN_REPEAT] = p[PERIOD]
        s[PLAN_OPENS] = 1 if p[TIMEOUT] else 0
    elif kind == BSD:
        since = now - s[SENT]
        s[PLAN_OPENS] = 1
        s[PLAN_REPEAT] = 0
        if s[SENT] < 0:
            s[PLAN_REPEAT] = p[MAX_BEACONS] * interval
            s[PLAN_WAKE] = (now // interval + p[MAX_BEACONS]) * interval
        elif since < p[HOLD]:
            asleep = s[SENT] + p[HOLD]
            s[PLAN_WAKE] = (asleep // interval + 1) * interval
        else:
            beacons = max(1, since * p[NUMERATOR] // (p[DENOMINATOR] * interval))
            if beacons >= p[MAX_BEACONS]:
                beacons = p[MAX_BEACONS]
                s[PLAN_REPEAT] = beacons * interval
            s[PLAN_WAKE] = (now // interval + beacons) * interval
    else:
        s[PLAN_WAKE] = (now // interval + s[LPSM_BEACONS]) * interval
        s[PLAN_REPEAT] = 0
        s[PLAN_OPENS] = 0
    s[SLEEP] = max(asleep, s[BUSY])
    s[PLANNED] = 1


@compiled
def _learn(
    p: Ints, s: Ints, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats, experts: Floats
) -> None:
    interval_ms = p[INTERVAL] / 1e6
    mean = polling_round(
        s[LPSM_BEACONS] * interval_ms, float(s[WAITING_BYTES]), weights, columns, slow, head, work, experts
    )
    s[LPSM_BEACONS] = max(1, int(mean / interval_ms + (0.5 + 1e-9)))


# -- the station


@compiled
def _wake(s: Ints, intervals: Ints, at: int) -> None:
    if s[GATE] or at <= s[UNTIL]:
        return
    if s[UNTIL] > s[SINCE]:
        place = 2 * s[N_INTERVALS]
        if place + 1 < intervals.size:
            intervals[place] = s[SINCE]
            intervals[place + 1] = s[UNTIL]
        s[N_INTERVALS] += 1
        s[BEFORE] += s[UNTIL] - s[SINCE]
    s[SINCE] = at
    s[UNTIL] = at


@compiled
def _note_poll(s: Ints, polls: Ints, at: int, slept: int, waiting: int, following: int, more: int, gap: int) -> None:
    """Enter a poll, or extend the last entry by it where it repeats that."""
    place = 6 * (s[N_POLLS] - 1)
    if (
        s[N_POLLS] > s[PAGE_POLLS]
        and place < polls.size - 5
        and waiting == 0
        and polls[place + 2] == 0
        and more == 0
        and slept == polls[place + 3] == following
        and (polls[place + 4] == 0 or polls[place + 5] == following)
        and polls[place] + (polls[place + 4] + 1) * following == at
        and polls[place + 1] == following
    ):
        polls[place + 4] += 1
        polls[place + 5] = following
        return
    place += 6
    if place < polls.size - 5:
        polls[place] = at
        polls[place + 1] = slept
        polls[place + 2] = waiting
        polls[place + 3] = following
        polls[place + 4] = more
        polls[place + 5] = gap
    s[N_POLLS] += 1


@compiled
def _skip_beacons(s: Ints, polls: Ints, now: int) -> None:
    first, period = s[WAKE], s[REPEAT]
    n = (now - first) // period + 1
    last = first + (n - 1) * period
    s[BEACONS] += n
    if s[SINCE] < last and first <= s[UNTIL]:
        heard = (min(last, s[UNTIL]) - first) // period + 1
        before = (s[SINCE] - first) // period + 1 if first <= s[SINCE] else 0
        s[BEACONS] -= heard - before
    _note_poll(s, polls, first, first - s[SLEPT], 0, period, n - 1, period)
    s[SLEPT] = last
    s[WAKE] = last + period


@compiled
def _advance(
    now: int,
    p: Ints,
    s: Ints,
    polls: Ints,
    intervals: Ints,
    weights: Floats,
    columns: Floats,
    slow: Floats,
    head: Floats,
    work: Floats,
    experts: Floats,
) -> bool:
    """Bring the station up to `now`; stop and return True at a beacon that lets waiting frames out."""
    while True:
        if s[GATE]:
            if now <= s[BUSY]:
                return False
            if not s[PLANNED]:
                _plan_idle(p, s, s[BUSY])
            asleep = s[SLEEP]
            if now <= asleep:
                return False
            s[GATE] = 0
            s[UNTIL] = s[SLEPT] = asleep
            s[WAKE], s[REPEAT], s[OPENS] = s[PLAN_WAKE], s[PLAN_REPEAT], s[PLAN_OPENS]
        at = s[WAKE]
        if at > now:
            return False
        if s[REPEAT] and s[WAITING] == 0:
            _skip_beacons(s, polls, now)
            continue
        if not s[SINCE] < at <= s[UNTIL]:
            s[BEACONS] += 1
        waiting = s[WAITING_BYTES]
        if p[KIND] == LPSM:
            _learn(p, s, weights, columns, slow, head, work, experts)
        _plan_idle(p, s, at)
        _note_poll(s, polls, at, at - s[SLEPT], waiting, s[PLAN_WAKE] - at, 0, 0)
        if s[WAITING]:
            _wake(s, intervals, at)
            _open_gate(s, at)
            return True
        if s[SLEEP] > at:
            _wake(s, intervals, at)
            s[GATE] = 1
            s[BUSY] = max(at, s[AIR_UP])
            s[SLEEP] = max(s[SLEEP], s[BUSY])
        else:
            s[SLEPT] = at
            s[WAKE], s[REPEAT], s[OPENS] = s[PLAN_WAKE], s[PLAN_REPEAT], s[PLAN_OPENS]


@compiled
def _open_gate(s: Ints, at: int) -> None:
    s[GATE] = 1
    s[PLANNED] = 0
    s[BUSY] = max(at, s[AIR_UP])


# -- TCP


@compiled
def _sample(c: Ints, rto: int, minimum: int, rtt: int) -> None:
    """RFC 6298 on the fields RTO, SRTT, RTTVAR that begin at `rto`."""
    if c[rto + 1] < 0:
        c[rto + 1] = rtt
        c[rto + 2] = rtt // 2
    else:
        c[rto + 2] += (abs(c[rto + 1] - rtt) - c[rto + 2]) // 4
        c[rto + 1] += (rtt - c[rto + 1]) // 8
    c[rto] = min(max(c[rto + 1] + 4 * c[rto + 2], minimum), MAX_RTO)


@compiled
def _client_push(p: Ints, s: Ints, ring: Ints, c: Ints, connection: int, now: int) -> None:
    mss = p[MSS]
    limit = c[C_UNACKED] + min(c[C_CWND], p[WINDOW]) * mss
    while c[C_NEXT] < c[C_END]:
        length = min(mss, c[C_END] - c[C_NEXT])
        if (length < mss and p[NAGLE] and c[C_NEXT] > c[C_UNACKED]) or c[C_NEXT] + length > limit:
            break
        if c[C_TIMED] < 0:
            c[C_TIMED] = c[C_NEXT] + length
            c[C_TIMED_AT] = now
        c[C_NEXT] += length
        if c[C_DEADLINE] == NEVER:
            c[C_DEADLINE] = now + c[C_RTO]
        arrival = _up(p, s, now, length)
        _queue(p, s, ring, arrival, REQUEST, connection, length, c[C_RECEIVED])


@compiled
def _client_ack(p: Ints, s: Ints, ring: Ints, c: Ints, connection: int, ack: int, now: int) -> None:
    if now >= c[C_DEADLINE]:
        s[BAIL] = TIMER
    if 0 <= c[C_TIMED] <= ack:
        _sample(c, C_RTO, p[MIN_RTO], now - c[C_TIMED_AT])
        c[C_TIMED] = -1
    c[C_UNACKED] = ack
    c[C_CWND] = min(c[C_CWND] + 1, p[WINDOW])
    c[C_DEADLINE] = NEVER if c[C_NEXT] == ack or c[C_ALL] else now + c[C_RTO]
    if c[C_NEXT] < c[C_END]:
        _client_push(p, s, ring, c, connection, now)


# -- the browser


@compiled
def _fetch(
    p: Ints, s: Ints, ring: Ints, connections: Ints, requests: Ints, replies: Ints, first: int, connection: int,
    index: int, now: int, is_open: bool,
) -> None:  # fmt: skip
    """Ask for object `index` (0: the HTML) on `connection`, opening it first if it is new."""
    c = connections[connection]
    if not is_open:
        c[:] = 0
        c[S_CWND] = c[C_CWND] = p[FIRST_WINDOW]
        c[S_RTO] = c[C_RTO] = p[FIRST_RTO]
        c[S_SRTT] = c[C_SRTT] = c[S_TIMED] = c[C_TIMED] = -1
        c[S_DEADLINE] = c[C_DEADLINE] = NEVER
        c[REPLY_AT] = NEVER
    c[OBJECT] = index
    c[S_EXPECTED] += requests[first + index]
    c[C_EXPECTED] += replies[first + index]
    if is_open:
        c[C_END] += requests[first + index]
        c[C_ALL] = 0
        _client_push(p, s, ring, c, connection, now)
    else:
        c[C_DEADLINE] = now + c[C_RTO]
        c[C_TIMED_AT] = now
        _queue(p, s, ring, _up(p, s, now, 0), SYN, connection, 0, 0)


@compiled
def _arrived(
    p: Ints, s: Ints, ring: Ints, connections: Ints, requests: Ints, replies: Ints, first: int, n_objects: int,
    connection: int, now: int,
) -> bool:  # fmt: skip
    """Go on when a reply is complete; return whether `connection` vanished."""
    c = connections[connection]
    persistent = p[PERSISTENT]
    stays = False
    if c[OBJECT] == 0:
        n = min(p[MAX_CONNECTIONS], n_objects)
        if persistent and n:
            stays = True
            s[TAKEN] += 1
            _fetch(p, s, ring, connections, requests, replies, first, connection, s[TAKEN], now, True)
            n -= 1
        for _ in range(n):
            s[TAKEN] += 1
            _fetch(p, s, ring, connections, requests, replies, first, s[TAKEN], s[TAKEN], now, False)
    else:
        s[MISSING] -= 1
        if s[TAKEN] < n_objects:
            s[TAKEN] += 1
            stays = persistent != 0
            slot = connection if stays else s[TAKEN]
            _fetch(p, s, ring, connections, requests, replies, first, slot, s[TAKEN], now, stays)
    if not stays:
        if now >= min(c[S_DEADLINE], c[C_DEADLINE]):
            s[BAIL] = TIMER
        c[CLOSED] = 1
    if s[MISSING] == 0:
        s[DONE] = now
    return not stays


@compiled
def _at_client(
    p: Ints, s: Ints, ring: Ints, connections: Ints, requests: Ints, replies: Ints, first: int, n_objects: int,
    connection: int, kind: int, length: int, ack: int, now: int,
) -> None:  # fmt: skip
    """A packet has arrived at the client, which reacts."""
    c = connections[connection]
    s[RECEIVED] = now
    if kind == SYN_ACK:
        if now >= c[C_DEADLINE]:
            s[BAIL] = TIMER
        c[C_DEADLINE] = NEVER
        _sample(c, C_RTO, p[MIN_RTO], now - c[C_TIMED_AT])
        # the handshake ACK: all it does at the server is to end the wait for it
        arrival = _up(p, s, now, 0)
        if arrival >= c[S_DEADLINE]:
            s[BAIL] = TIMER
        c[S_DEADLINE] = NEVER
        _sample(c, S_RTO, p[MIN_RTO], arrival - c[S_TIMED_AT])
        c[C_END] += requests[first + c[OBJECT]]
        _client_push(p, s, ring, c, connection, now)
        return
    if ack > c[C_UNACKED]:
        _client_ack(p, s, ring, c, connection, ack, now)
    if kind == BARE_ACK:
        return
    c[C_RECEIVED] += length
    vanished = False
    if c[C_RECEIVED] == c[C_EXPECTED]:
        if length < p[MSS]:
            if now >= c[S_DEADLINE]:
                s[BAIL] = TIMER
            c[S_ALL] = 1
            c[S_DEADLINE] = NEVER
        vanished = _arrived(p, s, ring, connections, requests, replies, first, n_objects, connection, now)
        if not vanished or length < p[MSS]:
            return
    if length == p[MSS]:
        arrival = _up(p, s, now, 0)
        if not vanished:
            _queue(p, s, ring, arrival, ACK, connection, 0, c[C_RECEIVED])


# -- the access point


@compiled
def _flush(
    p: Ints, s: Ints, ring: Ints, held: Ints, connections: Ints, requests: Ints, replies: Ints, first: int,
    n_objects: int,
) -> None:  # fmt: skip
    """Let out what waits, at the beacon just listened to."""
    at, n = s[WAKE], s[WAITING]
    s[WAITING] = s[WAITING_BYTES] = 0
    for i in range(n):
        length = held[4 * i + 2]
        _down_the_air(
            p, s, ring, connections, requests, replies, first, n_objects,
            held[4 * i], held[4 * i + 1], length, held[4 * i + 3], at,
        )  # fmt: skip


@compiled
def _down_the_air(
    p: Ints, s: Ints, ring: Ints, connections: Ints, requests: Ints, replies: Ints, first: int, n_objects: int,
    connection: int, kind: int, length: int, ack: int, at: int,
) -> None:  # fmt: skip
    duration = _air(p, length)
    s[AIR_DOWN_BUSY] += duration
    free = max(s[AIR_DOWN], at) + duration
    s[AIR_DOWN] = free
    arrival = free + p[AIR_DELAY]
    s[PLANNED] = 0
    s[BUSY] = max(s[BUSY], arrival)
    _at_client(p, s, ring, connections, requests, replies, first, n_objects, connection, kind, length, ack, arrival)


@compiled
def _down(
    p: Ints, s: Ints, ring: Ints, held: Ints, connections: Ints, requests: Ints, replies: Ints, first: int,
    n_objects: int, polls: Ints, intervals: Ints, weights: Floats, columns: Floats, slow: Floats, head: Floats,
    work: Floats, experts: Floats, connection: int, kind: int, length: int, ack: int, now: int,
) -> None:  # fmt: skip
    """Carry a packet from the server to the client, or into the buffer."""
    free = max(s[WIRE_DOWN], now) + _wire(p, length)
    s[WIRE_DOWN] = free
    at = free + p[WIRE_DELAY]
    if p[KIND] != NONE:
        while _advance(at, p, s, polls, intervals, weights, columns, slow, head, work, experts):
            _flush(p, s, ring, held, connections, requests, replies, first, n_objects)
        if not s[GATE]:
            place = 4 * s[WAITING]
            if place >= held.size:
                s[BAIL] = TIMER
                return
            held[place] = connection
            held[place + 1] = kind
            held[place + 2] = length
            held[place + 3] = ack
            s[WAITING] += 1
            s[WAITING_BYTES] += length + p[HEADER]
            return
    _down_the_air(
        p, s, ring, connections, requests, replies, first, n_objects, connection, kind, length, ack, at
    )  # fmt: skip


# -- the server


@compiled
def _server_push(
    p: Ints, s: Ints, ring: Ints, held: Ints, connections: Ints, requests: Ints, replies: Ints, first: int,
    n_objects: int, polls: Ints, intervals: Ints, weights: Floats, columns: Floats, slow: Floats, head: Floats,
    work: Floats, experts: Floats, connection: int, now: int,
) -> None:  # fmt: skip
    c = connections[connection]
    mss, end, received = p[MSS], c[S_END], c[S_RECEIVED]
    limit = c[S_UNACKED] + min(c[S_CWND], p[WINDOW]) * mss
    while c[S_NEXT] < end:
        length = min(mss, end - c[S_NEXT])
        if (length < mss and p[NAGLE] and c[S_NEXT] > c[S_UNACKED]) or c[S_NEXT] + length > limit:
            break
        if c[S_TIMED] < 0:
            c[S_TIMED] = c[S_NEXT] + length
            c[S_TIMED_AT] = now
        c[S_NEXT] += length
        if c[S_DEADLINE] == NEVER:
            c[S_DEADLINE] = now + c[S_RTO]
        _down(
            p, s, ring, held, connections, requests, replies, first, n_objects, polls, intervals,
            weights, columns, slow, head, work, experts, connection, DATA, length, received, now,
        )  # fmt: skip


@compiled
def _at_server(
    p: Ints, s: Ints, ring: Ints, held: Ints, connections: Ints, requests: Ints, replies: Ints, delays: Ints,
    first: int, n_objects: int, polls: Ints, intervals: Ints, weights: Floats, columns: Floats, slow: Floats,
    head: Floats, work: Floats, experts: Floats, place: int,
) -> None:  # fmt: skip
    """The packet at `place` of the ring has arrived at the server."""
    now, ack, word = ring[place], ring[place + 1], ring[place + 2]
    kind, word = word & 3, word >> 2
    connection, length = word >> _LENGTH_BITS, word & _LENGTH_MASK
    c = connections[connection]
    if c[CLOSED]:
        return
    mss = p[MSS]
    if kind == SYN:
        c[S_TIMED_AT] = now
        c[S_DEADLINE] = now + c[S_RTO]
        _down(
            p, s, ring, held, connections, requests, replies, first, n_objects, polls, intervals,
            weights, columns, slow, head, work, experts, connection, SYN_ACK, 0, 0, now,
        )  # fmt: skip
        return
    push = False
    if ack > c[S_UNACKED]:
        if now >= c[S_DEADLINE]:
            s[BAIL] = TIMER
        if 0 <= c[S_TIMED] <= ack:
            _sample(c, S_RTO, p[MIN_RTO], now - c[S_TIMED_AT])
            c[S_TIMED] = -1
        c[S_UNACKED] = ack
        c[S_CWND] = min(c[S_CWND] + 1, p[WINDOW])
        c[S_DEADLINE] = NEVER if c[S_NEXT] == ack or c[S_ALL] else now + c[S_RTO]
        push = c[S_NEXT] < c[S_END]
    if kind == REQUEST:
        c[S_RECEIVED] += length
        answered = False
        if c[S_RECEIVED] == c[S_EXPECTED]:
            if length < mss:
                if now >= c[C_DEADLINE]:
                    s[BAIL] = TIMER
                c[C_ALL] = 1
                c[C_DEADLINE] = NEVER
            delay = delays[first + c[OBJECT]]
            if delay:
                c[REPLY_AT] = now + delay
                c[REPLY_SINCE] = now
                s[PENDING] += 1
            else:
                c[S_END] += replies[first + c[OBJECT]]
                c[S_ALL] = 0
                answered = push = True
        if length == mss and not answered:
            _down(
                p, s, ring, held, connections, requests, replies, first, n_objects, polls, intervals,
                weights, columns, slow, head, work, experts, connection, BARE_ACK, 0, c[S_RECEIVED], now,
            )  # fmt: skip
    if push:
        _server_push(
            p, s, ring, held, connections, requests, replies, first, n_objects, polls, intervals,
            weights, columns, slow, head, work, experts, connection, now,
        )  # fmt: skip


@compiled
def _next_reply(s: Ints, connections: Ints) -> int:
    """Connection whose delayed reply comes first; -1 if none is pending, -2 if two are in one instant."""
    if s[PENDING] == 0:
        return -1
    found, at = -1, NEVER
    for i in range(s[TAKEN] + 1):
        due = connections[i, REPLY_AT]
        if due == at and found >= 0 and due < NEVER:
            if connections[i, REPLY_SINCE] == connections[found, REPLY_SINCE]:
                return -2
            if connections[i, REPLY_SINCE] < connections[found, REPLY_SINCE]:
                found = i
        elif due < at:
            found, at = i, due
    return found


# -- the run


@compiled
def _load(
    p: Ints, s: Ints, ring: Ints, held: Ints, connections: Ints, requests: Ints, replies: Ints, delays: Ints,
    first: int, n_objects: int, polls: Ints, intervals: Ints, weights: Floats, columns: Floats, slow: Floats,
    head: Floats, work: Floats, experts: Floats, issued: int,
) -> None:  # fmt: skip
    """Load one page: from its issue until DONE is set, or BAIL."""
    s[HEAD] = s[TAIL] = s[PENDING] = s[TAKEN] = 0
    s[MISSING], s[DONE] = n_objects, -1
    _wake(s, intervals, issued)
    _fetch(p, s, ring, connections, requests, replies, first, 0, 0, issued, False)
    if p[KIND] != NONE and not s[GATE]:
        if s[OPENS]:
            _open_gate(s, issued)
        else:
            s[UNTIL] = s[AIR_UP]
    while s[DONE] < 0 and not s[BAIL]:
        packet = ring[(s[HEAD] & p[RING_MASK]) * 3] if s[HEAD] < s[TAIL] else NEVER
        replier = _next_reply(s, connections)
        reply = connections[replier, REPLY_AT] if replier >= 0 else NEVER
        if s[WAITING] and s[WAKE] <= min(packet, reply):
            at = s[WAKE]
            while _advance(at, p, s, polls, intervals, weights, columns, slow, head, work, experts):
                _flush(p, s, ring, held, connections, requests, replies, first, n_objects)
        elif replier == -2 or packet == reply:  # the order of events decides, which only the packet model has
            s[BAIL] = TIMER
        elif reply < packet:
            c = connections[replier]
            c[REPLY_AT] = NEVER
            s[PENDING] -= 1
            c[S_END] += replies[first + c[OBJECT]]
            c[S_ALL] = 0
            _server_push(
                p, s, ring, held, connections, requests, replies, first, n_objects, polls, intervals,
                weights, columns, slow, head, work, experts, replier, reply,
            )  # fmt: skip
        else:
            place = (s[HEAD] & p[RING_MASK]) * 3
            s[HEAD] += 1
            _at_server(
                p, s, ring, held, connections, requests, replies, delays, first, n_objects, polls, intervals,
                weights, columns, slow, head, work, experts, place,
            )  # fmt: skip


@compiled
def run_pages(
    begin: int, issue: Ints, think: Ints, offsets: Ints, requests: Ints, replies: Ints, delays: Ints,
    p: Ints, s: Ints, kept: Ints, loads: Ints, polls: Ints, intervals: Ints, ring: Ints, held: Ints, connections: Ints,
    weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats, experts: Floats,
    kept_weights: Floats, kept_columns: Floats, kept_slow: Floats, kept_head: Floats,
) -> int:  # fmt: skip
    """Browse the pages from `begin` on; return the first one left over.

    If that is not the number of pages, the state is that before its issue, and BAIL says why:
    TIMER, it is one for the packet model; FULL, there must be more room for polls or intervals.  `issue` is -1 where a page has no instant of its own.
    """
    for page in range(begin, issue.size):
        s[PAGE_POLLS] = s[N_POLLS]
        kept[:] = s
        if p[KIND] == LPSM:
            kept_weights[:], kept_columns[:], kept_slow[:], kept_head[:] = weights, columns, slow, head
        issued = max(s[NOW], issue[page])
        while _advance(issued, p, s, polls, intervals, weights, columns, slow, head, work, experts):
            s[BAIL] = TIMER  # nothing waits between pages
        awake = s[BEFORE] + max(0, (issued if s[GATE] else min(issued, s[UNTIL])) - s[SINCE])
        beacons = s[BEACONS]
        first = offsets[page]
        _load(
            p, s, ring, held, connections, requests, replies, delays, first, offsets[page + 1] - first - 1, polls,
            intervals, weights, columns, slow, head, work, experts, issued,
        )  # fmt: skip
        if 6 * s[N_POLLS] > polls.size or 2 * s[N_INTERVALS] > intervals.size:
            s[BAIL] = FULL
        if s[BAIL]:
            reason = s[BAIL]
            s[:] = kept
            s[BAIL] = reason
            if p[KIND] == LPSM:
                weights[:], columns[:], slow[:], head[:] = kept_weights, kept_columns, kept_slow, kept_head
            return page
        done = s[DONE]
        loads[page, 0] = issued
        loads[page, 1] = done
        loads[page, 2] = s[BEFORE] + max(0, done - s[SINCE]) - awake
        loads[page, 3] = s[BEACONS] - beacons
        s[NOW] = done + think[page]
    return issue.size


@compiled
def finish(
    p: Ints, s: Ints, kept: Ints, polls: Ints, intervals: Ints, weights: Floats, columns: Floats, slow: Floats,
    head: Floats, work: Floats, experts: Floats,
    kept_weights: Floats, kept_columns: Floats, kept_slow: Floats, kept_head: Floats,
) -> None:  # fmt: skip
    """Bring the station up to NOW, the end of the run; BAIL is FULL, and nothing changed, if room was lacking."""
    kept[:] = s
    if p[KIND] == LPSM:
        kept_weights[:], kept_columns[:], kept_slow[:], kept_head[:] = weights, columns, slow, head
    _advance(s[NOW], p, s, polls, intervals, weights, columns, slow, head, work, experts)
    if 6 * s[N_POLLS] > polls.size:
        s[:] = kept
        s[BAIL] = FULL
        if p[KIND] == LPSM:
            weights[:], columns[:], slow[:], head[:] = kept_weights, kept_columns, kept_slow, kept_head
