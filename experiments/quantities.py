"""What is measured, declared once: the name, heading, unit and place of every quantity that results are made of.

Rows of runs, tables in the terminal and in the HTML report, the legends of figures, CSV and JSON all iterate over
these declarations, so that a new quantity is one entry here.  The reference policies have their names here too.

`RUN` names the totals of a run.  The others (`COMPARISON` and so on) are the columns that the tables of commands show,
in that order; the CSV files hold more.  A name ends in its unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lpsm.checks import of_type
from lpsm.checks import shown as shown_value

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BASELINE", "CELL", "COMPARISON", "ENERGIES", "ENERGY_PARTS", "LABELS", "LIMIT", "PAGE_AWAKE",
    "PER_PAGE", "POPULATION", "PSM", "REFERENCES", "REPLAYS", "RUN", "TUNING", "Quantity", "energy_parts",
    "mean_row", "run_row", "shown", "statements",
]  # fmt: skip

BASELINE = "none"  # no power saving: what slowdowns and the two reference energies are measured against
PSM = "psm:100"  # static power saving at every beacon of 100 ms, what the literature compares with
LIMIT, PAGE_AWAKE = "limit", "page-awake"
REFERENCES = (LIMIT, PAGE_AWAKE)  # energies that no run has, but rows of tables and lines in pictures


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity: a column of a table, a key of a JSON object."""

    name: str  #: of the column in frames, CSV and JSON
    heading: str  #: what stands above it in a table
    digits: int = 2  #: behind the point, or significant ones with `style` "g"
    suffix: str = ""  #: what is printed behind every number, such as " %"
    factor: float = 1.0  #: what a value is multiplied by before it is printed: 100 where it is a share
    sign: bool = False  #: whether a plus sign is printed
    style: str = "f"  #: "f" or "g"
    interval: bool = False  #: whether ``NAME_half_width`` is the half width of its 95 % interval, printed beside it
    bare: bool = False  #: whether the terminal leaves the suffix out, because its table says it once
    called: str = ""  #: of a part of the energy: what it is called in the legend of a picture
    only_with: str = ""  #: it is left blank where this other quantity is 0
    optional: bool = False  #: whether a table leaves it out if it is 0 in every row


ENERGY_PARTS = (
    Quantity("awake_j", "awake", called="awake"),
    Quantity("sleep_j", "sleep", called="asleep"),
    Quantity("listen_j", "listen", called="listening to beacons"),
    Quantity("wakeup_j", "wake-up", called="waking up", optional=True),
)
"""The parts of the energy of a run, which add up to ``total_j``."""

ENERGIES = (*(part.name for part in ENERGY_PARTS), "total_j")
_COUNTS = ("beacons", "wakeups", "group_frames_lost")
RUN = ("pages", "elapsed_s", "beacons", "wakeups", "awake_s", "group_frames_lost", *ENERGIES, "uplink_air_s",
       "downlink_air_s")  # fmt: skip
"""The totals of a run, in the order of the columns of ``runs.csv``."""
PER_PAGE = (*ENERGIES, "beacons", "wakeups", "elapsed_s")
"""The totals of a run that are also given a page, as ``NAME_per_page``."""


def energy_parts() -> tuple[Quantity, ...]:
    """Return the parts of the energy a page, which add up to ``total_j_per_page``."""
    return tuple(replace(part, name=f"{part.name}_per_page", digits=3) for part in ENERGY_PARTS)


def _percent(name: str, heading: str, *, sign: bool = True, **more: Any) -> Quantity:
    return Quantity(f"{name}_percent", heading, 1, " %", sign=sign, **more)


_POLICY = Quantity("policy", "policy")
_ABOVE = _percent("energy_above_limit", "above limit")
_SLOWDOWN = Quantity("slowdown_mean", "slowdown", interval=True)
_POWER = Quantity("mean_mw", "mW", interval=True)
_BATTERY = Quantity("battery_h", "battery", 1, " h")
_LATE = (
    Quantity("added_delay_mean_s", "added s", 3, interval=True),
    Quantity("added_delay_p95_s", "p95", 3),
    Quantity("datagram_delay_mean_s", "late s", 3, interval=True),
    *(Quantity(f"datagram_delay_{level}_s", level, 3) for level in ("p95", "p99", "max")),
)
_WORSE = (
    _percent("costlier_than_psm", "dearer", sign=False, bare=True),
    _percent("slower_than_psm", "slower", sign=False, bare=True),
)

COMPARISON: tuple[Quantity, ...] = (
    _POLICY, Quantity("total_j_per_page", "J/page", 3, interval=True), *energy_parts(),
    _percent("energy_vs_psm", "energy vs psm", interval=True),
    _percent("beacon_energy_vs_psm", "beacons", only_with="listen_j_per_page"), _ABOVE,
    _percent("energy_above_clairvoyant", "above clairvoyant", interval=True), _SLOWDOWN,
    Quantity("slowdown_median", "median"), Quantity("slowdown_p95", "p95"), *_LATE, replace(_POWER, optional=True),
)  # fmt: skip

POPULATION: tuple[Quantity, ...] = (
    _POLICY,
    *(
        Quantity(f"energy_{name}", heading, 1, " %", sign=True, bare=True)
        for other in ("none", "psm")
        for name, heading in (
            (f"of_all_vs_{other}_percent", f"vs {other}"), (f"vs_{other}_percent_p05", "5 %"),
            (f"vs_{other}_percent_p50", "median"), (f"vs_{other}_percent_p95", "95 %"),
        )
    ),
    Quantity("slowdown_mean", "slowdown"), Quantity("slowdown_p50", "median"), Quantity("slowdown_p95", "95 %"),
    Quantity("slowdown_p100", "max"), Quantity("added_delay_s_mean", "added s", 3),
    Quantity("added_delay_s_p95", "95 %", 3), *_WORSE, _percent("losing_both", "both", sign=False, bare=True),
)  # fmt: skip

TUNING: tuple[Quantity, ...] = (
    _POLICY, _POWER, Quantity("energy_j_per_page", "J/page", interval=True), _percent("energy_vs_none", "vs none"),
    _ABOVE, _percent("energy_above_page_awake", "above page-awake"), replace(_SLOWDOWN, digits=3),
    Quantity("slowdown_p95", "p95"), Quantity("slowdown_p99", "p99"), *_LATE, _BATTERY,
    Quantity("wins_percent", "wins", 0, " %"),
)  # fmt: skip

CELL: tuple[Quantity, ...] = (
    _POLICY, Quantity("clients", "clients", 0), _POWER, Quantity("total_j_per_page", "J/page", 3, interval=True),
    Quantity("awake_percent", "awake", 2, " %", interval=True), Quantity("latency_s", "latency", 3, interval=True),
    _SLOWDOWN, Quantity("group_frames_lost_per_h", "lost/h", 1, interval=True, optional=True),
)  # fmt: skip

LABELS: tuple[Quantity, ...] = (
    Quantity("class", "class"), Quantity("positive", "positive", 0), Quantity("queries", "labels asked", 0),
    Quantity("label_rate", "rate", 1, " %", 100), Quantity("stored", "stored", 0), Quantity("mistakes", "mistakes", 0),
    Quantity("accuracy", "accuracy", 4), Quantity("precision", "precision", 3), Quantity("recall", "recall", 3),
    Quantity("f_measure", "F", 3),
)  # fmt: skip

REPLAYS: tuple[Quantity, ...] = (
    Quantity("replay", "replay"), Quantity("polls", "polls", 0), Quantity("mean_sleep_ms", "mean sleep", 0, " ms"),
    Quantity("mixture_loss", "mixture loss"), Quantity("polling_loss", "polling loss"),
    Quantity("best_expert_loss", "best fixed"), Quantity("best_expert_ms", "its T", 6, " ms", style="g"),
    Quantity("best_per_poll_loss", "best of each poll"),
)  # fmt: skip


def statements(digits: int) -> tuple[Quantity, ...]:
    """Return the columns of a table of statements that were held against a run, with so many significant digits."""
    names = ("class", "statement", "measured", "bound", "verdict")
    return tuple(Quantity(name, name, digits, style="g") for name in names)


def run_row(result: Any) -> dict[str, Any]:
    """Return the totals of a run, a `netsim.SimulationResult`, by name (`RUN`)."""
    if not hasattr(result, "energy"):
        raise TypeError(f"result must be a netsim.SimulationResult, got {shown_value(result)}")
    values = {name: getattr(result.energy if name in ENERGIES else result, name) for name in RUN[1:]}
    counted = {name: (int if name in _COUNTS else float)(value) for name, value in values.items()}
    return {"pages": len(result.latency_s), **counted}


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
    for one in quantities:
        of_type(Quantity, quantities=one)
    return [one for one in quantities if one.name in frame and not (one.optional and not frame[one.name].any())]
