"""Workloads on a clock: what clients did at its own times; moved, cut into stretches, put one after another."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traces.checks import checked, each
from traces.columns import Workload
from traces.grouping import GroupingRule, iter_pages
from traces.records import DATAGRAM_UP, MESSAGE, UNASKED, Captured, Datagram, Message, Report, Request, Session
from traces.workload import Record

_BESIDE = ("messages", "datagrams")


@checked
def workload_of(
    requests: Iterable[Request], *, rule: GroupingRule | None = None, report: Report | None = None
) -> Workload:
    """Group requests into the pages of one client, with messages and datagrams beside them.

    A recording that knows connections (a capture, an archive with all timings) keeps its times: time begins with its
    first packet, if `report` has it, else with the first request; every exchange has its `Timing`, and `captured_s` is
    how long it lasted.  Of other traces with a message, pages are issued at the time at which they were in the trace,
    or when the one before is complete and thought about, whichever is later: so messages and pages keep their places.
    Arguments as for `traces.pages`.

    Returns
    -------
    Workload
        With the median of the recorded round trips, if `report` has it.
    """
    of_client = list(each("requests", requests, Request))
    beside = sorted((item for item in of_client if item.kind in UNASKED), key=attrgetter("start_us"))
    timed = any(item.connection >= 0 for item in of_client) and (rule is None or rule.max_think_s is None)
    begin_us = min((item.start_us for item in of_client), default=0)
    end_us = max((item.end_us for item in of_client), default=0)
    if timed and report is not None:
        begin_us, end_us = report.spans_us.get(of_client[0].client, (begin_us, end_us))
    pushed, datagrams = list[Message](), list[Datagram]()
    for item in beside:
        at_s, up, down = (item.start_us - begin_us) / 1e6, item.request_bytes, item.reply_bytes
        if item.kind != MESSAGE:
            datagrams.append(Datagram(at_s, up + down, item.kind == DATAGRAM_UP))
        elif down:
            pushed.append(Message(at_s, down))
    origin_us = begin_us if pushed or timed else None
    found = [page for _, page in iter_pages(of_client, rule=rule, report=report, origin_us=origin_us, as_one=timed)]
    round_trip_s = None if report is None else report.round_trip_s
    return Workload.of(found, pushed, round_trip_s, datagrams, (end_us - begin_us) / 1e6 if timed else None)


@checked
def browsed(
    sessions: Iterable[Session], *, rule: GroupingRule | None = None, report: Report | None = None
) -> Iterator[Record]:
    """Yield the pages, messages and datagrams of all sessions as those of one client, and how long they were recorded.

    Sessions of one recording keep their times, and may overlap; the next recording begins when the one before is over.
    """
    report = report or Report()
    begun_s, connections, captured = 0.0, 0, False
    spans = report.spans_us
    of_sessions = groupby(each("sessions", sessions, Session), lambda one: spans.get(one.name) or one.name)
    for _, of_one in of_sessions:
        parts = [session.requests for session in of_one]
        if (lasts_us := _plain_us(chain.from_iterable(parts))) is not None:
            yield from (page for _, page in iter_pages(chain.from_iterable(parts), rule=rule, report=report))
            begun_s += lasts_us / 1e6
            continue
        requests = [*chain.from_iterable(parts)]
        clients = len({request.client for request in requests})
        if clients > 1:
            report.count("clients_taken_as_one", clients)
            requests.sort(key=attrgetter("start_us"))
        found = workload_of(requests, rule=rule, report=report)
        later = moved(found, begun_s)
        yield from later.changed(timings=np.add(later.timings, [connections, *[0] * 7]))
        yield from later.messages
        yield from later.datagrams
        connections += 1 + int(found.timings[:, 0].max(initial=-1))
        captured = captured or found.captured_s is not None
        lasts_us = max(request.end_us for request in requests) - min(request.start_us for request in requests)
        begun_s += lasts_us / 1e6 if found.captured_s is None else found.captured_s
    if captured:
        yield Captured(round(begun_s, 6))


def _plain_us(requests: Iterable[Request]) -> int | None:
    """Return how long requests last, if they are exchanges of one client without times of their own; else None."""
    begin_us, end_us, clients = 1 << 62, 0, set[str]()
    for one in requests:
        clients.add(one.client)
        if one.connection >= 0 or one.kind in UNASKED or len(clients) > 1:
            return None
        begin_us, end_us = min(begin_us, one.start_us), max(end_us, one.end_us)
    return end_us - begin_us


@checked
def instants(workload: Workload) -> NDArray[np.float64]:
    """Return when the exchanges of a recording began and ended, seconds, shape (exchanges, 2)."""
    found = np.zeros((len(workload.timings), 2))
    timings = zip(*(column.tolist() for column in workload.timings[:, 1:3].T), strict=True)
    lasts_s = workload.timings[:, 3:6].sum(axis=1).tolist()
    for place, (after, at_s) in enumerate(timings):
        begin_s = found[place - int(after), 1] + at_s if after else at_s
        found[place] = begin_s, begin_s + lasts_s[place]
    return found


@checked
def moved(workload: Workload, by_s: float) -> Workload:
    """Return a workload all of whose instants are later; what was recorded begins with so much idle time.

    Pages without an instant stay without.
    """
    timings = workload.timings.copy()
    timings[timings[:, 1] == 0, 2] += by_s
    columns: dict[str, object] = {
        name: [one._replace(at_s=round(one.at_s + by_s, 6)) for one in getattr(workload, name)] for name in _BESIDE
    }
    columns |= {name: (getattr(workload, name) + by_s).round(6) for name in ("issue_s", "deadline_s")}
    lasts_s = None if workload.captured_s is None else workload.captured_s + by_s
    return workload.changed(timings=timings.round(6), captured_s=lasts_s, **columns)


@checked
def stretches(workload: Workload, edges_s: Sequence[float], ends_s: float | None = None) -> list[Workload]:
    """Cut a workload whose pages all have instants: each stretch goes from one edge to the next, the last to the end.

    A page belongs to the stretch in which it is issued, with all of its exchanges; one that waited for an exchange of
    an earlier stretch begins at its recorded instant.

    Parameters
    ----------
    workload : Workload
    edges_s : sequence of float
        Rising, the first 0.
    ends_s : float, optional
        Where the last stretch ends; by default where the recording does.

    Returns
    -------
    list of Workload
        With times since their edges; `captured_s` is how long a stretch is, if the workload has it.
    """
    begun = instants(workload)
    last = ends_s if workload.captured_s is None else workload.captured_s
    edges = [*edges_s, float("inf") if last is None else last]
    of_page = np.searchsorted(edges[:-1], workload.issue_s, side="right") - 1
    of_exchange = np.repeat(of_page, 1 + workload.objects)
    found = []
    for number, (start, stop) in enumerate(pairwise(edges)):
        rows = np.flatnonzero(of_exchange[: len(begun)] == number)
        timings, place = workload.timings[rows], np.full(len(of_exchange), -1)
        place[rows] = np.arange(len(rows))
        waited_for = place[np.maximum(rows - timings[:, 1].astype(np.int64), 0)]
        is_inside = (timings[:, 1] > 0) & (waited_for >= 0)
        timings[:, 1] = np.where(is_inside, np.arange(len(rows)) - waited_for, 0)
        timings[:, 2] = np.where(is_inside, timings[:, 2], begun[rows, 0])
        until = stop if stop != edges[-1] else float("inf")
        beside = {name: [one for one in getattr(workload, name) if start <= one.at_s < until] for name in _BESIDE}
        lasts_s = None if workload.captured_s is None else stop
        pages = np.flatnonzero(of_page == number)
        found.append(moved(workload.changed(pages, timings=timings, captured_s=lasts_s, **beside), -start))
    return found


@checked
def paced(workload: Workload, think_s: float) -> Workload:
    """Return the pages of a workload, each so many seconds after the one before is complete, as if it had no other.

    Exchanges with times of their own keep them within their page.  Messages and datagrams must not be there.
    """
    zeros = np.zeros(len(workload))
    if not len(workload.timings):
        return workload.changed(think_s=zeros + think_s, issue_s=zeros + np.nan)
    pages, at_s = [], 0.0
    for page in stretches(workload, [0.0, *workload.issue_s[1:]]):
        begin_s = float(page.issue_s[0])
        pages.append(moved(page, at_s - begin_s))
        at_s += float(instants(page)[:, 1].max()) - begin_s + think_s
    return joined(pages, round(at_s, 6))


@checked
def joined(workloads: Iterable[Workload], captured_s: float | None = None) -> Workload:
    """Return workloads that are on one clock as one: their pages, messages and datagrams, one after another.

    Each has connections and servers of its own.
    """
    given = list(each("workloads", workloads, Workload))
    connections, met, timings, servers = 0, 0, [], []
    for one in given:
        timings.append(np.add(one.timings, [connections, *[0] * 7]))
        connections = 1 + int(timings[-1][:, 0].max(initial=connections - 1))
        servers.append(np.where(one.servers >= 0, one.servers + met, -1))
        met = 1 + int(servers[-1].max(initial=met - 1))
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in given])
        for name in ("objects", "sizes", "think_s", "issue_s", "waits_s", "deadline_s")
    }
    for name in ("names", *_BESIDE):
        columns[name] = list(chain.from_iterable(getattr(one, name) for one in given))
    columns |= {"timings": np.concatenate(timings), "servers": np.concatenate(servers)}
    return Workload(**columns, round_trip_s=given[0].round_trip_s, captured_s=captured_s)
