"""What is proved of the modified Perceptron and of dkm on the unit sphere.

What it models: labels given without error by a half-space u.x >= 0, independent instances from the uniform
distribution on the sphere of R^d, d = `n_features` >= 2, or from a distribution lambda-similar to it (`similarity` =
lambda in (0, 1], 1 being uniform).  v is the unit hypothesis, `cosine` = u.v in [0, 1], theta the angle between them;
the error region holds the instances on which they disagree, of uniform measure theta/pi.  Probabilities bounded from
below say nothing at or below 0.  Every function raises ValueError where a parameter is out of its range.
What it leaves out: running the learners; the version-space statements (`version_space`).

Source: Monteleoni 2006 (T), sections 3.3 to 3.6 and 4.5.2, appendix B.
"""

from __future__ import annotations

from math import ceil, log, log2, pi, sqrt
from typing import NamedTuple

from lpsm import checks
from lpsm.checks import checked

__all__ = [
    "GOOD_UPDATE", "ActiveBudget", "Progress", "active_budget", "band_error_floor", "band_mass", "good_query_floor",
    "good_update", "modified_perceptron_error", "modified_perceptron_mistakes", "modified_update",
    "queried_error_floor", "threshold_confidence", "threshold_floor",
]  # fmt: skip

GOOD_UPDATE = 2.0 / (128.0 * pi) ** 2
"""The constant c of T Lemma 4, 1.24e-5, which the thesis leaves open: Lemma 16's at lambda = 1."""


class Progress(NamedTuple):
    """With at least `probability`, an update multiplies 1 - u.v by at most `factor`."""

    factor: float
    probability: float


class ActiveBudget(NamedTuple):
    """What dkm needs to be within the error asked for, with the probability asked for.

    `patience` is R, `labels` L; `updates` that reach the error, and `errors`, bought or not, made before that.
    """

    patience: int
    labels: int
    updates: int
    errors: int


@checked
def band_mass(gamma: float, n_features: int) -> tuple[float, float]:
    """T Lemma 2: gamma/4 <= P(abs(a.x) <= gamma/sqrt(d)) <= gamma for x uniform, gamma in [0, 1].

    Deviation: appendix B integrates (1 - z^2)^((d-2)/2); the exponent of a projection is (d-3)/2.
    """
    checks.between(0.0, 1.0, gamma=gamma)
    checks.at_least(2, n_features=n_features)
    return gamma / 4.0, gamma


@checked
def modified_update(n_features: int) -> Progress:
    """T Lemma 4, first part: an update on a uniform error has factor 1 - 1/(50 d) with probability 1/3."""
    checks.at_least(2, n_features=n_features)
    return Progress(1.0 - 1.0 / (50.0 * n_features), 1.0 / 3.0)


@checked
def good_update(n_features: int, similarity: float = 1.0) -> Progress:
    """T Lemmas 4 (second part) and 16: on an error factor 1 - c lambda^12/d with probability 1 - lambda^4/64.

    c is `GOOD_UPDATE`.
    """
    _check(n_features, similarity)
    return Progress(1.0 - GOOD_UPDATE * similarity**12 / n_features, 1.0 - similarity**4 / 64.0)


@checked
def threshold_floor(cosine: float, n_features: int) -> float:
    """T (3.6): sqrt((1 - (u.v)^2)/(16 d)), which dkm's threshold is not to fall below."""
    checks.between(0.0, 1.0, cosine=cosine)
    checks.at_least(2, n_features=n_features)
    return sqrt((1.0 - cosine * cosine) / (16.0 * n_features))


@checked
def threshold_confidence(labels: int, patience: int, similarity: float = 1.0) -> float:
    """T Lemmas 5 and 14: P(the threshold keeps above `threshold_floor` for L labels) >= 1 - L(1 - lambda^2/4)^R.

    L = `labels`, R = `patience`, s_1 = 1/sqrt(d).  The run of R correct labels starts anew at each halving (fig. 4-3);
    read to the letter, fig. 3-4 halves at every further correct label, and the statement fails.
    """
    checks.at_least(1, labels=labels, patience=patience)
    _check(2, similarity)
    return 1.0 - labels * (1.0 - similarity**2 / 4.0) ** patience


@checked
def band_error_floor(width: float, cosine: float, n_features: int, similarity: float = 1.0) -> float:
    """T Lemmas 6 and 13: P(x is an error given abs(x.v) < `width`) >= lambda^2/4.

    The width must lie in (0, sqrt((1 - (u.v)^2)/(4d))].
    """
    _check(n_features, similarity)
    widest = 2.0 * threshold_floor(cosine, n_features)
    if not 0.0 < width <= widest:
        raise ValueError(f"width must lie in (0, sqrt((1 - (u.v)^2)/(4d))] = (0, {widest:g}], got {width}")
    return similarity**2 / 4.0


@checked
def queried_error_floor(threshold: float, cosine: float, n_features: int, similarity: float = 1.0) -> float:
    """T Lemmas 7 and 15: P(abs(x.v) <= `threshold` given that x is an error) >= lambda^4/32.

    The threshold must be at least `threshold_floor`.  Deviation: the proof of Lemma 15 ends with the other conditional,
    an error given the band; the statement is the one checked here.
    """
    floor = threshold_floor(cosine, n_features)
    if not threshold >= floor:
        raise ValueError(f"threshold must be at least sqrt((1 - (u.v)^2)/(16d)) = {floor:g}, got {threshold}")
    _check(n_features, similarity)
    return similarity**4 / 32.0


@checked
def good_query_floor(threshold: float, cosine: float, n_features: int, similarity: float = 1.0) -> float:
    """T Lemma 8 (and section 4.5.2): P(a queried error gives a `good_update`) >= 1/2; raises as Lemma 7 does."""
    queried_error_floor(threshold, cosine, n_features, similarity)
    return 0.5


@checked
def modified_perceptron_mistakes(n_features: int, error: float, delta: float) -> int:
    """T Theorem 4: mistakes after which the modified Perceptron's error is at most `error` w.p. 1 - delta.

    M = 150 d ln(1/(4 error^2 delta)), rounded up, 0 if that is negative.  Deviation: the proof's
    M = 150 d ln(1/(error delta)) leaves sqrt(error)/2 by its own last line.
    """
    checks.at_least(2, n_features=n_features)
    checks.probability(error=error, delta=delta)
    return max(0, ceil(150.0 * n_features * log(1.0 / (4.0 * error * error * delta))))


@checked
def modified_perceptron_error(mistakes: int, n_features: int, delta: float) -> float:
    """T Theorem 4, last line: w.p. 1 - delta the error after M mistakes is below sqrt((1 - 1/(150d))^M/delta)/2."""
    checks.at_least(2, n_features=n_features)
    checks.non_negative(mistakes=mistakes)
    checks.probability(delta=delta)
    return 0.5 * sqrt((1.0 - 1.0 / (150.0 * n_features)) ** mistakes / delta)


@checked
def active_budget(n_features: int, error: float, delta: float, similarity: float = 1.0) -> ActiveBudget:
    """T Theorems 5 and 7 with the constants of their proofs: dkm's error is at most `error` w.p. 1 - delta.

    The error is that under the instances' own distribution, at most 1/2.  With kappa = c lambda^12 and e = lambda error
    (the uniform error that suffices, by (4.1)): U = ceil((2d/kappa) ln(1/(delta e^2))) updates bring 1 - u.v below
    4 e^2, by Markov's inequality with delta/4; K = U + ceil(log2(2/e)) blocks of R labels hold U updates or enough
    halvings; R is the least with R K (1 - lambda^2/4)^R <= delta/4; L = R K; 64 U/lambda^4 errors.
    Deviation: the proof of Theorem 7 sets R = (4/lambda^2) ln(2K/delta), which leaves R K (1 - lambda^2/4)^R above
    delta/4 and so does not give the failure probability claimed.
    """
    _check(n_features, similarity)
    checks.probability(delta=delta)
    if not 0.0 < error <= 0.5:
        raise ValueError(f"error must lie in (0, 0.5], got {error}")
    uniform_error = similarity * error
    rate = 2.0 * n_features / (GOOD_UPDATE * similarity**12)
    updates = ceil(rate * log(1.0 / (delta * uniform_error**2)))
    blocks = updates + ceil(log2(2.0 / uniform_error))
    patience = _patience(blocks, delta, similarity)
    return ActiveBudget(patience, patience * blocks, updates, ceil(64.0 * updates / similarity**4))


def _patience(blocks: int, delta: float, similarity: float) -> int:
    """Least R >= 1, beyond the maximum of R q^R, with R blocks q^R <= delta/4, q = 1 - lambda^2/4."""
    rate = -log(1.0 - similarity**2 / 4.0)

    def enough(patience: int) -> bool:
        return log(patience) + log(blocks) - patience * rate <= log(delta / 4.0)

    low, high = ceil(1.0 / rate), 2 * ceil(1.0 / rate)
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(n_features: int, similarity: float) -> None:
    checks.at_least(2, n_features=n_features)
    if not 0.0 < similarity <= 1.0:
        raise ValueError(f"similarity must lie in (0, 1], got {similarity}")
