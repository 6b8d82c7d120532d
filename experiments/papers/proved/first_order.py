"""What is proved of the Perceptrons beyond their bounds: the best b, and how slowly the Perceptron can turn.

What it models: the worst-case bound at the b that is best in hindsight, and the lemma behind the lower bound on the
Perceptron's errors.  What it leaves out: the bounds themselves (`lpsm.bounds.perceptrons`).
Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), remark 1; Monteleoni 2006 (T), section 3.4.
"""

from __future__ import annotations

from math import isfinite, pi, sin, sqrt

from lpsm import checks
from lpsm.checks import checked

__all__ = [
    "perceptron_lemma_sine",
    "perceptron_updates_needed",
    "selective_perceptron_best_b",
    "selective_perceptron_tuned_mistakes",
]


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
    if not (0.0 < angle <= pi / 2 and isfinite(angle)):
        raise ValueError(f"angle must lie in (0, pi/2], got {angle}")
    checks.non_negative(initial_norm=initial_norm)
    sine = sin(angle)
    return 0.0 if sine >= 1.0 / 3.0 else max(0.0, 1.0 / (25.0 * sine * sine) - initial_norm**2)
