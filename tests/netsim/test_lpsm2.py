"""LPSM2: what it takes for an episode, what it charges, what it infers, and whether it keeps what it promises."""

import numpy as np
import pytest

import netsim
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config
from netsim.sleep_planning.schedules import NEVER_NS, standard_schedules, table, walk
from tests.netsim.clients import LOGNORMAL, MS, web
from traces.records import Page

BEACON = 100 * MS
STANDARD = standard_schedules()


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


@pytest.mark.parametrize(("kind", "target"), [("lpsm2", 1.05), ("lpsm2-link", 1.08)])
def test_the_slowdown_asked_for_is_kept_with_less_energy_than_bounded_slowdown(kind, target):
    ours = np.mean([slowdown_and_energy(f"{kind}:{target}", seed, LOGNORMAL) for seed in (2001, 2002, 2003)], axis=0)
    bounded = np.mean([slowdown_and_energy("bsd:0.3", seed, LOGNORMAL) for seed in (2001, 2002, 2003)], axis=0)
    assert 1.0 < ours[0] < target + 0.01
    assert bounded[0] > 1.03
    assert ours[1] < 0.92 * bounded[1]
