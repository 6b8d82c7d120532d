"""The access point on the shared air: one contender with a line for each client and one for group frames.

Down the wire everything arrives here.  A frame for a client that is awake, as far as the access point knows, joins
the client's line; one for a client in power-save mode waits in the client's buffer.  The lines are served in
turn, one frame each, or as many as go together, group frames before all others.  Left out: a limit to lines and
buffers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from netsim.access_point import LinkConfig, deliver
from netsim.air.access import Contender, Medium
from netsim.air.aggregation import BLOCK_ACK_FRAMES
from netsim.air.exchanges import Transmission
from netsim.clock import Clock, Occurrence
from netsim.tcp import Packet

if TYPE_CHECKING:
    from netsim.air.station import AirStation

__all__ = ["AirAccessPoint", "Buffer"]


class Buffer:
    """What the access point holds back for a client in power-save mode.

    Attributes
    ----------
    frames : deque of (Packet, int)
        Packets, and when they reached the access point, the oldest first.
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

    Attributes
    ----------
    contender : Contender
        The access point on the channel.
    serving : AirStation or None
        The client whose frame is next on the air or on it; None for a group frame or nobody.
    """

    def __init__(self, env: Clock, medium: Medium, link: LinkConfig, rng: np.random.Generator) -> None:
        self._env = env
        self._medium = medium
        self.contender = Contender(medium, rng)
        self._at_once = 1
        if medium.aggregates:
            self.contender.exchanged, self._at_once = self._pass_on, BLOCK_ACK_FRAMES
        self._wire_up, self._wire_down = link.wire(), link.wire()
        self._turns: deque[AirStation] = deque()
        self._groups: deque[Transmission] = deque()
        self.serving: AirStation | None = None

    @property
    def has_more(self) -> bool:
        """Whether more waits for the client that is served, or for everybody."""
        return bool(self._groups if self.serving is None else self.serving.line) or len(self.contender.queue) > 1

    def to_server(self, packet: Packet) -> None:
        """Carry a packet that came over the air to the server."""
        arrival = self._wire_up.transmit(self._env.now, packet.size_bytes)
        Occurrence(self._env, arrival, deliver, packet)

    def from_server(self, packet: Packet, arrive: Callable[[Occurrence], None]) -> None:
        """Carry a packet from the server to the access point, where `arrive` meets it."""
        Occurrence(self._env, self._wire_down.transmit(self._env.now, packet.size_bytes), arrive, packet)

    def forward(self, station: AirStation, packet: Packet | None, reached_ns: int) -> None:
        """Put a frame into the line of a client that is awake; without a packet, one that ends a service period."""
        medium = self._medium
        if packet is None:
            exchange = medium.control(station.null_bytes)
        else:
            exchange = medium.data(packet.size_bytes + station.overhead_bytes)
        together = medium.aggregates and packet is not None
        ended = station.served if together else partial(self._served, station)
        transmission = Transmission(
            exchange, station.receive, ended, packet=packet, reached_ns=reached_ns, receiver=station.contender
        )
        if together and self.serving is station and not station.line and len(self.contender.queue) < self._at_once:
            self.contender.queue.append(transmission)
            return
        if not station.line:
            self._turns.append(station)
        station.line.append(transmission)
        self._serve()

    def send_group(self, transmissions: list[Transmission]) -> None:
        """Send group frames, before what waits for clients."""
        for transmission in transmissions:
            transmission.ended = partial(self._group_sent, transmission.ended)
        self._groups.extend(transmissions)
        self._serve()

    def withdraw(self, station: AirStation) -> list[Transmission]:
        """Take back what waits in the line of a client that goes to sleep, in order."""
        taken: list[Transmission] = []
        if self.serving is station:
            taken.extend(self.contender.queue)
            self.contender.queue.clear()
            self.serving = None
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
            self.serving = station = self._turns.popleft()
            line = station.line
            taken = [line.popleft() for _ in range(min(self._at_once, len(line)))]
            if line:
                self._turns.append(station)
            self.contender.send(*taken)

    def _served(self, station: AirStation, delivered: bool) -> None:
        self._pass_on()
        station.served(delivered)

    def _pass_on(self) -> None:
        """Let the next client have its turn; what is left of frames sent together waits for the next of its own."""
        station, queue = self.serving, self.contender.queue
        if queue:
            if not self._turns and not self._groups:
                return
            assert station is not None
            if not station.line:
                self._turns.append(station)
            station.line.extendleft(reversed(queue))
            queue.clear()
        self.serving = None
        self._serve()

    def _group_sent(self, ended: Callable[[bool], None] | None, delivered: bool) -> None:
        if ended is not None:
            ended(delivered)
        self._serve()
