"""Runs of section 4.6 of Monteleoni 2006: six pairings of rule and update on handwritten digits.

What it models: pixels in [0, 1], instances of norm 1.  A split draws 2,000 examples to tune on (ten permutations of
them, a run that never reaches the error counting as all labels of it, by the one-standard-error rule of `tuning`) and
up to 10,000 others for 10-fold cross-validation; the print has 5 runs of one split, here every split is tuned and run
anew, so that intervals cover the luck of the split.  Every run has coins of its own, and goes to the end of its fold.
What it leaves out: the learning rate of the Perceptron under a coin, which is the same as scaling b.
"""

from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.papers.claims import steps_inside
from experiments.papers.kit import DataSet, Sizes, over
from experiments.papers.tuning import one_standard_error
from experiments.quantities import Row
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, generator

KEYS = ("dkm", "dkm-perceptron", "cbgz-dkm", "perceptron-ss", "random-dkm", "random-perceptron")
MODIFIED = ("dkm", "cbgz-dkm", "random-dkm")


class Problem(NamedTuple):
    """Positive digits, negative ones (empty: all others), the test error to reach, and what is printed by `KEYS`.

    That are the mean and the standard deviation of the labels.
    """

    positive: tuple[int, ...]
    negative: tuple[int, ...]
    error: float
    printed: tuple[tuple[float, float], ...]


_PRINTED = """
MNIST 0v1      0.01   28.02 25.26   13.78  5.88  130.12 116.45   32.78 19.52   87.72 101.84   83.76 78.47
MNIST 0vAll    0.05  105.30 42.39   57.26 15.92  183.78 120.83   62.66 30.48  173.44 114.55  103.74 76.25
MNIST 4v7      0.05  150.02 49.61   44.00 15.32  194.36  80.20   63.32 30.76  276.92 150.59  107.98 57.41
MNIST 6v9      0.025 163.12 42.45   20.44 11.75  218.28  94.95   30.66 13.31  367.24 191.25  104.06 75.10
MNIST 147vAll  0.15  275.34 72.00  217.06 75.85  379.16 138.38  170.02 63.61  375.46 164.33  214.16 93.12
USPS 0vAll     0.05  174.22 63.85   87.56 28.97  156.08  66.75  115.14 61.09  235.10 129.11  173.96 98.96
USPS 147vAll   0.1   190.72 80.09  137.86 58.21  193.70  96.35  116.28 60.68  210.40 109.39  151.32 72.65
"""


def _read(line):
    data, digits, *numbers = line.split()
    positive, negative = (tuple(int(one) for one in part if one.isdigit()) for part in digits.split("v"))
    error, *cells = map(float, numbers)
    return f"{data} {digits}", Problem(positive, negative, error, tuple(zip(cells[::2], cells[1::2], strict=True)))


PRINTED = dict(map(_read, _PRINTED.strip().splitlines()))
PROBLEMS = PRINTED | {  # and what they are called where small digits stand in
    name.replace("MNIST", "digits"): one._replace(printed=()) for name, one in PRINTED.items() if "MNIST" in name
}
_COIN = [{"b": b} for b in (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)]
_PATIENCE = [{"R": R} for R in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)]
_RATES = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 10.0)  # of learning
GRIDS: dict[str, list[Row]] = {
    "dkm": _PATIENCE,
    "dkm-perceptron": [{**patience, "eta": eta} for patience in _PATIENCE for eta in _RATES],
    "cbgz-dkm": _COIN,
    "perceptron-ss": _COIN,
    "random-dkm": [{"rate": 1.0}],
    "random-perceptron": [{"rate": 1.0}],
}
EARLY = 400  # rounds
DATA = DataSet(
    "mnist", "MNIST as four idx files in mnist/, USPS as usps/usps.npz; pixels are scaled to [0, 1]",
    "scikit-learn's 8 x 8 digits"
)  # fmt: skip


class Fold(NamedTuple):
    """A stream to learn from, X (T, d) and y (T,), instances that are only predicted, and the run's coins."""

    number: int
    X: NDArray[np.float64]
    y: NDArray[np.float64]
    test: NDArray[np.float64]
    truth: NDArray[np.float64]
    coins: np.random.Generator


class Trace(NamedTuple):
    """A run, update by update: `labels` asked for until then (n,), test `errors` after it (n,).

    `spent` is the number of labels asked for in all, `late` those in the second half of the fold.
    """

    labels: NDArray[np.int64]
    errors: NDArray[np.float64]
    spent: int
    late: int

    def first(self, error: float) -> int:
        """Return the labels asked for when the test error first was at most `error`, -1 if it never was."""
        low = np.flatnonzero(self.errors <= error)
        return int(self.labels[low[0]]) if len(low) else -1


def sweep(splits, **more):
    """Return the sweep over problems and splits; the smoke size takes one split of the last two."""
    sizes = {"folds": Sizes(3, 10), "permutations": Sizes(1, 10), "largest": Sizes(2000, 10_000)}

    def tasks(setup):
        names = [name for name in PROBLEMS if name.startswith("digits") == setup.stand_in]
        axes = {"problem": Sizes(names[-2:], names), "split": Sizes(range(1), range(splits))}
        own = over(axes, "{problem} split {split}", **sizes, holdout=Sizes(400, 2000), **more)(setup)
        return {key: {**task, **setup.source()} for key, task in own.items()}

    return tasks


def present(names, rows):
    """Return the problems of a record that are among some, or all of it where others stand in for these."""
    own = list(dict.fromkeys(rows["problem"]))
    return [name for name in names if name in own] or [name for name in own if name.startswith("digits")]


@lru_cache(maxsize=1)
def tables(name, folder, stand_in):
    """Return unit instances and labels of a problem, all there are."""
    from experiments.datasets import named

    problem = PROBLEMS[name]
    if stand_in:
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
    else:  # the pairs have about 12,000 examples in MNIST's training set, all digits 10,000 in the test set
        parts = ("train",) if problem.negative else ("t10k",)
        usps = name.startswith("USPS")
        stream = named.usps(Path(folder)) if usps else named.mnist(Path(folder), parts=parts)
        X, y = stream.X, stream.y
    rows = np.isin(y, problem.positive + problem.negative) | (not problem.negative)
    X = X[rows] / np.linalg.norm(X[rows], axis=1, keepdims=True)
    return X, np.where(np.isin(y[rows], problem.positive), 1.0, -1.0)


def _examples(task):
    return tables(task["problem"], task["folder"], task["stand_in"])


def _fold(task, number, train, test, coins):
    X, y = _examples(task)
    return Fold(number, X[train], y[train], X[test], y[test], coins)


def holdout(task):
    """Return row numbers of the examples a split is tuned on, and of those it is run on."""
    count = len(_examples(task)[1])
    order = generator(task["seed"], SPLIT, task["split"]).permutation(count)
    size = min(task["holdout"], count // 4)
    return order[:size], order[size : size + task["largest"]]


def _coins(task, stream):
    """Return generators of their own for tuning (the first) and for every fold."""
    return generator(task["seed"], POLICY, 100 * task["split"] + stream).spawn(1 + int(task["folds"]))


def folds(task, stream):
    """Yield the folds of a split; order and coins are of `stream`, the number of an algorithm."""
    rest = holdout(task)[1]
    for number, test in enumerate(np.array_split(rest, task["folds"])):
        coins = _coins(task, stream)[1 + number]
        yield _fold(task, number, coins.permutation(np.setdiff1d(rest, test)), test, coins)


def tune(task, coins, grid, labels):
    """Return the labels (points, permutations) that a grid needs on the split's holdout, a fifth of it being the test.

    A run that never gets there has -1.
    """
    rows = holdout(task)[0]
    size = len(rows) // 5
    orders = [coins.permutation(rows) for _ in range(task["permutations"])]
    drawn = [_fold(task, 0, order[size:], order[:size], coins) for order in orders]
    return np.array([[labels(point, fold) for fold in drawn] for point in grid])


def best(task, grid, counts, *, left_out=False):
    """Return the point of a grid that needs few labels.

    A run that never gets there counts as all labels; or, `left_out`, as the mean of those runs of its point that do.
    """
    instead = len(holdout(task)[0])
    if left_out:
        instead = np.ma.masked_less(counts, 0).mean(axis=1, keepdims=True).filled(instead)
    return one_standard_error(grid, np.where(counts < 0, instead, counts))


def tuned(task, key, *, left_out=False):
    """Return the parameters of a pairing for a split, by either convention of `best`; its runs are made once."""
    grid, own = GRIDS[key], frozenset({**task, "taken": 0}.items())
    return grid[0] if len(grid) == 1 else best(task, grid, _tuning(key, own), left_out=left_out)


@lru_cache(maxsize=1000)
def _tuning(key, items):
    task = dict(items)
    error = PROBLEMS[task["problem"]].error
    return tune(task, _coins(task, KEYS.index(key))[0], GRIDS[key], lambda point, fold: _first(key, point, fold, error))


def _first(key, parameters, fold, error):
    """Return `trace(key, parameters, fold).first(error)`; a run that gets there early is not played to its end."""
    early = fold._replace(X=fold.X[:EARLY], y=fold.y[:EARLY], coins=deepcopy(fold.coins))
    if (found := trace(key, parameters, early).first(error)) < 0:
        return trace(key, parameters, fold).first(error)
    fold.coins.random(len(fold.y))  # as the whole run would
    return found


def trace(key, parameters, fold):
    """Run a pairing over a fold, following the test error.

    The test margins follow the updates, v += eta y x or v -= 2 (v.x) x, by products with the test instances.
    """
    log = samplers.make(key, fold.X.shape[1], rng=fold.coins, **parameters).run(fold.X, fold.y)
    stored, asked = np.flatnonzero(log.stored), np.flatnonzero(log.queried)
    X, steps = fold.X[stored], fold.y[stored] * parameters.get("eta", 1.0)
    if key in MODIFIED and len(X):
        v = steps[0] * X[0]
        for place, x in enumerate(X[1:], 1):
            steps[place] = -2.0 * float(v @ x)
            v += steps[place] * x
    margins = np.cumsum(fold.test @ X.T * steps, axis=1)
    errors = np.mean((margins >= 0.0) != (fold.truth > 0.0)[:, None], axis=0)
    return Trace(np.cumsum(log.queried)[stored], errors, len(asked), int((asked >= len(fold.y) / 2).sum()))


def inside_grids(tuned):
    """Measure how far inside its grid every tuned parameter lies, over all splits and problems."""
    chosen = tuned.groupby(["key", "parameter"], sort=False)["value"]
    return {
        f"{name} of {key}": steps_inside(values, (float(one[name]) for one in GRIDS[key]), 1.0 if name == "R" else None)
        for (key, name), values in chosen
    }
