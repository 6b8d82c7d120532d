"""Files of results: written whole or not at all, by one run at a time; tables as CSV that reads back exactly."""

import csv
import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import StringIO
from itertools import repeat
from pathlib import Path
from typing import Any

from experiments.escaping import cell
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
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise ValueError(f"the output must be a folder, {there} is a file")


def refuse_foreign(path: Path, head: str, command: str) -> None:
    """Refuse, by a `ValueError`, to write over a file whose beginning says that the command did not write it."""
    if os.path.lexists(path) and not begins(path, head.encode()):
        raise ValueError(f"{path} was not written by {command}; choose another --out")


def begins(path: Path, head: bytes) -> bool:
    """Whether a path is a regular file that begins so."""
    try:
        return content(path, None).startswith(head)
    except OSError:
        return False


def content(path: Path, most: int | None = 1 << 26) -> bytes:
    """Return the bytes of a regular file; an `OSError` of a link or of what is none, a `ValueError` of a longer one."""
    if not stat.S_ISREG(path.lstat().st_mode):  # to open a device may do something
        raise OSError(errno.EINVAL, "must be a regular file", str(path))
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        found = file.read(-1 if most is None else most + 1)
    if most is not None and len(found) > most:
        raise ValueError(f"{path}: the file must have at most {most} bytes, there are more")
    return found


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let no other run write what lies at a path, by a lock on an empty file beside it (else a `ValueError`).

    The kernel lifts the lock when the process ends, however it ends; who comes next removes the file.  What has the
    name of that file, ``.NAME.lpsm-lock``, and cannot be one is a `ValueError` too, and stays as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.lpsm-lock")
    while True:
        if os.path.lexists(beside) and not _is_lock(beside.lstat()):
            raise ValueError(f"{beside} must be an empty file of this program, what is there is none")
        held = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        try:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(f"another run writes here: {path}") from None
            if not _is_lock(found := os.fstat(held)):
                continue  # removed by who held it until now, or something else
            try:
                yield
                return
            finally:
                with suppress(OSError):  # who comes next uses it
                    if os.path.samestat(beside.lstat(), found):
                        beside.unlink()
        finally:
            os.close(held)


def _is_lock(found: os.stat_result) -> bool:
    """Whether that is an empty file which this user made, and which has one name."""
    ours = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    return stat.S_ISREG(found.st_mode) and not found.st_size and found.st_nlink == 1 and ours


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees all of it or none (`traces.files.replacing`), making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def csv_text(table: Any) -> str:
    """Return a table as CSV: times (`.._s`) to the nanosecond, other floats exactly, text as `experiments.escaping`.

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


@cache
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
