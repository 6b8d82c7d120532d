"""Mistake bounds of the second-order learners on arbitrary sequences of examples.

What it models: the right-hand sides of the theorems on the second-order Perceptron (sop) and
its two randomised selective forms (sop-ss, sop-label-efficient).  Notation: the update rounds are
U; `hinge` is the sum of D_gamma(u) = [gamma - y u.x]_+; `quadratic` is the sum over U of (u.x)^2;
`log_det` is ln det(I + (sum over U of x x')/a) = sum_i ln(1 + lambda_i/a).  A mistake bound
at or above the number of rounds is vacuous; nothing is clipped.
What it leaves out: running the learners; expectations, which the caller takes over runs.

Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), Theorem 2 and Remark 1; Cesa-Bianchi 2007 (R),
sections 3.1 and 4.
"""

from __future__ import annotations

from math import log1p, sqrt

import numpy as np
from numpy.typing import ArrayLike

from lpsm import checks
from lpsm.checks import checked

__all__ = [
    "label_efficient_mistakes",
    "log_determinant",
    "log_determinant_cap",
    "quadratic_form_cap",
    "second_order_limit",
    "second_order_mistakes",
    "selective_second_order_best_b",
    "selective_second_order_mistakes",
    "selective_second_order_tuned_mistakes",
    "separable_second_order_mistakes",
    "separable_second_order_step",
    "trace_cap",
]


@checked
def log_determinant(X: ArrayLike, a: float = 1.0) -> float:
    """Log-determinant of I + X'X/a, that is sum_i ln(1 + lambda_i/a) for instances X (m, d); m may be 0.

    >>> round(log_determinant([[1.0, 0.0], [1.0, 0.0]]), 6)  # ln 3
    1.098612
    """
    checks.positive(a=a)
    instances = np.asarray(X, dtype=np.float64)
    m, d = instances.shape
    gram = instances @ instances.T if m < d else instances.T @ instances
    return float(np.linalg.slogdet(np.eye(min(m, d)) + gram / a)[1])


@checked
def quadratic_form_cap(r: float) -> float:
    """W Theorem 2, proof: x'A_k^-1 x <= ln(det A_k/det A_{k-1}) = ln(1 + r), r = x'A_{k-1}^-1 x.

    Deviation: printed with a factor 2, which the printed next line (the sum without it) does not
    follow from.
    """
    checks.non_negative(r=r)
    return log1p(r)


@checked
def log_determinant_cap(n_features: int, total: float) -> float:
    """R section 3.3: sum_i ln(1 + lambda_i) <= d ln(1 + n/d) when the lambda_i sum to at most n = `total`."""
    checks.at_least(1, n_features=n_features)
    checks.non_negative(total=total)
    return n_features * log1p(total / n_features)


@checked
def selective_second_order_mistakes(
    *, hinge: float, quadratic: float, comparator_norm: float, log_det: float, gamma: float, b: float
) -> float:
    """W Theorem 2: expected mistakes of sop-ss(b), instances normalised and a = 1.

    Parameters
    ----------
    hinge, quadratic, log_det
        Expectations of the module's sums over the update rounds.
    comparator_norm, gamma, b
        norm(u), margin of the hinge loss, the rule's parameter; gamma and b positive.

    Returns
    -------
    float
        hinge/gamma + b/(2 gamma^2) u'E[A]u + E[log_det]/(2b), u'Au = norm(u)^2 + quadratic.  With
        one run's sums and times b, it bounds that run's sum over update rounds of
        b + abs(m) + m^2 (1 + x'A^-1 x)/2: eq. (7).
    """
    checks.positive(gamma=gamma, b=b)
    energy = _energy(1.0, comparator_norm, quadratic, hinge, log_det)
    return hinge / gamma + b / (2.0 * gamma * gamma) * energy + log_det / (2.0 * b)


@checked
def selective_second_order_best_b(*, quadratic: float, comparator_norm: float, log_det: float, gamma: float) -> float:
    """W Remark 1: the b that minimises Theorem 2, gamma sqrt(log_det/(u'E[A]u))."""
    checks.positive(gamma=gamma, comparator_norm=comparator_norm)
    return gamma * sqrt(log_det / _energy(1.0, comparator_norm, quadratic, 0.0, log_det))


@checked
def selective_second_order_tuned_mistakes(
    *, hinge: float, quadratic: float, comparator_norm: float, log_det: float, gamma: float
) -> float:
    """W Remark 1, eq. (9): hinge/gamma + (1/gamma) sqrt(u'E[A]u E[log_det])."""
    checks.positive(gamma=gamma)
    return hinge / gamma + sqrt(_energy(1.0, comparator_norm, quadratic, hinge, log_det) * log_det) / gamma


@checked
def second_order_mistakes(
    *, hinge: float, quadratic: float, comparator_norm: float, log_det: float, a: float = 1.0
) -> float:
    """R Theorem 1: mistakes of sop(a), L_n(u) + sqrt((a norm(u)^2 + u'A_n u) sum_i ln(1 + lambda_i/a)).

    Parameters
    ----------
    hinge
        L_n(u), the sum of [1 - y u.x]_+ over all rounds (over the mistakes is sharper and holds too).
    quadratic, log_det
        u'A_n u, and sum_i ln(1 + lambda_i/a), over the mistaken instances as they were given.
    comparator_norm, a
        norm(u); the regulariser, positive.
    """
    checks.positive(a=a)
    return hinge + sqrt(_energy(a, comparator_norm, quadratic, hinge, log_det) * log_det)


@checked
def second_order_limit(*, comparator_norm: float, trace: float) -> float:
    """R section 3.1: the limit of (a norm(u)^2 + u'A_n u) sum_i ln(1 + lambda_i/a) for a -> inf.

    It is norm(u)^2 tr(A_n).  Deviation: printed tr(A_n A_n'), the sum of squared eigenvalues.
    """
    checks.non_negative(comparator_norm=comparator_norm, trace=trace)
    return comparator_norm**2 * trace


@checked
def trace_cap(mistakes: int, radius: float) -> float:
    """R (4): tr(A_n) = sum over mistakes of norm(x)^2 <= m max norm(x)^2.  Deviation: printed tr(A_n A_n')."""
    checks.non_negative(mistakes=mistakes, radius=radius)
    return mistakes * radius**2


@checked
def separable_second_order_step(mistakes: float, *, n_features: int, gamma: float, lambda_0: float) -> float:
    """R (5): m <= (1/gamma) sqrt((1 + lambda_0 m) d ln(1 + m/d)); returns the right-hand side at m = `mistakes`.

    For sop with a = 1 on unit instances separated by a unit u with margin gamma; lambda_0 m is the sum
    over mistakes of (u.x)^2, so that gamma^2 <= lambda_0 <= 1.
    """
    _check_separable(n_features, gamma, lambda_0)
    checks.non_negative(mistakes=mistakes)
    return sqrt((1.0 + lambda_0 * mistakes) * log_determinant_cap(n_features, mistakes)) / gamma


@checked
def separable_second_order_mistakes(*, n_features: int, gamma: float, lambda_0: float) -> float:
    """R (5) solved: the largest m that satisfies it, hence a bound that knows lambda_0 but not m."""
    _check_separable(n_features, gamma, lambda_0)
    from scipy import optimize  # slow to import, and needed here alone

    def excess(m: float) -> float:
        return separable_second_order_step(m, n_features=n_features, gamma=gamma, lambda_0=lambda_0) - m

    high = 2.0
    while excess(high) > 0.0:  # m^2 outgrows m ln m
        high *= 2.0
    return float(optimize.brentq(excess, 1e-6, high))  # the excess is positive near 0, where it is sqrt(m)/gamma - m


@checked
def label_efficient_mistakes(
    *, hinge: float, quadratic: float, comparator_norm: float, log_det: float, C: float, a: float = 1.0
) -> float:
    """R Theorem 3: expected mistakes of sop-label-efficient(C), whatever the norms of the instances.

    Parameters
    ----------
    hinge
        L_n(u) over all rounds (its expectation over the stored rounds is sharper and holds too).
    quadratic, log_det
        Expectations of the sums over the stored examples.
    comparator_norm, C, a
        norm(u); the rule's parameter and the regulariser, positive.

    Returns
    -------
    float
        hinge + (C/2)(a norm(u)^2 + quadratic) + log_det/(2C).
    """
    checks.positive(C=C, a=a)
    return hinge + C / 2.0 * _energy(a, comparator_norm, quadratic, hinge, log_det) + log_det / (2.0 * C)


def _energy(a: float, comparator_norm: float, quadratic: float, hinge: float, log_det: float) -> float:
    """u'(aI + A)u, after checking what every bound here shares."""
    checks.non_negative(hinge=hinge, quadratic=quadratic, comparator_norm=comparator_norm, log_det=log_det)
    return a * comparator_norm**2 + quadratic


def _check_separable(n_features: int, gamma: float, lambda_0: float) -> None:
    checks.at_least(1, n_features=n_features)
    if not 0.0 < gamma <= 1.0:
        raise ValueError(f"gamma must lie in (0, 1], got {gamma}")
    if not gamma * gamma * (1.0 - 1e-9) <= lambda_0 <= 1.0 + 1e-9:
        raise ValueError(f"lambda_0 must lie in [gamma^2, 1] = [{gamma * gamma:g}, 1], got {lambda_0}")
