"""Target wake time: awake in service periods agreed beforehand, and asleep between them.

Every `interval_ms` a service period of `service_ms` begins, at time 0 first: the client is awake with its gate
open, and stays so until nothing is on its way when the period is over.  Between periods it wakes up to send, as
everybody does, and hears nothing; it listens to no beacons.  Source: IEEE 802.11ax, individual TWT, reduced to
its schedule.  Left out: negotiation, triggers, early ends of a period, several agreements at once.
"""

from __future__ import annotations

from fractions import Fraction

from netsim.policies.protocol import Plan, View

__all__ = ["TargetWakeTime"]

_NS_PER_MS = 1_000_000


class TargetWakeTime:
    """The policy `twt:INTERVAL_MS[:SERVICE_MS]`.

    Parameters
    ----------
    interval_ms : str, float or Fraction
        From the beginning of one service period to that of the next; need not be a multiple of beacons.
    service_ms : str, float or Fraction
        Length of a service period, shorter than the interval.
    """

    host_aware = False

    def __init__(self, interval_ms: str | float | Fraction, service_ms: str | float | Fraction = 10) -> None:
        self._interval_ns = _whole_ns("interval", interval_ms)
        self._service_ns = _whole_ns("service period", service_ms)
        interval, service = (f"{ns / _NS_PER_MS:.12g}" for ns in (self._interval_ns, self._service_ns))
        if self._service_ns >= self._interval_ns:
            raise ValueError(
                f"the twt service period must be shorter than the interval of {interval} ms, got {service}"
            )
        self.spec = f"twt:{interval}:{service}"

    def plan(self, view: View) -> Plan:
        """Be awake to the end of the period that now falls into, and then at the beginning of the next."""
        begin = view.now_ns // self._interval_ns * self._interval_ns
        return Plan(max(view.now_ns, begin + self._service_ns), begin + self._interval_ns, agreed=True)


def _whole_ns(what: str, value_ms: str | float | Fraction) -> int:
    try:
        exact = Fraction(str(value_ms)) * _NS_PER_MS
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"the twt {what} must be a number of milliseconds, got {value_ms!r}") from None
    if exact < 1 or exact.denominator != 1 or exact >= 2**53:
        raise ValueError(f"the twt {what} must be a positive whole number of nanoseconds, got {value_ms} ms")
    return int(exact)
