"""The planner as the 50th expert of Learn-alpha, beside LPSM2's schedules: a regret in joules on any sequence."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import LearnAlpha, alpha_grid
from lpsm.bounds.experts import fixed_share_partition_loss
from netsim.sleep_planning import plans as planning
from netsim.sleep_planning import schedules as expert
from tests.netsim.hazard_learner import HazardLearner

INTERVAL_NS = 100_000_000
AWAKE_MW, BEACON_MJ, PRICE_W = 700.0, 1.5, 6.0
ROWS = expert.table(expert.standard_schedules(), INTERVAL_NS)
GRID = alpha_grid(horizon=200)


def plan_for(rates, to_beacon_ns):
    """What is planned for one wait of an age of 0: (asleep_ns, wake_ns) one after another."""
    work = np.zeros(1, dtype=planning.WORKSPACE)[0]
    zero = np.zeros(1, dtype=np.int64)
    last = planning.forecast(work, zero, zero, zero, 1, rates.reshape(1, -1), to_beacon_ns, INTERVAL_NS)
    planning.choose(work, last, True, INTERVAL_NS, 1e-3 * AWAKE_MW, 1e-3 * BEACON_MJ, 0.0, PRICE_W, 0.0, 1)
    found, k, awake = [], 0, 1
    while k < last:
        asleep_ns, stop = planning.follow(work, last, k, awake)
        found.append((int(asleep_ns), int(work["stop_ns"][stop if stop >= 0 else last])))
        k, awake = stop if stop >= 0 else last, 0
    end = found[-1][1]
    return [*found, *((end + i * INTERVAL_NS, end + (i + 1) * INTERVAL_NS) for i in range(100))]


def exact_loss_j(path, wait_ns):
    """Joules of a plan in a wait that a frame ends: awake, beacons, and priced delay."""
    awake_ns = beacons = at = 0
    for asleep_ns, wake_ns in path:
        awake_ns += max(0, min(asleep_ns, wait_ns) - at)
        if wait_ns <= asleep_ns and asleep_ns > at:
            return awake_ns * AWAKE_MW * 1e-12 + beacons * BEACON_MJ * 1e-3
        if wake_ns <= asleep_ns:
            at = asleep_ns
            continue
        beacons += 1
        at = wake_ns
        if wait_ns < wake_ns:
            delay_s = (wake_ns - wait_ns) * 1e-9
            return awake_ns * AWAKE_MW * 1e-12 + beacons * BEACON_MJ * 1e-3 + PRICE_W * delay_s
    raise AssertionError("the plan ends before the wait")


def losses_of(waits):
    """Joules of the 49 schedules and of the planner, round by round; the planner learns after every round."""
    learner = HazardLearner.fresh()
    found, costs = np.empty((len(ROWS), expert.N_FOUND), dtype=np.int64), np.empty(len(ROWS))
    rows = []
    for phase_ns, wait_ns in waits:
        start = 10 * INTERVAL_NS + phase_ns
        expert.walk(ROWS, INTERVAL_NS, start, start, start + wait_ns, True, expert.NEVER_NS, found)
        expert.charge(found, AWAKE_MW, BEACON_MJ, 0.0, PRICE_W, costs)
        planned = exact_loss_j(plan_for(learner.mean_rates, INTERVAL_NS - phase_ns), wait_ns)
        rows.append([*costs, planned])
        learner.learn(wait_ns)
    return np.array(rows)


def assert_within_the_bound(losses):
    t, n = losses.shape
    assert n == 50
    mixture = LearnAlpha(n_experts=n, alphas=GRID).run(losses, weights=False).loss.sum()
    best = losses.sum(axis=0).min()  # the planner or any of the schedules
    bound = min(fixed_share_partition_loss(best, 1, t, n, alpha) for alpha in GRID) + math.log(len(GRID))
    assert mixture <= bound + 1e-9
    assert mixture <= losses[:, -1].sum() + bound - best + 1e-9  # against the planner in particular


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, INTERVAL_NS - 1), st.integers(1_000_000, 5 * 10**9)), min_size=1, max_size=25))
def test_on_any_sequence_of_waits_the_mixture_is_near_the_planner_and_every_schedule(waits):
    assert_within_the_bound(losses_of(waits))


def test_an_adversary_who_knows_the_plan_does_not_break_the_bound():
    learner, waits = HazardLearner.fresh(), []
    for i in range(40):  # each wait ends just after the client has fallen asleep, at the phase given
        phase = (37 * i) % 100 * 1_000_000
        (asleep_ns, wake_ns), *_ = plan_for(learner.mean_rates, INTERVAL_NS - phase)
        wait = min(asleep_ns + 1_000_000, wake_ns - 1)
        waits.append((phase, max(1, wait)))
        learner.learn(waits[-1][1])
    assert_within_the_bound(losses_of(waits))


@pytest.mark.parametrize("seed", range(2))
def test_where_waits_are_of_one_kind_the_planner_comes_near_the_best_schedule_in_hindsight(seed):
    rng = np.random.default_rng(seed)
    waits = [(int(rng.integers(INTERVAL_NS)), int(5e8 + rng.integers(2_000_000))) for _ in range(150)]
    losses = losses_of(waits)
    best = losses[:, :-1].sum(axis=0).argmin()
    learned = losses[75:]
    assert learned[:, -1].sum() <= 1.2 * learned[:, best].sum()
    assert (losses[:, -1] - losses[:, best]).sum() <= 4.0  # joules, of which most before anything was learned
    assert losses[:, -1].sum() < 0.3 * np.median(losses[:, :-1].sum(axis=0))
