"""Policies by name: "none", "psm:200", "bsd:0.5", "lpsm", "lpsm:log"."""

from __future__ import annotations

from difflib import get_close_matches

from netsim.policies.protocol import Policy

__all__ = ["KINDS", "canonical", "make"]

KINDS = {
    "none": "no power saving: always awake",
    "psm": "psm[:MS] static PSM, listening every MS ms (default 100)",
    "bsd": "bsd[:P] Bounded Slowdown: a response is at most 1 + P times as slow (default 1)",
    "lpsm": "lpsm[:log] polling times learned by Learn-alpha, energy term 1/T or 1/log T",
}
"""Every kind of policy, and how it is written."""

_BEACON_INTERVAL_NS = 100_000_000


def make(spec: str, *, beacon_interval_ns: int = _BEACON_INTERVAL_NS) -> Policy:
    """Make a fresh policy from its name.

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
    if kind == "psm":
        from netsim.policies.static import StaticPsm

        return StaticPsm(_whole_ms(spec, parameter or "100"), beacon_interval_ns=beacon_interval_ns)
    if kind == "bsd":
        from netsim.policies.bsd import BoundedSlowdown

        return BoundedSlowdown(parameter or "1", beacon_interval_ns=beacon_interval_ns)
    if parameter not in ("", "log"):
        raise ValueError(f"policy lpsm takes no parameter or log, got {spec!r}")
    from lpsm.polling import PollingConfig, PollingLearner
    from netsim.policies.lpsm import Lpsm

    energy_term = "1/log T" if parameter else "1/T"
    learner = PollingLearner(PollingConfig.thesis(energy_term))
    return Lpsm(learner, "lpsm:log" if parameter else "lpsm", beacon_interval_ns=beacon_interval_ns)


def canonical(spec: str) -> str:
    """Return the name that results carry: `psm` is `psm:100`, `bsd:1.0` is `bsd:1`.

    Raises
    ------
    ValueError
        As `make` does.
    """
    return make(spec).spec


def _whole_ms(spec: str, text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not value.is_integer():
        raise ValueError(f"policy {spec!r}: the period must be a whole number of milliseconds, got {text!r}")
    return int(value)
