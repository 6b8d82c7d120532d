"""Pictures that several papers' experiments share: curves with intervals, in black and white.

A frame of rows (group, x, y, half_width) is drawn as a line a group, told apart by
marker and dash; reference curves (a bound, a prediction) are thin and grey, and what has no order (a topic
a row) is drawn as points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from experiments.figures.style import DARK, DPI, LABELS, MIDDLE, clean, label, styled

__all__ = ["lines", "panels"]

_MARKERS = "osD^vP*Xd<>"
_DASHES = ("-", "--", ":", "-.")
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
        Rows `group`, `x`, `y`, and if known `half_width` (95 %), `reference` and `points` (bool).
    x, y : str
        Names of the axes.
    x_scale, y_scale : {"linear", "log"}
    share_y : bool
        Whether all panels have the y axis of the first.
    """
    places = _places([frame for _, frame in frames])
    with styled():
        figure = Figure(figsize=(0.6 + 3.6 * max(len(frames), 1.4), 3.5), dpi=DPI, layout="constrained")
        grid = figure.subplots(1, max(len(frames), 1), sharey=share_y, squeeze=False)[0]
        for axes, (title, frame) in zip(grid, frames, strict=True):
            _draw(axes, frame, places)
            axes.set_title(title)
            axes.set_xlabel(x)
            axes.set_xscale(x_scale)
            axes.set_yscale(y_scale)
            _plain_numbers(axes)
            clean(axes, "both")
        grid[0].set_ylabel(y)
        named = {name: handle for axes in grid for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
        figure.legend(
            list(named.values()), list(named), loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=2.4
        )
    return figure


def lines(frame: pd.DataFrame, *, x: str, y: str, x_scale: Scale = "linear", y_scale: Scale = "linear") -> Figure:
    """Draw one panel: see `panels`."""
    return panels([("", frame)], x=x, y=y, x_scale=x_scale, y_scale=y_scale)


def _plain_numbers(axes: Axes) -> None:
    """Write 20 rather than 2 x 10^1 along a logarithmic axis of less than three decades from 1 up."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        if axis.get_scale() == "log" and low >= 1.0 and high <= 1e4 and high < 1e3 * low:
            axis.set_major_formatter(LogFormatter())
            axis.set_minor_formatter(LogFormatter())


def _places(frames: Sequence[pd.DataFrame]) -> dict[str, int]:
    """Number the groups that are no references, in the order they turn up."""
    rows = [
        group
        for frame in frames
        for group in (frame["group"] if "reference" not in frame else frame["group"][~frame["reference"].astype(bool)])
    ]
    return {group: place for place, group in enumerate(dict.fromkeys(rows))}


def _draw(axes: Axes, frame: pd.DataFrame, places: dict[str, int]) -> None:
    for group in dict.fromkeys(frame["group"]):
        own = frame[frame["group"] == group].sort_values("x")
        if "reference" in own and bool(own["reference"].iloc[0]):
            axes.plot(own["x"], own["y"], color=MIDDLE, linewidth=1.0, linestyle="--", label=group)
            continue
        drawn = places[group]
        if "points" in own and bool(own["points"].iloc[0]):
            marker = _MARKERS[drawn % len(_MARKERS)]
            axes.plot(own["x"], own["y"], color=DARK, linestyle="", label=group, marker=marker, markersize=3.0)
            continue
        grey = str(0.1 + 0.5 * (drawn % 4) / 3)
        axes.plot(
            own["x"], own["y"], color=grey, linewidth=1.1, linestyle=_DASHES[drawn % 4], label=_name(group),
            marker=_MARKERS[drawn % len(_MARKERS)], markersize=3.5, markevery=max(1, len(own) // 8),
        )  # fmt: skip
        if "half_width" in own and np.isfinite(own["half_width"]).any():
            half = own["half_width"].fillna(0.0)
            axes.fill_between(own["x"], own["y"] - half, own["y"] + half, color=DARK, alpha=0.12, linewidth=0)


def _name(group: str) -> str:
    """A policy by its name in pictures, anything else as it is."""
    return label(group).replace("\n", " ") if group in LABELS or group.startswith("bsd:") else group
