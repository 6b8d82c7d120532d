"""Prices of messages: followers of a renewal process, waits in an interval, and the price that keeps a promise."""

from itertools import combinations_with_replacement

import numpy as np

from netsim.sleep_planning import message_prices
from netsim.sleep_planning import plans as planning
from netsim.sleep_planning.hazards import EDGES_NS, N_BINS, integrated
from netsim.sleep_planning.message_prices import CELLS
from tests.netsim.hazard_learner import HazardLearner, blank
from tests.tables import cases_of, each, near

INTERVAL_NS = 100_000_000


@each("interval_ns", [INTERVAL_NS, 37_000_000])
def test_followers_solve_the_renewal_equation(interval_ns):
    learner, n = HazardLearner(), planning.FOLLOWERS_STEPS
    for gap_ms in (200, 210, 700, 1500, 4000):
        learner.learn(gap_ms * 1_000_000)
    work = blank()
    message_prices.renewal_followers(work, learner.mean_rates, interval_ns)
    step_ns = interval_ns // 2
    ends = np.concatenate([[0.0], np.cumsum(learner.mean_rates[:-1] * np.diff(EDGES_NS[:-1]) * 1e-9)])
    cells = -np.diff(np.exp(-np.interp(np.arange(n) * step_ns, EDGES_NS[:-1], ends)))
    gap = 0.5 * (np.append(cells, 0.0) + np.append(0.0, cells))  # the probability of a cell lies at its two ends
    earlier = np.array([[gap[c - i] if i <= c else 0.0 for i in range(n)] for c in range(n)])
    number = np.linalg.solve(np.eye(n) - earlier, gap).cumsum()
    assert work["followers"] == near(number, rel=1e-9)
    assert work["followers_s"] == near(np.append(0.0, number[:-1].cumsum()) * step_ns * 1e-9, rel=1e-9)


def waits(rates, age_ns, span_ns, count):
    """What is expected after each of so many messages."""
    waiting = np.full((3, CELLS), np.nan)
    return [message_prices.expected_waits(waiting, rates, age_ns, span_ns, 1 + i) for i in range(count)]


def test_messages_that_waited_together_waited_as_long_as_on_average_over_all_ways_in_which_they_can_have_come():
    learner, age_ns, span_ns = HazardLearner(), 700_000_000, 1_600_000_000
    for gap_ms in (100, 150, 400, 900, 30_000):
        learner.learn(gap_ms * 1_000_000)
    alive = lambda ns: np.exp(-integrated(learner.mean_rates, 0, int(ns)))  # noqa: E731
    edges = np.array([alive(age_ns + c * span_ns // CELLS) for c in range(CELLS + 1)])
    longer = np.array([1.0, *(alive((2 * c + 1) * span_ns // (2 * CELLS)) for c in range(CELLS))])  # than c - 1/2 cells
    for count, found in enumerate(waits(learner.mean_rates, age_ns, span_ns, 3), 1):
        total = whole = 0.0
        for cells in combinations_with_replacement(range(CELLS), count):
            gaps = np.diff(cells)
            likely = (edges[cells[0]] - edges[cells[0] + 1]) * np.prod(longer[gaps] - longer[gaps + 1])
            likely *= longer[CELLS - cells[-1]]
            total, whole = total + likely, whole + likely * sum(CELLS - 0.5 - c for c in cells)
        assert found == near(whole / total * span_ns * 1e-9 / CELLS, rel=1e-9)


@each("rate", [1e-4, 0.5, 8.0])
def test_memoryless_messages_that_waited_together_waited_half_of_the_interval_each(rate):
    found = waits(np.full(N_BINS, rate), 10**9, 800_000_000, 4)
    assert found == near([0.4, 0.8, 1.2, 1.6], rel=0.1 * rate / CELLS + 1e-3)


def test_what_cannot_have_come_has_not_waited_and_one_of_a_burst_came_late():
    assert waits(np.zeros(N_BINS), 0, 10**9, 2) == [0.0, 0.0]
    rates = np.where(EDGES_NS[:-1] < 2 * 10**9, 4.0, 0.01)
    alone, *_, many = waits(rates, 60 * 10**9, 4 * 10**9, 12)
    assert alone < 0.5
    assert many > 12 * 1.4


@cases_of("rate price_w longest_ns", "0.4, 0.3, 0 ; 0.05, 0.1, 0 ; 1.0, 40.0, 0 ; 0.05, 0.001, 600_000_000")
def test_the_promise_is_what_its_own_plan_leads_to_on_a_fine_grid(rate, price_w, longest_ns):
    work, rates = blank(), np.full(N_BINS, rate)
    work["longest_ns"] = longest_ns
    message_prices.renewal_followers(work, rates, INTERVAL_NS)
    radio = (0.7, 0.0015, 0.002)
    promised = message_prices.promised_delay(work, rates, 300_000_000, INTERVAL_NS, *radio, price_w)
    planning.lay_out(work, INTERVAL_NS, INTERVAL_NS)
    planning.add_wait(work, rates, 300_000_000, planning.MESSAGE, 1.0, 0)
    last = planning.survive(work)
    planning.choose(work, last, True, INTERVAL_NS, *radio, 0.0, price_w, 1)
    table = lambda name, s: np.interp(s / 0.05, np.arange(planning.FOLLOWERS_STEPS), work[name])  # noqa: E731
    late_s, number, k, awake = 0.0, 0.0, 0, 1
    while k < last:
        asleep_ns, stop = planning.follow(work, last, k, awake)
        stop = last if stop < 0 else stop
        at_s = np.arange(work["stop_ns"][k] * 1e-9, work["stop_ns"][stop] * 1e-9, 1e-3) + 0.5e-3
        wait_s = np.where(at_s >= asleep_ns * 1e-9, work["stop_ns"][stop] * 1e-9 - at_s, 0.0)
        mass = rate * 1e-3 * np.exp(-rate * at_s)
        late_s += mass @ (wait_s + table("followers_s", wait_s))
        number += mass @ (1.0 + table("followers", wait_s))
        k, awake = stop, 0
    _, period = planning.best_period(work, 0.0, rate, INTERVAL_NS, 0.7, 0.0015, 0.0, price_w)
    period = min(period, longest_ns // INTERVAL_NS or period)
    even_s, left = np.linspace(0.0, period * 0.1, 500), np.exp(-rate * work["stop_ns"][last] * 1e-9)
    late_s += left * (even_s + table("followers_s", even_s)).mean()
    number += left * (1.0 + table("followers", even_s)).mean()
    assert promised == near((late_s, number), rel=0.005, abs=1e-4)


def test_bisection_comes_as_near_as_its_halvings_and_leaves_out_what_never_happens():
    work, rates = blank(), np.full(N_BINS, 0.05)
    message_prices.renewal_followers(work, rates, INTERVAL_NS)
    rates[:300] *= 0.9  # what is young is no like what is old
    fixed = INTERVAL_NS, 0.7, 0.0015, 0.0

    def price(ages_ns, weights):
        given = np.array(ages_ns), np.array(weights), *fixed
        return message_prices.price_of_delay(work, rates, *given, 0.4, 0.01, 1.0, 6)

    found = price((50_000_000,), (1.0,))
    assert np.log(found / 0.01) / np.log(100.0) * 64 % 1.0 == near(0.5)  # the middle of one of 64 parts
    below, above = (message_prices.promised_delay(work, rates, 50_000_000, *fixed, found * 100.0 ** (sign / 128))
                    for sign in (-1.001, 1.001))  # fmt: skip
    assert above[0] / above[1] <= 0.4 <= below[0] / below[1]
    assert price((50_000_000, 900 * 10**9), (1.0, 0.0)) == price((50_000_000,) * 2, (2.0, 5.0)) == found
