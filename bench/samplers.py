"""Samplers: microseconds a round, each beside its target, the memory's limit, and what other packages take.

Run ``python -m bench.samplers``.  Every time is the least CPU time of one thread over
some repetitions, all in this one process; ratios within the table are what to read.
Second-order rows show how long one BLAS product with a d x d matrix takes, that is
reading d^2 x 8 bytes: no update can be faster than that, rounds without one can.
Peers that are not installed are named and skipped.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from lpsm import samplers

Row = dict[str, Any]


def least_us(
    work: Callable[[], object], rounds: int, repeats: int = 5, clock: Callable[[], float] = time.thread_time
) -> float:
    """Return the least time a round of some repetitions, microseconds."""
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times) / rounds * 1e6


def dense_stream(rounds: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Unit instances whose spectrum falls as 1/k, as that of images does; a linear target, 2 % of labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, d)) / np.arange(1, d + 1)
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.where(X @ rng.normal(size=d) >= 0.0, 1, -1)
    return X, np.where(rng.random(rounds) < 0.02, -y, y)


def sparse_stream(rounds: int = 20_000, d: int = 50_000, non_zeros: int = 75) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Instances of `non_zeros` words of `d`, drawn by Zipf's law as words of texts are; a linear target."""
    rng = np.random.default_rng(0)
    rank = np.arange(1, d + 1)
    weights = np.cumsum(1.0 / rank)
    rows = []
    for _ in range(2_000):
        words: set[int] = set()
        while len(words) < non_zeros:
            words.update(np.searchsorted(weights, rng.random(non_zeros - len(words)) * weights[-1]).tolist())
        rows.append(sorted(words))
    columns = np.tile(np.array(rows), (rounds // len(rows), 1)).ravel()
    values = rng.random(len(columns)) * np.log(rank[columns] + 1.0)
    X = sparse.csr_matrix((values, columns, np.arange(rounds + 1) * non_zeros), shape=(rounds, d))
    return X, np.where(X @ rng.normal(size=d) >= 0.0, 1, -1)


def product_us(d: int) -> float:
    """One product with a d x d matrix: d^2 x 8 bytes read."""
    matrix, x = np.ones((d, d)), np.ones(d)
    return least_us(lambda: [matrix @ x for _ in range(20)], 20, repeats=15)


def ours(what: str, key: str, X: Any, y: np.ndarray, target_us: float | None, **parameters: Any) -> Row:
    """One row for a whole-stream run."""

    def work() -> samplers.RunLog:
        made = samplers.make(key, n_features=X.shape[1], rng=np.random.default_rng(0), **parameters)
        return made.run(X, y)

    log = work()  # compiles, and tells what the stream is like
    row = {
        "what": what,
        "us_a_round": least_us(work, len(y)),
        "target_us": target_us,
        "asked": float(log.queried.mean()),
        "stored": float(log.stored.mean()),
        "mistakes": float(np.mean(log.prediction != y)),
    }
    if X.shape[1] <= 784:
        row["product_us"] = product_us(X.shape[1])
    return row


def one_by_one(key: str, X: Any, y: np.ndarray, **parameters: Any) -> float:
    """The same sampler by `decide` and `learn`, from Python."""

    def work() -> None:
        made = samplers.make(key, n_features=X.shape[1], rng=np.random.default_rng(0), **parameters)
        for t in range(len(y)):
            x = X[t]
            if made.decide(x).query:
                made.learn(x, int(y[t]))

    work()
    return least_us(work, len(y), repeats=3)


def sparse_one_by_one() -> Iterator[Row]:
    """Sparse rows by `decide` and `learn`, from Python, every label learned, and river on the same instances."""
    X, y = sparse_stream(2_000, 20_000)
    rows, labels = [X[t] for t in range(len(y))], y.tolist()
    pairs = [(row.data, row.indices) for row in rows]
    dicts = [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in rows]

    def singly(instances: list[Any]) -> None:
        made = samplers.make("perceptron", 20_000)
        for x, label in zip(instances, labels, strict=True):
            if made.decide(x).query:
                made.learn(x, label)

    what = "perceptron, sparse 75 of 20,000, one by one from Python"
    for form, instances, target in (("CSR rows", rows, 20.0), ("values and columns", pairs, None)):
        singly(instances)
        us = least_us(lambda each=instances: singly(each), len(y))  # type: ignore[misc]
        yield {"what": f"{what}: {form}", "us_a_round": us, "target_us": target}
    if importlib.util.find_spec("river") is None:
        yield {"what": "river: not installed"}
        return
    from river.linear_model import Perceptron

    def by_river() -> None:
        model = Perceptron()
        for x, label in zip(dicts, labels, strict=True):
            model.predict_one(x)
            model.learn_one(x, label > 0)

    us = least_us(by_river, len(y), 3)
    yield {"what": "river Perceptron, dictionaries of 75 of 20,000, predict and learn", "us_a_round": us}


def tuned() -> Iterator[Row]:
    """`TunedSampler` of nine candidates over a whole stream, and by `decide` and `learn`."""
    X, y = dense_stream(2_000, 10)

    def made() -> samplers.TunedSampler:
        grid = np.geomspace(0.001, 10, 9)
        return samplers.TunedSampler("sop-label-efficient", 10, "C", grid, rng=np.random.default_rng(0))

    def singly() -> None:
        sampler = made()
        for x, label in zip(X[:300], y[:300].tolist(), strict=True):
            if sampler.decide(x).query:
                sampler.learn(x, label)

    what = "TunedSampler of nine sop-label-efficient, d=10"
    made().run(X, y)
    yield {"what": what, "us_a_round": least_us(lambda: made().run(X, y), len(y))}
    yield {"what": f"{what}, one by one from Python", "us_a_round": least_us(singly, 300, repeats=3)}


def peers(X: sparse.csr_matrix, y: np.ndarray, D: np.ndarray, z: np.ndarray) -> Iterator[Row]:
    """Other packages on the sparse stream (X, y), one instance at a time, and on the dense one (D, z)."""
    from sklearn.linear_model import Perceptron

    n = 1_000

    def scikit_learn(rows: Any, labels: np.ndarray) -> None:
        model = Perceptron()
        for t in range(n):
            model.partial_fit(rows[t : t + 1], labels[t : t + 1], classes=[-1, 1])

    yield {
        "what": "scikit-learn Perceptron.partial_fit, sparse",
        "us_a_round": least_us(lambda: scikit_learn(X, y), n, 3),
    }
    yield {
        "what": "scikit-learn Perceptron.partial_fit, d=256",
        "us_a_round": least_us(lambda: scikit_learn(D, z), n, 3),
    }
    if importlib.util.find_spec("river") is None:
        yield {"what": "river Perceptron: not installed"}
    else:
        from river.linear_model import Perceptron as RiverPerceptron

        rows = [dict(zip(r.indices.tolist(), r.data.tolist(), strict=True)) for r in (X[t] for t in range(n))]

        def river() -> None:
            model = RiverPerceptron()
            for x, label in zip(rows, y.tolist(), strict=False):
                model.predict_one(x)
                model.learn_one(x, label > 0)

        yield {"what": "river Perceptron, sparse", "us_a_round": least_us(river, n, 3)}
    if importlib.util.find_spec("vowpalwabbit") is None:
        yield {"what": "Vowpal Wabbit: not installed"}
    else:
        yield from vowpal_wabbit(X, y)
    if importlib.util.find_spec("skactiveml") is None:
        yield {"what": "scikit-activeml stream strategies: not installed"}
    else:
        yield scikit_activeml(D, z)


def vowpal_wabbit(X: sparse.csr_matrix, y: np.ndarray) -> Iterator[Row]:
    """Vowpal Wabbit on the same instances: from a file (wall time, the file is parsed), and one by one."""
    from vowpalwabbit import pyvw

    rounds = min(len(y), 10_000)
    lines = []
    for t in range(rounds):
        row = X[t]
        words = " ".join(f"{j}:{v:.6g}" for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True))
        lines.append(f"{int(y[t])} | {words}")
    flags = "--loss_function hinge --sgd --noconstant --quiet -b 18"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "stream.vw"
        path.write_text("\n".join(lines) + "\n")

        def from_file() -> None:
            pyvw.Workspace(f"{flags} -d {path}").finish()

        yield {"what": "Vowpal Wabbit, file, sparse", "us_a_round": least_us(from_file, rounds, 3, time.process_time)}

    def each() -> None:
        model = pyvw.Workspace(flags)
        for line in lines[:2_000]:
            model.learn(line)
        model.finish()

    yield {"what": "Vowpal Wabbit, one by one, sparse", "us_a_round": least_us(each, 2_000, 3, time.process_time)}


def scikit_activeml(D: np.ndarray, z: np.ndarray) -> Row:
    """scikit-activeml's variable uncertainty strategy on a linear classifier, d = 256."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.stream import VariableUncertainty
    from sklearn.linear_model import SGDClassifier

    n = 200

    def work() -> None:
        classifier = SklearnClassifier(SGDClassifier(loss="log_loss"), classes=[-1, 1], random_state=0)
        classifier.partial_fit(D[:20], z[:20])
        strategy = VariableUncertainty(random_state=0)
        for t in range(20, 20 + n):
            asked, utilities = strategy.query(D[t : t + 1], clf=classifier, return_utilities=True)
            strategy.update(D[t : t + 1], asked, budget_manager_param_dict={"utilities": utilities})
            if len(asked):
                classifier.partial_fit(D[t : t + 1], z[t : t + 1])

    return {"what": "scikit-activeml VariableUncertainty, d=256", "us_a_round": least_us(work, n, 2)}


def measure() -> Iterator[Row]:
    """Measure row by row."""
    X, y = sparse_stream()
    small, medium, large = dense_stream(40_000, 50), dense_stream(10_000, 256), dense_stream(6_000, 784)
    yield ours("perceptron, sparse 75 of 50,000", "perceptron", X, y, 0.3)
    yield ours("perceptron-ss b=0.5, sparse 75 of 50,000", "perceptron-ss", X, y, None)
    yield ours("sop, all labels, d=50", "sop", *small, 0.25)
    yield ours("sop, all labels, d=256", "sop", *medium, 3.5)
    yield ours("sop, all labels, d=784", "sop", *large, 45.0)
    yield ours("sop-label-efficient C=0.02, d=784", "sop-label-efficient", *large, 15.0, C=0.02)
    yield ours("sop-label-efficient C=0.1, d=784", "sop-label-efficient", *large, 15.0, C=0.1)
    yield ours("sop-ss b=0.1, d=784", "sop-ss", *large, None, b=0.1)
    yield ours("ssmd K=0.1, d=256", "ssmd", *medium, 2.0, K=0.1)
    yield ours("ss K=0.1, d=256", "ss", *medium, None, K=0.1)
    yield ours("lasec c=1000, d=784", "lasec", *large, 50.0, c=1000.0)
    yield ours("rls, every label stored, d=256", "rls", *medium, None)
    yield ours(
        "ssmd K=0.1, kernel form, sparse, 2,000 rounds", "ssmd", X[:2000], y[:2000], None, K=0.1, kernel="linear"
    )
    D, z = medium
    yield {
        "what": "perceptron, d=256, one by one from Python",
        "us_a_round": one_by_one("perceptron", D[:2000], z[:2000]),
    }
    yield {
        "what": "ssmd K=0.1, d=256, one by one from Python",
        "us_a_round": one_by_one("ssmd", D[:2000], z[:2000], K=0.1),
    }
    yield from sparse_one_by_one()
    yield from tuned()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from peers(X, y, D, z)


def rows() -> list[Row]:
    """Return all rows."""
    return list(measure())


def main() -> None:
    """Print the table in Markdown, row by row."""
    print("| what | us a round | target | d^2 x 8 bytes read, us | asked | stored | mistakes |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    columns = {
        "us_a_round": ".3g",
        "target_us": "g",
        "product_us": ".3g",
        "asked": ".1%",
        "stored": ".1%",
        "mistakes": ".1%",
    }
    for row in measure():
        cells = [
            row["what"],
            *("" if row.get(name) is None else format(row[name], how) for name, how in columns.items()),
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
