"""Tuning on a grid: the one-standard-error rule.

What it models: scores on which parameters are tuned are noisy, and where they hardly differ the best of many lies
anywhere, at the edge of the grid as soon as in its middle.  So the best is not taken, but of all points whose mean loss
is within one standard error of the least the one that lies most steps from the edge of the grid (Breiman, Friedman,
Olshen and Stone 1984, section 3.4.3; Hastie, Tibshirani and Friedman 2009, section 7.10; both have the simplest model
in the place of the innermost point).  A choice at the edge then says that the edge is really better.
What it leaves out: standard errors of differences, which would be smaller; both sources take that of the best itself.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike


def steps_to_end(value: float, values: Iterable[float]) -> int:
    """Return how many of the different values lie beyond one of them, on the side where fewer do.

    >>> [steps_to_end(value, (0.1, 1.0, 10.0, 100.0)) for value in (0.1, 1.0, 100.0)]
    [0, 1, 0]
    """
    different = set(values)
    return min(sum(one < value for one in different), sum(one > value for one in different))


def one_standard_error(grid: Sequence[Mapping[str, float]], losses: ArrayLike) -> dict[str, float]:
    """Return the point of a grid that is taken, by losses of shape (points, replications), all on the same draws.

    Of the points whose mean loss exceeds the least mean by at most its standard error (of no width if there is one
    replication), that with most steps to the end of a grid, in the parameter where these are fewest; of those the one
    of least loss, and of those the first.  Losses of another shape are a ValueError.

    >>> one_standard_error([{"b": 1.0}, {"b": 2.0}, {"b": 4.0}], [[4, 6, 5], [5, 6, 5], [9, 9, 9]])
    {'b': 2.0}
    """
    table = np.asarray(losses, float)
    if not grid or table.ndim != 2 or len(table) != len(grid) or not table.shape[1]:
        raise ValueError(f"losses must have a row of numbers for each of {len(grid)} points, got shape {table.shape}")
    means, replications = table.mean(axis=1), table.shape[1]
    error = table[means.argmin()].std(ddof=1) / np.sqrt(replications) if replications > 1 else 0.0

    def rank(place: int) -> tuple[int, float]:
        steps = (steps_to_end(value, (point[name] for point in grid)) for name, value in grid[place].items())
        return -min(steps), float(means[place])

    return dict(grid[min(np.flatnonzero(means <= means.min() + error).tolist(), key=rank)])
