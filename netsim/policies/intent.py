"""Policies to which programs tell what they are about: what is urgent, and when transfers begin and end.

`sapsm` tells what is urgent from what can wait (SAPSM: Pyles, Qi, Zhou, Keally and Liu, UbiComp 2012): frames of
connections on which the host waits for an answer keep the client awake for MS, as the adaptive power save of phones
does for all; what a server sends unasked waits for beacons, as in static PSM.  Theirs sorts programs by learning; here
what was asked for is urgent, and nothing else is.

`stpm` tunes itself (STPM: Anand, Nightingale and Flinn, MobiCom 2003): programs say when transfers begin and end; a
*run* is of transfers that follow one another closely, and a histogram of the lengths of past runs says how many more
are to come.  In static PSM each of them waits half a beacon interval, for which the rest of the device draws BASE_MW,
and costs a beacon; awake they cost the radio's power in the time between transfers, and once more behind the last.  It
is awake from the transfer on at which the first is more, until transfers have ended and a silence has lasted in which
an awake radio needs as much as one such wait; that ends the run.
"""

from __future__ import annotations

import numpy as np

from lpsm.native import compiled
from netsim.policies import outstanding
from netsim.policies.compiled import (
    CompiledForm,
    FlatFrame,
    FlatView,
    Floats,
    Ints,
    NamedObserving,
    ObserveRule,
    PlanRule,
)
from netsim.policies.entry import NS_PER_MS, Entry, Setting, number_text, positive_fraction, whole_number
from netsim.policies.protocol import Plan, Policy
from netsim.radio import RadioConfig

INTERVAL, HOLD, LAST, RUN, AWAKE, BEHIND = range(6)  # of the integers; the account stands behind
LENGTHS = 64
WAIT_J, AWAKE_W, GAP_S, COUNTS = range(4)  # of the numbers; behind, how many runs had 1, 2, ... transfers
_KEPT, _GAP_S = 0.95, 0.02  # at first
_LONGEST_NS = 10**10  # that a transfer keeps the client awake without a frame


@compiled
def _note_what_is_urgent(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Remember when a frame was last sent or received on a connection on which something is outstanding."""
    account = ints[BEHIND:].view(outstanding.ACCOUNT)[0]
    was = outstanding.find(account, frame.connection) >= 0
    outstanding.observe(account, frame, False)
    if was or outstanding.find(account, frame.connection) >= 0:
        ints[LAST] = frame.at_ns


@compiled
def _hold_if_urgent(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Stay awake behind what is urgent, then listen to each beacon."""
    until = max(view.now_ns, ints[LAST] + ints[HOLD])
    return Plan(until, (until // ints[INTERVAL] + 1) * ints[INTERVAL], True, ints[INTERVAL], False)


@compiled
def _note_transfers(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Count the transfers of the run, which a silence has ended, and, awake, the time between them."""
    account = ints[BEHIND:].view(outstanding.ACCOUNT)[0]
    begun, silence = account.n, frame.at_ns - ints[LAST]
    outstanding.observe(account, frame, False)
    if account.n > begun:
        if ints[RUN] and silence > ints[HOLD] and not begun:
            floats[COUNTS + min(ints[RUN], LENGTHS) - 1] += 1.0
            ints[RUN] = 0
        elif ints[RUN] and ints[AWAKE]:
            floats[GAP_S] = _KEPT * floats[GAP_S] + (1.0 - _KEPT) * 1e-9 * silence
        ints[RUN] += 1
    ints[LAST] = frame.at_ns


@compiled
def _awake_if_it_pays(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Stay awake if so many transfers are to be expected that static PSM would need more; else listen."""
    now, interval = view.now_ns, ints[INTERVAL]
    runs, transfers = 0.0, 0.0
    for length in range(ints[RUN], LENGTHS + 1):
        count = floats[COUNTS + length - 1] if length else 0.0
        runs += count
        transfers += count * (length - ints[RUN])
    lasts = ints[BEHIND:].view(outstanding.ACCOUNT)[0].n > 0
    waits = (transfers / runs if runs else 0.0) + lasts
    tail_s = 1e-9 * ints[HOLD]
    pays = waits * floats[WAIT_J] > floats[AWAKE_W] * (waits * floats[GAP_S] + tail_s)
    ints[AWAKE] = pays
    until = max(now, ints[LAST] + (_LONGEST_NS if lasts else ints[HOLD])) if pays else now
    return Plan(until, (until // interval + 1) * interval, pays, interval, False)


def _policy(
    spec: str, rules: tuple[PlanRule, ObserveRule], hold_ns: int, floats: list[float], setting: Setting
) -> Policy:
    account = np.zeros(1, dtype=outstanding.ACCOUNT)
    outstanding.open_account(account, host_aware=True)
    head = setting.beacon_interval_ns, hold_ns, -(10**15), 0, 0
    form = CompiledForm(*rules, ints=np.concatenate([head, account.view(np.int64)]), floats=floats)
    return NamedObserving(spec, form, host_aware=True)


def _sapsm(parameter: str, setting: Setting) -> Policy:
    hold_ms = whole_number(parameter or "100", "the time awake", 1, unit=" of milliseconds")
    return _policy(f"sapsm:{hold_ms}", (_hold_if_urgent, _note_what_is_urgent), hold_ms * NS_PER_MS, [], setting)


def _stpm(parameter: str, setting: Setting) -> Policy:
    base_mw = float(positive_fraction("stpm", parameter or 1000, "BASE_MW"))
    if not 1e-3 <= base_mw <= 1e6:
        raise ValueError(f"BASE_MW of stpm must lie in [0.001, 1e+06], got {parameter!r}")
    radio = RadioConfig() if setting.radio is None else setting.radio
    awake_w, half_s = max(1e-6, 1e-3 * (radio.awake_mw - radio.asleep_mw)), 0.5e-9 * setting.beacon_interval_ns
    wait_j = 1e-3 * (base_mw * half_s + radio.beacon_mj) + radio.wakeup_j
    floats = [wait_j, awake_w, _GAP_S, *[0.0] * LENGTHS]
    hold_ns = round(min(1e9 * wait_j / awake_w, 1e12))
    return _policy(f"stpm:{number_text(base_mw)}", (_awake_if_it_pays, _note_transfers), hold_ns, floats, setting)


ENTRIES = (
    Entry("sapsm[:MS]",
        "host-aware: awake MS ms (default 100) behind what was asked for; what comes unasked waits for beacons",
        "Pyles et al. 2012", "sapsm:50", _sapsm, host_aware=True),
    Entry("stpm[:BASE_MW]",
        "host-aware: awake in runs of transfers that past runs say are long enough to pay, beside a device of BASE_MW",
        "Anand, Nightingale and Flinn 2003", "stpm:500", _stpm, host_aware=True),
)  # fmt: skip
