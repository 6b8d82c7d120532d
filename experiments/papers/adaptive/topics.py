"""Figures 7 and 8 of Cavallanti, Cesa-Bianchi and Gentile 2010: what a topic's difficulty and rarity cost.

What it models: section 3.1.  SSMD over every topic of at least 20 stories (57 of Reuters-21578; the paper has
102 of RCV1, 40,000 stories), with the norm of the weights of a soft-margin SVM, C = 1, on all stories of the
topic as its difficulty.  K is fixed in advance at .003, about 5 % of the labels of frequent topics, the rate of figure
6; a third and three times as much are run beside it.
What it leaves out: any tuning.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from experiments.figures.papers import panels
from experiments.papers import readings as read
from experiments.papers.news import ABOVE_20, NEWS, Case, question, run_cases, sweep
from experiments.papers.registry import Claim, Experiment, Record, Rows, Verdict

__all__ = ["EXPERIMENTS"]

AT = 0.003
CASES: tuple[Case, ...] = tuple(("ssmd", {"K": K}, 1) for K in (0.001, AT, 0.01))


def with_difficulty(task: dict[str, Any]) -> Rows:
    """Run the samplers over a topic, and a support vector machine for the norm of its weights."""
    from sklearn.svm import SVC  # slow to import, and needed here alone

    X, y, named = question(task)
    machine = SVC(C=1.0, kernel="linear").fit(X, y)
    weights = machine.coef_.toarray() if hasattr(machine.coef_, "toarray") else machine.coef_
    return {**run_cases(task), "norms": [{**named, "norm": float(np.linalg.norm(weights))}]}


# -- what a record says ------------------------------------------------------------------------------------------


def _by_topic(record: Record, value: float = AT) -> pd.DataFrame:
    rows = read.of(read.scored(record), "ssmd", value)
    if "norms" in record:
        rows = rows.join(record["norms"].set_index("rank")["norm"])
    return rows


def _rank_correlation(record: Record, one: str, other: str) -> tuple[float, float, str]:
    """Spearman's rho at K = .003 with its p-value, and rho at the other values in words."""
    found = {}
    for value in sorted(set(record["totals"]["value"])):
        rows = _by_topic(record, value)[[one, other]].dropna()
        found[value] = spearmanr(rows[one], rows[other])
    words = ", ".join(f"{result.statistic:+.2f} at K = {value:g}" for value, result in found.items())
    return float(found[AT].statistic), float(found[AT].pvalue), f"rank correlation {words}"


def _correlated(one: str, other: str, sign: int, least: float = 0.0) -> Any:
    def check(record: Record) -> Verdict:
        rho, p, words = _rank_correlation(record, one, other)
        return Verdict(
            f"{words}; p = {p:.1g} over {len(_by_topic(record))} topics", sign * rho > least and p < 0.01, words
        )

    return check


def _alike_where_norms_are(record: Record) -> Verdict:
    rows = _by_topic(record)
    pairs = [
        (a, b)
        for a, b in combinations(rows.to_dict("records"), 2)
        if abs(np.log(a["norm"] / b["norm"])) <= 0.1 and abs(np.log(a["positive"] / b["positive"])) >= np.log(2.0)
    ]
    every = [abs(np.log(a["stored"] / b["stored"])) for a, b in combinations(rows.to_dict("records"), 2)]
    if not pairs:
        return Verdict("no two topics of like norm differ twofold in positives", False, "no pair to compare")
    ratios = np.exp([abs(np.log(a["stored"] / b["stored"])) for a, b in pairs])
    return Verdict(
        f"stored examples differ by a factor of {np.median(ratios):.2f} (median of {len(pairs)} pairs; "
        f"{np.exp(np.median(every)):.2f} over all pairs)",
        bool(np.median(ratios) <= 1.25),
        f"a quarter of these pairs differ by more than {np.quantile(ratios, 0.75):.2f}",
    )  # fmt: skip


def _independent_of_positives(record: Record) -> Verdict:
    rho, p, words = _rank_correlation(record, "f", "positive")
    rows = _by_topic(record).sort_values("positive")
    third = len(rows) // 3
    rare, common = float(rows["f"].iloc[:third].mean()), float(rows["f"].iloc[-third:].mean())
    return Verdict(
        f"{words} (p = {p:.1g}); F {rare:.3f} on the rarest third, {common:.3f} on the most frequent",
        abs(rho) <= 0.3, f"the rarest third has {rows['positive'].iloc[:third].mean():.0f} positives on the mean and "
        f"recall {rows['recall'].iloc[:third].mean():.2f}, the most frequent recall "
        f"{rows['recall'].iloc[-third:].mean():.2f}",
    )  # fmt: skip


def _more_labels_on_rare(record: Record) -> Verdict:
    rho, p, words = _rank_correlation(record, "rate", "positive")
    rows = _by_topic(record).sort_values("positive")
    third = len(rows) // 3
    rare, common = 100 * rows["rate"].iloc[:third].mean(), 100 * rows["rate"].iloc[-third:].mean()
    seen = rows.assign(each=rows["queried"] / rows["positive"])["each"]
    return Verdict(
        f"{words} (p = {p:.1g}); {rare:.1f} % of the labels on the rarest third, {common:.1f} % on the most frequent",
        rho < 0.0 and p < 0.01, f"it asks for {seen.iloc[:third].median():.1f} labels a positive example on the rarest "
        f"third, {seen.iloc[-third:].median():.1f} on the most frequent",
    )  # fmt: skip


def _points(x: Any, y: Any) -> pd.DataFrame:
    return pd.DataFrame({"group": f"a topic; SSMD, K = {AT:g}", "x": x, "y": y, "points": True})


def _draw_7(record: Record) -> Mapping[str, Figure]:
    rows = _by_topic(record).sort_values("positive", ascending=False)
    places = np.arange(1, len(rows) + 1)
    frames = [("stored examples", _points(places, rows["stored"])), ("norm of the SVM", _points(places, rows["norm"]))]
    return {"fig-7": panels(frames, x="topics, the most frequent first", y="", share_y=False)}


def _draw_8(record: Record) -> Mapping[str, Figure]:
    rows = _by_topic(record)
    columns = {"f": "F-measure", "rate": "labels asked for"}
    frames = [(title, _points(rows["positive"], rows[column])) for column, title in columns.items()]
    return {"fig-8": panels(frames, x="positive examples", y="", x_scale="log", share_y=False)}


EXPERIMENTS = (
    Experiment(
        name="adaptive/fig-7", claim="stored examples against the difficulty of each topic", time="2 min",
        sweep=sweep(CASES, topics=ABOVE_20, smoke_topics=10), run=with_difficulty,
        claims=(
            Claim(
                statement="SSMD stores more on topics that are more difficult", printed="clearly",
                check=_correlated("stored", "norm", 1, 0.5),
                tolerance="rank correlation over topics of at least .5 with the norm of the SVM, p < .01",
            ),
            Claim(
                statement="topics of nearly the same norm are stored alike even if their positives are not as many",
                printed="similar", check=_alike_where_norms_are,
                tolerance="norms within 10 %, positives twofold apart; median factor between stored at most 1.25",
            ),
        ),
        figures=_draw_7, **NEWS,
    ),
    Experiment(
        name="adaptive/fig-8", claim="F-measure and label rate of each topic against its frequency", time="1 min",
        sweep=sweep(CASES, topics=ABOVE_20, smoke_topics=10), run=run_cases,
        claims=(
            Claim(
                statement="the F-measure is fairly independent of the number of positive examples",
                printed="fairly independent", check=_independent_of_positives,
                tolerance="rank correlation over topics at most .3 either way",
            ),
            Claim(
                statement="this costs more and more labels: SSMD asks for a larger fraction on infrequent topics",
                printed="many more labels", check=_more_labels_on_rare,
                tolerance="negative rank correlation of label rate and positives over topics, p < .01",
            ),
        ),
        figures=_draw_8, **NEWS,
    ),
)  # fmt: skip
