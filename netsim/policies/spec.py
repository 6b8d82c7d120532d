"""Policies by name: "none", "psm:200", "bsd:0.5", "twt:500:20", "lpsm"."""

from __future__ import annotations

from difflib import get_close_matches
from fractions import Fraction

from netsim.policies.protocol import Policy
from netsim.radio import RadioConfig

__all__ = ["KINDS", "canonical", "make"]

KINDS = {
    "none": "no power saving: always awake",
    "psm": "psm[:MS] static PSM, listening every MS ms (default: every beacon)",
    "listen": "listen:N static PSM, listening to every Nth beacon",
    "dynamic": "dynamic[:MS] awake until nothing was sent or received for MS ms (default 100), then static PSM",
    "uapsd": "uapsd[:MS] static PSM whose sends let out what waits, as with U-APSD",
    "twt": "twt:INTERVAL_MS[:SERVICE_MS] awake in fixed service periods (default 10 ms), asleep between them",
    "bsd": "bsd[:P] Bounded Slowdown: a response is at most 1 + P times as slow (default 1)",
    "bsd-phase": "bsd-phase[:P] the same bound, kept beacon by beacon with less time awake (default 1)",
    "bsd-host": "bsd-host[:P] host-aware: bsd-phase while anything is outstanding, 5 s naps otherwise (default 1)",
    "hold": "hold[:MS] host-aware: awake MS ms after a frame (default 50), then each beacon, while waiting; else naps",
    "lpsm": "lpsm[:log] polling times learned by Learn-alpha, energy term 1/T or 1/log T",
    "lpsm2": "lpsm2[:TARGET[:PUSH_MS]] host-aware: schedules learned from exact losses; slowdown TARGET (default 1.05)",
    "lpsm2-link": "lpsm2-link[:TARGET[:PUSH_MS]] link-only: the same, inferring from frame sizes what is outstanding",
}
"""Every kind of policy, and how it is written."""

_BEACON_INTERVAL_NS = 100_000_000
_NS_PER_MS = 1_000_000


def make(spec: str, *, beacon_interval_ns: int = _BEACON_INTERVAL_NS, radio: RadioConfig | None = None) -> Policy:
    """Make a fresh policy from its name; `radio` is for those that weigh energy.

    Raises
    ------
    ValueError
        If the name is unknown (the nearest known one is suggested) or its parameter breaks its rule.
    """
    kind, colon, parameter = spec.strip().partition(":")
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"a policy must be one of {', '.join(KINDS)}, got {spec!r}{hint}")
    if colon and not parameter:
        raise ValueError(f"policy {spec!r}: nothing follows the colon; write {KINDS[kind].split()[0]}")
    if kind == "none":
        if parameter:
            raise ValueError(f"policy none takes no parameter, got {spec!r}")
        from netsim.policies.static import AlwaysAwake

        return AlwaysAwake()
    if kind == "lpsm":
        return _lpsm(spec, parameter, beacon_interval_ns)
    if kind == "bsd":
        from netsim.policies.bsd import BoundedSlowdown

        return BoundedSlowdown(parameter or "1", beacon_interval_ns=beacon_interval_ns)
    if kind == "bsd-phase":
        from netsim.policies.bsd_phase import PhaseBoundedSlowdown

        return PhaseBoundedSlowdown(parameter or "1", beacon_interval_ns=beacon_interval_ns)
    if kind == "bsd-host":
        from netsim.policies.host import HostBoundedSlowdown

        return HostBoundedSlowdown(parameter or "1", beacon_interval_ns=beacon_interval_ns)
    if kind == "hold":
        from netsim.policies.host import HoldThenBeacons

        hold = _whole(spec, parameter or "50", "the time awake", 0, unit=" of milliseconds")
        return HoldThenBeacons(hold, beacon_interval_ns=beacon_interval_ns)
    if kind in ("lpsm2", "lpsm2-link"):
        return _lpsm2(spec, kind, parameter, beacon_interval_ns, radio)
    if kind == "twt":
        from netsim.policies.twt import TargetWakeTime

        if not parameter:
            raise ValueError(f"policy {spec!r}: an interval is needed; write {KINDS[kind].split()[0]}")
        interval, _, service = parameter.partition(":")
        return TargetWakeTime(interval, service) if service else TargetWakeTime(interval)
    return _static(spec, kind, parameter, beacon_interval_ns)


def canonical(spec: str, *, beacon_interval_ns: int = _BEACON_INTERVAL_NS) -> str:
    """Return the name that results carry: `psm` is `psm:100`, `bsd:1.0` is `bsd:1`.

    Raises
    ------
    ValueError
        As `make` does.
    """
    return make(spec, beacon_interval_ns=beacon_interval_ns).spec


def _static(spec: str, kind: str, parameter: str, interval_ns: int) -> Policy:
    """Make psm, listen, dynamic or uapsd; without a period, every beacon is listened to."""
    from netsim.policies.static import StaticPsm, TriggeredPsm

    every_beacon = Fraction(interval_ns, _NS_PER_MS)
    if kind == "uapsd":
        return TriggeredPsm(parameter or every_beacon, beacon_interval_ns=interval_ns)
    if kind == "listen":
        n = _whole(spec, parameter or "1", "the number of beacons", 1)
        return StaticPsm(n * every_beacon, beacon_interval_ns=interval_ns, spec=f"listen:{n}")
    if kind == "dynamic":
        timeout = _whole(spec, parameter or "100", "the inactivity timeout", 1, unit=" of milliseconds")
        return StaticPsm(
            every_beacon, inactivity_timeout_ms=timeout, beacon_interval_ns=interval_ns, spec=f"dynamic:{timeout}"
        )
    return StaticPsm(parameter or every_beacon, beacon_interval_ns=interval_ns)


def _lpsm(spec: str, parameter: str, interval_ns: int) -> Policy:
    if parameter not in ("", "log"):
        raise ValueError(f"policy lpsm takes no parameter or log, got {spec!r}")
    from lpsm.polling import PollingConfig, PollingLearner
    from netsim.policies.lpsm import Lpsm

    energy_term = "1/log T" if parameter else "1/T"
    learner = PollingLearner(PollingConfig.thesis(energy_term))
    return Lpsm(learner, "lpsm:log" if parameter else "lpsm", beacon_interval_ns=interval_ns)


def _lpsm2(spec: str, kind: str, parameter: str, interval_ns: int, radio: RadioConfig | None) -> Policy:
    from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config

    target, colon, push = parameter.partition(":")
    try:
        config = Lpsm2Config(
            max_slowdown=float(target or Lpsm2Config().max_slowdown),
            max_push_delay_s=float(push) / 1000.0 if colon else None,
        )
    except ValueError as error:
        raise ValueError(f"policy {spec!r}: {error}; write {KINDS[kind].split()[0]}") from None
    return Lpsm2(config, host_aware=kind == "lpsm2", radio=radio, beacon_interval_ns=interval_ns)


def _whole(spec: str, text: str, what: str, least: int, *, unit: str = "") -> int:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not value.is_integer() or not least <= value <= 1e9:
        raise ValueError(f"policy {spec!r}: {what} must be a whole number{unit}, at least {least}, got {text!r}")
    return int(value)
