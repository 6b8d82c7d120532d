"""A population in pictures: how energies and slowdowns are distributed over users, and how they go together."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.comparison import clouds
from experiments.figures.papers import lines
from experiments.figures.style import label
from experiments.quantities import BASELINE, PSM


def energy(curves: pd.DataFrame, policies: Sequence[str], by: str = "user", psm: str = PSM) -> Figure:
    """Draw the share of users whose energy differs by at most so much from static PSM (none where that was not run).

    `curves` has a row a policy and `share` of the users (or sessions, if `by` says so): the quantiles
    `energy_vs_none_percent`, `energy_vs_psm_percent`.  There is a curve a policy, but for the one that everything is
    measured against; `psm` is the canonical name of static PSM.
    """
    against_psm = psm in policies and len(policies) > 2
    column, reference = ("energy_vs_psm_percent", psm) if against_psm else ("energy_vs_none_percent", BASELINE)
    words = f"energy against {label(reference)} [%], less is a saving"
    figure = _shares(curves[curves["policy"] != reference], column, words, by)
    [axes] = figure.axes
    axes.axvline(0.0, color="black", linewidth=0.8, zorder=0.8)
    left, right = axes.get_xlim()
    axes.set_xlim(max(left, -102.0), min(right, 102.0))
    return figure


def slowdown(curves: pd.DataFrame, by: str = "user") -> Figure:
    """Draw the share of users, among those who browse pages, whose pages are slowed down at most so much in the mean.

    The table is that of `energy`, with `slowdown_mean`.
    """
    return _shares(curves, "slowdown_mean", f"mean slowdown of a {by}'s pages", by, x_scale="log")


def by_user(points: pd.DataFrame, summary: pd.DataFrame, by: str = "user") -> Figure:
    """Draw users as points: the energy under a policy against the slowdown, a panel a policy.

    `points` have a row a user and policy: `policy`, `slowdown_mean`, `energy_vs_none_percent`; dashed lines are at the
    medians of the `summary` (`study.population`).
    """
    columns = {
        "slowdown_mean": f"mean slowdown of a {by}'s pages (dashed: median)",
        "energy_vs_none_percent": "energy against no power saving [%]",
    }
    medians = {"slowdown_p50": "slowdown_mean", "energy_vs_none_percent_p50": "energy_vs_none_percent"}
    middle = summary.set_index("policy")[[*medians]].rename(columns=medians)
    return clouds(points[points["policy"] != BASELINE], columns, middle)


def _shares(curves: pd.DataFrame, column: str, words: str, by: str, **scale: Any) -> Figure:
    """Draw a distribution for each policy that saves; who browses no page has no slowdown."""
    known = curves[curves["policy"] != BASELINE].dropna(subset=column)
    table = known.rename(columns={"policy": "group", "share": "y", column: "x"})[["group", "y", "x"]]
    return lines(table, x=words, y=f"share of {by}s", **scale)
