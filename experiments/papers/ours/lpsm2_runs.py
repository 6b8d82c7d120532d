"""What the study of LPSM2 runs, and what it keeps of a run.

What it models: a task is one seed of one kind of traffic (`traces.traffic`), browsed under every policy; all of them
meet the same pages, servers and messages.  Of a run its energies and statistics of its delays are kept, not its pages:
slowdown against the same page without power saving, the delay that power saving added to messages, stalls of a stream,
and the two reference energies (`experiments.study.compare`).  A learning curve is kept in blocks of ten pages.

Seeds begin at 5000 more than the first one asked for: LPSM2's constants were chosen on small seeds, and these were not
looked at before.  What it leaves out: what the rows say (`papers.ours.lpsm2`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import netsim
from experiments.papers.kit import Rows, Setup
from experiments.quantities import BASELINE, run_row
from lpsm.randomness import WORKLOAD, generator
from traces.traffic import Traffic, draw, stalls

__all__ = ["BLOCK", "BSD", "FIRST_SEED", "HOLD", "HOST", "HOST_AWARE", "LINK", "PHASE", "POLICIES", "PSM", "THESIS"]
__all__ += ["World", "blocks", "measure", "run", "seeds_of", "world_of"]

FIRST_SEED = 5000
BLOCK = 10  # pages
SESSION_PAGES = (20, 200)
LONGEST_PAUSE_S = 1000.0  # a longer one is an absence, and cut out
_P_BSD = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75, 1, 1.4, 2)
_P_PHASE = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.6, 1, 1.5)
TARGETS = (1.02, 1.05, 1.08)
PSM = tuple(f"psm:{period}" for period in (100, 200, 300, 400, 500, 1000))
BSD = tuple(f"bsd:{p:g}" for p in _P_BSD)
PHASE = tuple(f"bsd-phase:{p:g}" for p in _P_PHASE)
HOST = tuple(f"bsd-host:{p:g}" for p in _P_PHASE)
HOST_AWARE = tuple(f"lpsm2:{target:g}" for target in TARGETS)
LINK = tuple(f"lpsm2-link:{target:g}" for target in TARGETS)
HOLD = tuple(f"hold:{ms}" for ms in (0, 25, 50, 100, 200, 400, 800, 1600))
THESIS = ("lpsm", "lpsm:log")
POLICIES = (*PSM, *BSD, *PHASE, *HOST, *HOLD, *THESIS, *HOST_AWARE, *LINK)


class World(NamedTuple):
    """Traffic with its servers, ready to be browsed."""

    traffic: Traffic
    servers: list[netsim.ServerDelay]
    seed: int

    def browse(self, policy: Any) -> netsim.SimulationResult:
        """Browse it under a policy."""
        found = self.traffic
        return netsim.simulate(found.pages, policy, push=found.messages, server_delays=self.servers, seed=self.seed)


def seeds_of(setup: Setup, smoke: int, full: int) -> range:
    """Return so many seeds, none of which LPSM2 was made on."""
    first = FIRST_SEED + setup.seed
    return range(first, first + setup.pick(smoke, full))


def world_of(task: dict[str, Any]) -> World:
    """Draw the traffic of a task: `traffic` is its kind, `seconds` its length, `seed` its seed."""
    seed = task["seed"]
    found = draw(task["traffic"], task["seconds"], generator(seed, WORKLOAD))
    return World(found, [netsim.ServerDelay.parse(server) for server in found.servers], seed)


def run(task: dict[str, Any]) -> Rows:
    """Browse one world under every policy of a task."""
    world = world_of(task)
    common = {"traffic": task["traffic"], "replication": f"seed-{task['seed']}"}
    base = world.browse(BASELINE)
    runs, curves = [], []
    for policy in task["policies"]:
        result = base if policy == BASELINE else world.browse(policy)
        runs.append({**common, "policy": result.policy, **measure(result, base, world)})
        if policy in task.get("curves", ()):
            curves += [{**common, "policy": result.policy, **row} for row in blocks(result, base)]
    return {"runs": runs, "curves": curves} if task.get("curves") else {"runs": runs}


def measure(result: netsim.SimulationResult, base: netsim.SimulationResult, world: World) -> dict[str, Any]:
    """Return the figures of a run beside those of the run without power saving; NaN where nothing is measured."""
    radio, energy, totals = netsim.RadioConfig(), result.energy, run_row(result)
    slowdown = result.latency_s / base.latency_s
    added_s = (result.messages["delay_s"] - base.messages["delay_s"]).to_numpy()
    pages = result.pages
    late_s = stalls(world.traffic.deadlines_s, world.traffic.viewings, pages["issue_s"] + pages["latency_s"])
    late_s = late_s[~np.isnan(late_s)]
    air_s = max(base.uplink_air_s, base.downlink_air_s)
    statistics = {"mean": np.mean, "p95": lambda x: np.quantile(x, 0.95), "max": np.max}
    loading_s = float(base.latency_s.sum())  # says nothing of a run with messages
    return {
        "pages": len(slowdown),
        "messages": len(added_s),
        "segments": len(late_s),
        **{name: totals[name] for name in ("elapsed_s", "awake_j", "sleep_j", "listen_j", "total_j")},
        "j_per_page": float(energy.per_page_j),
        "mean_mw": 1000 * float(energy.total_j / result.elapsed_s),
        **{f"slowdown_{name}": _of(one, slowdown) for name, one in statistics.items()},
        **{f"added_s_{name}": _of(statistics[name], added_s) for name in ("mean", "p95")},
        "stalls": int(np.count_nonzero(late_s)),
        "stall_s": float(late_s.sum()),
        "limit_j": radio.least_j(base.elapsed_s, air_s),
        "page_awake_j": float("nan") if len(added_s) else radio.least_j(base.elapsed_s, loading_s),
    }


def _of(statistic: Any, values: NDArray[np.float64]) -> float:
    return float(statistic(values)) if len(values) else float("nan")


def blocks(result: netsim.SimulationResult, base: netsim.SimulationResult) -> list[dict[str, float]]:
    """Slowdown and energy while loading, by blocks of ten pages."""
    slowdown = result.latency_s / base.latency_s
    energy = result.pages["energy_j"].to_numpy()
    means = {"slowdown": slowdown, "load_j": energy}
    return [
        {"first_page": first, **{name: float(one[first : first + BLOCK].mean()) for name, one in means.items()}}
        for first in range(0, len(slowdown) - BLOCK + 1, BLOCK)
    ]
