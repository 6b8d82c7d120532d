"""The SVM references of section 4.6 of Monteleoni 2006: batch, random queries, and Simple margin sampling.

What it models: a linear SVM with a bias (scikit-learn's SVC), trained anew after every label on all labels bought so
far, on splits and folds of table 4.1 (`digit_runs`, five of the ten).  Random queries take the pool in a random
order, which is a stream; Simple (Tong and Koller) takes of the whole pool the instance nearest to the plane, and
a random one until it has seen both classes.  Labels are counted at the first touch of the test error.  C is tuned
on the split's holdout with random queries, as the online algorithms' parameters are.  The batch SVM has all labels
of a fold; one with a hundred times its C looks for a separating plane.
What it leaves out: svmLight itself and its settings, which are not printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Noted, Record, shown, steps_inside
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.predicates import at_least, at_most, both, wide_enough
from experiments.papers.thesis.digit_runs import (
    DATA,
    KEYS,
    PROBLEMS,
    Fold,
    cut,
    folds,
    holdout,
    sweep,
    tables,
    trace,
    tuned,
)
from experiments.papers.tuning import one_standard_error
from experiments.study.compare import estimate
from lpsm.randomness import POLICY, generator

__all__ = ["EXPERIMENTS"]

RANDOM, SIMPLE = "svm-random", "svm-simple"
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
MOST = 800  # labels after which a run has not reached the error
BATCH_C, BATCH_STEPS = 1000.0, 100_000
HARD_C, HARD_STEPS = 1e5, 300_000  # separates where a plane is found
TUNING = 50  # the stream of tuning, beside those of the six pairings


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    names = tuple(PROBLEMS)
    queries = sweep(setup, names, 6, method="queries", taken=setup.pick(1, 5))
    batch = {f"batch, {key}": {**task, "method": "batch"} for key, task in queries.items() if task["split"] == 0}
    return {**queries, **batch}


def reference(task: dict[str, Any]) -> Rows:
    """Run one split of one problem: labels of SVMs and online algorithms on the same folds, or the batch SVM."""
    return _batch(task) if task["method"] == "batch" else _queries(task)


def _batch(task: dict[str, Any]) -> Rows:
    import warnings

    from sklearn.svm import SVC

    fold = next(folds(task, len(KEYS)))
    batch = SVC(kernel="linear", C=BATCH_C, max_iter=BATCH_STEPS, cache_size=400)
    hard = SVC(kernel="linear", C=HARD_C, max_iter=HARD_STEPS, cache_size=400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converging is an outcome here, and recorded
        batch.fit(fold.X, fold.y)
        hard.fit(fold.X, fold.y)
    wrong = [int((machine.predict(fold.X) != fold.y).sum()) for machine in (hard, batch)]
    row = {"problem": task["problem"], "stand_in": task["stand_in"], "examples": len(fold.y)}
    row |= {"train_errors": wrong[0], "converged": int(hard.fit_status_ == 0), "batch_errors": wrong[1]}
    return {"batch": [{**row, "test_error": float(np.mean(batch.predict(fold.test) != fold.truth))}]}


def _queries(task: dict[str, Any]) -> Rows:
    error = PROBLEMS[task["problem"]].error
    common = {"problem": task["problem"], "stand_in": task["stand_in"], "split": task["split"]}
    C = _tuned(task, error)
    rows = []
    for fold in islice(folds(task, len(KEYS)), task["taken"]):
        for key in (RANDOM, SIMPLE):
            labels = labels_needed(fold, error, C, simple=key == SIMPLE)
            rows.append({**common, "fold": fold.number, "key": key, "labels": labels})
    for number, key in enumerate(KEYS):
        parameters = tuned(task, key)
        for fold in islice(folds(task, number), task["taken"]):
            labels = trace(key, parameters, fold, error=error, stays=0).first(error)
            rows.append({**common, "fold": fold.number, "key": key, "labels": labels})
    return {"runs": rows, "tuned": [{**common, "C": C}]}


def _tuned(task: dict[str, Any], error: float) -> float:
    X, y = tables(task["problem"], task["folder"], task["stand_in"])
    rows = holdout(task)[0]
    coins = generator(task["seed"], POLICY, 100 * task["split"] + TUNING)
    drawn = [Fold(0, *cut(X, y, coins.permutation(rows), len(rows) // 5), coins) for _ in range(task["permutations"])]

    def labels(C: float) -> list[int]:
        found = [labels_needed(fold, error, C, simple=False) for fold in drawn]
        return [len(rows) if value < 0 else value for value in found]

    return one_standard_error([{"C": C} for C in C_GRID], [labels(C) for C in C_GRID])["C"]


def labels_needed(fold: Fold, error: float, C: float, *, simple: bool, most: int = MOST) -> int:
    """Return the labels bought when the test error first is at most `error`; -1 if not within `most` labels.

    Parameters
    ----------
    fold
        Its X, in its order, is the pool.
    error, C
        Test error to be reached, and the SVM's price of a violation.
    simple
        Whether the instance nearest to the plane is asked about next, or the next in order.
    """
    from sklearn.svm import SVC

    most = min(most, len(fold.X))
    chosen = np.zeros(most, dtype=np.intp)
    taken = np.zeros(len(fold.X), dtype=np.bool_)
    within, tests = np.zeros((most, most)), np.zeros((most, len(fold.test)))
    pool = np.zeros((most if simple else 0, len(fold.X)))
    distance = None
    for count in range(most):
        row = int(np.argmin(taken)) if distance is None else int(np.argmin(np.where(taken, np.inf, distance)))
        taken[row], chosen[count] = True, row
        x = fold.X[row]
        within[count, : count + 1] = within[: count + 1, count] = fold.X[chosen[: count + 1]] @ x
        tests[count] = fold.test @ x
        if simple:
            pool[count] = fold.X @ x
        y = fold.y[chosen[: count + 1]]
        if y.min() == y.max():
            margins = np.full(len(fold.test), y[0])
        else:
            machine = SVC(kernel="precomputed", C=C).fit(within[: count + 1, : count + 1], y)
            weights, bias = machine.dual_coef_[0], machine.intercept_[0]
            margins = weights @ tests[machine.support_] + bias
            if simple:
                distance = np.abs(weights @ pool[machine.support_] + bias)
        if float(np.mean((margins >= 0.0) != (fold.truth > 0.0))) <= error:
            return count + 1
    return -1


# -- what a record says --------------------------------------------------------------------------------------


def _split_means(record: Record) -> pd.DataFrame:
    """Mean labels of a split's folds that reached the error: a row a problem and split, a column a key."""
    runs = record["runs"]
    reached = runs[runs["labels"] >= 0]
    table: pd.DataFrame = reached.pivot_table(
        index=["problem", "split"], columns="key", values="labels", aggfunc="mean"
    )
    return table.reindex(columns=[*KEYS, RANDOM, SIMPLE])


def _means(record: Record) -> pd.DataFrame:
    table = _split_means(record).groupby(level="problem", sort=False).mean()
    return table.loc[[name for name in PROBLEMS if name in table.index]]


def _called(table: pd.DataFrame) -> dict[str, str]:
    """What the problems are called: on digits that stand in, by these and by the error to be reached."""
    stands_in = "stand_in" in table and bool(table["stand_in"].any())
    return {
        name: f"digits {name.partition(' ')[2]} to {100 * problem.error:g} %" if stands_in else name
        for name, problem in PROBLEMS.items()
    }


def _over_best(key: str) -> Any:
    """Labels over those of the best online algorithm, by problem."""

    def measure(record: Record) -> dict[str, Any]:
        means, called, found = _means(record), _called(record["runs"]), {}
        for name, row in means.iterrows():
            best = str(row[list(KEYS)].idxmin())
            found[called[str(name)]] = Noted(
                row[key] / row[best], f"({row[key]:.0f} against {row[best]:.0f} of {best})"
            )
        return found

    return measure


def _never(key: str) -> Any:
    def measure(record: Record) -> dict[str, Any]:
        runs = record["runs"]
        return {"never": Noted(((runs["key"] == key) & (runs["labels"] < 0)).sum(), "runs")}

    return measure


def _fewest(key: str) -> Claim:
    what = "random queries" if key == RANDOM else "Simple"
    return Claim(
        f"an SVM with {what} needs fewer labels than every online algorithm, on every problem",
        both(at_most(_over_best(key), 1.0, open=True), at_most(_never(key), 0)),
        "strictly lower",
        "means over splits at the first touch; online runs that never get there left out",
    )


def _gains(record: Record) -> dict[str, Any]:
    """Factor in labels gained by an SVM instead of the Perceptron, less that by Simple instead of random queries."""
    splits, called, found = _split_means(record), _called(record["runs"]), {}
    for name in _means(record).index:
        own = splits.loc[[name]]
        gains = [estimate(own["random-perceptron"] / own[RANDOM]), estimate(own[RANDOM] / own[SIMPLE])]
        words = f"({' and '.join(shown(gain) for gain in gains)})"
        found[called[str(name)]] = Noted(gains[0].mean - gains[1].mean, words)
    return found


def _train_errors(apart: bool) -> Any:
    """Errors of the batch SVM on the problems that are separable as printed, or on the others."""

    def measure(record: Record) -> dict[str, Any]:
        called = _called(record["batch"])
        return {
            called[row["problem"]]: Noted(
                row["train_errors"],
                f"({'converged' if row['converged'] else 'stopped'}; {row['batch_errors']} at C = {BATCH_C:g}, "
                f"with test error {100 * row['test_error']:.2f} %)",
            )
            for row in record["batch"].to_dict("records")
            if ("147" not in row["problem"]) == apart
        }

    return measure


def _inside(record: Record) -> dict[str, Any]:
    return {"C": steps_inside(record["tuned"]["C"], C_GRID)}


def _draw(record: Record) -> Mapping[str, Figure]:
    means, called = _means(record), _called(record["runs"])
    rows = [
        {"group": key, "x": place, "y": float(means.loc[name, key])}
        for key in means.columns
        for place, name in enumerate(means.index)
    ]
    figure = panels([("", pd.DataFrame(rows).dropna(subset=["y"]))], x="", y="labels asked for", y_scale="log")
    for axes in figure.axes:
        names = [called[name] for name in means.index]
        axes.set_xticks(range(len(means)), names, rotation=60, ha="right", rotation_mode="anchor")
    return {"svm": figure}


EXPERIMENTS = (
    Experiment(
        name="thesis/svm",
        subject="labels that an SVM needs, with and without choosing them, on digits",
        time="5 min",
        sweep=_sweep,
        run=reference,
        claims=(
            _fewest(RANDOM),
            _fewest(SIMPLE),
            Claim(
                "an SVM instead of the Perceptron gains more than Simple instead of random queries",
                at_least(_gains, 0.0, open=True),
                "greater",
                "factor in labels of random-perceptron over the SVM, less that of random over Simple; every problem",
            ),
            Claim(
                "the problems are linearly separable but for those of 1, 4 and 7 against all other digits",
                both(at_most(_train_errors(True), 0), at_least(_train_errors(False), 1)),
                "all but two",
                "errors of a batch SVM on nine tenths of one split, at C = 100,000 within 300,000 steps",
            ),
            wide_enough(_inside),
        ),
        figures=_draw,
        data=DATA,
    ),
)
