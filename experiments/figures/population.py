"""A population in pictures: how energies and slowdowns are distributed over users, and how they go together."""

from __future__ import annotations

from math import ceil

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.style import DPI, INK, clean, label, log_axis, looks, readable, styled
from experiments.quantities import BASELINE, PSM

__all__ = ["by_user", "energy", "slowdown"]

LEVELS = np.linspace(0.0, 1.0, 501)  # a curve is drawn through so many quantiles, however many users there are
MANY_POINTS = 3000  # beyond this many in a panel, points are pixels in the SVG as well


def energy(table: pd.DataFrame, policies: list[str], by: str = "user", psm: str = PSM) -> Figure:
    """Draw the share of users whose energy differs by at most so much from static PSM (none where that was not run).

    Parameters
    ----------
    table : DataFrame
        One row a user and policy: `policy`, `energy_vs_none_percent`, `energy_vs_psm_percent`.
    policies : list of str
        Curves, in this order; the one that everything is measured against has none.
    by : str
        What a row is called: user or session.
    psm : str
        The canonical name of static PSM.
    """
    against_psm = psm in policies and len(policies) > 2
    column, reference = ("energy_vs_psm_percent", psm) if against_psm else ("energy_vs_none_percent", BASELINE)
    shown = [policy for policy in policies if policy not in (BASELINE, reference)]
    with styled():
        figure = Figure(figsize=(5.6, 3.2), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        low, high = _curves(axes, table, shown, column)
        axes.axvline(0.0, color=INK, linewidth=0.8, zorder=0.8)
        axes.set_xlim(low - 2.0, min(high, 100.0) + 2.0)
        axes.set_xlabel(f"energy against {label(reference)} [%], less is a saving")
        axes.set_ylabel(f"share of {by}s")
        axes.set_ylim(0, 1)
        clean(axes, "both")
        _key(figure, shown)
    return figure


def slowdown(table: pd.DataFrame, policies: list[str], by: str = "user") -> Figure:
    """Draw the share of users, among those who browse pages, whose pages are slowed down at most so much in the mean.

    Parameters
    ----------
    table : DataFrame
        One row a user and policy: `policy`, `slowdown_mean`.
    policies : list of str
        Curves, in this order.
    by : str
        What a row is called.
    """
    shown = [policy for policy in policies if policy != BASELINE]
    with styled():
        figure = Figure(figsize=(5.6, 3.2), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        _curves(axes, table, shown, "slowdown_mean")
        log_axis(axes, "x", 0.97, max(1.5, 1.05 * float(table["slowdown_mean"].max())))
        axes.set_xlabel(f"mean slowdown of a {by}'s pages")
        axes.set_ylabel(f"share of {by}s")
        axes.set_ylim(0, 1)
        clean(axes, "both")
        _key(figure, shown)
    return figure


def by_user(table: pd.DataFrame, policies: list[str], by: str = "user") -> Figure:
    """Draw every user as a point: the energy under a policy against the slowdown, a panel a policy.

    Parameters
    ----------
    table : DataFrame
        One row a user and policy: `policy`, `energy_vs_none_percent`, `slowdown_mean`.
    policies : list of str
        Panels, in this order; the cross is the median of both.
    by : str
        What a row is called.
    """
    shown = [policy for policy in policies if policy != BASELINE]
    drawn = looks(shown)
    columns = min(4, max(len(shown), 1))
    lines = max(ceil(len(shown) / columns), 1)
    with styled():
        figure = Figure(figsize=(0.6 + 2.0 * columns, 0.7 + 2.0 * lines), dpi=DPI, layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for axes in grid.flat[len(shown) :]:
            axes.set_axis_off()
        for axes, policy in zip(grid.flat, shown, strict=False):
            own = table[table["policy"] == policy]
            axes.plot(
                own["slowdown_mean"], own["energy_vs_none_percent"], "o", color=drawn[policy].colour, alpha=0.2,
                markersize=2.0, markeredgewidth=0, rasterized=len(own) > MANY_POINTS,
            )  # fmt: skip
            axes.plot(
                own["slowdown_mean"].median(), own["energy_vs_none_percent"].median(), "P", color="white", markersize=8,
                markeredgecolor=INK, markeredgewidth=1.0,
            )  # fmt: skip
            axes.set_title(label(policy))
            log_axis(axes, "x", 0.97, max(1.5, 1.05 * float(table["slowdown_mean"].max())))
            clean(axes, "both")
        figure.supxlabel(f"mean slowdown of a {by}'s pages", fontsize=9)
        figure.supylabel("energy against no power saving [%]", fontsize=9)
    return figure


def _curves(axes: Axes, table: pd.DataFrame, policies: list[str], column: str) -> tuple[float, float]:
    """Draw a distribution for each policy, and return the lowest value and the highest last percentile."""
    low = high = 0.0
    for place, (policy, look) in enumerate(looks(policies).items()):
        known = table.loc[table["policy"] == policy, column].dropna()  # one who browses no page has no slowdown
        values = np.quantile(known, LEVELS) if len(known) else np.full(LEVELS.shape, np.nan)
        every = (20 + 11 * place, max(1, len(LEVELS) // 6))
        axes.plot(
            values, LEVELS, color=look.colour, linestyle=look.dash, linewidth=look.width, label=label(policy),
            marker=look.marker, mfc=look.face, markersize=4.5, markevery=every,
        )  # fmt: skip
        if len(known):
            low, high = min(low, float(values[0])), max(high, float(values[-1 - len(LEVELS) // 100]))
    return low, high


def _key(figure: Figure, policies: list[str]) -> None:
    """Write a legend above the axes, each name in the colour of its curve."""
    if policies:
        legend = figure.legend(loc="outside upper left", ncols=3, columnspacing=1.4, handlelength=2.6)
        for text, look in zip(legend.get_texts(), looks(policies).values(), strict=True):
            text.set_color(readable(look.colour))
