"""The check of a loss matrix, its form for the compiled recursions, and regrets over rounds in which not all are awake.

Losses are nats, one row a round; +inf is a legal loss (a likelihood of zero).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm.checks import array, checked

__all__ = ["Likelihoods", "awake_regrets", "checked_losses"]

Floats = NDArray[np.float64]


def checked_losses(losses: ArrayLike) -> Floats:
    """`losses` as a contiguous (T, n) matrix without NaN or negative infinity; +inf is legal.

    Raises
    ------
    ValueError
        If the shape is not (T, n) with T, n >= 1, or an entry is NaN or -inf.
    """
    matrix = array("losses", losses)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"losses must have shape (T, n) with T, n >= 1, got {matrix.shape}")
    if np.isnan(matrix).any() or np.isneginf(matrix).any():
        raise ValueError("losses must be numbers above -inf, got NaN or -inf")
    return matrix


@checked
@checked
def awake_regrets(mixture: ArrayLike, losses: ArrayLike, awake: ArrayLike) -> Floats:
    """What a mixture lost beyond each expert over the rounds in which that expert was awake, (n,).

    With sleepers there is no expert that is best over all rounds; each is a comparator over its own (Freund, Schapire,
    Singer and Warmuth 1997, section 2).  Rounds in which the mixture or the expert lost infinitely count for nothing.

    Parameters
    ----------
    mixture
        Loss of the mixture in every round, (T,).
    losses, awake
        (T, n); losses of experts asleep are not looked at.

    >>> awake_regrets([1.0, 2.0], [[0.5, 9.0], [1.0, 1.5]], [[True, False], [True, True]]).tolist()
    [1.5, 0.5]
    """
    there = np.asarray(awake, dtype=np.bool_)
    theirs = np.where(there, np.asarray(losses, dtype=np.float64), 0.0)
    mine = np.broadcast_to(np.asarray(mixture, dtype=np.float64)[:, None], theirs.shape)
    counts = there & np.isfinite(mine) & np.isfinite(theirs)
    return np.asarray(np.where(counts, np.where(counts, mine, 0.0) - np.where(counts, theirs, 0.0), 0.0).sum(axis=0))


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
