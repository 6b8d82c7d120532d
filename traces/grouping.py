"""From requests to pages: which requests were one page, and how long the person then thought.

The rule, per client, in the order in which requests were sent:

* A request **joins the open page** if it is of an embedded kind (by the suffix of its URL, or because the
  trace says so) and was sent not more than `same_server_gap_s` after the page's last byte so far, or
  `other_server_gap_s` if it goes to another server than the page's first request.
* A document of which the trace tells the type joins the open page if it was sent less than `page_gap_s` after the
  page's last byte so far: nobody reads so fast, it is a frame or where a redirection leads.
* Traffic without URLs (encrypted, or of a plain table) is grouped by gaps alone: an exchange joins the open page if
  it overlaps it or was sent less than `page_gap_s` after its last byte so far.
* Any other request **opens a page**: documents, listings, queries, archives to save; and an image that
  nothing before it can have embedded.
* A trace that knows its pages (HAR) is believed instead, except that a request sent more than `same_server_gap_s`
  after the last byte of its page opens another one: what somebody does in a page that stays open.
* **Think time** is the time from the page's last byte in the trace to the next page's request, never
  below 0; that of a client's last page is 0.  Values are those of the trace.  With `max_think_s`, a longer
  pause is taken for an absence and cut out (its think time is 0), and counted.

Messages that a server pushes are no pages; `traces.workload_of` returns them beside the pages, which then keep their
places in time (`Page.issue_s`).  Left out of the rule: frames and redirections of traces that tell no types, which
count as pages of their own.

Traces may be sorted by completion.  Requests are put in order of sending with a window: one is released when a request
is seen that ended `reorder_s` after it was sent, or when more than `MAX_PENDING` wait.  Times that run backwards are an
error: a request that was sent before, and ended more than `reorder_s` before, others of its client that stand before it
in the trace (so traces sorted by either time are in order).  A request that took longer than the window comes too late
for its place; it is left out and counted.
"""

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import nan

from traces.checks import between, checked, each, shown, typed
from traces.errors import TraceError
from traces.records import BY_SUFFIX, DOCUMENT, EMBEDDED, OPENING, PART, UNASKED, Page, Report, Request, Timing

MAX_PENDING = 1 << 16
"""Most requests that wait in the re-ordering window."""

WAITS_WITHIN_US = 1_000_000
"""An exchange that began later than so after all others had ended waited for none of them."""

MAX_OBJECTS = 1 << 12
"""Most embedded objects of a page; the next opens another."""

_EMBEDDED_SUFFIXES = re.compile(
    "gif|jpg|jpeg|jpe|jfif|xbm|xpm|png|bmp|ico|pcx|art|svg|webp|avif|css|js|class|jar|mid|au|wav|aif|woff|woff2|ttf|swf"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupingRule:
    """The rule that makes pages of requests; its defaults are ours (docs/traces.md: what they do to real traces)."""

    #: Longest pause before an embedded object, to the page's own server and to another, at least 0.
    same_server_gap_s: float = 5.0
    other_server_gap_s: float = 2.0
    #: Pause that separates the pages of traffic without URLs, and documents of different pages, at least 0.
    page_gap_s: float = 1.0
    reorder_s: float = 600.0  #: The re-ordering window, at least 0.
    max_think_s: float | None = None  #: Pauses longer than this are absences; None keeps all.

    def __post_init__(self) -> None:
        for name in ("same_server_gap_s", "other_server_gap_s", "page_gap_s", "reorder_s"):
            between(0.0, 1e9, **{name: getattr(self, name)})
        typed("max_think_s", self.max_think_s, float | None)
        if self.max_think_s is not None and not self.max_think_s > 0.0:
            raise ValueError(f"max_think_s must be above 0, got {shown(self.max_think_s)}")


@checked
def pages(requests: Iterable[Request], *, rule: GroupingRule | None = None, report: Report | None = None) -> list[Page]:
    """Group requests into pages; see the module for the rule.

    Parameters
    ----------
    requests : iterable of Request
        Of one client or of several, in the order of the trace.
    rule : GroupingRule, optional
        Its parameters.
    report : Report, optional
        Receives the counts.

    Returns
    -------
    list of Page
        Client after client in the order in which they first appear, named ``<client>/<number>``.

    Raises
    ------
    TraceError
        If times run backwards by more than the window.
    """
    by_client: dict[str, list[Page]] = {}
    for client, page in iter_pages(requests, rule=rule, report=report):
        by_client.setdefault(client, []).append(page)
    return [page for of_client in by_client.values() for page in of_client]


@checked
def iter_pages(
    requests: Iterable[Request], *, rule: GroupingRule | None = None, report: Report | None = None,
    origin_us: int | None = None, as_one: bool = False,
) -> Iterator[tuple[str, Page]]:  # fmt: skip
    """Yield (client, page) as pages are finished; memory holds the window, one page a client and the names of servers.

    See `pages`.  Servers are numbered in the order in which they first occur.

    With `origin_us` pages are issued at their times in the trace, counted from that moment, and exchanges of known
    connections have their timings, unless absences are cut out; `as_one` takes all clients for one.
    """
    rule = rule or GroupingRule()
    report = report or Report()
    open_pages: dict[str, _OpenPage] = {}
    clocks: dict[str, _Clock] = {}
    servers = {"": -1}  # their numbers; one without a name is not known
    timed = origin_us is not None and rule.max_think_s is None

    def finished(page: _OpenPage, think_us: int) -> tuple[str, Page]:
        report.count("pages")
        return page.exchanges[0][0].client, page.page(think_us, origin_us)

    for request in in_order(requests, reorder_s=rule.reorder_s, report=report):
        if request.kind in UNASKED:
            continue
        whose = "" if as_one else request.client
        timing = None
        if timed and request.connection >= 0:
            timing = clocks.setdefault(whose, _Clock(origin_us or 0)).timing(request)
        report.count("exchanges_grouped_by_gaps", not request.url and request.kind == BY_SUFFIX)
        exchange = request, timing, servers.setdefault(request.server, len(servers) - 1)
        current = open_pages.get(whose)
        if current is not None and current.takes(request, rule):
            current.exchanges.append(exchange)
            current.end_us = max(current.end_us, request.end_us)
            continue
        if current is not None:
            think_us = max(0, request.start_us - current.end_us)
            if rule.max_think_s is not None and think_us > rule.max_think_s * 1e6:
                report.count("absences")
                think_us = 0
            yield finished(current, think_us)
        open_pages[whose] = _OpenPage(0 if current is None else current.number + 1, request.end_us, [exchange])
    for current in open_pages.values():
        yield finished(current, 0)


@checked
def in_order(
    requests: Iterable[Request], *, reorder_s: float = 600.0, report: Report | None = None
) -> Iterator[Request]:
    """Yield requests in the order in which each client sent them; see the module for the window.

    Raises
    ------
    TraceError
        If times run backwards.
    """
    report = report or Report()
    window_us = int(reorder_s * 1e6)
    waiting: list[tuple[int, int, Request]] = []
    ended, begun, released = dict[str, int](), dict[str, int](), dict[str, int]()

    def leaving(before_us: float, most: int) -> Iterator[Request]:
        while waiting and (waiting[0][0] < before_us or len(waiting) > most):
            request = heapq.heappop(waiting)[2]
            if request.start_us < released.get(request.client, request.start_us):
                report.count("requests_too_late_for_their_place")
                continue
            released[request.client] = request.start_us
            yield request

    for number, request in enumerate(each("requests", requests, Request)):
        client, end = request.client, request.end_us
        behind = ended.get(client, end) - end
        latest_start = begun[client] = max(request.start_us, begun.get(client, request.start_us))
        if behind > window_us and request.start_us < latest_start:
            rule = f"a request must not end more than {reorder_s:g} s before an earlier one of its client in the trace"
            where = f"client {client}, request {number + 1}"
            raise TraceError(report.path or "requests", where, rule, f"{behind / 1e6:.6f} s")
        if behind <= 0:
            ended[client] = end
        heapq.heappush(waiting, (request.start_us, number, request))
        yield from leaving(end - window_us, MAX_PENDING)
    yield from leaving(0, -1)


@lru_cache(maxsize=1 << 12)
def is_embedded(url: str) -> bool:
    """Tell by its suffix whether a URL (or a request line) is of a kind that pages embed.

    >>> is_embedded("http://cs-www.bu.edu/lib/pics/bu-logo.gif"), is_embedded("GET 21068..html HTTP/1.0")
    (True, False)
    """
    parts = url.split(" ")
    if len(parts) > 2 and parts[-1].startswith("HTTP/"):
        url = parts[1]
    last = url.split("?", 1)[0].split("#", 1)[0].rsplit("/", 1)[-1]
    _, dot, suffix = last.rpartition(".")
    return dot != "" and _EMBEDDED_SUFFIXES.fullmatch(suffix.strip().lower()) is not None


class _Clock:
    """What the exchanges of one client waited for, in the order in which they begin."""

    def __init__(self, origin_us: int) -> None:
        self._origin_us = origin_us
        self._n = 0
        self._open: list[tuple[int, int]] = []  # ends and numbers of exchanges
        self._ended = (-(1 << 62), 0)  # the one that ended last
        self._lanes: dict[int, list[list[int]]] = {}  # of a connection: number and end, each free for the next
        self._n_lanes = 0

    def timing(self, request: Request) -> Timing:
        """Return when the next exchange begins; requests that overlapped on a connection have one each."""
        start_us, end_us = request.start_us, request.end_us
        while self._open and self._open[0][0] <= start_us:
            self._ended = max(self._ended, heapq.heappop(self._open))
        sent_us = request.sent_us if request.sent_us >= 0 else start_us
        first_us = max(request.first_us, sent_us)
        lanes, lane = self._lanes.setdefault(request.connection, []), None
        after, pause_us, at_us = 0, start_us - self._ended[0], start_us - self._origin_us
        if not request.reply_bytes or first_us > sent_us:  # else its reply was on its way already
            lane = next((lane for lane in lanes if lane[1] <= start_us), None)
            if pause_us < WAITS_WITHIN_US:
                after, at_us = self._n - self._ended[1], pause_us
            heapq.heappush(self._open, (end_us, self._n))
            if lane is None:
                lanes.append(lane := [self._n_lanes, 0])
        if lane is None:
            lane = [self._n_lanes, 0]
        self._n_lanes = max(self._n_lanes, lane[0] + 1)
        lane[1] = end_us
        self._n += 1
        spans = sent_us - start_us, first_us - sent_us, max(end_us, first_us) - first_us
        times_s = (span / 1e6 for span in (at_us, *spans, min(request.pause_us, spans[2])))
        return Timing._make((lane[0], after, *times_s, request.before_pause))


@dataclass(slots=True)
class _OpenPage:
    """A page that may still grow."""

    number: int
    end_us: int
    exchanges: list[tuple[Request, Timing | None, int]]  # with the numbers of their servers

    def takes(self, request: Request, rule: GroupingRule) -> bool:
        if len(self.exchanges) > MAX_OBJECTS:
            return False
        gap_us, kind = request.start_us - self.end_us, request.kind
        if kind == DOCUMENT or (kind == BY_SUFFIX and not request.url):
            return gap_us < rule.page_gap_s * 1e6
        if kind == OPENING or (kind not in (PART, EMBEDDED) and not is_embedded(request.url)):
            return False
        is_own = kind == PART or request.server == self.exchanges[0][0].server
        return gap_us <= (rule.same_server_gap_s if is_own else rule.other_server_gap_s) * 1e6

    def page(self, think_us: int, origin_us: int | None) -> Page:
        requests, timings, servers = zip(*self.exchanges, strict=True)
        first, *objects = requests
        waits_s = tuple(request.wait_us / 1e6 if request.wait_us >= 0 else nan for request in requests)
        return Page(
            f"{first.client}/{self.number}", first.request_bytes, first.reply_bytes,
            tuple((request.request_bytes, request.reply_bytes) for request in objects), think_us / 1e6,
            None if origin_us is None else (first.start_us - origin_us) / 1e6,
            waits_s if any(request.wait_us >= 0 for request in requests) else (), None,
            tuple(timing for timing in timings if timing is not None), servers if max(servers) >= 0 else (),
        )  # fmt: skip
