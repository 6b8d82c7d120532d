"""How sleep times evolve while somebody browses: the thesis' figure 2-5.

One panel a policy, all from the issue of the same page on, because in a closed loop a
page is issued at different times under different policies.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator

from experiments.figures.style import DPI, INK, PALE, clean, label, looks, styled

__all__ = ["evolution"]


def evolution(polls: pd.DataFrame, loads: pd.DataFrame, *, window_s: float) -> Figure:
    """Draw the sleep chosen at each poll.

    Parameters
    ----------
    polls : DataFrame
        `policy`, `time_s` (since the start of the window), `next_sleep_ms`, `buffered_bytes`.
    loads : DataFrame
        `policy`, `start_s`, `end_s`: when pages were loading.
    window_s : float
        Width of the picture.
    """
    policies = list(polls["policy"].unique())
    drawn = looks(policies)
    with styled():
        figure = Figure(figsize=(7.2, 0.8 + 1.75 * max(len(policies), 1)), dpi=DPI, layout="constrained")
        grid = figure.subplots(max(len(policies), 1), 1, sharex=True, squeeze=False)
        for axes, policy in zip(grid.flat, policies, strict=True):
            own = polls[polls["policy"] == policy]
            for index, load in enumerate(loads[loads["policy"] == policy].to_dict("records")):
                axes.axvspan(
                    load["start_s"], load["end_s"], color=PALE, linewidth=0,
                    label="a page loads" if index == 0 and axes is grid.flat[0] else None,
                )  # fmt: skip
            axes.step(own["time_s"], own["next_sleep_ms"], where="post", color=drawn[policy].colour, linewidth=0.9)
            empty, full = own[own["buffered_bytes"] == 0], own[own["buffered_bytes"] > 0]
            first = axes is grid.flat[0]
            axes.plot(
                empty["time_s"], empty["next_sleep_ms"], "o", color=drawn[policy].colour, markersize=2.0,
                label="poll that finds nothing" if first else None,
            )  # fmt: skip
            axes.plot(
                full["time_s"], full["next_sleep_ms"], "^", color=INK, mfc="white", markersize=5,
                label="poll that finds packets" if first else None,
            )  # fmt: skip
            top = max(1200.0, float(own["next_sleep_ms"].max()) if len(own) else 0.0)
            axes.yaxis.set_major_locator(MultipleLocator(300) if top < 1600 else MaxNLocator(5))
            axes.set_ylim(0, 1.04 * top)
            axes.set_title(label(policy))
            axes.set_ylabel("next sleep [ms]")
            clean(axes)
        last = grid.flat[-1]
        last.set_xlim(0, window_s)
        last.set_xlabel("time since a page was asked for [s]")
        figure.legend(loc="outside upper right", ncols=3, columnspacing=1.4)
    return figure
