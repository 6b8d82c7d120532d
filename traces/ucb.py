"""UC Berkeley Home IP traces (1996): binary records.

A record is 60 bytes, big-endian, and the request line: three times (request, first and last byte of the reply, each in
seconds and microseconds), client address and port, server address and port, two bytes of header flags, the
If-Modified-Since, Expires and Last-Modified dates, the lengths of reply header and body, and the length of the request
line.  All ones means that the monitor did not see the value.  Records are sorted by *completion*, slightly out of
order; see `traces.grouping` for the re-ordering.

The time that the server took is from the request to the first byte of the reply, less the round trip of the
simulator's network (`traces.server_times`), because the records tell none.

Left out by `batches`, and counted: records without a request time or a body
length.  A reply whose end was not seen ends where it was last seen.

Source: S. D. Gribble, UC Berkeley Home IP HTTP Traces, July 1997, the Internet Traffic Archive.
"""

from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv4Address
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from traces.errors import RuleError
from traces.files import Source
from traces.records import UNKNOWN_WAIT_US, Batch
from traces.server_times import ROUND_TRIP_US

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
Ints = NDArray[np.int64]
_PIECE_BYTES = 1 << 21


class Records(NamedTuple):
    """Records as they stand in the trace: the fixed fields, and where in `text` their request lines begin."""

    columns: NDArray[np.void]
    url_at: Ints
    text: bytes
    times_us: Ints  #: Of request, first and last byte, shape (3, n); -1 where it is unknown.


def binary(source: Source) -> Iterator[Records]:
    """Read records, some tens of thousands at a time, in constant memory; where their framing is lost, reading ends."""
    base, data, piece = 0, b"", b"\0"
    while piece:
        piece = source.stream.read(_PIECE_BYTES)
        data += piece
        offsets, end = _frames(data)
        lengths = np.diff(offsets, append=end) - _HEAD
        for place in np.flatnonzero((lengths > MAX_URL_BYTES) | (lengths == 0))[:1].tolist():
            offsets, end = offsets[:place], int(offsets[place])
        if len(offsets):
            # every byte is the start of a possible 60-byte item; taking some of them copies whole items
            items = np.ndarray((len(data) - _HEAD + 1,), np.dtype((np.void, _HEAD)), data, strides=(1,))
            fixed = items[offsets].view(RECORD_DTYPE)
            seconds, micros = (
                np.array([fixed[f"{name}_{unit}"] for name in ("request", "first", "last")], np.int64)
                for unit in ("s", "us")
            )
            times_us = np.where(seconds == UNKNOWN, -1, seconds * 1_000_000 + micros)
            yield from _sound(Records(fixed, offsets + _HEAD, data, times_us), micros, base + offsets, source)
        length = int.from_bytes(data[end + _HEAD - 2 : end + _HEAD], "big") if len(data) - end >= _HEAD else 1
        base, data = base + end, data[end:]
        if not 1 <= length <= MAX_URL_BYTES:
            rule = f"the length of the request line must lie in [1, {MAX_URL_BYTES}]"
            source.damaged(f"byte {base}", RuleError(rule, length))
            return
    if data:
        source.damaged(f"byte {base}", RuleError("a record must be complete", f"{len(data)} bytes of one"))


def batches(source: Source) -> Iterator[Batch]:
    """Read batches of requests; records without a request time or a size are counted and left out."""
    report = source.report
    for chunk in binary(source):
        fixed = chunk.columns
        timed, sized = fixed["request_s"] != UNKNOWN, fixed["body_bytes"] != UNKNOWN
        report.count("without_request_time", int((~timed).sum()))
        report.count("without_size", int((timed & ~sized).sum()))
        known = slice(None) if (timed & sized).all() else timed & sized
        fixed, (start, first, last) = fixed[known], chunk.times_us[:, known]
        waits = np.where(first < 0, UNKNOWN_WAIT_US, np.maximum(first - start - ROUND_TRIP_US, 0))
        header = fixed["header_bytes"].astype(np.int64)
        header[header == UNKNOWN] = 0
        columns = {
            "start_us": start, "end_us": np.maximum(np.maximum(start, first), last), "client": fixed["client"],
            "server": (fixed["server"].astype(np.uint64) << np.uint64(16)) | fixed["server_port"],
            "reply_bytes": header + fixed["body_bytes"], "wait_us": waits,
            "url_at": chunk.url_at[known], "url_bytes": fixed["url_bytes"],
        }  # fmt: skip
        report.count("without_end", int((last < 0).sum()))
        report.waits_us.extend(waits[waits >= 0])
        report.count("requests", len(fixed))
        if len(fixed):
            yield Batch(columns, chunk.text, _dotted, _endpoint)


def _frames(data: bytes) -> tuple[Ints, int]:
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


def _sound(records: Records, micros: Ints, places: Ints, source: Source) -> Iterator[Records]:
    """Yield the records whose times can be, counted; the first that cannot is an error unless damage is counted."""
    fixed, url_at, text, times_us = records
    # an unknown request is before everything
    whole = ((times_us < 0) | ((micros < 1_000_000) & (times_us >= times_us[0]))).all(axis=0)
    rule = "no byte of a reply may precede the request, and microseconds must be below 1000000"
    for at in np.flatnonzero(~whole).tolist():
        start, first, last = times_us[:, at]
        source.damaged(f"byte {places[at]}", RuleError(rule, f"{start}, {first} and {last} us"))
    if whole.any():
        source.report.count("records", int(whole.sum()))
        yield records if whole.all() else Records(fixed[whole], url_at[whole], text, times_us[:, whole])


@lru_cache(maxsize=1 << 15)
def _dotted(address: int) -> str:
    return str(IPv4Address(address))


@lru_cache(maxsize=1 << 15)
def _endpoint(key: int) -> str:
    return f"{_dotted(key >> 16)}:{key & 0xFFFF}"


def recognises(head: bytes) -> bool:
    """Tell the first record: microseconds below a million (or unknown), the request seen after 1990."""
    times = np.frombuffer(head[:24].ljust(24), ">u4").tolist()
    likely = all(micro < 1_000_000 or micro == UNKNOWN for micro in times[1::2])
    return b"\0" in head and len(head) >= 24 and likely and times[0] > 631_152_000
