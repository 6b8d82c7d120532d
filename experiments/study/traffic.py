"""The traffic of a study: seeds of the Web model, or what somebody browsed, read and cut the same for every command.

Where recorded sessions are few, it is their pages that are compared (with the messages that came until the next page),
each visited several times at random phases of the beacons: a single visit at a single phase would be luck.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import netsim
import traces
from experiments.presets import at_round_trip
from experiments.quantities import Row
from lpsm.randomness import SERVER, SPLIT, WORKLOAD, generator
from traces.times import instants, joined, moved, paced, stretches
from traces.traffic import Wishes, make
from traces.web_model import WEBS
from traces.workload import gathered

VISITS = 10  # of a page that is compared by itself
MOST_PARTS = 20  # of a session of messages alone
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """Pages drawn from the traffic model."""

    n_pages: int
    seed: int
    web: str = "2025"  #: the year of the pages; or the kind of traffic, a minute of which stands for a page

    @property
    def name(self) -> str:
        """How the replication is called in results."""
        return f"seed-{self.seed}"

    def pages(self, client: int = 0) -> Sequence[traces.Page]:
        """Draw the pages of a client, once for runs that follow one another."""
        return _drawn(self, client)

    def world(self, config: netsim.SimulationConfig) -> netsim.SimulationConfig:
        """Return the world in which they are browsed."""
        return config


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What somebody browsed, and what came beside it; `seed` decides what was not recorded (losses, say).

    `recorded` may be given as pages; `round_trip_s` is that to the servers, if it is to be used in place of the
    configuration's; `sessions` is how many of them these are.
    """

    name: str
    seed: int
    recorded: traces.Workload = field(hash=False)
    round_trip_s: float | None = None
    sessions: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "recorded", traces.Workload.of(self.recorded))

    @property
    def n_pages(self) -> int:
        """How many pages were browsed."""
        return len(self.recorded)

    @property
    def is_timed(self) -> bool:
        """Whether the session has times of its own."""
        return self.recorded.captured_s is not None

    def pages(self, client: int = 0) -> traces.Workload:
        """Return the pages of a client, a workload with the messages beside them.

        Every client but the first (0) begins later, by up to the mean time between two pages (between two messages,
        if there is no page), a second at least.
        """
        work = self.recorded
        if client == 0:
            return work
        ends_s = [(np.nan_to_num(work.issue_s) + work.think_s).max(initial=0.0), *work.beside_s]
        lasts_s = max(float(work.think_s.sum()), *ends_s, work.captured_s or 0.0)
        spacing_s = max(1.0, lasts_s / (len(work) or len(work.messages) or len(work.datagrams)))
        if len(work) and np.isnan(work.issue_s[0]):
            work = traces.Workload.of([work[0]._replace(issue_s=0.0), *work[1:]], work.messages)
        return moved(work, generator(self.seed, WORKLOAD, client).uniform(0.0, spacing_s))

    def world(self, config: netsim.SimulationConfig) -> netsim.SimulationConfig:
        """Return the world in which the session is browsed: with its own round trip, if that is given."""
        return config if self.round_trip_s is None else at_round_trip(config, self.round_trip_s)


Replication = Generated | Recorded


@lru_cache(maxsize=4)
def _drawn(one: Generated, client: int) -> traces.Workload:
    rng = generator(one.seed, WORKLOAD, client)
    if one.web in WEBS:
        return traces.Workload.of(traces.generate(one.n_pages, rng, one.web))
    return make(one.web, Wishes(hours=one.n_pages / 60.0), rng)


class Browsing(NamedTuple):
    """A session as it was recorded: its name, whose it is, its pages and what came beside them."""

    name: str
    user: str
    pages: traces.Workload


class Units(NamedTuple):
    """What is compared under every policy, and what such a unit is called: seeds, sessions, pages or parts."""

    workloads: list[Replication]
    called: str
    whole: Sequence[Recorded] = ()  #: the recordings with times of their own of which these are parts


def browsed(
    path: Path, *, rule: traces.GroupingRule | None = None, report: traces.Report, **which: Any
) -> Iterator[Browsing]:
    """Yield the sessions of a trace of any format, or the one of a workload, that have pages.

    `report` and `which` (member, skip_damaged) are those of `traces.sessions`, `rule` says how requests become pages.
    What cannot be read, and sessions chosen from a workload, are a `ValueError`.
    """
    if traces.detect(path) == "workload":
        if which.get("member") is not None:
            raise ValueError(f"member chooses sessions of a trace, {path} is a workload")
        found = traces.read_workload(path)
        if found.round_trip_s is not None:
            report.round_trips_us.extend([round(found.round_trip_s * 1e6)])
        report.waits_us.extend(np.rint(known_waits(found) * 1e6).astype(np.int64))
        report.count("messages", len(found.messages))
        yield Browsing("workload", "workload", found)
        return
    for session in traces.sessions(path, report=report, **which):
        found = traces.workload_of(session.requests, rule=rule, report=report)
        if found or found.messages or found.datagrams:
            yield Browsing(session.name, session.user, found)


def generated(pages: int, seed: int, seeds: int, web: str = "2025") -> list[Replication]:
    """Return the seeds SEED, SEED+1, ... of the Web model, each with so many pages."""
    return [Generated(n_pages=pages, seed=number, web=web) for number in range(seed, seed + seeds)]


def recorded(
    paths: Sequence[Path], *, seed: int = 0, round_trip: bool = True, advance: Callable[[], None] = lambda: None,
    told: Callable[[str], None] = lambda _: None, **which: Any,
) -> list[Replication]:  # fmt: skip
    """Read the sessions of one or several traces or workloads (`browsed`); without a page it is a `ValueError`.

    The clients of a capture are taken for one device.  The `seed` decides what was not recorded; each session has the
    next.  Sessions have the `round_trip` of their trace if it is to be used; waits that are not known are drawn from
    the known ones.  `advance` is called after each session, `told` with what was read of each trace.
    """
    found: dict[str, Recorded] = {}
    for path in paths:
        report, own = traces.Report(), dict[str, traces.Workload]()
        for session in _devices(path, report, **which):
            name = path.stem if session.name == "workload" and len(paths) > 1 else session.name
            name = f"{name} ({seed + len(found) + len(own)})" if name in found or name in own else name
            own[name] = session.pages
            advance()
        known, rng = known_waits(*own.values()), generator(seed, SERVER, 1)
        for name, work in own.items():
            waits_s, unknown = work.waits_s.copy(), np.isnan(work.waits_s)
            if len(known):
                waits_s[unknown] = rng.choice(known, unknown.sum())
            found[name] = Recorded(
                name=name, seed=seed + len(found), recorded=work.changed(waits_s=waits_s),
                round_trip_s=report.round_trip_s if round_trip else None,
            )  # fmt: skip
        if report.format:  # a workload is read without one
            told(str(report))
    if not found:
        under = f" under {which['member']}" if which.get("member") else ""
        raise ValueError(f"{', '.join(map(str, paths))}: there is no page in it{under}")
    return list(found.values())


def _devices(path: Path, report: traces.Report, **which: Any) -> Iterator[Browsing]:
    """Yield the sessions of a trace (`browsed`); the clients of a capture as one device, as `lpsm pages` takes them."""
    if traces.detect(path) != "pcap":
        yield from browsed(path, report=report, **which)
    elif sessions := [*traces.sessions(path, report=report, **which)]:
        name = sessions[0].name if len(sessions) == 1 else path.stem
        yield Browsing(name, name, gathered(traces.browsed(sessions, report=report)))


def known_waits(*works: traces.Workload) -> NDArray[np.float64]:
    """Return the recorded times of servers, seconds."""
    waits = np.concatenate([*(work.waits_s for work in works), np.empty(0)])
    known: NDArray[np.float64] = waits[~np.isnan(waits)]
    return known


def tells_waits(sessions: Sequence[Replication]) -> bool:
    """Whether one of these tells how long its servers took, or has times of its own; pages of 2025 do."""
    if any(isinstance(session, Generated) and session.web == "2025" for session in sessions):
        return True
    recorded = [session for session in sessions if isinstance(session, Recorded)]
    timed = any(session.is_timed for session in recorded)
    return timed or len(known_waits(*(session.recorded for session in recorded))) > 0


def told(sessions: Sequence[Replication], config: netsim.SimulationConfig) -> Row:
    """Return what of the world was recorded and is used, nothing for drawn traffic.

    That is server_times_s (the median, or None), round_trip_s (likewise) and messages; of recordings with times of
    their own also things (exchanges, messages and datagrams), captured_s, and simulated_s without power saving.
    """
    recorded = [session for session in sessions if isinstance(session, Recorded)]
    if not recorded:
        return {}
    works = [session.recorded for session in recorded]
    waits = known_waits(*works) if config.server_delay.kind == "recorded" else np.empty(0)
    trips = [session.round_trip_s for session in recorded if session.round_trip_s is not None]
    found: Row = {
        "server_times_s": float(np.median(waits)) if len(waits) else None,
        "round_trip_s": float(np.median(trips)) if trips else None,
        "messages": sum(len(work.messages) for work in works),
    }
    if timed := [session for session in recorded if session.is_timed]:
        runs = [netsim.simulate(one.recorded, config=one.world(config), seed=one.seed) for one in timed]
        found |= {
            "things": sum(len(work.sizes) + len(work.beside_s) for work in works),
            "captured_s": sum(run.captured_s or 0.0 for run in runs),
            "simulated_s": sum(run.elapsed_s for run in runs),
        }
    return found


def units(
    workloads: Sequence[Replication], *, few: int, seed: int, beacon_interval_ns: int,
    think_s: float | None = None, parts: bool = False,
) -> Units:  # fmt: skip
    """Return what is compared: the sessions, or the parts of fewer than `few` recorded ones.

    Those with times of their own stay whole, and are then the same in every command, unless `parts` are asked for.

    A session is cut into its pages; one with messages where its pages begin, so that each page keeps the messages that
    came until the next one, and one without two pages where its messages come, into at most `MOST_PARTS`; a recording
    with times of its own between its pages, into at most `MOST_PARTS` stretches of about equal length.  A part is
    visited `VISITS` times, each time at another phase of the beacons, which the `seed` decides.  `think_s` is the pause
    after every page, in place of the recorded one: for traffic drawn or with times of its own it is a `ValueError`.
    """
    sessions = [workload for workload in workloads if isinstance(workload, Recorded)]
    if len(sessions) < len(workloads):
        if think_s is not None:
            raise ValueError("think is for recorded traffic, but the traffic is split by seeds")
        return Units(list(workloads), "seeds")
    whole = [session for session in sessions if session.is_timed] if think_s is None else []
    cut = len(sessions) < few and (parts or len(whole) < len(sessions))
    if think_s is not None and any(session.recorded.beside_s for session in sessions):
        raise ValueError("think is for pages, but the traffic has times of its own")
    count = VISITS if cut else 1
    if not cut and think_s is None:
        return Units(list(sessions), "sessions")
    if think_s is not None:
        for place, one in enumerate(sessions):
            sessions[place] = replace(one, recorded=paced(one.recorded, think_s))
    pieces = [(one, *part) for one in sessions for part in (_parts(one) if cut else [(one.recorded, None)])]
    pages_alone = all(len(work) and not session.is_timed for session, work, _ in pieces)
    called = "sessions" if not cut else "pages" if pages_alone else "parts"
    made: list[Replication] = []
    interval_s = beacon_interval_ns * 1e-9
    for number, (session, work, lasts_s) in enumerate(pieces):
        if session.is_timed:  # spread evenly, so that the choice of phases decides nothing
            phases_s = (0.5 + _GOLDEN * (number * count + np.arange(count + 1))) % 1.0 * interval_s
        else:
            phases_s = generator(seed, SPLIT, 1 + number).uniform(0.0, interval_s, count + 1)
        name = f"{session.name} {called.removesuffix('s')} {number + 1}" if cut else session.name
        visited = _visited(work, lasts_s, phases_s, interval_s)
        made.append(replace(session, seed=seed + number if cut else session.seed, name=name, recorded=visited))
    return Units(made, called, whole if len(whole) == len(sessions) else ())


def _parts(session: Recorded) -> list[tuple[traces.Workload, float | None]]:
    """Return what is visited, and how long it lasts; pages without times of their own go on as they are thought of."""
    work, messages = session.recorded, session.recorded.messages
    if session.is_timed:
        return [(one, one.captured_s) for one in stretches(work, _edges(work))]
    if not messages:
        return [(traces.Workload.of([page]), None) for page in work]
    begun, at = [], 0.0
    for page in work:
        begun.append(max(at, page.issue_s or 0.0))
        at = begun[-1] + page.think_s
    marks = begun if len(work) > 1 else [one.at_s for one in messages[:: -(-len(messages) // MOST_PARTS)]]
    edges = [0.0, *(mark for mark in sorted(set(marks[1:])) if mark > 0.0)]
    lasts = [until - start for start, until in pairwise(edges)]
    # nothing tells when the next page would have come after the last one
    rest = max(at, messages[-1].at_s) - edges[-1]
    lasts.append(max(rest, float(np.median(lasts)) if lasts else 0.0))
    placed = work.changed(
        issue_s=np.round(begun, 6), think_s=np.zeros(len(work)),
        deadline_s=(work.deadline_s - np.nan_to_num(work.issue_s) + begun).round(6),
    )  # fmt: skip
    return [*zip(stretches(placed, edges), lasts, strict=True)]


def _edges(work: traces.Workload) -> list[float]:
    """Return where a recording is cut: between pages, nearest to `MOST_PARTS` stretches of equal length."""
    first = np.cumsum(work.objects + 1) - work.objects - 1
    ends_s = np.maximum.reduceat(instants(work)[:, 1], first) if len(work) else np.empty(0)
    beside = np.array(work.beside_s)
    page = np.searchsorted(work.issue_s, beside, side="right") - 1
    between = (page < 0) | (beside >= np.append(ends_s, 0.0)[page])
    marks = np.unique(np.concatenate([work.issue_s, beside[between]]))[1:]  # what comes before the first is idle
    wanted = np.arange(1, MOST_PARTS) * (work.captured_s or 0.0) / MOST_PARTS
    nearest = {float(marks[np.abs(marks - at).argmin()]) for at in wanted} if len(marks) else set()
    return [0.0, *sorted(nearest)]


def _visited(
    work: traces.Workload, lasts_s: float | None, phases_s: NDArray[Any], interval_s: float
) -> traces.Workload:
    """Return a part visited from another phase of the beacons each time; the last phase is where the first begins."""
    *phases, begin_s = phases_s.tolist()
    if lasts_s is None:
        again, n = traces.Workload.of([*work] * len(phases)), len(work)
        think, issue_s = again.think_s.copy(), again.issue_s.copy()
        think[n - 1 :: n] += phases
        issue_s[0], issue_s[n:] = begin_s, np.nan
        return again.changed(think_s=think, issue_s=issue_s)
    visits = []
    for phase_s in phases:
        visits.append(moved(work, begin_s))
        begin_s += lasts_s
        begin_s += phase_s if work.captured_s is None else (phase_s - begin_s) % interval_s
    return joined(visits, None if work.captured_s is None else round(begin_s, 6))
