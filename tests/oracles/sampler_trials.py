"""Random trials of the samplers' theorems: each draws an instance and measures both sides.

A trial of a statement that holds on every run gives an `Outcome`, or None where its hypotheses fail;
one in expectation gives two samples over runs.  `python -m tests.oracles.sampler_trials` prints how
many trials held the hypotheses, how many bounds were not vacuous, and how much room was left.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds import active, drift, low_noise, perceptrons, risk, second_order
from tests.oracles import sampler_bounds as oracle


class Outcome(NamedTuple):
    """A claim lhs <= rhs, worth something only if rhs < trivial."""

    lhs: float
    rhs: float
    trivial: float = np.inf


def at_least(value, floor):
    return Outcome(-value, -floor, 0.0)


class Tally(NamedTuple):
    trials: int
    held: int
    informative: int
    violated: list
    slack: float  # median of rhs/lhs over informative trials with both sides of one sign


def tally(trial, n_trials, first_seed=0):
    outcomes = [trial(np.random.default_rng([first_seed, seed])) for seed in range(n_trials)]
    held = [(seed, one) for seed, one in enumerate(outcomes) if one is not None]
    useful = [one for _, one in held if one.rhs < one.trivial]
    violated = [(seed, one) for seed, one in held if one.lhs > one.rhs + 1e-9 * max(1.0, abs(one.rhs))]
    ratios = [(max(o.rhs / o.lhs, o.lhs / o.rhs) if o.rhs < 0 else o.rhs / o.lhs) for o in useful if o.lhs * o.rhs > 0]
    return Tally(n_trials, len(held), len(useful), violated, float(np.median(ratios)) if ratios else np.nan)


# Streams


def any_stream(rng, unit):
    """Examples from one of five sources: separable, noisy, flipped labels, drifting, coin-flipped labels."""
    n, d = int(rng.integers(20, 150)), int(rng.integers(2, 8))
    kind = rng.integers(5)
    if kind == 0:
        stream = streams.separable(n, d, rng.uniform(0, 0.5), rng)
    elif kind == 1:
        stream = streams.linear_noise(n, d, rng.uniform(0.5, 6), rng)
    elif kind == 2:
        stream = streams.uniform_sphere(n, d, rng)
    elif kind == 3:
        stream = streams.drifting(n, d, rng.uniform(0, 4), rng)
    else:
        stream = streams.similar_to_uniform(n, d, 0.5, rng)
    X, y = stream.X, stream.y
    if kind == 2:
        y = np.where(rng.random(n) < 0.1, -y, y)
    if kind == 4:
        y = rng.choice((-1.0, 1.0), n)
    return (X, y) if unit else (X * rng.uniform(0.2, 3, (n, 1)), y)


def easy_stream(rng, n=None, margin=None):
    n = int(rng.integers(60, 250)) if n is None else n
    return streams.separable(n, int(rng.integers(2, 5)), rng.uniform(0.3, 0.6) if margin is None else margin, rng)


def mixed(rng, unit=True):
    """Half easy streams, on which the bounds say something, half anything."""
    if rng.random() < 0.5:
        stream = easy_stream(rng)
        scale = 1.0 if unit else rng.uniform(0.2, 3, (len(stream.X), 1))
        return stream.X * scale, stream.y
    return any_stream(rng, unit)


def run(key, X, y, rng, **params):
    return samplers.make(key, n_features=X.shape[1], rng=rng, normalize=False, **params).run(X, y)


def comparator(rng, X, y, weights, hinge_factor, energy):
    """The tightest, usually; sometimes a random one, since theorems hold for every comparator."""
    if rng.random() < 0.2:
        return rng.standard_normal(X.shape[1]) * rng.uniform(0, 3)
    return oracle.tight_comparator(X, y, weights, hinge_factor, energy)


def spread(log):
    return np.asarray(log.stored, dtype=float)


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
    floors = np.array([perceptrons.perceptron_lemma_sine(norm) for norm in norms[turned]])
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
    rhs = second_order.separable_second_order_mistakes(n_features=X.shape[1], gamma=gamma, lambda_0=lambda_0)
    step = second_order.separable_second_order_step(m, n_features=X.shape[1], gamma=gamma, lambda_0=lambda_0)
    assert m <= step + 1e-9
    return Outcome(m, rhs, len(y))


def trace_and_determinant(rng):
    """R (4) and d ln(1+n/d)"""
    X, _ = any_stream(rng, unit=False)
    eigenvalues = np.linalg.eigvalsh(X.T @ X)
    assert np.sum(eigenvalues) <= second_order.trace_cap(len(X), np.linalg.norm(X, axis=1).max()) * (1 + 1e-12)
    rhs = second_order.log_determinant_cap(X.shape[1], np.sum(X * X))
    return Outcome(np.sum(np.log1p(np.maximum(eigenvalues, 0))), rhs, np.sum(X * X))


def determinant_steps(rng):
    """W log-det step"""
    X, _ = any_stream(rng, unit=False)
    k = int(rng.integers(0, len(X)))
    x, A = X[k], np.eye(X.shape[1]) + X[:k].T @ X[:k]
    after = A + np.outer(x, x)
    growth = np.linalg.slogdet(after)[1] - np.linalg.slogdet(A)[1]
    cap = second_order.quadratic_form_cap(float(x @ np.linalg.solve(A, x)))
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
        "energy": b * first + c * drift.total_drift(path) + np.sum(np.sum(path * X, axis=1) ** 2),
        "quadratic_sum": float(drift.drift_matrices(X, y[U], b=b, c=c).quadratic.sum()),
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
    rhs = drift.square_loss_cap(path, X, labels, b=b, c=c)
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
    path = drift.drift_matrices(X, y, b=b, c=c)
    log_det = np.linalg.slogdet(path.D[-1] / b)[1]
    middle = log_det + np.sum(np.trace(path.D[:-1], axis1=1, axis2=2)) / c
    rhs = drift.quadratic_sum_cap(
        log_det, n_updates=len(X), n_features=X.shape[1], b=b, c=c, radius=np.linalg.norm(X, axis=1).max()
    )
    assert middle <= rhs + 1e-9
    return Outcome(path.quadratic.sum(), middle, len(X))  # each term is below 1


def lemma_seven(rng):
    """D Lemma 7"""
    A, B, C, D, gamma = 10 ** rng.uniform(-2, 2, 5)
    m = drift.quadratic_solution(A, B, C, D, gamma)
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
    tuning = drift.drift_tuning(n_rounds=n, n_features=2, radius=1.0, drift=V / margin**2, epsilon=epsilon)
    if not tuning.applies:
        return None
    stream = streams.drifting(n, 2, V, rng, margin, n_shifts=1)
    log = run("lasec", stream.X, stream.y, rng, b=tuning.b, c=tuning.c)
    U = log.stored
    path = stream.targets[U] / margin
    assert drift.total_drift(path) <= V / margin**2 + 1e-12  # one shift: V_m is at most V
    D = drift.drift_matrices(stream.X[U], stream.y[U], b=tuning.b, c=tuning.c).D[-1]
    rhs = drift.tuned_drift_mistakes(
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


# Low noise


def square_losses(rng):
    """A 6.1 square loss"""
    X, y = mixed(rng)
    margin = run("rls", X, y, rng, a=1.0).margin
    u = rng.standard_normal(X.shape[1])
    if rng.random() < 0.7:
        u = np.linalg.solve(np.eye(X.shape[1]) + X.T @ X, X.T @ y)  # the least right-hand side
    rhs = low_noise.square_loss_regret_cap(comparator_norm=np.linalg.norm(u), log_det=second_order.log_determinant(X))
    return Outcome(np.sum((y - margin) ** 2) - np.sum((y - X @ u) ** 2), rhs, np.inf)


def finite_law(rng):
    """Points of probability p with means Delta, an exponent, and the least c of the low-noise condition."""
    k = int(rng.integers(2, 12))
    means = rng.random(k) ** (1 / rng.uniform(0.3, 4)) * rng.choice((-1, 1), k)
    p, alpha = rng.dirichlet(np.ones(k)), rng.choice((0.0, 0.5, 1.0, 3.0, 10.0))
    sizes = np.abs(means)
    c = max(1.0, max(p[sizes <= s].sum() / s**alpha for s in sizes))
    return means, p, alpha, c


def estimate_of(means, rng):
    """Right up to a little noise, except for the sign of the smallest means."""
    f = np.where(np.abs(means) <= np.quantile(np.abs(means), rng.uniform(0, 0.6)), -0.1, 1.0) * means
    return f + rng.standard_normal(len(means)) * 10 ** rng.uniform(-3, -0.5)


def square_loss_to_regret(rng):
    """A Lemma 1"""
    means, p, alpha, c = finite_law(rng)
    f = estimate_of(means, rng)
    wrong = np.where(f >= 0, 1, -1) != np.where(means >= 0, 1, -1)
    rhs = low_noise.regret_from_square_loss(p @ (f - means) ** 2, alpha=alpha, c=c)
    return Outcome(p @ (wrong * np.abs(means)), rhs, p @ np.abs(means))


def margin_to_regret(rng):
    """A Lemma 2"""
    means, p, alpha, c = finite_law(rng)
    f = estimate_of(means, rng)
    eps = 10 ** rng.uniform(-2, 0)
    wrong = np.where(f >= 0, 1, -1) != np.where(means >= 0, 1, -1)
    far = p @ ((f * means <= 0) & (np.abs(means) >= eps))
    rhs = low_noise.regret_from_margin(eps, min(far, 1.0), alpha=alpha, c=c)
    return Outcome(p @ (wrong * np.abs(means)), rhs, p @ np.abs(means))


def bias_and_variance(rng):
    """A (2)-(5)"""
    S, _ = any_stream(rng, unit=True)
    d = S.shape[1]
    x, u = rng.standard_normal(d), rng.standard_normal(d)
    x, u = x / np.linalg.norm(x), u / np.linalg.norm(u)
    bias, Z = low_noise.margin_bias(u, S, x), low_noise.margin_coefficients(S, x)
    assert abs(Z @ (S @ u) - (u @ x - bias)) < 1e-10  # the mean of the estimate
    smallest = np.linalg.eigvalsh(S.T @ S)[0]
    cap, variance = low_noise.margin_bias_cap(S, x), low_noise.margin_variance_cap(S, x)
    assert abs(bias) <= cap + 1e-12
    assert np.dot(Z, Z) <= variance + 1e-12
    assert variance <= low_noise.eigenvalue_variance_cap(smallest) + 1e-12
    assert cap <= low_noise.eigenvalue_bias_cap(smallest) + 1e-12
    return Outcome(abs(bias), low_noise.eigenvalue_bias_cap(smallest), 1.0)


def smallest_eigenvalues(rng):
    """A Lemma 3"""
    d, exponent = int(rng.integers(2, 4)), rng.uniform(0.8, 3)
    law = streams.linear_noise(1, d, exponent, rng)
    eigenvalue = float(law.correlation_eigenvalues.min())
    s = int(np.ceil(16 * d / eigenvalue**2))
    sample = streams.linear_noise(s, d, exponent, rng).X
    failed = np.linalg.eigvalsh(sample.T @ sample)[0] < s * eigenvalue / 2
    return Outcome(float(failed), low_noise.eigenvalue_failure(s, n_features=d, eigenvalue=eigenvalue), 1.0)


# The sphere, exactly


def sphere(rng):
    return int(rng.integers(2, 40)), np.pi / 2 * rng.random() ** 2 + 1e-9


def band_low(rng):
    """T Lemma 2, lower"""
    d, gamma = int(rng.integers(2, 200)), rng.random()
    return at_least(oracle.band_probability(gamma / np.sqrt(d), d), active.band_mass(gamma, d)[0])


def band_high(rng):
    """T Lemma 2, upper"""
    d, gamma = int(rng.integers(2, 200)), rng.random()
    return Outcome(oracle.band_probability(gamma / np.sqrt(d), d), active.band_mass(gamma, d)[1], 1.0)


def updates(rng):
    """T Lemma 4, first"""
    d, theta = sphere(rng)
    claim = active.modified_update(d)
    return at_least(oracle.progress_given_error(1 - claim.factor, theta, d), claim.probability)


def good_updates(rng):
    """T Lemma 4, second"""
    d, theta = sphere(rng)
    claim = active.good_update(d)
    return at_least(oracle.progress_given_error(active.GOOD_UPDATE / d, theta, d), claim.probability)


def band_errors(rng):
    """T Lemma 6"""
    d, theta = sphere(rng)
    width = 2 * active.threshold_floor(np.cos(theta), d) * (1.0 if rng.random() < 0.3 else rng.random())
    floor = active.band_error_floor(width, np.cos(theta), d)
    return at_least(oracle.error_given_band(width, theta, d), floor)


def threshold_for(rng, d, theta):
    floor = active.threshold_floor(np.cos(theta), d)
    return floor if rng.random() < 0.3 else floor * 10 ** rng.uniform(0, 1.5)


def queried_errors(rng):
    """T Lemma 7"""
    d, theta = sphere(rng)
    s = threshold_for(rng, d, theta)
    return at_least(oracle.band_given_error(s, theta, d), active.queried_error_floor(s, np.cos(theta), d))


def good_queries(rng):
    """T Lemma 8"""
    d, theta = sphere(rng)
    s = threshold_for(rng, d, theta)
    value = oracle.progress_given_error(active.GOOD_UPDATE / d, theta, d, s)
    return at_least(value, active.good_query_floor(s, np.cos(theta), d))


def least_similar(probability, similarity):
    """The least P_D(A|B) over all D lambda-similar to uniform, given the uniform one: A made light, the rest heavy."""
    return similarity**2 * probability / (similarity**2 * probability + 1 - probability)


def similar_band_errors(rng):
    """T Lemma 13"""
    d, theta = sphere(rng)
    width, lam = 2 * active.threshold_floor(np.cos(theta), d), rng.uniform(0.05, 1)
    value = least_similar(oracle.error_given_band(width, theta, d), lam)
    return at_least(value, active.band_error_floor(width, np.cos(theta), d, lam))


def similar_queried_errors(rng):
    """T Lemma 15"""
    d, theta = sphere(rng)
    s, lam = threshold_for(rng, d, theta), rng.uniform(0.05, 1)
    value = least_similar(oracle.band_given_error(s, theta, d), lam)
    return at_least(value, active.queried_error_floor(s, np.cos(theta), d, lam))


def similar_good_updates(rng):
    """T Lemma 16"""
    d, theta = sphere(rng)
    lam = rng.uniform(0.2, 1)
    claim = active.good_update(d, lam)
    value = least_similar(oracle.progress_given_error(active.GOOD_UPDATE * lam**12 / d, theta, d), lam)
    return at_least(value, claim.probability)


# Independent examples


def flipped_run(rng, n):
    """sop on the uniform sphere with labels flipped at a known rate, and the exact risk of each hypothesis."""
    d, rate = int(rng.integers(2, 4)), rng.choice((0.0, 0.02))
    stream = streams.uniform_sphere(n, d, rng)
    y = np.where(rng.random(n) < rate, -stream.y, stream.y)
    U = run("sop", stream.X, y, rng, a=1.0).stored
    A, e, weights = np.eye(d), np.zeros(d), [np.zeros(d)]
    for t in np.flatnonzero(U):
        A, e = A + np.outer(stream.X[t], stream.X[t]), e + y[t] * stream.X[t]
        weights.append(np.linalg.solve(A, e))
    weights, starts = np.array(weights), np.concatenate([[0], np.flatnonzero(U) + 1])
    norms = np.linalg.norm(weights[1:], axis=1)
    angles = np.concatenate([[np.pi / 2], np.arccos(np.clip(weights[1:] @ stream.target / norms, -1, 1))])
    return stream.X, y, U, weights, starts, rate + (1 - 2 * rate) * angles / np.pi


def average_risks(rng):
    """R average risk"""
    n, delta = int(rng.integers(100, 400)), 0.05
    _, _, U, _, starts, risks = flipped_run(rng, n)
    held = np.diff(np.append(starts, n))
    return Outcome(float(held @ risks[: len(held)] / n), risk.average_risk(int(U.sum()), n, delta), 1.0)


def selected_risks(rng):
    """R (6)"""
    n, delta = 4000, 0.05
    X, y, U, weights, starts, risks = flipped_run(rng, n)
    used = starts < n
    chosen = risk.penalised_hypothesis(weights[used], starts[used], X, y, delta)
    return Outcome(float(risks[chosen]), risk.selected_risk(int(U.sum()), n, delta), 1.0)


PERCEPTRONS = (selective_perceptron_path, perceptron_count, perceptron_sines)
SECOND_ORDER = (
    selective_second_order_path,
    second_order_count,
    separable_count,
    trace_and_determinant,
    determinant_steps,
    square_losses,
    square_loss_to_regret,
    margin_to_regret,
    bias_and_variance,
)
DRIFT = (drift_square_loss, drift_count, selective_drift_path, quadratic_sums, lemma_seven, tuned_drift_count)
SPHERE = (
    band_low,
    band_high,
    updates,
    good_updates,
    band_errors,
    queried_errors,
    good_queries,
    similar_band_errors,
    similar_queried_errors,
    similar_good_updates,
)
PROBABLE = (average_risks, selected_risks, smallest_eigenvalues)  # may fail, seldom


def interval(differences, level=0.99):
    """(low, mean, high) of a mean: Student's interval."""
    n, mean = len(differences), float(np.mean(differences))
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * np.std(differences, ddof=1) / np.sqrt(n))
    return mean - half, mean, mean + half


# Statements in expectation: (lhs, rhs) of each run over one stream, and what is trivially true


class Sides(NamedTuple):
    """Both sides of a claim mean(lhs) <= mean(rhs), one entry a run; worth something if mean(rhs) < trivial."""

    lhs: np.ndarray
    rhs: np.ndarray
    trivial: float


def repeated(key, X, y, n_runs, seed, **params):
    return [run(key, X, y, np.random.default_rng([seed, i]), **params) for i in range(n_runs)]


def frequencies(logs):
    return np.mean([log.stored for log in logs], axis=0)


def noisy_separable(seed, n=400, d=3, margin=0.4, rate=0.03):
    rng = np.random.default_rng([1, seed])
    stream = streams.separable(n, d, margin, rng)
    return stream.X, np.where(rng.random(n) < rate * (seed % 2), -stream.y, stream.y)


def mistakes(log, y):
    return np.sum(log.prediction != y)


def expected_selective_perceptron(seed, n_runs):
    """W Theorem 1"""
    X, y = noisy_separable(seed)
    b = (0.2, 0.5, 1.0, 3.0)[seed % 4]
    logs = repeated("perceptron-ss", X, y, n_runs, seed, b=b)
    factor = (2 * b + 1) / (2 * b)
    w = oracle.tight_comparator(X, y, frequencies(logs[:50]), factor, factor * (2 * b + 1) / 4 * np.eye(X.shape[1]))
    hinge, norm = perceptrons.hinge_losses(w, X, y), np.linalg.norm(w)
    rhs = [
        perceptrons.selective_perceptron_mistakes(hinge=hinge[log.stored].sum(), comparator_norm=norm, gamma=1, b=b)
        for log in logs
    ]
    return Sides(np.array([mistakes(log, y) for log in logs]), np.array(rhs), len(y))


def expected_selective_second_order(seed, n_runs):
    """W Theorem 2"""
    X, y = noisy_separable(seed)
    b = (0.2, 0.5, 1.0, 3.0)[seed % 4]
    logs = repeated("sop-ss", X, y, n_runs, seed, b=b)
    often = frequencies(logs[:50])
    w = oracle.tight_comparator(X, y, often, 1.0, b / 2 * (np.eye(X.shape[1]) + (X.T * often) @ X))
    hinge, square = perceptrons.hinge_losses(w, X, y), (X @ w) ** 2
    rhs = [
        second_order.selective_second_order_mistakes(
            hinge=hinge[log.stored].sum(),
            quadratic=square[log.stored].sum(),
            comparator_norm=np.linalg.norm(w),
            log_det=second_order.log_determinant(X[log.stored]),
            gamma=1,
            b=b,
        )
        for log in logs
    ]
    return Sides(np.array([mistakes(log, y) for log in logs]), np.array(rhs), len(y))


def expected_label_efficient(seed, n_runs):
    """R Theorem 3"""
    X, y = noisy_separable(seed)
    rng = np.random.default_rng([2, seed])
    X = X * rng.uniform(0.5, 2, (len(X), 1))  # no normalisation here
    C, a = (0.3, 1.0, 3.0)[seed % 3], (0.5, 1.0, 4.0)[seed // 3 % 3]
    logs = repeated("sop-label-efficient", X, y, n_runs, seed, C=C, a=a)
    often = frequencies(logs[:50])
    w = oracle.tight_comparator(X, y, np.ones(len(y)), 1.0, C / 2 * (a * np.eye(X.shape[1]) + (X.T * often) @ X))
    hinge, square = perceptrons.hinge_losses(w, X, y).sum(), (X @ w) ** 2
    rhs = [
        second_order.label_efficient_mistakes(
            hinge=hinge,
            quadratic=square[log.stored].sum(),
            comparator_norm=np.linalg.norm(w),
            log_det=second_order.log_determinant(X[log.stored], a),
            C=C,
            a=a,
        )
        for log in logs
    ]
    return Sides(np.array([mistakes(log, y) for log in logs]), np.array(rhs), len(y))


def expected_selective_drift(seed, n_runs):
    """D Theorem 4"""
    rng = np.random.default_rng([3, seed])
    margin = 0.5
    stream = streams.drifting(400, 2, 1.0, rng, margin, n_shifts=2)
    y = np.where(rng.random(400) < 0.02 * (seed % 2), -stream.y, stream.y)
    a, b, c = (0.3, 1.0, 2.0)[seed % 3], 1.0, (5.0, 50.0)[seed % 2]
    logs = repeated("lasec-ss", stream.X, y, n_runs, seed, a=a, b=b, c=c)
    rhs = [
        drift.selective_drift_mistakes(gamma=1, a=a, **drift_sums(stream, y, log.stored, b, c, 1 / margin))
        for log in logs
    ]
    return Sides(np.array([mistakes(log, y) for log in logs]), np.array(rhs), len(y))


def expected_tuned_drift(seed, n_runs):
    """D Corollary 9"""
    n, margin, V, epsilon = 3000, 0.7, 0.02, 0.005
    rng = np.random.default_rng([4, seed])
    given = {"n_rounds": n, "n_features": 2, "radius": 1.0, "drift": V / margin**2, "epsilon": epsilon}
    tuning = drift.drift_tuning(**given)
    assert tuning.applies
    stream = streams.drifting(n, 2, V, rng, margin, n_shifts=1)
    a = (0.5, 1.0, 2.0)[seed % 3]
    logs = repeated("lasec-ss", stream.X, stream.y, n_runs, seed, a=a, b=tuning.b, c=tuning.c)
    square = np.sum(stream.X * stream.targets / margin, axis=1) ** 2
    rhs = []
    for log in logs:
        D = drift.drift_matrices(stream.X[log.stored], stream.y[log.stored], b=tuning.b, c=tuning.c).D[-1]
        rhs.append(
            drift.tuned_selective_drift_mistakes(
                hinge=0.0,
                quadratic=square[log.stored].sum(),
                comparator_norm=1 / margin,
                log_det=max(0.0, np.linalg.slogdet(D / tuning.b)[1]),
                gamma=1,
                a=a,
                **given,
            )
        )
    return Sides(np.array([mistakes(log, stream.y) for log in logs]), np.array(rhs), n)


def expected_linear_source(seed, n_runs):
    """R Theorem 2"""
    rng = np.random.default_rng([5, seed])
    stream = streams.separable(1500, 2, (0.8, 0.9, 0.95)[seed % 3], rng)
    means = stream.X @ stream.target
    bound = risk.linear_source_regret(gamma=np.abs(means).min(), log_det=second_order.log_determinant(stream.X))
    regrets = []
    for i in range(n_runs):
        labels = np.where(np.random.default_rng([6, seed, i]).random(1500) < (1 + means) / 2, 1.0, -1.0)
        log = run("rls", stream.X, labels, rng, a=1.0)
        regrets.append(np.abs(means)[log.prediction != stream.y].sum())
    return Sides(np.array(regrets), np.full(n_runs, bound), np.abs(means).sum())


def noise_regret(key, n, d, alpha, seed, i, **params):
    """Regret given the instances and the past: the means of the rounds predicted against Bayes."""
    stream = streams.linear_noise(n, d, alpha, np.random.default_rng([7, seed, i]))
    means = stream.X @ stream.target
    log = run(key, stream.X, stream.y, np.random.default_rng([8, seed, i]), a=1.0, **params)
    return np.abs(means)[(log.prediction >= 0) != (means >= 0)].sum(), stream, log


def expected_supervised(seed, n_runs):
    """A Theorem 1"""
    n, alpha = 3000, (0.7, 1.0, 2.0, 5.0)[seed % 4]
    lhs, rhs = [], []
    for i in range(n_runs):
        regret, stream, _ = noise_regret("rls-all", n, 2, alpha, seed, i)
        log_det = second_order.log_determinant(stream.X)
        lhs.append(regret)
        rhs.append(low_noise.supervised_regret(n_rounds=n, alpha=alpha, c=1.0, log_det=log_det))
    spectrum = low_noise.supervised_regret_of_spectrum(
        n_rounds=n, alpha=alpha, c=1.0, eigenvalues=stream.correlation_eigenvalues
    )
    assert interval(np.array(rhs))[0] <= spectrum  # Jensen, twice; the two all but agree
    return Sides(np.array(lhs), np.array(rhs), n * alpha / (alpha + 1))


def expected_adaptive(seed, n_runs, n=1_000_000):
    """A Theorem 2, (13); and its labels"""
    alpha = (2.0, 3.0)[seed % 2]
    regrets, labels = [], []
    for i in range(n_runs):
        eigenvalue = float(min(alpha, 2.0) / (alpha + 2))
        regret, stream, log = noise_regret("adaptive-sampler", n, 2, alpha, seed, i, lambda_=eigenvalue)
        assert np.isclose(stream.correlation_eigenvalues.min(), eigenvalue)
        regrets.append(regret)
        labels.append(log.queried.sum())
    given = {"n_rounds": n, "n_features": 2, "eigenvalue": eigenvalue, "alpha": alpha, "c": 1.0}
    return (
        Sides(np.array(regrets), np.full(n_runs, low_noise.adaptive_regret(**given)), n * alpha / (alpha + 1)),
        Sides(np.array(labels), np.full(n_runs, low_noise.adaptive_labels(**given)), n),
    )


EXPECTED = (
    expected_selective_perceptron,
    expected_selective_second_order,
    expected_label_efficient,
    expected_selective_drift,
    expected_tuned_drift,
    expected_linear_source,
    expected_supervised,
)


def table(n_trials=1000, n_runs=400, n_streams=8):
    """Rows of statement, trials, hypotheses held, not vacuous, violated, median bound over measured."""
    for trial in (*PERCEPTRONS, *SECOND_ORDER, *DRIFT, *SPHERE, *PROBABLE):
        result = tally(trial, n_trials)
        yield (trial.__doc__, n_trials, result.held, result.informative, len(result.violated), result.slack)
    for expected in EXPECTED:
        sides = [expected(seed, n_runs) for seed in range(n_streams)]
        broken = sum(interval(one.lhs - one.rhs)[0] > 1e-9 for one in sides)
        useful = [one for one in sides if one.rhs.mean() < one.trivial]
        ratios = [one.rhs.mean() / one.lhs.mean() for one in useful if one.lhs.mean() > 0]
        yield (
            f"{expected.__doc__} (mean of {n_runs} runs)",
            n_streams,
            n_streams,
            len(useful),
            broken,
            np.median(ratios),
        )


if __name__ == "__main__":
    print("| statement | trials | hypotheses held | not vacuous | violated | bound / measured, median |")
    print("|---|---|---|---|---|---|")
    for name, *counts, slack in table():
        print(f"| {name} | " + " | ".join(str(count) for count in counts) + f" | {slack:.3g} |", flush=True)
