"""The check of a loss matrix, and its form for the compiled recursions.

Losses are nats, one row a round; +inf is a legal loss (a likelihood of zero).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Likelihoods", "checked_losses"]

Floats = NDArray[np.float64]


def checked_losses(losses: ArrayLike) -> Floats:
    """`losses` as a contiguous (T, n) matrix without NaN or negative infinity; +inf is legal.

    Raises
    ------
    ValueError
        If the shape is not (T, n) with T, n >= 1, or an entry is NaN or -inf.
    """
    matrix = np.ascontiguousarray(losses, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"losses must have shape (T, n) with T, n >= 1, got {matrix.shape}")
    if np.isnan(matrix).any() or np.isneginf(matrix).any():
        raise ValueError("losses must be numbers above -inf, got NaN or -inf")
    return matrix


class Likelihoods:
    """Losses as likelihoods relative to each round's least loss.

    `shifted` and `likelihoods` (T, n) have row minimum 0 and row maximum 1, `offset` is the sum of
    what was taken off; `finite` is False where a round holds only infinities, and then nothing is.
    """

    def __init__(self, losses: Floats, prior: Floats) -> None:
        least = losses.min(axis=1)
        self.finite = bool(np.isfinite(least).all())
        self.prior = prior
        self.offset = float(least.sum())
        self.shifted = losses - least[:, None] if self.finite else losses
        self.likelihoods = np.exp(-self.shifted)
