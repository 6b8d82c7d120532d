"""Files of results: written whole or not at all, by one run at a time; tables as CSV that reads back exactly."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import repeat
from pathlib import Path
from typing import Any

from experiments.inert import cell
from traces.files import replacing

PACKAGES = ("experiments", "lpsm", "netsim", "traces")


def refuse_overwriting(read: Iterable[Path], written: Iterable[Path | None]) -> None:
    """Refuse, by a `ValueError`, to write over what is read, two results into one file, or below a file."""
    taken = {path.resolve() for path in read}
    for path in filter(None, written):
        if (own := path.resolve()) in taken:
            rule = "an output must be a file of its own"
            raise ValueError(f"{rule}, got {path}, which is also read or written otherwise")
        taken.add(own)
        refuse_file(path.parent)


def refuse_file(folder: Path) -> None:
    """Refuse, by a `ValueError`, an output folder that is a file, or would lie below one."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"the output must be a folder, {there} is a file")


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let no other run write what lies at a path, by a lock on an empty file beside it (else a `ValueError`).

    The kernel lifts the lock when the process ends, however it ends; who comes next removes the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.lock")
    while True:
        with beside.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(f"another run writes here: {path}") from None
            if not os.fstat(file.fileno()).st_nlink:
                continue  # removed by who held it until now
            try:
                yield
                return
            finally:
                beside.unlink(missing_ok=True)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees all of it or none (`traces.files.replacing`), making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def csv_text(table: Any) -> str:
    """Return a table as CSV: times (`.._s`) to the nanosecond, other floats exactly, text as `experiments.inert`.

    It is a frame, or a mapping of names to arrays, to lists, or to one text that stands for all rows.
    """
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(map(cell, table))
    rows.writerows(zip(*(_printed(name, table[name]) for name in table), strict=False))
    return text.getvalue()


def _printed(name: str, column: Any) -> Iterator[object]:
    """Yield the cells of a column; a number that is none is blank."""
    values = repeat(column) if isinstance(column, str) else getattr(column, "tolist", lambda: column)()
    time = name.endswith("_s")
    for value in values:
        if isinstance(value, float):
            yield "" if value != value else f"{value:.9f}" if time else value
        else:
            yield cell(value)


def source_digest(root: Path | None = None) -> str:
    """Return the SHA-256 of the Python files of this program (or one at `root`), lest parts of two are mixed."""
    root = root or Path(__file__).resolve().parents[2]
    return _digest(root, *(path for package in PACKAGES for path in sorted((root / package).rglob("*.py"))), end=b"\0")


def content_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of a folder's files: what a result was made from."""
    if path.is_dir():
        return _digest(path, *(one for one in sorted(path.rglob("*")) if one.is_file()))
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest(root: Path, *paths: Path, end: bytes = b"") -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
        digest.update(end)
    return digest.hexdigest()
