"""A station as the channel knows it: what it has to send, and when its backoff ends (`netsim.air.access`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from netsim.air.exchanges import Transmission

if TYPE_CHECKING:
    from netsim.air.access import Medium

__all__ = ["Contender"]

_DRAWN_AT_ONCE = 64


class Contender:
    """A station as the channel knows it: its queue, its contention window, its backoff.

    Parameters
    ----------
    medium : Medium
        The channel.
    rng : numpy.random.Generator
        Draws its backoffs.

    Attributes
    ----------
    queue : deque of Transmission
        What it has to send, the next first.
    on_air : bool
        Whether the first of these is on the air, or its answer is waited for.
    sent_ns, received_ns : int
        Time it has spent sending and receiving frames of its own exchanges.
    attempts, delivered, lost, collided, dropped : int
        Frames put on the air (first frames of exchanges, and each of those sent together), and what became of them;
        `dropped` counts frames given up.
    exchanged : callable or None
        Called when an exchange of data frames that may be sent together is over, whether they were answered or not.
    """

    __slots__ = (
        "_drawn", "_rng", "attempts", "collided", "contending", "cw", "delivered", "dropped", "due",
        "exchanged", "lost", "medium", "on_air", "order", "queue", "received_ns", "sent_ns", "tries",
    )  # fmt: skip

    def __init__(self, medium: Medium, rng: np.random.Generator) -> None:
        self.medium = medium
        self._rng = rng
        self._drawn: list[float] = []
        self.queue: deque[Transmission] = deque()
        self.order = medium.enter()
        self.cw = medium.phy.cw_min
        self.due = 0
        self.tries = 0
        self.contending = self.on_air = False
        self.sent_ns = self.received_ns = 0
        self.attempts = self.delivered = self.lost = self.collided = self.dropped = 0
        self.exchanged: Callable[[], None] | None = None

    def send(self, *transmissions: Transmission) -> None:
        """Put frames at the end of the queue, and contend for the channel."""
        self.queue.extend(transmissions)
        if not self.contending:
            self.medium.contend(self)

    def backoff(self) -> int:
        """Draw a number of slots uniformly from 0 to the contention window."""
        drawn = self._drawn
        if not drawn:
            drawn.extend(self._rng.random(_DRAWN_AT_ONCE).tolist())
        return int(drawn.pop() * (self.cw + 1))
