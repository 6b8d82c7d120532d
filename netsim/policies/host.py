"""Rules for a client that knows what it waits for, without anything to learn.

They set apart what knowing is worth from what learning is worth: while nothing is
outstanding they nap for seconds; while something is, one follows Bounded Slowdown with
its phase, the other a fixed pattern.
"""

from __future__ import annotations

from fractions import Fraction

from netsim.policies.awareness import HostAccount
from netsim.policies.bsd_phase import PhaseBoundedSlowdown
from netsim.policies.protocol import Frame, Plan, View

__all__ = ["HoldThenBeacons", "HostBoundedSlowdown"]

_NS_PER_MS = 1_000_000
NAP_BEACONS = 50


class HostBoundedSlowdown:
    """The policy `bsd-host:P`: `bsd-phase:P` while anything is outstanding, naps while nothing is.

    Parameters
    ----------
    p : str, float or Fraction
        The slowdown allowed, positive.
    beacon_interval_ns : int
        Time between beacons; a nap is 50 of them.
    """

    host_aware = True

    def __init__(self, p: str | float | Fraction, *, beacon_interval_ns: int = 100_000_000) -> None:
        self._rule = PhaseBoundedSlowdown(p, beacon_interval_ns=beacon_interval_ns, policy="bsd-host")
        self.spec = self._rule.spec
        self._interval_ns = beacon_interval_ns
        self._account = HostAccount()

    def observe(self, frame: Frame) -> None:
        """Enter a frame into the account."""
        self._account.observe(frame)

    def plan(self, view: View) -> Plan:
        """Nap, or keep the bound."""
        return self._rule.plan(view) if self._account.outstanding else nap(view.now_ns, self._interval_ns)


class HoldThenBeacons:
    """The policy `hold:MS`: while anything is outstanding awake for a while, then at each beacon; else naps.

    Parameters
    ----------
    hold_ms : int
        How long to stay awake after the last frame, either way, while something is outstanding.
    beacon_interval_ns : int
        Time between beacons; a nap is 50 of them.
    """

    host_aware = True

    def __init__(self, hold_ms: int = 50, *, beacon_interval_ns: int = 100_000_000) -> None:
        if hold_ms < 0:
            raise ValueError(f"hold_ms must be at least 0, got {hold_ms}")
        self.spec = f"hold:{hold_ms}"
        self._hold_ns = hold_ms * _NS_PER_MS
        self._interval_ns = beacon_interval_ns
        self._account = HostAccount()

    def observe(self, frame: Frame) -> None:
        """Enter a frame into the account."""
        self._account.observe(frame)

    def plan(self, view: View) -> Plan:
        """Nap, or hold, or sleep to the next beacon."""
        now, interval = view.now_ns, self._interval_ns
        if not self._account.outstanding:
            return nap(now, interval)
        last = max(view.last_sent_ns or 0, view.last_received_ns or 0)
        until = max(now, last + self._hold_ns)
        return Plan(until, (until // interval + 1) * interval, True, interval)


def nap(now_ns: int, beacon_interval_ns: int) -> Plan:
    """Sleep for 50 beacons at a time."""
    length = NAP_BEACONS * beacon_interval_ns
    return Plan(now_ns, now_ns // beacon_interval_ns * beacon_interval_ns + length, True, length)
