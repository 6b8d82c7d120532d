"""What the radio does over time: a run frame by frame, a monitor-mode capture, and the sleeps that policies choose.

A run has a panel a policy, on the same traffic.  Its rows from the top: frames up and down, beacons, the radio, what
waits at the access point and requests outstanding; ticks along the lower edge are decisions of the policy.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from experiments.audit import Audit
from experiments.escaping import drawn
from experiments.figures import style
from experiments.timeline import Timeline

_ROWS = ("frames up", "frames down", "beacons", "radio", "waits at the AP", "requests open", "decisions")
_UP, _DOWN, _BEACONS, _RADIO, _WAITING, _OPEN, _DECISIONS = range(len(_ROWS))
_HEARD = {"listened": (style.VERMILLION, 0.4, 1.6), "awake": (style.SKY, 0.4, 1.0), "slept": (style.GREY, 0.22, 1.0)}
"""Colour, half height and width of the mark of a beacon."""
_HATCHED: Any = {"edgecolor": style.INK, "hatch": "////"}
_LEAST = 0.0008  # of the window: nothing is drawn narrower
_MOST_CLIENTS = 8


def timelines(runs: Sequence[Timeline]) -> Figure:
    """Draw one timeline or more under one another, over the same length of time."""
    length = max(run.length_s for run in runs)
    with style.sheet(7.4, 0.75 + 1.75 * len(runs), len(runs), sharex=True) as (figure, grid):
        for axes, run in zip(grid, runs, strict=True):
            _panel(axes, run, _LEAST * length)
        unit, scale = ("ms", 1000.0) if length < 2.0 else ("s", 1.0)
        grid[-1].set(xlim=(0, length), xlabel=f"time since the start of the window [{unit}]")
        grid[-1].xaxis.set_major_formatter(lambda value, _: f"{value * scale:g}")
        plain = {
            "waking up": style.PURPLE, "beacon listened to": style.VERMILLION, "beacon passed awake": style.SKY,
            "beacon slept through": style.GREY, "page loads": style.PALE,
        }  # fmt: skip
        handles = [
            Patch(facecolor=style.SKY, **_HATCHED, label="awake, frames delivered at once"),
            Patch(facecolor="white", **_HATCHED, label="awake to send only"),
            *(Patch(facecolor=colour, label=words) for words, colour in plain.items()),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=1.4)
    return figure


def _panel(axes: Axes, run: Timeline, least: float) -> None:
    def bars(row: int, spans: Sequence[tuple[float, float]], tall: float, colour: str, **how: Any) -> None:
        wide = [(start, max(end - start, least)) for start, end in spans]
        axes.broken_barh(wide, (row - tall / 2, tall), facecolor=colour, **how)

    for start, end in run.loads:
        axes.axvspan(start, end, color=style.PALE, linewidth=0, zorder=0.5)
    bars(_RADIO, run.waking, 0.35, style.PURPLE)
    bars(_RADIO, run.awake, 0.7, "white", lw=0.4, **_HATCHED)
    bars(_RADIO, run.gate, 0.7, style.SKY, lw=0.4, **_HATCHED)
    alike = defaultdict(list)  # drawn together: axes look at all that they have whenever something is added
    for frame in run.frames:
        alike[bool(frame.down), bool(frame.lost), 0.8 if frame.length else 0.4].append(run.frame_span(frame))
    for (down, lost, tall), spans in alike.items():
        row, colour = (_DOWN, style.ORANGE) if down else (_UP, style.BLUE)
        bars(row, spans, tall, "white" if lost else colour, edgecolor=colour, lw=0.3)
    for heard, (colour, tall, width) in _HEARD.items():
        times = [beacon.time_s for beacon in run.beacons if beacon.heard == heard]
        axes.vlines(times, _BEACONS - tall, _BEACONS + tall, color=colour, linewidth=width, zorder=3)
    for row, steps, colour, unit in (
        (_WAITING, run.waiting, style.VERMILLION, " B"), (_OPEN, run.outstanding, style.GREEN, ""),
    ):  # fmt: skip
        if most := max((step.value for step in steps), default=0):  # how much there is, and the most of it written down
            times = [steps[0].start_s, *(step.end_s for step in steps)]
            heights = [row + 0.4 - 0.8 * step.value / most for step in steps]
            axes.stairs(heights, times, baseline=row + 0.4, fill=True, color=colour, alpha=0.85)
            beside: Any = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 7.5}
            axes.text(1.005, row, f"up to {most:,.0f}{unit}", **beside)
    axes.vlines([at for at, _ in run.decisions], _DECISIONS - 0.3, _DECISIONS + 0.3, color=style.INK, linewidth=1.0)
    style.clean(axes, "x", title=drawn(f"{style.label(run.policy)}: {run.title}"))
    style.rows_named(axes, _ROWS)


def audited(found: Audit, clients: Sequence[bytes]) -> Figure:
    """Draw sleep and wake of the clients of a capture, at most eight, beacons, and data frames up and down."""
    shown = list(clients)[:_MOST_CLIENTS]

    def seconds(times_us: Sequence[int]) -> Any:
        return (np.array(times_us, float) - found.start_us) / 1e6

    with style.sheet(7.4, 1.2 + 1.1 * max(1, len(shown))) as (figure, [axes]):
        axes.vlines(seconds([at for at, _ in found.beacons_us]), -0.6, -0.2, color=style.GREY, label="beacon")
        for row, address in enumerate(shown):
            states = found.clients[address].states
            starts = seconds([at for at, _ in states])
            lengths = np.diff(starts, append=seconds([found.end_us])[: len(states)])
            for state, colour, name in ((False, style.SKY, "awake"), (True, style.PALE, "asleep")):
                bars = [span for *span, (_, asleep) in zip(starts, lengths, states, strict=True) if asleep is state]
                axes.broken_barh(bars, (row + 0.05, 0.4), facecolors=colour, label=name)
            for up, colour, name, low in (
                (True, style.ORANGE, "frame up", 0.5),
                (False, style.BLUE, "frame down", 0.7),
            ):
                at = seconds([at for at, who, sent in found.frames_us if who == address and sent is up])
                axes.vlines(at, row + low, row + low + 0.2, color=colour, label=name)
        axes.set_yticks([row + 0.4 for row in range(len(shown))], [address.hex(":") for address in shown])
        axes.set(ylim=(-0.7, max(1, len(shown))), xlim=(0, max((found.end_us - found.start_us) / 1e6, 1e-3)))
        style.key(figure, loc="outside upper right", ncols=5)
        style.clean(axes, xlabel="time [s]")
    return figure


def evolution(polls: pd.DataFrame, loads: pd.DataFrame, *, window_s: float) -> Figure:
    """Draw the sleep chosen at each poll, a panel a policy (the thesis' figure 2-5).

    All panels begin with the issue of the same page, because in a closed loop a page is issued at different times under
    different policies.  `polls` have `policy`, `time_s` (since the start of the window), `next_sleep_ms` and
    `buffered_bytes`; `loads` have `policy`, `start_s` and `end_s`, when pages were loading.
    """
    found = style.looks(polls["policy"].unique().tolist())
    n_panels = max(len(found), 1)
    with style.sheet(7.2, 0.8 + 1.75 * n_panels, n_panels, sharex=True) as (figure, grid):
        for axes, (policy, look) in zip(grid, found.items(), strict=False):
            own = polls[polls["policy"] == policy]
            for start, end in loads.loc[loads["policy"] == policy, ["start_s", "end_s"]].to_numpy():
                axes.axvspan(start, end, color=style.PALE, linewidth=0, label="a page loads")
            axes.step(own["time_s"], own["next_sleep_ms"], where="post", color=look.colour, linewidth=0.9)
            full = own["buffered_bytes"] > 0
            finds = {"color": style.INK, "mfc": "white", "ms": 5, "label": "poll that finds packets"}
            axes.plot(
                own["time_s"][~full],
                own["next_sleep_ms"][~full],
                "o",
                c=look.colour,
                ms=2,
                label="poll that finds nothing",
            )
            axes.plot(own["time_s"][full], own["next_sleep_ms"][full], "^", **finds)
            axes.set_ylim(0, max(1250.0, 1.04 * float(own["next_sleep_ms"].max())))
            style.clean(axes, title=style.label(policy), ylabel="next sleep [ms]")
        grid[-1].set(xlim=(0, window_s), xlabel="time since a page was asked for [s]")
        style.key(figure, loc="outside upper right", ncols=3, columnspacing=1.4)
    return figure
