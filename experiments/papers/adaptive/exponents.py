"""Theorems 1 and 2 of Cavallanti et al. 2010: how regret and labels grow with the number of rounds.

What it models: linear label noise in the plane under the low-noise condition P(abs(u.x) < eps) = eps^alpha, that is
with c = 1.  The regret of a round is the conditional one: abs(u.x) where the prediction differs from the Bayes rule's.
The theorems give upper bounds, so that a measured exponent may be smaller than theirs.  Theorem 2 is checked in its
explicit form (13), as 10^6 rounds are few for its asymptotic form.  Runs with a hard margin of 1/2 stand for
alpha -> infinity (`labels`).
What it leaves out: other kinds of noise, and more than two dimensions.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import Claim, Noted, by, jackknifed, point
from experiments.papers.kit import Experiment, Setup
from experiments.papers.predicates import each, falling, reaching
from experiments.papers.proved import adaptive_labels, adaptive_regret, supervised_regret_of_spectrum
from lpsm import samplers
from lpsm.randomness import POLICY, WORKLOAD, generator
from lpsm.synthetic_streams import linear_noise

__all__ = ["ADAPTIVE", "ALL", "AS_LONG", "EXPERIMENTS", "HARD", "THEOREM_1", "late", "rows_of", "slope"]

D = 2
POINTS = 40
AS_LONG = "as long as theorem-1, whose runs it takes where they are"
ALPHAS = (0.5, 1.0, 2.0, 4.0)
HARD = (1.0, 0.5)  # exponent and margin
ALL, ADAPTIVE = "rls-all", "adaptive-sampler"
THEOREM_1 = Experiment("adaptive/theorem-1", "regret of least squares with all labels under low noise", "5 min")


def _every(setup: Setup) -> dict[str, dict[str, Any]]:
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


@THEOREM_1.runs(_every)
def growth(key: str, alpha: float, margin: float, rounds: int, seed: int, run: int) -> list[dict[str, Any]]:
    """Run one sampler; return its regret and labels so far, on a geometric grid of rounds."""
    stream = linear_noise(rounds, D, alpha, generator(seed, WORKLOAD, run), margin=margin)
    smallest = float(stream.correlation_eigenvalues.min())
    parameters: dict[str, Any] = {"lambda_": smallest} if key == ADAPTIVE else {}
    log = samplers.make(key, D, rng=generator(seed, POLICY, run), **parameters).run(stream.X, stream.y)
    margins = stream.X @ stream.target
    regret = np.cumsum(np.where(log.prediction != np.where(margins >= 0.0, 1, -1), np.abs(margins), 0.0))
    labels = np.cumsum(log.queried)
    return [
        {"key": key, "alpha": alpha, "margin": margin, "run": run, "n": int(at), "regret": float(regret[at - 1]),
         "labels": int(labels[at - 1]), "eigenvalue": smallest}
        for at in np.unique(np.geomspace(10, rounds, POINTS).astype(int))
    ]  # fmt: skip


def rows_of(growth: pd.DataFrame, key: str, margin: float = 0.0) -> Any:
    """Return the rows of one sampler under one hard margin, 0 for none."""
    return growth[(growth["key"] == key) & (growth["margin"] == margin)]


def late(rows: Any, column: str, factor: float = 100.0) -> Any:
    """Return a column over the last two decades of rounds, or another factor: a row a run, a column an n."""
    return rows[rows["n"] >= rows["n"].max() / factor].pivot(index="run", columns="n", values=column)


def slope(x: Any, y: Any) -> float:
    """Return the slope of ln y on ln x."""
    return float(np.polyfit(np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float)), 1)[0])


def _mean_slope(table: pd.DataFrame, runs: Any) -> float:
    return slope(table.columns, table.loc[runs].mean())


def _supervised_bound(n: int, alpha: float, eigenvalue: float) -> float:
    along = alpha / (alpha + 2.0)
    return supervised_regret_of_spectrum(n_rounds=n, alpha=alpha, c=1.0, eigenvalues=[along, 1.0 - along])


def _adaptive_bound(function: Any, n: int, alpha: float, eigenvalue: float) -> float:
    return float(function(n_rounds=n, n_features=D, eigenvalue=eigenvalue, alpha=alpha, c=1.0))


BOUNDS: dict[tuple[str, str], Any] = {
    (ALL, "regret"): _supervised_bound,
    (ADAPTIVE, "regret"): partial(_adaptive_bound, adaptive_regret),
    (ADAPTIVE, "labels"): partial(_adaptive_bound, adaptive_labels),
}


def _means(growth: pd.DataFrame, key: str, column: str) -> pd.DataFrame:
    """Return means over runs with their half widths and the bounds, a row an alpha and n."""
    rows = []
    for (alpha, n), own in rows_of(growth, key).groupby(["alpha", "n"]):
        bound = BOUNDS[key, column](int(n), float(alpha), float(own["eigenvalue"].iloc[0]))
        rows.append({"alpha": alpha, "bound": bound, **point(f"alpha {alpha:g}", n, own[column])})
    return pd.DataFrame(rows)


def _over_bound(growth: pd.DataFrame, key: str, column: str) -> Any:
    means = _means(growth, key, column)
    return by(means["y"] / means["bound"], "alpha {:g}:", means["alpha"])


def _excess_exponent(growth: pd.DataFrame, key: str, column: str, predicted: Any) -> Any:
    """Slope of ln(mean) on ln n over the last two decades less the predicted one, a pseudo-value a run, by alpha.

    What is predicted are the powers of n and of ln n.
    """
    means, samples = _means(growth, key, column), {}
    for alpha, own in rows_of(growth, key).groupby("alpha"):
        table = late(own, column)
        sample = jackknifed(table.index, partial(_mean_slope, table))
        at = means[(means["alpha"] == alpha) & means["x"].isin(table.columns)]
        bound = f"the explicit bound's is {slope(at['x'], at['bound']):.2f} over these rounds"
        power, of_logarithm = predicted(alpha)
        expected = power + of_logarithm * slope(table.columns, np.log(np.asarray(table.columns, dtype=float)))
        samples[f"alpha {alpha:g}:"] = Noted(sample - expected, f"(exponent {sample.mean():.2f}; {bound})")
    return samples


def _at_the_end(growth: pd.DataFrame, key: str, column: str) -> Any:
    rows = rows_of(growth, key)
    last = rows[rows["n"] == rows["n"].max()]
    return by(last[column], "alpha {:g}", last["alpha"])


def _beside_bound(growth: pd.DataFrame, key: str, column: str) -> pd.DataFrame:
    means = _means(growth, key, column).assign(reference=False)
    limits = means.assign(group="bound, " + means["group"], y=means["bound"], half_width=np.nan, reference=True)
    frame = pd.concat([means, limits], ignore_index=True)
    return frame[frame["y"] > 0]


def _below_bound(what: str, key: str, column: str, printed: str, no_test: str = "") -> Claim:
    test = each(partial(_over_bound, key=key, column=column), high=1.0)
    reason = "mean over runs over the bound with its explicit constants, at every n"
    return Claim(f"the expected {what} is below the bound", test, printed, reason, no_test=no_test)


def _no_faster(key: str, column: str, predicted: Any, printed: str) -> Claim:
    what = "labels grow" if column == "labels" else "the regret grows"
    test = reaching(partial(_excess_exponent, key=key, column=column, predicted=predicted), high=0.02)
    reason = (
        "exponent over the last two decades of n less that of the printed powers of n and ln n, jackknife over runs"
    )
    return Claim(f"{what} no faster than the bound's powers of n and ln n", test, printed, reason)


THEOREM_2 = THEOREM_1.view(
    "adaptive/theorem-2", "regret and labels of the adaptive sampler under low noise", AS_LONG
)  # fmt: skip
THEOREM_1.claims += [
    _below_bound("regret", ALL, "regret", "Theorem 1", "the bound is tens of times the regret"),
    _no_faster(ALL, "regret", lambda alpha: (1.0 / (2.0 + alpha), (1.0 + alpha) / (2.0 + alpha)), "n^(1/(2+alpha))"),
    Claim("the less noise (the larger alpha), the less regret", falling(partial(_at_the_end, key=ALL, column="regret")),
          "decreasing in alpha"),
]  # fmt: skip
THEOREM_2.claims += [
    _below_bound("regret", ADAPTIVE, "regret", "Theorem 2, (13)", "the constants of (13) leave a factor of hundreds"),
    _below_bound("number of labels", ADAPTIVE, "labels", "Theorem 2"),
    _no_faster(
        ADAPTIVE, "regret", lambda alpha: (2.0 / (3.0 + alpha), (1.0 + alpha) / (3.0 + alpha)), "n^(2/(3+alpha))"
    ),
    _no_faster(ADAPTIVE, "labels", lambda alpha: (2.0 / (2.0 + alpha), alpha / (2.0 + alpha)), "n^(2/(2+alpha))"),
    Claim("the less noise, the fewer labels", falling(partial(_at_the_end, key=ADAPTIVE, column="labels")),
          "decreasing in alpha"),
]  # fmt: skip
for key, column in BOUNDS:
    name, experiment = ("theorem-1", THEOREM_1) if key == ALL else ("theorem-2", THEOREM_2)
    picture = experiment.picture(f"{name}-{column}", x="rounds", y=column, x_scale="log", y_scale="log")
    picture(partial(_beside_bound, key=key, column=column))

EXPERIMENTS = (THEOREM_1, THEOREM_2)
