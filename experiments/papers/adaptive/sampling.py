"""Figures 3 to 5 of Cavallanti, Cesa-Bianchi and Gentile 2010: selective samplers on news.

What it models: section 3.1.  SS, SSNCI, SSMD and SSNL over a grid of K, the label-efficient SOLE over C (the
paper's b), DKMPERC over R (its mu), and the Perceptrons with all labels; the regulariser is 1 throughout.
F-measure is over the whole stream, or over the last 2,000 stories where a figure is one over time.
K scales with the corpus and the regulariser, so that its values are not the paper's.  Where K is to be
"properly chosen" it is chosen on the other half of the topics: the cheapest that matches, or the best that surpasses.
What it leaves out: running times, which are no part of a record; the number of stored examples stands for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.papers import news
from experiments.papers.claims import Claim, Noted, Record, named
from experiments.papers.kit import Experiment
from experiments.papers.news import ALL_LABELS, NAMES, SAME, grid, of, paired
from experiments.papers.predicates import above, at_least, at_most, between, both, explained_by, wide_enough

__all__ = ["AS_LONG", "EXPERIMENTS", "FIG_3", "MIDDLE", "OVER_TIME"]

K = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
FRACTION = 0.25  # of the labels: "only a fraction"
LOW = (0.025, 0.05, 0.075, 0.1)  # the range of label rates the paper looks at
MIDDLE = 0.05
RIVALS = ("ss", "ssnl", "sop-label-efficient", "dkm-perceptron")
SS, SSNCI, SSNL = grid("ss", "K", (*K, 25.0)), grid("ssnci", "K", K), grid("ssnl", "K", K)
SSMD = grid("ssmd", "K", (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3))
SOLE = grid("sop-label-efficient", "C", (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3))
DKMPERC = grid("dkm-perceptron", "R", (2, 4, 8, 16, 32, 64, 128, 256))
OVER_TIME = {"f": "F-measure", "rate": "share of labels asked for"}
AS_LONG = "as long as fig-3, whose runs it takes where they are"
FIG_3 = Experiment(
    "adaptive/fig-3", "SS, SSNCI and SSMD over time, several K", "6 min", news.NEWS, run=news.run_cases,
    sweep=news.sweep(
        (*ALL_LABELS, *SS, *SSNCI, *SSMD, *SSNL, *SOLE, *DKMPERC),
        smoke=(*ALL_LABELS, *SS[1:4], *SSNCI[1:4], *SSMD[::3], *SSNL[1:4], *SOLE[::3], *DKMPERC[::3]),
    ),
)  # fmt: skip
FIG_4 = FIG_3.view("adaptive/fig-4", "SSNL, which asks for the next label, over time", AS_LONG)
FIG_5 = FIG_3.view("adaptive/fig-5", "F-measure against labels: SS, SSMD, SSNL, SOLE, DKMPERC", AS_LONG)
CHEAPEST = {key: news.chosen(key, news.cheapest_near("sop")) for key in ("ss", "ssmd")}
BEST = {key: news.chosen(key, news.most_f(), one_out=True) for key in ("ss", "ssmd")}
SPARING = {"ssnl": news.chosen("ssnl", news.most_f(LOW[-1]))}
CHOSEN = "K chosen on the other half of the topics"
BETWEEN = "interpolated between values of K at equal label rates"


def _common_values(scores: pd.DataFrame, *keys: str) -> list[float]:
    return sorted(set.intersection(*(set(scores.loc[scores["key"] == key, "value"]) for key in keys)))


# -- figure 3 ----------------------------------------------------------------------------------------------------


def _at_largest(record: Record, key: str) -> Any:
    """F less that of the Perceptron at the largest K, which is not chosen on anything."""
    largest = float(news.mean_by_value(news.scored(record), key).index.max())
    return paired("f", of(key, largest), of("perceptron"))(record)


def _labels(record: Record, key: str) -> Any:
    return {"labels": 100 * CHEAPEST[key](news.scored(record))["rate"]}


for key in ("ss", "ssmd"):
    FIG_3.claims += [
        Claim(f"{NAMES[key]} with a properly chosen K matches SOP with a fraction of the labels",
              both(at_least(paired("f", CHEAPEST[key], of("sop")), -SAME),
                   at_most(partial(_labels, key=key), 100 * FRACTION, unit=" %")),
              "match", f"the fewest labels whose F is within .01; {CHOSEN}"),
        Claim(f"{NAMES[key]} with a properly chosen K surpasses PERC",
              above(paired("f", BEST[key], of("perceptron"))), "surpass", "the best K on all other topics",
              why=explained_by("at the largest K of the grid it is ahead by", partial(_at_largest, key=key))),
    ]  # fmt: skip


@FIG_3.claim("SS is slightly more effective than SSNCI for the same K", above, "slightly")
def _for_the_same_k(record: Record) -> Noted:
    """F of SS less that of SSNCI, means over their values of K."""
    scores = news.scored(record)
    by_k = {k: of("ss", k)(scores)["f"] - of("ssnci", k)(scores)["f"] for k in _common_values(scores, "ss", "ssnci")}
    words = ", ".join(f"{difference.mean():+.3f} at K = {k:g}" for k, difference in by_k.items())
    return Noted(pd.DataFrame(by_k).mean(axis=1), f"({words})")


FIG_3.claims.append(
    Claim("at similar label rates the F-measures of SS and SSNCI overlap",
          between(news.at_rates("f", "ss", "ssnci", LOW), -SAME, SAME), "tend to overlap", "each rate that both reach")
)  # fmt: skip


@FIG_3.claim(
    "SSMD queries many more labels than SS for the same K", at_least, "many more", limit=2, unit=" times"
)  # fmt: skip
def _labels_for_the_same_k(record: Record) -> Any:
    scores = news.scored(record)
    ss, ssmd = (news.mean_by_value(scores, key)["rate"] for key in ("ss", "ssmd"))
    return {f"at K = {k:g}": ssmd[k] / ss[k] for k in _common_values(scores, "ss", "ssmd")}


FIG_3.claims.append(
    wide_enough(named({"fewest labels": news.inside(CHEAPEST), "best F": news.inside(BEST)}))
)  # fmt: skip

# -- figures 4 and 5 -----------------------------------------------------------------------------------------------

FIG_4.claims += [
    Claim("SSNL's performance is less than ideal: it does not match SOP",
          at_most(paired("f", SPARING["ssnl"], of("sop")), -SAME, open=True), "less than ideal",
          f"the best K with at most a tenth of the labels, those that figure 5 shows; {CHOSEN}"),
    Claim("SS exploits informative instances, SSNL does not: SS is better at equal label rates",
          above(news.at_rates("f", "ss", "ssnl", (0.02, 0.03, 0.05))), "makes evident", BETWEEN),
    wide_enough(news.inside(SPARING)),
]  # fmt: skip


def _near_all_labels(record: Record, key: str) -> Any:
    """F less that with all labels, at 10 % of them or the most that the sampler asks for."""
    largest = float(news.mean_by_value(news.scored(record), key)["rate"].max())
    return paired("f", news.at_rate(key, min(LOW[-1], largest * (1 - 1e-9))), of("sop"))(record)


def _growth(record: Record, key: str) -> Any:
    """F gained by a point of labels above 5 %, less a third of what one below gains."""
    table = news.mean_by_value(news.scored(record), key).sort_values("rate")
    rates, f = 100 * table["rate"].to_numpy(), table["f"].to_numpy()
    if not rates[0] < 100 * MIDDLE < rates[-1]:
        return None
    at = float(np.interp(np.log(100 * MIDDLE), np.log(rates), f))
    before, beyond = (at - f[0]) / (100 * MIDDLE - rates[0]), (f[-1] - at) / (rates[-1] - 100 * MIDDLE)
    words = ", ".join(f"{y:.3f} at {x:.1f} %" for x, y in zip(rates, f, strict=True))
    return Noted(beyond - before / 3, f"({beyond:.4f} a point beyond, {before:.4f} before; F {words})")


FIG_5.claims += [
    Claim(f"{NAMES[key]} converges quickly to the F-measure of SOP",
          at_least(partial(_near_all_labels, key=key), -SAME), "quickly",
          "at 10 % of the labels or the most it asks for")
    for key in ("ss", "ssmd")
]  # fmt: skip
FIG_5.claims += [
    Claim(f"from some number of labels on, the F-measure of {NAMES[key]} grows at a much reduced rate",
          at_most(partial(_growth, key=key), 0.0), "stop increasing, or much reduced",
          "F gained by a point of labels above 5 % less a third of what one below gains")
    for key in ("ss", "ssmd")
]  # fmt: skip


@FIG_5.claim(
    "below 10 % of the labels SSMD outperforms all other algorithms", above, "all other", BETWEEN, needed=len(LOW)
)
def _against_best_other(record: Record) -> Any:
    """F of SSMD less that of the best other at each low rate."""
    scores = news.scored(record)
    samples = {}
    for rate in LOW:
        ours = news.at_rate("ssmd", rate)(scores)
        rivals = {key: rows for key in RIVALS if len(rows := news.at_rate(key, rate)(scores))}
        if len(ours) and rivals:
            best = max(rivals, key=lambda key: float(rivals[key]["f"].mean()))
            words = f"({ours['f'].mean():.3f} against {rivals[best]['f'].mean():.3f} of {NAMES[best]})"
            samples[f"at {100 * rate:g} %"] = Noted(ours["f"] - rivals[best]["f"], words)
    return samples


FIG_5.claims += [
    Claim(statement, above(news.at_rates("f", better, worse, LOW)), printed, BETWEEN)
    for statement, better, worse, printed in (
        ("SSNL converges more slowly than SSMD", "ssmd", "ssnl", "much slower"),
        ("SSNL outperforms DKMPERC", "ssnl", "dkm-perceptron", "evinced"),
    )
]


@FIG_5.claim(
    "DKMPERC converges more slowly than SSMD", above, "much slower", f"mean over four label rates; {BETWEEN}"
)  # fmt: skip
def _over_dkm(record: Record) -> Any:
    """F of SSMD less that of DKMPERC, topic by topic, mean over the low label rates."""
    by_rate = news.at_rates("f", "ssmd", "dkm-perceptron", LOW)(record)
    words = ", ".join(f"{one.sample.mean():+.3f} {name}" for name, one in by_rate.items())
    return Noted(pd.DataFrame({name: one.sample for name, one in by_rate.items()}).mean(axis=1), f"({words})")


FIG_5.claims.append(
    Claim("SSMD is much faster than SS and SSNL",
          above(named({f"than {key}": news.at_rates("stored", key, "ssmd", (MIDDLE,)) for key in ("ss", "ssnl")})),
          "much faster", "examples stored more at 5 % of the labels, which decide the time")
)  # fmt: skip


# -- pictures ------------------------------------------------------------------------------------------------------


def _over_time(record: Record, key: str) -> Figure:
    """Draw a sampler at every second K of its grid beside both Perceptrons with all labels."""
    totals = record["totals"]
    values = sorted(set(totals.loc[totals["key"] == key, "value"]))[::2]
    groups: list[tuple[str, str, float | None]] = [(f"{NAMES[key]}, K = {value:g}", key, value) for value in values]
    return news.curves(record, [*groups, *((NAMES[one], one, None) for one in ("perceptron", "sop"))], OVER_TIME)


for key in ("ss", "ssnci", "ssmd"):
    FIG_3.picture(f"fig-3-{key}")(partial(_over_time, key=key))
FIG_4.picture("fig-4")(partial(_over_time, key="ssnl"))


@FIG_5.picture("fig-5", x="labels asked for, %", y="F-measure, mean over topics", x_scale="log")
def _trade_offs(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    scores = news.scored(record)
    yield "selective samplers", news.trade_off(scores, ("ss", "ssmd", "ssnl"), ("sop",))
    yield "against others", news.trade_off(scores, ("ssmd", "sop-label-efficient", "dkm-perceptron"), ("sop",))


EXPERIMENTS = (FIG_3, FIG_4, FIG_5)
