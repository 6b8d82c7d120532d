"""Which switching rates Learn-alpha should try.

What it models: finite sets of alphas in place of the whole interval [0, 1].

``kind="kl"`` is the smallest set in which every alpha* has a neighbour with relative entropy D(alpha* || alpha_j) <=
delta (section 2.3); with delta = 1/(2T) Learn-alpha's regret against the best alpha in hindsight is at most
ln m + (T-1) delta, about (1/2) ln T + 0.95.  It needs about (pi/2) sqrt(T) alphas.  Take it when the horizon is known.

``kind="chebyshev"`` are the nodes sin^2((2j-1) pi / (4m)), equally weighted.  Since exp(-L_T(alpha)) is a polynomial of
degree T-1 in alpha, m >= T/2 of them give exactly the Bayes mixture over alpha with the Krichevsky-Trofimov prior
1/(pi sqrt(alpha(1-alpha))).  This goes beyond the thesis.

What it leaves out: grids over transition matrices.
Source: Monteleoni 2006, section 2.3, equations (2.12)-(2.14); mirrored through 1/2, which is included (mirroring
without it can leave a gap of several delta in the middle).
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from lpsm.arrays import Floats
from lpsm.checks import at_least, known, number, positive, shown, whole
from lpsm.experts.learner import checked_rates

LONGEST = 10**8
"""Most rounds of a horizon: 16,000 alphas."""
_LARGEST = 10**6


def alpha_grid(
    horizon: int | None = None, delta: float | None = None, kind: str = "kl", size: int | None = None
) -> Floats:
    """Return the alphas in increasing order, shape (m,).

    Kind "kl" takes `delta`, the largest allowed divergence of any alpha* from the grid, nats, or the number of rounds
    `horizon`, short for ``delta=1 / (2 * horizon)``; kind "chebyshev" takes `size`, the number m of alphas.

    >>> len(alpha_grid(horizon=1000))
    51
    >>> alpha_grid(kind="chebyshev", size=2).round(4).tolist()
    [0.1464, 0.8536]
    """
    if kind == "chebyshev":
        if size is None or delta is not None or horizon is not None:
            raise ValueError(f'kind "chebyshev" takes size alone, got {size=}, {delta=}, {horizon=}')
        whole(1, _LARGEST, size=size)
        return np.array([math.sin((2 * j - 1) * math.pi / (4 * size)) ** 2 for j in range(1, size + 1)])
    known("kind", kind, ("kl", "chebyshev"))
    if size is not None or (delta is None) == (horizon is None):
        raise ValueError(
            f"give either horizon or delta (or kind='chebyshev' and size), got {horizon=}, {delta=}, {size=}"
        )
    if horizon is not None:
        if not 1.0 <= (rounds := number("horizon", horizon)) <= LONGEST or rounds != int(rounds):
            rule = f"horizon must be a whole number of rounds, at least 1 and at most {LONGEST}"
            raise ValueError(f"{rule}, got {shown(horizon)}")
        delta = 0.5 / rounds
    assert delta is not None
    positive(delta=delta)
    at_least(0.5 / LONGEST, delta=delta)
    lower = _lower_half(delta)
    return np.array([*lower, 0.5, *(1.0 - alpha for alpha in reversed(lower))])


def _divergence(p: float, q: float) -> float:
    """Relative entropy D(p || q) between coins with biases p and q, nats; infinite if q excludes what p allows."""
    total = 0.0
    for a, b in ((p, q), (1.0 - p, 1.0 - q)):
        if a > 0.0:
            total += a * math.log(a / b) if b > 0.0 else math.inf
    return max(total, 0.0)


def worst_divergence(alphas: ArrayLike) -> float:
    """Largest divergence of any alpha* in [0, 1] from its nearest grid point, equation (2.12), nats."""
    grid = sorted(checked_rates(np.ravel(alphas)).tolist())
    worst = max(_divergence(0.0, grid[0]), _divergence(1.0, grid[-1]))
    for left, right in pairwise(grid):
        if left < right:
            worst = max(worst, _gap(left, right))
    return worst


def _gap(left: float, right: float) -> float:
    """Largest divergence between two neighbours: where both are equally far, equations (2.13) and (2.14)."""
    if left == 0.0:
        return _divergence(0.0, right)  # the supremum, as alpha* falls to 0
    if right == 1.0:
        return _divergence(1.0, left)
    fall = math.log1p(-left) - math.log1p(-right)
    between = fall / (math.log(right / left) + fall)
    return _divergence(between, left)


@lru_cache(maxsize=64)  # of a long horizon that takes as long as thousands of rounds
def _lower_half(delta: float) -> list[float]:
    """The grid points below 1/2, by bisection on the angle theta, alpha = sin^2(theta)."""
    points: list[float] = []
    alpha = -math.expm1(-delta)
    step = math.sqrt(2.0 * delta)  # the distance in theta for small delta
    while alpha < 0.5:
        points.append(alpha)
        low = math.asin(math.sqrt(alpha))
        high = min(low + 2.0 * step, math.pi / 2)
        if high == math.pi / 2 or _gap(alpha, math.sin(high) ** 2) <= delta:
            high = math.pi / 2
        while True:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            trial = math.sin(middle) ** 2
            if trial < 1.0 and _gap(alpha, trial) <= delta:
                low = middle
            else:
                high = middle
        alpha = math.sin(low) ** 2
    return points
