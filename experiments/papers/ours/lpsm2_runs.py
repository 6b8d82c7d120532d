"""What the studies of LPSM2 and LPSM3 run, and what they keep of a run.

What it models: a task is one seed of one kind of traffic (`traces.traffic`), browsed under every policy; all of them
meet the same pages, servers and messages.  Of a run its energies and statistics of its delays are kept, not its pages:
slowdown against the same page without power saving, the delay that power saving added to messages, stalls of a stream,
and the two reference energies (`experiments.study.compare`).  A learning curve is kept in blocks of ten pages.

Seeds of LPSM2 begin at 5000 more than the first one asked for: its constants were chosen on small seeds, and these had
not been looked at before.  What it leaves out: what the rows say (`papers.ours.lpsm2`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import netsim
from experiments.papers.kit import Setup
from experiments.quantities import BASELINE, run_row
from lpsm.randomness import WORKLOAD, generator
from traces.records import Page
from traces.traffic import Traffic, draw, stalls

__all__ = ["BLOCK", "BSD", "FIRST_SEED", "HOLD", "HOST", "HOST_AWARE", "LINK", "PHASE", "POLICIES", "PSM", "THESIS"]
__all__ += ["World", "blocks", "family", "kinds", "measure", "runs", "world_of"]

Rows = list[dict[str, Any]]
Family = tuple[str, ...]

FIRST_SEED = 5000
BLOCK = 10  # pages
_P_BSD = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75, 1, 1.4, 2)
_P_PHASE = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.6, 1, 1.5)
TARGETS = (1.02, 1.05, 1.08)


def family(form: str, values: Iterable[float]) -> Family:
    """Return policies that differ in one number, which stands for {} in their form."""
    return tuple(form.format(f"{value:g}") for value in values)


PSM = family("psm:{}", (100, 200, 300, 400, 500, 1000))
BSD = family("bsd:{}", _P_BSD)
PHASE, HOST = (family(f"bsd-{what}:{{}}", _P_PHASE) for what in ("phase", "host"))
HOST_AWARE, LINK = (family(form, TARGETS) for form in ("lpsm2:{}", "lpsm2-link:{}"))
HOLD = family("hold:{}", (0, 25, 50, 100, 200, 400, 800, 1600))
THESIS = ("lpsm", "lpsm:log")
POLICIES = (*PSM, *BSD, *PHASE, *HOST, *HOLD, *THESIS, *HOST_AWARE, *LINK)


class World(NamedTuple):
    """Traffic with its servers, ready to be browsed."""

    traffic: Traffic
    servers: list[netsim.ServerDelay]
    seed: int
    config: netsim.SimulationConfig = netsim.SimulationConfig()

    def browse(self, policy: Any, pages: Sequence[Page] | None = None) -> netsim.SimulationResult:
        """Browse it, or other pages in the place of its own, under a policy."""
        own, messages = self.traffic.pages, self.traffic.messages
        return netsim.simulate(
            own if pages is None else pages, policy, config=self.config, push=messages, server_delays=self.servers,
            seed=self.seed,
        )  # fmt: skip

    def rows(self, results: Mapping[str, netsim.SimulationResult], traffic: str, *, base: Any = None) -> Rows:
        """Return a row a run by its name; `base` is the run without power saving, made if it is not given."""
        base = self.browse(BASELINE) if base is None else base
        common = {"traffic": traffic, "replication": f"seed-{self.seed}"}
        return [{**common, "policy": name, **measure(one, base, self)} for name, one in results.items()]


def kinds(first: int, traffics: Mapping[str, tuple[float, float, int]], **more: Any) -> Callable[[Setup], Any]:
    """Return the sweep of a task a kind of traffic and seed, from a first seed on.

    A kind has its length in seconds, in the smoke size and in the full size, and its number of seeds in the latter.
    """

    def sweep(setup: Setup) -> dict[str, dict[str, Any]]:
        start = first + setup.seed
        return {
            f"{kind} seed {seed}": {"traffic": kind, "seconds": setup.pick(small, full), "seed": seed, **more}
            for kind, (small, full, seeds) in traffics.items()
            for seed in range(start, start + setup.pick(2, seeds))
        }

    return sweep


def world_of(traffic: str, seconds: float, seed: int) -> World:
    """Draw traffic of a kind and length in seconds."""
    drawn = draw(traffic, seconds, generator(seed, WORKLOAD))
    return World(drawn, [netsim.ServerDelay.parse(server) for server in drawn.servers], seed)


def runs(traffic: str, seconds: float, seed: int, policies: Sequence[str]) -> Rows:
    """Browse one world under every policy."""
    world = world_of(traffic, seconds, seed)
    results = {one.policy: one for one in map(world.browse, policies)}
    return world.rows(results, traffic, base=results.get(BASELINE))


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


def blocks(results: Mapping[str, netsim.SimulationResult], base: netsim.SimulationResult, **common: Any) -> Rows:
    """Return slowdown and energy while loading, by blocks of ten pages, of runs by their names."""
    rows = []
    for name, result in results.items():
        means = {"slowdown": result.latency_s / base.latency_s, "load_j": result.pages["energy_j"].to_numpy()}
        for first in range(0, len(base.latency_s) - BLOCK + 1, BLOCK):
            own = {what: float(one[first : first + BLOCK].mean()) for what, one in means.items()}
            rows.append({**common, "policy": name, "first_page": first, **own})
    return rows
