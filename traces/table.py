"""A plain table of replies, for any traffic that has no reader of its own: time, bytes.

One reply a line, `time` in seconds and `bytes`, separated by a comma, a semicolon or a tab.  A first line may name the
columns, in any order: ``time`` (or ``time_s``) and ``bytes`` are needed, ``end`` (``end_s``), ``request_bytes``,
``client``, ``server`` and ``url`` may follow; without names the first two columns are taken.  A time may also be
written as in ISO 8601, and a number with a decimal comma where columns are not separated by commas.  A row of 0 request
bytes is a message that nobody asked for.  Lines are in the order of time, for each client.  Empty lines and lines that
begin with ``#`` are passed over.
"""

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from traces.errors import RuleError, TraceError
from traces.files import Source
from traces.records import BY_SUFFIX, MESSAGE, UNKNOWN_REQUEST_BYTES, Request, counting

_LONGEST_LINE_BYTES = 1 << 16
_MAX_BYTES = 1 << 40
_MAX_S = 1e11
_NAMES = {"time_s": "time", "start": "time", "start_s": "time", "end_s": "end", "size": "bytes", "reply_bytes": "bytes"}
_WIRESHARK = {"no.", "time", "source", "destination", "protocol", "length"}


def requests(source: Source) -> Iterator[Request]:
    """Read a table row by row, in constant memory (and one time a client)."""
    newest: dict[str, int] = {}
    columns: list[str] | None = None  # their names, once they are known
    delimiter, number = ",", 0

    def rows() -> Iterator[tuple[int, str]]:
        nonlocal columns, delimiter, number
        for number, line in source.lines(_LONGEST_LINE_BYTES):
            text = line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
            if not text or text.startswith("#"):
                continue
            if columns is None:
                delimiter = next((mark for mark in "\t;" if mark in text), ",")
                try:
                    columns, is_head = _named([name.strip().lower() for name in _cells(text, delimiter)])
                except RuleError as error:
                    raise error.at(source.path, f"line {number}") from None
                if is_head:
                    continue
            source.report.count("records")
            yield number, text

    def request(text: str) -> Request:
        cells, width = _cells(text, delimiter), len(columns or ())
        if len(cells) != width:
            rule = f"a row must have {width} {'cell' if width == 1 else 'cells'}, as the first line has"
            if delimiter == "," and len(cells) > width:
                rule += " (columns with decimal commas must be separated by semicolons or tabs)"
            raise RuleError(rule, text)
        found = _request(dict(zip(reversed(columns or []), reversed(cells), strict=True)))
        step_us = found.start_us - newest.get(found.client, found.start_us)
        if step_us < 0:
            raise RuleError("times must not run backwards", f"{step_us} us")
        newest[found.client] = found.start_us
        return found

    yield from counting(source.parsed(request, rows()), source.report)
    if not source.report["requests"]:
        raise TraceError(source.path, "", "a table must hold at least one reply", f"{number} lines")


def _named(cells: list[str]) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the first line has them."""
    if set(cells) >= _WIRESHARK:
        rule = "a table must hold replies, not packets: save the capture itself in Wireshark and give that"
        raise RuleError(rule, "Wireshark's list of packets")
    with suppress(ValueError):
        _seconds(cells[0])
        return ["time", "bytes", *map(str, range(2, len(cells)))][: len(cells)], False
    names = [_NAMES.get(name, name) for name in cells]
    for needed in ("time", "bytes"):
        if needed not in names:
            raise RuleError(f"the names of the columns must include {needed}", ", ".join(cells))
    return names, True


def _cells(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True), [""])
    except csv.Error as error:
        raise RuleError(f"a row must be separated by {delimiter!r} ({error})", text) from None


def _request(cells: dict[str, str]) -> Request:
    values = {name: cell.strip() for name, cell in cells.items()}
    if "bytes" not in values:
        raise RuleError("a row must have bytes", "1 cells")
    start_us = _microseconds(values["time"], "time")
    end_us = _microseconds(values["end"], "end") if values.get("end") else start_us
    if end_us < start_us:
        raise RuleError("end must not be before time", values["end"])
    size, asked = _bytes(values["bytes"], "bytes"), values.get("request_bytes")
    request_bytes = _bytes(asked, "request_bytes") if asked else UNKNOWN_REQUEST_BYTES
    kind = MESSAGE if request_bytes == 0 else BY_SUFFIX
    ends = values.get("client") or "client", values.get("server", "")
    return Request(*ends, start_us, end_us, request_bytes, size, values.get("url", ""), kind)


def _microseconds(text: str, name: str) -> int:
    try:
        value = _seconds(text)
    except (ValueError, OverflowError):
        value = float("nan")
    if not 0 <= value <= _MAX_S:
        rule = f"{name} must be a number of seconds in [0, 1e11] or a date and time as in ISO 8601 since 1970"
        raise RuleError(rule, text)
    return round(value * 1e6)


def _seconds(text: str) -> float:
    """Read a number of seconds, or a date and time as the seconds since 1970, or raise ValueError, OverflowError."""
    if text[4:5] == "-":
        moment = datetime.fromisoformat(text.upper())
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    return float(text.replace(",", "."))


def _bytes(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 15 and int(text) <= _MAX_BYTES):
        raise RuleError(f"{name} must be a whole number in [0, {_MAX_BYTES}]", text)
    return int(text)


_ROW = rb'[ \t]*"?(-?[0-9.]+(,\d+)?(e[+-]?\d+)?|\d{4}-\d\d-\d\d[^,;\t"]*)"?[ \t]*[,;\t]'
_FIRST_NAMES = rb'([^\n]*[,;\t])?[ \t]*"?(time|start)(_s)?"?[ \t\r]*([,;\t\n]|$)'
_TABLE = re.compile(rb"(%s|%s)" % (_ROW, _FIRST_NAMES), re.IGNORECASE)


def recognises(head: bytes) -> bool:
    """Tell a table by its first line that is neither empty nor a comment."""
    rows = (line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    first = next((row[:1024] for row in rows if row and not row.startswith(b"#")), b"")
    return b"\0" not in head and _TABLE.match(first) is not None
