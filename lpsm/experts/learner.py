"""What all learners over experts have in common: checks, the run, its record, saving and restoring.

What it models: a round (losses in, mixture loss out) and a run of many rounds.  What it
leaves out: every rule of learning; those are in the subclasses' `_round`.
Source: Monteleoni 2006, section 2.2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm.checks import reading, state_text
from lpsm.online import Ledger

__all__ = ["ExpertRun", "Learner", "Rounds", "checked_prior", "checked_rate"]

Floats = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)
SHORT = 16  # rounds


class Rounds(NamedTuple):
    """What many rounds left: `loss` (T,), and if asked for `weights` (T, n) and `alpha_weights` (T, m) before each."""

    loss: Floats
    weights: Floats | None = None
    alpha_weights: Floats | None = None


class ExpertRun:
    """Record of a run.

    The weights are found again from the losses when they are first asked for, since most
    runs are made for their loss.

    Attributes
    ----------
    loss
        Mixture loss of every round, nats, shape (T,).
    losses, awake
        What it was a run of, shape (T, n); a copy if weights are kept, else as given.
    start
        A copy of the learner as it was before.

    A record made from losses alone has neither.
    """

    __slots__ = ("_keep", "_rounds", "awake", "loss", "losses", "start")

    def __init__(
        self,
        loss: Floats,
        losses: Floats | None = None,
        awake: NDArray[np.bool_] | None = None,
        start: Learner | None = None,
        keep: tuple[bool, bool] = (False, False),
        rounds: Rounds | None = None,
    ) -> None:
        self.loss = loss
        self.losses = losses
        self.awake = awake
        self.start = start
        self._keep = keep
        self._rounds = rounds

    @property
    def weights(self) -> Floats | None:
        """Mixture over the experts before each round, shape (T, n); None if not kept."""
        return self._replayed().weights

    @property
    def alpha_weights(self) -> Floats | None:
        """Weights of the alphas before each round, shape (T, m); None if not kept."""
        return self._replayed().alpha_weights

    @property
    def total_loss(self) -> float:
        """Cumulative mixture loss, nats."""
        return float(self.loss.sum())

    def ledger(self) -> Ledger:
        """Return the rounds as a ledger, whose `regret` compares them with anybody's losses."""
        ledger = Ledger()
        ledger.extend(self.loss)
        return ledger

    def _replayed(self) -> Rounds:
        if self._rounds is None:
            if any(self._keep) and self.start is not None and self.losses is not None:
                self._rounds = self.start.copy()._run(self.losses, self.awake, *self._keep)
            else:
                self._rounds = Rounds(self.loss)
        return self._rounds


class Learner:
    """A mixture over `n_experts` experts.

    Subclasses give `_round`, `weights` and `_arrays`.  Losses lie in [0, inf]; with
    ``signed=True`` also below 0.  +inf is an expert that excluded what happened.
    """

    VERSION: ClassVar[int] = 1

    def __init__(self, n_experts: int, *, signed: bool = False) -> None:
        if not (isinstance(n_experts, int | np.integer) and n_experts >= 1):
            raise ValueError(f"n_experts must be an integer of at least 1, got {n_experts!r}")
        self.n_experts = int(n_experts)
        self.signed = bool(signed)
        self._lower = -LARGEST if signed else 0.0

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the next outcome, shape (n,)."""
        raise NotImplementedError

    def update(self, losses: ArrayLike, awake: ArrayLike | None = None) -> float:
        """Learn from one round and return the mixture's loss in it.

        Parameters
        ----------
        losses
            Loss of every expert, nats, shape (n,).
        awake
            Which experts took part, shape (n,); all if not given.  The losses of the
            others are not looked at, and they keep their share of the weight.

        Returns
        -------
        float
            -ln sum_i p_i exp(-loss_i) over those awake; inf, and nothing learned, if the
            mixture gave what happened no probability at all.

        Raises
        ------
        ValueError
            For a wrong shape, NaN, -inf, or a negative loss without ``signed=True``;
            the learner is unchanged then.
        """
        row = np.ascontiguousarray(losses, dtype=np.float64)
        if row.shape != (self.n_experts,):
            raise ValueError(f"losses must have shape ({self.n_experts},), got {row.shape}")
        mask = None if awake is None else self._mask(awake, row.shape)
        self._check(row[None], None if mask is None else mask[None])
        return self._round(row, mask)

    def run(
        self,
        losses: ArrayLike,
        awake: ArrayLike | None = None,
        *,
        weights: bool = True,
        alpha_weights: bool = False,
    ) -> ExpertRun:
        """Learn from many rounds; the same as repeated `update`, whatever the chunks.

        Parameters
        ----------
        losses
            Shape (T, n), nats.
        awake
            Shape (T, n), or None if nobody sleeps.
        weights, alpha_weights
            Whether to keep the weights over experts, over alphas, before every round.

        Raises
        ------
        ValueError
            As `update`, naming round and expert; the learner is unchanged then.
        """
        table = np.ascontiguousarray(losses, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != self.n_experts:
            raise ValueError(f"losses must have shape (T, {self.n_experts}), got {table.shape}")
        mask = None if awake is None else self._mask(awake, table.shape)
        self._check(table, mask)
        if alpha_weights and (reason := self._no_alpha_weights()):
            raise ValueError(f"alpha_weights must be False for {type(self).__name__}, {reason}, got True")
        start = self.copy()
        if len(table) <= SHORT:  # keeping the weights costs less than finding them again
            rounds = self._run(table, mask, weights, alpha_weights)
            return ExpertRun(rounds.loss, table, mask, start, rounds=rounds)
        loss = self._run(table, mask, False, False).loss
        if weights or alpha_weights:  # to be found again later, whatever happens to the caller's arrays
            table, mask = table.copy(), None if mask is None else mask.copy()
        return ExpertRun(loss, table, mask, start, (weights, alpha_weights))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_experts={self.n_experts})"

    def copy(self) -> Self:
        """Return an independent learner in the same state."""
        twin = object.__new__(type(self))
        twin.__dict__.update({name: copy(value) for name, value in vars(self).items()})
        return twin

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything needed to go on, as a versioned dict of arrays; ``numpy.savez(path, **state)`` writes it."""
        return {
            "kind": np.array(type(self).__name__),
            "version": np.array(self.VERSION),
            "n_experts": np.array(self.n_experts),
            "signed": np.array(self.signed),
            **{name: value.copy() for name, value in self._arrays().items()},
        }

    @classmethod
    def from_state(cls, state: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the learner from `state()`, or from what ``numpy.load`` gives for its file.

        Raises
        ------
        ValueError
            If the state is of another kind or version, incomplete, or its arrays do not belong together.
        """
        with reading("state"):
            return cls._from(state)

    @classmethod
    def _from(cls, state: Mapping[str, NDArray[Any]]) -> Self:
        kind, version = state_text(state, "kind"), int(state["version"])
        if kind != cls.__name__:
            raise ValueError(f"state must be of kind {cls.__name__}, got {kind}")
        if version != cls.VERSION:
            raise ValueError(f"state must have version {cls.VERSION}, got {version}")
        learner = cls.__new__(cls)
        Learner.__init__(learner, int(state["n_experts"]), signed=bool(state["signed"]))
        learner._restore(state)
        return learner

    def _no_alpha_weights(self) -> str:
        """Why a run cannot keep weights of alphas; empty if it can."""
        return "which has no alphas"

    def _round(self, losses: Floats, awake: NDArray[np.bool_] | None) -> float:
        """One checked round."""
        raise NotImplementedError

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """The learner's own part of the state."""
        raise NotImplementedError

    def _restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """The inverse of `_arrays`."""
        raise NotImplementedError

    def _run(self, losses: Floats, awake: NDArray[np.bool_] | None, weights: bool, alpha_weights: bool) -> Rounds:
        """Run over checked losses, a round at a time."""
        loss = np.empty(len(losses))
        record = np.empty_like(losses) if weights else None
        for t, row in enumerate(losses):
            if record is not None:
                record[t] = self.weights
            loss[t] = self._round(row, None if awake is None else awake[t])
        return Rounds(loss, record)

    def _mask(self, awake: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        mask = np.ascontiguousarray(awake)
        if mask.dtype.kind in "iu" and ((mask == 0) | (mask == 1)).all():
            mask = mask.astype(np.bool_)
        if mask.dtype != np.bool_ or mask.shape != shape:
            raise ValueError(f"awake must be boolean of shape {shape}, or 0 and 1, got {mask.dtype} of {mask.shape}")
        return mask

    def _check(self, losses: Floats, awake: NDArray[np.bool_] | None) -> None:
        legal = losses >= self._lower
        if awake is not None:
            legal |= ~awake
        if not legal.all():
            t, i = np.argwhere(~legal)[0]
            rule = "must not be NaN or -inf" if self.signed else "must lie in [0, inf] (or pass signed=True)"
            raise ValueError(f"losses {rule}, got {losses[t, i]} in round {t}, expert {i}")


def checked_rate(name: str, value: float) -> float:
    """A rate as a float, if it lies in [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must lie in [0, 1], got {value}")
    return float(value)


def checked_prior(name: str, prior: ArrayLike | None, size: int, *, positive: bool = False) -> Floats:
    """A distribution of shape (size,), normalised; uniform if not given."""
    if prior is None:
        return np.full(size, 1.0 / size)
    values = np.array(prior, dtype=np.float64)
    if values.shape != (size,):
        raise ValueError(f"{name} must have shape ({size},), got {values.shape}")
    rule = "positive" if positive else "non-negative"
    if not (np.isfinite(values).all() and (values >= 0.0).all() and (values.all() or not positive)):
        raise ValueError(f"{name} must be {rule} and finite, got {values.tolist()}")
    if not 0.0 < (total := float(values.sum())) < np.inf:
        raise ValueError(f"{name} must have a positive finite sum, got {total}")
    return values / total
