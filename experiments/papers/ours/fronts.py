"""Energy at equal slowdown: fronts of policies, seed by seed, and measures, claims and pictures made of them.

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
from experiments.papers.kit import Experiment
from experiments.papers.ours.browsed import BLOCK
from experiments.papers.predicates import above, at_least, at_most, reaching
from experiments.study.compare import estimate, linearised

__all__ = ["at_equal", "draw_curves", "draw_fronts", "energies", "equal_energy", "limited", "not_above", "saving"]
__all__ += ["saving_claim", "spared", "spared_by_parts", "unhurried", "values"]

Floats = NDArray[np.float64]
Families = Iterable[tuple[str, Sequence[str]]]  # name and members
SLOWDOWN, DELAY = "slowdown_mean", "added_s_mean"
LABELS = {
    SLOWDOWN: "mean slowdown of a page", DELAY: "mean added delay of a message [s]",
    "slowdown_all": "slowdown of all pages together", "limit_j": "energy over the limit",
    "page_awake_j": "energy over page-awake", "base_j": "energy over that without power saving",
}  # fmt: skip


# -- samples -------------------------------------------------------------------------------------------------------


def values(record: Record, traffic: str, column: str, policies: str | Sequence[str]) -> Any:
    """Return a column of policies over the replications of a kind of traffic: a frame, or a series of one policy."""
    table = wide(record, "runs", column, traffic=traffic)
    return table[policies if isinstance(policies, str) else list(policies)].astype(float)


def energies(record: Record, traffic: str, policies: str | Sequence[str]) -> Any:
    """Return the joules of whole runs."""
    return values(record, traffic, "total_j", policies)


def equal_energy(x: Floats, y: Floats, at: float) -> float:
    """Return the energy of a front at a slowdown; `x` and `y`, shape (n,), are slowdown and energy of its members.

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
    own = values(record, traffic, column, policy)
    return np.array([equal_energy(across, up, at) for across, up, at in zip(x, joules, own, strict=True)])


def saving(own: Any, other: Any) -> Floats:
    """Return by how many percent `own` is below `other`, a number a replication."""
    return 100 * (1 - linearised(own, other))


def spared(record: Record, traffic: str, policy: str, family: Sequence[str], column: str = SLOWDOWN) -> Noted:
    """Measure by how many percent a policy is below a family at its own slowdown (or delay)."""
    below = saving(energies(record, traffic, policy), at_equal(record, traffic, policy, family, column))
    return Noted(below, f"below at {estimate(values(record, traffic, column, policy)).mean:.3f}")


# -- claims --------------------------------------------------------------------------------------------------------


def limited(traffic: str, policy: str, limit: float, column: str = SLOWDOWN) -> Claim:
    """Claim that the mean slowdown over replications is at most a limit."""
    test = at_most(partial(values, traffic=traffic, column=column, policies=policy), limit)
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
    what = {SLOWDOWN: "slowdown", DELAY: "added delay"}[column]
    own = partial(spared, traffic=traffic, policy=policy, family=family, column=column)
    return Claim(f"{traffic}: {policy} is not above {name} of equal {what}", reaching(own, 0.0, unit=" %"),
                 reason=f"percent below {name}, interpolated seed by seed")  # fmt: skip


def spared_by_parts(
    experiment: Experiment, name: str, own: str, wholes: Sequence[str], parts: Iterable[str], traffics: Iterable[str]
) -> None:
    """Claim, part by part, that a policy is below what is left without it, at the latter's slowdown.

    `wholes` are the policy asked for several slowdowns, among them `own`, which was asked for the same as the parts.
    """
    count = {4: "four", 5: "five"}[len(wholes)]

    @experiment.claim(
        f"{{traffic}}: the whole uses less energy than {name} {{part}}, at its slowdown", above, unit=" %",
        reason=f"the whole, at {count} slowdowns asked for, interpolated seed by seed",
        of=[{"part": part, "traffic": traffic} for part in parts for traffic in traffics],
    )  # fmt: skip
    def spared_by(record: Record, traffic: str, part: str) -> Noted:
        sample = saving(at_equal(record, traffic, part, wholes), energies(record, traffic, part))
        slow = values(record, traffic, SLOWDOWN, [part, own]).mean()
        return Noted(sample, f"at {slow[part]:.3f} (whole: {slow[own]:.3f} when 1.05 is asked)")


def unhurried(experiment: Experiment, traffics: Sequence[str], policy: str, reason: str = "") -> None:
    """Claim that the first ten pages are slowed down little, beside the others."""

    @experiment.claim(
        "{traffic}: the first ten pages are slowed down by no more than a tenth", at_most, "1.1", reason, limit=1.1,
        of=[{"traffic": traffic} for traffic in traffics],
    )  # fmt: skip
    def slowed_early(curves: pd.DataFrame, traffic: str) -> Noted:
        rows = curves[(curves["traffic"] == traffic) & (curves["policy"] == policy)]
        parts = (rows[rows["first_page"] == 0], rows[rows["first_page"] > 0])
        first, others = (part.groupby("replication")["slowdown"].mean() for part in parts)
        return Noted(first, f"(others {others.mean():.3f})")


# -- pictures ------------------------------------------------------------------------------------------------------


def draw_curves(experiment: Experiment, name: str, traffics: Sequence[str]) -> None:
    """Draw mean slowdown, block of pages by block, of every policy with curves: a panel a kind of traffic."""

    @experiment.picture(name, x="page", y="mean slowdown of ten pages")
    def panels(curves: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
        for traffic in traffics:
            rows: Any = curves[curves["traffic"] == traffic]
            groups = rows.groupby(["policy", "first_page"], sort=False)["slowdown"]
            yield traffic, pd.DataFrame([point(policy, first + BLOCK / 2, own) for (policy, first), own in groups])


def draw_fronts(
    experiment: Experiment, name: str, families: Mapping[str, Families], *, most: Any, over: str = "limit_j",
    y: str = SLOWDOWN,
) -> None:  # fmt: skip
    """Draw means of families, energy as a multiple of a reference along x: a panel a kind of traffic.

    Parameters
    ----------
    families : mapping of str to sequence of (str, sequence of str)
        Kind of traffic to names and members.
    most : (float, float), or mapping of str to such pairs
        Largest y and largest x kept, for all kinds of traffic or by kind.
    over, y : str
        Column of the reference energy, of the same seed, and the one along y.
    """

    @experiment.picture(name, x=LABELS[over], y=LABELS[y])
    def panels(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
        for traffic, own in families.items():
            rows = []
            highest, farthest = most[traffic] if isinstance(most, Mapping) else most
            for group, members in own:
                across, joules = values(record, traffic, y, members), energies(record, traffic, members)
                references = values(record, traffic, over, members)
                for member in members:
                    along, at = estimate(joules[member] / references[member]), float(across[member].mean())
                    if at <= highest and along.mean <= farthest:
                        rows.append({"group": group, "x": along.mean, "y": at, "x_half_width": along.half_width})
            yield traffic, pd.DataFrame(rows, columns=["group", "x", "y", "x_half_width"])
