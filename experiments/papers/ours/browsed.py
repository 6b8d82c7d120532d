"""The worlds in which power saving is studied, and what is kept of a run.

What it models: a task is one seed of one world, browsed under every policy; all of them meet the same pages, servers
and messages.  A world is a kind of traffic (`traces.traffic`) on the standard link, or one of `CONFIGS`: the Web model
with lognormal servers elsewhere.  Of a run its energies and statistics of its delays are kept, not its pages:
slowdown against the same page without power saving, the delay that power saving added to messages, stalls of a stream,
and the two reference energies (`experiments.study.compare`).  A learning curve is kept in blocks of ten pages.
What it leaves out: what the rows say (`papers.ours.fronts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import netsim
from experiments.papers.kit import Setup, Sweep
from experiments.quantities import BASELINE, run_row
from lpsm.randomness import WORKLOAD, generator
from traces.records import Page
from traces.traffic import Traffic, draw, stalls

__all__ = ["BLOCK", "CONFIGS", "TARGETS", "WEB", "Family", "World", "blocks", "by_kind", "family", "hurried", "measure"]
__all__ += ["on_the_air", "runs", "world_of"]

Rows = list[dict[str, Any]]
Family = tuple[str, ...]

BLOCK = 10  # pages
TARGETS = (1.02, 1.05, 1.08)  # slowdowns asked for
WEB = ("web-instant", "web-constant", "web-lognormal")


def on_the_air(**how: Any) -> netsim.SimulationConfig:
    """Return the shared air under the radio of an ESP32-C6; the arguments are those of `netsim.AirConfig`."""
    air, radio = netsim.AirConfig(**how), netsim.Radio.named("esp32-c6")
    return netsim.SimulationConfig(medium=air, radio=radio, beacon_interval_ns=102_400_000)


CONFIGS: Mapping[str, netsim.SimulationConfig] = {
    "esp32-c3": netsim.SimulationConfig(radio=netsim.RadioConfig.named("esp32-c3")),
    "1 % lost": netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.01)),
    "3 % lost": netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.03)),
    "air": on_the_air(neighbours=0, neighbour_mbps=1.0),
    "air, 5 neighbours": on_the_air(neighbours=5, neighbour_mbps=1.0),
    "round trip 300 ms": netsim.SimulationConfig(link=netsim.LinkConfig(wired_delay_ms=150.0)),
    "beacons 200 ms": netsim.SimulationConfig(beacon_interval_ns=200_000_000),
    "ten neighbours": on_the_air(neighbours=10, neighbour_mbps=0.5),
}


def family(form: str, values: Iterable[float]) -> Family:
    """Return policies that differ in one number, which stands for {} in their form."""
    return tuple(form.format(f"{value:g}") for value in values)


def hurried(pages: Iterable[Page], factor: float) -> list[Page]:
    """Return pages with such a share of their pauses."""
    return [page._replace(think_s=factor * page.think_s) for page in pages]


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

    def under(self, policies: Iterable[Any]) -> dict[str, netsim.SimulationResult]:
        """Browse it under every policy; the results by the policies' names, as they are given."""
        return {policy if isinstance(policy, str) else policy.spec: self.browse(policy) for policy in policies}

    def rows(self, results: Mapping[str, netsim.SimulationResult], traffic: str, *, base: Any = None) -> Rows:
        """Return a row a run by its name; `base` is the run without power saving, made if it is nowhere."""
        base = base or results.get(BASELINE) or self.browse(BASELINE)
        common = {"traffic": traffic, "replication": f"seed-{self.seed}"}
        return [{**common, "policy": name, **measure(one, base, self)} for name, one in results.items()]


def by_kind(
    first: int, traffics: Mapping[str, tuple[float, float, int]],
    policies: Callable[[str], Iterable[str]] | None = None, *, by_seed: bool = False,
) -> Sweep:  # fmt: skip
    """Return the sweep of a task a world and seed, from a first seed on, with the policies of the world if there are.

    A world has its length in seconds, in the smoke size and in the full size, and its number of seeds in the latter.
    With `by_seed` what an interrupted run has is of all worlds.
    """

    def sweep(setup: Setup) -> dict[str, dict[str, Any]]:
        places = [(place, kind) for kind, how in traffics.items() for place in range(setup.pick(2, how[2]))]
        tasks = {}
        for place, kind in sorted(places, key=lambda one: one[0]) if by_seed else places:
            seed = first + setup.seed + place
            own = {"traffic": kind, "seconds": setup.pick(*traffics[kind][:2]), "seed": seed}
            tasks[f"{kind} seed {seed}"] = own if policies is None else {**own, "policies": list(policies(kind))}
        return tasks

    return sweep


def world_of(traffic: str, seconds: float, seed: int, *, pause: float = 1.0) -> World:
    """Draw a world of a kind and length in seconds, with such a share of its pauses."""
    drawn = draw("web-lognormal" if traffic in CONFIGS else traffic, seconds, generator(seed, WORKLOAD))
    servers = [netsim.ServerDelay.parse(server) for server in drawn.servers]
    config = CONFIGS.get(traffic, netsim.SimulationConfig())
    return World(drawn._replace(pages=hurried(drawn.pages, pause)), servers, seed, config)


def runs(traffic: str, seconds: float, seed: int, policies: Sequence[str]) -> Rows:
    """Browse one world under every policy."""
    world = world_of(traffic, seconds, seed)
    return world.rows(world.under(policies), traffic)


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


def blocks(
    results: Mapping[str, netsim.SimulationResult], base: netsim.SimulationResult, traffic: str, seed: int
) -> Rows:  # fmt: skip
    """Return slowdown and energy while loading, by blocks of ten pages, of runs by their names."""
    rows = []
    for name, result in results.items():
        means = {"slowdown": result.latency_s / base.latency_s, "load_j": result.pages["energy_j"].to_numpy()}
        for first in range(0, len(base.latency_s) - BLOCK + 1, BLOCK):
            own = {what: float(one[first : first + BLOCK].mean()) for what, one in means.items()}
            common = {"traffic": traffic, "replication": f"seed-{seed}", "policy": name}
            rows.append({**common, "first_page": first, **own})
    return rows
