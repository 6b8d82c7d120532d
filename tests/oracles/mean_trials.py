"""Trials of what holds in expectation: both sides of each run over one stream, and what is trivially true."""

import numpy as np

from experiments.papers import proved
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, perceptrons, second_order
from tests.oracles import sampler_bounds as oracle
from tests.oracles.path_trials import drift_sums
from tests.oracles.trials import Sides, interval, run


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


def expected_worst_case(key, seed, n_runs):
    """W Theorems 1 and 2, R Theorem 3: the comparator is about the one of the least bound."""
    X, y = noisy_separable(seed)
    coin, a = (0.2, 0.5, 1.0, 3.0)[seed % 4], 1.0
    given = {"b": coin}
    if key == "sop-label-efficient":  # no normalisation here
        X = X * np.random.default_rng([2, seed]).uniform(0.5, 2, (len(X), 1))
        coin, a = (0.3, 1.0, 3.0)[seed % 3], (0.5, 1.0, 4.0)[seed // 3 % 3]
        given = {"C": coin, "a": a}
    logs = repeated(key, X, y, n_runs, seed, **given)
    often, factor = frequencies(logs[:50]), 1.0
    energy = coin / 2 * (a * np.eye(X.shape[1]) + (X.T * often) @ X)
    if key == "perceptron-ss":
        factor = (2 * coin + 1) / (2 * coin)
        energy = factor * (2 * coin + 1) / 4 * np.eye(X.shape[1])
    weights = np.ones(len(y)) if key == "sop-label-efficient" else often
    w = oracle.tight_comparator(X, y, weights, factor, energy)
    hinge, square, norm = perceptrons.hinge_losses(w, X, y), (X @ w) ** 2, np.linalg.norm(w)

    def bound(U):
        own = {"hinge": hinge[U].sum(), "comparator_norm": norm, "gamma": 1, "b": coin}
        if key == "perceptron-ss":
            return perceptrons.selective_perceptron_mistakes(**own)
        sums = {"quadratic": square[U].sum(), "log_det": second_order.log_determinant(X[U], a)}
        if key == "sop-ss":
            return second_order.selective_second_order_mistakes(**own, **sums)
        own = {"hinge": hinge.sum(), "comparator_norm": norm, "C": coin, "a": a}
        return second_order.label_efficient_mistakes(**own, **sums)

    return Sides(np.array([mistakes(log, y) for log in logs]), np.array([bound(log.stored) for log in logs]), len(y))


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
        rhs.append(proved.supervised_regret(n_rounds=n, alpha=alpha, c=1.0, log_det=log_det))
    spectrum = proved.supervised_regret_of_spectrum(
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
        Sides(np.array(regrets), np.full(n_runs, proved.adaptive_regret(**given)), n * alpha / (alpha + 1)),
        Sides(np.array(labels), np.full(n_runs, proved.adaptive_labels(**given)), n),
    )
