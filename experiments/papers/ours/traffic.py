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

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import netsim
import traces
from experiments.figures.papers import lines, panels
from experiments.papers.claims import Claim, Measure, Noted, Record, point, shown, wide
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.predicates import below, both, each, explained_by, falling
from experiments.papers.thesis.browsing import settings
from experiments.presets import THESIS
from experiments.study.compare import estimate, linearised
from lpsm import LearnAlpha, hindsight
from lpsm.bounds.experts import fixed_share_partition_loss
from lpsm.randomness import WORKLOAD, generator
from netsim.policies.lpsm import Lpsm
from netsim.policies.polling import BEACON_MS, ENERGY_TERMS

__all__ = ["EXPERIMENTS", "regrets"]

POLICIES = ("none", "psm:100", "bsd:1", "bsd:0.5", "lpsm", "lpsm:log")
BLOCK = 25  # pages
HASTY, SLOW = 0.2, 3.0
SERVERS = ", servers too"
SEGMENTS = (1, 2, 4, 8, 16, 32, 64)
RTTS_S = (0.01, 0.04, 0.1, 0.2)
CONNECTIONS = (1, 2, 4, 8)


def _shifting(setup: Setup) -> dict[str, dict[str, Any]]:
    factors = {"stationary": [(HASTY + SLOW) / 2], "shifting": [HASTY, SLOW]}
    worlds: list[tuple[str, dict[str, Any]]] = [
        (f"{name}{more}", {"factors": values, "servers": bool(more), "regret": True})
        for more in ("", SERVERS)
        for name, values in factors.items()
    ]
    return _tasks(setup, worlds)


def _worlds(setup: Setup) -> dict[str, dict[str, Any]]:
    rtts, counts = setup.pick((0.04, 0.2), RTTS_S), setup.pick((1, 4), CONNECTIONS)
    return _tasks(
        setup,
        [
            *((f"rtt {rtt:g}", {"rtt_s": rtt}) for rtt in rtts),
            *((f"connections {count}", {"connections": count}) for count in counts),
        ],
    )


def _tasks(setup: Setup, worlds: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    return {
        f"{name} seed {seed} {policy}": {
            "world": name,
            "policy": policy,
            "seed": seed,
            "pages": setup.pick(30, 200),
            "server_delay_s": THESIS["server_delay"],
            **extra,
        }
        for name, extra in worlds
        for seed in range(setup.seed, setup.seed + setup.pick(2, 10))
        for policy in POLICIES
    }


def browse(task: dict[str, Any]) -> Rows:
    """Run one policy in one world."""
    pages = list(traces.generate(task["pages"], generator(task["seed"], WORKLOAD)))
    factors = task.get("factors", [1.0])
    pages = [_scaled(page, factors[number // BLOCK % len(factors)]) for number, page in enumerate(pages)]
    config = settings(task["server_delay_s"], rtt_s=task.get("rtt_s"), connections=task.get("connections"))
    delays = None
    if task.get("servers"):
        mean_s = task["server_delay_s"]
        delays = [netsim.ServerDelay(mean_s=mean_s * factors[n // BLOCK % len(factors)]) for n in range(len(pages))]
    result = netsim.simulate(pages, task["policy"], config=config, seed=task["seed"], server_delays=delays)
    common = {"world": task["world"], "replication": f"seed-{task['seed']}", "policy": result.policy}
    run = {**common, "pages": len(result.pages), "total_j": float(result.energy.total_j)}
    latencies = [
        {**common, "number": i, "latency_s": float(value)} for i, value in enumerate(result.pages["latency_s"])
    ]
    rows: Rows = {"runs": [run], "latencies": latencies}
    if task.get("regret") and isinstance(result.final_policy, Lpsm):
        rows["regrets"] = [{**common, **row} for row in regrets(result)]
    return rows


def regrets(result: netsim.SimulationResult) -> list[dict[str, float]]:
    """Return what LPSM's polls lost, and what the best polling times in turn would have, nats.

    Losses are taken at LPSM's own polls (thesis, equation 2.35): what was buffered there would not have been
    the same at other polls.  `mixture` is loss (2.8), `polling` that at the time slept (2.34); of k segments `best` is
    the least loss, and `bound` the most that the mixture may then lose.
    """
    policy = result.final_policy
    assert isinstance(policy, Lpsm)
    config = policy.learner.config
    slept_ms = np.ceil(result.polls["slept_ms"].to_numpy() / BEACON_MS - 1e-9) * BEACON_MS  # nominal: whole beacons
    buffered = result.polls["buffered_bytes"].to_numpy(dtype=float)
    times = np.array(config.times_ms)
    losses = 0.5 * config.price() * np.outer(buffered / slept_ms, times**2) + np.array(config.energy_costs())
    mixture = LearnAlpha(n_experts=len(times), alphas=policy.learner.alphas).run(losses, weights=False)
    term = ENERGY_TERMS[str(config.energy)]
    polling = float((0.5 * config.price() * buffered * slept_ms).sum() + sum(map(term, slept_ms.tolist())))
    curve = hindsight.partition_curve(losses, max(SEGMENTS))
    spread = log(len(policy.learner.alphas))
    rows = []
    for k in SEGMENTS:
        best = float(curve[k - 1])
        bounds = (
            fixed_share_partition_loss(best, k, len(losses), len(times), float(one)) for one in policy.learner.alphas
        )
        losses_of = {"mixture": float(mixture.loss.sum()), "polling": polling, "best": best}
        rows.append({"k": float(k), "polls": float(len(losses)), **losses_of, "bound": spread + min(bounds)})
    return rows


def _scaled(page: traces.Page, factor: float) -> traces.Page:
    objects = tuple((request, max(1, round(reply * factor))) for request, reply in page.objects)
    return page._replace(
        reply_bytes=max(1, round(page.reply_bytes * factor)), objects=objects, think_s=page.think_s * factor
    )


def _joules(record: Record, world: str) -> pd.DataFrame:
    runs = record["runs"].assign(value=record["runs"]["total_j"] / record["runs"]["pages"])
    return wide({"runs": runs}, "runs", "value", world=world)


def _slowdowns(record: Record, world: str) -> pd.DataFrame:
    table = wide(record, "latencies", "latency_s", index=["replication", "number"], world=world)
    return table.div(table["none"], axis=0).groupby(level="replication").mean().sort_index()


def _better_when_shifting(policy: str, rival: str, measured: Any, what: str, more: str = "") -> Claim:
    def measure(record: Record) -> dict[str, Any]:
        tables = [measured(record, f"{kind}{more}") for kind in ("stationary", "shifting")]
        stationary, shifting = (table[policy] / table[rival] for table in tables)
        words = f"({shown(estimate(stationary))} stationary, {shown(estimate(shifting))} shifting)"
        return {"": Noted(shifting - stationary, words)}

    return Claim(
        f"{what} of {policy} over that of {rival} is smaller on shifting traffic{more}",
        below(measure),
        "we would expect LPSM to perform better than BSD",
        "ratio on shifting traffic less that on stationary, paired over seeds",
    )


def _over_psm(record: Record) -> dict[str, Any]:
    joules = _joules(record, "shifting")
    return {one: 100 * (linearised(joules[one], joules["psm:100"]) - 1) for one in ("lpsm", "lpsm:log")}


def _regret_table(record: Record, world: str, policy: str) -> pd.DataFrame:
    """Mean losses over seeds, a row a number of segments."""
    rows = record["regrets"]
    return rows[(rows["world"] == world) & (rows["policy"] == policy)]


def _switching(policy: str, more: str) -> Claim:
    world = f"shifting{more}"

    def gap(column: str, *segments: int) -> Measure:
        def measure(record: Record) -> dict[str, Any]:
            rows = _regret_table(record, world, policy)
            return {f"k = {k}:": (rows[column] - rows["best"])[rows["k"] == k] for k in segments}

        return measure

    def over_bound(record: Record) -> dict[str, Any]:
        rows = _regret_table(record, world, policy)
        return {"over its bound": rows["mixture"] / rows["bound"]}

    return Claim(
        f"{policy} loses less than the best fixed polling time on {world}, and never more than its bound",
        both(below(gap("mixture", 1), unit=" nats"), each(over_bound, high=1.0)),
        reason="mixture loss less that of the best k polling times in turn, over seeds",
        why=explained_by("beyond the best k in turn", gap("mixture", *SEGMENTS[1:])),
    )


def _table(record: Record, prefix: str) -> pd.DataFrame:
    rows = []
    for world in dict.fromkeys(record["runs"]["world"]):
        if world.startswith(prefix):
            slow = _slowdowns(record, world)
            for policy in POLICIES[1:]:
                found = estimate(slow[policy])
                x = float(world.removeprefix(prefix))
                rows.append({"group": policy, "x": x, "y": found.mean, "half_width": found.half_width})
    return pd.DataFrame(rows)


def _by_world(prefix: str, policy: str) -> Measure:
    """Slowdown of a policy in each of the worlds that differ in one thing."""

    def measure(record: Record) -> dict[str, Any]:
        worlds = sorted(
            (world for world in dict.fromkeys(record["runs"]["world"]) if world.startswith(prefix)),
            key=lambda world: float(world.removeprefix(prefix)),
        )
        return {world: _slowdowns(record, world)[policy] for world in worlds}

    return measure


def _moves(prefix: str, what: str, policy: str, why: Any = None) -> Claim:
    return Claim(
        f"the slowdown of {policy} falls with {what}",
        falling(_by_world(prefix, policy), ends=True),
        reason="a longer load without power saving makes the same wait a smaller share",
        why=why,
    )


def _waits_and_pages(record: Record) -> str:
    """Say what becomes of the wait and of the page as connections become more."""
    rows = record["latencies"]
    rows = rows[rows["world"].str.startswith("connections ")]
    means = rows.groupby(["world", "policy"])["latency_s"].mean().unstack()
    means.index = means.index.str.removeprefix("connections ").astype(int)
    means = means.sort_index()
    few, many = means.iloc[0], means.iloc[-1]
    wait_few, wait_many = few["lpsm"] - few["none"], many["lpsm"] - many["none"]
    return (
        f"more connections make a page shorter faster than they take waits away: from {means.index[0]} to "
        f"{means.index[-1]} the mean page without power saving falls from {few['none']:.2f} to {many['none']:.2f} s "
        f"(by {100 * (1 - many['none'] / few['none']):.0f} %), what LPSM adds to it from {wait_few:.2f} to "
        f"{wait_many:.2f} s (by {100 * (1 - wait_many / wait_few):.0f} %)"
    )


def _draw_worlds(record: Record) -> Mapping[str, Figure]:
    rtt, connections = _table(record, "rtt "), _table(record, "connections ")
    frames = [("round-trip time [s]", rtt), ("connections", connections)]
    return {"sensitivity": panels(frames, x="value", y="mean slowdown of a page")}


def _draw_shifting(record: Record) -> Mapping[str, Figure]:
    rows = []
    for world in ("stationary", "shifting", f"shifting{SERVERS}"):
        joules, slow = _joules(record, world), _slowdowns(record, world)
        rows += [
            {"group": f"{policy} ({world})", "x": joules[policy].mean(), "y": slow[policy].mean()}
            for policy in POLICIES[1:]
        ]
    gaps = []
    for world in dict.fromkeys(record["regrets"]["world"]):
        own = _regret_table(record, world, "lpsm")
        gaps += [point(world, k, (own["mixture"] - own["best"])[own["k"] == k]) for k in SEGMENTS]
    return {
        "shifting-traffic": lines(pd.DataFrame(rows), x="energy per page [J]", y="mean slowdown of a page"),
        "shifting-regret": lines(
            pd.DataFrame(gaps), x="polling times in turn", y="loss of LPSM above theirs [nats]", x_scale="log"
        ),
    }


_PAIRS = (("lpsm", "bsd:0.5"), ("lpsm:log", "bsd:1"))

EXPERIMENTS = (
    Experiment(
        name="ours/shifting-traffic",
        subject="LPSM against BSD on traffic that shifts, and its regret",
        time="2 min",
        sweep=_shifting,
        run=browse,
        claims=(
            Claim("LPSM uses less energy than static PSM on shifting traffic", below(_over_psm, unit=" %")),
            *(
                _better_when_shifting(policy, rival, measured, what, more)
                for more in ("", SERVERS)
                for what, measured in (("energy", _joules), ("slowdown", _slowdowns))
                for policy, rival in _PAIRS
            ),
            *(_switching(policy, more) for more in ("", SERVERS) for policy in ("lpsm", "lpsm:log")),
        ),
        figures=_draw_shifting,
    ),
    Experiment(
        name="ours/sensitivity",
        subject="slowdown against round-trip time and number of connections",
        time="1 min",
        sweep=_worlds,
        run=browse,
        claims=(
            *(_moves("rtt ", "the round-trip time", policy) for policy in ("psm:100", "lpsm", "lpsm:log")),
            _moves("connections ", "the number of connections", "lpsm", _waits_and_pages),
        ),
        figures=_draw_worlds,
    ),
)
