"""The one-standard-error rule, on surfaces made by hand."""

from itertools import product

import numpy as np
import pytest

from experiments.papers.tuning import one_standard_error, steps_to_end

LINE = [{"b": b} for b in (0.01, 0.1, 1.0, 10.0, 100.0)]
SQUARE = [{"R": R, "eta": eta} for R, eta in product((1, 2, 4, 8, 16), (0.1, 1.0, 10.0))]
NOISE = np.array([-1.0, 1.0, -1.0, 1.0])  # standard error of a mean of these: sqrt(4 / 3) / 2 = 0.577


def surface(*means):
    return np.array(means, dtype=float)[:, None] + NOISE


def test_of_equals_the_middle_is_taken_and_a_peak_wherever_it_is():
    for place, point in enumerate(LINE):
        for lower, taken in ((0.5, {"b": 1.0}), (0.6, point)):  # within a standard error of the others, and beyond
            means = np.full(5, 3.0)
            means[place] -= lower
            assert one_standard_error(LINE, surface(*means)) == taken


@pytest.mark.parametrize(
    ("means", "b"),
    [
        ((0.0, np.sqrt(4.0 / 3.0) / 2.0 - 1e-9, 9.0, 9.0, 9.0), 0.1),  # within one standard error of the best
        ((0.0, np.sqrt(4.0 / 3.0) / 2.0 + 1e-9, 9.0, 9.0, 9.0), 0.01),
        ((0.0, 0.3, 9.0, 0.2, 9.0), 10.0),  # of as many steps the better
        ((0.0, 0.3, 9.0, 0.3, 9.0), 0.1),  # and of equals the first
    ],
)
def test_what_is_within_one_standard_error_and_has_most_steps_is_taken(means, b):
    assert one_standard_error(LINE, surface(*means)) == {"b": b}


def test_the_error_is_that_of_the_best_alone():
    quiet, loud = np.zeros(4), 0.1 + 10.0 * NOISE
    assert one_standard_error(LINE[:3], [quiet, loud, loud]) == {"b": 0.01}
    assert one_standard_error(LINE[:3], [-10.0 + 20.0 * NOISE, quiet, loud]) == {"b": 0.1}


def test_of_several_parameters_the_one_nearest_to_its_end_counts():
    means = {(point["R"], point["eta"]): 9.0 for point in SQUARE} | {(4, 0.1): 0.0, (2, 1.0): 0.5}
    for middle in (9.0, 0.51):  # as near to the end of eta
        means[4, 1.0] = middle
        assert one_standard_error(SQUARE, surface(*means.values())) == {"R": 2, "eta": 1.0}


def test_with_one_replication_the_best_is_taken():
    assert one_standard_error(LINE, [[2.0], [1.9], [1.8], [1.7], [1.6]]) == {"b": 100.0}


def test_an_accuracy_has_the_binomial_standard_error():
    rounds = 400
    wrong = np.zeros((3, rounds))
    for row, count in enumerate((100, 108, 400)):  # standard error sqrt(.25 * .75 / 399) = .02168, of 400: 8.67
        wrong[row, :count] = 1.0
    assert one_standard_error(LINE[:3], wrong) == {"b": 0.1}
    wrong[1, :109] = 1.0
    assert one_standard_error(LINE[:3], wrong) == {"b": 0.01}


@pytest.mark.parametrize(("grid", "losses"), [([], []), (LINE, [[1.0]] * 4), (LINE, [1.0] * 5), (LINE, [[]] * 5)])
def test_losses_that_do_not_fit_the_grid_are_refused(grid, losses):
    with pytest.raises(ValueError, match="losses must have a row of numbers for each of"):
        one_standard_error(grid, losses)


def test_steps_are_counted_among_different_values():
    assert [steps_to_end(value, (4, 1, 2, 2, 1)) for value in (1, 2, 4)] == [0, 1, 0]
