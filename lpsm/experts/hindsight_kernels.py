"""Recursions behind `hindsight` and the bounds, and the switching rate of least loss over all of [0, 1].

`likelihoods` is exp(-losses) after each round's least loss was taken off (`Likelihoods`), so its rows have maximum 1;
the caller adds the taken-off losses back.

The best rate, with a bound on what any other could lose less: q(alpha) = exp(-L_T(alpha)) is a polynomial of degree
D = T - 1 with coefficients >= 0 in the basis
alpha^k (1-alpha)^(D-k): the sum over the sequences of experts with k switches.  On the ellipse with foci 0 and 1 that
is the image of x + is, 0 <= x <= pi/2, under the square of the sine, |alpha| + |1-alpha| = cosh 2s, hence
|q| <= cosh(2s)^D max q there, and the polynomial through q at N Chebyshev nodes differs from q nowhere on [0, 1] by
more than 4 cosh(2s)^D exp(-2s(N-1)) / (exp(2s) - 1) times max q.  At s = N/(2D) that falls as exp(-N^2/(2D)): some
6 sqrt(T) losses decide about all rates, however flat the curve is, and T losses exactly.
The nodes' losses come from one run of Learn-alpha over them; the polynomial is then read on a grid so fine that
nothing can hide between its points, and the best rate there is moved to where the slope is zero.
Sources: thesis (Monteleoni 2006) 2.2.2; Trefethen 2013, Approximation Theory and Approximation Practice, theorem 8.2,
for interpolation; Ehlich and Zeller 1964 for maxima of polynomials on grids.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, exp, inf, log, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft

from lpsm.arithmetic import log_add, log_others
from lpsm.arrays import Floats, Ints
from lpsm.checks import shaped
from lpsm.experts.grids import alpha_grid
from lpsm.experts.learner import checked_prior
from lpsm.experts.tracking import LearnAlpha
from lpsm.native import compiled


@compiled
def add_segment(losses: Floats, values: Floats, experts: Ints, differ: bool) -> tuple[Floats, Ints, Ints]:
    """One more segment: best and second-best (loss, expert, start of its segment) at every round's end, (T, 2) each.

    `values` and `experts` are those losses and experts of one segment less; (0, 2) for the first segment.
    """
    rounds, n = losses.shape
    first, running, since = len(values) == 0, np.full(n, np.inf), np.zeros(n, np.int64)
    new_values, new_experts = np.full((rounds, 2), np.inf), np.full((rounds, 2), -1)
    new_starts = np.zeros((rounds, 2), np.int64)
    for t in range(rounds):
        for i in range(n):
            enter = np.inf
            if t > 0 and not first:
                enter = values[t - 1, 1] if differ and experts[t - 1, 0] == i else values[t - 1, 0]
            elif t == 0 and first:
                enter = 0.0
            if enter < running[i]:
                running[i] = enter
                since[i] = t
            value = running[i] + losses[t, i]
            running[i] = value
            rank = 0 if value < new_values[t, 0] else 1
            if rank == 0:
                new_values[t, 1], new_experts[t, 1], new_starts[t, 1] = (
                    new_values[t, 0], new_experts[t, 0], new_starts[t, 0],
                )  # fmt: skip
            if value < new_values[t, rank]:
                new_values[t, rank], new_experts[t, rank], new_starts[t, rank] = value, i, since[i]
    return new_values, new_experts, new_starts


@compiled
def _slopes_at(likelihoods: Floats, prior: Floats, alpha: float, result: Floats) -> None:
    """Loss, slope and curvature of Fixed-share at a rate in (0, 1), n >= 2, by carrying both derivatives."""
    rounds, n = likelihoods.shape
    weights = np.zeros((3, n))  # the weights and their first and second derivative, one common scale
    weights[0] = prior
    rests, sums, others, log_scale, part = np.empty(3), np.empty(3), np.empty(3), 0.0, 1.0 / (n - 1)
    for t in range(rounds):
        top = 0
        for i in range(n):
            for order in range(3):
                weights[order, i] *= likelihoods[t, i]
            if weights[0, i] > weights[0, top]:
                top = i
        for order in range(3):
            others[order] = 0.0  # all but the heaviest: total minus own would cancel for that one
            for i in range(n):
                if i != top:
                    others[order] += weights[order, i]
            sums[order] = others[order] + weights[order, top]
        scale = sums[0]
        if scale <= 0.0:
            result[:] = np.inf
            return
        log_scale += np.log(scale)
        others /= scale
        sums /= scale
        if t == rounds - 1:
            result[0], result[1], result[2] = -log_scale, -sums[1], sums[1] * sums[1] - sums[2]
            return
        rescale = 1.0 / scale
        for i in range(n):
            for order in range(3):
                weights[order, i] *= rescale
                rests[order] = part * (others[order] if i == top else sums[order] - weights[order, i])
            own, slope = weights[0, i], weights[1, i]
            for order in range(3):
                weights[order, i] = (1.0 - alpha) * weights[order, i] + alpha * rests[order]
            weights[1, i] += rests[0] - own
            weights[2, i] += 2.0 * (rests[1] - slope)


@compiled
def switch_coefficients(losses: Floats, log_prior: Floats) -> Floats:
    """Logarithm of the summed prior(s_1) exp(-loss of s) / (n-1)^k over the sequences with k switches, k = 0 .. T-1."""
    rounds, n = losses.shape
    logs, others, into, result = np.full((rounds, n), -np.inf), np.empty(n), np.empty(n), np.empty(rounds)
    logs[0] = log_prior
    spread = np.log(n - 1.0)
    for t in range(rounds):
        into[:] = -np.inf
        for k in range(t + 1 if t > 0 else 0):
            log_others(logs[k], others)
            for i in range(n):
                logs[k, i] = log_add(logs[k, i], into[i])
                into[i] = others[i] - spread
        logs[: t + 1] -= losses[t]
    for k in range(rounds):
        result[k] = log_others(logs[k], others)
    return result


@compiled
def _moves(likelihoods: Floats, prior: Floats, matrix: Floats, counts: Floats) -> float:
    """Expected moves given the losses into `counts`; the log-likelihood is returned."""
    rounds, n = likelihoods.shape
    ahead, scales, behind, pulled = np.zeros((rounds, n)), np.zeros(rounds), np.ones(n), np.empty(n)
    log_scale = 0.0
    for t in range(rounds):
        for i in range(n):
            weight = prior[i] if t == 0 else 0.0
            for j in range(n if t > 0 else 0):
                weight += ahead[t - 1, j] * matrix[j, i]
            ahead[t, i] = weight * likelihoods[t, i]
            scales[t] += ahead[t, i]
        if scales[t] <= 0.0:
            return -np.inf
        log_scale += np.log(scales[t])
        ahead[t] /= scales[t]
    counts[:] = 0.0
    for t in range(rounds - 1, 0, -1):
        for i in range(n):
            pulled[i] = likelihoods[t, i] * behind[i] / scales[t]
        for j in range(n):
            behind[j] = 0.0
            for i in range(n):
                share = matrix[j, i] * pulled[i]
                behind[j] += share
                counts[j, i] += ahead[t - 1, j] * share
    return log_scale


def baum_welch(
    likelihoods: Floats, prior: Floats, start: Floats, tolerance: float, max_iterations: int
) -> tuple[Floats, Floats, float, float, int]:
    """(matrix, counts, log-likelihood, residual, iterations) of the re-estimation of a transition matrix.

    A plain step multiplies an entry by counts / (visits entry), a stretched one by a power of that; steps are stretched
    while that does not lower the likelihood, since plain ones crawl towards zero entries.
    """
    matrix, counts, trial, moves = start, np.zeros_like(start), start, np.empty_like(start)
    log_scale, residual, stretch = -np.inf, np.inf, 1.0
    for done in range(max(0, int(max_iterations)) + 1):
        gained = _moves(likelihoods, prior, trial, moves)
        if gained >= log_scale or stretch == 1.0:
            if gained == -np.inf:  # at first, or an entry fell below the smallest float while the losses still need it
                break
            stretch *= 1.5 if done > 0 else 1.0
            matrix, counts, log_scale = trial, moves.copy(), gained
            visits = counts.sum(axis=1, keepdims=True)
            residual = float(np.abs(counts - visits * matrix).max())
            if residual <= tolerance:
                break
        else:
            stretch = 1.0
        with np.errstate(all="ignore"):
            grown = np.where((counts > 0.0) & (matrix > 0.0), (counts / (visits * matrix)) ** stretch, 0.0)
            trial = np.where(visits > 0.0, matrix * grown, matrix)
            trial /= trial.sum(axis=1, keepdims=True)
    return matrix, counts, log_scale, residual, done


def checked_losses(losses: ArrayLike) -> Floats:
    """`losses` as a contiguous (T, n) matrix, T, n >= 1, without NaN or negative infinity; +inf is legal."""
    matrix = shaped("losses", losses, "T", "n", filled=True)
    if np.isnan(matrix).any() or np.isneginf(matrix).any():
        raise ValueError("losses must be numbers above -inf, got NaN or -inf")
    return matrix


class Likelihoods:
    """Losses (T, n) as likelihoods relative to each round's least loss, for a mixture that starts at `prior`, (n,).

    `shifted` and `likelihoods` (T, n) have row minimum 0 and row maximum 1, `offset` is the sum of what
    was taken off; experts without prior weight count as infinitely bad in the first round.  `finite` is
    False where a round then holds only infinities, and nothing is taken off.
    """

    def __init__(self, losses: ArrayLike, prior: ArrayLike | None) -> None:
        matrix = checked_losses(losses)
        self.prior = checked_prior("prior", prior, matrix.shape[1])
        if not self.prior.all():
            matrix = matrix.copy()
            matrix[0, self.prior == 0.0] = np.inf
        least = matrix.min(axis=1)
        self.finite = bool(np.isfinite(least).all())
        self.offset = float(least.sum())
        self.shifted = matrix - least[:, None] if self.finite else matrix
        self.likelihoods = np.exp(-self.shifted)

    def rounding(self, loss: float) -> float:
        """How far a total loss computed to be `loss` can be off."""
        return 2e-15 * max(1.0, abs(self.offset), abs(loss))


LINEAR_FROM = 1e-100  # a smaller rate, and the rate 1, need the logarithmic recursion
MOST_POINTS = 2**22  # of the fine grid
CACHED = 32_768  # weights of the nodes played together: they stay in the second-level cache
APART = 16  # losses kept back from `max_evaluations` for what is computed beside the nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class BestAlpha:
    """The switching rate of least loss; no rate in [0, 1] loses less than `loss - gap`."""

    alpha: float
    loss: float
    gap: float
    evaluations: int


def search(prepared: Likelihoods, tolerance: float, max_evaluations: int) -> BestAlpha:
    """Return the best rate for two rounds or more of at least two experts, with a finite loss in every round."""
    rounds = len(prepared.shifted)
    nodes = nodes_for(rounds, 0.25 * tolerance, max_evaluations - APART)
    error = interpolation_error(rounds, nodes)
    values = node_losses(prepared, alpha_grid(kind="chebyshev", size=nodes))
    lowest = float(values.min())
    around, excess = read_between(np.exp(lowest - values), 0.25 * tolerance)
    rates = np.unique(np.concatenate(([0.0], around, [1.0])))
    table = slopes(prepared, rates)
    best = int(table[:, 0].argmin())
    alpha, loss = float(rates[best]), float(table[best, 0])
    if 0 < best < rates.size - 1:
        near = slice(best - 1, best + 2)
        still = stationary_rate(prepared, rates[near].tolist(), table[near, 0].tolist())
        there = float(slopes(prepared, np.array([still]))[0, 0])
        if there <= loss + prepared.rounding(loss):  # among equal losses the stationary rate stands
            alpha, loss = still, min(loss, there)
    for end in (-1, 0):  # an end that ties to rounding is the answer, 0 before 1
        if table[end, 0] <= loss + prepared.rounding(loss):
            alpha, loss = float(rates[end]), float(table[end, 0])
    floor = prepared.offset + lowest - excess + np.log1p(-error) if error < 1.0 else -inf
    return BestAlpha(alpha=alpha, loss=loss, gap=max(0.0, loss - float(floor)), evaluations=nodes + rates.size + 1)


def stationary_rate(prepared: Likelihoods, rates: list[float], values: list[float]) -> float:
    """A rate of zero slope inside (rates[0], rates[2]), given that rates[1] has the least of the three losses.

    The side towards which the loss falls is halved until the slope turns on it.  Its far end is no lower than the near
    one, so that a minimum stays between them whatever other stationary points there are.
    """
    from scipy.optimize import brentq  # slow to import, and needed here alone

    def slope_at(rate: float) -> float:
        return float(slopes(prepared, np.array([rate]))[0, 1])

    near, sign = rates[1], 1.0 if slope_at(rates[1]) < 0.0 else -1.0
    far, far_value = (rates[2], values[2]) if sign > 0.0 else (rates[0], values[0])
    while not sign * slope_at(far) >= 0.0:
        middle = 0.5 * (near + far)
        if middle in (near, far):
            return near
        value, slope, _ = slopes(prepared, np.array([middle]))[0].tolist()
        if sign * slope < 0.0 and value <= far_value:
            near = middle
        else:
            far, far_value = middle, value
    return float(brentq(slope_at, near, far, xtol=1e-300, rtol=9e-16))


def interpolation_error(rounds: int, nodes: int) -> float:
    """How far the polynomial through `nodes` nodes can be from q, in units of max q: the bound above at s = N/(2D)."""
    degree = rounds - 1
    if nodes > degree:
        return 0.0
    return exp(min(0.0, log(4.0 * degree / nodes) + nodes / degree - nodes * nodes / (2.0 * degree)))


def nodes_for(rounds: int, error: float, most: int) -> int:
    """Nodes whose error is at most that, or as many as there may be."""
    nodes = 2
    while nodes < most and interpolation_error(rounds, nodes) > error:
        nodes += 1 + nodes // 64
    return max(2, min(nodes, rounds, most))


def node_losses(prepared: Likelihoods, rates: Floats) -> Floats:
    """Losses at many rates, beyond `offset`: those of a run of Learn-alpha, told apart by the weights of its alphas."""
    n = prepared.shifted.shape[1]
    together = max(16, CACHED // n)
    losses = []
    for first in range(0, rates.size, together):
        mixture = LearnAlpha(n, rates[first : first + together], prior=prepared.prior)
        total = mixture.run(prepared.shifted, weights=False).total_loss
        with np.errstate(divide="ignore", invalid="ignore"):
            losses.append(total - np.log(mixture.alpha_weights * mixture.alphas.size))
    return np.concatenate(losses)


def read_between(values: Floats, tolerance: float) -> tuple[Floats, float]:
    """The rates about the largest value of the polynomial through Chebyshev nodes, and ln of a bound on its values."""
    degree = values.size - 1
    points = fft.next_fast_len(min(MOST_POINTS, int(0.5 * pi * degree / sqrt(0.5 * tolerance)) + 2 * values.size))
    coefficients = np.zeros(points)
    coefficients[: values.size] = fft.dct(values, type=2) / (2 * values.size)
    curve = fft.dct(coefficients, type=3)
    at = int(curve.argmax())
    angles = pi / (4 * points) * (2 * np.arange(max(at - 1, 0), min(at + 2, points)) + 1)
    return np.sin(angles) ** 2, log(np.abs(curve).max() / cos(degree * pi / (2 * points)))


def slopes(prepared: Likelihoods, rates: Floats) -> Floats:
    """(m, 3) rows of loss and its two derivatives at `rates`."""
    table = np.full((rates.size, 3), np.nan)
    table[:, 0] = np.inf
    if not prepared.finite:
        return table
    if prepared.shifted.shape[1] == 1:
        table[:] = prepared.offset, 0.0, 0.0
        return table
    for at, rate in enumerate(rates):
        if LINEAR_FROM <= rate < 1.0:
            _slopes_at(prepared.likelihoods, prepared.prior, rate, table[at])
        else:
            table[at, 0] = node_losses(prepared, rates[at : at + 1])[0]
    table[:, 0] += prepared.offset
    return table
