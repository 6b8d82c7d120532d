"""What clients did, as workloads: the pages of a session with what came beside them, session after session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from traces.checks import checked, each
from traces.columns import Workload
from traces.grouping import GroupingRule, iter_pages
from traces.records import (
    DATAGRAM_DOWN,
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
)

__all__ = ["browsed", "workload_of"]


@checked
def workload_of(
    requests: Iterable[Request], *, rule: GroupingRule | None = None, report: Report | None = None
) -> Workload:
    """Group the requests of one client into pages, with messages and datagrams beside them.

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
    beside = sorted((item for item in of_client if item.kind in UNASKED), key=lambda item: item.start_us)
    pushed = [item for item in beside if item.kind == MESSAGE and item.reply_bytes]
    timed = any(item.connection >= 0 for item in of_client) and (rule is None or rule.max_think_s is None)
    begin_us = min((item.start_us for item in of_client), default=0)
    end_us = max((item.end_us for item in of_client), default=0)
    if timed and report is not None:
        begin_us, end_us = report.spans_us.get(of_client[0].client, (begin_us, end_us))
    origin_us = begin_us if pushed or timed else None
    found = [page for _, page in iter_pages(of_client, rule=rule, report=report, origin_us=origin_us)]
    messages = [Message((item.start_us - begin_us) / 1e6, item.reply_bytes) for item in pushed]
    datagrams = [
        Datagram((item.start_us - begin_us) / 1e6, item.request_bytes + item.reply_bytes, item.kind == DATAGRAM_UP)
        for item in beside
        if item.kind in (DATAGRAM_UP, DATAGRAM_DOWN)
    ]
    round_trip_s = report.round_trip_s if report is not None else None
    captured_s = (end_us - begin_us) / 1e6 if timed else None
    return Workload.of(found, messages, round_trip_s, datagrams, captured_s)


@checked
def browsed(
    sessions: Iterable[Session], *, rule: GroupingRule | None = None, report: Report | None = None
) -> Iterator[Page | Message | Datagram | Captured]:
    """Yield what sessions hold, one session after another as if one client had them all.

    What has times is on one clock: each session begins when what was recorded of those before is over.  How long all
    of it was recorded comes last, if that is known.
    """
    begun_s, connections, timed = 0.0, 0, False
    for session in each("sessions", sessions, Session):
        found = workload_of(session.requests, rule=rule, report=report)
        for page in found:
            timings = tuple(
                timing._replace(
                    connection=connections + timing.connection,
                    at_s=timing.at_s if timing.after else round(begun_s + timing.at_s, 6),
                )
                for timing in page.timings
            )
            issue_s = None if page.issue_s is None else round(begun_s + page.issue_s, 6)
            yield page._replace(issue_s=issue_s, timings=timings)
        for message in found.messages:
            yield message._replace(at_s=round(begun_s + message.at_s, 6))
        for datagram in found.datagrams:
            yield datagram._replace(at_s=round(begun_s + datagram.at_s, 6))
        if len(found.timings):
            connections += 1 + int(found.timings[:, 0].max())
        timed = timed or found.captured_s is not None
        first_us = min(request.start_us for request in session.requests)
        lasts_s = (max(request.end_us for request in session.requests) - first_us) / 1e6
        begun_s += lasts_s if found.captured_s is None else found.captured_s
    if timed:
        yield Captured(round(begun_s, 6))
