"""The workload file: one page a line, as JSON, in the order in which the pages are browsed.

A line is ``{"page": "w0", "issue_s": 1.0, "request_bytes": 433, "reply_bytes": 9319, "objects": [[369, 4665]],
"think_s": 40.1}``; `issue_s`, `objects` and `think_s` may be missing (no fixed time, none, 0).  A file that is
one JSON array of such objects is read as well.  Anything else in a file is an error that names the line:
a name that is not known may be a misspelt one, and a workload is never read in part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from math import isfinite
from os import PathLike
from typing import Any, BinaryIO

from traces.errors import TraceError
from traces.files import open_trace, read_line, replacing
from traces.records import Page

__all__ = ["MAX_REPLY_BYTES", "read_workload", "workload_line", "write_workload"]

MAX_REPLY_BYTES = 1 << 40
"""Largest request or reply that is believed, 1 TiB."""

_MAX_LINE_BYTES = 1 << 24
_MAX_ARRAY_BYTES = 1 << 27
_MAX_OBJECTS = 100_000
_REQUIRED = ("page", "request_bytes", "reply_bytes")
_KNOWN = frozenset((*_REQUIRED, "objects", "think_s", "issue_s"))


def read_workload(path: str | PathLike[str]) -> list[Page]:
    """Read the pages of a workload, plain or packed with gzip or xz.

    Returns
    -------
    list of Page
        At least one, in the order of the file.

    Raises
    ------
    TraceError
        If a line breaks a rule: path, line, rule and value are in the message.
    """
    pages = []
    earlier: float | None = None
    with open_trace(path) as stream:
        for where, fields in _records(stream, path):
            page = _page(fields, path, where)
            if page.issue_s is not None:
                if earlier is not None and page.issue_s < earlier:
                    rule = f"issue_s must not run backwards (the page before has {earlier})"
                    raise TraceError(path, where, rule, page.issue_s)
                earlier = page.issue_s
            pages.append(page)
    if not pages:
        raise TraceError(path, "", "a workload must hold at least one page", "none")
    return pages


def write_workload(path: str | PathLike[str], pages: Iterable[Page]) -> int:
    """Write pages one a line and return their number; the file is whole or untouched.

    Raises
    ------
    ValueError
        If there is no page, or one that could not be read back.
    """
    count = 0
    with replacing(path) as file:
        for page in pages:
            line = workload_line(page)
            _page(json.loads(line), path, f"line {count + 1}")
            file.write(line.encode())
            count += 1
        if not count:
            raise TraceError(path, "", "a workload must hold at least one page", "none")
    return count


def workload_line(page: Page) -> str:
    r"""Return the line of one page; equal pages give equal bytes.

    >>> workload_line(Page("a", 300, 500))
    '{"page": "a", "request_bytes": 300, "reply_bytes": 500, "objects": [], "think_s": 0.0}\n'
    """
    fields: dict[str, object] = {"page": page.page}
    if page.issue_s is not None:
        fields["issue_s"] = float(page.issue_s)
    fields["request_bytes"] = int(page.request_bytes)
    fields["reply_bytes"] = int(page.reply_bytes)
    fields["objects"] = [[int(request), int(reply)] for request, reply in page.objects]
    fields["think_s"] = float(page.think_s)
    return json.dumps(fields) + "\n"


def _records(stream: BinaryIO, path: str | PathLike[str]) -> Iterator[tuple[str, object]]:
    number = 0
    while line := read_line(stream, _MAX_LINE_BYTES, path, number + 1):
        number += 1
        text = line.strip()
        if not text:
            continue
        if number == 1 and text.startswith(b"["):
            rest = stream.read(_MAX_ARRAY_BYTES)
            if len(rest) == _MAX_ARRAY_BYTES:
                raise TraceError(
                    path, "", f"a JSON array must be shorter than {_MAX_ARRAY_BYTES} bytes", "a longer one"
                )
            array = _json(line + rest, path, "the JSON array")
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


def _page(fields: object, path: str | PathLike[str], where: str) -> Page:
    if not isinstance(fields, dict):
        raise TraceError(path, where, "a page must be a JSON object", fields)
    for key in _REQUIRED:
        if key not in fields:
            raise TraceError(path, where, f"a page must have {key}", f"only {', '.join(map(str, fields)) or 'nothing'}")
    for key in fields:
        if key not in _KNOWN:
            raise TraceError(path, where, f"a page has only the fields {', '.join(sorted(_KNOWN))}", key)
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
        pairs.append((_size(pair[0], "request", path, where), _size(pair[1], "reply", path, where)))
    issue = fields.get("issue_s")
    return Page(
        page=name,
        request_bytes=_size(fields["request_bytes"], "request_bytes", path, where),
        reply_bytes=_size(fields["reply_bytes"], "reply_bytes", path, where),
        objects=tuple(pairs),
        think_s=_seconds(fields.get("think_s", 0.0), "think_s", path, where),
        issue_s=None if issue is None else _seconds(issue, "issue_s", path, where),
    )


def _size(value: object, name: str, path: str | PathLike[str], where: str) -> int:
    if type(value) is not int or not 1 <= value <= MAX_REPLY_BYTES:
        raise TraceError(path, where, f"{name} must be a whole number in [1, {MAX_REPLY_BYTES}]", value)
    return value


def _seconds(value: object, name: str, path: str | PathLike[str], where: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1e12 or not isfinite(value):  # type: ignore[operator, arg-type]
        raise TraceError(path, where, f"{name} must be a number of seconds in [0, 1e12]", value)
    return float(value)  # type: ignore[arg-type]
