"""Figure 6 of Cavallanti, Cesa-Bianchi and Gentile 2010: where three samplers spend their labels.

What it models: section 3.1.  SSMD, SOLE and DKMPERC over time, (a) each asking for about 5 % of the labels,
(b) each with the same F-measure in the end, which is the largest that the worst of them can reach (.60 in
the paper).  Both settings are chosen on the other half of the topics.
What it leaves out: other samplers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.papers import news
from experiments.papers.adaptive.sampling import AS_LONG, EVERY, MIDDLE, OVER_TIME
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment
from experiments.papers.news import NEWS
from experiments.papers.predicates import above, at_least, at_most, below, between, both, each, wide_enough

__all__ = ["EXPERIMENTS"]

THREE = ("ssmd", "sop-label-efficient", "dkm-perceptron")
AT_FIVE = {key: news.chosen(key, news.rate_near(MIDDLE)) for key in THREE}


def _finals(record: Record) -> pd.DataFrame:
    """F of the last window beside the label rate of the whole stream."""
    windows = news.scored(record, "windows")
    final = windows[windows["t"] == windows["t"].max()].drop(columns=["queried", "rate"])
    rates = news.scored(record)[["rank", "key", "value", "rate"]]
    found: pd.DataFrame = final.merge(rates, on=["rank", "key", "value"])
    return found


def _reach(scores: pd.DataFrame) -> float:
    """The largest F that the worst of the three can reach."""
    return min(float(news.mean_by_value(scores, key)["f"].max()) for key in THREE)


def _equal_f(table: pd.DataFrame, others: pd.DataFrame) -> float:
    """The value whose last F is nearest to what the worst of the three can reach."""
    nearest: Any = (table["f"] - _reach(others)).abs().idxmin()
    return float(nearest)


def _at_five(record: Record) -> dict[str, pd.DataFrame]:
    scores = news.scored(record)
    return {key: select(scores) for key, select in AT_FIVE.items()}


def _at_equal_f(record: Record) -> dict[str, pd.DataFrame]:
    final = _finals(record)
    return {key: news.chosen(key, _equal_f)(final) for key in THREE}


def _profile(record: Record, key: str, rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column of windows from the first round on that do not overlap: a row a topic, a column a window."""
    windows = news.scored(record, "windows")
    own = windows[windows["key"] == key].merge(rows["value"].reset_index(), on=["rank", "value"])
    table = own.pivot(index="rank", columns="t", values=column)
    return table[list(table.columns)[::4]]


def _by_window(table: pd.DataFrame) -> str:
    return f"(by window {', '.join(f'{value:.3g}' for value in table.mean())})"


def _early_share(record: Record) -> dict[str, Any]:
    """The best F of a window of the first half over the last one's, means over topics."""
    profile = _profile(record, "ssmd", _at_five(record)["ssmd"], "f")
    mean = profile.mean()
    return {"": Noted(mean.iloc[: max(1, len(mean) // 2)].max() / mean.iloc[-1], _by_window(profile))}


def _first_two_windows(record: Record) -> dict[str, Any]:
    parts = {key: _profile(record, key, rows, "f").iloc[:, :2].mean(axis=1) for key, rows in _at_five(record).items()}
    rival = max(THREE[1:], key=lambda key: float(parts[key].mean()))
    words = f"({parts['ssmd'].mean():.3f} against {parts[rival].mean():.3f} of {news.NAMES[rival]})"
    return {"": Noted(parts["ssmd"] - parts[rival], words)}


def _from_the_middle_on(column: str) -> Measure:
    """What the last window has more than that in the middle."""

    def measure(record: Record) -> dict[str, Any]:
        table = _profile(record, "ssmd", _at_five(record)["ssmd"], column)
        return {column: Noted(table.iloc[:, -1] - table.iloc[:, len(table.columns) // 2], _by_window(table))}

    return measure


def _first_window(record: Record) -> dict[str, Any]:
    """Label rate of the first window over that of all, of the two that ask more at first."""
    found = {}
    for key in ("ssmd", "dkm-perceptron"):
        rates = _profile(record, key, _at_five(record)[key], "rate")
        found[news.NAMES[key]] = Noted(rates.mean().iloc[0] / rates.mean().mean(), _by_window(100 * rates))
    return found


def _every_window(record: Record) -> dict[str, Any]:
    """Label rates of SOLE's windows over their mean."""
    rates = _profile(record, "sop-label-efficient", _at_five(record)["sop-label-efficient"], "rate").mean()
    return {news.NAMES["sop-label-efficient"]: rates / rates.mean()}


def _spread_of_f(record: Record) -> dict[str, Any]:
    f = {key: float(rows["f"].mean()) for key, rows in _at_equal_f(record).items()}
    words = ", ".join(f"{news.NAMES[key]} {value:.3f}" for key, value in f.items())
    return {"": Noted(max(f.values()) - min(f.values()), f"({words} in the last window)")}


def _labels_less_dkm(key: str) -> Measure:
    def measure(record: Record) -> dict[str, Any]:
        rows = _at_equal_f(record)
        ours, theirs = 100 * rows[key]["rate"], 100 * rows["dkm-perceptron"]["rate"]
        return {"": Noted(ours - theirs, f"({ours.mean():.1f} against {theirs.mean():.1f} %)")}

    return measure


def _least_rates(record: Record) -> str:
    """Say with how few labels each comes within .01 of that F, over all topics."""
    final, words = _finals(record), []
    for key in THREE:
        table = news.mean_by_value(final, key)
        rate = table.loc[table["f"] >= _reach(final) - 0.01, "rate"].min()
        words.append(f"{news.NAMES[key]} {100 * rate:.1f} %")
    return f"over all topics the fewest labels within .01 of that F are {', '.join(words)}"


def _first_share(record: Record) -> dict[str, Any]:
    """Share of its labels that SSMD asks for in the first window, less that of SOLE."""
    tables = [_profile(record, key, rows, "rate") for key, rows in _at_equal_f(record).items()][:2]
    ours, theirs = (table.iloc[:, 0] / table.sum(axis=1) for table in tables)
    return {"": Noted(ours - theirs, f"({ours.mean():.3f} against {theirs.mean():.3f})")}


def _dkm_by_window(place: int) -> Measure:
    def measure(record: Record) -> dict[str, Any]:
        table = 100 * _profile(record, "dkm-perceptron", _at_equal_f(record)["dkm-perceptron"], "rate")
        if place == 0:
            return {"first": Noted(table.mean().iloc[0], _by_window(table))}
        return {"last less first": table.mean().iloc[-1] - table.mean().iloc[0]}

    return measure


def _draw_6(record: Record) -> Mapping[str, Figure]:
    found = {}
    for name, rows in (("fig-6-a", _at_five(record)), ("fig-6-b", _at_equal_f(record))):
        parts = []
        for key, own in rows.items():
            windows = record["windows"].merge(own["value"].reset_index(), on=["rank", "value"])
            parts.append(windows[windows["key"] == key])
        together = {"windows": pd.concat(parts, ignore_index=True)}
        found[name] = news.curves(together, [(news.NAMES[key], key, None) for key in THREE], OVER_TIME)
    return found


_FIVE = "parameters chosen on the other half of the topics for 5 % of the labels"
_EQUAL = "parameters chosen on the other half of the topics for the F that the worst of the three can reach"

EXPERIMENTS = (
    Experiment(
        name="adaptive/fig-6",
        subject="SSMD, SOLE and DKMPERC over time: at 5 % of the labels, and at equal final F",
        time=AS_LONG,
        **EVERY,
        claims=(
            Claim(
                "(a) all ask for around 5 % of the labels",
                between(
                    lambda record: {news.NAMES[key]: 100 * rows["rate"] for key, rows in _at_five(record).items()},
                    *(2.5, 10.0),
                    unit=" %",
                ),
                "around 5.0 %",
                _FIVE,
            ),
            Claim(
                "(a) SSMD learns most on the first part of the data",
                at_least(_early_share, 0.9),
                "most",
                f"the best window of the first half, over the last; {_FIVE}",
            ),
            Claim(
                "(a) SSMD has the most effective learning phase",
                above(_first_two_windows),
                "shortest and most effective",
                f"mean F of the first two windows, less that of the better other; {_FIVE}",
            ),
            Claim(
                "(a) SSMD is unaffected by observing progressively fewer labels",
                both(
                    at_least(_from_the_middle_on("f"), -news.SAME),
                    at_most(_from_the_middle_on("rate"), 0.0, open=True),
                ),
                "essentially unaffected",
                f"last window less that in the middle; {_FIVE}",
            ),
            Claim(
                "(a) SSMD and DKMPERC ask more on the first documents, SOLE always as much",
                both(at_least(_first_window, 1.5), each(_every_window, 0.5, 2.0)),
                "fixed number",
                f"label rates over the mean of all windows; {_FIVE}",
            ),
            Claim("(b) the three reach the same final F-measure", at_most(_spread_of_f, 0.05), "0.60", _EQUAL),
            *(
                Claim(
                    f"(b) {news.NAMES[key]} then asks for fewer labels than DKMPERC",
                    below(_labels_less_dkm(key), unit=" points"),
                    "smaller",
                    _EQUAL,
                    why=_least_rates,
                )
                for key in THREE[:2]
            ),
            Claim(
                "(b) SSMD asks slightly more in the initial phase than SOLE",
                above(_first_share),
                "slightly more",
                _EQUAL,
            ),
            Claim(
                "(b) DKMPERC asks for almost all labels at first and then slowly fewer",
                both(
                    at_least(_dkm_by_window(0), 80.0, unit=" %"),
                    at_most(_dkm_by_window(-1), 0.0, open=True, unit=" points"),
                ),
                "almost all",
                _EQUAL,
            ),
            wide_enough(news.inside(AT_FIVE)),
        ),
        figures=_draw_6,
        data=NEWS,
    ),
)
