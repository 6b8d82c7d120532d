"""Prices of messages: followers of a renewal process, and the price that keeps a promise."""

import numpy as np
import pytest

from lpsm import message_prices
from lpsm import sleep_planning as planning
from lpsm.hazards import N_BINS, HazardLearner

INTERVAL_NS = 100_000_000


def same_rates(rate):
    return np.full(N_BINS, rate)


@pytest.mark.parametrize("rate", [0.05, 1.0])
def test_memoryless_messages_have_as_many_followers_as_their_rate_says(rate):
    work = np.zeros(1, dtype=planning.WORKSPACE)[0]
    message_prices.renewal_followers(work, same_rates(rate), INTERVAL_NS)
    times_s = np.arange(planning.FOLLOWERS_STEPS) * 0.05
    assert work["followers"] == pytest.approx(rate * times_s, abs=0.03)
    assert work["followers_s"] == pytest.approx(rate * times_s**2 / 2, rel=0.05, abs=0.01)


def test_followers_are_those_of_a_simulated_renewal_process():
    learner, rng = HazardLearner.fresh(), np.random.default_rng(2)
    long = rng.random(20_000) < 1 / 6
    gaps_s = np.where(long, rng.exponential(60.0, 20_000), rng.exponential(0.3, 20_000))
    for gap in gaps_s:
        learner.learn(int(gap * 1e9))
    work = np.zeros(1, dtype=planning.WORKSPACE)[0]
    message_prices.renewal_followers(work, learner.mean_rates, INTERVAL_NS)
    at_s = gaps_s.cumsum()
    for time_s in (0.5, 1.0, 3.0):
        found = np.searchsorted(at_s, at_s + time_s, side="right") - np.arange(len(at_s)) - 1
        assert work["followers"][round(time_s / 0.05)] == pytest.approx(found[:-200].mean(), rel=0.06)


@pytest.mark.parametrize("wanted_s", [0.2, 0.4, 0.8])
def test_the_price_found_promises_the_delay_wanted(wanted_s):
    work, rates = np.zeros(1, dtype=planning.WORKSPACE)[0], same_rates(0.05)
    message_prices.renewal_followers(work, rates, INTERVAL_NS)
    ages, weights = np.array([50_000_000, 700_000_000]), np.array([1.0, 2.0])
    fixed = (INTERVAL_NS, 0.7, 0.0015, 0.0)
    price = message_prices.price_of_delay(work, rates, ages, weights, *fixed, wanted_s, 1e-4, 100.0, 14)
    assert price == pytest.approx(2 * 0.0015 / (0.05 * (2 * wanted_s) ** 2), rel=0.3)  # of an even period twice as long
    promised = np.array([message_prices.promised_delay(work, rates, age, *fixed, price) for age in ages])
    late_s, number = weights @ promised
    assert late_s / number == pytest.approx(wanted_s, rel=0.15)
