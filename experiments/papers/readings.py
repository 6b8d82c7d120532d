"""What a record of samplers over news says: F-measures, choices made on other topics, comparisons at equal labels.

What it models: counts of a record become F, precision, recall and label rate, a number a topic; topics
are the replications of every interval, and compared samplers are paired over them.  A parameter that a claim needs
chosen is chosen on the topics of the other half, those of odd rank for even ones and the other
way round: what counts has not been tuned on.
With no true positive F is 0 if anything was positive or predicted so, and otherwise left out of means.
What it leaves out: claims of one figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.registry import Record, Verdict
from experiments.papers.verdicts import shown
from experiments.study.compare import estimate

__all__ = [
    "NAMES", "SAME", "SIGN", "TIE", "Pick", "ahead", "at_rate", "below_f", "cheapest_near", "chosen", "curves", "ends",
    "mean_by_value", "measured", "of", "paired", "rate_near", "scored", "trade_off", "within",
]  # fmt: skip

SAME = 0.02
NEAR = 0.01
TIE = f"mean paired difference at least -{SAME}: about the error of a topic's F with a few hundred positives"
SIGN = "whole 95 % interval of the paired difference over topics"
NAMES = {
    "sop": "2nd order, all labels", "perceptron": "Perceptron, all labels", "sop-ss": "2nd order",
    "perceptron-ss": "1st order", "sop-fixed-bias": "2nd order, fixed bias",
    "random-perceptron": "1st order, fixed bias",
    "ss": "SS", "ssnci": "SSNCI", "ssmd": "SSMD", "ssnl": "SSNL", "sop-label-efficient": "SOLE",
    "dkm-perceptron": "DKMPERC", "filter": "FILTER", "ffoat": "FFOAT", "fsoat": "FSOAT", "ffole": "FFOLE",
    "fsole": "FSOLE",
}  # fmt: skip
Pick = Callable[[pd.DataFrame, pd.DataFrame], float]  # (means by value, all scores) of the other half -> value


def measured(frame: pd.DataFrame) -> pd.DataFrame:
    """Add f, precision, recall and rate to rows of counts."""
    total = (frame["predicted"] + frame["positive"]).to_numpy(dtype=float)
    tp = frame["tp"].to_numpy(dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return frame.assign(
            f=np.where(total > 0, 2.0 * tp / total, np.nan),
            precision=tp / frame["predicted"].to_numpy(dtype=float),
            recall=tp / frame["positive"].to_numpy(dtype=float),
            rate=frame["queried"] / frame["rounds"],
        )


def scored(record: Record, table: str = "totals") -> pd.DataFrame:
    """Return a row a topic, sampler, value (and window), averaged over coins."""
    by = ["rank", "topic", "key", "value", *(["t"] if table == "windows" else [])]
    rows = measured(record[table].assign(value=record[table]["value"].fillna(0.0)))
    return rows.groupby(by, sort=False, as_index=False).mean(numeric_only=True).drop(columns="run")


def of(scores: pd.DataFrame, key: str, value: float | None = None) -> pd.DataFrame:
    """Return one sampler's rows by rank of the topic."""
    own = scores[scores["key"] == key]
    return (own if value is None else own[own["value"] == value]).set_index("rank").sort_index()


def mean_by_value(scores: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return means over topics, a row a value of the parameter."""
    own = scores[scores["key"] == key]
    return own.groupby("value").mean(numeric_only=True)


def chosen(scores: pd.DataFrame, key: str, pick: Pick) -> pd.DataFrame:
    """Return one row a topic, at the value that `pick` takes on the topics of the other half."""
    parts = []
    for half in (0, 1):
        others = scores[scores["rank"] % 2 != half]
        value = pick(mean_by_value(others, key), others)
        own = of(scores, key, value)
        parts.append(own[own.index % 2 == half])
    return pd.concat(parts).sort_index()


def cheapest_near(reference: str) -> Pick:
    """Take the value with fewest labels whose mean F is within .01 of the reference's, or else that of best F."""

    def pick(table: pd.DataFrame, others: pd.DataFrame) -> float:
        good = table[table["f"] >= mean_by_value(others, reference)["f"].iloc[0] - NEAR]
        best: Any = good["rate"].idxmin() if len(good) else table["f"].idxmax()
        return float(best)

    return pick


def rate_near(target: float) -> Pick:
    """Take the value whose mean label rate is nearest the target, in ratio."""
    return lambda table, _: float(np.abs(np.log(table["rate"] / target)).idxmin())


def below_f(target: Callable[[pd.DataFrame], float]) -> Pick:
    """Take the value whose mean F is the largest not above the target on these topics, or else the nearest."""

    def pick(table: pd.DataFrame, others: pd.DataFrame) -> float:
        limit = target(others)
        under = table[table["f"] <= limit]
        best: Any = under["f"].idxmax() if len(under) else (table["f"] - limit).abs().idxmin()
        return float(best)

    return pick


def at_rate(scores: pd.DataFrame, key: str, rate: float, column: str = "f") -> pd.Series | None:
    """Return a column by topic where the sampler asks for `rate` on the mean, between two of its values.

    Interpolated in the logarithm of the mean rate; None where no two values enclose the rate.
    """
    means = mean_by_value(scores, key).sort_values("rate")
    rates = means["rate"].to_numpy()
    above = int(np.searchsorted(rates, rate))
    if not 0 < above < len(rates):
        return None
    share = float(np.log(rate / rates[above - 1]) / np.log(rates[above] / rates[above - 1]))
    low, high = (of(scores, key, float(means.index[at]))[column] for at in (above - 1, above))
    found: pd.Series = (1.0 - share) * low + share * high
    return found


def paired(ours: pd.Series, theirs: pd.Series) -> Any:
    """Return the mean paired difference over topics with its interval."""
    return estimate((ours - theirs).dropna().to_numpy())


def ahead(ours: pd.Series, theirs: pd.Series, more: str = "", digits: int = 3) -> Verdict:
    """Hold that ours is larger: the whole interval of the paired difference over topics is above 0."""
    found, difference = paired(ours, theirs), (ours - theirs).dropna()
    behind = int((difference < 0).sum())
    return Verdict(
        f"{shown(found, digits)} ({ours.mean():.3f} against {theirs.mean():.3f}{more})",
        found.mean - np.nan_to_num(found.half_width) > 0.0,
        f"larger on {int((difference > 0).sum())} topics, smaller on {behind} of {len(difference)}, "
        f"from {difference.min():+.3f} over {difference.median():+.3f} in the middle to {difference.max():+.3f}",
    )


def within(ours: pd.Series, theirs: pd.Series, more: str = "", limit: float = SAME) -> Verdict:
    """Hold that ours is not much lower: the mean paired difference is at least -limit."""
    found, difference = paired(ours, theirs), (ours - theirs).dropna()
    return Verdict(
        f"{shown(found, 3)} ({ours.mean():.3f} against {theirs.mean():.3f}{more})", bool(found.mean >= -limit),
        f"{int((difference < -limit).sum())} of {len(difference)} topics are further below, "
        f"the worst by {-difference.min():.3f}",
    )  # fmt: skip


def ends(record: Record, column: str, selection: pd.DataFrame, key: str, *, first: bool = False) -> pd.Series:
    """Return a column of the last window (or the first) by topic, at the values of a selection."""
    windows = scored(record, "windows")
    edge = windows["t"].min() if first else windows["t"].max()
    own = windows[(windows["key"] == key) & (windows["t"] == edge)].set_index(["rank", "value"])
    keys = list(zip(selection.index, selection["value"], strict=True))
    return pd.Series(own.loc[keys, column].to_numpy(), index=selection.index)


# -- pictures --------------------------------------------------------------------------------------------------


def curves(record: Record, groups: Sequence[tuple[str, str, float | None]], columns: Mapping[str, str]) -> Figure:
    """Draw means over topics of the windows: a panel a column, a line a (name, key, value)."""
    windows = scored(record, "windows")
    width = int(windows["rounds"].max())
    frames = []
    for column, title in columns.items():
        rows = []
        for name, key, value in groups:
            own = windows[windows["key"] == key]
            own = own if value is None else own[np.isclose(own["value"], value)]
            if column in ("rate",) and len(own) and bool((own["rate"] == 1.0).all()):
                continue
            mean = own.groupby("t")[column].mean()
            rows += [{"group": name, "x": t, "y": y, "half_width": np.nan} for t, y in mean.items()]
        frames.append((title, pd.DataFrame(rows, columns=["group", "x", "y", "half_width"])))
    return panels(frames, x="stories", y=f"mean over topics, last {width:,} stories", share_y=False)


def trade_off(scores: pd.DataFrame, keys: Sequence[str], references: Sequence[str] = ()) -> pd.DataFrame:
    """Return F against label rate, means over topics: a line a sampler, a level line a reference."""
    rows, rates = [], []
    for key in keys:
        for row in mean_by_value(scores, key).to_dict("records"):
            rates.append(100.0 * row["rate"])
            rows.append({"group": NAMES[key], "x": 100.0 * row["rate"], "y": row["f"], "reference": False})
    for key in references:
        level = float(of(scores, key)["f"].mean())
        rows += [{"group": NAMES[key], "x": x, "y": level, "reference": True} for x in (min(rates), max(rates))]
    return pd.DataFrame(rows).assign(half_width=np.nan)
