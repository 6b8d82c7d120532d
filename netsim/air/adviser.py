"""What a client tells its policy, and what it asks it: the view of `netsim.policies.protocol`, filled in on the air."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from netsim.policies.protocol import FOREVER_NS, Frame, HostFrame, Observer, Plan, Policy, View
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
        self._observe = policy.observe if isinstance(policy, Observer) else None
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
        plan = self.policy.plan(view)
        if self.offset_ns:
            offset = self.offset_ns
            plan = plan._replace(awake_until_ns=plan.awake_until_ns + offset, wake_ns=plan.wake_ns + offset)
        if type(plan) is not Plan:
            raise TypeError(f"policy {self.policy.spec}: plan must return a Plan, got {plan!r}")
        wake, repeat, interval = plan.wake_ns, plan.repeat_ns, self._interval_ns
        if type(wake) is not int or type(repeat) is not int or type(plan.awake_until_ns) is not int:
            raise TypeError(f"policy {self.policy.spec}: a plan must be in whole nanoseconds, of type int, got {plan}")
        if wake <= now_ns or ((wake % interval or repeat % interval) and not plan.agreed and wake < FOREVER_NS):
            raise ValueError(
                f"policy {self.policy.spec}: wake_ns must be a multiple of {interval} ns after {now_ns} ns, got "
                f"wake_ns={wake}, repeat_ns={repeat}"
            )
        return plan

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
