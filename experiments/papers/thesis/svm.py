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

from functools import partial
from itertools import islice

import numpy as np

from experiments.papers.claims import Claim, Noted, against, steps_inside
from experiments.papers.kit import Experiment, Sizes
from experiments.papers.predicates import at_least, at_most, both, wide_enough
from experiments.papers.thesis.digit_runs import DATA, KEYS, PRINTED, PROBLEMS, folds, sweep, trace, tune, tuned
from experiments.papers.thesis.digits import means, split_means
from lpsm.randomness import POLICY, generator

__all__ = ["labels_needed"]

RANDOM, SIMPLE = "svm-random", "svm-simple"
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
MOST = 800  # labels after which a run has not reached the error
BATCH_C, BATCH_STEPS = 1000.0, 100_000
HARD_C, HARD_STEPS = 1e5, 300_000  # separates where a plane is found
TUNING = 50  # the stream of tuning, beside those of the six pairings
SVM = Experiment("thesis/svm", "labels that an SVM needs, with and without choosing them, on digits", "5 min", DATA)


def _sweep(setup):
    queries = sweep(tuple(PRINTED), 6, method="queries", taken=Sizes(1, 5))(setup)
    batch = {f"batch, {key}": {**task, "method": "batch"} for key, task in queries.items() if task["split"] == 0}
    return {**queries, **batch}


@SVM.runs(_sweep)
def reference(**task):
    """Run one split of one problem: labels of SVMs and online algorithms on the same folds, or the batch SVM."""
    return _batch(task) if task["method"] == "batch" else _queries(task)


def _batch(task):
    import warnings

    from sklearn.svm import SVC

    fold = next(folds(task, len(KEYS)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converging is an outcome here, and recorded
        batch, hard = (
            SVC(kernel="linear", C=C, max_iter=steps, cache_size=400).fit(fold.X, fold.y)
            for C, steps in ((BATCH_C, BATCH_STEPS), (HARD_C, HARD_STEPS))
        )
    wrong, batch_wrong = (int((machine.predict(fold.X) != fold.y).sum()) for machine in (hard, batch))
    row = {"problem": task["problem"], "examples": len(fold.y), "train_errors": wrong,
           "converged": int(hard.fit_status_ == 0), "batch_errors": batch_wrong}  # fmt: skip
    return {"batch": [{**row, "test_error": float(np.mean(batch.predict(fold.test) != fold.truth))}]}


def _queries(task):
    error, named = PROBLEMS[task["problem"]].error, {"problem": task["problem"], "split": task["split"]}
    coins, grid = generator(task["seed"], POLICY, 100 * task["split"] + TUNING), [{"C": C} for C in C_GRID]
    C = tune(task, coins, grid, lambda point, fold: labels_needed(fold, error, point["C"], simple=False))["C"]
    needed = [
        (fold, key, labels_needed(fold, error, C, simple=key == SIMPLE))
        for fold in islice(folds(task, len(KEYS)), task["taken"]) for key in (RANDOM, SIMPLE)
    ]  # fmt: skip
    for number, key in enumerate(KEYS):
        follow = partial(trace, key, tuned(task, key), error=error, stays=0)
        needed += [(fold, key, follow(fold).first(error)) for fold in islice(folds(task, number), task["taken"])]
    rows = [{**named, "fold": fold.number, "key": key, "labels": labels} for fold, key, labels in needed]
    return {"runs": rows, "tuned": [{**named, "C": C}]}


def labels_needed(fold, error, C, *, simple, most=MOST):
    """Return the labels bought when the test error first is at most `error`; -1 if not within `most` labels.

    The fold's X, in its order, is the pool; C is the SVM's price of a violation.  If `simple` the instance nearest to
    the plane is asked about next, and otherwise the next in order.
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


def _of(means, runs):
    return means(runs.rename(columns={"labels": "first"}), keys=[*KEYS, RANDOM, SIMPLE])


def _over_best(runs, key):
    """Labels over those of the best online algorithm, by problem."""
    table, samples = _of(means, runs), {}
    for name, row in table.iterrows():
        best = row[list(KEYS)].astype(float).idxmin()
        samples[name] = Noted(row[key] / row[best], f"({row[key]:.0f} against {row[best]:.0f} of {best})")
    return samples


def _never(runs, key):
    return {"never": Noted(((runs["key"] == key) & (runs["labels"] < 0)).sum(), "runs")}


def _train_errors(batch, apart):
    """Errors of the batch SVM on the problems that are separable as printed, or on the others."""
    rows = batch[batch["problem"].str.contains("147") != apart]
    return dict(zip(rows["problem"], rows["train_errors"], strict=True))


SVM.claims += [
    *(Claim(f"an SVM with {what} needs fewer labels than every online algorithm, on every problem",
        both(at_most(partial(_over_best, key=key), 1.0, open=True), at_most(partial(_never, key=key), 0)),
        "strictly lower", "means over splits at the first touch; online runs that never get there left out")
      for key, what in ((RANDOM, "random queries"), (SIMPLE, "Simple"))),
    Claim("the problems are linearly separable but for those of 1, 4 and 7 against all other digits",
        both(at_most(partial(_train_errors, apart=True), 0), at_least(partial(_train_errors, apart=False), 1)),
        "all but two", "errors of a batch SVM on nine tenths of one split, at C = 100,000 within 300,000 steps"),
    wide_enough(lambda tuned: {"C": steps_inside(tuned["C"], C_GRID)}),
]  # fmt: skip


@SVM.claim(
    "an SVM instead of the Perceptron gains more than Simple instead of random queries", at_least, "greater",
    "factor in labels of random-perceptron over the SVM, less that of random over Simple; every problem", limit=0.0,
    open=True,
)  # fmt: skip
def _gains(runs):
    splits = _of(split_means, runs)
    machine, choice = splits["random-perceptron"] / splits[RANDOM], splits[RANDOM] / splits[SIMPLE]
    names = _of(means, runs).index
    return {
        name: Noted(machine[name].mean() - choice[name].mean(), against(machine[name], choice[name]).note)
        for name in names
    }
