"""Text in files, packed or not: its size is counted before any of it is kept, and it is read in pieces of whole lines.

What it models: UTF-8, lines that end as in files of any system, gzip and xz.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from experiments.datasets import npz
from traces.errors import TraceError
from traces.files import open_trace

__all__ = ["MOST_CELLS", "check_size", "numbered_lines", "pieces"]

MOST_CELLS = 1 << 25
"""How many cells of a table, values of objects, features or losses are read, with the lines they stand in."""

_LONGEST_LINE_BYTES = 1 << 24
_PIECE_BYTES = 1 << 18


def check_size(path: Path, separator: str = "\n") -> Counter[str]:
    r"""Unpack a file in constant memory, to see whether it is too large.

    Parameters
    ----------
    path
        The file.
    separator
        What stands between the cells of a line, or in each of them.

    Returns
    -------
    Counter
        How many there are of the separator, of `\n` and of `\r`.

    Raises
    ------
    ValueError
        If it unpacks to more than `npz.MAX_STREAM_BYTES`, or has more than `MOST_CELLS` ends of lines and separators,
        or is damaged.
    """
    size = 0
    counts: Counter[str] = Counter()
    with open_trace(path) as unpacked:
        while piece := unpacked.read(_PIECE_BYTES):
            size += len(piece)
            if size > npz.MAX_STREAM_BYTES:
                raise ValueError(f"{path}: a stream must not exceed {npz.MAX_STREAM_BYTES} bytes, got more")
            counts.update({mark: piece.count(mark.encode()) for mark in {separator, "\n", "\r"}})
            if counts.total() - counts["\r"] > MOST_CELLS:
                raise ValueError(f"{path}: a stream must hold at most {MOST_CELLS} cells, got more")
    return counts


def pieces(path: Path, start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield a text below its first `start` lines in pieces of whole lines, with the number, from 1, of a piece's first.

    Lines end in a line feed, but for the last of the file where nothing ends it.

    Raises
    ------
    ValueError
        If a line is longer than 16 MiB, or not UTF-8, after the lines before it; the message says which.
    """
    number = 1
    with open_trace(path) as unpacked:
        while content := unpacked.read(min(_PIECE_BYTES, _LONGEST_LINE_BYTES)):
            content += unpacked.readline(_LONGEST_LINE_BYTES + 1)
            last = content.rfind(b"\n", 0, -1) + 1
            is_too_long = len(content) - last > _LONGEST_LINE_BYTES
            text, wrong = _decoded(content[:last] if is_too_long else content, number)
            skipped = max(0, start + 1 - number)
            *before, rest = text.split("\n", skipped)
            if rest and len(before) == skipped:
                yield number + skipped, rest
            number += text.count("\n")
            if wrong is not None:
                raise ValueError(f"{path}: line {number}: it must be UTF-8 text, npz or npy, got {wrong:#x}")
            if is_too_long:
                rule = f"a line must not be longer than {_LONGEST_LINE_BYTES} bytes"
                raise TraceError(path, f"line {number}", rule, "a longer one")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers from 1.

    Raises
    ------
    ValueError
        If one is longer than 16 MiB, or not UTF-8; the message says which.
    """
    for first, text in pieces(path):
        yield from enumerate(text.removesuffix("\n").split("\n"), first)


def _decoded(content: bytes, number: int) -> tuple[str, int | None]:
    """Return what begins at a line of the file as text, up to a line with a byte that is none, and that byte."""
    encoding, wrong = "utf-8-sig" if number == 1 else "utf-8", None
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        wrong = error.object[error.start]
        text = error.object[: error.object.rfind(b"\n", 0, error.start) + 1].decode()
    return text.replace("\r\n", "\n").replace("\r", "\n"), wrong
