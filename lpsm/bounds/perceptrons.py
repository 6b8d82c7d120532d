"""Mistake bounds of the first-order learners, the Perceptron and the selective sampling Perceptron, on any sequence.

What it models: the right-hand sides of the theorems, in terms of what a comparator `u` would have lost.  A bound at or
above the number of rounds is vacuous, not wrong; nothing is clipped.  A bound in expectation takes expected quantities
(means over runs, say) and speaks of the mean.  What it leaves out: running the learners.
Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), section 3; Cesa-Bianchi 2007 (R), section 3.1.
"""

from __future__ import annotations

from math import sqrt

from lpsm.checks import checked


@checked
def perceptron_mistakes(*, hinge: float, comparator_norm: float, radius: float) -> float:
    """R section 3.1: the Perceptron's mistakes, L + k/2 + sqrt(k) sqrt(L + k/4) with k = (norm(u) X)^2.

    It is m <= L + norm(u) X sqrt(m) solved for m: L = `hinge` is the sum of [1 - y u.x]_+ over all rounds (or over the
    mistakes, which is sharper), X = `radius` the largest norm of a mistaken instance.
    """
    k = (comparator_norm * radius) ** 2
    return hinge + k / 2.0 + sqrt(k) * sqrt(hinge + k / 4.0)


@checked
def selective_perceptron_mistakes(*, hinge: float, comparator_norm: float, gamma: float, b: float) -> float:
    """W Theorem 1: expected mistakes of perceptron-ss(b), (2b+1)/(2b) hinge/gamma + (2b+1)^2/(8b) norm(u)^2/gamma^2.

    `hinge` is the expectation of the sum of D_gamma(u) over update rounds (queried mistakes); instances are normalised.
    With the hinge loss of one run and times b, it bounds the sum over that run's update rounds of b + abs(margin): (2).
    """
    s = 2.0 * b + 1.0
    return s / (2.0 * b) * hinge / gamma + s * s / (8.0 * b) * (comparator_norm / gamma) ** 2
