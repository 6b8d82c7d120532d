"""Rules of time alone: awake until a sleep has paid, and sleeps that double.

`break-even` rents or buys.  Awake after a frame it pays by the second; a sleep costs a wake-up and a beacon, whatever
its length.  Awake until both are equal, then asleep, it never pays more than twice what it would have paid had it known
the gap (Karlin, Manasse, Rudolph and Sleator 1988).  With the time drawn anew behind each frame, from the density
e^(x/B) / (B (e - 1)) on [0, B], the expected factor is e / (e - 1) = 1.58, and no rule has a lesser one (Karlin,
Manasse, McGeoch and Owicki 1994).  Here the draws are the multiples of the golden ratio, modulo 1, mapped to that
density: the factor holds for gaps that do not know them.

`doubling` is the sleep mode of IEEE 802.16e (power saving class I): a first sleep, twice as long after each that
nothing had come in, to a last; anything sent or received begins anew (Xiao, IEEE Communications Letters 9(7), 2005).
"""

from __future__ import annotations

import math

from lpsm.native import compiled
from netsim.policies.compiled import CompiledForm, FlatView, Floats, Ints, Named
from netsim.policies.entry import Entry, Setting, whole_number
from netsim.policies.protocol import Plan, Policy
from netsim.radio import RadioConfig

INTERVAL = 0
_BREAK, _DRAWN, _DRAWS = 1, 2, 3  # of `break-even`
_FIRST, _LAST, _BEACONS, _SINCE = 1, 2, 3, 4  # of `doubling`
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def break_even_ns(setting: Setting) -> int:
    """Return how long a radio is awake, rather than asleep, for the energy of a wake-up and a beacon."""
    radio = RadioConfig() if setting.radio is None else setting.radio
    saved_w = 1e-3 * (radio.awake_mw - radio.asleep_mw)
    cost_j = 1e-3 * radio.beacon_mj + radio.wakeup_j
    return round(1e9 * cost_j / saved_w) if 0.0 < cost_j < 1e3 * saved_w else 10**12 * (cost_j > 0.0)


def _awake_till_it_pays(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Hold for the break-even time after a frame, then sleep from beacon to beacon."""
    interval = ints[INTERVAL]
    until = max(view.now_ns, max(0, max(view.last_sent_ns, view.last_received_ns)) + ints[_BREAK])
    return Plan(until, (until // interval + 1) * interval, True, interval, False)


@compiled
def _awake_for_a_draw(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Hold for a part of the break-even time that is drawn anew behind each frame."""
    interval, last = ints[INTERVAL], max(0, max(view.last_sent_ns, view.last_received_ns))
    if last != ints[_DRAWN]:
        ints[_DRAWN], ints[_DRAWS] = last, ints[_DRAWS] + 1
    part = ints[_DRAWS] * _GOLDEN
    held = int(ints[_BREAK] * math.log1p((part - math.floor(part)) * (math.e - 1.0)))
    until = max(view.now_ns, last + held)
    return Plan(until, (until // interval + 1) * interval, True, interval, False)


@compiled
def _twice_as_long(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Sleep twice as many beacons as before if nothing has come or gone in the sleep that ends now."""
    now, interval = view.now_ns, ints[INTERVAL]
    vain = view.at_beacon and not view.buffered_bytes
    if vain and max(view.last_sent_ns, view.last_received_ns) <= ints[_SINCE]:
        ints[_BEACONS] = min(2 * ints[_BEACONS], ints[_LAST])
    else:
        ints[_BEACONS] = ints[_FIRST]
    ints[_SINCE] = now
    return Plan(now, (now // interval + ints[_BEACONS]) * interval, True, 0, False)


def _break_even(parameter: str, setting: Setting) -> Policy:
    if parameter not in ("", "random"):
        raise ValueError(f"break-even takes no parameter, or random, got {parameter!r}")
    ints = setting.beacon_interval_ns, break_even_ns(setting), -1, 0
    if parameter:
        return Named("break-even:random", CompiledForm(_awake_for_a_draw, ints=ints))
    return Named("break-even", CompiledForm(_awake_till_it_pays, ints=ints, interpreted=True))


def _doubling(parameter: str, setting: Setting) -> Policy:
    first, _, last = parameter.partition(":")
    least = whole_number(first or "1", "FIRST, of beacons,", 1, most=10_000)
    most = whole_number(last or str(max(16, least)), "LAST, of beacons,", least, most=10_000)
    ints = setting.beacon_interval_ns, least, most, least, 0
    return Named(f"doubling:{least}:{most}", CompiledForm(_twice_as_long, ints=ints))


ENTRIES = (
    Entry("break-even[:random]",
        "awake until a sleep has paid, behind each frame; random: until a part of that time, drawn anew",
        "rent or buy: Karlin et al. 1988, 1994", "break-even:random", _break_even),
    Entry("doubling[:FIRST:LAST]",
        "sleeps FIRST beacons (default 1), after each sleep in vain twice as many, to LAST (default 16)",
        "the sleep mode of IEEE 802.16e; Xiao 2005", "doubling:1:8", _doubling),
)  # fmt: skip
