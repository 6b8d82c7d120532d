"""A replay in words: what the learner lost, against whom, and which statements hold."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from experiments.report.text import table

__all__ = ["replay_text"]

LISTED = 20  # replays in the printed table


def replay_text(rows: Sequence[dict[str, Any]], shown: str, n_polls: int, bounds: pd.DataFrame) -> str:
    """Return the tables of `lpsm replay`; losses in nats, regrets in nats a poll against the best fixed expert."""
    header = [
        "replay",
        "polls",
        "mean sleep",
        "mixture loss",
        "polling loss",
        "best fixed",
        "its T",
        "best of each poll",
    ]
    lines = [
        [
            str(row["replay"]),
            str(row["polls"]),
            f"{row['mean_sleep_ms']:.0f} ms",
            f"{row['mixture_loss']:.2f}",
            f"{row['polling_loss']:.2f}",
            f"{row['best_expert_loss']:.2f}",
            f"{row['best_expert_ms']:g} ms",
            f"{row['best_per_poll_loss']:.2f}",
        ]
        for row in rows[:LISTED]
    ]
    text = table(header, lines)
    if len(rows) > LISTED:
        text += f"\n.. and {len(rows) - LISTED} more in summary.csv"
    if len(rows) > 1:
        text += "\n\n" + _distribution(rows)
    statements: Any = bounds.to_dict("records")
    checked = [
        [row["statement"], _or_dash(row["measured"]), _or_dash(row["bound"]), str(row["verdict"])] for row in statements
    ]
    return (
        text
        + f"\n\nThe statements on {shown}, {n_polls} polls:\n"
        + table(["statement", "measured", "bound", "verdict"], checked)
    )


def _or_dash(value: float) -> str:
    return f"{value:.4g}" if isfinite(value) else "-"


def _distribution(rows: Sequence[dict[str, Any]]) -> str:
    header = ["regret a poll, nats", "5 %", "median", "95 %", "share below 0"]
    lines = []
    for name, column in (("mixture loss (2.8)", "mixture_regret"), ("polling loss (2.34)", "polling_regret")):
        values = np.array([row[column] for row in rows])
        quantiles = [f"{value:.2e}" for value in np.quantile(values, (0.05, 0.5, 0.95))]
        lines.append([name, *quantiles, f"{100 * np.mean(values < 0):.0f} %"])
    return table(header, lines)
