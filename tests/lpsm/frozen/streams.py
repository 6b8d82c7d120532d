"""Runs of every algorithm on streams made to be awkward, and their answers as one file.

What it models: each key at parameters at which it both asks and passes, over streams with ties, rows of zeros, a target
that turns, and more updates than wait for the matrix; primal and under kernels, several classes, and grids of a
parameter.  A case is called by what it is: key, parameters and stream.  `python -m tests.lpsm.frozen.streams` writes
the answers of cases that have none; it refuses to change or to drop an answer unless the case is named behind it.
"""

import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
from numpy.random import default_rng

from lpsm import samplers
from tests.tables import rows

FILE = Path(__file__).with_name("answers.npz")

_TEXT = """
perceptron eta=0.5; modified-perceptron; sop a=0.7; ridge a=1.5; rls; rls-all a=2.0; lasec b=1.3, c=20.0;
shifting-perceptron lambda_=0.4; randomized-budget-perceptron B=7; perceptron-ss b=0.6;
perceptron-ss-adaptive beta=0.05; sop-ss b=0.2; sop-ss-adaptive beta=0.02; sop-label-efficient C=0.3, a=2.0;
sole C=0.1; sop-fixed-bias rate=0.35; lasec-ss a=0.2, b=0.8, c=15.0; ss K=0.4; ssnci K=0.4, a=3.0; ssmd K=0.05;
ssnl K=0.4; adaptive-sampler lambda_=40.0, rho=12.0; bbq kappa=0.27; bbq-i kappa=0.27; dkm R=6, s_1=0.9;
dkm-perceptron R=6, s_1=0.9; cbgz-dkm b=0.2; random-perceptron rate=0.35; random-dkm rate=0.35; filter K=0.4; ffoat;
fsoat; ffole C=0.3; fsole C=0.1; arow r=0.7; arow-diagonal r=1.3; adagrad eta=0.6; arow-ss b=0.3, r=2.0;
arow-diagonal-ss b=0.3, r=0.8; adagrad-ss b=0.2, eta=0.5; iwal c_0=0.0002, floor=0.05, eta=0.4;
kept-rate rate=0.3, step=0.1, c=20.0; nearest rate=0.3, step=0.1
"""
PARAMETERS = {key: eval(f"dict({given})") for key, given in re.findall(r"([\w-]+)(?: ([^;]*))?", _TEXT)}
MORE = rows("""
"adaptive-sampler", {"lambda_": 40.0, "rho": 12.0, "mistake_driven": True}
"adaptive-sampler", {"lambda_": 1.0, "rho": lambda t: 12.0, "bias": 0.2} ; "ffoat", {"count_forced": True}
"ssmd", {"max_queries": 20} ; "sop-ss", {"dtype": "float32"}
""")
NO_KERNEL = {"arow-diagonal", "arow-diagonal-ss", "adagrad", "adagrad-ss", "iwal"}
GRIDS = rows("""
"sop-label-efficient", "C", [0.03, 0.3, 3.0] ; "perceptron-ss", "b", [0.1, 1.0] ; "lasec-ss", "c", [10.0, 1000.0]
"dkm", "R", [2, 8] ; "adaptive-sampler", "lambda_", [0.1, 30.0] ; "arow-diagonal-ss", "r", [0.1, 1.0]
"randomized-budget-perceptron", "B", [4, 16]
""")


def plain(d=5, rounds=80, seed=1):
    """Gaussian rows of many lengths with a third of zeros, labels with noise."""
    rng = default_rng(seed)
    X = rng.normal(size=(rounds, d)) * rng.uniform(0.3, 2.0, size=(rounds, 1))
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 0] += 0.01
    return X, np.where(X @ rng.normal(size=d) + 0.6 * rng.normal(size=rounds) >= 0.0, 1, -1)


def ties():
    """Five instances of small whole numbers over and over, with labels that contradict each other."""
    rng = default_rng(2)
    rows = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 2, 1]], float)
    return rows[rng.integers(5, size=80)], rng.choice([-1, 1], size=80)


def holes():
    """Rows of which every fourth is empty, the first among them."""
    X, y = plain(6, 72, 3)
    X[::4] = 0.0
    return X, y


def drift():
    """A target that turns over in the middle, with 24 features, of whose updates eight wait for the matrix."""
    X, y = plain(24, 88, 4)
    return X, np.where(np.arange(88) < 44, y, -y)


STREAMS = {"plain": plain, "ties": ties, "holes": holes, "drift": drift}


def a_stream(seed, rounds=400, d=7):
    """Like `plain`, longer and wider."""
    return plain(d, rounds, seed)


def by_rounds(sampler, X, y, *, by_ticket=False):
    """Margins, predictions, questions, what was stored, and probabilities of asking, each (T,)."""
    rows = []
    for t, label in enumerate(y):
        decision = sampler.decide(X[t])
        stored = bool(decision.query and sampler.learn(decision.ticket if by_ticket else X[t], int(label)))
        rows.append((decision.margin, decision.prediction, decision.query, stored, decision.probability))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def of(log):
    """The same of a run, without the probabilities."""
    return log.margin, log.prediction, log.queried, log.stored


def assert_same(got, expected, margin_tolerance=1e-8):
    """Hold what came of rounds to what is expected, margins and probabilities to a tolerance."""
    for name, a, b in zip(("prediction", "queried", "stored"), got[1:4], expected[1:4], strict=True):
        assert np.array_equal(a, b), f"{name} differs first in round {int(np.argmin(np.equal(a, b)))}"
    for a, b in zip(got[::4], expected[::4], strict=False):
        np.testing.assert_allclose(a, b, atol=margin_tolerance, rtol=0)


def run(make, X, y):
    """Play a stream; return what was said, asked and stored, 0 or 1, and numbers.

    Of several classes the numbers are scores of the last rows at the end, otherwise the margins and the weights, of
    which the last 80 are kept where there are many features.
    """
    sampler = make()
    if isinstance(sampler, samplers.MulticlassSampler):
        said, asked = sampler.run(X, y)
        numbers = [*(said == c for c in range(3)), asked, sampler.scores(X[-12:]).ravel(), sampler.last_scores]
        return np.concatenate(numbers)
    margin, said, asked, stored = of(sampler.run(X, y))
    final = np.concatenate([margin, sampler.weights, *(copy.weights for copy in getattr(sampler, "samplers", ()))])
    return np.concatenate([said == 1, asked, stored, final[-80 if X.shape[1] > 500 else 0 :]])


def called(key, parameters):
    """Name an algorithm and its parameters; of a function, what it gives at 1."""
    values = {name: value(1) if callable(value) else value for name, value in parameters.items()}
    return " ".join([key, *(f"{name}={value}" for name, value in values.items())])


def cases():
    """Give each case by name: what makes the sampler, and its stream."""
    for place, (key, parameters) in enumerate([*PARAMETERS.items(), *MORE]):
        more = place >= len(PARAMETERS)
        for name, stream in STREAMS.items():
            X, y = stream()
            own = parameters | ({"normalize": False} if name == "holes" else {})
            if not more or name == "drift":
                yield f"{called(key, parameters)} {name}", partial(samplers.make, key, X.shape[1], rng=7, **own), X, y
        for name, kernel in (
            () if key in NO_KERNEL or more else (("ties", "linear"), ("plain", "rbf"), ("holes", "poly"))):  # fmt: skip
            X, y = STREAMS[name]()
            own = parameters | {"kernel": kernel} | ({} if kernel == "linear" else {"gamma": 0.4})
            own |= {"normalize": False} if name == "holes" else {}
            yield f"{key} {kernel}", partial(samplers.make, key, X.shape[1], rng=7, **own), X, y
    for key, parameters in PARAMETERS.items():
        X, _ = plain(6, 70, 5)
        y = (X @ default_rng(6).normal(size=(6, 4))).argmax(axis=1)
        for kernel in (None, "rbf") if key not in NO_KERNEL else (None,):
            make = partial(samplers.MulticlassSampler, key, 6, 4, rng=7, kernel=kernel, **parameters)
            try:
                make()
            except ValueError:  # has no form for several classes
                continue
            yield f"{key} classes {kernel}", make, X, y
    for key, parameter, grid in GRIDS:
        yield f"{key} over a grid", partial(samplers.TunedSampler, key, 5, parameter, grid, rng=7), *plain(5, 90, 8)
    for key in ("rls", "sop-label-efficient", "lasec"):
        yield f"{key} wide", partial(samplers.make, key, 530, rng=7), *plain(530, 290, 9)


def read():
    """Read the answers by case."""
    with np.load(FILE) as file:
        return dict(file)


def close(name, now, then):
    """Whether answers agree to 1e-12, relative where they exceed 1; in single precision to 1e-5."""
    tolerance = 1e-5 if "float32" in name else 1e-12
    return now.shape == then.shape and bool((np.abs(now - then) <= tolerance * np.maximum(1.0, np.abs(then))).all())


def merged(then, now, allowed):
    """Return the answers of `then` and those that are new; what differs, or is gone, must be `allowed`."""
    wrong = [name for name in then if name not in now or not close(name, now[name], then[name])]
    if refused := sorted(set(wrong) - set(allowed)):
        raise ValueError(f"answers must be named to be changed or dropped, got {', '.join(map(repr, refused))}")
    return {name: now[name] if name in wrong else then.get(name, answer) for name, answer in now.items()}


if __name__ == "__main__":
    np.savez_compressed(FILE, **merged(read(), {name: run(*case) for name, *case in cases()}, sys.argv[1:]))
