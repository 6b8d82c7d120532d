"""Files of results: written whole or not at all, by one run at a time; tables as CSV that reads back exactly."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from itertools import repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from experiments.inert import cell
from traces.files import replacing

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "alone", "append_line", "columns_text", "content_digest", "csv_text", "file_digest", "refuse_file",
    "refuse_overwriting", "replace_folder", "source_digest", "write_file",
]  # fmt: skip

PACKAGES = ("experiments", "lpsm", "netsim", "traces")


def refuse_overwriting(read: Iterable[Path], written: Iterable[Path | None]) -> None:
    """Refuse, by a `ValueError`, to write over what is read, two results into one file, or below a file."""
    taken = {path.resolve() for path in read}
    for path in written:
        if path is not None and path.resolve() in taken:
            raise ValueError(
                f"an output must be a file of its own, got {path}, which is also read or written otherwise"
            )
        if path is not None:
            taken.add(path.resolve())
            refuse_file(path.parent)


def refuse_file(folder: Path) -> None:
    """Refuse, by a `ValueError`, an output folder that is a file, or would lie below one."""
    found = next((path for path in (folder, *folder.parents) if path.exists()), None)
    if found is not None and not found.is_dir():
        raise ValueError(f"the output must be a folder, {found} is a file")


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
            try:
                removed = not os.path.samestat(os.fstat(file.fileno()), beside.stat())
            except FileNotFoundError:
                removed = True
            if removed:  # by who held it until now
                continue
            try:
                yield
                return
            finally:
                beside.unlink(missing_ok=True)


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees all of it or none (`traces.files.replacing`), making its folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def append_line(file: IO[str], line: str) -> None:
    """Append a line to an open file: when this returns, it is on the disk; of an `OSError` a part may be."""
    try:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, file.name) from None


def replace_folder(made: Path, folder: Path) -> None:
    """Give a finished folder its name; what had that name is removed afterwards."""
    old = folder.with_name(f".{folder.name}.replaced")
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    made.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def csv_text(frame: pd.DataFrame) -> str:
    """Return the frame as CSV: times (`.._s`) to the nanosecond, other floats exactly, text as `experiments.inert`."""
    import pandas as pd

    printed = frame.rename(columns=cell)
    for name in printed.columns:
        if not pd.api.types.is_numeric_dtype(printed[name]):
            printed[name] = printed[name].map(cell)
        if name.endswith("_s") and pd.api.types.is_float_dtype(printed[name]):
            printed[name] = [f"{value:.9f}" if value == value else "" for value in printed[name]]
    return str(printed.to_csv(index=False, lineterminator="\n"))


def columns_text(columns: Mapping[str, Any], n_rows: int) -> str:
    """Return `csv_text` of columns without a frame: arrays or lists without gaps, or one text for all rows."""
    printed = []
    for name, column in columns.items():
        values = repeat(column, n_rows) if isinstance(column, str) else getattr(column, "tolist", lambda c=column: c)()
        printed.append([f"{value:.9f}" if name.endswith("_s") else cell(value) for value in values])
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*printed, strict=True))
    return text.getvalue()


def source_digest(root: Path | None = None) -> str:
    """Return the SHA-256 of the Python files of this program (or one at `root`), lest parts of two are mixed."""
    root = root or Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def content_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of a folder's files: what a result was made from."""
    if not path.is_dir():
        return file_digest(path)
    digest = hashlib.sha256()
    for file in sorted(found for found in path.rglob("*") if found.is_file()):
        digest.update(file.relative_to(path).as_posix().encode() + b"\0")
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
