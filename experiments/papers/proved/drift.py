"""What is proved of learners that follow a moving target, beyond their bounds: the objective, and the best b and c.

What it models: the statements of the paper over the update rounds k = 1..m of a run, whose instances are the rows of
`X` (m, d), labels `y` (m,), comparators `U` (m, d).  V_m, the drift, sums norm(u_k - u_{k-1})^2 over update rounds
only, so it depends on the run.  b and c are the learner's parameters, 0 < b < c; c = inf is the second-order
Perceptron.
What it leaves out: running the learner; the fast recursion (the matrices here are the paper's).
Source: Moroshko and Crammer 2014 (D), sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm import checks
from lpsm.bounds.drift import drift_mistakes, selective_drift_mistakes
from lpsm.checks import checked

__all__ = [
    "DriftPath",
    "DriftTuning",
    "drift_best_a",
    "drift_matrices",
    "drift_objective",
    "drift_objective_minimum",
    "drift_tuning",
    "quadratic_solution",
    "quadratic_sum_cap",
    "square_loss_cap",
    "total_drift",
    "tuned_drift_mistakes",
    "tuned_selective_drift_mistakes",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DriftPath:
    """The paper's matrices along the update rounds.

    `D` (m + 1, d, d) with D_0 first, `e` (m + 1, d), `f` (m + 1,), and `quadratic` (m,), x_k'D_k^-1 x_k.
    """

    D: Array
    e: Array
    f: Array
    quadratic: Array


@checked
def drift_objective(U: ArrayLike, X: ArrayLike, y: ArrayLike, *, b: float, c: float) -> float:
    """Q_t of D section 3: b norm(u_1)^2 + c sum norm(u_{s+1} - u_s)^2 + sum (y_s - u_s.x_s)^2."""
    path, instances, labels = _rounds(U, X, y)
    if not len(path):
        return 0.0
    moved = total_drift(path)
    penalty = 0.0 if moved == 0.0 else c * moved
    residuals = labels - np.sum(path * instances, axis=1)
    return float(b * path[0] @ path[0] + penalty + residuals @ residuals)


@checked
def drift_matrices(X: ArrayLike, y: ArrayLike, *, b: float, c: float) -> DriftPath:
    """D Lemma 1: D_k, e_k and f_k of P_k(u) = u'D_k u - 2 u'e_k + f_k, the minimum of Q_k given u_k = u.

    The recursion is eqs. (2), (3), started as in Fig. 1: D_0 = bc/(c-b) I, e_0 = 0, f_0 = 0.

    Raises
    ------
    ValueError
        Not 0 < b < c, or the shapes disagree.
    """
    _check_regulariser(b, c)
    instances = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y, dtype=np.float64)
    m, d = instances.shape
    eye, rate = np.eye(d), 0.0 if isinf(c) else 1.0 / c
    D = np.empty((m + 1, d, d))
    e, f, quadratic = np.zeros((m + 1, d)), np.zeros(m + 1), np.empty(m)
    D[0] = eye / (1.0 / b - rate)
    for k in range(1, m + 1):
        x, label, before = instances[k - 1], labels[k - 1], D[k - 1]
        shrink = eye + rate * before
        e[k] = np.linalg.solve(shrink, e[k - 1]) + label * x
        f[k] = f[k - 1] - rate * float(e[k - 1] @ np.linalg.solve(shrink, e[k - 1])) + label * label
        D[k] = before @ np.linalg.inv(shrink) + np.outer(x, x)  # (D^-1 + I/c)^-1 = D (I + D/c)^-1
        D[k] = (D[k] + D[k].T) / 2.0
        quadratic[k - 1] = x @ np.linalg.solve(D[k], x)
    return DriftPath(D=D, e=e, f=f, quadratic=quadratic)


@checked
def drift_objective_minimum(X: ArrayLike, y: ArrayLike, *, b: float, c: float) -> float:
    """D (4): min over u_1..u_t of Q_t, which is f_t - e_t'D_t^-1 e_t."""
    path = drift_matrices(X, y, b=b, c=c)
    return float(path.f[-1] - path.e[-1] @ np.linalg.solve(path.D[-1], path.e[-1]))


@checked
def total_drift(U: ArrayLike) -> float:
    """V_m = sum_{k=2}^m norm(u_k - u_{k-1})^2 of the comparators (m, d) of the update rounds."""
    steps = np.diff(np.asarray(U, dtype=np.float64), axis=0)
    return float(np.sum(steps * steps))


@checked
def square_loss_cap(U: ArrayLike, X: ArrayLike, y: ArrayLike, *, b: float, c: float) -> float:
    """D (8): the sum over update rounds of (p - y)^2 is at most Q_m(u_1..u_m) + sum_k x_k'D_k^-1 x_k."""
    return drift_objective(U, X, y, b=b, c=c) + float(drift_matrices(X, y, b=b, c=c).quadratic.sum())


@checked
def drift_best_a(*, energy: float, quadratic_sum: float, gamma: float) -> float:
    """The a that minimises Theorem 4, gamma sqrt(quadratic_sum/energy); the minimum is Theorem 2's form."""
    checks.positive(gamma=gamma, energy=energy)
    checks.non_negative(quadratic_sum=quadratic_sum)
    return gamma * sqrt(quadratic_sum / energy)


@checked
def quadratic_sum_cap(log_det: float, *, n_updates: int, n_features: int, b: float, c: float, radius: float) -> float:
    """D (10): sum_k x_k'D_k^-1 x_k <= ln det(D_m/b) + tr(D_0)/c + (m d/c) max{...}, norm(x) <= X = `radius`.

    The maximum is of (3 X^2 + sqrt(X^4 + 4 X^2 c))/2 and b + X^2, and tr(D_0)/c = d b/(c - b).
    `log_det` is ln det(D_m/b); at c = inf only it remains.
    """
    _check_regulariser(b, c)
    checks.non_negative(n_updates=n_updates, radius=radius)
    checks.at_least(1, n_features=n_features)
    if isinf(c):
        return log_det
    return log_det + n_features * b / (c - b) + n_updates * n_features / c * _growth(radius, b, c)


@checked
def quadratic_solution(A: float, B: float, C: float, D: float, gamma: float) -> float:
    """D Lemma 7: the largest m with m <= D/gamma + (1/gamma) sqrt(A (B + m C)).

    It is D/gamma + AC/(2 gamma^2) + (1/gamma) sqrt(D A C/gamma + (AC)^2/(4 gamma^2) + A B).
    """
    checks.positive(gamma=gamma)
    checks.non_negative(A=A, B=B, C=C, D=D)
    half = A * C / (2.0 * gamma)
    return (D + half + sqrt(2.0 * D * half + half * half + A * B)) / gamma


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftTuning:
    """The parameters of D Corollaries 8 and 9 and whether their condition on the drift holds.

    `drift_allowed` is T sqrt(2) d X/mu^(3/2): the corollaries speak only of V up to it.
    """

    b: float
    c: float
    drift_allowed: float
    applies: bool


@checked
def drift_tuning(*, n_rounds: int, n_features: int, radius: float, drift: float, epsilon: float) -> DriftTuning:
    """Choose c = (sqrt(2) T d X/V)^(2/3) and b = epsilon c; they apply if V <= T sqrt(2) d X/mu^(3/2).

    mu = max{9 X^2/8, (b + X^2)^2/(8 X^2)}; the condition is that c >= mu.

    Raises
    ------
    ValueError
        A parameter is out of range; epsilon must lie in (0, 1), all else be positive.
    """
    checks.positive(n_rounds=n_rounds, n_features=n_features, radius=radius, drift=drift)
    checks.probability(epsilon=epsilon)
    scale = sqrt(2.0) * n_rounds * n_features * radius
    c = (scale / drift) ** (2.0 / 3.0)
    b = epsilon * c
    mu = max(9.0 / 8.0 * radius**2, (b + radius**2) ** 2 / (8.0 * radius**2))
    allowed = scale / mu**1.5
    return DriftTuning(b=b, c=c, drift_allowed=allowed, applies=drift <= allowed)


@checked
def tuned_drift_mistakes(
    *,
    hinge: float,
    quadratic: float,
    comparator_norm: float,
    log_det: float,
    gamma: float,
    n_rounds: int,
    n_features: int,
    radius: float,
    drift: float,
    epsilon: float,
) -> float:
    """D Corollary 8: mistakes of lasec at the b and c of `drift_tuning`; `drift` may be any V >= V_m.

    Parameters
    ----------
    hinge
        L over all rounds, margin gamma.
    quadratic, comparator_norm, log_det
        sum_k (u_k.x_k)^2 over update rounds, norm(u_1), ln det(D_m/b).

    Raises
    ------
    ValueError
        The drift is above what the corollary allows, or a parameter is out of range.

    Notes
    -----
    Deviation: the proof's "max{...} = 2 X sqrt(2c)" is "<="; the bound is unchanged.
    """
    tuning = _tuned(n_rounds, n_features, radius, drift, epsilon)
    energy = tuning.b * comparator_norm**2 + tuning.c * drift + quadratic
    fixed = log_det + epsilon / (1.0 - epsilon) * n_features
    per_update = (4.0 * n_features * radius) ** (2.0 / 3.0) * (drift / n_rounds) ** (1.0 / 3.0)
    return quadratic_solution(energy, fixed, per_update, hinge, gamma)


@checked
def tuned_selective_drift_mistakes(
    *,
    hinge: float,
    quadratic: float,
    comparator_norm: float,
    log_det: float,
    gamma: float,
    a: float | None,
    n_rounds: int,
    n_features: int,
    radius: float,
    drift: float,
    epsilon: float,
) -> float:
    """D Corollary 9: expected mistakes of lasec-ss(a) at the b and c of `drift_tuning`.

    Arguments are those of `tuned_drift_mistakes`, as expectations over update rounds; a = None gives
    the form optimised over a, which is that of Theorem 2.

    Raises
    ------
    ValueError
        The drift is above what the corollary allows, or a parameter is out of range.
    """
    tuning = _tuned(n_rounds, n_features, radius, drift, epsilon)
    energy = tuning.b * comparator_norm**2 + tuning.c * drift + quadratic
    grown = (4.0 * n_features * radius) ** (2.0 / 3.0) * n_rounds ** (2.0 / 3.0) * drift ** (1.0 / 3.0)
    quadratic_sum = log_det + epsilon / (1.0 - epsilon) * n_features + grown
    if a is None:
        return drift_mistakes(hinge=hinge, energy=energy, quadratic_sum=quadratic_sum, gamma=gamma)
    return selective_drift_mistakes(hinge=hinge, energy=energy, quadratic_sum=quadratic_sum, gamma=gamma, a=a)


def _tuned(n_rounds: int, n_features: int, radius: float, drift: float, epsilon: float) -> DriftTuning:
    tuning = drift_tuning(n_rounds=n_rounds, n_features=n_features, radius=radius, drift=drift, epsilon=epsilon)
    if not tuning.applies:
        raise ValueError(f"drift must be at most {tuning.drift_allowed:g} (T sqrt(2) d X/mu^(3/2)), got {drift}")
    return tuning


def _growth(radius: float, b: float, c: float) -> float:
    square = radius * radius
    return max((3.0 * square + sqrt(square * square + 4.0 * square * c)) / 2.0, b + square)


def _check_regulariser(b: float, c: float) -> None:
    checks.positive(b=b)
    if not c > b:
        raise ValueError(f"c must be greater than b = {b}, got {c}")


def _rounds(U: ArrayLike, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array, Array]:
    path, instances = np.asarray(U, dtype=np.float64), np.asarray(X, dtype=np.float64)
    if path.shape != instances.shape:
        raise ValueError(f"U must have the shape of X, {instances.shape}, got {path.shape}")
    return path, instances, np.asarray(y, dtype=np.float64)
