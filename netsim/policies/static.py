"""The fixed policies: never sleeping, static PSM, and static PSM with a trigger.

Static PSM is IEEE 802.11's own: listen to every beacon at a multiple of a fixed interval (thesis section 2.5.1).  With
an inactivity timeout it is the dynamic variant of today's drivers: awake, gate open, until nothing was sent or received
for that long, and opened at once by sending.  With a trigger it is like U-APSD: what is sent lets out what waits, and
the client sleeps again as soon as nothing is on its way.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from lpsm.checks import whole
from netsim.policies.compiled import CompiledForm, FlatView, Floats, Ints, Ruled
from netsim.policies.entry import NS_PER_MS, Entry, Setting, exact_ms, whole_number
from netsim.policies.protocol import FOREVER_NS, Plan

PERIOD, TIMEOUT, TRIGGERED, TIMEOUT_SENT = 0, 1, 2, 3
TIME_UNIT_NS = 1_024_000  # TU (IEEE 802.11-2020, 3.1)


def _never_sleep(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    return Plan(FOREVER_NS, FOREVER_NS, True, 0, False)


def _listen_periodically(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Sleep to the next multiple of the period, after the timeouts if there are any."""
    period = ints[PERIOD]
    asleep = view.now_ns
    if ints[TIMEOUT]:
        asleep = max(asleep, view.last_received_ns + ints[TIMEOUT], view.last_sent_ns + ints[TIMEOUT_SENT])
    return Plan(asleep, (asleep // period + 1) * period, ints[TRIGGERED] != 0, period, False)


class AlwaysAwake(Ruled):
    """The policy `none`: no power saving, the baseline of every slowdown."""

    spec = "none"
    never_sleeps = True

    def __init__(self) -> None:
        self.compiled = CompiledForm(_never_sleep, interpreted=True)


class StaticPsm(Ruled):
    """The policies `psm`, `listen`, `dynamic` and `uapsd`: listen to every beacon at a multiple of `period_ms`.

    Parameters
    ----------
    period_ms : int, float, Fraction or str
        A positive multiple of the beacon interval, in milliseconds or in time units of 1.024 ms, where that is one.
    inactivity_timeout_ms : int
        How long to stay awake after the last packet, either way; 0 (the model's default) sleeps at once.
    timeout_after_sending_ms : int, optional
        How long to stay awake after the last packet sent, where that is another time.
    beacon_interval_ns : int
        Time between beacons.
    triggered : bool
        Whether sending lets out what waits, as with a timeout it always does.
    kind : str
        The first part of the name.
    spec : str, optional
        The name that results carry, if other than the kind, the period and the timeout.

    Notes
    -----
    Triggered, every packet is a trigger, acknowledgements too, and a service period lasts until nothing is queued or on
    its way: the access classes and the service period's length of U-APSD (IEEE 802.11e) are left out.
    """

    def __init__(
        self,
        period_ms: str | float | Fraction = 100,
        *,
        inactivity_timeout_ms: int = 0,
        timeout_after_sending_ms: int | None = None,
        beacon_interval_ns: int = 100 * NS_PER_MS,
        triggered: bool = False,
        kind: str = "psm",
        spec: str | None = None,
    ) -> None:
        period_ns = _period_ns(kind, period_ms, beacon_interval_ns)
        inactivity_timeout_ms = whole(inactivity_timeout_ms=inactivity_timeout_ms)
        timeout = f":timeout={inactivity_timeout_ms}" if inactivity_timeout_ms else ""
        self.spec = spec or f"{kind}:{in_ms(period_ns)}{timeout}"
        sent_ms = inactivity_timeout_ms
        if timeout_after_sending_ms is not None:
            sent_ms = whole(timeout_after_sending_ms=timeout_after_sending_ms)
        triggered = triggered or inactivity_timeout_ms > 0
        ints = period_ns, inactivity_timeout_ms * NS_PER_MS, triggered, sent_ms * NS_PER_MS
        self.compiled = CompiledForm(_listen_periodically, ints=ints, interpreted=True)


def in_ms(ns: int) -> str:
    """Write nanoseconds as milliseconds, exactly: 102400000 is 102.4."""
    whole, rest = divmod(ns, NS_PER_MS)
    return f"{whole}.{rest:06d}".rstrip("0") if rest else str(whole)


def _period_ns(policy: str, period_ms: str | float | Fraction, beacon_interval_ns: int) -> int:
    period = exact_ms(f"{policy} period", period_ms)
    if not beacon_interval_ns % TIME_UNIT_NS and period % beacon_interval_ns:
        in_units = period * TIME_UNIT_NS / NS_PER_MS  # what people call 100 ms is 100 time units
        period = period if in_units % beacon_interval_ns else in_units
    if period <= 0 or period % beacon_interval_ns:
        raise ValueError(
            f"the {policy} period must be a positive multiple of {in_ms(beacon_interval_ns)} ms, got {period_ms} ms"
            + ("" if beacon_interval_ns == 100 * NS_PER_MS else f"; {policy} alone is every beacon, listen:N every Nth")
        )
    return int(period)


def _none(parameter: str, setting: Setting) -> AlwaysAwake:
    if parameter:
        raise ValueError(f"none takes no parameter, got {parameter!r}")
    return AlwaysAwake()


def _every_beacon_ms(setting: Setting) -> Fraction:
    return Fraction(setting.beacon_interval_ns, NS_PER_MS)


def _psm(parameter: str | Fraction, setting: Setting, **more: Any) -> StaticPsm:
    period_ms = parameter or _every_beacon_ms(setting)
    return StaticPsm(period_ms, beacon_interval_ns=setting.beacon_interval_ns, **more)


def _listen(parameter: str, setting: Setting) -> StaticPsm:
    n = whole_number(parameter or "1", "the number of beacons", 1)
    period_ms = n * _every_beacon_ms(setting)
    return StaticPsm(period_ms, beacon_interval_ns=setting.beacon_interval_ns, spec=f"listen:{n}")


def _dynamic(parameter: str, setting: Setting) -> StaticPsm:
    ms, colon, heard = parameter.partition(":")
    if colon and heard != "dtim":
        raise ValueError(f"the beacons that dynamic listens to must be dtim, or left out for all, got {heard!r}")
    timeout = whole_number(ms or "100", "the inactivity timeout", 1, unit=" of milliseconds")
    period_ms = (setting.dtim_period if heard else 1) * _every_beacon_ms(setting)
    return _psm(period_ms, setting, inactivity_timeout_ms=timeout, spec=f"dynamic:{timeout}{colon}{heard}")


ENTRIES = (
    Entry("none", "no power saving: always awake", "the baseline", "none", _none),
    Entry("psm[:MS]", "static PSM, listening every MS ms (default: every beacon)",
        "IEEE 802.11, power-save mode; thesis section 2.5.1", "psm:200", _psm),
    Entry("listen:N", "static PSM, listening to every Nth beacon", "IEEE 802.11, listen interval", "listen:3",
        _listen),
    Entry("dynamic[:MS[:dtim]]",
        "awake until nothing was sent or received for MS ms (default 100), then static PSM; dtim: DTIM beacons alone",
        "the drivers of Linux, dynamic power save", "dynamic:200", _dynamic),
    Entry("uapsd[:MS]", "static PSM whose sends let out what waits, as with U-APSD",
        "IEEE 802.11e, U-APSD, reduced to its trigger", "uapsd:100", partial(_psm, kind="uapsd", triggered=True)),
)  # fmt: skip
