"""The page of `lpsm tune --report`: the recommendation, what it was chosen on, what it costs on held-out traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from experiments.figures.style import label
from experiments.quantities import REFERENCES, TUNING, Quantity, shown
from experiments.report.html import Chart, Page, Table
from experiments.report.html_charts import front
from experiments.report.tune import recommendation_text
from experiments.study.tune import Tuning

__all__ = ["tuning_page"]

COLUMNS = (
    *TUNING,
    Quantity("on_front_mean", "front, by mean"),
    Quantity("on_front_p95", "front, by p95"),
)
BY = "energy_j_per_page"  # the order of the terminal's table
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
            Table(
                "held-out.csv",
                f"Measured on the {units} held out from the choice.",
                table,
                shown(COLUMNS, table),
                order=BY,
                marked=found.policy,
            ),
            Table(
                "chosen-on.csv",
                f"The {units} it was chosen on.",
                found.chosen_on,
                shown(COLUMNS, found.chosen_on),
                order=BY,
                marked=found.policy,
            ),
        ],
        charts=[
            _front(table, found.policy, bound, "mean", "slowdown_mean"),
            _front(table, found.policy, bound, "95th percentile", "slowdown_p95"),
        ],
        choices=[(policy, f"{label(policy)} ({policy})") for policy in candidates],
        notes=NOTES,
    )


def _front(table: pd.DataFrame, recommended: str, bound: float, word: str, column: str) -> Chart:
    levels = table[table["policy"].isin(REFERENCES)].set_index("policy")["energy_j_per_page"]
    chart = front(
        table[~table["policy"].isin(REFERENCES)], column, {str(name): float(level) for name, level in levels.items()},
        f"slowdown, {word}", recommended=recommended, height=560,
        max_slowdown=bound if column == "slowdown_mean" else float("nan"),
    )  # fmt: skip
    caption = "Left and low is better. Without power saving is not drawn: it lies far to the right."
    return Chart(f"front-{column}".replace("_", "-"), f"Energy against waiting: {word}", caption, chart)
