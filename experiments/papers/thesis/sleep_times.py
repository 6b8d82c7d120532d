"""Figure 2-5 of Monteleoni 2006: how sleep times evolve with LPSM.

What it models: the settings of `browsing`, under no power saving and both energy terms of LPSM; a stretch of the
run is drawn, and the claims are counted over all of it.  What it leaves out: the thesis' own traffic.
Source: section 2.5.4, figure 2-5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.evolution import evolution
from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment, Setup
from experiments.papers.predicates import at_least, at_most
from experiments.papers.thesis.browsing import SHORT, simulate, task
from experiments.presets import THESIS
from experiments.study.evolution import busy_page, window

__all__ = ["EXPERIMENTS"]

WINDOW_S = 150.0
CLIMB = 20  # polls that find nothing


def _evolving(setup: Setup) -> dict[str, dict[str, Any]]:
    return {
        policy: task(SHORT, setup.pick(20, 100), setup.seed, policy, THESIS["server_delay"], polls=True)
        for policy in ("none", "lpsm", "lpsm:log")
    }


def _polls(record: Record, policy: str) -> pd.DataFrame:
    return record["polls"][record["polls"]["policy"] == policy]


def _quick(policy: str) -> Claim:
    def measure(record: Record) -> dict[str, Any]:
        stretches = _full_stretches(_polls(record, policy))
        share = 100 * (stretches["polls_until_100"] <= 3).mean()
        return {"": Noted(share, f"of {len(stretches)} stretches of such polls")}

    def why(record: Record) -> str:
        stretches = _full_stretches(_polls(record, policy))
        slow = stretches[stretches["polls_until_100"] > 3]
        return (
            f"the others last {slow['polls'].mean():.1f} polls, find {slow['bytes'].mean():.0f} bytes on the mean and "
            f"end at {slow['last_ms'].mean():.0f} ms"
        )

    return Claim(
        f"{policy}: when packets are found, the sleep is quickly reduced to 100 ms",
        at_least(measure, 90.0, unit=" %"),
        "quickly",
        "after at most three polls that find packets in a row",
        why=why,
    )


def _full_stretches(polls: pd.DataFrame) -> pd.DataFrame:
    """Return the stretches of polls in a row that find packets.

    A row a stretch: how many polls, their bytes, the last sleep chosen, and after how many the sleep was 100 ms (inf:
    never).
    """
    full = (polls["buffered_bytes"] > 0).to_numpy()
    number = np.cumsum(np.diff(full.astype(np.int8), prepend=0) > 0)
    rows = []
    for _, own in polls[full].groupby(number[full]):
        shortest = np.flatnonzero(own["next_sleep_ms"].to_numpy() <= 100)
        rows.append(
            {
                "polls": len(own),
                "bytes": float(own["buffered_bytes"].sum()),
                "last_ms": float(own["next_sleep_ms"].iloc[-1]),
                "polls_until_100": float(shortest[0] + 1) if len(shortest) else float("inf"),
            }
        )
    return pd.DataFrame(rows)


def _backs_off(policy: str) -> Claim:
    def measure(record: Record) -> dict[str, Any]:
        polls = _polls(record, policy)
        empty = polls[polls["buffered_bytes"] == 0]
        shorter = int((empty["next_sleep_ms"] < empty["slept_ms"]).sum())
        return {"": Noted(shorter, f"times shorter after {len(empty)} polls that find nothing")}

    return Claim(
        f"{policy}: after a poll that finds nothing the sleep never becomes shorter",
        at_most(measure, 0),
        "continually increases",
        why=lambda record: "the very first sleep, the mean of all experts, is rounded up",
    )


def _gains(record: Record) -> dict[str, Any]:
    """What the sleep gains in `CLIMB` empty polls after one of 100 ms: with 1/log T over twice that with 1/T."""
    after = {policy: _sleeps_after(_polls(record, policy)) for policy in ("lpsm", "lpsm:log")}
    if not all(after.values()):
        return {}
    slow, fast = (float(np.mean(sleeps)) - 100.0 for sleeps in after.values())
    counts = ", ".join(str(len(sleeps)) for sleeps in after.values())
    return {"": Noted(fast - 2.0 * slow, f"({slow:.0f} and {fast:.0f} ms longer after {CLIMB}; {counts} climbs)")}


def _sleeps_after(polls: pd.DataFrame) -> list[float]:
    """The sleeps chosen `CLIMB` polls that found nothing after one of 100 ms, of climbs that last as long."""
    sleeps: list[float] = []
    count: int | None = None
    for full, sleep in zip(polls["buffered_bytes"] > 0, polls["next_sleep_ms"], strict=True):
        if full:
            count = 0 if sleep <= 100 else None
        elif count is not None:
            count += 1
            if count == CLIMB:
                sleeps.append(float(sleep))
                count = None
    return sleeps


def _draw_evolution(record: Record) -> Mapping[str, Figure]:
    pages, polls = record["pages"], record["polls"]
    start = busy_page(pages.loc[pages["policy"] == "none", "issue_s"], WINDOW_S)
    shown_polls, loads = window(pages, polls, start_page=start, window_s=WINDOW_S)
    return {"fig-2-5": evolution(shown_polls, loads, window_s=WINDOW_S)}


EXPERIMENTS = (
    Experiment(
        name="thesis/fig-2-5",
        subject="how sleep times evolve with LPSM",
        time="2 s",
        sweep=_evolving,
        run=simulate,
        claims=(
            _quick("lpsm"),
            _quick("lpsm:log"),
            _backs_off("lpsm"),
            _backs_off("lpsm:log"),
            Claim(
                "with 1/T the sleep backs off much more slowly than with 1/log T",
                at_least(_gains, 0.0, unit=" ms"),
                "much more slowly",
                "what it gains in as many empty polls, less twice what it gains with 1/T, in one run",
            ),
        ),
        figures=_draw_evolution,
    ),
)
