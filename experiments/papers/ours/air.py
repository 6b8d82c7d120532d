"""The shared air: what contention does to every policy, and target wake times held against beacons.

What it models: `ours/contention` browses the Web model (pauses a tenth as long) on 802.11g at 54 Mb/s with beacons
every 102.4 ms, beside 0 to 20 neighbours that always have a packet to send, at DTIM periods 1, 3 and 10, and with 0, 1
and 10 group frames a second: all of the last two without neighbours, and all numbers of neighbours at DTIM 1
without group frames and at DTIM 3 with ten.  Published for ns-3 (Venkateswaran et al. 2022): sparse TCP of a
power-saving station among 20 contenders costs up to 108 % more current and is awake up to 254 % longer; held
against it is a small page every second under static PSM.
`ours/twt` gives 1, 10 and 50 clients periodic messages, messages at random and Web pages, and compares target wake
times with static PSM, U-APSD and LPSM2.  A maker's advice (nRF70: beacons for sleeps of milliseconds to a few
seconds, TWT for tens of seconds) is put to the test by listening to beacons and by TWT at equal intervals.
What it leaves out: neighbours that sleep, hidden stations, negotiation of TWT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import netsim
import traces
from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.predicates import above, below, between, near, rising
from experiments.study.compare import estimate
from lpsm.randomness import WORKLOAD, generator
from traces.records import Message

__all__ = ["EXPERIMENTS"]

BEACON_NS = 102_400_000
RADIO = "esp32-c6"
CONTENTION_POLICIES = ("none", "listen:1", "listen:3", "dynamic:100", "bsd:1", "lpsm2:1.05")
NEIGHBOURS, DTIMS, BROADCASTS = (0, 1, 5, 10, 20), (1, 3, 10), (0, 1, 10)
PAUSE = 0.1  # of the Web model's thinking
INTERVALS = (1, 10, 100, 300)  # beacons: 0.1 to 31 s
WEB_POLICIES = ("none", "listen:1", "uapsd:102.4", "twt:102.4:10", "twt:1024:10", "lpsm2:1.05")
MESSAGE_POLICIES = (*WEB_POLICIES, *(f"listen:{n}" for n in INTERVALS[1:]), "twt:10240:10", "twt:30720:10")
TRAFFIC = ("periodic", "pushed", "web")


# -- contention


def _contention(setup: Setup) -> dict[str, dict[str, Any]]:
    neighbours = setup.pick((0, 5), NEIGHBOURS)
    worlds = {(count, dtim, rate) for count in neighbours for dtim in DTIMS for rate in BROADCASTS}
    seeds = range(setup.seed, setup.seed + setup.pick(2, 10))
    sparse = {
        f"{count} neighbours, sparse, seed {seed}": {
            "neighbours": count,
            "dtim": 1,
            "broadcast": 0,
            "seed": seed,
            "policy": "listen:1",
            "sparse": setup.pick(5, 20),
        }
        for count in neighbours
        for seed in seeds
    }
    return sparse | {
        f"{count} neighbours DTIM {dtim} broadcast {rate} seed {seed} {policy}": {
            "neighbours": count, "dtim": dtim, "broadcast": rate, "seed": seed, "policy": policy,
            "pages": setup.pick(3, 10),
        }
        for count, dtim, rate in sorted(worlds)
        for seed in seeds
        for policy in CONTENTION_POLICIES
    }  # fmt: skip


def contend(task: dict[str, Any]) -> Rows:
    """Run one policy in one world."""
    if sparse := task.get("sparse"):
        pages = [traces.Page(f"p{number}", 300, 1200, think_s=1.0) for number in range(sparse)]
    else:
        drawn = traces.generate(task["pages"], generator(task["seed"], WORKLOAD))
        pages = [page._replace(think_s=PAUSE * page.think_s) for page in drawn]
    beacons = netsim.BeaconConfig(dtim_period=task["dtim"], broadcast_per_s=float(task["broadcast"]))
    air = netsim.AirConfig(beacons=beacons, neighbours=task["neighbours"])
    result = netsim.simulate(pages, task["policy"], config=_config(air), seed=task["seed"])
    row = {name: task[name] for name in ("neighbours", "dtim", "broadcast")}
    lost = result.group_frames_lost / max(1e-9, task["broadcast"] * result.elapsed_s)
    measured = {**row, "replication": f"seed-{task['seed']}", **_measured(result), "group_lost": lost}
    return {"sparse" if sparse else "runs": [measured]}


def _config(air: netsim.AirConfig) -> netsim.SimulationConfig:
    return netsim.SimulationConfig(medium=air, radio=netsim.Radio.named(RADIO), beacon_interval_ns=BEACON_NS)


def _measured(result: netsim.SimulationResult) -> dict[str, Any]:
    return {
        "policy": result.policy,
        "mean_mw": 1000 * float(result.energy.total_j) / result.elapsed_s,
        "awake_percent": 100 * float(result.awake_s) / result.elapsed_s,
        "latency_s": float(result.latency_s.mean()) if len(result.latency_s) else float("nan"),
    }


def _world(record: Record, policy: str, column: str, **where: int) -> pd.Series:
    """Values of a policy in a world, a number a replication."""
    rows = record["runs"][record["runs"]["policy"] == policy]
    for name, wanted in where.items():
        rows = rows[rows[name] == wanted]
    return rows.set_index("replication")[column].sort_index()


def _by_neighbours(policy: str, column: str, baseline: str = "") -> Measure:
    def measure(record: Record) -> dict[str, Any]:
        found = {}
        for count in sorted(set(record["runs"]["neighbours"])):
            values = _world(record, policy, column, neighbours=count, dtim=1, broadcast=0)
            if baseline:
                values = values / _world(record, baseline, column, neighbours=count, dtim=1, broadcast=0)
            found[f"{count} neighbours"] = values
        return found

    return measure


def _more_percent(column: str) -> Measure:
    """What 20 neighbours (or as many as there are) add to sparse traffic, percent."""

    def measure(record: Record) -> dict[str, Any]:
        table = record["sparse"].pivot(index="replication", columns="neighbours", values=column)
        most = max(table.columns)
        return {"": Noted(100 * (table[most] / table[0] - 1), f"among {most} neighbours")}

    return measure


def _of_the_radio(record: Record) -> str:
    return (
        "alone this radio draws next to nothing but its beacons, so that every wait for the channel weighs more; "
        "whether that explains the size has not been tested"
    )


def _lost(policy: str, dtim: int) -> Measure:
    return lambda record: {f"DTIM {dtim}": _world(record, policy, "group_lost", neighbours=0, dtim=dtim, broadcast=10)}


def _added_by_group_frames(policy: str) -> Measure:
    def measure(record: Record) -> dict[str, Any]:
        quiet, loud = (_world(record, policy, "mean_mw", neighbours=0, dtim=1, broadcast=rate) for rate in (0, 10))
        return {"": loud - quiet}

    return measure


def _draw_contention(record: Record) -> Mapping[str, Figure]:
    quantities = {"mean_mw": "mean power [mW]", "awake_percent": "time awake [%]", "latency_s": "page latency [s]"}
    runs = record["runs"]
    rows = runs[(runs["dtim"] == 1) & (runs["broadcast"] == 0)]
    return {"contention": panels([(title, _frame(rows, "neighbours", name)) for name, title in quantities.items()],
                                 x="saturated neighbours", y="", y_scale="log", share_y=False)}  # fmt: skip


def _frame(rows: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    found = []
    for (policy, at), group in rows.groupby(["policy", x], sort=False):
        mean, half_width = estimate(group[y])
        found.append({"group": policy, "x": at, "y": mean, "half_width": half_width})
    return pd.DataFrame(found)


# -- target wake times


def _twt(setup: Setup) -> dict[str, dict[str, Any]]:
    return {
        f"{kind} {clients} clients seed {seed} {policy}": {
            "traffic": kind, "clients": clients, "seed": seed, "policy": policy, "seconds": setup.pick(60, 240),
            "pages": setup.pick(2, 4),
        }
        for kind in TRAFFIC
        for clients in setup.pick((1, 3), (1, 10, 50))
        for seed in range(setup.seed, setup.seed + setup.pick(2, 6))
        for policy in (WEB_POLICIES if kind == "web" else MESSAGE_POLICIES)
    }  # fmt: skip


def take_turns(task: dict[str, Any]) -> Rows:
    """Run one cell whose clients follow one policy; a row with the means over its clients."""
    count, policy = task["clients"], task["policy"]
    rngs = [generator(task["seed"], WORKLOAD, client) for client in range(count)]
    config = _config(netsim.AirConfig())
    if task["traffic"] == "web":
        clients = [(list(traces.generate(task["pages"], rng)), policy) for rng in rngs]
        results = netsim.simulate_cell(clients, config=config, seed=task["seed"])
        delays = [float(result.latency_s.mean()) for result in results]
    else:
        push = [list(_messages(task["traffic"], task["seconds"], rng)) for rng in rngs]
        results = netsim.simulate_cell([([], policy)] * count, config=config, seed=task["seed"], push=push)
        delays = [float(result.messages.delay_s.mean()) for result in results]
    common = {"traffic": task["traffic"], "clients": count, "replication": f"seed-{task['seed']}"}
    measured = [_measured(result) for result in results]
    row = {**common, "policy": results[0].policy, "delay_s": float(np.mean(delays))}
    row |= {name: float(np.mean([one[name] for one in measured])) for name in ("mean_mw", "awake_percent")}
    return {"runs": [row]}


def _messages(kind: str, seconds: float, rng: np.random.Generator) -> Iterator[Message]:
    """Yield messages of 160 bytes: every 10 s from a phase drawn, or memoryless with a mean of 10 s."""
    at = float(rng.uniform(0.5, 10.0))
    while at < seconds:
        yield Message(at, 160)
        at += 10.0 if kind == "periodic" else float(rng.exponential(10.0))
    yield Message(seconds, 160)


def _cells(record: Record, traffic: str, clients: int, policy: str, column: str) -> pd.Series:
    rows = record["runs"]
    rows = rows[(rows["traffic"] == traffic) & (rows["clients"] == clients) & (rows["policy"] == policy)]
    return rows.set_index("replication")[column].sort_index()


def _twt_over_beacons(column: str, *beacons: int, crowd: bool = False) -> Measure:
    """TWT over listening to beacons at equal intervals, for messages: one client, or the largest cell."""

    def measure(record: Record) -> dict[str, Any]:
        found = {}
        clients = int(record["runs"]["clients"].max()) if crowd else 1
        for traffic in TRAFFIC[:2]:
            for n in beacons:
                twt = _cells(record, traffic, clients, f"twt:{n * 102.4:g}:10", column)
                listening = _cells(record, traffic, clients, f"listen:{n}", column)
                found[f"{traffic}, {n * 0.1024:.3g} s:"] = twt / listening
        return found

    return measure


def _crowded(policy: str, column: str, traffic: str) -> Measure:
    """A policy in the largest cell over the same alone."""

    def measure(record: Record) -> dict[str, Any]:
        most = int(record["runs"]["clients"].max())
        ratio = _cells(record, traffic, most, policy, column) / _cells(record, traffic, 1, policy, column)
        return {policy: Noted(ratio, f"({most} clients over one)")}

    return measure


def _web_energy(ours: str, theirs: str) -> Measure:
    def measure(record: Record) -> dict[str, Any]:
        return {
            f"{count} clients:": _cells(record, "web", count, ours, "mean_mw")
            / _cells(record, "web", count, theirs, "mean_mw")
            for count in sorted(set(record["runs"]["clients"]))
        }

    return measure


def _draw_twt(record: Record) -> Mapping[str, Figure]:
    frames = []
    for traffic in TRAFFIC:
        rows = record["runs"]
        rows = rows[(rows["traffic"] == traffic) & (rows["policy"] != "none")]
        points = [
            {"group": policy, "x": group["mean_mw"].mean(), "y": group["delay_s"].mean()}
            for (policy, _), group in rows.groupby(["policy", "clients"], sort=False)
        ]
        frames.append((f"{traffic}, 1 to {rows['clients'].max()} clients", pd.DataFrame(points)))
    return {"twt": panels(frames, x="mean power [mW]", y="delay [s]", x_scale="log", y_scale="log")}


EXPERIMENTS = (
    Experiment(
        name="ours/contention",
        subject="what neighbours, DTIM periods and group frames do to power saving on the air",
        time="2 min",
        sweep=_contention,
        run=contend,
        claims=(
            Claim("Static PSM draws more the more neighbours load the channel",
                  rising(_by_neighbours("listen:1", "mean_mw"), unit=" mW")),
            Claim("Static PSM is awake longer the more neighbours load the channel",
                  rising(_by_neighbours("listen:1", "awake_percent"), unit=" %")),
            Claim("What 20 neighbours add to the current of static PSM with sparse traffic is of the published size",
                  near(_more_percent("mean_mw"), 108.0, 3.0, unit=" %"),
                  "up to 108 % with sparse TCP uplink", why=_of_the_radio),
            Claim("What they add to its time awake is of the published size",
                  near(_more_percent("awake_percent"), 254.0, 3.0, unit=" %"),
                  "up to 254 %", why=_of_the_radio),
            Claim("LPSM2 draws less than dynamic PSM whatever the number of neighbours",
                  below(_by_neighbours("lpsm2:1.05", "mean_mw", "dynamic:100"), 1.0)),
            Claim("LPSM2 keeps a page within 1.1 of its latency without power saving among neighbours",
                  below(_by_neighbours("lpsm2:1.05", "latency_s", "none"), 1.1)),
            Claim("Listening to every third beacon at DTIM 1 loses two thirds of the group frames",
                  between(_lost("listen:3", 1), 0.5, 0.75)),
            Claim("Listening to every DTIM loses none", below(_lost("listen:3", 3), 0.01)),
            Claim("Ten group frames a second make static PSM draw more", above(_added_by_group_frames("listen:1"),
                  unit=" mW")),
        ),
        figures=_draw_contention,
    ),
    Experiment(
        name="ours/twt",
        subject="target wake times against static PSM, U-APSD and LPSM2, alone and in cells",
        time="2 min",
        sweep=_twt,
        run=take_turns,
        claims=(
            Claim("At intervals up to a second TWT draws at least half as much again as listening to beacons",
                  above(_twt_over_beacons("mean_mw", 1, 10), 1.5), "DTIM for sleeps of milliseconds to a few seconds"),
            Claim("At tens of seconds one client's TWT draws no more than a tenth above listening to beacons",
                  below(_twt_over_beacons("mean_mw", 100, 300), 1.1), "TWT for tens of seconds"),
            Claim("At 31 s in the largest cell it draws less than listening to beacons, for which all wake up at once",
                  below(_twt_over_beacons("mean_mw", 300, crowd=True), 1.0), "TWT for tens of seconds"),
            Claim("At equal intervals TWT and beacons delay messages alike",
                  between(_twt_over_beacons("delay_s", 1, 10), 0.8, 1.25)),
            Claim("Service periods that do not overlap cost each of many clients what they cost one",
                  between(_crowded("twt:1024:10", "mean_mw", "periodic"), 0.9, 1.1)),
            Claim("LPSM2 browses with less than TWT every 102.4 ms, in cells of any size",
                  below(_web_energy("lpsm2:1.05", "twt:102.4:10"), 1.0)),
        ),
        figures=_draw_twt,
    ),
)  # fmt: skip
