"""The fixed policies: never sleeping, static PSM, and static PSM with a trigger.

Static PSM is IEEE 802.11's own: listen to every beacon at a multiple of a fixed
interval (thesis section 2.5.1).  With an inactivity timeout it is the dynamic
variant of today's drivers: awake, gate open, until nothing was sent or received
for that long, and opened at once by sending.  With a trigger it is like U-APSD: what
is sent lets out what waits, and the client sleeps again as soon as nothing is on its way.
"""

from __future__ import annotations

from fractions import Fraction

from netsim.policies.protocol import FOREVER_NS, Plan, View

__all__ = ["AlwaysAwake", "StaticPsm", "TriggeredPsm"]

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
    period_ms : int, float, Fraction or str
        A positive multiple of the beacon interval.
    inactivity_timeout_ms : int
        How long to stay awake after the last packet, either way; 0 (the model's default) sleeps at once.
    beacon_interval_ns : int
        Time between beacons.
    spec : str, optional
        The name that results carry.
    """

    host_aware = False

    def __init__(
        self,
        period_ms: str | float | Fraction = 100,
        *,
        inactivity_timeout_ms: int = 0,
        beacon_interval_ns: int = 100_000_000,
        spec: str | None = None,
    ) -> None:
        period_ns = _period_ns("psm", period_ms, beacon_interval_ns)
        if inactivity_timeout_ms < 0:
            raise ValueError(f"inactivity_timeout_ms must be at least 0, got {inactivity_timeout_ms}")
        timeout = f":timeout={inactivity_timeout_ms}" if inactivity_timeout_ms else ""
        self.spec = spec or f"psm:{in_ms(period_ns)}{timeout}"
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


class TriggeredPsm:
    """The policy `uapsd:MS`: sending lets out what waits; beacons at multiples of `period_ms` find the rest.

    Parameters
    ----------
    period_ms : int, float, Fraction or str
        A positive multiple of the beacon interval.
    beacon_interval_ns : int
        Time between beacons.

    Notes
    -----
    Every packet is a trigger, acknowledgements too, and a service period lasts until nothing is queued or on its
    way: the access classes and the service period's length of U-APSD (IEEE 802.11e) are left out.
    """

    host_aware = False

    def __init__(self, period_ms: str | float | Fraction = 100, *, beacon_interval_ns: int = 100_000_000) -> None:
        self._period_ns = _period_ns("uapsd", period_ms, beacon_interval_ns)
        self.spec = f"uapsd:{in_ms(self._period_ns)}"

    def plan(self, view: View) -> Plan:
        """Sleep at once to the next multiple of the period."""
        period = self._period_ns
        return Plan(view.now_ns, (view.now_ns // period + 1) * period, True, period)


def in_ms(ns: int) -> str:
    """Write nanoseconds as milliseconds, exactly: 102400000 is 102.4."""
    whole, rest = divmod(ns, _NS_PER_MS)
    return f"{whole}.{rest:06d}".rstrip("0") if rest else str(whole)


def _period_ns(policy: str, period_ms: str | float | Fraction, beacon_interval_ns: int) -> int:
    try:
        period = Fraction(str(period_ms)) * _NS_PER_MS
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"the {policy} period must be a number of milliseconds, got {period_ms!r}") from None
    if period <= 0 or period % beacon_interval_ns:
        raise ValueError(
            f"the {policy} period must be a positive multiple of {in_ms(beacon_interval_ns)} ms, got {period_ms} ms"
            + ("" if beacon_interval_ns == 100_000_000 else f"; {policy} alone is every beacon, listen:N every Nth")
        )
    return int(period)
