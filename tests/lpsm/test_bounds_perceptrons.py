"""First-order bounds: never violated, not idle, best where they say, and corrected where misprinted."""

import numpy as np
import pytest

from lpsm import samplers
from lpsm.bounds import perceptrons as bounds
from tests.oracles import mean_trials as means
from tests.oracles import path_trials, trials
from tests.oracles import sampler_bounds as oracle

MANY = [200, pytest.param(1000, marks=pytest.mark.long)]


@pytest.mark.parametrize("n_trials", MANY)
@pytest.mark.parametrize("trial", path_trials.PERCEPTRONS, ids=lambda trial: trial.__name__)
def test_no_run_violates_the_bound_and_most_bounds_say_something(trial, n_trials):
    result = trials.tally(trial, n_trials)
    assert not result.violated
    assert result.held >= 0.9 * n_trials
    assert result.informative >= 0.8 * n_trials


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


# Identities and the best parameter


@pytest.mark.parametrize("hinge", [0.0, 0.7, 40.0])
def test_the_tuned_form_is_the_minimum_over_b(hinge):
    given = {"hinge": hinge, "comparator_norm": 2.0, "gamma": 0.5}
    best = bounds.selective_perceptron_best_b(**given)
    tuned = bounds.selective_perceptron_tuned_mistakes(**given)
    assert bounds.selective_perceptron_mistakes(b=best, **given) == pytest.approx(tuned)
    for b in np.geomspace(best / 20, best * 20, 81):
        assert bounds.selective_perceptron_mistakes(b=b, **given) >= tuned * (1 - 1e-12)


def test_separable_streams_are_tuned_by_one_half_to_the_perceptron_bound():
    given = {"hinge": 0.0, "comparator_norm": 1.0, "gamma": 0.2}
    assert bounds.selective_perceptron_best_b(**given) == 0.5
    assert bounds.selective_perceptron_tuned_mistakes(**given) == pytest.approx(25.0)
    assert bounds.perceptron_mistakes(hinge=0.0, comparator_norm=5.0, radius=1.0) == pytest.approx(25.0)


def test_only_the_ratio_of_comparator_and_margin_matters():
    rng = np.random.default_rng(0)
    X, y, u = rng.standard_normal((30, 3)), rng.choice((-1, 1), 30), rng.standard_normal(3)
    one, two = (
        bounds.selective_perceptron_mistakes(
            hinge=bounds.hinge_losses(s * u, X, y, s).sum(), comparator_norm=s * np.linalg.norm(u), gamma=s, b=0.7
        )
        for s in (1.0, 17.0)
    )
    assert one == pytest.approx(two)


def test_hinge_losses_take_one_comparator_or_one_a_round():
    X, y = np.eye(2), np.array([1.0, -1.0])
    assert bounds.hinge_losses([0.5, 0.5], X, y).tolist() == [0.5, 1.5]
    assert bounds.hinge_losses([[3.0, 0.0], [0.0, -0.25]], X, y).tolist() == [0.0, 0.75]


# Errata


@pytest.mark.parametrize("d", [2, 5, 50])
def test_remark_1_as_printed_is_broken_by_orthogonal_negatives_and_tight_once_corrected(d):
    X, y = np.eye(d), -np.ones(d)
    log = samplers.make("perceptron-ss", n_features=d, b=0.5, rng=np.random.default_rng(0)).run(X, y)
    mistakes = np.sum(log.prediction != y)
    assert mistakes == d  # every margin is 0: always asked, always wrong
    u = -np.ones(d)
    hinge = bounds.hinge_losses(u, X, y).sum()
    corrected = bounds.selective_perceptron_tuned_mistakes(hinge=hinge, comparator_norm=np.linalg.norm(u), gamma=1.0)
    square = float(u @ u)
    printed = hinge + square / 2 + np.sqrt(square) / 2 * np.sqrt(hinge + square / 4)
    assert printed == pytest.approx(0.75 * d)
    assert printed < mistakes <= corrected * (1 + 1e-12)
    assert corrected == pytest.approx(d)


def test_theorem_3_as_printed_fails_for_a_short_start_where_lemma_3_holds():
    u, v = np.array([0.0, 1.0]), np.array([0.1, 0.0])  # l_t = 0 labels so far, norm(v_0) = 0.1
    path = oracle.perceptron_path(np.array([[0.0, 1.0]]), np.array([1.0]), v)
    cosines = path @ u / np.linalg.norm(path, axis=1)
    assert cosines[1] > cosines[0]  # the angle shrank
    sine = np.sqrt(1 - cosines[0] ** 2)
    printed = 1 / (5 * np.sqrt(0 + v @ v))
    assert printed == pytest.approx(2.0)
    assert bounds.perceptron_lemma_sine(0.1) == 1 / 3
    assert 1 / 3 <= sine < printed


def test_few_updates_cannot_hold_a_small_angle():
    assert bounds.perceptron_updates_needed(0.01) == pytest.approx(1 / (25 * np.sin(0.01) ** 2))
    assert bounds.perceptron_updates_needed(0.5) == 0.0
    assert bounds.perceptron_updates_needed(0.2, initial_norm=10.0) == 0.0
    rng = np.random.default_rng(5)
    for _ in range(200):  # updates that do not turn away, and the angle they started from
        d = int(rng.integers(2, 5))
        X = rng.standard_normal((400, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        path = oracle.perceptron_path(X, np.where(X[:, 0] >= 0, 1.0, -1.0), np.eye(d)[0] * 0.5)
        cosines = path[:, 0] / np.linalg.norm(path, axis=1)
        for t in np.flatnonzero(cosines[1:] >= cosines[:-1]):
            angle = float(np.arccos(min(1.0, cosines[t])))
            assert angle > 0
            assert t >= bounds.perceptron_updates_needed(angle, initial_norm=0.5) - 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.hinge_losses([1.0], [[1.0]], [1], 0.0), "gamma must be positive and finite, got 0.0"),
        (
            lambda: bounds.selective_perceptron_mistakes(hinge=1, comparator_norm=1, gamma=1, b=0),
            "b must be positive and finite, got 0",
        ),
        (
            lambda: bounds.selective_perceptron_mistakes(hinge=-1, comparator_norm=1, gamma=1, b=1),
            "hinge must be non-negative and finite, got -1",
        ),
        (
            lambda: bounds.selective_perceptron_best_b(hinge=1, comparator_norm=0, gamma=1),
            "comparator_norm must be positive and finite, got 0",
        ),
        (
            lambda: bounds.perceptron_mistakes(hinge=1, comparator_norm=1, radius=float("nan")),
            "radius must be non-negative and finite, got nan",
        ),
        (lambda: bounds.perceptron_lemma_sine(-1.0), "norm must be non-negative and finite, got -1.0"),
        (lambda: bounds.perceptron_updates_needed(0.0), r"angle must lie in \(0, pi/2\], got 0.0"),
    ],
)
def test_a_broken_hypothesis_is_named_with_its_rule_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
