"""LPSM2: what it takes for an episode, what it charges, what it infers, and whether it keeps what it promises."""

import math

import numpy as np
import pytest

import netsim
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.lpsm2_record import by_context
from netsim.sleep_planning.schedules import NEVER_NS, Schedule, standard_schedules, step, table, walk
from tests.netsim.clients import LOGNORMAL, MS, Client, web
from traces.records import Page

BEACON = 100 * MS
STANDARD = standard_schedules()


# -- by hand


def recording(**settings):
    return Lpsm2(Lpsm2Config(record=True, **settings))


def test_contexts_and_episodes_follow_what_is_outstanding():
    policy = recording()
    client = Client(policy)
    client.idle(0)
    client.sent(1000, "a", opening=True)
    client.idle(1001)
    client.received(1041, "a", opening=True, reached_ms=1040)
    client.sent(1041, "a")
    client.idle(1042)
    client.received(1500, "a", reached_ms=1400)  # the first frame of the reply
    client.idle(1500)
    client.received(1520, "a", size=300, completes=True, reached_ms=1519)
    for connection in "abcde":
        client.sent(1520, connection)
    client.idle(1521)
    client.received(1600, "b", size=300, completes=True)
    client.idle(1600)
    client.received(1700, "c", size=300, completes=True)
    client.idle(1700)
    client.sent(1750, "f", opening=True)
    client.idle(1751)
    rounds = [(r.context, r.start_ns / MS, r.end_ns / MS, r.arrived, r.waiting) for r in policy.record]
    assert rounds == [
        ("I", 0, 1000, False, 1),
        ("S", 1001, 1040, True, 1),
        ("W1", 1042, 1400, True, 1),
        ("T", 1500, 1519, True, 1),
        ("W4", 1521, 1600, True, 4),
        ("W4", 1600, 1700, True, 4),
        ("W3", 1700, 1750, False, 3),
    ]


@pytest.mark.parametrize("which", [0, 1, 9, 27, 48])
def test_a_schedule_that_is_given_is_followed(which):
    policy = Lpsm2(Lpsm2Config(fixed=(which,) * len(CONTEXTS)))
    client = Client(policy)
    client.idle(0)
    client.sent(1010, "a")
    plan = client.idle(1020)
    until, wake, _ = step(table(STANDARD, BEACON)[which], BEACON, 1010 * MS, 1020 * MS)
    assert (plan.awake_until_ns, plan.wake_ns) == (until, wake)


def test_while_requests_wait_time_runs_from_the_oldest_of_them():
    policy = recording()
    client = Client(policy)
    client.sent(0, "a")
    client.sent(50, "b")
    client.idle(51)
    client.received(700, "b", size=300, completes=True)
    client.idle(700)
    client.received(1437, "a", size=300, completes=True)
    out = np.empty((len(STANDARD), 4), dtype=np.int64)
    walk(table(STANDARD, BEACON), BEACON, 0, 700 * MS, 1437 * MS, True, NEVER_NS, out)
    last = policy.record[-1]
    assert [
        last.awake_ns.tolist(),
        last.beacons.tolist(),
        last.wakeups.tolist(),
        last.delay_ns.tolist(),
    ] == out.T.tolist()


def test_a_frame_that_a_send_let_out_ends_the_episode_when_it_reached_the_access_point():
    policy = recording()
    client = Client(policy)
    client.sent(0, "a")
    client.idle(1)
    client.sent(950, "b")  # lets out what has been waiting since 930
    client.received(953, "a", size=300, completes=True, reached_ms=930)
    [found] = policy.record
    assert (found.context, found.end_ns, found.arrived) == ("W1", 930 * MS, True)
    assert found.delay_ns.max() == 20 * MS


def test_a_send_ends_the_episode_if_nothing_had_come_before_it():
    policy = recording()
    client = Client(policy)
    client.sent(0, "a")
    client.idle(1)
    client.sent(950, "b")
    client.received(990, "a", size=300, completes=True, reached_ms=960)
    [found] = policy.record
    assert (found.end_ns, found.arrived, found.delay_ns.max()) == (950 * MS, False, 0)


def test_what_nobody_wants_any_more_delays_nobody():
    policy = recording()
    client = Client(policy)
    client.idle(0)
    client.beacon(5000, waiting=1500)
    client.received(5003, "gone", reached_ms=10, wanted=False)
    client.idle(5003)
    assert [(r.context, r.arrived) for r in policy.record] == [("I", False)]


def test_very_short_episodes_are_no_rounds():
    policy = recording()
    client = Client(policy)
    client.idle(0)
    client.sent(0.0009, "a", opening=True)
    client.idle(1)
    client.sent(1.001, "b", opening=True)
    client.idle(2)
    assert [r.context for r in policy.record] == ["S"]


def test_costs_are_energy_and_delay_over_the_requests_that_wait():
    policy = recording()
    client = Client(policy)
    client.sent(0, "a")
    client.sent(0, "b")
    client.idle(1)
    client.received(437, "a", size=300, completes=True)
    [found] = policy.record
    assert (found.waiting, found.price_w) == (2, pytest.approx(6.0))
    expected = 0.7 * found.awake_ns * 1e-9 + 0.0015 * found.beacons + 6.0 * found.delay_ns * 1e-9 / 2
    np.testing.assert_allclose(found.costs, expected, rtol=1e-13)


def test_the_price_rises_with_delay_and_falls_without():
    policy = recording(schedules=(Schedule(stride=5),), max_slowdown=1.1)  # allowed: a tenth; price starts at 3 W
    client = Client(policy)
    assert policy.prices_w[0] == pytest.approx(3.0)
    client.sent(0, "a")
    client.idle(1)
    client.received(500, "a", size=300, completes=True, reached_ms=401)  # 99 ms late after 400 ms
    assert policy.prices_w[0] == pytest.approx(3.0 * math.exp(3.0 * (0.099 - 0.1 * 0.4)), rel=1e-12)
    before = policy.prices_w[0]
    client.sent(10_010, "a")
    client.idle(10_011)
    client.received(30_300, "a", size=300, completes=True, reached_ms=30_299)
    allowed = 0.1 * 10.0  # a wait longer than 10 s allows no more
    assert policy.prices_w[0] == pytest.approx(max(before * math.exp(3.0 * (0.201 - allowed)), 1.0), rel=1e-12)
    for start in range(40_000, 90_000, 1000):
        client.sent(start, "a")
        client.idle(start + 0.001)
        client.received(start + 500, "a", size=300, completes=True, reached_ms=start + 1)
    assert policy.prices_w[0] == pytest.approx(30.0)


def test_messages_have_a_price_of_their_own_if_asked_for():
    few = (Schedule(stride=4),)
    policy = recording(schedules=few, max_push_delay_s=0.1)
    client = Client(policy)
    client.idle(0)
    client.received(4000, "push", size=300, reached_ms=3650)
    assert policy.prices_w == pytest.approx([6.0, 6.0 * math.exp(0.1 * (3.5 - 1.0))])
    assert policy.record[0].price_w == 6.0  # of the moment: it moves afterwards
    assert recording(schedules=few, max_push_delay_s=0.2).prices_w[1] == pytest.approx(1.5)
    assert recording(schedules=few, max_push_delay_s=1000.0).prices_w[1] == 0.001
    shared = recording(schedules=few)
    client = Client(shared)
    client.idle(0)
    client.received(4000, "push", size=300, reached_ms=3650)
    assert shared.prices_w == pytest.approx([6.0, 6.0])


# -- in the simulator


@pytest.mark.parametrize("host_aware", [True, False])
@pytest.mark.parametrize("server_s", [0.0, 0.613])
def test_what_the_followed_schedule_is_charged_is_what_the_simulator_charges(host_aware, server_s):
    """One request: beacons, wake-ups and delay of every schedule are the run's, and so is time awake but for frames."""
    page = Page("p", 300, 800, (), 1.237, 0.0837)
    patient = netsim.TcpConfig(initial_rto_s=30.0, min_rto_s=30.0)
    world = netsim.SimulationConfig(server_delay=netsim.ServerDelay(mean_s=server_s), tcp=patient)
    always = netsim.simulate([page], "none", config=world)
    for_frames = set()
    for schedule in STANDARD:
        policy = Lpsm2(Lpsm2Config(schedules=(schedule,), record=True), host_aware=host_aware)
        run = netsim.simulate([page], policy, config=world)
        left = run.final_policy
        charged = np.sum([(r.awake_ns, r.beacons, r.wakeups, r.delay_ns) for r in left.record], axis=0)[:, 0]
        out = np.empty((1, 4), dtype=np.int64)  # the last episode goes on at the end of the run
        end = round(run.elapsed_s * 1e9)
        state = left.memory[0]
        origin, start = int(state["counted_from_ns"]), int(state["start_ns"])
        walk(table((schedule,), BEACON), BEACON, origin, start, end, False, NEVER_NS, out)
        awake, beacons, wakeups, delay = (charged + out[0]).tolist()
        assert run.beacons == beacons
        assert run.wakeups == wakeups - (end > state["awake_until_ns"])  # nothing is sent at the end
        assert round((run.latency_s[0] - always.latency_s[0]) * 1e9) == delay
        for_frames.add(round(run.awake_s * 1e9) - awake)
    assert len(for_frames) == 1


def slowdown_and_energy(policy, seed, world, n=100):
    pages = web(seed, n)
    base = netsim.simulate(pages, "none", config=world, seed=seed)
    run = netsim.simulate(pages, policy, config=world, seed=seed)
    return (run.latency_s / base.latency_s).mean(), run.energy.per_page_j


@pytest.mark.parametrize("kind", ["lpsm2", "lpsm2-link"])
@pytest.mark.parametrize("target", [1.05, 1.08])
def test_the_slowdown_asked_for_is_kept_with_less_energy_than_bounded_slowdown(kind, target):
    ours = np.mean([slowdown_and_energy(f"{kind}:{target}", seed, LOGNORMAL) for seed in (2001, 2002, 2003)], axis=0)
    bounded = np.mean([slowdown_and_energy("bsd:0.3", seed, LOGNORMAL) for seed in (2001, 2002, 2003)], axis=0)
    assert 1.0 < ours[0] < target + 0.01
    assert bounded[0] > 1.03
    assert ours[1] < 0.92 * bounded[1]


def test_with_servers_that_answer_at_once_there_is_next_to_no_delay():
    slowdown, energy = slowdown_and_energy("lpsm2", 2004, netsim.SimulationConfig())
    bounded = slowdown_and_energy("bsd:1", 2004, netsim.SimulationConfig())
    assert slowdown < 1.02
    assert energy < bounded[1]


@pytest.mark.parametrize("policy", ["lpsm2", "lpsm2-link:1.08"])
def test_a_run_repeated_is_the_same_to_the_last_byte(policy):
    first, second = (netsim.simulate(web(5, 40), policy, config=LOGNORMAL, seed=5) for _ in range(2))
    assert first.pages.to_csv() == second.pages.to_csv()
    assert first.polls.equals(second.polls)
    for one, other in zip(first.final_policy.learners, second.final_policy.learners, strict=True):
        assert one.weights.tobytes() == other.weights.tobytes()
    assert first.final_policy.prices_w == second.final_policy.prices_w


def test_wake_ups_that_cost_are_avoided():
    """Where a wake-up costs a lot, being on duty for a part of every interval no longer pays."""
    cheap, dear = (netsim.SimulationConfig(server_delay=LOGNORMAL.server_delay, radio=radio)
                   for radio in (netsim.RadioConfig(), netsim.RadioConfig(wakeup_mj=30.0)))  # fmt: skip
    wakeups = [netsim.simulate(web(8), "lpsm2", config=world, seed=8).wakeups for world in (cheap, dear)]
    assert wakeups[1] < wakeups[0]


def test_clients_that_share_the_air_learn_apart():
    first, second = netsim.simulate_cell([(web(9, 10), "lpsm2"), (web(10, 10), "lpsm2-link")])
    assert len(first.pages) == len(second.pages) == 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_slowdown": 1.0}, "max_slowdown must be a number above 1, got 1.0"),
        ({"max_slowdown": 0.5}, "max_slowdown must be a number above 1, got 0.5"),
        ({"max_slowdown": np.inf}, "max_slowdown must be a number above 1, got inf"),
        ({"rate_per_j": 0.0}, "rate_per_j must be positive and finite, got 0.0"),
        ({"max_push_delay_s": -1.0}, "max_push_delay_s must be positive and finite, got -1.0"),
        ({"price_w": 1.0}, "least_price_w <= price_w <= most_price_w must hold, got 2.0, 1.0, 60.0"),
        ({"prior_ms": ()}, "prior_ms must name waits above 0"),
        ({"fixed": (0, 49)}, "fixed must name schedules from 0 to 48"),
        ({"shortest_s": -1.0}, "shortest_s must be non-negative and finite, got -1.0"),
        ({"shortest_s": np.inf}, "shortest_s must be non-negative and finite, got inf"),
        ({"push_step": np.inf}, "push_step must be positive and finite, got inf"),
        ({"price_w": 61.0}, "least_price_w <= price_w <= most_price_w must hold, got 2.0, 61.0, 60.0"),
        ({"prior_ms": (100.0, 0.0)}, "prior_ms must name waits above 0"),
        ({"fixed": (-1,)}, "fixed must name schedules from 0 to 48"),
    ],
)
def test_a_constant_out_of_range_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Lpsm2Config(**settings)


def test_there_is_a_context_for_everything():
    assert CONTEXTS == ("S", "T", "W1", "W2", "W3", "W4", "I")
    assert {r.context for r in netsim.simulate(web(2007), recording(), config=LOGNORMAL).final_policy.record} == set(
        CONTEXTS
    )


# -- in hindsight


def test_hindsight_pays_no_more_than_the_run_and_switching_no_more_than_staying():
    run = netsim.simulate(web(2009), recording(), config=LOGNORMAL, seed=2009)
    rounds = run.final_policy.record
    past = by_context(rounds)
    assert set(past) <= set(CONTEXTS)
    assert sum(len(found.chosen) for found in past.values()) == len(rounds)
    paid = sum(found.paid_j for found in past.values())
    assert paid == pytest.approx(sum(r.costs[r.chosen] for r in rounds))
    for found in past.values():
        assert found.best_fixed_j == pytest.approx(found.costs[:, found.best_fixed].sum())
        switching = [found.best_switching_j(parts) for parts in (1, 2, 8)]
        assert switching[0] == pytest.approx(found.best_fixed_j)
        assert switching[0] >= switching[1] >= switching[2] >= found.costs.min(axis=1).sum() - 1e-9
    # what learning costs on top of the best schedule of each context is a small part of what is paid
    assert paid < 1.15 * sum(found.best_fixed_j for found in past.values())
