"""LPSM3 in worlds that its constants were not chosen on: lossy links, the shared air, and 25 kinds of traffic and link.

What it models: `ours/lpsm3-air` browses pages of the Web model with lognormal servers, pauses a fifth as long, on the
pair of wires with 1 and 3 % of the frames lost, and on 802.11g at 54 Mb/s with beacons every 102.4 ms, alone and beside
five neighbours that send 1 Mb/s each, under the radio of an ESP32-C6.  Policies are compared with families as in
`papers.ours.lpsm3`, but the slowdown is that of all pages of a run together: the frames that are lost differ between
policies, and a page whose retransmission timer runs out under one of them alone says nothing of it.
In `ours/lpsm3-worlds` every world is browsed under `lpsm3` and `lpsm3-link`, asked for 1.05 and 1.2 and for messages
0.4 s late, and under 36 settings of rivals.  Who may change from rival to rival as time goes by reaches every mean
between theirs: the *time-sharing hull*, the least energy of a mixture of rivals that is no slower than LPSM3, neither
its pages nor its messages (a linear program).  The mixture is that of the means; its weights and the worth of slowdown
and delay then make a difference a seed, which is paired.
What it leaves out: cells of several clients, hidden stations, messages and streams on the air; rivals that change by
what they see; sessions of few pages, which `papers.ours.browsing` has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

from experiments.papers.claims import Noted, Record
from experiments.papers.kit import Experiment
from experiments.papers.ours import lpsm3
from experiments.papers.ours.browsed import by_kind, family, runs, world_of
from experiments.papers.ours.fronts import DELAY, SLOWDOWN, draw_fronts, limited, saving_claim, values
from experiments.papers.ours.lpsm2 import UP_TO_8
from experiments.papers.predicates import at_most, each, reaching

__all__ = ["EXPERIMENTS", "OWN", "RIVALS", "WORLDS", "WORLDS_OF_LPSM3", "above_hull", "time_shared"]

# -- lossy links and the shared air --------------------------------------------------------------------------------

PAGES = {"1 % lost": 200, "3 % lost": 200, "air": 30, "air, 5 neighbours": 30}  # of the full size, on average
PAUSE = 0.2  # of the Web model's thinking
SECONDS_A_PAGE = 55.0
TOGETHER = "slowdown_all"
FAMILIES = (
    ("LPSM2", UP_TO_8), ("BSD, host", lpsm3.HOST[1:]), ("hold, host", family("hold:{}", (0, 50, 100, 200, 400))),
)  # fmt: skip
AIR = Experiment("ours/lpsm3-air", "LPSM3 where frames are lost, and on the shared air", "3 min")
_LENGTHS = {name: (5 * SECONDS_A_PAGE, count * SECONDS_A_PAGE, 10) for name, count in PAGES.items()}
_AIR_POLICIES = (lpsm3.OWN, lpsm3.LINKED, *(one for _, own in FAMILIES for one in own))


@AIR.runs(by_kind(lpsm3.FIRST_SEED, _LENGTHS, lambda _: _AIR_POLICIES, by_seed=True))
def on_air(traffic: str, seconds: float, seed: int, policies: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Browse one world under every policy."""
    world = world_of(traffic, seconds, seed, pause=PAUSE)
    base, results = world.browse("none"), world.under(policies)
    rows = world.rows(results, traffic, base=base)
    for row, one in zip(rows, results.values(), strict=True):
        row |= {TOGETHER: float(one.latency_s.sum() / base.latency_s.sum()), "base_j": float(base.energy.total_j)}
    return {"runs": rows}


AIR.claims += [limited(name, policy, 1.0605, TOGETHER) for policy in _AIR_POLICIES[:2] for name in PAGES]
AIR.claims += [saving_claim(name, lpsm3.OWN, own, words, 0.0, TOGETHER) for name in PAGES for words, own in FAMILIES]
_families = [*FAMILIES, ("LPSM3", (lpsm3.OWN,)), ("LPSM3, link", (lpsm3.LINKED,))]
draw_fronts(AIR, "lpsm3-air", dict.fromkeys(PAGES, _families), y=TOGETHER, over="base_j", most=(1.3, 1.0))

# -- 25 worlds -----------------------------------------------------------------------------------------------------

FIRST_SEED, SEEDS, SMOKE_S = 100, 10, 900.0
TARGETS, PUSH_S = (1.05, 1.2), 0.4
KINDS = ("lpsm3", "lpsm3-link")
OWN = tuple(f"{kind}:{target}:400" for target in TARGETS for kind in KINDS)
_P = (0.07, 0.14, 0.28, 0.6, 1.5)
RIVALS = (
    "none", "dynamic", "lpsm", "lpsm:log", "lpsm2-link:1.05",
    *family("listen:{}", (1, 2, 3, 5, 10, 20)), *family("bsd:{}", _P), *family("bsd-phase:{}", _P),
    *family("bsd-host:{}", _P), *lpsm3.HOLD, *family("lpsm2:{}", (1.02, 1.05, 1.08, 1.2)),
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
WORLDS_OF_LPSM3 = Experiment("ours/lpsm3-worlds", "LPSM3 in 25 worlds beside all mixtures of 36 rivals", "10 min")
_SECONDS = {world: (min(SMOKE_S, lasts_s), lasts_s, SEEDS) for world, lasts_s in WORLDS.items()}
WORLDS_OF_LPSM3.runs(by_kind(FIRST_SEED, _SECONDS, lambda _: (*OWN, *RIVALS), by_seed=True))(runs)


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


@WORLDS_OF_LPSM3.claim(
    "{world}: {policy} is not above the time-sharing hull", reaching, "0 %", high=0.0, unit=" %",
    of=[{"world": world, "policy": policy} for policy in OWN for world in WORLDS],
)  # fmt: skip
def above_hull(record: Record, world: str, policy: str) -> Noted:
    """Measure by how many percent a policy is above the time-sharing hull of the rivals, a number a replication."""
    tables = [values(record, world, name, [policy, *RIVALS]) for name in (SLOWDOWN, DELAY)]
    joules = values(record, world, "total_j", [policy, *RIVALS]).to_numpy()
    found = np.stack([table.to_numpy() for table in tables if not table.isna().any(axis=None)], axis=-1)
    weights, worth = time_shared(found.mean(axis=0)[1:], joules.mean(axis=0)[1:], found.mean(axis=0)[0])
    shared_j, slower = joules[:, 1:] @ weights, found[:, 0] - np.einsum("sik,i->sk", found[:, 1:], weights)
    above_j = joules[:, 0] - shared_j + (slower - slower.mean(axis=0)) @ worth
    at = ", ".join(f"{own.mean():.3f}" for own in found[:, 0].T)
    return Noted(100 * above_j / shared_j.mean(), f"above at {at}")


@WORLDS_OF_LPSM3.claim(
    "asked for {target:g}, {kind} gives at most 3 % of the excess and 0.005 more on every seed", each,
    of=[{"target": one, "kind": kind, "high": 1.005 + 1.03 * (one - 1.0)} for one in TARGETS for kind in KINDS],
)  # fmt: skip
def _slowdowns(record: Record, target: float, kind: str) -> dict[str, Any]:
    found = {world: values(record, world, SLOWDOWN, f"{kind}:{target}:400") for world in WORLDS}
    return {world: own for world, own in found.items() if own.notna().all()}


@WORLDS_OF_LPSM3.claim(
    "where 50 or more messages came, {policy} delays them by at most 10 % more than asked", each, f"{PUSH_S:g} s",
    high=1.1 * PUSH_S, unit=" s", of=[{"policy": policy} for policy in OWN],
)  # fmt: skip
def _delays(record: Record, policy: str) -> dict[str, Any]:
    columns = {world: [values(record, world, one, policy) for one in (DELAY, "messages")] for world in WORLDS}
    found = {world: delay_s[count >= 50] for world, (delay_s, count) in columns.items()}
    return {world: delay_s for world, delay_s in found.items() if len(delay_s)}


@WORLDS_OF_LPSM3.claim(
    "asked for {target:g}, pages under lpsm3-link are at most 3 % slower than under lpsm3", at_most, limit=0.03,
    of=[{"target": target} for target in TARGETS],
)  # fmt: skip
def _link_above_host(record: Record, target: float) -> dict[str, Any]:
    host, link = (_slowdowns(record, target, kind) for kind in KINDS)
    return {world: link[world] - host[world] for world in host}


@WORLDS_OF_LPSM3.picture("lpsm3-worlds", x="percent above the time-sharing hull", y="world")
def _picture(record: Record) -> Any:
    rows = []
    for place, world in enumerate(WORLDS):
        for policy in OWN[::2]:
            sample = np.asarray(above_hull(record, world, policy).sample)
            rows.append({"group": policy, "x": sample.mean(), "y": place, "x_half_width": 2 * sample.std() / 3})
    return [("25 worlds", pd.DataFrame(rows))]


EXPERIMENTS = (AIR, WORLDS_OF_LPSM3)
