"""Labelled streams with properties known exactly, for checking what theorems say of the samplers.

What it models: T >= 1 rounds of instances on the unit sphere of R^d, d >= 2; the target u is a unit vector, drawn
uniformly unless given; labels are -1.0 or +1.0.  The property is built in, not estimated: every margin of `separable`
is at least the one asked for, `drifting` moves its target by exactly the squared path length asked for, and so on.
What it leaves out: instances off the sphere, dependence between rounds, label noise that is not linear in the margin.
Sources: Cesa-Bianchi et al. 2004, section 2, and Moroshko and Crammer 2014, section 2 (separable and drifting);
Cavallanti et al. 2010, section 4 (linear noise); Monteleoni 2006, section 3.3 and definition 2 (uniform and similar).
"""

from __future__ import annotations

from math import asin, sqrt

import numpy as np
from numpy.random import Generator
from scipy import special

from lpsm import checks
from lpsm.arrays import Floats
from lpsm.checks import checked, frozen

__all__ = [
    "DriftingStream", "NoisyStream", "Stream", "drifting", "linear_noise", "separable", "similar_to_uniform",
    "uniform_sphere",
]  # fmt: skip
__dir__ = __all__.copy


@frozen
class Stream:
    """Instances `X` (T, d), labels `y` (T,) in {-1.0, +1.0}, and the unit `target` (d,) that gave them."""

    X: Floats
    y: Floats
    target: Floats


@frozen
class NoisyStream(Stream):
    """A stream with linear label noise and what is known of it.

    `exponent` and `constant` are alpha and c of P(|u.x| < eps) <= c eps^alpha, and
    `correlation_eigenvalues` (d,) are those of E[x x'], the target's own direction first.
    """

    exponent: float
    constant: float
    correlation_eigenvalues: Floats


@frozen
class DriftingStream:
    """A stream whose unit target moves: `targets` (T, d), `drift` = sum of |u_t - u_{t-1}|^2."""

    X: Floats
    y: Floats
    targets: Floats
    drift: float


@checked
def uniform_sphere(n_rounds: int, n_features: int, rng: Generator, target: Floats | None = None) -> Stream:
    """Uniform instances, labelled without error by a half-space through the origin.

    >>> stream = uniform_sphere(3, 5, np.random.default_rng(0))
    >>> stream.X.shape, bool(np.all(stream.y == np.where(stream.X @ stream.target >= 0, 1, -1)))
    ((3, 5), True)
    """
    return separable(n_rounds, n_features, 0.0, rng, target)


@checked
def separable(n_rounds: int, n_features: int, margin: float, rng: Generator, target: Floats | None = None) -> Stream:
    """Uniform instances given that |u.x| >= margin, in [0, 1), labelled by the sign of u.x; `target` is normalised."""
    _check_sizes(n_features, margin)
    u = _unit_target(target, n_features, rng)
    projections = _band_projections(n_rounds, n_features, margin, 1.0, rng)
    return Stream(X=_around(u, projections, rng), y=_sign(projections), target=u)


@checked
def linear_noise(
    n_rounds: int, n_features: int, exponent: float, rng: Generator, target: Floats | None = None, margin: float = 0.0
) -> NoisyStream:
    """Labels with E[y | x] = u.x, and |u.x| distributed so that P(|u.x| < eps) = eps^exponent on [0, 1].

    Parameters
    ----------
    exponent
        alpha > 0 of the low-noise condition, which then holds with c = 1, the least c there is.
        `exponent` = 1 and d = 2 is not the uniform circle, whose law is (2/pi) arcsin(eps).
    margin
        In [0, 1): every |u.x| is at least this (a hard margin), the rest of it having that law:
        P(|u.x| < eps) = ((eps - margin)/(1 - margin))^exponent, which is at most eps^exponent.
    """
    _check_sizes(n_features, margin)
    u, rest = _unit_target(target, n_features, rng), 1.0 - margin
    projections = margin + rest * rng.random(n_rounds) ** (1.0 / exponent)  # P(U^(1/alpha) < eps) = eps^alpha
    projections *= _coins(n_rounds, rng)
    X = _around(u, projections, rng)
    y = np.where(rng.random(n_rounds) < (1.0 + projections) / 2.0, 1.0, -1.0)
    first, second = exponent / (exponent + 1.0), exponent / (exponent + 2.0)  # moments of U^(1/alpha)
    along = margin * margin + 2.0 * margin * rest * first + rest * rest * second  # E (u.x)^2
    eigenvalues = np.full(n_features, (1.0 - along) / (n_features - 1))
    eigenvalues[0] = along
    return NoisyStream(X=X, y=y, target=u, exponent=float(exponent), constant=1.0, correlation_eigenvalues=eigenvalues)


@checked
def drifting(
    n_rounds: int, n_features: int, drift: float, rng: Generator, margin: float = 0.0, n_shifts: int | None = None
) -> DriftingStream:
    """A target that turns in a random plane, with total squared path length `drift`, V of the paper.

    Parameters
    ----------
    drift
        V = sum over t of |u_t - u_{t-1}|^2; at most 4 a move, as unit vectors are never further apart than 2.
    margin
        In [0, 1): every y_t u_t.x_t is at least this.
    n_shifts
        Number of equal moves, evenly spaced; `None` moves a little in every round.
    """
    _check_sizes(n_features, margin)
    moves = n_rounds - 1 if n_shifts is None else n_shifts
    if not 0 <= moves < n_rounds:
        raise ValueError(f"n_shifts must lie in [0, n_rounds - 1], got {n_shifts} with n_rounds {n_rounds}")
    if not 0.0 <= drift <= 4.0 * moves:
        raise ValueError(f"drift must lie in [0, 4 n_shifts] = [0, {4.0 * moves}], got {drift}")
    angle = 2.0 * asin(sqrt(drift / (4.0 * moves))) if moves else 0.0
    turned = (np.arange(n_rounds) * (moves + 1)) // n_rounds * angle  # the moves before round t are spread evenly
    plane = np.linalg.qr(rng.standard_normal((n_features, 2)))[0]
    targets = np.cos(turned)[:, None] * plane[:, 0] + np.sin(turned)[:, None] * plane[:, 1]
    projections = _band_projections(n_rounds, n_features, margin, 1.0, rng)
    return DriftingStream(X=_around(targets, projections, rng), y=_sign(projections), targets=targets, drift=drift)


@checked
def similar_to_uniform(
    n_rounds: int,
    n_features: int,
    similarity: float,
    rng: Generator,
    axis: Floats | None = None,
    target: Floats | None = None,
) -> Stream:
    """Instances whose law D is lambda-similar to uniform, and no more than that.

    The density with respect to uniform is 1/lambda in the band |a.x| <= tau about the equator of `axis` a, and lambda
    outside; tau gives the band the uniform measure lambda/(1 + lambda), the only one with which it integrates to 1.
    `similarity` is lambda, in (0, 1]; 1 is the uniform distribution.  `axis` (d,) is drawn uniformly when absent;
    along the target it crowds the instances about the target's own boundary.
    """
    _check_sizes(n_features)
    checks.between(0, 1, True, similarity=similarity)
    u, a = _unit_target(target, n_features, rng), _unit_target(axis, n_features, rng)
    share = similarity / (1.0 + similarity)
    half_width = sqrt(float(special.betaincinv(0.5, (n_features - 1) / 2.0, share)))
    inside = rng.random(n_rounds) < 1.0 / (1.0 + similarity)
    bands = [_band_projections(n_rounds, n_features, *band, rng) for band in ((0.0, half_width), (half_width, 1.0))]
    X = _around(a, np.where(inside, *bands), rng)
    return Stream(X=X, y=_sign(X @ u), target=u)


def _band_projections(n: int, d: int, low: float, high: float, rng: Generator) -> Floats:
    """a.x for x uniform on the sphere given low <= |a.x| <= high: (a.x)^2 is Beta(1/2, (d-1)/2)."""
    shape = (d - 1) / 2.0
    below, upto = special.betainc(0.5, shape, low * low), special.betainc(0.5, shape, high * high)
    quantiles = below + (upto - below) * rng.random(n)
    sizes = np.clip(np.sqrt(special.betaincinv(0.5, shape, quantiles)), low, high)
    return np.asarray(sizes * _coins(n, rng), float)


def _around(axes: Floats, projections: Floats, rng: Generator) -> Floats:
    """Unit vectors (n, d) with the given projections on a unit axis, one (d,) or one each; uniform otherwise."""
    across = rng.standard_normal((len(projections), axes.shape[-1]))
    across -= np.sum(across * axes, axis=1, keepdims=True) * axes
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return projections[:, None] * axes + np.sqrt(1.0 - projections**2)[:, None] * across


def _unit_target(target: Floats | None, n_features: int, rng: Generator) -> Floats:
    given = rng.standard_normal(n_features) if target is None else target
    vector = checks.shaped("target and axis", given, n_features)
    norm = float(np.linalg.norm(vector))
    if not (norm > 0.0 and np.isfinite(norm)):
        raise ValueError(f"target and axis must have a direction, got norm {norm}")
    return vector / norm


def _coins(n: int, rng: Generator) -> Floats:
    return np.where(rng.random(n) < 0.5, 1.0, -1.0)


def _sign(values: Floats) -> Floats:
    return np.where(values >= 0.0, 1.0, -1.0)  # SGN(0) = +1


def _check_sizes(n_features: int, margin: float = 0.0) -> None:
    checks.whole(2, None, n_features=n_features)
    if not 0.0 <= margin < 1.0:
        raise ValueError(f"margin must lie in [0, 1), got {margin}")
