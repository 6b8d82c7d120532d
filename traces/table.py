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
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from traces.errors import PathName, RuleError, TraceError, placed
from traces.files import Source, lines
from traces.records import (
    BY_SUFFIX,
    MAX_BYTES,
    MESSAGE,
    UNKNOWN_REQUEST_BYTES,
    Batch,
    Request,
    batched,
    counting,
    moment_us,
)  # fmt: skip

_LONGEST_LINE_BYTES = 1 << 16
_BLOCK_BYTES = 1 << 22
_BOM = b"\xef\xbb\xbf"
_ODD = {b'"': b'"', b" ": b" ", b"#": b"\n#", b"x": b"0x", b"X": b"0X"}  # what Arrow reads in another way, by a part
_MAX_S = 1e11
_NAMES = {"time_s": "time", "start": "time", "start_s": "time", "end_s": "end", "size": "bytes", "reply_bytes": "bytes"}
_KINDS = {
    "time": "float64", "bytes": "int64", "end": "float64", "request_bytes": "int64", "client": "string",
    "server": "string", "url": "string",
}  # fmt: skip
_WIRESHARK = {"no.", "time", "source", "destination", "protocol", "length"}


def batches(source: Source) -> Iterator[Batch]:
    """Read a table in constant memory (and one time a client), block after block.

    A block that is as most are is read by Arrow.  One that may break a rule, or has what Arrow reads in another way
    (quotes, blanks, dates, comments), is read row by row, which tells number and text of a line that is wrong.
    """
    newest, number, table, block, report = dict[str, int](), 0, None, b"", source.report
    for number, line in lines(source.stream, _LONGEST_LINE_BYTES, source.path):
        if text := _text(line):
            table = _Table.of(text, source.path, number)
            if not table.is_head:
                number, block = number - 1, line.removeprefix(_BOM)
            break
    while table is not None and (block := block + source.stream.read(_BLOCK_BYTES)):
        block += source.stream.readline(_LONGEST_LINE_BYTES + 1)
        whole = table.block(block, newest)
        if whole is None:
            rows = table.rows(source, block, number)
            yield from batched(counting(source.parsed(partial(table.request, newest), rows), report))
        else:
            report.count("records", len(whole))
            report.count("requests", len(whole))
            yield whole
        number, block = number + int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n"))), b""
    if not report["requests"]:
        raise TraceError(source.path, "", "a table must hold at least one reply", f"{number} lines")


def _text(line: bytes) -> str:
    """Return a line that is neither empty nor a comment; else nothing."""
    text = line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    return "" if text.startswith("#") else text


class _Table(NamedTuple):
    """How a table is written."""

    columns: list[str]
    delimiter: str
    is_head: bool  #: Whether the first line has the names.

    @classmethod
    def of(cls, text: str, path: PathName, number: int) -> Self:
        """Tell it by the first line."""
        delimiter = next((mark for mark in "\t;" if mark in text), ",")
        with placed(path, f"line {number}"):
            columns, is_head = _named([name.strip().lower() for name in _cells(text, delimiter)])
        return cls(columns, delimiter, is_head)

    def rows(self, source: Source, block: bytes, number: int) -> Iterator[tuple[int, str]]:
        """Yield the numbers and the texts of the rows of a block, before which there are so many lines."""
        for place, line in lines(BytesIO(block), _LONGEST_LINE_BYTES, source.path, number + 1):
            if text := _text(line):
                source.report.count("records")
                yield place, text

    def request(self, newest: dict[str, int], text: str) -> Request:
        """Read a row; `newest` has the latest time of each client."""
        cells, width = _cells(text, self.delimiter), len(self.columns)
        if len(cells) != width:
            rule = f"a row must have {width} {'cell' if width == 1 else 'cells'}, as the first line has"
            if self.delimiter == "," and len(cells) > width:
                rule += " (columns with decimal commas must be separated by semicolons or tabs)"
            raise RuleError(rule, text)
        found = _request(dict(zip(reversed(self.columns), reversed(cells), strict=True)))
        step_us = found.start_us - newest.get(found.client, found.start_us)
        if step_us < 0:
            raise RuleError("times must not run backwards", f"{step_us} us")
        newest[found.client] = found.start_us
        return found

    def block(self, block: bytes, newest: dict[str, int]) -> Batch | None:
        """Read a block by Arrow; None if a row of it may break a rule."""
        import pyarrow as pa
        from pyarrow import csv as arrow

        half = _LONGEST_LINE_BYTES // 2  # a line that is too long fills one such part of the block
        is_odd = any(block.find(b"\n", at, at + half) < 0 for at in range(0, len(block) - half, half))
        is_odd |= not block.isascii() or block.startswith(b"#") or (b"\t" in block and self.delimiter != "\t")
        is_odd |= b"\r" in block and block.count(b"\r") != block.count(b"\r\n")
        if is_odd or any(a in block and b in block for a, b in _ODD.items()):
            return None
        key = pa.dictionary(pa.int32(), pa.string())
        names = [name if name not in self.columns[:at] else f"{name} {at}" for at, name in enumerate(self.columns)]
        try:
            read = arrow.read_csv(
                pa.BufferReader(block), arrow.ReadOptions(column_names=names, block_size=len(block) + 1),
                arrow.ParseOptions(delimiter=self.delimiter, quote_char=False),
                arrow.ConvertOptions(
                    column_types=_KINDS | dict.fromkeys(("client", "server"), key), null_values=[""], check_utf8=False,
                    decimal_point="," if b"," in block and self.delimiter != "," else ".",
                    include_columns=[name for name in _KINDS if name in names],
                ),
            ).combine_chunks()  # fmt: skip
        except pa.ArrowInvalid:
            return None
        return _batch({name: read[name] for name in read.column_names}, newest)


def _batch(read: dict[str, Any], newest: dict[str, int]) -> Batch | None:
    """Return what Arrow has read as a batch; None if a row may break a rule."""
    from pyarrow import compute

    if not len(read["time"]):
        return None
    if "end" in read:
        read["end"] = compute.coalesce(read["end"], read["time"])
    if "request_bytes" in read:
        read["request_bytes"] = read["request_bytes"].fill_null(UNKNOWN_REQUEST_BYTES)
    columns: dict[str, NDArray[Any]] = {}
    for column, name, most in (
        ("start_us", "time", _MAX_S), ("end_us", "end", _MAX_S),
        ("reply_bytes", "bytes", MAX_BYTES), ("request_bytes", "request_bytes", MAX_BYTES),
    ):  # fmt: skip
        if name in read:
            values = read[name].to_numpy()
            if read[name].null_count or not 0 <= values.min() <= values.max() <= most:
                return None
            columns[column] = np.rint(values * 1e6).astype(np.int64) if most == _MAX_S else values
    start_us = columns["start_us"]
    if (columns.setdefault("end_us", start_us) < start_us).any():
        return None
    if "request_bytes" in read:
        columns["kind"] = np.where(columns["request_bytes"] > 0, BY_SUFFIX, MESSAGE)
    known = {"client": ["client"], "server": [""]}
    for name, [unknown] in known.items():
        if name in read:
            found = read[name].chunk(0)
            columns[name] = found.indices.to_numpy()
            known[name] = [one or unknown for one in found.dictionary.to_pylist()]
    names, client = known["client"], columns.get("client", np.zeros(len(start_us), np.int64))
    latest_us = np.array([newest.get(name, 0) for name in names])
    if (start_us[1:] < start_us[:-1]).any():  # then each client by itself
        order = np.argsort(client, kind="stable")
        start_us, client = start_us[order], client[order]
    are_backwards = (start_us[1:] < start_us[:-1]) & (client[1:] == client[:-1])
    if are_backwards.any() or (start_us < latest_us[client]).any() or len({*names}) < len(names):
        return None
    latest_us[client] = start_us  # the last of each
    newest.update(zip(names, latest_us.tolist(), strict=True))
    text = None
    if "url" in read:
        _, offsets, text = read["url"].chunk(0).buffers()
        at = np.frombuffer(offsets, np.int32)[: len(start_us) + 1]
        columns["url_at"], columns["url_bytes"] = at[:-1], np.diff(at)
    return Batch(columns, text.to_pybytes() if text else b"", names.__getitem__, known["server"].__getitem__)


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
    value = -1.0
    with suppress(ValueError, OverflowError):
        value = _seconds(text)
    if not 0 <= value <= _MAX_S:
        rule = f"{name} must be a number of seconds in [0, 1e11] or a date and time as in ISO 8601 since 1970"
        raise RuleError(rule, text)
    return round(value * 1e6)


def _seconds(text: str) -> float:
    """Read a number of seconds, or a date and time as the seconds since 1970, or raise ValueError, OverflowError."""
    return moment_us(text.upper()) / 1e6 if text[4:5] == "-" else float(text.replace(",", "."))


def _bytes(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text.lstrip("0")[:15] or 0) <= MAX_BYTES):
        raise RuleError(f"{name} must be a whole number in [0, {MAX_BYTES}]", text)
    return int(text)


_ROW = rb'[ \t]*"?(-?[0-9.]+(,\d+)?(e[+-]?\d+)?|\d{4}-\d\d-\d\d[^,;\t"]*)"?[ \t]*[,;\t]'
_FIRST_NAMES = rb'([^\n]*[,;\t])?[ \t]*"?(time|start)(_s)?"?[ \t\r]*([,;\t\n]|$)'
_TABLE = re.compile(rb"(%s|%s)" % (_ROW, _FIRST_NAMES), re.IGNORECASE)


def recognises(head: bytes) -> bool:
    """Tell a table by its first line that is neither empty nor a comment."""
    rows = (line.strip() for line in head.removeprefix(_BOM).split(b"\n"))
    first = next((row[:1024] for row in rows if row and not row.startswith(b"#")), b"")
    return b"\0" not in head and _TABLE.match(first) is not None
