"""Theorems 1 and 2 of Cavallanti et al. 2010: how regret and labels grow, beside the exponents of the bounds.

What it models: linear label noise under the low-noise condition, P(abs(u.x) < eps) = eps^alpha with
c = 1 to the letter, in the plane.  The regret of a round is the conditional one, abs(u.x) where the
prediction is not the Bayes rule's.  The exponents of the theorems are those of upper bounds: a measured one
may be smaller.  Theorem 2 is held in its explicit form (13), for which 10^6 rounds are few.
What it leaves out: other noise, and more dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import lines
from experiments.papers.claims import Beside, Claim, Measure, Record
from experiments.papers.predicates import each, falling, reaching
from experiments.papers.registry import Experiment, Rows, Setup
from experiments.study.compare import estimate
from lpsm import samplers
from lpsm.bounds.low_noise import adaptive_labels, adaptive_regret, supervised_regret_of_spectrum
from lpsm.randomness import POLICY, WORKLOAD, generator
from lpsm.synthetic_streams import linear_noise

__all__ = ["EXPERIMENTS"]

D = 2
POINTS = 40
ALPHAS = (0.5, 1.0, 2.0, 4.0)


def _sweep(key: str, rounds: tuple[int, int], runs: tuple[int, int]) -> Any:
    def sweep(setup: Setup) -> dict[str, dict[str, Any]]:
        return {
            f"alpha {alpha:g} run {run}": {
                "key": key, "alpha": alpha, "rounds": setup.pick(*rounds), "seed": setup.seed, "run": run,
            }
            for alpha in setup.pick((1.0, 4.0), ALPHAS)
            for run in range(setup.pick(*runs))
        }  # fmt: skip

    return sweep


def grow(task: dict[str, Any]) -> Rows:
    """Run one sampler; regret and labels so far, on a geometric grid of rounds."""
    n = task["rounds"]
    stream = linear_noise(n, D, task["alpha"], generator(task["seed"], WORKLOAD, task["run"]))
    smallest = float(stream.correlation_eigenvalues.min())
    parameters: dict[str, Any] = {"lambda_": smallest} if task["key"] == "adaptive-sampler" else {}
    coins = generator(task["seed"], POLICY, task["run"])
    log = samplers.make(task["key"], D, rng=coins, **parameters).run(stream.X, stream.y)
    margin = stream.X @ stream.target
    bayes = np.where(margin >= 0.0, 1, -1)
    regret = np.cumsum(np.where(log.prediction != bayes, np.abs(margin), 0.0))
    labels = np.cumsum(log.queried)
    grid = np.unique(np.geomspace(10, n, POINTS).astype(int))
    return {
        "growth": [
            {"alpha": task["alpha"], "run": task["run"], "n": int(at), "regret": float(regret[at - 1]),
             "labels": int(labels[at - 1]), "eigenvalue": smallest}
            for at in grid
        ]
    }  # fmt: skip


def _means(record: Record, column: str) -> pd.DataFrame:
    """Mean and half width over runs, a row an alpha and n."""
    rows = []
    for (alpha, n), own in record["growth"].groupby(["alpha", "n"]):
        found = estimate(own[column])
        row = {"alpha": alpha, "n": n, "mean": found.mean, "half": found.half_width}
        rows.append({**row, "eigenvalue": own["eigenvalue"].iloc[0]})
    return pd.DataFrame(rows)


def _slope(n: Any, values: Any) -> float:
    return float(np.polyfit(np.log(np.asarray(n, dtype=float)), np.log(values), 1)[0])


def _excess_exponent(column: str, predicted: Any, bound: Any) -> Measure:
    """Slope of ln(mean) on ln n over the last two decades less the predicted one, by alpha.

    A number a run: pseudo-values of the jackknife, which leaves out one run at a time, about the slope of all.
    """

    def measure(record: Record) -> dict[str, Any]:
        found = {}
        means = _means(record, column)
        for alpha, own in record["growth"].groupby("alpha"):
            later = own[own["n"] >= own["n"].max() / 100]
            table = later.pivot(index="run", columns="n", values=column)
            whole, runs = _slope(table.columns, table.mean()), len(table)
            parts = np.array([whole])
            if runs > 1:
                rest = np.array([_slope(table.columns, table.drop(index=run).mean()) for run in table.index])
                parts = runs * whole - (runs - 1) * rest
            rows = means[(means["alpha"] == alpha) & means["n"].isin(table.columns)]
            own_growth = _slope(rows["n"], [bound(row) for row in rows.to_dict("records")])
            words = f"(exponent {whole:.2f}; the explicit bound's is {own_growth:.2f} over these rounds)"
            sample = parts - parts.mean() + whole - predicted(alpha)
            found[f"alpha {alpha:g}:"] = Beside(sample, words)
        return found

    return measure


def _exponent_claim(column: str, predicted: Any, printed: str, bound: Any) -> Claim:
    return Claim(
        f"{column} grow no faster than the bound's power of n"
        if column == "labels"
        else "the regret grows no faster than the bound's power of n",
        reaching(_excess_exponent(column, predicted, bound), high=0.05),
        printed,
        "exponent over the last two decades of n less the predicted one, jackknife over runs; 0.05 for logarithms",
    )


def _over_bound(column: str, bound: Any) -> Measure:
    """Mean over runs over the bound, a number an n, by alpha."""

    def measure(record: Record) -> dict[str, Any]:
        means = _means(record, column)
        ratios = means["mean"] / [bound(row) for row in means.to_dict("records")]
        return {f"alpha {alpha:g}:": own for alpha, own in ratios.groupby(means["alpha"])}

    return measure


def _below_bound(column: str, bound: Any, statement: str, printed: str, no_test: str = "") -> Claim:
    return Claim(
        statement,
        each(_over_bound(column, bound), high=1.0),
        printed,
        "mean over runs over the bound with its explicit constants, at every n",
        no_test=no_test,
    )


def _supervised_bound(row: Any) -> float:
    along = row["alpha"] / (row["alpha"] + 2.0)
    return supervised_regret_of_spectrum(
        n_rounds=int(row["n"]), alpha=float(row["alpha"]), c=1.0, eigenvalues=[along, 1.0 - along]
    )


def _adaptive_bound(function: Any) -> Any:
    return lambda row: function(
        n_rounds=int(row["n"]), n_features=D, eigenvalue=float(row["eigenvalue"]), alpha=float(row["alpha"]), c=1.0
    )


def _at_the_end(column: str) -> Measure:
    """Means over runs at the last n, by alpha."""

    def measure(record: Record) -> dict[str, Any]:
        rows = record["growth"][record["growth"]["n"] == record["growth"]["n"].max()]
        return {f"alpha {alpha:g}": own for alpha, own in rows.groupby("alpha")[column]}

    return measure


def _draw(name: str, column: str, bound: Any) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        means = _means(record, column)
        measured = pd.DataFrame(
            {"group": [f"alpha {value:g}" for value in means["alpha"]], "x": means["n"], "y": means["mean"],
             "half_width": means["half"], "reference": False}
        )  # fmt: skip
        limits = pd.DataFrame(
            {"group": [f"bound, alpha {value:g}" for value in means["alpha"]], "x": means["n"],
             "y": [bound(row) for row in means.to_dict("records")], "half_width": np.nan, "reference": True}
        )  # fmt: skip
        frame = pd.concat([measured, limits], ignore_index=True)
        frame = frame[frame["y"] > 0]
        return {f"{name}-{column}": lines(frame, x="rounds", y=column, x_scale="log", y_scale="log")}

    return figures


_regret_bound, _label_bound = _adaptive_bound(adaptive_regret), _adaptive_bound(adaptive_labels)
_regret_figure = _draw("theorem-2", "regret", _regret_bound)
_label_figure = _draw("theorem-2", "labels", _label_bound)

EXPERIMENTS = (
    Experiment(
        name="adaptive/theorem-1",
        claim="regret of least squares with all labels under low noise",
        time="2 min",
        sweep=_sweep("rls-all", (20_000, 1_000_000), (3, 20)),
        run=grow,
        claims=(
            _below_bound("regret", _supervised_bound, "the expected regret is below the bound", "Theorem 1"),
            _exponent_claim("regret", lambda alpha: 1.0 / (2.0 + alpha), "n^(1/(2+alpha))", _supervised_bound),
            Claim(
                "the less noise (the larger alpha), the less regret",
                falling(_at_the_end("regret")),
                "decreasing in alpha",
            ),
        ),
        figures=_draw("theorem-1", "regret", _supervised_bound),
    ),
    Experiment(
        name="adaptive/theorem-2",
        claim="regret and labels of the adaptive sampler under low noise",
        time="2 min",
        sweep=_sweep("adaptive-sampler", (30_000, 1_000_000), (2, 10)),
        run=grow,
        claims=(
            _below_bound(
                *("regret", _regret_bound, "the expected regret is below the bound", "Theorem 2, (13)"),
                no_test="the constants of (13) leave a factor of hundreds",
            ),
            _below_bound("labels", _label_bound, "the expected number of labels is below the bound", "Theorem 2"),
            _exponent_claim("regret", lambda alpha: 2.0 / (3.0 + alpha), "n^(2/(3+alpha))", _regret_bound),
            _exponent_claim("labels", lambda alpha: 2.0 / (2.0 + alpha), "n^(2/(2+alpha))", _label_bound),
            Claim("the less noise, the fewer labels", falling(_at_the_end("labels")), "decreasing in alpha"),
        ),
        figures=lambda record: {**_regret_figure(record), **_label_figure(record)},
    ),
)
