"""The plans of policies that learn nothing, by hand, and LPSM's rule against the thesis' arithmetic."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import netsim
import traces
from lpsm import LearnAlpha
from netsim.policies import make, outstanding, registry
from netsim.policies.compiled import CompiledForm, FlatFrame
from netsim.policies.entry import exact_ms
from netsim.policies.host import HoldThenBeacons, HostBoundedSlowdown
from netsim.policies.lpsm import Lpsm
from netsim.policies.polling import PollingConfig, PollingLearner, beacons
from netsim.policies.protocol import FOREVER_NS, Frame, HostFrame, Plan, View
from netsim.policies.static import StaticPsm
from tests.netsim.clients import MS, Client
from tests.tables import cases_of, each, near, value_error

BEACON = 100 * MS


def seen(now_ms, sent_ms=None, received_ms=None, *, event="idle", waiting=0):
    instants = [None if at is None else round(at * MS) for at in (sent_ms, received_ms)]
    return View(event, round(now_ms * MS), *instants, 0, waiting, (), None)


def test_lpsm_follows_the_printed_algorithm_poll_by_poll_whatever_it_learns_with():
    times, interval_ms, rates = np.array([100.0, 150.0, 450.0, 900.0]), 102.4, [0.0, 0.02, 0.995, 0.4, 0.1]
    learner = PollingLearner(PollingConfig(times_ms=tuple(times), gamma=2e-7, alphas=tuple(rates)))
    policy = Lpsm(learner, beacon_interval_ns=102_400_000)
    oracle, rng, now_ms, count, counts = LearnAlpha(4, rates), default_rng(8), 0.0, 4, set()  # 400 / 102.4
    assert policy.plan(seen(0)) == (0, 4 * 102_400_000, False, 0, False)
    for _ in range(60):
        now_ms += count * interval_ms
        waiting = int(rng.integers(0, 40_000)) if rng.random() < 0.3 else 0
        oracle.update(2e-7 * waiting * times**2 / (2 * count * interval_ms) + 1 / times)
        count = max(1, int(oracle.weights @ times / interval_ms + 0.5))
        counts.add(count)
        plan = policy.plan(seen(now_ms, event="beacon", waiting=waiting))
        assert plan.wake_ns == round((now_ms + count * interval_ms) * MS)
    assert len(counts) > 3
    np.testing.assert_allclose(policy.learner.weights, oracle.weights, rtol=1e-9)
    np.testing.assert_allclose(policy.learner.alpha_weights, oracle.alpha_weights, rtol=1e-9)
    assert policy.learner.mean_ms == near(oracle.weights @ times)
    # falling asleep between beacons, the count starts at the last beacon passed
    assert policy.plan(seen(now_ms + 37.000001)) == plan._replace(awake_until_ns=round(now_ms * MS) + 37_000_001)


def test_lpsm_has_the_parameters_of_the_thesis_and_rounds_to_whole_beacons_halves_up():
    for spec, term in (("lpsm", "1/T"), ("lpsm:log", "1/log T")):
        assert make(spec).learner.config == PollingConfig.thesis(term)
    ask = [(30.0, 1), (149.9, 1), (150.0, 2), (250.0 - 1e-5, 2), (250.0, 3), (650.0, 7)]
    assert [beacons(mean_ms, 100.0) for mean_ms, _ in ask] == [k for _, k in ask]


NUMBERS = [(parts, i) for parts in (entry.example.split(":") for entry in registry().values())
    for i in range(1, len(parts)) if parts[i].replace(".", "").isdigit()]  # fmt: skip


@each("parts, i", NUMBERS)
def test_a_number_in_the_name_of_a_policy_is_of_a_size_that_changes_what_a_run_costs(parts, i):
    def cost_j(factor):
        spec = ":".join([*parts[:i], f"{float(parts[i]) * factor:g}", *parts[i + 1 :]])
        push = [traces.Message(0.5 * k * k + 0.37, 90) for k in range(1, 25)]
        return netsim.simulate(traces.generate(30, default_rng(0)), spec, push=push).energy.total_j

    assert cost_j(0.5 if parts[0] == "sifi" else 2) != near(cost_j(1), rel=1e-6)


DRIVERS = {  # which beacons it listens to; milliseconds awake after receiving, and after sending
    "mac80211": (1, 100, 100), "ath12k": (5, 0, 0), "esp-idf": (1, 50, 50), "esp-idf-max": (3, 50, 50),
    "cc33xx": (1, 40, 5), "talaria-two": (1, 12, 12), "bl616": (1, 15, 15), "nrf70": (3, 0, 0),
    "pic32mzw": (10, 0, 0), "dhd": (3, 0, 0),
}  # fmt: skip


@each("interval_ns", [BEACON, 102_400_000])
def test_a_driver_stays_awake_as_long_as_it_is_documented_to_and_listens_to_its_beacons(interval_ns):
    assert [written.partition(":")[2] for written, _, _ in registry()["driver"].members] == list(DRIVERS)
    assert all(source for *_, source in registry()["driver"].members)
    dtim = {"esp-idf": (3, 50, 50), "esp-idf-max:6": (6, 50, 50)}  # where every third beacon is a DTIM
    for period, drivers in ((1, DRIVERS), (3, dtim)):
        for name, (every, after_received, after_sent) in drivers.items():
            policy = make(f"driver:{name}", beacon_interval_ns=interval_ns, dtim_period=period)
            for sent, received, awake_ms in ((None, 59, after_received), (59, None, after_sent),
                (9, 59, after_received)):  # fmt: skip
                until, step = max(60, 59 + awake_ms) * MS, every * interval_ns
                plan = until, (until // step + 1) * step, after_received > 0, step, False
                assert policy.plan(seen(60, sent, received)) == plan


FIXED = """
none        250 240 -   -
psm         250 249 249 250 300 closed 100
psm:300     300 -   -   300 600 closed 300
listen:4    250 -   -   250 400 closed 400
dynamic:20  250 240 235 260 300 open 100
dynamic:20  295 100 290 310 400 open 100
dynamic:20:dtim 250 240 235 260 300 open 300
dynamic:20:dtim 295 100 290 310 600 open 300
dynamic     250 -   -   250 300 open 100
dynamic     250 220 -   320 400 open 100
uapsd:200   250 249 249 250 400 open 200
"""


@each("row", FIXED.strip().splitlines())
def test_a_fixed_policy_sleeps_to_the_next_multiple_of_its_period(row):
    spec, now_ms, sent_ms, received_ms, *plan = row.split()
    view = seen(int(now_ms), *(None if at == "-" else int(at) for at in (sent_ms, received_ms)))
    expected = Plan(FOREVER_NS, FOREVER_NS, True)
    if len(plan) > 1:
        until, wake, repeat = (int(plan[place]) * MS for place in (0, 1, 3))
        expected = Plan(until, wake, plan[2] == "open", repeat)
    policy = make(spec, dtim_period=3)
    assert policy.plan(view) == policy.compiled.plan(view) == expected


def test_between_service_periods_sending_does_not_open_the_gate():
    for now_ms, until_ms in ((510, 520), (700, 700)):
        assert make("twt:500:20").plan(seen(now_ms)) == (until_ms * MS, 1000 * MS, False, 0, True)
    assert make("twt:2e-6:1e-6").spec == "twt:2e-06:1e-06"  # a nanosecond of every two
    assert StaticPsm(200, inactivity_timeout_ms=30).spec == "psm:200:timeout=30"


@cases_of("text ns", """
"1000000000", 10**15 ; "1000000001", None ; "0." + "0" * 57 + "1", Fraction(1, 10**52) ; "0." + "0" * 58 + "1", None
"1e-60", Fraction(1, 10**54) ; "1e-99", Fraction(1, 10**93) ; "1e-100", None ; "1/4", 250_000 ; "1E3", 10**9
2.5, 2_500_000
""")  # fmt: skip
def test_milliseconds_are_read_exactly_as_far_as_they_are_taken(text, ns):
    if ns is None:
        with value_error("the time must be a number of milliseconds, at most 1000000000, got"):
            exact_ms("time", text)
    else:
        assert exact_ms("time", text) == ns


# -- what the host knows, and the link does not
def test_bounded_slowdown_of_the_host_keeps_the_bound_while_it_waits_and_naps_otherwise():
    ours, phase = HostBoundedSlowdown("0.2"), make("bsd-phase:0.2")
    client = Client(ours)
    assert client.idle(20) == (20 * MS, 5000 * MS, True, 5000 * MS, False)
    client.sent(60, 1)
    for view in (seen(61, 60), seen(400, 60, event="beacon")):
        assert ours.plan(view) == phase.plan(view)
    client.received(470, 1, size=1500)
    assert ours.plan(seen(470, 60, 470)) == phase.plan(seen(470, 60, 470))  # the reply is not complete
    client.received(480, 1, size=200, completes=True)
    assert client.idle(480) == (480 * MS, 5400 * MS, True, 5000 * MS, False)


def test_hold_stays_awake_then_listens_to_each_beacon_while_waiting():
    rule = HoldThenBeacons(50)
    client = Client(rule)
    assert client.idle(0).wake_ns == 5000 * MS
    client.sent(120, 1)
    for now_ms, received_ms, until_ms in ((121, None, 170), (161, 160, 210), (300, 160, 300)):
        plan = rule.plan(seen(now_ms, 120, received_ms))
        assert plan == (until_ms * MS, (until_ms // 100 + 1) * BEACON, True, BEACON, False)
    client.received(640, 1, completes=True)
    assert client.idle(640).wake_ns == 5600 * MS


def test_an_account_holds_a_thousand_and_twenty_four_things_and_no_more():
    account = np.zeros(1, dtype=outstanding.ACCOUNT)
    outstanding.open_account(account, host_aware=False)
    for at_ns in range(1, 1031):
        outstanding.observe(account[0], FlatFrame(1, at_ns, at_ns, at_ns, 340, -1, 0, 0, 0, 0), False)
    assert account["origin_ns"][0, : account["n"][0]].tolist() == [*range(1, 1025)]
    outstanding.observe(account[0], FlatFrame(0, 2000, 2000, 2000, 300, -1, 0, 0, 0, 0), False)
    assert account["origin_ns"][0, : account["n"][0]].tolist() == [*range(2, 1025)]


def never(view, ints, floats):
    return Plan(0, 0, True, 0, False)


def keep(frame, ints, floats):
    for place, value in enumerate(frame):
        ints[place] = value


def test_of_a_frame_the_link_knows_neither_its_connection_nor_what_it_is_for():
    form = CompiledForm(never, keep, ints=[9] * len(FlatFrame._fields))
    asked = HostFrame(7, False, 300, True, True, 3)
    for host, known in ((None, [-1, 0, 0, 0, 0, -1]), (asked, [7, 0, 300, 1, 1, 3])):
        form.observe(Frame(True, 5, None, 340, host, 4, 4))
        assert form.ints.tolist() == [1, 5, 4, 4, 340, *known]


def of_the_thesis(slept_s, waiting_bytes, times_s):
    return waiting_bytes / 1.2e5 * (1e3 * times_s) ** 2 / (2e3 * slept_s) + 1e-3 / times_s


def test_a_loss_of_ones_own_is_asked_and_the_thesis_own_gives_what_lpsm_gives():
    pages = traces.generate(15, default_rng(4), "1996")
    stock = netsim.simulate(pages, "lpsm")
    same = netsim.simulate(pages, Lpsm(PollingLearner(loss=of_the_thesis)))
    pd.testing.assert_frame_equal(same.polls, stock.polls)
    assert same.final_policy.learner.weights == near(stock.final_policy.learner.weights, rel=1e-9)

    class Hurried(PollingLearner):
        def poll(self, slept_ms, buffered_bytes):
            super().poll(slept_ms, buffered_bytes)
            return 300.0

    steep = PollingLearner(loss=lambda slept_s, waiting, times_s: 100 * times_s)
    for learner in (steep, Hurried()):
        other = netsim.simulate(pages, Lpsm(learner, "mine"))
        assert other.beacons > 1.05 * stock.beacons
        assert other.policy == "mine"


def test_a_loss_or_a_learner_that_lpsm_would_not_ask_is_refused():
    class Unasked(PollingLearner):
        losses = property(lambda self: np.zeros(12))

    with pytest.raises(TypeError, match="Unasked must not override losses, which LPSM does not ask: it asks poll, or"):
        Lpsm(Unasked())
    with pytest.raises(TypeError, match="loss must be a function"):
        PollingLearner(loss=3)
    with value_error("energy and gamma must be left out beside a loss"):
        PollingLearner(PollingConfig(gamma=1.0), loss=of_the_thesis)
    for wrong in (np.ones(3), np.full(12, np.nan), -np.ones(12)):
        with pytest.raises(netsim.policies.PolicyError, match="policy lpsm: plan raised ValueError: loss must"):
            netsim.simulate(traces.generate(2, default_rng(4), "1996"),
                Lpsm(PollingLearner(loss=lambda *_, wrong=wrong: wrong)))  # fmt: skip
