"""Prices of delay from running totals: what was allowed is kept whatever comes.

What it models: whoever plans pays a price for delay, and is allowed so much delay on average.  After every round (a
page, say) the *excess* is what it was delayed less what is allowed, counted in allowances, so that no delay at all is
-1.  The *balance* is the sum of the excesses, but never less than a good will of so many rounds.  The price is
exponential in the balance, up to a largest one: a saturated integrator, as in conformal PID control (Angelopoulos,
Candes and Tibshirani 2023, section 2), of which the statement below is the deterministic kind of guarantee.

**Statement.**  Let the balance begin at 0, let the price be at its largest wherever the balance is at least `b`, let
the excess of a round at the largest price be at most 0, and that of any round at most `m`.  Then after n rounds the
sum of the excesses is at most b + m, for every n: the mean delay is at most 1 + (b + m) / n allowances.  *Proof.*
Raising the balance to the good will only makes it larger, so the sum of the excesses is at most the balance.  The
balance is at most b + m: it grows only in rounds that begin below b, and there by at most m.

What it leaves out: what a round is, and how delays follow from prices.
"""

from __future__ import annotations

import math

from lpsm._compile import compiled

__all__ = ["price_at", "price_before", "settle"]


@compiled
def settle(balance: float, excess: float, good_will: float) -> float:
    """Return the balance after a round, in allowances, never below minus the good will.

    `excess` is the delay of the round less what is allowed, in allowances: at least -1.

    >>> settle(3.0, 2.0, 20.0), settle(-19.5, -1.0, 20.0)
    (5.0, -20.0)
    """
    return max(balance + excess, -good_will)


@compiled
def price_at(balance: float, drift: float, start: float, gain: float, largest_ratio: float) -> float:
    """Return the price at a balance: `start` exp(`gain` balance + `drift`), at most `largest_ratio` times `start`."""
    return start * min(math.exp(gain * balance + drift), largest_ratio)


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
