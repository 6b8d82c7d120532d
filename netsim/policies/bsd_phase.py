"""Bounded Slowdown that knows its phase: the same bound, kept with less time awake.

With t the time since the client last sent something, a response found at the beacon at
time b after the send cannot have come before the client fell asleep at t, so it is late
by a factor of at most b / t.  Hence the rule: sleep to a beacon at b as soon as
t >= b / (1 + p), and to the last one for which that holds.  It is asked again at every
wake-up that finds nothing: where even the next beacon is too far, the client stays awake
until it is not.  (To sleep one beacon at least, as Bounded Slowdown may after T/p, would break
the bound here.)  Follows from the guarantee of Krashinsky and Balakrishnan 2002; the cap is theirs.
"""

from __future__ import annotations

from fractions import Fraction

from netsim.policies.bsd import number_text, positive_fraction, whole_beacons
from netsim.policies.compiled import CompiledForm, FlatView, Floats, Ints, flat_view
from netsim.policies.entry import NS_PER_MS, Entry, Setting
from netsim.policies.protocol import Plan, View

__all__ = ["ENTRIES", "PhaseBoundedSlowdown", "phase_integers", "sleep_while_bound_holds"]

# p is ABOVE / ONE
INTERVAL, MAX_BEACONS, ABOVE, ONE, ENOUGH, LEAST, N_PHASE_INTEGERS = range(7)
_LARGEST_DENOMINATOR = 10**9


def sleep_while_bound_holds(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Sleep as far as the bound allows now, or hold until it allows the next beacon."""
    interval, longest, now, sent = ints[INTERVAL], ints[MAX_BEACONS], view.now_ns, view.last_sent_ns
    above, one = ints[ABOVE], ints[ONE]
    following = (now // interval + 1) * interval
    beacons, silence = longest, now - sent
    if sent >= 0 and silence < ints[ENOUGH]:
        late = silence // one * above + silence % one * above // one  # p t, in parts that 64 bits hold
        if now + late < following:
            if following - sent < ints[LEAST]:  # a nanosecond's sleep is none
                following = -(-(sent + ints[LEAST]) // interval) * interval
            away, more = following - sent, one + above
            hold = sent + away // more * one - (-(away % more) * one // more)
            return Plan(hold, following, True, 0, False)
        beacons = min(longest, (now + late - following) // interval + 1)
    # the silence only grows until the next send: the longest sleep stays the longest
    repeat = longest * interval if beacons == longest else 0 * interval
    return Plan(now, following + (beacons - 1) * interval, True, repeat, False)


class PhaseBoundedSlowdown:
    """The policy `bsd-phase:P`.

    Parameters
    ----------
    p : str, float or Fraction
        The slowdown allowed, positive; taken to a billionth, or exactly if its denominator is no larger than that.
    max_sleep_ms : int
        Longest sleep, at least a beacon interval.
    beacon_interval_ns : int
        Time between beacons.

    Notes
    -----
    Before anything was sent, t counts as infinite, and the longest sleep is taken.
    """

    host_aware = False

    def __init__(
        self, p: str | float | Fraction, *, max_sleep_ms: int = 900, beacon_interval_ns: int = 100 * NS_PER_MS
    ) -> None:
        slowdown = positive_fraction("bsd-phase", p)
        self.spec = f"bsd-phase:{number_text(float(slowdown))}"
        self._ints = phase_integers(slowdown, max_sleep_ms, beacon_interval_ns)
        self.compiled = CompiledForm(sleep_while_bound_holds, ints=self._ints)

    def plan(self, view: View) -> Plan:
        """Sleep as far as the bound allows now, or hold until it allows the next beacon."""
        return sleep_while_bound_holds(flat_view(view), self._ints, ())


def phase_integers(p: Fraction, max_sleep_ms: int, beacon_interval_ns: int) -> tuple[int, ...]:
    """Return what `sleep_while_bound_holds` takes, such that no product of two of them exceeds 63 bits."""
    max_beacons = whole_beacons(max_sleep_ms, beacon_interval_ns)
    p = min(p, Fraction(10**18))
    p = p.limit_denominator(max(1, min(_LARGEST_DENOMINATOR, int(3 * _LARGEST_DENOMINATOR / (1 + p)))))
    p = max(p, Fraction(1, _LARGEST_DENOMINATOR))
    enough_ns = -(-(max_beacons + 1) * beacon_interval_ns * p.denominator // p.numerator)  # for the longest sleep
    least_ns = -(-(p.denominator + p.numerator) // p.numerator)  # a beacon this long after the send is slept to
    return beacon_interval_ns, max_beacons, p.numerator, p.denominator, enough_ns, least_ns


def _bsd_phase(parameter: str, setting: Setting) -> PhaseBoundedSlowdown:
    return PhaseBoundedSlowdown(parameter or "1", beacon_interval_ns=setting.beacon_interval_ns)


ENTRIES = (
    Entry(
        written="bsd-phase[:P]",
        meaning="the bound of bsd, kept beacon by beacon with less time awake (default 1)",
        source="ours, from the guarantee of Krashinsky and Balakrishnan 2002",
        example="bsd-phase:0.2",
        make=_bsd_phase,
    ),
)
