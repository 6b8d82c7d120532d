"""LPSM3 in 25 worlds that its constants were not chosen on: energy against all that rivals can do between them.

What it models: every world is browsed under `lpsm3` and `lpsm3-link`, asked for 1.05 and 1.2 and for messages 0.4 s
late, and under 36 settings of rivals.  Who may change from rival to rival as time goes by reaches every mean between
theirs: the *time-sharing hull*, the least energy of a mixture of rivals that is no slower than LPSM3, neither its pages
nor its messages (a linear program).  The mixture is that of the means; its weights and the worth of slowdown and delay
then make a difference a seed, which is paired.
What it leaves out: rivals that change by what they see; sessions of few pages, which `papers.ours.browsing` has.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

import netsim
from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment, Setup
from experiments.papers.ours.air import on_the_air
from experiments.papers.ours.lpsm2_fronts import values
from experiments.papers.ours.lpsm2_runs import family, world_of
from experiments.papers.predicates import at_most, each, reaching

__all__ = ["EXPERIMENTS", "OWN", "RIVALS", "WORLDS", "above_hull", "time_shared"]

FIRST_SEED, SEEDS, SMOKE_S = 100, 10, 900.0
TARGETS, PUSH_S = (1.05, 1.2), 0.4
OWN = tuple(f"{kind}:{target}:400" for target in TARGETS for kind in ("lpsm3", "lpsm3-link"))
_P = (0.07, 0.14, 0.28, 0.6, 1.5)
RIVALS = (
    "none", "dynamic", "lpsm", "lpsm:log", "lpsm2-link:1.05",
    *family("listen:{}", (1, 2, 3, 5, 10, 20)), *family("bsd:{}", _P), *family("bsd-phase:{}", _P),
    *family("bsd-host:{}", _P), *family("hold:{}", (0, 25, 50, 100, 200, 400)),
    *family("lpsm2:{}", (1.02, 1.05, 1.08, 1.2)),
)  # fmt: skip
WORLDS: Mapping[str, float] = {
    "chat": 3000.0, "voice": 30.0, "game": 30.0, "long-poll": 1500.0, "long-poll-and-web": 1500.0, "sensor": 3000.0,
    "telemetry": 500.0, "mail": 3000.0, "polling": 1000.0, "update": 3000.0, "web-instant": 4000.0,
    "web-constant": 4000.0, "web-lognormal": 4000.0, "web-exponential": 4000.0, "web-pareto": 4000.0,
    "web-jump": 4000.0, "web-cache": 4000.0, "push-memoryless": 3000.0, "push-bursty": 3000.0, "web-and-push": 4000.0,
    "streaming": 300.0, "shifting": 1500.0, "round trip 300 ms": 4000.0, "beacons 200 ms": 4000.0,
    "ten neighbours": 550.0,
}  # fmt: skip
"""The worlds and their length, seconds; all of them are kinds of traffic, but for the last three."""
_CONFIGS = {
    "round trip 300 ms": netsim.SimulationConfig(link=netsim.LinkConfig(wired_delay_ms=150.0)),
    "beacons 200 ms": netsim.SimulationConfig(beacon_interval_ns=200_000_000),
    "ten neighbours": on_the_air(neighbours=10, neighbour_mbps=0.5),
}
MEASURES = ("slowdown_mean", "added_s_mean")
WORLDS_OF_LPSM3 = Experiment("ours/lpsm3-worlds", "LPSM3 in 25 worlds beside all mixtures of 36 rivals", "10 min")


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    first = FIRST_SEED + setup.seed
    return {
        f"{world} seed {seed}": {"world": world, "seed": seed, "seconds": setup.pick(min(SMOKE_S, lasts_s), lasts_s)}
        for seed in range(first, first + setup.pick(2, SEEDS))
        for world, lasts_s in WORLDS.items()
    }


@WORLDS_OF_LPSM3.runs(_sweep)
def runs(world: str, seed: int, seconds: float, policies: tuple[str, ...] = (*OWN, *RIVALS)) -> list[dict[str, Any]]:
    """Browse one world under every policy."""
    config = _CONFIGS.get(world)
    drawn = world_of(world if config is None else "web-lognormal", seconds, seed)
    drawn = drawn if config is None else drawn._replace(config=config)
    base = drawn.browse("none")
    return drawn.rows({name: base if name == "none" else drawn.browse(name) for name in policies}, world, base=base)


def time_shared(
    measures: NDArray[np.float64], joules: NDArray[np.float64], most: NDArray[np.float64]
) -> tuple[Any, Any]:
    """Return the mixture of policies of least energy that is nowhere above `most`, and what being below it is worth.

    Parameters
    ----------
    measures : array, shape (policies, k)
        Slowdown, delay and so on of each.
    joules : array, shape (policies,)
    most : array, shape (k,)

    Returns
    -------
    weights : array, shape (policies,)
    worth : array, shape (k,)
        Joules for each unit by which a measure may be larger; at least 0.

    Examples
    --------
    >>> time_shared(np.array([[1.0], [1.1], [1.3]]), np.array([4.0, 2.0, 1.5]), np.array([1.05]))[0].round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    found = linprog(joules, measures.T, np.maximum(most, measures.min(axis=0)), np.ones((1, len(joules))), [1.0])
    return found.x, -found.ineqlin.marginals


def above_hull(record: Record, world: str, policy: str) -> Noted:
    """Measure by how many percent a policy is above the time-sharing hull of the rivals, a number a replication."""
    tables = {name: values(record, world, name, [policy, *RIVALS]) for name in MEASURES}
    tables = {name: table for name, table in tables.items() if not table.isna().any(axis=None)}
    joules = values(record, world, "total_j", [policy, *RIVALS]).to_numpy()
    found = np.stack([table.to_numpy() for table in tables.values()], axis=-1)
    weights, worth = time_shared(found.mean(axis=0)[1:], joules.mean(axis=0)[1:], found.mean(axis=0)[0])
    shared_j, slower = joules[:, 1:] @ weights, found[:, 0] - np.einsum("sik,i->sk", found[:, 1:], weights)
    above_j = joules[:, 0] - shared_j + (slower - slower.mean(axis=0)) @ worth
    at = ", ".join(f"{own.mean():.3f}" for own in found[:, 0].T)
    return Noted(100 * above_j / shared_j.mean(), f"above at {at}")


def _slowdowns(record: Record, target: float, kind: str) -> dict[str, Any]:
    policy = f"{kind}:{target}:400"
    found = {world: values(record, world, "slowdown_mean", [policy])[policy] for world in WORLDS}
    return {world: own for world, own in found.items() if own.notna().all()}


def _delays(record: Record, policy: str) -> dict[str, Any]:
    found = {}
    for world in WORLDS:
        number = values(record, world, "messages", [policy])[policy]
        delay_s = values(record, world, "added_s_mean", [policy])[policy][number >= 50]
        if len(delay_s):
            found[world] = delay_s
    return found


def _link_above_host(record: Record, target: float) -> dict[str, Any]:
    host, link = (_slowdowns(record, target, kind) for kind in ("lpsm3", "lpsm3-link"))
    return {world: link[world] - host[world] for world in host}


WORLDS_OF_LPSM3.claims += [
    *(Claim(f"{world}: {policy} is not above the time-sharing hull",
            reaching(partial(above_hull, world=world, policy=policy), high=0.0, unit=" %"), "0 %")
      for policy in OWN for world in WORLDS),
    *(Claim(f"asked for {target:g}, {kind} gives at most 3 % of the excess and 0.005 more on every seed",
            each(partial(_slowdowns, target=target, kind=kind), high=1.005 + 1.03 * (target - 1.0)))
      for target in TARGETS for kind in ("lpsm3", "lpsm3-link")),
    *(Claim(f"where 50 or more messages came, {policy} delays them by at most 10 % more than asked",
            each(partial(_delays, policy=policy), high=1.1 * PUSH_S, unit=" s"), f"{PUSH_S:g} s") for policy in OWN),
    *(Claim(f"asked for {target:g}, pages under lpsm3-link are at most 3 % slower than under lpsm3",
            at_most(partial(_link_above_host, target=target), 0.03)) for target in TARGETS),
]  # fmt: skip


@WORLDS_OF_LPSM3.picture("lpsm3-worlds", x="percent above the time-sharing hull", y="world")
def _picture(record: Record) -> Any:
    rows = []
    for place, world in enumerate(WORLDS):
        for policy in OWN[::2]:
            sample = np.asarray(above_hull(record, world, policy).sample)
            rows.append({"group": policy, "x": sample.mean(), "y": place, "x_half_width": 2 * sample.std() / 3})
    return [("25 worlds", pd.DataFrame(rows))]


EXPERIMENTS = (WORLDS_OF_LPSM3,)
