"""How many switching rates Learn-alpha needs: section 2.5.5 of Monteleoni 2006, m held constant.

What it models: the sessions of figures 2-9 to 2-11 (`replayed`), replayed with grids of fewer and fewer switching
rates, made for shorter and shorter horizons; the thesis' has 259 for 27,000 polls.  The thesis holds m constant, does
not say at what, and says that its results were not significantly worse.  Both losses are told apart, as there.
What it leaves out: the time that fewer rates save, which is no part of a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import lines
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.predicates import at_most
from experiments.papers.thesis.replayed import BROWSING, requests_of, sessions
from experiments.study.replay import ReplayConfig, rounds, totals

__all__ = ["EXPERIMENTS"]

HORIZONS = (27_000, 3000, 300, 30, 3)  # polls for which the grid of switching rates is made
LOSSES = {"polling_loss": "polling loss, as plotted", "mixture_loss": "mixture loss, of which the bounds speak"}


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    return {
        f"{name} horizon {horizon}": {**task, "session_name": name, "horizon": horizon}
        for name, task in sessions(setup).items()
        for horizon in setup.pick((300, 3), HORIZONS)
    }


def replay(task: dict[str, Any]) -> Rows:
    """Replay one session with one grid: its losses at the end."""
    config = ReplayConfig(horizon=task["horizon"])
    found = totals(rounds(requests_of(task), config), config)
    named = {"session": task["session_name"], "m": len(config.polling().alphas or ()), "polls": found["polls"]}
    return {"losses": [{**named, **{name: found[name] for name in (*LOSSES, "best_expert_loss")}}]}


def _over_largest(loss: str) -> Measure:
    """A loss over that with the largest m, a number a session, by m."""

    def measure(record: Record) -> dict[str, Any]:
        table = record["losses"].pivot(index="session", columns="m", values=loss)
        largest = table.columns.max()
        return {
            f"m = {m}:": Noted(table[m] / table[largest], f"times that of m = {largest}")
            for m in sorted(table.columns)
            if m < largest
        }

    return measure


def _draw(record: Record) -> Mapping[str, Figure]:
    rows = record["losses"]
    frame = pd.DataFrame(
        {"group": rows["session"], "x": rows["m"], "y": rows["polling_loss"] / rows["best_expert_loss"]}
    )
    return {"constant-m": lines(frame, x="switching rates m", y="loss over that of the best expert", x_scale="log")}


EXPERIMENTS = (
    Experiment(
        name="thesis/constant-m",
        subject="Learn-alpha with fewer switching rates than its bound asks for",
        time="1 min",
        sweep=_sweep,
        run=replay,
        claims=tuple(
            Claim(
                f"m held constant does not significantly degrade performance ({words})",
                at_most(_over_largest(loss), 1.05),
                "not significantly",
                "at most 5 % more on the mean over sessions, at every m",
            )
            for loss, words in LOSSES.items()
        ),
        figures=_draw,
        data=BROWSING,
    ),
)
