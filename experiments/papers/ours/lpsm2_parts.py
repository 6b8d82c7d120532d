"""LPSM2 with one part taken away at a time: what each of them gives, at equal slowdown.

What it models: what remains is run beside the whole, which is asked for several slowdowns, on Web pages and on all
kinds of traffic in turn; and on messages in bursts, where what counts is how long they wait.  What it leaves out: what
learning costs (`papers.ours.lpsm2_learning`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.ours.lpsm2_fronts import energies, front_frames, saving, spared_by_parts, values
from experiments.papers.ours.lpsm2_learning import OWN, WIDE, tasks_on
from experiments.papers.ours.lpsm2_runs import measure, world_of
from experiments.papers.predicates import reaching
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config

__all__ = ["EXPERIMENTS", "browse_parts"]

PARTS_ON = ("web-lognormal", "shifting")
BURSTY, DELAYS_MS = "push-bursty", (60, 100, 200, 400)
PARTS_OF_PUSH = ("with Static-expert", "at a fixed price")
PARTS: Mapping[str, Mapping[str, Any]] = {
    "without contexts": {"contexts": False},
    "without 1/w": {"share_delay": False},
    "without the clock": {"clock": False},
    "without the first round": {"prior": False},
    "at a fixed price": {"dual": False},
    "with Static-expert": {"learn_alpha": False},
    "with schedules drawn by weight": {"sample_seed": 0},
}


def browse_parts(task: dict[str, Any]) -> Rows:
    """Run LPSM2 whole, at several slowdowns or delays of messages, and with one part taken away at a time."""
    world = world_of(task)
    base = world.browse("none")
    if task["traffic"] == BURSTY:
        changed = {
            f"{name} {ms} ms": {**change, "max_push_delay_s": ms / 1000}
            for name, change in {"whole": {}, **{name: PARTS[name] for name in PARTS_OF_PUSH}}.items()
            for ms in DELAYS_MS
        }
        found = []
    else:
        changed = {name: dict(change) for name, change in PARTS.items()}
        changed["with schedules drawn by weight"] = {"sample_seed": task["seed"]}
        found = [world.browse(policy) for policy in WIDE]
    found += [world.browse(Lpsm2(Lpsm2Config(**change), spec=name)) for name, change in changed.items()]
    common = {"traffic": task["traffic"], "replication": f"seed-{task['seed']}"}
    return {"runs": [{**common, "policy": result.policy, **measure(result, base, world)} for result in found]}


def _parts(setup: Setup) -> dict[str, dict[str, Any]]:
    return tasks_on(setup, (*PARTS_ON, BURSTY))


def _waits_less(part: str) -> Measure:
    """How much longer messages wait without a part, ms, at each delay asked for, beside what that costs."""

    def measure(record: Record) -> dict[str, Any]:
        names = [f"{name} {ms} ms" for ms in DELAYS_MS for name in ("whole", part)]
        delays, joules = 1000 * values(record, BURSTY, "added_s_mean", names), energies(record, BURSTY, names)
        found = {}
        for ms in DELAYS_MS:
            whole, without = (f"{name} {ms} ms" for name in ("whole", part))
            cost = saving(joules[without], joules[whole]).mean()
            words = (
                f"({delays[whole].mean():.0f} ms whole, {delays[without].mean():.0f} {part}, energy {cost:.1f} % below)"
            )
            found[f"{ms} ms:"] = Noted(delays[without] - delays[whole], words)
        return found

    return measure


def _draw_parts(record: Record) -> Mapping[str, Figure]:
    families = [("LPSM2", WIDE), *((part, (part,)) for part in PARTS)]
    fronts = front_frames(record, dict.fromkeys(PARTS_ON, families), over="limit_j", most=(1.5, 2.5))
    return {"lpsm2-parts": panels(fronts, x="energy over the limit", y="mean slowdown of a page")}


EXPERIMENTS = (
    Experiment(
        name="ours/lpsm2-ablations",
        subject="LPSM2 with one part taken away at a time",
        time="1 min",
        sweep=_parts,
        run=browse_parts,
        claims=(
            *spared_by_parts("LPSM2", OWN, WIDE, PARTS, PARTS_ON),
            *(
                Claim(
                    f"{BURSTY}: messages wait no longer than they do {part}",
                    reaching(_waits_less(part), 0.0, unit=" ms"),
                    reason="mean added delay without the part less that of the whole, at each of four delays asked for",
                )
                for part in PARTS_OF_PUSH
            ),
        ),
        figures=_draw_parts,
    ),
)
