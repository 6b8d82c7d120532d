"""Energy against slowdown of every candidate, the front of those that nothing beats, and the limit."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.style import DARK, DPI, MIDDLE, clean, label, styled
from experiments.quantities import BASELINE, LIMIT, PAGE_AWAKE, REFERENCES

__all__ = ["tradeoff"]

MARKERS = {
    "psm": "s", "listen": "<", "dynamic": "^", "uapsd": "v", "twt": "P", "bsd": "o", "bsd-phase": "D", "lpsm": "X",
}  # fmt: skip
FAR = 1.6  # energies beyond so many times the median of those that save leave the picture


def tradeoff(table: pd.DataFrame, recommended: str, max_slowdown: float) -> Figure:
    """Draw energy a page over mean slowdown and over its 95th percentile.

    Parameters
    ----------
    table : DataFrame
        `study.tune.measure`: policy, energy_j_per_page, slowdown_mean, slowdown_p95, on_front_mean, on_front_p95.
    recommended : str
        The policy in a ring.
    max_slowdown : float
        The mean slowdown allowed, a line in the first panel.

    Returns
    -------
    Figure
        Filled marks are on the front, the line; what needs far more than the others is left out.
    """
    rows = table[~table["policy"].isin((*REFERENCES, BASELINE))]
    lines = table[table["policy"].isin(REFERENCES)].set_index("policy")["energy_j_per_page"]
    shown = rows[rows["energy_j_per_page"] <= FAR * rows["energy_j_per_page"].median()] if len(rows) else table[:0]
    with styled():
        figure = Figure(figsize=(7.6, 4.2), dpi=DPI, layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, column, name in zip(panels, ("mean", "p95"), ("mean", "95th percentile"), strict=True):
            _panel(axes, shown, f"slowdown_{column}", f"on_front_{column}", recommended)
            for policy, style in zip((PAGE_AWAKE, LIMIT), ("--", ":"), strict=True):
                axes.axhline(lines[policy], color="black", linewidth=1.0, linestyle=style, label=label(policy))
            axes.set(xscale="log", xlabel=f"slowdown of pages, {name}")
            high = axes.get_xlim()[1]
            steps = (1, 1.1, 1.2, 1.3, 1.5, 2, 3) if high < 4 else (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500)
            ticks = [tick for tick in steps if tick <= high]
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.set_xticks([], minor=True)
            clean(axes, "both")
        panels[0].axvline(max_slowdown, color=MIDDLE, linewidth=1.0, label=f"allowed: {max_slowdown:g}")
        panels[0].set_ylabel("energy per page [J]")
        handles = {}
        for axes in panels:
            handles.update(dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True)))
        figure.legend(list(handles.values()), list(handles), loc="outside upper left", ncols=6, columnspacing=1.2)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, slowdown: str, on_front: str, recommended: str) -> None:
    kinds = rows["policy"].str.partition(":")[0]
    for kind in dict.fromkeys(kinds):
        own = rows[kinds == kind]
        for best, face in ((False, "white"), (True, DARK)):
            part = own[own[on_front] == best]
            axes.plot(
                part[slowdown], part["energy_j_per_page"], MARKERS.get(kind, "h"), color=DARK, mfc=face, markersize=5.5,
                markeredgewidth=0.9, zorder=3,
            )  # fmt: skip
        axes.plot([], [], MARKERS.get(kind, "h"), color=DARK, mfc="white", markersize=5.5, label=kind)
    line = rows[rows[on_front]].sort_values([slowdown, "energy_j_per_page"])
    axes.plot(line[slowdown], line["energy_j_per_page"], color=MIDDLE, linewidth=1.2, drawstyle="steps-post", zorder=2)
    names = line["policy"].tolist()
    labelled = {recommended, *(names[i] for i in np.unique(np.linspace(0, len(names) - 1, 4).astype(int)) if names)}
    for policy, x, y in zip(rows["policy"], rows[slowdown], rows["energy_j_per_page"], strict=True):
        if policy == recommended:
            axes.plot(x, y, "o", mfc="none", mec="black", markersize=12, markeredgewidth=1.4, zorder=4)
        if policy in labelled:
            axes.annotate(policy, (x, y), xytext=(6, 6), textcoords="offset points", fontsize=7.5)
