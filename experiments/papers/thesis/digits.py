"""Table 4.1 and figures 4-5 and 4-6 of Monteleoni 2006: six pairings of rule and update on digits.

What it models: the runs of section 4.6 (`digit_runs`).  In table 4.1 labels are counted at the first touch of the test
error, as in the print, and also where the error then stays as low for 20 labels or to the end of the fold.  What
becomes of runs that never get there is not said in the print: they are counted and left out of the means, and in a
second view stand with the labels they spent on the whole fold.  Claims are judged on the first touch with those runs
left out; the other three views stand beside it.

The two figures follow the runs to the end of every fold, 20 splits of 10 folds.  Figure 4-5 takes the mean number of
labels at the first touch of each accuracy, at those accuracies only that 95 % of the runs reached (one stalled run of
50 would remove all otherwise); two rules that have no such accuracy in common cannot be compared, which counts against
the claim.  Figure 4-6 takes the
mean test error of all runs after a number of labels; a run that asks for no more keeps its last error, and a curve
ends where more than half of its runs have ended.
What it leaves out: the pool-based references of the section (`svm`), and the thresholds and axes of the figures, which
are printed without numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import wilcoxon

from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Frame, Noted, Samples
from experiments.papers.kit import Experiment, Rows
from experiments.papers.predicates import (
    at_least,
    at_most,
    below,
    between,
    both,
    explained_by,
    reaching,
    smallest,
    wide_enough,
)
from experiments.papers.thesis.digit_runs import (
    DATA,
    KEYS,
    PRINTED,
    PROBLEMS,
    STAYS,
    inside_grids,
    present,
    runs,
    sweep,
)
from experiments.report.text import plus_minus

__all__ = ["EXPERIMENTS", "problem_axis"]

ACTIVE = ("dkm", "dkm-perceptron", "cbgz-dkm", "perceptron-ss")
SEPARABLE = ("MNIST 0v1", "MNIST 0vAll", "MNIST 4v7", "MNIST 6v9", "USPS 0vAll")
VIEWS = {
    "first": "first touch",
    "first spent": "first touch, never at labels spent",
    "stayed": f"stays for {STAYS} labels",
    "stayed spent": "stays, never at labels spent",
}
EFFICIENCY = ("MNIST 4v7", "MNIST 0v1", "USPS 0vAll", "MNIST 0vAll")
CURVES = ("MNIST 0v1", "MNIST 147vAll", "USPS 0vAll", "MNIST 0vAll")
FACTORS = tuple(2.0 ** (-k / 4) for k in range(-8, 13))  # of the error each problem was tuned for
MOST_RUNS = 0.95  # that have to reach a threshold
LABELS = tuple(round(2.0 ** (k / 2)) for k in range(2, 25))  # 2 to 4096
NO_THRESHOLD = "no threshold that 95 % of the runs of both reached"
RULES = (("dkm", "cbgz-dkm"), ("dkm-perceptron", "perceptron-ss"))  # both rules with each update

TABLE_4_1 = Experiment(
    "thesis/table-4-1", "labels until the test error is low, on digits, six algorithms", "35 min", DATA
)
FIG_4_5 = Experiment("thesis/fig-4-5", "labels needed against test accuracy, on digits, six algorithms", "50 min", DATA)


@TABLE_4_1.runs(sweep(tuple(PRINTED), 20))
def labels_needed(**task: Any) -> Rows:
    """Tune and run all six pairings on one split of one problem."""
    error = PROBLEMS[task["problem"]].error
    traces, tuned = runs(task, error)
    rows = [
        {**named, "first": run.first(error), "stayed": run.stayed(error), "spent": run.spent} for named, run in traces
    ]
    return {"runs": rows, "tuned": tuned}


@FIG_4_5.runs(sweep(tuple(dict.fromkeys(EFFICIENCY + CURVES)), 20))
def whole_folds(**task: Any) -> Rows:
    """Tune and run all six pairings on one split of one problem, each fold to its end."""
    error = PROBLEMS[task["problem"]].error
    traces, tuned = runs(task, None)
    rows, touches, curves = [], [], []
    for named, run in traces:
        ends = {"final": float(run.errors[-1]), "spent": run.spent, "late": run.late, "last": run.last}
        rows.append({**named, "first": run.first(error), **ends})
        touches += [{**named, "error": error * own, "labels": run.first(error * own)} for own in FACTORS]
        places = np.searchsorted(run.labels, LABELS, side="right") - 1
        curves += [
            {**named, "labels": count, "error": float(run.errors[place])}
            for count, place in zip(LABELS, places.tolist(), strict=True)
            if place >= 0 and count <= run.spent
        ]
    return {"runs": rows, "touches": touches, "curves": curves, "tuned": tuned}


FIG_4_6 = FIG_4_5.view(
    "thesis/fig-4-6",
    "test error against labels, on digits; who stops asking",
    "as long as fig-4-5, whose runs it takes where they are",
)

# -- table 4.1 -----------------------------------------------------------------------------------------------------


def split_means(runs: Frame, view: str = "first") -> Frame:
    """Return mean labels over a split's folds in one of the views: a row a problem and split, a column a key."""
    column, _, spent = view.partition(" ")
    labels = runs[column].where(runs[column] >= 0, runs["spent"] if spent else np.nan)
    rows = runs.assign(labels=labels).dropna(subset=["labels"])
    return rows.pivot_table(index=["problem", "split"], columns="key", values="labels").reindex(columns=KEYS)


def means(runs: Frame, view: str = "first") -> Frame:
    """Return their means over splits, a row a problem."""
    table = split_means(runs, view).groupby(level="problem", sort=False).mean()
    return table.loc[[name for name in PROBLEMS if name in table.index]]


for one, problem in PRINTED.items():
    printed = {key: mean for key, (mean, _) in zip(KEYS, problem.printed, strict=True)}

    @TABLE_4_1.claim(
        f"{one}: labels until the test error is {problem.error:g}", between,
        ", ".join(f"{key} {value:.0f}" for key, value in printed.items()),
        "doublings over the printed count, every mean over splits: a cell moves 5 to 40 % from split to split",
        low=-1.0, high=1.0,
        no_test="the printed counts are so alike that any of them would do for another" if "147" in one else "",
    )  # fmt: skip
    def over_print(runs: Frame, name: str = one, printed: dict[str, float] = printed) -> Any:
        """Logarithm to base 2 of labels over the printed ones, by algorithm."""
        own = runs[runs["problem"] == name]
        if own.empty:
            return None
        splits, spent = split_means(own).loc[name], means(own, "first spent").loc[name]
        never = (own["first"] < 0).groupby(own["key"]).sum()
        notes = {key: f"; {never[key]} runs never: {spent[key]:.0f} with labels spent" for key in KEYS if never[key]}
        return {
            key: Noted(np.log2(splits[key] / printed[key]), f"({splits[key].mean():.0f}{notes.get(key, '')})")
            for key in KEYS
        }


def _ratios(runs: Frame, low: str, high: str) -> Samples:
    """Return labels of one algorithm over those of another, by problem."""
    table = means(runs)[[low, high]].dropna()
    return (table[low] / table[high]).to_dict()


for low, high, printed_p in (
    ("dkm-perceptron", "random-perceptron", "all but one, p = 0.0313"),
    ("perceptron-ss", "random-perceptron", "p = 0.0156"),
    ("dkm", "random-dkm", "p = 0.0156"),
    ("dkm-perceptron", "dkm", "p = 0.0156"),
    ("perceptron-ss", "cbgz-dkm", "p = 0.0156"),
    ("random-perceptron", "random-dkm", "p = 0.0156"),
    ("dkm", "cbgz-dkm", "all but one, p = 0.0469"),
):
    all_but = int(printed_p.startswith("all but one"))

    def every_ratio(runs: Frame, low: str = low, high: str = high) -> str:
        """Say the ratio of labels on every problem."""
        return "ratio of labels " + ", ".join(f"{name} {own:.2f}" for name, own in _ratios(runs, low, high).items())

    @TABLE_4_1.claim(
        f"{low} needs fewer labels than {high} on all problems{' but 1' if all_but else ''}", at_most, printed_p,
        "means over splits at the first touch; p is the exact two-sided Wilcoxon over the problems' means",
        limit=all_but, unit=" problems where it does not", why=every_ratio,
    )  # fmt: skip
    def others(runs: Frame, low: str = low, high: str = high, all_but: int = all_but) -> Any:
        """Problems on which it does not need fewer at the first touch, with counts and p in every view."""
        words = []
        for view, what in VIEWS.items():
            table = means(runs, view)[[low, high]].dropna()
            less = table[low] - table[high]
            p = f", p = {wilcoxon(less, method='exact').pvalue:.4f}" if set(less.index) >= set(PRINTED) else ""
            words.append(f"{what}: on {int((less < 0).sum())} of {len(less)}{p}")
        ratios = _ratios(runs, low, high)
        count = sum(ratio >= 1.0 for ratio in ratios.values())
        return Noted(count, f"({'; '.join(words)})") if len(ratios) > all_but else None


def over_coin(runs: Frame, *, view: str = "first") -> Samples:
    """Labels of dkm-perceptron over those of perceptron-ss, split by split, on the separable problems."""
    splits = split_means(runs, view)
    ratio = splits["dkm-perceptron"] / splits["perceptron-ss"]
    return {name: ratio.loc[name] for name in SEPARABLE if name in splits.index.get_level_values("problem")}


def factors(runs: Frame, *, view: str = "first") -> Samples:
    """Labels of random sampling over those of the best active method, by problem."""
    table = means(runs, view)
    return (table["random-perceptron"] / table[list(ACTIVE)].min(axis=1)).to_dict()


SPENT = "with never-runs at labels spent"


def cells(runs: Frame) -> Frame:
    """Return mean and standard deviation of the labels over all runs that reached the error, by problem and key."""
    reached = runs[runs["first"] >= 0]
    table: Frame = reached.groupby(["problem", "key"])["first"].agg(["mean", "std"])
    return table


def not_least(runs: Frame, *, column: str, names: tuple[str, ...], key: str) -> Noted | None:
    """Count the problems on which another algorithm has the least mean or standard deviation."""
    table = cells(runs)[column].unstack("key").reindex(index=[n for n in names if n in set(runs["problem"])]).dropna()
    least = table.idxmin(axis=1)
    words = ", ".join(f"{name} {own}" for name, own in least.items())
    return Noted(int((least != key).sum()), f"({words})") if len(table) == len(names) else None


def difference_of_best(runs: Frame) -> Samples:
    """Wilcoxon's p of the difference between dkm-perceptron and perceptron-ss over the problems of the thesis."""
    table = means(runs)[["dkm-perceptron", "perceptron-ss"]].dropna()
    if not set(table.index) >= set(PRINTED):
        return {}
    return {"p": float(wilcoxon(table.iloc[:, 0] - table.iloc[:, 1], method="exact").pvalue)}


UNSEPARABLE = tuple(name for name in PRINTED if name not in SEPARABLE)
TABLE_4_1.claims += [
    Claim("dkm-perceptron needs fewest labels of all on all problems but 2",
        at_most(partial(not_least, column="mean", names=tuple(PRINTED), key="dkm-perceptron"), 2,
            unit=" problems where it does not"), "all but two", "means over all runs that reach the error"),
    Claim("on the two problems that are not separable perceptron-ss does",
        at_most(partial(not_least, column="mean", names=UNSEPARABLE, key="perceptron-ss"), 0,
            unit=" problems where it does not"), "the only two unseparable problems"),
    Claim("dkm-perceptron's labels vary least, on all problems but 1",
        at_most(partial(not_least, column="std", names=tuple(PRINTED), key="dkm-perceptron"), 1,
            unit=" problems where they do not"), "all but one", "standard deviation of all runs that reach the error"),
    Claim("dkm-perceptron and perceptron-ss do not differ significantly", at_least(difference_of_best, 0.05, open=True),
        "not statistically significant", "exact two-sided Wilcoxon over the problems' means"),
    Claim("on the separable problems dkm-perceptron needs no more labels than perceptron-ss",
        reaching(over_coin, high=1.0), "fewest labels of all", "ratio over splits",
        why=explained_by(SPENT, partial(over_coin, view="first spent"))),
    Claim("random sampling needs more labels than the best active method, mostly twice as many",
        both(at_least(factors, 1.0, open=True), at_least(factors, 2.0, needed=0.5)),
        "6.08, 1.81, 2.45, 5.09, 1.26, 1.99, 1.30", "factor in labels, by problem",
        why=explained_by(SPENT, partial(factors, view="first spent"))),
    wide_enough(inside_grids),
]  # fmt: skip


NAMES = dict(zip(KEYS, ("DKM^2", "DKMperc", "CBGZ_DKM", "CBGZperc", "randDKM", "randPerc"), strict=True))


@TABLE_4_1.table("table-4-1")
def as_printed(runs: Frame) -> Frame:
    """Return the table in the thesis' shape, mean +- standard deviation, printed and ours, a problem two rows."""
    own, rows = cells(runs), []
    for name in dict.fromkeys(runs["problem"]):
        ours = {key: tuple(own.loc[(name, key)]) for key in KEYS if (name, key) in own.index}
        for whose, cell in (("printed", dict(zip(KEYS, PROBLEMS[name].printed, strict=False))), ("ours", ours)):
            if cell:
                words = {key: plus_minus(*cell[key]) if key in cell else "" for key in KEYS}
                named = {f"{NAMES[key]} ({key})": words[key] for key in KEYS}
                rows.append({"problem": f"{name} ({PROBLEMS[name].error:g})", "whose": whose, **named})
    return pd.DataFrame(rows)


@TABLE_4_1.picture("table-4-1")
def labels_by_problem(runs: Frame) -> Figure:
    """Draw mean labels by problem, a panel a view."""
    names = list(means(runs).index)
    frames = [(title, by_place(means(runs, view).reindex(names))) for view, title in VIEWS.items()]
    return problem_axis(panels(frames, x="", y="labels asked for", y_scale="log"), names)


def by_place(table: Frame) -> Frame:
    """Return a group a column of a table, with x the place of the row."""
    long = table.reset_index(drop=True).melt(var_name="group", value_name="y", ignore_index=False)
    return long.rename_axis("x").reset_index().dropna(subset=["y"])


def problem_axis(figure: Figure, names: list[str]) -> Figure:
    """Write the names of problems along the axis x of a figure."""
    for axes in figure.axes:
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    return figure


# -- figure 4-5 ------------------------------------------------------------------------------------------------


def _of(rows: Frame, name: str) -> Frame:
    return rows[rows["problem"] == name]


def efficiency(touches: Frame, name: str) -> Frame:
    """Return mean labels by accuracy: a row a threshold, a column a key, NaN where too few runs reached it."""
    own = _of(touches, name)
    grouped = own["labels"].where(own["labels"] >= 0).groupby([own["error"], own["key"]])
    table = grouped.mean().where(grouped.count() >= MOST_RUNS * grouped.size()).unstack("key").reindex(columns=KEYS)
    return table.sort_index(ascending=False)


def _reached(runs: Frame, name: str, keys: tuple[str, ...]) -> str:
    """Say how many runs reached the error that was tuned for."""
    own = _of(runs, name)
    counts = ", ".join(f"{key} {int((own.loc[own['key'] == key, 'first'] >= 0).sum())}" for key in keys)
    return f"the tuned error was reached by {counts} of {len(own) // len(KEYS)} runs"


@FIG_4_5.claim(
    "MNIST 0v1: the halving rule uses more labels than the coin, with one of the updates", at_least,
    "at most of the thresholds",
    "median over the thresholds that 95 % of the runs of both reached; where there is none, it fails", limit=1.0,
    open=True, needed=1,
)  # fmt: skip
def over_coin_rule(touches: Frame, runs: Frame) -> Samples:
    """Labels of the halving rule over those of the coin on MNIST 0v1, median over thresholds."""
    name, samples = "MNIST 0v1", {}
    for dkm, coin in RULES if name in set(runs["problem"]) else ():
        table = efficiency(touches, name)
        ratios = (table[dkm] / table[coin]).dropna()
        note = f"{int((ratios > 1.0).sum())} of {len(ratios)} thresholds above 1" if len(ratios) else NO_THRESHOLD
        note = f"({note}; {_reached(runs, name, (dkm, coin))})"
        samples[f"{dkm} over {coin}:"] = Noted(np.median(ratios) if len(ratios) else [], note)
    return samples


def slowest_gain(touches: Frame, runs: Frame, *, names: tuple[str, ...]) -> Samples:
    """Labels gained from the loosest to the tightest threshold that 95 % of the runs reached, halving rule over coin.

    By problem, the smaller of those with either update; no number where none has two such thresholds between which
    the coin's labels grow.
    """
    samples = {}
    for name in (name for name in names if name in set(runs["problem"])):
        table, ratios, words = efficiency(touches, name), [], []
        for dkm, coin in RULES:
            pair = table[[dkm, coin]].dropna()
            if len(pair) < 2:
                words.append(f"{dkm} and {coin}: {NO_THRESHOLD if pair.empty else 'one threshold alone'}")
                continue
            gained = pair.iloc[-1] - pair.iloc[0]
            labels = ", ".join(f"{key} {pair[key].iloc[0]:.0f} to {pair[key].iloc[-1]:.0f}" for key in (dkm, coin))
            grows = gained[coin] > 0
            ratios += [float(gained[dkm] / gained[coin])] if grows else []
            idle = "" if grows else ", where the coin's do not grow"
            words.append(f"from error {pair.index[0]:.4f} to {pair.index[-1]:.4f} {labels}{idle}")
        samples[f"{name}:"] = Noted(min(ratios) if ratios else [], f"({'; '.join(words)})")
    return samples


def winners_elsewhere(touches: Frame, runs: Frame) -> Samples:
    """Thresholds at which another algorithm needs fewer labels than the one that is best at the tuned error."""
    samples = {}
    for name in present(EFFICIENCY, runs):
        table = efficiency(touches, name)
        winner = table.iloc[FACTORS.index(1.0)].dropna()
        if len(winner):
            best = str(winner.idxmin())
            fewest = table.dropna(subset=[best]).idxmin(axis=1)
            others = [f"{key} at {error:.4f}" for error, key in fewest.items() if str(key) != best]
            samples[f"{name}:"] = Noted(len(others), f"({best}; {', '.join(others) or 'nowhere another'})")
    return samples


FIG_4_5.claims += [
    Claim("MNIST 0v1: as the error falls, the halving rule's labels increase much slower",
        at_most(partial(slowest_gain, names=("MNIST 0v1",)), 0.5), "much slower",
        "labels gained between the loosest and the tightest threshold that 95 % of the runs reached, with one of the "
        "updates; where there are no two with either, it fails"),
    Claim("on some problems the halving rule's labels increase slower",
        at_most(partial(slowest_gain, names=EFFICIENCY), 1.0, needed=1), "some of the plots",
        "labels gained, with one of the updates, on one problem"),
    Claim("the algorithm that needs fewest labels at one threshold need not be it at all",
        at_least(winners_elsewhere, 1, needed=1),
        reason="another needs fewer at a threshold where both are drawn, on one problem"),
    wide_enough(inside_grids),
]  # fmt: skip


@FIG_4_5.picture("fig-4-5", x="test accuracy", y="labels asked for", y_scale="log")
def labels_by_accuracy(touches: Frame, runs: Frame) -> Iterator[tuple[str, Frame]]:
    """Draw mean labels against accuracy, a panel a problem."""
    for name in present(EFFICIENCY, runs):
        table = efficiency(touches, name)
        lines = [pd.DataFrame({"group": key, "x": 1.0 - table.index, "y": table[key].to_numpy()}) for key in KEYS]
        yield name, pd.concat(lines).dropna(subset=["y"])


# -- figure 4-6 ------------------------------------------------------------------------------------------------


@FIG_4_6.claim(
    "MNIST 0v1 is the easiest of the four problems for every algorithm", at_most, "extremely separable",
    "mean test error at the end of the fold, over the least on another problem", limit=1.0,
)  # fmt: skip
def over_others(runs: Frame) -> Any:
    """Mean test error at the end on MNIST 0v1 over the least on another problem, by algorithm."""
    finals = 100 * runs[runs["problem"].isin(CURVES)].pivot_table(index="problem", columns="key", values="final")
    if "MNIST 0v1" not in finals.index:
        return None
    own, least = finals.loc["MNIST 0v1"], finals.drop(index="MNIST 0v1").min()
    return {key: Noted(own[key] / least[key], f"({own[key]:.2f} against {least[key]:.2f} %)") for key in KEYS}


def first_touch(runs: Frame, *, name: str) -> Any:
    """Labels at the first touch of the error, a number a run that reached it."""
    reached = _of(runs, name).query("first >= 0")
    labels = {key: reached.loc[reached["key"] == key, "first"] for key in KEYS}
    every = _of(runs, name)
    charged = every["first"].where(every["first"] >= 0, every["spent"]).groupby(every["key"]).mean()
    never = (every["first"] < 0).groupby(every["key"]).sum()
    words = {key: f"; {never[key]} never: {charged[key]:.0f} with labels spent" for key in KEYS if never.get(key)}
    notes = {key: f"({len(own)} runs{words.get(key, '')})" for key, own in labels.items()}
    return {key: Noted(own, notes[key]) for key, own in labels.items()} if len(reached) else None


def behind_by_split(runs: Frame, *, name: str) -> str:
    """Say by how many labels dkm-perceptron is behind the best one, split by split."""
    reached = _of(runs, name).query("first >= 0")
    splits = reached.pivot_table(index="split", columns="key", values="first").reindex(columns=KEYS)
    best = str(splits.mean().idxmin())
    behind = ", ".join(f"{value:.0f}" for value in splits["dkm-perceptron"] - splits[best])
    return f"{best} needs fewer; dkm-perceptron's labels beyond it, by split: {behind}; {_reached(runs, name, KEYS)}"


def late_labels(runs: Frame, *, name: str) -> Samples:
    """Labels that dkm-perceptron asks for in the second half of the fold, less those of two others, by split."""
    own = _of(runs, name)
    late = own.pivot_table(index="split", columns="key", values="late")
    silent = 100 * (own.loc[own["key"] == "dkm-perceptron", "last"] <= 0.5).mean()
    return {
        f"than {key}": Noted(
            late["dkm-perceptron"] - late[key],
            f"({late['dkm-perceptron'].mean():.0f} against {late[key].mean():.0f}; {silent:.0f} % of its runs without)",
        )
        for key in (("dkm", "perceptron-ss") if len(own) else ())
    }


def final_errors(runs: Frame, *, name: str) -> Samples:
    """Test error at the end less that of dkm-perceptron, points, split by split."""
    own = _of(runs, name)
    finals = 100 * own.pivot_table(index="split", columns="key", values="final")
    return {
        key: Noted(finals[key] - base, f"({finals[key].mean():.2f} against {base.mean():.2f} %)")
        for key in (("dkm", "perceptron-ss") if len(own) else ())
        for base in [finals["dkm-perceptron"]]
    }


for one in ("USPS 0vAll", "MNIST 0vAll"):  # the imbalanced problems
    FIG_4_6.claims += [
        Claim(f"{one}: dkm-perceptron gets to the test error with fewer labels than all others",
            smallest(partial(first_touch, name=one), "dkm-perceptron"), "at a faster rate",
            "mean at the first touch, runs that never get there left out", why=partial(behind_by_split, name=one)),
        Claim(f"{one}: then it asks for fewer labels than dkm and perceptron-ss, which continue",
            below(partial(late_labels, name=one), unit=" labels"), "not querying for any more labels",
            "labels in the second half of the fold, paired over splits"),
        Claim(f"{one}: dkm and perceptron-ss eventually reach lower error than dkm-perceptron",
            below(partial(final_errors, name=one), unit=" points"), "lower error",
            "at the end of the fold, paired over splits"),
    ]  # fmt: skip
FIG_4_6.claims.append(wide_enough(inside_grids))


@FIG_4_6.picture("fig-4-6", x="labels asked for", y="test error", x_scale="log", y_scale="log")
def error_by_labels(runs: Frame, curves: Frame) -> Iterator[tuple[str, Frame]]:
    """Draw the mean test error by labels, ended runs at their last error; up to where half of the runs have ended."""
    for name in present(CURVES, runs):
        rows = []
        for key in KEYS:
            own = _of(runs, name).query("key == @key").set_index(["split", "fold"])
            table = (
                _of(curves, name).query("key == @key").pivot(index=["split", "fold"], columns="labels", values="error")
            )
            for labels in table.columns:
                going = own["spent"] >= labels
                if going.mean() < 0.5:
                    break
                errors = table[labels].reindex(own.index).where(going, own["final"]).dropna()
                rows.append((key, labels, float(errors.mean())))
        yield name, pd.DataFrame(rows, columns=["group", "x", "y"])


EXPERIMENTS = (TABLE_4_1, FIG_4_5, FIG_4_6)
