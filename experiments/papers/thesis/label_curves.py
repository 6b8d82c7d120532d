"""Figures 4-5 and 4-6 of Monteleoni 2006: labels against test accuracy, and test error against labels.

What it models: the runs of table 4.1 (`digit_runs`), followed to the end of every fold, on the problems of the two
figures; 5 splits of 10 folds.  Figure 4-5 takes the mean number of labels at the first touch of each accuracy, at
those accuracies only that every run reached, as the print does; two rules that have no such accuracy in common
cannot be compared, which counts against the claim.  Figure 4-6 takes the mean test
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
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.predicates import at_least, at_most, below, both, smallest, wide_enough
from experiments.papers.thesis.digit_runs import DATA, KEYS, PROBLEMS, choice, folds, inside_grids, sweep, trace, tuned

__all__ = ["EXPERIMENTS"]

EFFICIENCY = ("MNIST 4v7", "MNIST 0v1", "USPS 0vAll", "MNIST 0vAll")
CURVES = ("MNIST 0v1", "MNIST 147vAll", "USPS 0vAll", "MNIST 0vAll")
IMBALANCED = ("USPS 0vAll", "MNIST 0vAll")
EVERY = tuple(dict.fromkeys(EFFICIENCY + CURVES))  # both figures are drawn from the same runs
FACTORS = tuple(2.0 ** (-k / 2) for k in range(-4, 7))  # of the error each problem was tuned for
LABELS = tuple(round(2.0 ** (k / 2)) for k in range(2, 25))  # 2 to 4096
NO_THRESHOLD = "no threshold that all runs of both reached"
RULES = (("dkm", "cbgz-dkm"), ("dkm-perceptron", "perceptron-ss"))  # both rules with each update


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    return sweep(setup, EVERY, 5)


def _shown(record: Record, names: tuple[str, ...]) -> list[str]:
    """Return the problems of a figure that the record has."""
    return [name for name in names if name in set(record["runs"]["problem"])]


def whole_folds(task: dict[str, Any]) -> Rows:
    """Tune and run all six pairings on one split of one problem, each fold to its end."""
    error = PROBLEMS[task["problem"]].error
    runs, touches, curves, choices = [], [], [], []
    for number, key in enumerate(KEYS):
        parameters = tuned(task, key)
        choices += choice({"problem": task["problem"], "split": task["split"]}, key, parameters)
        for fold in folds(task, number):
            found = trace(key, parameters, fold)
            common = {"problem": task["problem"], "split": task["split"], "fold": fold.number, "key": key}
            ends = {"final": float(found.errors[-1]), "spent": found.spent, "late": found.late, "last": found.last}
            runs.append({**common, "first": found.first(error), **ends})
            touches += [
                {**common, "error": error * factor, "labels": found.first(error * factor)} for factor in FACTORS
            ]
            places = np.searchsorted(found.labels, LABELS, side="right") - 1
            curves += [
                {**common, "labels": count, "error": float(found.errors[place])}
                for count, place in zip(LABELS, places.tolist(), strict=True)
                if place >= 0 and count <= found.spent
            ]
    return {"runs": runs, "touches": touches, "curves": curves, "tuned": choices}


# -- figure 4-5 ------------------------------------------------------------------------------------------------


def _efficiency(record: Record, name: str) -> pd.DataFrame:
    """Mean labels by accuracy: a row a threshold, a column a key, NaN where some run never reached it."""
    own = record["touches"][record["touches"]["problem"] == name]
    grouped = own.groupby(["error", "key"])["labels"]
    table: pd.DataFrame = grouped.mean().where(grouped.min() >= 0).unstack("key").reindex(columns=KEYS)
    return table.sort_index(ascending=False)


def _reached(record: Record, name: str, keys: tuple[str, ...]) -> str:
    """Say how many runs reached the error that was tuned for."""
    own = record["runs"][record["runs"]["problem"] == name]
    counts = ", ".join(f"{key} {int((own.loc[own['key'] == key, 'first'] >= 0).sum())}" for key in keys)
    return f"the tuned error was reached by {counts} of {len(own) // len(KEYS)} runs"


def _over_coin_rule(record: Record) -> dict[str, Any]:
    """Labels of the halving rule over those of the coin on MNIST 0v1, a number a threshold that all runs reached."""
    name, found = "MNIST 0v1", {}
    table = _efficiency(record, name) if name in set(record["runs"]["problem"]) else pd.DataFrame(columns=KEYS)
    for dkm, coin in RULES if len(table) else ():
        ratios = (table[dkm] / table[coin]).dropna()
        above = f"{int((ratios > 1.0).sum())} of {len(ratios)} thresholds above 1"
        words = f"({above if len(ratios) else NO_THRESHOLD}; {_reached(record, name, (dkm, coin))})"
        found[f"{dkm} over {coin}:"] = Noted(np.median(ratios) if len(ratios) else [], words)
    return found


def _slowest_gain(names: tuple[str, ...]) -> Measure:
    """Labels gained from the loosest to the tightest threshold that all runs reached, halving rule over coin.

    By problem, the larger of those with either update; no number where one has no two such thresholds, or where the
    coin's labels do not grow between them.
    """

    def measure(record: Record) -> dict[str, Any]:
        found = {}
        for name in _shown(record, names):
            table, ratios, words = _efficiency(record, name), [], []
            for dkm, coin in RULES:
                pair = table[[dkm, coin]].dropna()
                if len(pair) < 2:
                    words.append(f"{dkm} and {coin}: {NO_THRESHOLD if pair.empty else 'one threshold alone'}")
                    continue
                gained = pair.iloc[-1] - pair.iloc[0]
                labels = ", ".join(f"{key} {pair[key].iloc[0]:.0f} to {pair[key].iloc[-1]:.0f}" for key in (dkm, coin))
                words.append(f"from error {pair.index[0]:.4f} to {pair.index[-1]:.4f} {labels}")
                if gained[coin] > 0:
                    ratios.append(float(gained[dkm] / gained[coin]))
                else:
                    words[-1] += ", where the coin's do not grow"
            found[f"{name}:"] = Noted(max(ratios) if len(ratios) == len(RULES) else [], f"({'; '.join(words)})")
        return found

    return measure


def _winners_elsewhere(record: Record) -> dict[str, Any]:
    """Thresholds at which another algorithm needs fewer labels than the one that is best at the tuned error."""
    found = {}
    for name in _shown(record, EFFICIENCY):
        table = _efficiency(record, name)
        tuned_for = table.iloc[FACTORS.index(1.0)].dropna()
        if len(tuned_for):
            winner = str(tuned_for.idxmin())
            beaten = table.dropna(subset=[winner]).idxmin(axis=1)
            others = [f"{key!s} at {error:.4f}" for error, key in beaten.items() if str(key) != winner]
            found[f"{name}:"] = Noted(len(others), f"({winner}; {', '.join(others) or 'nowhere another'})")
    return found


def _draw_efficiency(record: Record) -> Mapping[str, Figure]:
    frames = []
    for name in _shown(record, EFFICIENCY):
        table = _efficiency(record, name)
        found = [pd.DataFrame({"group": key, "x": 1.0 - table.index, "y": table[key].to_numpy()}) for key in KEYS]
        frames.append((name, pd.concat(found).dropna(subset=["y"])))
    return {"fig-4-5": panels(frames, x="test accuracy", y="labels asked for", y_scale="log")}


# -- figure 4-6 ------------------------------------------------------------------------------------------------


def _first_touch(name: str) -> Measure:
    """Labels at the first touch of the error, a number a run that reached it."""

    def measure(record: Record) -> dict[str, Any]:
        own = record["runs"][record["runs"]["problem"] == name]
        reached = own[own["first"] >= 0]
        if reached.empty:
            return {}
        found = {key: reached.loc[reached["key"] == key, "first"] for key in KEYS}
        return {key: Noted(labels, f"({len(labels)} runs)") for key, labels in found.items()}

    return measure


def _behind_by_split(name: str) -> Callable[[Record], str]:
    """Say by how many labels dkm-perceptron is behind the best one, split by split."""

    def why(record: Record) -> str:
        own = record["runs"][(record["runs"]["problem"] == name) & (record["runs"]["first"] >= 0)]
        splits = own.pivot_table(index="split", columns="key", values="first", aggfunc="mean").reindex(columns=KEYS)
        best = str(splits.mean().idxmin())
        behind = ", ".join(f"{value:.0f}" for value in splits["dkm-perceptron"] - splits[best])
        return (
            f"{best} needs fewer; dkm-perceptron's labels beyond it, by split: {behind}; {_reached(record, name, KEYS)}"
        )

    return why


def _silent(name: str, *keys: str) -> Measure:
    """Share of the runs that ask for no label in the second half of the fold, percent."""

    def measure(record: Record) -> dict[str, Any]:
        own = record["runs"][record["runs"]["problem"] == name]
        runs = {key: own[own["key"] == key] for key in keys if len(own)}
        return {
            key: Noted(
                100 * (rows["last"] <= 0.5).mean(),
                f"(median {rows['spent'].median():.0f} labels in all, mean {rows['late'].mean():.0f} in that half)",
            )
            for key, rows in runs.items()
        }

    return measure


def _final_errors(name: str) -> Measure:
    """Test error at the end less that of dkm-perceptron, points, split by split."""

    def measure(record: Record) -> dict[str, Any]:
        own = record["runs"][record["runs"]["problem"] == name]
        finals = 100 * own.pivot_table(index="split", columns="key", values="final", aggfunc="mean")
        base = finals.get("dkm-perceptron", pd.Series(dtype=float))
        return {
            key: Noted(finals[key] - base, f"({finals[key].mean():.2f} against {base.mean():.2f} %)")
            for key in (("dkm", "perceptron-ss") if len(own) else ())
        }

    return measure


def _imbalanced(name: str) -> tuple[Claim, ...]:
    return (
        Claim(
            f"{name}: dkm-perceptron gets to the test error with fewer labels than all others",
            smallest(_first_touch(name), "dkm-perceptron"),
            "at a faster rate",
            "mean at the first touch, runs that never get there left out",
            why=_behind_by_split(name),
        ),
        Claim(
            f"{name}: then it does not ask any more, while dkm and perceptron-ss continue",
            both(
                at_least(_silent(name, "dkm-perceptron"), 50.0, open=True, unit=" %"),
                at_most(_silent(name, "dkm", "perceptron-ss"), 50.0, unit=" %"),
            ),
            "not querying for any more labels",
            "runs without a label in the second half of the fold",
        ),
        Claim(
            f"{name}: dkm and perceptron-ss eventually reach lower error than dkm-perceptron",
            below(_final_errors(name), unit=" points"),
            "lower error",
            "at the end of the fold, paired over splits",
        ),
    )


def _over_others(record: Record) -> dict[str, Any]:
    """Mean test error at the end on MNIST 0v1 over the least on another problem, by algorithm."""
    own_four = record["runs"][record["runs"]["problem"].isin(CURVES)]
    finals = own_four.pivot_table(index="problem", columns="key", values="final", aggfunc="mean")[list(KEYS)]
    if "MNIST 0v1" not in finals.index:
        return {}
    own: Any = 100 * finals.loc["MNIST 0v1"]
    least: Any = 100 * finals.drop(index="MNIST 0v1").min()
    return {key: Noted(own[key] / least[key], f"({own[key]:.2f} against {least[key]:.2f} %)") for key in KEYS}


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
    frames = [(name, _mean_curves(record, name)) for name in _shown(record, CURVES)]
    return {"fig-4-6": panels(frames, x="labels asked for", y="test error", x_scale="log", y_scale="log")}


EXPERIMENTS = (
    Experiment(
        name="thesis/fig-4-5",
        subject="labels needed against test accuracy, on digits, six algorithms",
        time="12 min",
        sweep=_sweep,
        run=whole_folds,
        claims=(
            Claim(
                "MNIST 0v1: the halving rule uses more labels than the coin, with either update",
                at_least(_over_coin_rule, 1.0, open=True),
                "at most of the thresholds",
                "median over the thresholds that all runs of both reached; where there is none, it fails",
            ),
            Claim(
                "MNIST 0v1: as the error falls, the halving rule's labels increase much slower",
                at_most(_slowest_gain(("MNIST 0v1",)), 0.5),
                "much slower",
                "labels gained between the loosest and the tightest threshold that all runs reached, either update; "
                "where there are no two with each, it fails",
            ),
            Claim(
                "on some problems the halving rule's labels increase slower",
                at_most(_slowest_gain(EFFICIENCY), 1.0, needed=1),
                "some of the plots",
                "labels gained, with either update, on one problem",
            ),
            Claim(
                "the algorithm that needs fewest labels at one threshold need not be it at all",
                at_least(_winners_elsewhere, 1, needed=1),
                reason="another needs fewer at a threshold where both are drawn, on one problem",
            ),
            wide_enough(inside_grids),
        ),
        figures=_draw_efficiency,
        data=DATA,
    ),
    Experiment(
        name="thesis/fig-4-6",
        subject="test error against labels, on digits; who stops asking",
        time="as long as fig-4-5, whose runs it takes where they are",
        sweep=_sweep,
        run=whole_folds,
        claims=(
            Claim(
                "MNIST 0v1 is the easiest of the four problems for every algorithm",
                at_most(_over_others, 1.0),
                "extremely separable",
                "mean test error at the end of the fold, over the least on another problem",
            ),
            *(claim for name in IMBALANCED for claim in _imbalanced(name)),
            wide_enough(inside_grids),
        ),
        figures=_draw_curves,
        data=DATA,
    ),
)
