"""Pictures of a sampler over a stream: how good it is and what it asks for, over time and by class."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.style import BLUE, INK, ORANGE, VERMILLION, clean, sheet
from experiments.inert import drawn

__all__ = ["by_class", "over_time"]


def over_time(windows: pd.DataFrame, window: int, name: str) -> Figure:
    """Draw accuracy, F-measure and label rate, in sliding windows of so many rounds and from the start.

    `windows` have `t`, and each of `accuracy`, `f_measure`, `label_rate`, also with the suffix `_so_far`; `name` says
    what ran over what.
    """
    panels = {"accuracy": "accuracy", "f_measure": "F-measure", "label_rate": "share of labels asked for"}
    marker = "o" if len(windows) == 1 else ""
    with sheet(7.4, 2.9, 1, 3, sharex=True) as (figure, grid):
        for axes, (column, title) in zip(grid, panels.items(), strict=True):
            for suffix, dash, colour in (("", "-", BLUE), ("_so_far", "--", VERMILLION)):
                axes.plot(windows["t"], windows[column + suffix], dash, color=colour, linewidth=1.5, marker=marker)
            clean(axes, xlabel="round", ylabel=title)
        most = float(windows[["label_rate", "label_rate_so_far"]].max().max())
        grid[-1].set_ylim(0, 1.08 * most or 1.0)
        figure.legend(grid[0].lines, [f"last {window} rounds", "from the start"], loc="outside lower center", ncols=2)
        figure.suptitle(drawn(name), fontsize=9)
    return figure


def by_class(classes: pd.DataFrame, name: str) -> Figure:
    """Draw `f_measure` and `label_rate` of every `class` against the rest; `name` says what ran over what."""
    rows = classes.iloc[::-1]
    places = range(len(rows))
    panels = (("f_measure", "F-measure", BLUE), ("label_rate", "share of labels asked for", ORANGE))
    with sheet(7.4, 1.1 + 0.22 * len(rows), 1, 2, sharey=True) as (figure, grid):
        for axes, (column, title, colour) in zip(grid, panels, strict=True):
            axes.barh(places, rows[column].fillna(0.0), height=0.7, color=colour, edgecolor=INK, linewidth=0.6)
            axes.axvline(float(rows[column].mean()), color=INK, linewidth=1.0, linestyle="--")
            axes.set_xlim(left=0)
            clean(axes, "x", xlabel=f"{title} (dashed: mean)")
            axes.set_yticks(places, [drawn(str(name)) for name in rows["class"]])
        figure.suptitle(drawn(name), fontsize=9)
    return figure
