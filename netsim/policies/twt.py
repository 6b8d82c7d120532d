"""Target wake time: awake in service periods agreed beforehand, and asleep between them.

Every `interval_ms` a service period of `service_ms` begins, at time 0 first: the client is awake with its gate
open, and stays so until nothing is on its way when the period is over.  Between periods it wakes up to send, as
every client does, and hears nothing; it listens to no beacons.  Source: IEEE 802.11ax, individual TWT, reduced to
its schedule.  Left out: negotiation, early ends of a period, several agreements at once.
"""

from __future__ import annotations

from netsim.policies.compiled import CompiledForm, FlatView, Floats, Ints, Named
from netsim.policies.entry import NS_PER_MS, Entry, Setting, exact_ms
from netsim.policies.protocol import Plan

INTERVAL, SERVICE = 0, 1


def _keep_service_periods(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Be awake to the end of the period that now falls into, and then from the beginning of the next."""
    begin = view.now_ns // ints[INTERVAL] * ints[INTERVAL]
    return Plan(max(view.now_ns, begin + ints[SERVICE]), begin + ints[INTERVAL], False, 0, True)


def _whole_ns(what: str, value_ms: str | int) -> int:
    exact = exact_ms(f"twt {what}", value_ms)
    if exact < 1 or exact.denominator != 1 or exact >= 2**53:
        raise ValueError(f"the twt {what} must be a positive whole number of nanoseconds, got {value_ms} ms")
    return int(exact)


def _twt(parameter: str, setting: Setting) -> Named:
    if not parameter:
        raise ValueError("an interval is needed; write twt:INTERVAL_MS[:SERVICE_MS]")
    interval_ms, _, service_ms = parameter.partition(":")
    ints = _whole_ns("interval", interval_ms), _whole_ns("service period", service_ms or 10)
    interval, service = (f"{ns / NS_PER_MS:.12g}" for ns in ints)
    if ints[SERVICE] >= ints[INTERVAL]:
        raise ValueError(f"the twt service period must be shorter than the interval of {interval} ms, got {service}")
    return Named(f"twt:{interval}:{service}", CompiledForm(_keep_service_periods, ints=ints, interpreted=True))


ENTRIES = (
    Entry("twt:INTERVAL_MS[:SERVICE_MS]", "awake in fixed service periods (default 10 ms), asleep between them",
        "IEEE 802.11ax, individual target wake time, reduced to its schedule", "twt:500:20", _twt),
)  # fmt: skip
