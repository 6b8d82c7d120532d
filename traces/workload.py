"""The workload file: what a client does, one JSON object a line.

There are five kinds of lines, in any order between each other.

* A **page**, in the order in which the pages are browsed: ``{"page": "w0", "issue_s": 1.0, "request_bytes": 433,
  "reply_bytes": 9319, "objects": [[369, 4665]], "think_s": 40.1, "waits_s": [0.25, null], "deadline_s": 5.0}``.
  `issue_s` (no fixed time), `objects` (none), `think_s` (0), `waits_s` (how long the server took for the page and
  each object, null where it is not known), `deadline_s` (none), `servers` and `timings` may be missing.  A reply of
  0 bytes is an upload.  `servers` holds for the page and each object the number of the server that is asked, from 0
  on, and -1 where it is not known.  `timings`, which all pages have or none, holds for each of them six numbers:
  ``[connection, after, at_s, request_s, response_s, reply_s]``.  Where `after` is 0, the exchange begins at the
  instant `at_s`; else `at_s` after the end of the exchange so many places before it, counted over pages and objects as
  they stand in the file; and never before the one before it on its connection is complete.  Its request takes
  `request_s` from the first to the last byte; the first byte of its reply came `response_s` after that, and the last
  one `reply_s` later, as they were recorded.
* A **message** that the server pushes, in the order of time: ``{"message_bytes": 412, "at_s": 63.2}``.
* A **datagram** that nobody waits for and nobody sends again, in the order of time: ``{"datagram_bytes": 172, "at_s":
  0.02, "up": true}``.
* How long the traffic was **captured**, from its first packet to its last, at most once: ``{"captured_s": 76.1}``.
* The **round trip** to the servers that was recorded, at most once: ``{"round_trip_s": 0.031}``.

A file that is one JSON array of such objects is read as well.  Anything else in a file is an error that names the
line: a name that is not known may be a misspelt one, and a workload is never read in part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from math import isfinite, nan
from os import PathLike
from types import NoneType
from typing import Any

from traces.checks import checked, shown
from traces.columns import Workload
from traces.errors import Place, RuleError, TraceError
from traces.files import Stream, lines, open_trace, replacing
from traces.records import Captured, Datagram, Message, Page, Timing

__all__ = ["MAX_REPLY_BYTES", "read_workload", "recognises", "workload_line", "write_workload"]

MAX_REPLY_BYTES = 1 << 40
"""Largest request or reply that is believed, 1 TiB."""

_MAX_LINE_BYTES = 1 << 24
_MAX_ARRAY_BYTES = 1 << 27
_MAX_OBJECTS = 100_000
_LARGEST_DATAGRAM = 1 << 16
_MOST_CONNECTIONS = 1 << 40
_MOST_SERVERS = 1 << 31
Record = Page | Message | Datagram | Captured
_NEEDED = "a workload of pages is needed here; run lpsm pages first, which makes one of a trace"
_KINDS = {  # of lines, by a field that they alone have: how they are called, what they must have, and may have
    "round_trip_s": ("round trip", ("round_trip_s",), ()),
    "captured_s": ("time of capture", ("captured_s",), ()),
    "datagram_bytes": ("datagram", ("datagram_bytes", "at_s", "up"), ()),
    "message_bytes": ("message", ("message_bytes", "at_s"), ()),
    "page": (
        "page", ("page", "request_bytes", "reply_bytes"),
        ("objects", "think_s", "issue_s", "waits_s", "deadline_s", "timings", "servers"),
    ),
}  # fmt: skip


@checked
def read_workload(path: str | PathLike[str]) -> Workload:
    """Read a workload, plain or packed with gzip or xz.

    Returns
    -------
    Workload
        A sequence of the pages, in the order of the file, with all else beside them.

    Raises
    ------
    TraceError
        If a line breaks a rule: path, line, rule and value are in the message.
    """
    book = _Book()
    found: dict[type, list[Any]] = {Page: [], Message: [], Datagram: [], NoneType: []}
    with open_trace(path) as stream, Place(path) as place:
        for place.where, fields in _of_workload(_records(stream, path), path):
            record = book.checked(fields)
            found[type(record)].append(record)
        place.where = ""
        book.close()
    trip_s, captured_s = (book.once.get(name) for name in ("round_trip_s", "captured_s"))
    return Workload.of(found[Page], found[Message], trip_s, found[Datagram], captured_s)


def _of_workload(records: Iterator[tuple[str, object]], path: str | PathLike[str]) -> Iterator[tuple[str, object]]:
    """Yield the records; if the very first is none, say whether the file is a trace."""
    from traces.reading import detect  # which asks every format

    try:
        first = [record for record in [next(records, None)] if record]
    except (RuleError, TraceError):
        with suppress(TraceError):
            if (found := detect(path)) != "workload":
                raise RuleError(_NEEDED, f"a trace, {found}") from None
        raise
    yield from chain(first, records)


@checked
def write_workload(
    path: str | PathLike[str], records: Iterable[Record], round_trip_s: float | Callable[[], float | None] | None = None
) -> int:
    """Write pages and what else there is, one a line, and return the number of pages; the file is whole or untouched.

    Parameters
    ----------
    path : path-like
        The file.
    records : Workload, or iterable of Page, Message, Datagram and Captured
        Pages in the order in which they are browsed, messages and datagrams in the order of time.
    round_trip_s : float or callable, optional
        The round trip to the servers, or what tells it after the last record; that of a `Workload` by itself.
    """
    if isinstance(records, Workload):
        round_trip_s = records.round_trip_s if round_trip_s is None else round_trip_s
        ends = () if records.captured_s is None else (Captured(records.captured_s),)
        records = chain(records, records.messages, records.datagrams, ends)
    book = _Book()

    def written() -> Iterator[str]:
        yield from map(workload_line, records)
        place.where = ""
        known_s = round_trip_s() if callable(round_trip_s) else round_trip_s
        book.close()
        if known_s is not None:
            yield json.dumps({"round_trip_s": float(known_s)}) + "\n"

    with replacing(path) as file, Place(path) as place:
        for number, line in enumerate(written(), 1):
            place.where = f"line {number}"
            book.checked(json.loads(line))
            file.write(line.encode())
    return book.counts["page"]


def workload_line(record: Record) -> str:
    r"""Return the line of one page, message or datagram, or of how long all was captured; equal ones give equal bytes.

    >>> workload_line(Page("a", 300, 500))
    '{"page": "a", "request_bytes": 300, "reply_bytes": 500, "objects": [], "think_s": 0.0}\n'
    >>> workload_line(Message(63.25, 412))
    '{"message_bytes": 412, "at_s": 63.25}\n'
    """
    if isinstance(record, Message):
        return json.dumps({"message_bytes": int(record.size_bytes), "at_s": float(record.at_s)}) + "\n"
    if isinstance(record, Datagram):
        at_s, size, up = record
        return json.dumps({"datagram_bytes": int(size), "at_s": float(at_s), "up": bool(up)}) + "\n"
    if isinstance(record, Captured):
        return json.dumps({"captured_s": float(record.captured_s)}) + "\n"
    if not isinstance(record, Page):
        raise TypeError(f"record must be a Page or a Message, got {shown(record)}")
    fields: dict[str, object] = {"page": record.page}
    if record.issue_s is not None:
        fields["issue_s"] = float(record.issue_s)
    fields["request_bytes"] = int(record.request_bytes)
    fields["reply_bytes"] = int(record.reply_bytes)
    fields["objects"] = [[int(request), int(reply)] for request, reply in record.objects]
    fields["think_s"] = float(record.think_s)
    if len(record.waits_s):
        fields["waits_s"] = [float(wait) if wait == wait else None for wait in record.waits_s]
    if record.deadline_s is not None:
        fields["deadline_s"] = float(record.deadline_s)
    if record.timings:
        fields["timings"] = [[int(each[0]), int(each[1]), *map(float, each[2:])] for each in record.timings]
    if len(record.servers):
        fields["servers"] = list(map(int, record.servers))
    return json.dumps(fields) + "\n"


class _Book:
    """What the lines of a workload say, held to its rules line by line."""

    def __init__(self) -> None:
        self.once: dict[str, float] = {}
        self.counts = {"page": 0, "message": 0, "datagram": 0}
        self._latest = dict.fromkeys(self.counts, 0.0)
        self._exchanges = 0
        self._timed: bool | None = None

    def checked(self, fields: object) -> Page | Message | Datagram | None:
        """Return what the fields of a line are, None for what is there once."""
        if not isinstance(fields, dict):
            raise RuleError("a page must be a JSON object", fields)
        for own in _KINDS:  # a page, the last, if there is none
            if own in fields:
                break
        kind, needed, may = _KINDS[own]
        for key in needed:
            if key not in fields:
                raise RuleError(f"a {kind} must have {key}", f"only {', '.join(map(str, fields)) or 'nothing'}")
        for key in fields:
            if key not in may and key not in needed:
                raise RuleError(f"a {kind} has only the fields {', '.join(sorted(needed + may))}", key)
        if kind not in self.counts:
            found_s = _seconds(fields[own], own)
            if own in self.once:
                raise RuleError(f"a workload must hold at most one {kind}", f"another, {found_s}")
            self.once[own] = found_s
            return None
        record: Page | Message | Datagram
        name = "at_s"
        if own == "page":
            name, record = "issue_s", _page(fields, self._exchanges)
            self._exchanges += 1 + len(record.objects)
        elif own == "message_bytes":
            size = _size(fields[own], own)
            record = Message(_seconds(fields[name], name), size)
        else:
            size = _size(fields[own], own, 0, _LARGEST_DATAGRAM)
            if not isinstance(fields["up"], bool):
                raise RuleError("up must be true or false", fields["up"])
            record = Datagram(_seconds(fields[name], name), size, fields["up"])
        self.counts[kind] += 1
        moment, latest = getattr(record, name), self._latest[kind]
        if moment is not None and moment < latest:
            raise RuleError(f"{name} must not run backwards (the {kind} before has {latest})", moment)
        self._latest[kind] = latest if moment is None else moment
        if isinstance(record, Page):
            if self._timed not in (None, bool(record.timings)):
                raise RuleError("all pages must have timings, or none", f"{len(record.timings)} timings")
            self._timed = bool(record.timings)
        return record

    def close(self) -> None:
        """Refuse a workload of nothing."""
        if not any(self.counts.values()):
            raise RuleError("a workload must hold at least one page, message or datagram", "none")


def _records(stream: Stream, path: str | PathLike[str]) -> Iterator[tuple[str, object]]:
    """Yield place and contents of what a file holds: a JSON object a line, or the entries of one array."""
    place = Place(path)
    for number, line in lines(stream, _MAX_LINE_BYTES, path):
        text = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
        if number == 1 and text.startswith(b"["):
            rest = stream.read(_MAX_ARRAY_BYTES)
            if len(rest) == _MAX_ARRAY_BYTES:
                raise RuleError(f"a JSON array must be shorter than {_MAX_ARRAY_BYTES} bytes", "a longer one")
            yield from ((f"entry {index}", fields) for index, fields in enumerate(_json(text + b"\n" + rest), 1))
            return
        if text:
            place.where = f"line {number}"
            with place:
                fields = _json(text)
            yield place.where, fields


def _json(text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise RuleError(f"a line must be whole JSON in UTF-8 ({reason})", text[:40].decode("latin-1")) from None


def _page(fields: dict[Any, Any], exchanges_before: int) -> Page:
    if not isinstance(fields["page"], str) or not fields["page"]:
        raise RuleError("page must be a name", fields["page"])
    rule = "objects must be a list of at most {} pairs [request, reply]"
    objects = _list(fields.get("objects", []), range(_MAX_OBJECTS + 1), rule, _MAX_OBJECTS)
    for pair in objects:
        if not isinstance(pair, list) or len(pair) != 2:
            raise RuleError("an object must be a pair [request bytes, reply bytes]", pair)
    pairs = tuple((_size(asked, "request"), _size(reply, "reply", least=0)) for asked, reply in objects)
    n = 1 + len(pairs)
    fits, rule = (0, n), "{} must be a list of {} an exchange ({})"
    waits = _list(fields.get("waits_s", []), fits, rule, "waits_s", "one wait", n)
    servers = _list(fields.get("servers", []), fits, rule, "servers", "one server", n)
    timings = _list(fields.get("timings", []), fits, rule, "timings", "six numbers", n)
    times = {name: fields.get(name) for name in ("issue_s", "deadline_s")}
    return Page(
        page=fields["page"],
        request_bytes=_size(fields["request_bytes"], "request_bytes"),
        reply_bytes=_size(fields["reply_bytes"], "reply_bytes", least=0),
        objects=pairs,
        think_s=_seconds(fields.get("think_s", 0.0), "think_s"),
        waits_s=tuple(nan if wait is None else _seconds(wait, "a wait") for wait in waits),
        timings=tuple(_timing(timing, n, exchanges_before + place) for place, timing in enumerate(timings)),
        servers=tuple(_size(server, "a server", -1, _MOST_SERVERS) for server in servers),
        **{name: None if value is None else _seconds(value, name) for name, value in times.items()},
    )


def _list(given: Any, lengths: Container[int], rule: str, *said: object) -> list[Any]:
    if not isinstance(given, list) or len(given) not in lengths:
        raise RuleError(rule.format(*said), len(given) if isinstance(given, list) else type(given).__name__)
    return given


def _timing(given: Any, exchanges: int, before: int) -> Timing:
    if not isinstance(given, list) or len(given) != 6:
        raise RuleError(f"timings must be a list of six numbers an exchange ({exchanges})", given)
    connection = _size(given[0], "the connection of a timing", 0, _MOST_CONNECTIONS)
    after = _size(given[1], "the exchange that one waits for", 0, before)
    return Timing(connection, after, *(_seconds(value, "a time of a timing") for value in given[2:]))


def _size(value: object, name: str, least: int = 1, most: int = MAX_REPLY_BYTES) -> int:
    if type(value) is not int or not least <= value <= most:
        raise RuleError(f"{name} must be a whole number in [{least}, {most}]", value)
    return value


def _seconds(value: object, name: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1e12 or not isfinite(value):  # type: ignore[operator, arg-type]
        raise RuleError(f"{name} must be a number of seconds in [0, 1e12]", value)
    return float(value)  # type: ignore[arg-type]


_LINE = re.compile(
    rb'(\xef\xbb\xbf)?\s*(\[\s*)?(\{[^{}]*"(page|message_bytes|datagram_bytes|captured_s|round_trip_s)"|\[?\s*\]|$)'
)


def recognises(head: bytes) -> bool:
    """Tell a workload by the first field of its first line that no other line has."""
    return _LINE.match(head) is not None
