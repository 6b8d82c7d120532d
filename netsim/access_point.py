"""The access point as one client meets it: four links, which all clients share, each of them first in, first out.

Down the wire everything arrives here.  While the client's gate is open a frame
goes straight onto the air; while it is closed it waits in the client's buffer
(`netsim.station`), and the next beacon that the client listens to lets it out.  Up,
nothing is held, so the two links are one step.  Left out: contention for the air (which
`netsim.air` has), and a limit to the buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netsim.clock import Clock, Occurrence
from netsim.link import Link
from netsim.tcp import Packet

__all__ = ["AccessPoint", "LinkConfig", "deliver"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkConfig:
    """Rates and delays of the air (client to access point) and the wire (access point to server).

    Attributes
    ----------
    wireless_mbps, wired_mbps : float
        Megabits a second, each way.
    wireless_delay_ms, wired_delay_ms : float
        Propagation each way, milliseconds; 20 ms of wire and 0.1 ms of air make a round trip of 40.2 ms.
    loss_rate : float
        Probability that a frame is lost on the air, either way, in [0, 1).
    """

    wireless_mbps: float = 5.0
    wired_mbps: float = 10.0
    wireless_delay_ms: float = 0.1
    wired_delay_ms: float = 20.0
    loss_rate: float = 0.0

    def __post_init__(self) -> None:
        for name in ("wireless_mbps", "wired_mbps"):
            value = getattr(self, name)
            if not 1e-6 <= value < float("inf"):
                raise ValueError(f"{name} must be above 0 and finite, got {value}")
        for name in ("wireless_delay_ms", "wired_delay_ms"):
            value = getattr(self, name)
            if not 0.0 <= value < float("inf"):
                raise ValueError(f"{name} must be at least 0 and finite, got {value}")
        if not 0.0 <= self.loss_rate < 1.0:
            raise ValueError(f"loss_rate must lie in [0, 1), got {self.loss_rate}")

    def air(self) -> Link:
        """Make one direction of the wireless link."""
        return Link(round(self.wireless_mbps * 1e6), round(self.wireless_delay_ms * 1e6))

    def wire(self) -> Link:
        """Make one direction of the wired link."""
        return Link(round(self.wired_mbps * 1e6), round(self.wired_delay_ms * 1e6))


class AccessPoint:
    """The links between one client and the server, what it has sent over them, and its losses on the air.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    config : LinkConfig
        Rates, delays, loss.
    loss : numpy.random.Generator
        Draws one uniform a frame if the loss rate is positive.
    shared : bool
        Whether other clients use the same links.
    """

    __slots__ = ("_env", "_loss", "_loss_rate", "air_down", "air_up", "lost", "shared", "wire_down", "wire_up")

    def __init__(self, env: Clock, config: LinkConfig, loss: np.random.Generator, *, shared: bool = False) -> None:
        self._env = env
        self.shared = shared
        self._loss_rate = config.loss_rate
        self._loss = loss
        self.air_up, self.air_down = config.air(), config.air()
        self.wire_up, self.wire_down = config.wire(), config.wire()
        self.lost = 0

    def beside(self, config: LinkConfig) -> AccessPoint:
        """Return the same access point as another client meets it."""
        other = AccessPoint(self._env, config, self._loss, shared=True)
        other.air_up, other.air_down = self.air_up.beside(), self.air_down.beside()
        other.wire_up, other.wire_down = self.wire_up.beside(), self.wire_down.beside()
        return other

    def uplink(self, packet: Packet) -> None:
        """Carry a packet from the client to the server; a lost one has used the air all the same."""
        at_access_point = self.air_up.transmit(self._env.now, packet.size_bytes)
        if self._is_lost():
            return
        arrival = self.wire_up.transmit(at_access_point, packet.size_bytes)
        Occurrence(self._env, arrival, deliver, packet)

    def from_server(self, packet: Packet, arrive: Callable[[Occurrence], None]) -> None:
        """Carry a packet from the server to the access point, where `arrive` meets it."""
        Occurrence(self._env, self.wire_down.transmit(self._env.now, packet.size_bytes), arrive, packet)

    def downlink(self, now_ns: int, packet: Packet, receive: Callable[[Occurrence], None]) -> int:
        """Put a packet that is at the access point at `now_ns` onto the air; return when it has left it."""
        arrival = self.air_down.transmit(now_ns, packet.size_bytes)
        if not self._is_lost():
            Occurrence(self._env, arrival, receive, packet)
        return arrival

    def straight_down(self, packet: Packet, receive: Callable[[Occurrence], None]) -> None:
        """Carry a packet from the server to a client that never sleeps and shares nothing: it need not stop here."""
        self.downlink(self.wire_down.transmit(self._env.now, packet.size_bytes), packet, receive)

    def _is_lost(self) -> bool:
        if self._loss_rate and self._loss.random() < self._loss_rate:
            self.lost += 1
            return True
        return False


def deliver(event: Occurrence) -> None:
    """Hand the packet that an event carries to the endpoint it is for."""
    packet: Packet = event._value
    packet.to.receive(packet)
