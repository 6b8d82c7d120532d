"""The regret of Learn-alpha in the limit of many rounds.  Source: Monteleoni 2006 (T), section 2.3."""

from __future__ import annotations

from math import log, pi

from lpsm.checks import at_least, checked

__all__ = ["learn_alpha_asymptotic_regret"]


@checked
def learn_alpha_asymptotic_regret(horizon: int) -> float:
    """T 2.3, with its constant: (1/2) ln T + ln(pi/2) + 1/2, that is (1/2) ln T + 0.95.

    The limit of `learn_alpha_optimised_regret`, not a bound: the smallest grid of worst
    divergence 1/(2T) has (pi/2) sqrt(T) points in the limit, a few more or fewer at any T.
    (Deviation: the thesis prints sqrt(2T), which leaves a factor pi / (2 sqrt 2) = 1.11 out.)
    """
    at_least(1, horizon=horizon)
    return 0.5 * log(horizon) + log(pi / 2) + 0.5
