"""Random trials of the samplers' theorems: the report of `lpsm.bounds` on drawn streams, and targets that move.

``python -m tests.oracles.bound_trials`` prints for every statement how many trials there were, how many were vacuous or
violated, and the median of bound over measured where it says something.
"""

import numpy as np
import pandas as pd

from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, report_sampler
from lpsm.bounds.verdicts import Row, compare
from tests.tables import named


def table(trial, seeds):
    """The rows of a trial at some seeds, with the ratio of both sides where the bound says something."""
    rows = [row for seed in seeds for row in trial(np.random.default_rng([0, seed]))]
    found = pd.DataFrame(rows, columns=list(Row._fields))
    found["ratio"] = (found["bound"] / found["measured"]).where(found["verdict"].str.startswith("holds"))
    return found


def spread(rng, low, high):
    """A number whose decimal logarithm is uniform."""
    return 10 ** rng.uniform(low, high)


def any_stream(rng):
    """Examples from one of five sources: separable, noisy, flipped labels, drifting, coin-flipped labels."""
    n, d, kind = int(rng.integers(20, 150)), int(rng.integers(2, 8)), rng.integers(5)
    stream = (
        lambda: streams.separable(n, d, rng.uniform(0, 0.5), rng),
        lambda: streams.linear_noise(n, d, rng.uniform(0.5, 6), rng),
        lambda: streams.uniform_sphere(n, d, rng),
        lambda: streams.drifting(n, d, rng.uniform(0, 4), rng),
        lambda: streams.similar_to_uniform(n, d, 0.5, rng),
    )[kind]()
    flipped = {2: lambda: np.where(rng.random(n) < 0.1, -stream.y, stream.y), 4: lambda: rng.choice((-1.0, 1.0), n)}
    return stream.X, flipped.get(kind, lambda: stream.y)()


def mixed(rng, unit):
    """Half easy streams, on which the bounds say something, half anything; of unit vectors or of many lengths."""
    if rng.random() < 0.5:
        stream = streams.separable(int(rng.integers(60, 250)), int(rng.integers(2, 5)), rng.uniform(0.3, 0.6), rng)
        X, y = stream.X, stream.y
    else:
        X, y = any_stream(rng)
    return (X, y) if unit else (X * rng.uniform(0.2, 3, (len(X), 1)), y)


def of_lasec(rng):
    return {"b": (b := spread(rng, -1, 0.5)), "c": b * (1 + spread(rng, -1, 3))}


PARAMETERS = named("""
# of each key, on any stream
perceptron = lambda rng: {} ; sop = lambda rng: {"a": spread(rng, -1, 1)} ; lasec = of_lasec
perceptron-ss = lambda rng: {"b": spread(rng, -1, 0.6), "eta": spread(rng, -1, 1)}
sop-ss = lambda rng: {"b": spread(rng, -1, 0.6)}
sop-label-efficient = lambda rng: {"C": spread(rng, -1, 0.6), "a": spread(rng, -1, 1)}
lasec-ss = lambda rng: {"a": spread(rng, -1, 0.5), **of_lasec(rng)}
""", globals())  # fmt: skip


def reported(key, runs=6):
    """A trial: what the report says of a key, on a run and in the mean of half of the runs."""

    def trial(rng):
        X, y = mixed(rng, unit=key in ("perceptron-ss", "sop-ss"))
        sampler = samplers.make(key, X.shape[1], normalize=False, **PARAMETERS[key](rng))
        return report_sampler(sampler, X, y, runs=runs, rng=rng).itertuples(index=False)

    return trial


def quadratic_forms(X, b, c):
    """x'D_k^-1 x of D (2), (3) along the update rounds: D_0 = bc/(c-b) I, D_k = (D_{k-1}^-1 + I/c)^-1 + xx'."""
    eye, forms = np.eye(X.shape[1]), []
    D = eye / (1.0 / b - 1.0 / c)
    for x in X:
        D = np.linalg.inv(np.linalg.inv(D) + eye / c) + np.outer(x, x)
        forms.append(x @ np.linalg.solve(D, x))
    return np.array(forms)


def moving(key):
    """A trial on a stream whose target moves, which the report leaves out: comparators are the targets by a factor."""

    def trial(rng):
        n, margin, given = int(rng.integers(60, 250)), rng.uniform(0.2, 0.6), PARAMETERS[key](rng)
        shifts = int(rng.integers(1, 5))
        stream = streams.drifting(n, int(rng.integers(2, 5)), rng.uniform(0, 3), rng, margin, n_shifts=shifts)
        y = stream.y if rng.random() < 0.5 else np.where(rng.random(n) < 0.05, -stream.y, stream.y)
        log = samplers.make(key, stream.X.shape[1], rng=rng, normalize=False, **given).run(stream.X, y)
        U, b, c, path = log.stored, given["b"], given["c"], stream.targets * rng.uniform(0.3, 1.0) / margin
        X, moved, hinge = stream.X[U], path[U], np.maximum(0.0, 1.0 - y * (stream.X * path).sum(axis=1))
        energy = b * np.sum(moved[:1] ** 2) + c * np.sum(np.diff(moved, axis=0) ** 2) + np.sum((moved * X).sum(1) ** 2)
        sums = {"energy": energy, "quadratic_sum": float(quadratic_forms(X, b, c).sum()), "gamma": 1}
        if key == "lasec":
            name, measured, trivial = "D Theorem 2", U.sum(), n
            bound = drift.drift_mistakes(hinge=hinge.sum(), **sums)
        else:
            a = given["a"]
            name, measured, trivial = "D (9)", np.sum(a + np.abs(log.margin[U])), a * n
            bound = a * drift.selective_drift_mistakes(hinge=hinge[U].sum(), a=a, **sums)
        useless = "" if bound < trivial else "it is no more anyway"
        yield compare(f"{name}, a target that moves", "upper", measured, bound, 1e-9 * max(1.0, bound), useless)

    return trial


if __name__ == "__main__":
    many = [(reported(key, 400), 8) for key in PARAMETERS if key.endswith(("-ss", "-efficient"))]
    each = [(one, 1000) for one in (*map(reported, PARAMETERS), moving("lasec"), moving("lasec-ss"))]
    for one, n_trials in (*each, *many):
        for statement, own in table(one, range(n_trials)).groupby("statement"):
            begins = [int(own["verdict"].str.startswith(word).sum()) for word in ("vacuous", "violated")]
            print(f"{statement}: {len(own)}, {begins[0]} vacuous, {begins[1]} violated, {own['ratio'].median():.3g}")
