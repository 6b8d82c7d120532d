"""Mistake bounds of the second-order Perceptron (sop) and its selective forms (sop-ss, sop-label-efficient).

What it models: the right-hand sides of the theorems, which hold for any sequence of examples and any comparator u.
U are the update rounds; `hinge` is the sum of D_gamma(u) = [gamma - y u.x]_+, `quadratic` that over U of (u.x)^2,
`comparator_norm` is norm(u), `log_det` ln det(I + (sum over U of x x')/a) = sum_i ln(1 + lambda_i/a).  For a randomised
learner they are expectations.  A bound at or above the number of rounds is vacuous; nothing is clipped.
What it leaves out: running the learners; expectations, which the caller takes over runs.
Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), theorem 2; Cesa-Bianchi 2007 (R), sections 3.1 and 4.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from lpsm.checks import checked


@checked
def log_determinant(X: ArrayLike, a: float = 1.0) -> float:
    """Log-determinant of I + X'X/a, that is sum_i ln(1 + lambda_i/a) for instances X (m, d); m may be 0.

    >>> round(log_determinant([[1.0, 0.0], [1.0, 0.0]]), 6)  # ln 3
    1.098612
    """
    instances = np.asarray(X, float)
    m, d = instances.shape
    gram = instances @ instances.T if m < d else instances.T @ instances
    return float(np.linalg.slogdet(np.eye(min(m, d)) + gram / a)[1])


@checked
def second_order_mistakes(
    *, hinge: float, quadratic: float, comparator_norm: float, log_det: float, a: float = 1.0
) -> float:
    """R Theorem 1: mistakes of sop(a), hinge + sqrt((a norm(u)^2 + quadratic) log_det).

    `hinge`, with gamma = 1, is over all rounds (over the mistakes is sharper and holds too); the others are over the
    mistaken instances as they were given.
    """
    return hinge + sqrt((a * comparator_norm**2 + quadratic) * log_det)


@checked
def selective_second_order_mistakes(
    *, hinge: float, quadratic: float, comparator_norm: float, log_det: float, gamma: float, b: float
) -> float:
    """W Theorem 2: expected mistakes of sop-ss(b), instances normalised and a = 1.

    It is hinge/gamma + b/(2 gamma^2) (norm(u)^2 + quadratic) + log_det/(2b).  With one run's sums and times b, it
    bounds that run's sum over update rounds of b + abs(m) + m^2 (1 + x'A^-1 x)/2: (7).
    """
    return hinge / gamma + b / (2.0 * gamma * gamma) * (comparator_norm**2 + quadratic) + log_det / (2.0 * b)


@checked
def label_efficient_mistakes(
    *, hinge: float, quadratic: float, comparator_norm: float, log_det: float, C: float, a: float = 1.0
) -> float:
    """R Theorem 3: expected mistakes of sop-label-efficient(C), whatever the norms of the instances.

    It is hinge + (C/2)(a norm(u)^2 + quadratic) + log_det/(2C), with gamma = 1; `hinge` is over all rounds (over the
    stored ones is sharper and holds too), the others over the stored examples.
    """
    return hinge + C / 2.0 * (a * comparator_norm**2 + quadratic) + log_det / (2.0 * C)
