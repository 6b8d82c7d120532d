"""Figures 7 and 8 of Cavallanti, Cesa-Bianchi and Gentile 2010: what a topic's difficulty and rarity cost.

What it models: section 3.1.  SSMD over every topic of at least 20 stories (57 of Reuters-21578; the paper has
102 of RCV1, 40,000 stories), with the norm of the weights of a soft-margin SVM, C = 1, on all stories of the
topic as its difficulty.  K is fixed in advance at .003, about 5 % of the labels of frequent topics, the rate of figure
6; a third of it and three times as much are run beside it.  The second-order Perceptron with all labels (SOP) says what
can be reached on a topic: rank correlations with the frequency are taken given its F as well (partial ones).
What it leaves out: any tuning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from experiments.papers import news
from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment, Rows
from experiments.papers.predicates import at_least, at_most, between, both

__all__ = ["EXPERIMENTS"]

AT = 0.003


def with_difficulty(task: dict[str, Any]) -> Rows:
    """Run the samplers over a topic, and a support vector machine for the norm of its weights."""
    from sklearn.svm import SVC  # slow to import, and needed here alone

    X, y, named = news.question(task)
    machine = SVC(C=1.0, kernel="linear").fit(X, y)
    weights = machine.coef_.toarray() if hasattr(machine.coef_, "toarray") else machine.coef_
    return {**news.run_cases(task), "norms": [{**named, "norm": float(np.linalg.norm(weights))}]}


CASES = (*news.grid("ssmd", "K", (0.001, AT, 0.01)), *news.ALL_LABELS[:1])
FIG_7 = Experiment(
    "adaptive/fig-7", "stored examples against the difficulty of each topic", "2 min", news.NEWS, run=with_difficulty,
    sweep=news.sweep(
        CASES, smoke=CASES, topics=news.ABOVE_20, smoke_topics=10, rcv1_stories=40_000
    ),
)  # fmt: skip
FIG_8 = FIG_7.view(
    "adaptive/fig-8", "F-measure and label rate of each topic against its frequency",
    "as long as fig-7, whose runs it takes where they are",
)  # fmt: skip


def _by_topic(record: Record, value: float = AT) -> pd.DataFrame:
    rows = news.of("ssmd", value)(news.scored(record))
    return rows.join(record["norms"].set_index("rank")["norm"]) if "norms" in record else rows


def _spearman(record: Record, one: str, other: str, value: float = AT) -> Any:
    rows = _by_topic(record, value)[[one, other]].dropna()
    return spearmanr(rows[one], rows[other])


def _rank_correlation(record: Record, one: str, other: str) -> Any:
    """Spearman's rho over topics at K = .003, beside that at the other values."""
    values = sorted(set(record["totals"].loc[record["totals"]["key"] == "ssmd", "value"]))
    rhos = {value: _spearman(record, one, other, value) for value in values}
    others = ", ".join(f"{rho.statistic:+.2f} at K = {value:g}" for value, rho in rhos.items() if value != AT)
    return {"rank correlation": Noted(rhos[AT].statistic, f"(p = {rhos[AT].pvalue:.1g}; {others})")}


def _p_value(record: Record, one: str, other: str) -> Any:
    return {"p": float(_spearman(record, one, other).pvalue)}


def _correlated(statement: str, one: str, other: str, test: Any, printed: str, reason: str, why: Any = None) -> Claim:
    p_value = at_most(partial(_p_value, one=one, other=other), 0.01, open=True)
    return Claim(
        statement, both(test(partial(_rank_correlation, one=one, other=other), open=True), p_value), printed, reason,
        why=why,
    )  # fmt: skip


FIG_7.claims.append(
    _correlated("SSMD stores more on topics that are more difficult", "stored", "norm", partial(at_least, limit=0.5),
                "clearly", "rank correlation over topics with the norm of the SVM")
)  # fmt: skip


@FIG_7.claim(
    "topics of nearly the same norm are stored alike even if their positives are not as many", at_most, "similar",
    "norms within 10 %, positives twofold apart; median factor between stored", limit=1.25,
)  # fmt: skip
def _factor_between_alike(record: Record) -> Noted | None:
    rows = _by_topic(record)
    one, other = np.triu_indices(len(rows), 1)

    def factor(column: str) -> Any:
        values = rows[column].to_numpy(dtype=float)
        return np.maximum(values[one], values[other]) / np.minimum(values[one], values[other])

    alike = (factor("norm") <= np.exp(0.1)) & (factor("positive") >= 2.0)
    if not alike.any():
        return None
    ratios = factor("stored")[alike]
    words = f"({len(ratios)} pairs; a quarter of them differ by more than {np.quantile(ratios, 0.75):.2f})"
    return Noted(np.median(ratios), words)


def _thirds(record: Record, column: str) -> str:
    """Say the means of a column on the rarest third of the topics, and on the most frequent."""
    rows = _by_topic(record).sort_values("positive")[column]
    third = len(rows) // 3
    means = {"rarest": rows[:third].mean(), "most frequent": rows[-third:].mean()}
    return f"{column} " + ", ".join(f"{value:.3f} on the {name} third" for name, value in means.items())


def _given_all_labels(record: Record) -> Noted:
    """Spearman's rho of F and the number of positives given F with all labels: of the residuals of ranks."""
    rows = _by_topic(record)[["f", "positive"]].join(news.of("sop")(news.scored(record))["f"].rename("sop")).dropna()
    ranks = rows.rank()
    left: Any = [
        ranks[one] - np.polyval(np.polyfit(ranks["sop"], ranks[one], 1), ranks["sop"]) for one in ("f", "positive")
    ]
    words = ", ".join(f"{rows[one].corr(rows['positive'], method='spearman'):+.2f} of {name}"
                      for one, name in (("f", "SSMD's"), ("sop", "SOP's")))  # fmt: skip
    return Noted(float(np.corrcoef(*left)[0, 1]), f"({words} without that)")


FIG_8.claims += [
    Claim("what SSMD's F-measure falls short of all labels is fairly independent of the number of positive examples",
          between(_given_all_labels, -0.3, 0.3), "fairly independent",
          "partial rank correlation over topics, given the F of SOP with all labels"),
    Claim("the F-measure is fairly independent of the number of positive examples",
          between(partial(_rank_correlation, one="f", other="positive"), -0.3, 0.3), "fairly independent",
          "rank correlation over topics", why=partial(_thirds, column="recall")),
    _correlated("this costs more and more labels: SSMD asks for a larger fraction on infrequent topics",
                "rate", "positive", partial(at_most, limit=0.0), "many more labels", "rank correlation over topics",
                partial(_thirds, column="rate")),
]  # fmt: skip


def _points(x: Any, y: Any) -> pd.DataFrame:
    return pd.DataFrame({"group": f"a topic; SSMD, K = {AT:g}", "x": x, "y": y, "points": True})


@FIG_7.picture("fig-7", x="topics, the most frequent first", y="", share_y=False)
def _by_rank(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    rows = _by_topic(record).sort_values("positive", ascending=False)
    for column, title in (("stored", "stored examples"), ("norm", "norm of the SVM")):
        yield title, _points(np.arange(1, len(rows) + 1), rows[column])


@FIG_8.picture("fig-8", x="positive examples", y="", x_scale="log", share_y=False)
def _by_frequency(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    rows = _by_topic(record)
    for column, title in (("f", "F-measure"), ("rate", "share of labels asked for")):
        yield title, _points(rows["positive"], rows[column])


EXPERIMENTS = (FIG_7, FIG_8)
