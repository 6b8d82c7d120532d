"""What all learners over experts have in common: checks, the run, its record, saving and restoring.

What it models: a round (losses in, mixture loss out) and a run of many rounds.  There are two losses.  The mixture
loss is -ln(sum_i p_i exp(-eta loss_i)) / eta, the one that the thesis' bounds speak of.  The played loss is
sum_i p_i loss_i: what it costs on average to follow an expert drawn by the weights.  It is never below the mixture
loss, and above it by at most eta R^2 / 8 a round where losses have range R (Hoeffding); of Learn-alpha this holds while
nobody sleeps, since each of its alphas spreads its weight over those awake in its own way.
What it leaves out: every rule of learning; those are in the subclasses.
Source: Monteleoni 2006, section 2.2.1; Cesa-Bianchi and Lugosi 2006, section 2.2.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from lpsm import checks
from lpsm.arrays import Floats, Mask
from lpsm.online import Ledger
from lpsm.states import Stateful

LARGEST = float(np.finfo(np.float64).max)
MOST_EXPERTS = 1 << 20


class Common(TypedDict, total=False):
    """What the constructor of every learner takes; see `Learner`."""

    signed: bool
    eta: float
    loss_range: float


class Rounds(NamedTuple):
    """What many rounds left: `loss` (T,), and if asked for `weights` (T, n) and `alpha_weights` (T, m) before each."""

    loss: Floats
    weights: Floats | None = None
    alpha_weights: Floats | None = None


@dataclass(slots=True, eq=False, repr=False)
class ExpertRun:
    """Record of a run."""

    loss: Floats  #: mixture loss of every round, shape (T,); `played_loss` is another
    start: Learner  #: a copy of the learner as it was before
    #: what it was a run of, shape (T, n), copied; None if no weights are kept
    losses: Floats | None = None
    awake: Mask | None = None
    #: mixture over the experts (T, n) and weights of the alphas (T, m) before each round, floats; None if not kept
    weights: Any = None
    alpha_weights: Any = None

    @property
    def played_loss(self) -> Floats | None:
        """Sum of p_i loss_i over those awake in every round, shape (T,); None if no weights are kept."""
        if self.weights is None or self.losses is None:
            return None
        part = self.weights if self.awake is None else np.where(self.awake, self.weights, 0.0)
        lost = np.multiply(part, self.losses, out=np.zeros_like(part), where=part > 0.0).sum(axis=1)
        total = part.sum(axis=1)
        return np.asarray(lost / np.where(total > 0.0, total, 1.0))

    @property
    def total_loss(self) -> float:
        """Cumulative mixture loss."""
        return float(self.loss.sum())

    def ledger(self) -> Ledger:
        """Return the rounds as a ledger, whose `regret` compares them with anybody's losses."""
        return Ledger(self.loss)

    def __repr__(self) -> str:
        return f"ExpertRun({len(self.loss)} rounds of {self.start!r}, mixture loss {self.total_loss:.6g})"


class Learner(Stateful):
    """A mixture over `n_experts` experts.

    Subclasses give `_round`, `weights`, `_arrays`, and in `TAKES` what their constructor takes that a state has to
    tell.  Losses lie in [0, loss_range]; with ``signed=True`` also below 0.  +inf is an expert that excluded what
    happened.  Weights fall as exp(-eta loss): eta is the learning rate, 1 for losses that are nats.
    """

    TAKES = "n_experts signed eta loss_range"

    def __init__(self, n_experts: int, *, signed: bool = False, eta: float = 1.0, loss_range: float = math.inf) -> None:
        self.n_experts = checks.whole(1, MOST_EXPERTS, n_experts=n_experts)
        self.signed = bool(signed)
        checks.positive(eta=eta)
        checks.positive(False, loss_range=loss_range)
        self.eta, self.loss_range = checks.number("eta", eta), checks.number("loss_range", loss_range)
        self._lower = -LARGEST if signed else 0.0

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the next outcome, shape (n,)."""
        raise NotImplementedError

    def predict(self, forecasts: ArrayLike) -> float | Floats:
        """Return the weighted mean of the experts' forecasts of the next outcome: (n,) or (n, ...), one an expert.

        Under a loss that is convex in the forecast it loses at most what playing the weights loses.

        >>> from lpsm import StaticExpert
        >>> StaticExpert(2).predict([1.0, 4.0])
        2.5
        """
        table = checks.array("forecasts", forecasts)
        if table.shape[:1] != (self.n_experts,):
            raise ValueError(f"forecasts must have shape ({self.n_experts}, ...), got {table.shape}")
        mean = np.tensordot(self.weights, table, axes=1)
        return float(mean) if mean.ndim == 0 else np.asarray(mean)

    def update(self, losses: ArrayLike, awake: ArrayLike | None = None) -> float:
        """Learn from one round and return the mixture's loss in it.

        Parameters
        ----------
        losses
            Loss of every expert, shape (n,).
        awake
            Which experts took part, shape (n,); all if not given.  The losses of the
            others are not looked at, and they keep their share of the weight.

        Returns
        -------
        float
            Mixture loss over those awake; inf, and nothing learned, if what happened had no probability at all.

        Raises
        ------
        ValueError
            For a wrong shape, NaN, -inf, a negative loss without ``signed=True``, or one above `loss_range`;
            the learner is unchanged then.
        """
        row = checks.array("losses", losses)
        if row.shape != (self.n_experts,):
            raise ValueError(f"losses must have shape ({self.n_experts},), got {row.shape}")
        mask = None if awake is None else self._mask(awake, row.shape)
        self._check(row[None], None if mask is None else mask[None])
        return self._round(self.eta * row, mask) / self.eta

    def run(
        self, losses: ArrayLike, awake: ArrayLike | None = None, *, weights: bool = True, alpha_weights: bool = False
    ) -> ExpertRun:
        """Learn from many rounds, (T, n); the same as repeated `update`, whatever the chunks.

        Parameters
        ----------
        losses, awake
            As for `update`, a row a round.
        weights, alpha_weights
            Whether to keep the weights over experts, over alphas, before every round; without both, nothing but the
            mixture loss is kept.

        Raises
        ------
        ValueError
            As `update`, naming round and expert; the learner is unchanged then.
        """
        table = checks.shaped("losses", losses, "T", self.n_experts)
        keeps = weights or alpha_weights
        if keeps or not table.flags.writeable:  # whatever happens to the caller's array; and of one type for kernels
            table = table.copy()
        mask = None if awake is None else self._mask(awake, table.shape)
        self._check(table, mask)
        if alpha_weights and (reason := self._no_alpha_weights()):
            raise ValueError(f"alpha_weights must be False for {type(self).__name__}, {reason}, got True")
        start, mask = self.copy(), mask.copy() if keeps and mask is not None else mask
        rounds = self._run(table, mask, weights, alpha_weights)
        return ExpertRun(rounds.loss, start, *((table, mask, *rounds[1:]) if keeps else ()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_experts={self.n_experts})"

    def copy(self) -> Self:
        """Return an independent learner in the same state."""
        return deepcopy(self)

    def _no_alpha_weights(self) -> str:
        """Why a run cannot keep weights of alphas; empty if it can."""
        return "which has no alphas"

    def _round(self, losses: Floats, awake: Mask | None) -> float:
        """One checked round of losses times eta; return the mixture loss times eta."""
        raise NotImplementedError

    def _run(self, losses: Floats, awake: Mask | None, weights: bool, alpha_weights: bool) -> Rounds:
        """Run over checked losses, a round at a time."""
        loss = np.empty(len(losses))
        record = np.empty_like(losses) if weights else None
        for t, row in enumerate(losses):
            if record is not None:
                record[t] = self.weights
            loss[t] = self._round(self.eta * row, None if awake is None else awake[t]) / self.eta
        return Rounds(loss, record)

    def _mask(self, awake: ArrayLike, shape: tuple[int, ...]) -> Mask:
        mask = np.ascontiguousarray(awake)
        if mask.dtype.kind in "iu" and ((mask == 0) | (mask == 1)).all():
            mask = mask.astype(np.bool_)
        if mask.dtype != np.bool_ or mask.shape != shape:
            raise ValueError(f"awake must hold truth values, or 0 and 1, of shape {shape}, got {checks.shown(awake)}")
        return mask

    def _check(self, losses: Floats, awake: Mask | None) -> None:
        legal = losses >= self._lower
        if self.loss_range < math.inf:
            legal &= losses <= self.loss_range
        if awake is not None:
            legal |= ~awake
        if not legal.all():
            t, i = np.argwhere(~legal)[0]
            rule = "must lie in [0, inf] (or pass signed=True)"
            if self.signed or np.isnan(losses[t, i]):
                rule = "must not be NaN or -inf"
            if losses[t, i] > self.loss_range:
                rule = f"must be at most loss_range = {self.loss_range:g}"
            raise ValueError(f"losses {rule}, got {losses[t, i]} in round {t}, expert {i}")


def checked_prior(name: str, prior: ArrayLike | None, size: int, *, positive: bool = False) -> Floats:
    """A distribution of shape (size,), normalised; uniform if not given."""
    if prior is None:
        return np.full(size, 1.0 / size)
    values = checks.shaped(name, prior, size)
    rule = "positive" if positive else "non-negative"
    if not (np.isfinite(values).all() and (values >= 0.0).all() and (values.all() or not positive)):
        raise ValueError(f"{name} must be {rule} and finite, got {values.tolist()}")
    if not 0.0 < (total := float(values.sum())) < np.inf:
        raise ValueError(f"{name} must have a positive finite sum, got {total}")
    return values / total


def logarithms(weights: Floats) -> Floats:
    """Logarithms of weights, -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(weights)


def checked_rates(alphas: ArrayLike) -> Floats:
    """A copy of switching rates in [0, 1], of shape (m,) with m >= 1."""
    rates = checks.shaped("alphas", alphas, "m", filled=True).copy()
    if not (legal := (rates >= 0.0) & (rates <= 1.0)).all():
        raise ValueError(f"alphas must lie in [0, 1], got {rates[~legal][0]}")
    return rates


def checked_transitions(name: str, matrix: ArrayLike, size: int | str = "n") -> Floats:
    """Probabilities of shape (n, n) with n >= 1, whose rows sum to 1 (to 1e-9)."""
    found = checks.shaped(name, matrix, size, size, filled=True)
    if not (legal := found >= 0.0).all():
        raise ValueError(f"{name} must be non-negative, got {found[~legal][0]}")
    sums = found.sum(axis=1)
    if not (legal := np.abs(sums - 1.0) <= 1e-9).all():
        raise ValueError(f"rows of {name} must sum to 1, got {sums[~legal][0]}")
    return found
