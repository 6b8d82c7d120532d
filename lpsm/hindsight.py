"""What the best comparator would have paid, once all losses are known.

Given a (T, n) matrix of losses: the best single expert, the best expert of each
epoch, the best partition of the rounds into k segments, the switching rate whose
Fixed-share loses least, and the transition matrix whose Markov-share loses least.
Nothing here predicts; the learners' regret is measured against these.

Sources: thesis (Monteleoni 2006) 2.2.2 for the best switching rate and the general
Markov case; Herbster and Warmuth 1998 for k-partitions.  Left out: comparators that
mix experts inside a round, and the exact best transition matrix (the likelihood of a
hidden Markov chain has no known global maximiser; a stationary point is returned).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm import _hindsight_kernels as kernels
from lpsm._losses import Likelihoods, awake_regrets, checked_losses
from lpsm.experts.learner import checked_prior

__all__ = [
    "BestAlpha",
    "BestExpert",
    "BestTransitions",
    "Partition",
    "alpha_losses",
    "alpha_slopes",
    "awake_regrets",
    "best_alpha",
    "best_expert",
    "best_partition",
    "best_per_epoch",
    "best_transitions",
    "partition_curve",
]

Floats = NDArray[np.float64]
_LINEAR_FROM = 1e-100  # a smaller rate, and the rate 1, need the logarithmic recursion


@dataclass(frozen=True, slots=True, kw_only=True)
class BestExpert:
    """The expert of least total loss (the first of several), and that loss in nats."""

    expert: int
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Segments of constant expert: segment s covers rounds starts[s] up to the next start (or T)."""

    starts: NDArray[np.int64]
    experts: NDArray[np.int64]
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BestAlpha:
    """The switching rate of least loss; no rate in [0, 1] loses less than `loss - gap`."""

    alpha: float
    loss: float
    gap: float
    evaluations: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BestTransitions:
    """A stationary transition matrix and the posterior it induces.

    `counts[j, i]` is the expected number of moves from j to i given the losses, `residual`
    the largest abs(counts[j, i] - visits[j] matrix[j, i]), zero at an exact stationary point.
    """

    matrix: Floats
    loss: float
    counts: Floats
    residual: float
    iterations: int

    @property
    def visits(self) -> Floats:
        """Expected departures from each expert, (n,); they sum to T - 1."""
        return np.asarray(self.counts.sum(axis=1))


def best_expert(losses: ArrayLike) -> BestExpert:
    """The single expert that loses least over all rounds.

    >>> best_expert([[1.0, 0.0], [0.5, 0.25]])
    BestExpert(expert=1, loss=0.25)
    """
    totals = checked_losses(losses).sum(axis=0)
    expert = int(totals.argmin())
    return BestExpert(expert=expert, loss=float(totals[expert]))


def best_per_epoch(losses: ArrayLike, starts: ArrayLike) -> Partition:
    """The best expert of every given epoch.

    Parameters
    ----------
    losses : array_like, shape (T, n)
    starts : array_like of int, shape (e,)
        First round of every epoch, increasing, from 0.

    Raises
    ------
    ValueError
        If `starts` does not begin with 0, does not increase, or reaches T.
    """
    matrix = checked_losses(losses)
    first = np.asarray(starts, dtype=np.int64)
    if first.ndim != 1 or first.size == 0 or first[0] != 0 or (np.diff(first) <= 0).any() or first[-1] >= len(matrix):
        raise ValueError(f"starts must increase from 0 and stay below {len(matrix)}, got {starts!r}")
    totals = np.add.reduceat(matrix, first, axis=0)
    experts = totals.argmin(axis=1)
    return Partition(starts=first, experts=experts, loss=float(totals.min(axis=1).sum()))


def partition_curve(losses: ArrayLike, k_max: int, *, neighbours_differ: bool = False) -> Floats:
    """Least loss of a partition into k segments, for k = 1 .. k_max.

    Parameters
    ----------
    losses : array_like, shape (T, n)
    k_max : int
        In [1, T].
    neighbours_differ : bool
        False: neighbouring segments may hold the same expert, so that the curve never rises.
        True: exactly k - 1 changes of expert; infinite where no such sequence exists (n = 1, k > 1).

    Returns
    -------
    ndarray, shape (k_max,)

    Notes
    -----
    O(T n k) time; O(T) memory at any one k.

    >>> partition_curve([[0, 1], [0, 1], [1, 0]], 3).tolist()
    [1.0, 0.0, 0.0]
    """
    matrix = checked_losses(losses)
    _check_k(k_max, len(matrix))
    curve = np.empty(k_max)
    before = kernels.no_segment(len(matrix))
    for k in range(k_max):
        before = kernels.add_segment(matrix, before[0], before[1], before[2], k == 0, neighbours_differ)
        curve[k] = before[0][-1, 0]
    return curve


def best_partition(losses: ArrayLike, k: int, *, neighbours_differ: bool = False) -> Partition:
    """The k segments, each with one expert, that lose least together.

    Arguments and cost as in `partition_curve`; memory O(T k).  Where neighbours may hold the same
    expert, such neighbours are returned as found, so that there are always k segments.

    Raises
    ------
    ValueError
        If k lies outside [1, T], or no sequence with k - 1 changes has a finite loss.
    """
    matrix = checked_losses(losses)
    _check_k(k, len(matrix))
    layers = [kernels.no_segment(len(matrix))]
    for done in range(k):
        values, experts, starts = layers[-1]
        layers.append(kernels.add_segment(matrix, values, experts, starts, done == 0, neighbours_differ))
    loss = float(layers[k][0][-1, 0])
    if not np.isfinite(loss):
        raise ValueError(f"k must allow a sequence of finite loss, got {k}")
    found_starts, found_experts = np.empty(k, np.int64), np.empty(k, np.int64)
    end, follower = len(matrix) - 1, -1
    for layer in range(k, 0, -1):
        _, experts, starts = layers[layer]
        rank = 1 if neighbours_differ and experts[end, 0] == follower else 0
        follower = experts[end, rank]
        found_experts[layer - 1], found_starts[layer - 1] = follower, starts[end, rank]
        end = starts[end, rank] - 1
    return Partition(starts=found_starts, experts=found_experts, loss=loss)


def alpha_losses(losses: ArrayLike, alphas: ArrayLike, *, prior: ArrayLike | None = None) -> Floats:
    """Total loss L_T(alpha) of Fixed-share at each switching rate (thesis eqs. 2.1-2.3).

    Parameters
    ----------
    losses : array_like, shape (T, n)
    alphas : array_like, shape (m,), in [0, 1]
    prior : array_like, shape (n,), optional
        First weights; uniform when left out.

    Returns
    -------
    ndarray, shape (m,)
    """
    return alpha_slopes(losses, alphas, prior=prior)[:, 0]


def alpha_slopes(losses: ArrayLike, alphas: ArrayLike, *, prior: ArrayLike | None = None) -> Floats:
    """L_T(alpha) with its first and second derivative, shape (m, 3).

    Derivatives are carried along the recursion, so they are exact to rounding; they are NaN at
    the rates 0 and 1 and below 1e-100, where only the loss is computed.
    """
    matrix = checked_losses(losses)
    rates = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    if not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise ValueError(f"alpha must lie in [0, 1], got {alphas!r}")
    return _slopes(Likelihoods(matrix, checked_prior("prior", prior, matrix.shape[1])), rates)


def best_alpha(
    losses: ArrayLike, *, prior: ArrayLike | None = None, tolerance: float = 1e-6, max_evaluations: int = 20_000
) -> BestAlpha:
    """The switching rate in [0, 1] of least loss, searched globally.

    With theta = ln(alpha / (1 - alpha)) the loss is (T-1) ln(1 + e^theta) - h(theta), where h is
    the logarithm of a polynomial in e^theta with coefficients >= 0, hence convex.  On an interval
    h lies below its chord, and the convex remainder has its minimum in closed form: a lower bound
    of the loss.  Intervals are split until none can hold a loss below the best by `tolerance`.

    Parameters
    ----------
    losses : array_like, shape (T, n)
    prior : array_like, shape (n,), optional
    tolerance : float
        Wanted `gap`, nats.
    max_evaluations : int
        Losses computed at most; a flat curve at a small tolerance stops here with a larger `gap`.

    Returns
    -------
    BestAlpha
        An interior rate is a stationary point to rounding.  Where switching changes nothing
        (one expert or one round) the rate is 0.
    """
    matrix = checked_losses(losses)
    prepared = Likelihoods(matrix, checked_prior("prior", prior, matrix.shape[1]))
    moves = len(matrix) - 1
    if moves == 0 or matrix.shape[1] == 1 or not prepared.finite:
        loss = float(_slopes(prepared, np.zeros(1))[0, 0])
        return BestAlpha(alpha=0.0, loss=loss, gap=0.0, evaluations=1)
    rates = np.sin(np.linspace(0.0, np.pi / 2.0, 33)) ** 2
    rates[-1] = 1.0
    table = _slopes(prepared, rates)
    polished = -1.0
    while True:
        best = int(table[:, 0].argmin())
        if rates[best] != polished:
            rates, table = _with_polished_best(prepared, rates, table)
            best = int(table[:, 0].argmin())
            polished = rates[best]
        gaps = table[best, 0] - _lower_bounds(rates, table[:, 0], moves)
        wide = np.flatnonzero((gaps > tolerance) & (np.diff(rates) > 4e-16 * rates[1:]))
        if wide.size == 0 or rates.size + wide.size > max_evaluations:
            break
        middles = _middles(rates[wide], rates[wide + 1])
        table = np.concatenate((table, _slopes(prepared, middles)))
        rates, first = np.unique(np.concatenate((rates, middles)), return_index=True)
        table = table[first]
    for end in (rates.size - 1, 0):  # an end that ties to rounding is the answer, 0 before 1
        if table[end, 0] <= table[best, 0] + prepared.rounding(table[best, 0]):
            best = end
    gap = max(0.0, float(gaps.max()))
    return BestAlpha(alpha=float(rates[best]), loss=float(table[best, 0]), gap=gap, evaluations=rates.size)


def best_transitions(
    losses: ArrayLike,
    *,
    start: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 5_000,
) -> BestTransitions:
    """A transition matrix at which Markov-share's loss is stationary (Baum-Welch).

    Parameters
    ----------
    losses : array_like, shape (T, n)
        Every round needs a finite loss.
    start : array_like, shape (n, n), optional
        Where the iteration begins; rows sum to 1; the loss found is never above the loss here.
        Fixed-share at rate 1/2 when left out.
    prior : array_like, shape (n,), optional
        First weights, kept fixed; uniform when left out.
    tolerance : float
        Stop once `residual` is at most this.
    max_iterations : int
        Stop after this many; `residual` tells what is left.

    Raises
    ------
    ValueError
        On a round without a finite loss, or a `start` that rules all sequences of finite loss out.
    """
    matrix = checked_losses(losses)
    prepared = Likelihoods(matrix, checked_prior("prior", prior, matrix.shape[1]))
    if not prepared.finite:
        raise ValueError("losses must allow a finite value in every round, got a round of infinities")
    n = matrix.shape[1]
    if start is None:
        begin = np.full((n, n), 0.5 / max(n - 1, 1))
        np.fill_diagonal(begin, 0.5 if n > 1 else 1.0)
    else:
        begin = np.array(start, dtype=np.float64)
        if begin.shape != (n, n):
            raise ValueError(f"start must have shape {(n, n)}, got {begin.shape}")
        if not ((begin >= 0.0).all() and np.allclose(begin.sum(axis=1), 1.0, rtol=0.0, atol=1e-9)):
            raise ValueError(f"start must hold probabilities in rows that sum to 1, got {start!r}")
    found, counts, log_scale, residual, iterations = kernels.baum_welch(
        prepared.likelihoods, prepared.prior, begin, tolerance, max_iterations
    )
    if not (np.isfinite(log_scale) and np.isfinite(counts).all()):
        raise ValueError(f"start must allow a sequence of finite loss, within the range of floats, got {start!r}")
    return BestTransitions(
        matrix=found, loss=prepared.offset - log_scale, counts=counts, residual=residual, iterations=iterations
    )


def _slopes(prepared: Likelihoods, rates: Floats) -> Floats:
    """(m, 3) rows of loss and its two derivatives at `rates`."""
    table = np.full((rates.size, 3), np.nan)
    table[:, 0] = np.inf
    if not prepared.finite:
        return table
    if prepared.shifted.shape[1] == 1:
        table[:] = prepared.offset, 0.0, 0.0
        return table
    linear = (rates >= _LINEAR_FROM) & (rates < 1.0)
    table[linear] = kernels.share_slopes(prepared.likelihoods, prepared.prior, rates[linear])
    for at in np.flatnonzero(~linear):
        table[at, 0] = kernels.share_loss_log(prepared.shifted, prepared.log_prior, rates[at])
    table[:, 0] += prepared.offset
    return table


def _lower_bounds(rates: Floats, values: Floats, moves: int) -> Floats:
    """Lower bound of the loss on each interval between neighbouring rates, (len(rates) - 1,)."""
    bounds = np.empty(rates.size - 1)
    # next to an end h <= its value at the inner point: the loss falls by at most (T-1) ln(1/(1-alpha))
    bounds[0] = min(values[0], values[1] + moves * np.log1p(-rates[1]))
    bounds[-1] = min(values[-1], values[-2] + moves * np.log(rates[-2]))
    alpha, loss = rates[1:-1], values[1:-1]
    theta, remainder = np.log(alpha) - np.log1p(-alpha), -moves * np.log1p(-alpha)
    h = remainder - loss
    wide = np.diff(theta)
    apart = wide > 0.0  # neighbouring floats have one theta, and nothing between them
    slope = np.diff(h) / np.where(apart, wide, 1.0)
    at = np.clip(slope / moves, alpha[:-1], alpha[1:])
    chord = h[:-1] + slope * (np.log(at) - np.log1p(-at) - theta[:-1])
    least = np.minimum(loss[:-1], loss[1:])
    bounds[1:-1] = np.where(apart, np.minimum(-moves * np.log1p(-at) - chord, least), least)
    return bounds


def _middles(low: Floats, high: Floats) -> Floats:
    """Where to split: half way in arcsin(sqrt(alpha)), but fast towards the ends 0 and 1."""
    half = np.sin(0.5 * (np.arcsin(np.sqrt(low)) + np.arcsin(np.sqrt(high)))) ** 2
    half = np.where(low == 0.0, high / 64.0, half)
    half = np.where(high == 1.0, 1.0 - (1.0 - low) / 64.0, half)
    return np.asarray(np.where((half > low) & (half < high), half, 0.5 * (low + high)))


def _with_polished_best(prepared: Likelihoods, rates: Floats, table: Floats) -> tuple[Floats, Floats]:
    """Add the stationary rate beside the best one so far, if that is interior, or put it in its place."""
    best = int(table[:, 0].argmin())
    if best in (0, rates.size - 1):
        return rates, table
    alpha = kernels.stationary_rate(
        prepared.likelihoods,
        prepared.prior,
        rates[best - 1 : best + 2].copy(),
        table[best - 1 : best + 2, 0] - prepared.offset,
    )
    row = _slopes(prepared, np.array([alpha]))
    if row[0, 0] < table[best, 0]:
        at = int(np.searchsorted(rates, alpha))
        return np.insert(rates, at, alpha), np.insert(table, at, row[0], axis=0)
    if row[0, 0] <= table[best, 0] + prepared.rounding(table[best, 0]):  # the same loss: the stationary rate stands
        rates, table = rates.copy(), table.copy()
        rates[best], table[best] = alpha, (table[best, 0], *row[0, 1:])
    return rates, table


def _check_k(k: int, rounds: int) -> None:
    if not 1 <= k <= rounds:
        raise ValueError(f"k must lie in [1, {rounds}], got {k}")
