"""The links: how long a packet takes, and the way up to the server."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.twin import layout as slot
from netsim.twin.layout import Place
from netsim.twin.schedules import Schedules, sent

__all__ = ["acknowledge", "air", "bare_up", "up", "wire"]


@compiled
def air(w: Place, length: int) -> int:
    """Time on the air of a packet with `length` bytes of payload."""
    if length == w[slot.MSS]:
        return w[slot.AIR_FULL]
    if length == 0:
        return w[slot.AIR_BARE]
    scaled = (length + w[slot.HEADER]) * w[slot.AIR_NUM]
    return scaled if w[slot.AIR_DEN] == 1 else scaled // w[slot.AIR_DEN]


@compiled
def wire(w: Place, length: int) -> int:
    """Time on the wire of a packet with `length` bytes of payload."""
    if length == w[slot.MSS]:
        return w[slot.WIRE_FULL]
    if length == 0:
        return w[slot.WIRE_BARE]
    scaled = (length + w[slot.HEADER]) * w[slot.WIRE_NUM]
    return scaled if w[slot.WIRE_DEN] == 1 else scaled // w[slot.WIRE_DEN]


@compiled
def _carry(w: Place, air_time: int, wire_time: int, now: int) -> int:
    """Send a packet from the client; return when it is at the server."""
    w[slot.SENT] = now
    w[slot.AIR_UP_BUSY] += air_time
    free = max(w[slot.AIR_UP], now) + air_time
    w[slot.AIR_UP] = free
    if w[slot.GATE]:
        w[slot.BUSY] = max(w[slot.BUSY], free)
    free = max(w[slot.WIRE_UP], free + w[slot.AIR_DELAY]) + wire_time
    w[slot.WIRE_UP] = free
    return free + w[slot.WIRE_DELAY]


@compiled
def _queue(w: Place, word: int, arrival: int) -> None:
    """Let the server meet a packet."""
    tail = w[slot.UP_TAIL]
    if tail - w[slot.UP_HEAD] > w[slot.MASK]:
        w[slot.BAIL] = slot.TIMER
    place = slot.RING + (tail & w[slot.MASK]) * 2
    w[place] = arrival
    w[place + 1] = word
    w[slot.UP_TAIL] = tail + 1


@compiled
def up(w: Place, word: int, length: int, now: int, schedules: Schedules) -> None:
    """Send a packet, `word`, with `length` bytes of payload from the client to the server."""
    if schedules is not None:
        sent(w, schedules, word, length, now)
    _queue(w, word, _carry(w, air(w, length), wire(w, length), now))


@compiled
def bare_up(w: Place, now: int, schedules: Schedules) -> int:
    """Send an ACK alone that nobody meets; return when it is at the server."""
    if schedules is not None:
        sent(w, schedules, slot.BARE, 0, now)
    return _carry(w, w[slot.AIR_BARE], w[slot.WIRE_BARE], now)


@compiled
def acknowledge(w: Place, connection: int, now: int, schedules: Schedules) -> None:
    """Send an ACK alone from the client to the server."""
    if schedules is not None:
        sent(w, schedules, connection << 2 | slot.BARE, 0, now)
    _queue(w, connection << 2 | slot.BARE, _carry(w, w[slot.AIR_BARE], w[slot.WIRE_BARE], now))
