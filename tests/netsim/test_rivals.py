"""Policies of the literature, each against what its source claims for it."""

import math

import numpy as np
import pytest
from numpy.random import default_rng

import netsim
import traces
from netsim import SimulationConfig, View
from netsim.policies import make
from netsim.policies.polling import PollingConfig, PollingLearner
from tests.tables import each, value_error
from traces.records import Message

NS_PER_S = 1_000_000_000
CONFIG = SimulationConfig(radio="esp32-c6")


def pushed(policy, instants_s, **more):
    """Return a run in which a server sends messages of 200 bytes."""
    return netsim.simulate([], policy, push=[Message(at_s, 200) for at_s in np.cumsum(instants_s)], **more)


def mean_delay_s(run):
    """Return how long messages took."""
    return float(run.messages["delay_s"].mean())


@each("name, factor", [("break-even", 2.0), ("break-even:random", math.e / (math.e - 1.0))])
def test_rent_or_buy_pays_at_most_so_many_times_what_one_who_knows_the_gap_pays(name, factor):
    radio = netsim.RadioConfig(awake_mw=301.0, asleep_mw=1.0, beacon_mj=6.0, wakeup_mj=3.0)
    policy, worst = make(name, radio=radio), 0.0
    for gap_s in np.linspace(1e-3, 0.09, 90):
        paid = []
        for k in range(1, 400):
            last = k * NS_PER_S
            plan = policy.plan(View("idle", last, last, None, 0, 0, (), None))
            held_s = min(gap_s, (plan.awake_until_ns - last) / NS_PER_S)
            paid.append(0.3 * held_s + 0.009 * (held_s < gap_s))
        worst = max(worst, float(np.mean(paid)) / min(0.3 * gap_s, 0.009))
    assert 0.98 * factor < worst < factor + 0.02


def test_doubling_sleeps_delay_memoryless_messages_as_computed():
    rng, rate, windows = default_rng(5), 1.0 / 3.0, 0.1 * 2.0 ** np.minimum(np.arange(60), 4)
    reached = np.exp(-rate * (np.cumsum(windows) - windows))  # that nothing has come before
    expected = (reached * windows**2).sum() / (2.0 * (reached * windows).sum())
    delay = mean_delay_s(pushed("doubling", rng.exponential(1.0 / rate, 20_000)))
    assert delay == pytest.approx(expected + 0.02, rel=0.02)  # and the wire takes 20 ms
    assert mean_delay_s(pushed("doubling:1:1", rng.exponential(3.0, 2000))) == pytest.approx(0.07, rel=0.05)


def test_what_can_wait_costs_sapsm_no_time_awake_and_pages_no_time():
    rng = default_rng(7)
    pages, messages = traces.generate(20, rng, web="1996"), [Message(0.7 * k, 200) for k in range(1500)]
    adaptive, urgent = (netsim.simulate(pages, name, push=messages) for name in ("dynamic:100", "sapsm:100"))
    assert urgent.energy.awake_j < 0.6 * adaptive.energy.awake_j
    assert urgent.latency_s.mean() == pytest.approx(adaptive.latency_s.mean(), rel=0.05)
    assert mean_delay_s(urgent) < 0.15


def test_stpm_is_awake_where_runs_are_long_and_listens_where_they_are_short():
    alone = traces.generate(60, default_rng(3), web="1996")
    short = [page._replace(objects=(), think_s=5.0) for page in alone]
    long = [page._replace(objects=((300, 2000),) * 25, think_s=5.0) for page in alone]
    for pages, like, other in ((short, "psm", "dynamic"), (long, "dynamic:150", "psm")):
        run, near, far = (netsim.simulate(pages, name).latency_s.mean() for name in ("stpm:300", like, other))
        assert abs(run - near) < abs(run - far)


def test_sleeping_between_frames_of_a_stream_saves_a_third_and_delays_little():
    steady = np.full(2000, 0.04) + default_rng(1).uniform(-0.004, 0.004, 2000)
    adaptive, micro = (pushed(name, steady, config=CONFIG) for name in ("dynamic:100", "upm:0.1"))
    assert micro.energy.total_j < 0.7 * adaptive.energy.total_j
    assert mean_delay_s(micro) < mean_delay_s(adaptive) + 0.01


def test_sleeping_through_silences_saves_their_time_and_delays_few_spurts():
    rng = default_rng(2)
    spurts = [gap for _ in range(150) for gap in (1.0 + rng.exponential(1.0), *[0.02] * 50)]
    adaptive, silent, beacons = (pushed(name, spurts) for name in ("dynamic:100", "sifi:0.9", "psm"))
    assert silent.energy.listen_j < 0.6 * adaptive.energy.listen_j
    assert silent.energy.total_j < adaptive.energy.total_j
    assert mean_delay_s(silent) < 0.5 * mean_delay_s(beacons)


def test_lpsm_that_polls_learns_from_what_its_polls_bring():
    kept = []

    class Beside:
        """Asks the policy, and keeps sleeps and bytes of its own account."""

        spec, host_aware, polls, due, found, slept = "beside", True, True, None, 0, None

        def __init__(self):
            self.own = make("lpsm-poll:times=5/20/80,alphas=0.1")

        def plan(self, view):
            if self.due is not None and view.now_ns >= self.due:
                kept.append((self.slept, self.found))
                self.due = None
            plan, self.found = self.own.plan(view), 0
            if not plan.poll:
                self.due = None
            elif plan.wake_ns != self.due:
                self.due, self.slept = plan.wake_ns, (plan.wake_ns - view.now_ns) / 1e6
            return plan

        def observe(self, frame):
            self.own.observe(frame)
            self.found += 0 if frame.sent else frame.size_bytes

    pages = traces.generate(8, default_rng(4), web="1996")
    run = netsim.simulate(pages, Beside(), config=SimulationConfig(server_delay="lognormal:0.3"))
    learner = PollingLearner(PollingConfig(times_ms=(5.0, 20.0, 80.0), alphas=(0.1,)))
    for slept_ms, n_bytes in kept:
        learner.poll(slept_ms, n_bytes)
    assert len(kept) > 100
    assert run.final_policy.own.compiled.floats[0] == pytest.approx(learner.mean_ms, rel=1e-6)
    assert {n_bytes > 0 for _, n_bytes in kept} == {True, False}


@each("name", "break-even:x doubling:4:2 doubling:0 upm:1 sifi:0 sapsm:0 stpm:1e9 lpsm-poll:x")
def test_parameters_that_break_a_rule_are_told(name):
    with value_error(name.partition(":")[0]):
        make(name)
