"""Remark 5 of Cavallanti et al. 2010: average regret as a function of the labels bought, and the hard margin.

What it models: the runs of Theorems 1 and 2 (`exponents`).  With N labels the bound of the adaptive sampler falls as
N^(-(1+alpha)(2+alpha)/(2(3+alpha))), that of all labels as N^(-(1+alpha)/(2+alpha)); the former falls faster for
alpha above sqrt(3) - 1 = 0.73.  alpha -> infinity is the hard margin: there O(ln n) labels are to be enough, and the
average regret is to fall exponentially in them.  Exponents are measured over the last two decades of rounds.
What it leaves out: logarithmic factors, which the remark leaves out too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.adaptive.exponents import ADAPTIVE, ALL, AS_LONG, HARD, THEOREM_1, late, rows_of, slope
from experiments.papers.claims import Claim, Noted, jackknifed
from experiments.papers.predicates import above, at_most, below, between, reaching
from experiments.papers.proved import adaptive_rate_in_labels, supervised_rate_in_labels

__all__ = ["EXPERIMENTS"]

CRITICAL = sqrt(3.0) - 1.0
MARGIN = HARD[1]
NAMES = {ALL: "all labels", ADAPTIVE: "adaptive"}
REMARK_5 = THEOREM_1.view(
    "adaptive/remark-5", "average regret as a function of the labels bought, and the hard margin", AS_LONG
)


def _exponents(rows: Any, factor: float = 100.0) -> Any:
    """Return the exponent of the average regret in the labels over the last rounds: pseudo-values, a number a run."""
    regret, labels = late(rows, "regret", factor), late(rows, "labels", factor)
    return jackknifed(
        regret.index, lambda runs: slope(labels.loc[runs].mean(), regret.loc[runs].mean() / regret.columns)
    )


def _beyond(growth: Any, key: str, predicted: Any) -> Any:
    """Exponent of a sampler's average regret in its labels less the predicted one, by alpha."""
    samples = {}
    for alpha, own in rows_of(growth, key).groupby("alpha"):
        sample, expected = _exponents(own), predicted(alpha)
        words = f"(N^{sample.mean():.2f}; the bound's is N^{expected:.2f})"
        samples[f"alpha {alpha:g}:"] = Noted(sample - expected, words)
    return samples


def _faster(growth: Any, low: float, high: float) -> Any:
    """Exponent of the adaptive sampler less that of all labels on the same runs, at each alpha in a range."""
    samples, other = {}, rows_of(growth, ALL)
    for alpha, own in rows_of(growth, ADAPTIVE).groupby("alpha"):
        if low < alpha < high:
            ours = _exponents(own)
            theirs = _exponents(other[(other["alpha"] == alpha) & other["run"].isin(own["run"])])
            words = f"(N^{ours.mean():.2f} against N^{theirs.mean():.2f})"
            samples[f"alpha {alpha:g}:"] = Noted(ours - theirs, words)
    return samples


def _faster_bound(growth: Any) -> dict[str, float]:
    """Exponent of the adaptive sampler's bound less that of all labels, at each alpha below the critical one."""
    alphas = [alpha for alpha in sorted(set(growth["alpha"])) if alpha < CRITICAL]
    return {f"alpha {alpha:g}:": adaptive_rate_in_labels(alpha) - supervised_rate_in_labels(alpha) for alpha in alphas}


def _hard_exponent(growth: pd.DataFrame, key: str, factor: float = 100.0) -> Any:
    """Exponent of the average regret in the labels under the hard margin, over the last factor of the rounds."""
    rows = rows_of(growth, key, MARGIN)
    last = rows[rows["n"] == rows["n"].max()]
    words = f"({last['labels'].mean():.0f} labels, average regret {(last['regret'] / last['n']).mean():.2g})"
    return {NAMES[key]: Noted(_exponents(rows, factor), words)}


def _by_factors(growth: pd.DataFrame, key: str, column: str) -> Any:
    """Return what the hard margin costs in the last factor 5 of the rounds and in the one before, (runs, 2)."""
    table = rows_of(growth, key, MARGIN).pivot(index="run", columns="n", values=column)
    logarithms = np.log(np.asarray(table.columns, dtype=float))
    ends = logarithms.max() - np.log(5.0) * np.arange(3)
    at = np.array([np.interp(ends, logarithms, row) for row in table.to_numpy()])
    return at[:, :2] - at[:, 1:]


OVER = "exponent over the last two decades of rounds, jackknife over runs"
DIFFERENCE = f"difference of exponents: {OVER}"
for key, predicted, printed in (
    (ALL, supervised_rate_in_labels, "N^(-(1+alpha)/(2+alpha))"),
    (ADAPTIVE, adaptive_rate_in_labels, "N^(-(1+alpha)(2+alpha)/(2(3+alpha)))"),
):
    REMARK_5.claims += [
        Claim(f"{NAMES[key]}: the average regret falls at least as fast in the labels as the bound",
              reaching(partial(_beyond, key=key, predicted=predicted), high=0.05), printed,
              f"{OVER}, less the predicted one; 0.05 for logarithms"),
    ]  # fmt: skip
REMARK_5.claims += [
    Claim("for alpha > sqrt 3 - 1 the average regret falls faster in the labels that the adaptive sampler buys",
          below(partial(_faster, low=CRITICAL, high=np.inf)), "asymptotically faster",
          f"{DIFFERENCE}; ours, the paper compares bounds"),
    Claim("for alpha < sqrt 3 - 1 the bound falls faster with all labels",
          above(_faster_bound), "critical value of alpha", "exponents of the bounds, which are what the paper compares",
          no_test="it follows from the bounds alone, whatever a record says"),
]  # fmt: skip


@REMARK_5.claim(
    "under a hard margin the adaptive sampler's labels are of order ln n", at_most, "O(ln n)",
    "labels bought in the last factor 5 of the rounds over those in the one before", limit=1.25,
)  # fmt: skip
def _labels_late_to_early(growth: pd.DataFrame) -> Noted:
    late_labels, early = _by_factors(growth, ADAPTIVE, "labels").mean(axis=0)
    return Noted(late_labels / early, f"({early:.0f}, then {late_labels:.0f} labels)")


@REMARK_5.claim(
    "under a hard margin the regret is at most of order ln n, with all labels or few", reaching, "(ln n)/n a round",
    "regret in the last factor 5 of the rounds less that in the one before", high=0.0,
    no_test="under a hard margin hardly any regret comes late",
)  # fmt: skip
def _regret_late_less_early(growth: pd.DataFrame) -> Any:
    costs = {name: _by_factors(growth, key, "regret") for key, name in NAMES.items()}
    return {name: Noted(own[:, 0] - own[:, 1], f"({own[:, 1].mean():.2g} before)") for name, own in costs.items()}


REMARK_5.claims += [
    Claim("then the average regret is of order (ln N)/N with all labels",
          between(partial(_hard_exponent, key=ALL), -1.1, -0.8), "(ln N)/N", OVER),
    Claim("and falls exponentially in the labels that the adaptive sampler buys",
          below(partial(_hard_exponent, key=ADAPTIVE, factor=5.0), -5.0), "N/e^N",
          "faster than N^-5 over the last factor 5 of the rounds (two decades hold the start of the run as well)"),
]  # fmt: skip


@REMARK_5.picture("remark-5", x="labels", y="average regret", x_scale="log", y_scale="log")
def _curves(growth: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    laws = growth[["alpha", "margin"]].drop_duplicates().sort_values(["margin", "alpha"])
    for alpha, margin in laws.itertuples(index=False):
        rows = []
        for key, name in NAMES.items():
            own = rows_of(growth, key, margin)
            means = own[own["alpha"] == alpha].groupby("n")[["labels", "regret"]].mean()
            rows.append(pd.DataFrame({"group": name, "x": means["labels"], "y": means["regret"] / means.index}))
        yield (f"hard margin {margin:g}" if margin else f"alpha {alpha:g}"), pd.concat(rows)


EXPERIMENTS = (REMARK_5,)
