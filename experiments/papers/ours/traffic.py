"""Power saving on traffic that changes, and in other worlds: what the thesis wished for, and what decides a slowdown.

What it models: `ours/shifting-traffic` browses the Web model in blocks of 25 pages, in turn hasty and small
(think times and replies a fifth) and slow and large (three times), beside pages all scaled by their mean, 1.6; once
with the same server throughout, and once with servers that shift as well (0.1 and 1.5 s, beside 0.8 s).
The thesis (section 2.5.4) expects LPSM to do better against BSD there.  Of LPSM's polls the losses of all polling times
follow, and so its regret against the best one, and against the best k in turn; k = 8 are the blocks of the traffic.
`ours/sensitivity` varies the round-trip time and the number of connections under the thesis' settings.
What it leaves out: LPSM2 on traffic that shifts (`papers.ours.lpsm2`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import log
from typing import Any

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.papers.claims import Claim, Noted, Record, point, shown, where, wide
from experiments.papers.kit import Experiment, Seeds, Sizes, Sweep, over
from experiments.papers.predicates import below, both, each, explained_by, falling
from experiments.papers.thesis.browsing import settings
from experiments.presets import THESIS
from experiments.study.compare import estimate, linearised
from lpsm import LearnAlpha, hindsight
from lpsm.bounds.experts import fixed_share_partition_loss
from lpsm.randomness import WORKLOAD, generator
from netsim.policies.lpsm import Lpsm
from netsim.policies.polling import BEACON_MS, ENERGY_TERMS

__all__ = ["EXPERIMENTS", "browse", "in_turn", "regrets_of"]

POLICIES = ("none", "psm:100", "bsd:1", "bsd:0.5", "lpsm", "lpsm:log")
BLOCK = 25  # pages
FACTORS = {"stationary": [1.6], "shifting": [0.2, 3.0]}
SERVERS = ", servers too"
SEGMENTS = (1, 2, 4, 8, 16, 32, 64)
SHIFTING = Experiment("ours/shifting-traffic", "LPSM against BSD on traffic that shifts, and its regret", "2 min")
SENSITIVITY = Experiment("ours/sensitivity", "slowdown against round-trip time and number of connections", "1 min")


def _every(axis: str, worlds: Any) -> Sweep:
    """Return the sweep of a task a world, seed and policy; the axis of the worlds begins with their names."""
    return over(
        {axis: worlds, "seed": Seeds(2, 10), "policy": POLICIES}, "{world} seed {seed} {policy}",
        pages=Sizes(30, 200), server_delay_s=THESIS["server_delay"],
    )  # fmt: skip


SHIFTED = [(f"{name}{more}", factors, bool(more), True) for more in ("", SERVERS) for name, factors in FACTORS.items()]
RTTS = [(f"rtt {rtt:g}", rtt, None) for rtt in (0.01, 0.04, 0.1, 0.2)]
CONNECTIONS = [(f"connections {count}", None, count) for count in (1, 2, 4, 8)]
WORLDS = Sizes([*RTTS[1::2], *CONNECTIONS[::2]], [*RTTS, *CONNECTIONS])


@SENSITIVITY.runs(_every("world rtt_s connections", WORLDS))
@SHIFTING.runs(_every("world factors servers regret", SHIFTED))
def browse(
    world: str, policy: str, seed: int, pages: int, server_delay_s: float, factors: Sequence[float] = (1.0,),
    servers: bool = False, regret: bool = False, rtt_s: float | None = None, connections: int | None = None,
) -> dict[str, list[dict[str, Any]]]:  # fmt: skip
    """Run one policy in one world, whose blocks of pages (and servers) are scaled by the factors in turn."""
    scales = [factors[number // BLOCK % len(factors)] for number in range(pages)]
    drawn = traces.generate(pages, generator(seed, WORKLOAD))
    visited = [_scaled(page, factor) for page, factor in zip(drawn, scales, strict=True)]
    delays = [netsim.ServerDelay(mean_s=server_delay_s * factor) for factor in scales] if servers else None
    config = settings(server_delay_s, rtt_s=rtt_s, connections=connections)
    result = netsim.simulate(visited, policy, config=config, seed=seed, server_delays=delays)
    common = {"world": world, "replication": f"seed-{seed}", "policy": result.policy}
    latencies = result.pages["latency_s"]
    tables = {
        "runs": [{**common, "pages": len(latencies), "total_j": float(result.energy.total_j)}],
        "latencies": [{**common, "number": i, "latency_s": float(value)} for i, value in enumerate(latencies)],
    }
    if regret and isinstance(result.final_policy, Lpsm):
        tables["regrets"] = [{**common, **row} for row in regrets_of(result)]
    return tables


def _scaled(page: traces.Page, factor: float) -> traces.Page:
    objects = tuple((request, max(1, round(reply * factor))) for request, reply in page.objects)
    reply_bytes = max(1, round(page.reply_bytes * factor))
    return page._replace(reply_bytes=reply_bytes, objects=objects, think_s=page.think_s * factor)


def regrets_of(result: netsim.SimulationResult) -> list[dict[str, float]]:
    """Return what LPSM's polls lost, and what the best polling times in turn would have, nats.

    Losses are taken at LPSM's own polls (thesis, equation 2.35): what was buffered there would not have been
    the same at other polls.  `mixture` is loss (2.8), `polling` that at the time slept (2.34); of k segments `best` is
    the least loss, and `bound` the most that the mixture may then lose.
    """
    policy = result.final_policy
    assert isinstance(policy, Lpsm)
    config, alphas = policy.learner.config, policy.learner.alphas
    slept_ms = np.ceil(result.polls["slept_ms"].to_numpy() / BEACON_MS - 1e-9) * BEACON_MS  # nominal: whole beacons
    buffered = result.polls["buffered_bytes"].to_numpy(dtype=float)
    times = np.array(config.times_ms)
    losses = 0.5 * config.price() * np.outer(buffered / slept_ms, times**2) + np.array(config.energy_costs())
    mixture, parts = in_turn(losses, alphas, SEGMENTS)
    spent = map(ENERGY_TERMS[str(config.energy)], slept_ms.tolist())
    polling = float((0.5 * config.price() * buffered * slept_ms).sum() + sum(spent))
    common = {"polls": float(len(losses)), "mixture": mixture, "polling": polling}
    return [{"k": float(k), **common, "best": best, "bound": bound} for k, (best, bound) in parts.items()]


def in_turn(
    losses: Any, alphas: Iterable[float], segments: Sequence[int], shared: float = 0.0
) -> tuple[float, dict[int, tuple[float, float]]]:
    """Return the loss of Learn-alpha, and for k segments that of the best experts in turn and what it bounds.

    Parameters
    ----------
    losses : array, shape (rounds, experts)
    alphas : iterable of float
        Switching rates, which begin with equal weights.
    segments : sequence of int
        Numbers of segments; more than there are rounds count as one a round.
    shared : float
        What every expert loses beyond `losses`, over all rounds.
    """
    t, n = losses.shape
    rates = [float(alpha) for alpha in alphas]
    mixture = LearnAlpha(n_experts=n, alphas=rates).run(losses, weights=False).loss.sum() + shared
    curve = hindsight.partition_curve(losses, min(max(segments), t))
    parts = {}
    for k in segments:
        best = float(curve[min(k, t) - 1] + shared)
        bound = min(fixed_share_partition_loss(best, min(k, t), t, n, alpha) for alpha in rates) + log(len(rates))
        parts[k] = best, bound
    return float(mixture), parts


# -- traffic that shifts -------------------------------------------------------------------------------------------


def _joules(record: Record, world: str) -> pd.DataFrame:
    """Return the energy a page: a row a replication, a column a policy."""
    runs = record["runs"].assign(value=record["runs"]["total_j"] / record["runs"]["pages"])
    return wide({"runs": runs}, "runs", "value", world=world)


def _slowdowns(record: Record, world: str) -> pd.DataFrame:
    table = wide(record, "latencies", "latency_s", index=["replication", "number"], world=world)
    return table.div(table["none"], axis=0).groupby(level="replication").mean().sort_index()


def _shifting_less_stationary(record: Record, policy: str, rival: str, measured: Any, more: str) -> Noted:
    tables = (measured(record, f"{kind}{more}") for kind in FACTORS)
    stationary, shifting = (table[policy] / table[rival] for table in tables)
    words = f"({shown(estimate(stationary))} stationary, {shown(estimate(shifting))} shifting)"
    return Noted(shifting - stationary, words)


def _over_psm(record: Record) -> dict[str, Any]:
    joules = _joules(record, "shifting")
    return {one: 100 * (linearised(joules[one], joules["psm:100"]) - 1) for one in ("lpsm", "lpsm:log")}


def _gap(regrets: pd.DataFrame, world: str, policy: str, segments: Sequence[int]) -> dict[str, Any]:
    """Mixture loss less that of the best k polling times in turn."""
    rows = where(regrets, world=world, policy=policy)
    return {f"k = {k}:": (rows["mixture"] - rows["best"])[rows["k"] == k] for k in segments}


def _over_bound(regrets: pd.DataFrame, world: str, policy: str) -> dict[str, Any]:
    rows = where(regrets, world=world, policy=policy)
    return {"over its bound": rows["mixture"] / rows["bound"]}


def _switching(world: str, policy: str) -> Claim:
    own: dict[str, Any] = {"world": world, "policy": policy}
    return Claim(
        f"{policy} loses less than the best fixed polling time on {world}, and never more than its bound",
        both(below(partial(_gap, segments=(1,), **own), unit=" nats"), each(partial(_over_bound, **own), high=1.0)),
        reason="mixture loss less that of the best k polling times in turn, over seeds",
        why=explained_by("beyond the best k in turn", partial(_gap, segments=SEGMENTS[1:], **own)),
    )


SHIFTING.claims += [
    Claim("LPSM uses less energy than static PSM on shifting traffic", below(_over_psm, unit=" %")),
    *(Claim(f"{what} of {policy} over that of {rival} is smaller on shifting traffic{more}",
            below(partial(_shifting_less_stationary, policy=policy, rival=rival, measured=measured, more=more)),
            "we would expect LPSM to perform better than BSD",
            "ratio on shifting traffic less that on stationary, paired over seeds")
      for more in ("", SERVERS)
      for what, measured in (("energy", _joules), ("slowdown", _slowdowns))
      for policy, rival in (("lpsm", "bsd:0.5"), ("lpsm:log", "bsd:1"))),
    *(_switching(f"shifting{more}", policy) for more in ("", SERVERS) for policy in ("lpsm", "lpsm:log")),
]  # fmt: skip


@SHIFTING.picture("shifting-traffic", x="energy per page [J]", y="mean slowdown of a page")
def _both_axes(record: Record) -> pd.DataFrame:
    rows = []
    for world in (*FACTORS, f"shifting{SERVERS}"):
        joules, slow = _joules(record, world).mean(), _slowdowns(record, world).mean()
        rows += [{"group": f"{one} ({world})", "x": joules[one], "y": slow[one]} for one in POLICIES[1:]]
    return pd.DataFrame(rows)


@SHIFTING.picture("shifting-regret", x="polling times in turn", y="loss of LPSM above theirs [nats]", x_scale="log")
def _regret(regrets: pd.DataFrame) -> pd.DataFrame:
    gaps = {world: _gap(regrets, world, "lpsm", SEGMENTS) for world in dict.fromkeys(regrets["world"])}
    return pd.DataFrame(
        [point(world, k, own) for world, of_k in gaps.items() for k, own in zip(SEGMENTS, of_k.values(), strict=True)]
    )


# -- other worlds --------------------------------------------------------------------------------------------------


def _by_world(record: Record, prefix: str, policy: str) -> dict[str, Any]:
    """Slowdown of a policy in each of the worlds that differ in one thing, in its order."""
    worlds = [world for world in dict.fromkeys(record["runs"]["world"]) if world.startswith(prefix)]
    worlds.sort(key=lambda world: float(world.removeprefix(prefix)))
    return {world: _slowdowns(record, world)[policy] for world in worlds}


def _waits_and_pages(latencies: pd.DataFrame) -> str:
    """Say what becomes of the wait and of the page as connections become more."""
    rows = latencies[latencies["world"].str.startswith("connections ")]
    means = rows.groupby(["world", "policy"])["latency_s"].mean().unstack()
    means.index = means.index.str.removeprefix("connections ").astype(int)
    means = means.sort_index().assign(wait=means["lpsm"] - means["none"])
    few, many = means.iloc[0], means.iloc[-1]
    fall = 100 * (1 - many / few)
    return (
        f"more connections make a page shorter faster than they take waits away: from {means.index[0]} to "
        f"{means.index[-1]} the mean page without power saving falls from {few['none']:.2f} to {many['none']:.2f} s "
        f"(by {fall['none']:.0f} %), what LPSM adds to it from {few['wait']:.2f} to "
        f"{many['wait']:.2f} s (by {fall['wait']:.0f} %)"
    )


SENSITIVITY.claims += [
    Claim(f"the slowdown of {policy} falls with {what}",
          falling(partial(_by_world, prefix=prefix, policy=policy), ends=True),
          reason="a longer load without power saving makes the same wait a smaller share", why=why)
    for prefix, what, policies, why in (
        ("rtt ", "the round-trip time", ("psm:100", "lpsm", "lpsm:log"), None),
        ("connections ", "the number of connections", ("lpsm",), _waits_and_pages),
    )
    for policy in policies
]  # fmt: skip


@SENSITIVITY.picture("sensitivity", x="value", y="mean slowdown of a page")
def _slowdown_by_world(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    for title, prefix in (("round-trip time [s]", "rtt "), ("connections", "connections ")):
        slowdowns = {policy: _by_world(record, prefix, policy) for policy in POLICIES[1:]}
        yield title, pd.DataFrame(
            [point(policy, float(world.removeprefix(prefix)), own[world])
             for world in slowdowns["lpsm"] for policy, own in slowdowns.items()]
        )  # fmt: skip


EXPERIMENTS = (SHIFTING, SENSITIVITY)
