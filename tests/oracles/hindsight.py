"""Comparators by enumeration and by high-precision recursion: slow, short, and sharing no code with `lpsm`."""

from __future__ import annotations

from itertools import pairwise, product

import mpmath
import numpy as np

from tests.oracles.experts import share_matrix


def sequences(rounds, n_experts):
    return product(range(n_experts), repeat=rounds)


def sequence_loss(losses, sequence):
    return sum(losses[t][i] for t, i in enumerate(sequence))


def switches(sequence):
    return sum(a != b for a, b in pairwise(sequence))


def best_with_switches(losses, k, *, at_most):
    """Least loss over the sequences with (at most) k - 1 switches."""
    losses = np.asarray(losses)
    fits = (lambda s: switches(s) <= k - 1) if at_most else (lambda s: switches(s) == k - 1)
    return min((sequence_loss(losses, s) for s in sequences(*losses.shape) if fits(s)), default=float("inf"))


def sequence_probability(sequence, prior, matrix):
    probability = mpmath.mpf(float(prior[sequence[0]]))
    for a, b in pairwise(sequence):
        probability *= mpmath.mpf(float(matrix[a][b]))
    return probability


def markov_loss(losses, matrix, prior=None):
    """-ln of the sum over all sequences of probability times likelihood."""
    losses = np.asarray(losses)
    n = losses.shape[1]
    prior = [1 / n] * n if prior is None else prior
    total = mpmath.mpf(0)
    for s in sequences(*losses.shape):
        total += sequence_probability(s, prior, matrix) * mpmath.exp(-mpmath.mpf(float(sequence_loss(losses, s))))
    return float(-mpmath.log(total)) if total else float("inf")


def switch_distribution(losses, alpha, prior=None):
    """Posterior of the number of switches by enumeration, (T,)."""
    losses = np.asarray(losses)
    rounds, n = losses.shape
    prior = [1 / n] * n if prior is None else prior
    matrix = share_matrix(n, alpha)
    mass = [mpmath.mpf(0)] * rounds
    for s in sequences(rounds, n):
        weight = sequence_probability(s, prior, matrix) * mpmath.exp(-mpmath.mpf(float(sequence_loss(losses, s))))
        mass[switches(s)] += weight
    return [m / sum(mass) for m in mass]


def share_loss(losses, alpha, prior=None):
    """Fixed-share's loss by the forward recursion, 50 digits or the caller's precision; alpha may be an mpf."""
    with mpmath.workdps(max(50, mpmath.mp.dps)):
        losses = np.asarray(losses)
        rounds, n = losses.shape
        alpha = mpmath.mpf(alpha)
        weights = [mpmath.mpf(1) / n for _ in range(n)] if prior is None else [mpmath.mpf(float(p)) for p in prior]
        for t in range(rounds):
            weights = [w * mpmath.exp(-mpmath.mpf(float(x))) for w, x in zip(weights, losses[t], strict=True)]
            if t < rounds - 1 and n > 1:
                total = mpmath.fsum(weights)
                weights = [(1 - alpha) * w + alpha * (total - w) / (n - 1) for w in weights]
        return -mpmath.log(mpmath.fsum(weights))


def transition_counts(losses, matrix, prior=None):
    """Expected moves j -> i given the losses, by enumeration, (n, n)."""
    losses = np.asarray(losses)
    rounds, n = losses.shape
    prior = [1 / n] * n if prior is None else prior
    counts = np.zeros((n, n), dtype=object) + mpmath.mpf(0)
    total = mpmath.mpf(0)
    for s in sequences(rounds, n):
        weight = sequence_probability(s, prior, matrix) * mpmath.exp(-mpmath.mpf(float(sequence_loss(losses, s))))
        total += weight
        for a, b in pairwise(s):
            counts[a, b] += weight
    return np.array([[float(c / total) for c in row] for row in counts])
