"""The page of `lpsm reproduce --report`: every claim beside the printed figure, and how many hold by experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.figures.style import PALE, VERMILLION
from experiments.quantities import Quantity
from experiments.report.html import Chart, Page, Table
from experiments.report.html_charts import axis, figure
from experiments.report.results import HOW_TO_READ

__all__ = ["results_page"]

COLUMNS = (
    Quantity("experiment", "experiment"),
    Quantity("verdict", "holds"),
    Quantity("statement", "claim"),
    Quantity("printed", "printed"),
    Quantity("ours", "ours"),
    Quantity("tolerance", "tolerance"),
    Quantity("why_not", "why not"),
)


def results_page(
    results: Sequence[Mapping[str, Any]], *, command: str, configuration: Mapping[str, Any], versions: Mapping[str, str]
) -> Page:
    """Lay out the claims of the experiments that were run.

    Parameters
    ----------
    results
        As for `experiments.report.results.results_markdown`; at least one.
    command
        The command line that makes the page again.
    configuration, versions
        What was asked for, and the libraries it ran with.
    """
    rows = [
        {
            "experiment": result["experiment"],
            **{name: claim[name] for name in ("statement", "printed", "ours", "tolerance")},
            "verdict": "holds" if claim["holds"] else "does not hold",
            "why_not": "" if claim["holds"] else claim["why_not"],
        }
        for result in results
        for claim in result["claims"]
    ]
    claims = pd.DataFrame(rows)
    held = int((claims["verdict"] == "holds").sum())
    return Page(
        title="What the papers say, and what comes out here",
        lead=f"{len(results)} experiments, {len(claims)} claims: {held} hold, {len(claims) - held} do not.",
        command=command,
        configuration=configuration,
        versions=versions,
        tables=[
            Table(
                "claims.csv",
                "Every claim, as printed and as found.",
                claims[[c.name for c in COLUMNS]],
                COLUMNS,
                prose=True,
            )
        ],
        charts=[_by_experiment(claims)],
        notes=(HOW_TO_READ, "± is a 95 % Student interval over replications."),
    )


def _by_experiment(claims: pd.DataFrame) -> Chart:
    counts = claims.groupby(["experiment", "verdict"], sort=False).size().unstack(fill_value=0)
    data = [
        {
            "type": "bar", "orientation": "h", "name": verdict, "y": list(counts.index), "x": counts[verdict].tolist(),
            "marker": {"color": colour, "line": {"color": "#333333", "width": 1}},
            "hovertemplate": f"%{{y}}: %{{x}} {verdict}<extra></extra>",
        }
        for verdict, colour in (("holds", PALE), ("does not hold", VERMILLION))
        if verdict in counts
    ]  # fmt: skip
    chart = figure(
        data, height=120 + 28 * len(counts), xaxis=axis("claims"), yaxis={"autorange": "reversed", "automargin": True}
    )
    chart["layout"]["barmode"] = "stack"
    return Chart("claims", "Claims by experiment", "Orange claims do not hold; the table says why.", chart)
