"""The traffic of a study: seeds of the Web model, or what somebody browsed, read and cut the same for every command.

Recorded traffic is read session by session, from traces of any format and from workloads.  Where sessions are few, it
is their pages that are compared (with the messages that came until the next page), each visited several times at
random phases of the beacons: a single visit at a single phase would be luck.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import nan
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import netsim
import traces
from experiments.study.sweep import Generated, Recorded
from lpsm import randomness
from traces.browsing import workload_of

__all__ = ["MOST_PARTS", "VISITS", "Browsing", "Units", "browsed", "generated", "recorded", "told", "units"]

VISITS = 10  # of a page that is compared by itself
MOST_PARTS = 20  # of a session of messages alone


class Browsing(NamedTuple):
    """A session as it was recorded: its name, whose it is, its pages, and the messages that were pushed meanwhile."""

    name: str
    user: str
    pages: tuple[traces.Page, ...]
    messages: tuple[traces.Message, ...] = ()


class Units(NamedTuple):
    """What is compared with itself under every policy, and what such a unit is called: seeds, sessions, pages or parts.

    `visits` is how often each of them is browsed.
    """

    workloads: list[Generated | Recorded]
    called: str
    visits: int = 1


def browsed(
    path: Path,
    *,
    member: str | None = None,
    skip_damaged: bool = False,
    rule: traces.GroupingRule | None = None,
    report: traces.Report | None = None,
) -> Iterator[Browsing]:
    """Yield the sessions of a trace, or the one of a workload, that have pages; options as for `traces.sessions`.

    Raises
    ------
    ValueError
        If it cannot be read, or sessions are chosen from a workload.
    """
    report = report if report is not None else traces.Report()
    if traces.detect(path) == "workload":
        if member is not None:
            raise ValueError(f"member chooses sessions of a trace, {path} is a workload")
        found = traces.read_workload(path)
        if found.round_trip_s is not None:
            report.round_trips_us.add(round(found.round_trip_s * 1e6))
        report.waits_us.extend(np.rint(found.waits_s[~np.isnan(found.waits_s)] * 1e6).astype(np.int64))
        report.count("messages", len(found.messages))
        pages = tuple(page._replace(timings=()) for page in found)
        yield Browsing("workload", "workload", pages, found.messages)
        return
    for session in traces.sessions(path, member=member, skip_damaged=skip_damaged, report=report):
        found = workload_of(session.requests, rule=rule, report=report)
        if found or found.messages:
            pages = tuple(page._replace(timings=()) for page in found)
            yield Browsing(session.name, session.user, pages, found.messages)


def generated(pages: int, seed: int, seeds: int) -> list[Generated | Recorded]:
    """Return the seeds SEED, SEED+1, ... of the Web model, each with so many pages."""
    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    return [Generated(n_pages=pages, seed=number) for number in range(seed, seed + seeds)]


def recorded(
    paths: Sequence[Path],
    *,
    member: str | None = None,
    skip_damaged: bool = False,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
    told: Callable[[str], None] = lambda _: None,
) -> list[Generated | Recorded]:
    """Read the sessions of one or several traces or workloads; none with a page is a `ValueError`.

    `seed` is of what was not recorded, each session has the next; `advance` is called after each session, `told` with
    what was read of each trace.
    """
    found: list[Recorded] = []
    names: set[str] = set()
    for path in paths:
        report, first = traces.Report(), len(found)
        for session in browsed(path, member=member, skip_damaged=skip_damaged, report=report):
            number = seed + len(found)
            name = path.stem if session.name == "workload" and len(paths) > 1 else session.name
            name = f"{name} ({number})" if name in names else name
            names.add(name)
            found.append(Recorded(name=name, seed=number, recorded=session.pages, messages=session.messages))
            advance()
        found[first:] = _known(found[first:], report.round_trip_s, seed)
        if report.format:  # a workload is read without one
            told(str(report))
    if not found:
        where = ", ".join(str(path) for path in paths)
        raise ValueError(f"{where}: there is no page in it" + (f" under {member}" if member else ""))
    return list(found)


def _known(sessions: list[Recorded], round_trip_s: float | None, seed: int) -> list[Recorded]:
    """Return the sessions of a trace with its round trip, and unknown waits drawn from the known ones of the trace."""
    known = np.array(
        [wait for session in sessions for page in session.recorded for wait in page.waits_s if wait == wait]
    )
    rng = randomness.generator(seed, randomness.SERVER, 1)

    def told(page: traces.Page) -> traces.Page:
        waits = page.waits_s or (nan,) * (1 + len(page.objects))
        return page._replace(waits_s=tuple(wait if wait == wait else float(rng.choice(known)) for wait in waits))

    return [
        replace(
            session, round_trip_s=round_trip_s,
            recorded=tuple(map(told, session.recorded)) if len(known) else session.recorded,
        )
        for session in sessions
    ]  # fmt: skip


def told(sessions: Sequence[Generated | Recorded], config: netsim.SimulationConfig) -> dict[str, Any]:
    """Return what of the world was recorded and is used; nothing for drawn traffic.

    The medians `server_times_s` and `round_trip_s` are None where they are not known; `messages` is a number.
    """
    recorded = [session for session in sessions if isinstance(session, Recorded)]
    if not recorded:
        return {}
    waits = [wait for session in recorded for page in session.recorded for wait in page.waits_s]
    trips = [session.round_trip_s for session in recorded if session.round_trip_s is not None]
    used = bool(waits) and config.server_delay.kind == "recorded"
    return {
        "server_times_s": float(np.median(waits)) if used else None,
        "round_trip_s": float(np.median(trips)) if trips else None,
        "messages": sum(len(session.messages) for session in recorded),
    }


def units(
    workloads: Sequence[Generated | Recorded],
    *,
    few: int,
    seed: int,
    beacon_interval_ns: int,
    visits: int | None = None,
    think_s: float | None = None,
) -> Units:
    """Return what is compared: the sessions, or the parts of fewer than `few` recorded ones.

    A session is cut into its pages; one with messages where its pages begin, so that each page keeps the messages
    that came until the next one, and one without two pages where its messages come, into at most `MOST_PARTS`.
    A part is visited `VISITS` times and a session once, unless `visits` says otherwise.  Between two visits lie
    the think time (with messages, the rest of the time until the next part) and up to a beacon interval more, so
    that each is at another phase of the beacons, which `seed` draws.  `think_s` is the pause after every page in place
    of the recorded one; with messages, after every part.

    Raises
    ------
    ValueError
        If a number breaks its rule, or is given for traffic that is drawn, or there are messages between the pages
        that a think time would move.
    """
    if visits is not None and visits < 1:
        raise ValueError(f"visits must be at least 1, got {visits}")
    if think_s is not None and not 0.0 <= think_s < 1e9:
        raise ValueError(f"think must lie in [0, 1e9) s, got {think_s}")
    sessions = [workload for workload in workloads if isinstance(workload, Recorded)]
    if len(sessions) < len(workloads):
        for name, value in (("visits", visits), ("think", think_s)):
            if value is not None:
                raise ValueError(f"{name} is for recorded traffic, but the traffic is split by seeds")
        return Units(list(workloads), "seeds")
    cut = len(sessions) < few
    if think_s is not None and not cut and any(session.messages for session in sessions):
        raise ValueError("think is for pages, but messages were pushed at their times between these")
    count = visits if visits is not None else VISITS if cut else 1
    if not cut and count == 1 and think_s is None:
        return Units(list(sessions), "sessions")
    parts = [(session, part) for session in sessions for part in _parts(session, cut)]
    called = "sessions" if not cut else "pages" if all(part.pages for _, part in parts) else "parts"
    made: list[Generated | Recorded] = []
    for number, (session, part) in enumerate(parts):
        rng = randomness.generator(seed, randomness.SPLIT, 1 + number)
        phases_s = rng.uniform(0.0, beacon_interval_ns * 1e-9, count + 1)
        pages, messages = _visited(part, count, think_s, phases_s)
        name = f"{session.name} {called.removesuffix('s')} {number + 1}" if cut else session.name
        own = seed + number if cut else session.seed
        made.append(Recorded(name=name, seed=own, recorded=pages, messages=messages, round_trip_s=session.round_trip_s))
    return Units(made, called, count)


class _Part(NamedTuple):
    """What is visited again and again; with messages, each page and message at its time since the part began."""

    pages: tuple[traces.Page, ...]
    messages: tuple[traces.Message, ...] = ()
    lasts_s: float | None = None  # of a session with messages


def _parts(session: Recorded, cut: bool) -> list[_Part]:
    pages, messages = session.recorded, session.messages
    if not messages:
        return [_Part((page,)) for page in pages] if cut else [_Part(pages)]
    begun: list[float] = []
    at = 0.0
    for page in pages:
        begun.append(max(at, page.issue_s or 0.0))
        at = begun[-1] + page.think_s
    marks = begun
    if len(pages) < 2:
        marks = [message.at_s for message in messages[:: -(-len(messages) // MOST_PARTS)]]
    edges = [0.0, *(mark for mark in sorted(set(marks[1:])) if mark > 0.0)] if cut else [0.0]
    lasts = [until - start for start, until in pairwise(edges)]
    # nothing tells when the next page would have come after the last one
    rest = max(at, messages[-1].at_s) - edges[-1]
    lasts.append(max(rest, median(lasts) if lasts else 0.0))
    found: list[tuple[list[traces.Page], list[traces.Message]]] = [([], []) for _ in edges]
    for page, start in zip(pages, begun, strict=True):
        place = bisect_right(edges, start) - 1
        found[place][0].append(_at(page, start - edges[place])._replace(think_s=0.0))
    for message in messages:
        place = bisect_right(edges, message.at_s) - 1
        found[place][1].append(message._replace(at_s=message.at_s - edges[place]))
    return [_Part(tuple(own), tuple(sent), last) for (own, sent), last in zip(found, lasts, strict=True)]


def _visited(
    part: _Part, visits: int, think_s: float | None, phases_s: NDArray[np.float64]
) -> tuple[tuple[traces.Page, ...], tuple[traces.Message, ...]]:
    """Return a part visited so many times, each time from another phase of the beacons."""
    pages, messages, lasts_s = part
    if think_s is not None:
        pages = tuple(page._replace(issue_s=page.issue_s if messages else None, think_s=think_s) for page in pages)
    made: list[traces.Page] = []
    if lasts_s is None:
        for visit in range(visits):
            *others, last = pages
            again = [page._replace(issue_s=None) for page in others] if visit else others
            issue_s = None if visit else last.issue_s
            made += [*again, last._replace(issue_s=issue_s, think_s=last.think_s + phases_s[visit])]
        made[0] = made[0]._replace(issue_s=float(phases_s[-1]))
        return tuple(page._replace(think_s=float(page.think_s)) for page in made), ()
    if think_s is not None:
        lasts_s = think_s + max((message.at_s for message in messages), default=0.0)
    sent: list[traces.Message] = []
    begin_s = float(phases_s[-1])
    for visit in range(visits):
        made += [_at(page, begin_s + (page.issue_s or 0.0)) for page in pages]
        sent += [message._replace(at_s=round(begin_s + message.at_s, 6)) for message in messages]
        begin_s += lasts_s + float(phases_s[visit])
    return tuple(made), tuple(sent)


def _at(page: traces.Page, issue_s: float) -> traces.Page:
    """Return a page that is issued at another time, its deadline as much later."""
    deadline_s = page.deadline_s
    if deadline_s is not None:
        deadline_s = round(deadline_s - (page.issue_s or 0.0) + issue_s, 6)
    return page._replace(issue_s=round(issue_s, 6), deadline_s=deadline_s)
