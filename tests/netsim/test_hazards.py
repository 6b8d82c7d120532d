"""Hazard rates by age: counts over times, censored exactly, averaged by their evidence."""

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from netsim.sleep_planning.hazards import (
    EDGES_NS,
    N_BINS,
    N_WIDTHS,
    WIDTHS,
    doubt_s2,
    enter_wait,
    find_bin,
    own_rates,
)
from tests.netsim.hazard_learner import HazardLearner, spans_s
from tests.tables import cases_of, near

HOUR_NS = 3600 * 10**9
AGES = st.integers(0, 2 * HOUR_NS)


def test_bins_grow_by_seven_percent_from_a_millisecond_to_an_hour():
    growing = EDGES_NS[1:-1].astype(float)
    assert growing[0] == 1e6
    assert growing[-2] < HOUR_NS <= growing[-1]
    assert growing[1:] / growing[:-1] == near(1.07, rel=1e-6)


@settings(max_examples=50)
@given(AGES, AGES, st.booleans())
@example(0, 0, True)
@example(10 * HOUR_NS, 11 * HOUR_NS, True)
def test_a_wait_watched_in_two_parts_is_one_wait_and_lies_in_its_bin(first, second, ended):
    cut, end = sorted((first, second))
    whole, parts = HazardLearner(), HazardLearner()
    whole.learn(end, ended=ended)
    parts.learn(cut, ended=False)
    parts.learn(end, from_ns=cut, ended=ended)
    assert parts.events.tolist() == whole.events.tolist()
    assert np.flatnonzero(parts.events).tolist() == [find_bin(end)] * ended
    assert EDGES_NS[find_bin(end)] <= end < EDGES_NS[find_bin(end) + 1]
    assert parts.at_risk_s == near(whole.at_risk_s, rel=1e-9, abs=1e-12)
    assert parts.at_risk_s.sum() == near(end * 1e-9)
    assert parts.rates == near(whole.rates, rel=1e-9)
    assert (parts.mean_rates > 0).all()


def test_rates_are_counts_over_times_of_the_brute_force_kind():
    rng, learner = default_rng(5), HazardLearner(0.2, 0.7)
    waits = list(zip((rng.lognormal(-1.0, 0.8, 60) * 1e9).astype(int).tolist(), rng.random(60) < 0.7, strict=True))
    for wait, ended in waits:
        learner.learn(wait, ended=ended)
    for which, width in enumerate(WIDTHS.tolist()):
        for first in range(0, 180, width):
            low, high = int(EDGES_NS[first]), int(EDGES_NS[min(first + width, N_BINS)])
            events = sum(ended and low <= wait < high for wait, ended in waits)
            seconds = sum(max(0, min(wait, high) - low) for wait, _ in waits) * 1e-9
            prior_s = 0.2 * (low + high) / 2 * 1e-9 / 0.7
            assert learner.rates[which, first] == near((0.2 + events) / (prior_s + seconds), rel=1e-9)


def test_evidence_is_the_probability_of_what_was_seen():
    learner, seen = HazardLearner(), np.zeros(N_WIDTHS)
    for age, ended in ((40_200_000, True), (7_000_000, False), (41_000_000, True), (2 * 10**9, True)):
        for which in range(N_WIDTHS):
            seen[which] -= (learner.rates[which] * spans_s(age)).sum()
            seen[which] += math.log(learner.rates[which, find_bin(age)]) if ended else 0.0
        learner.learn(age, ended=ended)
    assert learner.log_evidence == near(seen, rel=1e-9)
    weights = np.exp(learner.log_evidence - learner.log_evidence.max())
    assert learner.mean_rates == near(weights @ learner.rates / weights.sum(), rel=1e-12)


@cases_of("low_ns high_ns", "0, 900_000 ; 37_000_000, 38_000_000 ; 80_000_000, 2 * 10**9")
def test_a_wait_that_ended_in_an_interval_counts_by_what_is_expected_of_it_on_a_fine_grid(low_ns, high_ns):
    learner, instant = HazardLearner(), HazardLearner()
    for wait in (default_rng(8).lognormal(-1.0, 0.8, 200) * 1e9).astype(int).tolist():
        learner.learn(wait)
        instant.learn(wait)
    before = [learner.events.copy(), learner.at_risk_s.copy(), learner.log_evidence.copy(), learner.rates.copy()]
    edges = np.linspace(low_ns, high_ns, 40_001)
    middles_ns, step_s = (edges[1:] + edges[:-1]) / 2, (edges[1] - edges[0]) * 1e-9
    places = np.searchsorted(EDGES_NS, middles_ns, side="right") - 1
    alive = np.exp(-np.concatenate([[0.0], np.cumsum(learner.mean_rates[places] * step_s)]))
    mass = -np.diff(alive) / (1.0 - alive[-1])
    at_risk_s = spans_s(low_ns) + np.bincount(places, (np.cumsum(mass[::-1])[::-1] - mass / 2) * step_s, N_BINS)
    age_ns = learner.learn_between(low_ns, high_ns)
    assert age_ns == near(mass @ middles_ns, rel=1e-4)
    assert learner.events - before[0] == near(np.bincount(places, mass, N_BINS), abs=1e-4)
    assert learner.at_risk_s - before[1] == near(at_risk_s, rel=1e-3, abs=5e-5)
    for which in range(N_WIDTHS):
        survival = [math.exp(-before[3][which] @ spans_s(age)) for age in (low_ns, high_ns)]
        assert math.exp((learner.log_evidence - before[2])[which]) == near(survival[0] - survival[1])
    exact = instant.learn_between(high_ns, high_ns)  # of no length, it is an instant
    assert (exact, instant.events.sum()) == (high_ns, 201)
    assert HazardLearner().learn_between(high_ns, high_ns + 1) == high_ns


def test_own_rates_are_the_common_ones_times_what_ended_over_what_was_expected_averaged_by_evidence():
    learner, prior = HazardLearner(), 0.5
    events, at_risk_s, mean_rates = np.zeros((3, N_BINS))
    rates, log_evidence, seen = np.empty((N_WIDTHS + 1, N_BINS)), np.zeros(N_WIDTHS + 1), np.zeros(N_WIDTHS + 1)
    for wait_ns in default_rng(4).integers(40_000_000, 60_000_000, 30).tolist():
        learner.learn(20 * wait_ns)  # another server
        own_rates(learner.mean_rates, events, at_risk_s, prior, rates, log_evidence, mean_rates)
        seen += np.log(rates[:, find_bin(wait_ns)]) - rates @ spans_s(wait_ns)
        last = enter_wait(events, at_risk_s, rates, log_evidence, 0, wait_ns, True)
        assert last == find_bin(wait_ns)
        learner.learn(wait_ns)
    common = learner.mean_rates
    own_rates(common, events, at_risk_s, prior, rates, log_evidence, mean_rates)
    for row, width in zip(rates, WIDTHS, strict=False):
        for first in range(0, N_BINS, width):
            group = slice(first, first + width)
            factor = (prior + events[group].sum()) / (prior + common[group] @ at_risk_s[group])
            assert row[group] == near(factor * common[group], rel=1e-12)
    assert np.array_equal(rates[-1], common)
    assert log_evidence == near(seen, rel=1e-9)
    weights = np.exp(seen - seen.max())
    assert mean_rates == near(weights @ rates / weights.sum(), rel=1e-9)
    inside, after = find_bin(50_000_000), find_bin(900_000_000)
    assert mean_rates[inside] > 1.5 * common[inside]
    assert mean_rates[after] == near(common[after], rel=0.2)  # where it has seen nothing of its own


@cases_of("rate low_s high_s since_s least_s", """
0.1, 0.05, 2.8, 0.0, 0.01 ; 0.1, 0.0, 2.8, 0.0, 0.09 ; 5.0, 0.2, 1.0, 0.04, 0.01 ; 5.0, 0.2, 1.0, 3.0, 0.01
1.0, 0.3, 0.3, 0.0, 0.01
""")  # fmt: skip
def test_the_doubt_of_a_length_is_that_of_its_inverse_on_a_fine_grid(rate, low_s, high_s, since_s, least_s):
    found = doubt_s2(np.full(N_BINS, rate), *(round(1e9 * one) for one in (low_s, high_s, since_s)), least_s)
    ages_s = np.linspace(low_s, high_s, 200_001)
    weights, lengths_s = np.exp(-rate * ages_s), np.maximum(least_s, since_s + ages_s)
    mean_s = np.average(lengths_s, weights=weights)
    expected = mean_s * np.average(1 / lengths_s, weights=weights)
    assert 1.0 + found / mean_s**2 == near(expected, rel=2e-3)
    if since_s > 1.0:  # where it is small it is the variance
        assert found == near(np.average((lengths_s - mean_s) ** 2, weights=weights), rel=0.1)


def test_of_an_interval_in_which_nothing_ends_no_doubt_is_known():
    assert doubt_s2(np.zeros(N_BINS), 10**8, 2 * 10**8, 0, 0.01) == 0.0
