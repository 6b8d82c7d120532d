"""Policies by name: "none", "psm:200", "bsd:0.5", "twt:500:20", "lpsm"."""

from __future__ import annotations

from difflib import get_close_matches
from fractions import Fraction
from math import inf, nan

from netsim.policies.protocol import Policy
from netsim.radio import Radio

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


def make(spec: str, *, beacon_interval_ns: int = _BEACON_INTERVAL_NS, radio: Radio | None = None) -> Policy:
    """Make a fresh policy from its name; `radio` is for those that weigh energy.

    Raises
    ------
    ValueError
        If the name is unknown (the nearest known one is suggested) or its parameter breaks its rule.
    """
    kind, colon, parameter = spec.strip().partition(":")
    if kind not in KINDS:
        raise ValueError(f"a policy must be one of {', '.join(KINDS)}, got {spec!r}{_suggestion(kind)}")
    try:
        if colon and not parameter:
            raise ValueError(f"nothing follows the colon; write {_written(kind)}")
        return _made(kind, parameter, beacon_interval_ns, radio)
    except ValueError as error:
        raise ValueError(f"policy {spec!r}: {error}") from None


def canonical(spec: str, *, beacon_interval_ns: int = _BEACON_INTERVAL_NS) -> str:
    """Return the name that results carry: `psm` is `psm:100`, `bsd:1.0` is `bsd:1`.

    Raises
    ------
    ValueError
        As `make` does.
    """
    return make(spec, beacon_interval_ns=beacon_interval_ns).spec


def _suggestion(kind: str) -> str:
    """Return the nearest kind in words, if one is near: rather one character replaced than one taken away."""
    word = kind.lower()
    near = [known for known in get_close_matches(word, KINDS, n=len(KINDS), cutoff=0.8) if len(known) == len(word)]
    near = near or get_close_matches(word, KINDS, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def _written(kind: str) -> str:
    return KINDS[kind].split()[0]


def _made(kind: str, parameter: str, interval_ns: int, radio: Radio | None) -> Policy:
    if kind == "none":
        if parameter:
            raise ValueError(f"none takes no parameter, got {parameter!r}")
        from netsim.policies.static import AlwaysAwake

        return AlwaysAwake()
    if kind == "lpsm":
        return _lpsm(parameter, interval_ns)
    if kind == "bsd":
        from netsim.policies.bsd import BoundedSlowdown

        return BoundedSlowdown(parameter or "1", beacon_interval_ns=interval_ns)
    if kind == "bsd-phase":
        from netsim.policies.bsd_phase import PhaseBoundedSlowdown

        return PhaseBoundedSlowdown(parameter or "1", beacon_interval_ns=interval_ns)
    if kind == "bsd-host":
        from netsim.policies.host import HostBoundedSlowdown

        return HostBoundedSlowdown(parameter or "1", beacon_interval_ns=interval_ns)
    if kind == "hold":
        from netsim.policies.host import HoldThenBeacons

        hold = _whole(parameter or "50", "the time awake", 0, unit=" of milliseconds")
        return HoldThenBeacons(hold, beacon_interval_ns=interval_ns)
    if kind in ("lpsm2", "lpsm2-link"):
        return _lpsm2(kind, parameter, interval_ns, radio)
    if kind == "twt":
        from netsim.policies.twt import TargetWakeTime

        if not parameter:
            raise ValueError(f"an interval is needed; write {_written(kind)}")
        interval, _, service = parameter.partition(":")
        return TargetWakeTime(interval, service) if service else TargetWakeTime(interval)
    return _static(kind, parameter, interval_ns)


def _static(kind: str, parameter: str, interval_ns: int) -> Policy:
    """Make psm, listen, dynamic or uapsd; without a period, every beacon is listened to."""
    from netsim.policies.static import StaticPsm, TriggeredPsm

    every_beacon = Fraction(interval_ns, _NS_PER_MS)
    if kind == "uapsd":
        return TriggeredPsm(parameter or every_beacon, beacon_interval_ns=interval_ns)
    if kind == "listen":
        n = _whole(parameter or "1", "the number of beacons", 1)
        return StaticPsm(n * every_beacon, beacon_interval_ns=interval_ns, spec=f"listen:{n}")
    if kind == "dynamic":
        timeout = _whole(parameter or "100", "the inactivity timeout", 1, unit=" of milliseconds")
        return StaticPsm(
            every_beacon, inactivity_timeout_ms=timeout, beacon_interval_ns=interval_ns, spec=f"dynamic:{timeout}"
        )
    return StaticPsm(parameter or every_beacon, beacon_interval_ns=interval_ns)


def _lpsm(parameter: str, interval_ns: int) -> Policy:
    if parameter not in ("", "log"):
        raise ValueError(f"lpsm takes no parameter or log, got {parameter!r}")
    from lpsm.polling import PollingConfig, PollingLearner
    from netsim.policies.lpsm import Lpsm

    energy_term = "1/log T" if parameter else "1/T"
    learner = PollingLearner(PollingConfig.thesis(energy_term))
    return Lpsm(learner, "lpsm:log" if parameter else "lpsm", beacon_interval_ns=interval_ns)


def _lpsm2(kind: str, parameter: str, interval_ns: int, radio: Radio | None) -> Policy:
    from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config

    target, colon, push = parameter.partition(":")
    write = f"; write {_written(kind)}"
    if ":" in push:
        raise ValueError(f"a target and a push delay are all it takes, got {parameter!r}{write}")
    max_slowdown = Lpsm2Config().max_slowdown
    max_push_delay_s = None
    if target:
        max_slowdown = _number(target)
        if not 1.0 < max_slowdown < inf:
            raise ValueError(f"the target must be a number above 1, got {target!r}{write}")
    if colon:
        max_push_delay_s = float(Fraction(push) / 1000) if 0.0 < _number(push) < inf else 0.0
        if not max_push_delay_s:
            raise ValueError(f"the push delay must be a number of milliseconds above 0, got {push!r}{write}")
    config = Lpsm2Config(max_slowdown=max_slowdown, max_push_delay_s=max_push_delay_s)
    return Lpsm2(config, host_aware=kind == "lpsm2", radio=radio, beacon_interval_ns=interval_ns)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan


def _whole(text: str, what: str, least: int, *, unit: str = "") -> int:
    value = _number(text)
    if not value.is_integer() or not least <= value <= 1e9:
        raise ValueError(f"{what} must be a whole number{unit}, at least {least}, got {text!r}")
    return int(value)
