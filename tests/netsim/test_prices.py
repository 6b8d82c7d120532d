"""Prices from running totals: what is allowed is kept against every adversary."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from netsim.sleep_planning.prices import LENGTHS, find_worth, note_length, price_at, price_before, settle
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


CLASSES_S = 0.001 * 2.0 ** np.arange(1, LENGTHS)  # where they end, but for the last


def noted(pages, fades=True):
    """Pages and inverses by age, of (ages at which something came, length) each, all of them as recent if so wanted."""
    kept = np.zeros((2, LENGTHS + 1))
    for number, (ages_s, length_s) in enumerate(pages):
        came = sum(1 << int(which) for which in {*np.searchsorted(CLASSES_S, ages_s, "right")})
        note_length(*kept, came, length_s)
        kept *= 1.0 if fades else 0.98 ** -(number < len(pages) - 1)
    return kept


@cases_of("sigma", "0.3 ; 0.6 ; 1.0")
def test_a_second_is_worth_the_mean_inverse_length_of_the_pages_in_which_something_came_then(sigma):
    lengths_s = np.random.default_rng(3).lognormal(0.0, sigma, 4000)
    alone, all_along, whole = np.ones(LENGTHS), np.ones(LENGTHS), (1 / lengths_s).mean()
    find_worth(*noted([([length_s], length_s) for length_s in lengths_s], fades=False), alone)
    coming = [(np.geomspace(1e-3, length_s, 60), length_s) for length_s in lengths_s]
    find_worth(*noted(coming, fades=False), all_along)
    for age_s in np.quantile(lengths_s, (0.1, 0.5, 0.9)):
        which = int(np.searchsorted(CLASSES_S, age_s, "right"))
        edges = CLASSES_S[which - 1 : which + 1]
        same = lengths_s[np.searchsorted(CLASSES_S, lengths_s, "right") == which]
        longer = lengths_s[lengths_s >= edges[0]]
        assert alone[which] == near((1 / same).mean() / whole, rel=0.01)
        assert 1 / edges[1] < alone[which] * whole * 1.01 < 1.02 / edges[0]  # such a page is as long as its age is
        assert all_along[which] == near((1 / longer).mean() / whole, rel=0.01)
    assert all_along[0] == near(1.0, rel=1e-3)


def test_an_age_at_which_nothing_came_is_like_the_next_as_far_as_pages_ended_then():
    middles_s, ended, went_on = 0.0015 * 2.0 ** np.arange(LENGTHS), np.ones(LENGTHS), np.ones(LENGTHS)
    find_worth(*noted([([3.0], 3.0)] * 300), ended)
    assert ended == near((3.0 / middles_s) ** (50 / 52), rel=0.04)
    find_worth(*noted([([3.0, 600.0], 600.0)] * 300), went_on)
    first, last = np.searchsorted(CLASSES_S, [3.0, 600.0], "right")
    assert went_on[:first] == near(went_on[first], rel=0.02)
    assert 1.0 < went_on[first] < 1.6  # a tenth of a page ends soon
    assert went_on[last + 1 :] == near((600.0 / middles_s[last + 1 :]) ** (50 / 52), rel=0.01)
    untouched = np.full(LENGTHS, 7.0)
    find_worth(*np.zeros((2, LENGTHS + 1)), untouched)
    assert untouched.tolist() == [7.0] * LENGTHS


def test_lengths_are_forgotten_and_the_shortest_and_longest_have_classes():
    pages, inverses = noted([([1e-9], 1e-9), ([1e9], 1e9), ([3.0], 3.0)])
    assert (pages[0], pages[LENGTHS - 1], pages[-1]) == near((0.98**2, 0.98, 1 + 0.98 + 0.98**2))
    assert (inverses[0], inverses[-1]) == near((1e9 * 0.98**2, 1e9 * 0.98**2 + 0.98e-9 + 1 / 3))
    assert noted([([1.0], 1.0)] * 2000)[0, -1] == near(50.0)


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
