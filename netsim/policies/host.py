"""Rules for a client that knows what it waits for, without anything to learn.

They set apart what knowing is worth from what learning is worth: while nothing is outstanding they nap for seconds;
while something is, one follows Bounded Slowdown with its phase, the other a fixed pattern.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from lpsm.native import compiled
from netsim.policies import bsd, outstanding
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView, Floats, Ints, Observing, PlanRule
from netsim.policies.entry import NS_PER_MS, Entry, Setting, number_text, positive_fraction, whole_number, with_slowdown
from netsim.policies.protocol import Plan

_MAX_SLEEP_MS = 900
_NAP_BEACONS = 50
PARAMETERS = bsd.N_PHASE_INTEGERS  # so many integers stand before the account
_HOLD = 1  # of `hold`
_sleep_while_bound_holds = compiled(bsd.sleep_while_bound_holds)


class HostBoundedSlowdown(Observing):
    """The policy `bsd-host:P`: `bsd-phase:P` while anything is outstanding, naps of 50 beacons while nothing is."""

    host_aware = True

    def __init__(self, p: str | float | Fraction, *, beacon_interval_ns: int = 100 * NS_PER_MS) -> None:
        slowdown = positive_fraction("bsd-host", p)
        self.spec = f"bsd-host:{number_text(float(slowdown))}"
        phase = bsd.phase_integers(slowdown, _MAX_SLEEP_MS, beacon_interval_ns)
        self.compiled = with_account(_keep_bound_or_nap, phase)


class HoldThenBeacons(Observing):
    """The policy `hold:MS`: while anything is outstanding awake so long after a frame, then each beacon; else naps."""

    host_aware = True

    def __init__(self, hold_ms: int = 50, *, beacon_interval_ns: int = 100 * NS_PER_MS) -> None:
        if hold_ms < 0:
            raise ValueError(f"hold_ms must be at least 0, got {hold_ms}")
        self.spec = f"hold:{hold_ms}"
        self.compiled = with_account(_hold_or_nap, (beacon_interval_ns, hold_ms * NS_PER_MS))


def with_account(
    rule: PlanRule, parameters: tuple[int, ...], *, host_aware: bool = True, **silences: float
) -> CompiledForm:
    """Return the form of a rule with its parameters, the beacon interval first, and behind them an account."""
    filled = np.zeros(PARAMETERS, dtype=np.int64)
    filled[: len(parameters)] = parameters
    account = np.zeros(1, dtype=outstanding.ACCOUNT)
    outstanding.open_account(account, host_aware=host_aware, **silences)
    return CompiledForm(rule, _keep_account, ints=np.concatenate([filled, account.view(np.int64)]))


@compiled
def _keep_account(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Enter a frame into the account."""
    outstanding.observe(ints[PARAMETERS:].view(outstanding.ACCOUNT)[0], frame, False)


@compiled
def _keep_bound_or_nap(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Keep the bound of `bsd-phase` while anything is outstanding."""
    if ints[PARAMETERS:].view(outstanding.ACCOUNT)[0].n:
        return _sleep_while_bound_holds(view, ints, floats)
    return nap(view.now_ns, ints[bsd.INTERVAL])


@compiled
def _hold_or_nap(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Hold, then sleep to the next beacon, while anything is outstanding."""
    interval = ints[bsd.INTERVAL]
    if not ints[PARAMETERS:].view(outstanding.ACCOUNT)[0].n:
        return nap(view.now_ns, interval)
    last = max(0, max(view.last_sent_ns, view.last_received_ns))
    until = max(view.now_ns, last + ints[_HOLD])
    return Plan(until, (until // interval + 1) * interval, True, interval, False)


@compiled
def nap(now_ns: int, interval_ns: int) -> Plan:
    """Sleep for 50 beacons at a time."""
    length = _NAP_BEACONS * interval_ns
    return Plan(now_ns, now_ns // interval_ns * interval_ns + length, True, length, False)


def _hold(parameter: str, setting: Setting) -> HoldThenBeacons:
    hold_ms = whole_number(parameter or "50", "the time awake", 0, unit=" of milliseconds")
    return HoldThenBeacons(hold_ms, beacon_interval_ns=setting.beacon_interval_ns)


ENTRIES = (
    Entry("bsd-host[:P]",
        "host-aware: bsd-phase while anything is outstanding, naps of 50 beacons otherwise (default 1)",
        "ours, from the guarantee of Krashinsky and Balakrishnan 2002", "bsd-host:0.2",
        partial(with_slowdown, HostBoundedSlowdown), host_aware=True),
    Entry("hold[:MS]",
        "host-aware: awake MS ms after a frame (default 50), then each beacon, while waiting; else naps",
        "ours, for comparison", "hold:20", _hold, host_aware=True),
)  # fmt: skip
