"""Prices of delay from running totals: what was allowed is kept whatever comes.

What it models: whoever plans pays a price for delay, and is allowed so much delay on average.  After every round (a
page, say) the *excess* is what it was delayed less what is allowed, counted in allowances, so that no delay at all is
-1.  The *balance* is the sum of the excesses and of what it starts with, but never less than a good will of so many
rounds.  The price is exponential in the balance, up to a largest one: a saturated integrator, as in conformal PID
control (Angelopoulos, Candes and Tibshirani 2023, section 2), of which the statement below is the deterministic kind
of guarantee.

**Statement.**  Let the balance start at a, let the price be at its largest wherever the balance is at least `b` >= a,
let the excess of a round at the largest price be at most 0, and that of any round at most `m`.  Then after n rounds
the sum of the excesses is at most b + m - a, for every n: the mean delay is at most 1 + (b + m - a) / n allowances.
*Proof.*  Raising the balance to the good will only makes it larger, so the sum of the excesses is at most the balance
less a.  The balance is at most b + m: it grows only in rounds that begin below b, and there by at most m.

**What a second is worth.**  Where what is allowed is a ratio, a second of delay weighs as one over the length of its
page.  That is known at the end only; what is known before is how long pages were in which something came at an age
(`find_worth`).  The statement holds whatever the worth is, since its hypothesis is about the
delay of rounds at the largest price; where that price, times the worth, no longer buys delays within the allowance,
the hypothesis fails.

What it leaves out: what a round is, and how delays follow from prices.
"""

from __future__ import annotations

import math

from lpsm.arrays import Floats
from lpsm.native import compiled

LENGTHS, SHORTEST_S = 24, 0.002
"""Lengths of pages, and ages, are told apart by factors of two: so many classes, the first up to so many seconds."""


@compiled
def settle(balance: float, excess: float, good_will: float) -> float:
    """Return the balance after a round, in allowances, never below minus the good will.

    `excess` is the delay of the round less what is allowed, in allowances: at least -1.

    >>> settle(3.0, 2.0, 20.0), settle(-19.5, -1.0, 20.0)
    (5.0, -20.0)
    """
    return max(balance + excess, -good_will)


@compiled
def price_at(balance: float, start: float, gain: float, largest_ratio: float) -> float:
    """Return the price at a balance: `start` exp(`gain` balance), at most `largest_ratio` times `start`."""
    return start * min(math.exp(gain * balance), largest_ratio)


@compiled
def price_before(now_ns: int, since_ns: int, deadline_ns: int, least: float, largest: float) -> float:
    """Return the price of delay of what has a deadline: from `least` at first to `largest` at the deadline.

    It grows by the same factor in equal times, and stays at its largest from the deadline on.
    """
    if now_ns >= deadline_ns:
        return largest
    part = max(0, now_ns - since_ns) / (deadline_ns - since_ns) if since_ns < deadline_ns else 1.0
    price: float = least * (largest / least) ** part
    return price


@compiled
def length_class(length_s: float) -> int:
    """Return the class of a length, or age, in seconds: below `SHORTEST_S`, then doubling.

    >>> [length_class(0.0), length_class(0.002), length_class(0.5)]
    [0, 1, 8]
    """
    which, edge_s = 0, SHORTEST_S
    while which < LENGTHS - 1 and length_s >= edge_s:
        which, edge_s = which + 1, 2.0 * edge_s
    return which


@compiled
def note_length(pages: Floats, inverses: Floats, came: int, length_s: float) -> None:
    """Count a page of a length without delay in each class of its age in which something came, the bits of `came`.

    `pages` are how many there were, and `inverses` the sums of one over their lengths, shape (LENGTHS + 1,), all pages
    in the last place; those before count 2 % less each time.
    """
    for which in range(LENGTHS + 1):
        counted = 1.0 if which == LENGTHS or came >> which & 1 else 0.0
        pages[which] = 0.98 * pages[which] + counted
        inverses[which] = 0.98 * inverses[which] + counted / length_s


@compiled
def find_worth(pages: Floats, inverses: Floats, worth: Floats) -> None:
    """Find what a second's delay is worth of what comes at an age of a page, over that of all, by class of the age.

    It is the mean of one over the length of the pages in which something came then, divided by that of all pages
    (`note_length`).  A tenth of a page is added to the former, which is like those of the next class: as far as these
    ended then, it is as much shorter as its age is.  What few pages say counts less.

    >>> import numpy as np
    >>> pages, inverses, worth = np.zeros(LENGTHS + 1), np.zeros(LENGTHS + 1), np.ones(LENGTHS)
    >>> for came, length_s in ((6, 0.1), (6, 0.1), (13, 20.0)):
    ...     note_length(pages, inverses, 1 << came | 1 << length_class(length_s), length_s)
    >>> find_worth(pages, inverses, worth)
    >>> [round(float(worth[length_class(age_s)]), 3) for age_s in (0.05, 0.1, 10.0, 20.0)]
    [1.829, 1.242, 0.057, 0.054]
    """
    if pages[LENGTHS] == 0.0:
        return
    sure, mean = pages[LENGTHS] / (pages[LENGTHS] + 2.0), inverses[LENGTHS] / pages[LENGTHS]
    middle_s = 0.75 * SHORTEST_S * 2.0 ** (LENGTHS - 1)
    likely = 1.0 / middle_s
    for which in range(LENGTHS - 1, -1, -1):
        value = (inverses[which] + 0.1 * likely) / (pages[which] + 0.1)
        worth[which] = (value / mean) ** sure
        likely = value * (1.0 + min(1.0, value * middle_s))
        middle_s /= 2.0
