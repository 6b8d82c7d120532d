"""A population in pictures: how energies and slowdowns are distributed over users, and how they go together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.comparison import cloud, panel_each
from experiments.figures.style import INK, clean, key, label, log_axis, looks, sheet
from experiments.quantities import BASELINE, PSM

__all__ = ["by_user", "energy", "slowdown"]

LEVELS = np.linspace(0.0, 1.0, 501)  # a curve is drawn through so many quantiles, however many users there are


def energy(table: pd.DataFrame, policies: list[str], by: str = "user", psm: str = PSM) -> Figure:
    """Draw the share of users whose energy differs by at most so much from static PSM (none where that was not run).

    `table` has a row a user (or session, if `by` says so) and policy: `policy`, `energy_vs_none_percent`,
    `energy_vs_psm_percent`.  There is a curve a policy, but for the one that everything is measured against; `psm` is
    the canonical name of static PSM.
    """
    against_psm = psm in policies and len(policies) > 2
    column, reference = ("energy_vs_psm_percent", psm) if against_psm else ("energy_vs_none_percent", BASELINE)
    shown = [policy for policy in policies if policy != reference]
    with _distributions(table, shown, column, by) as (figure, axes, low, high):
        axes.axvline(0.0, color=INK, linewidth=0.8, zorder=0.8)
        words = f"energy against {label(reference)} [%], less is a saving"
        axes.set(xlim=(low - 2.0, min(high, 100.0) + 2.0), xlabel=words)
    return figure


def slowdown(table: pd.DataFrame, policies: list[str], by: str = "user") -> Figure:
    """Draw the share of users, among those who browse pages, whose pages are slowed down at most so much in the mean.

    The table is that of `energy`, with `slowdown_mean`.
    """
    with _distributions(table, policies, "slowdown_mean", by) as (figure, axes, _, _):
        _slowdowns(axes, table)
        axes.set_xlabel(f"mean slowdown of a {by}'s pages")
    return figure


def by_user(table: pd.DataFrame, policies: list[str], by: str = "user") -> Figure:
    """Draw every user as a point: the energy under a policy against the slowdown, a panel a policy.

    The table is that of `energy`, with `slowdown_mean`; the cross is the median of both.
    """
    with panel_each([policy for policy in policies if policy != BASELINE], 2.0, 2.0) as (figure, grid):
        for axes, policy, look in grid:
            own = table[table["policy"] == policy]
            slow, energies = own["slowdown_mean"], own["energy_vs_none_percent"]
            cloud(axes, slow, energies, look, 0.2, 2.0)
            axes.plot(slow.median(), energies.median(), "P", color="white", ms=8, mec=INK, mew=1.0)
            _slowdowns(axes, table)
        figure.supxlabel(f"mean slowdown of a {by}'s pages", fontsize=9)
        figure.supylabel("energy against no power saving [%]", fontsize=9)
    return figure


def _slowdowns(axes: Axes, table: pd.DataFrame) -> None:
    log_axis(axes, "x", 0.97, max(1.5, 1.05 * float(table["slowdown_mean"].max())))


@contextmanager
def _distributions(
    table: pd.DataFrame, policies: list[str], column: str, by: str
) -> Iterator[tuple[Figure, Axes, float, float]]:
    """Draw a distribution for each policy that saves; with the lowest value and the highest last percentile."""
    drawn = looks([policy for policy in policies if policy != BASELINE])
    low = high = 0.0
    with sheet(5.6, 3.2) as (figure, [axes]):
        for place, (policy, look) in enumerate(drawn.items()):
            known = table.loc[table["policy"] == policy, column].dropna()  # one who browses no page has no slowdown
            values = np.quantile(known, LEVELS) if len(known) else np.full(LEVELS.shape, np.nan)
            axes.plot(
                values, LEVELS, color=look.colour, linestyle=look.dash, linewidth=look.width, label=label(policy),
                marker=look.marker, mfc=look.face, markersize=4.5, markevery=(20 + 11 * place, len(LEVELS) // 6),
            )  # fmt: skip
            if len(known):
                low, high = min(low, float(values[0])), max(high, float(values[-1 - len(LEVELS) // 100]))
        yield figure, axes, low, high
        axes.set_ylim(0, 1)
        clean(axes, "both", ylabel=f"share of {by}s")
        key(figure, drawn, ncols=3, columnspacing=1.4, handlelength=2.6)
