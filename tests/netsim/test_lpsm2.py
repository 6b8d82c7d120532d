"""LPSM2: what it takes for an episode, what it charges, what it infers, and whether it keeps what it promises."""

import math

import numpy as np
import pytest

import netsim
import traces
from lpsm.schedules import NEVER_NS, Schedule, standard_schedules, table, walk
from netsim import express, streams
from netsim.policies import make
from netsim.policies.awareness import HostAccount, LinkAccount
from netsim.policies.host import HoldThenBeacons, HostBoundedSlowdown
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.lpsm2_record import by_context
from netsim.policies.protocol import Frame, HostFrame, View
from traces.records import Page

MS = 1_000_000
BEACON = 100 * MS
STANDARD = standard_schedules()


# -- by hand


class Client:
    """Calls a policy as a station would, with frames of named connections."""

    def __init__(self, policy):
        self.policy = policy

    def sent(self, at_ms, connection, *, size=340, opening=False):
        host = HostFrame(connection, opening, 0 if opening else size - 40, False, True)
        at = round(at_ms * MS)
        self.policy.observe(Frame(True, at, at, 40 if opening else size, self._host(host)))

    def received(self, at_ms, connection, *, size=1500, reached_ms=None, opening=False, completes=False, wanted=True):
        host = HostFrame(connection, opening, 0 if opening else size - 40, completes, wanted)
        reached = round((at_ms if reached_ms is None else reached_ms) * MS)
        self.policy.observe(Frame(False, round(at_ms * MS), reached, 40 if opening else size, self._host(host)))

    def idle(self, at_ms):
        return self.policy.plan(View("idle", round(at_ms * MS), None, None, 0, 0, (), None))

    def beacon(self, at_ms, waiting=0):
        return self.policy.plan(View("beacon", round(at_ms * MS), None, None, 0, waiting, (), None))

    def _host(self, host):
        return host if self.policy.host_aware else None


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
    policy = recording(schedules=(Schedule(stride=4),), max_push_delay_s=0.1)
    client = Client(policy)
    client.idle(0)
    client.received(4000, "push", size=300, reached_ms=3650)
    assert policy.prices_w == pytest.approx([6.0, 6.0 * math.exp(0.1 * (3.5 - 1.0))])
    assert policy.record[0].price_w == 6.0  # of the moment: it moves afterwards
    assert recording(max_push_delay_s=0.2).prices_w[1] == pytest.approx(1.5)
    assert recording(max_push_delay_s=1000.0).prices_w[1] == 0.001
    shared = recording(schedules=(Schedule(stride=4),))
    client = Client(shared)
    client.idle(0)
    client.received(4000, "push", size=300, reached_ms=3650)
    assert shared.prices_w == pytest.approx([6.0, 6.0])


def test_the_link_forgets_when_a_connection_is_opened_from_sleep_but_not_from_awake():
    def count(at_ns, size, *, sent=True, asleep=False):
        account.observe(Frame(sent, at_ns, at_ns, size, None), asleep=asleep)
        return account.opening, account.arriving, account.waiting

    account = LinkAccount()
    assert count(1, 340) == (0, 0, 1)
    assert count(2, 340) == (0, 0, 2)
    assert count(3, 40) == (1, 0, 2)  # another connection
    assert count(4, 40, sent=False) == (0, 0, 2)  # its answer
    assert count(4, 40) == (0, 0, 2)  # the end of the handshake
    assert count(5, 1500, sent=False) == (0, 1, 1)
    assert count(5, 40) == (0, 1, 1)  # an acknowledgement
    assert count(6, 700, sent=False) == (0, 0, 1)
    assert count(7, 40, asleep=True) == (1, 0, 0)
    assert count(8, 340) == (1, 0, 1)
    assert count(8 + 10_000 * MS, 340, sent=False) == (0, 0, 0)  # too late for any answer


def test_the_link_forgets_after_ten_seconds_of_silence():
    policy = Lpsm2(Lpsm2Config(record=True), host_aware=False)
    client = Client(policy)
    client.sent(1000, "a")
    plan = client.idle(1001)
    while plan.wake_ns < 11_000 * MS:
        assert plan.repeat_ns == 0
        plan = client.beacon(plan.wake_ns / MS)
    client.beacon(plan.wake_ns / MS)
    client.sent(90_000, "b", opening=True)
    client.idle(90_001)
    assert [(r.context, r.arrived) for r in policy.record] == [("W1", False), ("I", False)]


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
        walk(table((schedule,), BEACON), BEACON, left._origin_ns, left._start_ns, end, False, NEVER_NS, out)
        awake, beacons, wakeups, delay = (charged + out[0]).tolist()
        assert run.beacons == beacons
        assert run.wakeups == wakeups - (end > left._awake_until_ns)  # nothing is sent at the end
        assert round((run.latency_s[0] - always.latency_s[0]) * 1e9) == delay
        for_frames.add(round(run.awake_s * 1e9) - awake)
    assert len(for_frames) == 1


def web(seed, n=100):
    return traces.generate(n, streams.generator(seed, streams.WORKLOAD))


LOGNORMAL = netsim.SimulationConfig(server_delay=netsim.ServerDelay.parse("lognormal:0.5:0.8"))


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
    for one, other in zip(first.final_policy._learners, second.final_policy._learners, strict=True):
        assert one.weights.tobytes() == other.weights.tobytes()
    assert first.final_policy.prices_w == second.final_policy.prices_w


def test_sampling_draws_from_its_own_seed():
    runs = [
        netsim.simulate(web(5, 20), Lpsm2(Lpsm2Config(sample_seed=seed)), config=LOGNORMAL, seed=5).energy.total_j
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    "settings",
    [
        {"contexts": False}, {"clock": False}, {"share_delay": False}, {"prior": False}, {"dual": False},
        {"learn_alpha": False},
    ],
)  # fmt: skip
def test_every_part_can_be_taken_away_and_makes_a_difference(settings):
    whole, less = (
        netsim.simulate(web(6, 60), Lpsm2(Lpsm2Config(**s)), config=LOGNORMAL, seed=6).energy.total_j
        for s in ({}, settings)
    )
    assert less != whole


class BothAccounts(Lpsm2):
    """Follows the host's account, and compares what the link infers at every episode."""

    def __init__(self):
        super().__init__()
        self.link, self.compared = LinkAccount(), []

    def observe(self, frame):
        self.link.observe(frame, asleep=frame.at_ns > self._awake_until_ns)
        super().observe(frame)

    def plan(self, view):
        if view.event == "idle":
            self.link.forget_after(view.now_ns)
            pair = [(bool(a.opening), bool(a.arriving), a.waiting) for a in (self._account, self.link)]
            self.compared.append((*pair, self._account.waiting and self._account.oldest_ns,
                                  self.link.waiting and self.link.oldest_ns))  # fmt: skip
        return super().plan(view)


@pytest.mark.parametrize(("world", "in_order"), [(LOGNORMAL, 0.6), (netsim.SimulationConfig(), 0.99)])
def test_the_link_infers_nearly_always_what_the_host_knows(world, in_order):
    compared = []
    for seed in (2005, 2006):
        policy = netsim.simulate(web(seed), BothAccounts(), config=world, seed=seed).final_policy
        compared += policy.compared[1:]
    same = [host == link for host, link, *_ in compared]
    assert len(compared) > 1000
    assert np.mean(same) > 0.9
    oldest = [(known, inferred) for host, link, known, inferred in compared if host == link and host[2]]
    assert all(inferred >= known for known, inferred in oldest)  # replies need not come in the order of requests
    assert np.mean([inferred == known for known, inferred in oldest]) > in_order


@pytest.mark.parametrize("policy", ["lpsm2", "lpsm2-link"])
@pytest.mark.parametrize(
    "settings",
    [
        {"beacon_interval_ns": 102_400_000},
        {"link": netsim.LinkConfig(loss_rate=0.03)},
        {"connections": "per-object", "tcp": netsim.TcpConfig(mss_bytes=536, nagle=True)},
        {"radio": netsim.RadioConfig(wakeup_mj=2.0)},
    ],
)
def test_it_runs_in_other_worlds(policy, settings):
    run = netsim.simulate(web(7, 15), policy, config=netsim.SimulationConfig(**settings), seed=7)
    assert len(run.pages) == 15
    assert 0.0 < run.awake_s < run.elapsed_s


def test_wake_ups_that_cost_are_avoided():
    """Where a wake-up costs a lot, being on duty for a part of every interval no longer pays."""
    cheap, dear = (netsim.SimulationConfig(server_delay=LOGNORMAL.server_delay, radio=radio)
                   for radio in (netsim.RadioConfig(), netsim.RadioConfig(wakeup_mj=30.0)))  # fmt: skip
    wakeups = [netsim.simulate(web(8), "lpsm2", config=world, seed=8).wakeups for world in (cheap, dear)]
    assert wakeups[1] < wakeups[0]


def test_clients_that_share_the_air_learn_apart():
    first, second = netsim.simulate_cell([(web(9, 10), "lpsm2"), (web(10, 10), "lpsm2-link")])
    assert len(first.pages) == len(second.pages) == 10


def test_the_compiled_twin_has_it_and_leaves_those_it_is_compared_with_to_the_packet_model():
    assert express.why_not(make("lpsm2"), 0.0) is express.why_not(make("lpsm2-link"), 0.0) is None
    assert express.why_not(make("bsd-host"), 0.0) is not None
    assert express.why_not(make("hold"), 0.0) is not None
    auto, packet = (netsim.simulate(web(3, 5), "lpsm2", engine=engine) for engine in ("auto", "packet"))
    assert auto.pages.equals(packet.pages)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_slowdown": 1.0}, "max_slowdown must be a number above 1, got 1.0"),
        ({"rate_per_j": 0.0}, "rate_per_j must be above 0 and finite, got 0.0"),
        ({"max_push_delay_s": -1.0}, "max_push_delay_s must be above 0 and finite, got -1.0"),
        ({"price_w": 1.0}, "least_price_w <= price_w <= most_price_w must hold, got 2.0, 1.0, 60.0"),
        ({"prior_ms": ()}, "prior_ms must name waits above 0"),
        ({"shortest_s": -1.0}, "shortest_s must be at least 0"),
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


def test_rounds_can_be_priced_anew():
    rounds = netsim.simulate(web(2010, 10), recording(), config=LOGNORMAL, seed=1).final_policy.record
    one = next(r for r in rounds if r.context == "W4" and r.arrived)
    energy = 0.7 * one.awake_ns * 1e-9 + 0.0015 * one.beacons
    np.testing.assert_allclose(one.costs_at(3.0), energy + 3.0 * one.delay_ns * 1e-9 / 4, rtol=1e-12)
    np.testing.assert_allclose(by_context([one], 3.0)["W4"].costs, [one.costs_at(3.0)])


# -- the rules that learn nothing


def test_bounded_slowdown_of_the_host_keeps_the_bound_while_it_waits_and_naps_otherwise():
    ours, phase = HostBoundedSlowdown("0.2"), make("bsd-phase:0.2")
    client = Client(ours)
    assert client.idle(20) == (20 * MS, 5000 * MS, True, 5000 * MS, False)
    client.sent(60, "a")
    view = View("idle", 61 * MS, 60 * MS, None, 0, 0, (), None)
    assert ours.plan(view) == phase.plan(view)
    view = View("beacon", 400 * MS, 60 * MS, None, 100 * MS, 0, (), None)
    assert ours.plan(view) == phase.plan(view)
    client.received(470, "a", size=1500)
    view = View("idle", 470 * MS, 60 * MS, 470 * MS, 0, 0, (), None)
    assert ours.plan(view) == phase.plan(view)  # the reply is not complete
    client.received(480, "a", size=200, completes=True)
    assert client.idle(480).wake_ns == 5400 * MS


@pytest.mark.parametrize("p", ["0.05", "0.2", "1"])
def test_bounded_slowdown_of_the_host_has_the_latencies_of_the_link_and_less_energy(p):
    pages = [Page(f"p{i}", 300, 1000, (), 3.0 + i * 0.0137) for i in range(40)]
    config = netsim.SimulationConfig(server_delay=netsim.ServerDelay.parse("exponential:0.6"))
    ours, phase = (netsim.simulate(pages, f"{kind}:{p}", config=config, seed=3) for kind in ("bsd-host", "bsd-phase"))
    np.testing.assert_allclose(ours.latency_s, phase.latency_s, atol=0.1)
    assert ours.latency_s.mean() == pytest.approx(phase.latency_s.mean(), rel=5e-3)
    assert ours.energy.total_j < phase.energy.total_j


def test_hold_stays_awake_then_listens_to_each_beacon_while_waiting():
    rule = HoldThenBeacons(50)
    client = Client(rule)
    assert client.idle(0).wake_ns == 5000 * MS
    client.sent(120, "a")
    plan = rule.plan(View("idle", 121 * MS, 120 * MS, None, 0, 0, (), None))
    assert plan == (170 * MS, 200 * MS, True, BEACON, False)
    client.received(640, "a", completes=True)
    assert client.idle(640).wake_ns == 5600 * MS


def test_hold_delays_nothing_that_comes_within_its_time():
    pages = web(4, 30)
    ours, none = netsim.simulate(pages, "hold"), netsim.simulate(pages, "none")
    np.testing.assert_array_equal(ours.latency_s, none.latency_s)


def test_the_host_keeps_no_account_of_what_is_over():
    policy = netsim.simulate(web(2008, 30), "lpsm2", config=LOGNORMAL).final_policy
    account = policy._account
    assert isinstance(account, HostAccount)
    assert not account.outstanding
    assert account._asked_ns == {}
