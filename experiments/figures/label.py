"""Pictures of a sampler over a stream: how good it is and what it asks for, over time and by class."""

import pandas as pd
from matplotlib.figure import Figure

from experiments.escaping import drawn
from experiments.figures.papers import panels
from experiments.figures.style import BLUE, INK, clean, rows_named, sheet


def over_time(windows: pd.DataFrame, window: int, name: str) -> Figure:
    """Draw accuracy, F-measure and label rate, in sliding windows of so many rounds and from the start.

    `windows` have `t`, and each of `accuracy`, `f_measure`, `label_rate`, also with the suffix `_so_far`; `name` says
    what ran over what.
    """
    titles = {"accuracy": "accuracy", "f_measure": "F-measure", "label_rate": "share of labels asked for"}
    groups = {"": f"last {window} rounds", "_so_far": "from the start"}
    frames = [
        (title, pd.concat(
            windows[["t"]].assign(group=group, y=windows[column + suffix]) for suffix, group in groups.items()
        ).rename(columns={"t": "x"}))
        for column, title in titles.items()
    ]  # fmt: skip
    figure = panels(frames, x="round", y="", share_y=False)
    figure.suptitle(drawn(name), fontsize=9)
    return figure


def by_class(classes: pd.DataFrame, name: str) -> Figure:
    """Draw `f_measure` and `label_rate` of every `class` against the rest; `name` says what ran over what."""
    titles = {"f_measure": "F-measure", "label_rate": "share of labels asked for"}
    with sheet(7.4, 1.1 + 0.22 * len(classes), 1, 2, sharey=True) as (figure, grid):
        for axes, (column, title) in zip(grid, titles.items(), strict=True):
            axes.barh(range(len(classes)), classes[column].fillna(0.0), height=0.7, color=BLUE, edgecolor=INK)
            axes.axvline(float(classes[column].mean()), color=INK, linewidth=1.0, linestyle="--")
            clean(axes, "x", xlabel=f"{title} (dashed: mean)")
        rows_named(grid[0], [drawn(str(one)) for one in classes["class"]])
        figure.suptitle(drawn(name), fontsize=9)
    return figure
