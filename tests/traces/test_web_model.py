"""The generator against the distribution it was made from."""

import numpy as np
import pytest

import traces

MANY = traces.generate(20_000, np.random.default_rng(1))
REQUESTS, REPLIES = np.array([size for page in MANY for size in (page[1:3], *page.objects)]).T
OBJECTS = [len(page.objects) for page in MANY]


def test_the_first_pages_do_not_depend_on_how_many_are_asked_for():
    assert traces.generate(50, np.random.default_rng(1)) == MANY[:50]


def test_means_are_those_of_the_measured_workload():
    assert np.mean(REQUESTS) == pytest.approx(337, rel=0.01)
    assert np.mean(REPLIES) == pytest.approx(7231, rel=0.1)  # a heavy tail: its own mean still moves by a few per cent
    assert np.mean(OBJECTS) == pytest.approx(2.84, rel=0.05)
    assert np.mean([page.think_s for page in MANY]) == pytest.approx(52.9, rel=0.05)


@pytest.mark.parametrize(("probability", "quantiles"), [(0.25, (204, 560)), (0.5, (231, 2112)), (0.9, (1057, 12581))])
def test_measured_quantiles_come_back(probability, quantiles):
    # the share of draws at or below a quantile, within five standard errors of a binomial
    slack = 5 * np.sqrt(probability * (1 - probability) / len(REQUESTS)) + 0.01  # ties: whole bytes
    for sizes, quantile in zip((REQUESTS, REPLIES), quantiles, strict=True):
        assert abs(np.mean(sizes <= quantile) - probability) < slack


def test_the_number_drawn_is_that_of_the_objects_beside_the_html():
    counts = np.bincount(OBJECTS)
    assert counts[0] == 0
    assert counts[1] / len(MANY) == pytest.approx(0.511773, abs=0.02)
