"""What the best comparator would have paid, once all losses are known.

What it models: given losses (T, n) in nats (+inf is legal), the best single expert, the best partition of the rounds
into k segments, and the switching rate and the transition matrix with which one loses least.  `prior` (n,) are the
first weights, uniform when left out.
What it leaves out: comparators that mix experts inside a round, and the exact best transition matrix (the likelihood of
a hidden Markov chain has no known global maximiser).
Sources: Monteleoni 2006, section 2.2.2, for switching rates and the general Markov case; Herbster and Warmuth 1998 for
k-partitions; Freund, Schapire, Singer and Warmuth 1997, section 2, for experts that sleep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lpsm.arrays import Floats, Ints
from lpsm.checks import checked, frozen, number, whole
from lpsm.experts import hindsight_kernels as kernels
from lpsm.experts.hindsight_kernels import BestAlpha, Likelihoods, checked_losses, search, slopes
from lpsm.experts.learner import checked_rates, checked_transitions

__all__ = [
    "BestAlpha", "BestExpert", "BestTransitions", "Partition", "alpha_losses", "alpha_slopes", "awake_regrets",
    "best_alpha", "best_expert", "best_partition", "best_transitions", "partition_curve",
]  # fmt: skip
__dir__ = __all__.copy


@dataclass(frozen=True, slots=True, kw_only=True)
class BestExpert:
    """The expert of least total loss (the first of several), and that loss in nats."""

    expert: int
    loss: float


@frozen
class Partition:
    """Segments of constant expert: segment s covers rounds starts[s] up to the next start (or T)."""

    starts: Ints
    experts: Ints
    loss: float


@frozen
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


@checked
def awake_regrets(mixture: ArrayLike, losses: ArrayLike, awake: ArrayLike) -> Floats:
    """What a mixture, of losses (T,), lost beyond each expert over the rounds in which that expert was awake, (n,).

    `losses` and `awake` are (T, n); losses of experts asleep are not looked at, and rounds in which the mixture or the
    expert lost infinitely count for nothing.

    >>> awake_regrets([1.0, 2.0], [[0.5, 9.0], [1.0, 1.5]], [[True, False], [True, True]]).tolist()
    [1.5, 0.5]
    """
    theirs = np.asarray(losses, float)
    mine = np.broadcast_to(np.asarray(mixture, float)[:, None], theirs.shape)
    counts = np.asarray(awake, bool) & np.isfinite(mine) & np.isfinite(theirs)
    return np.asarray(np.subtract(mine, theirs, out=np.zeros(theirs.shape), where=counts).sum(axis=0))


@checked
def best_expert(losses: ArrayLike) -> BestExpert:
    """The single expert that loses least over all rounds.

    >>> best_expert([[1.0, 0.0], [0.5, 0.25]])
    BestExpert(expert=1, loss=0.25)
    """
    totals = checked_losses(losses).sum(axis=0)
    expert = int(totals.argmin())
    return BestExpert(expert=expert, loss=float(totals[expert]))


@checked
def partition_curve(losses: ArrayLike, k_max: int, *, neighbours_differ: bool = False) -> Floats:
    """Least loss of a partition into k segments, for k = 1 .. k_max, in [1, T]; (k_max,).  O(T n k) time.

    Neighbouring segments may hold the same expert, so that the curve never rises; with `neighbours_differ` there are
    exactly k - 1 changes of expert, and the loss is infinite where no such sequence exists (n = 1, k > 1).

    >>> partition_curve([[0, 1], [0, 1], [1, 0]], 3).tolist()
    [1.0, 0.0, 0.0]
    """
    return np.array([values[-1, 0] for values, _, _ in _layers(losses, k_max, neighbours_differ)])


@checked
def best_partition(losses: ArrayLike, k: int, *, neighbours_differ: bool = False) -> Partition:
    """The k segments, each with one expert, that lose least together.

    Arguments and time as in `partition_curve`; memory O(T k).  There are always k segments.

    Raises
    ------
    ValueError
        If k lies outside [1, T], or no sequence with k - 1 changes has a finite loss.
    """
    layers = list(_layers(losses, k, neighbours_differ))
    loss = float(layers[-1][0][-1, 0])
    if not np.isfinite(loss):
        raise ValueError(f"k must allow a sequence of finite loss, got {k}")
    found = np.empty((2, k), np.int64)  # starts, experts
    end, follower = -1, -1
    for layer in range(k - 1, -1, -1):
        _, experts, starts = layers[layer]
        rank = 1 if neighbours_differ and experts[end, 0] == follower else 0
        follower = experts[end, rank]
        found[:, layer] = starts[end, rank], follower
        end = starts[end, rank] - 1
    return Partition(starts=found[0], experts=found[1], loss=loss)


@checked
def alpha_losses(losses: ArrayLike, alphas: ArrayLike, *, prior: ArrayLike | None = None) -> Floats:
    """Total loss L_T(alpha) of Fixed-share at each switching rate (m,) in [0, 1], (m,): equations (2.1)-(2.3)."""
    return alpha_slopes(losses, alphas, prior=prior)[:, 0]


@checked
def alpha_slopes(losses: ArrayLike, alphas: ArrayLike, *, prior: ArrayLike | None = None) -> Floats:
    """L_T(alpha) with its first and second derivative, shape (m, 3).

    Derivatives are carried along the recursion, so they are exact to rounding; they are NaN at
    the rates 0 and 1 and below 1e-100, where only the loss is computed.
    """
    return slopes(Likelihoods(losses, prior), checked_rates(np.atleast_1d(alphas)))


@checked
def best_alpha(
    losses: ArrayLike, *, prior: ArrayLike | None = None, tolerance: float = 1e-6, max_evaluations: int = 20_000
) -> BestAlpha:
    """The switching rate in [0, 1] of least loss, searched globally.

    An interior rate is a stationary point to rounding.  Where switching changes nothing (one expert or one round) the
    rate is 0.

    Parameters
    ----------
    losses, prior
        As everywhere here.
    tolerance
        Wanted `gap`, nats; below about 1e-8 it may come out larger.
    max_evaluations
        Losses computed at most; some 6 sqrt(T) suffice, with fewer `gap` is larger, or infinite.
    """
    prepared = Likelihoods(losses, prior)
    if 1 in prepared.shifted.shape or not prepared.finite:
        loss = float(slopes(prepared, np.zeros(1))[0, 0])
        return BestAlpha(alpha=0.0, loss=loss, gap=0.0, evaluations=1)
    return search(prepared, number("tolerance", tolerance), max_evaluations)


@checked
def best_transitions(
    losses: ArrayLike,
    *,
    start: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 5_000,
) -> BestTransitions:
    """A transition matrix at which Markov-share's loss is stationary (Baum-Welch), with `prior` kept fixed.

    Parameters
    ----------
    losses
        (T, n); every round needs a finite loss.
    start
        Where the iteration begins, (n, n), and no lower than what is found; rows sum to 1.  Fixed-share at rate 1/2
        when left out.
    tolerance, max_iterations
        It ends once `residual` is at most this, or after so many.

    Raises
    ------
    ValueError
        On a round without a finite loss, or a `start` that rules all sequences of finite loss out.
    """
    prepared = Likelihoods(losses, prior)
    if not prepared.finite:
        raise ValueError("losses must allow a finite value in every round, got a round of infinities")
    n = prepared.prior.size
    if start is None:
        begin = np.full((n, n), 0.5 / max(n - 1, 1))
        np.fill_diagonal(begin, 0.5 if n > 1 else 1.0)
    else:
        begin = checked_transitions("start", start, n)
    matrix, counts, log_scale, residual, iterations = kernels.baum_welch(
        prepared.likelihoods, prepared.prior, begin, number("tolerance", tolerance), max_iterations
    )
    if not (np.isfinite(log_scale) and np.isfinite(counts).all()):
        raise ValueError(f"start must allow a sequence of finite loss, within the range of floats, got {start!r}")
    loss = prepared.offset - log_scale
    return BestTransitions(matrix=matrix, loss=loss, counts=counts, residual=residual, iterations=iterations)


def _layers(losses: ArrayLike, k: int, differ: bool) -> Iterator[tuple[Floats, Ints, Ints]]:
    """The layers of one segment, of two, and so on up to k, as `add_segment` makes them; each from the one before."""
    matrix = checked_losses(losses)
    if not 1 <= whole(k=k) <= len(matrix):
        raise ValueError(f"k must lie in [1, {len(matrix)}], got {k}")
    values, experts = np.zeros((0, 2)), np.zeros((0, 2), np.int64)
    for _ in range(k):
        values, experts, starts = kernels.add_segment(matrix, values, experts, differ)
        yield values, experts, starts
