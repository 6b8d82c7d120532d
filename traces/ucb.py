"""UC Berkeley Home IP traces (1996): the binary records and the text that `showtrace` prints of them.

A binary record is 60 bytes, big-endian, and the request line: three times
(request, first and last byte of the reply, each in seconds and microseconds),
client address and port, server address and port, two bytes of header flags,
the If-Modified-Since, Expires and Last-Modified dates, the lengths of reply
header and body, and the length of the request line.  All ones means that the
monitor did not see the value.  Records are sorted by *completion*, slightly
out of order; see `traces.grouping` for the re-ordering.  In the text form a
record is a line and microseconds are printed without padding.

The time that the server took is from the request to the first byte of the reply, less the round trip of the
simulator's network (`traces.waits`), because the records tell none.

Left out by `batches`, and counted: records without a request time or a body
length.  A reply whose end was not seen ends where it was last seen.

Source: S. D. Gribble, UC Berkeley Home IP HTTP Traces, July 1997, the Internet Traffic Archive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from traces.errors import Place, RuleError
from traces.files import Stream, lines
from traces.formats import Format
from traces.records import REQUEST_DTYPE, UNKNOWN_REQUEST_BYTES, UNKNOWN_WAIT_US, Batch, Report
from traces.waits import ROUND_TRIP_US

__all__ = ["FORMATS", "MAX_URL_BYTES", "RECORD_DTYPE", "UNKNOWN", "Records", "batches", "binary", "text"]

MAX_URL_BYTES = 4096
"""Longest request line that is believed; the traces hold hashes of some forty bytes."""

UNKNOWN = 0xFFFF_FFFF

_TIMES = ("request_s", "request_us", "first_s", "first_us", "last_s", "last_us")
_REST = ("if_modified_since", "expires", "last_modified", "header_bytes", "body_bytes")
RECORD_DTYPE = np.dtype(
    [
        *((name, ">u4") for name in _TIMES),
        *(("client", ">u4"), ("client_port", ">u2"), ("server", ">u4"), ("server_port", ">u2")),
        *(("client_header", "u1"), ("server_header", "u1")),
        *((name, ">u4") for name in _REST),
        ("url_bytes", ">u2"),
    ]
)
_HEAD = RECORD_DTYPE.itemsize
_PIECE_BYTES = 1 << 21
_LINES_A_BATCH = 1 << 14
_MAX_LINE_BYTES = 300 + MAX_URL_BYTES


class Records(NamedTuple):
    """Records as they stand in the trace: the fixed fields, and where in `text` their request lines begin."""

    columns: NDArray[np.void]
    url_at: NDArray[np.int64]
    text: bytes


def binary(
    stream: Stream, path: str | PathLike[str], report: Report, *, skip_damaged: bool = False
) -> Iterator[Records]:
    """Read binary records, some tens of thousands at a time, in constant memory.

    Raises
    ------
    TraceError
        For a record that is cut, an impossible length of the request line, or times that cannot be; with
        `skip_damaged` impossible records are counted and left out, and reading ends where the framing is lost.
    """
    place = Place(path, report if skip_damaged else None)
    base, data, piece = 0, b"", b"\0"
    while piece:
        piece = stream.read(_PIECE_BYTES)
        data += piece
        offsets, end = _frames(data)
        if len(offsets):
            # every byte is the start of a possible 60-byte item; taking some of them copies whole items
            items = np.ndarray((len(data) - _HEAD + 1,), np.dtype((np.void, _HEAD)), data, strides=(1,))
            columns: NDArray[np.void] = items[offsets].view(RECORD_DTYPE)
            lengths = columns["url_bytes"]
            impossible = (lengths > MAX_URL_BYTES) | (lengths == 0)
            framed = int(np.argmax(impossible)) if impossible.any() else len(columns)
            yield from _sound(Records(columns[:framed], offsets[:framed] + _HEAD, data), base, place, report)
            if framed < len(offsets):
                end = int(offsets[framed])
        with place.at("byte", base + end):
            if len(data) - end >= _HEAD:
                length = int.from_bytes(data[end + _HEAD - 2 : end + _HEAD], "big")
                if not 1 <= length <= MAX_URL_BYTES:
                    raise RuleError(f"the length of the request line must lie in [1, {MAX_URL_BYTES}]", length)
            base, data = base + end, data[end:]
            if data and not piece:
                raise RuleError("a record must be complete", f"{len(data)} bytes of one")
            continue
        return  # damage that was counted


def text(stream: Stream, path: str | PathLike[str], report: Report, *, skip_damaged: bool = False) -> Iterator[Records]:
    """Read the text form; see `binary`."""
    place = Place(path, report if skip_damaged else None)
    numbered = lines(stream, _MAX_LINE_BYTES, path)
    while some := list(islice(numbered, _LINES_A_BATCH)):
        rows: list[tuple[int, ...]] = []
        numbers: list[int] = []
        urls: list[bytes] = []
        for number, line in some:
            with place.at("line", number):
                row, url = _fields(line)
                rows.append(row)
                urls.append(url)
                numbers.append(number)
        ends = np.cumsum([0, *map(len, urls)])[:-1]
        found = Records(np.array(rows, dtype=RECORD_DTYPE), ends, b"".join(urls))
        yield from _sound(found, np.array(numbers, dtype=np.int64), place, report)


def batches(records: Iterator[Records], report: Report) -> Iterator[Batch]:
    """Turn records into batches of requests; those without a request time or a size are counted and left out."""
    for chunk in records:
        fixed = chunk.columns
        known = (fixed["request_s"] != UNKNOWN) & (fixed["body_bytes"] != UNKNOWN)
        url_at = chunk.url_at
        if not known.all():
            report.count("without_request_time", int((fixed["request_s"] == UNKNOWN).sum()))
            unsized = (fixed["request_s"] != UNKNOWN) & (fixed["body_bytes"] == UNKNOWN)
            report.count("without_size", int(unsized.sum()))
            fixed, url_at = fixed[known], url_at[known]
        columns = np.zeros(len(fixed), dtype=REQUEST_DTYPE)
        start, first, last = (_microseconds(fixed, name) for name in ("request", "first", "last"))
        header = fixed["header_bytes"].astype(np.int64)
        header[header == UNKNOWN] = 0
        report.count("without_end", int((last < 0).sum()))
        columns["start_us"] = start
        columns["end_us"] = np.maximum(np.maximum(start, first), last)
        columns["request_bytes"] = UNKNOWN_REQUEST_BYTES
        columns["reply_bytes"] = header + fixed["body_bytes"]
        columns["client"] = fixed["client"]
        columns["server"] = (fixed["server"].astype(np.uint64) << np.uint64(16)) | fixed["server_port"]
        waits = np.where(first < 0, UNKNOWN_WAIT_US, np.maximum(first - start - ROUND_TRIP_US, 0))
        columns["wait_us"] = waits
        columns["connection"] = columns["sent_us"] = columns["first_us"] = -1
        report.waits_us.extend(waits[waits >= 0])
        columns["url_at"] = url_at
        columns["url_bytes"] = fixed["url_bytes"]
        report.count("requests", len(columns))
        if len(columns):
            yield Batch(columns, chunk.text, _dotted, _endpoint)


def _frames(data: bytes) -> tuple[NDArray[np.int64], int]:
    """Return where the whole records of a buffer begin, and where the first that is not whole does."""
    offsets: list[int] = []
    append = offsets.append
    at, size = 0, len(data)
    last = size - _HEAD
    while at <= last:
        after = at + 60 + (data[at + 58] << 8 | data[at + 59])
        if after > size:
            break
        append(at)
        at = after
    return np.array(offsets, dtype=np.int64), at


def _microseconds(fixed: NDArray[np.void], name: str) -> NDArray[np.int64]:
    """Return a time in microseconds, -1 where it is unknown."""
    seconds = fixed[f"{name}_s"].astype(np.int64)
    moments: NDArray[np.int64] = np.where(seconds == UNKNOWN, -1, seconds * 1_000_000 + fixed[f"{name}_us"])
    return moments


def _sound(records: Records, places: int | NDArray[np.int64], place: Place, report: Report) -> Iterator[Records]:
    """Yield the records whose times can be, counted; the first that cannot is an error unless damage is counted.

    `places` are the numbers of their lines, or where the bytes begin in which they stand.
    """
    fixed = records.columns
    start, first, last = (_microseconds(fixed, name) for name in ("request", "first", "last"))
    rules: list[tuple[NDArray[np.bool_], str, NDArray[np.int64], str]] = []
    for name, moment in (("request", start), ("first", first), ("last", last)):
        micro = fixed[f"{name}_us"].astype(np.int64)
        rule = f"{name} microseconds must be below 1000000"
        rules.append(((micro >= 1_000_000) & (moment >= 0), rule, micro, ""))
    for name, moment in (("first", first), ("last", last)):
        early = (start >= 0) & (moment >= 0) & (moment < start)
        rules.append((early, f"the {name} byte of the reply must not precede the request", moment - start, " us"))
    broken = np.logical_or.reduce([bad for bad, *_ in rules])
    for at in np.flatnonzero(broken).tolist():
        unit, number = ("line", places[at]) if not isinstance(places, int) else ("byte", places + records.url_at[at])
        with place.at(unit, int(number) - _HEAD * isinstance(places, int)):
            rule, values, of_unit = next((rule, values, unit) for bad, rule, values, unit in rules if bad[at])
            raise RuleError(rule, f"{values[at]}{of_unit}")
    if not broken.all():
        report.count("records", len(fixed) - int(broken.sum()))
        yield Records(fixed[~broken], records.url_at[~broken], records.text) if broken.any() else records


_MOMENT, _END = rb"(\d{1,10}):(\d{1,10}) ", rb"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}):(\d{1,5}) "
_LINE = re.compile(
    3 * _MOMENT + 2 * _END + 2 * rb"(\d{1,3}) " + 5 * rb"(\d{1,10}) " + rb"(\d{1,5}) (.+)",
    re.DOTALL,
)


def _fields(line: bytes) -> tuple[tuple[int, ...], bytes]:
    match = _LINE.fullmatch(line.removesuffix(b"\n"))
    if match is None:
        rule = "a line must hold three times, two addresses, eight numbers and a request line"
        raise RuleError(rule, line.decode("latin-1"))
    numbers = [int(part) for part in match.groups()[:-1]]
    url = match[match.lastindex or 0]
    if url.endswith(b"\r") and numbers[-1] == len(url) - 1:  # the end of a line as on Windows
        url = url[:-1]
    client, server = numbers[6:10], numbers[11:15]
    row = (*numbers[:6], _address(client), numbers[10], _address(server), *numbers[15:])
    for name, value in zip(RECORD_DTYPE.names or (), row, strict=True):
        largest = np.iinfo(RECORD_DTYPE[name]).max
        if value > largest:
            raise RuleError(f"{name} must be at most {largest}", value)
    if max(*client, *server) > 255:
        raise RuleError("a part of an address must be at most 255", max(*client, *server))
    if numbers[-1] != len(url):
        rule = f"the request line must be as long as its length field says ({numbers[-1]} bytes)"
        raise RuleError(rule, f"{len(url)} bytes")
    return row, url


def _address(parts: list[int]) -> int:
    return parts[0] << 24 | parts[1] << 16 | parts[2] << 8 | parts[3]


@lru_cache(maxsize=1 << 15)
def _dotted(address: int) -> str:
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


@lru_cache(maxsize=1 << 15)
def _endpoint(key: int) -> str:
    return f"{_dotted(key >> 16)}:{key & 0xFFFF}"


_SHOWTRACE = re.compile(rb"\d+:\d+ \d+:\d+ \d+:\d+ ")


def _recognises(head: bytes) -> bool:
    """Tell the first record: microseconds below a million (or unknown), the request seen after 1990."""
    times = [int.from_bytes(head[at : at + 4], "big") for at in range(0, 24, 4)]
    likely = all(micro < 1_000_000 or micro == UNKNOWN for micro in times[1::2])
    return b"\0" in head and len(head) >= 24 and likely and times[0] > 631_152_000


def _reader(records: Callable[..., Iterator[Records]]) -> Callable[..., Iterator[Batch]]:
    """Return what reads requests by way of records."""

    def read(
        stream: Stream, path: str | PathLike[str], report: Report, *, skip_damaged: bool = False
    ) -> Iterator[Batch]:
        return batches(records(stream, path, report, skip_damaged=skip_damaged), report)

    return read


_SOURCE = "S. D. Gribble, UC Berkeley Home IP HTTP Traces, 1997; the Internet Traffic Archive"
FORMATS = (
    Format(
        name="showtrace",
        written="*.txt",
        meaning="UC Berkeley Home IP, as showtrace prints it",
        source=_SOURCE,
        example="lpsm pages UCB-home-IP.txt --out pages.jsonl",
        recognises=lambda head: _SHOWTRACE.match(head) is not None,
        batches=_reader(text),
        interleaved=True,
    ),
    Format(
        name="ucb",
        written="UCB-home-IP-*.tr, *.tr.gz",
        meaning="UC Berkeley Home IP, binary",
        source=_SOURCE,
        example="lpsm pages UCB-home-IP-846890339-847313219.tr.gz --out pages.jsonl",
        recognises=_recognises,
        batches=_reader(binary),
        interleaved=True,
    ),
)
