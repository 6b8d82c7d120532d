"""Home IP records made to measure, and both forms of their file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traces import ucb


def records(n, start_s=846_890_000, step_us=100_000, clients=20, url=b"GET 1234567..gif HTTP/1.0"):
    """Return Home IP records of `n` requests, each 50 ms long, by `clients` in turn."""
    columns = np.zeros(n, dtype=ucb.RECORD_DTYPE)
    moment = start_s * 1_000_000 + np.arange(n, dtype=np.int64) * step_us
    for name, later in (("request", 0), ("first", 20_000), ("last", 50_000)):
        columns[f"{name}_s"] = (moment + later) // 1_000_000
        columns[f"{name}_us"] = (moment + later) % 1_000_000
    columns["client"] = 0x0A000000 + np.arange(n) % clients
    columns["client_port"] = 1024
    columns["server"] = 0xC0A80001
    columns["server_port"] = 80
    columns["header_bytes"] = 150
    columns["body_bytes"] = 1000 + np.arange(n) % 7
    columns["url_bytes"] = len(url)
    return ucb.Records(columns, np.arange(n, dtype=np.int64) * len(url), url * n)


def _rows(made: ucb.Records):
    urls = zip(made.url_at.tolist(), made.columns["url_bytes"].tolist(), strict=True)
    return zip(made.columns, (made.text[at : at + size] for at, size in urls), strict=True)


def pack(made: ucb.Records) -> bytes:
    """Return the binary form of some records."""
    return b"".join(row.tobytes() + url for row, url in _rows(made))


def showtrace(made: ucb.Records) -> Iterator[str]:
    """Yield the line that `showtrace` prints of each record, without its end."""
    for row, url in _rows(made):
        numbers = [int(number) for number in row]
        times = [f"{second}:{micro}" for second, micro in zip(numbers[0:6:2], numbers[1:6:2], strict=True)]
        ends = [f"{'.'.join(map(str, numbers[at].to_bytes(4, 'big')))}:{numbers[at + 1]}" for at in (6, 8)]
        yield " ".join((*times, *ends, *map(str, numbers[10:]), url.decode("latin-1")))
