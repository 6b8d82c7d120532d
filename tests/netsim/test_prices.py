"""Prices from running totals: what is allowed is kept against every adversary."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.sleep_planning.prices import price_at, price_before, settle
from tests.netsim.clients import saturation

LARGEST_EXCESS = 19.0


@settings(deadline=None)  # the first call compiles
@given(
    st.lists(st.tuples(st.floats(-1.0, LARGEST_EXCESS), st.floats(-1.0, 0.0)), max_size=300),
    st.floats(5.0, 40.0), st.floats(0.0, 30.0),
)  # fmt: skip
def test_the_sum_of_excesses_never_exceeds_saturation_and_the_largest_excess(moves, saturated, good_will):
    balance = total = 0.0
    for anything, at_largest_price in moves:  # the adversary is bound only where the price is at its largest
        excess = at_largest_price if balance >= saturated else anything
        balance = settle(balance, excess, good_will)
        total += excess
        assert total <= balance + 1e-9
        assert total <= saturated + LARGEST_EXCESS + 1e-9


def test_the_worst_adversary_reaches_the_bound_but_for_a_page():
    balance = total = 0.0
    for _ in range(2000):
        excess = 0.0 if balance >= 30.0 else (LARGEST_EXCESS if balance > 29.0 else 0.5)
        balance, total = settle(balance, excess, 20.0), total + excess
    assert 48.0 < total <= 49.0


@settings(deadline=None)  # the first call compiles
@given(st.floats(0.01, 1.0), st.floats(0.0, 2.0), st.floats(1.5, 100.0), st.floats(0.0, 200.0))
def test_the_price_is_at_its_largest_from_saturation_on_whatever_the_drift(gain, drift, ratio, more):
    balance = saturation(gain, -drift, ratio) + more
    assert price_at(balance * (1 + 1e-12) + 1e-9, -drift, 2.0, gain, ratio) == pytest.approx(2.0 * ratio)


@settings(deadline=None)  # the first call compiles
@given(st.floats(-20.0, 60.0), st.floats(0.0, 10.0))
def test_the_price_grows_with_the_balance(balance, more):
    assert price_at(balance + more, 0.0, 3.0, 0.1, 20.0) >= price_at(balance, 0.0, 3.0, 0.1, 20.0)


def test_before_a_deadline_the_price_grows_by_equal_factors_in_equal_times():
    prices = [price_before(at, 100, 500, 0.02, 50.0) for at in (0, 100, 200, 300, 400, 500, 501, 10**15)]
    assert prices[:2] == [0.02, 0.02]
    assert prices[-3:] == [50.0] * 3
    factors = [after / before for before, after in pairwise(prices[1:6])]
    assert factors == pytest.approx([2500 ** (1 / 4)] * 4)
    assert price_before(90, 100, 95, 0.02, 50.0) == price_before(90, 100, 100, 0.02, 50.0) == 50.0


def test_extremes():
    assert settle(-20.0, -1.0, 20.0) == -20.0
    assert settle(0.0, -1.0, 0.0) == 0.0
    assert price_at(1e6, 0.0, 3.0, 0.1, 20.0) == 60.0
    assert price_at(0.0, 0.0, 3.0, 0.1, 20.0) == 3.0
    assert math.isinf(saturation(1e-320, 0.0, 20.0))
