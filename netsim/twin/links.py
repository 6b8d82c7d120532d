"""The links: a packet up is on its way to the server, a packet down on its way to the access point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from netsim.twin import layout as slot

__all__ = ["air", "down", "up", "wire", "word_of"]

Ints = NDArray[np.int64]


@compiled
def air(w: Ints, length: int) -> int:
    """Time on the air of a packet with `length` bytes of payload."""
    if length == w[slot.MSS]:
        return w[slot.AIR_FULL]
    if length == 0:
        return w[slot.AIR_BARE]
    scaled = (length + w[slot.HEADER]) * w[slot.AIR_NUM]
    return scaled if w[slot.AIR_DEN] == 1 else scaled // w[slot.AIR_DEN]


@compiled
def wire(w: Ints, length: int) -> int:
    """Time on the wire of a packet with `length` bytes of payload."""
    if length == w[slot.MSS]:
        return w[slot.WIRE_FULL]
    if length == 0:
        return w[slot.WIRE_BARE]
    scaled = (length + w[slot.HEADER]) * w[slot.WIRE_NUM]
    return scaled if w[slot.WIRE_DEN] == 1 else scaled // w[slot.WIRE_DEN]


@compiled
def up(w: Ints, word: int, ack: int, now: int, queued: bool) -> int:
    """Send a packet from the client; return when it is at the server, where it is met only if `queued`."""
    length = (word >> 2) & slot.LENGTH_MASK
    w[slot.SENT] = now
    duration = air(w, length)
    w[slot.AIR_UP_BUSY] += duration
    free = max(w[slot.AIR_UP], now) + duration
    w[slot.AIR_UP] = free
    if w[slot.GATE]:
        w[slot.PLANNED] = 0
        w[slot.BUSY] = max(w[slot.BUSY], free)
    free = max(w[slot.WIRE_UP], free + w[slot.AIR_DELAY]) + wire(w, length)
    w[slot.WIRE_UP] = free
    arrival = free + w[slot.WIRE_DELAY]
    if queued:
        if w[slot.UP_TAIL] - w[slot.UP_HEAD] > w[slot.MASK]:
            w[slot.BAIL] = slot.TIMER
            return arrival
        place = slot.RING + (w[slot.UP_TAIL] & w[slot.MASK]) * 3
        w[place] = arrival
        w[place + 1] = word
        w[place + 2] = ack
        w[slot.UP_TAIL] += 1
    return arrival


@compiled
def down(w: Ints, word: int, ack: int, now: int) -> None:
    """Send a packet from the server; it waits in the queue of what reaches the access point."""
    free = max(w[slot.WIRE_DOWN], now) + wire(w, (word >> 2) & slot.LENGTH_MASK)
    w[slot.WIRE_DOWN] = free
    if w[slot.DOWN_TAIL] >= w[slot.ROOM]:
        w[slot.BAIL] = slot.TIMER
        return
    place = w[slot.DOWN] + 3 * w[slot.DOWN_TAIL]
    w[place] = free + w[slot.WIRE_DELAY]
    w[place + 1] = word
    w[place + 2] = ack
    w[slot.DOWN_TAIL] += 1


@compiled
def word_of(connection: int, length: int, kind: int) -> int:
    """Pack what a packet is into one integer."""
    return (connection << slot.LENGTH_BITS | length) << 2 | kind
