"""Plans of sleep: against every schedule on a short horizon, against chance, and what must hold of all of them."""

from functools import cache
from itertools import pairwise

import numpy as np

from netsim.sleep_planning import plans as planning
from netsim.sleep_planning.hazards import N_BINS
from tests.netsim.hazard_learner import HazardLearner, blank, spans_s
from tests.oracles import sleep_planning as oracle
from tests.tables import cases_of, each, near

INTERVAL_NS = 100_000_000
RADIO = {"awake_w": 0.7, "beacon_j": 0.0015}


@cache
def lognormal_rates(seed=0, n=300):
    learner, rng = HazardLearner(), np.random.default_rng(seed)
    for wait in (rng.lognormal(np.log(0.5) - 0.32, 0.8, n) * 1e9).astype(int):
        learner.learn(int(wait) + 40_000_000)
    return learner.mean_rates


def same_rates(rate):
    return np.full(N_BINS, rate)


class Planner:
    """Waits of given (rates, age_ns, class), and plans for them."""

    def __init__(self, waits, to_beacon_ns, poll_j=0.0, shift=0.0):
        self.waits = waits
        self.work = blank()
        if poll_j:
            self.work["poll_j"] = poll_j
            planning.lay_out_polls(self.work, to_beacon_ns, INTERVAL_NS, True, shift)
        else:
            planning.lay_out(self.work, to_beacon_ns, INTERVAL_NS)
        for rates, age_ns, which in waits:
            planning.add_wait(self.work, rates, age_ns, which, 1.0, 0)
        self.last = planning.survive(self.work)

    def path(self, last, awake):
        """What is decided: (asleep_ns, wake_ns) one after another."""
        found, k, state = [], 0, int(awake)
        while k < last:
            asleep_ns, stop = planning.follow(self.work, last, k, state)
            found.append((int(asleep_ns), int(self.work["stop_ns"][stop]) if stop >= 0 else -1))
            k, state = stop if stop >= 0 else last, int(stop >= 0 and self.work["is_poll"][stop])
        return tuple(found)


@each("to_beacon_ns", [INTERVAL_NS, 37_000_000, 1])
def test_the_forecast_is_the_integral_of_the_hazards(to_beacon_ns):
    rates = lognormal_rates()
    planner = Planner([(rates, 30_000_000, 0), (rates, 250_000_000, 0), (same_rates(0.4), 10**9, 1)], to_beacon_ns)
    work = planner.work
    for i in range(1, int(work["first_step"][planner.last])):
        at = int(work["step_ns"][i])
        for own in range(2):
            hazard = sum((spans_s(age + at) - spans_s(age)) @ rates for rates, age, which in planner.waits
                if which == own)  # fmt: skip
            assert work["alive"][own, i] == near(np.exp(-hazard), rel=1e-9)
    stops_ns = work["stop_ns"][: planning.N_STOPS]
    assert (np.diff(stops_ns) > 0).all()
    assert ((stops_ns[1:] - to_beacon_ns) % INTERVAL_NS == 0).all()


@each("waits", [0, 1, 5, 40])
@each("poll_j", [0.0, 0.03])
def test_a_plan_ends_at_the_first_stop_that_is_hardly_reached(waits, poll_j):
    expected = [(lognormal_rates(), 30_000_000 * (1 + wait), 0) for wait in range(waits)]
    expected.append((same_rates(0.3), 10**9, 1))
    planner = Planner(expected, 37_000_000, poll_j)
    final = int(planner.work["first_step"].argmax())
    hazards = [
        sum((spans_s(age + int(at)) - spans_s(age)) @ rates for rates, age, _ in expected)
        for at in planner.work["stop_ns"][: final + 1]
    ]
    assert planner.last == next((k for k, hazard in enumerate(hazards) if np.exp(-hazard) < 1e-6), final)
    assert (planner.last < final / 2) == (waits == 40)


@each("now_ns", [0, 21_000_000, 539_769_200])
@each("age_ns", [30_000_000, 400_000_000])
@each("price_w", [0.05, 5.0])
def test_a_driver_wakes_up_at_the_period_of_least_expected_cost(now_ns, age_ns, price_w):
    rates, wake_j = lognormal_rates(), 0.0015
    planner = Planner([(rates, age_ns, 0)], 100_000_000 - now_ns % 100_000_000)
    call = (now_ns, 20_000_000, True, RADIO["awake_w"], wake_j, price_w, 0.0, INTERVAL_NS)
    awake_ns, period_ns = planning.choose_settings(planner.work, planner.last, *call)
    at_ns = np.arange(0, 20_000_000_000, 1_000_000)
    lasts = np.exp(-np.array([(spans_s(age_ns + int(at)) - spans_s(age_ns)) @ rates for at in at_ns]))
    comes, middle_ns = -np.diff(lasts), now_ns + at_ns[:-1] + 500_000

    def cost(period_ns):
        met = -(-middle_ns // period_ns)
        late_s = (met * period_ns - middle_ns) * 1e-9
        return comes @ (price_w * late_s + wake_j * (met - now_ns // period_ns))

    assert awake_ns == 0
    assert cost(period_ns) <= 1.02 * min(cost(20_000_000 << k) for k in range(9))


def test_a_driver_is_set_to_the_shortest_of_periods_that_cost_the_same():
    planner = Planner([(same_rates(3000.0), 10**9, 0)], 79_000_000)
    call = (21_000_000, 20_000_000, True, RADIO["awake_w"], 0.0015, 5.0, 0.0, INTERVAL_NS)
    assert planning.choose_settings(planner.work, planner.last, *call) == (0, 20_000_000)  # 40 ms is met at once, too


PAGE, MESSAGE = 4.0, 1.5  # events a second


def closed_form(path, stops, last, *, waiting, followers_s, wakeup_j, awake, prices_w, terminal_j, polls):
    """What a path costs where rates are constant: every integral of exp(-rate t) in closed form."""
    rate = PAGE + MESSAGE
    alive = lambda at_ns: np.exp(-rate * at_ns * 1e-9)  # noqa: E731
    total, at = 0.0, 0
    for asleep, wake in path:
        if asleep > at:
            total += RADIO["awake_w"] * (alive(at) - alive(asleep)) / rate + (0.0 if awake else wakeup_j * alive(at))
        if wake < 0:
            break
        total += polls.get(wake, RADIO["beacon_j"]) * alive(asleep)
        total += 0.0 if wake in polls else wakeup_j * (alive(asleep) - alive(wake))
        for begin, end in pairwise(stops):
            low, high = max(begin, asleep), min(end, wake)
            if low < high:  # what comes between two stops is charged together, each class for itself
                for own, other, price_w in ((PAGE, MESSAGE, prices_w[0] / waiting), (MESSAGE, PAGE, prices_w[1])):
                    first, after = (np.exp(-own * at_ns * 1e-9) for at_ns in (low, high))
                    mass, slept = first - after, np.exp(-other * asleep * 1e-9)
                    delay_s = (first * (wake - low) - after * (wake - high)) * 1e-9 - mass / own
                    if own == PAGE:
                        others = (waiting - 1) * PAGE / waiting
                        expected = others * delay_s / mass / (waiting - 1) if waiting > 1 else 0.0
                        delay_s *= 1 + (waiting - 1) * expected / (2 + expected)
                    else:
                        delay_s += mass * np.interp(delay_s / mass / 0.05, np.arange(len(followers_s)), followers_s)
                    total += price_w * slept * delay_s
        at, awake = wake, wake in polls
    return total + alive(stops[last]) * terminal_j


@cases_of("price_w", "2.0 ; 8.0 ; 40.0")
@cases_of("waiting awake wakeup_j follow poll_j", """
1, True, 0.0, 0.0, 0.0 ; 1, False, 0.004, 0.3, 0.0 ; 3, True, 0.02, 0.0, 0.0 ; 2, False, 0.0, 1.0, 0.0
1, True, 0.0, 0.0, 3e-5 ; 2, False, 0.004, 0.3, 2e-4 ; 1, True, 2e-4, 0.0, 0.002
""")  # fmt: skip
def test_at_constant_rates_the_value_is_least_of_all_closed_forms(price_w, waiting, awake, wakeup_j, follow, poll_j):
    planner = Planner([(same_rates(PAGE), 0, 0), (same_rates(MESSAGE), 10**9, 1)], 60_000_000, poll_j)
    followers_s, prices_w = follow * (np.arange(planning.FOLLOWERS_STEPS) * 0.05) ** 2, (price_w, 1.3)
    work, last = planner.work, 8 if poll_j else 2
    if poll_j:  # the fourth stop is a beacon, and they are farther from each other
        work["is_poll"][4], stretched = 0, 5 * work["stop_ns"]
        work["stop_ns"] = work["step_ns"][: len(stretched)] = stretched
        for name in ("hazard", "counted", "alive", "mass", "delay_s"):
            work[name] = 0.0
        for rates, age_ns, which in planner.waits:
            planning.add_wait(work, rates, age_ns, which, 1.0, 0)
        planning.survive(work)
    work["followers_s"] = followers_s
    value = planning.choose(work, last, awake, INTERVAL_NS, *RADIO.values(), wakeup_j, *prices_w, waiting)
    stops, steps = work["stop_ns"].tolist(), work["step_ns"][: work["first_step"][last]]
    powers_w = [RADIO["awake_w"]]
    for period in planning.STOPS[1:] * 0.1:
        table_s = np.array([4, 1]) @ np.interp([10 * period, 20 * period], range(101), followers_s) / 6
        late_w = price_w / waiting * PAGE * period / 2 + 1.3 * MESSAGE * (period / 2 + table_s)
        powers_w.append(RADIO["beacon_j"] / period + late_w)
    if poll_j:
        powers_w.append((2 * poll_j * (price_w / waiting * PAGE + 1.3 * MESSAGE)) ** 0.5)
    polls = {at: poll_j for at, is_poll in zip(stops, work["is_poll"].tolist(), strict=True) if is_poll}
    terms = {"waiting": waiting, "followers_s": followers_s, "wakeup_j": wakeup_j, "awake": awake, "polls": polls,
             "prices_w": prices_w, "terminal_j": min(powers_w) / (PAGE + MESSAGE)}  # fmt: skip
    costs = [closed_form(path, stops, last, **terms) for path in oracle.paths(stops, steps.tolist(), last)]
    assert closed_form(planner.path(last, awake), stops, last, **terms) == near(value, rel=1e-6)
    assert value == near(min(costs), rel=1e-6)


def test_tables_are_read_between_and_beyond_their_entries_and_averaged_by_simpsons_rule():
    squares = np.arange(planning.FOLLOWERS_STEPS) ** 2.0
    assert [planning.tabulated(squares, at) for at in (0.0, 3.0, 3.5, 100.0, 101.0)] == [0, 9, 12.5, 10_000, 10_199]
    assert planning.mean_tabulated(squares, 12.0) == 48.0  # the mean of x^2 up to 12


def test_the_best_period_is_the_cheapest_of_all():
    work = blank()
    terms = {**RADIO, "prices_w": (5.0, 2.0)}
    for page, message in ((1e-4, 1e-3), (0.02, 0.01), (0.3, 0.0), (0.0, 0.2), (50.0, 0.0)):
        least, period = planning.best_period(work, page, message, INTERVAL_NS, 0.7, 0.0015, 5.0, 2.0)
        expected_j = oracle.stationary_j((page, message), 0.1, planning.STOPS[1:].tolist(), **terms)
        assert least == near(expected_j * (page + message), rel=1e-12)
        own_w = 0.0015 / (0.1 * period) + (5.0 * page + 2.0 * message) * 0.05 * period if period else 0.7
        assert own_w == near(least, rel=1e-12)


def test_what_flows_delays_a_page_by_a_share_of_its_hold_until_its_sender_waits_and_survives_no_less():
    plain, flowing = (blank() for _ in range(2))
    rates = same_rates(20.0)
    for work, share in ((plain, 1.0), (flowing, 0.1)):
        planning.lay_out_polls(work, 50_000_000, 100_000_000, False, 0.0)
        planning.add_wait(work, rates, 0, planning.PAGE, share, 16_000_000)
        planning.survive(work)
    early = plain["step_ns"][: planning.MOST_STEPS] < 16_000_000
    for name in ("hazard", "alive", "lived_s"):
        assert (plain[name] == flowing[name]).all()
    for name in ("mass", "delay_s"):
        assert flowing[name][planning.PAGE] == near(np.where(early, 0.1, 1.0) * plain[name][planning.PAGE])


@each("age_ms", [0, 1, 30, 4000])
def test_what_comes_at_an_age_of_the_page_delays_it_by_what_that_is_worth(age_ms):
    worth, works = np.linspace(3.0, 0.2, 24), [blank(), blank()]
    for work in works:
        planning.lay_out_polls(work, 50_000_000, 100_000_000, False, 0.0)
        planning.add_wait(work, lognormal_rates(), 0, planning.PAGE, 1.0, 0)
    planning.weigh(works[1], worth, age_ms * 1_000_000)
    last, plain, weighed = planning.survive(works[0]), *works
    assert planning.survive(weighed) == last
    steps = int(plain["first_step"][last])
    begins_s = plain["step_ns"][:steps] * 1e-9 + age_ms * 1e-3
    own = worth[np.searchsorted(0.001 * 2.0 ** np.arange(1, 24), begins_s, "right")]
    for name in ("mass", "delay_s"):
        assert weighed[name][planning.PAGE, :steps] == near(own * plain[name][planning.PAGE, :steps], rel=1e-9)
    assert (weighed["alive"] == plain["alive"]).all()


def test_stops_are_moved_by_less_than_a_step():
    stops = []
    for shift in (0.0, 0.4, 0.999):
        work = blank()
        planning.lay_out_polls(work, 50_000_000, 100_000_000, False, shift)
        stops.append(work["stop_ns"][: int(work["reach"])].astype(float))
    plain, moved, farthest = (one[1:80] for one in stops)
    assert (plain < moved).all()
    assert (moved < farthest).all()
    assert farthest / plain == near(1.08, rel=1e-3)
