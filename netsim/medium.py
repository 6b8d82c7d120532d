"""What the parts of a run need of the medium between clients and server; they know neither wires nor air.

A medium is made for one run, and gives every client a station of its own.  There are two: `netsim.wires`, the pair of
links of the thesis without contention, and `netsim.air`, the shared channel of 802.11.  Which one a run has is said by
`SimulationConfig.medium`.  TCP, the browser, pushed messages and the policies work on either.

Another implementation must offer the methods and attributes below.  It asks the policy (`netsim.policies.protocol`) in
the order of time, hands every packet that arrives to ``packet.to.receive(packet)``, packets for the server at the
server's end, packets for the client at the client's, and keeps the account of the radio in integer nanoseconds.
"""

from __future__ import annotations

from array import array
from typing import Protocol

from netsim.air.radio_states import StateTimes
from netsim.policies.protocol import Policy
from netsim.radio import Radio
from netsim.tcp import Packet

__all__ = ["Medium", "WirelessStation"]


class WirelessStation(Protocol):
    """A power-saving client on a medium.

    Attributes
    ----------
    outstanding : int
        Requests sent whose replies are incomplete; kept by the browser.
    deadline_ns : int or None
        When the page issued last must be complete; kept by the browser.
    groups_lost : int
        Group frames that it was asleep for.
    """

    outstanding: int

    deadline_ns: int | None

    groups_lost: int

    @property
    def lost(self) -> int:
        """Frames of its own, either way, that were lost for good."""
        ...

    @property
    def air_up_ns(self) -> int:
        """Time that its frames have spent on the air towards the access point."""
        ...

    @property
    def air_down_ns(self) -> int:
        """Time that frames for it have spent on the air."""
        ...

    @property
    def beacons(self) -> int:
        """Beacons listened to from sleep, up to the last `advance`."""
        ...

    @property
    def intervals(self) -> array[int]:
        """Closed intervals awake: start, end, start, end, ... nanoseconds."""
        ...

    @property
    def polls(self) -> array[int]:
        """Groups of six: first instant, time slept before it, bytes waiting, next sleep, how many more, their spacing.

        The polls that follow a first one found nothing and are evenly spaced.
        """
        ...

    def send(self, packet: Packet) -> None:
        """Take a packet from the client towards the server."""
        ...

    def send_down(self, packet: Packet) -> None:
        """Take a packet from the server towards the client."""
        ...

    def advance(self, now_ns: int) -> None:
        """Bring its state up to an instant that is not before the last."""
        ...

    def awake_ns(self, now_ns: int) -> int:
        """Return the time spent awake in [0, now]; it must have been advanced to `now_ns`."""
        ...

    def finish(self, now_ns: int) -> None:
        """End the run: advance, and close the current interval awake."""
        ...

    def state_times(self, now_ns: int) -> StateTimes | None:
        """Return the time spent in every state of the radio, or None where only awake and asleep are told apart."""
        ...


class Medium(Protocol):
    """One access point and what connects its clients to the server."""

    def client(self, policy: Policy, radio: Radio) -> WirelessStation:
        """Add a client; all are added before the run begins."""
        ...
