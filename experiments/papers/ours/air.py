"""The shared air: what contention does to every policy, and target wake times compared with listening to beacons.

What it models: `ours/contention` browses the Web model (pauses a tenth as long) on 802.11g at 54 Mb/s with beacons
every 102.4 ms, beside 0 to 20 neighbours that always have a packet to send, at DTIM periods 1, 3 and 10, and with 0, 1
and 10 group frames a second.  Published for ns-3 (Venkateswaran et al. 2022): sparse TCP of a
power-saving station among 20 contenders costs up to 108 % more current and is awake up to 254 % longer; a small page
every second under static PSM is compared with that.
`ours/twt` gives 1, 10 and 50 clients periodic messages, messages at random and Web pages, and compares target wake
times with static PSM, U-APSD and LPSM2.  A maker's advice (nRF70: beacons for sleeps of milliseconds to a few
seconds, TWT for tens of seconds) is tested by listening to beacons and by TWT at equal intervals.
What it leaves out: neighbours that sleep, hidden stations, negotiation of TWT.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.papers.claims import Claim, Noted, by, point, where
from experiments.papers.kit import Experiment, Seeds, Sizes, over
from experiments.papers.ours.browsed import family, hurried, on_the_air
from experiments.papers.predicates import above, below, between, near, rising
from lpsm.randomness import WORKLOAD, generator
from traces.records import Message

__all__ = ["EXPERIMENTS"]

Row = dict[str, Any]

CONTENTION_POLICIES = ("none", "listen:1", "listen:3", "dynamic:100", "bsd:1", "lpsm2:1.05")
WEB_POLICIES = ("none", "listen:1", "uapsd:102.4", "twt:102.4:10", "twt:1024:10", "lpsm2:1.05")
MESSAGE_POLICIES = (*WEB_POLICIES, *family("listen:{}", (10, 100, 300)), "twt:10240:10", "twt:30720:10")
MESSAGES = ("periodic", "pushed")
PAUSE = 0.1  # of the Web model's thinking
CONTENTION = Experiment(
    "ours/contention", "what neighbours, DTIM periods and group frames do to power saving on the air", "2 min"
)
TWT = Experiment("ours/twt", "target wake times against static PSM, U-APSD and LPSM2, alone and in cells", "2 min")


def _measured(result: netsim.SimulationResult) -> Row:
    return {
        "policy": result.policy,
        "mean_mw": 1000 * float(result.energy.total_j) / result.elapsed_s,
        "awake_percent": 100 * float(result.awake_s) / result.elapsed_s,
        "latency_s": float(result.latency_s.mean()) if len(result.latency_s) else float("nan"),
    }


def _of(rows: pd.DataFrame, column: str, **having: Any) -> pd.Series:
    """Return a column where others have these values, a number a replication."""
    return where(rows, **having).set_index("replication")[column].sort_index()


# -- contention ----------------------------------------------------------------------------------------------------

NEIGHBOURS = Sizes((0, 5), (0, 1, 5, 10, 20))
_SPARSE = over({"neighbours": NEIGHBOURS, "seed": Seeds(2, 10)}, "{neighbours} neighbours, sparse, seed {seed}",
               dtim=1, broadcast=0, policy="listen:1", sparse=Sizes(5, 20))  # fmt: skip
_LOADED = over(
    {"neighbours": NEIGHBOURS, "dtim": (1, 3, 10), "broadcast": (0, 1, 10), "seed": Seeds(2, 10),
     "policy": CONTENTION_POLICIES},
    "{neighbours} neighbours DTIM {dtim} broadcast {broadcast} seed {seed} {policy}", pages=Sizes(3, 10),
)  # fmt: skip


@CONTENTION.runs(lambda setup: {**_SPARSE(setup), **_LOADED(setup)})
def contend(
    neighbours: int, seed: int, policy: str, dtim: int, broadcast: int, pages: int = 0, sparse: int = 0
) -> dict[str, list[Row]]:
    """Browse pages of the Web model under one policy in one world, or so many small pages, one every second."""
    visited = [traces.Page(f"p{number}", 300, 1200, think_s=1.0) for number in range(sparse)]
    visited = visited or hurried(traces.generate(pages, generator(seed, WORKLOAD)), PAUSE)
    beacons = netsim.BeaconConfig(dtim_period=dtim, broadcast_per_s=float(broadcast))
    result = netsim.simulate(visited, policy, config=on_the_air(beacons=beacons, neighbours=neighbours), seed=seed)
    row = {"neighbours": neighbours, "dtim": dtim, "broadcast": broadcast, "replication": f"seed-{seed}"}
    lost = result.group_frames_lost / max(1e-9, broadcast * result.elapsed_s)
    return {"sparse" if sparse else "runs": [{**row, **_measured(result), "group_lost": lost}]}


def _by_neighbours(runs: pd.DataFrame, policy: str, column: str, baseline: str = "") -> Any:
    """A column of a policy, over that of the baseline if there is one, by the number of neighbours."""
    samples = {}
    for count in sorted(set(runs["neighbours"])):
        own = partial(_of, runs, column, neighbours=count, dtim=1, broadcast=0)
        samples[f"{count} neighbours"] = own(policy=policy) / own(policy=baseline) if baseline else own(policy=policy)
    return samples


def _more_percent(sparse: pd.DataFrame, column: str) -> Noted:
    """What 20 neighbours (or as many as there are) add to sparse traffic, percent."""
    table = sparse.pivot(index="replication", columns="neighbours", values=column)
    most = max(table.columns)
    return Noted(100 * (table[most] / table[0] - 1), f"among {most} neighbours")


def _of_the_radio() -> str:
    return (
        "alone this radio draws next to nothing but its beacons, so that every wait for the channel weighs more; "
        "whether that explains the size has not been tested"
    )


def _lost(runs: pd.DataFrame, dtim: int) -> Any:
    """Share of group frames lost by listening to every third beacon."""
    return {f"DTIM {dtim}": _of(runs, "group_lost", policy="listen:3", neighbours=0, dtim=dtim, broadcast=10)}


def _added_by_group_frames(runs: pd.DataFrame) -> pd.Series:
    at = partial(_of, runs, "mean_mw", policy="listen:1", neighbours=0, dtim=1)
    return at(broadcast=10) - at(broadcast=0)


_of_lpsm2 = partial(_by_neighbours, policy="lpsm2:1.05")
CONTENTION.claims += [
    Claim("Static PSM draws more the more neighbours load the channel",
          rising(partial(_by_neighbours, policy="listen:1", column="mean_mw"), unit=" mW")),
    Claim("Static PSM is awake longer the more neighbours load the channel",
          rising(partial(_by_neighbours, policy="listen:1", column="awake_percent"), unit=" %")),
    Claim("What 20 neighbours add to the current of static PSM with sparse traffic is of the published size",
          near(partial(_more_percent, column="mean_mw"), 108.0, 3.0, unit=" %"), "up to 108 % with sparse TCP uplink",
          why=_of_the_radio),
    Claim("What they add to its time awake is of the published size",
          near(partial(_more_percent, column="awake_percent"), 254.0, 3.0, unit=" %"), "up to 254 %",
          why=_of_the_radio),
    Claim("LPSM2 draws less than dynamic PSM whatever the number of neighbours",
          below(partial(_of_lpsm2, column="mean_mw", baseline="dynamic:100"), 1.0)),
    Claim("LPSM2 keeps a page within 1.1 of its latency without power saving among neighbours",
          below(partial(_of_lpsm2, column="latency_s", baseline="none"), 1.1)),
    Claim("Listening to every third beacon at DTIM 1 loses two thirds of the group frames",
          between(partial(_lost, dtim=1), 0.5, 0.75)),
    Claim("Listening to every DTIM loses none", below(partial(_lost, dtim=3), 0.01)),
    Claim("Ten group frames a second make static PSM draw more", above(_added_by_group_frames, unit=" mW")),
]  # fmt: skip


@CONTENTION.picture("contention", x="saturated neighbours", y="", y_scale="log", share_y=False)
def _by_load(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    rows: Any = where(runs, dtim=1, broadcast=0).groupby(["policy", "neighbours"], sort=False)
    titles = {"mean_mw": "mean power [mW]", "awake_percent": "time awake [%]", "latency_s": "page latency [s]"}
    for column, title in titles.items():
        yield title, pd.DataFrame([point(policy, count, own[column]) for (policy, count), own in rows])


# -- target wake times ---------------------------------------------------------------------------------------------


def _cells(traffics: tuple[str, ...], policies: tuple[str, ...]) -> Any:
    """Return the sweep of cells with some kinds of traffic, whose clients follow one of the policies."""
    axes = {"traffic": traffics, "clients": Sizes((1, 3), (1, 10, 50)), "seed": Seeds(2, 6), "policy": policies}
    key = "{traffic} {clients} clients seed {seed} {policy}"
    return over(axes, key, seconds=Sizes(60, 240), pages=Sizes(2, 4))


_ON_MESSAGES, _ON_THE_WEB = _cells(MESSAGES, MESSAGE_POLICIES), _cells(("web",), WEB_POLICIES)


@TWT.runs(lambda setup: {**_ON_MESSAGES(setup), **_ON_THE_WEB(setup)})
def take_turns(traffic: str, clients: int, seed: int, policy: str, seconds: float, pages: int) -> dict[str, list[Row]]:
    """Run one cell whose clients follow one policy; a row with the means over its clients."""
    rngs = [generator(seed, WORKLOAD, client) for client in range(clients)]
    if traffic == "web":
        visited = [(list(traces.generate(pages, rng)), policy) for rng in rngs]
        results = netsim.simulate_cell(visited, config=on_the_air(), seed=seed)
        delays = [float(result.latency_s.mean()) for result in results]
    else:
        push = [list(_messages(traffic, seconds, rng)) for rng in rngs]
        results = netsim.simulate_cell([([], policy)] * clients, config=on_the_air(), seed=seed, push=push)
        delays = [float(result.messages.delay_s.mean()) for result in results]
    measured = pd.DataFrame(map(_measured, results))
    row = {"traffic": traffic, "clients": clients, "replication": f"seed-{seed}", "policy": results[0].policy}
    row["delay_s"] = float(np.mean(delays))
    return {"runs": [row | {name: float(np.mean(measured[name].tolist())) for name in ("mean_mw", "awake_percent")}]}


def _messages(kind: str, seconds: float, rng: np.random.Generator) -> Iterator[Message]:
    """Yield messages of 160 bytes: every 10 s from a phase drawn, or memoryless with a mean of 10 s."""
    at = float(rng.uniform(0.5, 10.0))
    while at < seconds:
        yield Message(at, 160)
        at += 10.0 if kind == "periodic" else float(rng.exponential(10.0))
    yield Message(seconds, 160)


def _over_beacons(runs: pd.DataFrame, column: str, beacons: tuple[int, ...], crowd: bool = False) -> Any:
    """TWT over listening to beacons at equal intervals, for messages: one client, or the largest cell."""
    samples = {}
    for traffic, n in product(MESSAGES, beacons):
        own = partial(_of, runs, column, traffic=traffic, clients=int(runs["clients"].max()) if crowd else 1)
        samples[f"{traffic}, {n * 0.1024:.3g} s:"] = own(policy=f"twt:{n * 102.4:g}:10") / own(policy=f"listen:{n}")
    return samples


def _crowded(runs: pd.DataFrame, policy: str) -> Any:
    """Power of a policy in the largest cell over the same alone, with periodic messages."""
    most, at = int(runs["clients"].max()), partial(_of, runs, "mean_mw", traffic="periodic", policy=policy)
    return {policy: Noted(at(clients=most) / at(clients=1), f"({most} clients over one)")}


def _on_the_web(runs: pd.DataFrame, ours: str, theirs: str) -> Any:
    """Power of one policy over that of another with Web pages, by the size of the cell."""
    web = where(runs, traffic="web")
    rows = [web[web["policy"] == policy].set_index(["clients", "replication"])["mean_mw"] for policy in (ours, theirs)]
    return by(rows[0] / rows[1], "{} clients:", "clients")


TWT.claims += [
    Claim("At intervals up to a second TWT draws at least half as much again as listening to beacons",
          above(partial(_over_beacons, column="mean_mw", beacons=(1, 10)), 1.5),
          "DTIM for sleeps of milliseconds to a few seconds"),
    Claim("At tens of seconds one client's TWT draws no more than a tenth above listening to beacons",
          below(partial(_over_beacons, column="mean_mw", beacons=(100, 300)), 1.1), "TWT for tens of seconds"),
    Claim("At 31 s in the largest cell it draws less than listening to beacons, for which all wake up at once",
          below(partial(_over_beacons, column="mean_mw", beacons=(300,), crowd=True), 1.0), "TWT for tens of seconds"),
    Claim("At equal intervals TWT and beacons delay messages alike",
          between(partial(_over_beacons, column="delay_s", beacons=(1, 10)), 0.8, 1.25)),
    Claim("Service periods that do not overlap cost each of many clients what they cost one",
          between(partial(_crowded, policy="twt:1024:10"), 0.9, 1.1)),
    Claim("LPSM2 browses with less than TWT every 102.4 ms, in cells of any size",
          below(partial(_on_the_web, ours="lpsm2:1.05", theirs="twt:102.4:10"), 1.0)),
]  # fmt: skip


@TWT.picture("twt", x="mean power [mW]", y="delay [s]", x_scale="log", y_scale="log")
def _power_and_delay(runs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for traffic in (*MESSAGES, "web"):
        rows = where(runs[runs["policy"] != "none"], traffic=traffic)
        means = rows.groupby(["policy", "clients"], sort=False)[["mean_mw", "delay_s"]].mean().reset_index()
        names = {"policy": "group", "mean_mw": "x", "delay_s": "y"}
        yield f"{traffic}, 1 to {rows['clients'].max()} clients", means.rename(columns=names)


EXPERIMENTS = (CONTENTION, TWT)
