"""Figure 6 of Cavallanti, Cesa-Bianchi and Gentile 2010: where three samplers spend their labels.

What it models: section 3.1.  SSMD, SOLE and DKMPERC over time, (a) each asking for about 5 % of the labels,
(b) each with the same F-measure in the end, which is the largest that the worst of them can reach (.60 in
the paper).  Both settings are chosen on the other half of the topics.
What it leaves out: other samplers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.papers import news
from experiments.papers.adaptive.sampling import AS_LONG, FIG_3, MIDDLE, OVER_TIME
from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.news import NAMES, SAME
from experiments.papers.predicates import above, at_least, at_most, below, between, both, each, wide_enough

__all__ = ["EXPERIMENTS"]

THREE = SSMD, SOLE, DKMPERC = "ssmd", "sop-label-efficient", "dkm-perceptron"
AT_FIVE = {key: news.chosen(key, news.rate_near(MIDDLE)) for key in THREE}
FIG_6 = FIG_3.view(
    "adaptive/fig-6", "SSMD, SOLE and DKMPERC over time: at 5 % of the labels, and at equal final F", AS_LONG
)
FIVE = "parameters chosen on the other half of the topics for 5 % of the labels"
EQUAL = "the fewest labels within .01 of the F that the worst of the three can reach, chosen on other topics"


# -- settings ------------------------------------------------------------------------------------------------------


def _finals(record: Record) -> Any:
    """Return F of the last window beside the label rate of the whole stream."""
    windows = news.scored(record, "windows")
    final = windows[windows["t"] == windows["t"].max()].drop(columns=["queried", "rate"])
    return final.merge(news.scored(record)[["rank", "key", "value", "rate"]], on=["rank", "key", "value"])


def _reach(scores: pd.DataFrame) -> float:
    """Return the largest F that the worst of the three can reach."""
    return min(float(news.mean_by_value(scores, key)["f"].max()) for key in THREE)


def _cheapest(table: pd.DataFrame, others: pd.DataFrame) -> float:
    """Return the value of fewest labels whose last F is within .01 of what the worst of the three can reach."""
    good: Any = table.loc[table["f"] >= _reach(others) - news.NEAR, "rate"]
    return float(good.idxmin())


def _at_five(record: Record) -> dict[str, pd.DataFrame]:
    scores = news.scored(record)
    return {key: select(scores) for key, select in AT_FIVE.items()}


def _at_equal_f(record: Record) -> dict[str, pd.DataFrame]:
    final = _finals(record)
    return {key: news.chosen(key, _cheapest)(final) for key in THREE}


def _profiles(record: Record, selections: dict[str, pd.DataFrame], column: str) -> dict[str, pd.DataFrame]:
    """Return a column by sampler, of windows that do not overlap: a row a topic, a column a window."""
    windows, tables = news.scored(record, "windows"), {}
    for key, rows in selections.items():
        own = windows[windows["key"] == key].merge(rows["value"].reset_index(), on=["rank", "value"])
        table = own.pivot(index="rank", columns="t", values=column)
        tables[key] = table[list(table.columns)[::4]]
    return tables


def _by_window(table: pd.DataFrame) -> str:
    return f"(by window {', '.join(f'{value:.3g}' for value in table.mean())})"


# -- (a) at 5 % of the labels --------------------------------------------------------------------------------------


@FIG_6.claim("(a) all ask for around 5 % of the labels", between, "around 5.0 %", FIVE, low=2.5, high=10.0, unit=" %")
def _rates(record: Record) -> Any:
    return {NAMES[key]: 100 * rows["rate"] for key, rows in _at_five(record).items()}


@FIG_6.claim(
    "(a) SSMD learns most on the first part of the data", at_least, "most",
    f"the best window of the first half, over the last; {FIVE}", limit=0.5, open=True,
)  # fmt: skip
def _early_share(record: Record) -> Noted:
    table = _profiles(record, _at_five(record), "f")[SSMD]
    mean = table.mean()
    return Noted(mean.iloc[: max(1, len(mean) // 2)].max() / mean.iloc[-1], _by_window(table))


@FIG_6.claim(
    "(a) SSMD has the most effective learning phase", above, "shortest and most effective",
    f"mean F of the first two windows, less that of the better other; {FIVE}",
)  # fmt: skip
def _first_two_windows(record: Record) -> Noted:
    tables = _profiles(record, _at_five(record), "f")
    first = {key: table.iloc[:, :2].mean(axis=1) for key, table in tables.items()}
    rival = max(THREE[1:], key=lambda key: float(first[key].mean()))
    words = f"({first[SSMD].mean():.3f} against {first[rival].mean():.3f} of {NAMES[rival]})"
    return Noted(first[SSMD] - first[rival], words)


def _from_the_middle_on(record: Record, column: str) -> Any:
    """What the last window has more than that in the middle."""
    table = _profiles(record, _at_five(record), column)[SSMD]
    return {column: Noted(table.iloc[:, -1] - table.iloc[:, len(table.columns) // 2], _by_window(table))}


def _first_window(record: Record) -> Any:
    """Label rate of the first window over that of all, of the two that ask more at first."""
    rates = {key: 100 * table for key, table in _profiles(record, _at_five(record), "rate").items() if key != SOLE}
    return {
        NAMES[key]: Noted(own.mean().iloc[0] / own.mean().mean(), _by_window(own)) for key, own in rates.items()
    }  # fmt: skip


def _every_window(record: Record) -> Any:
    """Label rates of SOLE's windows over their mean."""
    rates = _profiles(record, _at_five(record), "rate")[SOLE].mean()
    return {NAMES[SOLE]: rates / rates.mean()}


FIG_6.claims += [
    Claim("(a) SSMD is unaffected by observing progressively fewer labels",
          both(at_least(partial(_from_the_middle_on, column="f"), -SAME),
               at_most(partial(_from_the_middle_on, column="rate"), 0.0, open=True)),
          "essentially unaffected", f"last window less that in the middle; {FIVE}"),
    Claim("(a) SSMD and DKMPERC ask more on the first documents, SOLE always as much",
          both(at_least(_first_window, 1.5), each(_every_window, 0.5, 2.0)),
          "fixed number", f"label rates over the mean of all windows; {FIVE}"),
]  # fmt: skip

# -- (b) at the same final F-measure -------------------------------------------------------------------------------


@FIG_6.claim(
    "(b) the three reach the same final F-measure", at_most, "0.60", EQUAL, limit=0.05,
    no_test="their parameters are chosen for it",
)  # fmt: skip
def _spread_of_f(record: Record) -> Noted:
    f = {key: float(rows["f"].mean()) for key, rows in _at_equal_f(record).items()}
    words = ", ".join(f"{NAMES[key]} {value:.3f}" for key, value in f.items())
    return Noted(max(f.values()) - min(f.values()), f"({words} in the last window)")


def _labels_less_dkm(record: Record, key: str) -> Noted:
    rows = _at_equal_f(record)
    ours, theirs = 100 * rows[key]["rate"], 100 * rows[DKMPERC]["rate"]
    return Noted(ours - theirs, f"({ours.mean():.1f} against {theirs.mean():.1f} %)")


def _least_rates(record: Record) -> str:
    """Say with how few labels each comes within .01 of that F, over all topics."""
    final = _finals(record)
    tables = {key: news.mean_by_value(final, key) for key in THREE}
    rates = {key: 100 * own.loc[own["f"] >= _reach(final) - 0.01, "rate"].min() for key, own in tables.items()}
    words = ", ".join(f"{NAMES[key]} {rate:.1f} %" for key, rate in rates.items())
    return f"over all topics the fewest labels within .01 of that F are {words}"


FIG_6.claims += [
    Claim(f"(b) {NAMES[key]} then asks for fewer labels than DKMPERC",
          below(partial(_labels_less_dkm, key=key), unit=" points"), "smaller", EQUAL, why=_least_rates)
    for key in THREE[:2]
]  # fmt: skip


@FIG_6.claim("(b) SSMD asks slightly more in the initial phase than SOLE", above, "slightly more", EQUAL)
def _first_share(record: Record) -> Noted:
    """Share of its labels that SSMD asks for in the first window, less that of SOLE."""
    tables = _profiles(record, _at_equal_f(record), "rate")
    ours, theirs = (tables[key].iloc[:, 0] / tables[key].sum(axis=1) for key in THREE[:2])
    return Noted(ours - theirs, f"({ours.mean():.3f} against {theirs.mean():.3f})")


def _dkm_rates(record: Record) -> pd.DataFrame:
    return 100 * _profiles(record, _at_equal_f(record), "rate")[DKMPERC]


def _dkm_first(record: Record) -> Any:
    table = _dkm_rates(record)
    return {"first": Noted(table.mean().iloc[0], _by_window(table))}


def _dkm_change(record: Record) -> Any:
    means = _dkm_rates(record).mean()
    return {"last less first": means.iloc[-1] - means.iloc[0]}


FIG_6.claims += [
    Claim("(b) DKMPERC asks for almost all labels at first and then slowly fewer",
          both(at_least(_dkm_first, 80.0, unit=" %"), at_most(_dkm_change, 0.0, open=True, unit=" points")),
          "almost all", EQUAL),
    wide_enough(news.inside(AT_FIVE)),
]  # fmt: skip


def _over_time(record: Record, at: Any) -> Figure:
    parts = []
    for key, own in at(record).items():
        windows = record["windows"].merge(own["value"].reset_index(), on=["rank", "value"])
        parts.append(windows[windows["key"] == key])
    return news.curves(
        {"windows": pd.concat(parts, ignore_index=True)}, [(NAMES[k], k, None) for k in THREE], OVER_TIME
    )


FIG_6.picture("fig-6-a")(partial(_over_time, at=_at_five))
FIG_6.picture("fig-6-b")(partial(_over_time, at=_at_equal_f))

EXPERIMENTS = (FIG_6,)
