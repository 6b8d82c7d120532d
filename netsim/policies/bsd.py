"""Bounded Slowdown: never make a response more than (1 + p) times as slow, not knowing or knowing the beacon's phase.

With t the time since the client last sent something, `bsd` stays awake until t = T_bp / p, sleeps to the next beacon,
and at each wake-up that finds nothing sleeps for max(1, floor(p t / T_bp)) beacons, up to a cap.  Whatever the response
time R, waiting then adds at most p R.  Source: Krashinsky and Balakrishnan 2002, as described in thesis section 2.5.2;
the cap keeps a sleep below the classical minimum TCP timeout of one second.

`bsd-phase` keeps the same bound with less time awake.  A response found at the beacon at time b after the send cannot
have come before the client fell asleep at t, so it is late by a factor of at most b / t.  Hence the rule: sleep to a
beacon at b as soon as t >= b / (1 + p), and to the last one for which that holds.  It is asked again at every wake-up
that finds nothing: where even the next beacon is too far, the client stays awake until it is not.  (To sleep one beacon
at least, as `bsd` may after T/p, would break the bound here.)  Follows from the guarantee above; the cap is theirs.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from lpsm.checks import whole
from netsim.policies.compiled import CompiledForm, FlatView, Floats, Ints, Ruled
from netsim.policies.entry import NS_PER_MS, Entry, number_text, positive_fraction, with_slowdown
from netsim.policies.protocol import FOREVER_NS, Plan

INTERVAL, LONGEST, SILENCE = 0, 1, 2  # of `bsd`: at SILENCE + k - 1 begins the silence after which to sleep k beacons
ABOVE, ONE, ENOUGH, LEAST, N_PHASE_INTEGERS = 2, 3, 4, 5, 6  # of `bsd-phase`: p is ABOVE / ONE
_LARGEST_DENOMINATOR = 10**9


class BoundedSlowdown(Ruled):
    """The policy `bsd:P`.

    Parameters
    ----------
    p : str, float or Fraction
        The slowdown allowed, positive; exact: 0.1 and "0.1" are one tenth.
    max_sleep_ms : int
        Longest sleep, at least a beacon interval; rounded down to whole ones.
    beacon_interval_ns : int
        Time between beacons, T_bp.

    Notes
    -----
    Instants are compared in integers: p is a fraction, not a float.  To sleep k beacons is right once p t >= k T_bp, so
    the least such t of every k says it all.  Before anything was sent, t counts as infinite, and the longest sleep is
    taken.
    """

    kind = "bsd"

    def __init__(
        self, p: str | float | Fraction, *, max_sleep_ms: int = 900, beacon_interval_ns: int = 100 * NS_PER_MS
    ) -> None:
        slowdown = positive_fraction(self.kind, p)
        self.spec = f"{self.kind}:{number_text(float(slowdown))}"
        self.compiled = self._form(slowdown, max_sleep_ms, whole(1, beacon_interval_ns=beacon_interval_ns))

    def _form(self, slowdown: Fraction, max_sleep_ms: int, interval_ns: int) -> CompiledForm:
        longest = _whole_beacons(max_sleep_ms, interval_ns)
        up, down = slowdown.numerator, slowdown.denominator
        silences = (min(-(-k * interval_ns * down // up), FOREVER_NS) for k in range(1, longest + 1))
        return CompiledForm(_sleep_in_proportion, ints=(interval_ns, longest, *silences), interpreted=True)


class PhaseBoundedSlowdown(BoundedSlowdown):
    """The policy `bsd-phase:P`; takes what `BoundedSlowdown` takes.

    Notes
    -----
    The slowdown allowed is taken to a billionth, or exactly if its denominator is no larger than that.
    """

    kind = "bsd-phase"

    def _form(self, slowdown: Fraction, max_sleep_ms: int, interval_ns: int) -> CompiledForm:
        ints = phase_integers(slowdown, max_sleep_ms, interval_ns)
        return CompiledForm(sleep_while_bound_holds, ints=ints, interpreted=True)


def _sleep_in_proportion(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Hold, then sleep in proportion to the silence."""
    interval, longest, now, sent = ints[INTERVAL], ints[LONGEST], view.now_ns, view.last_sent_ns
    beacons = longest
    if sent >= 0:
        silence = now - sent
        if silence < ints[SILENCE]:
            hold = sent + ints[SILENCE]
            return Plan(hold, (hold // interval + 1) * interval, True, 0, False)
        beacons = 1
        while beacons < longest and silence >= ints[SILENCE + beacons]:
            beacons += 1
    # the silence only grows until the next send: the longest sleep stays the longest
    repeat = longest * interval if beacons == longest else 0 * interval
    return Plan(now, (now // interval + beacons) * interval, True, repeat, False)


def sleep_while_bound_holds(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Sleep as far as the bound allows now, or hold until it allows the next beacon."""
    interval, longest, now, sent = ints[INTERVAL], ints[LONGEST], view.now_ns, view.last_sent_ns
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


def phase_integers(p: Fraction, max_sleep_ms: int, beacon_interval_ns: int) -> tuple[int, ...]:
    """Return what `sleep_while_bound_holds` takes, such that no product of two of them exceeds 63 bits."""
    max_beacons = _whole_beacons(max_sleep_ms, beacon_interval_ns)
    p = min(p, Fraction(10**18))
    p = p.limit_denominator(max(1, min(_LARGEST_DENOMINATOR, int(3 * _LARGEST_DENOMINATOR / (1 + p)))))
    p = max(p, Fraction(1, _LARGEST_DENOMINATOR))
    enough_ns = -(-(max_beacons + 1) * beacon_interval_ns * p.denominator // p.numerator)  # for the longest sleep
    least_ns = -(-(p.denominator + p.numerator) // p.numerator)  # a beacon this long after the send is slept to
    return beacon_interval_ns, max_beacons, p.numerator, p.denominator, enough_ns, least_ns


def _whole_beacons(max_sleep_ms: int, beacon_interval_ns: int) -> int:
    """Return how many beacon intervals the longest sleep lasts, at least one."""
    beacons = whole(max_sleep_ms=max_sleep_ms) * NS_PER_MS // beacon_interval_ns
    if beacons < 1:
        raise ValueError(f"max_sleep_ms must be at least one beacon interval, got {max_sleep_ms}")
    return beacons


ENTRIES = (
    Entry("bsd[:P]", "Bounded Slowdown: a response is at most 1 + P times as slow (default 1)",
        "Krashinsky and Balakrishnan 2002; thesis section 2.5.2", "bsd:0.5", partial(with_slowdown, BoundedSlowdown)),
    Entry("bsd-phase[:P]", "the bound of bsd, kept beacon by beacon with less time awake (default 1)",
        "ours, from the guarantee of Krashinsky and Balakrishnan 2002", "bsd-phase:0.2",
        partial(with_slowdown, PhaseBoundedSlowdown)),
)  # fmt: skip
