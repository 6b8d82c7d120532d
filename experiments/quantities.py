"""What is measured, declared once: the name, heading, unit and place of every quantity that results are made of.

Rows of runs, tables in the terminal and in the HTML report, the legends of figures, CSV and JSON all iterate over
these declarations, so that a new quantity is one entry here.  The reference policies have their names here too.

A quantity of `RUN` says how it is taken from the record of a run.  Those of `COMPARISON`, `POPULATION`, `ACTIVITY`,
`TUNING` and `CELL` are the columns that the tables of these commands show, in that order; the CSV files hold more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from experiments.presets import LEVELS
from lpsm.checks import of_type
from lpsm.checks import shown as shown_value

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ACTIVITY", "BASELINE", "CELL", "COMPARISON", "ENERGIES", "ENERGY_PARTS", "LIMIT", "PAGE_AWAKE", "PER_PAGE",
    "POPULATION", "PSM", "REFERENCES", "RUN", "TUNING", "Quantity", "energy_parts", "mean_row", "run_row", "shown",
]  # fmt: skip

BASELINE = "none"  # no power saving: what slowdowns and the two reference energies are measured against
PSM = "psm:100"  # static power saving at every beacon of 100 ms, what the literature compares with
LIMIT, PAGE_AWAKE = "limit", "page-awake"
REFERENCES = (LIMIT, PAGE_AWAKE)  # energies that no run has, but rows of tables and lines in pictures
_PRINTED_UNITS = ("%", "h")  # other units stand in the heading


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity: a column of a table, a key of a JSON object."""

    name: str  #: Of the column in frames, CSV and JSON; the unit is part of it.
    heading: str  #: What stands above it in a table.
    digits: int = 2  #: Digits behind the point, or significant digits with `style` "g".
    unit: str = ""  #: "J", "s", "%" and so on; per cent and hours are printed behind every number.
    sign: bool = False  #: Whether a plus sign is printed.
    style: str = "f"  #: "f" or "g"
    interval: bool = False  #: Whether ``NAME_half_width`` is the half width of its 95 % interval, printed beside it.
    bare: bool = False  #: Whether the terminal leaves the unit out, because its table says it once.
    part_of: str = ""  #: The quantity that this one adds up to, with the others of which the same is said.
    words: str = ""  #: What it is called in the legend of a picture, if that is not its heading.
    only_with: str = ""  #: It is left blank where this other quantity is 0.
    optional: bool = False  #: Whether a table leaves it out if it is 0 in every row.
    of_run: Callable[[Any], float] | None = None  #: Takes it from the record of a run.

    @property
    def suffix(self) -> str:
        """What is printed behind every number: the unit, or nothing if that stands in the heading."""
        return f" {self.unit}" if self.unit in _PRINTED_UNITS else ""

    @property
    def called(self) -> str:
        """What it is called where there is room for words."""
        return self.words or self.heading


def _of_run(
    name: str, heading: str, unit: str = "", *, at: str = "", kind: Callable[[Any], float] = float, **more: Any
) -> Quantity:
    """Return a total of a run, which its record has `at` a place if not by that name."""
    take = attrgetter(at or name)
    digits = 2 if kind is float else 0
    return Quantity(name, heading, digits, unit, of_run=lambda result: kind(take(result)), **more)


def _energy(name: str, heading: str, words: str, **more: Any) -> Quantity:
    return _of_run(name, heading, "J", at=f"energy.{name}", words=words, **more)


RUN: tuple[Quantity, ...] = (
    _of_run("pages", "pages", at="latency_s", kind=len),
    _of_run("elapsed_s", "duration", "s"),
    _of_run("beacons", "beacons", kind=int),
    _of_run("wakeups", "wake-ups", kind=int),
    _of_run("awake_s", "awake", "s"),
    _of_run("group_frames_lost", "group frames lost", kind=int),
    _energy("awake_j", "awake", "awake", part_of="total_j"),
    _energy("sleep_j", "sleep", "asleep", part_of="total_j"),
    _energy("listen_j", "listen", "listening to beacons", part_of="total_j"),
    _energy("wakeup_j", "wake-up", "waking up", part_of="total_j", optional=True),
    _energy("total_j", "J", "total"),
    _of_run("uplink_air_s", "on the air, up", "s"),
    _of_run("downlink_air_s", "on the air, down", "s"),
)
"""The totals of a run, in the order of the columns of ``runs.csv``."""

ENERGY_PARTS = tuple(quantity for quantity in RUN if quantity.part_of == "total_j")
ENERGIES = (*(part.name for part in ENERGY_PARTS), "total_j")
PER_PAGE = (*ENERGIES, "beacons", "wakeups", "elapsed_s")
"""The totals of a run that are also given a page, as ``NAME_per_page``."""


def energy_parts() -> tuple[Quantity, ...]:
    """Return the parts of the energy a page, which add up to ``total_j_per_page``."""
    return tuple(
        replace(part, name=f"{part.name}_per_page", digits=3, part_of="total_j_per_page", of_run=None)
        for part in ENERGY_PARTS
    )


def _percent(name: str, heading: str, **more: Any) -> Quantity:
    return Quantity(f"{name}_percent", heading, 1, "%", **more)


_POLICY = Quantity("policy", "policy")
_ABOVE = tuple(_percent(f"energy_above_{one.replace('-', '_')}", f"above {one}", sign=True) for one in REFERENCES)
_ADDED = (
    Quantity("added_delay_mean_s", "added s", 3, "s", interval=True, words="mean added delay of messages"),
    Quantity("added_delay_p95_s", "p95", 3, "s"),
)
_LATE = (
    Quantity("datagram_delay_mean_s", "late s", 3, "s", interval=True, words="mean delay of datagrams"),
    *(Quantity(f"datagram_delay_{level}_s", level, 3, "s") for level in LEVELS[1:]),
)
_LOSING = (_percent("costlier_than_psm", "dearer", bare=True), _percent("slower_than_psm", "slower", bare=True))

COMPARISON: tuple[Quantity, ...] = (
    _POLICY,
    Quantity("total_j_per_page", "J/page", 3, unit="J", interval=True, words="energy a page"),
    *energy_parts(),
    _percent("energy_vs_psm", "energy vs psm", sign=True, interval=True),
    _percent("beacon_energy_vs_psm", "beacons", sign=True, only_with="listen_j_per_page"),
    _ABOVE[0],
    Quantity("slowdown_mean", "slowdown", interval=True, words="mean slowdown"),
    Quantity("slowdown_median", "median"),
    Quantity("slowdown_p95", "p95"),
    *_ADDED,
    *_LATE,
    Quantity("mean_mw", "mW", 2, "mW", interval=True, optional=True, words="mean power"),
    Quantity("battery_h", "battery", 1, "h"),
    Quantity("battery_h_low", "from", 1, "h"),
    Quantity("battery_h_high", "to", 1, "h"),
)

POPULATION: tuple[Quantity, ...] = (
    _POLICY,
    *(
        Quantity(f"energy_{name}", heading, 1, "%", sign=True, bare=True)
        for other in ("none", "psm")
        for name, heading in (
            (f"of_all_vs_{other}_percent", f"vs {other}"),
            (f"vs_{other}_percent_p05", "5 %"),
            (f"vs_{other}_percent_p50", "median"),
            (f"vs_{other}_percent_p95", "95 %"),
        )
    ),
    Quantity("slowdown_mean", "slowdown"),
    Quantity("slowdown_p50", "median"),
    Quantity("slowdown_p95", "95 %"),
    Quantity("slowdown_p100", "max"),
    Quantity("added_delay_s_mean", "added s", 3, "s"),
    Quantity("added_delay_s_p95", "95 %", 3, "s"),
    *_LOSING,
    _percent("losing_both", "both", bare=True),
)

ACTIVITY: tuple[Quantity, ...] = (
    _POLICY,
    Quantity("users_are", "by pages an hour"),
    Quantity("pages_per_hour_from", "from", 3, style="g"),
    Quantity("pages_per_hour_to", "to", 3, style="g"),
    Quantity("energy_vs_psm_percent_median", "vs psm", 1, "%", sign=True, bare=True),
    Quantity("slowdown_median", "slowdown"),
    *_LOSING,
)

TUNING: tuple[Quantity, ...] = (
    _POLICY,
    Quantity("mean_mw", "mW", 2, "mW", interval=True, words="mean power"),
    Quantity("energy_j_per_page", "J/page", unit="J", interval=True, words="energy a page"),
    _percent("energy_vs_none", "vs none", sign=True),
    *_ABOVE,
    Quantity("slowdown_mean", "slowdown", 3, interval=True, words="mean slowdown"),
    Quantity("slowdown_p95", "p95"),
    Quantity("slowdown_p99", "p99"),
    *_ADDED,
    *_LATE,
    Quantity("battery_h", "battery", 1, "h"),
    Quantity("wins_percent", "wins", 0, "%"),
)

CELL: tuple[Quantity, ...] = (
    _POLICY,
    Quantity("clients", "clients", 0),
    Quantity("mean_mw", "mW", 2, "mW", interval=True, words="mean power of a client"),
    Quantity("total_j_per_page", "J/page", 3, "J", interval=True, words="energy a page"),
    Quantity("awake_percent", "awake", 2, "%", interval=True, words="time awake"),
    Quantity("latency_s", "latency", 3, "s", interval=True, words="mean latency of a page"),
    Quantity("slowdown_mean", "slowdown", interval=True, words="latency over that without power saving"),
    Quantity("group_frames_lost_per_h", "lost/h", 1, interval=True, optional=True, words="group frames lost an hour"),
)


def run_row(result: Any) -> dict[str, Any]:
    """Return the totals of a run, a `netsim.SimulationResult`, by name (`RUN`)."""
    if not hasattr(result, "energy"):
        raise TypeError(f"result must be a netsim.SimulationResult, got {shown_value(result)}")
    return {quantity.name: quantity.of_run(result) for quantity in RUN if quantity.of_run is not None}


def mean_row(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the means of the rows (`run_row`) of a run's clients, which have as many pages each.

    `clients` is their number, if there is not one alone.
    """
    for row in rows:
        of_type(Mapping, rows=row)  # type: ignore[type-abstract]
    if not len(rows):
        raise ValueError("rows must be at least one, got none")
    if len(rows) == 1:
        return dict(rows[0])
    means = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    return {"clients": len(rows), **means, "pages": rows[0]["pages"]}


def shown(quantities: Iterable[Quantity], frame: pd.DataFrame) -> list[Quantity]:
    """Return those of the quantities that the frame has, without optional ones that are 0 in every row."""
    quantities = list(quantities)
    for quantity in quantities:
        of_type(Quantity, quantities=quantity)
    return [
        quantity
        for quantity in quantities
        if quantity.name in frame and not (quantity.optional and not frame[quantity.name].any())
    ]
