"""What a client tells its policy, and what it asks it: the view of `netsim.policies.protocol`, filled in on the air."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from netsim.policies.protocol import Frame, HostFrame, Plan, Policy, View, asked, observer
from netsim.tcp import Endpoint, Packet

__all__ = ["Adviser"]


class Adviser:
    """A policy with its view.

    Parameters
    ----------
    policy : Policy
        Asked in the order of time.
    beacon_interval_ns : int
        Plans wake up at its multiples, unless they are agreed with the access point.

    Attributes
    ----------
    offset_ns : int
        How much later than the policy's own clock its agreed periods begin: the access point gives clients periods
        that do not overlap.
    """

    __slots__ = ("_interval_ns", "_observe", "_view", "offset_ns", "policy")

    def __init__(self, policy: Policy, beacon_interval_ns: int) -> None:
        self.policy = policy
        self._interval_ns = beacon_interval_ns
        self._observe = observer(policy)
        self._view = View("idle", 0, None, None, 0, 0, (), None)
        self.offset_ns = 0

    def ask(
        self,
        event: Literal["idle", "beacon"],
        now_ns: int,
        *,
        slept_ns: int = 0,
        waiting_bytes: int = 0,
        arrivals_ns: Sequence[int] = (),
        outstanding: int = 0,
        deadline_ns: int | None = None,
    ) -> Plan:
        """Return the policy's plan; at a beacon `now_ns` is its target time, and frames are stamped no later."""
        view = self._view
        view.event = event
        view.now_ns = now_ns - self.offset_ns
        view.slept_ns = slept_ns
        view.buffered_bytes = waiting_bytes
        view.arrivals_ns = tuple(min(at, now_ns) for at in arrivals_ns) if waiting_bytes else ()
        if self.policy.host_aware:
            view.outstanding = outstanding
            view.deadline_ns = None if deadline_ns is None else deadline_ns - self.offset_ns
        return asked(self.policy, view, self._interval_ns, self.offset_ns)

    def sent(self, packet: Packet, now_ns: int) -> None:
        """Let the policy know that a packet is handed to the transmitter."""
        self._view.last_sent_ns = now_ns
        if self._observe is not None:
            host = None
            if self.policy.host_aware:
                host = _host(packet, packet.to.peer, completes=False, wanted=True)
            self._observe(Frame(True, now_ns, now_ns, packet.size_bytes, host))

    def received(self, packet: Packet, now_ns: int, reached_ns: int) -> None:
        """Let the policy know of a packet from the access point, which it had reached at `reached_ns`."""
        if self._observe is not None:
            host = None
            if self.policy.host_aware:
                wanted, completes = packet.to.foresee(packet)
                host = _host(packet, packet.to, completes=completes, wanted=wanted)
            self._observe(Frame(False, now_ns, reached_ns, packet.size_bytes, host))
        self._view.last_received_ns = now_ns


def _host(packet: Packet, endpoint: Endpoint, *, completes: bool, wanted: bool) -> HostFrame:
    return HostFrame(endpoint.number, packet.flag != 0, packet.length, completes, wanted)
