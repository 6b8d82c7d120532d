"""Comparators by enumeration and by high-precision recursion: slow, short, and sharing no code with `lpsm`."""

from itertools import pairwise, product

import mpmath
import numpy as np

from tests.oracles.experts import share_matrix


def switches(sequence):
    return sum(a != b for a, b in pairwise(sequence))


def sequences(losses, matrix=None, prior=None):
    """Every sequence of experts, its loss, and under a law its probability times its likelihood."""
    rounds, n = np.shape(losses)
    for sequence in product(range(n), repeat=rounds):
        loss, weight = sum(losses[t][i] for t, i in enumerate(sequence)), mpmath.mpf(1)
        if matrix is not None:
            weight = mpmath.mpf(1 / n if prior is None else float(prior[sequence[0]])) * mpmath.exp(-mpmath.mpf(loss))
            for a, b in pairwise(sequence):
                weight *= mpmath.mpf(float(matrix[a][b]))
        yield sequence, float(loss), weight


def best_with_switches(losses, k, *, at_most):
    """Least loss over the sequences with (at most) k - 1 switches."""
    fits = range(k) if at_most else [k - 1]
    return min((loss for one, loss, _ in sequences(losses) if switches(one) in fits), default=float("inf"))


def markov_loss(losses, matrix, prior=None):
    """-ln of the sum over all sequences of probability times likelihood."""
    total = mpmath.fsum(weight for _, _, weight in sequences(losses, matrix, prior))
    return float(-mpmath.log(total)) if total else float("inf")


def switch_distribution(losses, alpha, prior=None):
    """Posterior of the number of switches by enumeration, (T,)."""
    mass = [mpmath.mpf(0)] * len(losses)
    for sequence, _, weight in sequences(losses, share_matrix(np.shape(losses)[1], alpha), prior):
        mass[switches(sequence)] += weight
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
    counts, total = np.zeros(np.shape(matrix), dtype=object) + mpmath.mpf(0), mpmath.mpf(0)
    for sequence, _, weight in sequences(losses, matrix, prior):
        total += weight
        for a, b in pairwise(sequence):
            counts[a, b] += weight
    return (counts / total).astype(float)
