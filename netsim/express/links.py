"""The links: how long a packet takes, and the way up to the server."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.express import layout as slot
from netsim.express.layout import Place
from netsim.express.station import Rule, note_sent

__all__ = ["acknowledge", "air", "bare_message_up", "bare_up", "carry", "up", "wire"]


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
def carry(w: Place, air_time: int, wire_time: int, now: int) -> int:
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
    """Put a packet among those on their way to the server."""
    tail = w[slot.UP_TAIL]
    if tail - w[slot.UP_HEAD] > w[slot.MASK]:
        w[slot.BAIL] = slot.TIMER
    place = slot.RING + (tail & w[slot.MASK]) * slot.N_UP
    w[place] = arrival
    w[place + 1] = word
    w[slot.UP_TAIL] = tail + 1


@compiled
def up(w: Place, c: int, kind: int, length: int, now: int, rule: Rule) -> None:
    """Send a packet with `length` bytes of payload from the client to the server."""
    if w[slot.OBSERVER]:
        note_sent(w, rule, c, kind, length, now)
    _queue(w, c << 2 | kind, carry(w, air(w, length), wire(w, length), now))


@compiled
def bare_up(w: Place, c: int, now: int, rule: Rule) -> int:
    """Send an ACK alone at which nothing happens; return when it is at the server."""
    if w[slot.OBSERVER]:
        note_sent(w, rule, c, slot.BARE, 0 * now, now)
    return carry(w, w[slot.AIR_BARE], w[slot.WIRE_BARE], now)


@compiled
def acknowledge(w: Place, c: int, now: int, rule: Rule) -> None:
    """Send an ACK alone from the client to the server."""
    if w[slot.OBSERVER]:
        note_sent(w, rule, c, slot.BARE, 0 * now, now)
    _queue(w, c << 2 | slot.BARE, carry(w, w[slot.AIR_BARE], w[slot.WIRE_BARE], now))


@compiled
def bare_message_up(w: Place, now: int, rule: Rule) -> None:
    """Send an ACK of all that has come of the messages."""
    place = slot.RING + (w[slot.UP_TAIL] & w[slot.MASK]) * slot.N_UP
    acknowledge(w, slot.PUSH, now, rule)
    w[place + 2] = w[slot.HAS]
