"""LPSM3 where frames are lost, and on the shared air: whether it keeps what is asked for, and energy at equal slowdown.

What it models: pages of the Web model with lognormal servers, pauses a fifth as long, on the pair of wires with 1 and
3 % of the frames lost, and on 802.11g at 54 Mb/s with beacons every 102.4 ms, alone and beside five neighbours that
send 1 Mb/s each, under the radio of an ESP32-C6.  Policies are held against families as in `papers.ours.lpsm3`, but a
slowdown is that of all pages of a run together: frames that are lost are others under every policy, and a page whose
retransmission timer runs out under one alone says nothing of it.
What it leaves out: cells of several clients under LPSM3, hidden stations, messages and streams on the air.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

import netsim
from experiments.figures.papers import panels
from experiments.papers.claims import Record
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.ours.air import BEACON_NS
from experiments.papers.ours.air import RADIO as AIR_RADIO
from experiments.papers.ours.lpsm2_fronts import front_frames, limited, saving_claim
from experiments.papers.ours.lpsm2_runs import measure, world_of
from experiments.papers.ours.lpsm3 import FIRST_SEED, HOST, LINKED, LPSM2, OWN

__all__ = ["EXPERIMENTS"]

WORLDS: Mapping[str, Mapping[str, float]] = {
    "1 % lost": {"loss": 0.01, "pages": 200},
    "3 % lost": {"loss": 0.03, "pages": 200},
    "air": {"neighbours": 0, "pages": 30},
    "air, 5 neighbours": {"neighbours": 5, "pages": 30},
}
SLOWDOWN = "slowdown_all"
HOLD = tuple(f"hold:{ms}" for ms in (0, 50, 100, 200, 400))
FAMILIES = (("LPSM2", LPSM2), ("BSD, host", HOST[1:]), ("hold, host", HOLD))
PAUSE = 0.2  # of the Web model's thinking
SECONDS_A_PAGE = 55


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    first = FIRST_SEED + setup.seed
    return {
        f"{name} seed {seed}": {
            **how, "world": name, "traffic": "web-lognormal", "seed": seed,
            "seconds": SECONDS_A_PAGE * setup.pick(5.0, how["pages"]),
        }
        for seed in range(first, first + setup.pick(2, 10))
        for name, how in WORLDS.items()
    }  # fmt: skip


def run(task: dict[str, Any]) -> Rows:
    """Browse one world under every policy."""
    world = world_of(task)
    pages = [page._replace(think_s=PAUSE * page.think_s) for page in world.traffic.pages]
    config = netsim.SimulationConfig()
    if "loss" in task:
        config = replace(config, link=netsim.LinkConfig(loss_rate=task["loss"]))
    else:
        air = netsim.AirConfig(neighbours=task["neighbours"], neighbour_mbps=1.0)
        config = replace(config, medium=air, radio=netsim.Radio.named(AIR_RADIO), beacon_interval_ns=BEACON_NS)

    def browse(policy: str) -> netsim.SimulationResult:
        return netsim.simulate(pages, policy, config=config, server_delays=world.servers, seed=world.seed)

    base = browse("none")
    policies = [OWN, LINKED, *(policy for _, family in FAMILIES for policy in family)]
    common = {"traffic": task["world"], "replication": f"seed-{task['seed']}"}
    rows = []
    for result in map(browse, policies):
        against = {SLOWDOWN: float(result.latency_s.sum() / base.latency_s.sum()), "base_j": float(base.energy.total_j)}
        rows.append({**common, "policy": result.policy, **measure(result, base, world), **against})
    return {"runs": rows}


def _draw(record: Record) -> Mapping[str, Figure]:
    families = [*FAMILIES, ("LPSM3", (OWN,)), ("LPSM3, link", (LINKED,))]
    fronts = front_frames(record, dict.fromkeys(WORLDS, families), y=SLOWDOWN, over="base_j", most=(1.3, 1.0))
    return {"lpsm3-air": panels(fronts, x="energy over that without power saving", y="slowdown of all pages together")}


EXPERIMENTS = (
    Experiment(
        name="ours/lpsm3-air",
        subject="LPSM3 where frames are lost, and on the shared air",
        time="3 min",
        sweep=_sweep,
        run=run,
        claims=(
            *(limited(name, policy, 1.0605, SLOWDOWN) for policy in (OWN, LINKED) for name in WORLDS),
            *(saving_claim(name, OWN, family, words, 0.0, SLOWDOWN) for name in WORLDS for words, family in FAMILIES),
        ),
        figures=_draw,
    ),
)
