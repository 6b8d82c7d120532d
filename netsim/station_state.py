"""What decides about the future of a station that nothing waits for and nothing is on its way to."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["StationState"]


class StationState(NamedTuple):
    """What decides about the future of a station while nothing waits or is on its way to it: integers.

    Attributes
    ----------
    gate_open : int
        1: awake, and frames are delivered at once.
    busy_until_ns : int
        Until when something was queued or on its way, while the gate is open.
    planned, sleep_ns : int
        Whether the policy has been asked what holds from then on, and when it wants to sleep.
    plan_wake_ns, plan_repeat_ns, plan_open_on_send, plan_agreed : int
        The rest of that plan.
    wake_ns, repeat_ns, open_on_send, agreed : int
        The plan that is followed while the gate is closed.
    awake_since_ns, awake_until_ns : int
        The current or last interval awake.
    awake_before_ns : int
        Time in the intervals before.
    slept_from_ns : int
        When it last fell asleep or listened.
    beacons : int
        Beacons listened to so far.
    last_sent_ns, last_received_ns : int
        As `netsim.policies.compiled.FlatView` has them.
    """

    gate_open: int
    busy_until_ns: int
    planned: int
    sleep_ns: int
    plan_wake_ns: int
    plan_repeat_ns: int
    plan_open_on_send: int
    plan_agreed: int
    wake_ns: int
    repeat_ns: int
    open_on_send: int
    agreed: int
    awake_since_ns: int
    awake_until_ns: int
    awake_before_ns: int
    slept_from_ns: int
    beacons: int
    last_sent_ns: int
    last_received_ns: int
