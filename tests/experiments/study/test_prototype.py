"""The comparison against an independent packet prototype of the same model, run on other seeds.

Its rows (20 x 100 pages): J/page; beacon energy against static PSM, percent; slowdown against no power saving.
"""

import pytest

import netsim
from experiments.study import sweep
from experiments.study.compare import compare
from experiments.study.executor import checked_jobs
from experiments.study.run import run

PER_OBJECT = {"connections": "per-object", "tcp": netsim.TcpConfig(mss_bytes=536, nagle=True)}
WORLDS = {
    "defaults": {},
    "per object": PER_OBJECT,
    "per object, server delay": {**PER_OBJECT, "server_delay": netsim.ServerDelay(mean_s=0.5)},
}
PROTOTYPE = {
    "psm:100": ((3.32, 0, 2.21), (3.36, 0, 2.36), (3.43, 0, 1.35)),
    "bsd:1": ((2.83, -88, 1.00), (2.95, -89, 1.00), (3.16, -87, 1.44)),
    "bsd:0.5": ((2.90, -88, 1.00), (3.02, -88, 1.00), (3.36, -87, 1.16)),
    "bsd:0.2": ((3.12, -87, 1.00), (3.24, -87, 1.00), (3.99, -87, 1.07)),
    "bsd:0.1": ((3.48, -86, 1.00), (3.60, -86, 1.00), (4.40, -86, 1.00)),
    "lpsm": ((2.88, -60, 3.34), (2.92, -58, 3.05), (2.99, -57, 1.46)),
    "lpsm:log": ((2.71, -83, 3.67), (2.74, -82, 3.16), (2.82, -80, 1.53)),
}


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_signs_energies_beacons_and_slowdowns_are_those_of_the_prototype(world):
    column = list(WORLDS).index(world)
    policies = ["none", *PROTOTYPE]
    workloads = [sweep.Generated(n_pages=100, seed=seed) for seed in range(20)]
    tasks = sweep.tasks(workloads, policies, netsim.SimulationConfig(**WORLDS[world]))
    frames = sweep.frames(run(sweep.simulate, tasks, jobs=checked_jobs(None)))
    ours = compare(frames, policies, awake_mw=750.0, asleep_mw=50.0).summary.set_index("policy")
    base = PROTOTYPE["psm:100"][column][0]
    for policy, rows in PROTOTYPE.items():
        energy, beacons, slowdown = rows[column]
        percent = 100 * (energy / base - 1)
        found = float(ours.loc[policy, "energy_vs_psm_percent"])
        # three points, or what 20 seeds of heavy-tailed think times leave open
        allowed = max(3.0, float(ours.loc[policy, "energy_vs_psm_percent_half_width"]))
        assert abs(found - percent) <= allowed, policy
        assert found * percent >= 0 or abs(percent) < allowed, policy
        assert abs(float(ours.loc[policy, "beacon_energy_vs_psm_percent"]) - beacons) <= 5, policy
        assert float(ours.loc[policy, "slowdown_mean"]) == pytest.approx(slowdown, rel=0.1), policy
