"""Bounds for moving targets: lasec equals least squares, and no bound on it is violated."""

import numpy as np
import pytest

from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, second_order
from tests.oracles import mean_trials as means
from tests.oracles import path_trials, trials
from tests.oracles import sampler_bounds as oracle

MANY = [200, pytest.param(1000, marks=pytest.mark.long)]


def problem(rng, t=None):
    t, d = int(rng.integers(1, 14)) if t is None else t, int(rng.integers(1, 5))
    b = 10 ** rng.uniform(-1, 1)
    return rng.standard_normal((t, d)), rng.choice((-1.0, 1.0), t), b, b * (1 + 10 ** rng.uniform(-1, 3))


# Lemma 1 with (4), by least squares


@pytest.mark.parametrize("n_trials", MANY)
def test_lemma_1_gives_the_least_squares_minimum_of_the_drift_objective(n_trials):
    for seed in range(n_trials):
        X, y, b, c = problem(np.random.default_rng(seed))
        least, path = oracle.drift_minimum(X, y, b, c)
        assert drift.drift_objective_minimum(X, y, b=b, c=c) == pytest.approx(least, rel=1e-8, abs=1e-9)
        assert drift.drift_objective(path, X, y, b=b, c=c) == pytest.approx(least, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("n_trials", MANY)
def test_lemma_1_gives_the_minimum_given_the_last_vector(n_trials):
    for seed in range(n_trials // 4):
        rng = np.random.default_rng(seed)
        X, y, b, c = problem(rng)
        d = X.shape[1]
        u = rng.standard_normal(d)
        matrices = drift.drift_matrices(X, y, b=b, c=c)
        expected = u @ matrices.D[-1] @ u - 2 * u @ matrices.e[-1] + matrices.f[-1]
        F, g = oracle.drift_system(X, y, b, c)
        free = F[:, :-d]
        rest = g - F[:, -d:] @ u
        if free.shape[1]:
            rest = rest - free @ np.linalg.lstsq(free, rest, rcond=None)[0]
        assert rest @ rest == pytest.approx(expected, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("n_trials", [8, pytest.param(200, marks=pytest.mark.long)])
def test_the_sampler_predicts_the_last_step_min_max_margin(n_trials):
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        X, y, b, c = problem(rng, t=30)
        log = samplers.make("lasec", n_features=X.shape[1], b=b, c=c).run(X, y)
        for t in range(30):
            kept = np.flatnonzero(log.stored[:t])
            assert log.margin[t] == pytest.approx(oracle.lasec_margin(X[kept], y[kept], X[t], b, c), abs=1e-8)
            assert log.stored[t] == (log.prediction[t] != y[t])


def test_without_drift_the_matrices_are_those_of_ridge_regression():
    X, y, b, _ = problem(np.random.default_rng(3), t=12)
    matrices = drift.drift_matrices(X, y, b=b, c=np.inf)
    assert matrices.D[-1] == pytest.approx(b * np.eye(X.shape[1]) + X.T @ X)
    assert matrices.e[-1] == pytest.approx(X.T @ y)
    assert matrices.quadratic.sum() <= second_order.log_determinant(X, b) + 1e-12
    stiff = drift.drift_objective_minimum(X, y, b=b, c=1e12)
    assert drift.drift_objective_minimum(X, y, b=b, c=np.inf) == pytest.approx(stiff, rel=1e-6)


# Theorems


@pytest.mark.parametrize("n_trials", MANY)
@pytest.mark.parametrize("trial", path_trials.DRIFT, ids=lambda trial: trial.__name__)
def test_no_run_violates_the_bound_and_most_bounds_say_something(trial, n_trials):
    result = trials.tally(trial, n_trials)
    assert not result.violated
    assert result.held >= 0.9 * n_trials
    assert result.informative >= 0.5 * n_trials


@pytest.mark.parametrize("n_streams", [2, pytest.param(12, marks=pytest.mark.long)])
@pytest.mark.parametrize("expected", [means.expected_selective_drift, means.expected_tuned_drift])
def test_mean_mistakes_of_selective_lasec_stay_below_the_bound(expected, n_streams):
    for seed in range(n_streams):
        sides = expected(seed, 200)
        assert trials.interval(sides.lhs - sides.rhs)[2] <= 0.0
        assert sides.rhs.mean() < 0.8 * sides.trivial


def test_the_best_a_turns_theorem_4_into_the_form_of_theorem_2():
    given = {"energy": 7.0, "quadratic_sum": 3.0, "gamma": 0.5}
    best = drift.drift_best_a(**given)
    least = drift.drift_mistakes(hinge=2.0, **given)
    assert drift.selective_drift_mistakes(hinge=2.0, a=best, **given) == pytest.approx(least)
    for a in np.geomspace(best / 10, best * 10, 41):
        assert drift.selective_drift_mistakes(hinge=2.0, a=a, **given) >= least * (1 - 1e-12)


def test_the_tuned_bound_optimised_over_a_is_the_least_of_corollary_9():
    given = {"n_rounds": 5000, "n_features": 2, "radius": 1.0, "drift": 0.05, "epsilon": 0.004}
    sums = {"hinge": 3.0, "quadratic": 9.0, "comparator_norm": 2.0, "log_det": 1.5, "gamma": 1.0}
    least = drift.tuned_selective_drift_mistakes(a=None, **sums, **given)
    values = [drift.tuned_selective_drift_mistakes(a=a, **sums, **given) for a in np.geomspace(0.01, 100, 400)]
    assert least <= min(values) <= least * 1.001


def test_drift_counts_update_rounds_only_and_can_exceed_that_of_all_rounds():
    targets = streams.drifting(100, 2, 1.0, np.random.default_rng(0)).targets
    assert drift.total_drift(targets) == pytest.approx(1.0)
    assert drift.total_drift(targets[[0, 33, 66, 99]]) > 3.0  # sums of steps, then squared
    assert drift.total_drift(targets[:1]) == drift.total_drift(targets[:0]) == 0.0


def test_no_update_leaves_every_sum_at_its_start():
    X, y = np.zeros((0, 3)), np.zeros(0)
    assert drift.drift_objective(X, X, y, b=1.0, c=2.0) == 0.0
    assert drift.drift_objective_minimum(X, y, b=1.0, c=2.0) == 0.0
    assert drift.square_loss_cap(X, X, y, b=1.0, c=2.0) == 0.0


# Erratum: the equality in the proof of Corollary 8


def test_corollary_8_needs_an_inequality_where_its_proof_prints_an_equality():
    X, b, c = 1.0, 0.5, 2.0
    largest = max((3 * X**2 + np.sqrt(X**4 + 4 * X**2 * c)) / 2, b + X**2)
    printed = 2 * X * np.sqrt(2 * c)
    assert (largest, printed) == (3.0, 4.0)  # not equal
    rng = np.random.default_rng(0)
    applied = 0
    for _ in range(1000):
        V, epsilon, X = 10 ** rng.uniform(-4, 2), 10 ** rng.uniform(-4, -0.1), 10 ** rng.uniform(-1, 1)
        tuning = drift.drift_tuning(n_rounds=1000, n_features=3, radius=X, drift=V, epsilon=epsilon)
        if tuning.applies:
            applied += 1
            c, b = tuning.c, tuning.b
            largest = max((3 * X**2 + np.sqrt(X**4 + 4 * X**2 * c)) / 2, b + X**2)
            assert largest <= 2 * X * np.sqrt(2 * c) * (1 + 1e-12)
    assert applied > 300


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: drift.drift_matrices(np.eye(2), [1, 1], b=1.0, c=1.0), "c must be greater than b = 1.0, got 1.0"),
        (lambda: drift.drift_matrices(np.eye(2), [1, 1], b=0.0, c=1.0), "b must be positive and finite, got 0.0"),
        (lambda: drift.drift_objective(np.eye(3), np.eye(2), [1, 1], b=1, c=2), r"U must have the shape of X"),
        (
            lambda: drift.selective_drift_mistakes(hinge=0, energy=1, quadratic_sum=1, gamma=1, a=0),
            "a must be positive and finite, got 0",
        ),
        (
            lambda: drift.drift_tuning(n_rounds=9, n_features=2, radius=1, drift=1, epsilon=1.0),
            r"epsilon must lie in \(0, 1\), got 1.0",
        ),
        (
            lambda: drift.tuned_drift_mistakes(
                hinge=0,
                quadratic=1,
                comparator_norm=1,
                log_det=1,
                gamma=1,
                n_rounds=10,
                n_features=2,
                radius=1,
                drift=1000.0,
                epsilon=0.5,
            ),
            "drift must be at most .* got 1000.0",
        ),
    ],
)
def test_a_broken_hypothesis_is_named_with_its_rule_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
