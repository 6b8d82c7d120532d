"""Policies compared from Python: what `lpsm compare` computes, shows and draws, in one call.

`compare` runs policies, names or objects, in one world; `sweep` does so for several values of a field of the world.
What both return holds frames, prints the table of the command, draws its pictures, and pairs any policy with the rest.
What it leaves out: files, and what is resumed (`experiments.study.store`).

>>> found = compare(["psm", "lpsm3:1.05"], 5, seeds=2, jobs=1)
>>> found.summary["policy"].tolist()
['none', 'psm:102.4', 'lpsm3:1.05:400', 'limit', 'page-awake']
>>> found.against("psm")["policy"].tolist()
['none', 'lpsm3:1.05:400']
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import pandas as pd

import netsim
import traces
from experiments import world as worlds
from experiments.presets import COMPARED, MOST_CLIENTS
from experiments.quantities import CELL, REFERENCES, Quantity, Row
from experiments.report.comparison import advice, comparison_text, policies_text
from experiments.report.text import cells, table
from experiments.study import sweep as runs
from experiments.study import traffic as traffics
from experiments.study.compare import compare as aggregate
from experiments.study.compare import paired
from experiments.study.run import run
from experiments.world import Setting, Settings
from netsim.policies import AnyPolicy
from netsim.radio import assumed_of
from netsim.radio import with_assumed as at_factor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from experiments.figures.style import Drawing

__all__ = [
    "Compared", "Point", "Swept", "aggregated", "compare", "listed", "points", "sweep", "swept_text", "worlds_table",
]  # fmt: skip
__dir__ = __all__.copy

Traffic: TypeAlias = int | str | Path | Iterable[traces.Page]
AnyWorld: TypeAlias = str | Path | Mapping[str, Setting] | netsim.SimulationConfig
RUNS = "runs of a policy"
FACTORS = {"half": 0.5, "twice": 2.0}  # of what is assumed of a radio
ENOUGH_PAGES = 100  # of a replication, to see whether policies change places; two where it has fewer
_MOST_NAMED = 3
FEW_SESSIONS = 2  # fewer are cut into pages; a workload is browsed as it is


class Point(NamedTuple):
    """One world of a comparison, and by which values it differs from the others."""

    values: Settings  #: of what is swept, by name; nothing if it is one world alone
    world: worlds.World
    clients: int = 1


def points(
    preset: str, settings: Sequence[Mapping[str, Setting]], swept: Mapping[str, Sequence[Setting]], *, drawn: bool
) -> list[Point]:
    """Return a world for each combination of the values that are swept; `clients` may be among them.

    An unknown field, a value that the model refuses, and a value that is there twice are a `ValueError`.
    """
    combinations: list[Settings] = [{}]
    for name, values in swept.items():
        if not values or len({*map(str, values)}) < len(values):
            raise ValueError(f"{name} must have different values, got {','.join(map(str, values)) or 'none'}")
        combinations = [{**one, name: value} for one in combinations for value in values]
    found = []
    for at in combinations:
        count = at.get("clients", 1)
        if not isinstance(count, int) or not 1 <= count <= MOST_CLIENTS:
            raise ValueError(f"clients must be whole numbers from 1 to {MOST_CLIENTS}, got {count!r}")
        own = worlds.checked({name: value for name, value in at.items() if name != "clients"})
        found.append(Point(at, worlds.made(preset, *settings, own, drawn=drawn), count))
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """What policies cost and delay in one world: one row a policy, a replication or a page."""

    summary: pd.DataFrame  #: a row a policy, the two references last; `q` and `q_half_width` (95 %) of each quantity
    replications: pd.DataFrame  #: a row a policy and replication
    slowdowns: pd.DataFrame  #: a row a page: without power saving, with it, and their ratio
    frames: runs.Frames  #: the runs, pages, messages and delays that the others are computed from
    over: str  #: what the means are over, such as "10 seeds"
    policies: Mapping[str, AnyPolicy]  #: by the names that results carry
    words: str  #: the world in a line

    def against(self, policy: AnyPolicy) -> pd.DataFrame:
        """Return the paired differences of every policy from one of them, a row each (`study.compare.paired`)."""
        called = (name for name, one in self.policies.items() if policy in (name, one))
        name = next(called, None) or netsim.canonical(policy)
        if name not in (known := self.replications["policy"].unique()):
            raise ValueError(f"policy must be one that was compared ({', '.join(known)}), got {name}")
        return paired(self.replications, name)

    def plot(self, picture: str = "front") -> Figure:
        """Draw ``"front"``, ``"energy"``, ``"slowdown"`` or ``"slowdown-by-page"``, as the command does."""
        drawings = self.drawings()
        if picture not in drawings:
            raise ValueError(f"picture must be one of {', '.join(drawings)}, got {picture!r}")
        return drawings[picture]()

    def pictures(self) -> dict[str, Figure]:
        """Draw all pictures that there is something to draw for."""
        return {name: draw() for name, draw in self.drawings().items()}

    def drawings(self) -> dict[str, Drawing]:
        """Return what draws each picture that there is something to draw for."""
        from experiments.figures import comparison as figures

        found: dict[str, Drawing] = {"energy": partial(figures.energy, self.summary)}
        if len(self.slowdowns):  # otherwise there are messages alone
            found["front"] = partial(figures.energy_front, self.summary)
            found["slowdown"] = partial(figures.slowdown, self.summary)
            found["slowdown-by-page"] = partial(figures.slowdown_by_page, self.slowdowns)
        return found

    def text(self, max_slowdown: float | None = None, width: int | None = None) -> str:
        """Return the table, how to read it, and which policy to take; of at most a `width`, without some columns."""
        return f"{comparison_text(self.summary, self.over, max_slowdown, width)}\n\n{policies_text(self.policies)}"

    def __str__(self) -> str:
        return f"{self.text(width=get_terminal_size().columns)}\n{self.words}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Swept:
    """What policies cost and delay in worlds that differ in some fields."""

    table: pd.DataFrame  #: tidy: a row a world and policy; the fields that are swept, then the columns of a summary
    worlds: list[tuple[Settings, Compared]]  #: the values of each world, and what was found in it
    fields: tuple[str, ...]  #: what is swept

    def plot(self) -> Figure:
        """Draw power, latency and time awake of every policy over the first field that is swept, with intervals."""
        from experiments.figures import comparison as figures

        return figures.growth(self.measured, self.fields[0])

    @property
    def measured(self) -> pd.DataFrame:
        """The rows of policies, without the references."""
        return self.table[~self.table["policy"].isin(REFERENCES)]

    def __str__(self) -> str:
        return swept_text(self.measured, self.fields)


def swept_text(measured: pd.DataFrame, fields: Sequence[str], max_slowdown: float | None = None) -> str:
    """Return the table of a sweep, and below it which policy to take in each world."""
    worlds_of = measured.groupby(list(fields), sort=False)
    lines = (f"{', '.join(f'{n} {_short(v)}' for n, v in zip(fields, at, strict=True))}: {advice(own, max_slowdown)}"
             for at, own in worlds_of)  # fmt: skip
    return "\n\n".join([worlds_table(CELL, measured, fields), *lines])


def worlds_table(quantities: Sequence[Quantity], rows: pd.DataFrame, fields: Sequence[str]) -> str:
    """Return a table of these quantities in several worlds, behind the policy the fields that are swept."""
    header, shown = cells(quantities, rows)
    names = [name for name in fields if name not in {one.name for one in quantities}]
    told = [[row[0], *map(_short, at), *row[1:]] for row, at in zip(shown, rows[names].to_numpy(), strict=True)]
    return table([header[0], *names, *header[1:]], told)


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def compare(
    policies: Sequence[AnyPolicy] = COMPARED,
    traffic: Traffic = 100,
    world: AnyWorld = "today",
    seeds: int = 10,
    jobs: int | None = None,
    *,
    seed: int = 0,
    clients: int = 1,
    web: str | None = None,
) -> Compared:
    """Run every policy on the same traffic in the same world, and return what each costs and delays.

    Parameters
    ----------
    policies : sequence of str or Policy
        Names such as ``"psm"`` and objects with the protocol of `netsim.Policy`; the run without power saving is
        always among them.
    traffic : int, path, or iterable of Page
        So many pages of the Web model a seed; a trace or workload of any format that is read; or pages of one's own,
        which are one session.
    world : str, path, mapping or SimulationConfig
        A preset (``"today"``, ``"iot"``, ``"thesis"``); a TOML file; settings that change the preset of today, such as
        ``{"server_delay": "lognormal:0.2", "air": "11g:54"}`` (`lpsm list world`); or a configuration as it is.
    seeds : int
        Replications of drawn traffic, from `seed` on.
    jobs : int, optional
        Processes; by default as many as pay, at most one a processor.  Objects travel to them by value.
    seed : int
        The first seed; for recorded traffic, of what was not recorded.
    clients : int
        Clients of one access point, all under the same policy; figures are means over them.
    web : str, optional
        The year of drawn pages, ``"2025"`` or ``"1996"``; by default as the preset has it.

    Raises
    ------
    ValueError
        If a policy, the traffic or the world breaks a rule.
    """
    [found] = _found(policies, traffic, world, seeds, jobs, seed, {"clients": [clients]}, web)
    return found[1]


def sweep(
    field: str,
    values: Iterable[Setting],
    policies: Sequence[AnyPolicy] = COMPARED,
    traffic: Traffic = 100,
    world: AnyWorld = "today",
    seeds: int = 10,
    jobs: int | None = None,
    *,
    seed: int = 0,
) -> Swept:
    """Compare policies in worlds that differ in one field: ``"server_delay"``, ``"dtim_period"``, ``"clients"``.

    `values` are those of the field, as a file of a world has them; all else is as in `compare`, but that the world
    cannot be a configuration.
    """
    found = _found(policies, traffic, world, seeds, jobs, seed, {field: list(values)})
    tidy = [one.summary.assign(**at) for at, one in found]
    return Swept(table=pd.concat(tidy, ignore_index=True), worlds=found, fields=(field,))


def _found(
    policies: Sequence[AnyPolicy], traffic: Traffic, world: AnyWorld, seeds: int, jobs: int | None, seed: int,
    swept: Mapping[str, Sequence[Setting]], web: str | None = None,
) -> list[tuple[Settings, Compared]]:  # fmt: skip
    """Run and aggregate all policies in all worlds."""
    given = traffic if isinstance(traffic, int | str | Path) else traces.Workload.of(traffic)
    preset, settings = _written(world)
    web, untold = worlds.traffic_of(preset, web)
    is_own = isinstance(world, netsim.SimulationConfig)
    if is_own and [*swept] != ["clients"]:
        raise ValueError("the world must be a preset, a file or settings where a field is swept")
    placed = []
    for one in points(preset, settings, swept, drawn=isinstance(given, int) and untold):
        known = worlds.World(world, "of one's own", {}) if isinstance(world, netsim.SimulationConfig) else one.world
        units = _units(given, known, seed, seeds, web)
        placed.append((one._replace(world=known if is_own else known.beside(units.workloads)), units))
    tasks = listed(placed, policies)
    results = run(runs.simulate, {key: task for own in tasks for key, task in own.items()}, jobs=jobs, title=RUNS)
    found = aggregated(placed, tasks, policies, results)
    return [(one.values, own) for (one, _), own in zip(placed, found, strict=True)]


def listed(
    placed: Iterable[tuple[Point, traffics.Units]], policies: Sequence[AnyPolicy], *, clairvoyant: bool = False
) -> list[dict[str, runs.Task]]:
    """List the runs of every world, by keys that no other world has, and first those of the `clairvoyant`, if asked."""
    found = []
    for one, units in placed:
        own = runs.tasks(units.workloads, policies, one.world.config, one.clients)
        own = runs.searches(own) | own if clairvoyant else own
        at = "".join(f"{name}={value} " for name, value in one.values.items() if name != "clients")
        found.append({at + key: task for key, task in own.items()})
    return found


def with_assumed(point: Point, units: traffics.Units, policies: Sequence[AnyPolicy]) -> dict[str, runs.Task]:
    """List runs of the first replications with what is assumed of the radio at half and at twice, if something is."""
    found: dict[str, runs.Task] = {}
    first = units.workloads[: 1 if units.workloads[0].n_pages >= ENOUGH_PAGES else 2]
    for word, factor in FACTORS.items() if assumed_of(point.world.config.radio) else ():
        config = replace(point.world.config, radio=at_factor(point.world.config.radio, factor))
        own = runs.tasks(first, policies, config, point.clients)
        found |= {f"{word} {key}": task for key, task in own.items()}
    return found


def order_words(radio: netsim.Radio, tasks: Iterable[str], results: Mapping[str, Row]) -> str:
    """Return in a line which policies change places in energy in those runs (`with_assumed`); nothing without any."""
    energies: defaultdict[str, defaultdict[str, float]] = defaultdict(partial(defaultdict, float))
    for key in tasks:
        word, _, usual_key = key.partition(" ")
        for of, place in ((word, key), ("usual", usual_key)):
            one = results[place]["run"]
            energies[of][one["policy"]] += one["total_j"] * (of == word or word == "half")
    usual, said = energies["usual"], []
    for word in FACTORS if usual else ():
        own, pairs = energies[word], list(combinations(sorted(usual, key=usual.__getitem__), 2))
        moved = [f"{low} and {high}" for low, high in pairs if own[low] > own[high]]
        many = f"{len(moved)} of {len(pairs)} pairs" if len(moved) > _MOST_NAMED else ", ".join(moved)
        said.append(f"at {word} {f'{many} change places' if moved else 'the order stays'}")
    assumed = ", ".join(assumed_of(radio))
    return f"\nAssumed of the radio: {assumed}.  In the order by energy, {'; '.join(said)}." if said else ""


def aggregated(
    placed: Iterable[tuple[Point, traffics.Units]], tasks: Iterable[Iterable[str]], policies: Sequence[AnyPolicy],
    results: Mapping[str, Row],
) -> list[Compared]:  # fmt: skip
    """Aggregate the results of all runs, by the keys of the `tasks` of each world."""
    return [
        _compared(one, units, policies, {key: results[key] for key in own})
        for (one, units), own in zip(placed, tasks, strict=True)
    ]


def _compared(
    point: Point, units: traffics.Units, policies: Sequence[AnyPolicy], results: Mapping[str, Row]
) -> Compared:
    config = point.world.config
    chosen = runs.named(policies, config.beacon_interval_ns)
    frames = runs.frames({key: result for key, result in results.items() if "run" in result})
    found = aggregate(
        frames, list(chosen), config.radio,
        psm=netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns), known=runs.clairvoyant(results),
    )  # fmt: skip
    return Compared(
        summary=found.summary, replications=found.replications, slowdowns=found.slowdowns, frames=frames,
        over=traces.counted(len(units.workloads), units.called), policies=chosen, words=point.world.words,
    )  # fmt: skip


def _written(world: AnyWorld) -> tuple[str, list[Settings]]:
    """Return the preset and the settings of a world; those of a configuration are its own."""
    if isinstance(world, netsim.SimulationConfig):
        return "today", []
    if isinstance(world, Mapping):
        return "today", [worlds.checked(world)]
    if isinstance(world, Path) or str(world).endswith(".toml"):
        return "today", [worlds.read(Path(world))]
    return world, []


def _units(
    traffic: int | str | Path | traces.Workload, world: worlds.World, seed: int, seeds: int, web: str
) -> traffics.Units:
    """Return what is compared of traffic."""
    cut = partial(traffics.units, seed=seed, beacon_interval_ns=world.config.beacon_interval_ns)
    if isinstance(traffic, int):
        return cut(traffics.generated(traffic, seed, seeds, web), few=1)
    if isinstance(traffic, traces.Workload):
        return cut([traffics.Recorded(name="pages", seed=seed, recorded=traffic)], few=1)
    path = Path(traffic)
    found = traffics.recorded([path], seed=seed, round_trip=world.recorded_round_trip)
    return cut(found, few=1 if traces.detect(path) == "workload" else FEW_SESSIONS)
