"""The check of a matrix of losses, and its form for the compiled recursions.  Losses are nats, one row a round."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lpsm.arrays import Floats
from lpsm.checks import array


def checked_losses(losses: ArrayLike) -> Floats:
    """`losses` as a contiguous (T, n) matrix, T, n >= 1, without NaN or negative infinity; +inf is legal."""
    matrix = array("losses", losses)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"losses must have shape (T, n) with T, n >= 1, got {matrix.shape}")
    if np.isnan(matrix).any() or np.isneginf(matrix).any():
        raise ValueError("losses must be numbers above -inf, got NaN or -inf")
    return matrix


class Likelihoods:
    """Losses as likelihoods relative to each round's least loss, for a mixture that starts at `prior`.

    `shifted` and `likelihoods` (T, n) have row minimum 0 and row maximum 1, `offset` is the sum of what
    was taken off; experts without prior weight count as infinitely bad in the first round.  `finite` is
    False where a round then holds only infinities, and nothing is taken off.
    """

    def __init__(self, losses: Floats, prior: Floats) -> None:
        if not prior.all():
            losses = losses.copy()
            losses[0, prior == 0.0] = np.inf
        least = losses.min(axis=1)
        self.finite = bool(np.isfinite(least).all())
        self.prior = prior
        self.offset = float(least.sum())
        self.shifted = losses - least[:, None] if self.finite else losses
        self.likelihoods = np.exp(-self.shifted)

    @property
    def log_prior(self) -> Floats:
        """Logarithm of the prior, (n,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.prior))

    def rounding(self, loss: float) -> float:
        """How far a total loss computed to be `loss` can be off."""
        return 2e-15 * max(1.0, abs(self.offset), abs(loss))
