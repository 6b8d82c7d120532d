"""Timelines: what the radio does, frame by frame, policies under one another on the same traffic.

A panel a policy.  Its rows from the top: frames up and down, beacons, the radio, what waits at the access point and
requests outstanding; ticks along the lower edge are decisions of the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from experiments.figures.style import (
    BLUE,
    DPI,
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
    readable,
    styled,
)
from experiments.inert import drawn
from experiments.timeline import Timeline

__all__ = ["HEARD", "ROWS", "ROW_WORDS", "timelines"]

ROWS = ("decisions", "outstanding", "waiting", "radio", "beacons", "down", "up")
"""Rows of a panel from the bottom."""
ROW_WORDS = {
    "decisions": "decisions", "outstanding": "requests open", "waiting": "waits at the AP", "radio": "radio",
    "beacons": "beacons", "down": "frames down", "up": "frames up",
}  # fmt: skip
HEARD = {"listened": VERMILLION, "awake": SKY, "slept": GREY}
_DOWN_LEAST = 0.0008  # of the window: no frame is drawn narrower


def timelines(runs: Sequence[Timeline]) -> Figure:
    """Draw timelines under one another, over the same length of time.

    Parameters
    ----------
    runs : sequence of Timeline
        At least one.
    """
    length = max(run.length_s for run in runs)
    with styled():
        figure = Figure(figsize=(7.4, 0.75 + 1.75 * len(runs)), dpi=DPI, layout="constrained")
        grid = figure.subplots(len(runs), 1, sharex=True, squeeze=False)[:, 0]
        for axes, run in zip(grid, runs, strict=True):
            _panel(axes, run, length)
        unit, scale = ("ms", 1000.0) if length < 2.0 else ("s", 1.0)
        last = grid[-1]
        last.set_xlim(0, length)
        last.set_xlabel(f"time since the start of the window [{unit}]")
        last.xaxis.set_major_formatter(lambda value, _: f"{value * scale:g}")
        figure.legend(
            handles=[
                Patch(facecolor=SKY, edgecolor=INK, hatch="////", label="awake, frames delivered at once"),
                Patch(facecolor="white", edgecolor=INK, hatch="////", label="awake to send only"),
                *[Patch(facecolor=PURPLE, label="waking up")] * any(run.waking for run in runs),
                Patch(facecolor=VERMILLION, label="beacon listened to"),
                Patch(facecolor=SKY, label="beacon passed awake"),
                Patch(facecolor=GREY, label="beacon slept through"),
                Patch(facecolor=PALE, label="page loads"),
            ],
            loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=1.4,
        )  # fmt: skip
    return figure


def _panel(axes: Axes, run: Timeline, length: float) -> None:
    place = {row: number for number, row in enumerate(ROWS)}
    least = _DOWN_LEAST * length
    for start, end in run.loads:
        axes.axvspan(start, end, color=PALE, linewidth=0, zorder=0.5)
    for start, end in run.waking:
        axes.barh(place["radio"], max(end - start, least), 0.35, start, color=PURPLE, lw=0)
    for start, end in run.awake:
        axes.barh(
            place["radio"], max(end - start, least), 0.7, start, color="white", hatch="////", edgecolor=INK, lw=0.4
        )
    for start, end in run.gate:
        axes.barh(place["radio"], max(end - start, least), 0.7, start, color=SKY, hatch="////", edgecolor=INK, lw=0.4)
    for beacon in run.beacons:
        tall = 0.4 if beacon.heard != "slept" else 0.22
        axes.vlines(
            beacon.time_s, place["beacons"] - tall, place["beacons"] + tall, color=HEARD[beacon.heard],
            linewidth=1.6 if beacon.heard == "listened" else 1.0, zorder=3,
        )  # fmt: skip
    for frame in run.frames:
        start, end = run.frame_span(frame)
        row, colour = (place["down"], ORANGE) if frame.down else (place["up"], BLUE)
        tall = 0.8 if frame.length else 0.4
        axes.barh(
            row, max(end - start, least), tall, start, color="white" if frame.lost else colour, edgecolor=colour, lw=0.3
        )
    _level(axes, run.waiting, place["waiting"], VERMILLION, "B")
    _level(axes, run.outstanding, place["outstanding"], readable("#CC79A7"), "")
    axes.plot([at for at, _ in run.decisions], [place["decisions"]] * len(run.decisions), "|", color=INK, markersize=7)
    axes.set_yticks(range(len(ROWS)), [ROW_WORDS[row] for row in ROWS])
    axes.set_ylim(-0.6, len(ROWS) - 0.4)
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
    axes.annotate(
        f"up to {most:,.0f} {unit}".rstrip(), (1.0, row), xycoords=("axes fraction", "data"), xytext=(3, 0),
        textcoords="offset points", fontsize=7.5, va="center", annotation_clip=False,
    )  # fmt: skip
