"""Tracking the best expert: Static-expert, Fixed-share, Markov-share, Variable-share, Learn-alpha.

What it models: the Bayesian mixture over experts of equation (2.2) with transition probabilities that forbid change,
allow it at one rate (2.3), are any matrix, or depend on what an expert loses; and a Static-expert over Fixed-share
learners, one per switching rate alpha, for whom the rate is not known (section 2.2.3, equations (2.6)-(2.8)).  With
``doubling=True`` (ours) Learn-alpha needs no horizon: epochs of 64, 128, 256, .. rounds each take the grid for their
own length and start every alpha from the mixture over experts reached so far.
What it leaves out: predictions and the loss they suffer; the caller turns outcomes into losses of the experts.
Sources: Monteleoni 2006, section 2.2; Herbster and Warmuth 1998, section 5 (Variable-share).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from lpsm import checks
from lpsm.arrays import Floats, Ints, Mask, State
from lpsm.experts import share
from lpsm.experts.grids import LONGEST, alpha_grid
from lpsm.experts.learner import (
    Common,
    Learner,
    Rounds,
    checked_prior,
    checked_rates,
    checked_transitions,
    logarithms,
)
from lpsm.native import compiled
from lpsm.native.entries import FLOATS, Signature, entry_of

FIRST_EPOCH, LONGEST_EPOCH = 64, 1 << 40
FLOAT = np.dtype(np.float64)
SAFE_FLOOR = 1e-100  # smallest share per round that keeps weights within floats
SAFE_MASS = 1e-140  # how far a column's mass may fall between two folds
SAFE_STAY = 1e-6  # smallest 1 - alpha of which 1 - alpha - alpha/(n-1) keeps ten digits ..
SAFE_STAY_OF_FEW = 1e-2  # .. and fourteen, where there are so few alphas that exactness costs little
FEW = 8
MOST_ROUNDS = 16  # between folds
MOST_WEIGHTS = 1 << 25

_ROWS = "float64[:, ::1]"
_ARRAYS = _ROWS, _ROWS, _ROWS, FLOATS
_RUN = entry_of(
    share.learn_alpha_run, Signature(None, (_ROWS, "boolean[:, ::1]", *_ARRAYS, _ROWS, FLOATS, _ROWS, _ROWS))
)
MIXTURE = entry_of(share.mixture, Signature(None, (*_ARRAYS, FLOATS)))
"""`share.mixture` without numba, for who calls it a few times."""


class _Columns(Learner):
    """What Fixed-share and Learn-alpha share: alphas, their weights over experts and their own, as `share` has them.

    Alphas whose weights may reach 0 or come too near to it ("slow") are the last columns.
    """

    _rates: Floats  # as they were given
    _order: Ints  # which of them each column is
    _columns: tuple[Floats, Floats, Floats, Floats, Floats]

    def __init__(self, n_experts: int, **common: Unpack[Common]) -> None:
        super().__init__(n_experts, **common)
        self._quick = self.eta == 1.0 and self.loss_range == math.inf  # whether a round may go to the kernel at once

    def _begin(self, rates: Floats, prior: Floats, rate_prior: Floats) -> None:
        n = self.n_experts
        if n * rates.size > MOST_WEIGHTS:
            raise ValueError(f"n_experts x alphas must be at most {MOST_WEIGHTS}, got {n} x {rates.size}")
        several, others = n > 1, max(n - 1, 1)
        floor = np.minimum(rates / others, 1.0 - rates)  # of what the share step leaves an expert of a column
        stay = SAFE_STAY if rates.size > FEW else SAFE_STAY_OF_FEW
        is_slow = ((floor < SAFE_FLOOR) | (1.0 - rates < stay)) & several
        self._rates, self._order, m = rates, np.argsort(is_slow, kind="stable"), int((~is_slow).sum())
        least = float(floor[~is_slow].min()) if m and several else 1.0
        alphas, first = rates[self._order], rate_prior[self._order]
        columns = np.zeros((share.N_ROWS, rates.size))
        columns[share.ALPHA] = alphas
        columns[share.SPREAD] = alphas / others if several else 0.0
        columns[share.KEEP] = 1.0 - alphas - alphas / others if several else 1.0
        columns[share.MANTISSA], columns[share.EXPONENT] = np.frexp(first)
        columns[share.TOP], columns[share.MASS] = first, 1.0
        slow = np.tile(logarithms(prior), (rates.size - m, 1))
        head = np.zeros(share.N_HEAD)
        head[share.TOTAL], head[share.SINCE], head[share.LOWER] = 1.0, -1.0, self._lower
        head[share.EVERY] = MOST_ROUNDS if least == 1.0 else min(MOST_ROUNDS, int(math.log(SAFE_MASS, least)))
        self._columns = np.repeat(prior[:, None], m, axis=1), columns, slow, head, np.zeros((share.N_WORK, n))

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the next outcome, shape (n,)."""
        share.mixture(*self._columns[:4], out := np.empty(self.n_experts))
        return out

    def arrays(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """The live state, in the order `share.learn_alpha_round` takes it after the losses."""
        return self._columns

    def update(self, losses: ArrayLike, awake: ArrayLike | None = None) -> float:
        """Learn from one round and return the mixture loss (2.8); see `Learner.update`."""
        if (
            self._quick and awake is None and type(losses) is np.ndarray and losses.dtype is FLOAT
            and losses.flags.carray and losses.shape == (self.n_experts,)
        ):  # fmt: skip
            loss = share.learn_alpha_round(losses, *self._columns)
            if loss == loss:  # otherwise some loss is not legal
                return loss
        return super().update(losses, awake)

    def _round(self, losses: Floats, awake: Mask | None) -> float:
        if awake is None:
            return share.learn_alpha_round(losses, *self._columns)
        return share.masked_round(losses, awake, *self._columns)

    def _run(self, losses: Floats, awake: Mask | None, weights: bool, alpha_weights: bool) -> Rounds:
        scaled = losses if self.eta == 1.0 else self.eta * losses
        loss = np.empty(len(losses))
        record = np.empty((len(losses) if weights else 0, self.n_experts))
        alpha_record = np.empty((len(losses) if alpha_weights else 0, self._rates.size))
        mask = np.empty((0, self.n_experts), bool) if awake is None else awake
        _RUN(scaled, mask, *self._columns, loss, record, alpha_record)
        by_rate = self._by_rate(alpha_record) if alpha_weights else None
        return Rounds(loss / self.eta, record if weights else None, by_rate)

    def _by_rate(self, by_column: Floats) -> Floats:
        """Return weights of columns in the order in which the alphas were given."""
        out = np.empty_like(by_column)
        out[..., self._order] = by_column
        return out

    def _arrays(self) -> State:
        weights, columns, slow, head, _ = self._columns
        return {"weights": weights, "columns": columns[share.MANTISSA : share.SHARE], "slow": slow, "head": head}


class FixedShare(_Columns):
    """Track the best expert, which changes with a known probability a round: equations (2.2), (2.3).

    Parameters
    ----------
    n_experts
        Number n of experts.
    alpha
        Switching rate in [0, 1]; alpha / (n - 1) goes to each *other* expert.
    prior
        Distribution over experts before the first round, shape (n,); uniform if not given.
    signed
        Whether losses may be negative.
    eta
        Learning rate: weights fall as exp(-eta loss); 1 for losses that are nats.
    loss_range
        Largest loss; losses above it are refused.

    >>> learner = FixedShare(n_experts=3, alpha=0.3)
    >>> round(learner.update([0.0, float("inf"), float("inf")]), 6)
    1.098612
    >>> learner.weights.round(6).tolist()
    [0.7, 0.15, 0.15]
    """

    TAKES = "n_experts alpha signed eta loss_range"

    def __init__(
        self, n_experts: int, alpha: float, *, prior: ArrayLike | None = None, **common: Unpack[Common]
    ) -> None:
        super().__init__(n_experts, **common)
        checks.between(0, 1, alpha=alpha)
        first = checked_prior("prior", prior, self.n_experts)
        self._begin(np.array([float(alpha)]), first, np.ones(1))

    @property
    def alpha(self) -> float:
        """The switching rate."""
        return float(self._rates[0])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_experts={self.n_experts}, alpha={self.alpha})"


class StaticExpert(FixedShare):
    """Follow the expert that is best over the whole past: p_{t+1}(i) is proportional to p_t(i) exp(-L(i, t)).

    It is Fixed-share with the switching rate 0.

    Parameters
    ----------
    n_experts
        Number n of experts.
    prior, signed, eta, loss_range
        As for `FixedShare`.

    >>> learner = StaticExpert(n_experts=2)
    >>> _ = learner.update([0.0, 1.0])
    >>> learner.weights.round(6).tolist()
    [0.731059, 0.268941]
    """

    TAKES = Learner.TAKES

    def __init__(self, n_experts: int, *, prior: ArrayLike | None = None, **common: Unpack[Common]) -> None:
        super().__init__(n_experts, 0.0, prior=prior, **common)


class LearnAlpha(_Columns):
    """Mix over experts and over switching rates.

    Parameters
    ----------
    n_experts
        Number n of experts.
    alphas
        Switching rates to mix over, each in [0, 1], shape (m,); see `alpha_grid`.
    prior
        Distribution over experts before the first round, shape (n,); uniform if not given.
    alpha_prior
        Distribution over alphas, positive, shape (m,); uniform if not given.
    doubling
        Choose the alphas for a horizon that doubles; `alphas` must not be given then.
    signed, eta, loss_range
        As for `FixedShare`.

    >>> learner = LearnAlpha(n_experts=3, alphas=alpha_grid(horizon=100))
    >>> round(learner.update([0.0, 1.0, 1.0]), 6)
    0.547168
    >>> bool(learner.weights[0] > learner.weights[1])
    True
    """

    TAKES = "n_experts alphas signed eta loss_range"

    def __init__(
        self,
        n_experts: int,
        alphas: ArrayLike | None = None,
        *,
        prior: ArrayLike | None = None,
        alpha_prior: ArrayLike | None = None,
        doubling: bool = False,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(n_experts, **common)
        if doubling:
            if alphas is not None or alpha_prior is not None:
                raise ValueError("alphas and alpha_prior must not be given with doubling=True, which chooses them")
            alphas = alpha_grid(horizon=FIRST_EPOCH)
        elif alphas is None:
            raise ValueError("alphas must be given, or doubling=True, got neither")
        rates = checked_rates(alphas)
        self._epoch = np.full(2, FIRST_EPOCH if doubling else 0)  # its length, and rounds left of it; 0 if not doubling
        self._quick &= not doubling
        first = checked_prior("prior", prior, self.n_experts)
        top = checked_prior("alpha_prior", alpha_prior, rates.size, positive=True)
        self._begin(rates, first, top)

    @property
    def doubling(self) -> bool:
        """Whether the alphas are chosen for a horizon that doubles."""
        return bool(self._epoch[0] > 0)

    @property
    def untouched(self) -> bool:
        """Whether no round has been played."""
        return bool(self._columns[3][share.SINCE] < 0.0) and self._epoch[0] in (0, FIRST_EPOCH)

    @property
    def alphas(self) -> Floats:
        """The switching rates, shape (m,); those of the current epoch under doubling."""
        return self._rates.copy()

    @property
    def alpha_weights(self) -> Floats:
        """Weights of the alphas before the next outcome, equation (2.6), shape (m,), in the order of `alphas`."""
        _, columns, _, head, _ = self._columns
        return self._by_rate(columns[share.TOP] * columns[share.MASS] / head[share.TOTAL])

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """Rebuild the learner from `state()`, as `Learner.from_state`."""
        learner = super().from_state(state)
        epoch, left = learner._epoch.tolist()
        if not (0 < left <= epoch <= LONGEST_EPOCH or epoch == left == 0):
            raise ValueError(f"state must hold doubling as an epoch and the rounds left of it, got {epoch}, {left}")
        learner._quick &= not learner.doubling
        return learner

    def __repr__(self) -> str:
        grid = "doubling=True" if self.doubling else f"{self._rates.size} alphas"
        return f"LearnAlpha(n_experts={self.n_experts}, {grid})"

    def _no_alpha_weights(self) -> str:
        return "whose alphas change with doubling=True" if self.doubling else ""

    def _round(self, losses: Floats, awake: Mask | None) -> float:
        loss = super()._round(losses, awake)
        self._count(1)
        return loss

    def _run(self, losses: Floats, awake: Mask | None, weights: bool, alpha_weights: bool) -> Rounds:
        if not self._epoch[0]:
            return super()._run(losses, awake, weights, alpha_weights)
        loss = np.empty(len(losses))
        record = np.empty_like(losses) if weights else None
        done = 0
        while done < len(losses):
            part = slice(done, min(len(losses), done + int(self._epoch[1])))
            run = super()._run(losses[part], None if awake is None else awake[part], weights, False)
            loss[part] = run.loss
            if record is not None:
                record[part] = run.weights
            self._count(len(run.loss))
            done = part.stop
        return Rounds(loss, record)

    def _count(self, rounds: int) -> None:
        """Under doubling, begin the next epoch when this one is over."""
        if not self._epoch[0]:
            return
        self._epoch[1] -= rounds
        if self._epoch[1] == 0:
            self._epoch[:] = 2 * self._epoch[0]
            alphas = alpha_grid(horizon=min(int(self._epoch[0]), LONGEST))
            uniform = np.full(alphas.size, 1.0 / alphas.size)
            self._begin(alphas, self.weights, uniform)

    def _arrays(self) -> State:
        return {**super()._arrays(), "doubling": self._epoch}


class _Logs(Learner):
    """What Markov-share and Variable-share share: one column of logarithms, whose weights may fall and come back."""

    _logs: Floats
    _matrix = np.empty((0, 0))
    _log_keep = 0.0  # times the loss, where there is no matrix

    @property
    def weights(self) -> Floats:
        """Mixture over the experts before the next outcome, shape (n,)."""
        values = np.exp(self._logs - self._logs.max())
        return np.asarray(values / values.sum())

    def _arrays(self) -> State:
        return {"logs": self._logs}

    def _begin(self, prior: ArrayLike | None) -> None:
        self._logs = logarithms(checked_prior("prior", prior, self.n_experts))
        self._everybody = np.ones(self.n_experts, bool)

    def _round(self, losses: Floats, awake: Mask | None) -> float:
        mask = self._everybody if awake is None else awake
        return _logs_round(losses, mask, self._matrix, self._log_keep, self._logs)


class MarkovShare(_Logs):
    """Track the best expert, which changes by a Markov chain: equation (2.2) with any transition matrix.

    Parameters
    ----------
    P
        ``P[j, i]`` is the probability that i is best next when j is now; shape (n, n),
        non-negative, rows summing to 1 (to 1e-9; they are normalised).
    prior, signed, eta, loss_range
        As for `FixedShare`.

    >>> learner = MarkovShare([[0.9, 0.1], [0.5, 0.5]])
    >>> _ = learner.update([0.0, float("inf")])
    >>> learner.weights.round(6).tolist()
    [0.9, 0.1]
    """

    TAKES = "P signed eta loss_range"

    def __init__(self, P: ArrayLike, *, prior: ArrayLike | None = None, **common: Unpack[Common]) -> None:
        matrix = checked_transitions("P", P)
        super().__init__(len(matrix), **common)
        self._matrix = matrix / matrix.sum(axis=1, keepdims=True)
        self._begin(prior)

    @property
    def P(self) -> Floats:  # noqa: N802 - the paper's name
        """The transition matrix, shape (n, n)."""
        return np.array(self._matrix)


class VariableShare(_Logs):
    """Fixed-share whose experts give away weight only as they lose: 1 - (1 - alpha)**loss of it.

    Parameters
    ----------
    n_experts
        Number n of experts.
    alpha
        Part given away at loss 1, in [0, 1); an equal part goes to each other expert.
    prior, eta, loss_range
        As for `FixedShare`.

    >>> learner = VariableShare(n_experts=2, alpha=0.5)
    >>> _ = learner.update([0.0, 1.0])
    >>> learner.weights.round(6).tolist()
    [0.865529, 0.134471]
    """

    TAKES = "n_experts alpha eta loss_range"

    def __init__(
        self,
        n_experts: int,
        alpha: float,
        *,
        prior: ArrayLike | None = None,
        eta: float = 1.0,
        loss_range: float = math.inf,
    ) -> None:
        super().__init__(n_experts, eta=eta, loss_range=loss_range)
        checks.between(0, 1, alpha=alpha)
        if float(alpha) == 1.0:
            raise ValueError("alpha must lie in [0, 1), got 1.0")
        self.alpha = float(alpha)
        self._log_keep = math.log1p(-self.alpha) / self.eta
        self._begin(prior)


@compiled
def _logs_round(losses: Floats, awake: Mask, matrix: Floats, log_keep: float, logs: Floats) -> float:
    """One round on the logarithms of the weights: evidence, then the transition; return the mixture loss.

    The transition is `matrix`; where that is empty, those awake keep exp(log_keep loss) of their weight.
    """
    n, lowest, anybody = losses.size, np.inf, False
    for i in range(n):
        if awake[i] and logs[i] > -np.inf:
            anybody, lowest = True, min(lowest, losses[i])
    if not anybody:
        lowest = 0.0
    elif lowest == np.inf:
        return np.inf
    gained = share.bring_evidence(logs, losses, lowest, awake)
    if matrix.size > 0:
        before = logs.copy()
        for i in range(n):
            peak, total = -np.inf, 0.0
            for j in range(n):
                if matrix[j, i] > 0.0:
                    peak = max(peak, before[j])
            for j in range(n):
                if matrix[j, i] > 0.0 and peak > -np.inf:
                    total += matrix[j, i] * math.exp(before[j] - peak)
            logs[i] = peak + math.log(total) if total > 0.0 else -np.inf
    else:
        stay, leave = np.zeros(n), np.full(n, -np.inf)
        for i in range(n):
            if awake[i] and log_keep < 0.0:
                stay[i] = log_keep * losses[i]
                leave[i] = math.log(-math.expm1(stay[i]))
        share.share_logs(logs, stay, leave, np.empty((2, n)))
    return lowest - gained


def doubling_regret(n_rounds: int) -> float:
    """Bound on the regret of ``LearnAlpha(doubling=True)`` against the best alpha in hindsight, nats.

    Epoch k takes m_k alphas and makes T_k transitions; starting it from the mixture keeps at
    least the weights of its best alpha times their posterior, so the sum telescopes to
    sum_k ln m_k + T_k delta_k with delta_k = 1 / (2 T_k): Corollary 1 once an epoch.

    >>> round(doubling_regret(64), 3)
    3.057
    """
    checks.whole(1, LONGEST, n_rounds=n_rounds)
    regret, epoch, played = 0.0, FIRST_EPOCH, 0
    while played < n_rounds:
        transitions = min(epoch, n_rounds - played - 1)
        regret += math.log(alpha_grid(horizon=min(epoch, LONGEST)).size) + transitions * 0.5 / epoch
        played += epoch
        epoch *= 2
    return regret
