"""The rules of `netsim.policies.host` as compiled functions: nap while nothing is outstanding."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.policies import awareness, bsd_phase
from netsim.policies.compiled import FlatFrame, FlatView, Floats, Ints
from netsim.policies.protocol import Plan

__all__ = ["PARAMETERS", "hold_or_nap", "keep_account", "keep_bound_or_nap"]

PARAMETERS = bsd_phase.N_PHASE_INTEGERS
"""So many integers stand before the account."""
INTERVAL, HOLD = 0, 1  # of `hold`
_NAP_BEACONS = 50
_sleep_while_bound_holds = compiled(bsd_phase.sleep_while_bound_holds)


@compiled
def keep_account(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Enter a frame into the account."""
    awareness.observe(ints[PARAMETERS:], frame, False)


@compiled
def keep_bound_or_nap(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Keep the bound of `bsd-phase` while anything is outstanding."""
    if awareness.outstanding(ints[PARAMETERS:]):
        return _sleep_while_bound_holds(view, ints, floats)
    return _nap(view.now_ns, ints[INTERVAL])


@compiled
def hold_or_nap(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Hold, then sleep to the next beacon, while anything is outstanding."""
    interval = ints[INTERVAL]
    if not awareness.outstanding(ints[PARAMETERS:]):
        return _nap(view.now_ns, interval)
    last = max(0, max(view.last_sent_ns, view.last_received_ns))
    until = max(view.now_ns, last + ints[HOLD])
    return Plan(until, (until // interval + 1) * interval, True, interval, False)


@compiled
def _nap(now_ns: int, interval_ns: int) -> Plan:
    """Sleep for 50 beacons at a time."""
    length = _NAP_BEACONS * interval_ns
    return Plan(now_ns, now_ns // interval_ns * interval_ns + length, True, length, False)
