"""What a record of samplers over news says: F-measures, choices made on other topics, comparisons at equal labels.

What it models: counts of a record become F, precision, recall and label rate, a number a topic; topics
are the replications of every interval, and compared samplers are paired over them.  A selection takes one row a topic
of the scores: at one value of a sampler's parameter, at a value chosen, or between two values at a label rate.  What
has to be chosen is chosen on the topics of the other half, those of odd rank for even ones and the other way round:
what counts has not been tuned on.
With no true positive F is 0 if anything was positive or predicted so, and otherwise left out of means.
What it leaves out: claims of one figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.claims import Beside, Measure, Record, named, steps_inside

__all__ = [
    "NAMES",
    "SAME",
    "Pick",
    "Select",
    "at_rate",
    "at_rates",
    "below_f",
    "cheapest_near",
    "chosen",
    "curves",
    "ends",
    "inside",
    "mean_by_value",
    "measured",
    "most_f",
    "of",
    "paired",
    "rate_near",
    "scored",
    "trade_off",
]

SAME = 0.02  # of F, mean paired difference: about the error of a topic's F with a few hundred positives
NEAR = 0.01
NAMES = {
    "sop": "2nd order, all labels",
    "perceptron": "Perceptron, all labels",
    "sop-ss": "2nd order",
    "perceptron-ss": "1st order",
    "sop-fixed-bias": "2nd order, fixed bias",
    "filter": "FILTER",
    "random-perceptron": "1st order, fixed bias",
    "sop-label-efficient": "SOLE",
    "dkm-perceptron": "DKMPERC",
    **{key: key.upper() for key in ("ss", "ssnci", "ssmd", "ssnl", "ffoat", "fsoat", "ffole", "fsole")},
}
Pick = Callable[[pd.DataFrame, pd.DataFrame], float]  # (means by value, all scores) of the other half -> value
Select = Callable[[pd.DataFrame], pd.DataFrame]  # scores -> a row a topic, none where there is no such thing


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


def mean_by_value(scores: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return means over topics, a row a value of the parameter."""
    return scores[scores["key"] == key].groupby("value").mean(numeric_only=True)


# -- selections --------------------------------------------------------------------------------------------------


def of(key: str, value: float | None = None) -> Select:
    """Select a sampler's rows, at one value of its parameter if that is given."""

    def select(scores: pd.DataFrame) -> pd.DataFrame:
        own = scores[scores["key"] == key]
        return (own if value is None else own[own["value"] == value]).set_index("rank").sort_index()

    return select


def chosen(key: str, pick: Pick) -> Select:
    """Select a sampler at the value that `pick` takes on the topics of the other half."""

    def select(scores: pd.DataFrame) -> pd.DataFrame:
        parts = []
        for half in (0, 1):
            others = scores[scores["rank"] % 2 != half]
            own = of(key, pick(mean_by_value(others, key), others))(scores)
            parts.append(own[own.index % 2 == half])
        return pd.concat(parts).sort_index()

    return select


def at_rate(key: str, rate: float) -> Select:
    """Select a sampler where it asks for `rate` on the mean, between two of its values.

    Interpolated in the logarithm of the mean rate, which every topic's row then states; no row where no two values
    enclose the rate.
    """

    def select(scores: pd.DataFrame) -> pd.DataFrame:
        means = mean_by_value(scores, key).sort_values("rate")
        rates = means["rate"].to_numpy()
        above = int(np.searchsorted(rates, rate))
        if not 0 < above < len(rates):
            return scores.iloc[:0]
        share = float(np.log(rate / rates[above - 1]) / np.log(rates[above] / rates[above - 1]))
        low, high = (
            of(key, float(means.index[at]))(scores).select_dtypes("number").drop(columns="value")
            for at in (above - 1, above)
        )
        return ((1.0 - share) * low + share * high).assign(rate=rate)

    return select


def cheapest_near(reference: str) -> Pick:
    """Take the value with fewest labels whose mean F is within .01 of the reference's, or else that of best F."""

    def pick(table: pd.DataFrame, others: pd.DataFrame) -> float:
        good = table[table["f"] >= mean_by_value(others, reference)["f"].iloc[0] - NEAR]
        best: Any = good["rate"].idxmin() if len(good) else table["f"].idxmax()
        return float(best)

    return pick


def most_f(most_rate: float = 1.0) -> Pick:
    """Take the value of best mean F, of those that ask for at most such a share of the labels."""

    def pick(table: pd.DataFrame, _: pd.DataFrame) -> float:
        best: Any = table.loc[table["rate"] <= most_rate, "f"].idxmax()
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


# -- measures ----------------------------------------------------------------------------------------------------


def paired(column: str, ours: Select, theirs: Select, *, percent: bool = False) -> Measure:
    """Measure the difference of a column between two selections, topic by topic, beside both means and label rates."""
    scale = 100.0 if percent else 1.0

    def measure(record: Record) -> dict[str, Any]:
        scores = scored(record)
        rows = [ours(scores), theirs(scores)]
        if not all(map(len, rows)):
            return {}
        difference = scale * (rows[0][column] - rows[1][column])
        means = [f"{own[column].mean():.3g} with {100 * own['rate'].mean():.3g} % of the labels" for own in rows]
        return {"": Beside(difference, f"({' against '.join(means)})")}

    return measure


def at_rates(column: str, ours: str, theirs: str, rates: Sequence[float]) -> Measure:
    """Measure such differences where both samplers ask for each of these rates, as far as both reach it."""
    return named({f"at {100 * rate:g} %": paired(column, at_rate(ours, rate), at_rate(theirs, rate)) for rate in rates})


def inside(selections: Mapping[str, Select]) -> Measure:
    """Measure how far inside its grid every chosen parameter lies, by the sampler's key."""

    def measure(record: Record) -> dict[str, Any]:
        scores = scored(record)
        return {
            NAMES[key]: steps_inside(select(scores)["value"], scores.loc[scores["key"] == key, "value"])
            for key, select in selections.items()
        }

    return measure


def ends(record: Record, column: str, selection: pd.DataFrame, key: str, *, first: bool = False) -> pd.Series:
    """Return a column of the last window (or the first) by topic, at the values of a selection."""
    windows = scored(record, "windows")
    edge = windows["t"].min() if first else windows["t"].max()
    own = windows[(windows["key"] == key) & (windows["t"] == edge)].set_index(["rank", "value"])
    keys = list(zip(selection.index, selection["value"], strict=True))
    return pd.Series(own.loc[keys, column].to_numpy(), index=selection.index)


# -- pictures --------------------------------------------------------------------------------------------------


def curves(record: Record, groups: Iterable[tuple[str, str, float | None]], columns: Mapping[str, str]) -> Figure:
    """Draw means over topics of the windows: a panel a column, a line a (name, key, value)."""
    windows = scored(record, "windows")
    width = int(windows["rounds"].max())
    frames = []
    lines = list(groups)
    for column, title in columns.items():
        rows = []
        for name, key, value in lines:
            own = windows[windows["key"] == key]
            own = own if value is None else own[np.isclose(own["value"], value)]
            if column == "rate" and len(own) and bool((own["rate"] == 1.0).all()):
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
        level = float(of(key)(scores)["f"].mean())
        rows += [{"group": NAMES[key], "x": x, "y": level, "reference": True} for x in (min(rates), max(rates))]
    return pd.DataFrame(rows).assign(half_width=np.nan)
