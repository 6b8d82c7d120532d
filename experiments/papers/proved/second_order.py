"""What is proved of the second-order Perceptron beyond its bounds: best parameters, limits, separable examples.

What it models: the steps and special cases of the papers, with the misprints put right.  Notation as in
`lpsm.bounds.second_order`.  What it leaves out: the bounds themselves, which are there.
Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), theorem 2 and remark 1; Cesa-Bianchi 2007 (R), section 3.
"""

from __future__ import annotations

from math import e, log1p, sqrt

from lpsm import checks
from lpsm.bounds.second_order import energy
from lpsm.checks import checked

__all__ = [
    "linear_source_regret",
    "log_determinant_cap",
    "quadratic_form_cap",
    "second_order_limit",
    "selective_second_order_best_b",
    "selective_second_order_tuned_mistakes",
    "separable_second_order_mistakes",
    "separable_second_order_step",
    "trace_cap",
]


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
def selective_second_order_best_b(*, quadratic: float, comparator_norm: float, log_det: float, gamma: float) -> float:
    """W Remark 1: the b that minimises Theorem 2, gamma sqrt(log_det/(u'E[A]u))."""
    checks.positive(gamma=gamma, comparator_norm=comparator_norm)
    return gamma * sqrt(log_det / energy(1.0, comparator_norm, quadratic, 0.0, log_det))


@checked
def selective_second_order_tuned_mistakes(
    *, hinge: float, quadratic: float, comparator_norm: float, log_det: float, gamma: float
) -> float:
    """W Remark 1, eq. (9): hinge/gamma + (1/gamma) sqrt(u'E[A]u E[log_det])."""
    checks.positive(gamma=gamma)
    return hinge / gamma + sqrt(energy(1.0, comparator_norm, quadratic, hinge, log_det) * log_det) / gamma


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


def _check_separable(n_features: int, gamma: float, lambda_0: float) -> None:
    checks.at_least(1, n_features=n_features)
    if not 0.0 < gamma <= 1.0:
        raise ValueError(f"gamma must lie in (0, 1], got {gamma}")
    if not gamma * gamma * (1.0 - 1e-9) <= lambda_0 <= 1.0 + 1e-9:
        raise ValueError(f"lambda_0 must lie in [gamma^2, 1] = [{gamma * gamma:g}, 1], got {lambda_0}")


@checked
def linear_source_regret(*, gamma: float, log_det: float) -> float:
    """R Theorem 2: expected mistakes of rls (a = 1) beyond Bayes, 16(1 + 1/e)/gamma^2 sum_i ln(1 + lambda_i).

    For fixed unit instances and P(y = 1 | x) = (1 + v.x)/2, norm(v) = 1; gamma = min_t abs(v.x_t),
    which must be positive; `log_det` is over all instances.  The regret is at most sum_t abs(v.x_t)
    whatever one does, so at or above that the bound is vacuous.
    """
    if not 0.0 < gamma <= 1.0 + 1e-12:
        raise ValueError(f"gamma must lie in (0, 1], got {gamma}")
    checks.non_negative(log_det=log_det)
    return 16.0 * (1.0 + 1.0 / e) / gamma**2 * log_det
