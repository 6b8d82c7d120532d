"""Figures 2 and 3 of Cesa-Bianchi 2007: selective sampling with least squares, on news.

What it models: section 4.  Figure 2: SS, which asks where the margin is at most c sqrt(ln t/N), c = 5 as
printed (K = c^2 = 25) and c = 1 beside it, the Perceptron and the second-order Perceptron with all
labels.  Figure 3: the label-efficient second-order Perceptron, coin C/(C + margin), over C.  a = 1, unit instances.
What it leaves out: the full least-squares classifier, as the paper does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.papers import readings as read
from experiments.papers.news import NEWS, Case, run_cases, sweep
from experiments.papers.registry import Claim, Experiment, Record, Verdict
from experiments.papers.verdicts import shown
from experiments.study.compare import estimate

__all__ = ["EXPERIMENTS"]

PRINTED, BESIDE = 25.0, 1.0  # K = c^2
C = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHOWN = (0.03, 0.1, 0.3, 1.0)  # what the figure displays is not printed
ALL: tuple[Case, ...] = (("sop", {}, 1), ("perceptron", {}, 1))
LEAST_SQUARES: tuple[Case, ...] = tuple(("ss", {"K": value}, 1) for value in (BESIDE, PRINTED))
EFFICIENT: tuple[Case, ...] = tuple(("sop-label-efficient", {"C": value}, 1) for value in C)


# -- what a record says ------------------------------------------------------------------------------------------


def _last_f(record: Record, key: str, value: float = 0.0) -> Any:
    rows = read.of(read.scored(record), key, value)
    return read.ends(record, "f", rows, key)


def _eventually_as_good(record: Record) -> Verdict:
    ours, theirs = _last_f(record, "ss", PRINTED), _last_f(record, "sop")
    smaller = read.paired(_last_f(record, "ss", BESIDE), theirs)
    verdict = read.within(ours, theirs)
    return verdict._replace(why_not=f"{verdict.why_not}; with c = 1 {shown(smaller, 3)}")


def _same_overall(record: Record) -> Verdict:
    scores = read.scored(record)
    return read.within(read.of(scores, "ss", PRINTED)["f"], read.of(scores, "sop")["f"])


def _above_perceptron(record: Record) -> Verdict:
    scores = read.scored(record)
    return read.ahead(read.of(scores, "ss", PRINTED)["f"], read.of(scores, "perceptron")["f"])


def _rate_falls(record: Record) -> Verdict:
    windows = read.scored(record, "windows")
    words, last = [], {}
    for value in (PRINTED, BESIDE):
        own = windows[(windows["key"] == "ss") & (windows["value"] == value)]
        mean = 100 * own.groupby("t")["rate"].mean()
        last[value] = float(mean.iloc[-1] / mean.iloc[0])
        words.append(
            f"c = {np.sqrt(value):g}: {mean.iloc[0]:.1f} % of the first window, {mean.iloc[-1]:.1f} % of the last"
        )
    return Verdict("; ".join(words), last[PRINTED] <= 0.5, "; ".join(words))


def _no_worse(record: Record) -> Verdict:
    scores = read.scored(record)
    full = read.of(scores, "sop")["f"]
    words, holds = [], []
    for value in [value for value in SHOWN if value in set(scores["value"])]:
        rows = read.of(scores, "sop-label-efficient", value)
        found = read.paired(rows["f"], full)
        words.append(f"C = {value:g}: {shown(found, 3)} at {100 * rows['rate'].mean():.0f} %")
        holds.append(found.mean >= -read.SAME)
    lower = [
        value for value in sorted(set(scores.loc[scores["key"] == "sop-label-efficient", "value"])) if value < SHOWN[0]
    ]
    beyond = ", ".join(
        f"{read.paired(read.of(scores, 'sop-label-efficient', value)['f'], full).mean:+.3f} at C = {value:g}"
        for value in lower
    )
    return Verdict("; ".join(words), all(holds), f"near for {sum(holds)} of {len(holds)} values; below them {beyond}")


def _many_unobserved(record: Record) -> Verdict:
    scores = read.scored(record)
    table = read.mean_by_value(scores, "sop-label-efficient")
    sparing = table[table["rate"] <= 2.0 / 3.0]
    if sparing.empty:
        return Verdict("no C leaves a third of the labels unobserved", False)
    value: Any = sparing["rate"].idxmax()
    rows = read.of(scores, "sop-label-efficient", float(value))
    return read.within(
        rows["f"], read.of(scores, "sop")["f"], f"; C = {value:g}, {100 * (1 - rows['rate'].mean()):.0f} % unobserved"
    )


def _drops_faster(record: Record) -> Verdict:
    """Last window's label rate over the first one's, by C."""
    windows = read.scored(record, "windows")
    own = windows[windows["key"] == "sop-label-efficient"]
    shares = {}
    for value, part in own.groupby("value"):
        mean = part.groupby("t")["rate"].mean()
        shares[value] = estimate([mean.iloc[-1] / mean.iloc[0]]).mean
    words = ", ".join(f"{share:.2f} at C = {value:g}" for value, share in shares.items())
    ratios = list(shares.values())
    return Verdict(f"last window's rate to the first's: {words}", bool(np.all(np.diff(ratios) > 0)), words)


def _draw_2(record: Record) -> Mapping[str, Figure]:
    groups = [
        (f"selective sampling, c = {np.sqrt(value):g}", "ss", value) for value in (PRINTED, BESIDE)
    ] + [(read.NAMES[key], key, None) for key in ("sop", "perceptron")]  # fmt: skip
    return {"fig-2": read.curves(record, groups, {"f": "F-measure", "rate": "labels asked for"})}


def _draw_3(record: Record) -> Mapping[str, Figure]:
    values = [value for value in SHOWN if value in set(record["totals"]["value"])]
    groups: list[tuple[str, str, float | None]] = [(f"C = {value:g}", "sop-label-efficient", value) for value in values]
    groups.append((read.NAMES["sop"], "sop", None))
    return {"fig-3": read.curves(record, groups, {"f": "F-measure", "rate": "labels asked for"})}


def _claim(statement: str, check: Any, printed: str, tolerance: str = read.TIE) -> Claim:
    return Claim(statement=statement, check=check, printed=printed, tolerance=tolerance)


EXPERIMENTS = (
    Experiment(
        name="rls/fig-2", claim="selective sampling with c = 5 beside Perceptrons with all labels", time="4 min",
        sweep=sweep((*ALL, *LEAST_SQUARES), smoke=(*ALL, *LEAST_SQUARES), smoke_topics=2), run=run_cases,
        claims=(
            _claim(
                "selective sampling eventually reaches the performance of the second-order Perceptron",
                _eventually_as_good, "eventually reaches", f"last window; {read.TIE}",
            ),
            _claim(
                "c = 5 works well: the same F-measure as the second-order Perceptron over the stream", _same_overall,
                "works well",
            ),
            _claim("it is above the Perceptron", _above_perceptron, "figure 2", read.SIGN),
            _claim(
                "its label rate decreases very fast", _rate_falls, "very fast",
                "c = 5: in the last window at most half of that in the first, means over topics",
            ),
        ),
        figures=_draw_2, **NEWS,
    ),
    Experiment(
        name="rls/fig-3", claim="the label-efficient second-order Perceptron, several C", time="1 min",
        sweep=sweep((*ALL[:1], *EFFICIENT), smoke=(*ALL[:1], *EFFICIENT[::2])), run=run_cases,
        claims=(
            _claim(
                "for the values of C displayed the performance does not get significantly worse as C decreases",
                _no_worse, "not significantly", f"C = .03 to 1, each: {read.TIE}",
            ),
            _claim(
                "no significant decrease where a significant fraction of the labels is not observed",
                _many_unobserved, "no significant decrease",
                f"the largest C that leaves a third unobserved: {read.TIE}",
            ),
            _claim(
                "the smaller C, the faster the label rate drops", _drops_faster, "drop faster",
                "rate of the last window over that of the first, means over topics, smaller for every smaller C",
            ),
        ),
        figures=_draw_3, **NEWS,
    ),
)  # fmt: skip
