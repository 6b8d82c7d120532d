"""A population in pictures: how energies and slowdowns are distributed over users, and how they go together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.comparison import clouds
from experiments.figures.papers import lines
from experiments.figures.style import label
from experiments.quantities import BASELINE, PSM

LEVELS = np.linspace(0.0, 0.99, 496)  # a curve is drawn through these quantiles, however many users there are


def energy(table: pd.DataFrame, policies: Sequence[str], by: str = "user", psm: str = PSM) -> Figure:
    """Draw the share of users whose energy differs by at most so much from static PSM (none where that was not run).

    `table` has a row a user (or session, if `by` says so) and policy: `policy`, `energy_vs_none_percent`,
    `energy_vs_psm_percent`.  There is a curve a policy, but for the one that everything is measured against; `psm` is
    the canonical name of static PSM.
    """
    against_psm = psm in policies and len(policies) > 2
    column, reference = ("energy_vs_psm_percent", psm) if against_psm else ("energy_vs_none_percent", BASELINE)
    words = f"energy against {label(reference)} [%], less is a saving"
    figure = _shares(table[table["policy"] != reference], column, words, by)
    [axes] = figure.axes
    axes.axvline(0.0, color="black", linewidth=0.8, zorder=0.8)
    axes.set_xlim(*np.clip(axes.get_xlim(), -102.0, 102.0))
    return figure


def slowdown(table: pd.DataFrame, policies: Sequence[str], by: str = "user") -> Figure:
    """Draw the share of users, among those who browse pages, whose pages are slowed down at most so much in the mean.

    The table is that of `energy`, with `slowdown_mean`.
    """
    own = table[table["policy"].isin(policies)]
    return _shares(own, "slowdown_mean", f"mean slowdown of a {by}'s pages", by, x_scale="log")


def by_user(table: pd.DataFrame, policies: Sequence[str], by: str = "user") -> Figure:
    """Draw every user as a point: the energy under a policy against the slowdown, a panel a policy.

    The table is that of `energy`, with `slowdown_mean`; dashed lines are at the medians.
    """
    own = table[table["policy"].isin(set(policies) - {BASELINE})]
    columns = {
        "slowdown_mean": f"mean slowdown of a {by}'s pages (dashed: median)",
        "energy_vs_none_percent": "energy against no power saving [%]",
    }
    return clouds(own, columns, own.groupby("policy")[[*columns]].median())


def _shares(table: pd.DataFrame, column: str, words: str, by: str, **scale: Any) -> Figure:
    """Draw a distribution for each policy that saves; who browses no page has no slowdown."""
    known = table[table["policy"] != BASELINE].dropna(subset=column)
    curves = known.groupby("policy", sort=False)[column].quantile(LEVELS).rename_axis(["group", "y"])
    return lines(curves.rename("x").reset_index(), x=words, y=f"share of {by}s", **scale)
