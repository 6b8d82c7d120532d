"""Text in files, packed or not: surveyed in constant memory before any of it is kept, then read line by line.

What it models: UTF-8, lines that end as in files of any system, gzip and xz.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from traces.errors import TraceError
from traces.files import open_trace

__all__ = ["MAX_STREAM_BYTES", "MOST_CELLS", "as_number", "check_cells", "lines_of", "naming", "survey"]

MAX_STREAM_BYTES = 1 << 29
"""Largest file of a stream, unpacked, and all wanted arrays of an npz together: 512 MiB."""
MOST_CELLS = 1 << 25
"""How many cells of a table, values of objects, features or losses are read, with the lines they stand in."""

_LONGEST_LINE_BYTES = 1 << 24
_PIECE_BYTES = 1 << 18


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of the file before whatever is wrong with its content."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith(f"{path}:"):  # it names it
            raise
        raise ValueError(f"{path}: {error}") from None


def survey(path: Path) -> Counter[str]:
    """Read a whole file, and return how often what may end lines and separate cells occurs in it.

    Damage, more than `MAX_STREAM_BYTES` when it is unpacked, and a line longer than 16 MiB or not in UTF-8 are a
    `ValueError`.
    """
    size, number = 0, 1
    counts: Counter[str] = Counter()
    with open_trace(path) as unpacked:
        while content := unpacked.read(min(_PIECE_BYTES, _LONGEST_LINE_BYTES)):
            content += unpacked.readline(_LONGEST_LINE_BYTES + 1)
            size += len(content)
            if size > MAX_STREAM_BYTES:
                raise ValueError(f"a stream must not exceed {MAX_STREAM_BYTES} bytes, got more")
            try:
                content.decode()
            except UnicodeDecodeError as error:
                number += _line_ends(content[: error.start])
                got = f"{content[error.start]:#x}"
                raise ValueError(f"line {number}: it must be UTF-8 text, npz or npy, got {got}") from None
            number += _line_ends(content)
            if len(content) - content.rfind(b"\n", 0, -1) - 1 > _LONGEST_LINE_BYTES:
                rule = f"a line must not be longer than {_LONGEST_LINE_BYTES} bytes"
                raise TraceError(path, f"line {number}", rule, "a longer one")
            counts.update({mark: content.count(mark.encode()) for mark in "\n,;\t:"})
    return counts


def _line_ends(content: bytes) -> int:
    return content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")


def check_cells(counts: Counter[str], separator: str) -> None:
    """Refuse a file that has more than `MOST_CELLS` ends of lines and separators, by its survey."""
    if counts["\n"] + counts[separator] > MOST_CELLS:
        raise ValueError(f"a stream must hold at most {MOST_CELLS} cells, got more")


def lines_of(path: Path) -> Iterator[str]:
    r"""Yield the lines of a file that was surveyed; each but the last ends in ``\n``."""
    with open_trace(path) as unpacked:
        yield from TextIOWrapper(unpacked, "utf-8-sig")


def as_number(text: Any) -> float:
    """Return the number that is spelt, NaN if none is."""
    try:
        return float(text)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
