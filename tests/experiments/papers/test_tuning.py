"""The one-standard-error rule, on surfaces made by hand."""

from itertools import product

import numpy as np

from experiments.papers.tuning import one_standard_error
from tests.tables import cases_of, each, value_error

LINE = [{"b": b} for b in (0.01, 0.1, 1.0, 10.0, 100.0)]
SQUARE = [{"R": R, "eta": eta} for R, eta in product((1, 2, 4, 8, 16), (0.1, 1.0, 10.0))]
NOISE = np.array([-1.0, 1.0, -1.0, 1.0])
ERROR = np.sqrt(4 / 3) / 2  # standard error of a mean of these


def surface(*means):
    return np.array(means, float)[:, None] + NOISE


@cases_of("means b", """
(3.0, 3.0, 3.0, 3.0, 2.5), 1.0  # of equals the middle, and a peak that is higher wherever it is
(3.0, 3.0, 3.0, 3.0, 2.4), 100.0
(0.0, ERROR - 1e-9, 9.0, 9.0, 9.0), 0.1  # within one standard error of the best
(0.0, ERROR + 1e-9, 9.0, 9.0, 9.0), 0.01
(0.0, 0.3, 9.0, 0.2, 9.0), 10.0  # of as many steps the better
(0.0, 0.3, 9.0, 0.3, 9.0), 0.1  # and of equals the first
""", globals())  # fmt: skip
def test_what_is_within_one_standard_error_and_has_most_steps_is_taken(means, b):
    assert one_standard_error(LINE, surface(*means)) == {"b": b}


def test_the_error_is_that_of_the_best_alone_and_nothing_with_one_replication():
    quiet, loud = np.zeros(4), 0.1 + 10.0 * NOISE
    assert one_standard_error(LINE[:3], [quiet, loud, loud]) == {"b": 0.01}
    assert one_standard_error(LINE[:3], [-10.0 + 20.0 * NOISE, quiet, loud]) == {"b": 0.1}
    assert one_standard_error(LINE, [[2.0], [1.9], [1.8], [1.7], [1.6]]) == {"b": 100.0}


def test_of_several_parameters_the_one_nearest_to_its_end_counts():
    means = {(point["R"], point["eta"]): 9.0 for point in SQUARE} | {(4, 0.1): 0.0, (2, 1.0): 0.5}
    for middle in (9.0, 0.51):  # as near to the end of eta
        means[4, 1.0] = middle
        assert one_standard_error(SQUARE, surface(*means.values())) == {"R": 2, "eta": 1.0}


@each("grid, losses", [([], []), (LINE, [1.0] * 5)])
def test_losses_that_do_not_fit_the_grid_are_refused(grid, losses):
    with value_error("losses must have a row of numbers for each of"):
        one_standard_error(grid, losses)
