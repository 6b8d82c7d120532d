"""A population: every user, or every session, of a trace through every policy, and what they gain and lose.

The trace is read once, as a stream, and cut into *tasks* of about as many pages each, which a file on the disk keeps
until they are computed (`Spool`).  A task is a value that holds all it needs, and `compute` a pure function of it whose
result is the content of one file: it does not matter which process, or which machine, computes it, or how often.

All policies of a user meet the same world, as in `sweep`.  A *user* browses all of their sessions as one workload, one
session after another, so that what a policy learned carries over; a *session* is browsed by itself.  Memory holds the
tasks under way; for users whose sessions are scattered over a trace, one sixty-fourth of its pages.

In the summaries every user weighs the same: energy is that of all of their browsing, as a difference in percent (a
saving is negative), *slowdown* the mean over their pages.  A user *loses* by a policy against static PSM if it costs
them more energy, or more time, or both.  There are no intervals, because a trace is not a sample of something larger
unless somebody argues that it is.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile, gettempdir
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import netsim
import traces
from experiments.quantities import ENERGIES, PSM, run_row
from experiments.study.files import source_digest
from experiments.study.sweep import MANY_PAGES, at_round_trip, compile_express
from experiments.study.traffic import browsed
from netsim.policies import AnyPolicy, make

__all__ = [
    "COLUMNS", "QUANTILES", "SCHEMA", "OtherProgramError", "Spool", "Task", "User", "by_activity", "check", "compute",
    "read", "summary", "tasks", "users",
]  # fmt: skip

_SPOOLS = 64
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
static PSM in percent (null where PSM was not run), latency as a sum over pages, slowdowns of pages against ``none``,
the mean slowdown over that of static PSM, and how much later than under ``none`` messages came (null without
messages)."""

COLUMNS = (
    "policy", "pages", "elapsed_s", "total_j", "energy_vs_none_percent", "energy_vs_psm_percent", "latency_s",
    "slowdown_mean", "slowdown_vs_psm", "messages", "added_delay_mean_s",
)  # fmt: skip
"""Those that summaries need, which alone are read: about a hundred bytes a user and policy."""
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
SLOW = 2.0  # a mean slowdown that is reported as such
_GROUPS = ("least active quarter", "second quarter", "third quarter", "most active quarter")


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
    """Some users through all policies, of which the one without power saving is first.

    `program` is the digest of the program that must compute it, if that matters; `compile_first` says whether the
    simulator is worth compiling first, where it is not, and changes no result.
    """

    members: tuple[User, ...]
    policies: tuple[AnyPolicy, ...]
    config: netsim.SimulationConfig
    program: str | None = None
    compile_first: bool = False


def users(
    trace: Path, *, by: str = "user", member: str | None = None, skip_damaged: bool = False, seed: int = 0,
    max_think_s: float | None = None, recorded_round_trip: bool = False, report: traces.Report | None = None,
) -> Iterator[User]:  # fmt: skip
    """Yield the users, or the sessions, of a trace (or the one of a workload) that have pages.

    Only Boston University traces tell users and sessions apart; elsewhere a client is both.  The first has the `seed`,
    each further one the next.  A pause longer than `max_think_s` is an absence, and left out.  With
    `recorded_round_trip` users get the round trip that the trace tells; every format that tells one is read to its end
    before its first session is there.  `member`, `skip_damaged` and `report` are those of `traces.sessions`.
    """
    if by not in ("user", "session"):
        raise ValueError(f"by must be user or session, got {by!r}")
    report = report if report is not None else traces.Report()
    rule = traces.GroupingRule(max_think_s=max_think_s)
    found = browsed(trace, member=member, skip_damaged=skip_damaged, rule=rule, report=report)
    runs: Iterable[tuple[str, int, traces.Workload]]
    if by == "user" and traces.detect(trace) == "bu":
        runs = _gathered((one.user, one.pages) for one in found)  # such traces tell of nothing but pages
    else:
        runs = ((one.user if by == "user" else one.name, 1, one.pages) for one in found)
    for number, (name, sessions, pages) in enumerate(runs):
        round_trip_s = report.round_trip_s if recorded_round_trip else None
        yield User(name, seed + number, sessions, pages, round_trip_s)


def _gathered(sessions: Iterable[tuple[str, traces.Workload]]) -> Iterator[tuple[str, int, traces.Workload]]:
    """Yield each user, the number of their sessions and all their pages, by way of files on the disk."""
    with TemporaryDirectory(prefix="lpsm-") as folder, ExitStack() as opened:
        paths = [Path(folder, str(number)) for number in range(_SPOOLS)]
        spools = [opened.enter_context(path.open("w+b")) for path in paths]
        for session in sessions:
            pickle.dump(session, spools[zlib.crc32(session[0].encode()) % _SPOOLS])
        for spool in spools:
            spool.seek(0)
            of_user: dict[str, list[traces.Workload]] = {}
            with suppress(EOFError):
                while True:
                    name, pages = pickle.load(spool)
                    of_user.setdefault(name, []).append(pages)
            for name, browsed in of_user.items():
                yield name, len(browsed), traces.Workload.of(page for pages in browsed for page in pages)


def tasks(
    members: Iterable[User], policies: Sequence[AnyPolicy], config: netsim.SimulationConfig, *,
    pages_per_task: int = 1000, program: str | None = None,
) -> Iterator[Task]:  # fmt: skip
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


class Spool(Mapping[str, Task]):
    """All tasks of a trace by the names of the files that they make, kept on the disk until they are computed.

    `compile_first` says whether the simulator is worth compiling for one of them.
    """

    def __init__(self, cut: Iterable[Task]) -> None:
        self._file = TemporaryFile(prefix="lpsm-")  # noqa: SIM115 - until this is gone
        self._places: dict[str, int] = {}
        self.compile_first = False
        for number, task in enumerate(cut):
            self._places[f"users/part-{number:06d}.parquet"] = self._file.tell()
            try:
                pickle.dump(task, self._file)
            except OSError as error:
                where = f"{error.strerror}: the tasks of a trace are kept in {gettempdir()}"
                raise OSError(error.errno, where) from None
            self.compile_first |= task.compile_first

    def __getitem__(self, name: str) -> Task:
        self._file.seek(self._places[name])
        found: Task = pickle.load(self._file)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def check(policies: Sequence[AnyPolicy], config: netsim.SimulationConfig) -> None:
    """Run one small page under every policy: policies that do not go with the configuration are a `ValueError`."""
    page = traces.Workload.of([traces.Page("", 1, 1)])
    compute(Task(members=(User("", 0, 1, page),), policies=tuple(policies), config=config))


def compute(task: Task) -> bytes:
    """Run a task; the result is the content of a Parquet file with `SCHEMA`, users in order, policies within.

    If another version of the program is wanted it is an `OtherProgramError`.
    """
    if task.program is not None and task.program != _this_program():
        raise OtherProgramError("a worker has another version of lpsm, or of its source, than the one that asks")
    # made once and copied by every run: building LPSM's grid of switching rates takes longer than a short session
    world = task.config
    policies = [make(name, beacon_interval_ns=world.beacon_interval_ns, radio=world.radio) for name in task.policies]
    if task.compile_first:
        compile_express(policies, world)
    rows = [row for user in task.members for row in _rows(user, policies, world)]
    columns = {name: [row[name] for row in rows] for name in SCHEMA.names}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=SCHEMA), sink, compression="zstd")
    content: bytes = sink.getvalue().to_pybytes()
    return content


@lru_cache(maxsize=1)
def _this_program() -> str:
    return source_digest()


def _rows(user: User, policies: Sequence[Any], config: netsim.SimulationConfig) -> Iterator[dict[str, Any]]:
    world = config if user.round_trip_s is None else at_round_trip(config, user.round_trip_s)
    results = [netsim.simulate(user.pages, policy, config=world, seed=user.seed) for policy in policies]
    static = netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns)
    psm = next((result for result in results if result.policy == static), None)
    for result in results:
        found = result.against(results[0])
        ranked = np.sort(found.slowdowns) if len(found.slowdowns) else np.full(1, np.nan)  # of messages alone none
        late = found.added_delay_s
        yield {
            "user": user.name,
            "policy": result.policy,
            "sessions": user.sessions,
            "objects": int(user.pages.objects.sum()),
            "reply_bytes": int(user.pages.sizes[:, 1].sum()),
            **run_row(result),
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


def _quantile(ranked: Any, level: float) -> float:
    """Return a quantile of sorted numbers, interpolated linearly as numpy does, which takes 50 times as long."""
    place = level * (len(ranked) - 1)
    below = int(place)
    above = min(below + 1, len(ranked) - 1)
    return float(ranked[below] + (place - below) * (ranked[above] - ranked[below]))


def read(parts: Sequence[Path]) -> pd.DataFrame:
    """Read the columns that summaries need from all parts, in their order."""
    table: pd.DataFrame = pa.concat_tables(pq.read_table(part, columns=list(COLUMNS)) for part in parts).to_pandas()
    return table.astype({"policy": "category"})


def summary(table: pd.DataFrame, policies: Sequence[str], psm: str = PSM) -> pd.DataFrame:
    """Return one row a policy; `psm` is the canonical name of static PSM.

    The columns are policy, users, pages, total_j; ``energy_of_all_vs_none_percent`` and
    ``energy_of_all_vs_psm_percent``, of all users together; over users `energy_vs_none_percent`,
    `energy_vs_psm_percent` and `slowdown`, each as ``.._mean`` and ``.._p00`` to ``.._p100``; and the percentages of
    users ``costlier_than_none_percent``, ``costlier_than_psm_percent``, ``slower_than_psm_percent``,
    ``losing_both_percent``, ``slowed_over_2_percent``.  Where messages are pushed: `messages`, and over the users who
    have some `added_delay_s`, how much later they come in the mean.
    """
    of = {policy: _of(table, policy) for policy in policies}
    totals_j = {policy: float(own["total_j"].sum()) for policy, own in of.items()}
    rows = []
    for policy, own in of.items():
        row: dict[str, Any] = {"policy": policy, "users": len(own), "pages": int(own["pages"].sum())}
        row["total_j"] = totals_j[policy]
        for name, base_j in (("none", totals_j[policies[0]]), ("psm", totals_j.get(psm, float("nan")))):
            row[f"energy_of_all_vs_{name}_percent"] = 100.0 * (row["total_j"] / base_j - 1.0)
        distributed = {name: name for name in ("energy_vs_none_percent", "energy_vs_psm_percent")}
        distributed["slowdown"] = "slowdown_mean"
        if messages := int(own["messages"].sum()):
            row["messages"] = messages
            distributed["added_delay_s"] = "added_delay_mean_s"
        for name, column in distributed.items():
            values = own[column].dropna().to_numpy(dtype=float)  # some users may have no page, or no message
            values = values if len(values) else np.full(1, np.nan)
            row[f"{name}_mean"] = float(values.mean())
            for level, value in zip(QUANTILES, np.quantile(values, QUANTILES), strict=True):
                row[f"{name}_p{round(100 * level):02d}"] = float(value)
        row["costlier_than_none_percent"] = _share(own["energy_vs_none_percent"] > 0)
        for name, losing in zip(("costlier_than_psm", "slower_than_psm", "losing_both"), _losing(own), strict=True):
            row[f"{name}_percent"] = _share(losing)
        row["slowed_over_2_percent"] = _share(own["slowdown_mean"] > SLOW)
        rows.append(row)
    return pd.DataFrame(rows)


def by_activity(table: pd.DataFrame, policies: Sequence[str]) -> pd.DataFrame:
    """Return who gains and who loses, by how much they browse: quarters of users by pages an hour without power saving.

    The columns are policy, users_are (which quarter), users, pages_per_hour_from, pages_per_hour_to, medians of
    energies and slowdown, and the percentages costlier and slower than static PSM.
    """
    base = _of(table, policies[0])
    activity = base["pages"].to_numpy() / np.maximum(base["elapsed_s"].to_numpy(), 1e-9) * 3600.0
    quarters = np.array_split(np.argsort(activity, kind="stable"), len(_GROUPS))
    rows = []
    for policy in policies:
        own = _of(table, policy)
        for quarter, places in zip(_GROUPS, quarters, strict=True):
            if not len(places):
                continue
            group = own.iloc[places]
            row: dict[str, Any] = {"policy": policy, "users_are": quarter, "users": len(group)}
            row["pages_per_hour_from"], row["pages_per_hour_to"] = activity[places].min(), activity[places].max()
            for column in ("energy_vs_none_percent", "energy_vs_psm_percent", "slowdown_mean"):
                row[f"{column.removesuffix('_mean')}_median"] = float(group[column].median())
            for name, losing in zip(("costlier_than_psm", "slower_than_psm"), _losing(group)[:2], strict=True):
                row[f"{name}_percent"] = _share(losing)
            rows.append(row)
    return pd.DataFrame(rows)


def _of(table: pd.DataFrame, policy: str) -> pd.DataFrame:
    return table[table["policy"] == policy].reset_index(drop=True)


def _losing(rows: pd.DataFrame) -> list[pd.Series[Any]]:
    """Return whom a policy costs more energy than static PSM, whom more time, and whom both; NaN without PSM."""
    dear, late = rows["energy_vs_psm_percent"] > 0, rows["slowdown_vs_psm"] > 1
    known = bool(rows["energy_vs_psm_percent"].notna().all())
    return [losing if known else losing * np.nan for losing in (dear, late, dear & late)]


def _share(chosen: pd.Series[Any]) -> float:
    return 100.0 * float(chosen.mean())
