"""Mistake bounds of the samplers on drawn streams: never violated, and not idle."""

import pytest
from scipy import stats

from tests.oracles import bound_trials as trials
from tests.oracles.law_trials import PROBABLE

MANY = [30, pytest.param(1000, marks=pytest.mark.long)]


@pytest.mark.parametrize("n_trials", MANY)
@pytest.mark.parametrize("key", trials.PARAMETERS)
def test_no_run_violates_its_bounds_and_most_bounds_say_something(key, n_trials):
    rows = trials.table(trials.reported(key), n_trials)
    assert rows["holds"].all(), rows[~rows["holds"]].to_string()
    assert not rows["verdict"].str.startswith("void").any()
    for _, own in rows.groupby("statement"):
        assert own["verdict"].str.startswith("holds").mean() >= 0.9


@pytest.mark.parametrize("n_trials", MANY)
@pytest.mark.parametrize("trial", trials.KNOWN, ids=lambda trial: trial.__name__)
def test_no_run_violates_what_is_proved_of_targets_that_move_or_are_known(trial, n_trials):
    rows = trials.table(trial, n_trials)
    assert rows["holds"].all(), rows[~rows["holds"]].to_string()
    assert rows["verdict"].str.startswith("holds").sum() >= 0.4 * n_trials


@pytest.mark.parametrize("n_trials", [20, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("trial", PROBABLE, ids=lambda trial: trial.__name__)
def test_bounds_with_high_probability_fail_no_oftener_than_they_may(trial, n_trials):
    rows = trials.table(trial, n_trials)
    assert (~rows["holds"]).sum() <= stats.binom.ppf(0.999, n_trials, 0.05)
    assert rows["verdict"].str.startswith("holds").mean() >= 0.9


@pytest.mark.parametrize("key", trials.COINS)
def test_the_mean_over_a_hundred_runs_is_below_its_bound(key):
    rows = trials.table(trials.reported(key, runs=200), 2)
    assert len(rows) == 2
    assert rows["holds"].all(), rows.to_string()
