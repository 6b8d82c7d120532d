"""The SVM references of section 4.6 of Monteleoni 2006: batch, random queries, and Simple margin sampling.

What it models: a linear SVM with a bias (scikit-learn's SVC), trained anew after every label on all labels bought so
far, on splits and folds of table 4.1 (`digit_runs`, five of the ten).  Random queries take the pool in a random
order, which is a stream; Simple (Tong and Koller) takes of the whole pool the instance nearest to the plane, and
a random one until it has seen both classes.  Labels are counted at the first touch of the test error.  C is tuned
on the split's holdout with random queries, as the online algorithms' parameters are.  A batch SVM of large C looks for
a plane that separates all labels of a fold.
What it leaves out: svmLight itself and its settings, which are not printed.
"""

import warnings
from functools import partial
from itertools import islice

import numpy as np

from experiments.papers.claims import Claim, Noted, against, steps_inside
from experiments.papers.kit import Experiment, Sizes
from experiments.papers.predicates import at_least, at_most, both, wide_enough
from experiments.papers.thesis.digit_runs import DATA, KEYS, PROBLEMS, best, folds, sweep, trace, tune, tuned
from experiments.papers.thesis.digits import means, split_means
from lpsm.randomness import POLICY, generator

RANDOM, SIMPLE = "svm-random", "svm-simple"
C_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10_000.0)
MOST = 800  # labels after which a run has not reached the error
SEPARATING = {"C": 1e5, "max_iter": 300_000}
TUNING = 50  # the stream of tuning, beside those of the six pairings
SVM = Experiment("thesis/svm", "labels that an SVM needs, with and without choosing them, on digits", "5 min", DATA)


@SVM.runs(sweep(6, taken=Sizes(1, 5)))
def reference(**task):
    """Run one split of one problem: labels of SVMs and online algorithms on the same folds, and a batch SVM."""
    from sklearn.svm import SVC

    error, named = PROBLEMS[task["problem"]].error, {"problem": task["problem"], "split": task["split"]}
    coins, grid = generator(task["seed"], POLICY, 100 * task["split"] + TUNING), [{"C": C} for C in C_GRID]
    counts = tune(task, coins, grid, lambda point, fold: labels_needed(fold, error, point["C"], simple=False))
    C = best(task, grid, counts)["C"]
    of_svms = list(islice(folds(task, len(KEYS)), task["taken"]))
    rows = [
        {**named, "fold": fold.number, "key": key, "labels": labels_needed(fold, error, C, simple=key == SIMPLE)}
        for fold in of_svms for key in (RANDOM, SIMPLE)
    ]  # fmt: skip
    for number, key in enumerate(KEYS):
        parameters = tuned(task, key)
        for fold in islice(folds(task, number), task["taken"]):
            labels = trace(key, parameters, fold).first(error)
            rows.append({**named, "fold": fold.number, "key": key, "labels": labels})
    batch = []
    for fold in of_svms[:1] if task["split"] == 0 else ():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not converging is an outcome here
            machine = SVC(kernel="linear", cache_size=400, **SEPARATING).fit(fold.X, fold.y)
        wrong = int((machine.predict(fold.X) != fold.y).sum())
        batch = [{"problem": task["problem"], "train_errors": wrong}]
    return {"runs": rows, "tuned": [{**named, "C": C}], "batch": batch}


def labels_needed(fold, error, C, *, simple, most=MOST):
    """Return the labels bought when the test error first is at most `error`; -1 if not within `most` labels.

    The fold's X, in its order, is the pool; C is the SVM's price of a violation.  If `simple` the instance nearest to
    the plane is asked about next, and otherwise the next in order.
    """
    from sklearn.svm import SVC

    pool, chosen = fold.X if simple else fold.X[:most], []
    both = np.concatenate([pool, fold.test])
    products, distance = np.zeros((min(most, len(pool)), len(both))), np.zeros(len(pool))
    for count in range(len(products)):
        row = int(np.argmin(distance))
        chosen.append(row)
        products[count] = both @ pool[row]
        y = fold.y[chosen]
        margins = np.full(len(both), y[0])
        if y.min() < y.max():
            machine = SVC(kernel="precomputed", C=C).fit(products[: count + 1, chosen], y)
            margins = machine.dual_coef_[0] @ products[machine.support_] + machine.intercept_[0]
        if float(np.mean((margins[len(pool) :] >= 0.0) != (fold.truth > 0.0))) <= error:
            return count + 1
        distance = np.abs(margins[: len(pool)]) if simple else distance
        distance[chosen] = np.inf
    return -1


def _of(means, runs):
    return means(runs.rename(columns={"labels": "first"}), [*KEYS, RANDOM, SIMPLE])


def _over_best(runs, key):
    """Labels over those of the best online algorithm, by problem."""
    table = _of(means, runs)
    best = table[list(KEYS)].min(axis=1)
    words = table[list(KEYS)].idxmin(axis=1)
    return {
        name: Noted(row[key] / best[name], f"({row[key]:.0f} against {best[name]:.0f} of {words[name]})")
        for name, row in table.iterrows()
    }


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
    open=True
)  # fmt: skip
def _gains(runs):
    splits = _of(split_means, runs)
    machine, choice = splits["random-perceptron"] / splits[RANDOM], splits[RANDOM] / splits[SIMPLE]
    return {
        name: Noted(machine[name].mean() - choice[name].mean(), against(machine[name], choice[name]).note)
        for name in _of(means, runs).index
    }
