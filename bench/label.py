"""Samplers on the papers' data: label rate against F-measure on Reuters, labels to a test error on digits.

    python -m bench.label [reuters | pairings [RUNS]]

The data are found through LPSM_DATA.  `pairings` is the thesis' table 4.1: seven problems, six
pairings of query rule and update, RUNS permutations of ten-fold cross-validation each.  Parameters
are tuned on 2,000 examples that are not used otherwise: least mean number of labels until the
test error is reached, over two permutations of ten folds, a run that never reaches it counting as all
its examples.  In the table such runs are counted apart and left out of the means.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from experiments.datasets import Stream, data_folder, load
from experiments.datasets.named import reuters
from experiments.study.label import LabelConfig, label, problems
from lpsm import samplers
from tests.oracles.first_touch import first_touch

# stream, digits that are +1, digits that are -1 (None: all others), test error to reach, as in table 4.1
TASKS: dict[str, tuple[str, str, str | None, float]] = {
    "MNIST 0v1": ("mnist", "0", "1", 0.01),
    "MNIST 0vAll": ("mnist", "0", None, 0.05),
    "MNIST 4v7": ("mnist", "4", "7", 0.05),
    "MNIST 6v9": ("mnist", "6", "9", 0.025),
    "MNIST 147vAll": ("mnist", "147", None, 0.15),
    "USPS 0vAll": ("usps", "0", None, 0.05),
    "USPS 147vAll": ("usps", "147", None, 0.1),
}
_B = [{"b": b} for b in (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)]
_R = (2, 3, 5, 8, 12, 20)
GRIDS: dict[str, list[dict[str, Any]]] = {
    "dkm": [{"R": R} for R in _R],
    "dkm-perceptron": [{"R": R, "eta": eta} for R in _R for eta in (0.03, 0.1, 0.3, 1.0)],
    "cbgz-dkm": _B,
    "perceptron-ss": _B,
    "random-dkm": [{}],
    "random-perceptron": [{}],
}
EXAMPLES, HOLDOUT, FOLDS = 10_000, 2_000, 10


def reuters_cases() -> list[tuple[str, dict[str, float]]]:
    """Return the samplers of the table."""
    cases: list[tuple[str, dict[str, float]]] = []
    for a in (1.0, 0.1):
        cases.append(("sop", {"a": a}))
        cases += [(key, {"a": a, "K": K}) for key in ("ssmd", "ss") for K in (0.001, 0.003, 0.01, 0.03)]
    return [*cases, ("perceptron", {}), ("perceptron-ss", {"b": 0.1}), ("sop-label-efficient", {"C": 0.03})]


def reuters_rows(
    all_documents: bool = False, cases: list[tuple[str, dict[str, float]]] | None = None
) -> list[dict[str, Any]]:
    """Mean over the ten topics of F-measure and label rate, and their spread."""
    stream = reuters(data_folder(), all_documents=all_documents)
    asked = problems(stream.y, stream.classes, one_vs_rest=True)
    rows = []
    for key, parameters in cases if cases is not None else reuters_cases():
        classes = label(stream.X, asked, LabelConfig(algorithm=key, parameters=parameters)).classes
        rows.append(
            {"documents": len(stream.y), "sampler": key, **parameters, "f": classes["f_measure"].mean(),
             "worst_f": classes["f_measure"].min(), "best_f": classes["f_measure"].max(),
             "rate": classes["label_rate"].mean(), "least_rate": classes["label_rate"].min(),
             "largest_rate": classes["label_rate"].max(), "stored": classes["stored"].mean()}
        )  # fmt: skip
    return rows


def task(name: str, streams: dict[str, Stream], examples: int = EXAMPLES) -> tuple[Any, Any, Any, Any]:
    """Return instances and signs of a problem, and those of its holdout."""
    source, positive, negative, _ = TASKS[name]
    stream = streams[source]
    digits = np.array([int(digit) for digit in positive])
    others = np.arange(10) if negative is None else np.array([int(digit) for digit in positive + negative])
    order = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(4, 0))).permutation(len(stream.y))
    chosen = order[np.isin(stream.y[order], others)][: examples + HOLDOUT]
    X, y = stream.X[chosen], np.where(np.isin(stream.y[chosen], digits), 1, -1)
    return X[HOLDOUT:], y[HOLDOUT:], X[:HOLDOUT], y[:HOLDOUT]


def folds(
    key: str, parameters: dict[str, Any], X: Any, y: Any, error: float, runs: int, stays: int = 1
) -> list[tuple[int | None, int, int]]:
    """Return labels to first touch (or None), labels spent and examples of each fold of each permutation."""
    found = []
    for run in range(runs):
        order = np.random.default_rng(np.random.SeedSequence(run, spawn_key=(4, 1))).permutation(len(y))
        for fold in range(FOLDS):
            held = order[fold::FOLDS]
            rest = np.delete(order, np.s_[fold::FOLDS])
            make = partial(_sampler, key, X.shape[1], run * FOLDS + fold, parameters)
            labels, spent = first_touch(make, X[rest], y[rest], X[held], y[held], error, stays)
            found.append((labels, spent, len(rest)))
    return found


def tuned(key: str, X: Any, y: Any, error: float) -> dict[str, Any]:
    """Return the parameters of the grid with the least mean number of labels on the holdout."""
    grid = GRIDS[key]
    if len(grid) == 1:
        return grid[0]
    costs = []
    for parameters in grid:
        outcome = folds(key, parameters, X, y, error, runs=2)
        costs.append(np.mean([size if labels is None else labels for labels, _, size in outcome]))
    return grid[int(np.argmin(costs))]


def pairing_rows(
    runs: int = 5, examples: int = EXAMPLES, names: tuple[str, ...] = tuple(TASKS)
) -> list[dict[str, Any]]:
    """Table 4.1: mean and deviation of labels to the first touch, runs that never did, labels these spent."""
    streams = {source: load(source) for source in {TASKS[name][0] for name in names}}
    rows = []
    for name in names:
        X, y, held_X, held_y = task(name, streams, examples)
        error = TASKS[name][3]
        for key in GRIDS:
            parameters = tuned(key, held_X, held_y, error)
            outcome = folds(key, parameters, X, y, error, runs)
            stay = folds(key, parameters, X, y, error, runs, stays=20)
            reached = [labels for labels, _, _ in outcome if labels is not None]
            stayed = [labels for labels, _, _ in stay if labels is not None]
            rows.append(
                {"problem": name, "sampler": key, **parameters, "labels": _mean(reached),
                 "deviation": _deviation(reached),
                 "never": len(outcome) - len(reached), "of": len(outcome),
                 "spent_by_never": _mean([spent for labels, spent, _ in outcome if labels is None]),
                 "labels_to_stay": _mean(stayed), "never_stay": len(stay) - len(stayed)}
            )  # fmt: skip
            print(
                {k: round(v, 2) if isinstance(v, float) else v for k, v in rows[-1].items()},
                file=sys.stderr,
                flush=True,
            )
    return rows


def _sampler(key: str, n_features: int, seed: int, parameters: dict[str, Any]) -> samplers.Sampler:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3, 0)))
    return samplers.make(key, n_features, rng=rng, **parameters)


def _mean(values: list[int]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _deviation(values: list[int]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


if __name__ == "__main__":
    import pandas as pd

    what = sys.argv[1] if len(sys.argv) > 1 else "reuters"
    if what == "pairings":
        table = pd.DataFrame(pairing_rows(int(sys.argv[2]) if len(sys.argv) > 2 else 5))
    else:
        table = pd.DataFrame([*reuters_rows(), *reuters_rows(all_documents=True)])
    print(table.round(4).to_string(index=False))
