"""Hazard rates by age: normalised, censored exactly, recovered from a simulated renewal process."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.sleep_planning.hazards import EDGES_NS, N_BINS, N_WIDTHS, WIDTHS, enter_wait, find_bin, own_rates
from tests.netsim.hazard_learner import HazardLearner

HOUR_NS = 3600 * 10**9
AGES = st.integers(0, 2 * HOUR_NS)


@settings(deadline=None)
@given(AGES)
def test_every_age_lies_in_its_bin(age):
    place = find_bin(age)
    assert EDGES_NS[place] <= age < EDGES_NS[place + 1]


def test_bins_grow_by_seven_percent_from_a_millisecond_to_an_hour():
    growing = EDGES_NS[1:-1].astype(float)
    assert growing[0] == 1e6
    assert growing[-2] < HOUR_NS <= growing[-1]
    assert growing[1:] / growing[:-1] == pytest.approx(1.07, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(AGES, st.booleans()), max_size=20))
def test_hazards_are_normalised_whatever_was_learned(waits):
    learner = HazardLearner.fresh()
    for age, ended in waits:
        learner.learn(age, ended=ended)
    assert (learner.mean_rates > 0).all()
    assert learner.survival(0) == 1.0
    at_edges = np.array([learner.survival(int(edge)) for edge in EDGES_NS[:-1]])
    assert (np.diff(at_edges) <= 0).all()
    inside = learner.mean_rates[:-1] * np.diff(EDGES_NS[:-1]) * 1e-9
    ends = at_edges[:-1] * -np.expm1(-inside)  # the probability of ending in each bin but the last
    assert ends.sum() + at_edges[-1] == pytest.approx(1.0, abs=1e-9)
    assert learner.survival(10**6 * HOUR_NS) < 1e-6


@settings(max_examples=50, deadline=None)
@given(AGES, AGES, st.booleans())
def test_a_wait_watched_in_two_parts_is_one_wait(first, second, ended):
    cut, end = sorted((first, second))
    whole, parts = HazardLearner.fresh(), HazardLearner.fresh()
    whole.learn(end, ended=ended)
    parts.learn(cut, ended=False)
    parts.learn(end, from_ns=cut, ended=ended)
    assert parts.events == pytest.approx(whole.events, rel=1e-12)
    assert parts.at_risk_s == pytest.approx(whole.at_risk_s, rel=1e-9, abs=1e-12)
    assert parts.rates == pytest.approx(whole.rates, rel=1e-9)


def test_rates_are_counts_over_times_of_the_brute_force_kind():
    rng = np.random.default_rng(5)
    waits = (rng.lognormal(-1.0, 0.8, 60) * 1e9).astype(np.int64)
    ended = rng.random(60) < 0.7
    learner = HazardLearner.fresh(0.2, 0.7)
    for wait, end in zip(waits.tolist(), ended.tolist(), strict=True):
        learner.learn(wait, ended=end)
    for which, width in enumerate(WIDTHS.tolist()):
        for first in range(0, 180, width):
            low, high = int(EDGES_NS[first]), int(EDGES_NS[min(first + width, N_BINS)])
            events = sum(
                1 for wait, end in zip(waits.tolist(), ended.tolist(), strict=True) if end and low <= wait < high
            )
            seconds = sum(max(0, min(wait, high) - low) for wait in waits.tolist()) * 1e-9
            prior_s = 0.2 * (low + high) / 2 * 1e-9 / 0.7
            assert learner.rates[which, first] == pytest.approx((0.2 + events) / (prior_s + seconds), rel=1e-9)


def test_evidence_is_the_probability_of_what_was_seen():
    learner, seen = HazardLearner.fresh(), np.zeros(N_WIDTHS)
    spans_s = lambda age: (np.minimum(EDGES_NS[1:], age) - EDGES_NS[:-1]).clip(0) * 1e-9  # noqa: E731
    for age, ended in ((40_200_000, True), (7_000_000, False), (41_000_000, True), (2 * 10**9, True)):
        for which in range(N_WIDTHS):
            seen[which] -= (learner.rates[which] * spans_s(age)).sum()
            seen[which] += math.log(learner.rates[which, find_bin(age)]) if ended else 0.0
        learner.learn(age, ended=ended)
    assert learner.log_evidence == pytest.approx(seen, rel=1e-9)
    weights = np.exp(learner.log_evidence - learner.log_evidence.max())
    assert learner.mean_rates == pytest.approx(weights @ learner.rates / weights.sum(), rel=1e-12)


def test_own_rates_are_the_common_ones_times_what_ended_over_what_was_expected_averaged_by_evidence():
    learner, prior = HazardLearner.fresh(), 0.5
    events, at_risk_s, mean_rates = np.zeros((3, N_BINS))
    rates, log_evidence, seen = np.empty((N_WIDTHS + 1, N_BINS)), np.zeros(N_WIDTHS + 1), np.zeros(N_WIDTHS + 1)
    for wait_ns in np.random.default_rng(4).integers(40_000_000, 60_000_000, 30).tolist():
        learner.learn(20 * wait_ns)  # another server
        own_rates(learner.mean_rates, events, at_risk_s, prior, rates, log_evidence, mean_rates)
        spans_s = (np.minimum(EDGES_NS[1:], wait_ns) - EDGES_NS[:-1]).clip(0) * 1e-9
        seen += np.log(rates[:, find_bin(wait_ns)]) - rates @ spans_s
        last = enter_wait(events, at_risk_s, rates, log_evidence, 0, wait_ns, True)
        assert last == find_bin(wait_ns)
        learner.learn(wait_ns)
    common = learner.mean_rates
    own_rates(common, events, at_risk_s, prior, rates, log_evidence, mean_rates)
    for row, width in zip(rates, WIDTHS, strict=False):
        for first in range(0, N_BINS, width):
            group = slice(first, first + width)
            factor = (prior + events[group].sum()) / (prior + common[group] @ at_risk_s[group])
            assert row[group] == pytest.approx(factor * common[group], rel=1e-12)
    assert np.array_equal(rates[-1], common)
    assert log_evidence == pytest.approx(seen, rel=1e-9)
    weights = np.exp(seen - seen.max())
    assert mean_rates == pytest.approx(weights @ rates / weights.sum(), rel=1e-9)
    inside, after = find_bin(50_000_000), find_bin(900_000_000)
    assert mean_rates[inside] > 1.5 * common[inside]
    assert mean_rates[after] == pytest.approx(common[after], rel=0.2)  # where it has seen nothing of its own


def test_before_anything_was_seen_the_hazard_is_the_prior_shape_over_the_age():
    learner = HazardLearner.fresh(0.1, 0.5)
    for age_s in (0.01, 1.0, 100.0):
        assert learner.mean_rates[find_bin(round(age_s * 1e9))] == pytest.approx(0.5 / age_s, rel=0.8)


@pytest.mark.parametrize("ages", [(0, 0), (0, 10 * HOUR_NS), (10 * HOUR_NS, 11 * HOUR_NS)])
def test_extreme_ages_are_learned(ages):
    learner = HazardLearner.fresh()
    learner.learn(ages[1], from_ns=ages[0])
    assert learner.events.sum() == 1
    assert learner.at_risk_s.sum() == pytest.approx((ages[1] - ages[0]) * 1e-9)
    assert np.isfinite(learner.mean_rates).all()
