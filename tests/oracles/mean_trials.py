"""Trials of what holds in expectation: both sides of each run over one stream, and what is trivially true.

``python -m tests.oracles.mean_trials`` prints, for these and for the trials run by run, how many held
the hypotheses, how many bounds were not vacuous, how many were violated, and how much room was left.
"""

import numpy as np

from experiments.papers import proved
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, perceptrons, second_order
from tests.oracles import sampler_bounds as oracle
from tests.oracles.law_trials import PROBABLE
from tests.oracles.path_trials import DRIFT, PERCEPTRONS, SECOND_ORDER, drift_sums
from tests.oracles.trials import Sides, interval, run, tally


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


EXPECTED = (
    expected_selective_perceptron,
    expected_selective_second_order,
    expected_label_efficient,
    expected_selective_drift,
    expected_supervised,
)


def table(n_trials=1000, n_runs=400, n_streams=8):
    """Rows of statement, trials, hypotheses held, not vacuous, violated, median bound over measured."""
    for trial in (*PERCEPTRONS, *SECOND_ORDER, *DRIFT, *PROBABLE):
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
