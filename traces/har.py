"""HTTP Archives: what a browser saves of a page load ("save all as HAR").

A reply is as large as `_transferSize` says; else its body and headers, as far
as each is known; else its content unpacked.  A request is as large as its headers (300 bytes where they are unknown)
and its body.  -1, null and absence mean unknown.
Left out and counted: entries served from a cache, without an answer (status 0),
of other schemes than http(s), or without any size.  An entry without a time
was sent when the one before it was.  Entries with a `pageref` belong to
that page, whatever they are; in the others an HTML reply opens a page.

The time that a server took is `timings.wait` less the round trip of the connection, where an entry of the same
connection, or else of the same host, tells it: `timings.connect` without `timings.ssl`.  Messages over a WebSocket
whose times were saved (``_webSocketMessages``) are told apart by their runs (`traces.captures.runs`).

An archive is one JSON value, so it is held in memory, up to `MAX_HAR_BYTES`.
Left out: bodies, other timings.  Source: HAR 1.2 specification, W3C Web Performance draft.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from os import PathLike
from typing import Any
from urllib.parse import urlsplit

from traces.captures.runs import runs
from traces.errors import Place, RuleError, TraceError
from traces.files import Stream
from traces.formats import Format
from traces.records import (
    DOCUMENT,
    EMBEDDED,
    MESSAGE,
    OPENING,
    PART,
    UNKNOWN_REQUEST_BYTES,
    UNKNOWN_WAIT_US,
    Batch,
    Report,
    Request,
    batch_of,
)  # fmt: skip

__all__ = ["FORMATS", "MAX_HAR_BYTES", "batches"]

MAX_HAR_BYTES = 1 << 27
"""Largest archive that is read, 128 MiB."""

_MAX_BYTES = 1 << 40
_MAX_MS = 1e9
_MAX_S = 1e11
_CLIENT = "browser"
_BINARY = 2  # the kind of message of a WebSocket that an archive holds in base64


def batches(
    stream: Stream, path: str | PathLike[str], report: Report, *, skip_damaged: bool = False
) -> Iterator[Batch]:
    """Read the requests of an archive as one batch, in the order in which they were sent.

    Raises
    ------
    TraceError
        If it is no whole JSON, no HAR, or holds no request that used the network; an entry without a time
        is counted instead with `skip_damaged`.
    """
    with Place(path):
        entries, since_us = _entries(stream)
    found: list[tuple[str | None, Request]] = []
    place = Place(path, report if skip_damaged else None)
    sockets = _Sockets(found, report)
    trips = _round_trips(entries, report)
    for number, entry in enumerate(entries, 1):
        report.count("records")
        sockets.take(entry)
        with place.at("entry", number):
            item = _request(entry, since_us, report, trips)
            if item is not None:
                found.append(item)
                since_us = item[1].start_us
    if not found:
        held = report.counted() or "no entries"
        raise TraceError(path, "", "a HAR must hold a request that used the network", held)
    found.sort(key=lambda item: item[1].start_us)
    opened: set[str] = set()
    requests = []
    for page, request in found:
        kind = request.kind
        if request.wait_us >= 0:
            report.waits_us.add(request.wait_us)
        if page is not None:
            kind = PART if page in opened else OPENING
            opened.add(page)
        requests.append(request._replace(kind=kind))
    report.count("requests", len(requests))
    yield batch_of(requests)


def _entries(stream: Stream) -> tuple[list[Any], int]:
    """Return the entries, and when the first page began."""
    data = stream.read(MAX_HAR_BYTES + 1)
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
    return entries, 0 if begun is None else _moment(begun)


def _request(entry: object, since_us: int, report: Report, trips: dict[str, int]) -> tuple[str | None, Request] | None:
    """Turn an entry into its page's name and a request; None if it did not use the network."""
    fields = _part(entry)
    asked, answer = _part(fields.get("request")), _part(fields.get("response"))
    url = _url(fields)
    if url and not url[:8].lower().startswith(("http://", "https://", "ws://", "wss://")):
        report.count("entries_of_other_schemes")
        return None
    if not answer or not answer.get("status"):
        report.count("entries_without_answer")
        return None
    transfer, header, body = (_size(answer.get(name)) for name in ("_transferSize", "headersSize", "bodySize"))
    content = _part(answer.get("content"))
    cached = any(part.get(name) for part in (fields, answer) for name in ("_fromCache", "fromCache", "_fromDiskCache"))
    if cached or transfer == 0 or (transfer is None and header == 0 and body == 0):
        report.count("cache_hits")
        return None
    reply = transfer
    if reply is None and (body is not None or header is not None):
        reply = (body or 0) + (header or 0)
        if body is None:
            reply += _size(content.get("size")) or 0
    if reply is None:
        reply = _size(content.get("size"))
    if reply is None:
        report.count("entries_without_size")
        return None
    sent = [_size(asked.get(name)) for name in ("headersSize", "bodySize")]
    request_bytes = (sent[0] or UNKNOWN_REQUEST_BYTES) + (sent[1] or 0)
    begun = fields.get("startedDateTime")
    report.count("entries_without_time", begun is None)
    start_us = since_us if begun is None else _moment(begun)
    end_us = start_us + _duration(fields.get("time"), report)
    page = fields.get("pageref")
    kind = DOCUMENT if str(content.get("mimeType") or "").startswith("text/html") else EMBEDDED
    server = _host(url)
    wait_us = UNKNOWN_WAIT_US
    if (waited_us := _timing(fields, "wait")) is not None:
        wait_us = max(0, waited_us - next((trips[key] for key in _connections(fields) if key in trips), 0))
    request = Request(_CLIENT, server, start_us, end_us, request_bytes, reply, url, kind, wait_us)
    return (page if isinstance(page, str) and page else None), request


def _round_trips(entries: list[Any], report: Report) -> dict[str, int]:
    """Return the round trip of every connection and host whose opening was timed, microseconds."""
    trips: dict[str, int] = {}
    for entry in entries:
        fields = _part(entry)
        connect_us = _timing(fields, "connect")
        if connect_us:
            tls_us = _timing(fields, "ssl") or 0
            trip_us = connect_us - tls_us if tls_us <= connect_us else connect_us  # some browsers leave TLS out of it
            report.round_trips_us.add(trip_us)
            for key in _connections(fields):
                trips.setdefault(key, trip_us)
    return trips


def _connections(fields: dict[str, Any]) -> list[str]:
    """Return the keys under which the round trip of an entry may be known, the best one first."""
    host = _host(_url(fields))
    return [f"{host}#{fields.get('connection')}", host]


def _timing(fields: dict[str, Any], name: str) -> int | None:
    """Return a timing of an entry in microseconds, None if it is unknown."""
    value = _number(_part(fields.get("timings")).get(name), _MAX_MS)
    return None if value is None else round(value * 1000)


class _Sockets:
    """What WebSockets carried, told apart by its runs; the book of these runs."""

    def __init__(self, found: list[tuple[str | None, Request]], report: Report) -> None:
        self._found = found
        self._report = report

    def take(self, entry: object) -> None:
        """Take the messages of an entry, if it has any."""
        fields = _part(entry)
        sent = fields.get("_webSocketMessages")
        if not isinstance(sent, list):
            return
        unasked = "acknowledgements_of_messages"
        run = runs(_CLIENT, _host(_url(fields)), self.enter, lambda size: self._report.count(unasked))
        for item in sent:
            message = _part(item)
            data, moment = message.get("data"), _number(message.get("time"), _MAX_S)
            if not isinstance(data, str) or not data or moment is None:
                self._report.count("websocket_messages_without_time_or_data")
                continue
            is_text = message.get("opcode") != _BINARY
            size = len(data.encode("utf-8", "replace")) if is_text else 3 * len(data) // 4 - data[-2:].count("=")
            run.send((message.get("type") == "send", round(moment * 1e6), size, b""))
        run.send(None)

    def enter(self, request: Request) -> None:
        """Take an exchange or a message of a WebSocket."""
        self._report.count("messages" if request.kind == MESSAGE else "websocket_exchanges")
        self._found.append((None, request))


def _part(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _url(fields: dict[str, Any]) -> str:
    url = _part(fields.get("request")).get("url")
    return url if isinstance(url, str) else ""


def _number(value: object, most: float) -> float | None:
    """Return a number in [0, most], None if it is unknown (-1, null, absent, nonsense)."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
    return value if known else None  # type: ignore[return-value]


def _size(value: object) -> int | None:
    found = _number(value, _MAX_BYTES)
    return None if found is None else int(found)


def _moment(value: object) -> int:
    try:
        moment = datetime.fromisoformat(value)  # type: ignore[arg-type]
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        raise RuleError("startedDateTime must be an ISO 8601 time", value) from None
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _duration(value: object, report: Report) -> int:
    """Return the time of an entry in microseconds; 0, counted, if it is unknown."""
    known = _number(value, _MAX_MS)
    report.count("entries_without_duration", known is None)
    return round((known or 0) * 1000)


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.rsplit("@", 1)[-1].lower()
    except ValueError:
        return ""


FORMATS = (
    Format(
        name="har",
        written="*.har",
        meaning="HTTP Archive (HAR) of a browser",
        source="HAR 1.2 specification; the network panel of any browser saves it",
        example="lpsm pages session.har --out pages.jsonl",
        recognises=lambda head: re.match(rb'(\xef\xbb\xbf)?\s*\{\s*"log"\s*:', head) is not None,
        batches=batches,
    ),
)
