"""Mistake bounds of the samplers: never violated, not idle, labels the sum of the coins, hypotheses checked."""

import numpy as np
import pytest
from scipy import stats

from lpsm.bounds import drift, perceptrons, risk, second_order
from tests.oracles import law_trials, path_trials, trials
from tests.oracles import mean_trials as means

MANY = [200, pytest.param(1000, marks=pytest.mark.long)]
PATHS = [  # with the least parts of the trials in which the hypotheses hold, and in which the bound says something
    *((trial, 0.9, 0.8) for trial in path_trials.PERCEPTRONS),
    *((trial, 1.0, 0.4) for trial in path_trials.SECOND_ORDER),
    *((trial, 0.9, 0.5) for trial in path_trials.DRIFT),
]


@pytest.mark.parametrize("n_trials", MANY)
@pytest.mark.parametrize(("trial", "held", "informative"), PATHS, ids=[trial.__name__ for trial, *_ in PATHS])
def test_no_run_violates_the_bound_and_most_bounds_say_something(trial, held, informative, n_trials):
    result = trials.tally(trial, n_trials)
    assert not result.violated
    assert result.held >= held * n_trials
    assert result.informative >= informative * n_trials


@pytest.mark.parametrize("n_trials", [20, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("trial", law_trials.PROBABLE, ids=lambda trial: trial.__name__)
def test_bounds_with_high_probability_fail_no_oftener_than_they_may(trial, n_trials):
    result = trials.tally(trial, n_trials)
    assert len(result.violated) <= stats.binom.ppf(0.999, n_trials, 0.05)
    assert result.informative >= 0.9 * n_trials


@pytest.mark.parametrize("n_streams", [2, pytest.param(20, marks=pytest.mark.long)])
def test_mean_mistakes_of_the_selective_perceptron_stay_below_theorem_1(n_streams):
    for seed in range(n_streams):
        sides = means.expected_selective_perceptron(seed, 200 if n_streams == 2 else 400)
        low, mean, high = trials.interval(sides.lhs - sides.rhs)
        assert low <= 1e-9  # with the best comparator the two sides all but agree: see the next line
        assert max(mean, high) < 0.05 * sides.rhs.mean() + 1.0
        assert sides.rhs.mean() < 0.2 * sides.trivial


@pytest.mark.parametrize(
    ("key", "params"),
    [("perceptron-ss", {"b": 0.3}), ("sop-label-efficient", {"C": 0.3}), ("lasec-ss", {"a": 0.3, "b": 1.0, "c": 9.0})],
)
def test_the_number_of_labels_is_the_sum_of_the_coins_in_expectation(key, params):
    X, y = means.noisy_separable(1)
    parameter = next(iter(params.values()))
    logs = means.repeated(key, X, y, 200, 3, **params)
    surplus = np.array([log.queried.sum() - np.sum(parameter / (parameter + np.abs(log.margin))) for log in logs])
    low, _, high = trials.interval(surplus, level=0.999)
    assert low <= 0.0 <= high
    assert high - low < 0.1 * np.mean([log.queried.sum() for log in logs])


def test_only_the_ratio_of_comparator_and_margin_matters():
    rng = np.random.default_rng(0)
    X, y, u = rng.standard_normal((30, 3)), rng.choice((-1, 1), 30), rng.standard_normal(3)
    one, two = (
        perceptrons.selective_perceptron_mistakes(
            hinge=perceptrons.hinge_losses(s * u, X, y, s).sum(), comparator_norm=s * np.linalg.norm(u), gamma=s, b=0.7
        )
        for s in (1.0, 17.0)
    )
    assert one == pytest.approx(two)


@pytest.mark.parametrize("n_streams", [2, pytest.param(16, marks=pytest.mark.long)])
@pytest.mark.parametrize("expected", [means.expected_selective_second_order, means.expected_label_efficient])
def test_means_over_runs_stay_below_the_bound_in_expectation(expected, n_streams):
    for seed in range(n_streams):
        sides = expected(seed, 200)
        low, _, high = trials.interval(sides.lhs - sides.rhs)
        assert low <= 1e-9
        assert high < 0.05 * sides.rhs.mean()
        assert sides.rhs.mean() < 0.5 * sides.trivial


@pytest.mark.parametrize("n_streams", [2, pytest.param(12, marks=pytest.mark.long)])
@pytest.mark.parametrize("expected", [means.expected_selective_drift])
def test_mean_mistakes_of_selective_lasec_stay_below_the_bound(expected, n_streams):
    for seed in range(n_streams):
        sides = expected(seed, 200)
        assert trials.interval(sides.lhs - sides.rhs)[2] <= 0.0
        assert sides.rhs.mean() < 0.8 * sides.trivial


def test_the_sop_ss_coins_add_up_to_its_labels_in_expectation():
    X, y = means.noisy_separable(1)
    surplus = []
    for log in means.repeated("sop-ss", X, y, 200, 4, b=0.3):
        m, r = np.abs(log.margin), path_trials.second_order_path(X, log.stored, 1.0)
        surplus.append(log.queried.sum() - np.sum(0.3 / (0.3 + m + m * m * (1 + r) / 2)))
    low, _, high = trials.interval(np.array(surplus), level=0.999)
    assert low <= 0.0 <= high


def test_the_log_determinant_is_that_of_its_eigenvalues():
    for m, d in ((0, 3), (2, 5), (40, 3)):
        X = np.random.default_rng(m).standard_normal((m, d))
        eigenvalues = np.linalg.eigvalsh(X.T @ X)
        assert second_order.log_determinant(X, 0.5) == pytest.approx(np.sum(np.log1p(np.maximum(0, eigenvalues) / 0.5)))


POSITIVE = "must be positive and finite, got 0"
HINGE = {"hinge": 1.0, "comparator_norm": 1.0}
SECOND = {**HINGE, "quadratic": 0.0, "log_det": 0.0}
MOVING = {"hinge": 0.0, "energy": 1.0, "quadratic_sum": 1.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: perceptrons.hinge_losses([1.0], [[1.0]], [1], 0.0), f"gamma {POSITIVE}"),
        (lambda: perceptrons.selective_perceptron_mistakes(**HINGE, gamma=1, b=0), f"b {POSITIVE}"),
        (lambda: perceptrons.selective_perceptron_mistakes(**HINGE, gamma=0, b=1), f"gamma {POSITIVE}"),
        (lambda: perceptrons.selective_perceptron_mistakes(hinge=-1, comparator_norm=1, gamma=1, b=1), "got -1"),
        (
            lambda: perceptrons.perceptron_mistakes(**HINGE, radius=float("nan")),
            "radius must be non-negative .* got nan",
        ),
        (lambda: second_order.log_determinant(np.eye(2), 0.0), f"a {POSITIVE}"),
        (lambda: second_order.label_efficient_mistakes(**SECOND, C=0), f"C {POSITIVE}"),
        (lambda: second_order.label_efficient_mistakes(**SECOND, C=1, a=0), f"a {POSITIVE}"),
        (lambda: second_order.selective_second_order_mistakes(**SECOND, gamma=1, b=0), f"b {POSITIVE}"),
        (lambda: second_order.second_order_mistakes(**{**SECOND, "log_det": -1.0}), "log_det must be non-negative"),
        (lambda: drift.drift_mistakes(**MOVING, gamma=0), f"gamma {POSITIVE}"),
        (lambda: drift.drift_mistakes(**{**MOVING, "energy": -1.0}, gamma=1), "energy must be non-negative"),
        (lambda: drift.selective_drift_mistakes(**MOVING, gamma=1, a=0), f"a {POSITIVE}"),
        (lambda: drift.selective_drift_mistakes(**{**MOVING, "hinge": -1.0}, gamma=1, a=1), "hinge must be"),
        (lambda: risk.average_risk(5, 4, 0.1), r"mistakes must lie in \[0, 4\], got 5"),
        (lambda: risk.average_risk(0, 0, 0.1), "n_rounds must be at least 1"),
        (lambda: risk.average_risk(1, 4, 1.0), r"delta must lie in \(0, 1\), got 1.0"),
        (lambda: risk.importance_weighted_deviation(9, 0, 0.5, 0.1), "n_hypotheses must be at least 1"),
        (
            lambda: risk.importance_weighted_deviation(9, 1, 0.0, 0.1),
            r"least_probability must lie in \(0, 1\], got 0.0",
        ),
        (lambda: risk.importance_weighted_deviation(9, 1, 0.5, 0.0), r"delta must lie in \(0, 1\), got 0.0"),
    ],
)
def test_a_broken_hypothesis_is_named_with_its_rule_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
