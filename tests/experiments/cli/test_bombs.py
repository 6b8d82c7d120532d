"""Small files that unpack to gigabytes, or nest without end: one line with the limit, soon, in little memory."""

import gzip
import lzma
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from functools import partial

import pytest

from tests.experiments.makers import PROGRAM, WORK

pytestmark = pytest.mark.long
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


def run(path, *words):
    """Run a program; return its status, what it said, and the most memory it had, MB."""
    with tempfile.TemporaryFile() as said:
        measured = subprocess.run(
            [sys.executable, "-S", "-c", MEASURE, *map(str, words)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=said, check=True,
        )  # fmt: skip
        status, seconds, peak_kb = map(float, measured.stdout.split())
        said.seek(0)
        text = said.read().decode()
    print(f"{path.stat().st_size} bytes, {seconds:.1f} s, {int(peak_kb) // 1024} MB: {text[-150:]!r}")
    return int(status), text, int(peak_kb) // 1024


thin = partial(gzip.compress, compresslevel=1, mtime=0)
hard = partial(lzma.compress, preset=0)


def repeated(head, filler, n_bytes, pack=thin):
    """Write a packed file of several members: a head, then filler up to so many bytes."""

    def write(path):
        piece = filler * (PIECE_BYTES // len(filler))
        packed = pack(piece)
        with path.open("wb") as file:
            file.write(pack(head))
            for _ in range(n_bytes // len(piece)):
                file.write(packed)

    return write


def given(content):
    return lambda path: path.write_bytes(content)


def members(path, count=2_000_000):
    block = tarfile.TarInfo("../../con1.cs18.1").tobuf(tarfile.GNU_FORMAT)
    link = tarfile.TarInfo("con2.cs18.1")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    repeated(b"", block + link.tobuf(tarfile.GNU_FORMAT), 512 * count)(path)


def array_header(n_bytes):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 1), }" % (n_bytes // 8)
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header


def arrays(path, n_bytes=2 << 30):
    file = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with file, file.open("X.npy", "w", force_zip64=True) as entry:
        entry.write(array_header(n_bytes))
        for _ in range(n_bytes // PIECE_BYTES):
            entry.write(bytes(PIECE_BYTES))


PACKET = struct.pack("<IHHiIII4I", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1, 1, 0, 2**32 - 1, 2**32 - 1)
LINE = b'cs18 791000000 5 "http://a/'
GIGABYTES, LONG_LINE = 10 << 30, "must not be longer than 65536 bytes"
BOMBS = {  # how it is made, the command that reads it, what is said, and the most memory, MB
    "gzip of zeros": (repeated(b"", bytes(1), GIGABYTES), "pages", "known format", 200),
    "xz of zeros": (repeated(b"", bytes(1), GIGABYTES, hard), "pages", "known format", 200),
    "zeros behind a session": (repeated(LINE, bytes(1), GIGABYTES), "pages", LONG_LINE, 200),
    "zeros behind a HAR": (repeated(b'{"log": {', b" ", GIGABYTES, hard), "pages", "not exceed 134217728 bytes", 600),
    "a line of a gigabyte": (repeated(b"time,bytes\n1,", b"1", 1 << 30), "pages", LONG_LINE, 200),
    "a workload in a line": (repeated(b'{"page": "', b"x", 1 << 30), "simulate", "longer than 16777216 bytes", 250),
    "nested JSON": (given(b'{"log": {"entries": ' + b"[" * 100_000), "pages", "must be whole JSON", 200),
    "a nested workload": (given(b'{"page": ' + b"[" * 100_000), "simulate", "must be whole JSON", 200),
    "an archive of two million members": (members, "pages", "must have at most 131072 members", 200),
    "a packet of four gigabytes": (given(PACKET), "pages", "must be at most 1048576 bytes long", 200),
    "arrays of zeros": (arrays, "label", "at most 536870912 bytes", 250),
    "svmlight without end": (repeated(b"", b"1 1:1 #%b\n" % bytes(999), GIGABYTES), "label", "exceed 536870912", 200),
    "svmlight of too many": (repeated(b"", b"1 1:1 2:1\n", 1 << 29), "label", "at most 33554432 cells", 520),
    "a table of too many": (repeated(b"a,b\n", b"1,x\n", 1 << 28), "label", "at most 33554432 cells", 500),
    "losses without end": (repeated(b"", b"0" * 1_000 + b" 1 1\n", GIGABYTES), "bounds", "exceed 536870912", 200),
    "a matrix.npy": (given(array_header(10**12) + bytes(100)), "bounds", "must be a whole .npy matrix", 200),
    "a stream in a line": (repeated(b"1 ", b"1:1 ", 1 << 30), "label", "longer than 16777216 bytes", 300),
    "a radio.toml": (lambda path: (path.touch(), os.truncate(path, 1 << 30)), "radio", "at most 65536 bytes", 200),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_with_its_limit(tmp_path, name):
    make, command, rule, most_mb = BOMBS[name]
    path, workload = tmp_path / name, tmp_path / "w.jsonl"
    make(path)
    workload.write_text(WORK)
    words = {
        "pages": ["pages", path, "--out", tmp_path / "out"], "simulate": ["simulate", path],
        "label": ["label", path, "--algorithm", "ssmd"], "radio": ["simulate", workload, "--radio", path],
        "bounds": ["bounds", "--losses", path],
    }  # fmt: skip
    status, said, peak_mb = run(path, *PROGRAM, *words[command])
    assert status == 2
    assert "Traceback" not in said
    assert rule in said
    assert peak_mb < most_mb
    assert not (tmp_path / "out").exists()


LARGEST = {  # a line of the file, how many cells it is, with its end, and the most memory
    "table": ("0.5," * 63 + "x\n", 64, 500),
    "table of one number": ("2.5,x\n", 2, 500),
    "svmlight": ("1" + "".join(f" {k}:2.5" for k in range(63)) + "\n", 64, 500),
    "svmlight of one feature": ("1 1:2.5\n", 2, 520),
}


@pytest.mark.parametrize("name", LARGEST)
def test_the_largest_file_of_a_format_needs_little_memory(tmp_path, name):
    path, (line, cells, most_mb) = tmp_path / "largest", LARGEST[name]
    rows = (1 << 25) // cells
    with path.open("w") as file:
        for _ in range(rows // 1000):
            file.write(line * 1000)
        file.write(line * (rows % 1000))
    status, said, peak_mb = run(path, sys.executable, "-c", READ, path, rows)
    assert status == 0, said
    assert peak_mb < most_mb
