"""Random trials of the samplers' theorems: both sides of each on every run, with high probability, and in the mean.

``python -m tests.oracles.bound_trials`` prints how many trials held the hypotheses, how many bounds were not vacuous,
how many were violated, and how much room was left.  The docstring of a trial names the statement.
"""

from inspect import signature
from typing import NamedTuple

import numpy as np
from scipy import stats

from experiments.papers import proved
from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, perceptrons, second_order
from tests.oracles import sampler_bounds as oracle


class Outcome(NamedTuple):
    """A claim lhs <= rhs, worth something only if rhs < trivial; of means, one entry a run."""

    lhs: float
    rhs: float
    trivial: float = np.inf


class Tally(NamedTuple):
    held: int
    informative: int
    violated: list
    slack: float  # median of rhs/lhs over informative trials with both sides of one sign


def tally(trial, n_trials, first_seed=0):
    outcomes = [trial(np.random.default_rng([first_seed, seed])) for seed in range(n_trials)]
    held = [(seed, one) for seed, one in enumerate(outcomes) if one is not None]
    useful = [one for _, one in held if one.rhs < one.trivial]
    violated = [(seed, one) for seed, one in held if one.lhs > one.rhs + 1e-9 * max(1.0, abs(one.rhs))]
    ratios = [max(o.rhs / o.lhs, o.lhs / o.rhs) if o.rhs < 0 else o.rhs / o.lhs for o in useful if o.lhs * o.rhs > 0]
    return Tally(len(held), len(useful), violated, float(np.median(ratios)) if ratios else np.nan)


def interval(differences, level=0.99):
    """(low, mean, high) of a mean: Student's interval."""
    n, mean = len(differences), float(np.mean(differences))
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * np.std(differences, ddof=1) / np.sqrt(n))
    return mean - half, mean, mean + half


# -- streams, runs, and what the bounds add up


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


def mixed(rng, unit=True):
    """Half easy streams, on which the bounds say something, half anything."""
    if rng.random() < 0.5:
        stream = streams.separable(int(rng.integers(60, 250)), int(rng.integers(2, 5)), rng.uniform(0.3, 0.6), rng)
        X, y = stream.X, stream.y
    else:
        X, y = any_stream(rng)
    return (X, y) if unit else (X * rng.uniform(0.2, 3, (len(X), 1)), y)


def run(key, X, y, rng, **params):
    return samplers.make(key, n_features=X.shape[1], rng=rng, normalize=False, **params).run(X, y)


def comparator(rng, X, y, weights, hinge_factor, energy):
    """The tightest, usually; sometimes a random one, since theorems hold for every comparator."""
    if rng.random() < 0.2:
        return rng.standard_normal(X.shape[1]) * rng.uniform(0, 3)
    return oracle.tight_comparator(X, y, weights.astype(float), hinge_factor, energy)


def bound(function, X, y, U, w, a=1.0, **more):
    """A bound at its sums over the rounds U, at the comparator w and gamma = 1."""
    sums = {
        "hinge": perceptrons.hinge_losses(w, X[U], y[U]).sum(), "quadratic": np.sum((X[U] @ w) ** 2),
        "comparator_norm": np.linalg.norm(w), "log_det": second_order.log_determinant(X[U], a), "a": a, "gamma": 1,
    } | more  # fmt: skip
    return function(**{name: sums[name] for name in signature(function).parameters})


def second_order_path(X, stored, a):
    """x_t'A^-1 x_t of every round, A = aI + the stored instances before it; dense, from scratch."""
    A, r = a * np.eye(X.shape[1]), np.empty(len(X))
    for t, x in enumerate(X):
        r[t] = x @ np.linalg.solve(A, x)
        if stored[t]:
            A = A + np.outer(x, x)
    return r


def drift_sums(stream, y, U, b, c, scale):
    """hinge, energy and quadratic sum over the update rounds, comparators the targets times `scale`."""
    X, path = stream.X[U], stream.targets[U] * scale
    first = np.sum(path[0] ** 2) if len(path) else 0.0
    return {
        "hinge": perceptrons.hinge_losses(path, X, y[U]).sum() if len(path) else 0.0,
        "energy": b * first + c * oracle.total_drift(path) + np.sum(np.sum(path * X, axis=1) ** 2),
        "quadratic_sum": float(oracle.drift_quadratic_forms(X, b, c).sum()),
    }


# -- what holds on every run


def selective_perceptron_path(rng):
    """W eq. (2)"""
    X, y = mixed(rng)
    b = 10 ** rng.uniform(-1, 0.6)
    log = run("perceptron-ss", X, y, rng, b=b)
    w = comparator(rng, X, y, log.stored, b + 0.5, (2 * b + 1) ** 2 / 8 * np.eye(X.shape[1]))
    margins = np.abs(log.margin)
    rhs = b * bound(perceptrons.selective_perceptron_mistakes, X, y, log.stored, w, b=b)
    return Outcome(np.sum(b + margins[log.stored]), rhs, np.sum(b + margins))


def perceptron_count(rng):
    """R 3.1, Perceptron"""
    X, y = mixed(rng, unit=False)
    m = run("perceptron", X, y, rng).prediction != y
    if not m.any():
        return None
    radius = np.linalg.norm(X[m], axis=1).max()
    w = comparator(rng, X, y, m, 2.0, radius**2 * np.eye(X.shape[1]))
    return Outcome(m.sum(), bound(perceptrons.perceptron_mistakes, X, y, m, w, radius=radius), len(y))


def perceptron_sines(rng):
    """T Lemma 3"""
    stream = streams.uniform_sphere(int(rng.integers(20, 300)), int(rng.integers(2, 8)), rng)
    v = rng.standard_normal(stream.X.shape[1]) * 10 ** rng.uniform(-2, 1)
    v *= 1.0 if v @ stream.target >= 0 else -1.0
    path = oracle.perceptron_path(stream.X, stream.y, v)
    norms = np.linalg.norm(path, axis=1)
    cosines = path @ stream.target / norms
    turned = np.flatnonzero(cosines[1:] >= cosines[:-1])
    if not len(turned):
        return None
    sines = np.sqrt(np.maximum(0.0, 1 - cosines[turned] ** 2))
    floors = np.array([proved.perceptron_lemma_sine(norm) for norm in norms[turned]])
    worst = np.argmin(sines / floors)
    return Outcome(-sines[worst], -floors[worst], 0.0)


def selective_second_order_path(rng):
    """W eq. (7)"""
    X, y = mixed(rng)
    b = 10 ** rng.uniform(-1, 0.6)
    log = run("sop-ss", X, y, rng, b=b)
    U = log.stored
    w = comparator(rng, X, y, U, b, b * b / 2 * (np.eye(X.shape[1]) + X[U].T @ X[U]))
    m, r = np.abs(log.margin[U]), second_order_path(X, U, 1.0)[U]
    rhs = b * bound(second_order.selective_second_order_mistakes, X, y, U, w, b=b)
    return Outcome(np.sum(b + m + m**2 * (1 + r) / 2), rhs, b * len(y))


def second_order_count(rng):
    """R Theorem 1"""
    X, y = mixed(rng, unit=False)
    a = 10 ** rng.uniform(-1, 1)
    U = run("sop", X, y, rng, a=a).stored
    A = a * np.eye(X.shape[1]) + X[U].T @ X[U]
    ws = [comparator(rng, X, y, U, 1.0, C / 2 * A) for C in (0.1, 0.5, 2.0)]
    return Outcome(U.sum(), min(bound(second_order.second_order_mistakes, X, y, U, w, a) for w in ws), len(y))


def separable_count(rng):
    """R (5)"""
    stream = streams.separable(int(rng.integers(60, 250)), int(rng.integers(2, 5)), rng.uniform(0.3, 0.8), rng)
    X, y, u = stream.X, stream.y, stream.target
    U = run("sop", X, y, rng, a=1.0).stored
    m, given = (
        int(U.sum()),
        {"n_features": X.shape[1], "gamma": np.min(y * (X @ u)), "lambda_0": np.mean((X[U] @ u) ** 2)},
    )
    assert m <= proved.separable_second_order_step(m, **given) + 1e-9
    return Outcome(m, proved.separable_second_order_mistakes(**given), len(y))


def lasec_run(rng, key):
    n, d = int(rng.integers(60, 250)), int(rng.integers(2, 5))
    margin = rng.uniform(0.2, 0.6)
    stream = streams.drifting(n, d, rng.uniform(0, 3), rng, margin, n_shifts=int(rng.integers(1, 5)))
    y = stream.y if rng.random() < 0.5 else np.where(rng.random(n) < 0.05, -stream.y, stream.y)
    b = 10 ** rng.uniform(-1, 0.5)
    own = {"b": b, "c": b * (1 + 10 ** rng.uniform(-1, 3))}
    own |= {"a": 10 ** rng.uniform(-1, 0.5)} if key == "lasec-ss" else {}
    return stream, y, run(key, stream.X, y, rng, **own), own, margin


def drift_count(rng):
    """D Theorem 2"""
    stream, y, log, own, margin = lasec_run(rng, "lasec")
    sums = drift_sums(stream, y, log.stored, own["b"], own["c"], 1 / margin)
    sums["hinge"] = perceptrons.hinge_losses(stream.targets / margin, stream.X, y).sum()
    return Outcome(log.stored.sum(), drift.drift_mistakes(gamma=1, **sums), len(y))


def selective_drift_path(rng):
    """D (9)"""
    stream, y, log, own, margin = lasec_run(rng, "lasec-ss")
    U, a = log.stored, own["a"]
    sums = drift_sums(stream, y, U, own["b"], own["c"], rng.uniform(0.3, 1.0) / margin)
    rhs = a * drift.selective_drift_mistakes(gamma=1, a=a, **sums)
    return Outcome(np.sum(a + np.abs(log.margin[U])), rhs, a * len(y))


PERCEPTRONS = (selective_perceptron_path, perceptron_count, perceptron_sines)
SECOND_ORDER = (selective_second_order_path, second_order_count, separable_count)
DRIFT = (drift_count, selective_drift_path)


# -- what holds in the mean over runs on one stream


def repeated(key, X, y, n_runs, seed, **params):
    return [run(key, X, y, np.random.default_rng([seed, i]), **params) for i in range(n_runs)]


def noisy_separable(seed, n=400, d=3, margin=0.4, rate=0.03):
    rng = np.random.default_rng([1, seed])
    stream = streams.separable(n, d, margin, rng)
    return stream.X, np.where(rng.random(n) < rate * (seed % 2), -stream.y, stream.y)


def in_the_mean(key, seed, n_runs):
    """W Theorems 1 and 2, R Theorem 3, D Theorem 4: the comparator is about the one of the least bound."""
    coin, a = (0.2, 0.5, 1.0, 3.0)[seed % 4], 1.0
    if key == "lasec-ss":
        rng, a = np.random.default_rng([3, seed]), (0.3, 1.0, 2.0)[seed % 3]
        stream = streams.drifting(400, 2, 1.0, rng, 0.5, n_shifts=2)
        X, y = stream.X, np.where(rng.random(400) < 0.02 * (seed % 2), -stream.y, stream.y)
        given = {"a": a, "b": 1.0, "c": (5.0, 50.0)[seed % 2]}
        logs = repeated(key, X, y, n_runs, seed, **given)
        sums = [drift_sums(stream, y, log.stored, given["b"], given["c"], 2.0) for log in logs]
        rhs = [drift.selective_drift_mistakes(gamma=1, a=a, **one) for one in sums]
    else:
        (X, y), given = noisy_separable(seed), {"b": coin}
        if key == "sop-label-efficient":  # no normalisation here
            X = X * np.random.default_rng([2, seed]).uniform(0.5, 2, (len(X), 1))
            coin, a = (0.3, 1.0, 3.0)[seed % 3], (0.5, 1.0, 4.0)[seed // 3 % 3]
            given = {"C": coin, "a": a}
        logs = repeated(key, X, y, n_runs, seed, **given)
        often, factor = np.mean([log.stored for log in logs[:50]], axis=0), 1.0
        weights, energy = often, coin / 2 * (a * np.eye(X.shape[1]) + (X.T * often) @ X)
        function, more = second_order.selective_second_order_mistakes, {}
        if key == "perceptron-ss":
            function, factor = perceptrons.selective_perceptron_mistakes, (2 * coin + 1) / (2 * coin)
            energy = factor * (2 * coin + 1) / 4 * np.eye(X.shape[1])
        elif key == "sop-label-efficient":
            function, weights = second_order.label_efficient_mistakes, np.ones(len(y))
        w = oracle.tight_comparator(X, y, weights, factor, energy)
        if key == "sop-label-efficient":
            more = {"hinge": perceptrons.hinge_losses(w, X, y).sum()}  # of all rounds
        rhs = [bound(function, X, y, log.stored, w, a, b=coin, C=coin, **more) for log in logs]
    return Outcome(np.array([np.sum(log.prediction != y) for log in logs]), np.array(rhs), len(y))


def table(n_trials=1000, n_runs=400, n_streams=8):
    """Rows of statement, trials, hypotheses held, not vacuous, violated, median bound over measured."""
    from tests.oracles.law_trials import PROBABLE

    for trial in (*PERCEPTRONS, *SECOND_ORDER, *DRIFT, *PROBABLE):
        result = tally(trial, n_trials)
        yield trial.__doc__, n_trials, result.held, result.informative, len(result.violated), result.slack
    for key in ("perceptron-ss", "sop-ss", "sop-label-efficient", "lasec-ss"):
        sides = [in_the_mean(key, seed, n_runs) for seed in range(n_streams)]
        broken = sum(interval(one.lhs - one.rhs)[0] > 1e-9 for one in sides)
        useful = [one for one in sides if one.rhs.mean() < one.trivial]
        slack = np.median([one.rhs.mean() / one.lhs.mean() for one in useful])
        yield f"the mean over {n_runs} runs of {key}", n_streams, n_streams, len(useful), broken, slack


if __name__ == "__main__":
    print("statement: trials, hypotheses held, not vacuous, violated, bound / measured (median)")
    for name, *counts, slack in table():
        print(f"{name}: {', '.join(map(str, counts))}, {slack:.3g}", flush=True)
