"""Pictures of a sampler over a stream: how good it is and what it asks for, over time and by class."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.style import BLUE, DPI, INK, ORANGE, VERMILLION, clean, styled
from experiments.inert import drawn

__all__ = ["by_class", "over_time"]


def over_time(windows: pd.DataFrame, window: int, name: str) -> Figure:
    """Draw accuracy, F-measure and label rate, in sliding windows and from the start.

    Parameters
    ----------
    windows
        `t`, and each of `accuracy`, `f_measure`, `label_rate`, also with the suffix `_so_far`.
    window
        Rounds in a window.
    name
        What ran over what, for the title.
    """
    with styled():
        figure = Figure(figsize=(7.4, 2.9), dpi=DPI, layout="constrained")
        panels = (("accuracy", "accuracy"), ("f_measure", "F-measure"), ("label_rate", "share of labels asked for"))
        marker = "o" if len(windows) == 1 else ""
        for axes, (column, title) in zip(figure.subplots(1, 3, sharex=True), panels, strict=True):
            first = column == "accuracy"
            axes.plot(
                windows["t"], windows[column], color=BLUE, linewidth=1.5, marker=marker,
                label=f"last {window} rounds" if first else None,
            )  # fmt: skip
            axes.plot(
                windows["t"], windows[f"{column}_so_far"], "--", color=VERMILLION, linewidth=1.5, marker=marker,
                label="from the start" if first else None,
            )  # fmt: skip
            axes.set(xlabel="round", ylabel=title)
            if column == "label_rate":
                axes.set_ylim(0, 1.08 * float(windows[[column, f"{column}_so_far"]].max().max()) or 1.0)
            clean(axes)
        figure.legend(loc="outside lower center", ncols=2)
        figure.suptitle(drawn(name), fontsize=9)
    return figure


def by_class(classes: pd.DataFrame, name: str) -> Figure:
    """Draw F-measure and label rate of every class against the rest.

    Parameters
    ----------
    classes
        `class`, `f_measure`, `label_rate`.
    name
        What ran over what, for the title.
    """
    rows = classes.iloc[::-1]
    places = np.arange(len(rows))
    with styled():
        figure = Figure(figsize=(7.4, 1.1 + 0.22 * len(rows)), dpi=DPI, layout="constrained")
        panels = (("f_measure", "F-measure", BLUE), ("label_rate", "share of labels asked for", ORANGE))
        for axes, (column, title, colour) in zip(figure.subplots(1, 2, sharey=True), panels, strict=True):
            values = rows[column].fillna(0.0)
            axes.barh(places, values, height=0.7, color=colour, edgecolor=INK, linewidth=0.6)
            axes.axvline(float(rows[column].mean()), color=INK, linewidth=1.0, linestyle="--")
            axes.set_xlabel(f"{title} (dashed: mean)")
            axes.set_xlim(left=0)
            clean(axes, "x")
            axes.set_yticks(places, [drawn(str(name)) for name in rows["class"]])
        figure.suptitle(drawn(name), fontsize=9)
    return figure
