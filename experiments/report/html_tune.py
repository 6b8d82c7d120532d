"""The page of `lpsm tune --report`: the recommendation, what it was chosen on, what it costs on held-out traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.quantities import BASELINE, REFERENCES, TUNING, Quantity
from experiments.report.html import Chart, Page, Table
from experiments.report.html_charts import INK, axis, figure, numbers, style, vertical
from experiments.report.html_compare import name_of
from experiments.report.tune import recommendation_text
from experiments.study.tune import Tuning

__all__ = ["tuning_page"]

COLUMNS = (
    *TUNING,
    Quantity("on_front_mean", "front, by mean"),
    Quantity("on_front_p95", "front, by p95"),
)
NOTES = (
    "On the front: no other policy needs less energy and is no slower.",
    "Limit: a bound for every policy. Page-awake: awake exactly while a page loads, asleep otherwise, never late.",
    "± is the half width of a 95 % interval over what was held out.",
)


def tuning_page(found: Tuning, units: str, *, command: str, manifest: Mapping[str, Any]) -> Page:
    """Lay out a recommendation.

    Parameters
    ----------
    found : Tuning
        What was chosen, and the two tables.
    units : str
        What the traffic was split by, such as "sessions".
    command : str
        The command line that makes it again.
    manifest : mapping
        ``configuration`` and ``versions`` of the result.
    """
    table = found.held_out
    candidates = [str(policy) for policy in table["policy"] if policy not in REFERENCES]
    bound = float(found.recommendation["max_slowdown"])
    return Page(
        title="The power-save setting to take",
        lead=recommendation_text(found.recommendation, units),
        command=command,
        configuration=manifest["configuration"],
        versions=manifest["versions"],
        tables=[
            Table("held-out.csv", f"Measured on the {units} held out from the choice.", table, COLUMNS),
            Table("chosen-on.csv", f"The {units} it was chosen on.", found.chosen_on, COLUMNS),
        ],
        charts=[
            _front(table, found.policy, bound, "mean", "slowdown_mean", "on_front_mean"),
            _front(table, found.policy, bound, "95th percentile", "slowdown_p95", "on_front_p95"),
        ],
        choices=[(policy, f"{name_of(policy)} ({policy})") for policy in candidates],
        notes=NOTES,
    )


def _front(table: pd.DataFrame, recommended: str, bound: float, word: str, column: str, on_front: str) -> Chart:
    rows = table[~table["policy"].isin((*REFERENCES, BASELINE))]
    best = rows[rows[on_front].astype(bool)].sort_values("energy_j_per_page")
    data: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "lines", "name": "front", "hoverinfo": "skip",
            "x": numbers(best["energy_j_per_page"]), "y": numbers(best[column]),
            "line": {"color": "#7F7F7F", "shape": "hv", "width": 1.5},
        }
    ]  # fmt: skip
    records: Any = rows.to_dict("records")
    for place, row in enumerate(records):
        policy, (colour, symbol, _) = str(row["policy"]), style(place)
        taken = policy == recommended
        data.append(
            {
                "type": "scatter", "mode": "markers", "name": name_of(policy) + (", recommended" if taken else ""),
                "meta": {"choice": policy}, "x": numbers([row["energy_j_per_page"]]), "y": numbers([row[column]]),
                "marker": {"color": colour, "symbol": symbol, "size": 16 if taken else 9,
                           "line": {"color": INK, "width": 2 if taken else 0}},
                "hovertemplate": f"{name_of(policy)}: %{{x:.4g}} J a page, slowdown %{{y:.3g}}<extra></extra>",
            }
        )  # fmt: skip
    levels = dict(zip(table["policy"], table["energy_j_per_page"], strict=True))
    shapes = [
        vertical(float(levels[name]), f"{name}, {levels[name]:.2f} J", dash)
        for name, dash in zip(REFERENCES, ("dash", "dot"), strict=True)
        if name in levels
    ]
    allowed = {
        "type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": bound, "y1": bound, "showlegend": True,
        "name": f"largest slowdown allowed, {bound:g}", "line": {"color": "#D55E00", "width": 1.2, "dash": "dashdot"},
    }  # fmt: skip
    chart = figure(
        data, height=560, shapes=[*shapes, *([allowed] if column == "slowdown_mean" else [])],
        xaxis=axis("energy [J a page]"), yaxis=axis(f"slowdown, {word}", type="log"),
    )  # fmt: skip
    caption = "Left and low is better. Without power saving is not drawn: it lies far to the right."
    return Chart(f"front-{column}".replace("_", "-"), f"Energy against waiting: {word}", caption, chart)
