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
from tests.tables import each, named

pytestmark = pytest.mark.long
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
        measured = subprocess.run([sys.executable, "-S", "-c", MEASURE, *map(str, words)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=said, check=True)  # fmt: skip
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
# how it is made, the command that reads it, what is said, and the most memory, MB
BOMBS = named(r"""
xz of zeros = repeated(b"", bytes(1), GIGABYTES, hard), "pages", "known format", 200
zeros behind a HAR = repeated(b'{"log": {', b" ", GIGABYTES, hard), "pages", "not exceed 134217728 bytes", 600
a line of a gigabyte = repeated(b"time,bytes\n1,", b"1", 1 << 30), "pages", LONG_LINE, 200
nested JSON = given(b'{"log": {"entries": ' + b"[" * 100_000), "pages", "must be whole JSON", 200
an archive of two million members = members, "pages", "must have at most 131072 members", 200
a packet of four gigabytes = given(PACKET), "pages", "must be at most 1048576 bytes long", 200
arrays of zeros = arrays, "label", "at most 536870912 bytes", 250
svmlight without end = repeated(b"", b"1 1:1 #%b\n" % bytes(999), GIGABYTES), "label", "exceed 536870912", 200
a table of too many = repeated(b"a,b\n", b"1,x\n", 1 << 28), "label", "at most 33554432 cells", 500
a matrix.npy = given(array_header(10**12) + bytes(100)), "bounds", "must be a whole .npy matrix", 200
a radio.toml = lambda path: (path.touch(), os.truncate(path, 1 << 30)), "radio", "at most 65536 bytes", 200
""", {**globals(), "os": os})  # fmt: skip


@each("name", BOMBS)
def test_a_bomb_is_refused_with_its_limit(tmp_path, name):
    make, command, rule, most_mb = BOMBS[name]
    path, workload = tmp_path / name, tmp_path / "w.jsonl"
    make(path)
    workload.write_text(WORK)
    words = {"pages": ["pages", path, "--out", tmp_path / "out"], "simulate": ["simulate", path],
        "label": ["label", path, "--algorithm", "ssmd"], "radio": ["simulate", workload, "--radio", path],
        "bounds": ["bounds", "--losses", path]}  # fmt: skip
    status, said, peak_mb = run(path, *PROGRAM, *words[command])
    assert status == 2
    assert "Traceback" not in said
    assert rule in said
    assert peak_mb < most_mb
    assert not (tmp_path / "out").exists()
