"""A population: every user, or every session, of a trace through every policy, and what they gain and lose.

The trace is read once and cut into *tasks* of about as many pages each.  A task is a value that holds all it needs, and
`compute` a pure function of it: it does not matter which process, or which machine, computes it, or how often.

All policies of a user meet the same world, as in `sweep`.  A *user* browses all of their sessions as one workload, one
session after another, so that what a policy learned carries over; a *session* is browsed by itself.

In the summaries every user weighs the same: energy is that of all of their browsing, as a difference in percent (a
saving is negative), *slowdown* the mean over their pages.  A user *loses* by a policy against static PSM if it costs
them more energy, or more time, or both.  There are no intervals, because a trace is not a sample of something larger
unless somebody argues that it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.quantities import PSM, RUN, Row, run_row
from experiments.study.files import source_digest
from experiments.study.sweep import MANY_PAGES, Recorded, compile_express
from experiments.study.traffic import Browsing, browsed
from netsim.policies import AnyPolicy, make

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
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

    members: tuple[Recorded, ...]
    policies: tuple[AnyPolicy, ...]
    config: netsim.SimulationConfig
    program: str | None = None
    compile_first: bool = False


def users(
    trace: Path, *, by: str = "user", seed: int = 0, max_think_s: float | None = None,
    recorded_round_trip: bool = False, report: traces.Report | None = None, **which: Any,
) -> Iterator[Recorded]:  # fmt: skip
    """Yield the users, or the sessions, of a trace (or the one of a workload) that have pages.

    Only Boston University traces tell users and sessions apart; elsewhere a client is both.  The first has the `seed`,
    each further one the next.  A pause longer than `max_think_s` is an absence, and left out.  With
    `recorded_round_trip` users get the round trip that the trace tells; every format that tells one is read to its end
    before its first session is there.  `report` and `which` (member, skip_damaged) are those of `traces.sessions`.
    """
    report = traces.Report() if report is None else report
    rule = traces.GroupingRule(max_think_s=max_think_s)
    found: Iterable[Browsing] = browsed(trace, rule=rule, report=report, **which)
    of_user: dict[str, list[traces.Workload]] = {}
    if by == "user" and traces.detect(trace) == "bu":  # such traces tell of nothing but pages
        for one in found:
            of_user.setdefault(one.user, []).append(one.pages)
        found = (Browsing(name, name, traces.Workload.of(chain(*own))) for name, own in of_user.items())
    for number, one in enumerate(found):
        yield Recorded(
            name=one.user if by == "user" else one.name, seed=seed + number, recorded=one.pages,
            sessions=len(of_user.get(one.user, [one])),
            round_trip_s=report.round_trip_s if recorded_round_trip else None,
        )  # fmt: skip


def tasks(
    members: Iterable[Recorded], policies: Iterable[AnyPolicy], config: netsim.SimulationConfig, *,
    pages_per_task: int = 1000, program: str | None = None,
) -> list[Task]:  # fmt: skip
    """Cut users into tasks that reach so many pages (a user is never cut); many pages are worth compiling for."""
    cut: list[list[Recorded]] = [[]]
    n_pages = before = 0
    for user in members:
        if n_pages - before >= pages_per_task:
            cut.append([])
            before = n_pages
        cut[-1].append(user)
        n_pages += user.n_pages
    chosen, many = tuple(policies), n_pages >= MANY_PAGES
    return [
        Task(members=tuple(own), policies=chosen, config=config, program=program, compile_first=many)
        for own in cut if own
    ]  # fmt: skip


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
    policies = [make(name, beacon_interval_ns=world.beacon_interval_ns, radio=world.radio) for name in task.policies]
    if task.compile_first:
        compile_express(policies, world)
    rows = [row for user in task.members for row in _rows(user, policies, world)]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _rows(user: Recorded, policies: Sequence[Any], config: netsim.SimulationConfig) -> Iterator[Row]:
    world, work, nan = user.world(config), user.recorded, float("nan")
    results = [netsim.simulate(work, policy, config=world, seed=user.seed) for policy in policies]
    static = netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns)
    psm = next((result for result in results if result.policy == static), None)
    for result in results:
        found = result.against(results[0])
        messages = len(found.added_delay_s)
        yield {
            "user": user.name,
            "policy": result.policy,
            "sessions": user.sessions,
            **run_row(result),
            "energy_vs_none_percent": found.energy_percent,
            "energy_vs_psm_percent": nan if psm is None else result.against(psm).energy_percent,
            "slowdown_mean": found.slowdown,
            "slowdown_vs_psm": nan if psm is None else found.slowdown / psm.slowdown(results[0]),
            "messages": messages,
            "added_delay_mean_s": found.delay_s if messages else nan,
        }


def summary(table: pd.DataFrame, policies: Sequence[str], psm: str = PSM) -> pd.DataFrame:
    """Return one row a policy; `psm` is the canonical name of static PSM.

    The columns are policy, users, pages, total_j; ``energy_of_all_vs_none_percent`` and
    ``energy_of_all_vs_psm_percent``, of all users together; over users `energy_vs_none_percent`,
    `energy_vs_psm_percent` and `slowdown`, each as ``.._mean`` and ``.._p00`` to ``.._p100``; and the percentages of
    users ``costlier_than_none_percent``, ``costlier_than_psm_percent``, ``slower_than_psm_percent``,
    ``losing_both_percent``, ``slowed_over_2_percent``.  Where messages are pushed: `messages`, and over the users who
    have some `added_delay_s`, how much later they come in the mean.
    """
    totals_j = table.groupby("policy")["total_j"].sum()
    rows = []
    for policy in policies:
        own: Any = table[table["policy"] == policy]
        row: Row = {"policy": policy, "users": len(own), "pages": int(own["pages"].sum())}
        row["total_j"] = float(totals_j[policy])
        for name, base in (("none", policies[0]), ("psm", psm)):
            row[f"energy_of_all_vs_{name}_percent"] = 100.0 * (row["total_j"] / totals_j.get(base, np.nan) - 1.0)
        distributed = {name: name for name in ("energy_vs_none_percent", "energy_vs_psm_percent")}
        distributed["slowdown"] = "slowdown_mean"
        if messages := int(own["messages"].sum()):
            row["messages"] = messages
            distributed["added_delay_s"] = "added_delay_mean_s"
        for name, column in distributed.items():  # some users may have no page, or no message
            row[f"{name}_mean"] = own[column].mean()
            row |= {f"{name}_p{round(100 * level):02d}": own[column].quantile(level) for level in QUANTILES}
        dear, late = own["energy_vs_psm_percent"] > 0, own["slowdown_vs_psm"] > 1
        known = 1.0 if own["energy_vs_psm_percent"].notna().all() else np.nan
        shares = {
            "costlier_than_none": own["energy_vs_none_percent"] > 0, "costlier_than_psm": known * dear,
            "slower_than_psm": known * late, "losing_both": known * (dear & late),
            "slowed_over_2": own["slowdown_mean"] > SLOW,
        }  # fmt: skip
        rows.append(row | {f"{name}_percent": 100.0 * float(losing.mean()) for name, losing in shares.items()})
    return pd.DataFrame(rows)
