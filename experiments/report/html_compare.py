"""The page of `lpsm compare --report`: energy, slowdown, and what one costs in the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures.style import label
from experiments.quantities import BASELINE, COMPARISON, REFERENCES, Quantity, energy_parts, shown
from experiments.report.comparison import explanation
from experiments.report.html import Chart, Page, Table
from experiments.report.html_charts import axis, figure, line, numbers, style, thin, vertical
from experiments.study.compare import Comparison

__all__ = ["comparison_page", "name_of"]

POINTS = 600  # drawn a policy; of more, every k-th
_PATTERNS = {"sleep_j_per_page": ("#d9d9d9", ""), "awake_j_per_page": ("#56B4E9", "/"),
             "listen_j_per_page": ("#D55E00", "x"), "wakeup_j_per_page": ("#F0E442", ".")}  # fmt: skip


def name_of(policy: str) -> str:
    """Return how a policy is called beside its canonical name.

    >>> name_of("bsd:0.5"), name_of("none")
    ('BSD 0.5', 'no power saving')
    """
    return label(policy).replace("\n", " ")


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
    return Page(
        title="Power-saving policies compared",
        lead=f"Energy and slowdown of {len(policies)} policies that met the same traffic: {what}.",
        command=command,
        configuration=manifest["configuration"],
        versions=manifest["versions"],
        tables=tables,
        charts=charts,
        choices=[(policy, f"{name_of(policy)} ({policy})") for policy in policies],
        notes=explanation(summary, what).splitlines(),
    )


def _columns(summary: pd.DataFrame) -> list[Quantity]:
    return [column for column in shown(COMPARISON, summary) if not summary[column.name].isna().all()]


def _energy(summary: pd.DataFrame) -> Chart:
    bars = summary[~summary["policy"].isin(REFERENCES)]
    policies = [str(policy) for policy in bars["policy"]]
    names = [name_of(policy) for policy in policies]
    data: list[dict[str, Any]] = [
        {
            "type": "bar", "orientation": "h", "name": part.called, "x": numbers(bars[part.name]), "y": names,
            "ids": policies,
            "marker": {"color": colour, "pattern": {"shape": hatch}, "line": {"color": "#1a1a1a", "width": 0.7}},
            "hovertemplate": "%{y}, " + part.called + ": %{x:.4g} J a page<extra></extra>",
        }
        for part in sorted(shown(energy_parts(), bars), key=lambda part: list(_PATTERNS).index(part.name))
        for colour, hatch in [_PATTERNS[part.name]]
    ]  # fmt: skip
    data.append(
        {
            "type": "scatter", "mode": "markers", "name": "total, 95 % interval", "ids": policies, "y": names,
            "x": numbers(bars["total_j_per_page"]), "marker": {"color": "#1a1a1a", "size": 6},
            "error_x": {"type": "data", "array": numbers(bars["total_j_per_page_half_width"]), "thickness": 1.2},
            "hovertemplate": "%{y}: %{x:.4g} J a page in all<extra></extra>",
        }
    )  # fmt: skip
    saving = bars[bars["policy"] != BASELINE] if len(bars) > 1 else bars
    highest = float(saving["total_j_per_page"].max())
    whiskers = float((saving["total_j_per_page"] + saving["total_j_per_page_half_width"].fillna(0)).max())
    cut = float(bars["total_j_per_page"].max()) > highest
    chart = figure(
        data, barmode="stack", height=150 + 42 * len(names), bargap=0.35, shapes=_references(summary),
        xaxis=axis("energy [J a page]", range=[0, max(1.1 * highest, min(1.04 * whiskers, 1.6 * highest))]),
        yaxis=axis("", autorange="reversed"),
    )  # fmt: skip
    more = " The bar without power saving leaves the picture; a double click shows all of it." if cut else ""
    caption = "Energy a page by its parts; dots are totals with their 95 % intervals over replications."
    return Chart("energy", "Energy a page", caption + more, chart)


def _references(summary: pd.DataFrame) -> list[dict[str, Any]]:
    levels = dict(zip(summary["policy"], summary["total_j_per_page"], strict=True))
    return [
        vertical(float(levels[policy]), f"{policy}, {levels[policy]:.2f} J", dash)
        for policy, dash in zip(REFERENCES, ("dash", "dot"), strict=True)
        if policy in levels
    ]


def _trade(summary: pd.DataFrame) -> Chart:
    bars = summary[~summary["policy"].isin(REFERENCES)]
    data: list[dict[str, Any]] = []
    rows: Any = bars.to_dict("records")
    for place, row in enumerate(rows):
        colour, symbol, _ = style(place)
        policy = str(row["policy"])
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": name_of(policy), "meta": {"choice": policy},
                "x": numbers([row["total_j_per_page"]]), "y": numbers([row["slowdown_mean"]]),
                "error_y": {
                    "type": "data", "symmetric": False, "array": numbers([row["slowdown_p95"] - row["slowdown_mean"]]),
                    "arrayminus": [0.0], "thickness": 1.2,
                },
                "marker": {"color": colour, "symbol": symbol, "size": 11},
                "hovertemplate": f"{name_of(policy)}: %{{x:.4g}} J a page, mean slowdown %{{y:.3g}}<extra></extra>",
            }
        )  # fmt: skip
    saving = bars[bars["policy"] != BASELINE] if len(bars) > 1 else bars
    lowest, highest = float(summary["total_j_per_page"].min()), float(saving["total_j_per_page"].max())
    chart = figure(
        data, shapes=_references(summary),
        xaxis=axis("energy [J a page]", range=[lowest - 0.1 * (highest - lowest), highest + 0.1 * (highest - lowest)]),
        yaxis=axis("slowdown: mean (bar up to p95)", type="log"),
    )  # fmt: skip
    caption = "Left and low is better: little energy, little waiting. No policy can lie left of the limit."
    return Chart("trade", "What waiting buys", caption, chart)


def _distribution(slowdowns: pd.DataFrame) -> Chart:
    data, thinned = [], False
    for place, (policy, own) in enumerate(slowdowns.groupby("policy", sort=False)):
        values = np.sort(own["slowdown"].to_numpy(dtype=float))
        share = 1 - np.arange(len(values)) / len(values)  # of pages at least as slow
        rows = thin(len(values), POINTS)
        thinned |= rows.step > 1
        if policy != BASELINE:
            hover = f"{name_of(str(policy))}: %{{y:.3p}} of pages take %{{x:.3g}} times as long or more<extra></extra>"
            data.append(
                line(
                    name_of(str(policy)), values[rows], share[rows], place, meta={"choice": str(policy)},
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
    for place, (policy, own) in enumerate(slowdowns.groupby("policy", sort=False)):
        if policy == BASELINE:
            continue
        colour, symbol, _ = style(place)
        chosen = thin(len(own), POINTS)
        thinned |= chosen.step > 1
        rows = own.iloc[chosen]
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": name_of(str(policy)), "meta": {"choice": str(policy)},
                "x": numbers(rows["base_latency_s"]), "y": numbers(rows["slowdown"]),
                "text": [f"{page}, {where}" for page, where in zip(rows["page"], rows["replication"], strict=True)],
                "marker": {"color": colour, "symbol": symbol, "size": 5, "opacity": 0.55},
                "hovertemplate": f"{name_of(str(policy))}, %{{text}}: %{{x:.3g}} s, slowdown %{{y:.3g}}<extra></extra>",
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
    for place, (policy, own) in enumerate(polls.groupby("policy", sort=False)):
        colour, _, _ = style(place)
        data.append(
            line(
                name_of(str(policy)), own["time_s"], own["next_sleep_ms"], place, mode="lines+markers",
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
