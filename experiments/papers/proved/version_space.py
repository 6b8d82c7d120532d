"""Version space, uncertainty region, error region, target region: who contains whom.

What it models: for a finite concept class, given as the table of labels each hypothesis gives each
point, the sets of the thesis and its Lemmas 9 to 12 about them; for half-spaces, when labelled
examples force another point's label, and the three points that take dkm out of its version space.
What it leaves out: learning.  Sets are boolean masks; a table is (hypotheses, points) of -1/+1.

Lemma 10 as printed (a hypothesis outside the version space may still err only in the uncertainty
region) is true up to sets of measure zero only: the very example it contradicts is an error whose
label is certain, so that point by point the converse of Lemma 9 always holds.  Its proof speaks of
fewer than d examples, whose "seen" region has no area; `label_is_forced` shows both.

Source: Monteleoni 2006 (T), sections 4.2 to 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm import checks
from lpsm.checks import checked

__all__ = [
    "Counterexample", "counterexample", "error_region", "label_is_forced", "target_region", "uncertainty_region",
    "version_space",
]  # fmt: skip

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counterexample:
    """T Theorem 6 in the plane: target u, points `X` (3, 2) with labels `y` (3,), hypotheses `V` (3, 2).

    dkm starts at V[0] = y[0] X[0], errs on X[1] and X[2] (both within 1/sqrt(2) of its boundary),
    and its last hypothesis V[2] errs on X[0] again.  `degrees` are the points' exact angles.
    """

    u: Array
    X: Array
    y: Array
    V: Array
    degrees: tuple[float, float, float]


@checked
def counterexample() -> Counterexample:
    """The three points of T section 4.3.1, from their closed forms.

    >>> example = counterexample()
    >>> bool(example.y[0] * (example.V[2] @ example.X[0]) < 0)
    True
    """
    large, small = sqrt(2.0 + sqrt(3.0)), sqrt(2.0 - sqrt(3.0))  # 2 cos 15, 2 sin 15 degrees
    scale = 2.0 * sqrt(2.0 - large)
    X = np.array(
        [[large / 2.0, small / 2.0], [(large - sqrt(3.0)) / scale, (small - 1.0) / scale], [-large / 2.0, small / 2.0]]
    )
    V = np.array([X[0], [sqrt(3.0) / 2.0, 0.5], [-0.5, sqrt(3.0) / 2.0]])
    return Counterexample(u=np.array([0.0, 1.0]), X=X, y=np.array([1.0, -1.0, 1.0]), V=V, degrees=(15.0, -67.5, 165.0))


@checked
def version_space(table: ArrayLike, points: ArrayLike, labels: ArrayLike) -> Mask:
    """V_t: the hypotheses, (n_hypotheses,), that give every point of `points` (indices) its label."""
    answers = _table(table)
    return np.asarray(np.all(answers[:, np.asarray(points, dtype=np.intp)] == np.asarray(labels), axis=1))


@checked
def uncertainty_region(table: ArrayLike, members: ArrayLike) -> Mask:
    """U_t: the points, (n_points,), on which two members of the version space disagree."""
    answers = _table(table)[np.asarray(members, dtype=np.bool_)]
    if not len(answers):
        raise ValueError("members must hold at least one hypothesis (the realizable setting), got none")
    return np.asarray(np.any(answers != answers[0], axis=0))


@checked
def error_region(table: ArrayLike, hypothesis: int, target: int) -> Mask:
    """The points, (n_points,), on which the hypothesis and the target, both row numbers, disagree."""
    answers = _table(table)
    return np.asarray(answers[hypothesis] != answers[target])


@checked
def target_region(table: ArrayLike, target: int, probabilities: ArrayLike, epsilon: float) -> Mask:
    """H* of T 4.4.1: the hypotheses, (n_hypotheses,), that disagree with the target with probability < epsilon."""
    if not 0.0 < epsilon <= 1.0:
        raise ValueError(f"epsilon must lie in (0, 1], got {epsilon}")
    answers, mass = _table(table), np.asarray(probabilities, dtype=np.float64)
    if mass.shape != (answers.shape[1],) or np.any(mass < 0.0) or not np.isclose(mass.sum(), 1.0):
        raise ValueError(f"probabilities must be one a point, non-negative, and sum to 1, got {mass}")
    return np.asarray((answers != answers[target]) @ mass < epsilon)


@checked
def label_is_forced(X: ArrayLike, y: ArrayLike, x: ArrayLike, tolerance: float = 1e-9) -> int:
    """The label every half-space through the origin that is right on (X, y) gives x; 0 if they differ.

    By Farkas' lemma it is +1 iff x is a non-negative combination of the y_i x_i, and -1 iff -x is.

    Parameters
    ----------
    X, y, x
        Labelled examples (k, d), (k,), linearly separable; a point (d,).
    tolerance
        Largest distance from the cone, relative to norm(x), that counts as inside it.
    """
    from scipy import optimize  # slow to import, and needed here alone

    checks.positive(tolerance=tolerance)
    cone = np.asarray(y, dtype=np.float64)[:, None] * np.asarray(X, dtype=np.float64)
    point = np.asarray(x, dtype=np.float64)
    for label in (1, -1):
        _, distance = optimize.nnls(cone.T, label * point)
        if distance <= tolerance * np.linalg.norm(point):
            return label
    return 0


def _table(table: ArrayLike) -> NDArray[np.int64]:
    answers = np.asarray(table)
    if answers.ndim != 2 or not np.all((answers == 1) | (answers == -1)):
        raise ValueError(f"table must be (hypotheses, points) of labels -1 and +1, got shape {answers.shape}")
    return answers.astype(np.int64)
