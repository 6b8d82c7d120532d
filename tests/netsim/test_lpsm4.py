"""LPSM4: what it can know, when it polls, what polls cost, and whether it keeps its word for less."""

import math

import pytest

import netsim
import traces
from lpsm.randomness import WORKLOAD, generator
from netsim.policies.lpsm3 import Lpsm3
from netsim.policies.lpsm4 import Lpsm4
from netsim.policies.protocol import ASK
from netsim.sleep_planning import plans as planning
from netsim.sleep_planning.hazards import EDGES_NS, find_bin
from tests.netsim.clients import ask, tell
from tests.netsim.hazard_learner import blank
from tests.tables import cases_of, each
from traces.traffic import draw, push_messages

MS = 1_000_000
REPLY, MESSAGE = 1, 3


class Rule:
    """A policy as it is told and asked, and what it knows."""

    def __init__(self, policy=Lpsm4, config=None, **settings):
        self.policy = policy(config, **settings)
        self.s = self.policy.memory[0]
        self.s["push_stale"] = 0

    def frame(self, at_ms, *, sent=0, between_ms=None, size=340, completes=0):
        tell(self.policy, sent, at_ms, at_ms if between_ms is None else between_ms, size, 1, completes=completes)

    def asked(self, now_ms, beacon=0, buffered=0, slept_ms=10_000):
        return ask(self.policy, now_ms, beacon, buffered, round(slept_ms * MS) * beacon)


def test_it_polls_when_its_plan_by_itself_does_and_learns_what_a_poll_takes_from_those_that_find_nothing():
    own = Rule()
    own.frame(1000, sent=1)
    took_s, plan = float(own.s["took_s"]), netsim.Plan(0, 1)
    assert took_s == 0.0005
    own.s["wakeup_s"] = 0.0001  # of the 2.8 ms which it did not sleep, and which its energy holds already
    for now_ms, next_s, spent_s in ((1000.5, took_s, took_s), (0.0, 0.00066, 0.9 * took_s + 0.1 * 0.0028)):
        before, now_ms = plan, now_ms or plan.wake_ns / MS + 2.1
        slept_ns = before.wake_ns - before.awake_until_ns - round(0.7 * MS)
        plan = ask(own.policy, now_ms, slept_ns=slept_ns)
        assert own.s["took_s"] == pytest.approx(next_s)
        assert own.s["spent_s"] == pytest.approx(spent_s)
        work = blank()
        work["poll_j"] = 0.7 * (spent_s - 0.0001)
        planning.lay_out_polls(work, 100 * MS - round(now_ms * MS) % (100 * MS), 100 * MS, False, own.s["shift"])
        planning.add_wait(work, own.s["mean_rates"][REPLY], round((now_ms - 1000) * MS), planning.PAGE, 1.0, 0)
        planning.add_wait(work, own.s["mean_rates"][MESSAGE], round(now_ms * MS), planning.MESSAGE, 1.0, 0)
        last, price_w = planning.survive(work), own.s["price_w"] * math.exp(0.27 * own.s["balance"])
        planning.choose(work, last, True, 100 * MS, 0.7, 0.0015, 0.0, price_w, own.s["push_price_w"], 1)
        asleep_ns, stop = planning.follow(work, last, 0, 1)
        assert work["is_poll"][stop]
        assert plan.repeat_ns == ASK
        assert plan.awake_until_ns == round(now_ms * MS) + asleep_ns
        assert plan.wake_ns == round(now_ms * MS) + work["stop_ns"][stop] - int(next_s * 1e9)
    assert own.s["price_w"] == pytest.approx(900 * 0.7 * 0.0005)


@each("polls", [True, False])
def test_of_two_waits_at_once_who_polls_pays_half_the_price(polls):
    own = Rule(Lpsm4 if polls else Lpsm3)
    for connection in (1, 2):
        tell(own.policy, 1, 1000, 1000, 340, connection)
    plan, work = own.asked(1000.5), blank()
    if polls:
        work["poll_j"] = 0.7 * float(own.s["spent_s"] - own.s["wakeup_s"])
        planning.lay_out_polls(work, round(99.5 * MS), 100 * MS, False, own.s["shift"])
    else:
        planning.lay_out(work, round(99.5 * MS), 100 * MS)
    for _ in range(2):
        planning.add_wait(work, own.s["mean_rates"][REPLY], round(0.5 * MS), planning.PAGE, 1.0, 0)
    planning.add_wait(work, own.s["mean_rates"][MESSAGE], round(1000.5 * MS), planning.MESSAGE, 1.0, 0)
    last, gain = planning.survive(work), 0.27 if polls else 0.135
    price_w = own.s["price_w"] * math.exp(gain * own.s["balance"]) / (2 if polls else 1)
    planning.choose(work, last, True, 100 * MS, 0.7, 0.0015, 0.0, price_w, own.s["push_price_w"], 2)
    asleep_ns, stop = planning.follow(work, last, 0, 1)
    took_ns = int(float(own.s["took_s"]) * 1e9) * polls
    assert plan[:2] == (round(1000.5 * MS) + asleep_ns, round(1000.5 * MS) + work["stop_ns"][stop] - took_ns)


def test_while_nothing_is_outstanding_it_listens_to_beacons_as_lpsm3_does():
    plans = [Rule(policy).asked(3_600_000) for policy in (Lpsm3, Lpsm4)]
    assert plans[0] == plans[1]


def test_a_wait_that_ended_between_two_instants_counts_there_and_is_paid_for_in_expectation():
    own = Rule()
    own.frame(1000, sent=1)
    own.asked(1050)
    own.s["awake_until_ns"], own.s["poll_ns"], own.s["took_s"] = 1060 * MS, 1080 * MS, 0.0005
    own.frame(1081.5, between_ms=(1060, 1080.5))
    assert own.s["events"][REPLY].sum() == pytest.approx(1.0)
    inside = slice(find_bin(60 * MS), find_bin(80 * MS) + 1)
    assert own.s["events"][REPLY][inside].sum() == pytest.approx(1.0)
    assert EDGES_NS[inside.stop - 1] < 80 * MS
    assert 0.0 < own.s["cause_ns"] < 20.5 * MS
    assert own.s["due_ns"] == 1081.5 * MS - own.s["cause_ns"]


@cases_of("medium radio server target most", """
"wires", "thesis", "lognormal:0.5:0.8", 1.05, 0.35 ; "air", "esp32-c6", "lognormal:0.5:0.8", 1.05, 0.3
"air", "esp32-c6", "exponential:0.3", 1.05, 0.3 ; "air", "nrf7002", "lognormal:0.1:0.8", 1.1, 0.35
""")  # fmt: skip
def test_the_slowdown_asked_for_is_kept_for_less_than_lpsm3_needs_in_both_forms(medium, radio, server, target, most):
    radio, on_air = netsim.Radio.named(radio), {}
    if medium == "air":
        on_air = {"medium": netsim.AirConfig(phy=netsim.Phy.parse("11n")), "beacon_interval_ns": 102_400_000}
    config, pages = (
        netsim.SimulationConfig(radio=radio, server_delay=server, **on_air),
        traces.generate(60, generator(35, WORKLOAD), "1996"),
    )
    specs = ("none", f"lpsm3:{target}", f"lpsm4:{target}", f"lpsm4-link:{target}")
    base, lpsm3, *own = (netsim.simulate(pages, one, config=config, seed=35) for one in specs)
    above = [one.energy.total_j - 1e-3 * radio.asleep_mw * one.elapsed_s for one in (lpsm3, *own)]
    for one, energy_j in zip(own, above[1:], strict=True):
        assert one.slowdown(base) - 1.0 <= 1.05 * (target - 1.0)
        assert one.final_policy.exceptions == 0
        assert energy_j < most * above[0]
    slow = netsim.simulate(pages[:8], specs[2], config=config, seed=35, engine="packet")
    assert slow.energy == netsim.simulate(pages[:8], specs[2], config=config, seed=35, engine="express").energy


@cases_of("kind seconds policy most", """
"game", 30.0, "lpsm3-link", 1.25 ; "game", 30.0, "lpsm4-link", 1.08 ; "answers", 300.0, "lpsm4-link", 1.12
""")  # fmt: skip
def test_a_link_that_cannot_tell_answers_from_messages_delays_pages_little(kind, seconds, policy, most):
    drawn = draw(kind, seconds, generator(100, WORKLOAD))
    servers = [netsim.ServerDelay.parse(one) for one in drawn.servers]
    base, own = (
        netsim.simulate(drawn.pages, one, push=drawn.messages, server_delays=servers, seed=100)
        for one in ("none", policy)
    )
    assert own.slowdown(base) < most


@cases_of("kind asked share most_s", """
"lpsm3", "400@p95", 0.95, 0.4 ; "lpsm4", "1000@p95", 0.95, 1.0
"lpsm3", "300@max", 1.0, 0.31 ; "lpsm4", "300@max", 1.0, 0.31
""")  # fmt: skip
def test_a_quantile_or_each_of_the_delays_of_messages_is_kept_where_that_is_asked_for(kind, asked, share, most_s):
    messages = push_messages(10_000.0, generator(36, WORKLOAD))
    base, own = (netsim.simulate([], policy, push=messages) for policy in ("none", f"{kind}:1.05:{asked}"))
    late_s = (own.messages["delay_s"] - base.messages["delay_s"]).to_numpy()
    assert (late_s <= most_s).mean() == pytest.approx(share, abs=0.02)
    assert late_s.mean() > 0.3 * most_s
