"""Figure 3, a to c, of Cesa-Bianchi, Gentile and Zaniboni 2004: Perceptrons that ask by a coin, on news.

What it models: section 4. 2ND-ORDER is sop-ss(b), 1ST-ORDER perceptron-ss(b), FIXED-BIAS asks with a constant
probability; the all-labels algorithms are the Perceptron and the second-order one.  The first-order
baselines that footnote 4 leaves out are run too.  Where the paper chooses b to compare at equal
F-measure, b is chosen here on the other half of the topics.  F and label rate are "instantaneous" in
windows of 2,000 stories, a width that the paper does not give.
What it leaves out: OHSUMED, on which the paper shows nothing; panel d (`papers.worst_case.equal_rates`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.papers import news
from experiments.papers.claims import Claim, Measure, Noted, Record, named, shown, steps_inside
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.news import ALL_LABELS, NEWS, Case, counts, grid, make, question, run_cases, sweep
from experiments.papers.predicates import above, at_least, at_most, below, between, both, each, wide_enough
from experiments.study.compare import estimate
from lpsm.randomness import POLICY, generator

__all__ = ["EXPERIMENTS"]

B = (0.001, 0.003, 0.01, 0.03, 0.05, 0.07, 0.1, 0.3, 1.0)
B_FIRST = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
RATES = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.9, 0.95, 0.98)
SHOWN = (0.01, 0.03, 0.1)  # the three of panel a
REGULARISERS = (0.1, 0.3, 3.0, 10.0)  # beside the paper's 1
RIVALS = ("perceptron-ss", "sop-fixed-bias")
CATEGORY, COINS = 0, 10  # panel c: rank of the category and runs on it
STORIES = 40_000
FLAT_FROM = 0.6  # 24,000 of 40,000 stories


def _three(runs: int = 1) -> tuple[Case, ...]:
    return (
        *grid("sop-ss", "b", B, runs), *grid("perceptron-ss", "b", B_FIRST, runs),
        *grid("sop-fixed-bias", "rate", RATES, runs),
    )  # fmt: skip


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    """Panels a to c: all topics, more runs of the one that counts in c."""
    tasks = dict(sweep((*ALL_LABELS, *_three()), smoke=(*ALL_LABELS, *_three()[::3]), rcv1_stories=STORIES)(setup))
    cases = (*ALL_LABELS, *_three(COINS)) if setup.size == "full" else (*ALL_LABELS, *_three(2)[::3])
    return {name: {**task, "cases": cases} if task["rank"] == CATEGORY else task for name, task in tasks.items()}


def with_regularisers(task: dict[str, Any]) -> Rows:
    """Run the cases, and the second-order Perceptron with all labels at other regularisers than 1."""
    X, y, named = question(task)
    rows = []
    for a in REGULARISERS:
        log = make("sop", X, generator(task["seed"], POLICY, task["rank"]), {"a": a}).run(X, y)
        rows.append({**named, "key": "sop", "value": a, "run": 0, **counts(log, y)[0]})
    return {**run_cases(task), "regularisers": rows}


# -- what a record says ------------------------------------------------------------------------------------------


def _sparing_and_near(record: Record) -> dict[str, Any]:
    """F of 2ND-ORDER less that with all labels, at two neighbouring b, none of which asks for more than half.

    Of all such pairs the one whose worse member is best.
    """
    scores = news.scored(record)
    full = news.of("sop")(scores)["f"]
    means = news.mean_by_value(scores, "sop-ss")
    near = {b: news.of("sop-ss", b)(scores)["f"] - full for b in means.index[means["rate"] <= 0.5]}
    pairs = list(pairwise(near))
    if not pairs:
        return {}
    best = max(pairs, key=lambda pair: min(near[b].mean() for b in pair))
    return {f"b = {b:g}:": Noted(near[b], f"at {100 * means['rate'][b]:.1f} % of the labels") for b in best}


def _by_b(record: Record) -> str:
    """Say F and label rate at every b."""
    means = news.mean_by_value(news.scored(record), "sop-ss")
    full = float(news.of("sop")(news.scored(record))["f"].mean())
    return "by b " + ", ".join(
        f"{b:g}: {row['f'] - full:+.3f} at {100 * row['rate']:.1f} %" for b, row in means.iterrows()
    )


def _displayed(record: Record) -> list[tuple[str, str, float | None]]:
    present = sorted(set(record["totals"].loc[record["totals"]["key"] == "sop-ss", "value"]))
    chosen = [b for b in SHOWN if b in present] or present
    return [*((f"2nd order, b = {b:g}", "sop-ss", b) for b in chosen), (news.NAMES["sop"], "sop", None)]


def _flatness(column: str) -> Measure:
    """Change of a curve from 60 % of the stories to the end, over that before; means over topics."""

    def measure(record: Record) -> dict[str, Any]:
        windows, found = news.scored(record, "windows"), {}
        for name, key, value in _displayed(record):
            if column == "rate" and key == "sop":
                continue
            own = windows[windows["key"] == key]
            own = own if value is None else own[own["value"] == value]
            mean = own.groupby("t")[column].mean()
            middle = mean[mean.index <= FLAT_FROM * mean.index.max()].iloc[-1]
            words = f"({mean.iloc[0]:.3f}, {middle:.3f}, {mean.iloc[-1]:.3f})"
            found[f"{name}:"] = Noted(abs(mean.iloc[-1] - middle) / abs(middle - mean.iloc[0]), words)
        return found

    return measure


def _other_regularisers(record: Record) -> str:
    first, others = news.of("perceptron")(news.scored(record))["f"], news.scored(record, "regularisers")
    found = {a: estimate((news.of("sop", a)(others)["f"] - first).dropna()) for a in sorted(set(others["value"]))}
    return "with other regularisers than a = 1: " + ", ".join(f"{shown(one)} at a = {a:g}" for a, one in found.items())


NEAR = news.cheapest_near("sop")


def _f_chosen(others: pd.DataFrame) -> float:
    """F of 2ND-ORDER at the b chosen on these topics."""
    table = news.mean_by_value(others, "sop-ss")
    return float(table["f"].to_dict()[NEAR(table, others)])


CHOSEN: Mapping[str, news.Select] = {  # panel b: 2ND-ORDER near all labels, the others just below it
    "sop-ss": news.chosen("sop-ss", NEAR),
    **{key: news.chosen(key, news.below_f(_f_chosen)) for key in RIVALS},
}


def _last_rate(record: Record) -> dict[str, Any]:
    rows = CHOSEN["sop-ss"](news.scored(record))
    first, last = (100 * news.ends(record, "rate", rows, "sop-ss", first=first) for first in (True, False))
    return {"": Noted(last, f"in the last window, from {first.mean():.0f} in the first")}


def _on_category(record: Record, key: str) -> pd.DataFrame:
    """The runs on the category, at the value that panel b's rule takes on all other topics."""
    scores = news.scored(record)
    others = scores[scores["rank"] != CATEGORY]
    pick = NEAR if key == "sop-ss" else news.below_f(_f_chosen)
    value = pick(news.mean_by_value(others, key), others)
    rows = news.with_scores(record["totals"])
    own = rows[(rows["rank"] == CATEGORY) & (rows["key"] == key) & (rows["value"] == value)]
    return own.set_index("run").sort_index()


def _inside_on_category(record: Record) -> dict[str, Any]:
    """How far inside its grid every parameter lies that is chosen for the category."""
    totals = record["totals"]
    return {
        news.NAMES[key]: steps_inside(_on_category(record, key)["value"], totals.loc[totals["key"] == key, "value"])
        for key in ("sop-ss", *RIVALS)
    }


def _category(column: str, rival: str) -> Measure:
    """A column of 2ND-ORDER on the category less that of a rival, run by run."""

    def measure(record: Record) -> dict[str, Any]:
        ours, theirs = _on_category(record, "sop-ss"), _on_category(record, rival)
        words = f"({ours[column].mean():.3f} against {theirs[column].mean():.3f}, topic {ours['topic'].iloc[0]})"
        return {column: Noted(ours[column] - theirs[column], words)}

    return measure


def _emphasis(record: Record) -> dict[str, Any]:
    """Ratio of labels on the other topics less that on the category, by rival."""
    scores, found = news.scored(record), {}
    for rival in RIVALS:
        here = float(_on_category(record, "sop-ss")["rate"].mean() / _on_category(record, rival)["rate"].mean())
        ratio = (CHOSEN["sop-ss"](scores)["rate"] / CHOSEN[rival](scores)["rate"]).drop(index=CATEGORY)
        words = f"({here:.2f} of the labels on the category, {ratio.mean():.2f} on the others)"
        found[news.NAMES[rival]] = Noted(ratio - here, words)
    return found


def _draw_a(record: Record) -> Mapping[str, Figure]:
    return {"fig-3-a": news.curves(record, _displayed(record), {"f": "F-measure", "rate": "share of labels asked for"})}


def _draw_b(record: Record) -> Mapping[str, Figure]:
    scores = news.scored(record)
    values = {key: float(select(scores)["value"].mode().iloc[0]) for key, select in CHOSEN.items()}
    groups = [(f"{news.NAMES[key]}, {value:g}", key, value) for key, value in values.items()]
    return {"fig-3-b": news.curves(record, groups, {"f": "F-measure", "rate": "share of labels asked for"})}


def _draw_c(record: Record) -> Mapping[str, Figure]:
    groups = [
        (f"{news.NAMES[key]}, {value:g}", key, value)
        for key in ("sop-ss", "perceptron-ss", "sop-fixed-bias")
        for value in [float(_on_category(record, key)["value"].iloc[0])]
    ]
    own = {"windows": record["windows"][record["windows"]["rank"] == CATEGORY]}
    return {"fig-3-c": news.curves(own, groups, {"f": "F-measure", "rate": "share of labels asked for"})}


_CHOSEN = "b chosen on the other half of the topics"
_FLAT = "change from 60 % of the stories to the end over that before, means over topics, every curve"
_PLAIN = {"perceptron-ss": "1ST-ORDER", "sop-fixed-bias": "FIXED-BIAS"}

EXPERIMENTS = (
    Experiment(
        name="worst-case/fig-3-a",
        subject="F-measure and label rate of the second-order sampler, three b",
        time="1 min",
        sweep=_sweep,
        run=with_regularisers,
        claims=(
            Claim(
                "in a range of b 2ND-ORDER is almost as good as with all labels, asking for substantially fewer",
                at_least(_sparing_and_near, -news.SAME),
                "almost the same performance",
                "two neighbouring b, at most half of the labels",
                why=_by_b,
            ),
            Claim(
                "F-measures flatten after 24,000 of 40,000 stories",
                each(_flatness("f"), high=1.0 / 3.0),
                "tend to flatten",
                _FLAT,
            ),
            Claim(
                "label rates flatten after 24,000 of 40,000 stories",
                each(_flatness("rate"), high=1.0 / 3.0),
                "tend to flatten",
                _FLAT,
            ),
            Claim(
                "with all labels the second-order Perceptron outperforms the first-order one",
                above(news.paired("f", news.of("sop"), news.of("perceptron"))),
                "always (footnote 4)",
                why=_other_regularisers,
            ),
        ),
        figures=_draw_a,
        data=NEWS,
    ),
    Experiment(
        name="worst-case/fig-3-b",
        subject="three samplers at about equal F-measure: who asks for fewer labels",
        time="as long as fig-3-a, whose runs it takes where they are",
        sweep=_sweep,
        run=with_regularisers,
        claims=(
            Claim(
                "b's are chosen so that 2ND-ORDER has just slightly the larger F-measure",
                between(
                    named({_PLAIN[key]: news.paired("f", CHOSEN["sop-ss"], CHOSEN[key]) for key in RIVALS}),
                    *(-0.01, 0.03),
                ),
                "just slightly larger",
                _CHOSEN,
            ),
            *(
                Claim(
                    f"2ND-ORDER then asks for fewer labels than {_PLAIN[key]}",
                    below(news.paired("rate", CHOSEN["sop-ss"], CHOSEN[key], percent=True), unit=" points"),
                    "largely best",
                    _CHOSEN,
                )
                for key in RIVALS
            ),
            Claim(
                "in the end 2ND-ORDER asks for less than 19 % of the labels",
                at_most(_last_rate, 19.0, open=True, unit=" %"),
                "less than 19 %",
                f"last 2,000 stories, of a third of the paper's; {_CHOSEN}",
            ),
            wide_enough(news.inside(CHOSEN)),
        ),
        figures=_draw_b,
        data=NEWS,
    ),
    Experiment(
        name="worst-case/fig-3-c",
        subject="the same comparison on the most frequent category",
        time="as long as fig-3-a",
        sweep=_sweep,
        run=with_regularisers,
        claims=(
            *(
                Claim(
                    f"on a frequent category 2ND-ORDER asks for fewer labels than {_PLAIN[rival]}, and is as good",
                    both(below(_category("rate", rival)), at_least(_category("f", rival), -news.SAME)),
                    "same comparison",
                    f"over {COINS} runs; parameters chosen on the other topics",
                )
                for rival in RIVALS
            ),
            Claim(
                "on the most frequent categories this is emphasised",
                above(_emphasis),
                "emphasized",
                "ratio of labels on the other topics, less that on the category, both rivals",
            ),
            wide_enough(_inside_on_category),
        ),
        figures=_draw_c,
        data=NEWS,
    ),
)
