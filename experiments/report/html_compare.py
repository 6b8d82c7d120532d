"""The page of `lpsm compare --report`: energy, slowdown, and what one costs in the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures.style import DAGGER, label, looks
from experiments.quantities import BASELINE, COMPARISON, REFERENCES, Quantity, shown
from experiments.report.comparison import advice, explanation
from experiments.report.html import Chart, Page, Table
from experiments.report.html_charts import axis, energy_bars, figure, front, line, marker, numbers, thin
from experiments.study.compare import Comparison

__all__ = ["comparison_page"]

POINTS = 600  # drawn a policy; of more, every k-th


def comparison_page(
    comparison: Comparison,
    polls: pd.DataFrame | None,
    *,
    what: str,
    command: str,
    manifest: Mapping[str, Any],
    published: pd.DataFrame | None = None,
) -> Page:
    """Lay out a comparison.

    Parameters
    ----------
    comparison : Comparison
        What was compared.
    polls : DataFrame or None
        `policy`, `time_s`, `next_sleep_ms`, `buffered_bytes` of a window (`sleep-times.csv`).
    what : str
        What the means are over, such as "10 seeds of 100 pages".
    command : str
        The command line that makes it again.
    manifest : mapping
        ``configuration`` and ``versions`` of the result.
    published : DataFrame or None
        A paper's printed figures beside ours.
    """
    summary = comparison.summary
    policies = [policy for policy in summary["policy"] if policy not in REFERENCES]
    charts = [_energy(summary), _trade(summary), _distribution(comparison.slowdowns), _by_page(comparison.slowdowns)]
    if polls is not None and len(polls):
        charts.append(_sleep_times(polls))
    tables = [Table("summary.csv", "Every policy, with the references last.", summary, _columns(summary))]
    if published is not None:
        columns = [Quantity(str(name), str(name).replace("_", " "), 3, style="g") for name in published.columns]
        tables.append(Table("published.csv", "As a paper printed it, and ours.", published, columns))
    words = advice(summary, manifest["configuration"].get("max_slowdown"))
    return Page(
        title="Power-saving policies compared",
        lead=f"Energy and slowdown of {len(policies)} policies that met the same traffic: {what}. {words}",
        command=command,
        configuration=manifest["configuration"],
        versions=manifest["versions"],
        tables=tables,
        charts=charts,
        choices=[(policy, f"{label(policy)} ({policy})") for policy in policies],
        notes=explanation(summary, what).splitlines(),
    )


def _columns(summary: pd.DataFrame) -> list[Quantity]:
    return [column for column in shown(COMPARISON, summary) if not summary[column.name].isna().all()]


def _energy(summary: pd.DataFrame) -> Chart:
    bars = summary[~summary["policy"].isin(REFERENCES)]
    chart = energy_bars(bars, _levels(summary))
    cut = float(bars["total_j_per_page"].max()) > chart["layout"]["xaxis"]["range"][1]
    more = " The bar without power saving leaves the picture; a double click shows all of it." if cut else ""
    caption = "Energy a page by its parts; dots are totals with their 95 % intervals over replications."
    return Chart("energy", "Energy a page", caption + more, chart)


def _levels(summary: pd.DataFrame) -> dict[str, float]:
    lines = summary[summary["policy"].isin(REFERENCES)]
    return dict(zip(lines["policy"], lines["total_j_per_page"].astype(float), strict=True))


def _trade(summary: pd.DataFrame) -> Chart:
    rows = summary[~summary["policy"].isin(REFERENCES)].rename(columns={"total_j_per_page": "energy_j_per_page"})
    chart = front(rows, "slowdown_mean", _levels(summary), "mean slowdown of a page")
    caption = (
        "Left and low is better: little energy, little waiting. Nothing beats the policies on the line. No policy can "
        f"lie left of the limit. {DAGGER} marks policies that know what the host waits for."
    )
    return Chart("trade", "What waiting buys", caption, chart)


def _distribution(slowdowns: pd.DataFrame) -> Chart:
    data, thinned = [], False
    drawn = looks(slowdowns["policy"].unique().tolist())
    for policy, own in slowdowns.groupby("policy", sort=False):
        values = np.sort(own["slowdown"].to_numpy(dtype=float))
        share = 1 - np.arange(len(values)) / len(values)  # of pages at least as slow
        rows = thin(len(values), POINTS)
        thinned |= rows.step > 1
        if policy != BASELINE:
            hover = f"{label(str(policy))}: %{{y:.3p}} of pages take %{{x:.3g}} times as long or more<extra></extra>"
            data.append(
                line(
                    label(str(policy)), values[rows], share[rows], drawn[str(policy)], meta={"choice": str(policy)},
                    hovertemplate=hover,
                )
            )  # fmt: skip
    chart = figure(
        data, xaxis=axis("slowdown", type="log"), yaxis=axis("share of pages at least as slow", rangemode="tozero")
    )
    more = " Curves are drawn through some of their points." if thinned else ""
    return Chart("distribution", "How many pages wait how long", "Pages of all replications." + more, chart)


def _by_page(slowdowns: pd.DataFrame) -> Chart:
    data, thinned = [], False
    drawn = looks(slowdowns["policy"].unique().tolist())
    for policy, own in slowdowns.groupby("policy", sort=False):
        if policy == BASELINE:
            continue
        chosen = thin(len(own), POINTS)
        thinned |= chosen.step > 1
        rows = own.iloc[chosen]
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": label(str(policy)), "meta": {"choice": str(policy)},
                "x": numbers(rows["base_latency_s"]), "y": numbers(rows["slowdown"]),
                "text": [f"{page}, {where}" for page, where in zip(rows["page"], rows["replication"], strict=True)],
                "marker": marker(drawn[str(policy)], 5, opacity=0.55),
                "hovertemplate": f"{label(str(policy))}, %{{text}}: %{{x:.3g}} s, slowdown %{{y:.3g}}<extra></extra>",
            }
        )  # fmt: skip
    chart = figure(
        data, xaxis=axis("time the page takes without power saving [s]", type="log"), yaxis=axis("slowdown", type="log")
    )
    more = f" At most {POINTS} pages a policy are drawn." if thinned else ""
    return Chart(
        "by-page", "Which pages wait", "A point is a page. All pages are in slowdown-by-page.csv." + more, chart
    )


def _sleep_times(polls: pd.DataFrame) -> Chart:
    data = []
    drawn = looks(polls["policy"].unique().tolist())
    for policy, own in polls.groupby("policy", sort=False):
        colour = drawn[str(policy)].colour
        data.append(
            line(
                label(str(policy)), own["time_s"], own["next_sleep_ms"], drawn[str(policy)], mode="lines+markers",
                meta={"choice": str(policy)}, customdata=numbers(own["buffered_bytes"]),
                line={"shape": "hv", "color": colour, "width": 1.2},
                marker={
                    "color": colour, "size": 6,
                    "symbol": ["triangle-up" if waiting else "circle-open" for waiting in own["buffered_bytes"]],
                },
                hovertemplate="%{x:.3f} s: %{customdata} bytes wait, next sleep %{y:.1f} ms<extra></extra>",
            )
        )  # fmt: skip
    chart = figure(
        data, xaxis=axis("time since a page was asked for [s]"), yaxis=axis("next sleep [ms]", rangemode="tozero")
    )
    caption = "What a learner chooses at each poll of a busy stretch; triangles are polls that find packets."
    return Chart("sleep-times", "How sleep times evolve", caption, chart)
