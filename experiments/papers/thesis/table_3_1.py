"""Table 3.1 of Monteleoni 2006: what samples, mistakes, labels and total errors cost, in context.

What it models: the two rows of the table whose algorithms work online, the Perceptron and the thesis' own (the
modified Perceptron with all labels, dkm with few), on uniform instances (`sphere_runs`).  An entry is judged by what
a halving of the error costs, over the last three of them: that grows as 1/eps^p where the entry is 1/eps^p, and not at
all where it is log 1/eps.
What it leaves out: the rows that do not work online (the PAC complexity, CAL, QBC), which are quoted and not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Measure, Noted, Record, jackknifed
from experiments.papers.kit import Experiment, Setup
from experiments.papers.predicates import at_most, below, between, reaching
from experiments.papers.thesis.sphere_runs import tasks, track

__all__ = ["EXPERIMENTS"]

D = 10
KEYS = ("perceptron", "modified-perceptron", "dkm")
LOGARITHM = 0.5  # between the exponent of log 1/eps, 0, and the least of a power in the table, 1
COLUMNS = {"rounds": "samples", "mistakes": "total errors", "labels": "labels"}


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    return {
        name: task
        for name, task in tasks(setup, KEYS, (D,), (1.0,), setup.pick(10_000, 200_000)).items()
        if task["run"] < setup.pick(2, 10)
    }


def _costs(record: Record, key: str, column: str) -> pd.DataFrame:
    """What each error had cost when it was first reached: a row a run, a column an error, from the largest on."""
    rows = record["goals"][(record["goals"]["key"] == key) & (record["goals"][column] > 0)]
    table = rows.pivot(index="run", columns="goal", values=column).dropna(axis=1)
    return table[sorted(table.columns, reverse=True)]


def _exponent(key: str, column: str) -> Measure:
    """Slope of ln(cost of a halving) on ln(1/eps), over the last three halvings that all runs reach."""

    def measure(record: Record) -> dict[str, Any]:
        table = _costs(record, key, column).iloc[:, -4:]
        goals = np.asarray(table.columns, dtype=float)
        if len(goals) < 3:
            return {}

        def exponent(runs: Any) -> float:
            halvings = np.diff(table.loc[runs].mean().to_numpy())
            return float(np.polyfit(-np.log(goals[1:]), np.log(np.maximum(halvings, 1e-9)), 1)[0])

        words = ", ".join(f"{value:.0f} at {goal:g}" for goal, value in table.mean().items())
        return {"exponent": Noted(jackknifed(table.index, exponent), f"({COLUMNS[column]} {words})")}

    return measure


def _fewer(record: Record) -> dict[str, Any]:
    """Total errors of the thesis' algorithms less the Perceptron's at the smallest error that all reach."""
    tables = {key: _costs(record, key, "mistakes") for key in KEYS}
    goal = min(set.intersection(*(set(table.columns) for table in tables.values())), default=None)
    if goal is None:
        return {}
    base = tables["perceptron"][goal]
    return {
        key: Noted(tables[key][goal] - base, f"({tables[key][goal].mean():.0f} against {base.mean():.0f} to {goal:g})")
        for key in KEYS[1:]
    }


def _entry(key: str, column: str, statement: str, test: Any, printed: str) -> Claim:
    reason = "exponent in 1/eps of what a halving costs, nearer to the entry's than to another of the table; d = 10"
    return Claim(f"{key}: {statement}", test(_exponent(key, column)), printed, reason)


def _draw(record: Record) -> Mapping[str, Figure]:
    frames = []
    for column, name in COLUMNS.items():
        rows = [
            pd.DataFrame({"group": key, "x": 1.0 / np.asarray(means.index, dtype=float), "y": means.to_numpy()})
            for key in KEYS
            for means in [_costs(record, key, column).mean()]
        ]
        frames.append((name, pd.concat(rows)))
    return {"table-3-1": panels(frames, x="1/error", y="until the error is reached", x_scale="log", y_scale="log")}


EXPERIMENTS = (
    Experiment(
        name="thesis/table-3-1",
        subject="samples, mistakes, labels and total errors of the online algorithms, in context",
        time="1 min",
        sweep=_sweep,
        run=track,
        claims=(
            _entry(
                "perceptron",
                "rounds",
                "samples grow between 1/eps and 1/eps^3",
                lambda measure: reaching(measure, 1.0, 3.0),
                "O~(d/eps^3)",
            ),
            _entry(
                "perceptron",
                "mistakes",
                "mistakes grow as 1/eps^2",
                lambda measure: between(measure, 1.0, 2.5),
                "Omega(1/eps^2), O~(d/eps^2)",
            ),
            _entry(
                "modified-perceptron",
                "rounds",
                "samples grow as 1/eps, but for logarithms",
                lambda measure: between(measure, 0.5, 1.5),
                "O~(d/eps log 1/eps)",
            ),
            _entry(
                "modified-perceptron",
                "mistakes",
                "mistakes grow as log 1/eps",
                lambda measure: at_most(measure, LOGARITHM),
                "O~(d log 1/eps)",
            ),
            _entry(
                "dkm",
                "rounds",
                "samples grow as 1/eps, but for logarithms",
                lambda measure: between(measure, 0.5, 1.5),
                "O~(d/eps log 1/eps)",
            ),
            _entry(
                "dkm",
                "labels",
                "labels grow as log 1/eps",
                lambda measure: at_most(measure, LOGARITHM),
                "O~(d log 1/eps)",
            ),
            _entry(
                "dkm",
                "mistakes",
                "total errors grow as log 1/eps",
                lambda measure: at_most(measure, LOGARITHM),
                "O~(d log 1/eps)",
            ),
            Claim(
                "both of the thesis' algorithms make significantly fewer errors than the Perceptron",
                below(_fewer),
                "significant reductions",
                "paired over runs, at the smallest error that all reach",
            ),
        ),
        figures=_draw,
    ),
)
