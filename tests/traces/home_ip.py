"""Home IP records made to measure, and their file."""

import numpy as np

from traces import ucb


def records(n, start_s=846_890_000, step_us=100_000, clients=20, url=b"GET 1234567..gif HTTP/1.0"):
    """Return Home IP records of `n` requests, each 50 ms long, by `clients` in turn."""
    columns = np.zeros(n, ucb.RECORD_DTYPE)
    moment = start_s * 1_000_000 + np.arange(n, dtype=np.int64) * step_us
    times_us = moment + np.array([[0], [20_000], [50_000]])
    for name, of in zip(("request", "first", "last"), times_us, strict=True):
        columns[f"{name}_s"], columns[f"{name}_us"] = np.divmod(of, 1_000_000)
    columns["client"] = 0x0A000000 + np.arange(n) % clients
    columns["server"] = 0xC0A80001
    columns["server_port"] = 80
    columns["header_bytes"] = 150
    columns["body_bytes"] = 1000 + np.arange(n) % 7
    columns["url_bytes"] = len(url)
    return ucb.Records(columns, np.arange(n, dtype=np.int64) * len(url), url * n, times_us)


def pack(made):
    """Return the binary form of some records."""
    rows = zip(made.columns, made.url_at.tolist(), made.columns["url_bytes"].tolist(), strict=True)
    return b"".join(row.tobytes() + made.text[at : at + size] for row, at, size in rows)
