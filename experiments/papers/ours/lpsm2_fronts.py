"""Energy at equal slowdown: fronts of policies, seed by seed, and measures made of them.

What it models: a family of policies (BSD over its p, static PSM over its period) is a front: for each seed,
the points of the family that no other point of it beats on both axes, joined by straight lines.  A policy is held
against the front at its own slowdown (or its own added delay) on the same seed.  Left of the front's first point its
first energy counts, right of its last its last one: the former flatters the family, as it cannot be had there.
What it leaves out: which claims are made (`papers.ours.lpsm2`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.papers.claims import Claim, Measure, Noted, Record, wide
from experiments.papers.predicates import above, at_least, at_most, reaching
from experiments.study.compare import estimate, linearised

__all__ = [
    "at_equal",
    "curve_frame",
    "energies",
    "equal_energy",
    "front_frame",
    "front_frames",
    "limited",
    "mean_of",
    "not_above",
    "saving",
    "saving_claim",
    "spared",
    "spared_by_parts",
    "unhurried",
    "values",
]

Floats = NDArray[np.float64]


def values(record: Record, traffic: str, column: str, policies: Sequence[str]) -> pd.DataFrame:
    """Return a column of each policy over the replications of one kind of traffic, a row a replication."""
    return wide(record, "runs", column, traffic=traffic)[list(policies)].astype(float)


def energies(record: Record, traffic: str, policies: Sequence[str]) -> pd.DataFrame:
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
    joules, x = (values(record, traffic, what, family).to_numpy() for what in ("total_j", column))
    own = values(record, traffic, column, [policy])[policy]
    return np.array([equal_energy(across, up, at) for across, up, at in zip(x, joules, own, strict=True)])


def saving(own: Any, other: Any) -> Floats:
    """Return by how many percent `own` is below `other`, a number a replication."""
    return 100 * (1 - linearised(own, other))


def mean_of(traffic: str, column: str, policies: Sequence[str]) -> Measure:
    """Measure a column of some policies, by policy."""

    def measure(record: Record) -> dict[str, Any]:
        found = values(record, traffic, column, policies)
        return {"" if len(policies) == 1 else policy: found[policy] for policy in policies}

    return measure


def spared(traffic: str, policy: str, family: Sequence[str], column: str = "slowdown_mean") -> Measure:
    """Measure by how many percent a policy is below a family at its own slowdown (or delay)."""

    def measure(record: Record) -> dict[str, Any]:
        own = values(record, traffic, "total_j", [policy])[policy]
        slow = estimate(values(record, traffic, column, [policy])[policy])
        below = saving(own, at_equal(record, traffic, policy, family, column))
        return {"": Noted(below, f"below at {slow.mean:.3f}")}

    return measure


def spared_by_parts(
    name: str, own: str, wholes: Sequence[str], parts: Iterable[str], traffics: Sequence[str]
) -> tuple[Claim, ...]:
    """Claim, part by part, that a policy is below what is left without it, at the latter's slowdown.

    `wholes` are the policy asked for several slowdowns, among them `own`, which was asked for the same as the parts.
    """

    def spared_by(traffic: str, part: str) -> Measure:
        def measure(record: Record) -> dict[str, Any]:
            found = saving(at_equal(record, traffic, part, wholes), energies(record, traffic, [part])[part])
            slow = values(record, traffic, "slowdown_mean", [part, own]).mean()
            return {"": Noted(found, f"at {slow[part]:.3f} (whole: {slow[own]:.3f} when 1.05 is asked)")}

        return measure

    count = {4: "four", 5: "five"}[len(wholes)]
    return tuple(
        Claim(
            f"{traffic}: the whole uses less energy than {name} {part}, at its slowdown",
            above(spared_by(traffic, part), unit=" %"),
            reason=f"the whole, at {count} slowdowns asked for, interpolated seed by seed",
        )
        for part in parts
        for traffic in traffics
    )


def unhurried(traffics: Sequence[str], policy: str, reason: str = "") -> tuple[Claim, ...]:
    """Claim that the first ten pages are slowed down little, beside the others."""

    def slowed_early(traffic: str) -> Measure:
        def measure(record: Record) -> dict[str, Any]:
            rows = record["curves"]
            own = rows[(rows["traffic"] == traffic) & (rows["policy"] == policy)]
            parts = (own[own["first_page"] == 0], own[own["first_page"] > 0])
            first, others = (part.groupby("replication")["slowdown"].mean() for part in parts)
            return {"": Noted(first, f"(others {others.mean():.3f})")}

        return measure

    statement = "the first ten pages are slowed down by no more than a tenth"
    return tuple(
        Claim(f"{traffic}: {statement}", at_most(slowed_early(traffic), 1.1), "1.1", reason) for traffic in traffics
    )


def curve_frame(record: Record, traffic: str, block: int) -> pd.DataFrame:
    """Return rows (group, x, y, half_width): mean slowdown, block of pages by block, of every policy with curves."""
    rows = record["curves"][record["curves"]["traffic"] == traffic]
    frame = []
    for (policy, first), own in rows.groupby(["policy", "first_page"], sort=False)["slowdown"]:
        found = estimate(own)
        middle = float(str(first)) + block / 2
        frame.append({"group": policy, "x": middle, "y": found.mean, "half_width": found.half_width})
    return pd.DataFrame(frame)


def limited(traffic: str, policy: str, limit: float, column: str = "slowdown_mean") -> Claim:
    """Claim that the mean slowdown over replications is at most a limit."""
    statement = f"{traffic}: the mean slowdown of {policy} is at most {limit:g}"
    return Claim(statement, at_most(mean_of(traffic, column, [policy]), limit), f"{limit:g}")


def saving_claim(
    traffic: str, policy: str, family: Sequence[str], name: str, least_percent: float, column: str = "slowdown_mean"
) -> Claim:
    """Claim that a policy needs so many percent less than a family at its own slowdown."""
    return Claim(
        f"{traffic}: {policy} uses at least {least_percent:g} % less energy than {name} of equal slowdown",
        at_least(spared(traffic, policy, family, column), least_percent, unit=" %"),
        f"{least_percent:g} %",
        f"{name} is interpolated seed by seed at the policy's own slowdown",
    )


def not_above(traffic: str, policy: str, family: Sequence[str], name: str, column: str = "slowdown_mean") -> Claim:
    """Claim that a policy does not need more than a family at its own slowdown (or delay)."""
    what = {"slowdown_mean": "slowdown", "added_s_mean": "added delay"}[column]
    return Claim(
        f"{traffic}: {policy} is not above {name} of equal {what}",
        reaching(spared(traffic, policy, family, column), 0.0, unit=" %"),
        reason=f"percent below {name}, interpolated seed by seed",
    )


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


def front_frames(
    record: Record, families: Mapping[str, Sequence[tuple[str, Sequence[str]]]], **how: Any
) -> list[tuple[str, pd.DataFrame]]:
    """Return panels of `experiments.figures.papers`: for every kind of traffic its name and `front_frame`."""
    return [(traffic, front_frame(record, traffic, own, **how)) for traffic, own in families.items()]
