"""LPSM3 where frames are lost, and on the shared air: whether it keeps what is asked for, and energy at equal slowdown.

What it models: pages of the Web model with lognormal servers, pauses a fifth as long, on the pair of wires with 1 and
3 % of the frames lost, and on 802.11g at 54 Mb/s with beacons every 102.4 ms, alone and beside five neighbours that
send 1 Mb/s each, under the radio of an ESP32-C6.  Policies are compared with families as in `papers.ours.lpsm3`, but
the slowdown is that of all pages of a run together: the frames that are lost differ between policies, and a page whose
retransmission timer runs out under one of them alone says nothing of it.
What it leaves out: cells of several clients under LPSM3, hidden stations, messages and streams on the air.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

import netsim
from experiments.papers.claims import Record
from experiments.papers.kit import Experiment, Setup
from experiments.papers.ours.air import on_the_air
from experiments.papers.ours.lpsm2_fronts import fronts, limited, saving_claim
from experiments.papers.ours.lpsm2_runs import family, world_of
from experiments.papers.ours.lpsm3 import FIRST_SEED, HOST, LINKED, LPSM2, OWN

__all__ = ["EXPERIMENTS"]

WORLDS: dict[str, dict[str, float]] = {
    "1 % lost": {"loss": 0.01, "pages": 200},
    "3 % lost": {"loss": 0.03, "pages": 200},
    "air": {"neighbours": 0, "pages": 30},
    "air, 5 neighbours": {"neighbours": 5, "pages": 30},
}
SLOWDOWN = "slowdown_all"
FAMILIES = (
    ("LPSM2", LPSM2), ("BSD, host", HOST[1:]), ("hold, host", family("hold:{}", (0, 50, 100, 200, 400))),
)  # fmt: skip
PAUSE = 0.2  # of the Web model's thinking
SECONDS_A_PAGE = 55
AIR = Experiment("ours/lpsm3-air", "LPSM3 where frames are lost, and on the shared air", "3 min")


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


@AIR.runs(_sweep)
def runs(
    world: str, traffic: str, seconds: float, seed: int, pages: int, loss: float = 0.0, neighbours: int | None = None
) -> list[dict[str, Any]]:
    """Browse one world under every policy; `pages` is how many the full size has on average."""
    drawn = world_of(traffic, seconds, seed)
    hasty = [page._replace(think_s=PAUSE * page.think_s) for page in drawn.traffic.pages]
    if neighbours is None:
        config = netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=loss))
    else:
        config = on_the_air(neighbours=neighbours, neighbour_mbps=1.0)
    drawn = drawn._replace(traffic=drawn.traffic._replace(pages=hasty), config=config)
    base = drawn.browse("none")
    results = {name: drawn.browse(name) for name in (OWN, LINKED, *(one for _, own in FAMILIES for one in own))}
    together = {"base_j": float(base.energy.total_j)}
    return [
        {**row, SLOWDOWN: float(one.latency_s.sum() / base.latency_s.sum()), **together}
        for row, one in zip(drawn.rows(results, world, base=base), results.values(), strict=True)
    ]


AIR.claims += [limited(name, policy, 1.0605, SLOWDOWN) for policy in (OWN, LINKED) for name in WORLDS]
AIR.claims += [saving_claim(name, OWN, own, words, 0.0, SLOWDOWN) for name in WORLDS for words, own in FAMILIES]


@AIR.picture("lpsm3-air", x="energy over that without power saving", y="slowdown of all pages together")
def _fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    families = [*FAMILIES, ("LPSM3", (OWN,)), ("LPSM3, link", (LINKED,))]
    return fronts(record, dict.fromkeys(WORLDS, families), y=SLOWDOWN, over="base_j", most=(1.3, 1.0))


EXPERIMENTS = (AIR,)
