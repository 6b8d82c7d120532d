"""Target wake time: awake in service periods agreed beforehand, and asleep between them.

Every `interval_ms` a service period of `service_ms` begins, at time 0 first: the client is awake with its gate
open, and stays so until nothing is on its way when the period is over.  Between periods it wakes up to send, as
every client does, and hears nothing; it listens to no beacons.  Source: IEEE 802.11ax, individual TWT, reduced to
its schedule.  Left out: negotiation, early ends of a period, several agreements at once.
"""

from __future__ import annotations

from fractions import Fraction

from netsim.policies.compiled import CompiledForm, FlatView, Floats, Ints, Ruled
from netsim.policies.entry import NS_PER_MS, Entry, Setting, exact_ms
from netsim.policies.protocol import Plan

INTERVAL, SERVICE = 0, 1


def _keep_service_periods(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Be awake to the end of the period that now falls into, and then from the beginning of the next."""
    begin = view.now_ns // ints[INTERVAL] * ints[INTERVAL]
    return Plan(max(view.now_ns, begin + ints[SERVICE]), begin + ints[INTERVAL], False, 0, True)


class TargetWakeTime(Ruled):
    """The policy `twt:INTERVAL_MS[:SERVICE_MS]`.

    Parameters
    ----------
    interval_ms : str, float or Fraction
        From the beginning of one service period to that of the next; need not be a multiple of beacons.
    service_ms : str, float or Fraction
        Length of a service period, shorter than the interval.
    """

    def __init__(self, interval_ms: str | float | Fraction, service_ms: str | float | Fraction = 10) -> None:
        ints = _whole_ns("interval", interval_ms), _whole_ns("service period", service_ms)
        interval, service = (f"{ns / NS_PER_MS:.12g}" for ns in ints)
        if ints[SERVICE] >= ints[INTERVAL]:
            raise ValueError(
                f"the twt service period must be shorter than the interval of {interval} ms, got {service}"
            )
        self.spec = f"twt:{interval}:{service}"
        self.compiled = CompiledForm(_keep_service_periods, ints=ints, interpreted=True)


def _whole_ns(what: str, value_ms: str | float | Fraction) -> int:
    exact = exact_ms(f"twt {what}", value_ms)
    if exact < 1 or exact.denominator != 1 or exact >= 2**53:
        raise ValueError(f"the twt {what} must be a positive whole number of nanoseconds, got {value_ms} ms")
    return int(exact)


def _twt(parameter: str, setting: Setting) -> TargetWakeTime:
    if not parameter:
        raise ValueError("an interval is needed; write twt:INTERVAL_MS[:SERVICE_MS]")
    interval, _, service = parameter.partition(":")
    return TargetWakeTime(interval, service) if service else TargetWakeTime(interval)


ENTRIES = (
    Entry("twt:INTERVAL_MS[:SERVICE_MS]", "awake in fixed service periods (default 10 ms), asleep between them",
        "IEEE 802.11ax, individual target wake time, reduced to its schedule", "twt:500:20", _twt),
)  # fmt: skip
