"""A population: every user, or every session, of a trace or of drawn traffic through every policy.

It is a stream.  A trace is read once, into a temporary file, and its *members*, or as many sessions as wanted that are
drawn, are cut into *tasks* of about as many pages each.  A task is a value that holds all it needs, and `part` a pure
function of it: it does not matter which process, or which machine, computes it, or how often.  What it gives is a file
of rows (`experiments.study.parts`); nothing else is kept of a member.

All policies of a user meet the same world, as in `sweep`.  A *user* browses all of their sessions as one workload, one
session after another, so that what a policy learned carries over; a *session* is browsed by itself.

In the summaries every user weighs the same: energy is that of all of their browsing, as a difference in percent (a
saving is negative), *slowdown* the mean over their pages.  A user *loses* by a policy against static PSM if it costs
them more energy, or more time, or both.  Means over drawn sessions, which are a sample, have 95 % Student intervals;
those over a trace have none, because a trace is not a sample of something larger unless somebody argues that it is.
"""

import pickle
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, repeat
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.special import stdtrit

import netsim
import traces
from experiments.quantities import PSM, RUN, Row, run_row
from experiments.study.compare import LEVEL
from experiments.study.files import source_digest
from experiments.study.parts import Parts, packed, quantiles, sample
from experiments.study.sweep import compile_express
from experiments.study.traffic import Browsing, Generated, Recorded, Replication, browsed, known_waits, tells_waits
from netsim.policies import AnyPolicy, make
from traces.records import Sample

T = TypeVar("T")
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_NAMED = ("mean", "half_width", *(f"p{round(100 * level):02d}" for level in QUANTILES))
_DISTRIBUTED = {
    "energy_vs_none_percent": "energy_vs_none_percent", "energy_vs_psm_percent": "energy_vs_psm_percent",
    "slowdown": "slowdown_mean", "added_delay_s": "added_delay_mean_s",
}  # fmt: skip
_SUMMED = ("pages", "elapsed_s", "total_j", "messages", "slowdown_vs_psm")
_SHARES = ("costlier_than_none", "costlier_than_psm", "slower_than_psm", "losing_both", "slowed_over_2")
SHARES = np.linspace(0.0, 0.99, 496)  # curves are drawn through these quantiles, however many users there are
MOST_POINTS = 10_000  # users that are drawn one by one
SLOW = 2.0  # a mean slowdown that is reported as such
COLUMNS = (
    "user", "policy", "sessions", *RUN, "energy_vs_none_percent", "energy_vs_psm_percent", "slowdown_mean",
    "slowdown_vs_psm", "messages", "added_delay_mean_s",
)  # fmt: skip
"""What `compute` returns of a task."""


class OtherProgramError(OSError):
    """A worker runs another version of this program than the one that asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Some users through all policies, of which the one without power saving is first.

    `program` is the digest of the program that must compute it, if that matters; `compile_first` says whether the
    simulator is worth compiling first, which changes no result.
    """

    members: tuple[Replication, ...]
    policies: tuple[AnyPolicy, ...]
    config: netsim.SimulationConfig
    program: str | None = None
    compile_first: bool = False


class Drawn:
    """Sessions of the Web model, of so many pages each; the first has the `seed`, each further one the next."""

    def __init__(self, count: int, pages: int, *, seed: int, web: str) -> None:
        self.count, self.pages = count, count * pages
        self._pages, self._seed, self._web = pages, seed, web
        self.first: Generated | None = next(iter(self))  #: One that tells how long servers take, if any does.

    def __iter__(self) -> Iterator[Generated]:
        for seed in range(self._seed, self._seed + self.count):
            yield Generated(n_pages=self._pages, seed=seed, web=self._web)

    def sizes(self) -> Iterator[int]:
        """Yield the pages of each."""
        return repeat(self._pages, self.count)

    def told(self, config: netsim.SimulationConfig, elapsed_s: float) -> Row:
        """Return what of the world was recorded (`traffic.told`): nothing."""
        return {}


class Users:
    """The users, or the sessions, of a trace (or the one of a workload) that have pages, on disk.

    Only Boston University traces tell users and sessions apart; elsewhere a client is both.  The first has the `seed`,
    each further one the next.  A pause longer than `max_think_s` is an absence, and left out.  With
    `recorded_round_trip` users get the round trip that the trace tells.  `report` and `which` (member, skip_damaged)
    are those of `traces.sessions`; `advance` is called after each session that was read.
    """

    def __init__(
        self, trace: Path, *, by: str = "user", seed: int = 0, max_think_s: float | None = None,
        recorded_round_trip: bool = False, report: traces.Report | None = None,
        advance: Callable[[], None] = lambda: None, **which: Any,
    ) -> None:  # fmt: skip
        self._report = traces.Report() if report is None else report
        self._by, self._seed, self._round_trip = by, seed, recorded_round_trip
        self._waits_us, self._told = Sample(), defaultdict[str, float](float)
        self.first: Recorded | None = None
        rule, numbers = traces.GroupingRule(max_think_s=max_think_s), dict[str, int]()
        together = by == "user" and traces.detect(trace) == "bu"  # such traces tell of nothing but pages

        def rows() -> Iterator[tuple[int, int, bytes]]:
            for place, one in enumerate(browsed(trace, rule=rule, report=self._report, **which)):
                self._look_at(one.pages)
                number = numbers.setdefault(one.user, len(numbers)) if together else place
                yield number, len(one.pages), pickle.dumps(one)
                advance()

        self._disk = sqlite3.connect("")  # a temporary file
        self._disk.execute("CREATE TABLE browsed (number INTEGER, pages INTEGER, found BLOB)")
        self._disk.executemany("INSERT INTO browsed VALUES (?, ?, ?)", rows())
        [(self.count, self.pages)] = self._disk.execute("SELECT COUNT(DISTINCT number), SUM(pages) FROM browsed")

    def _look_at(self, work: traces.Workload) -> None:
        one, waits_s = Recorded(name="", seed=0, recorded=work), known_waits(work)
        if self.first is None or (not tells_waits([self.first]) and tells_waits([one])):
            self.first = one
        self._waits_us.extend(np.rint(waits_s * 1e6).astype(np.int64))
        self._told["messages"] += len(work.messages)
        if work.captured_s is not None:
            self._told["things"] += len(work.sizes) + len(work.beside_s)
            self._told["captured_s"] += work.captured_s

    def __iter__(self) -> Iterator[Recorded]:
        found = self._disk.execute("SELECT number, found FROM browsed ORDER BY number, rowid")
        trip_s = self._report.round_trip_s if self._round_trip else None
        for number, rows in groupby(found, itemgetter(0)):
            own: list[Browsing] = [pickle.loads(row) for _, row in rows]
            pages = own[0].pages if len(own) == 1 else traces.Workload.of(page for one in own for page in one.pages)
            name = own[0].user if self._by == "user" else own[0].name
            seed = self._seed + number
            yield Recorded(name=name, seed=seed, recorded=pages, sessions=len(own), round_trip_s=trip_s)

    def sizes(self) -> Iterator[int]:
        """Yield the pages of each."""
        found = self._disk.execute("SELECT SUM(pages) FROM browsed GROUP BY number ORDER BY number")
        return map(itemgetter(0), found)

    def told(self, config: netsim.SimulationConfig, elapsed_s: float) -> Row:
        """Return what of the world was recorded (`traffic.told`); all took `elapsed_s` without power saving.

        The median of server times is that of 2048 of them, or of all if there are fewer.
        """
        median_us = self._waits_us.quantile(0.5) if config.server_delay.kind == "recorded" else None
        captured_s = self._told.get("captured_s")  # of all clients together, as is what was simulated
        timed = {"things": int(self._told["things"]), "captured_s": captured_s, "simulated_s": elapsed_s}
        return {
            "server_times_s": None if median_us is None else median_us / 1e6,
            "round_trip_s": self._report.round_trip_s if self._round_trip else None,
            "messages": int(self._told["messages"]), **({} if captured_s is None else timed),
        }  # fmt: skip


def cut(members: Iterable[T], least: int, pages: Callable[[T], int]) -> Iterator[tuple[T, ...]]:
    """Yield members that reach so many pages, again and again; nobody is cut."""
    own, n = list[T](), 0
    for one in members:
        own.append(one)
        n += pages(one)
        if n >= least:
            yield tuple(own)
            own, n = [], 0
    if own:
        yield tuple(own)


def tasks(
    members: Iterable[Replication], policies: Iterable[AnyPolicy], config: netsim.SimulationConfig, *,
    pages_per_task: int, **more: Any,
) -> Iterator[Task]:  # fmt: skip
    """Yield the tasks of members, which reach so many pages; `more` are further fields of theirs."""
    chosen = tuple(policies)
    for own in cut(members, pages_per_task, attrgetter("n_pages")):
        yield Task(members=own, policies=chosen, config=config, **more)


def part(task: Task) -> bytes:
    """Run a task; the result is that of `compute` as a file."""
    return packed(compute(task))


def compute(task: Task) -> dict[str, list[Any]]:
    """Run a task; the result is columns, a row a user and policy: users in order, policies within.

    A row has energies of the whole run, their differences from those under ``none`` and static PSM in percent (NaN
    where PSM was not run), the mean slowdown of pages against ``none``, that over the one of static PSM, and how much
    later than under ``none`` messages came (NaN without messages).  If another version of the program is wanted it is
    an `OtherProgramError`.
    """
    if task.program is not None and task.program != source_digest():
        raise OtherProgramError("a worker has another version of lpsm, or of its source, than the one that asks")
    # made once and copied by every run: building LPSM's grid of switching rates takes longer than a short session
    world = task.config
    policies = [make(name, **world.setting) for name in task.policies]
    if task.compile_first:
        compile_express(policies, world)
    static = netsim.canonical("psm", beacon_interval_ns=world.beacon_interval_ns)
    rows = [row for user in task.members for row in _rows(user, policies, world, static)]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _rows(user: Replication, policies: Sequence[Any], config: netsim.SimulationConfig, static: str) -> Iterator[Row]:
    world, work, nan = user.world(config), user.pages(), float("nan")
    results = [netsim.simulate(work, policy, config=world, seed=user.seed) for policy in policies]
    held = [result.against(results[0]) for result in results]
    slowdowns = [one.slowdown for one in held]
    psm, static_slowdown = next(
        (pair for pair in zip(results, slowdowns, strict=True) if pair[0].policy == static), (None, nan)
    )
    for result, found, slowdown in zip(results, held, slowdowns, strict=True):
        yield {
            "user": user.name,
            "policy": result.policy,
            "sessions": getattr(user, "sessions", 1),
            **run_row(result),
            "energy_vs_none_percent": found.energy_percent,
            "energy_vs_psm_percent": nan if psm is None else result.against(psm).energy_percent,
            "slowdown_mean": slowdown,
            "slowdown_vs_psm": slowdown / static_slowdown,
            "messages": len(found.added_delay_s),
            "added_delay_mean_s": found.delay_s,
        }


def curves(parts: Parts, policies: Sequence[str]) -> pd.DataFrame:
    """Return what distributions are drawn through: `policy`, `share`, and each column of energy and slowdown there."""
    found = {"policy": np.repeat(policies, len(SHARES)), "share": np.tile(SHARES, len(policies))}
    of = [*_DISTRIBUTED.values()][:3]
    return pd.DataFrame(found | {name: quantiles(parts, name, len(policies), SHARES).ravel() for name in of})


def points(parts: Parts, policies: Sequence[str], users: int) -> pd.DataFrame:
    """Return energy and slowdown of every user, or of every so many-th, so that there are at most `MOST_POINTS`."""
    step = -(-users // MOST_POINTS)
    return sample(parts, ["slowdown_mean", "energy_vs_none_percent"], policies, step)


def summary(parts: Parts, policies: Sequence[str], psm: str = PSM, *, drawn: bool = False) -> pd.DataFrame:
    """Return one row a policy, in constant memory; `psm` is the canonical name of static PSM.

    The columns are policy, users, pages, elapsed_s, total_j; ``energy_of_all_vs_none_percent`` and
    ``energy_of_all_vs_psm_percent``, of all users together; over users `energy_vs_none_percent`,
    `energy_vs_psm_percent` and `slowdown`, each as ``.._mean`` and ``.._p00`` to ``.._p100``; and the percentages of
    users ``costlier_than_none_percent``, ``costlier_than_psm_percent``, ``slower_than_psm_percent``,
    ``losing_both_percent``, ``slowed_over_2_percent``.  Where messages are pushed: `messages`, and over the users who
    have some `added_delay_s`, how much later they come in the mean.  If they are `drawn`, each mean has its
    ``.._half_width`` (95 %).
    """
    n, totals, means = len(policies), dict[str, Any](), {}
    near: dict[str, Any] = {}  # values of the first user: squares of what differs from them add up without loss
    for rows in parts([*_SUMMED, *_DISTRIBUTED.values()]):
        of = {name: column.reshape(-1, n) for name, column in rows.items()}
        dear, late = of["energy_vs_psm_percent"] > 0, of["slowdown_vs_psm"] > 1
        sums = {name: of[name] for name in _SUMMED[:-1]} | {
            "users": np.ones(dear.shape), "unmeasured": np.isnan(of["energy_vs_psm_percent"]),
            "costlier_than_none": of["energy_vs_none_percent"] > 0, "costlier_than_psm": dear,
            "slower_than_psm": late, "losing_both": dear & late, "slowed_over_2": of["slowdown_mean"] > SLOW,
        }  # fmt: skip
        for name, column in _DISTRIBUTED.items():
            known = ~np.isnan(of[column])
            off = np.where(known, of[column] - near.setdefault(name, np.nan_to_num(of[column][0])), 0.0)
            sums[name], sums[f"{name} squares"], sums[f"{name} known"] = off, off**2, known
        totals = {name: totals.get(name, 0) + own.sum(axis=0) for name, own in sums.items()}
    for name, column in _DISTRIBUTED.items():
        if name != "added_delay_s" or totals["messages"].any():
            with np.errstate(invalid="ignore", divide="ignore"):  # some users may have no page, or no message
                known = totals[f"{name} known"]
                off = totals[name] / known
                half = stdtrit(known - 1, 0.5 + LEVEL / 2) * np.sqrt(
                    (totals[f"{name} squares"] / known - off**2).clip(0) / (known - 1)
                )
            means[name] = np.column_stack([near[name] + off, half, quantiles(parts, column, n, QUANTILES)])
    found = []
    for place, policy in enumerate(policies):
        row: Row = {"policy": policy, **{name: int(totals[name][place]) for name in ("users", "pages")}}
        row |= {name: float(totals[name][place]) for name in ("elapsed_s", "total_j")}
        for name, base in (("none", policies[0]), ("psm", psm)):
            base_j = totals["total_j"][policies.index(base)] if base in policies else np.nan
            row[f"energy_of_all_vs_{name}_percent"] = 100.0 * (row["total_j"] / base_j - 1.0)
        if "added_delay_s" in means:
            row["messages"] = int(totals["messages"][place])
        for name, own in means.items():
            named = zip(_NAMED, own[place].tolist(), strict=True)
            row |= {f"{name}_{of}": value for of, value in named if drawn or of != "half_width"}
        for name in _SHARES:
            unknown = name in _SHARES[1:4] and totals["unmeasured"][place]
            row[f"{name}_percent"] = np.nan if unknown else 100.0 * float(totals[name][place]) / row["users"]
        found.append(row)
    return pd.DataFrame(found)
