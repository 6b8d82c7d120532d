"""Text in files, packed or not: its size is counted before any of it is kept, and its lines are numbered.

What it models: UTF-8, lines that end as in files of any system, gzip and xz.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments.datasets import npz
from traces.files import open_trace, read_line

__all__ = ["MOST_CELLS", "check_size", "numbered_lines", "whole_text"]

MOST_CELLS = 1 << 25
"""How many cells of a table, values of objects, features or losses are read, with the lines they stand in."""

_LONGEST_LINE_BYTES = 1 << 24
_PIECE_BYTES = 1 << 20


def check_size(path: Path, separator: str = "\n") -> None:
    """Unpack a file in constant memory, to see whether it is too large.

    Parameters
    ----------
    path
        The file.
    separator
        What stands between the cells of a line, or in each of them.

    Raises
    ------
    ValueError
        If it unpacks to more than `npz.MAX_STREAM_BYTES`, or has more than `MOST_CELLS` ends of lines and separators,
        or is damaged.
    """
    size = cells = 0
    with open_trace(path) as unpacked:
        while piece := unpacked.read(_PIECE_BYTES):
            size += len(piece)
            if size > npz.MAX_STREAM_BYTES:
                raise ValueError(f"{path}: a stream must not exceed {npz.MAX_STREAM_BYTES} bytes, got more")
            cells += sum(piece.count(mark.encode()) for mark in {separator, "\n"})
            if cells > MOST_CELLS:
                raise ValueError(f"{path}: a stream must hold at most {MOST_CELLS} cells, got more")


def whole_text(path: Path) -> str:
    """Return a text whose lines end in a line feed.

    Raises
    ------
    ValueError
        If it is not UTF-8; the message says where.
    """
    with open_trace(path) as unpacked:
        return _decoded(path, unpacked.read(), 1)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text, of which one is held at a time, with their numbers from 1.

    Raises
    ------
    ValueError
        If one is longer than 16 MiB, or not UTF-8; the message says which.
    """
    with open_trace(path) as unpacked:
        number = 1
        while line := read_line(unpacked, _LONGEST_LINE_BYTES, path, number):
            for part in _decoded(path, line, number).removesuffix("\n").split("\n"):
                yield number, part
                number += 1


def _decoded(path: Path, content: bytes, number: int) -> str:
    """Return what begins at a line of the file as text."""
    try:
        text = content.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + number
        raise ValueError(
            f"{path}: line {line}: it must be UTF-8 text, npz or npy, got {error.object[error.start]:#x}"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
