"""The access point on the shared air: one contender with a line for each client and one for group frames.

Down the wire everything arrives here.  A frame for a client that is awake, as far as the access point knows, joins
the client's line; one for a client in power-save mode waits in the client's buffer.  The lines are served in
turn, one frame each, group frames before all others.  Left out: a limit to lines and buffers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netsim.access_point import LinkConfig, deliver
from netsim.air.access import Contender, Medium
from netsim.air.exchanges import Transmission
from netsim.clock import Clock, Occurrence
from netsim.tcp import Packet

if TYPE_CHECKING:
    from netsim.air.station import AirStation

__all__ = ["AirAccessPoint", "Buffer", "Waiting"]

Waiting = tuple[Packet | None, int]
"""A packet and when it reached the access point; None is the null frame that ends a service period."""


class Buffer:
    """What the access point holds back for a client in power-save mode.

    Attributes
    ----------
    frames : deque of Waiting
        The oldest first.
    n_bytes : int
        The sizes of their packets, headers included.
    """

    __slots__ = ("frames", "n_bytes")

    def __init__(self) -> None:
        self.frames: deque[tuple[Packet, int]] = deque()
        self.n_bytes = 0

    def put(self, packet: Packet, reached_ns: int) -> None:
        """Hold a packet back."""
        self.frames.append((packet, reached_ns))
        self.n_bytes += packet.size_bytes

    def take(self) -> tuple[Packet, int]:
        """Take out the oldest."""
        packet, reached_ns = self.frames.popleft()
        self.n_bytes -= packet.size_bytes
        return packet, reached_ns


class AirAccessPoint:
    """What stands between the wire and the air.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    medium : Medium
        The channel.
    link : LinkConfig
        Of which the wire is used.
    rng : numpy.random.Generator
        Draws its backoffs.
    """

    def __init__(self, env: Clock, medium: Medium, link: LinkConfig, rng: np.random.Generator) -> None:
        self._env = env
        self._medium = medium
        self.contender = Contender(medium, rng)
        self._wire_up, self._wire_down = link.wire(), link.wire()
        self._turns: deque[AirStation] = deque()
        self._groups: deque[Transmission] = deque()
        self._serving: tuple[AirStation, Waiting] | None = None

    @property
    def serving(self) -> AirStation | None:
        """The client whose frame is next on the air or on it; None for a group frame or nobody."""
        return None if self._serving is None else self._serving[0]

    @property
    def has_more(self) -> bool:
        """Whether more waits for the client that is served, or for everybody."""
        return bool(self._groups if self._serving is None else self._serving[0].line)

    def to_server(self, packet: Packet) -> None:
        """Carry a packet that came over the air to the server."""
        arrival = self._wire_up.transmit(self._env.now, packet.size_bytes)
        Occurrence(self._env, arrival, deliver, packet)

    def from_server(self, packet: Packet, arrive: Callable[[Occurrence], None]) -> None:
        """Carry a packet from the server to the access point, where `arrive` meets it."""
        Occurrence(self._env, self._wire_down.transmit(self._env.now, packet.size_bytes), arrive, packet)

    def forward(self, station: AirStation, waiting: Waiting) -> None:
        """Put a frame into the line of a client that is awake."""
        if not station.line:
            self._turns.append(station)
        station.line.append(waiting)
        self._serve()

    def send_group(self, transmissions: list[Transmission]) -> None:
        """Send group frames, before what waits for clients."""
        for transmission in transmissions:
            transmission.ended = partial(self._group_sent, transmission.ended)
        self._groups.extend(transmissions)
        self._serve()

    def withdraw(self, station: AirStation) -> list[Waiting]:
        """Take back what waits in the line of a client that goes to sleep, in order."""
        taken: list[Waiting] = []
        if self._serving is not None and self._serving[0] is station:
            taken.append(self._serving[1])
            self.contender.queue.clear()
            self._serving = None
        taken.extend(station.line)
        if station.line:
            self._turns.remove(station)
            station.line.clear()
        self._serve()
        return taken

    def _serve(self) -> None:
        """Hand the next frame to the contender if it has none."""
        if self.contender.queue:
            return
        if self._groups:
            self.contender.send(self._groups.popleft())
        elif self._turns:
            station = self._turns.popleft()
            waiting = station.line.popleft()
            if station.line:
                self._turns.append(station)
            self._serving = station, waiting
            packet, reached_ns = waiting
            if packet is None:
                exchange = self._medium.control(station.null_bytes)
            else:
                exchange = self._medium.data(packet.size_bytes + station.overhead_bytes)
            delivered = partial(station.receive, waiting, exchange, exchange.sender_ns, exchange.receiver_ns)
            ended = partial(self._served, station)
            self.contender.send(Transmission(exchange, delivered, ended, packet=packet, reached_ns=reached_ns))

    def _served(self, station: AirStation, delivered: bool) -> None:
        self._serving = None
        self._serve()
        station.served(delivered)

    def _group_sent(self, ended: Callable[[bool], None] | None, delivered: bool) -> None:
        if ended is not None:
            ended(delivered)
        self._serve()
