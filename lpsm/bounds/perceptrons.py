"""Mistake bounds of the first-order learners: Perceptron and selective sampling Perceptron.

What it models: the right-hand sides of theorems that hold for every sequence of examples,
in terms of what a comparator `u` would have lost.  A mistake bound at or above the number
of rounds is vacuous, not wrong; nothing is clipped here, so that it can be told.  A bound
in expectation takes expected quantities (means over runs, say) and speaks of the mean.
What it leaves out: running the learners.

Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), section 3; Cesa-Bianchi 2007 (R),
section 3.1; Monteleoni 2006 (T), section 3.4.
"""

from __future__ import annotations

from math import isfinite, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm import checks
from lpsm.checks import checked

__all__ = [
    "hinge_losses",
    "perceptron_lemma_sine",
    "perceptron_mistakes",
    "perceptron_updates_needed",
    "selective_perceptron_best_b",
    "selective_perceptron_mistakes",
    "selective_perceptron_tuned_mistakes",
]


@checked
def hinge_losses(u: ArrayLike, X: ArrayLike, y: ArrayLike, gamma: float = 1.0) -> NDArray[np.float64]:
    """D_gamma(u; (x_t, y_t)) = max(0, gamma - y_t u.x_t) of every round, shape (T,).

    Parameters
    ----------
    u
        The comparator (d,), or one comparator a round (T, d).
    X, y
        Instances (T, d) as the learner used them (normalised where it normalises), labels (T,).
    gamma
        The margin, positive.

    >>> hinge_losses([1.0, 0.0], [[1.0, 0.0], [0.5, 0.5]], [1, -1]).tolist()
    [0.0, 1.5]
    """
    checks.positive(gamma=gamma)
    instances = np.asarray(X, dtype=np.float64)
    margins = np.asarray(y, dtype=np.float64) * np.sum(instances * np.asarray(u, dtype=np.float64), axis=1)
    return np.asarray(np.maximum(0.0, gamma - margins))


@checked
def selective_perceptron_mistakes(*, hinge: float, comparator_norm: float, gamma: float, b: float) -> float:
    """W Theorem 1: expected mistakes of perceptron-ss(b), instances normalised.

    Parameters
    ----------
    hinge
        E of the sum over update rounds (queried mistakes) of D_gamma(u).
    comparator_norm
        norm(u) of any comparator.
    gamma, b
        The margin of the hinge loss, any positive number; the rule's parameter, positive.

    Returns
    -------
    float
        (2b+1)/(2b) hinge/gamma + (2b+1)^2/(8b) norm(u)^2/gamma^2.  With the hinge loss of one
        run and times b, it bounds the sum over that run's update rounds of b + abs(margin): eq. (2).

    Raises
    ------
    ValueError
        A parameter is out of range.
    """
    checks.positive(gamma=gamma, b=b)
    checks.non_negative(hinge=hinge, comparator_norm=comparator_norm)
    s = 2.0 * b + 1.0
    return s / (2.0 * b) * hinge / gamma + s * s / (8.0 * b) * (comparator_norm / gamma) ** 2


@checked
def selective_perceptron_best_b(*, hinge: float, comparator_norm: float, gamma: float) -> float:
    """W Remark 1: the b that minimises Theorem 1, (1/2) sqrt(1 + 4 gamma^2/norm(u)^2 hinge/gamma)."""
    checks.positive(gamma=gamma, comparator_norm=comparator_norm)
    checks.non_negative(hinge=hinge)
    return 0.5 * sqrt(1.0 + 4.0 * (gamma / comparator_norm) ** 2 * hinge / gamma)


@checked
def selective_perceptron_tuned_mistakes(*, hinge: float, comparator_norm: float, gamma: float) -> float:
    """W Remark 1, eq. (8): Theorem 1 at its best b, D + N/2 + sqrt(N) sqrt(D + N/4).

    D = hinge/gamma and N = norm(u)^2/gamma^2.  Deviation: the third term is printed with
    norm(u)/(2 gamma) in front; half of it is not the minimum of Theorem 1 (and d orthogonal
    instances of label -1 make d mistakes where the printed form allows 3d/4).
    """
    checks.positive(gamma=gamma)
    checks.non_negative(hinge=hinge, comparator_norm=comparator_norm)
    d, n = hinge / gamma, (comparator_norm / gamma) ** 2
    return d + n / 2.0 + sqrt(n) * sqrt(d + n / 4.0)


@checked
def perceptron_mistakes(*, hinge: float, comparator_norm: float, radius: float) -> float:
    """R section 3.1: the Perceptron's mistakes, from m <= L + norm(u) X sqrt(m) solved for m.

    Parameters
    ----------
    hinge
        L, the sum of [1 - y u.x]_+ over all rounds (or over the mistakes, which is sharper).
    comparator_norm, radius
        norm(u), and X = max norm(x) over the mistaken instances.

    Returns
    -------
    float
        L + k/2 + sqrt(k) sqrt(L + k/4) with k = (norm(u) X)^2.
    """
    checks.non_negative(radius=radius)
    return selective_perceptron_tuned_mistakes(hinge=hinge, comparator_norm=comparator_norm * radius, gamma=1.0)


@checked
def perceptron_lemma_sine(norm: float) -> float:
    """T Lemma 3: where an update does not turn v away from u, sin(theta_t) is at least this.

    Holds for unit instances and v_0.u >= 0: theta_{t+1} <= theta_t implies
    sin(theta_t) >= min(1/3, 1/(5 norm(v_t))).  Deviation: Theorem 3 as printed drops the 1/3 and
    asks for more than is true (even more than 1) when l_t + norm(v_0)^2 is below 9/25.

    Parameters
    ----------
    norm
        norm(v_t) before the update; 0 is allowed and leaves 1/3.
    """
    checks.non_negative(norm=norm)
    return min(1.0 / 3.0, 1.0 / (5.0 * norm)) if norm > 0.0 else 1.0 / 3.0


@checked
def perceptron_updates_needed(angle: float, initial_norm: float = 0.0) -> float:
    """T Theorem 3 in its true form: updates before the Perceptron can turn towards u at `angle` from it.

    By Lemma 3 and norm(v_t)^2 <= t + norm(v_0)^2, an update at theta_t = `angle` with
    sin(angle) < 1/3 that does not increase the angle needs t >= 1/(25 sin(angle)^2) - norm(v_0)^2;
    t counts updates.  Larger angles need none: the result is 0.

    Raises
    ------
    ValueError
        The angle, in radians, is outside (0, pi/2], or the norm is negative.
    """
    if not (0.0 < angle <= np.pi / 2 and isfinite(angle)):
        raise ValueError(f"angle must lie in (0, pi/2], got {angle}")
    checks.non_negative(initial_norm=initial_norm)
    sine = sin(angle)
    return 0.0 if sine >= 1.0 / 3.0 else max(0.0, 1.0 / (25.0 * sine * sine) - initial_norm**2)
