"""Mistake bounds of the samplers: never violated, not idle, labels the sum of the coins, hypotheses checked."""

import numpy as np
import pytest
from scipy import stats

from tests.oracles import bound_trials as trials
from tests.oracles import law_trials

MANY = [60, pytest.param(1000, marks=pytest.mark.long)]
PATHS = [  # with the least parts of the trials in which the hypotheses hold, and in which the bound says something
    *((trial, 0.9, 0.8) for trial in trials.PERCEPTRONS),
    *((trial, 1.0, 0.4) for trial in trials.SECOND_ORDER),
    *((trial, 0.9, 0.5) for trial in trials.DRIFT),
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


COINS = {
    "perceptron-ss": {"b": 0.3}, "sop-label-efficient": {"C": 0.3}, "lasec-ss": {"a": 0.3, "b": 1.0, "c": 9.0},
    "sop-ss": {"b": 0.3},
}  # fmt: skip


@pytest.mark.parametrize(("key", "params"), COINS.items())
def test_the_number_of_labels_is_the_sum_of_the_coins_in_expectation(key, params):
    X, y = trials.noisy_separable(1)
    logs, surplus = trials.repeated(key, X, y, 200, 3, **params), []
    for log in logs:
        m, r = np.abs(log.margin), trials.second_order_path(X, log.stored, 1.0) if key == "sop-ss" else None
        more = m * m * (1 + r) / 2 if key == "sop-ss" else 0.0
        surplus.append(log.queried.sum() - np.sum(0.3 / (0.3 + m + more)))
    low, _, high = trials.interval(np.array(surplus), level=0.999)
    assert low <= 0.0 <= high
    assert high - low < 0.1 * np.mean([log.queried.sum() for log in logs])


IN_EXPECTATION = {  # how near the bound may be, and what part of the trivial one, at the best comparator
    "perceptron-ss": (0.05, 1.0, 0.2), "sop-ss": (0.05, 0.0, 0.5), "sop-label-efficient": (0.05, 0.0, 0.5),
    "lasec-ss": (0.0, 0.0, 0.8),
}  # fmt: skip


@pytest.mark.parametrize("n_streams", [2, pytest.param(16, marks=pytest.mark.long)])
@pytest.mark.parametrize(("key", "room"), IN_EXPECTATION.items())
def test_means_over_runs_stay_below_the_bound_in_expectation(key, room, n_streams):
    for seed in range(n_streams):
        sides = trials.in_the_mean(key, seed, 200)
        low, mean, high = trials.interval(sides.lhs - sides.rhs)
        assert low <= 1e-9  # with the best comparator the two sides all but agree
        assert max(mean, high) <= room[0] * sides.rhs.mean() + room[1]
        assert sides.rhs.mean() < room[2] * sides.trivial
