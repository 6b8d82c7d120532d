"""Energy at equal slowdown: fronts of policies, seed by seed, and claims made of them.

What it models: a family of policies (BSD over its p, static PSM over its period) is a front: for each seed,
the points of the family that no other point of it beats on both axes, joined by straight lines.  A policy is held
against the front at its own slowdown (or its own added delay) on the same seed.  Left of the front's first point its
first energy counts, right of its last its last one: the former flatters the family, as it cannot be had there.
What it leaves out: which claims are made (`papers.ours.lpsm2`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.papers.registry import Claim, Record, Verdict
from experiments.papers.verdicts import pivot, shown
from experiments.study.compare import Estimate, estimate, ratio

__all__ = [
    "at_equal", "at_most", "compared", "energies", "equal_energy", "front_frame", "saving", "saving_claim", "upper",
    "values",
]  # fmt: skip

Floats = NDArray[np.float64]


def values(record: Record, traffic: str, column: str, policies: Sequence[str]) -> dict[str, Floats]:
    """Return a column of each policy over the replications of one kind of traffic, in the same order."""
    runs = record["runs"]
    return pivot(runs[(runs["traffic"] == traffic) & runs["policy"].isin(policies)], column, policies)


def energies(record: Record, traffic: str, policies: Sequence[str]) -> dict[str, Floats]:
    """Return the joules of whole runs."""
    return values(record, traffic, "total_j", policies)


def equal_energy(x: Floats, y: Floats, at: float) -> float:
    """Return the energy of a front at `at`.

    Parameters
    ----------
    x, y : array of float64, shape (n,)
        Slowdown (or delay) and energy of the family's members.
    at : float
        Slowdown at which to read it.

    Examples
    --------
    >>> front = np.array([1.0, 1.2, 1.1, 1.3]), np.array([4.0, 2.0, 3.5, 2.5])  # the last is beaten by the second
    >>> equal_energy(*front, 1.05), equal_energy(*front, 1.4), equal_energy(*front, 0.9)
    (3.75, 2.0, 4.0)
    """
    order = np.lexsort((y, x))
    kept: list[int] = []
    for place in order:
        if not kept or y[place] < y[kept[-1]]:
            kept.append(int(place))
    return float(np.interp(at, x[kept], y[kept]))


def at_equal(record: Record, traffic: str, policy: str, family: Sequence[str], column: str = "slowdown_mean") -> Floats:
    """Return, replication by replication, the joules of a family at the slowdown (or delay) of a policy."""
    joules, x = energies(record, traffic, family), values(record, traffic, column, [policy, *family])
    table_x, table_y = (np.array([found[member] for member in family]) for found in (x, joules))
    return np.array([equal_energy(table_x[:, k], table_y[:, k], at) for k, at in enumerate(x[policy])])


def saving(own: Floats, other: Floats) -> Estimate:
    """Return by how many percent `own` is below `other`, paired, with a 95 % interval."""
    found = ratio(own, other)
    return Estimate(100 * (1 - found.mean), 100 * found.half_width)


def upper(found: Estimate) -> float:
    """Return the upper end of the interval, the mean where there is none."""
    return found.mean + (found.half_width if isfinite(found.half_width) else 0.0)


def at_most(traffic: str, policy: str, column: str, limit: float, what: str) -> Claim:
    """Claim that the mean over replications is at most a limit."""

    def check(record: Record) -> Verdict:
        found = estimate(values(record, traffic, column, [policy])[policy])
        return Verdict(shown(found, 3), found.mean <= limit, f"the mean is {found.mean - limit:.3f} above")

    return Claim(
        statement=f"{traffic}: {what} of {policy} is at most {limit:g}", check=check, printed=f"{limit:g}",
        tolerance="mean over seeds; the interval is 95 %",
    )  # fmt: skip


def saving_claim(
    traffic: str, policy: str, family: Sequence[str], name: str, least_percent: float, column: str = "slowdown_mean"
) -> Claim:
    """Claim that a policy needs so many percent less than a family at its own slowdown."""

    def check(record: Record) -> Verdict:
        found = saving(energies(record, traffic, [policy])[policy], at_equal(record, traffic, policy, family, column))
        slow = estimate(values(record, traffic, column, [policy])[policy])
        why = f"it is {shown(found, 1, ' %')} below {name} at a {_WHAT[column]} of {slow.mean:.3f}"
        return Verdict(f"{shown(found, 1, ' %')} at {slow.mean:.3f}", found.mean >= least_percent, why)

    return Claim(
        statement=f"{traffic}: {policy} uses at least {least_percent:g} % less energy than {name} of equal "
        + _WHAT[column],
        check=check, printed=f"{least_percent:g} %",
        tolerance=f"mean over seeds; {name} is interpolated seed by seed at the policy's own {_WHAT[column]}",
    )  # fmt: skip


def compared(record: Record, traffic: str, policy: str, others: Sequence[str]) -> dict[str, Estimate]:
    """Return by how many percent a policy is below each of others, whatever their slowdown."""
    joules = energies(record, traffic, [policy, *others])
    return {other: saving(joules[policy], joules[other]) for other in others}


def front_frame(
    record: Record,
    traffic: str,
    families: Sequence[tuple[str, Sequence[str]]],
    *,
    y: str = "slowdown_mean",
    over: str,
    most: tuple[float, float],
) -> pd.DataFrame:
    """Return rows (group, x, y, x_half_width): means of families, energy as a multiple of a reference, along x.

    Parameters
    ----------
    families : sequence of (str, sequence of str)
        Names and members.
    y, over : str
        Column along y, and that of the reference energy, of the same seed.
    most : (float, float)
        Largest y and largest x kept.
    """
    rows = []
    for name, members in families:
        across, joules = values(record, traffic, y, members), energies(record, traffic, members)
        references = values(record, traffic, over, members)
        for member in members:
            found, at = estimate(joules[member] / references[member]), float(across[member].mean())
            if at <= most[0] and found.mean <= most[1]:
                rows.append({"group": name, "x": found.mean, "y": at, "x_half_width": found.half_width})
    return pd.DataFrame(rows, columns=["group", "x", "y", "x_half_width"])


_WHAT = {"slowdown_mean": "slowdown", "added_s_mean": "added delay"}
