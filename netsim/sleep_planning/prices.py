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
page.  That is known at the end only; what is known before is that the page is at least as long as its age, and how
long pages were (`worth_of_delay`).  The statement holds whatever the worth is, since its hypothesis is about the
delay of rounds at the largest price; where that price, times the worth, no longer buys delays within the allowance,
the hypothesis fails.

What it leaves out: what a round is, and how delays follow from prices.
"""

from __future__ import annotations

import math

from lpsm.arrays import Floats
from lpsm.native import compiled

LENGTHS = 24
"""Lengths of pages are told apart by factors of two, from a millisecond on."""


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
def note_length(lengths: Floats, length_s: float) -> None:
    """Count a page by its length without delay; those before count 2 % less each time."""
    which, edge_s = 0, 0.002
    while which < LENGTHS - 1 and length_s >= edge_s:
        which, edge_s = which + 1, 2.0 * edge_s
    for i in range(LENGTHS):
        lengths[i] *= 0.98
    lengths[which] += 1.0


@compiled
def worth_of_delay(lengths: Floats, age_s: float) -> float:
    """Return what a second of delay is worth in a page of an age, over what it is worth when a page begins.

    It is the mean of one over the length of the pages seen that were longer, divided by that of all.  A tenth of a page
    that ends now is added to the former, and what few pages say counts less.

    >>> import numpy as np
    >>> lengths = np.zeros(LENGTHS)
    >>> float(worth_of_delay(lengths, 1.0))
    1.0
    >>> for length_s in (0.1, 0.1, 20.0):
    ...     note_length(lengths, length_s)
    >>> [round(float(worth_of_delay(lengths, age_s)), 3) for age_s in (0.0, 0.15, 5.0)]
    [1.0, 0.244, 0.057]
    """
    count = total = later = longer = 0.0
    middle_s = 0.0015
    for i in range(LENGTHS):
        count += lengths[i]
        total += lengths[i] / middle_s
        if middle_s * 4.0 / 3.0 > age_s:
            longer += lengths[i]
            later += lengths[i] / max(middle_s, age_s)
        middle_s *= 2.0
    if count == 0.0:
        return 1.0
    mean = (later + 0.1 / max(age_s, 1e-3)) / (longer + 0.1)
    worth: float = min(1.0, mean * count / total) ** (count / (count + 2.0))
    return worth
