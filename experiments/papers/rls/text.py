"""Figures 2 and 3 of Cesa-Bianchi 2007: selective sampling with least squares, on news.

What it models: section 4.  Figure 2 has SS, which asks where the margin is at most c sqrt(ln t/N), with c = 5 as
printed (K = c^2 = 25) and c = 1 beside it, and the Perceptron and the second-order Perceptron with all
labels.  Figure 3 has the label-efficient second-order Perceptron, whose coin is C/(C + margin), over C.  The
regulariser a is 1, and instances have unit norm.
What it leaves out: the full least-squares classifier, as the paper does.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.papers import news
from experiments.papers.claims import Claim, Noted, Record, named
from experiments.papers.kit import Experiment
from experiments.papers.news import ALL_LABELS, NAMES, NEWS, SAME, grid, of, paired, run_cases
from experiments.papers.predicates import above, at_least, at_most, explained_by, reaching, rising

__all__ = ["EXPERIMENTS"]

PRINTED, BESIDE = 25.0, 1.0  # K = c^2
SHOWN = (0.03, 0.1, 0.3, 1.0)  # what the figure displays is not printed
LEAST_RATE = 1.0 / 3.0  # of the labels, that a C asks for which is displayed
SOLE = "sop-label-efficient"
OVER_TIME = {"f": "F-measure", "rate": "share of labels asked for"}
CASES = (*ALL_LABELS, *grid("ss", "K", (BESIDE, PRINTED)))
EFFICIENT = grid(SOLE, "C", (0.003, 0.01, 0.03, 0.1, 0.3, 1.0), 10)
FIG_2 = Experiment(
    "rls/fig-2", "selective sampling with c = 5 beside Perceptrons with all labels", "4 min", NEWS, run=run_cases,
    sweep=news.sweep(CASES, smoke=CASES, smoke_topics=2, rcv1_stories=40_000),
)  # fmt: skip
FIG_3 = Experiment(
    "rls/fig-3", "the label-efficient second-order Perceptron, several C", "5 min", NEWS, run=run_cases,
    sweep=news.sweep((*ALL_LABELS[:1], *EFFICIENT), smoke=(*ALL_LABELS[:1], *EFFICIENT[::2])),
)  # fmt: skip


def _last_f(record: Record, value: float) -> Noted:
    """F of SS in the last window less that of the second-order Perceptron."""
    scores = news.scored(record)
    ours, theirs = (news.ends(record, "f", of(key, at)(scores), key) for key, at in (("ss", value), ("sop", None)))
    return Noted(ours - theirs, f"({ours.mean():.3f} against {theirs.mean():.3f})")


def _last_to_first(record: Record, key: str, values: tuple[float, ...] = ()) -> Any:
    """Mean label rate of the last window over that of the first, by the values of the parameter."""
    windows, samples = news.scored(record, "windows"), {}
    own = windows[windows["key"] == key]
    for value in values or sorted(set(own["value"])):
        mean = 100 * own[own["value"] == value].groupby("t")["rate"].mean()
        words = f"(from {mean.iloc[0]:.1f} to {mean.iloc[-1]:.1f} %)"
        samples[f"{value:g}"] = Noted(mean.iloc[-1] / mean.iloc[0], words)
    return samples


FIG_2.claims += [
    Claim("selective sampling eventually reaches the performance of the second-order Perceptron",
          at_least(partial(_last_f, value=PRINTED), -SAME), "eventually reaches", "last window",
          why=explained_by("with c = 1", partial(_last_f, value=BESIDE))),
    Claim("c = 5 works well: the same F-measure as the second-order Perceptron over the stream",
          at_least(paired("f", of("ss", PRINTED), of("sop")), -SAME), "works well"),
    Claim("with all labels and a = 1 the second-order Perceptron is above the Perceptron",
          above(paired("f", of("sop"), of("perceptron"))), "figure 2"),
    Claim("it is above the Perceptron", above(paired("f", of("ss", PRINTED), of("perceptron"))), "figure 2"),
    Claim("its label rate decreases very fast", at_most(partial(_last_to_first, key="ss", values=(PRINTED,)), 0.5),
          "very fast", "c = 5: label rate of the last window over the first, means over topics"),
]  # fmt: skip


@FIG_2.picture("fig-2")
def _draw_2(record: Record) -> Figure:
    lines = [(f"selective sampling, c = {np.sqrt(value):g}", "ss", value) for value in (PRINTED, BESIDE)]
    return news.curves(record, [*lines, *((NAMES[key], key, None) for key in ("sop", "perceptron"))], OVER_TIME)


def _by_rate(record: Record, low: float, high: float) -> Any:
    """F of the label-efficient sampler less that with all labels, at every C whose label rate is in a range."""
    rates = news.mean_by_value(news.scored(record), SOLE)["rate"].sort_index()
    values = rates.index[(rates >= low) & (rates <= high)]
    return named({f"C = {value:g}:": paired("f", of(SOLE, value), of("sop")) for value in values})(record)


FIG_3.claims += [
    Claim("for the values of C displayed the performance does not get significantly worse as C decreases",
          at_least(partial(_by_rate, low=LEAST_RATE, high=1.0), -SAME), "not significantly",
          "each C that asks for a third of the labels or more, over ten coins",
          why=explained_by("below", partial(_by_rate, low=0.0, high=LEAST_RATE))),
    Claim("no significant decrease where a significant fraction of the labels is not observed",
          reaching(partial(_by_rate, low=LEAST_RATE, high=2.0 / 3.0), 0.0), "no significant decrease",
          "each C that asks for a third to two thirds of the labels: the interval of the difference reaches 0"),
]  # fmt: skip


FIG_3.claims.append(
    Claim("the smaller C, the faster the label rate drops", rising(partial(_last_to_first, key=SOLE)), "drop faster",
          "rate of the last window over that of the first, by C")
)  # fmt: skip


@FIG_3.picture("fig-3")
def _draw_3(record: Record) -> Figure:
    lines = [(f"C = {value:g}", SOLE, value) for value in SHOWN if value in set(record["totals"]["value"])]
    return news.curves(record, [*lines, (NAMES["sop"], "sop", None)], OVER_TIME)


EXPERIMENTS = (FIG_2, FIG_3)
