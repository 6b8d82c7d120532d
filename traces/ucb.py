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
from os import PathLike
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from traces.errors import TraceError
from traces.files import read_line
from traces.formats import Format
from traces.records import REQUEST_DTYPE, UNKNOWN_REQUEST_BYTES, UNKNOWN_WAIT_US, Batch, Report
from traces.waits import ROUND_TRIP_US

__all__ = [
    "FORMATS",
    "MAX_URL_BYTES",
    "RECORD_DTYPE",
    "UNKNOWN",
    "Records",
    "batches",
    "binary",
    "lines",
    "pack",
    "showtrace",
]

MAX_URL_BYTES = 4096
"""Longest request line that is believed; the traces hold hashes of some forty bytes."""

UNKNOWN = 0xFFFF_FFFF

RECORD_DTYPE = np.dtype(
    [
        ("request_s", ">u4"),
        ("request_us", ">u4"),
        ("first_s", ">u4"),
        ("first_us", ">u4"),
        ("last_s", ">u4"),
        ("last_us", ">u4"),
        ("client", ">u4"),
        ("client_port", ">u2"),
        ("server", ">u4"),
        ("server_port", ">u2"),
        ("client_header", "u1"),
        ("server_header", "u1"),
        ("if_modified_since", ">u4"),
        ("expires", ">u4"),
        ("last_modified", ">u4"),
        ("header_bytes", ">u4"),
        ("body_bytes", ">u4"),
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
    stream: BinaryIO, path: str | PathLike[str], report: Report, *, skip_damaged: bool = False
) -> Iterator[Records]:
    """Read binary records, some tens of thousands at a time, in constant memory.

    Raises
    ------
    TraceError
        For a record that is cut, an impossible length of the request line, or times that cannot be; with
        `skip_damaged` impossible records are counted and left out, and reading ends where the framing is lost.
    """
    base, data = 0, b""
    while True:
        piece = stream.read(_PIECE_BYTES)
        data += piece
        offsets, end = _frames(data)
        if len(offsets):
            # every byte is the start of a possible 60-byte item; taking some of them copies whole items
            items = np.ndarray((len(data) - _HEAD + 1,), np.dtype((np.void, _HEAD)), data, strides=(1,))
            columns: NDArray[np.void] = items[offsets].view(RECORD_DTYPE)
            lengths = columns["url_bytes"]
            framed = int(np.argmax(lengths > MAX_URL_BYTES)) if (lengths > MAX_URL_BYTES).any() else len(columns)
            framed = min(framed, int(np.argmin(lengths)) if not lengths.all() else framed)
            columns, starts = columns[:framed], offsets[:framed]
            sound = _sound(columns, base + starts, "byte", path, report, skip_damaged)
            if sound is not None:
                columns, starts = columns[sound], starts[sound]
            report.count("records", len(columns))
            if len(columns):
                yield Records(columns, starts + _HEAD, data)
            if framed < len(offsets):
                end = int(offsets[framed])
        if len(data) - end >= _HEAD:
            length = int.from_bytes(data[end + _HEAD - 2 : end + _HEAD], "big")
            if not 1 <= length <= MAX_URL_BYTES:
                if skip_damaged:
                    report.count("damaged")
                    return
                rule = f"the length of the request line must lie in [1, {MAX_URL_BYTES}]"
                raise TraceError(path, f"byte {base + end}", rule, length)
        base, data = base + end, data[end:]
        if not piece:
            if data:
                if skip_damaged:
                    report.count("damaged")
                    return
                raise TraceError(path, f"byte {base}", "a record must be complete", f"{len(data)} bytes of one")
            return


def lines(
    stream: BinaryIO, path: str | PathLike[str], report: Report, *, skip_damaged: bool = False
) -> Iterator[Records]:
    """Read the text form; see `binary`."""
    number = 0
    while True:
        rows: list[tuple[int, ...]] = []
        numbers: list[int] = []
        text = bytearray()
        starts: list[int] = []
        while len(rows) < _LINES_A_BATCH and (line := read_line(stream, _MAX_LINE_BYTES, path, number + 1)):
            number += 1
            try:
                row, url = _fields(line, path, number)
            except TraceError:
                if not skip_damaged:
                    raise
                report.count("damaged")
                continue
            rows.append(row)
            numbers.append(number)
            starts.append(len(text))
            text += url
        if not rows:
            return
        columns: NDArray[np.void] = np.array(rows, dtype=RECORD_DTYPE)
        url_at = np.array(starts, dtype=np.int64)
        sound = _sound(columns, np.array(numbers), "line", path, report, skip_damaged)
        if sound is not None:
            columns, url_at = columns[sound], url_at[sound]
        report.count("records", len(columns))
        yield Records(columns, url_at, bytes(text))


def showtrace(records: Records) -> Iterator[str]:
    """Yield the line that `showtrace` prints of each record, without its end."""
    times = ("request_s", "request_us", "first_s", "first_us", "last_s", "last_us")
    for row, at in zip(records.columns, records.url_at.tolist(), strict=True):
        moments = [int(row[name]) for name in times]
        dates = (int(row[name]) for name in RECORD_DTYPE.names[10:])  # type: ignore[index]
        url = records.text[at : at + int(row["url_bytes"])].decode("latin-1")
        yield " ".join(
            (
                *(f"{second}:{micro}" for second, micro in zip(moments[::2], moments[1::2], strict=True)),
                f"{_dotted(int(row['client']))}:{row['client_port']}",
                f"{_dotted(int(row['server']))}:{row['server_port']}",
                *map(str, dates),
                url,
            )
        )


def pack(records: Records) -> bytes:
    """Return the binary form of some records."""
    urls = records.columns["url_bytes"].tolist()
    return b"".join(
        row.tobytes() + records.text[at : at + size]
        for row, at, size in zip(records.columns, records.url_at.tolist(), urls, strict=True)
    )


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


def _sound(
    fixed: NDArray[np.void],
    places: NDArray[np.int64],
    unit: str,
    path: str | PathLike[str],
    report: Report,
    skip_damaged: bool,
) -> NDArray[np.bool_] | None:
    """Check the times of records; None if all are sound, else which are, or an error at the first that is not."""
    start, first, last = (_microseconds(fixed, name) for name in ("request", "first", "last"))
    rules: list[tuple[NDArray[np.bool_], str, NDArray[np.int64]]] = []
    for name, moment in (("request", start), ("first", first), ("last", last)):
        micro = fixed[f"{name}_us"].astype(np.int64)
        rules.append(((micro >= 1_000_000) & (moment >= 0), f"{name} microseconds must be below 1000000", micro))
    seen = start >= 0
    early = "must not precede the request"
    rules.append((seen & (first >= 0) & (first < start), f"the first byte of the reply {early}", first - start))
    rules.append((seen & (last >= 0) & (last < start), f"the last byte of the reply {early}", last - start))
    broken = np.zeros(len(fixed), dtype=np.bool_)
    for bad, _, _ in rules:
        broken |= bad
    if not broken.any():
        return None
    if not skip_damaged:
        at = int(np.argmax(broken))
        for bad, rule, values in rules:
            if bad[at]:
                unit_of = " us" if "precede" in rule else ""
                raise TraceError(path, f"{unit} {places[at]}", rule, f"{values[at]}{unit_of}")
    report.count("damaged", int(broken.sum()))
    return ~broken


_LINE = re.compile(
    rb"(\d{1,10}):(\d{1,10}) (\d{1,10}):(\d{1,10}) (\d{1,10}):(\d{1,10}) "
    rb"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}):(\d{1,5}) (\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}):(\d{1,5}) "
    rb"(\d{1,3}) (\d{1,3}) (\d{1,10}) (\d{1,10}) (\d{1,10}) (\d{1,10}) (\d{1,10}) (\d{1,5}) (.+)",
    re.DOTALL,
)


def _fields(line: bytes, path: str | PathLike[str], number: int) -> tuple[tuple[int, ...], bytes]:
    where = f"line {number}"
    match = _LINE.fullmatch(line.removesuffix(b"\n"))
    if match is None:
        rule = "a line must hold three times, two addresses, eight numbers and a request line"
        raise TraceError(path, where, rule, line.decode("latin-1"))
    numbers = [int(part) for part in match.groups()[:-1]]
    url = match[match.lastindex or 0]
    if url.endswith(b"\r") and numbers[-1] == len(url) - 1:  # the end of a line as on Windows
        url = url[:-1]
    client, server = numbers[6:10], numbers[11:15]
    row = (*numbers[:6], _address(client), numbers[10], _address(server), *numbers[15:])
    for name, value in zip(RECORD_DTYPE.names or (), row, strict=True):
        largest = np.iinfo(RECORD_DTYPE[name]).max
        if value > largest:
            raise TraceError(path, where, f"{name} must be at most {largest}", value)
    if max(*client, *server) > 255:
        raise TraceError(path, where, "a part of an address must be at most 255", max(*client, *server))
    if numbers[-1] != len(url):
        rule = f"the request line must be as long as its length field says ({numbers[-1]} bytes)"
        raise TraceError(path, where, rule, f"{len(url)} bytes")
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
        stream: BinaryIO, path: str | PathLike[str], report: Report, *, skip_damaged: bool = False
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
        batches=_reader(lines),
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
