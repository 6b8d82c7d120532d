"""Policies that learn how long it is from one frame to the next, by the link alone.

Gaps are counted in bins a quarter of an octave wide, older ones less: a hundredth less with each new one that is, like
them, shorter than 100 ms or not.  A frame that came in while the client slept is taken to have come in the middle of
the sleep: no device is told when it did.

`upm` sleeps between frames (micro power management: Liu and Zhong, MobiSys 2008): behind a frame it sleeps for as long
as at most the fraction Q of gaps below 100 ms last, asks the access point, and stays awake until 100 ms were silent;
then it is static PSM.  Theirs is unreachable in the meantime and lets the access point send again; ours polls.

`sifi` sleeps through the silences of a call (SiFi: Pyles, Ren, Zhou and Liu, UbiComp 2011): awake while frames follow
one another within 100 ms, and in a silence asleep for so many beacons that, of the silences which lasted as long as
this one has, at least the fraction CONFIDENCE outlast the sleep.
"""

from __future__ import annotations

import math
from functools import partial

from lpsm.native import compiled
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView, Floats, Ints, NamedObserving
from netsim.policies.entry import NS_PER_MS, Entry, Setting, number_text, positive_fraction
from netsim.policies.protocol import ASK, Plan, Policy
from netsim.policies.timeouts import break_even_ns

INTERVAL, BREAK, LAST, ASLEEP = range(4)
BINS, _A_OCTAVE, _SHORTEST_NS = 80, 4, 1e5  # from 0.1 ms to 105 s
QUANTILE = BINS  # of the numbers, behind the counts
_KEPT, _SILENCE_NS = 0.99, 100 * NS_PER_MS
_ACTIVE_BINS = int(_A_OCTAVE * math.log2(_SILENCE_NS / _SHORTEST_NS))  # gaps that are no silence


@compiled
def _bin(gap_ns: float) -> int:
    """Return the bin of a gap."""
    return min(BINS - 1, max(0, int(_A_OCTAVE * math.log2(max(gap_ns, _SHORTEST_NS) / _SHORTEST_NS))))


@compiled
def _edge_ns(which: int) -> int:
    """Return where a bin begins."""
    return int(_SHORTEST_NS * 2.0 ** (which / _A_OCTAVE))


@compiled
def _count_gap(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Count the gap before a frame that came in."""
    at = frame.at_ns
    if not frame.sent and ints[LAST] >= 0:
        came = at if at <= ints[ASLEEP] else (at + ints[ASLEEP]) // 2
        which = _bin(1.0 * (came - ints[LAST]))
        for i in range(BINS):
            if (i < _ACTIVE_BINS) == (which < _ACTIVE_BINS):
                floats[i] *= _KEPT
        floats[which] += 1.0
    ints[LAST] = at


@compiled
def _sleep_between_frames(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Sleep while few gaps end and ask; else stay awake until it is no gap but a silence, and listen to each beacon."""
    now, interval, last = view.now_ns, ints[INTERVAL], max(0, ints[LAST])
    few, early = floats[QUANTILE] * floats[:_ACTIVE_BINS].sum(), 0
    while early < _ACTIVE_BINS and few - floats[early] >= 0.0:
        few -= floats[early]
        early += 1
    asks = last + _edge_ns(early)
    if early < _ACTIVE_BINS and now + ints[BREAK] < asks:
        ints[ASLEEP] = now
        return Plan(now, asks, True, ASK + 0 * now, False)
    ints[ASLEEP] = max(now, last + _SILENCE_NS)
    return Plan(ints[ASLEEP], (ints[ASLEEP] // interval + 1) * interval, True, interval, False)


@compiled
def _sleep_in_silence(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Stay awake while frames follow one another; in a silence sleep as far as most silences of this length last."""
    now, interval, last = view.now_ns, ints[INTERVAL], max(0, ints[LAST])
    ints[ASLEEP] = max(now, last + _SILENCE_NS)
    following = (ints[ASLEEP] // interval + 1) * interval
    longer, which = 0.0, _bin(1.0 * (ints[ASLEEP] - last))
    for i in range(which, BINS):
        longer += floats[i]
    left = longer
    while which < BINS - 1 and left - floats[which] >= floats[QUANTILE] * longer > 0.0:
        left -= floats[which]
        which += 1
    return Plan(ints[ASLEEP], max(following, (last + _edge_ns(which)) // interval * interval), True, 0, False)


def _made(kind: str, polls: bool, default: float, parameter: str, setting: Setting) -> Policy:
    name = "Q" if polls else "CONFIDENCE"
    part = float(positive_fraction(kind, parameter or default, name))
    if not part < 1.0:
        raise ValueError(f"{name} of {kind} must lie in (0, 1), got {parameter!r}")
    ints = setting.beacon_interval_ns, break_even_ns(setting), -1, 0
    form = CompiledForm(_sleep_between_frames if polls else _sleep_in_silence, _count_gap, ints=ints,
        floats=[0.0] * BINS + [part])  # fmt: skip
    return NamedObserving(f"{kind}:{number_text(part)}", form, polls=polls)


ENTRIES = (
    Entry("upm[:Q]",
        "sleeps behind each frame until the fraction Q of gaps (default 0.1) would be over, asks, and waits awake",
        "Liu and Zhong 2008, with polls", "upm:0.2", partial(_made, "upm", True, 0.1)),
    Entry("sifi[:CONFIDENCE]",
        "sleeps through silences, as far as the fraction CONFIDENCE of them (default 0.9) lasts",
        "Pyles et al. 2011", "sifi:0.8", partial(_made, "sifi", False, 0.9)),
)  # fmt: skip
