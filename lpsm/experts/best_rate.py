"""The switching rate of least loss over all of [0, 1], with a bound on what any other rate could lose less.

What it models: q(alpha) = exp(-L_T(alpha)) is a polynomial of degree D = T - 1 with coefficients >= 0 in the basis
alpha^k (1-alpha)^(D-k): the sum over the sequences of experts with k switches.  On the ellipse with foci 0 and 1 that
is the image of x + is, 0 <= x <= pi/2, under the square of the sine, |alpha| + |1-alpha| = cosh 2s, hence
|q| <= cosh(2s)^D max q there, and the polynomial through q at N Chebyshev nodes differs from q nowhere on [0, 1] by
more than 4 cosh(2s)^D exp(-2s(N-1)) / (exp(2s) - 1) times max q.  At s = N/(2D) that falls as exp(-N^2/(2D)): some
6 sqrt(T) losses decide about all rates, however flat the curve is, and T losses exactly.
The nodes' losses come from one run of Learn-alpha over them; the polynomial is then read on a grid so fine that
nothing can hide between its points, and the best rate there is moved to where the slope is zero.
What it leaves out: the loss and its slopes at a single rate (`hindsight_kernels`).
Sources: thesis (Monteleoni 2006) 2.2.2; Trefethen 2013, Approximation Theory and Approximation Practice, theorem 8.2,
for interpolation; Ehlich and Zeller 1964 for maxima of polynomials on grids.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, exp, inf, log, pi, sqrt

import numpy as np
from scipy import fft

from lpsm.arrays import Floats
from lpsm.experts import hindsight_kernels as kernels
from lpsm.experts.grids import alpha_grid
from lpsm.experts.loss_tables import Likelihoods
from lpsm.experts.tracking import LearnAlpha

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
    linear = (rates >= LINEAR_FROM) & (rates < 1.0)
    table[linear] = kernels.share_slopes(prepared.likelihoods, prepared.prior, rates[linear])
    for at in np.flatnonzero(~linear):
        table[at, 0] = node_losses(prepared, rates[at : at + 1])[0]
    table[:, 0] += prepared.offset
    return table
