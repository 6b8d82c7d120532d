"""Combining forecasts of electricity demand, one half hour ahead, and what a round of it costs.

New South Wales 1996-1998 (Elec2; needs LPSM_DATA): demand is in the data's unit of 0 to 1, shown times 1,000.  Five
forecasters look back: the last half hour, the same half hour yesterday and a week ago, the last change continued,
and yesterday's change from where it stands now.  Run with ``python -m bench.combining``.
"""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

import lpsm

DAY, WEEK = 48, 336


def demand() -> np.ndarray | None:
    """Half-hourly demand in the order of time, or None without the data."""
    path = Path(os.environ.get("LPSM_DATA", "")) / "elec2" / "electricity-normalized.csv.gz"
    if not os.environ.get("LPSM_DATA") or not path.exists():
        return None
    with gzip.open(path, "rt") as file:
        return pd.read_csv(file)["nswdemand"].to_numpy()


def forecasts(y: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """Forecasts and outcomes from the second week on."""
    t = np.arange(WEEK + 1, len(y))
    last = y[t - 1]
    table = pd.DataFrame(
        {
            "last half hour": last,
            "yesterday": y[t - DAY],
            "a week ago": y[t - WEEK],
            "last change again": 2 * last - y[t - 2],
            "yesterday's change": last + y[t - DAY] - y[t - DAY - 1],
        }
    )
    return table, y[t]


def plain_recipe(table: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Raw squared losses into Learn-alpha, and the mean of the forecasts under its weights."""
    losses = (table - y[:, None]) ** 2
    run = lpsm.LearnAlpha(table.shape[1], lpsm.alpha_grid(horizon=len(y))).run(losses)
    return (run.weights * table).sum(axis=1)


def main() -> None:
    """Print the tables."""
    series = demand()
    if series is None:
        print("left out: electricity demand, for LPSM_DATA names no folder with elec2")
        return
    table, y = forecasts(series)
    rows = []
    for unit in (1.0, 1000.0, 1e-3):
        errors = {"raw squared losses into Learn-alpha": plain_recipe(unit * table.to_numpy(), unit * y) / unit}
        errors["combine"] = lpsm.combine(unit * table, unit * y).predictions / unit
        errors["combine, gradient=True"] = lpsm.combine(unit * table, unit * y, gradient=True).predictions / unit
        for name, p in errors.items():
            rows.append((name, unit, 1000 * float(np.sqrt(np.mean((np.asarray(p) - y) ** 2)))))
    print(pd.DataFrame(rows, columns=["recipe", "unit", "rmse"]).pivot(index="recipe", columns="unit").round(3))
    summary = lpsm.combine(table, y).summary()
    print((1000 * summary["rmse"]).round(3))
    start = time.perf_counter()
    lpsm.combine(table, y)
    spent = 1e6 * (time.perf_counter() - start) / len(y)
    combiner, first = lpsm.Combiner(5), table.to_numpy()[:2000]
    start = time.perf_counter()
    for row, outcome in zip(first, y, strict=False):
        combiner.update(row, outcome)
    single = 1e6 * (time.perf_counter() - start) / len(first)
    print(f"a round: {spent:.1f} us in a table, {single:.1f} us from Python (333 switching rates; from Python 51)")


if __name__ == "__main__":
    main()
