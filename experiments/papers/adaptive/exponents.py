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
from experiments.papers.registry import Claim, Experiment, Record, Rows, Setup, Verdict
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
    rows = []
    for (alpha, n), own in record["growth"].groupby(["alpha", "n"]):
        found = estimate(own[column])
        rows.append(
            {
                "alpha": alpha,
                "n": n,
                "mean": found.mean,
                "half": found.half_width,
                "eigenvalue": own["eigenvalue"].iloc[0],
            }
        )
    return pd.DataFrame(rows)


def _exponents(record: Record, column: str) -> dict[float, Any]:
    """Slope of ln(mean) on ln n over the last two decades, with an interval over runs by leaving one out."""
    found = {}
    for alpha, own in record["growth"].groupby("alpha"):
        later = own[own["n"] >= own["n"].max() / 100]
        table = later.pivot(index="run", columns="n", values=column)
        x = np.log(table.columns.to_numpy(dtype=float))

        def slope(rows: pd.DataFrame, x: Any = x) -> float:
            return float(np.polyfit(x, np.log(rows.mean(axis=0).to_numpy()), 1)[0])

        whole, runs = slope(table), len(table)
        parts = [runs * whole - (runs - 1) * slope(table.drop(index=run)) for run in table.index] if runs > 1 else []
        found[float(str(alpha))] = estimate(parts)._replace(mean=whole)
    return found


def _growth(record: Record, bound: Any, alpha: float) -> float:
    """Exponent with which a bound grows over the last two decades of n."""
    means = _means(record, "regret")
    own = means[(means["alpha"] == alpha) & (means["n"] >= means["n"].max() / 100)]
    values = [bound(row) for row in own.to_dict("records")]
    return float(np.polyfit(np.log(own["n"].to_numpy(dtype=float)), np.log(values), 1)[0])


def _exponent_claim(column: str, predicted: Any, printed: str, bound: Any) -> Claim:
    def check(record: Record) -> Verdict:
        found = _exponents(record, column)
        words = ", ".join(
            f"{value.mean:.2f} ± {value.half_width:.2f} (at most {predicted(alpha):.2f}) at alpha {alpha:g}"
            for alpha, value in found.items()
        )
        own = ", ".join(f"{_growth(record, bound, alpha):.2f} at alpha {alpha:g}" for alpha in found)
        holds = all(
            value.mean - np.nan_to_num(value.half_width) <= predicted(alpha) + 0.05 for alpha, value in found.items()
        )
        return Verdict(words, holds, f"over these rounds the explicit bound itself grows with exponent {own}")

    return Claim(
        statement=f"{column} grow no faster than the bound's power of n" if column == "labels" else
        "the regret grows no faster than the bound's power of n", printed=printed, check=check,
        tolerance="exponent over the last two decades of n, jackknife 95 % over runs; 0.05 for the bound's logarithms",
    )  # fmt: skip


def _below_bound(column: str, bound: Any, statement: str, printed: str) -> Claim:
    def check(record: Record) -> Verdict:
        means = _means(record, column)
        ratios = np.array([row["mean"] / bound(row) for row in means.to_dict("records")])
        return Verdict(f"at most {ratios.max():.2g} of it, over {len(ratios)} points", bool((ratios <= 1.0).all()))

    return Claim(
        statement=statement,
        printed=printed,
        check=check,
        tolerance="mean over runs, at every n and alpha, explicit constants",
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


def _less_with_less_noise(column: str) -> Any:
    def check(record: Record) -> Verdict:
        means = _means(record, column)
        last = means[means["n"] == means["n"].max()].sort_values("alpha")
        words = ", ".join(f"{row['mean']:.3g} at alpha {row['alpha']:g}" for row in last.to_dict("records"))
        return Verdict(words, bool(last["mean"].is_monotonic_decreasing), words)

    return check


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
_regret_figure = _draw("theorem-2", "regret", _adaptive_bound(adaptive_regret))
_label_figure = _draw("theorem-2", "labels", _adaptive_bound(adaptive_labels))

EXPERIMENTS = (
    Experiment(
        name="adaptive/theorem-1", claim="regret of least squares with all labels under low noise", time="2 min",
        sweep=_sweep("rls-all", (20_000, 1_000_000), (3, 20)), run=grow,
        claims=(
            _below_bound("regret", _supervised_bound, "the expected regret is below the bound", "Theorem 1"),
            _exponent_claim("regret", lambda alpha: 1.0 / (2.0 + alpha), "n^(1/(2+alpha))", _supervised_bound),
            Claim(
                statement="the less noise (the larger alpha), the less regret", printed="decreasing in alpha",
                check=_less_with_less_noise("regret"), tolerance="means over runs at the last n",
            ),
        ),
        figures=_draw("theorem-1", "regret", _supervised_bound),
    ),
    Experiment(
        name="adaptive/theorem-2", claim="regret and labels of the adaptive sampler under low noise", time="2 min",
        sweep=_sweep("adaptive-sampler", (30_000, 1_000_000), (2, 10)), run=grow,
        claims=(
            _below_bound(
                "regret", _adaptive_bound(adaptive_regret), "the expected regret is below the bound",
                "Theorem 2, (13)",
            ),
            _below_bound(
                "labels", _adaptive_bound(adaptive_labels), "the expected number of labels is below the bound",
                "Theorem 2",
            ),
            _exponent_claim("regret", lambda alpha: 2.0 / (3.0 + alpha), "n^(2/(3+alpha))", _regret_bound),
            _exponent_claim("labels", lambda alpha: 2.0 / (2.0 + alpha), "n^(2/(2+alpha))", _label_bound),
            Claim(
                statement="the less noise, the fewer labels", printed="decreasing in alpha",
                check=_less_with_less_noise("labels"), tolerance="means over runs at the last n",
            ),
        ),
        figures=lambda record: {**_regret_figure(record), **_label_figure(record)},
    ),
)  # fmt: skip
