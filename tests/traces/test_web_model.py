"""The generator against the distribution it was made from."""

from hashlib import sha256

import numpy as np
import pytest

import traces
from tests.tables import cases_of, near
from traces import web_model


@pytest.fixture(scope="module")
def many():
    return traces.generate(20_000, np.random.default_rng(1), "1996")


@pytest.fixture(scope="module")
def sizes(many):
    """Return request and reply bytes, a row each."""
    return np.array([size for page in many for size in (page[1:3], *page.objects)]).T


def test_the_first_pages_do_not_depend_on_how_many_are_asked_for(many):
    assert traces.generate(50, np.random.default_rng(1), "1996") == many[:50]


@cases_of("web digest following", """
"1996", "afca291cd2889c18", 608189472933 ; "2025", "31dcae4fbf61eefd", 696028664741
""")  # fmt: skip
def test_pages_are_those_drawn_one_by_one_and_no_more_is_drawn_than_they_need(monkeypatch, web, digest, following):
    monkeypatch.setattr(web_model, "_BLOCK", 7)
    drawn = web_model.drawn(60, rng := np.random.default_rng(3), web)
    assert sha256("".join(map(traces.workload_line, drawn)).encode()).hexdigest().startswith(digest)
    assert rng.integers(1 << 40) == following
    assert traces.generate(60, other := np.random.default_rng(3), web) == list(web_model.drawn(60, 3, web))
    assert other.integers(1 << 40) == following


def test_means_are_those_of_the_measured_workload(many, sizes):
    requests, replies = sizes
    assert np.mean(requests) == near(337, rel=0.01)
    assert np.mean(replies) == near(7231, rel=0.1)  # a heavy tail: its own mean still moves by a few per cent
    assert np.mean([len(page.objects) for page in many]) == near(2.84, rel=0.05)
    assert np.mean([page.think_s for page in many]) == near(52.9, rel=0.05)


@cases_of("probability quantiles", "0.25, (204, 560) ; 0.5, (231, 2112) ; 0.9, (1057, 12581)")
def test_measured_quantiles_come_back(sizes, probability, quantiles):
    # the share of draws at or below a quantile, within five standard errors of a binomial
    slack = 5 * np.sqrt(probability * (1 - probability) / sizes.shape[1]) + 0.01  # ties: whole bytes
    for own, quantile in zip(sizes, quantiles, strict=True):
        assert abs(np.mean(own <= quantile) - probability) < slack


def test_the_number_drawn_is_that_of_the_objects_beside_the_html(many):
    counts = np.bincount([len(page.objects) for page in many])
    assert counts[0] == 0
    assert counts[1] / len(many) == near(0.511773, abs=0.02)
