"""Bounded Slowdown: its sleep sequences, and the bound that gives it its name, reached but never exceeded."""

import math
from fractions import Fraction

import numpy as np

from netsim.policies.bsd import BoundedSlowdown, PhaseBoundedSlowdown, phase_integers
from netsim.policies.protocol import Plan, View
from tests.tables import cases_of, each, unequal

BEACON = 100_000_000


def gates(policy, sent_ns, until_ns):
    """Walk the plans of a client that hears nothing: when its gate is open from and to, first from the send on."""
    view, opened, closed = View("idle", sent_ns, sent_ns, None, 0, 0, (), None), [sent_ns], []
    plan = policy.plan(view)
    while True:
        closed.append(max(view.now_ns, plan.awake_until_ns))
        view.event, view.now_ns = "beacon", plan.wake_ns
        opened.append(plan.wake_ns)
        if view.now_ns > until_ns:
            return np.array(opened), np.array(closed)
        plan = policy.plan(view)


def worst_ratio_and_time_awake(policy):
    """Return the worst (wait + R) / R on the grid of phases and responses, and the time awake after a send."""
    worst, awake = 0.0, 0
    responses = np.arange(1, 4001) * 1_500_000
    for phase in range(0, BEACON, 1_500_000):
        sent = 10 * BEACON + phase
        opened, closed = gates(policy, sent, sent + 8_000_000_000)
        arrival = sent + responses
        nth = np.searchsorted(opened, arrival, side="left") - 1  # what arrives at a beacon has missed it..
        nth += (opened[1:][nth] == arrival) & (closed[1:][np.minimum(nth, len(closed) - 2)] > arrival)  # ..asleep
        heard = np.where(arrival <= closed[nth], arrival, opened[nth + 1])
        worst = max(worst, ((heard - sent) / responses).max())
        awake += (closed - opened[:-1]).sum()
    return worst, awake


@each("p", "1 0.5 0.2 0.1 0.05")
def test_knowing_the_phase_keeps_the_bound_with_about_half_the_time_awake(p):
    worst, awake = worst_ratio_and_time_awake(PhaseBoundedSlowdown(p))
    assert 1 + 0.9 * float(p) < worst <= 1 + float(p)
    original, longer = worst_ratio_and_time_awake(BoundedSlowdown(p))
    assert original <= 1 + float(p)
    assert 0.3 < awake / longer < 0.6


def test_the_integers_of_the_phase_aware_form_are_exact_within_their_limits():
    def integers(p):
        return phase_integers(Fraction(p), 950, BEACON)

    least = Fraction(1, 2_997_002)  # three billion parts in 1001
    assert not unequal("""
integers(Fraction(1, 3)) -> (BEACON, 9, 1, 3, 30 * BEACON, 4)
integers(Fraction(5, 2)) -> (BEACON, 9, 5, 2, 4 * BEACON, 2)
integers(Fraction(1, 10**10))[2:4] -> (1, 10**9) ; integers(10**20)[2:4] -> (10**18, 1)
integers(1000 + least)[2:4] == ((1000 + least).numerator, least.denominator) -> True
Fraction(*integers(1000 + Fraction(1, 2_997_100))[2:4]) == 1000 + Fraction(1, 2_997_100) -> False
""", {"integers": integers, "BEACON": BEACON, "least": least})  # fmt: skip


def first_multiple_after(at_ns, interval_ns):
    return (at_ns // interval_ns + 1) * interval_ns


def plain_plan(p, longest, interval_ns, now, sent):
    """Bounded Slowdown in fractions, as Krashinsky and Balakrishnan have it."""
    if sent is not None and p * (now - sent) < interval_ns:
        hold = sent + math.ceil(interval_ns / p)
        return Plan(hold, first_multiple_after(hold, interval_ns), True, 0, False)
    beacons = longest if sent is None else min(longest, max(1, math.floor(p * (now - sent) / interval_ns)))
    repeat = longest * interval_ns if beacons == longest else 0
    return Plan(now, (now // interval_ns + beacons) * interval_ns, True, repeat, False)


def phase_plan(p, longest, interval_ns, now, sent):
    """The form that knows its phase, beacon by beacon: b after a send may be slept to from b / (1 + p) on."""
    following = first_multiple_after(now, interval_ns)
    allowed = [
        k for k in range(longest) if sent is None or (1 + p) * (now - sent) >= following + k * interval_ns - sent
    ]
    if allowed:
        beacons = allowed[-1] + 1
        repeat = longest * interval_ns if beacons == longest else 0
        return Plan(now, following + allowed[-1] * interval_ns, True, repeat, False)
    while math.ceil((following - sent) / (1 + p)) >= following - sent:
        following += interval_ns
    return Plan(sent + math.ceil((following - sent) / (1 + p)), following, True, 0, False)


@each("kind, definition", [(BoundedSlowdown, plain_plan), (PhaseBoundedSlowdown, phase_plan)])
@cases_of("p interval_ns max_sleep_ms", """
"1", BEACON, 900 ; "0.37", 102_400_000, 900 ; "3", BEACON, 200 ; "0.05", BEACON, 450 ; "7/3", 300_007, 1
"1/3", 700_001, 4
""", globals())  # fmt: skip
def test_every_plan_is_that_of_the_definition(kind, definition, p, interval_ns, max_sleep_ms):
    policy, exact = kind(p, max_sleep_ms=max_sleep_ms, beacon_interval_ns=interval_ns), Fraction(p)
    longest, rng, seen = max_sleep_ms * 10**6 // interval_ns, np.random.default_rng(3), set()
    for phase in (0, 1, interval_ns // 3, interval_ns - 3, interval_ns - 2, interval_ns - 1):
        sent = 7 * interval_ns + phase
        edges = [k * interval_ns / exact for k in range(1, longest + 2)]
        edges += [(k * interval_ns - phase) / (1 + exact) for k in range(1, 3 * longest + 3)]
        silences = [max(0, math.ceil(edge) + more) for edge in edges for more in (-1, 0, 1)]
        silences += rng.integers(0, math.ceil(2 * longest * interval_ns / exact), 20).tolist()
        for now, since in [*((sent + silence, sent) for silence in silences), (sent, None)]:
            plan = policy.plan(View("idle", now, since, None, 0, 0, (), None))
            assert plan == definition(exact, longest, interval_ns, now, since)
            seen.add((plan.wake_ns - now) // interval_ns)
    assert len(seen) > 2
