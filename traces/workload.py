"""The workload file: what a client does, one JSON object a line.

There are three kinds of lines, in any order between each other.

* A **page**, in the order in which the pages are browsed: ``{"page": "w0", "issue_s": 1.0, "request_bytes": 433,
  "reply_bytes": 9319, "objects": [[369, 4665]], "think_s": 40.1, "waits_s": [0.25, null], "deadline_s": 5.0}``.
  `issue_s` (no fixed time), `objects` (none), `think_s` (0), `waits_s` (how long the server took for the page and
  each object, null where it is not known) and `deadline_s` (none) may be missing.  A reply of 0 bytes is an upload.
* A **message** that the server pushes, in the order of time: ``{"message_bytes": 412, "at_s": 63.2}``.
* The **round trip** to the servers that was recorded, at most once: ``{"round_trip_s": 0.031}``.

A file that is one JSON array of such objects is read as well.  Anything else in a file is an error that names the
line: a name that is not known may be a misspelt one, and a workload is never read in part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import isfinite, nan
from os import PathLike
from typing import Any, BinaryIO

from traces.checks import checked, shown
from traces.columns import Workload
from traces.errors import TraceError
from traces.files import open_trace, read_line, replacing
from traces.formats import Format
from traces.records import Message, Page

__all__ = ["FORMATS", "MAX_REPLY_BYTES", "read_workload", "workload_line", "write_workload"]

MAX_REPLY_BYTES = 1 << 40
"""Largest request or reply that is believed, 1 TiB."""

_MAX_LINE_BYTES = 1 << 24
_MAX_ARRAY_BYTES = 1 << 27
_MAX_OBJECTS = 100_000
_REQUIRED = ("page", "request_bytes", "reply_bytes")
_OF_PAGE = frozenset((*_REQUIRED, "objects", "think_s", "issue_s", "waits_s", "deadline_s"))
_OF_MESSAGE = frozenset(("message_bytes", "at_s"))
_NOTHING = "a workload must hold at least one page or message"


@checked
def read_workload(path: str | PathLike[str]) -> Workload:
    """Read a workload, plain or packed with gzip or xz.

    Returns
    -------
    Workload
        A sequence of the pages, in the order of the file, with the messages and the round trip beside them.

    Raises
    ------
    TraceError
        If a line breaks a rule: path, line, rule and value are in the message.
    """
    pages: list[Page] = []
    messages: list[Message] = []
    round_trip_s: float | None = None
    latest: dict[str, float] = {}
    with open_trace(path) as stream:
        for where, fields in _checked(_records(stream, path), path):
            record = _record(fields, path, where)
            if isinstance(record, float):
                if round_trip_s is not None:
                    raise TraceError(path, where, "a workload must hold at most one round trip", f"another, {record}")
                round_trip_s = record
                continue
            _check_order(record, latest, path, where)
            if isinstance(record, Page):
                pages.append(record)
            else:
                messages.append(record)
    if not pages and not messages:
        raise TraceError(path, "", _NOTHING, "none")
    return Workload.of(pages, messages, round_trip_s)


def _checked(records: Iterator[tuple[str, object]], path: str | PathLike[str]) -> Iterator[tuple[str, object]]:
    """Yield the records; if the very first is none, say whether the file is a trace."""
    from traces.detect import detect  # which asks every format

    try:
        first = next(records, None)
    except TraceError:
        try:
            found = detect(path)
        except TraceError:
            found = "workload"
        if found != "workload":
            rule = "a workload of pages is needed here; run lpsm pages first, which makes one of a trace"
            raise TraceError(path, "", rule, f"a trace, {found}") from None
        raise
    if first is not None:
        yield first
        yield from records


@checked
def write_workload(
    path: str | PathLike[str],
    records: Iterable[Page | Message],
    round_trip_s: float | Callable[[], float | None] | None = None,
) -> int:
    """Write pages and messages, one a line, and return the number of pages; the file is whole or untouched.

    Parameters
    ----------
    path : path-like
        The file.
    records : Workload, or iterable of Page and Message
        Pages in the order in which they are browsed, messages in the order of time.
    round_trip_s : float or callable, optional
        The round trip to the servers, or what tells it after the last record; that of a `Workload` by itself.
    """
    if isinstance(records, Workload):
        round_trip_s = records.round_trip_s if round_trip_s is None else round_trip_s
        records = chain(records, records.messages)
    pages = lines = 0
    latest: dict[str, float] = {}

    def write(line: str) -> None:
        nonlocal lines
        lines += 1
        record = _record(json.loads(line), path, f"line {lines}")
        if not isinstance(record, float):
            _check_order(record, latest, path, f"line {lines}")
        file.write(line.encode())

    with replacing(path) as file:
        for record in records:
            write(workload_line(record))
            pages += isinstance(record, Page)
        if not lines:
            raise TraceError(path, "", _NOTHING, "none")
        known_s = round_trip_s() if callable(round_trip_s) else round_trip_s
        if known_s is not None:
            write(json.dumps({"round_trip_s": float(known_s)}) + "\n")
    return pages


def workload_line(record: Page | Message) -> str:
    r"""Return the line of one page or message; equal ones give equal bytes.

    >>> workload_line(Page("a", 300, 500))
    '{"page": "a", "request_bytes": 300, "reply_bytes": 500, "objects": [], "think_s": 0.0}\n'
    >>> workload_line(Message(63.25, 412))
    '{"message_bytes": 412, "at_s": 63.25}\n'
    """
    if isinstance(record, Message):
        return json.dumps({"message_bytes": int(record.size_bytes), "at_s": float(record.at_s)}) + "\n"
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
    return json.dumps(fields) + "\n"


def _records(stream: BinaryIO, path: str | PathLike[str]) -> Iterator[tuple[str, object]]:
    number = 0
    while line := read_line(stream, _MAX_LINE_BYTES, path, number + 1):
        number += 1
        text = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
        if not text:
            continue
        if number == 1 and text.startswith(b"["):
            rest = stream.read(_MAX_ARRAY_BYTES)
            if len(rest) == _MAX_ARRAY_BYTES:
                raise TraceError(
                    path, "", f"a JSON array must be shorter than {_MAX_ARRAY_BYTES} bytes", "a longer one"
                )
            array = _json(text + b"\n" + rest, path, "the JSON array")
            if not isinstance(array, list):
                raise TraceError(path, "", "a file of pages must be a JSON array or one JSON object a line", array)
            for index, fields in enumerate(array):
                yield f"entry {index + 1}", fields
            return
        yield f"line {number}", _json(text, path, f"line {number}")


def _json(text: bytes, path: str | PathLike[str], where: str) -> Any:
    try:
        return json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        start = text[:40].decode("latin-1")
        raise TraceError(path, where, f"a line must be whole JSON in UTF-8 ({reason})", start) from None


def _record(fields: object, path: str | PathLike[str], where: str) -> Page | Message | float:
    """Return what a line holds: a page, a message, or the round trip in seconds."""
    if not isinstance(fields, dict):
        raise TraceError(path, where, "a page must be a JSON object", fields)
    if "round_trip_s" in fields:
        _only(fields, frozenset(("round_trip_s",)), "a round trip", path, where)
        return _seconds(fields["round_trip_s"], "round_trip_s", path, where)
    if "message_bytes" in fields:
        _only(fields, _OF_MESSAGE, "a message", path, where)
        if "at_s" not in fields:
            raise TraceError(path, where, "a message must have at_s", "only message_bytes")
        size = _size(fields["message_bytes"], "message_bytes", path, where)
        return Message(_seconds(fields["at_s"], "at_s", path, where), size)
    for key in _REQUIRED:
        if key not in fields:
            raise TraceError(path, where, f"a page must have {key}", f"only {', '.join(map(str, fields)) or 'nothing'}")
    _only(fields, _OF_PAGE, "a page", path, where)
    return _page(fields, path, where)


def _check_order(record: Page | Message, latest: dict[str, float], path: str | PathLike[str], where: str) -> None:
    """Refuse a page or a message that is earlier than the one of its kind before it."""
    if isinstance(record, Page):
        kind, name, moment = "page", "issue_s", record.issue_s
    else:
        kind, name, moment = "message", "at_s", record.at_s
    if moment is None:
        return
    if moment < latest.get(kind, 0.0):
        raise TraceError(path, where, f"{name} must not run backwards (the {kind} before has {latest[kind]})", moment)
    latest[kind] = moment


def _only(fields: dict[Any, object], known: frozenset[str], what: str, path: str | PathLike[str], where: str) -> None:
    for key in fields:
        if key not in known:
            raise TraceError(path, where, f"{what} has only the fields {', '.join(sorted(known))}", key)


def _page(fields: dict[Any, Any], path: str | PathLike[str], where: str) -> Page:
    name = fields["page"]
    if not isinstance(name, str) or not name:
        raise TraceError(path, where, "page must be a name", name)
    objects = fields.get("objects", [])
    if not isinstance(objects, list) or len(objects) > _MAX_OBJECTS:
        rule = f"objects must be a list of at most {_MAX_OBJECTS} pairs [request, reply]"
        raise TraceError(path, where, rule, type(objects).__name__ if not isinstance(objects, list) else len(objects))
    pairs = []
    for pair in objects:
        if not isinstance(pair, list) or len(pair) != 2:
            raise TraceError(path, where, "an object must be a pair [request bytes, reply bytes]", pair)
        pairs.append((_size(pair[0], "request", path, where), _size(pair[1], "reply", path, where, least=0)))
    waits = fields.get("waits_s", [])
    if not isinstance(waits, list) or len(waits) not in (0, 1 + len(pairs)):
        rule = f"waits_s must be a list of one wait an exchange ({1 + len(pairs)})"
        raise TraceError(path, where, rule, len(waits) if isinstance(waits, list) else type(waits).__name__)
    issue, deadline = fields.get("issue_s"), fields.get("deadline_s")
    return Page(
        page=name,
        request_bytes=_size(fields["request_bytes"], "request_bytes", path, where),
        reply_bytes=_size(fields["reply_bytes"], "reply_bytes", path, where, least=0),
        objects=tuple(pairs),
        think_s=_seconds(fields.get("think_s", 0.0), "think_s", path, where),
        issue_s=None if issue is None else _seconds(issue, "issue_s", path, where),
        waits_s=tuple(nan if wait is None else _seconds(wait, "a wait", path, where) for wait in waits),
        deadline_s=None if deadline is None else _seconds(deadline, "deadline_s", path, where),
    )


def _size(value: object, name: str, path: str | PathLike[str], where: str, least: int = 1) -> int:
    if type(value) is not int or not least <= value <= MAX_REPLY_BYTES:
        raise TraceError(path, where, f"{name} must be a whole number in [{least}, {MAX_REPLY_BYTES}]", value)
    return value


def _seconds(value: object, name: str, path: str | PathLike[str], where: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1e12 or not isfinite(value):  # type: ignore[operator, arg-type]
        raise TraceError(path, where, f"{name} must be a number of seconds in [0, 1e12]", value)
    return float(value)  # type: ignore[arg-type]


_LINE = re.compile(rb'(\xef\xbb\xbf)?\s*(\[\s*)?(\{[^{}]*"(page|message_bytes|round_trip_s)"|\[?\s*\]|$)')

FORMATS = (
    Format(
        name="workload",
        written="*.jsonl",
        meaning="a workload of pages and messages, one JSON object a line",
        source="lpsm pages and lpsm generate write it",
        example="lpsm simulate pages.jsonl --policy bsd:1",
        recognises=lambda head: _LINE.match(head) is not None,
    ),
)
