"""The page of `lpsm cell --report`: how energy, delay and time awake grow with the number of clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.figures.cell import QUANTITIES
from experiments.figures.style import label, looks
from experiments.quantities import CELL
from experiments.report.html import Chart, Page, Table
from experiments.report.html_charts import axis, figure, line

__all__ = ["cell_page"]

NOTES = (
    "All clients of a cell follow the same policy and browse pages of their own on one channel.",
    "Slowdown: latency over that of the same client without power saving in a cell of the same size.",
    "± is the half width of a 95 % interval over seeds.",
)


def cell_page(table: pd.DataFrame, *, command: str, manifest: Mapping[str, Any]) -> Page:
    """Lay out a comparison of cells.

    Parameters
    ----------
    table : DataFrame
        `study.cells.summary`.
    command : str
        The command line that makes it again.
    manifest : mapping
        ``configuration`` and ``versions`` of the result.
    """
    policies = [str(policy) for policy in dict.fromkeys(table["policy"])]
    return Page(
        title="Power saving in a cell that fills",
        lead=f"{len(policies)} policies in cells of {', '.join(map(str, dict.fromkeys(table['clients'])))} clients.",
        command=command,
        configuration=manifest["configuration"],
        versions=manifest["versions"],
        tables=[Table("summary.csv", "Means over the clients of a cell.", table, CELL)],
        charts=[_growth(table, policies, name, title) for name, title in QUANTITIES.items()],
        choices=[(policy, f"{label(policy)} ({policy})") for policy in policies],
        notes=NOTES,
    )


def _growth(table: pd.DataFrame, policies: list[str], name: str, title: str) -> Chart:
    drawn = looks(policies)
    data = [
        line(
            label(policy), own["clients"], own[name], drawn[policy], meta={"choice": policy}, mode="lines+markers",
            hovertemplate=f"{label(policy)}, %{{x}} clients: %{{y:.4g}}<extra></extra>",
        )
        for policy, own in ((policy, table[table["policy"] == policy]) for policy in policies)
    ]  # fmt: skip
    chart = figure(data, xaxis=axis("clients"), yaxis=axis(title, type="log"))
    return Chart(name.replace("_", "-"), title.partition(" [")[0].capitalize(), "A line a policy.", chart)
