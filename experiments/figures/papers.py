"""Pictures that several papers' experiments and the commands share: curves with intervals, named beside them.

A frame of rows (group, x, y, half_width) is drawn as a line a group, told apart by colour, marker and dash; reference
curves (a bound, a prediction) are thin and grey, and what has no order (a topic a row) is drawn as points.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.figures.style import GREY, Look, clean, key, label, log_axis, looks, sheet

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
    rows = pd.concat([frame for _, frame in frames]) if frames else pd.DataFrame(columns=["group", "x", "y"])
    drawn = _looks(rows)
    size = 0.6 + 3.2 * max(len(frames), 1.4), 3.4
    with sheet(*size, 1, max(len(frames), 1), sharey=share_y) as (figure, grid):
        for axes, (title, frame) in zip(grid, frames, strict=False):
            _draw(axes, frame, drawn)
            axes.set(xscale=x_scale, yscale=y_scale)
            clean(axes, "both", title=title, xlabel=x)
        for axes in grid:  # whose limits may be those of all panels
            _plain_numbers(axes)
        grid[0].set_ylabel(y)
        ends = rows.dropna(subset=["x", "y"]).sort_values("x", kind="stable").groupby("group")["y"].last()
        key(figure, map(label, ends.sort_values(ascending=False, kind="stable").index))
    return figure


def lines(frame: pd.DataFrame, *, x: str, y: str, x_scale: Scale = "linear", y_scale: Scale = "linear") -> Figure:
    """Draw one panel: see `panels`."""
    return panels([("", frame)], x=x, y=y, x_scale=x_scale, y_scale=y_scale)


def _is(rows: pd.DataFrame, column: str) -> bool:
    """Whether a column of truths is there, and true in some row."""
    return column in rows and bool(rows[column].eq(True).any())


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


def _looks(rows: pd.DataFrame) -> dict[str, Look]:
    """Return the look of every group in the order they turn up; references are thin and grey."""
    references = {group for group, own in rows.groupby("group") if _is(own, "reference")}
    found = looks([group for group in rows["group"].unique() if group not in references])
    return {group: found.get(group, Look(GREY, "", "--")) for group in rows["group"].unique()}


def _draw(axes: Axes, frame: pd.DataFrame, drawn: dict[str, Look]) -> None:
    for group in dict.fromkeys(frame["group"]):
        own = frame[frame["group"] == group].sort_values("x", kind="stable")
        how = drawn[group].drawn(label=label(group), markevery=max(1, len(own) // 8))
        how["markersize"] -= 1.5
        if _is(own, "reference"):
            how |= {"marker": "", "linewidth": 1.0}
        elif _is(own, "points"):
            how |= {"linestyle": "", "markersize": 3.0, "markevery": 1}
        axes.plot(own["x"], own["y"], **how)
        for name, along, across, fill in (("half_width", "x", "y", axes.fill_between),
                                          ("x_half_width", "y", "x", axes.fill_betweenx)):  # fmt: skip
            if name in own and np.isfinite(own[name]).any():
                half = own[name].fillna(0.0)
                fill(own[along], own[across] - half, own[across] + half, color=how["color"], alpha=0.15, linewidth=0)
