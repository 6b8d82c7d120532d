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

Everything but the learner and the logs is one array of integers, `w`: parameters,
state, queues, connections, at the places named below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.polling import polling_round

__all__ = ["new_world", "run_pages"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NEVER = 2**62
MAX_RTO = 60_000_000_000

# parameters: of the links (numerator and denominator of ns a byte), TCP, browser, policy; then the state of the run,
# of the links and the station (in the order of `Station.state`), of the page
# fmt: off
(
    AIR_NUM, AIR_DEN, AIR_DELAY, WIRE_NUM, WIRE_DEN, WIRE_DELAY, AIR_FULL, AIR_BARE, WIRE_FULL, WIRE_BARE,
    MSS, HEADER, FIRST_WINDOW, WINDOW, MIN_RTO, FIRST_RTO, NAGLE,
    PERSISTENT, MAX_CONNECTIONS, INTERVAL,
    KIND, PERIOD, TIMEOUT, NUMERATOR, DENOMINATOR, HOLD, MAX_BEACONS,
    ROOM, MASK, DOWN, HELD, CONNECTIONS,
    NOW, BAIL,
    AIR_UP, WIRE_UP, WIRE_DOWN, AIR_DOWN, AIR_UP_BUSY, AIR_DOWN_BUSY,
    GATE, BUSY, PLANNED, SLEEP, PLAN_WAKE, PLAN_REPEAT, PLAN_OPENS,
    WAKE, REPEAT, OPENS, SINCE, UNTIL, BEFORE, SLEPT, BEACONS, SENT, RECEIVED,
    BEACONS_TO_SLEEP, LEARNED,
    N_POLLS, N_INTERVALS, PAGE_POLLS,
    FIRST_OBJECT, N_OBJECTS, UP_HEAD, UP_TAIL, DOWN_HEAD, DOWN_TAIL, WAITING, WAITING_BYTES, OUT, OUT_TAIL, OUT_AT,
    PENDING, TAKEN, MISSING, DONE,
    RING,
) = range(78)
FIRST_STATE = NOW
# a connection: the server's sender and receiver, the client's sender and receiver, what is fetched
(
    S_UNACKED, S_NEXT, S_END, S_CWND, S_DEADLINE, S_RTO, S_SRTT, S_RTTVAR, S_TIMED, S_TIMED_AT, S_ALL,
    S_RECEIVED, S_EXPECTED,
    C_UNACKED, C_NEXT, C_END, C_CWND, C_DEADLINE, C_RTO, C_SRTT, C_RTTVAR, C_TIMED, C_TIMED_AT, C_ALL,
    C_RECEIVED, C_EXPECTED,
    OBJECT, CLOSED, REPLY_AT, REPLY_SINCE,
    N_CONNECTION,
) = range(31)
# fmt: on
NONE, PSM, BSD, LPSM = range(4)
TIMER, FULL = 1, 2
SYN, BARE, DATA = 0, 1, 2  # a packet: a SYN or SYN-ACK, an ACK alone, or payload
DONE_ALREADY, LETS_OUT, LEARN = 0, 1, 2

LENGTH_BITS = 24
LENGTH_MASK = 2**LENGTH_BITS - 1


def new_world(room: int, most_objects: int) -> Ints:
    """Make `w`, all zero but for its own layout; queues hold `room` packets, a power of two."""
    base = RING + 3 * room
    w = np.zeros(base + 6 * room + (most_objects + 1) * N_CONNECTION, dtype=np.int64)
    w[ROOM], w[MASK] = room, room - 1
    w[DOWN], w[HELD], w[CONNECTIONS] = base, base + 3 * room, base + 6 * room
    return w


# -- links


@compiled
def _air(w: Ints, length: int) -> int:
    """Time on the air of a packet with `length` bytes of payload."""
    if length == w[MSS]:
        return w[AIR_FULL]  # type: ignore[no-any-return]
    if length == 0:
        return w[AIR_BARE]  # type: ignore[no-any-return]
    return (length + w[HEADER]) * w[AIR_NUM] // w[AIR_DEN]  # type: ignore[no-any-return]


@compiled
def _wire(w: Ints, length: int) -> int:
    """Time on the wire of a packet with `length` bytes of payload."""
    if length == w[MSS]:
        return w[WIRE_FULL]  # type: ignore[no-any-return]
    if length == 0:
        return w[WIRE_BARE]  # type: ignore[no-any-return]
    return (length + w[HEADER]) * w[WIRE_NUM] // w[WIRE_DEN]  # type: ignore[no-any-return]


@compiled
def _up(w: Ints, word: int, ack: int, now: int, queued: bool) -> int:
    """Send a packet from the client; return when it is at the server, where it is met only if `queued`."""
    length = (word >> 2) & LENGTH_MASK
    w[SENT] = now
    duration = _air(w, length)
    w[AIR_UP_BUSY] += duration
    free = max(w[AIR_UP], now) + duration
    w[AIR_UP] = free
    if w[GATE]:
        w[PLANNED] = 0
        w[BUSY] = max(w[BUSY], free)
    free = max(w[WIRE_UP], free + w[AIR_DELAY]) + _wire(w, length)
    w[WIRE_UP] = free
    arrival = free + w[WIRE_DELAY]
    if queued:
        if w[UP_TAIL] - w[UP_HEAD] > w[MASK]:
            w[BAIL] = TIMER
            return arrival
        place = RING + (w[UP_TAIL] & w[MASK]) * 3
        w[place] = arrival
        w[place + 1] = word
        w[place + 2] = ack
        w[UP_TAIL] += 1
    return arrival


@compiled
def _down(w: Ints, word: int, ack: int, now: int) -> None:
    """Send a packet from the server; it waits in the queue of what reaches the access point."""
    free = max(w[WIRE_DOWN], now) + _wire(w, (word >> 2) & LENGTH_MASK)
    w[WIRE_DOWN] = free
    if w[DOWN_TAIL] >= w[ROOM]:
        w[BAIL] = TIMER
        return
    place = w[DOWN] + 3 * w[DOWN_TAIL]
    w[place] = free + w[WIRE_DELAY]
    w[place + 1] = word
    w[place + 2] = ack
    w[DOWN_TAIL] += 1


@compiled
def _word(connection: int, length: int, kind: int) -> int:
    return (connection << LENGTH_BITS | length) << 2 | kind


# -- the policy


@compiled
def _plan(w: Ints, now: int) -> None:
    """What holds from `now` on: SLEEP, PLAN_WAKE, PLAN_REPEAT, PLAN_OPENS."""
    kind, interval = w[KIND], w[INTERVAL]
    asleep = now
    w[PLAN_REPEAT] = w[PLAN_OPENS] = 0
    if kind == PSM:
        if w[TIMEOUT]:
            asleep = max(now, max(w[SENT], w[RECEIVED]) + w[TIMEOUT])
            w[PLAN_OPENS] = 1
        w[PLAN_WAKE] = (asleep // w[PERIOD] + 1) * w[PERIOD]
        w[PLAN_REPEAT] = w[PERIOD]
    elif kind == BSD:
        w[PLAN_OPENS] = 1
        beacons = w[MAX_BEACONS]
        if w[SENT] >= 0:
            since = now - w[SENT]
            if since < w[HOLD]:
                asleep = w[SENT] + w[HOLD]
                beacons = 1
            else:
                beacons = min(beacons, max(1, since * w[NUMERATOR] // (w[DENOMINATOR] * interval)))
        w[PLAN_WAKE] = (asleep // interval + beacons) * interval
        if beacons == w[MAX_BEACONS] and asleep == now:
            w[PLAN_REPEAT] = beacons * interval
    else:
        w[PLAN_WAKE] = (now // interval + w[BEACONS_TO_SLEEP]) * interval
    w[SLEEP] = max(asleep, w[BUSY])
    w[PLANNED] = 1


@compiled
def _follow(w: Ints) -> None:
    w[WAKE], w[REPEAT], w[OPENS] = w[PLAN_WAKE], w[PLAN_REPEAT], w[PLAN_OPENS]


# -- the station


@compiled
def _wake(w: Ints, intervals: Ints, at: int) -> None:
    """Be awake from `at` on: either still, or anew."""
    if w[GATE] or at <= w[UNTIL]:
        return
    if w[UNTIL] > w[SINCE]:
        place = 2 * w[N_INTERVALS]
        if place + 1 < intervals.size:
            intervals[place] = w[SINCE]
            intervals[place + 1] = w[UNTIL]
        w[N_INTERVALS] += 1
        w[BEFORE] += w[UNTIL] - w[SINCE]
    w[SINCE] = w[UNTIL] = at


@compiled
def _open_gate(w: Ints, at: int) -> None:
    w[GATE] = 1
    w[PLANNED] = 0
    w[BUSY] = max(at, w[AIR_UP])


@compiled
def _note_poll(w: Ints, polls: Ints, at: int, waiting: int, following: int, more: int) -> None:
    """Enter a poll and so many more like it, or extend the last entry by it where it repeats that."""
    slept = at - w[SLEPT]
    place = 6 * (w[N_POLLS] - 1)
    if (
        w[N_POLLS] > w[PAGE_POLLS]
        and place < polls.size - 5
        and waiting == 0
        and more == 0
        and polls[place + 2] == 0
        and slept == polls[place + 1] == polls[place + 3] == following
        and (polls[place + 4] == 0 or polls[place + 5] == following)
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
        polls[place + 5] = following if more else 0
    w[N_POLLS] += 1


@compiled
def _skip_beacons(w: Ints, polls: Ints, now: int) -> None:
    """Listen to all the beacons up to `now` that bring nothing and need no decision."""
    first, period = w[WAKE], w[REPEAT]
    n = (now - first) // period + 1
    last = first + (n - 1) * period
    w[BEACONS] += n
    if w[SINCE] < last and first <= w[UNTIL]:  # heard while awake to send
        heard = (min(last, w[UNTIL]) - first) // period + 1
        before = (w[SINCE] - first) // period + 1 if first <= w[SINCE] else 0
        w[BEACONS] -= heard - before
    _note_poll(w, polls, first, 0 * n, period, n - 1)
    w[SLEPT] = last
    w[WAKE] = last + period


@compiled
def _advance(w: Ints, polls: Ints, intervals: Ints, now: int) -> int:
    """Bring the station up to `now`, or to a beacon where it must learn, or that lets waiting frames out."""
    while True:
        if w[GATE]:
            if now <= w[BUSY]:
                return DONE_ALREADY
            if not w[PLANNED]:
                _plan(w, w[BUSY])
            asleep = w[SLEEP]
            if now <= asleep:
                return DONE_ALREADY
            w[GATE] = 0
            w[UNTIL] = w[SLEPT] = asleep
            _follow(w)
        at = w[WAKE]
        if at > now:
            return DONE_ALREADY
        if w[REPEAT] and w[WAITING] == 0:
            _skip_beacons(w, polls, now)
            continue
        if w[KIND] == LPSM and not w[LEARNED]:
            return LEARN
        w[LEARNED] = 0
        if not w[SINCE] < at <= w[UNTIL]:
            w[BEACONS] += 1
        _plan(w, at)
        _note_poll(w, polls, at, w[WAITING_BYTES], w[PLAN_WAKE] - at, 0 * at)
        if w[WAITING]:
            _wake(w, intervals, at)
            _open_gate(w, at)
            w[OUT], w[OUT_TAIL], w[OUT_AT] = 0, w[WAITING], at
            w[WAITING] = w[WAITING_BYTES] = 0
            return LETS_OUT
        if w[SLEEP] > at:
            _wake(w, intervals, at)
            w[GATE] = 1
            w[BUSY] = max(at, w[AIR_UP])
            w[SLEEP] = max(w[SLEEP], w[BUSY])
        else:
            w[SLEPT] = at
            _follow(w)


@compiled
def _reach(
    w: Ints, polls: Ints, intervals: Ints, now: int,
    weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats, experts: Floats,
) -> bool:  # fmt: skip
    """Bring the station up to `now`, learning on the way; stop and return True where waiting frames are let out."""
    while True:
        what = _advance(w, polls, intervals, now)
        if what != LEARN:
            return what == LETS_OUT
        interval_ms = w[INTERVAL] / 1e6
        slept_ms, waiting = w[BEACONS_TO_SLEEP] * interval_ms, w[WAITING_BYTES]
        mean = polling_round(slept_ms, waiting, weights, columns, slow, head, work, experts)
        w[BEACONS_TO_SLEEP] = max(1, int(mean / interval_ms + (0.5 + 1e-9)))
        w[LEARNED] = 1


# -- TCP


@compiled
def _sample(w: Ints, rto: int, rtt: int) -> None:
    """RFC 6298 on the fields RTO, SRTT, RTTVAR that begin at `rto`."""
    if w[rto + 1] < 0:
        w[rto + 1] = rtt
        w[rto + 2] = rtt // 2
    else:
        w[rto + 2] += (abs(w[rto + 1] - rtt) - w[rto + 2]) // 4
        w[rto + 1] += (rtt - w[rto + 1]) // 8
    w[rto] = min(max(w[rto + 1] + 4 * w[rto + 2], w[MIN_RTO]), MAX_RTO)


@compiled
def _new_ack(w: Ints, sender: int, ack: int, now: int) -> bool:
    """Take in an ACK at the sender whose fields begin at `sender`; return whether it has more to send."""
    if now >= w[sender + S_DEADLINE]:
        w[BAIL] = TIMER
    if 0 <= w[sender + S_TIMED] <= ack:
        _sample(w, sender + S_RTO, now - w[sender + S_TIMED_AT])
        w[sender + S_TIMED] = -1
    w[sender] = ack
    w[sender + S_CWND] = min(w[sender + S_CWND] + 1, w[WINDOW])
    w[sender + S_DEADLINE] = NEVER if w[sender + S_NEXT] == ack or w[sender + S_ALL] else now + w[sender + S_RTO]
    return w[sender + S_NEXT] < w[sender + S_END]  # type: ignore[no-any-return]


@compiled
def _push(w: Ints, sender: int, connection: int, ack: int, now: int) -> None:
    """Send what the window, and Nagle if asked for, allow; the client's sender sends up, the server's down."""
    mss, unacked, end = w[MSS], w[sender], w[sender + S_END]
    upwards = sender != w[CONNECTIONS] + connection * N_CONNECTION
    limit = unacked + min(w[sender + S_CWND], w[WINDOW]) * mss
    following = w[sender + S_NEXT]
    while following < end:
        length = min(mss, end - following)
        if (length < mss and w[NAGLE] and following > unacked) or following + length > limit:
            break
        following += length
        if w[sender + S_TIMED] < 0:
            w[sender + S_TIMED] = following
            w[sender + S_TIMED_AT] = now
        if w[sender + S_DEADLINE] == NEVER:
            w[sender + S_DEADLINE] = now + w[sender + S_RTO]
        word = _word(connection, length, DATA)
        if upwards:
            _up(w, word, ack, now, True)
        else:
            _down(w, word, ack, now)
    w[sender + S_NEXT] = following


@compiled
def _has_all(w: Ints, sender: int, now: int) -> None:
    """The last, partial segment of a message has arrived: no ACK packet is needed."""
    if now >= w[sender + S_DEADLINE]:
        w[BAIL] = TIMER
    w[sender + S_ALL] = 1
    w[sender + S_DEADLINE] = NEVER


# -- the browser


@compiled
def _fetch(w: Ints, sizes: Ints, connection: int, now: int, is_open: bool) -> None:
    """Ask for the object taken last (0: the HTML) on `connection`, opening it first if it is new."""
    c = w[CONNECTIONS] + connection * N_CONNECTION
    if not is_open:
        for i in range(c, c + N_CONNECTION):
            w[i] = 0
        w[c + S_CWND] = w[c + C_CWND] = w[FIRST_WINDOW]
        w[c + S_RTO] = w[c + C_RTO] = w[FIRST_RTO]
        w[c + S_SRTT] = w[c + C_SRTT] = w[c + S_TIMED] = w[c + C_TIMED] = -1
        w[c + S_DEADLINE] = w[c + C_DEADLINE] = w[c + REPLY_AT] = NEVER
    index = w[TAKEN]
    w[c + OBJECT] = place = 3 * (w[FIRST_OBJECT] + index)
    w[c + S_EXPECTED] += sizes[place]
    w[c + C_EXPECTED] += sizes[place + 1]
    if is_open:
        w[c + C_END] += sizes[place]
        w[c + C_ALL] = 0
        _push(w, c + C_UNACKED, connection, w[c + C_RECEIVED], now)
    else:
        w[c + C_DEADLINE] = now + w[c + C_RTO]
        w[c + C_TIMED_AT] = now
        _up(w, _word(connection, 0 * now, SYN), 0 * now, now, True)


@compiled
def _arrived(w: Ints, sizes: Ints, connection: int, now: int) -> bool:
    """Go on when a reply is complete; return whether `connection` vanished."""
    c = w[CONNECTIONS] + connection * N_CONNECTION
    n = 1  # objects to begin now
    if w[c + OBJECT] == 3 * w[FIRST_OBJECT]:
        n = min(w[MAX_CONNECTIONS], w[N_OBJECTS])
    else:
        w[MISSING] -= 1
        n = min(1, w[N_OBJECTS] - w[TAKEN])
    stays = w[PERSISTENT] != 0 and n > 0
    for i in range(n):
        w[TAKEN] += 1
        here = stays and i == 0
        _fetch(w, sizes, connection if here else w[TAKEN], now, here)
    if not stays:
        if now >= min(w[c + S_DEADLINE], w[c + C_DEADLINE]):
            w[BAIL] = TIMER
        w[c + CLOSED] = 1
    if w[MISSING] == 0:
        w[DONE] = now
    return not stays


@compiled
def _at_client(w: Ints, sizes: Ints, word: int, ack: int, now: int) -> None:
    """A packet has arrived at the client, which reacts."""
    length, connection, kind = (word >> 2) & LENGTH_MASK, word >> (2 + LENGTH_BITS), word & 3
    c = w[CONNECTIONS] + connection * N_CONNECTION
    w[RECEIVED] = now
    if kind == SYN:
        if now >= w[c + C_DEADLINE]:
            w[BAIL] = TIMER
        w[c + C_DEADLINE] = NEVER
        _sample(w, c + C_RTO, now - w[c + C_TIMED_AT])
        # the handshake ACK: all it does at the server is to end the wait for it
        arrival = _up(w, _word(connection, length, BARE), ack, now, False)
        if arrival >= w[c + S_DEADLINE]:
            w[BAIL] = TIMER
        w[c + S_DEADLINE] = NEVER
        _sample(w, c + S_RTO, arrival - w[c + S_TIMED_AT])
        w[c + C_END] += sizes[w[c + OBJECT]]
        _push(w, c + C_UNACKED, connection, ack, now)
        return
    if ack > w[c + C_UNACKED] and _new_ack(w, c + C_UNACKED, ack, now):
        _push(w, c + C_UNACKED, connection, w[c + C_RECEIVED], now)
    if kind == BARE:
        return
    received = w[c + C_RECEIVED] + length
    w[c + C_RECEIVED] = received
    vanished = False
    if received == w[c + C_EXPECTED]:
        if length < w[MSS]:
            _has_all(w, c, now)
        vanished = _arrived(w, sizes, connection, now)
        if not vanished:  # the next request carries the ACK
            return
    if length == w[MSS]:
        _up(w, _word(connection, 0 * now, BARE), received, now, not vanished)


# -- the server


@compiled
def _reply(w: Ints, sizes: Ints, connection: int, now: int) -> None:
    c = w[CONNECTIONS] + connection * N_CONNECTION
    w[c + S_END] += sizes[w[c + OBJECT] + 1]
    w[c + S_ALL] = 0
    _push(w, c, connection, w[c + S_RECEIVED], now)


@compiled
def _at_server(w: Ints, sizes: Ints, now: int, word: int, ack: int) -> None:
    """A packet has arrived at the server, which reacts."""
    length, connection, kind = (word >> 2) & LENGTH_MASK, word >> (2 + LENGTH_BITS), word & 3
    c = w[CONNECTIONS] + connection * N_CONNECTION
    if w[c + CLOSED]:
        return
    if kind == SYN:
        w[c + S_TIMED_AT] = now
        w[c + S_DEADLINE] = now + w[c + S_RTO]
        _down(w, word, ack, now)
        return
    if ack > w[c + S_UNACKED] and _new_ack(w, c, ack, now):
        _push(w, c, connection, w[c + S_RECEIVED], now)
    if kind == BARE:
        return
    w[c + S_RECEIVED] += length
    if w[c + S_RECEIVED] == w[c + S_EXPECTED]:
        if length < w[MSS]:
            _has_all(w, c + C_UNACKED, now)
        delay = sizes[w[c + OBJECT] + 2]
        if delay == 0:  # the reply carries the ACK
            _reply(w, sizes, connection, now)
            return
        w[c + REPLY_AT] = now + delay
        w[c + REPLY_SINCE] = now
        w[PENDING] += 1
    if length == w[MSS]:
        _down(w, _word(connection, 0 * now, BARE), w[c + S_RECEIVED], now)


@compiled
def _next_reply(w: Ints) -> int:
    """Connection whose delayed reply comes first; -1 if none is pending, -2 if two are in one instant."""
    if w[PENDING] == 0:
        return -1
    found, at, since = -1, NEVER, NEVER
    for i in range(w[TAKEN] + 1):
        c = w[CONNECTIONS] + i * N_CONNECTION
        due = w[c + REPLY_AT]
        if due == at and due < NEVER and w[c + REPLY_SINCE] == since:
            return -2
        if due < at or (due == at and w[c + REPLY_SINCE] < since):
            found, at, since = i, due, w[c + REPLY_SINCE]
    return found


# -- the run


@compiled
def _load(
    w: Ints, sizes: Ints, polls: Ints, intervals: Ints, issued: int,
    weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats, experts: Floats,
) -> None:  # fmt: skip
    """Load one page: from its issue until DONE is set, or BAIL."""
    for i in range(UP_HEAD, MISSING):
        w[i] = 0
    w[MISSING], w[DONE] = w[N_OBJECTS], -1
    for i in range(w[N_OBJECTS] + 1):
        w[w[CONNECTIONS] + i * N_CONNECTION + REPLY_AT] = NEVER
    _wake(w, intervals, issued)
    _fetch(w, sizes, 0 * issued, issued, False)
    if not w[GATE]:
        if w[OPENS]:
            _open_gate(w, issued)
        else:
            w[UNTIL] = w[AIR_UP]
    none = w[KIND] == NONE
    while w[DONE] < 0 and not w[BAIL]:
        if w[OUT] < w[OUT_TAIL]:  # the gate has been opened: what waited goes onto the air
            place = w[HELD] + 2 * w[OUT]
            at, word, ack = w[OUT_AT], w[place], w[place + 1]
            w[OUT] += 1
        elif w[DOWN_HEAD] < w[DOWN_TAIL]:  # a packet reaches the access point
            place = w[DOWN] + 3 * w[DOWN_HEAD]
            at, word, ack = w[place], w[place + 1], w[place + 2]
            if not none:
                if _reach(w, polls, intervals, at, weights, columns, slow, head, work, experts):
                    continue
                if not w[GATE]:
                    if w[WAITING] >= w[ROOM]:
                        w[BAIL] = TIMER
                        break
                    place = w[HELD] + 2 * w[WAITING]
                    w[place], w[place + 1] = word, ack
                    w[WAITING] += 1
                    w[WAITING_BYTES] += ((word >> 2) & LENGTH_MASK) + w[HEADER]
            w[DOWN_HEAD] += 1
            if w[DOWN_HEAD] == w[DOWN_TAIL]:
                w[DOWN_HEAD] = w[DOWN_TAIL] = 0
            if not w[GATE]:
                continue
        else:
            place = RING + (w[UP_HEAD] & w[MASK]) * 3
            packet = w[place] if w[UP_HEAD] < w[UP_TAIL] else NEVER
            replier = _next_reply(w)
            reply = w[w[CONNECTIONS] + replier * N_CONNECTION + REPLY_AT] if replier >= 0 else NEVER
            if w[WAITING] and w[WAKE] <= min(packet, reply):
                _reach(w, polls, intervals, w[WAKE], weights, columns, slow, head, work, experts)
            elif replier == -2 or packet == reply:  # the order of events decides, which only the packet model has
                w[BAIL] = TIMER
            elif reply < packet:
                w[w[CONNECTIONS] + replier * N_CONNECTION + REPLY_AT] = NEVER
                w[PENDING] -= 1
                _reply(w, sizes, replier, reply)
            else:
                w[UP_HEAD] += 1
                _at_server(w, sizes, packet, w[place + 1], w[place + 2])
            continue
        duration = _air(w, (word >> 2) & LENGTH_MASK)
        w[AIR_DOWN_BUSY] += duration
        free = max(w[AIR_DOWN], at) + duration
        w[AIR_DOWN] = free
        w[PLANNED] = 0
        w[BUSY] = max(w[BUSY], free + w[AIR_DELAY])
        _at_client(w, sizes, word, ack, free + w[AIR_DELAY])


@compiled
def run_pages(
    begin: int, pages: Ints, sizes: Ints, w: Ints, kept: Ints, loads: Ints, polls: Ints, intervals: Ints,
    weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats, experts: Floats,
    kept_weights: Floats, kept_columns: Floats, kept_slow: Floats, kept_head: Floats,
) -> int:  # fmt: skip
    """Browse the pages from `begin` on; return the first one left over.

    If that is not the number of pages, the state is that before its issue, and BAIL says why:
    TIMER, it is one for the packet model; FULL, there must be more room for polls or intervals.

    `pages` has a row a page: instant of its own or -1, think time, first object, number of objects.
    The last row, with -1 for the number of objects, is the end of the run.  `sizes` has three numbers
    an object: request, reply, server delay.
    """
    for page in range(begin, pages.shape[0]):
        w[PAGE_POLLS] = w[N_POLLS]
        kept[:] = w[FIRST_STATE:RING]
        if w[KIND] == LPSM:
            kept_weights[:], kept_columns[:], kept_slow[:], kept_head[:] = weights, columns, slow, head
        issued = max(w[NOW], pages[page, 0])
        if _reach(w, polls, intervals, issued, weights, columns, slow, head, work, experts):
            w[BAIL] = TIMER  # nothing waits between pages
        awake = w[BEFORE] + max(0, (issued if w[GATE] else min(issued, w[UNTIL])) - w[SINCE])
        beacons = w[BEACONS]
        w[FIRST_OBJECT], w[N_OBJECTS] = pages[page, 2], pages[page, 3]
        last = pages[page, 3] < 0
        if not last and not w[BAIL]:
            _load(w, sizes, polls, intervals, issued, weights, columns, slow, head, work, experts)
        if 6 * w[N_POLLS] > polls.size or 2 * w[N_INTERVALS] > intervals.size:
            w[BAIL] = FULL
        if w[BAIL]:
            reason = w[BAIL]
            w[FIRST_STATE:RING] = kept
            w[BAIL] = reason
            if w[KIND] == LPSM:
                weights[:], columns[:], slow[:], head[:] = kept_weights, kept_columns, kept_slow, kept_head
            return page
        if not last:
            done = w[DONE]
            loads[page, 0] = issued
            loads[page, 1] = done
            loads[page, 2] = w[BEFORE] + max(0, done - w[SINCE]) - awake
            loads[page, 3] = w[BEACONS] - beacons
            w[NOW] = done + pages[page, 1]
    return pages.shape[0]
