"""Cesa-Bianchi 2007 on news: selective sampling with least squares, and least squares beside the SVM.

What it models: section 4.  Figure 2 has SS, which asks where the margin is at most c sqrt(ln t/N), with c = 5 as
printed (K = c^2 = 25) and c = 1 beside it, and the Perceptron and the second-order Perceptron with all
labels.  Figure 3 has the label-efficient second-order Perceptron, whose coin is C/(C + margin), over C.  The
regulariser a is 1, and instances have unit norm.

Equations (2) and (3), section 2: least squares, the 2-norm SVM and the second-order Perceptron are trained on the first
60 % of the stories in order of time, a = 1, no intercept, and predict the rest: ridge regression on the labels, the SVM
with squared hinge loss, and the weights of the second-order Perceptron, which are least squares on the examples that it
stored.  A classifier depends on the training examples whose dual coefficient is not 0.
What it leaves out: kernels, and the full least-squares classifier online, as the paper does.
"""

import numpy as np

from experiments.papers import news
from experiments.papers.claims import Noted, against, named, where
from experiments.papers.kit import Experiment
from experiments.papers.news import ALL_LABELS, NEWS, SAME, grid, of, paired
from experiments.papers.predicates import above, at_least, at_most, below, each, reaching, rising

PRINTED = 25.0  # K = c^2
SHOWN = (0.03, 0.1, 0.3, 1.0)  # what the figure displays is not printed
LEAST_RATE = 1.0 / 3.0  # of the labels, that a C asks for which is displayed
SOLE = "sop-label-efficient"
OVER_TIME = {"f": "F-measure", "rate": "share of labels asked for"}
CASES = (*ALL_LABELS, *grid("ss", "K", (1.0, PRINTED)))
EFFICIENT = grid(SOLE, "C", (0.003, 0.01, 0.03, 0.1, 0.3, 1.0), 10)
FIG_2 = Experiment(
    "rls/fig-2", "selective sampling with c = 5 beside Perceptrons with all labels", "4 min", NEWS, run=news.run_cases,
    sweep=news.sweep(CASES, smoke_topics=2, stories=40_000),
)  # fmt: skip
FIG_3 = Experiment(
    "rls/fig-3", "the label-efficient second-order Perceptron, several C", "5 min", NEWS, run=news.run_cases,
    sweep=news.sweep((*ALL_LABELS[:1], *EFFICIENT)),
)  # fmt: skip


@FIG_2.claim(
    "selective sampling eventually reaches the performance of the second-order Perceptron", at_least,
    "eventually reaches", "last window", limit=-SAME,
)  # fmt: skip
def _last_f(record):
    tables = (news.by_window(record, "f", select(record)) for select in (of("ss", PRINTED), of("sop")))
    return against(*(table.iloc[:, -1] for table in tables))


def _last_to_first(record, key, values=()):
    """Mean label rate of the last window over that of the first, by the values of the parameter."""
    samples, own = {}, where(news.scored(record, "windows"), key=key)
    for value in values or sorted(set(own["value"])):
        mean = 100 * where(own, value=value).groupby("t")["rate"].mean()
        words = f"(from {mean.iloc[0]:.1f} to {mean.iloc[-1]:.1f} %)"
        samples[f"{value:g}"] = Noted(mean.iloc[-1] / mean.iloc[0], words)
    return samples


FIG_2.claim(
    "c = 5 works well: the same F-measure as the second-order Perceptron over the stream", at_least, "works well",
    limit=-SAME,
)(paired("f", of("ss", PRINTED), of("sop")))  # fmt: skip
FIG_2.claim("with all labels and a = 1 the second-order Perceptron is above the Perceptron", above, "figure 2")(
    paired("f", of("sop"), of("perceptron"))
)
FIG_2.claim("it is above the Perceptron", above, "figure 2")(paired("f", of("ss", PRINTED), of("perceptron")))
FIG_2.claim(
    "its label rate decreases very fast", at_most, "very fast",
    "c = 5: label rate of the last window over the first, means over topics", limit=0.5,
)(lambda record: _last_to_first(record, "ss", (PRINTED,)))  # fmt: skip


@FIG_2.picture("fig-2")
def _draw_2(record):
    lines = [(f"selective sampling, c = {np.sqrt(value):g}", "ss", value) for value in (PRINTED, 1.0)]
    return news.curves(record, [*lines, *((news.NAMES[key], key, None) for key in ("sop", "perceptron"))], OVER_TIME)


def _by_rate(record, high=1.0):
    """F of the label-efficient sampler less that with all labels, at every C whose label rate is in a range."""
    rates = news.mean_by_value(record, SOLE)["rate"].sort_index()
    values = rates.index[(rates >= LEAST_RATE) & (rates <= high)]
    return named({f"C = {value:g}:": paired("f", of(SOLE, value), of("sop")) for value in values})(record)


FIG_3.claim(
    "for the values of C displayed the performance does not get significantly worse as C decreases", at_least,
    "not significantly", "each C that asks for a third of the labels or more, over ten coins", limit=-SAME,
)(lambda record: _by_rate(record))  # fmt: skip
FIG_3.claim(
    "no significant decrease where a significant fraction of the labels is not observed", reaching,
    "no significant decrease",
    "each C that asks for a third to two thirds of the labels: the interval of the difference reaches 0", low=0.0,
)(lambda record: _by_rate(record, 2.0 / 3.0))  # fmt: skip
FIG_3.claim(
    "the smaller C, the faster the label rate drops", rising, "drop faster",
    "rate of the last window over that of the first, by C",
)(lambda record: _last_to_first(record, SOLE))  # fmt: skip


@FIG_3.picture("fig-3")
def _draw_3(record):
    lines = [(f"C = {value:g}", SOLE, value) for value in SHOWN if value in set(record["totals"]["value"])]
    return news.curves(record, [*lines, (news.NAMES["sop"], "sop", None)], OVER_TIME)


NAMES = {"ridge": "least squares", "svm-2": "the 2-norm SVM", "sop": "the second-order Perceptron"}


def batch(task):
    """Train the three on the first stories of a topic: counts over the rest, and examples that they depend on."""
    from sklearn.linear_model import Ridge
    from sklearn.svm import LinearSVC  # slow to import, and needed here alone

    X, y, named = news.question(task)
    size = int(0.6 * len(y))
    train, truth, rest, positive = X[:size], y[:size], X[size:], y[size:] > 0
    ridge = Ridge(alpha=1.0, fit_intercept=False, solver="sparse_cg", tol=1e-8).fit(train, truth).coef_
    machine = LinearSVC(C=0.5, fit_intercept=False, random_state=0, max_iter=100_000, tol=1e-6)
    svm = machine.fit(train, truth).coef_.ravel()
    stored = news.make("sop", train, np.random.default_rng(0), {"a": 1.0}).run(train, truth).stored
    kept = train[stored]
    gram = np.asarray((kept @ kept.T).todense()) if hasattr(kept, "todense") else kept @ kept.T
    sop = kept.T @ np.linalg.solve(np.eye(len(gram)) + gram, truth[stored].astype(float))
    rows = []
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
    NEWS, sweep=news.sweep(()), run=batch,
)  # fmt: skip


def _depends(record, key):
    """Return the share of the training examples that a classifier depends on, percent, a number a topic."""
    rows = of(key)(record)
    return 100 * rows["stored"] / rows["rounds"]


EQUATION_3.claim(
    "the solution of (2) depends on all training examples", each, "always depends on all", "every topic", low=99.9,
    unit=" %",
)(lambda record: {NAMES["ridge"]: _depends(record, "ridge")})  # fmt: skip
EQUATION_3.claim(
    "that of (3) depends on a small subset", below, "(often small) subset", "less than half of the training examples",
    limit=50.0, unit=" %",
)(lambda record: {NAMES["svm-2"]: _depends(record, "svm-2")})  # fmt: skip
EQUATION_3.claim(
    "the second-order Perceptron gives sparse solutions: it stores fewer than the SVM has support vectors", below,
    "sparsity can be obtained", "paired over topics", unit=" points",
)(lambda record: _depends(record, "sop") - _depends(record, "svm-2"))  # fmt: skip


@EQUATION_3.claim(
    "{name} is often about as accurate as the SVM", at_least, "often comparable to the best batch classifiers",
    "F-measure on the later stories; {of_what}", limit=-SAME, needed=0.5,
    of=[{"key": "ridge", "name": NAMES["ridge"], "of_what": "of least squares, which the paper says it of"},
        {"key": "sop", "name": NAMES["sop"],
         "of_what": "the paper says it of least squares; this is one pass over the stories"}],
)  # fmt: skip
def _behind(record, key):
    """F on the later stories less that of the SVM, by topic."""
    own, other = (of(one)(record) for one in (key, "svm-2"))
    return dict(zip(own["topic"], own["f"] - other["f"], strict=True))
