"""Equations (2) and (3) of Cesa-Bianchi 2007 side by side: least squares, the 2-norm SVM, the second-order Perceptron.

What it models: section 2, on news.  All three are trained on the first 60 % of the stories in order of time, a = 1, no
intercept, and predict the rest: ridge regression on the labels, the SVM with squared hinge loss, and the weights of the
second-order Perceptron, which are least squares on the examples that it stored.  A classifier depends on the training
examples whose dual coefficient is not 0.
What it leaves out: kernels.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers import news
from experiments.papers.claims import Claim, Record
from experiments.papers.kit import Experiment, Rows
from experiments.papers.predicates import at_least, below, each

__all__ = ["EXPERIMENTS"]

TRAINED = 0.6
A = 1.0
NAMES = {"ridge": "least squares", "svm-2": "the 2-norm SVM", "sop": "the second-order Perceptron"}


def batch(task: dict[str, Any]) -> Rows:
    """Train the three on the first stories of a topic: counts over the rest, and examples that they depend on."""
    from sklearn.linear_model import Ridge
    from sklearn.svm import LinearSVC  # slow to import, and needed here alone

    X, y, named = news.question(task)
    size = int(TRAINED * len(y))
    train, truth, rest, later = X[:size], y[:size], X[size:], y[size:]
    ridge = Ridge(alpha=A, fit_intercept=False, solver="sparse_cg", tol=1e-8).fit(train, truth).coef_
    machine = LinearSVC(C=1.0 / (2.0 * A), fit_intercept=False, random_state=0, max_iter=100_000, tol=1e-6)
    svm = machine.fit(train, truth).coef_.ravel()
    stored = news.make("sop", train, np.random.default_rng(0), {"a": A}).run(train, truth).stored
    kept = train[stored]
    gram = np.asarray((kept @ kept.T).todense()) if hasattr(kept, "todense") else kept @ kept.T
    sop = kept.T @ np.linalg.solve(A * np.eye(len(gram)) + gram, truth[stored].astype(float))
    rows, positive = [], later > 0
    for key, w, support in (
        ("ridge", ridge, np.abs(1.0 - truth * (train @ ridge)) > 1e-6),
        ("svm-2", svm, truth * (train @ svm) < 1.0 - 1e-6),
        ("sop", sop, stored),
    ):
        predicted = rest @ w >= 0.0
        rows.append(
            {**named, "key": key, "value": np.nan, "run": 0, "rounds": size, "tp": int(np.sum(predicted & positive)),
             "predicted": int(predicted.sum()), "positive": int(positive.sum()), "queried": size,
             "stored": int(support.sum())}
        )  # fmt: skip
    return {"totals": rows}


EQUATION_3 = Experiment(
    "rls/equation-3", "least squares beside the 2-norm SVM: what they depend on, and how good they are", "1 min",
    news.NEWS, sweep=news.sweep((), rcv1_stories=40_000), run=batch,
)  # fmt: skip


def _depends(record: Record, key: str) -> pd.Series:
    """Return the share of the training examples that a classifier depends on, percent, a number a topic."""
    rows = news.of(key)(news.scored(record))
    return 100 * rows["stored"] / rows["rounds"]


def _support(record: Record, key: str) -> Any:
    return {NAMES[key]: _depends(record, key)}


EQUATION_3.claims += [
    Claim("the solution of (2) depends on all training examples", each(partial(_support, key="ridge"), 99.9, unit=" %"),
          "always depends on all", "every topic"),
    Claim("that of (3) depends on a small subset", below(partial(_support, key="svm-2"), 50.0, unit=" %"),
          "(often small) subset", "less than half of the training examples"),
]  # fmt: skip


@EQUATION_3.claim(
    "the second-order Perceptron gives sparse solutions: it stores fewer than the SVM has support vectors", below,
    "sparsity can be obtained", "paired over topics", unit=" points",
)  # fmt: skip
def _sparser(record: Record) -> pd.Series:
    return _depends(record, "sop") - _depends(record, "svm-2")


def _behind(record: Record, key: str) -> Any:
    """F on the later stories less that of the SVM, by topic."""
    scores = news.scored(record)
    difference = news.of(key)(scores)["f"] - news.of("svm-2")(scores)["f"]
    return dict(zip(news.of(key)(scores)["topic"], difference, strict=True))


def _mean_behind(record: Record, key: str) -> str:
    behind = np.array(list(_behind(record, key).values()))
    return f"{100 * np.mean(behind >= -news.SAME):.0f} % of the topics, {np.nanmean(behind):+.3f} on the mean"


EQUATION_3.claims += [
    Claim(f"{NAMES[key]} is often about as accurate as the SVM",
          at_least(partial(_behind, key=key), -news.SAME, needed=0.5),
          "often comparable to the best batch classifiers", f"F-measure on the later stories; {of_what}",
          why=partial(_mean_behind, key=key))
    for key, of_what in (
        ("ridge", "of least squares, which the paper says it of"),
        ("sop", "the paper says it of least squares; this is one pass over the stories"))
]  # fmt: skip


@EQUATION_3.picture(
    "equation-3", x="training examples it depends on, %", y="F-measure on later stories", x_scale="log"
)  # fmt: skip
def _points(record: Record) -> pd.DataFrame:
    scores = news.scored(record)
    depends = 100 * scores["stored"] / scores["rounds"]
    return pd.DataFrame({"group": scores["key"].map(NAMES), "x": depends, "y": scores["f"], "points": True})


EXPERIMENTS = (EQUATION_3,)
