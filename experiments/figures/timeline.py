"""What the radio does over time: a run frame by frame, a monitor-mode capture, and the sleeps that policies choose.

A run has a panel a policy, on the same traffic.  Its rows from the top: frames up and down, beacons, the radio, what
waits at the access point and requests outstanding; ticks along the lower edge are decisions of the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, MultipleLocator

from experiments.figures.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    PURPLE,
    SKY,
    VERMILLION,
    clean,
    label,
    look,
    looks,
    readable,
    sheet,
)  # fmt: skip
from experiments.inert import drawn
from experiments.timeline import Timeline
from traces.captures.audit import Audit

__all__ = ["audited", "evolution", "timelines"]

_ROWS = {
    "decisions": "decisions", "outstanding": "requests open", "waiting": "waits at the AP", "radio": "radio",
    "beacons": "beacons", "down": "frames down", "up": "frames up",
}  # fmt: skip
"""Rows of a panel from the bottom, and what they are called."""
_PLACES = {row: place for place, row in enumerate(_ROWS)}
_HEARD = {"listened": (VERMILLION, 0.4, 1.6), "awake": (SKY, 0.4, 1.0), "slept": (GREY, 0.22, 1.0)}
"""Colour, half height and width of the mark of a beacon."""
_LEAST = 0.0008  # of the window: nothing is drawn narrower
_MOST_CLIENTS = 8


def timelines(runs: Sequence[Timeline]) -> Figure:
    """Draw one timeline or more under one another, over the same length of time."""
    length = max(run.length_s for run in runs)
    hatched: Any = {"edgecolor": INK, "hatch": "////"}
    with sheet(7.4, 0.75 + 1.75 * len(runs), len(runs), sharex=True) as (figure, grid):
        for axes, run in zip(grid, runs, strict=True):
            _panel(axes, run, _LEAST * length)
        unit, scale = ("ms", 1000.0) if length < 2.0 else ("s", 1.0)
        grid[-1].set(xlim=(0, length), xlabel=f"time since the start of the window [{unit}]")
        grid[-1].xaxis.set_major_formatter(lambda value, _: f"{value * scale:g}")
        plain = (
            *[(PURPLE, "waking up")] * any(run.waking for run in runs), (VERMILLION, "beacon listened to"),
            (SKY, "beacon passed awake"), (GREY, "beacon slept through"), (PALE, "page loads"),
        )  # fmt: skip
        handles = [
            Patch(facecolor=SKY, **hatched, label="awake, frames delivered at once"),
            Patch(facecolor="white", **hatched, label="awake to send only"),
            *(Patch(facecolor=colour, label=words) for colour, words in plain),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=1.4)
    return figure


def _panel(axes: Axes, run: Timeline, least: float) -> None:
    for start, end in run.loads:
        axes.axvspan(start, end, color=PALE, linewidth=0, zorder=0.5)
    hatched: Any = {"hatch": "////", "edgecolor": INK, "lw": 0.4}
    bars: list[tuple[str, tuple[float, float], float, dict[str, Any]]] = [
        *(("radio", span, 0.35, {"color": PURPLE, "lw": 0}) for span in run.waking),
        *(("radio", span, 0.7, {"color": "white", **hatched}) for span in run.awake),
        *(("radio", span, 0.7, {"color": SKY, **hatched}) for span in run.gate),
    ]
    for frame in run.frames:
        row, colour = ("down", ORANGE) if frame.down else ("up", BLUE)
        how: dict[str, Any] = {"color": "white" if frame.lost else colour, "edgecolor": colour, "lw": 0.3}
        bars.append((row, run.frame_span(frame), 0.8 if frame.length else 0.4, how))
    for row, (start, end), tall, how in bars:
        axes.barh(_PLACES[row], max(end - start, least), tall, start, **how)
    at = _PLACES["beacons"]
    for beacon in run.beacons:
        colour, tall, width = _HEARD[beacon.heard]
        axes.vlines(beacon.time_s, at - tall, at + tall, color=colour, linewidth=width, zorder=3)
    _level(axes, run.waiting, _PLACES["waiting"], VERMILLION, "B")
    _level(axes, run.outstanding, _PLACES["outstanding"], readable(PURPLE), "")
    times = [at for at, _ in run.decisions]
    axes.plot(times, [_PLACES["decisions"]] * len(times), "|", color=INK, markersize=7)
    axes.set_yticks(range(len(_ROWS)), list(_ROWS.values()))
    axes.set_ylim(-0.6, len(_ROWS) - 0.4)
    axes.set_title(drawn(f"{label(run.policy)}: {run.title}"), color=readable(look(run.policy).colour))
    clean(axes, "x")
    axes.tick_params(axis="y", length=0)


def _level(axes: Axes, steps: Sequence[Any], row: float, colour: str, unit: str) -> None:
    """Draw how much there is over time inside a row, with the most of it written down."""
    most = max((step.value for step in steps), default=0)
    if not most:
        return
    times = [steps[0].start_s, *(step.end_s for step in steps)]
    heights = [row - 0.4 + 0.8 * step.value / most for step in steps]
    axes.stairs(heights, times, baseline=row - 0.4, fill=True, color=colour, alpha=0.85, linewidth=0)
    beside: Any = {"xycoords": ("axes fraction", "data"), "xytext": (3, 0), "textcoords": "offset points"}
    text = f"up to {most:,.0f} {unit}".rstrip()
    axes.annotate(text, (1.0, row), **beside, fontsize=7.5, va="center", annotation_clip=False)


def audited(found: Audit, clients: Sequence[bytes]) -> Figure:
    """Draw sleep and wake of the clients of a capture, at most eight, beacons, and data frames up and down."""
    shown = list(clients)[:_MOST_CLIENTS]

    def seconds(times_us: Sequence[int]) -> Any:
        return (np.array(times_us, dtype=np.float64) - found.start_us) / 1e6

    with sheet(7.4, 1.2 + 1.1 * max(1, len(shown))) as (figure, [axes]):
        beacons = seconds([at for at, _ in found.beacons_us])
        axes.plot(beacons, np.full(len(beacons), -0.4), "|", color=GREY, label="beacon")
        for row, address in enumerate(shown):
            states = found.clients[address].states
            starts = seconds([at for at, _ in states])
            lengths = np.diff(starts, append=seconds([found.end_us])[: len(states)])
            for state, colour, name in ((False, SKY, "awake"), (True, PALE, "asleep")):
                bars = [span for *span, (_, asleep) in zip(starts, lengths, states, strict=True) if asleep is state]
                axes.broken_barh(bars, (row + 0.05, 0.4), facecolors=colour, label=None if row else name)
            for up, colour, name, level in ((True, ORANGE, "frame up", 0.6), (False, BLUE, "frame down", 0.8)):
                at = seconds([at for at, who, sent in found.frames_us if who == address and sent is up])
                own: Any = {"color": colour, "markersize": 6, "label": None if row else name}
                axes.plot(at, np.full(len(at), row + level), "|", **own)
        axes.set_yticks([row + 0.4 for row in range(len(shown))], [address.hex(":") for address in shown])
        axes.set(ylim=(-0.7, max(1, len(shown))), xlim=(0, max((found.end_us - found.start_us) / 1e6, 1e-3)))
        figure.legend(loc="outside upper right", ncols=5)
        clean(axes, xlabel="time [s]")
    return figure


def evolution(polls: pd.DataFrame, loads: pd.DataFrame, *, window_s: float) -> Figure:
    """Draw the sleep chosen at each poll, a panel a policy (the thesis' figure 2-5).

    All panels begin with the issue of the same page, because in a closed loop a page is issued at different times under
    different policies.  `polls` have `policy`, `time_s` (since the start of the window), `next_sleep_ms` and
    `buffered_bytes`; `loads` have `policy`, `start_s` and `end_s`, when pages were loading.
    """
    drawn = looks(list(polls["policy"].unique()))
    n_panels = max(len(drawn), 1)
    with sheet(7.2, 0.8 + 1.75 * n_panels, n_panels, sharex=True) as (figure, grid):
        for axes, (policy, look) in zip(grid, drawn.items(), strict=False):
            own, spans = polls[polls["policy"] == policy], loads[loads["policy"] == policy]
            for index, (start, end) in enumerate(zip(spans["start_s"], spans["end_s"], strict=True)):
                words = "a page loads" if index == 0 and axes is grid[0] else None
                axes.axvspan(start, end, color=PALE, linewidth=0, label=words)
            axes.step(own["time_s"], own["next_sleep_ms"], where="post", color=look.colour, linewidth=0.9)
            full = own["buffered_bytes"] > 0
            first = axes is grid[0]
            for rows, mark, how, words in (
                (own[~full], "o", {"color": look.colour, "markersize": 2.0}, "poll that finds nothing"),
                (own[full], "^", {"color": INK, "mfc": "white", "markersize": 5}, "poll that finds packets"),
            ):
                axes.plot(rows["time_s"], rows["next_sleep_ms"], mark, **how, label=words if first else None)
            top = max(1200.0, float(own["next_sleep_ms"].max()) if len(own) else 0.0)
            axes.yaxis.set_major_locator(MultipleLocator(300) if top < 1600 else MaxNLocator(5))
            axes.set_ylim(0, 1.04 * top)
            clean(axes, title=label(policy), ylabel="next sleep [ms]")
        grid[-1].set(xlim=(0, window_s), xlabel="time since a page was asked for [s]")
        figure.legend(loc="outside upper right", ncols=3, columnspacing=1.4)
    return figure
