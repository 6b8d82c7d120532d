"""Random trials of the samplers' theorems: the report of `lpsm.bounds` on drawn streams, and what it leaves out.

``python -m tests.oracles.bound_trials`` prints for every statement how many trials there were, how many were vacuous or
violated, and the median of bound over measured where it says something.  The docstring of a trial names the statement.
"""

from math import inf

import numpy as np
import pandas as pd

from experiments.papers import proved
from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, perceptrons, report_sampler
from lpsm.bounds.verdicts import Row, compare
from tests.oracles import sampler_bounds as oracle


def upper(trial, measured, bound, trivial=inf):
    """The claim measured <= bound, which is worth something only if the bound is below the trivial one."""
    useless = "" if bound < trivial else "it is no more anyway"
    return compare(trial.__doc__, "upper", float(measured), float(bound), 1e-9 * max(1.0, abs(bound)), useless)


def table(trial, n_trials, first_seed=0):
    """The rows of a trial with as many seeds; none where a hypothesis of the statement fails."""
    found = [trial(np.random.default_rng([first_seed, seed])) for seed in range(n_trials)]
    return pd.DataFrame([row for rows in found for row in rows], columns=list(Row._fields))


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


# -- on any stream: of each key its parameters

PARAMETERS = {
    "perceptron": lambda rng: {},
    "sop": lambda rng: {"a": spread(rng, -1, 1)},
    "lasec": lambda rng: {"b": (b := spread(rng, -1, 0.5)), "c": b * (1 + spread(rng, -1, 3))},
    "perceptron-ss": lambda rng: {"b": spread(rng, -1, 0.6), "eta": spread(rng, -1, 1)},
    "sop-ss": lambda rng: {"b": spread(rng, -1, 0.6)},
    "sop-label-efficient": lambda rng: {"C": spread(rng, -1, 0.6), "a": spread(rng, -1, 1)},
    "lasec-ss": lambda rng: {
        "a": spread(rng, -1, 0.5), "b": (b := spread(rng, -1, 0.5)), "c": b * (1 + spread(rng, -1, 3)),
    },
}  # fmt: skip
COINS = [key for key in PARAMETERS if key not in ("perceptron", "sop", "lasec")]


def reported(key, runs=2):
    """A trial: what the report says of a key on every run, or of its mean over many runs."""

    def trial(rng):
        X, y = mixed(rng, unit=key in ("perceptron-ss", "sop-ss"))
        given = PARAMETERS[key](rng)
        found = report_sampler(samplers.make(key, X.shape[1], normalize=False, **given), X, y, runs=runs, rng=rng)
        return found[found["statement"].str.contains("in the mean of") == (runs > 2)].itertuples(index=False)

    return trial


# -- what the report leaves out: targets that move or are known


def run(key, X, y, rng, **params):
    return samplers.make(key, n_features=X.shape[1], rng=rng, normalize=False, **params).run(X, y)


def perceptron_sines(rng):
    """T Lemma 3"""
    stream = streams.uniform_sphere(int(rng.integers(20, 300)), int(rng.integers(2, 8)), rng)
    v = rng.standard_normal(stream.X.shape[1]) * spread(rng, -2, 1)
    path = oracle.perceptron_path(stream.X, stream.y, v if v @ stream.target >= 0 else -v)
    norms = np.linalg.norm(path, axis=1)
    cosines = path @ stream.target / norms
    for k in np.flatnonzero(cosines[1:] >= cosines[:-1]):
        sine = np.sqrt(max(0.0, 1 - cosines[k] ** 2))
        yield upper(perceptron_sines, proved.perceptron_lemma_sine(norms[k]), sine)


def separable_count(rng):
    """R (5)"""
    stream = streams.separable(int(rng.integers(60, 250)), int(rng.integers(2, 5)), rng.uniform(0.3, 0.8), rng)
    X, y, u = stream.X, stream.y, stream.target
    U = run("sop", X, y, rng, a=1.0).stored
    given = {"n_features": X.shape[1], "gamma": np.min(y * (X @ u)), "lambda_0": np.mean((X[U] @ u) ** 2)}
    assert U.sum() <= proved.separable_second_order_step(int(U.sum()), **given) + 1e-9
    yield upper(separable_count, U.sum(), proved.separable_second_order_mistakes(**given), len(y))


def moving(rng, key):
    """A run on a stream whose target moves, and the sums of the bounds: comparators are the targets times a factor."""
    n, margin, given = int(rng.integers(60, 250)), rng.uniform(0.2, 0.6), PARAMETERS[key](rng)
    shifts = int(rng.integers(1, 5))
    stream = streams.drifting(n, int(rng.integers(2, 5)), rng.uniform(0, 3), rng, margin, n_shifts=shifts)
    y = stream.y if rng.random() < 0.5 else np.where(rng.random(n) < 0.05, -stream.y, stream.y)
    log = run(key, stream.X, y, rng, **given)
    U, b, c, path = log.stored, given["b"], given["c"], stream.targets * rng.uniform(0.3, 1.0) / margin
    X, moved = stream.X[U], path[U]
    energy = b * np.sum(moved[:1] ** 2) + c * np.sum(np.diff(moved, axis=0) ** 2) + np.sum(np.sum(moved * X, 1) ** 2)
    sums = {"energy": energy, "quadratic_sum": float(oracle.drift_quadratic_forms(X, b, c).sum()), "gamma": 1}
    return log, perceptrons.hinge_losses(path, stream.X, y), sums, given


def drift_count(rng):
    """D Theorem 2, a target that moves"""
    log, hinge, sums, _ = moving(rng, "lasec")
    yield upper(drift_count, log.stored.sum(), drift.drift_mistakes(hinge=hinge.sum(), **sums), len(hinge))


def selective_drift_path(rng):
    """D (9), a target that moves"""
    log, hinge, sums, given = moving(rng, "lasec-ss")
    U, a = log.stored, given["a"]
    rhs = a * drift.selective_drift_mistakes(hinge=hinge[U].sum(), a=a, **sums)
    yield upper(selective_drift_path, np.sum(a + np.abs(log.margin[U])), rhs, a * len(U))


KNOWN = (perceptron_sines, separable_count, drift_count, selective_drift_path)


if __name__ == "__main__":
    from tests.oracles.law_trials import PROBABLE

    on_every_run = [(one, 1000) for one in (*(reported(key) for key in PARAMETERS), *KNOWN, *PROBABLE)]
    for one, n_trials in (*on_every_run, *((reported(key, runs=400), 8) for key in COINS)):
        rows = table(one, n_trials)
        rows["ratio"] = np.where(rows["verdict"].str.startswith("holds"), rows["bound"] / rows["measured"], np.nan)
        for statement, own in rows.groupby("statement"):
            begins = [int(own["verdict"].str.startswith(word).sum()) for word in ("vacuous", "violated")]
            print(f"{statement}: {len(own)}, {begins[0]} vacuous, {begins[1]} violated, {own['ratio'].median():.3g}")
