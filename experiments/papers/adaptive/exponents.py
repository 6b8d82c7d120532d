"""Theorems 1 and 2 of Cavallanti et al. 2010: how regret and labels grow, beside the exponents of the bounds.

What it models: linear label noise under the low-noise condition, P(abs(u.x) < eps) = eps^alpha with
c = 1 to the letter, in the plane.  The regret of a round is the conditional one, abs(u.x) where the
prediction is not the Bayes rule's.  The exponents of the theorems are those of upper bounds: a measured one
may be smaller.  Theorem 2 is held in its explicit form (13), for which 10^6 rounds are few.  Beside them runs
with a hard margin of 1/2, for what is said of alpha -> infinity (`labels`).
What it leaves out: other noise, and more dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import lines
from experiments.papers.claims import Claim, Measure, Noted, Record, jackknifed
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.predicates import each, falling, reaching
from experiments.papers.proved.low_noise import adaptive_labels, adaptive_regret, supervised_regret_of_spectrum
from experiments.study.compare import estimate
from lpsm import samplers
from lpsm.randomness import POLICY, WORKLOAD, generator
from lpsm.synthetic_streams import linear_noise

__all__ = ["ADAPTIVE", "ALL", "AS_LONG", "EXPERIMENTS", "HARD", "every", "grow", "growth", "slope"]

D = 2
POINTS = 40
AS_LONG = "as long as theorem-1, whose runs it takes where they are"
ALPHAS = (0.5, 1.0, 2.0, 4.0)
HARD = (1.0, 0.5)  # exponent and margin
ALL, ADAPTIVE = "rls-all", "adaptive-sampler"


def every(setup: Setup) -> dict[str, dict[str, Any]]:
    """Return the runs that both theorems and Remark 5 are drawn from."""
    laws = [*((alpha, 0.0) for alpha in setup.pick((0.5, 1.0, 4.0), ALPHAS)), HARD]
    return {
        f"{key} alpha {alpha:g} margin {margin:g} run {run}": {
            "key": key, "alpha": alpha, "margin": margin, "rounds": setup.pick(30_000, 1_000_000),
            "seed": setup.seed, "run": run,
        }
        for key, runs in ((ALL, 20), (ADAPTIVE, 10))
        for alpha, margin in laws
        for run in range(setup.pick(2, 10 if margin else runs))
    }  # fmt: skip


def grow(task: dict[str, Any]) -> Rows:
    """Run one sampler; regret and labels so far, on a geometric grid of rounds."""
    n = task["rounds"]
    world = generator(task["seed"], WORKLOAD, task["run"])
    stream = linear_noise(n, D, task["alpha"], world, margin=task["margin"])
    smallest = float(stream.correlation_eigenvalues.min())
    parameters: dict[str, Any] = {"lambda_": smallest} if task["key"] == ADAPTIVE else {}
    coins = generator(task["seed"], POLICY, task["run"])
    log = samplers.make(task["key"], D, rng=coins, **parameters).run(stream.X, stream.y)
    margin = stream.X @ stream.target
    bayes = np.where(margin >= 0.0, 1, -1)
    regret = np.cumsum(np.where(log.prediction != bayes, np.abs(margin), 0.0))
    labels = np.cumsum(log.queried)
    grid = np.unique(np.geomspace(10, n, POINTS).astype(int))
    return {
        "growth": [
            {**{name: task[name] for name in ("key", "alpha", "margin", "run")}, "n": int(at),
             "regret": float(regret[at - 1]), "labels": int(labels[at - 1]), "eigenvalue": smallest}
            for at in grid
        ]
    }  # fmt: skip


def growth(record: Record, key: str, margin: float = 0.0) -> pd.DataFrame:
    """Return the rows of one sampler under one kind of noise."""
    rows = record["growth"]
    own: pd.DataFrame = rows[(rows["key"] == key) & (rows["margin"] == margin)]
    return own


def _means(record: Record, key: str, column: str) -> pd.DataFrame:
    """Mean and half width over runs, a row an alpha and n."""
    rows = []
    for (alpha, n), own in growth(record, key).groupby(["alpha", "n"]):
        found = estimate(own[column])
        row = {"alpha": alpha, "n": n, "mean": found.mean, "half": found.half_width}
        rows.append({**row, "eigenvalue": own["eigenvalue"].iloc[0]})
    return pd.DataFrame(rows)


def slope(x: Any, y: Any) -> float:
    """Return the slope of ln y on ln x."""
    return float(np.polyfit(np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float)), 1)[0])


def _mean_slope(table: pd.DataFrame, runs: Any) -> float:
    return slope(table.columns, table.loc[runs].mean())


def _excess_exponent(key: str, column: str, predicted: Any, bound: Any) -> Measure:
    """Slope of ln(mean) on ln n over the last two decades less the predicted one, by alpha."""

    def measure(record: Record) -> dict[str, Any]:
        found = {}
        means = _means(record, key, column)
        for alpha, own in growth(record, key).groupby("alpha"):
            later = own[own["n"] >= own["n"].max() / 100]
            table = later.pivot(index="run", columns="n", values=column)
            sample = jackknifed(table.index, partial(_mean_slope, table))
            rows = means[(means["alpha"] == alpha) & means["n"].isin(table.columns)]
            own_growth = slope(rows["n"], [bound(row) for row in rows.to_dict("records")])
            words = f"(exponent {sample.mean():.2f}; the explicit bound's is {own_growth:.2f} over these rounds)"
            found[f"alpha {alpha:g}:"] = Noted(sample - predicted(alpha), words)
        return found

    return measure


def _exponent_claim(key: str, column: str, predicted: Any, printed: str, bound: Any) -> Claim:
    return Claim(
        f"{column} grow no faster than the bound's power of n"
        if column == "labels"
        else "the regret grows no faster than the bound's power of n",
        reaching(_excess_exponent(key, column, predicted, bound), high=0.05),
        printed,
        "exponent over the last two decades of n less the predicted one, jackknife over runs; 0.05 for logarithms",
    )


def _over_bound(key: str, column: str, bound: Any) -> Measure:
    """Mean over runs over the bound, a number an n, by alpha."""

    def measure(record: Record) -> dict[str, Any]:
        means = _means(record, key, column)
        ratios = means["mean"] / [bound(row) for row in means.to_dict("records")]
        return {f"alpha {alpha:g}:": own for alpha, own in ratios.groupby(means["alpha"])}

    return measure


def _below_bound(key: str, column: str, bound: Any, statement: str, printed: str, no_test: str = "") -> Claim:
    return Claim(
        statement,
        each(_over_bound(key, column, bound), high=1.0),
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


def _at_the_end(key: str, column: str) -> Measure:
    """Means over runs at the last n, by alpha."""

    def measure(record: Record) -> dict[str, Any]:
        rows = growth(record, key)
        last = rows[rows["n"] == rows["n"].max()]
        return {f"alpha {alpha:g}": own for alpha, own in last.groupby("alpha")[column]}

    return measure


def _draw(name: str, key: str, column: str, bound: Any) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        means = _means(record, key, column)
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
_regret_figure = _draw("theorem-2", ADAPTIVE, "regret", _regret_bound)
_label_figure = _draw("theorem-2", ADAPTIVE, "labels", _label_bound)

EXPERIMENTS = (
    Experiment(
        name="adaptive/theorem-1",
        subject="regret of least squares with all labels under low noise",
        time="5 min",
        sweep=every,
        run=grow,
        claims=(
            _below_bound(ALL, "regret", _supervised_bound, "the expected regret is below the bound", "Theorem 1"),
            _exponent_claim(ALL, "regret", lambda alpha: 1.0 / (2.0 + alpha), "n^(1/(2+alpha))", _supervised_bound),
            Claim(
                "the less noise (the larger alpha), the less regret",
                falling(_at_the_end(ALL, "regret")),
                "decreasing in alpha",
            ),
        ),
        figures=_draw("theorem-1", ALL, "regret", _supervised_bound),
    ),
    Experiment(
        name="adaptive/theorem-2",
        subject="regret and labels of the adaptive sampler under low noise",
        time=AS_LONG,
        sweep=every,
        run=grow,
        claims=(
            _below_bound(
                *(ADAPTIVE, "regret", _regret_bound, "the expected regret is below the bound", "Theorem 2, (13)"),
                no_test="the constants of (13) leave a factor of hundreds",
            ),
            _below_bound(
                ADAPTIVE, "labels", _label_bound, "the expected number of labels is below the bound", "Theorem 2"
            ),
            _exponent_claim(ADAPTIVE, "regret", lambda alpha: 2.0 / (3.0 + alpha), "n^(2/(3+alpha))", _regret_bound),
            _exponent_claim(ADAPTIVE, "labels", lambda alpha: 2.0 / (2.0 + alpha), "n^(2/(2+alpha))", _label_bound),
            Claim("the less noise, the fewer labels", falling(_at_the_end(ADAPTIVE, "labels")), "decreasing in alpha"),
        ),
        figures=lambda record: {**_regret_figure(record), **_label_figure(record)},
    ),
)
