"""Trials of what depends on where instances come from: low noise, independent examples, the sphere.

Each draws an instance and measures both sides, exactly where the law allows; the docstring names the statement.
"""

import numpy as np

from experiments.papers.proved import active, low_noise
from experiments.papers.proved import risk as proved_risk
from lpsm import synthetic_streams as streams
from lpsm.bounds import risk, second_order
from tests.oracles import sampler_bounds as oracle
from tests.oracles.trials import Outcome, any_stream, at_least, mixed, run

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
    chosen = proved_risk.penalised_hypothesis(weights[used], starts[used], X, y, delta)
    return Outcome(float(risks[chosen]), proved_risk.selected_risk(int(U.sum()), n, delta), 1.0)


LOW_NOISE = (square_losses, square_loss_to_regret, margin_to_regret, bias_and_variance)
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
