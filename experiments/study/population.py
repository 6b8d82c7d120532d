"""A population as plain data: every user, or every session, of a trace through every policy.

The trace is read once, as a stream, and cut into *tasks* of about as many pages each.  A task is
a value that holds all it needs (pages, policies, configuration, seeds), and `compute` a pure function of
it whose result is the content of one file: it does not matter which process, or which machine, computes it,
or how often.

All policies of a user meet the same world (common random numbers), as in `sweep`.  A *user* browses all of
their sessions as one workload, one session after another, so that what a policy learned carries over; a
*session* is browsed by itself.  Memory holds the tasks under way; for users whose sessions are scattered over
a trace, one sixty-fourth of its pages, and a temporary file the pages of all.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import netsim
import traces
from experiments.quantities import ENERGIES, run_row
from experiments.study.files import source_digest
from experiments.study.sweep import MANY_PAGES, at_round_trip, compile_express
from experiments.study.traffic import browsed
from netsim.policies import AnyPolicy, make

__all__ = [
    "SCHEMA",
    "OtherProgramError",
    "Task",
    "User",
    "check",
    "compute",
    "tasks",
    "users",
]

_SPOOLS = 64
_ONE_PAGE = (traces.Page("", 1, 1),)

_WORDS = ("user", "policy")
_COUNTS = ("sessions", "pages", "objects", "reply_bytes", "beacons", "wakeups", "messages")
SCHEMA = pa.schema(
    [
        (name, pa.string() if name in _WORDS else pa.int64() if name in _COUNTS else pa.float64())
        for name in (
            "user", "policy", "sessions", "pages", "objects", "reply_bytes", "elapsed_s", *ENERGIES, "beacons",
            "wakeups", "energy_vs_none_percent", "energy_vs_psm_percent", "latency_s", "slowdown_mean",
            "slowdown_median", "slowdown_p95", "slowdown_max", "slowdown_vs_psm", "messages", "added_delay_mean_s",
            "added_delay_p95_s",
        )
    ]
)  # fmt: skip
"""A row is a user under a policy: energies of the whole run, their differences from those under ``none`` and
static PSM in percent (negative for a saving; null where PSM was not run), latency as a sum over pages, slowdowns of
pages against ``none``, the mean slowdown over that of static PSM, and how much later than under ``none`` messages came
(null without messages)."""


class OtherProgramError(OSError):
    """A worker runs another version of this program than the one that asks."""


class User(NamedTuple):
    """Whose browsing it is, and what decides what the trace does not tell (server delays, losses).

    `round_trip_s` is that to the servers, if it is to be used in place of the configuration's.
    """

    name: str
    seed: int
    sessions: int
    pages: traces.Workload
    round_trip_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Some users through all policies.

    Attributes
    ----------
    members : tuple of User
        At least one.
    policies : tuple of str, Policy or OwnPolicy
        The one without power saving first.
    config : SimulationConfig
        The world.
    program : str or None
        If given, the digest of the program that must compute it.
    compile_first : bool
        Whether the simulator is worth compiling first, where it is not; changes no result.
    """

    members: tuple[User, ...]
    policies: tuple[AnyPolicy, ...]
    config: netsim.SimulationConfig
    program: str | None = None
    compile_first: bool = False


def users(
    trace: Path,
    *,
    by: str = "user",
    member: str | None = None,
    skip_damaged: bool = False,
    seed: int = 0,
    max_think_s: float | None = None,
    recorded_round_trip: bool = False,
    report: traces.Report | None = None,
) -> Iterator[User]:
    """Yield the users, or the sessions, of a trace that have pages.

    Parameters
    ----------
    trace : Path
        Of any format, a workload included (which is one user's).
    by : {"user", "session"}
        What is one run.  Only Boston University traces tell them apart; elsewhere a client is both.
    member, skip_damaged, report
        As for `traces.sessions`.
    seed : int
        Of the first; each has the next.
    max_think_s : float, optional
        A longer pause is an absence, and left out (`traces.GroupingRule`).
    recorded_round_trip : bool
        Whether users get the round trip that the trace tells.  Every format that tells one is read to its end
        before its first session is there.
    """
    if by not in ("user", "session"):
        raise ValueError(f"by must be user or session, got {by!r}")
    report = report if report is not None else traces.Report()
    rule = traces.GroupingRule(max_think_s=max_think_s)
    of_sessions = (
        (found.user if by == "user" else found.name, found.pages)
        for found in browsed(trace, member=member, skip_damaged=skip_damaged, rule=rule, report=report)
    )
    gathered: Iterable[tuple[str, int, traces.Workload]]
    if by == "user" and traces.detect(trace) == "bu":
        gathered = _gathered(of_sessions)  # such traces tell of nothing but pages
    else:
        gathered = ((name, 1, pages) for name, pages in of_sessions)
    for number, (name, sessions, pages) in enumerate(gathered):
        round_trip_s = report.round_trip_s if recorded_round_trip else None
        yield User(name, seed + number, sessions, pages, round_trip_s)


def _gathered(
    sessions: Iterable[tuple[str, traces.Workload]],
) -> Iterator[tuple[str, int, traces.Workload]]:
    """Bring together what is a user's, by way of temporary files that hold a part of the users each."""
    with TemporaryDirectory(prefix="lpsm-") as folder, ExitStack() as stack:
        spools = [stack.enter_context(Path(folder, str(part)).open("w+", encoding="utf-8")) for part in range(_SPOOLS)]
        for name, pages in sessions:
            spools[zlib.crc32(name.encode()) % _SPOOLS].write(json.dumps([name, list(pages)]) + "\n")
        for spool in spools:
            spool.seek(0)
            of_user: dict[str, list[list[Any]]] = {}
            for name, rows in map(json.loads, spool):
                of_user.setdefault(name, []).append(rows)
            for name, browsed in of_user.items():
                yield name, len(browsed), traces.Workload.of(_page(*row) for rows in browsed for row in rows)


def _page(
    page: str,
    request: int,
    reply: int,
    objects: list[list[int]],
    think_s: float,
    issue_s: float | None,
    waits_s: list[float],
    deadline_s: float | None,
    timings: list[Any],
) -> traces.Page:
    pairs = tuple((wanted, given) for wanted, given in objects)
    return traces.Page(page, request, reply, pairs, think_s, issue_s, tuple(waits_s), deadline_s)


def tasks(
    members: Iterable[User],
    policies: Sequence[AnyPolicy],
    config: netsim.SimulationConfig,
    *,
    pages_per_task: int = 1000,
    program: str | None = None,
) -> Iterator[Task]:
    """Cut a stream of users into tasks that reach so many pages (a user is never cut)."""
    if pages_per_task < 1:
        raise ValueError(f"pages-per-task must be at least 1, got {pages_per_task}")
    waiting: list[User] = []
    n_pages = before = 0

    def task() -> Task:
        return Task(
            members=tuple(waiting), policies=tuple(policies), config=config, program=program,
            compile_first=before >= MANY_PAGES,
        )  # fmt: skip

    for user in members:
        waiting.append(user)
        n_pages += len(user.pages)
        if n_pages >= pages_per_task:
            yield task()
            before += n_pages
            waiting, n_pages = [], 0
    if waiting:
        yield task()


def check(policies: Sequence[AnyPolicy], config: netsim.SimulationConfig) -> None:
    """Run one small page under every policy.

    Raises
    ------
    ValueError
        If the policies and the configuration do not go together.
    """
    compute(Task(members=(User("", 0, 1, traces.Workload.of(_ONE_PAGE)),), policies=tuple(policies), config=config))


def compute(task: Task) -> bytes:
    """Run a task; the result is the content of a Parquet file with `SCHEMA`, users in order, policies within.

    Raises
    ------
    OtherProgramError
        If another version of the program is wanted.
    """
    if task.program is not None and task.program != _this_program():
        raise OtherProgramError("a worker has another version of lpsm, or of its source, than the one that asks")
    # made once and copied by every run: building LPSM's grid of switching rates takes longer than a short session
    world = task.config
    policies = [make(name, beacon_interval_ns=world.beacon_interval_ns, radio=world.radio) for name in task.policies]
    if task.compile_first:
        compile_express(policies, world)
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for user in task.members:
        for row in _rows(user, policies, task.config):
            for name, value in row.items():
                columns[name].append(value)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=SCHEMA), sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


@lru_cache(maxsize=1)
def _this_program() -> str:
    return source_digest()


def _rows(user: User, policies: Sequence[Any], config: netsim.SimulationConfig) -> list[dict[str, Any]]:
    objects, reply_bytes = int(user.pages.objects.sum()), int(user.pages.sizes[:, 1].sum())
    world = config if user.round_trip_s is None else at_round_trip(config, user.round_trip_s)
    results = [netsim.simulate(user.pages, policy, config=world, seed=user.seed) for policy in policies]
    static = netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns)
    psm = next((result for result in results if result.policy == static), None)
    rows: list[dict[str, Any]] = []
    for result in results:
        found = result.against(results[0])
        ranked = np.sort(found.slowdowns) if len(found.slowdowns) else np.full(1, np.nan)  # of messages alone none
        late = found.added_delay_s
        rows.append(
            {
                "user": user.name,
                "policy": result.policy,
                "sessions": user.sessions,
                "objects": objects,
                "reply_bytes": reply_bytes,
                **{name: value for name, value in run_row(result).items() if name in SCHEMA.names},
                "energy_vs_none_percent": found.energy_percent,
                "energy_vs_psm_percent": None if psm is None else result.against(psm).energy_percent,
                "latency_s": float(result.latency_s.sum()),
                "slowdown_mean": found.slowdown,
                "slowdown_median": _quantile(ranked, 0.5),
                "slowdown_p95": _quantile(ranked, 0.95),
                "slowdown_max": float(ranked[-1]),
                "slowdown_vs_psm": None if psm is None else found.slowdown / psm.slowdown(results[0]),
                "messages": len(late),
                "added_delay_mean_s": found.delay_s if len(late) else None,
                "added_delay_p95_s": float(np.quantile(late, 0.95)) if len(late) else None,
            }
        )
    return rows


def _quantile(ranked: NDArray[np.float64], level: float) -> float:
    """Return a quantile of sorted numbers, interpolated linearly as numpy does, which takes 50 times as long."""
    place = level * (len(ranked) - 1)
    below = int(place)
    above = min(below + 1, len(ranked) - 1)
    return float(ranked[below] + (place - below) * (ranked[above] - ranked[below]))
