"""LPSM2 with one part taken away at a time: what each of them gives, at equal slowdown.

What it models: what remains is run beside the whole, which is asked for several slowdowns, on Web pages and on all
kinds of traffic in turn; and on messages in bursts, where what counts is how long they wait.  What it leaves out: what
learning costs (`papers.ours.lpsm2_learning`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment
from experiments.papers.ours.lpsm2_fronts import energies, fronts, saving, spared_by_parts, values
from experiments.papers.ours.lpsm2_learning import OWN, WIDE
from experiments.papers.ours.lpsm2_runs import FIRST_SEED, kinds, world_of
from experiments.papers.predicates import reaching
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config

__all__ = ["EXPERIMENTS"]

BURSTY, DELAYS_MS = "push-bursty", (60, 100, 200, 400)
PARTS_ON = {"web-lognormal": (600.0, 5500.0, 20), "shifting": (600.0, 3000.0, 10)}
DRAWN = "with schedules drawn by weight"
PARTS: Mapping[str, Mapping[str, Any]] = {
    "without contexts": {"contexts": False},
    "without 1/w": {"share_delay": False},
    "without the clock": {"clock": False},
    "without the first round": {"prior": False},
    "at a fixed price": {"dual": False},
    "with Static-expert": {"learn_alpha": False},
    DRAWN: {"sample_seed": 0},
}
PARTS_OF_PUSH = ("with Static-expert", "at a fixed price")
ABLATIONS = Experiment("ours/lpsm2-ablations", "LPSM2 with one part taken away at a time", "1 min")


@ABLATIONS.runs(kinds(FIRST_SEED, {**PARTS_ON, BURSTY: (600.0, 5500.0, 20)}))
def runs(traffic: str, seconds: float, seed: int) -> list[dict[str, Any]]:
    """Run LPSM2 whole, at several slowdowns or delays of messages, and with one part taken away at a time."""
    world = world_of(traffic, seconds, seed)
    if traffic == BURSTY:
        policies = {}
        changed: dict[str, Mapping[str, Any]] = {
            f"{part} {ms} ms": {**PARTS.get(part, {}), "max_push_delay_s": ms / 1000}
            for part in ("whole", *PARTS_OF_PUSH)
            for ms in DELAYS_MS
        }
    else:
        policies = {name: world.browse(name) for name in WIDE}
        changed = {**PARTS, DRAWN: {"sample_seed": seed}}
    parts = {name: world.browse(Lpsm2(Lpsm2Config(**change), spec=name)) for name, change in changed.items()}
    return world.rows({**policies, **parts}, traffic)


def _waits_less(record: Record, part: str) -> dict[str, Any]:
    """How much longer messages wait without a part, ms, at each delay asked for, beside what that costs."""
    samples = {}
    for ms in DELAYS_MS:
        names = whole, without = [f"{name} {ms} ms" for name in ("whole", part)]
        delays, joules = 1000 * values(record, BURSTY, "added_s_mean", names), energies(record, BURSTY, names)
        cost = saving(joules[without], joules[whole]).mean()
        means = f"({delays[whole].mean():.0f} ms whole, {delays[without].mean():.0f} {part}, energy {cost:.1f} % below)"
        samples[f"{ms} ms:"] = Noted(delays[without] - delays[whole], means)
    return samples


ABLATIONS.claims += [
    *spared_by_parts("LPSM2", OWN, WIDE, PARTS, tuple(PARTS_ON)),
    *(Claim(f"{BURSTY}: messages wait no longer than they do {part}",
            reaching(partial(_waits_less, part=part), 0.0, unit=" ms"),
            reason="mean added delay without the part less that of the whole, at each of four delays asked for")
      for part in PARTS_OF_PUSH),
]  # fmt: skip


@ABLATIONS.picture("lpsm2-parts", x="energy over the limit", y="mean slowdown of a page")
def _fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    families = [("LPSM2", WIDE), *((part, (part,)) for part in PARTS)]
    return fronts(record, dict.fromkeys(PARTS_ON, families), over="limit_j", most=(1.5, 2.5))


EXPERIMENTS = (ABLATIONS,)
