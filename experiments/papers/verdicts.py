"""Predicates that claims share: means with intervals, signs, orders and levels.

What it models: a replication (a seed, a session, a split) is the unit; what is reported
is the mean over replications with its 95 % Student interval, and a sign holds if the
whole interval has it.  What it leaves out: anything of one paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.papers.registry import Verdict
from experiments.study.compare import Estimate, estimate

__all__ = ["below", "pivot", "shown", "within_factor"]


def shown(found: Estimate, digits: int = 2, unit: str = "") -> str:
    """Return mean and interval in words.

    >>> shown(Estimate(1.25, 0.5), 1, " J")
    '1.2 ± 0.5 J'
    """
    if isfinite(found.half_width):
        return f"{found.mean:.{digits}f} ± {found.half_width:.{digits}f}{unit}"
    return f"{found.mean:.{digits}f}{unit}"


def below(difference: ArrayLike, digits: int = 2, unit: str = "", why_not: str = "") -> Verdict:
    """Hold that a paired difference is below 0: its whole 95 % interval is."""
    found = estimate(difference)
    upper = found.mean + (found.half_width if isfinite(found.half_width) else 0.0)
    if not why_not and upper >= 0.0:
        why_not = "the difference has the other sign" if found.mean > 0 else "the interval contains 0"
    return Verdict(shown(found, digits, unit), upper < 0.0, why_not)


def within_factor(ours: Estimate, printed: float, factor: float, digits: int = 2, unit: str = "") -> Verdict:
    """Hold that our mean has the printed sign, and the printed size within `factor` either way."""
    quotient = ours.mean / printed
    holds = bool(1.0 / factor <= quotient <= factor)
    return Verdict(shown(ours, digits, unit), holds, f"ours is {quotient:.2f} times the printed value")


def pivot(frame: pd.DataFrame, value: str, policies: Sequence[str], by: str = "policy") -> dict[str, np.ndarray]:
    """Return `value` of each policy over the replications, in the same order for all."""
    table = frame.pivot(index="replication", columns=by, values=value).sort_index()
    return {policy: table[policy].to_numpy(dtype=float) for policy in policies}
