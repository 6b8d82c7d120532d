"""The page of `lpsm population --report`: what users save and how long they wait, as distributions over users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures.style import label, looks
from experiments.quantities import ACTIVITY, BASELINE, POPULATION, shown
from experiments.report.html import Chart, Page, Table
from experiments.report.html_charts import axis, figure, line, thin

__all__ = ["population_page"]

POINTS = 600  # drawn a policy; of more users, every k-th
NOTES = (
    "Saving: relative difference of the energy of all of a user's browsing from the same without power saving.",
    "Slowdown: mean over a user's pages of latency over latency without power saving. Every user weighs the same.",
)


def population_page(
    table: pd.DataFrame,
    whole: pd.DataFrame,
    quarters: pd.DataFrame,
    policies: Sequence[str],
    by: str,
    *,
    command: str,
    manifest: Mapping[str, Any],
) -> Page:
    """Lay out a population.

    Parameters
    ----------
    table : DataFrame
        A row a user and policy: `policy`, `saving_percent`, `saving_vs_psm_percent`, `slowdown_mean`.
    whole, quarters : DataFrame
        `summary.csv` and `by-activity.csv`.
    by : str
        What a run is: "user" or "session".
    command : str
        The command line that makes it again.
    manifest : mapping
        ``configuration`` and ``versions`` of the result.
    """
    return Page(
        title="What power saving does to everybody",
        lead=f"{whole['users'].iloc[0]} {by}s with {whole['pages'].iloc[0]} pages under {len(policies)} policies.",
        command=command,
        configuration=manifest["configuration"],
        versions=manifest["versions"],
        tables=[
            Table("summary.csv", f"Over all {by}s.", whole, shown(POPULATION, whole)),
            Table("by-activity.csv", f"The {by}s in quarters by how much they browse.", quarters, ACTIVITY),
        ],
        charts=[
            _shares(table, policies, by, "saving_percent", "Energy saved", "energy saved [%]"),
            _shares(
                table, policies, by, "saving_vs_psm_percent", "Energy saved against static PSM", "energy saved [%]"
            ),
            _shares(table, policies, by, "slowdown_mean", "Waiting", "mean slowdown"),
        ],
        choices=[(policy, f"{label(policy)} ({policy})") for policy in policies],
        notes=NOTES,
    )


def _shares(table: pd.DataFrame, policies: Sequence[str], by: str, column: str, title: str, words: str) -> Chart:
    data, thinned = [], False
    for policy, look in looks(policies).items():
        values = np.sort(table.loc[table["policy"] == policy, column].dropna().to_numpy(dtype=float))
        if policy == BASELINE or not values.size:
            continue
        rows = thin(len(values), POINTS)
        thinned |= rows.step > 1
        share = np.arange(1, len(values) + 1) / len(values)
        own = line(
            label(policy), values[rows], share[rows], look, meta={"choice": policy},
            hovertemplate=f"{label(policy)}: %{{y:.3p}} of {by}s have at most %{{x:.4g}}<extra></extra>",
        )  # fmt: skip
        own["line"]["shape"] = "hv"
        data.append(own)
    chart = figure(data, xaxis=axis(words), yaxis=axis(f"share of {by}s", range=[0, 1.02]))
    more = " Curves are drawn through some of their points." if thinned else ""
    return Chart(column.replace("_", "-"), title, f"The share of {by}s with at most so much.{more}", chart)
