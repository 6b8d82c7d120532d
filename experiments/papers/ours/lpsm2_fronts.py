"""Energy at equal slowdown: fronts of policies, seed by seed, and measures and claims made of them.

What it models: a family of policies (BSD over its p, static PSM over its period) is a front: for each seed,
the points of the family that no other point of it beats on both axes, joined by straight lines.  A policy is compared
with the front at its own slowdown (or its own added delay) on the same seed.  Left of the front's first point its
first energy counts, right of its last its last one: the former flatters the family, as it cannot be had there.
What it leaves out: which claims are made (`papers.ours.lpsm2`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.papers.claims import Claim, Noted, Record, point, wide
from experiments.papers.predicates import above, at_least, at_most, reaching
from experiments.study.compare import estimate, linearised

__all__ = [
    "at_equal", "curves", "energies", "equal_energy", "fronts", "limited", "mean_of", "not_above", "saving",
    "saving_claim", "spared", "spared_by_parts", "unhurried", "values",
]  # fmt: skip

Floats = NDArray[np.float64]
SLOWDOWN = "slowdown_mean"


# -- samples -------------------------------------------------------------------------------------------------------


def values(record: Record, traffic: str, column: str, policies: Sequence[str]) -> pd.DataFrame:
    """Return a column of each policy over the replications of one kind of traffic, a row a replication."""
    return wide(record, "runs", column, traffic=traffic)[list(policies)].astype(float)


def energies(record: Record, traffic: str, policies: Sequence[str]) -> pd.DataFrame:
    """Return the joules of whole runs."""
    return values(record, traffic, "total_j", policies)


def mean_of(record: Record, traffic: str, column: str, policies: Sequence[str]) -> Any:
    """Measure a column of some policies, by policy."""
    samples = values(record, traffic, column, policies)
    return samples[policies[0]] if len(policies) == 1 else dict(samples.items())


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
    least = np.minimum.accumulate(y[order])
    kept = order[np.concatenate([[True], least[1:] < least[:-1]])]
    return float(np.interp(at, x[kept], y[kept]))


def at_equal(record: Record, traffic: str, policy: str, family: Sequence[str], column: str = SLOWDOWN) -> Floats:
    """Return, replication by replication, the joules of a family at the slowdown (or delay) of a policy."""
    joules, x = (values(record, traffic, what, family).to_numpy() for what in ("total_j", column))
    own = values(record, traffic, column, [policy])[policy]
    return np.array([equal_energy(across, up, at) for across, up, at in zip(x, joules, own, strict=True)])


def saving(own: Any, other: Any) -> Floats:
    """Return by how many percent `own` is below `other`, a number a replication."""
    return 100 * (1 - linearised(own, other))


def spared(record: Record, traffic: str, policy: str, family: Sequence[str], column: str = SLOWDOWN) -> Noted:
    """Measure by how many percent a policy is below a family at its own slowdown (or delay)."""
    below = saving(energies(record, traffic, [policy])[policy], at_equal(record, traffic, policy, family, column))
    return Noted(below, f"below at {estimate(values(record, traffic, column, [policy])[policy]).mean:.3f}")


# -- claims --------------------------------------------------------------------------------------------------------


def limited(traffic: str, policy: str, limit: float, column: str = SLOWDOWN) -> Claim:
    """Claim that the mean slowdown over replications is at most a limit."""
    test = at_most(partial(mean_of, traffic=traffic, column=column, policies=[policy]), limit)
    return Claim(f"{traffic}: the mean slowdown of {policy} is at most {limit:g}", test, f"{limit:g}")


def saving_claim(
    traffic: str, policy: str, family: Sequence[str], name: str, least_percent: float, column: str = SLOWDOWN
) -> Claim:
    """Claim that a policy needs so many percent less than a family at its own slowdown."""
    own = partial(spared, traffic=traffic, policy=policy, family=family, column=column)
    return Claim(
        f"{traffic}: {policy} uses at least {least_percent:g} % less energy than {name} of equal slowdown",
        at_least(own, least_percent, unit=" %"), f"{least_percent:g} %",
        f"{name} is interpolated seed by seed at the policy's own slowdown",
    )  # fmt: skip


def not_above(traffic: str, policy: str, family: Sequence[str], name: str, column: str = SLOWDOWN) -> Claim:
    """Claim that a policy does not need more than a family at its own slowdown (or delay)."""
    what = {SLOWDOWN: "slowdown", "added_s_mean": "added delay"}[column]
    own = partial(spared, traffic=traffic, policy=policy, family=family, column=column)
    return Claim(f"{traffic}: {policy} is not above {name} of equal {what}", reaching(own, 0.0, unit=" %"),
                 reason=f"percent below {name}, interpolated seed by seed")  # fmt: skip


def spared_by_parts(
    name: str, own: str, wholes: Sequence[str], parts: Iterable[str], traffics: Sequence[str]
) -> tuple[Claim, ...]:
    """Claim, part by part, that a policy is below what is left without it, at the latter's slowdown.

    `wholes` are the policy asked for several slowdowns, among them `own`, which was asked for the same as the parts.
    """

    def spared_by(record: Record, traffic: str, part: str) -> Noted:
        sample = saving(at_equal(record, traffic, part, wholes), energies(record, traffic, [part])[part])
        slow = values(record, traffic, SLOWDOWN, [part, own]).mean()
        return Noted(sample, f"at {slow[part]:.3f} (whole: {slow[own]:.3f} when 1.05 is asked)")

    count = {4: "four", 5: "five"}[len(wholes)]
    return tuple(
        Claim(f"{traffic}: the whole uses less energy than {name} {part}, at its slowdown",
              above(partial(spared_by, traffic=traffic, part=part), unit=" %"),
              reason=f"the whole, at {count} slowdowns asked for, interpolated seed by seed")
        for part in parts
        for traffic in traffics
    )  # fmt: skip


def unhurried(traffics: Sequence[str], policy: str, reason: str = "") -> tuple[Claim, ...]:
    """Claim that the first ten pages are slowed down little, beside the others."""

    def slowed_early(curves: pd.DataFrame, traffic: str) -> Noted:
        rows = curves[(curves["traffic"] == traffic) & (curves["policy"] == policy)]
        parts = (rows[rows["first_page"] == 0], rows[rows["first_page"] > 0])
        first, others = (part.groupby("replication")["slowdown"].mean() for part in parts)
        return Noted(first, f"(others {others.mean():.3f})")

    statement = "the first ten pages are slowed down by no more than a tenth"
    tests = {traffic: at_most(partial(slowed_early, traffic=traffic), 1.1) for traffic in traffics}
    return tuple(Claim(f"{traffic}: {statement}", test, "1.1", reason) for traffic, test in tests.items())


# -- pictures ------------------------------------------------------------------------------------------------------


def curves(record: Record, traffics: Sequence[str], block: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """Return panels of mean slowdown, block of pages by block, of every policy with curves: one a kind of traffic."""
    for traffic in traffics:
        rows: Any = record["curves"][record["curves"]["traffic"] == traffic]
        groups = rows.groupby(["policy", "first_page"], sort=False)["slowdown"]
        yield traffic, pd.DataFrame([point(policy, first + block / 2, own) for (policy, first), own in groups])


def fronts(
    record: Record, families: Mapping[str, Sequence[tuple[str, Sequence[str]]]], *, over: str,
    most: tuple[float, float], y: str = SLOWDOWN,
) -> Iterator[tuple[str, pd.DataFrame]]:  # fmt: skip
    """Return panels of means of families, energy as a multiple of a reference along x: one a kind of traffic.

    Parameters
    ----------
    families : mapping of str to sequence of (str, sequence of str)
        Kind of traffic to names and members.
    over, y : str
        Column of the reference energy, of the same seed, and the one along y.
    most : (float, float)
        Largest y and largest x kept.
    """
    for traffic, own in families.items():
        rows = []
        for name, members in own:
            across, joules = values(record, traffic, y, members), energies(record, traffic, members)
            references = values(record, traffic, over, members)
            for member in members:
                along, at = estimate(joules[member] / references[member]), float(across[member].mean())
                if at <= most[0] and along.mean <= most[1]:
                    rows.append({"group": name, "x": along.mean, "y": at, "x_half_width": along.half_width})
        yield traffic, pd.DataFrame(rows, columns=["group", "x", "y", "x_half_width"])
