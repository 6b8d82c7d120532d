"""What clients did, as workloads: the pages of a session with what came beside them, session after session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

import numpy as np

from traces.checks import checked, each
from traces.columns import Workload
from traces.grouping import GroupingRule, iter_pages
from traces.records import (
    DATAGRAM_UP,
    MESSAGE,
    UNASKED,
    Captured,
    Datagram,
    Message,
    Page,
    Report,
    Request,
    Session,
)  # fmt: skip
from traces.times import moved

__all__ = ["browsed", "workload_of"]


@checked
def workload_of(
    requests: Iterable[Request], *, rule: GroupingRule | None = None, report: Report | None = None
) -> Workload:
    """Group requests into the pages of one client, with messages and datagrams beside them.

    A recording that knows connections (a capture) keeps its times: time begins with its first packet, if `report` has
    it, else with the first request; every exchange has its `Timing`, and `captured_s` is how long it lasted.  Of
    other traces with a message, pages are issued at the time at which they were in the trace, or when the one before
    is complete and thought about, whichever is later: so messages and pages keep their places.  Arguments as for
    `traces.pages`.

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
    pushed: list[Message] = []
    datagrams: list[Datagram] = []
    for item in beside:
        at_s = (item.start_us - begin_us) / 1e6
        if item.kind != MESSAGE:
            datagrams.append(Datagram(at_s, item.request_bytes + item.reply_bytes, item.kind == DATAGRAM_UP))
        elif item.reply_bytes:
            pushed.append(Message(at_s, item.reply_bytes))
    origin_us = begin_us if pushed or timed else None
    found = [page for _, page in iter_pages(of_client, rule=rule, report=report, origin_us=origin_us, as_one=timed)]
    round_trip_s = report.round_trip_s if report is not None else None
    return Workload.of(found, pushed, round_trip_s, datagrams, (end_us - begin_us) / 1e6 if timed else None)


@checked
def browsed(
    sessions: Iterable[Session], *, rule: GroupingRule | None = None, report: Report | None = None
) -> Iterator[Page | Message | Datagram | Captured]:
    """Yield what sessions hold as if one client had them all: those of one recording at once, others in turn.

    What has times is on one clock: a recording begins when those before it are over.  How long all of it was recorded
    comes last, if that is known.
    """
    report = report if report is not None else Report()
    begun_s, connections, captured = 0.0, 0, False
    spans = report.spans_us
    for _, of_one in groupby(
        each("sessions", sessions, Session), lambda session: spans.get(session.name) or session.name
    ):
        requests = [request for session in of_one for request in session.requests]
        clients = len({request.client for request in requests})
        if clients > 1:
            report.count("clients_taken_as_one", clients)
            requests.sort(key=attrgetter("start_us"))
        found = workload_of(requests, rule=rule, report=report)
        later = moved(found, begun_s)
        timings = np.add(later.timings, [connections, 0, 0, 0, 0, 0])
        yield from later.changed(timings=timings)
        yield from later.messages
        yield from later.datagrams
        connections += 1 + int(found.timings[:, 0].max(initial=-1))
        captured = captured or found.captured_s is not None
        lasts_us = max(request.end_us for request in requests) - min(request.start_us for request in requests)
        begun_s += lasts_us / 1e6 if found.captured_s is None else found.captured_s
    if captured:
        yield Captured(round(begun_s, 6))
