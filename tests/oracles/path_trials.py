"""Trials of what holds on every run: Perceptrons, second-order Perceptrons, learners under drift.

Each draws an instance and measures both sides; the docstring names the statement.
"""

import numpy as np

from experiments.papers import proved
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, perceptrons, second_order
from tests.oracles import sampler_bounds as oracle
from tests.oracles.trials import Outcome, comparator, easy_stream, mixed, run, spread

# Perceptrons


def selective_perceptron_path(rng):
    """W eq. (2)"""
    X, y = mixed(rng)
    b = 10 ** rng.uniform(-1, 0.6)
    log = run("perceptron-ss", X, y, rng, b=b)
    U = log.stored
    w = comparator(rng, X, y, spread(log), b + 0.5, (2 * b + 1) ** 2 / 8 * np.eye(X.shape[1]))
    hinge = perceptrons.hinge_losses(w, X[U], y[U]).sum()
    rhs = b * perceptrons.selective_perceptron_mistakes(hinge=hinge, comparator_norm=np.linalg.norm(w), gamma=1, b=b)
    margins = np.abs(log.margin)
    return Outcome(np.sum(b + margins[U]), rhs, np.sum(b + margins))


def perceptron_count(rng):
    """R 3.1, Perceptron"""
    X, y = mixed(rng, unit=False)
    log = run("perceptron", X, y, rng)
    m = log.prediction != y
    if not m.any():
        return None
    radius = np.linalg.norm(X[m], axis=1).max()
    w = comparator(rng, X, y, m.astype(float), 2.0, radius**2 * np.eye(X.shape[1]))
    hinge = perceptrons.hinge_losses(w, X[m], y[m]).sum()
    rhs = perceptrons.perceptron_mistakes(hinge=hinge, comparator_norm=np.linalg.norm(w), radius=radius)
    return Outcome(m.sum(), rhs, len(y))


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


# Second order


def second_order_path(X, stored, a):
    """x_t'A^-1 x_t of every round, A = aI + the stored instances before it; dense, from scratch."""
    A = a * np.eye(X.shape[1])
    r = np.empty(len(X))
    for t, x in enumerate(X):
        r[t] = x @ np.linalg.solve(A, x)
        if stored[t]:
            A = A + np.outer(x, x)
    return r


def selective_second_order_path(rng):
    """W eq. (7)"""
    X, y = mixed(rng)
    b = 10 ** rng.uniform(-1, 0.6)
    log = run("sop-ss", X, y, rng, b=b)
    U = log.stored
    A = np.eye(X.shape[1]) + X[U].T @ X[U]
    w = comparator(rng, X, y, spread(log), b, b * b / 2 * A)
    rhs = b * second_order.selective_second_order_mistakes(
        hinge=perceptrons.hinge_losses(w, X[U], y[U]).sum(),
        quadratic=np.sum((X[U] @ w) ** 2),
        comparator_norm=np.linalg.norm(w),
        log_det=second_order.log_determinant(X[U]),
        gamma=1,
        b=b,
    )
    m, r = np.abs(log.margin[U]), second_order_path(X, U, 1.0)[U]
    return Outcome(np.sum(b + m + m**2 * (1 + r) / 2), rhs, b * len(y))


def second_order_count(rng):
    """R Theorem 1"""
    X, y = mixed(rng, unit=False)
    a = 10 ** rng.uniform(-1, 1)
    U = run("sop", X, y, rng, a=a).stored
    log_det = second_order.log_determinant(X[U], a)
    A = a * np.eye(X.shape[1]) + X[U].T @ X[U]
    best = None
    for C in (0.1, 0.5, 2.0):
        w = comparator(rng, X, y, U.astype(float), 1.0, C / 2 * A)
        bound = second_order.second_order_mistakes(
            hinge=perceptrons.hinge_losses(w, X[U], y[U]).sum(),
            quadratic=np.sum((X[U] @ w) ** 2),
            comparator_norm=np.linalg.norm(w),
            log_det=log_det,
            a=a,
        )
        best = bound if best is None else min(best, bound)
    return Outcome(U.sum(), best, len(y))


def separable_count(rng):
    """R (5)"""
    stream = easy_stream(rng, margin=rng.uniform(0.3, 0.8))
    X, y, u = stream.X, stream.y, stream.target
    U = run("sop", X, y, rng, a=1.0).stored
    gamma = np.min(y * (X @ u))
    lambda_0 = np.mean((X[U] @ u) ** 2)
    m = int(U.sum())
    rhs = proved.separable_second_order_mistakes(n_features=X.shape[1], gamma=gamma, lambda_0=lambda_0)
    step = proved.separable_second_order_step(m, n_features=X.shape[1], gamma=gamma, lambda_0=lambda_0)
    assert m <= step + 1e-9
    return Outcome(m, rhs, len(y))


# Drift


def lasec_run(rng, selective, n=None):
    n, d = int(rng.integers(60, 250)) if n is None else n, int(rng.integers(2, 5))
    margin = rng.uniform(0.2, 0.6)
    stream = streams.drifting(n, d, rng.uniform(0, 3), rng, margin, n_shifts=int(rng.integers(1, 5)))
    y = stream.y if rng.random() < 0.5 else np.where(rng.random(n) < 0.05, -stream.y, stream.y)
    b = 10 ** rng.uniform(-1, 0.5)
    c = b * (1 + 10 ** rng.uniform(-1, 3))
    if selective:
        a = 10 ** rng.uniform(-1, 0.5)
        log = run("lasec-ss", stream.X, y, rng, a=a, b=b, c=c)
    else:
        a = None
        log = run("lasec", stream.X, y, rng, b=b, c=c)
    return stream, y, log, a, b, c, margin


def drift_sums(stream, y, U, b, c, scale):
    """hinge, energy and quadratic sum over the update rounds, comparators the targets times `scale`."""
    X, path = stream.X[U], stream.targets[U] * scale
    first = np.sum(path[0] ** 2) if len(path) else 0.0
    return {
        "hinge": perceptrons.hinge_losses(path, X, y[U]).sum() if len(path) else 0.0,
        "energy": b * first + c * oracle.total_drift(path) + np.sum(np.sum(path * X, axis=1) ** 2),
        "quadratic_sum": float(oracle.drift_quadratic_forms(X, b, c).sum()),
    }


def drift_count(rng):
    """D Theorem 2"""
    stream, y, log, _, b, c, margin = lasec_run(rng, selective=False)
    sums = drift_sums(stream, y, log.stored, b, c, 1 / margin)
    sums["hinge"] = perceptrons.hinge_losses(stream.targets / margin, stream.X, y).sum()
    return Outcome(log.stored.sum(), drift.drift_mistakes(gamma=1, **sums), len(y))


def selective_drift_path(rng):
    """D (9)"""
    stream, y, log, a, b, c, margin = lasec_run(rng, selective=True)
    U = log.stored
    sums = drift_sums(stream, y, U, b, c, rng.uniform(0.3, 1.0) / margin)
    rhs = a * drift.selective_drift_mistakes(gamma=1, a=a, **sums)
    return Outcome(np.sum(a + np.abs(log.margin[U])), rhs, a * len(y))


PERCEPTRONS = (selective_perceptron_path, perceptron_count, perceptron_sines)
SECOND_ORDER = (selective_second_order_path, second_order_count, separable_count)
DRIFT = (drift_count, selective_drift_path)
