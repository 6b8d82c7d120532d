"""Table 4.1 of Monteleoni 2006: labels until the test error is low, six pairings of rule and update.

What it models: section 4.6 (`digit_runs`).  Labels are counted at the first touch of the test error, as in the
print, and also where the error then stays as low for 20 labels or to the end of the fold.  What
becomes of runs that never get there is not said in the print: they are counted and left out of the
means, and in a second view stand with the labels they spent on the whole fold.  Claims are judged on the first
touch with those runs left out; the other three views stand beside it.
What it leaves out: the pool-based references of the section (`svm`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import wilcoxon

from experiments.figures.papers import panels
from experiments.papers.registry import Claim, Experiment, Record, Rows, Setup, Verdict
from experiments.papers.thesis.digit_runs import DATA, KEYS, PROBLEMS, STAYS, folds, sweep, trace, tuned
from experiments.study.compare import estimate

__all__ = ["EXPERIMENTS"]

SEPARABLE = ("MNIST 0v1", "MNIST 0vAll", "MNIST 4v7", "MNIST 6v9", "USPS 0vAll")
VIEWS = {
    "first": "first touch", "first spent": "first touch, never at labels spent", "stayed": f"stays for {STAYS} labels",
    "stayed spent": "stays, never at labels spent",
}  # fmt: skip


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    return sweep(setup, tuple(PROBLEMS), 6)


def labels_needed(task: dict[str, Any]) -> Rows:
    """Tune and run all six pairings on one split of one problem."""
    error = PROBLEMS[task["problem"]].error
    common = {"problem": task["problem"], "split": task["split"]}
    runs, parameters = [], []
    for number, key in enumerate(KEYS):
        chosen = tuned(task, key)
        parameters.append({**common, "key": key, "parameters": str(chosen)})
        for fold in folds(task, number):
            found = trace(key, chosen, fold, error=error)
            runs.append(
                {**common, "fold": fold.number, "key": key, "first": found.first(error), "stayed": found.stayed(error),
                 "spent": found.spent}
            )  # fmt: skip
    return {"runs": runs, "tuned": parameters}


# -- what a record says --------------------------------------------------------------------------------------


def _split_means(record: Record, view: str = "first") -> pd.DataFrame:
    """Mean labels over a split's folds in one of the views: a row a problem and split, a column a key."""
    runs = record["runs"]
    column, _, spent = view.partition(" ")
    values = runs[column].where(runs[column] >= 0, runs["spent"] if spent else np.nan)
    runs = runs.assign(labels=values).dropna(subset=["labels"])
    table: pd.DataFrame = runs.pivot_table(index=["problem", "split"], columns="key", values="labels", aggfunc="mean")
    return table.reindex(columns=KEYS)


def _means(record: Record, view: str = "first") -> pd.DataFrame:
    table = _split_means(record, view).groupby(level="problem", sort=False).mean()
    return table.loc[[name for name in PROBLEMS if name in table.index]]


def _levels(name: str) -> Claim:
    printed = dict(zip(KEYS, PROBLEMS[name].printed, strict=True))

    def check(record: Record) -> Verdict:
        runs = record["runs"][record["runs"]["problem"] == name]
        if runs.empty:
            return Verdict("not run at this size", False, "a smaller size leaves it out")
        splits, spent = _split_means(record).loc[name], _means(record, "first spent").loc[name]
        words, off = [], []
        for key in KEYS:
            found = estimate(splits[key])
            never = int((runs.loc[runs["key"] == key, "first"] < 0).sum())
            words.append(
                f"{key} {found.mean:.0f} ± {found.half_width:.0f}"
                + (
                    f" ({never} of {sum(runs['key'] == key)} never: {spent[key]:.0f} with labels spent)"
                    if never
                    else ""
                )
            )
            if not 0.5 <= found.mean / printed[key] <= 2.0:
                off.append(
                    f"{key} is {found.mean / printed[key]:.2f} times the print, "
                    f"{splits[key].min():.0f} to {splits[key].max():.0f} by split"
                )
        return Verdict(", ".join(words), not off, "; ".join(off))

    return Claim(
        statement=f"{name}: labels until the test error is {PROBLEMS[name].error:g}",
        printed=", ".join(f"{key} {value:.0f}" for key, value in printed.items()), check=check,
        tolerance="every mean over splits within a factor of 2: a cell moves 5 to 40 % from split to split",
    )  # fmt: skip


def _fewer(low: str, high: str, printed: str, *, all_but: int = 0) -> Claim:
    def check(record: Record) -> Verdict:
        words, fewer = [], False
        for view, what in VIEWS.items():
            means = _means(record, view)[[low, high]].dropna()
            if means.empty:
                words.append(f"{what}: never")
                continue
            difference = means[low] - means[high]
            p = float(wilcoxon(difference, method="exact").pvalue) if len(difference) > 1 else 1.0
            count = int((difference < 0).sum())
            if view == "first":
                fewer = count >= len(difference) - all_but and len(difference) > all_but
            words.append(f"{what}: on {count} of {len(difference)}, p = {p:.4f}")
        ratio = ", ".join(f"{name} {row[low] / row[high]:.2f}" for name, row in _means(record).iterrows())
        return Verdict("; ".join(words), fewer, f"ratio of labels: {ratio}")

    wanted = "all problems" if not all_but else f"all problems but {all_but}"
    return Claim(
        statement=f"{low} needs fewer labels than {high} on {wanted}", printed=printed, check=check,
        tolerance="means over splits at the first touch; p is the exact two-sided Wilcoxon over the problems' means",
    )  # fmt: skip


def _separable(record: Record) -> Verdict:
    words, worse = [], []
    for view in ("first", "first spent"):
        splits = _split_means(record, view)
        said = []
        for name in [name for name in SEPARABLE if name in splits.index.get_level_values("problem")]:
            ratios = splits.loc[[name], "dkm-perceptron"].to_numpy() / splits.loc[[name], "perceptron-ss"].to_numpy()
            found = estimate(ratios)
            said.append(f"{name} {found.mean:.2f} ± {found.half_width:.2f}")
            if view == "first" and found.mean - np.nan_to_num(found.half_width) > 1.0:
                worse.append(name)
        words.append(f"{VIEWS[view]}: {', '.join(said)}")
    return Verdict(f"ratio of labels, {'; '.join(words)}", not worse, f"worse on {', '.join(worse)}")


def _factors(record: Record) -> Verdict:
    words = []
    for view in ("first", "first spent"):
        means = _means(record, view)
        best = means[["dkm", "dkm-perceptron", "cbgz-dkm", "perceptron-ss"]].min(axis=1)
        factors = means["random-perceptron"] / best
        if view == "first":
            holds = bool((factors > 1.0).all() and (factors >= 2.0).sum() > len(factors) / 2)
        words.append(f"{VIEWS[view]}: " + ", ".join(f"{name} {value:.2f}" for name, value in factors.items()))
    below = [name for name, value in factors.items() if value <= 1.0]
    return Verdict(
        "; ".join(words), holds,
        f"with never-runs at labels spent, {len(below)} problems need no fewer labels; factors by problem as given",
    )  # fmt: skip


def _draw(record: Record) -> Mapping[str, Figure]:
    frames, names = [], list(_means(record).index)
    for view, title in VIEWS.items():
        means = _means(record, view).reindex(names)
        rows = [
            {"group": key, "x": place, "y": float(means.loc[name, key])}
            for key in KEYS
            for place, name in enumerate(names)
        ]
        frames.append((title, pd.DataFrame(rows).dropna(subset=["y"])))
    figure = panels(frames, x="", y="labels asked for", y_scale="log")
    for axes in figure.axes:
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    return {"table-4-1": figure}


EXPERIMENTS = (
    Experiment(
        name="thesis/table-4-1", claim="labels until the test error is low, on digits, six algorithms", time="1 min",
        sweep=_sweep, run=labels_needed,
        claims=(
            *(_levels(name) for name in PROBLEMS),
            _fewer("dkm-perceptron", "random-perceptron", "all but one, p = 0.0313", all_but=1),
            _fewer("perceptron-ss", "random-perceptron", "p = 0.0156"),
            _fewer("dkm", "random-dkm", "p = 0.0156"),
            _fewer("dkm-perceptron", "dkm", "p = 0.0156"),
            _fewer("perceptron-ss", "cbgz-dkm", "p = 0.0156"),
            _fewer("random-perceptron", "random-dkm", "p = 0.0156"),
            _fewer("dkm", "cbgz-dkm", "all but one, p = 0.0469", all_but=1),
            Claim(
                statement="on the separable problems dkm-perceptron needs no more labels than perceptron-ss",
                printed="fewest labels of all", check=_separable,
                tolerance="ratio over splits: 1 or less, or its 95 % interval reaches 1",
            ),
            Claim(
                statement="random sampling needs more labels than the best active method, mostly twice as many",
                printed="6.08, 1.81, 2.45, 5.09, 1.26, 1.99, 1.30", check=_factors,
                tolerance="more everywhere, at least twice on more than half",
            ),
        ),
        figures=_draw, **DATA,
    ),
)  # fmt: skip
