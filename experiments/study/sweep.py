"""A sweep as plain data: every policy on every replication of the traffic, in one configuration.

A replication is a seed of the traffic model, or a recorded browsing session.  All policies of a replication meet the
same world: the same pages, think times and server delays (common random numbers), which is what makes their differences
comparable.  A task is a value, and `simulate` a pure function of it.

With several clients a replication is a cell, whose clients all follow the policy that is measured and have draws of
their own of the same traffic.  The totals of a run are then means over its clients.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

import netsim
import traces
from experiments.quantities import BASELINE, RUN, Row, mean_row, run_row
from experiments.study.run import processes, run
from experiments.study.traffic import Generated, Recorded, Replication
from lpsm.native import folder_of
from lpsm.native.entries import Entry
from netsim.policies import AnyPolicy
from netsim.simulation import uncompiled

if TYPE_CHECKING:
    import pandas as pd

    from experiments.study.store import Store

__all__ = [
    "MANY_PAGES", "ONE_PAGE", "Frames", "Generated", "Recorded", "Replication", "Task", "are_many", "clairvoyant",
    "compile_express", "frames", "measured", "named", "row_of", "searches", "simulate", "tasks", "warm_up",
]  # fmt: skip

Columns: TypeAlias = dict[str, list[Any]]

MOST_DELAYS = {"datagram": 1_000, "exchange": 10_000}
MANY_PAGES = 1_000  # from here on, compiling the simulator once is better than interpreting it each time
_LARGE = 25  # pages of 1996 that take as long to interpret as one of 2025
ONE_PAGE = (traces.Page("", 1, 1),)
_SEARCHES = {"clairvoyant": False, "polling_clairvoyant": True}  # in place of a policy: whether it polls
_NUMBER = (int, float)
RESULT = (
    {"run": {"replication": str, "policy": str, **dict.fromkeys(RUN, _NUMBER)}, "pages": {"latency_s": [_NUMBER]}},
    {"replication": str, "knows": str, "slowdown": [_NUMBER], "above_sleep_j": [_NUMBER]},
)
"""The shape (`store.fits`) of what `simulate` returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One run: a policy, by its canonical name and what makes it, of so many clients, on a replication."""

    workload: Replication
    name: str
    policy: AnyPolicy
    config: netsim.SimulationConfig
    clients: int = 1
    record_polls: bool = False

    @property
    def key(self) -> str:
        """A name unique within the sweep."""
        return f"{self.workload.name} {self.name}{f' {self.clients} clients' if self.clients > 1 else ''}"


class Frames(NamedTuple):
    """What a sweep found; with several clients pages, messages and delays say whose they are (`client`)."""

    runs: pd.DataFrame  #: a row a run; of several `clients`, how many there are, and means over them
    pages: pd.DataFrame  #: a row a page of a run
    messages: pd.DataFrame  #: a row a pushed message
    #: delays of datagrams down and latencies of exchanges with times of their own (`kind`): all, or `MOST_DELAYS` that
    #: stand for `weight` each, datagrams from the shortest to the longest, exchanges in their order
    delays: pd.DataFrame


def named(policies: Sequence[AnyPolicy], beacon_interval_ns: int) -> dict[str, AnyPolicy]:
    """Return what makes each policy, by the canonical name that results carry.

    The one without power saving is put first if it is not among them.  No policy, an unknown one, and two that are
    the same are a `ValueError`.
    """
    if not policies:
        raise ValueError("policies must name at least one policy, got none")
    chosen = {netsim.canonical(policy, beacon_interval_ns=beacon_interval_ns): policy for policy in policies}
    if len(chosen) < len(policies):
        raise ValueError(f"policies must differ, got {','.join(map(str, policies))}")
    return chosen if BASELINE in chosen else {BASELINE: BASELINE, **chosen}


def tasks(
    workloads: Sequence[Replication], policies: Sequence[AnyPolicy], config: netsim.SimulationConfig,
    clients: int = 1,
) -> dict[str, Task]:  # fmt: skip
    """List the runs of a sweep, keyed; the run without power saving is always among them.

    A policy or a replication that is named twice is a `ValueError`.
    """
    made = [
        Task(workload=workload, name=name, policy=policy, config=workload.world(config), clients=clients)
        for workload in workloads
        for name, policy in named(policies, config.beacon_interval_ns).items()
    ]
    listed = {task.key: task for task in made}
    if len(listed) < len(made):
        raise ValueError("replications must have different names")
    return listed


def searches(tasks: Mapping[str, Task]) -> dict[str, Task]:
    """List the searches of clients that know when frames come, two a replication, keyed; of one client alone."""
    if any(task.clients > 1 for task in tasks.values()):
        raise ValueError("clairvoyant must be asked of one client, got several clients")
    made = (replace(task, name=name, policy=BASELINE) for task in tasks.values() for name in _SEARCHES)
    return {task.key: task for task in made}


def measured(tasks: Mapping[str, Task], store: Store, *, jobs: int | None) -> dict[str, Row]:
    """Compute what a store has not yet, keeping each result there; return all results in the order of the tasks."""
    if processes(jobs) > 1:
        warm_up(tasks.values(), processes(jobs))
    return run(simulate, tasks, jobs=jobs, finished=store.finished, keep=store.keep, title="runs of a policy")


def clairvoyant(results: Mapping[str, Row]) -> dict[str, dict[str, netsim.Clairvoyant]]:
    """Return what the searches among results found, by the name of who knows, then by replication."""
    found = defaultdict[str, dict[str, netsim.Clairvoyant]](dict)
    for one in results.values():
        if "knows" in one:
            curve = netsim.Clairvoyant(np.array(one["slowdown"]), np.array(one["above_sleep_j"]))
            found[one["knows"]][one["replication"]] = curve
    return found


def warm_up(listed: Iterable[Task], jobs: int = 1) -> None:
    """Run one small page under every policy, so that what must be compiled is compiled once, before processes start.

    The simulator is among it if the replications have `MANY_PAGES` together; so many `jobs` compile it.
    """
    listed = list(listed)
    workloads = {one.name: one for one in (task.workload for task in listed)}
    many = bool(workloads) and are_many(sum(one.n_pages for one in workloads.values()), listed[0].workload)
    first = {(task.name, task.config): task for task in listed}
    for config in dict.fromkeys(task.config for task in listed) if many else ():
        compile_express([task.policy for (_, own), task in first.items() if own == config], config, jobs)
    for task in first.values():
        if task.name in _SEARCHES:
            netsim.clairvoyant(ONE_PAGE, config=task.config, polls=_SEARCHES[task.name])
        else:
            netsim.simulate(ONE_PAGE, task.policy, config=task.config)


def are_many(n_pages: int, one: Replication) -> bool:
    """Whether so many pages, of which one replication is, are worth compiling the simulator for."""
    return n_pages * (_LARGE if isinstance(one, Generated) and one.web == "2025" else 1) >= MANY_PAGES


def compile_express(policies: Iterable[AnyPolicy], config: netsim.SimulationConfig, jobs: int = 1) -> None:
    """Have the simulator compiled for these policies, by so many processes; those without a compiled rule are left.

    Where it is compiled already, this takes some milliseconds.
    """
    left = uncompiled(policies, config)
    shared = {name: entry for name, entry in left.items() if name.startswith("netsim.") and "@" not in name}
    if shared and folder_of("netsim"):  # known to other processes, which can hand over what they make
        run(address_of, shared, jobs=jobs, title="functions compiled")
    for entry in left.values():  # those that are compiled take some milliseconds
        address_of(entry)


def address_of(entry: Entry) -> int:
    """Have a function compiled, and return where it is in this process."""
    return entry.address


def simulate(task: Task) -> Row:
    """Run one task; the result is plain JSON data."""
    workload, seed = task.workload, task.workload.seed
    if task.name in _SEARCHES:
        known = netsim.clairvoyant(workload.pages(), config=task.config, seed=seed, polls=_SEARCHES[task.name])
        found = {"slowdown": known.slowdown.tolist(), "above_sleep_j": known.above_sleep_j.tolist()}
        return {"replication": workload.name, "knows": task.name, **found}
    if task.clients == 1:
        results = [netsim.simulate(workload.pages(), task.policy, config=task.config, seed=seed)]
    else:
        members = [(workload.pages(client), task.policy) for client in range(task.clients)]
        results = netsim.simulate_cell(members, config=task.config, seed=seed)
    return row_of(task, results)


def row_of(task: Task, results: Sequence[netsim.SimulationResult]) -> Row:
    """Return what the clients of a task left behind as plain JSON data."""
    if results[0].policy != task.name:
        raise ValueError(f"policy {task.name}: its spec must be the same of each that is made, got {results[0].policy}")
    first, row = results[0], mean_row([run_row(result) for result in results])
    late_s = [result.message_delay_s for result in results]
    tables: dict[str, list[Columns]] = {
        "pages": [_lists(result.page_columns) for result in results],
        "polls": [_lists(dict(first.polls.items()))] if task.record_polls else [],
        "messages": [_lists({"message": range(len(late)), "delay_s": late}) for late in late_s],
        "delays": [_delays(result) for result in results],
    }
    found = {name: _by_client(own) for name, own in tables.items() if name == "pages" or any(map(_rows, own))}
    return {"run": {"replication": task.workload.name, "policy": first.policy, **row}, **found}


def _lists(columns: Mapping[Any, Any]) -> Columns:
    """Return columns as lists of plain numbers and texts; one text stands for all rows."""
    rows = max(len(column) for column in columns.values() if not isinstance(column, str))
    return {
        name: [column] * rows if isinstance(column, str) else np.asarray(column).tolist()
        for name, column in columns.items()
    }


def _rows(columns: Columns) -> int:
    return max(map(len, columns.values()), default=0)


def _delays(result: netsim.SimulationResult) -> Columns:
    found: Columns = defaultdict(list)
    kinds = ("datagram", result.datagram_delay_s), ("exchange", result.exchange_s)
    for kind, values in kinds if result.captured_s is not None else ():
        n = min(len(values), MOST_DELAYS[kind])
        at = np.round((np.arange(n) + 0.5) * len(values) / max(n, 1) - 0.5).astype(int)
        ranked = np.sort(values) if kind == "datagram" else values
        kept = ranked[at] if kind == "exchange" else np.append(ranked[at[:-1]], ranked[-1:])  # the longest is kept
        for name, column in _lists(
            {"kind": kind, "delay_s": kept, "weight": np.full(n, len(ranked) / max(n, 1))}
        ).items():
            found[name] += column
    return found


def _by_client(tables: Sequence[Columns]) -> Columns:
    """Put the columns of a cell's clients one below the other, with the number of each `client`; one stays as it is."""
    if len(tables) == 1:
        return tables[0]
    found = {name: [*chain.from_iterable(table[name] for table in tables)] for name in tables[0]}
    return found | {"client": [client for client, table in enumerate(tables) for _ in range(_rows(table))]}


def frames(results: Mapping[str, Row]) -> Frames:
    """Gather the results of runs, in their order, into frames."""
    import pandas as pd  # which takes longer to import than all else, and workers do not need

    listed = list(results.values())

    def gather(part: str) -> pd.DataFrame:
        tables = [(result["run"], result.get(part, {})) for result in listed]
        whole: Columns = defaultdict(list)
        for of, table in [pair for pair in tables if _rows(pair[1])] or tables[:1]:
            whole["replication"] += [of["replication"]] * _rows(table)
            for name, column in {**table, "policy": [of["policy"]] * _rows(table)}.items():
                whole[name] += column
        return pd.DataFrame(whole)

    return Frames(pd.DataFrame([result["run"] for result in listed]), *map(gather, Frames._fields[1:]))
