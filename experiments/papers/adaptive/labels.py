"""Remark 5 of Cavallanti et al. 2010: average regret as a function of the labels bought, and the hard margin.

What it models: the runs of Theorems 1 and 2 (`exponents`).  Per label the bound of the adaptive sampler falls as
N^(-(1+alpha)(2+alpha)/(2(3+alpha))), that of all labels as N^(-(1+alpha)/(2+alpha)); the former is the faster for
alpha above sqrt(3) - 1 = 0.73.  alpha -> infinity is the hard margin: there O(ln n) labels are to be enough, and the
average regret to fall exponentially in them.  Exponents are over the last two decades of rounds.
What it leaves out: the logarithms, which the remark leaves out too.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.adaptive.exponents import (
    ADAPTIVE,
    ALL,
    AS_LONG,
    HARD,
    every,
    grow,
    growth,
    slope,
)
from experiments.papers.claims import Claim, Measure, Noted, Record, jackknifed
from experiments.papers.kit import Experiment
from experiments.papers.predicates import above, at_most, below, between, reaching
from experiments.papers.proved.low_noise import adaptive_rate_in_labels, supervised_rate_in_labels

__all__ = ["EXPERIMENTS"]

CRITICAL = sqrt(3.0) - 1.0
MARGIN = HARD[1]
NAMES = {ALL: "all labels", ADAPTIVE: "adaptive"}


def _exponents(rows: pd.DataFrame) -> Any:
    """Exponent of the average regret in the labels: pseudo-values, a number a run."""
    later = rows[rows["n"] >= rows["n"].max() / 100]
    regret, labels = (later.pivot(index="run", columns="n", values=name) for name in ("regret", "labels"))

    def exponent(runs: Any) -> float:
        return slope(labels.loc[runs].mean(), regret.loc[runs].mean() / regret.columns)

    return jackknifed(regret.index, exponent)


def _beyond(key: str, predicted: Any) -> Measure:
    """Exponent of a sampler's average regret in its labels less the predicted one, by alpha."""

    def measure(record: Record) -> dict[str, Any]:
        found = {}
        for alpha, own in growth(record, key).groupby("alpha"):
            sample = _exponents(own)
            words = f"(N^{sample.mean():.2f}; the bound's is N^{predicted(alpha):.2f})"
            found[f"alpha {alpha:g}:"] = Noted(sample - predicted(alpha), words)
        return found

    return measure


def _faster(low: float, high: float) -> Measure:
    """Exponent of the adaptive sampler less that of all labels, at each alpha in a range."""

    def measure(record: Record) -> dict[str, Any]:
        found = {}
        for alpha, own in growth(record, ADAPTIVE).groupby("alpha"):
            other = growth(record, ALL)
            if low < float(str(alpha)) < high:
                theirs = _exponents(other[(other["alpha"] == alpha) & other["run"].isin(own["run"])])
                ours = _exponents(own)
                words = f"(N^{ours.mean():.2f} against N^{theirs.mean():.2f})"
                found[f"alpha {alpha:g}:"] = Noted(ours - theirs, words)
        return found

    return measure


def _hard_exponent(key: str) -> Measure:
    def measure(record: Record) -> dict[str, Any]:
        rows = growth(record, key, MARGIN)
        last = rows[rows["n"] == rows["n"].max()]
        words = f"({last['labels'].mean():.0f} labels, average regret {(last['regret'] / last['n']).mean():.2g})"
        return {NAMES[key]: Noted(_exponents(rows), words)}

    return measure


def _by_factors(key: str, column: str) -> Any:
    """What the hard margin costs in the last factor 5 of the rounds, and in the one before: a row a run, (runs, 2)."""

    def costs(record: Record) -> Any:
        table = growth(record, key, MARGIN).pivot(index="run", columns="n", values=column)
        logarithms = np.log(np.asarray(table.columns, dtype=float))
        ends = logarithms.max() - np.log(5.0) * np.arange(3)
        at = np.array([np.interp(ends, logarithms, row) for row in table.to_numpy()])
        return at[:, :2] - at[:, 1:]

    return costs


def _labels_late_to_early(record: Record) -> dict[str, Any]:
    late, early = _by_factors(ADAPTIVE, "labels")(record).mean(axis=0)
    return {"": Noted(late / early, f"({early:.0f}, then {late:.0f} labels)")}


def _regret_late_less_early(record: Record) -> dict[str, Any]:
    costs = {NAMES[key]: _by_factors(key, "regret")(record) for key in NAMES}
    return {name: Noted(own[:, 0] - own[:, 1], f"({own[:, 1].mean():.2g} before)") for name, own in costs.items()}


def _draw(record: Record) -> Mapping[str, Figure]:
    frames = []
    laws = record["growth"][["alpha", "margin"]].drop_duplicates().sort_values(["margin", "alpha"])
    for alpha, margin in laws.itertuples(index=False):
        title = f"alpha {alpha:g}" if not margin else f"hard margin {margin:g}"
        rows = []
        for key, name in NAMES.items():
            own = growth(record, key, margin)
            means = own[own["alpha"] == alpha].groupby("n")[["labels", "regret"]].mean()
            rows.append(pd.DataFrame({"group": name, "x": means["labels"], "y": means["regret"] / means.index}))
        frames.append((title, pd.concat(rows)))
    return {"remark-5": panels(frames, x="labels", y="average regret", x_scale="log", y_scale="log")}


_OVER = "exponent over the last two decades of rounds, jackknife over runs"

EXPERIMENTS = (
    Experiment(
        name="adaptive/remark-5",
        subject="average regret as a function of the labels bought, and the hard margin",
        time=AS_LONG,
        sweep=every,
        run=grow,
        claims=(
            *(
                Claim(
                    f"{NAMES[key]}: the average regret falls at least as fast in the labels as the bound",
                    reaching(_beyond(key, predicted), high=0.05),
                    printed,
                    f"{_OVER}, less the predicted one; 0.05 for logarithms",
                )
                for key, predicted, printed in (
                    (ALL, supervised_rate_in_labels, "N^(-(1+alpha)/(2+alpha))"),
                    (ADAPTIVE, adaptive_rate_in_labels, "N^(-(1+alpha)(2+alpha)/(2(3+alpha)))"),
                )
            ),
            Claim(
                "for alpha > sqrt 3 - 1 the average regret falls faster in the labels that the adaptive sampler buys",
                below(_faster(CRITICAL, np.inf)),
                "asymptotically faster",
                f"difference of exponents: {_OVER}",
            ),
            Claim(
                "for alpha < sqrt 3 - 1 it falls faster with all labels",
                above(_faster(0.0, CRITICAL)),
                "critical value of alpha",
                f"difference of exponents: {_OVER}; the paper compares bounds, no regrets",
            ),
            Claim(
                "under a hard margin the adaptive sampler's labels are of order ln n",
                at_most(_labels_late_to_early, 1.25),
                "O(ln n)",
                "labels bought in the last factor 5 of the rounds over those in the one before",
            ),
            Claim(
                "under a hard margin the regret is at most of order ln n, with all labels or few",
                reaching(_regret_late_less_early, high=0.0),
                "(ln n)/n a round",
                "regret in the last factor 5 of the rounds less that in the one before",
            ),
            Claim(
                "then the average regret is of order (ln N)/N with all labels",
                between(_hard_exponent(ALL), -1.1, -0.8),
                "(ln N)/N",
                _OVER,
            ),
            Claim(
                "and falls exponentially in the labels that the adaptive sampler buys",
                below(_hard_exponent(ADAPTIVE), -5.0),
                "N/e^N",
                f"faster than N^-5: {_OVER}",
            ),
        ),
        figures=_draw,
    ),
)
