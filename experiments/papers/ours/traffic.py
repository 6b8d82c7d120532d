"""Power saving on traffic that changes, and in other worlds: what the thesis wished for, and what decides a slowdown.

What it models: `ours/shifting-traffic` browses the Web model in blocks of 25 pages, in turn hasty and small
(think times and replies a fifth) and slow and large (three times), beside pages all scaled by their mean, 1.6.
The thesis (section 2.5.4) expects LPSM to do better against BSD there.  `ours/sensitivity` varies the
round-trip time and the number of connections under the thesis' settings.
What it leaves out: regret against the best switching sequence (`lpsm replay` has it, on arrivals).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import netsim
import traces
from experiments.figures.papers import lines, panels
from experiments.papers.registry import Claim, Experiment, Record, Rows, Setup, Verdict
from experiments.papers.thesis.browsing import settings
from experiments.papers.thesis.energy import SETTINGS
from experiments.papers.verdicts import pivot, shown
from experiments.study.compare import estimate, ratio
from netsim.streams import WORKLOAD, generator

__all__ = ["EXPERIMENTS"]

POLICIES = ("none", "psm:100", "bsd:1", "bsd:0.5", "lpsm", "lpsm:log")
BLOCK = 25  # pages
HASTY, SLOW = 0.2, 3.0
RTTS_S = (0.01, 0.04, 0.1, 0.2)
CONNECTIONS = (1, 2, 4, 8)


def _shifting(setup: Setup) -> dict[str, dict[str, Any]]:
    return _tasks(setup, [("stationary", {"factors": [(HASTY + SLOW) / 2]}), ("shifting", {"factors": [HASTY, SLOW]})])


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
            "world": name, "policy": policy, "seed": seed, "pages": setup.pick(30, 200),
            "server_delay_s": SETTINGS["server_delay"], **extra,
        }
        for name, extra in worlds
        for seed in range(setup.seed, setup.seed + setup.pick(2, 10))
        for policy in POLICIES
    }  # fmt: skip


def browse(task: dict[str, Any]) -> Rows:
    """Run one policy in one world."""
    pages = list(traces.generate(task["pages"], generator(task["seed"], WORKLOAD)))
    factors = task.get("factors", [1.0])
    pages = [_scaled(page, factors[number // BLOCK % len(factors)]) for number, page in enumerate(pages)]
    config = settings(task["server_delay_s"], rtt_s=task.get("rtt_s"), connections=task.get("connections"))
    result = netsim.simulate(pages, task["policy"], config=config, seed=task["seed"])
    common = {"world": task["world"], "replication": f"seed-{task['seed']}", "policy": result.policy}
    run = {**common, "pages": len(result.pages), "total_j": float(result.energy.total_j)}
    latencies = [
        {**common, "number": i, "latency_s": float(value)} for i, value in enumerate(result.pages["latency_s"])
    ]
    return {"runs": [run], "latencies": latencies}


def _scaled(page: traces.Page, factor: float) -> traces.Page:
    objects = tuple((request, max(1, round(reply * factor))) for request, reply in page.objects)
    return page._replace(
        reply_bytes=max(1, round(page.reply_bytes * factor)), objects=objects, think_s=page.think_s * factor
    )


def _joules(record: Record, world: str) -> Any:
    runs = record["runs"][record["runs"]["world"] == world]
    return pivot(runs.assign(value=runs["total_j"] / runs["pages"]), "value", POLICIES)


def _slowdowns(record: Record, world: str) -> Any:
    rows = record["latencies"][record["latencies"]["world"] == world]
    table = rows.pivot(index=["replication", "number"], columns="policy", values="latency_s")
    means = table.div(table["none"], axis=0).groupby(level="replication").mean().sort_index()
    return {policy: means[policy].to_numpy() for policy in POLICIES}


def _better_when_shifting(policy: str, rival: str, measure: Any, what: str) -> Claim:
    def check(record: Record) -> Verdict:
        found = {}
        for world in ("stationary", "shifting"):
            values = measure(record, world)
            found[world] = values[policy] / values[rival]
        difference = estimate(found["shifting"] - found["stationary"])
        words = ", ".join(f"{shown(estimate(values), 3)} {world}" for world, values in found.items())
        return Verdict(
            f"{words}; difference {shown(difference, 3)}", difference.mean + difference.half_width < 0.0,
            f"the ratio changes by {shown(difference, 3)} when the traffic shifts",
        )  # fmt: skip

    return Claim(
        statement=f"{what} of {policy} over that of {rival} is smaller on shifting traffic", check=check,
        printed="we would expect LPSM to perform better than BSD", tolerance="paired over seeds, whole 95 % interval",
    )  # fmt: skip


def _saves_when_shifting(record: Record) -> Verdict:
    values = _joules(record, "shifting")
    words, holds = [], True
    for policy in ("lpsm", "lpsm:log"):
        found = ratio(values[policy], values["psm:100"])
        holds = holds and found.mean + found.half_width < 1.0
        words.append(f"{policy} {100 * (found.mean - 1):.1f} ± {100 * found.half_width:.1f} %")
    return Verdict(", ".join(words), holds, ", ".join(words))


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


def _moves(prefix: str, what: str, policy: str) -> Claim:
    def check(record: Record) -> Verdict:
        table = _table(record, prefix)
        own = table[table["group"] == policy].sort_values("x")
        words = ", ".join(f"{row.y:.2f} at {row.x:g}" for row in own.itertuples())
        return Verdict(words, bool(own["y"].iloc[-1] < own["y"].iloc[0]), words)

    return Claim(
        statement=f"the slowdown of {policy} falls with {what}", check=check,
        tolerance="largest against smallest; a longer load without power saving makes the same wait a smaller share",
    )  # fmt: skip


def _draw_worlds(record: Record) -> Mapping[str, Figure]:
    rtt, connections = _table(record, "rtt "), _table(record, "connections ")
    frames = [("round-trip time [s]", rtt), ("connections", connections)]
    return {"sensitivity": panels(frames, x="value", y="mean slowdown of a page")}


def _draw_shifting(record: Record) -> Mapping[str, Figure]:
    rows = []
    for world in ("stationary", "shifting"):
        joules, slow = _joules(record, world), _slowdowns(record, world)
        rows += [
            {"group": f"{policy} ({world})", "x": joules[policy].mean(), "y": slow[policy].mean()}
            for policy in POLICIES[1:]
        ]
    return {"shifting-traffic": lines(pd.DataFrame(rows), x="energy per page [J]", y="mean slowdown of a page")}


EXPERIMENTS = (
    Experiment(
        name="ours/shifting-traffic", claim="LPSM against BSD on traffic that shifts", time="1 min", sweep=_shifting,
        run=browse,
        claims=(
            Claim(
                statement="LPSM uses less energy than static PSM on shifting traffic", check=_saves_when_shifting,
                tolerance="both energy terms, whole 95 % interval",
            ),
            _better_when_shifting("lpsm", "bsd:0.5", _joules, "energy"),
            _better_when_shifting("lpsm:log", "bsd:1", _joules, "energy"),
            _better_when_shifting("lpsm", "bsd:0.5", _slowdowns, "slowdown"),
            _better_when_shifting("lpsm:log", "bsd:1", _slowdowns, "slowdown"),
        ),
        figures=_draw_shifting,
    ),
    Experiment(
        name="ours/sensitivity", claim="slowdown against round-trip time and number of connections", time="1 min",
        sweep=_worlds, run=browse,
        claims=(
            _moves("rtt ", "the round-trip time", "psm:100"), _moves("rtt ", "the round-trip time", "lpsm"),
            _moves("rtt ", "the round-trip time", "lpsm:log"),
        ),
        figures=_draw_worlds,
    ),
)  # fmt: skip
