"""Text in files, packed or not: surveyed in constant memory before any of it is kept, then read line by line.

What it models: UTF-8, lines that end as in files of any system, gzip and xz.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from traces.errors import TraceError
from traces.files import open_trace

__all__ = ["MAX_STREAM_BYTES", "MOST_CELLS", "check_cells", "lines_of", "survey"]

MAX_STREAM_BYTES = 1 << 29
"""Largest file of a stream, unpacked, and all wanted arrays of an npz together: 512 MiB."""
MOST_CELLS = 1 << 25
"""How many cells of a table, values of objects, features or losses are read, with the lines they stand in."""

_LONGEST_LINE_BYTES = 1 << 24
_PIECE_BYTES = 1 << 18
_COUNTED = ("\n", "\r", ",", ";", "\t", ":")


def survey(path: Path) -> Counter[str]:
    """Read a whole file, and return how often what may end lines and separate cells occurs in it.

    Damage, more than `MAX_STREAM_BYTES` when it is unpacked, and a line longer than 16 MiB or not in UTF-8 are a
    `ValueError`.
    """
    size, number, encoding = 0, 1, "utf-8-sig"
    counts: Counter[str] = Counter()
    with open_trace(path) as unpacked:
        while content := unpacked.read(min(_PIECE_BYTES, _LONGEST_LINE_BYTES)):
            content += unpacked.readline(_LONGEST_LINE_BYTES + 1)
            size += len(content)
            if size > MAX_STREAM_BYTES:
                raise ValueError(f"{path}: a stream must not exceed {MAX_STREAM_BYTES} bytes, got more")
            try:
                content.decode(encoding)
            except UnicodeDecodeError as error:
                number += _line_ends(error.object[: error.start])
                got = f"{error.object[error.start]:#x}"
                raise ValueError(f"{path}: line {number}: it must be UTF-8 text, npz or npy, got {got}") from None
            number += _line_ends(content)
            if len(content) - content.rfind(b"\n", 0, -1) - 1 > _LONGEST_LINE_BYTES:
                rule = f"a line must not be longer than {_LONGEST_LINE_BYTES} bytes"
                raise TraceError(path, f"line {number}", rule, "a longer one")
            counts.update({mark: content.count(mark.encode()) for mark in _COUNTED})
            encoding = "utf-8"
    return counts


def _line_ends(content: bytes) -> int:
    return content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")


def check_cells(path: Path, counts: Counter[str], separator: str) -> None:
    """Refuse a file that has more than `MOST_CELLS` ends of lines and separators, by its survey."""
    if counts["\n"] + counts[separator] > MOST_CELLS:
        raise ValueError(f"{path}: a stream must hold at most {MOST_CELLS} cells, got more")


def lines_of(path: Path) -> Iterator[str]:
    r"""Yield the lines of a file that was surveyed; each but the last ends in ``\n``."""
    encoding = "utf-8-sig"
    with open_trace(path) as unpacked:
        while content := unpacked.read(_PIECE_BYTES):
            yield from StringIO((content + unpacked.readline()).decode(encoding), newline=None)
            encoding = "utf-8"
