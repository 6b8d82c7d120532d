"""Small files that unpack to gigabytes, or nest without end: one line with the limit, soon, in little memory."""

from __future__ import annotations

import gzip
import lzma
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.experiments.program import PROGRAM

READ = """
import pathlib, sys, experiments.datasets
path, rows = sys.argv[1:]
assert len(experiments.datasets.read(pathlib.Path(path)).y) == int(rows)
"""
PIECE_BYTES = 1 << 26
MEASURE = """
import os, sys
nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=nowhere)
_, status, used = os.wait4(process, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss)
"""  # a small program, because the peak of a process begins with the memory of the one that starts it


class Ended(NamedTuple):
    """How a command ended: its status, what it said, processor time and the most memory it had."""

    status: int
    said: str
    seconds: float
    peak_mb: int


def run(*words: str | Path, program: list[str] = PROGRAM) -> Ended:
    with tempfile.TemporaryFile() as said:
        measured = subprocess.run(
            [sys.executable, "-S", "-c", MEASURE, *program, *map(str, words)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=said, check=True,
        )  # fmt: skip
        status, seconds, peak_kb = map(float, measured.stdout.split())
        said.seek(0)
        text = said.read().decode()
    return Ended(int(status), text, seconds, int(peak_kb) // 1024)


def repeated(path: Path, head: bytes, filler: bytes, n_bytes: int, pack: Callable[[bytes], bytes]) -> None:
    """Write a packed file of several members: a head, then filler up to so many bytes."""
    piece = filler * (PIECE_BYTES // len(filler))
    packed = pack(piece)
    with path.open("wb") as file:
        file.write(pack(head))
        for _ in range(n_bytes // len(piece)):
            file.write(packed)


def thin(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def hard(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


def members(path: Path, count: int) -> None:
    block = tarfile.TarInfo("../../con1.cs18.1").tobuf(tarfile.GNU_FORMAT)
    link = tarfile.TarInfo("con2.cs18.1")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    piece = (block + link.tobuf(tarfile.GNU_FORMAT)) * 5_000
    with path.open("wb") as file:
        for _ in range(count // 10_000):
            file.write(thin(piece))


def capture(length: int) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    return head + struct.pack("<IIII", 1, 0, length, length)


def array_header(n_bytes: int) -> bytes:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 1), }" % (n_bytes // 8)
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header


def arrays(path: Path, n_bytes: int) -> None:
    file = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with file, file.open("X.npy", "w", force_zip64=True) as entry:
        entry.write(array_header(n_bytes))
        for _ in range(n_bytes // PIECE_BYTES):
            entry.write(bytes(PIECE_BYTES))


def columns(path: Path, count: int) -> None:
    """Write as many rows of a number and of a long text as may be."""
    numbers = pa.array(np.zeros(count // 2))
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count // 2, dtype=np.int32)), pa.array(["x" * 10_000]))
    pq.write_table(pa.table({"a": numbers, "label": texts}), path, compression="zstd", store_schema=False)


LINE = b'cs18 791000000 5 "http://a/'
GIGABYTES = 10 << 30
BOMBS: dict[str, tuple[Callable[[Path], object], list[str], str, int]] = {
    "gzip of zeros": (lambda path: repeated(path, b"", bytes(1), GIGABYTES, thin), ["pages"], "known format", 200),
    "xz of zeros": (lambda path: repeated(path, b"", bytes(1), GIGABYTES, hard), ["pages"], "known format", 200),
    "zeros behind a session": (lambda path: repeated(path, LINE, bytes(1), GIGABYTES, thin), ["pages"],
                               "must not be longer than 65536 bytes", 200),
    "zeros behind a HAR": (lambda path: repeated(path, b'{"log": {', b" ", GIGABYTES, hard), ["pages"],
                           "must not exceed 134217728 bytes", 600),
    "a line of a gigabyte": (lambda path: repeated(path, b"time,bytes\n1,", b"1", 1 << 30, thin), ["pages"],
                             "must not be longer than 65536 bytes", 200),
    "a workload in a line": (lambda path: repeated(path, b'{"page": "', b"x", 1 << 30, thin), ["pages-of"],
                             "must not be longer than 16777216 bytes", 250),
    "nested JSON": (lambda path: path.write_bytes(b'{"log": {"entries": ' + b"[" * 100_000), ["pages"],
                    "must be whole JSON", 200),
    "a nested workload": (lambda path: path.write_bytes(b'{"page": ' + b"[" * 100_000), ["pages-of"],
                          "must be whole JSON", 200),
    "an archive of two million members": (lambda path: members(path, 2_000_000), ["pages"],
                                          "must have at most 131072 members", 200),
    "a packet of four gigabytes": (lambda path: path.write_bytes(capture(2**32 - 1)), ["pages"],
                                   "must be at most 1048576 bytes long", 200),
    "arrays of zeros": (lambda path: arrays(path, 2 << 30), ["label"], "where at most 536870912 are read", 250),
    "svmlight without end": (lambda path: repeated(path, b"", b"1 1:1 #%b\n" % bytes(999), GIGABYTES, thin), ["label"],
                             "must not exceed 536870912 bytes", 200),
    "svmlight of too many": (lambda path: repeated(path, b"", b"1 1:1 2:1\n", 1 << 29, thin), ["label"],
                             "at most 33554432 cells", 200),
    "a table of too many": (lambda path: repeated(path, b"a,b\n", b"1,x\n", 1 << 28, thin), ["label"],
                            "at most 33554432 cells", 200),
    "losses without end": (lambda path: repeated(path, b"", b"0" * 1_000 + b" 1 1\n", GIGABYTES, thin), ["bounds"],
                           "must not exceed 536870912 bytes", 200),
    "a matrix that says too much": (lambda path: path.write_bytes(array_header(10**12) + bytes(100)), ["matrix"],
                                    "must be a whole .npy matrix", 200),
    "parquet of too many": (lambda path: columns(path, (1 << 25) + 2), ["label"], "33554432 cells are read", 200),
    "a stream in a line": (lambda path: repeated(path, b"1 ", b"1:1 ", 1 << 30, thin), ["label"],
                           "must not be longer than 16777216 bytes", 300),
    "a radio of a gigabyte": (lambda path: os.truncate(path, 1 << 30), ["radio"], "at most 65536 bytes", 200),
}  # fmt: skip


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "w.jsonl"
    path.write_text('{"page": "a", "request_bytes": 300, "reply_bytes": 5000}\n')
    return path


@pytest.mark.long
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_with_its_limit(tmp_path: Path, workload: Path, name: str) -> None:
    make, (kind,), rule, most_mb = BOMBS[name]
    path = tmp_path / {"radio": "bomb.toml", "matrix": "bomb.npy"}.get(kind, "bomb")
    path.touch()
    make(path)
    words: dict[str, list[str | Path]] = {
        "pages": ["pages", path, "--out", tmp_path / "out"],
        "pages-of": ["simulate", path],
        "label": ["label", path, "--algorithm", "ssmd"],
        "radio": ["simulate", workload, "--radio", path],
        "bounds": ["bounds", "--losses", path],
        "matrix": ["bounds", "--losses", path],
    }
    ended = run(*words[kind])
    print(f"{name}: {path.stat().st_size} bytes, {ended.seconds:.1f} s, {ended.peak_mb} MB: {ended.said[-150:]!r}")
    assert ended.status == 2
    assert "Traceback" not in ended.said
    assert rule in ended.said
    assert ended.peak_mb < most_mb
    assert not (tmp_path / "out").exists()


LARGEST = {  # a line of the file, how many cells it is, with its end, and the most memory
    "table": ("0.5," * 63 + "x\n", 64, 500),
    "table of one number": ("2.5,x\n", 2, 500),
    "objects": ("{" + "".join(f'"x{k}": 2.5, ' for k in range(63)) + '"label": "x"}\n', 65, 500),
    "object of one number": ('{"x": 2.5, "label": "x"}\n', 3, 500),
    "svmlight": ("1" + "".join(f" {k}:2.5" for k in range(63)) + "\n", 64, 500),
    "svmlight of one feature": ("1 1:2.5\n", 2, 520),
}


@pytest.mark.long
@pytest.mark.parametrize("name", ["parquet", *LARGEST])
def test_the_largest_file_of_a_format_needs_little_memory(tmp_path: Path, name: str) -> None:
    path, rows, most_mb = tmp_path / "largest", 1 << 24, 500
    if name == "parquet":
        columns(path, 1 << 25)
    else:
        line, cells, most_mb = LARGEST[name]
        rows = (1 << 25) // cells
        with path.open("w") as file:
            for _ in range(rows // 1000):
                file.write(line * 1000)
            file.write(line * (rows % 1000))
    ended = run(path, str(rows), program=[sys.executable, "-c", READ])
    print(f"{name}: {path.stat().st_size} bytes, {ended.seconds:.1f} s, {ended.peak_mb} MB")
    assert ended.status == 0, ended.said
    assert ended.peak_mb < most_mb
