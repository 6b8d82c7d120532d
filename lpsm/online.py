"""The shared core: what a learner is, the loop of asking and learning, and the ledger of what it cost.

What it models: in each round a learner commits itself, then sees the outcome (the losses of all
experts) or buys it (the label of an instance), and pays.  `play` is the one loop of selective
sampling; the ledger keeps each round's loss, whether the prediction was a mistake and whether the
outcome was asked for, and compares them with what somebody else would have paid.  What it leaves out:
how a learner learns, and what its loss means (nats for experts, 0 or 1 for classifiers).
Sources: Monteleoni 2006, section 2.2.1, for rounds with experts; Cesa-Bianchi et al.
2004, section 2, for rounds in which the label has a price.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lpsm import checks
from lpsm.arrays import Floats, Mask

__all__ = ["Decision", "ExpertLearner", "Ledger", "SelectiveLearner", "play"]
__dir__ = __all__.copy


class ExpertLearner(Protocol):
    """A learner that mixes experts and sees all their losses after every round."""

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the outcome, shape (n,)."""

    def update(self, losses: ArrayLike) -> float:
        """Take the experts' losses (n,) and return the loss of the mixture in this round, nats."""


class Decision(Protocol):
    """What a selective learner commits to on one instance."""

    @property
    def prediction(self) -> int:
        """The predicted label, -1 or +1."""

    @property
    def query(self) -> bool:
        """Whether the label is asked for."""


D = TypeVar("D", bound=Decision, covariant=True)


class SelectiveLearner(Protocol[D]):
    """A learner that predicts a label and may buy it."""

    def decide(self, x: Any) -> D:
        """Predict the label of the instance `x`, and say whether to ask for it."""

    def learn(self, x: Any, y: int) -> bool:
        """Take the label that was asked for; return whether the example was stored."""


def play(
    learner: SelectiveLearner[D], instances: Iterable[Any], label: Callable[[int], int]
) -> Iterator[tuple[D, bool]]:
    """Decide on each instance in turn, ask for its label where the learner wants it, and let it learn.

    Parameters
    ----------
    learner
        A sampler.
    instances
        What the world shows, one instance a round; consumed lazily.
    label
        Called with the number of the round, from 0, for the rounds asked about and no other.

    Returns
    -------
    iterator
        Of the decision, and whether the example was stored.
    """
    checks.having("learner", learner, "decide", "learn")
    checks.having("label", label, "__call__")
    decided = ((t, x, learner.decide(x)) for t, x in enumerate(instances))
    return ((decision, bool(decision.query and learner.learn(x, label(t)))) for t, x, decision in decided)


class Ledger:
    """Per-round losses, mistakes and queries, with their totals and the regret.

    >>> ledger = Ledger()
    >>> ledger.record(0.7, mistake=True)
    >>> ledger.extend([0.2, 0.1], queried=[True, False])
    >>> ledger.rounds, ledger.mistakes, ledger.queries
    (3, 1, 2)
    >>> ledger.regret([0.1, 0.1, 0.1]).round(6).tolist()
    [0.6, 0.7, 0.7]
    """

    __slots__ = ("_loss", "_mistake", "_queried")

    def __init__(self) -> None:
        self._loss, self._mistake, self._queried = array("d"), array("b"), array("b")

    def record(self, loss: float, mistake: bool = False, queried: bool = True) -> None:
        """Enter one round: its loss, whether it was a mistake, whether the outcome was asked for."""
        self._loss.append(checks.number("loss", loss))
        self._mistake.append(mistake)
        self._queried.append(queried)

    def extend(self, loss: ArrayLike, mistake: ArrayLike = False, queried: ArrayLike = True) -> None:
        """Enter many rounds at once: arrays of shape (T,), or one flag for all of them."""
        losses = checks.array("loss", loss)
        if losses.ndim != 1:
            raise ValueError(f"loss must have shape (T,), got {losses.shape}")
        for name, flags in (("mistake", mistake), ("queried", queried)):
            if np.shape(flags) not in ((), losses.shape):
                raise ValueError(f"{name} must have shape {losses.shape}, got {np.shape(flags)}")
        self._loss.frombytes(losses.tobytes())
        for column, flags in ((self._mistake, mistake), (self._queried, queried)):
            column.frombytes(np.broadcast_to(np.asarray(flags, dtype=np.bool_), losses.shape).tobytes())

    @property
    def rounds(self) -> int:
        """Number of rounds entered."""
        return len(self._loss)

    @property
    def losses(self) -> Floats:
        """Loss of every round, shape (T,)."""
        return np.array(self._loss, dtype=np.float64)

    @property
    def mistaken(self) -> Mask:
        """Whether each round was a mistake, shape (T,)."""
        return np.array(self._mistake, dtype=np.bool_)

    @property
    def queried(self) -> Mask:
        """Whether each round's outcome was asked for, shape (T,)."""
        return np.array(self._queried, dtype=np.bool_)

    @property
    def loss(self) -> float:
        """Cumulative loss."""
        return float(np.sum(self.losses))

    @property
    def mistakes(self) -> int:
        """Number of mistakes."""
        return sum(self._mistake)

    @property
    def queries(self) -> int:
        """Number of outcomes asked for."""
        return sum(self._queried)

    def regret(self, comparator: ArrayLike) -> Floats:
        """Cumulative loss minus that of a comparator, (T,), after every round, shape (T,).

        A round in which both losses are infinite adds nothing.
        """
        other, mine = checks.array("comparator", comparator), self.losses
        if other.shape != mine.shape:
            raise ValueError(f"comparator must have shape {mine.shape}, got {other.shape}")
        both = np.isposinf(mine) & np.isposinf(other)
        return np.cumsum(np.subtract(mine, other, out=np.zeros(mine.shape), where=~both))
