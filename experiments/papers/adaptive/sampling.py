"""Figures 3 to 5 of Cavallanti, Cesa-Bianchi and Gentile 2010: selective samplers on news.

What it models: section 3.1.  SS, SSNCI, SSMD and SSNL over a grid of K, the label-efficient SOLE over C (the
paper's b), DKMPERC over R (its mu), and the Perceptrons with all labels; regulariser 1 throughout.
F-measure is over the whole stream, or over the last 2,000 stories where a figure is one over time.
K scales with the corpus and the regulariser, so that its values are not the paper's; where a K is to be
"properly chosen" it is chosen on the other half of the topics.
What it leaves out: running times, which are no part of a record; the number of stored examples stands for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers import readings as read
from experiments.papers.news import NEWS, Case, run_cases, sweep
from experiments.papers.registry import Claim, Experiment, Record, Verdict
from experiments.papers.verdicts import shown

__all__ = ["DKMPERC", "EXPERIMENTS", "MIDDLE", "OVER_TIME", "SOLE", "SSMD"]

K = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
K_MISTAKES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
C = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
R = (2, 4, 8, 16, 32, 64, 128, 256)
FRACTION = 0.25  # of the labels: "only a fraction"
LOW = (0.025, 0.05, 0.075, 0.1)  # the range of label rates the paper looks at
MIDDLE = 0.05
ALL: tuple[Case, ...] = (("sop", {}, 1), ("perceptron", {}, 1))


def _grid(key: str, symbol: str, values: tuple[float, ...]) -> tuple[Case, ...]:
    return tuple((key, {symbol: value}, 1) for value in values)


SS, SSNCI, SSNL = (_grid(key, "K", K) for key in ("ss", "ssnci", "ssnl"))
SSMD = _grid("ssmd", "K", K_MISTAKES)
SOLE = _grid("sop-label-efficient", "C", C)
DKMPERC = _grid("dkm-perceptron", "R", R)


# -- what a record says ------------------------------------------------------------------------------------------


def _words(rows: pd.DataFrame) -> str:
    values = ", ".join(f"{value:g}" for value in dict.fromkeys(rows["value"]))
    return f"; {100 * rows['rate'].mean():.1f} % of the labels at {values}"


def _matches(key: str) -> Any:
    def check(record: Record) -> Verdict:
        scores = read.scored(record)
        rows = read.chosen(scores, key, read.cheapest_near("sop"))
        found = read.within(rows["f"], read.of(scores, "sop")["f"], _words(rows))
        return found._replace(holds=bool(found.holds and rows["rate"].mean() <= FRACTION))

    return check


def _surpasses(key: str) -> Any:
    def check(record: Record) -> Verdict:
        scores = read.scored(record)
        rows = read.chosen(scores, key, read.cheapest_near("sop"))
        verdict = read.ahead(rows["f"], read.of(scores, "perceptron")["f"], _words(rows))
        gap = read.paired(read.of(scores, "sop")["f"], read.of(scores, "perceptron")["f"])
        return verdict._replace(
            why_not=f"{verdict.why_not}; the second-order Perceptron with all labels is {shown(gap, 3)} above the "
            "first-order one here"
        )

    return check


def _means_over_values(scores: pd.DataFrame, key: str, values: tuple[float, ...], column: str) -> pd.Series:
    own = scores[(scores["key"] == key) & scores["value"].isin(values)]
    found: pd.Series = own.groupby("rank")[column].mean()
    return found


def _values_of(scores: pd.DataFrame, *keys: str) -> tuple[float, ...]:
    sets = [set(scores.loc[scores["key"] == key, "value"]) for key in keys]
    return tuple(sorted(set.intersection(*sets)))


def _better_for_the_same_k(record: Record) -> Verdict:
    scores = read.scored(record)
    values = _values_of(scores, "ss", "ssnci")
    ours, theirs = (_means_over_values(scores, key, values, "f") for key in ("ss", "ssnci"))
    by_k = ", ".join(
        f"{read.paired(read.of(scores, 'ss', k)['f'], read.of(scores, 'ssnci', k)['f']).mean:+.3f} at K = {k:g}"
        for k in values
    )
    verdict = read.ahead(ours, theirs)
    return verdict._replace(ours=f"{verdict.ours}; {by_k}")


def _overlap(record: Record) -> Verdict:
    scores = read.scored(record)
    words, holds = [], []
    for rate in LOW:
        ours, theirs = (read.at_rate(scores, key, rate) for key in ("ss", "ssnci"))
        if ours is None or theirs is None:
            continue
        found = read.paired(ours, theirs)
        words.append(f"{shown(found, 3)} at {100 * rate:g} %")
        holds.append(abs(found.mean) <= read.SAME)
    return Verdict("; ".join(words) or "no rate in common", bool(holds) and all(holds), "; ".join(words))


def _more_labels_for_the_same_k(record: Record) -> Verdict:
    scores = read.scored(record)
    values = _values_of(scores, "ss", "ssmd")
    rates = {key: read.mean_by_value(scores, key)["rate"].to_dict() for key in ("ss", "ssmd")}
    ratios = {k: rates["ssmd"][k] / rates["ss"][k] for k in values}
    words = ", ".join(f"{ratio:.1f} times at K = {k:g}" for k, ratio in ratios.items())
    return Verdict(words, bool(ratios) and min(ratios.values()) >= 2.0, words)


def _below_at(key: str, rival: str, rates: tuple[float, ...] = (MIDDLE,)) -> Any:
    """Claim that `key` has the larger F than `rival` at every given rate both reach."""

    def check(record: Record) -> Verdict:
        scores = read.scored(record)
        words, holds = [], []
        for rate in rates:
            ours, theirs = read.at_rate(scores, key, rate), read.at_rate(scores, rival, rate)
            if ours is None or theirs is None:
                missing = key if ours is None else rival
                words.append(f"{read.NAMES[missing]} does not reach {100 * rate:g} %")
                continue
            verdict = read.ahead(ours, theirs)
            words.append(f"{verdict.ours} at {100 * rate:g} %")
            holds.append(verdict.holds)
        return Verdict("; ".join(words), bool(holds) and all(holds), f"ahead at {sum(holds)} of {len(rates)} rates")

    return check


def _never_reaches(record: Record) -> Verdict:
    scores = read.scored(record)
    full = read.of(scores, "sop")["f"]
    best = read.chosen(scores, "ssnl", lambda table, _: _best(table[table["rate"] <= FRACTION]))
    found = read.paired(best["f"], full)
    return Verdict(
        f"{shown(found, 3)} of F against the second-order Perceptron{_words(best)}", found.mean < -read.SAME,
        f"{int((best['f'] >= full - read.SAME).sum())} of {len(full)} topics are as good as with all labels",
    )  # fmt: skip


def _best(table: pd.DataFrame) -> float:
    best: Any = table["f"].idxmax()
    return float(best)


def _converges(key: str) -> Any:
    def check(record: Record) -> Verdict:
        scores = read.scored(record)
        full = read.of(scores, "sop")["f"]
        largest = float(read.mean_by_value(scores, key)["rate"].max())
        rate = min(LOW[-1], largest * (1 - 1e-9))
        ours = read.at_rate(scores, key, rate)
        if ours is None:
            return Verdict("no two values around this rate", False)
        return read.within(ours, full, f" at {100 * rate:.1f} % of the labels")

    return check


def _saturates(key: str) -> Any:
    def check(record: Record) -> Verdict:
        table = read.mean_by_value(read.scored(record), key).sort_values("rate")
        rates, f = 100 * table["rate"].to_numpy(), table["f"].to_numpy()
        at = float(np.interp(np.log(100 * MIDDLE), np.log(rates), f))
        if not rates[0] < 100 * MIDDLE < rates[-1]:
            return Verdict(f"label rates from {rates[0]:.1f} to {rates[-1]:.1f} %", False)
        below, above = (at - f[0]) / (100 * MIDDLE - rates[0]), (f[-1] - at) / (rates[-1] - 100 * MIDDLE)
        by_rate = ", ".join(f"{y:.3f} at {x:.1f} %" for x, y in zip(rates, f, strict=True))
        return Verdict(
            f"{below:.4f} of F a point of labels from {rates[0]:.1f} to 5 %, {above:.4f} from 5 to {rates[-1]:.1f} %",
            bool(above <= below / 3.0), f"F by rate: {by_rate}",
        )  # fmt: skip

    return check


def _best_of_all(record: Record) -> Verdict:
    scores = read.scored(record)
    rivals = ("ss", "ssnl", "sop-label-efficient", "dkm-perceptron")
    words, won = [], 0
    for rate in LOW:
        ours = read.at_rate(scores, "ssmd", rate)
        theirs = {key: found for key in rivals if (found := read.at_rate(scores, key, rate)) is not None}
        if ours is None or not theirs:
            continue
        rival = max(theirs, key=lambda key: float(theirs[key].mean()))
        verdict = read.ahead(ours, theirs[rival])
        won += verdict.holds
        words.append(f"{verdict.ours} of {read.NAMES[rival]} at {100 * rate:g} %")
    return Verdict(
        "; ".join(words) or "no rate", won == len(LOW), f"ahead of the best other at {won} of {len(LOW)} rates"
    )


def _fewer_stored(record: Record) -> Verdict:
    scores = read.scored(record)
    found = {key: read.at_rate(scores, key, MIDDLE, "stored") for key in ("ssmd", "ss", "ssnl")}
    known = {key: column for key, column in found.items() if column is not None}
    words = ", ".join(f"{read.NAMES[key]} {column.mean():.0f}" for key, column in known.items())
    others = [column for key, column in known.items() if key != "ssmd"]
    holds = "ssmd" in known and bool(others) and all(bool(read.ahead(o, known["ssmd"]).holds) for o in others)
    return Verdict(f"stored at 5 % of the labels: {words}", holds, words)


# -- pictures ------------------------------------------------------------------------------------------------------

OVER_TIME = {"f": "F-measure", "rate": "labels asked for"}


def _draw_variants(place: str, keys: tuple[str, ...]) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        totals, found = record["totals"], {}
        for key in keys:
            values = sorted(set(totals.loc[totals["key"] == key, "value"]))[::2]
            groups = [(f"{read.NAMES[key]}, K = {value:g}", key, value) for value in values]
            groups += [(read.NAMES[other], other, None) for other in ("perceptron", "sop")]
            name = place if len(keys) == 1 else f"{place}-{key}"
            found[name] = read.curves(record, groups, OVER_TIME)
        return found

    return figures


def _draw_5(record: Record) -> Mapping[str, Figure]:
    scores = read.scored(record)
    sides = {
        "selective samplers": ("ss", "ssmd", "ssnl"),
        "against others": ("ssmd", "sop-label-efficient", "dkm-perceptron"),
    }
    frames = [(title, read.trade_off(scores, keys, ("sop",))) for title, keys in sides.items()]
    return {"fig-5": panels(frames, x="labels asked for, %", y="F-measure, mean over topics", x_scale="log")}


def _claim(statement: str, check: Any, printed: str, tolerance: str = read.SIGN) -> Claim:
    return Claim(statement=statement, check=check, printed=printed, tolerance=tolerance)


_CHOSEN = "K chosen on the other half of the topics"
_FRACTION = f"{read.TIE}, at most a quarter of the labels; {_CHOSEN}"
_BETWEEN = f"{read.SIGN}, interpolated between values of K at equal label rates"

EXPERIMENTS = (
    Experiment(
        name="adaptive/fig-3", claim="SS, SSNCI and SSMD over time, several K", time="2 min",
        sweep=sweep((*ALL, *SS, *SSNCI, *SSMD), smoke=(*ALL, *SS[1:4], *SSNCI[1:4], *SSMD[2:5])), run=run_cases,
        claims=(
            *(
                claim
                for key in ("ss", "ssmd")
                for claim in (
                    _claim(
                        f"{read.NAMES[key]} with a properly chosen K matches SOP with a fraction of the labels",
                        _matches(key), "match", _FRACTION,
                    ),
                    _claim(
                        f"{read.NAMES[key]} with a properly chosen K surpasses PERC", _surpasses(key), "surpass",
                        f"{read.SIGN}; {_CHOSEN}",
                    ),
                )
            ),
            _claim(
                "SS is slightly more effective than SSNCI for the same K", _better_for_the_same_k, "slightly",
                f"{read.SIGN}, means over K",
            ),
            _claim(
                "at similar label rates the F-measures of SS and SSNCI overlap", _overlap, "tend to overlap",
                f"mean paired difference at most {read.SAME} either way at each rate both reach",
            ),
            _claim(
                "SSMD queries many more labels than SS for the same K", _more_labels_for_the_same_k, "many more",
                "at least twice as many, means over topics, at every K in common",
            ),
        ),
        figures=_draw_variants("fig-3", ("ss", "ssnci", "ssmd")), **NEWS,
    ),
    Experiment(
        name="adaptive/fig-4", claim="SSNL, which asks for the next label, over time", time="1 min",
        sweep=sweep((*ALL, *SSNL, *SS), smoke=(*ALL, *SSNL[1:4], *SS[1:4])), run=run_cases,
        claims=(
            _claim(
                "SSNL's performance is less than ideal: it does not match SOP", _never_reaches, "less than ideal",
                f"best K with at most a quarter of the labels, chosen on the other half of the topics; more than "
                f"{read.SAME} below on the mean",
            ),
            _claim(
                "SS exploits informative instances, SSNL does not: SS is better at equal label rates",
                _below_at("ss", "ssnl", (0.02, 0.03, 0.05)), "makes evident", _BETWEEN,
            ),
        ),
        figures=_draw_variants("fig-4", ("ssnl",)), **NEWS,
    ),
    Experiment(
        name="adaptive/fig-5", claim="F-measure against labels: SS, SSMD, SSNL, SOLE, DKMPERC", time="2 min",
        sweep=sweep(
            (*ALL, *SS, *SSMD, *SSNL, *SOLE, *DKMPERC),
            smoke=(*ALL, *SS[1:4], *SSMD[1:4], *SSNL[1:4], *SOLE[1:4], *DKMPERC[2:5]),
        ),
        run=run_cases,
        claims=(
            *(
                _claim(
                    f"{read.NAMES[key]} converges quickly to the F-measure of SOP", _converges(key), "quickly",
                    f"at 10 % of the labels or the most it asks for; {read.TIE}",
                )
                for key in ("ss", "ssmd")
            ),
            *(
                _claim(
                    f"from some number of labels on, the F-measure of {read.NAMES[key]} grows at a much reduced rate",
                    _saturates(key), "stop increasing, or much reduced",
                    "for a point of labels at most a third as much above 5 % as below",
                )
                for key in ("ss", "ssmd")
            ),
            _claim(
                "below 10 % of the labels SSMD outperforms all other algorithms", _best_of_all, "all other",
                f"{_BETWEEN}; at 2.5, 5, 7.5 and 10 %",
            ),
            _claim("SSNL converges more slowly than SSMD", _below_at("ssmd", "ssnl", LOW), "much slower", _BETWEEN),
            _claim(
                "DKMPERC converges more slowly than SSMD", _below_at("ssmd", "dkm-perceptron", LOW), "much slower",
                _BETWEEN,
            ),
            _claim("SSNL outperforms DKMPERC", _below_at("ssnl", "dkm-perceptron", LOW), "evinced", _BETWEEN),
            _claim(
                "SSMD is much faster than SS and SSNL", _fewer_stored, "much faster",
                f"stored examples, which decide the time, at 5 % of the labels: {read.SIGN}",
            ),
        ),
        figures=_draw_5, **NEWS,
    ),
)  # fmt: skip
