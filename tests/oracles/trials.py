"""What random trials of the samplers' theorems share: outcomes, their tally, intervals of means, streams, runs."""

from typing import NamedTuple

import numpy as np
from scipy import stats

from lpsm import samplers
from lpsm import synthetic_streams as streams
from tests.oracles import sampler_bounds as oracle


class Outcome(NamedTuple):
    """A claim lhs <= rhs, worth something only if rhs < trivial."""

    lhs: float
    rhs: float
    trivial: float = np.inf


class Tally(NamedTuple):
    held: int
    informative: int
    violated: list


def tally(trial, n_trials, first_seed=0):
    outcomes = [trial(np.random.default_rng([first_seed, seed])) for seed in range(n_trials)]
    held = [(seed, one) for seed, one in enumerate(outcomes) if one is not None]
    violated = [(seed, one) for seed, one in held if one.lhs > one.rhs + 1e-9 * max(1.0, abs(one.rhs))]
    return Tally(len(held), sum(one.rhs < one.trivial for _, one in held), violated)


def interval(differences, level=0.99):
    """(low, mean, high) of a mean: Student's interval."""
    n, mean = len(differences), float(np.mean(differences))
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * np.std(differences, ddof=1) / np.sqrt(n))
    return mean - half, mean, mean + half


class Sides(NamedTuple):
    """Both sides of a claim mean(lhs) <= mean(rhs), one entry a run; worth something if mean(rhs) < trivial."""

    lhs: np.ndarray
    rhs: np.ndarray
    trivial: float


# Streams


def any_stream(rng, unit):
    """Examples from one of five sources: separable, noisy, flipped labels, drifting, coin-flipped labels."""
    n, d = int(rng.integers(20, 150)), int(rng.integers(2, 8))
    kind = rng.integers(5)
    if kind == 0:
        stream = streams.separable(n, d, rng.uniform(0, 0.5), rng)
    elif kind == 1:
        stream = streams.linear_noise(n, d, rng.uniform(0.5, 6), rng)
    elif kind == 2:
        stream = streams.uniform_sphere(n, d, rng)
    elif kind == 3:
        stream = streams.drifting(n, d, rng.uniform(0, 4), rng)
    else:
        stream = streams.similar_to_uniform(n, d, 0.5, rng)
    X, y = stream.X, stream.y
    if kind == 2:
        y = np.where(rng.random(n) < 0.1, -y, y)
    if kind == 4:
        y = rng.choice((-1.0, 1.0), n)
    return (X, y) if unit else (X * rng.uniform(0.2, 3, (n, 1)), y)


def easy_stream(rng, n=None, margin=None):
    n = int(rng.integers(60, 250)) if n is None else n
    return streams.separable(n, int(rng.integers(2, 5)), rng.uniform(0.3, 0.6) if margin is None else margin, rng)


def mixed(rng, unit=True):
    """Half easy streams, on which the bounds say something, half anything."""
    if rng.random() < 0.5:
        stream = easy_stream(rng)
        scale = 1.0 if unit else rng.uniform(0.2, 3, (len(stream.X), 1))
        return stream.X * scale, stream.y
    return any_stream(rng, unit)


def run(key, X, y, rng, **params):
    return samplers.make(key, n_features=X.shape[1], rng=rng, normalize=False, **params).run(X, y)


def comparator(rng, X, y, weights, hinge_factor, energy):
    """The tightest, usually; sometimes a random one, since theorems hold for every comparator."""
    if rng.random() < 0.2:
        return rng.standard_normal(X.shape[1]) * rng.uniform(0, 3)
    return oracle.tight_comparator(X, y, weights, hinge_factor, energy)


def spread(log):
    return np.asarray(log.stored, dtype=float)
