"""What power saving costs and delays as a cell fills: three panels over the number of clients, a line a policy."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels

__all__ = ["QUANTITIES", "growth"]

QUANTITIES = {"mean_mw": "mean power [mW]", "latency_s": "latency of a page [s]", "awake_percent": "time awake [%]"}
"""The quantities drawn, and the names of their axes."""


def growth(table: pd.DataFrame) -> Figure:
    """Draw the quantities over the number of clients.

    Parameters
    ----------
    table : DataFrame
        `study.cells.summary`: policy, clients, and each quantity with its half width.
    """
    frames = [
        (title, pd.DataFrame({"group": table["policy"], "x": table["clients"], "y": table[name],
                              "half_width": table[f"{name}_half_width"]}))
        for name, title in QUANTITIES.items()
    ]  # fmt: skip
    return panels(frames, x="clients", y="", y_scale="log", share_y=False)
