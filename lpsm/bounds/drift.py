"""Mistake bounds of the learners that follow a moving target: lasec and lasec-ss.

What it models: the right-hand sides of the theorems for any sequence and comparators u_k that may move.  `hinge` is the
sum of [gamma - y u.x]_+; `energy` is b norm(u_1)^2 + c V_m + sum_k (u_k.x_k)^2 over the update rounds k = 1..m, V_m the
sum of norm(u_k - u_{k-1})^2 there and u_1 that of the first; `quadratic_sum` is the sum over them of x_k'D_k^-1 x_k.
What it leaves out: running the learner; the best b and c, and the objective behind them.
Source: Moroshko and Crammer 2014 (D), theorems 2 and 4.
"""

from __future__ import annotations

from math import sqrt

from lpsm.checks import checked


@checked
def drift_mistakes(*, hinge: float, energy: float, quadratic_sum: float, gamma: float) -> float:
    """D Theorem 2, (6): mistakes of lasec; `hinge` is over all rounds (over the mistakes is sharper and holds too)."""
    return (hinge + sqrt(energy * quadratic_sum)) / gamma


@checked
def selective_drift_mistakes(*, hinge: float, energy: float, quadratic_sum: float, gamma: float, a: float) -> float:
    """D Theorem 4, (7): expected mistakes of lasec-ss(a), hinge/gamma + a/(2 gamma^2) energy + quadratic_sum/(2a).

    The sums are expectations, all over update rounds (queried mistakes).  With one run's sums and times a, it bounds
    that run's sum over update rounds of a + abs(p): (9).
    """
    return hinge / gamma + a / (2.0 * gamma * gamma) * energy + quadratic_sum / (2.0 * a)
