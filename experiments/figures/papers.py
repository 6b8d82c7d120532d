"""Pictures that several papers' experiments share: curves with intervals, named where they end.

A frame of rows (group, x, y, half_width) is drawn as a line a group, told apart by
colour, marker and dash; reference curves (a bound, a prediction) are thin and grey, and what has no order (a topic
a row) is drawn as points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.figures.labels import name_ends
from experiments.figures.style import DPI, GREY, Look, clean, label, log_axis, looks, readable, styled

__all__ = ["lines", "panels"]

Scale = Literal["linear", "log"]


def panels(
    frames: Sequence[tuple[str, pd.DataFrame]],
    *,
    x: str,
    y: str,
    x_scale: Scale = "linear",
    y_scale: Scale = "linear",
    share_y: bool = True,
) -> Figure:
    """Draw one panel a frame, side by side; a group looks the same in all of them.

    Parameters
    ----------
    frames : sequence of (title, DataFrame)
        Rows `group`, `x`, `y`, and if known `half_width` and `x_half_width` (95 %), `reference` and `points` (bool).
    x, y : str
        Names of the axes.
    x_scale, y_scale : {"linear", "log"}
    share_y : bool
        Whether all panels have the y axis of the first.
    """
    drawn = _looks([frame for _, frame in frames])
    beside = _all_in_last([frame for _, frame in frames])
    with styled():
        figure = Figure(figsize=(0.6 + 3.2 * max(len(frames), 1.4), 3.4), dpi=DPI, layout="constrained")
        grid = figure.subplots(1, max(len(frames), 1), sharey=share_y, squeeze=False)[0]
        for axes, (title, frame) in zip(grid, frames, strict=True):
            _draw(axes, frame, drawn)
            axes.set_title(title)
            axes.set_xlabel(x)
            axes.set_xscale(x_scale)
            axes.set_yscale(y_scale)
            clean(axes, "both")
        for axes in grid:  # whose limits may be those of all panels
            _plain_numbers(axes)
        grid[0].set_ylabel(y)
        if beside:
            last = frames[-1][1].dropna(subset=["x", "y"]).sort_values("x", kind="stable").groupby("group").last()
            name_ends(
                grid[-1],
                {label(str(group)): (float(row["x"]), float(row["y"])) for group, row in last.iterrows()},
                {label(group): look.colour for group, look in drawn.items()},
            )
        else:
            _key(figure, grid, drawn)
    return figure


def lines(frame: pd.DataFrame, *, x: str, y: str, x_scale: Scale = "linear", y_scale: Scale = "linear") -> Figure:
    """Draw one panel: see `panels`."""
    return panels([("", frame)], x=x, y=y, x_scale=x_scale, y_scale=y_scale)


def _plain_numbers(axes: Axes) -> None:
    """Write few numbers along an axis; 20, not 2 x 10^1, along a logarithmic one of less than three decades."""
    which: Literal["x", "y"]
    for which in ("x", "y"):
        axis = axes.xaxis if which == "x" else axes.yaxis
        low, high = sorted(axis.get_view_interval())
        if axis.get_scale() != "log":
            axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        elif low >= 1e-4 and high <= 1e5 and high < 1e3 * low:
            log_axis(axes, which, low, high)


def _looks(frames: Sequence[pd.DataFrame]) -> dict[str, Look]:
    """Return the look of every group in the order they turn up; references are thin and grey."""
    groups = {group: False for frame in frames for group in frame["group"]}
    for frame in frames:
        if "reference" in frame:
            groups.update(dict.fromkeys(frame.loc[frame["reference"].astype(bool), "group"], True))
    found = looks([group for group, reference in groups.items() if not reference])
    return {group: Look(GREY, "", "--") if reference else found[group] for group, reference in groups.items()}


def _all_in_last(frames: Sequence[pd.DataFrame]) -> bool:
    """Whether the last panel has every group, none of them mere points: then names stand beside their ends."""
    if not frames or ("points" in frames[-1] and frames[-1]["points"].any()):
        return False
    return set(frames[-1].dropna(subset=["x", "y"])["group"]) >= {group for frame in frames for group in frame["group"]}


def _key(figure: Figure, grid: Sequence[Axes], drawn: dict[str, Look]) -> None:
    """Write a legend above the panels, each name in the colour of what it names."""
    named = {name: handle for axes in grid for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    columns = max(1, min(4, int(figure.get_figwidth() // 2.2)))
    legend = figure.legend(
        list(named.values()), list(named), loc="outside upper left", ncols=columns, columnspacing=1.2, handlelength=2.4
    )
    colours = {label(group): look.colour for group, look in drawn.items()}
    for text in legend.get_texts():
        text.set_color(readable(colours[text.get_text()]))


def _draw(axes: Axes, frame: pd.DataFrame, drawn: dict[str, Look]) -> None:
    for group in dict.fromkeys(frame["group"]):
        own = frame[frame["group"] == group].sort_values("x", kind="stable")
        look = drawn[group]
        if "reference" in own and bool(own["reference"].iloc[0]):
            axes.plot(own["x"], own["y"], color=look.colour, linewidth=1.0, linestyle=look.dash, label=label(group))
            continue
        if "points" in own and bool(own["points"].iloc[0]):
            axes.plot(own["x"], own["y"], look.marker, color=look.colour, mfc=look.face, label=group, markersize=3.0)
            continue
        axes.plot(
            own["x"], own["y"], color=look.colour, linewidth=look.width, linestyle=look.dash, label=label(group),
            marker=look.marker, mfc=look.face, markersize=look.size - 1.5, markevery=max(1, len(own) // 8),
        )  # fmt: skip
        if "half_width" in own and np.isfinite(own["half_width"]).any():
            half = own["half_width"].fillna(0.0)
            axes.fill_between(own["x"], own["y"] - half, own["y"] + half, color=look.colour, alpha=0.15, linewidth=0)
        if "x_half_width" in own and np.isfinite(own["x_half_width"]).any():
            half = own["x_half_width"].fillna(0.0)
            axes.fill_betweenx(own["y"], own["x"] - half, own["x"] + half, color=look.colour, alpha=0.15, linewidth=0)
