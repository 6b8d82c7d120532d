"""Figures 4-5 and 4-6 of Monteleoni 2006: labels against test accuracy, and test error against labels.

What it models: the runs of table 4.1 (`digit_runs`), followed to the end of every fold, on the problems of the two
figures; 5 splits of 10 folds.  Figure 4-5 takes the mean number of labels at the first touch of each accuracy, at
those accuracies only that every run reached, as the print does.  Figure 4-6 takes the mean test
error of all runs after a number of labels; a run that asks for no more keeps its last error, and a
curve ends where more than half of its runs have ended.  When a run asked for its last label
is recorded with it.
What it leaves out: the thresholds and axes of the print, whose pictures have no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.registry import Claim, Experiment, Record, Rows, Setup, Verdict
from experiments.papers.thesis.digit_runs import DATA, KEYS, PROBLEMS, folds, sweep, trace, tuned
from experiments.study.compare import estimate

__all__ = ["EXPERIMENTS"]

EFFICIENCY = ("MNIST 4v7", "MNIST 0v1", "USPS 0vAll", "MNIST 0vAll")
CURVES = ("MNIST 0v1", "MNIST 147vAll", "USPS 0vAll", "MNIST 0vAll")
IMBALANCED = ("USPS 0vAll", "MNIST 0vAll")
FACTORS = tuple(2.0 ** (-k / 2) for k in range(-4, 7))  # of the error each problem was tuned for
LABELS = tuple(round(2.0 ** (k / 2)) for k in range(2, 25))  # 2 to 4096
RULES = (("dkm", "cbgz-dkm"), ("dkm-perceptron", "perceptron-ss"))  # both rules with each update


def _sweep(names: tuple[str, ...]) -> Callable[[Setup], dict[str, dict[str, Any]]]:
    return lambda setup: sweep(setup, names, 5)


def whole_folds(task: dict[str, Any]) -> Rows:
    """Tune and run all six pairings on one split of one problem, each fold to its end."""
    error = PROBLEMS[task["problem"]].error
    runs, touches, curves = [], [], []
    for number, key in enumerate(KEYS):
        parameters = tuned(task, key)
        for fold in folds(task, number):
            found = trace(key, parameters, fold)
            common = {"problem": task["problem"], "split": task["split"], "fold": fold.number, "key": key}
            runs.append(
                {**common, "first": found.first(error), "final": float(found.errors[-1]), "spent": found.spent,
                 "late": found.late, "last": found.last}
            )  # fmt: skip
            touches += [
                {**common, "error": error * factor, "labels": found.first(error * factor)} for factor in FACTORS
            ]
            places = np.searchsorted(found.labels, LABELS, side="right") - 1
            curves += [
                {**common, "labels": count, "error": float(found.errors[place])}
                for count, place in zip(LABELS, places.tolist(), strict=True)
                if place >= 0 and count <= found.spent
            ]
    return {"runs": runs, "touches": touches, "curves": curves}


# -- figure 4-5 ------------------------------------------------------------------------------------------------


def _efficiency(record: Record, name: str) -> pd.DataFrame:
    """Mean labels by accuracy: a row a threshold, a column a key, NaN where some run never reached it."""
    own = record["touches"][record["touches"]["problem"] == name]
    grouped = own.groupby(["error", "key"])["labels"]
    table: pd.DataFrame = grouped.mean().where(grouped.min() >= 0).unstack("key").reindex(columns=KEYS)
    return table.sort_index(ascending=False)


def _reached(record: Record, name: str, keys: tuple[str, ...]) -> str:
    """Say how many runs reached the tuned error."""
    own = record["runs"][record["runs"]["problem"] == name]
    return ", ".join(f"{key} {int((own.loc[own['key'] == key, 'first'] >= 0).sum())}" for key in keys) + (
        f" of {len(own) // len(KEYS)} runs"
    )


def _higher_usage(record: Record) -> Verdict:
    name = "MNIST 0v1"
    if name not in set(record["runs"]["problem"]):
        return Verdict("not run at this size", False, "a smaller size leaves it out")
    table = _efficiency(record, name)
    words, holds = [], True
    for dkm, coin in RULES:
        pair = table[[dkm, coin]].dropna()
        higher = int((pair[dkm] > pair[coin]).sum())
        holds = holds and higher > len(pair) / 2
        words.append(f"{dkm} above {coin} at {higher} of {len(pair)} thresholds that all runs reached")
    ratios = "; ".join(
        f"{dkm} over {coin}: " + ", ".join(f"{value:.2f} at error {error:.4f}" for error, value in quotients.items())
        for dkm, coin in RULES
        if len(quotients := (table[dkm] / table[coin]).dropna())
    )
    return Verdict(
        "; ".join(words), holds, f"reached {_reached(record, name, sum(RULES, ()))}; labels of {ratios or 'neither'}"
    )


def _growth(record: Record, name: str) -> dict[str, float]:
    """Labels gained from the loosest to the tightest threshold that all runs of both rules reached, by pair."""
    table = _efficiency(record, name)
    found = {}
    for dkm, coin in RULES:
        pair = table[[dkm, coin]].dropna()
        if len(pair) > 1:
            gained = pair.iloc[-1] - pair.iloc[0]
            found[f"{dkm} to {coin}"] = float(gained[dkm] / gained[coin]) if gained[coin] > 0 else float("inf")
    return found


def _ends(record: Record, name: str) -> str:
    """Say the labels at the loosest and the tightest threshold that all runs of both rules reached, by pair."""
    words = []
    for pair in RULES:
        both = _efficiency(record, name)[list(pair)].dropna()
        if len(both):
            labels = ", ".join(f"{key} {both[key].iloc[0]:.0f} to {both[key].iloc[-1]:.0f}" for key in pair)
            words.append(f"from error {both.index[0]:.4f} to {both.index[-1]:.4f} labels grow as {labels}")
    return f"{'; '.join(words)} ({_reached(record, name, ('dkm', 'dkm-perceptron'))} reach the error)"


def _slower(names: tuple[str, ...], most: float, tolerance: str, statement: str, printed: str) -> Claim:
    def check(record: Record) -> Verdict:
        present = [name for name in names if name in set(record["runs"]["problem"])]
        growth = {name: _growth(record, name) for name in present}
        words = "; ".join(
            f"{name}: " + (", ".join(f"{pair} {value:.2f}" for pair, value in found.items()) or "no two thresholds")
            for name, found in growth.items()
        )
        slow = [name for name, found in growth.items() if len(found) == len(RULES) and max(found.values()) <= most]
        why = "; ".join(f"{name}: {_ends(record, name)}" for name in present)
        return Verdict(f"labels gained, {words or 'not run at this size'}", bool(slow), why)

    return Claim(statement=statement, printed=printed, check=check, tolerance=tolerance)


def _winner_changes(record: Record) -> Verdict:
    words, changes = [], False
    for name in dict.fromkeys(record["runs"]["problem"]):
        table = _efficiency(record, name)
        tuned_for = table.iloc[FACTORS.index(1.0)].dropna()
        if tuned_for.empty:
            continue
        winner = str(tuned_for.idxmin())
        beaten = table.dropna(subset=[winner]).idxmin(axis=1)
        others = [f"{key!s} at {error:.4f}" for error, key in beaten.items() if str(key) != winner]
        changes = changes or bool(others)
        words.append(f"{name}: {winner}, {', '.join(others) or 'nowhere another'}")
    return Verdict("; ".join(words), changes, "the best one at the error it is tuned for is so wherever it is drawn")


def _draw_efficiency(record: Record) -> Mapping[str, Figure]:
    frames = []
    for name in dict.fromkeys(record["runs"]["problem"]):
        table = _efficiency(record, name)
        found = [pd.DataFrame({"group": key, "x": 1.0 - table.index, "y": table[key].to_numpy()}) for key in KEYS]
        frames.append((name, pd.concat(found).dropna(subset=["y"])))
    return {"fig-4-5": panels(frames, x="test accuracy", y="labels asked for", y_scale="log")}


# -- figure 4-6 ------------------------------------------------------------------------------------------------


def _fastest(record: Record, name: str) -> Verdict:
    own = record["runs"][record["runs"]["problem"] == name]
    reached = own[own["first"] >= 0]
    means = reached.groupby("key")["first"].mean().reindex(KEYS)
    words = ", ".join(f"{key} {value:.0f}" for key, value in means.items())
    if reached.empty:
        return Verdict("no run gets there", False, _reached(record, name, KEYS))
    best = str(means.idxmin())
    splits = reached.pivot_table(index="split", columns="key", values="first", aggfunc="mean").reindex(columns=KEYS)
    by_split = ", ".join(f"{value:.0f}" for value in splits["dkm-perceptron"] - splits[best])
    return Verdict(
        f"{words} labels to it ({_reached(record, name, KEYS)})", best == "dkm-perceptron",
        f"{best} needs fewer; dkm-perceptron's labels beyond it, by split: {by_split}",
    )  # fmt: skip


def _imbalanced(name: str) -> list[Claim]:
    def present(check: Callable[[pd.DataFrame, Record], Verdict]) -> Callable[[Record], Verdict]:
        def checked(record: Record) -> Verdict:
            own = record["runs"][record["runs"]["problem"] == name]
            if own.empty:
                return Verdict("not run at this size", False, "a smaller size leaves it out")
            return check(own, record)

        return checked

    def first(own: pd.DataFrame, record: Record) -> Verdict:
        return _fastest(record, name)

    def silent(own: pd.DataFrame, record: Record) -> Verdict:
        ends = own["last"] <= 0.5
        shares = {key: float(ends[own["key"] == key].mean()) for key in KEYS}
        stops, goes_on = shares["dkm-perceptron"] > 0.5, max(shares["dkm"], shares["perceptron-ss"]) <= 0.5
        spent = own.groupby("key")["spent"].median()
        words = ", ".join(
            f"{key} in {100 * shares[key]:.0f} % of runs, median {spent[key]:.0f} labels in all"
            for key in ("dkm-perceptron", "dkm", "perceptron-ss")
        )
        late = own.groupby("key")["late"].mean()
        few = ", ".join(f"{key} {late[key]:.0f}" for key in ("dkm-perceptron", "dkm", "perceptron-ss"))
        parts = [] if stops else [f"dkm-perceptron asks for few labels, not for none, in the second half: means {few}"]
        if not goes_on:
            quiet = [key for key in ("dkm", "perceptron-ss") if shares[key] > 0.5]
            parts.append(f"{' and '.join(quiet)} falls silent too")
        return Verdict(f"no label in the second half of the fold: {words}", stops and goes_on, "; ".join(parts))

    def lower(own: pd.DataFrame, record: Record) -> Verdict:
        finals = own.pivot_table(index="split", columns="key", values="final", aggfunc="mean")
        words, holds, why = [], True, []
        for key in ("dkm", "perceptron-ss"):
            found = estimate(100 * (finals[key] - finals["dkm-perceptron"]))
            holds = holds and found.mean + np.nan_to_num(found.half_width) < 0.0
            words.append(f"{key} {found.mean:+.2f} ± {found.half_width:.2f} points")
            share = float((own.loc[own["key"] == key, "last"] <= 0.5).mean())
            why.append(
                f"{key} ends at {100 * finals[key].mean():.2f} % (silent in the second half of {100 * share:.0f} %)"
            )
        base = f"dkm-perceptron ends at {100 * finals['dkm-perceptron'].mean():.2f} %"
        return Verdict(f"{', '.join(words)} of test error at the end", holds, f"{base}, {', '.join(why)}")

    return [
        Claim(
            statement=f"{name}: dkm-perceptron gets to the test error with fewer labels than all others",
            printed="at a faster rate", check=present(first),
            tolerance="smallest mean at the first touch, runs that never get there left out",
        ),
        Claim(
            statement=f"{name}: then it does not ask any more, while dkm and perceptron-ss continue",
            check=present(silent),
            printed="not querying for any more labels",
            tolerance="no label in the second half of the fold: in most of its runs, in at most half of theirs",
        ),
        Claim(
            statement=f"{name}: dkm and perceptron-ss eventually reach lower error than dkm-perceptron",
            printed="lower error", check=present(lower),
            tolerance="at the end of the fold, paired over splits, whole 95 % interval, both",
        ),
    ]  # fmt: skip


def _easiest(record: Record) -> Verdict:
    finals = record["runs"].pivot_table(index="problem", columns="key", values="final", aggfunc="mean")[list(KEYS)]
    if "MNIST 0v1" not in finals.index:
        return Verdict("not run at this size", False, "a smaller size leaves it out")
    easiest = [key for key in KEYS if finals[key].idxmin() == "MNIST 0v1"]
    words = ", ".join(f"{key} {100 * value:.2f} %" for key, value in finals.loc["MNIST 0v1"].items())
    others = ", ".join(f"{key} on {finals[key].idxmin()!s}" for key in KEYS if key not in easiest)
    return Verdict(f"at the end {words}", len(easiest) == len(KEYS), f"lower: {others}")


def _mean_curves(record: Record, name: str) -> pd.DataFrame:
    """Mean test error by labels and key, ended runs at their last error; up to where half of the runs have ended."""
    runs = record["runs"][record["runs"]["problem"] == name]
    curves = record["curves"][record["curves"]["problem"] == name]
    rows = []
    for key in KEYS:
        own = runs[runs["key"] == key].set_index(["split", "fold"])
        table = curves[curves["key"] == key].pivot(index=["split", "fold"], columns="labels", values="error")
        for labels in table.columns:
            going = own["spent"] >= labels
            if going.mean() < 0.5:
                break
            errors = table[labels].reindex(own.index).where(going, own["final"]).dropna()
            rows.append({"group": key, "x": labels, "y": float(errors.mean())})
    return pd.DataFrame(rows, columns=["group", "x", "y"])


def _draw_curves(record: Record) -> Mapping[str, Figure]:
    frames = [(name, _mean_curves(record, name)) for name in dict.fromkeys(record["runs"]["problem"])]
    return {"fig-4-6": panels(frames, x="labels asked for", y="test error", x_scale="log", y_scale="log")}


EXPERIMENTS = (
    Experiment(
        name="thesis/fig-4-5", claim="labels needed against test accuracy, on digits, six algorithms", time="1 min",
        sweep=_sweep(EFFICIENCY), run=whole_folds,
        claims=(
            Claim(
                statement="MNIST 0v1: the halving rule uses more labels than the coin, with either update",
                printed="at most of the thresholds", check=_higher_usage,
                tolerance="at more than half of the thresholds that all runs of both reached",
            ),
            _slower(
                ("MNIST 0v1",), 0.5,
                "at most half the labels gained between the loosest and the tightest threshold that all runs reached",
                "MNIST 0v1: as the error falls, the halving rule's labels increase much slower", "much slower",
            ),
            _slower(
                EFFICIENCY, 1.0, "fewer labels gained, with either update, on one problem",
                "on some problems the halving rule's labels increase slower", "some of the plots",
            ),
            Claim(
                statement="the algorithm that needs fewest labels at one threshold need not be it at all", printed="",
                check=_winner_changes, tolerance="another needs fewer at a threshold where both are drawn",
            ),
        ),
        figures=_draw_efficiency, **DATA,
    ),
    Experiment(
        name="thesis/fig-4-6", claim="test error against labels, on digits; who stops asking", time="1 min",
        sweep=_sweep(CURVES), run=whole_folds,
        claims=(
            Claim(
                statement="MNIST 0v1 is the easiest of the four problems for every algorithm",
                printed="extremely separable", check=_easiest, tolerance="mean test error at the end of the fold",
            ),
            *(claim for name in IMBALANCED for claim in _imbalanced(name)),
        ),
        figures=_draw_curves, **DATA,
    ),
)  # fmt: skip
