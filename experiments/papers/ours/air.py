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

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.papers.claims import Noted, by, point, where
from experiments.papers.kit import Experiment, Seeds, Sizes, over
from experiments.papers.ours.worlds import family, hurried, on_the_air
from experiments.papers.predicates import above, below, between, rising
from lpsm.randomness import WORKLOAD, generator
from traces.records import Message

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


def _measured(result):
    return {
        "policy": result.policy,
        "mean_mw": 1000 * float(result.energy.total_j) / result.elapsed_s,
        "awake_percent": 100 * float(result.awake_s) / result.elapsed_s,
        "latency_s": float(result.latency_s.mean()) if len(result.latency_s) else float("nan"),
    }


def _of(rows, column, **having):
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
def contend(neighbours, seed, policy, dtim, broadcast, pages=0, sparse=0):
    """Browse pages of the Web model under one policy in one world, or so many small pages, one every second."""
    visited = [traces.Page(f"p{number}", 300, 1200, think_s=1.0) for number in range(sparse)]
    visited = visited or hurried(traces.generate(pages, generator(seed, WORKLOAD)), PAUSE)
    beacons = netsim.BeaconConfig(dtim_period=dtim, broadcast_per_s=float(broadcast))
    result = netsim.simulate(visited, policy, config=on_the_air(beacons=beacons, neighbours=neighbours), seed=seed)
    row = {"neighbours": neighbours, "dtim": dtim, "broadcast": broadcast, "replication": f"seed-{seed}"}
    lost = result.group_frames_lost / max(1e-9, broadcast * result.elapsed_s)
    return {"sparse" if sparse else "runs": [{**row, **_measured(result), "group_lost": lost}]}


def _alone(runs, policy, column):
    """Return a column of a policy at DTIM 1 without group frames, by number of neighbours and replication."""
    rows = where(runs, dtim=1, broadcast=0, policy=policy)
    return rows.set_index(["neighbours", "replication"])[column].sort_index()


@CONTENTION.claim("static PSM draws more the more neighbours load the channel", rising, unit=" mW")
def _draws(runs):
    return by(_alone(runs, "listen:1", "mean_mw"), "{} neighbours", "neighbours")


@CONTENTION.claim(
    "what 20 neighbours add to the {what} with sparse traffic is of the published size", between,
    "up to {value:g} % with sparse TCP uplink", "within a factor of three either way", unit=" %",
    of=[{"what": what, "column": column, "value": value, "low": value / 3.0, "high": value * 3.0}
        for what, column, value in (("current of static PSM", "mean_mw", 108.0),
                                    ("time that it is awake", "awake_percent", 254.0))],
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
    ratio = _alone(runs, "lpsm2:1.05", column) / _alone(runs, base, column)
    return by(ratio, "{} neighbours", "neighbours")


@CONTENTION.claim("ten group frames a second make static PSM draw more", above, unit=" mW")
def _added_by_group_frames(runs):
    ten, none = (
        _of(runs, "mean_mw", policy="listen:1", neighbours=0, dtim=1, broadcast=number) for number in (10, 0)
    )  # fmt: skip
    return ten - none


@CONTENTION.picture("contention", x="saturated neighbours", y="", y_scale="log", share_y=False)
def _by_load(runs):
    rows = where(runs, dtim=1, broadcast=0).groupby(["policy", "neighbours"], sort=False)
    titles = {"mean_mw": "mean power [mW]", "awake_percent": "time awake [%]", "latency_s": "page latency [s]"}
    for column, title in titles.items():
        yield title, pd.DataFrame([point(policy, count, own[column]) for (policy, count), own in rows])


# -- target wake times ---------------------------------------------------------------------------------------------


def _cells(traffics, policies):
    """Return the sweep of cells with some kinds of traffic, whose clients follow one of the policies."""
    axes = {"traffic": traffics, "clients": Sizes((1, 3), (1, 10, 50)), "seed": Seeds(2, 6), "policy": policies}
    key = "{traffic} {clients} clients seed {seed} {policy}"
    return over(axes, key, seconds=Sizes(60, 240), pages=Sizes(2, 4))


_ON_MESSAGES, _ON_THE_WEB = _cells(MESSAGES, MESSAGE_POLICIES), _cells(("web",), WEB_POLICIES)


@TWT.runs(lambda setup: {**_ON_MESSAGES(setup), **_ON_THE_WEB(setup)})
def take_turns(traffic, clients, seed, policy, seconds, pages):
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
    """TWT over listening to beacons at equal intervals, for messages: one client, or the largest cell."""
    samples, clients = {}, int(runs["clients"].max()) if crowd else 1
    for traffic, n in product(MESSAGES, beacons):
        twt, listening = (
            _of(runs, column, traffic=traffic, clients=clients, policy=policy)
            for policy in (f"twt:{n * 102.4:g}:10", f"listen:{n}")
        )
        samples[f"{traffic}, {n * 0.1024:.3g} s:"] = twt / listening
    return samples


@TWT.claim("service periods that do not overlap cost each of many clients what one pays", between, low=0.9, high=1.1)
def _crowded(runs):
    most = int(runs["clients"].max())
    many, one = (
        _of(runs, "mean_mw", traffic="periodic", policy="twt:1024:10", clients=count) for count in (most, 1)
    )  # fmt: skip
    return Noted(many / one, f"({most} clients over one)")


@TWT.claim("LPSM2 browses with less than TWT every 102.4 ms, in cells of any size", below, limit=1.0)
def _on_the_web(runs):
    ours, theirs = (
        where(runs, traffic="web", policy=policy).set_index(["clients", "replication"])["mean_mw"]
        for policy in ("lpsm2:1.05", "twt:102.4:10")
    )
    return by(ours / theirs, "{} clients:", "clients")


@TWT.picture("twt", x="mean power [mW]", y="delay [s]", x_scale="log", y_scale="log")
def _power_and_delay(runs):
    for traffic in (*MESSAGES, "web"):
        rows = where(runs[runs["policy"] != "none"], traffic=traffic)
        means = rows.groupby(["policy", "clients"], sort=False)[["mean_mw", "delay_s"]].mean().reset_index()
        names = {"policy": "group", "mean_mw": "x", "delay_s": "y"}
        yield f"{traffic}, 1 to {rows['clients'].max()} clients", means.rename(columns=names)
