"""Prices from running totals: what is allowed is kept against every adversary."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netsim.sleep_planning.prices import LENGTHS, note_length, price_at, price_before, settle, worth_of_delay
from tests.netsim.clients import saturation
from tests.tables import cases_of, near

LARGEST_EXCESS = 19.0


@given(st.lists(st.tuples(st.floats(-1.0, LARGEST_EXCESS), st.floats(-1.0, 0.0)), max_size=300), st.floats(5.0, 40.0),
    st.floats(0.0, 30.0), st.floats(0.0, 5.0))  # fmt: skip
def test_the_sum_of_excesses_never_exceeds_saturation_and_the_largest_excess(moves, saturated, good_will, start):
    balance, total = start, 0.0
    for anything, at_largest_price in moves:  # the adversary is bound only where the price is at its largest
        excess = at_largest_price if balance >= saturated else anything
        balance = settle(balance, excess, good_will)
        total += excess
        assert total <= balance - start + 1e-9
        assert total <= saturated + LARGEST_EXCESS - start + 1e-9


@given(st.floats(0.01, 1.0), st.floats(1.5, 100.0), st.floats(0.0, 200.0))
def test_the_price_is_at_its_largest_from_saturation_on(gain, ratio, more):
    balance = saturation(gain, ratio) + more
    assert price_at(balance * (1 + 1e-12) + 1e-9, 2.0, gain, ratio) == near(2.0 * ratio)


def noted(*lengths_s):
    lengths = np.zeros(LENGTHS)
    for length_s in lengths_s:
        note_length(lengths, length_s)
    return lengths


@cases_of("sigma", "0.3 ; 0.6 ; 1.0")
def test_the_worth_of_a_second_is_the_mean_inverse_length_of_the_pages_that_are_longer(sigma):
    lengths_s = np.random.default_rng(3).lognormal(0.0, sigma, 4000)
    lengths = np.histogram(lengths_s, 0.001 * 2.0 ** np.arange(LENGTHS + 1))[0].astype(float)
    for age_s in np.quantile(lengths_s, (0.1, 0.5, 0.9)):
        expected = (1 / lengths_s[lengths_s >= age_s]).mean() / (1 / lengths_s).mean()
        assert worth_of_delay(lengths, float(age_s)) == near(expected, rel=0.3)


def test_lengths_are_forgotten_and_the_shortest_and_longest_have_bins():
    lengths = noted(1e-9, 1e9, 3.0)
    assert (lengths[0], lengths[-1]) == near((0.98**2, 0.98))
    assert lengths.sum() == near(1 + 0.98 + 0.98**2)
    assert noted(*[1.0] * 2000).sum() == near(50.0)


def test_before_a_deadline_the_price_grows_by_equal_factors_in_equal_times():
    prices = [price_before(at, 100, 500, 0.02, 50.0) for at in (0, 100, 200, 300, 400, 500, 501, 10**15)]
    assert prices[:2] == [0.02, 0.02]
    assert prices[-3:] == [50.0] * 3
    factors = [after / before for before, after in pairwise(prices[1:6])]
    assert factors == near([2500 ** (1 / 4)] * 4)
    assert price_before(90, 100, 95, 0.02, 50.0) == price_before(90, 100, 100, 0.02, 50.0) == 50.0


def test_extremes():
    assert (settle(-20.0, -1.0, 20.0), settle(0.0, -1.0, 0.0)) == (-20.0, 0.0)
    assert (price_at(1e6, 3.0, 0.1, 20.0), price_at(0.0, 3.0, 0.1, 20.0)) == (60.0, 3.0)
