"""The two fixed policies: never sleeping, and static PSM.

Static PSM is IEEE 802.11's own: listen to every beacon at a multiple of a fixed
interval (thesis section 2.5.1).  With an inactivity timeout it is the dynamic
variant of today's drivers: awake, gate open, until nothing was sent or received
for that long, and opened at once by sending.
"""

from __future__ import annotations

from netsim.policies.protocol import FOREVER_NS, Plan, View

__all__ = ["AlwaysAwake", "StaticPsm"]

_NS_PER_MS = 1_000_000


class AlwaysAwake:
    """No power saving: the baseline of every slowdown."""

    spec = "none"
    host_aware = False

    def plan(self, view: View) -> Plan:
        """Stay awake for ever."""
        return Plan(FOREVER_NS, FOREVER_NS, True)


class StaticPsm:
    """Listen to every beacon at a multiple of `period_ms`.

    Parameters
    ----------
    period_ms : int
        A positive multiple of the beacon interval.
    inactivity_timeout_ms : int
        How long to stay awake after the last packet, either way; 0 (the model's default) sleeps at once.
    beacon_interval_ns : int
        Time between beacons.
    """

    host_aware = False

    def __init__(
        self, period_ms: int = 100, *, inactivity_timeout_ms: int = 0, beacon_interval_ns: int = 100_000_000
    ) -> None:
        period_ns = period_ms * _NS_PER_MS
        if period_ns <= 0 or period_ns % beacon_interval_ns:
            interval = beacon_interval_ns / _NS_PER_MS
            raise ValueError(f"the psm period must be a positive multiple of {interval:g} ms, got {period_ms} ms")
        if inactivity_timeout_ms < 0:
            raise ValueError(f"inactivity_timeout_ms must be at least 0, got {inactivity_timeout_ms}")
        self.spec = f"psm:{period_ms}" + (f":timeout={inactivity_timeout_ms}" if inactivity_timeout_ms else "")
        self._period_ns = period_ns
        self._timeout_ns = inactivity_timeout_ms * _NS_PER_MS

    @property
    def integers(self) -> tuple[int, int]:
        """Period and inactivity time-out, ns."""
        return self._period_ns, self._timeout_ns

    def plan(self, view: View) -> Plan:
        """Sleep to the next multiple of the period, after the time-out if there is one."""
        sleep_ns = view.now_ns
        if self._timeout_ns:
            active = [at for at in (view.last_sent_ns, view.last_received_ns) if at is not None]
            sleep_ns = max([sleep_ns, *(at + self._timeout_ns for at in active)])
        period = self._period_ns
        return Plan(sleep_ns, (sleep_ns // period + 1) * period, self._timeout_ns > 0, period)
