"""What was on the air: frames on a time line, a lane for each sender."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from experiments.figures.style import BLUE, DPI, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, clean, styled

__all__ = ["on_the_air"]

_FILLS = {
    "beacon": ORANGE, "data": BLUE, "ack": GREY, "poll": GREEN, "null": PURPLE, "group": SKY, "rts": "#8C5A2B",
    "cts": "#44AA99",
}  # fmt: skip


def on_the_air(frames: pd.DataFrame, windows_s: list[tuple[float, float]]) -> Figure:
    """Draw the frames of some windows of time, a panel a window.

    Parameters
    ----------
    frames : DataFrame
        Rows start_ns, end_ns, sender, kind, received, as `netsim.running.recorder.AirFrame` has them.
    windows_s : list of (start, end)
        What the panels show, seconds.
    """
    lanes = {name: -place for place, name in enumerate(dict.fromkeys(frames["sender"]))}
    with styled():
        figure = Figure(figsize=(8.4, 0.9 + (0.7 + 0.35 * len(lanes)) * len(windows_s)), dpi=DPI, layout="constrained")
        grid = figure.subplots(len(windows_s), 1, squeeze=False)[:, 0]
        shown: set[str] = set()
        for axes, (start, end) in zip(grid, windows_s, strict=True):
            own = frames[(frames["end_ns"] > 1e9 * start) & (frames["start_ns"] < 1e9 * end)]
            for (sender, kind, received), group in own.groupby(["sender", "kind", "received"], sort=False):
                colour = _FILLS[str(kind)] if received else VERMILLION
                spans = list(zip(group["start_ns"] / 1e6, (group["end_ns"] - group["start_ns"]) / 1e6, strict=True))
                axes.broken_barh(spans, (lanes[str(sender)] - 0.36, 0.72), facecolor=colour, edgecolor=colour, lw=0.4)
                shown.add(str(kind) if received else "collided or lost")
            axes.set_yticks(list(lanes.values()), list(lanes))
            axes.set_ylim(min(lanes.values()) - 0.6, 0.6)
            axes.set_xlim(1e3 * start, 1e3 * end)
            clean(axes, "x")
        grid[-1].set_xlabel("time [ms]")
        colours = {**_FILLS, "collided or lost": VERMILLION}
        handles = [Patch(facecolor=colour, label=kind) for kind, colour in colours.items() if kind in shown]
        figure.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    return figure
