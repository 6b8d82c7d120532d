"""The ledger of what learning online cost, round by round, held against what somebody else would have paid.

What it leaves out: how a learner learns, and what its loss means (nats for experts, 0 or 1 for classifiers).
Sources: Monteleoni 2006, section 2.2.1, for rounds with experts; Cesa-Bianchi et al. 2004, section 2, for rounds in
which the label has a price.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lpsm import checks
from lpsm.arrays import Floats, Mask

__all__ = ["Ledger"]
__dir__ = __all__.copy


class Ledger:
    """Per-round losses, mistakes and queries, with their totals and the regret.

    Parameters
    ----------
    losses
        Loss of every round, shape (T,).
    mistaken, queried
        Whether each round was a mistake, and whether its outcome was asked for: shape (T,), or one for all.

    >>> ledger = Ledger([0.7, 0.2, 0.1], [True, False, False], [True, True, False])
    >>> ledger.rounds, ledger.mistakes, ledger.queries
    (3, 1, 2)
    >>> ledger.regret([0.1, 0.1, 0.1]).round(6).tolist()
    [0.6, 0.7, 0.7]
    """

    __slots__ = ("losses", "mistaken", "queried")

    losses: Floats
    mistaken: Mask
    queried: Mask

    def __init__(self, losses: ArrayLike, mistaken: ArrayLike = False, queried: ArrayLike = True) -> None:
        self.losses = checks.shaped("losses", losses, "T").copy()
        for name, flags in (("mistaken", mistaken), ("queried", queried)):
            if np.shape(flags) not in ((), self.losses.shape):
                raise ValueError(f"{name} must have shape {self.losses.shape}, got {np.shape(flags)}")
            setattr(self, name, np.full(self.losses.shape, flags, bool))

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self.losses.size

    @property
    def loss(self) -> float:
        """Cumulative loss."""
        return float(self.losses.sum())

    @property
    def mistakes(self) -> int:
        """Number of mistakes."""
        return int(self.mistaken.sum())

    @property
    def queries(self) -> int:
        """Number of outcomes asked for."""
        return int(self.queried.sum())

    def regret(self, comparator: ArrayLike) -> Floats:
        """Cumulative loss minus that of a comparator, (T,), after every round, shape (T,).

        A round in which both losses are infinite adds nothing.
        """
        mine = self.losses
        other = checks.shaped("comparator", comparator, mine.size)
        both = np.isposinf(mine) & np.isposinf(other)
        return np.cumsum(np.subtract(mine, other, out=np.zeros(mine.shape), where=~both))
