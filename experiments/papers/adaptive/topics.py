"""Figures 7 and 8 of Cavallanti, Cesa-Bianchi and Gentile 2010: what a topic's difficulty and rarity cost.

What it models: section 3.1.  SSMD over every topic of at least 20 stories (57 of Reuters-21578; the paper has
102 of RCV1, 40,000 stories), with the norm of the weights of a soft-margin SVM, C = 1, on all stories of the
topic as its difficulty.  K is fixed in advance at .003, about 5 % of the labels of frequent topics, the rate of figure
6; a third and three times as much are run beside it.
What it leaves out: any tuning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from experiments.figures.papers import panels
from experiments.papers import news
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment, Rows
from experiments.papers.news import ABOVE_20, NEWS, grid, question, run_cases, sweep
from experiments.papers.predicates import at_least, at_most, between, both

__all__ = ["EXPERIMENTS"]

AT = 0.003
CASES = grid("ssmd", "K", (0.001, AT, 0.01))
SWEEP = sweep(CASES, topics=ABOVE_20, smoke_topics=10, rcv1_stories=40_000)


def with_difficulty(task: dict[str, Any]) -> Rows:
    """Run the samplers over a topic, and a support vector machine for the norm of its weights."""
    from sklearn.svm import SVC  # slow to import, and needed here alone

    X, y, named = question(task)
    machine = SVC(C=1.0, kernel="linear").fit(X, y)
    weights = machine.coef_.toarray() if hasattr(machine.coef_, "toarray") else machine.coef_
    return {**run_cases(task), "norms": [{**named, "norm": float(np.linalg.norm(weights))}]}


# -- what a record says ------------------------------------------------------------------------------------------


def _by_topic(record: Record, value: float = AT) -> pd.DataFrame:
    rows = news.of("ssmd", value)(news.scored(record))
    return rows.join(record["norms"].set_index("rank")["norm"]) if "norms" in record else rows


def _rank_correlation(one: str, other: str) -> Measure:
    """Spearman's rho over topics at K = .003, beside that at the other values."""

    def measure(record: Record) -> dict[str, Any]:
        found = {}
        for value in sorted(set(record["totals"]["value"])):
            rows = _by_topic(record, value)[[one, other]].dropna()
            found[value] = spearmanr(rows[one], rows[other])
        others = ", ".join(f"{rho.statistic:+.2f} at K = {value:g}" for value, rho in found.items() if value != AT)
        return {"rank correlation": Noted(found[AT].statistic, f"(p = {found[AT].pvalue:.1g}; {others})")}

    return measure


def _p_value(one: str, other: str) -> Measure:
    def measure(record: Record) -> dict[str, Any]:
        rows = _by_topic(record)[[one, other]].dropna()
        return {"p": float(spearmanr(rows[one], rows[other]).pvalue)}

    return measure


def _factor_between_alike(record: Record) -> dict[str, Any]:
    """Median factor between what is stored of two topics whose norms are within 10 % and positives twofold apart."""
    rows = _by_topic(record)
    norms, positives, stored = (rows[name].to_numpy(dtype=float) for name in ("norm", "positive", "stored"))
    one, other = np.triu_indices(len(rows), 1)

    def factor(values: Any) -> Any:
        return np.maximum(values[one], values[other]) / np.minimum(values[one], values[other])

    alike = (factor(norms) <= np.exp(0.1)) & (factor(positives) >= 2.0)
    if not alike.any():
        return {}
    ratios = factor(stored)[alike]
    words = f"({len(ratios)} pairs; a quarter of them differ by more than {np.quantile(ratios, 0.75):.2f})"
    return {"": Noted(np.median(ratios), words)}


def _thirds(column: str) -> Any:
    """Say the means of a column on the rarest third of the topics, and on the most frequent."""

    def why(record: Record) -> str:
        rows = _by_topic(record).sort_values("positive")
        third = len(rows) // 3
        means = {name: own[column].mean() for name, own in (("rarest", rows[:third]), ("most frequent", rows[-third:]))}
        return f"{column} " + ", ".join(f"{value:.3f} on the {name} third" for name, value in means.items())

    return why


def _points(x: Any, y: Any) -> pd.DataFrame:
    return pd.DataFrame({"group": f"a topic; SSMD, K = {AT:g}", "x": x, "y": y, "points": True})


def _draw_7(record: Record) -> Mapping[str, Figure]:
    rows = _by_topic(record).sort_values("positive", ascending=False)
    places = np.arange(1, len(rows) + 1)
    frames = [("stored examples", _points(places, rows["stored"])), ("norm of the SVM", _points(places, rows["norm"]))]
    return {"fig-7": panels(frames, x="topics, the most frequent first", y="", share_y=False)}


def _draw_8(record: Record) -> Mapping[str, Figure]:
    rows = _by_topic(record)
    columns = {"f": "F-measure", "rate": "share of labels asked for"}
    frames = [(title, _points(rows["positive"], rows[column])) for column, title in columns.items()]
    return {"fig-8": panels(frames, x="positive examples", y="", x_scale="log", share_y=False)}


EXPERIMENTS = (
    Experiment(
        name="adaptive/fig-7",
        subject="stored examples against the difficulty of each topic",
        time="2 min",
        sweep=SWEEP,
        run=with_difficulty,
        claims=(
            Claim(
                "SSMD stores more on topics that are more difficult",
                both(
                    at_least(_rank_correlation("stored", "norm"), 0.5, open=True),
                    at_most(_p_value("stored", "norm"), 0.01, open=True),
                ),
                "clearly",
                "rank correlation over topics with the norm of the SVM",
            ),
            Claim(
                "topics of nearly the same norm are stored alike even if their positives are not as many",
                at_most(_factor_between_alike, 1.25),
                "similar",
                "norms within 10 %, positives twofold apart; median factor between stored",
            ),
        ),
        figures=_draw_7,
        data=NEWS,
    ),
    Experiment(
        name="adaptive/fig-8",
        subject="F-measure and label rate of each topic against its frequency",
        time="as long as fig-7, whose runs it takes where they are",
        sweep=SWEEP,
        run=with_difficulty,
        claims=(
            Claim(
                "the F-measure is fairly independent of the number of positive examples",
                between(_rank_correlation("f", "positive"), -0.3, 0.3),
                "fairly independent",
                "rank correlation over topics",
                why=_thirds("recall"),
            ),
            Claim(
                "this costs more and more labels: SSMD asks for a larger fraction on infrequent topics",
                both(
                    at_most(_rank_correlation("rate", "positive"), 0.0, open=True),
                    at_most(_p_value("rate", "positive"), 0.01, open=True),
                ),
                "many more labels",
                "rank correlation over topics",
                why=_thirds("rate"),
            ),
        ),
        figures=_draw_8,
        data=NEWS,
    ),
)
