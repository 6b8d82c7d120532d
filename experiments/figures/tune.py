"""Energy against slowdown of every candidate of a tuning, the recommended one in a ring."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.front import front
from experiments.quantities import REFERENCES

__all__ = ["tradeoff"]


def tradeoff(table: pd.DataFrame, recommended: str, max_slowdown: float) -> Figure:
    """Draw mean slowdown and its 95th percentile over energy a page.

    Parameters
    ----------
    table : DataFrame
        `study.tune.measure`: policy, energy_j_per_page, slowdown_mean, slowdown_p95.
    recommended : str
        The policy in a ring.
    max_slowdown : float
        The mean slowdown allowed, a line in the first panel.
    """
    levels = table[table["policy"].isin(REFERENCES)].set_index("policy")["energy_j_per_page"]
    return front(
        table,
        {str(name): float(level) for name, level in levels.items()},
        panels={"slowdown_mean": "mean slowdown of pages", "slowdown_p95": "slowdown of pages, 95th percentile"},
        recommended=recommended,
        max_slowdown=max_slowdown,
        named=len(table),
    )
