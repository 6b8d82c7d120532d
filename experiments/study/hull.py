"""The time-sharing hull: what those reach together who change from policy to policy.

Who may change reaches every mean between those of single policies.  The hull is the least energy of such a mixture that
is nowhere slower: neither its pages nor its messages (a linear program).  The mixture is that of the means; its weights
and the worth of slowdown and delay then make a difference a replication, which is paired.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]


def time_shared(measures: Floats, joules: Floats, most: Floats) -> tuple[Any, Any]:
    """Return the mixture of policies of least energy that is nowhere above `most`, and what being below it is worth.

    Parameters
    ----------
    measures : array, shape (policies, k)
        Slowdown, delay and so on of each.
    joules : array, shape (policies,)
    most : array, shape (k,)

    Returns
    -------
    weights : array, shape (policies,)
    worth : array, shape (k,)
        Joules for each unit by which a measure may be larger; at least 0.

    Both are None where no mixture is that quick.

    Examples
    --------
    >>> time_shared(np.array([[1.0], [1.1], [1.3]]), np.array([4.0, 2.0, 1.5]), np.array([1.05]))[0].round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    found = linprog(joules, measures.T, np.maximum(most, measures.min(axis=0)), np.ones((1, len(joules))), [1.0])
    return (None, None) if found.x is None else (found.x, -found.ineqlin.marginals)


def above(measures: Floats, joules: Floats) -> Floats:
    """Return by how many percent the first policy is above the hull of the others, a number a replication.

    NaN where no mixture of the others is as quick in everything.

    Parameters
    ----------
    measures : array, shape (replications, policies, k)
        What may not be larger: slowdown, delay.
    joules : array, shape (replications, policies)
    """
    weights, worth = time_shared(measures.mean(axis=0)[1:], joules.mean(axis=0)[1:], measures.mean(axis=0)[0])
    if weights is None:
        return np.full(len(joules), np.nan)
    shared_j, slower = joules[:, 1:] @ weights, measures[:, 0] - np.einsum("sik,i->sk", measures[:, 1:], weights)
    above_j = joules[:, 0] - shared_j + (slower - slower.mean(axis=0)) @ worth
    found: Floats = 100 * above_j / shared_j.mean()
    return found
