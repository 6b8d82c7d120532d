"""Traces: Home IP records a second, plain and packed, beside the bare inflation; tables; drawn pages; peak memory.

Run ``python -m bench.traces [records]``.  Records differ from each other, as those of a real trace do, so that they
compress no better (about 3.4 times).  A table of three times as many rows is read beside polars, if that is installed.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np

import traces
from traces import ucb
from traces.files import open_trace

PIECE = 50_000


def make(path: Path, n_records: int, *, seed: int = 0) -> int:
    """Write a Home IP trace with plausible entropy; return its size unpacked."""
    rng = np.random.default_rng(seed)
    size = 0
    with path.open("wb") as file:
        for begin in range(0, n_records, PIECE):
            n = min(PIECE, n_records - begin)
            moment = 846_890_000_000_000 + (begin + np.arange(n)) * 150_000 + rng.integers(0, 150_000, n)
            first = moment + rng.integers(10_000, 2_000_000, n)
            last = first + rng.integers(0, 5_000_000, n)
            columns = np.zeros(n, dtype=ucb.RECORD_DTYPE)
            for name, value in (("request", moment), ("first", first), ("last", last)):
                columns[f"{name}_s"], columns[f"{name}_us"] = value // 1_000_000, value % 1_000_000
            columns["client"] = rng.integers(0, 8_000, n) * 7919
            columns["client_port"] = rng.integers(1024, 5000, n)
            columns["server"] = rng.integers(0, 40_000, n) * 104_729
            columns["server_port"] = 80
            columns["server_header"] = 8
            for name in ("if_modified_since", "expires", "last_modified"):
                columns[name] = ucb.UNKNOWN
            columns["header_bytes"] = rng.integers(100, 250, n)
            columns["body_bytes"] = np.minimum(rng.pareto(1.1, n) * 1000, 1e7).astype(np.int64)
            suffix = rng.integers(0, 2, n)
            urls = [
                b"GET %d..%s HTTP/1.0" % (key, (b"gif", b"html")[kind])
                for key, kind in zip(rng.integers(1 << 40, 1 << 62, n).tolist(), suffix.tolist(), strict=True)
            ]
            columns["url_bytes"] = [len(url) for url in urls]
            packed = b"".join(row.tobytes() + url for row, url in zip(columns, urls, strict=True))
            size += len(packed)
            file.write(packed)
    return size


def table(path: Path, n_rows: int, *, seed: int = 0) -> None:
    """Write a table of replies to some hundred clients."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        file.write("time,bytes,client,url\n")
        at_s = 0.0
        for begin in range(0, n_rows, PIECE):
            n = min(PIECE, n_rows - begin)
            times = at_s + np.cumsum(rng.random(n) * 0.1)
            at_s = times[-1]
            columns = times.tolist(), rng.integers(0, 100_000, n).tolist(), rng.integers(0, 500, n).tolist()
            file.writelines(f"{s:.6f},{size},c{who},/a/{size}.gif\n" for s, size, who in zip(*columns, strict=True))


def tables(folder: Path, n_rows: int) -> list[dict[str, object]]:
    """Reading a table: columns, beside polars; and the memory of a third of it and of all."""
    whole, third = folder / "whole.csv", folder / "third.csv"
    table(whole, n_rows)
    table(third, n_rows // 3)
    works: dict[str, Callable[[], object]] = {"columns": lambda: sum(len(batch) for batch in traces.batches(whole))}
    with suppress(ImportError):
        polars = import_module("polars")
        works["polars"] = lambda: polars.read_csv(whole)
    found = []
    for name, work in works.items():
        taken, processor = seconds(work), time.process_time()
        work()
        processor = time.process_time() - processor
        found.append({"what": f"table: {name}", "rows": n_rows, "s": round(taken, 2), "cpu_s": round(processor, 2)})
    peaks = {"mb_a_third": peak_mb(third, "columns"), "mb": peak_mb(whole, "columns")}
    return [*found, {"what": "table: peak memory", **{name: round(mb, 1) for name, mb in peaks.items()}}]


def drawn(n_pages: int) -> Iterator[dict[str, object]]:
    """Drawing pages, a tenth as many of today's, which are larger."""
    for web, n in (("1996", n_pages), ("2025", n_pages // 10)):
        start = time.process_time()
        traces.generate(n, 0, web)
        yield {"what": f"pages drawn, web {web}", "pages": n, "cpu_s": round(time.process_time() - start, 2)}


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least time of some repetitions."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_mb(path: Path, what: str) -> float:
    """Read a trace in a process of its own and return its peak resident memory."""
    code = (
        "import sys, traces\n"
        "path, what = sys.argv[1:]\n"
        "if what == 'columns':\n"
        "    n = sum(len(batch) for batch in traces.batches(path))\n"
        "elif what == 'tuples':\n"
        "    n = sum(1 for _ in traces.read(path))\n"
        "else:\n"
        "    n = sum(1 for _ in traces.iter_pages(traces.read(path)))\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path), what], check=True, capture_output=True, text=True)
    return float(done.stdout) / 1024


def rows(n_records: int = 1_000_000, *, memory: bool = True) -> list[dict[str, object]]:
    """Return one row a measurement."""
    found: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        found += [*drawn(n_records), *tables(Path(folder), 3 * n_records)]
        plain, packed = Path(folder, "trace"), Path(folder, "trace.gz")
        size = make(plain, n_records)
        packed.write_bytes(gzip.compress(plain.read_bytes(), 6))

        def drain(path: Path) -> None:
            with open_trace(path) as stream:
                while stream.read(1 << 21):
                    pass

        works: dict[str, Callable[[], object]] = {
            "inflating alone": lambda: drain(packed),
            "columns, gzip": lambda: sum(len(batch) for batch in traces.batches(packed)),
            "columns, plain": lambda: sum(len(batch) for batch in traces.batches(plain)),
            "tuples, plain": lambda: sum(1 for _ in traces.read(plain)),
        }
        for name, work in works.items():
            taken = seconds(work)
            found.append(
                {
                    "what": f"Home IP records: {name}",
                    "records_per_s": round(n_records / taken),
                    "mb_per_s": round(size / taken / 1e6),
                }
            )
        taken = seconds(lambda: sum(1 for _ in traces.iter_pages(traces.read(plain))), 1)
        found.append({"what": "Home IP records: pages, plain", "records_per_s": round(n_records / taken)})
        if memory:
            large = Path(folder, "large")
            make(large, 4 * n_records)
            found.extend(
                {
                    "what": f"peak memory, {what}",
                    "mb": round(peak_mb(plain, what), 1),
                    "mb_four_times_the_records": round(peak_mb(large, what), 1),
                }
                for what in ("columns", "tuples", "pages")
            )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=1_000_000)
    for row in rows(parser.parse_args().records):
        print(row)
