"""LPSM2: what it takes for an episode, what it charges, what it infers, and whether it keeps what it promises."""

import numpy as np
import pytest

import netsim
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.lpsm2_record import by_context
from netsim.sleep_planning.schedules import NEVER_NS, standard_schedules, table, walk
from tests.netsim.clients import LOGNORMAL, MS, web
from traces.records import Page

BEACON = 100 * MS
STANDARD = standard_schedules()


# -- by hand


def recording(**settings):
    return Lpsm2(Lpsm2Config(record=True, **settings))


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


def test_wake_ups_that_cost_are_avoided():
    """Where a wake-up costs a lot, being on duty for a part of every interval no longer pays."""
    cheap, dear = (netsim.SimulationConfig(server_delay=LOGNORMAL.server_delay, radio=radio)
                   for radio in (netsim.RadioConfig(), netsim.RadioConfig(wakeup_mj=30.0)))  # fmt: skip
    wakeups = [netsim.simulate(web(8), "lpsm2", config=world, seed=8).wakeups for world in (cheap, dear)]
    assert wakeups[1] < wakeups[0]


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
