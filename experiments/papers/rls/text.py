"""Figures 2 and 3 of Cesa-Bianchi 2007: selective sampling with least squares, on news.

What it models: section 4.  Figure 2: SS, which asks where the margin is at most c sqrt(ln t/N), c = 5 as
printed (K = c^2 = 25) and c = 1 beside it, the Perceptron and the second-order Perceptron with all
labels.  Figure 3: the label-efficient second-order Perceptron, coin C/(C + margin), over C.  a = 1, unit instances.
What it leaves out: the full least-squares classifier, as the paper does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.papers import news
from experiments.papers.claims import Claim, Measure, Noted, Record, named
from experiments.papers.kit import Experiment
from experiments.papers.news import ALL_LABELS, NEWS, grid, run_cases, sweep
from experiments.papers.predicates import above, at_least, at_most, explained_by, rising

__all__ = ["EXPERIMENTS"]

PRINTED, BESIDE = 25.0, 1.0  # K = c^2
C = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHOWN = (0.03, 0.1, 0.3, 1.0)  # what the figure displays is not printed
LEAST_SQUARES = grid("ss", "K", (BESIDE, PRINTED))
EFFICIENT = grid("sop-label-efficient", "C", C)


# -- what a record says ------------------------------------------------------------------------------------------


def _last_f(value: float) -> Measure:
    """F of SS in the last window less that of the second-order Perceptron."""

    def measure(record: Record) -> dict[str, Any]:
        scores = news.scored(record)
        ours, theirs = (
            news.ends(record, "f", news.of(key, at)(scores), key) for key, at in (("ss", value), ("sop", None))
        )
        return {"": Noted(ours - theirs, f"({ours.mean():.3f} against {theirs.mean():.3f})")}

    return measure


def _last_to_first(key: str, values: Sequence[float] = ()) -> Measure:
    """Mean label rate of the last window over that of the first, by the values of the parameter."""

    def measure(record: Record) -> dict[str, Any]:
        windows, found = news.scored(record, "windows"), {}
        own = windows[windows["key"] == key]
        for value in values or sorted(set(own["value"])):
            mean = 100 * own[own["value"] == value].groupby("t")["rate"].mean()
            words = f"(from {mean.iloc[0]:.1f} to {mean.iloc[-1]:.1f} %)"
            found[f"{value:g}"] = Noted(mean.iloc[-1] / mean.iloc[0], words)
        return found

    return measure


def _at_values(low: float, high: float) -> Measure:
    """F of the label-efficient sampler less that with all labels, at every C in a range."""

    def measure(record: Record) -> Any:
        scores = news.scored(record)
        values = set(scores.loc[scores["key"] == "sop-label-efficient", "value"])
        return named(
            {
                f"C = {value:g}:": news.paired("f", news.of("sop-label-efficient", value), news.of("sop"))
                for value in sorted(values)
                if low <= value <= high
            }
        )(record)

    return measure


def _sparing(record: Record) -> Mapping[str, Any]:
    """The same at the largest C that leaves a third of the labels unobserved."""
    table = news.mean_by_value(news.scored(record), "sop-label-efficient")
    sparing = table[table["rate"] <= 2.0 / 3.0]
    return _at_values(*2 * (float(str(sparing["rate"].idxmax())),))(record) if len(sparing) else {}


def _draw_2(record: Record) -> Mapping[str, Figure]:
    groups = [
        (f"selective sampling, c = {np.sqrt(value):g}", "ss", value) for value in (PRINTED, BESIDE)
    ] + [(news.NAMES[key], key, None) for key in ("sop", "perceptron")]  # fmt: skip
    return {"fig-2": news.curves(record, groups, {"f": "F-measure", "rate": "share of labels asked for"})}


def _draw_3(record: Record) -> Mapping[str, Figure]:
    values = [value for value in SHOWN if value in set(record["totals"]["value"])]
    groups: list[tuple[str, str, float | None]] = [(f"C = {value:g}", "sop-label-efficient", value) for value in values]
    groups.append((news.NAMES["sop"], "sop", None))
    return {"fig-3": news.curves(record, groups, {"f": "F-measure", "rate": "share of labels asked for"})}


_SS = news.of("ss", PRINTED)

EXPERIMENTS = (
    Experiment(
        name="rls/fig-2",
        subject="selective sampling with c = 5 beside Perceptrons with all labels",
        time="4 min",
        sweep=sweep(
            (*ALL_LABELS, *LEAST_SQUARES), smoke=(*ALL_LABELS, *LEAST_SQUARES), smoke_topics=2, rcv1_stories=40_000
        ),
        run=run_cases,
        claims=(
            Claim(
                "selective sampling eventually reaches the performance of the second-order Perceptron",
                at_least(_last_f(PRINTED), -news.SAME),
                "eventually reaches",
                "last window",
                why=explained_by("with c = 1", _last_f(BESIDE)),
            ),
            Claim(
                "c = 5 works well: the same F-measure as the second-order Perceptron over the stream",
                at_least(news.paired("f", _SS, news.of("sop")), -news.SAME),
                "works well",
            ),
            Claim("it is above the Perceptron", above(news.paired("f", _SS, news.of("perceptron"))), "figure 2"),
            Claim(
                "its label rate decreases very fast",
                at_most(_last_to_first("ss", (PRINTED,)), 0.5),
                "very fast",
                "c = 5: label rate of the last window over the first, means over topics",
            ),
        ),
        figures=_draw_2,
        data=NEWS,
    ),
    Experiment(
        name="rls/fig-3",
        subject="the label-efficient second-order Perceptron, several C",
        time="1 min",
        sweep=sweep((*ALL_LABELS[:1], *EFFICIENT), smoke=(*ALL_LABELS[:1], *EFFICIENT[::2])),
        run=run_cases,
        claims=(
            Claim(
                "for the values of C displayed the performance does not get significantly worse as C decreases",
                at_least(_at_values(SHOWN[0], SHOWN[-1]), -news.SAME),
                "not significantly",
                f"each C from {SHOWN[0]:g} to 1",
                why=explained_by("below", _at_values(0, SHOWN[0])),
            ),
            Claim(
                "no significant decrease where a significant fraction of the labels is not observed",
                at_least(_sparing, -news.SAME),
                "no significant decrease",
                "the largest C that leaves a third unobserved",
            ),
            Claim(
                "the smaller C, the faster the label rate drops",
                rising(_last_to_first("sop-label-efficient")),
                "drop faster",
                "rate of the last window over that of the first, by C",
            ),
        ),
        figures=_draw_3,
        data=NEWS,
    ),
)
