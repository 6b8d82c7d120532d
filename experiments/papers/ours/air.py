"""The shared air: what contention does to every policy, and target wake times compared with listening to beacons.

What it models: `ours/contention` browses the Web model (pauses a tenth as long) on 802.11g at 54 Mb/s with beacons
every 102.4 ms, beside 0 to 20 neighbours that always have a packet to send, at DTIM periods 1, 3 and 10, and with 0, 1
and 10 group frames a second.  Published for ns-3 (Venkateswaran et al. 2022): sparse TCP of a
power-saving station among 20 contenders costs up to 108 % more current and is awake up to 254 % longer; a small page
every second under static PSM is compared with that.
`ours/twt` gives 1, 10 and 50 clients periodic messages and messages at random, and compares target wake times with
listening to beacons at equal intervals.  A maker's advice (nRF70) is beacons for sleeps of milliseconds to a few
seconds, and TWT for tens of seconds.
What it leaves out: neighbours that sleep, hidden stations, negotiation of TWT.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.papers.claims import Noted, by, where
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.ours.worlds import family, hurried, on_the_air
from experiments.papers.predicates import above, below, between, rising
from lpsm.randomness import WORKLOAD, generator
from traces.records import Message

NEIGHBOURS = Sizes((0, 5), (0, 1, 5, 10, 20))
CONTENTION = Experiment(
    "ours/contention", "what neighbours, DTIM periods and group frames do to power saving on the air", "2 min"
)
TWT = Experiment("ours/twt", "target wake times against listening to beacons, alone and in cells", "1 min")


def _measured(result):
    return {
        "policy": result.policy,
        "mean_mw": 1000 * float(result.energy.total_j) / result.elapsed_s,
        "awake_percent": 100 * float(result.awake_s) / result.elapsed_s,
    }


_SPARSE = over({"neighbours": NEIGHBOURS, "seed": Sizes(2, 10)}, "{neighbours} neighbours, sparse, seed {seed}",
               dtim=1, broadcast=0, policy="listen:1", sparse=Sizes(5, 20))  # fmt: skip
_LOADED = over(
    {"neighbours": NEIGHBOURS, "dtim": (1, 3, 10), "broadcast": (0, 1, 10), "seed": Sizes(2, 10),
     "policy": ("none", "listen:1", "listen:3", "dynamic:100", "bsd:1", "lpsm2:1.05")},
    "{neighbours} neighbours DTIM {dtim} broadcast {broadcast} seed {seed} {policy}", pages=Sizes(3, 10),
)  # fmt: skip


@CONTENTION.runs(lambda setup: {**_SPARSE(setup), **_LOADED(setup)})
def contend(neighbours, seed, policy, dtim, broadcast, pages=0, sparse=0):
    """Browse pages of the Web model under one policy in one world, or so many small pages, one every second."""
    visited = [traces.Page(f"p{number}", 300, 1200, think_s=1.0) for number in range(sparse)]
    visited = visited or hurried(traces.generate(pages, generator(seed, WORKLOAD)), 0.1)
    beacons = netsim.BeaconConfig(dtim_period=dtim, broadcast_per_s=float(broadcast))
    result = netsim.simulate(visited, policy, config=on_the_air(beacons=beacons, neighbours=neighbours), seed=seed)
    row = {"neighbours": neighbours, "dtim": dtim, "broadcast": broadcast, "replication": f"seed-{seed}"}
    row["latency_s"] = float(result.latency_s.mean())
    return {"sparse" if sparse else "runs": [{**row, **_measured(result)}]}


def _at(runs, column, dtim=1, broadcast=0, **having):
    """Return a column by number of neighbours and replication."""
    rows = where(runs, dtim=dtim, broadcast=broadcast, **having)
    return rows.set_index(["neighbours", "replication"])[column].sort_index()


@CONTENTION.claim("static PSM draws more the more neighbours load the channel", rising, unit=" mW")
def _draws(runs):
    return by(_at(runs, "mean_mw", policy="listen:1"), "{} neighbours", "neighbours")


@CONTENTION.claim(
    "what 20 neighbours add to the {what} of static PSM with sparse traffic is of the published size", between,
    "up to {published} %", "within a factor of three either way", unit=" %",
    of=[{"what": "current", "column": "mean_mw", "published": 108, "low": 36.0, "high": 324.0},
        {"what": "time awake", "column": "awake_percent", "published": 254, "low": 254 / 3, "high": 762.0}],
)  # fmt: skip
def _more_percent(sparse, column):
    table = sparse.pivot(index="replication", columns="neighbours", values=column)
    most = max(table.columns)
    return Noted(100 * (table[most] / table[0] - 1), f"among {most} neighbours")


@CONTENTION.claim("LPSM2 {what}, whatever the number of neighbours", below, of=[
    {"what": "draws less than dynamic PSM", "column": "mean_mw", "base": "dynamic:100", "limit": 1.0},
    {"what": "keeps a page within 1.1 of its latency without power saving", "column": "latency_s", "base": "none",
     "limit": 1.1},
])  # fmt: skip
def _of_lpsm2(runs, column, base):
    ratio = _at(runs, column, policy="lpsm2:1.05") / _at(runs, column, policy=base)
    return by(ratio, "{} neighbours", "neighbours")


@CONTENTION.claim("ten group frames a second make static PSM draw more", above, unit=" mW")
def _added_by_group_frames(runs):
    return _at(runs, "mean_mw", 1, 10, policy="listen:1")[0] - _at(runs, "mean_mw", policy="listen:1")[0]


MESSAGES = ("periodic", "pushed")
INTERVALS = (1, 10, 100, 300)  # beacons
POLICIES = (*family("listen:{}", INTERVALS), *(f"twt:{beacons * 102.4:g}:10" for beacons in INTERVALS))


@TWT.runs(over(
    {"traffic": MESSAGES, "clients": Sizes((1, 3), (1, 10, 50)), "seed": Sizes(2, 6), "policy": POLICIES},
    "{traffic} {clients} clients seed {seed} {policy}", seconds=Sizes(60, 240),
))  # fmt: skip
def take_turns(traffic, clients, seed, policy, seconds):
    """Run one cell whose clients follow one policy; a row with the means over its clients."""
    push = [list(_messages(traffic, seconds, generator(seed, WORKLOAD, client))) for client in range(clients)]
    results = netsim.simulate_cell([([], policy)] * clients, config=on_the_air(), seed=seed, push=push)
    measured = pd.DataFrame(
        [{**_measured(result), "delay_s": float(result.messages.delay_s.mean())} for result in results]
    )
    row = {"traffic": traffic, "clients": clients, "replication": f"seed-{seed}", "policy": results[0].policy}
    means = {name: float(np.mean(measured[name].tolist())) for name in ("delay_s", "mean_mw", "awake_percent")}
    return {"runs": [row | means]}


def _messages(kind, seconds, rng):
    """Yield messages of 160 bytes: every 10 s from a phase drawn, or memoryless with a mean of 10 s."""
    at = float(rng.uniform(0.5, 10.0))
    while at < seconds:
        yield Message(at, 160)
        at += 10.0 if kind == "periodic" else float(rng.exponential(10.0))
    yield Message(seconds, 160)


@TWT.claim("{what}", between, "{printed}", of=[
    {"what": "at intervals up to a second TWT draws at least half as much again as listening to beacons",
     "printed": "DTIM for sleeps of milliseconds to a few seconds", "beacons": (1, 10), "low": 1.5},
    {"what": "at tens of seconds one client's TWT draws no more than a tenth above listening to beacons",
     "printed": "TWT for tens of seconds", "beacons": (100, 300), "high": 1.1},
    {"what": "at 31 s in the largest cell it draws less than listening to beacons, for which all wake up at once",
     "printed": "TWT for tens of seconds", "beacons": (300,), "crowd": True, "high": 1.0},
    {"what": "at equal intervals TWT and beacons delay messages alike", "printed": "", "beacons": (1, 10),
     "column": "delay_s", "low": 0.8, "high": 1.25},
])  # fmt: skip
def _over_beacons(runs, beacons, column="mean_mw", crowd=False):
    """TWT over listening to beacons at equal intervals: one client, or the largest cell."""
    samples = {}
    for traffic in MESSAGES:
        own = where(runs, clients=runs["clients"].max() if crowd else 1, traffic=traffic)
        table = own.pivot(index="replication", columns="policy", values=column)
        for n in beacons:
            samples[f"{traffic}, {n * 0.1024:.3g} s:"] = table[f"twt:{n * 102.4:g}:10"] / table[f"listen:{n}"]
    return samples
