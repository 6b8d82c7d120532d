"""Where what stands in the array of integers that the compiled twin works on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["new_world"]

Ints = NDArray[np.int64]

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
