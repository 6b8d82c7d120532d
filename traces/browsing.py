"""What clients did, as workloads: the pages of a session with the messages beside them, session after session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from traces.checks import checked, each
from traces.columns import Workload
from traces.grouping import GroupingRule, iter_pages
from traces.records import MESSAGE, Message, Page, Report, Request, Session

__all__ = ["browsed", "workload_of"]


@checked
def workload_of(
    requests: Iterable[Request], *, rule: GroupingRule | None = None, report: Report | None = None
) -> Workload:
    """Group the requests of one client into pages, with the messages that it was sent beside them.

    Time begins with the first request or message.  If there is a message, pages are issued at the time at which they
    were in the trace, or when the one before is complete and thought about, whichever is later: so messages and pages
    keep their places.  Arguments as for `traces.pages`.

    Returns
    -------
    Workload
        With the median of the recorded round trips, if `report` has it.
    """
    of_client = list(each("requests", requests, Request))
    pushed = sorted(
        (item for item in of_client if item.kind == MESSAGE and item.reply_bytes), key=lambda item: item.start_us
    )
    origin_us = min((item.start_us for item in of_client), default=0) if pushed else None
    found = [page for _, page in iter_pages(of_client, rule=rule, report=report, origin_us=origin_us)]
    messages = [Message((item.start_us - (origin_us or 0)) / 1e6, item.reply_bytes) for item in pushed]
    return Workload.of(found, messages, report.round_trip_s if report is not None else None)


@checked
def browsed(
    sessions: Iterable[Session], *, rule: GroupingRule | None = None, report: Report | None = None
) -> Iterator[Page | Message]:
    """Yield the pages and messages of sessions, one session after another as if one client had them all.

    Messages, and the pages of sessions that have some, are on one clock: each session begins when
    what was recorded of those before is over.
    """
    begun_s = 0.0
    for session in each("sessions", sessions, Session):
        found = workload_of(session.requests, rule=rule, report=report)
        for page in found:
            yield page if page.issue_s is None else page._replace(issue_s=round(begun_s + page.issue_s, 6))
        for message in found.messages:
            yield message._replace(at_s=round(begun_s + message.at_s, 6))
        first_us = min(request.start_us for request in session.requests)
        begun_s += (max(request.end_us for request in session.requests) - first_us) / 1e6
