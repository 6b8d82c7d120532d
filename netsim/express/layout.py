"""The array of integers that the compiled engine works on: what stands where."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Place", "new_world"]

Ints = NDArray[np.int64]
Place = Any
"""In compiled code: the address of an array's first element, indexed like the array but without checks."""

NEVER = 2**62
MAX_RTO = 60_000_000_000

# fmt: off
(
    # parameters: of the links (numerator and denominator of ns a byte), of TCP, of the browser
    AIR_NUM, AIR_DEN, AIR_DELAY, WIRE_NUM, WIRE_DEN, WIRE_DELAY, AIR_FULL, AIR_BARE, WIRE_FULL, WIRE_BARE,
    MSS, HEADER, FIRST_WINDOW, WINDOW, MIN_RTO, FIRST_RTO, NAGLE,
    PERSISTENT, MAX_CONNECTIONS, INTERVAL, N_PAGES, N_MESSAGES,
    # of the policy: where its rule and what observes frames are, and how long its arrays are
    RULE, OBSERVER, HOST_AWARE, N_INTS, N_FLOATS,
    # room of this array and of those beside it
    ROOM, MASK, HELD, PARTIAL, CONNECTIONS, POLLS_ROOM, INTERVALS_ROOM,
    # the state of the run: up to which page everything was quiet when it was issued; when a page must be complete
    NOW, BAIL, QUIET_PAGE, PAGE_DEADLINE,
    # the links
    AIR_UP, WIRE_UP, WIRE_DOWN, AIR_DOWN, AIR_UP_BUSY, AIR_DOWN_BUSY,
    # the station: the fields of `netsim.station_state.StationState`, and the rest of what the policy has planned
    GATE, BUSY, PLANNED, SLEEP, PLAN_WAKE, PLAN_REPEAT, PLAN_OPENS, PLAN_AGREED,
    WAKE, REPEAT, OPENS, AGREED, SINCE, UNTIL, BEFORE, SLEPT, BEACONS, SENT, RECEIVED,
    PLAN_UNTIL,
    N_POLLS, N_INTERVALS, FIXED_POLLS,
    # queues: on the way to the server; waiting at the access point; let out of there; partial segments at the client
    UP_HEAD, UP_TAIL, WAITING, WAITING_BYTES, OUT, OUT_TAIL, OUT_AT, PARTIAL_HEAD, PARTIAL_TAIL,
    # the page: when the next is issued, or the run ends; awake and beacons before this one was
    PAGE, ISSUE, AWAKE_BEFORE, BEACONS_BEFORE,
    FIRST_OBJECT, N_OBJECTS, PENDING, TAKEN, MISSING, DONE,
    # the earliest instant at which something other than a packet comes to the server, or the client begins something
    NEXT_AT,
    # messages: how many are written, known of at the client, delivered; the client's end; what goes out next ends where
    WRITTEN, ANNOUNCED, DELIVERED, EXPECTED, HAS, ACK_SENT, PUSH_STOP, DUPLICATES, RECOVERING, RECOVER,
    PUSH,
) = range(98)
FIRST_STATE = NOW
FIRST_LINK, FIRST_OF_STATION = AIR_UP, GATE
# what one end of a connection has as a sender
(UNACKED, NEXT, END, CWND, DEADLINE, RTO, SRTT, RTTVAR, TIMED, TIMED_AT, ALL, N_SENDER) = range(12)
# a connection: the server as a sender, and what is to come of the request; the client as a sender, and what is to come
# of the reply; what is fetched.  The numbers of bytes that are acknowledged, and of bytes in a packet, need no place in
# the packets: nothing is lost or overtaken, so they follow from what the receiving end waits for.
SERVER, S_TO_COME, CLIENT, C_TO_COME = 0, N_SENDER, N_SENDER + 1, 2 * N_SENDER + 1
OBJECT, UPLOAD, CLOSED, REPLY_AT, REPLY_SINCE, N_CONNECTION = range(C_TO_COME + 1, C_TO_COME + 7)
S_UNACKED, S_NEXT, S_END, S_CWND, S_DEADLINE, S_RTO, S_SRTT, S_TIMED, S_TIMED_AT, S_ALL = (
    SERVER + field for field in (UNACKED, NEXT, END, CWND, DEADLINE, RTO, SRTT, TIMED, TIMED_AT, ALL)
)
C_UNACKED, C_NEXT, C_END, C_CWND, C_DEADLINE, C_RTO, C_SRTT, C_TIMED, C_TIMED_AT, C_ALL = (
    CLIENT + field for field in (UNACKED, NEXT, END, CWND, DEADLINE, RTO, SRTT, TIMED, TIMED_AT, ALL)
)
# fmt: on
RING = PUSH + N_CONNECTION  # at PUSH is the connection of the messages, which uses the server's fields alone
N_UP, N_HELD, N_PARTIAL = 3, 3, 3
"""How many numbers stand in the queues for a packet on its way to the server (when it is there; connection and kind;
of messages what it acknowledges), for one that waits (connection and kind; of messages its first byte; its payload),
and for the last segment of messages (when it is at the client; what has come; whether that is all there is)."""
TIMER, FULL, REFUSED = 1, 2, 3  # why a page is left over
SYN, BARE, DATA = 0, 1, 2  # a packet: a SYN or SYN-ACK, an ACK alone, or payload


def new_world(room: int, most_objects: int) -> Ints:
    """Make `w`, all zero but for its own layout; queues hold `room` packets, a power of two."""
    held = RING + N_UP * room
    partial = held + N_HELD * room
    connections = partial + N_PARTIAL * room
    w = np.zeros(connections + (most_objects + 1) * N_CONNECTION, dtype=np.int64)
    w[ROOM], w[MASK] = room, room - 1
    w[HELD], w[PARTIAL], w[CONNECTIONS] = held, partial, connections
    return w
