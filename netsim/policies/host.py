"""Rules for a client that knows what it waits for, without anything to learn.

They set apart what knowing is worth from what learning is worth: while nothing is
outstanding they nap for seconds; while something is, one follows Bounded Slowdown with
its phase, the other a fixed pattern.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from netsim.policies.bsd import number_text, positive_fraction
from netsim.policies.bsd_phase import phase_integers
from netsim.policies.compiled import CompiledForm
from netsim.policies.entry import NS_PER_MS, Entry, Setting, whole_number
from netsim.policies.protocol import Frame, Plan, View

__all__ = ["ENTRIES", "HoldThenBeacons", "HostBoundedSlowdown"]

_MAX_SLEEP_MS = 900


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

    def __init__(self, p: str | float | Fraction, *, beacon_interval_ns: int = 100 * NS_PER_MS) -> None:
        from netsim.policies import host_rules

        slowdown = positive_fraction("bsd-host", p)
        self.spec = f"bsd-host:{number_text(float(slowdown))}"
        phase = phase_integers(slowdown, _MAX_SLEEP_MS, beacon_interval_ns)
        self.compiled = _with_account(host_rules.keep_bound_or_nap, phase)

    def observe(self, frame: Frame) -> None:
        """Enter a frame into the account."""
        self.compiled.observe(frame)

    def plan(self, view: View) -> Plan:
        """Nap, or keep the bound."""
        return self.compiled.plan(view)


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

    def __init__(self, hold_ms: int = 50, *, beacon_interval_ns: int = 100 * NS_PER_MS) -> None:
        from netsim.policies import host_rules

        if hold_ms < 0:
            raise ValueError(f"hold_ms must be at least 0, got {hold_ms}")
        self.spec = f"hold:{hold_ms}"
        self.compiled = _with_account(host_rules.hold_or_nap, (beacon_interval_ns, hold_ms * NS_PER_MS))

    def observe(self, frame: Frame) -> None:
        """Enter a frame into the account."""
        self.compiled.observe(frame)

    def plan(self, view: View) -> Plan:
        """Nap, or hold, or sleep to the next beacon."""
        return self.compiled.plan(view)


def _with_account(rule: object, parameters: tuple[int, ...]) -> CompiledForm:
    from netsim.policies import awareness, host_rules

    filled = np.zeros(host_rules.PARAMETERS, dtype=np.int64)
    filled[: len(parameters)] = parameters
    ints = np.concatenate([filled, awareness.new_account(host=True)])
    return CompiledForm(rule, host_rules.keep_account, ints=ints)  # type: ignore[arg-type]


def _bsd_host(parameter: str, setting: Setting) -> HostBoundedSlowdown:
    return HostBoundedSlowdown(parameter or "1", beacon_interval_ns=setting.beacon_interval_ns)


def _hold(parameter: str, setting: Setting) -> HoldThenBeacons:
    hold_ms = whole_number(parameter or "50", "the time awake", 0, unit=" of milliseconds")
    return HoldThenBeacons(hold_ms, beacon_interval_ns=setting.beacon_interval_ns)


ENTRIES = (
    Entry(
        written="bsd-host[:P]",
        meaning="host-aware: bsd-phase while anything is outstanding, naps of 50 beacons otherwise (default 1)",
        source="ours, from the guarantee of Krashinsky and Balakrishnan 2002",
        example="bsd-host:0.2",
        make=_bsd_host,
        host_aware=True,
    ),
    Entry(
        written="hold[:MS]",
        meaning="host-aware: awake MS ms after a frame (default 50), then each beacon, while waiting; else naps",
        source="ours, for comparison",
        example="hold:20",
        make=_hold,
        host_aware=True,
    ),
)
