"""Trials of what holds on every run: Perceptrons, second-order Perceptrons, learners under drift.

Each draws an instance and measures both sides; the docstring names the statement.
"""

import numpy as np

from experiments.papers.proved import drift as proved_drift
from experiments.papers.proved import first_order as proved_first_order
from experiments.papers.proved import second_order as proved_second_order
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, perceptrons, second_order
from tests.oracles import sampler_bounds as oracle
from tests.oracles.trials import Outcome, any_stream, at_least, comparator, easy_stream, mixed, run, spread

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
    floors = np.array([proved_first_order.perceptron_lemma_sine(norm) for norm in norms[turned]])
    worst = np.argmin(sines / floors)
    return at_least(sines[worst], floors[worst])


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
    rhs = proved_second_order.separable_second_order_mistakes(n_features=X.shape[1], gamma=gamma, lambda_0=lambda_0)
    step = proved_second_order.separable_second_order_step(m, n_features=X.shape[1], gamma=gamma, lambda_0=lambda_0)
    assert m <= step + 1e-9
    return Outcome(m, rhs, len(y))


def trace_and_determinant(rng):
    """R (4) and d ln(1+n/d)"""
    X, _ = any_stream(rng, unit=False)
    eigenvalues = np.linalg.eigvalsh(X.T @ X)
    assert np.sum(eigenvalues) <= proved_second_order.trace_cap(len(X), np.linalg.norm(X, axis=1).max()) * (1 + 1e-12)
    rhs = proved_second_order.log_determinant_cap(X.shape[1], np.sum(X * X))
    return Outcome(np.sum(np.log1p(np.maximum(eigenvalues, 0))), rhs, np.sum(X * X))


def determinant_steps(rng):
    """W log-det step"""
    X, _ = any_stream(rng, unit=False)
    k = int(rng.integers(0, len(X)))
    x, A = X[k], np.eye(X.shape[1]) + X[:k].T @ X[:k]
    after = A + np.outer(x, x)
    growth = np.linalg.slogdet(after)[1] - np.linalg.slogdet(A)[1]
    cap = proved_second_order.quadratic_form_cap(float(x @ np.linalg.solve(A, x)))
    assert abs(cap - growth) < 1e-9 * max(1.0, growth)
    return Outcome(float(x @ np.linalg.solve(after, x)), cap, np.inf)


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
        "energy": b * first + c * proved_drift.total_drift(path) + np.sum(np.sum(path * X, axis=1) ** 2),
        "quadratic_sum": float(proved_drift.drift_matrices(X, y[U], b=b, c=c).quadratic.sum()),
    }


def drift_square_loss(rng):
    """D (8)"""
    stream, y, log, _, b, c, _ = lasec_run(rng, selective=False)
    U = log.stored
    X, labels = stream.X[U], y[U]
    if not len(X) or len(X) * X.shape[1] > 120:
        return None
    best = oracle.drift_minimum(X, labels, b, c)[1]
    path = best if rng.random() < 0.7 else stream.targets[U] * rng.uniform(0, 2)
    rhs = proved_drift.square_loss_cap(path, X, labels, b=b, c=c)
    return Outcome(np.sum((log.margin[U] - labels) ** 2), rhs, np.inf)


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


def quadratic_sums(rng):
    """D (10)"""
    X, y = any_stream(rng, unit=False)
    X, y = X[:60], y[:60]
    b = 10 ** rng.uniform(-1, 0.5)
    c = b * (1 + 10 ** rng.uniform(0, 5))
    path = proved_drift.drift_matrices(X, y, b=b, c=c)
    log_det = np.linalg.slogdet(path.D[-1] / b)[1]
    middle = log_det + np.sum(np.trace(path.D[:-1], axis1=1, axis2=2)) / c
    rhs = proved_drift.quadratic_sum_cap(
        log_det, n_updates=len(X), n_features=X.shape[1], b=b, c=c, radius=np.linalg.norm(X, axis=1).max()
    )
    assert middle <= rhs + 1e-9
    return Outcome(path.quadratic.sum(), middle, len(X))  # each term is below 1


def lemma_seven(rng):
    """D Lemma 7"""
    A, B, C, D, gamma = 10 ** rng.uniform(-2, 2, 5)
    m = proved_drift.quadratic_solution(A, B, C, D, gamma)
    right = (D + np.sqrt(A * (B + m * C))) / gamma
    assert abs(m - right) < 1e-9 * m  # a root
    further = m * 10 ** rng.uniform(1e-6, 2)
    assert further > (D + np.sqrt(A * (B + further * C))) / gamma  # and the largest
    below = m * rng.random()
    return Outcome(below, m, np.inf) if below <= (D + np.sqrt(A * (B + below * C))) / gamma else None


def tuned_drift_count(rng):
    """D Corollary 8"""
    n, margin = int(rng.integers(1500, 4000)), rng.uniform(0.5, 0.8)
    V, epsilon = 10 ** rng.uniform(-3, -1), 10 ** rng.uniform(-3, -1.5)
    tuning = proved_drift.drift_tuning(n_rounds=n, n_features=2, radius=1.0, drift=V / margin**2, epsilon=epsilon)
    if not tuning.applies:
        return None
    stream = streams.drifting(n, 2, V, rng, margin, n_shifts=1)
    log = run("lasec", stream.X, stream.y, rng, b=tuning.b, c=tuning.c)
    U = log.stored
    path = stream.targets[U] / margin
    assert proved_drift.total_drift(path) <= V / margin**2 + 1e-12  # one shift: V_m is at most V
    D = proved_drift.drift_matrices(stream.X[U], stream.y[U], b=tuning.b, c=tuning.c).D[-1]
    rhs = proved_drift.tuned_drift_mistakes(
        hinge=0.0,
        quadratic=np.sum(np.sum(path * stream.X[U], axis=1) ** 2),
        comparator_norm=1 / margin,
        log_det=np.linalg.slogdet(D / tuning.b)[1],
        gamma=1,
        n_rounds=n,
        n_features=2,
        radius=1.0,
        drift=V / margin**2,
        epsilon=epsilon,
    )
    return Outcome(U.sum(), rhs, n)


PERCEPTRONS = (selective_perceptron_path, perceptron_count, perceptron_sines)
SECOND_ORDER = (
    selective_second_order_path,
    second_order_count,
    separable_count,
    trace_and_determinant,
    determinant_steps,
)
DRIFT = (drift_square_loss, drift_count, selective_drift_path, quadratic_sums, lemma_seven, tuned_drift_count)
