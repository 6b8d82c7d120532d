"""HTTP Archives: what a browser saves of a page load ("save all as HAR").

A reply is as large as `_transferSize` says; else its body and headers, as far as each is known; else its content
unpacked.  A request is as large as its headers (300 bytes if unknown) and its body.  -1, null and absence mean unknown.
Left out and counted: entries served from a cache, without an answer (status 0), of other schemes than http(s), or
without any size.  An entry without a time was sent when the one before it was.  Entries with a `pageref` belong to that
page, whatever they are; in the others an HTML reply opens a page.

The time that a server took is `timings.wait` less the round trip of the connection, where an entry of the same
connection, or else of the same host, tells it: `timings.connect` without `timings.ssl`.

An archive whose entries all say when they began, waited and received keeps its times, as a capture does (`Timing`): an
entry asks, connecting included, until `wait` begins, and its reply comes in the last `receive`.  A connection is the
`connection` of a host.  What a reply named before it was whole (by `_initiator`; without it the page's first entry is
taken) waits for it: the reply counts as whole when it named the first, if the page went on after it.

An archive is one JSON value, so it is held in memory, up to `MAX_HAR_BYTES`.
Left out: bodies, what goes over a WebSocket, other timings.  Source: HAR 1.2 specification, W3C Web Performance draft.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from traces.errors import RuleError, TraceError, placed
from traces.files import Source
from traces.records import (
    DOCUMENT,
    EMBEDDED,
    MAX_BYTES,
    OPENING,
    PART,
    UNKNOWN_REQUEST_BYTES,
    UNKNOWN_WAIT_US,
    Report,
    Request,
    counting,
    moment_us,
)  # fmt: skip

MAX_HAR_BYTES = 1 << 27
"""Largest archive that is read, 128 MiB."""

Fields = dict[str, object]
_MAX_MS = 1e9
_SCHEMES = ("http://", "https://", "ws://", "wss://")


def requests(source: Source) -> Iterator[Request]:
    """Read the requests of an archive, in the order in which they were sent."""
    report = source.report
    with placed(source.path):
        entries, since_us = _entries(source)
    trips: dict[str, int] = {}  # of connections and hosts
    for fields in entries:
        if connect_us := _timing(fields, "connect"):
            tls_us = _timing(fields, "ssl") or 0
            trip_us = connect_us - tls_us if tls_us <= connect_us else connect_us  # some browsers leave TLS out of it
            report.round_trips_us.add(trip_us)
            for key in _connections(fields):
                trips.setdefault(key, trip_us)

    connections: dict[str, int] = {}

    def request(fields: Fields) -> _Entry | None:
        nonlocal since_us
        report.count("records")
        if (made := _request(fields, since_us, report, trips)) is None:
            return None
        since_us, page = made.start_us, fields.get("pageref")
        if made.first_us >= 0:
            made = made._replace(connection=connections.setdefault(_connections(fields)[0], len(connections)))
        return _Entry(page if isinstance(page, str) else "", _initiator(fields), made)

    found = list(source.parsed(request, enumerate(entries, 1), "entry"))
    if not found:
        held = report.counted() or "no entries"
        raise TraceError(source.path, "", "a HAR must hold a request that used the network", held)
    found.sort(key=lambda entry: entry.request.start_us)
    if all(entry.request.first_us >= 0 for entry in found):
        _complete_when_naming(found)
    else:
        for entry in found:
            entry.request = entry.request._replace(connection=-1, first_us=-1)
    report.waits_us.extend([entry.request.wait_us for entry in found if entry.request.wait_us >= 0])
    opened: set[str] = set()

    def ordered() -> Iterator[Request]:
        for entry in found:
            page, made = entry.page, entry.request
            yield made._replace(kind=PART if page in opened else OPENING) if page else made
            opened.add(page)

    yield from counting(ordered(), report)


def recognises(head: bytes) -> bool:
    """Tell an archive by its first name."""
    return re.match(rb'(\xef\xbb\xbf)?\s*\{\s*"log"\s*:', head) is not None


@dataclass(slots=True)
class _Entry:
    """A request, the page that it belongs to, and the address of what named it; empty if unknown."""

    page: str
    named_by: str
    request: Request


def _initiator(fields: Fields) -> str:
    """Return the address of what named a request, as Chrome and the tools around it tell it."""
    told = fields.get("_initiator")
    address = _part(told).get("url", told)
    return address if isinstance(address, str) else ""


def _complete_when_naming(found: list[_Entry]) -> None:
    """End those of the entries, in their order, that named another before they were whole, but for a page's last."""
    named: dict[tuple[str, ...], int] = {}  # by page and URL the first entry, and by page
    ends_us: dict[str, int] = {}
    for place, entry in enumerate(found):
        named.setdefault((entry.page, entry.request.url), place)
        named.setdefault((entry.page,), place)
        ends_us[entry.page] = max(ends_us.get(entry.page, 0), entry.request.end_us)
    for place, entry in enumerate(found):
        parent = named.get((entry.page, entry.named_by), named[entry.page,])
        request, at_us = found[parent].request, entry.request.start_us
        if parent < place and request.first_us < at_us < request.end_us < ends_us[entry.page]:
            found[parent].request = request._replace(end_us=at_us)


def _entries(source: Source) -> tuple[list[Fields], int]:
    """Return the entries, and when the first page began."""
    data = source.stream.read(MAX_HAR_BYTES + 1)
    if len(data) > MAX_HAR_BYTES:
        raise RuleError(f"a HAR must not exceed {MAX_HAR_BYTES} bytes", "a larger one")
    try:
        archive = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RuleError("a HAR must be whole JSON in UTF-8", str(error)) from None
    log = _part(_part(archive).get("log"))
    entries, pages = log.get("entries"), log.get("pages")
    if not isinstance(entries, list):
        raise RuleError("a HAR must have a list log.entries", type(entries).__name__)
    begun = _part(pages[0]).get("startedDateTime") if isinstance(pages, list) and pages else None
    return [_part(entry) for entry in entries], 0 if begun is None else _moment(begun)


def _request(fields: Fields, since_us: int, report: Report, trips: dict[str, int]) -> Request | None:
    """Turn an entry into a request; None if it did not use the network."""
    asked, answer = _part(fields.get("request")), _part(fields.get("response"))
    content, url = _part(answer.get("content")), _url(fields)
    transfer, header, body = (_size(answer.get(name)) for name in ("_transferSize", "headersSize", "bodySize"))
    cached = any(part.get(name) for part in (fields, answer) for name in ("_fromCache", "fromCache", "_fromDiskCache"))
    parts = [header, _size(content.get("size")) if body is None else body] if transfer is None else [transfer]
    left_out = ""
    if url and not url[:8].lower().startswith(_SCHEMES):
        left_out = "entries_of_other_schemes"
    elif not answer.get("status"):
        left_out = "entries_without_answer"
    elif cached or transfer == 0 or (transfer is None and header == 0 and body == 0):
        left_out = "cache_hits"
    elif parts == [None, None]:
        left_out = "entries_without_size"
    if left_out:
        report.count(left_out)
        return None
    head, sent = (_size(asked.get(name)) or 0 for name in ("headersSize", "bodySize"))
    begun, lasts_ms = fields.get("startedDateTime"), _number(fields.get("time"), _MAX_MS)
    report.count("entries_without_time", begun is None)
    start_us = since_us if begun is None else _moment(begun)
    report.count("entries_without_duration", lasts_ms is None)
    kind = DOCUMENT if str(content.get("mimeType") or "").startswith("text/html") else EMBEDDED
    wait_us = UNKNOWN_WAIT_US
    if (waited_us := _timing(fields, "wait")) is not None:
        wait_us = max(0, waited_us - next((trips[key] for key in _connections(fields) if key in trips), 0))
    times = start_us, start_us + round((lasts_ms or 0) * 1000)
    sent_us = first_us = -1
    received_us = _timing(fields, "receive")
    if begun is not None and lasts_ms is not None and waited_us is not None and received_us is not None:
        first_us = max(start_us + 1, times[1] - received_us)
        sent_us = max(start_us, first_us - max(waited_us, 1))  # a reply was asked for, however soon it came
    sizes = (head or UNKNOWN_REQUEST_BYTES) + sent, sum(part or 0 for part in parts)
    return Request("browser", _host(url), *times, *sizes, url, kind, wait_us, -1, sent_us, first_us)


def _connections(fields: Fields) -> list[str]:
    """Return the keys under which the round trip of an entry may be known, the best one first."""
    host = _host(_url(fields))
    return [f"{host}#{fields.get('connection')}", host]


def _timing(fields: Fields, name: str) -> int | None:
    """Return a timing of an entry in microseconds, None if it is unknown."""
    value = _number(_part(fields.get("timings")).get(name), _MAX_MS)
    return None if value is None else round(value * 1000)


def _part(value: object) -> Fields:
    return value if isinstance(value, dict) else {}


def _url(fields: Fields) -> str:
    url = _part(fields.get("request")).get("url")
    return url.encode("utf-8", "replace").decode() if isinstance(url, str) else ""


def _number(value: object, most: float) -> float | None:
    """Return a number in [0, most], None if it is unknown (-1, null, absent, nonsense)."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
    return value if known else None  # type: ignore[return-value]


def _size(value: object) -> int | None:
    found = _number(value, MAX_BYTES)
    return None if found is None else int(found)


def _moment(value: object) -> int:
    try:
        return moment_us(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise RuleError("startedDateTime must be an ISO 8601 time", value) from None


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rsplit("@", 1)[-1].lower().encode("utf-8", "replace").decode()
    except ValueError:
        return ""
