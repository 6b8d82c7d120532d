"""Regret and label bounds under linear label noise and the low-noise condition.

What it models: independent unit instances, E[y | x] = Delta = u.x with norm(u) = 1, and P(abs(Delta) < eps) <= c
eps^alpha for every eps > 0; eps just above 1 shows that c >= 1.  `alpha` >= 0 is the exponent (0 says nothing),
`eigenvalue` the smallest eigenvalue of E[x x'], in (0, 1/d].  Regret is expected mistakes beyond the Bayes
classifier's; it is never more than sum_t E abs(Delta_t), so at or above that a bound is vacuous.  S has one stored
instance a row, (s, d), where the paper has one a column; x is (d,).  Every function raises ValueError where a parameter
is out of its range.
What it leaves out: running rls or the adaptive sampler.

Source: Cavallanti, Cesa-Bianchi, Gentile 2010 (A), sections 4 to 6.
"""

from __future__ import annotations

from math import exp, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm import checks
from lpsm.checks import checked

__all__ = [
    "adaptive_labels", "adaptive_patience", "adaptive_rate_in_labels", "adaptive_regret", "best_label_margin",
    "best_regret_margin", "disagreement_cap", "eigenvalue_bias_cap", "eigenvalue_failure", "eigenvalue_variance_cap",
    "margin_bias", "margin_bias_cap", "margin_coefficients", "margin_variance_cap", "regret_from_margin",
    "regret_from_square_loss", "square_loss_regret_cap", "supervised_rate_in_labels", "supervised_regret",
    "supervised_regret_of_spectrum",
]  # fmt: skip


@checked
def supervised_regret(*, n_rounds: int, alpha: float, c: float, log_det: float) -> float:
    """A Theorem 1, inside the expectation: (4c(1 + ln det(I + SS')))^((1+alpha)/(2+alpha)) n^(1/(2+alpha)).

    The regret of rls-all after n rounds is at most the expectation of this over the instances.
    """
    _check_noise(alpha, c)
    checks.at_least(1, n_rounds=n_rounds)
    checks.non_negative(log_det=log_det)
    power = (1.0 + alpha) / (2.0 + alpha)
    return float((4.0 * c * (1.0 + log_det)) ** power * n_rounds ** (1.0 - power))


@checked
def supervised_regret_of_spectrum(*, n_rounds: int, alpha: float, c: float, eigenvalues: ArrayLike) -> float:
    """A Theorem 1, second form: ln det(I + SS') replaced by sum_i ln(1 + n lambda_i), lambda_i those of E[x x']."""
    spectrum = np.asarray(eigenvalues, dtype=np.float64)
    if np.any(spectrum < 0.0) or not np.isclose(spectrum.sum(), 1.0):
        raise ValueError(f"eigenvalues must be non-negative and sum to 1 (unit instances), got {spectrum}")
    log_det = float(np.sum(np.log1p(n_rounds * spectrum)))
    return supervised_regret(n_rounds=n_rounds, alpha=alpha, c=c, log_det=log_det)


@checked
def supervised_rate_in_labels(alpha: float) -> float:
    """A Remark 5: exponent of the average regret in the number N of labels, all of them bought: -(1+alpha)/(2+alpha).

    It is that of the bound of Theorem 1, without logarithms.
    """
    _check_noise(alpha, 1.0)
    return -(1.0 + alpha) / (2.0 + alpha)


@checked
def adaptive_rate_in_labels(alpha: float) -> float:
    """A Remark 5: the same of the adaptive sampler (Theorem 2), -(1+alpha)(2+alpha)/(2(3+alpha)).

    It is below that of all labels, and the rate faster, for alpha > sqrt(3) - 1.

    >>> adaptive_rate_in_labels(1.0), supervised_rate_in_labels(1.0)
    (-0.75, -0.6666666666666666)
    """
    _check_noise(alpha, 1.0)
    return -(1.0 + alpha) * (2.0 + alpha) / (2.0 * (3.0 + alpha))


@checked
def disagreement_cap(regret: float, *, alpha: float, c: float) -> float:
    """A section 4, the equivalent form of Assumption 1: P(f* f < 0) <= c' R(f)^(alpha/(1+alpha)).

    Markov's inequality gives P(f* f < 0) <= c eps^alpha + R(f)/eps; the best eps gives
    c' = c^(1/(1+alpha)) (1+alpha) alpha^(-alpha/(1+alpha)), which goes to 1 for alpha -> infinity.
    Deviation: A writes c for both constants; c itself is too small (by sqrt 2 for abs(f*) uniform).
    """
    _check_noise(alpha, c)
    checks.non_negative(regret=regret)
    power = alpha / (1.0 + alpha)
    return float(c ** (1.0 - power) * (1.0 + alpha) * alpha**-power * regret**power)


@checked
def square_loss_regret_cap(*, comparator_norm: float, log_det: float) -> float:
    """A section 6.1: sum (y - p_t)^2 - sum (y - u.x)^2 <= norm(u)^2 + ln det(I + SS') for rls with a = 1.

    Pointwise, for labels in [-1, 1] and every u; A uses it at norm(u) = 1.
    """
    checks.non_negative(comparator_norm=comparator_norm, log_det=log_det)
    return comparator_norm**2 + log_det


@checked
def regret_from_square_loss(square_regret: float, *, alpha: float, c: float) -> float:
    """A Lemma 1: R(f) <= (4c R_phi(f))^((1+alpha)/(2+alpha)); under linear noise R_phi(f) = E (f - Delta)^2."""
    _check_noise(alpha, c)
    checks.non_negative(square_regret=square_regret)
    return float((4.0 * c * square_regret) ** ((1.0 + alpha) / (2.0 + alpha)))


@checked
def regret_from_margin(margin: float, disagreement: float, *, alpha: float, c: float) -> float:
    """A Lemma 2: one-step regret <= c eps^(1+alpha) + P(estimate x Delta <= 0, abs(Delta) >= eps), eps = `margin`."""
    _check_noise(alpha, c)
    checks.positive(margin=margin)
    checks.between(0.0, 1.0, disagreement=disagreement)
    return float(c * margin ** (1.0 + alpha)) + disagreement


@checked
def eigenvalue_failure(n_instances: int, *, n_features: int, eigenvalue: float) -> float:
    """A Lemma 3: P(smallest eigenvalue of SS' < s lambda/2) <= exp(-lambda^2 s/8) for s >= 16 d/lambda^2."""
    _check_eigenvalue(eigenvalue, n_features)
    checks.at_least(16.0 * n_features / eigenvalue**2, n_instances=n_instances)
    return exp(-(eigenvalue**2) * n_instances / 8.0)


@checked
def adaptive_patience(t: int, *, n_features: int, eigenvalue: float) -> float:
    """rho_t of A Theorem 2: (16/lambda^2) max{d, ln t}, with which the adaptive sampler is run."""
    _check_eigenvalue(eigenvalue, n_features)
    checks.at_least(1, t=t)
    return 16.0 / eigenvalue**2 * max(float(n_features), log(t))


@checked
def adaptive_regret(
    *, n_rounds: int, n_features: int, eigenvalue: float, alpha: float, c: float, margin: float | None = None
) -> float:
    """A Theorem 2 with its constants, eq. (13): the adaptive sampler's expected regret after n >= 2 rounds.

    c n eps^(1+alpha) + rho_n + 512 ln n/(lambda eps^2) + 1 + 8 ln(n+1); eps = `margin` > 0 is free, and `None` takes
    `best_regret_margin`.
    """
    _check_noise(alpha, c)
    _check_eigenvalue(eigenvalue, n_features)
    if margin is None:
        margin = best_regret_margin(n_rounds=n_rounds, eigenvalue=eigenvalue, alpha=alpha, c=c)
    rest = _beyond_margin(n_rounds, n_features, eigenvalue, margin, 8.0)
    return c * n_rounds * float(margin ** (1.0 + alpha)) + rest


@checked
def adaptive_labels(
    *, n_rounds: int, n_features: int, eigenvalue: float, alpha: float, c: float, margin: float | None = None
) -> float:
    """A section 6.2: the adaptive sampler's expected labels, c n eps^alpha + (I) + (II) with (8) and (10).

    That is c n eps^alpha + rho_n + 512 ln n/(lambda eps^2) + 1 + 3 ln(n+1); `margin` as in `adaptive_regret`, `None`
    taking `best_label_margin` (for alpha = 0: 1, the first term being c n).
    """
    _check_noise(alpha, c)
    _check_eigenvalue(eigenvalue, n_features)
    if margin is None:
        margin = 1.0
        if alpha > 0.0:
            margin = best_label_margin(n_rounds=n_rounds, eigenvalue=eigenvalue, alpha=alpha, c=c)
    rest = _beyond_margin(n_rounds, n_features, eigenvalue, margin, 3.0)
    return c * n_rounds * float(margin**alpha) + rest


def _beyond_margin(n_rounds: int, n_features: int, eigenvalue: float, margin: float, late: float) -> float:
    """Return what the bounds add to the rounds whose margin is small."""
    checks.at_least(2, n_rounds=n_rounds)
    checks.positive(margin=margin)
    patience = adaptive_patience(n_rounds, n_features=n_features, eigenvalue=eigenvalue)
    return patience + 512.0 * log(n_rounds) / (eigenvalue * margin**2) + 1.0 + late * log(n_rounds + 1)


@checked
def best_regret_margin(*, n_rounds: int, eigenvalue: float, alpha: float, c: float) -> float:
    """The eps that minimises (13): (1024 ln n/(lambda n c (1 + alpha)))^(1/(3 + alpha)).

    Deviation: A section 6.2 prints the minimiser of the label bound, `best_label_margin`, here.
    """
    _check_noise(alpha, c)
    checks.positive(eigenvalue=eigenvalue)
    checks.at_least(2, n_rounds=n_rounds)
    return float((1024.0 * log(n_rounds) / (eigenvalue * n_rounds * c * (1.0 + alpha))) ** (1.0 / (3.0 + alpha)))


@checked
def best_label_margin(*, n_rounds: int, eigenvalue: float, alpha: float, c: float) -> float:
    """The eps that minimises the label bound: (1024 ln n/(lambda n c alpha))^(1/(2 + alpha)), alpha > 0."""
    _check_noise(alpha, c)
    checks.positive(eigenvalue=eigenvalue, alpha=alpha)
    checks.at_least(2, n_rounds=n_rounds)
    return float((1024.0 * log(n_rounds) / (eigenvalue * n_rounds * c * alpha)) ** (1.0 / (2.0 + alpha)))


@checked
def margin_coefficients(S: ArrayLike, x: ArrayLike) -> NDArray[np.float64]:
    """Z = S'(I + SS' + xx')^-1 x (s,): the estimated margin on x is the labels' combination Z.y."""
    return np.asarray(np.asarray(S, dtype=np.float64) @ _whitened(S, x)[1])


@checked
def margin_bias(u: ArrayLike, S: ArrayLike, x: ArrayLike) -> float:
    """B = u'(I + xx')(I + SS' + xx')^-1 x: the estimate's mean is Delta - B (A section 6.2)."""
    target, (instance, whitened) = np.asarray(u, dtype=np.float64), _whitened(S, x)
    return float(target @ whitened + (target @ instance) * (instance @ whitened))


@checked
def margin_bias_cap(S: ArrayLike, x: ArrayLike) -> float:
    """A (2): abs(B) <= sqrt(x'(I + SS' + xx')^-2 x) + x'(I + SS' + xx')^-1 x, norm(u) = norm(x) = 1."""
    return float(np.linalg.norm(_whitened(S, x)[1])) + margin_variance_cap(S, x)


@checked
def margin_variance_cap(S: ArrayLike, x: ArrayLike) -> float:
    """A (3): norm(Z)^2, which bounds the estimate's conditional variance, <= x'(I + SS' + xx')^-1 x."""
    instance, whitened = _whitened(S, x)
    return float(instance @ whitened)


@checked
def eigenvalue_bias_cap(smallest: float) -> float:
    """A (4): abs(B) <= 2/(1 + `smallest`), the smallest eigenvalue of SS'."""
    checks.non_negative(smallest=smallest)
    return 2.0 / (1.0 + smallest)


@checked
def eigenvalue_variance_cap(smallest: float) -> float:
    """A (5): norm(Z)^2 <= 1/(1 + `smallest`), the smallest eigenvalue of SS'."""
    checks.non_negative(smallest=smallest)
    return 1.0 / (1.0 + smallest)


def _whitened(S: ArrayLike, x: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return x as an array, and (I + SS' + xx')^-1 x."""
    stored, instance = np.asarray(S, dtype=np.float64), np.asarray(x, dtype=np.float64)
    matrix = np.eye(len(instance)) + stored.T @ stored + np.outer(instance, instance)
    return instance, np.asarray(np.linalg.solve(matrix, instance))


def _check_noise(alpha: float, c: float) -> None:
    checks.non_negative(alpha=alpha)
    checks.at_least(1.0, c=c)


def _check_eigenvalue(eigenvalue: float, n_features: int) -> None:
    checks.at_least(1, n_features=n_features)
    if not 0.0 < eigenvalue <= (1.0 + 1e-12) / n_features:
        raise ValueError(f"eigenvalue must lie in (0, 1/d] = (0, {1.0 / n_features:g}], got {eigenvalue}")
