"""Figure 3 of Cesa-Bianchi, Gentile and Zaniboni 2004: Perceptrons that ask by a coin, on news.

What it models: section 4.  2ND-ORDER is sop-ss(b), 1ST-ORDER perceptron-ss(b), FIXED-BIAS asks with a constant
probability; the all-labels algorithms are the Perceptron and the second-order one.  The first-order baselines that
footnote 4 leaves out are run too.  The paper chooses b's that make F of 2ND-ORDER just slightly larger than those of
its rivals, and does not print at which F: here 2ND-ORDER has b = .02, and each rival the largest F below that, chosen
on the other half of the topics.  F and label rate are "instantaneous" in windows of 2,000 stories, a width that the
paper does not give.  For panel d 2ND-ORDER runs at five b, and then both orders with a constant probability, which is
the label rate that it had.
What it leaves out: OHSUMED, on which the paper shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise, product
from typing import Any

from matplotlib.figure import Figure

from experiments.papers import news
from experiments.papers.claims import Claim, Frame, Measure, Noted, Record, Samples, named, shown, steps_inside
from experiments.papers.kit import Experiment, Rows
from experiments.papers.predicates import above, at_least, at_most, below, between, both, each, wide_enough
from experiments.study.compare import estimate
from lpsm.randomness import POLICY, generator

__all__ = ["EXPERIMENTS"]

B = (0.001, 0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.3, 1.0)
B_FIRST = (0.003, 0.01, 0.03, 0.05, 0.07, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
B_SAME_RATE = (0.003, 0.01, 0.03, 0.1, 0.3)
RATES = (0.05, 0.1, 0.2, 0.3, 0.37, 0.45, 0.52, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
SHOWN = (0.01, 0.03, 0.1)  # the three of panel a
AT = 0.02  # of panels b and c
REGULARISERS = (0.1, 0.3, 3.0, 10.0)  # beside the paper's 1
RIVALS = {"perceptron-ss": "1ST-ORDER", "sop-fixed-bias": "FIXED-BIAS"}
SAMPLERS = ("sop-ss", *RIVALS)
CATEGORY, COINS = 0, 10  # panel c: rank of its category; runs on every topic, with coins of their own, panels a to d
STORIES = 40_000
FLAT_FROM = 0.6  # 24,000 of 40,000 stories
CURVES = {"f": "F-measure", "rate": "share of labels asked for"}
LONG = "as long as fig-3-a, whose runs it takes where they are"

FIG_3_A = Experiment(
    "worst-case/fig-3-a", "F-measure and label rate of the second-order sampler, three b", "1 min", news.NEWS
)
FIG_3_D = Experiment(
    "worst-case/fig-3-d", "asking by margin against asking at random, at equal label rates", "1 min", news.NEWS
)


def _samplers(coins: int = 1) -> tuple[news.Case, ...]:
    values = zip(SAMPLERS, ("b", "b", "rate"), (B, B_FIRST, RATES), strict=True)
    return tuple(case for key, symbol, grid in values for case in news.grid(key, symbol, grid, coins))


@FIG_3_A.runs(news.sweep(
    (*news.ALL_LABELS, *_samplers(COINS)), smoke=(*news.ALL_LABELS, *_samplers(2)[::3]), rcv1_stories=STORIES
))  # fmt: skip
def with_regularisers(**task: Any) -> Rows:
    """Run the cases, and the second-order Perceptron with all labels at other regularisers than 1."""
    X, y, topic = news.question(task)
    rows = []
    for a in REGULARISERS:
        log = news.make("sop", X, generator(task["seed"], POLICY, task["rank"]), {"a": a}).run(X, y)
        rows.append({**topic, "key": "sop", "value": a, "run": 0, **news.counts(log, y)[0]})
    return {**news.run_cases(task), "regularisers": rows}


@FIG_3_D.runs(lambda setup: {
    name: {**task, "b": list(setup.pick(B_SAME_RATE[::2], B_SAME_RATE)), "coins": setup.pick(2, COINS)}
    for name, task in news.sweep((), rcv1_stories=STORIES)(setup).items()
})  # fmt: skip
def totals(**task: Any) -> list[dict[str, Any]]:
    """Run 2ND-ORDER at five b, then both orders with a constant probability that is the rate it had."""
    X, y, topic = news.question(task)
    rows = []
    for run, (place, b) in product(range(task["coins"]), enumerate(task["b"])):
        rate = 0.0
        for number, key in enumerate(("sop-ss", "sop-fixed-bias", "random-perceptron")):
            coins = generator(task["seed"], POLICY, 1000 * (15 * run + 3 * place + number) + task["rank"])
            sampler = news.make(key, X, coins, {"rate": rate} if number else {"b": b})
            total, _ = news.counts(sampler.run(X, y), y)
            rate = rate or total["queried"] / total["rounds"]
            rows.append({**topic, "key": key, "value": b, "run": run, **total})
    return rows


FIG_3_B = FIG_3_A.view("worst-case/fig-3-b", "three samplers at about equal F-measure: who asks for fewer labels", LONG)
FIG_3_C = FIG_3_A.view("worst-case/fig-3-c", "the same comparison on the most frequent category", "as long as fig-3-a")

# -- panel a -------------------------------------------------------------------------------------------------------


def sparing_and_near(record: Record) -> Any:
    """F of 2ND-ORDER less that with all labels, at two neighbouring b, none of which asks for more than half.

    Of all such pairs the one whose worse member is best.
    """
    scores = news.scored(record)
    full, means = news.of("sop")(scores)["f"], news.mean_by_value(scores, "sop-ss")
    near = {b: news.of("sop-ss", b)(scores)["f"] - full for b in means.index[means["rate"] <= 0.5]}
    best = max(pairwise(near), key=lambda pair: min(near[b].mean() for b in pair), default=())
    return {f"b = {b:g}:": Noted(near[b], f"at {100 * means['rate'][b]:.1f} % of the labels") for b in best}


def by_b(record: Record) -> str:
    """Say F and label rate at every b."""
    scores = news.scored(record)
    full = float(news.of("sop")(scores)["f"].mean())
    rows = news.mean_by_value(scores, "sop-ss").iterrows()
    return "by b " + ", ".join(f"{b:g}: {row['f'] - full:+.3f} at {100 * row['rate']:.1f} %" for b, row in rows)


def _curves(totals: Frame) -> list[tuple[str, str, float | None]]:
    present = sorted(set(totals.loc[totals["key"] == "sop-ss", "value"]))
    chosen = [b for b in SHOWN if b in present] or present
    return [*((f"2nd order, b = {b:g}", "sop-ss", b) for b in chosen), (news.NAMES["sop"], "sop", None)]


def flatness(record: Record, *, column: str) -> Samples:
    """Change of a curve from 60 % of the stories to the end, over that before; means over topics."""
    windows, samples = news.scored(record, "windows"), {}
    for name, key, value in _curves(record["totals"]):
        if column != "rate" or key != "sop":
            own = windows[(windows["key"] == key) & ((windows["value"] == value) | (value is None))]
            mean = own.groupby("t")[column].mean()
            start, middle, end = mean.iloc[0], mean[mean.index <= FLAT_FROM * mean.index.max()].iloc[-1], mean.iloc[-1]
            samples[f"{name}:"] = Noted(
                abs(end - middle) / abs(middle - start), f"({start:.3f}, {middle:.3f}, {end:.3f})"
            )
    return samples


def other_regularisers(record: Record) -> str:
    """Say by how much the second-order Perceptron is ahead of the first-order one with other regularisers."""
    first, others = news.of("perceptron")(news.scored(record))["f"], news.scored(record, "regularisers")
    ahead = {a: estimate((news.of("sop", a)(others)["f"] - first).dropna()) for a in sorted(set(others["value"]))}
    return "with other regularisers than a = 1: " + ", ".join(f"{shown(one)} at a = {a:g}" for a, one in ahead.items())


FIG_3_A.claims += [
    Claim("in a range of b 2ND-ORDER is almost as good as with all labels, asking for substantially fewer",
        at_least(sparing_and_near, -news.SAME), "almost the same performance",
        "two neighbouring b, at most half of the labels", why=by_b),
    *(Claim(f"{what} flatten after 24,000 of 40,000 stories", each(partial(flatness, column=column), high=1.0 / 3.0),
        "tend to flatten",
        "change from 60 % of the stories to the end over that before, means over topics, every curve")
      for column, what in (("f", "F-measures"), ("rate", "label rates"))),
    Claim("with all labels the second-order Perceptron outperforms the first-order one",
        above(news.paired("f", news.of("sop"), news.of("perceptron"))), "always (footnote 4)", why=other_regularisers),
]  # fmt: skip


@FIG_3_A.picture("fig-3-a")
def three_b(record: Record) -> Figure:
    """Draw F and label rate over time."""
    return news.curves(record, _curves(record["totals"]), CURVES)


# -- panel b -------------------------------------------------------------------------------------------------------


def _f_at(others: Frame) -> float:
    """F of 2ND-ORDER at its b, on these topics."""
    return float(news.mean_by_value(others, "sop-ss")["f"].to_dict()[AT])


PICKS: Mapping[str, news.Pick] = {"sop-ss": lambda *_: AT, **dict.fromkeys(RIVALS, news.below_f(_f_at))}
CHOSEN: Mapping[str, news.Select] = {key: news.chosen(key, pick) for key, pick in PICKS.items()}


def last_rate(record: Record) -> Noted:
    """Label rate of 2ND-ORDER in the last window, percent."""
    rows = CHOSEN["sop-ss"](news.scored(record))
    first, last = (100 * news.ends(record, "rate", rows, "sop-ss", first=first) for first in (True, False))
    return Noted(last, f"in the last window, from {first.mean():.0f} in the first")


def since_the_middle(record: Record, *, column: str) -> Noted:
    """F or label rate of 2ND-ORDER in the last window less that in the middle of the stream."""
    windows = news.scored(record, "windows").query("key == 'sop-ss' and value == @AT")
    by_time = windows.pivot(index="rank", columns="t", values=column)
    middle, last = by_time.iloc[:, by_time.shape[1] // 2], by_time.iloc[:, -1]
    return Noted(last - middle, f"({column} {last.mean():.3f} after {middle.mean():.3f} in the middle)")


ON_OTHERS = f"b = {AT:g}, those of the rivals chosen on the other half of the topics"
FIG_3_B.claims += [
    Claim("b's are chosen so that 2ND-ORDER has just slightly the larger F-measure",
        between(named({name: news.paired("f", CHOSEN["sop-ss"], CHOSEN[key]) for key, name in RIVALS.items()}),
            0.0, 0.03, open=True), "just slightly larger", ON_OTHERS),
    *(Claim(f"2ND-ORDER then asks for fewer labels than {name}",
        below(news.paired("rate", CHOSEN["sop-ss"], CHOSEN[key], percent=True), unit=" points"), "largely best",
        ON_OTHERS) for key, name in RIVALS.items()),
    Claim("in the end 2ND-ORDER asks for less than 19 % of the labels", at_most(last_rate, 19.0, open=True, unit=" %"),
        "less than 19 %", f"last 2,000 stories, of a third of the paper's; {ON_OTHERS}"),
    Claim("2ND-ORDER tends to be unaffected by observing less and less labels",
        both(at_least(partial(since_the_middle, column="f"), -news.SAME),
            below(partial(since_the_middle, column="rate"))),
        "conclusion (1)", "last window less that in the middle of the stream"),
    Claim("the update sets of both orders are smaller than with all labels",
        below(named({name: news.paired("stored", CHOSEN[key], news.of(full))
            for name, key, full in (("2ND-ORDER", "sop-ss", "sop"), ("1ST-ORDER", "perceptron-ss", "perceptron"))})),
        "significantly smaller (remark 1)", "updates, paired over topics"),
    wide_enough(news.inside(CHOSEN)),
]  # fmt: skip


def _at_values(record: Record, values: Mapping[str, float]) -> Figure:
    groups = [(f"{news.NAMES[key]}, {value:g}", key, value) for key, value in values.items()]
    return news.curves(record, groups, CURVES)


@FIG_3_B.picture("fig-3-b")
def at_most_frequent_values(record: Record) -> Figure:
    """Draw every sampler at the value that is chosen on most topics."""
    scores = news.scored(record)
    return _at_values(record, {key: float(select(scores)["value"].mode().iloc[0]) for key, select in CHOSEN.items()})


# -- panel c -------------------------------------------------------------------------------------------------------


def on_category(record: Record, key: str) -> Frame:
    """Return the runs on the category, at the value that panel b's rule takes on it, as the paper does."""
    own = news.scored(record).query("rank == @CATEGORY")
    value = PICKS[key](news.mean_by_value(own, key), own)
    rows = news.with_scores(record["totals"])
    own = rows[(rows["rank"] == CATEGORY) & (rows["key"] == key) & (rows["value"] == value)]
    return own.set_index("run").sort_index()


def inside_on_category(record: Record) -> Samples:
    """How far inside its grid every parameter lies that is chosen for the category."""
    grids = record["totals"].groupby("key")["value"]
    return {news.NAMES[key]: steps_inside(on_category(record, key)["value"], grids.get_group(key)) for key in SAMPLERS}


def on_category_less(column: str, rival: str) -> Measure:
    """Measure a column of 2ND-ORDER on the category less that of a rival, run by run."""

    def measure(record: Record) -> Samples:
        ours, theirs = on_category(record, "sop-ss"), on_category(record, rival)
        note = f"({ours[column].mean():.3f} against {theirs[column].mean():.3f}, topic {ours['topic'].iloc[0]})"
        return {column: Noted(ours[column] - theirs[column], note)}

    return measure


def emphasis(record: Record, *, rival: str) -> Noted:
    """Ratio of labels on the other topics less that on the category."""
    scores = news.scored(record)
    here = float(on_category(record, "sop-ss")["rate"].mean() / on_category(record, rival)["rate"].mean())
    ratio = (CHOSEN["sop-ss"](scores)["rate"] / CHOSEN[rival](scores)["rate"]).drop(index=CATEGORY)
    return Noted(ratio - here, f"({here:.2f} of the labels on the category, {ratio.mean():.2f} on the others)")


FIG_3_C.claims += [
    *(Claim(f"on a frequent category 2ND-ORDER asks for fewer labels than {name}, and is as good",
        both(below(on_category_less("rate", rival)), at_least(on_category_less("f", rival), -news.SAME)),
        "same comparison", f"over {COINS} runs; parameters chosen on the category itself")
      for rival, name in RIVALS.items()),
    *(Claim(f"on the most frequent category the advantage over {name} is emphasised",
        above(partial(emphasis, rival=rival)), "emphasized",
        "ratio of labels on the other topics, less that on the category") for rival, name in RIVALS.items()),
    wide_enough(inside_on_category),
]  # fmt: skip


@FIG_3_C.picture("fig-3-c")
def the_category(record: Record) -> Figure:
    """Draw every sampler on the category."""
    own = {"windows": record["windows"][record["windows"]["rank"] == CATEGORY]}
    return _at_values(own, {key: float(on_category(record, key)["value"].iloc[0]) for key in SAMPLERS})


# -- panel d -------------------------------------------------------------------------------------------------------


def at_all_b(ours: str, theirs: str) -> Callable[[Record], Any]:
    """Measure F of one sampler less that of another at each b, whose label rate both have."""

    def measure(record: Record) -> Any:
        values = sorted(set(news.scored(record)["value"]))
        return named({f"b = {b:g}": news.paired("f", news.of(ours, b), news.of(theirs, b)) for b in values})(record)

    return measure


def shrinkage(record: Record) -> Noted:
    """The difference at the smallest b less that at the largest."""
    gaps = at_all_b("sop-ss", "sop-fixed-bias")(record)
    first, *_, last = (gap.sample for gap in gaps.values())
    words = ", ".join(f"{name}: {gap.sample.mean():+.3f}" for name, gap in gaps.items())
    return Noted(first - last, f"(gaps by {words})")


FIG_3_D.claims += [
    Claim("2ND-ORDER outperforms FIXED-BIAS at every b", above(at_all_b("sop-ss", "sop-fixed-bias")), "outperforms"),
    Claim("the difference shrinks as b gets larger", above(shrinkage), "tends to shrink"),
    Claim("2ND-ORDER-FIXED-BIAS outperforms 1ST-ORDER-FIXED-BIAS at every rate",
        above(at_all_b("sop-fixed-bias", "random-perceptron")), "always (footnote 4)"),
]  # fmt: skip


@FIG_3_D.picture("fig-3-d", x="labels asked for, %", y="F-measure, mean over topics", x_scale="log")
def f_by_rate(record: Record) -> Frame:
    """Draw F against label rate."""
    return news.trade_off(news.scored(record), ("sop-ss", "sop-fixed-bias", "random-perceptron"))


EXPERIMENTS = (FIG_3_A, FIG_3_B, FIG_3_C, FIG_3_D)
