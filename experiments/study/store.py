"""Where results go: a folder that is either whole or not there.

A study writes into `NAME.partial` beside the folder it was asked for.  Finished parts
are lines of a journal there, so that an interrupted study goes on where it stopped;
when everything is written the folder takes its name in one step.  A folder carries a
manifest that says which command made it, with which configuration and libraries, and
the digest of every file.  Nothing in a folder depends on when, where or
by how many processes it was made.

A folder is replaced only if its manifest is of the same command and lists all it holds:
what somebody else put there is never deleted.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from io import StringIO
from itertools import repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Store",
    "append_line",
    "columns_text",
    "content_digest",
    "csv_text",
    "replace_folder",
    "source_digest",
    "write_file",
]

MANIFEST = "manifest.json"
JOURNAL = "finished.jsonl"
LIBRARIES = ("lpsm", "matplotlib", "numba", "numpy", "pandas", "scipy", "simpy")
PACKAGES = ("experiments", "lpsm", "netsim", "traces")


def refuse_overwriting(read: Iterable[Path], written: Iterable[Path | None]) -> None:
    """Refuse to write over what is read, two results into one file, or below a file.

    Raises
    ------
    ValueError
        Naming the file.
    """
    taken = {path.resolve() for path in read}
    for path in written:
        if path is None:
            continue
        if path.resolve() in taken:
            raise ValueError(
                f"an output must be a file of its own, got {path}, which is also read or written otherwise"
            )
        taken.add(path.resolve())
        refuse_file(path.parent)


def refuse_file(folder: Path) -> None:
    """Refuse an output folder that is a file, or would lie below one.

    Raises
    ------
    ValueError
        Naming the file.
    """
    found = next((path for path in (folder, *folder.parents) if path.exists()), None)
    if found is not None and not found.is_dir():
        raise ValueError(f"the output must be a folder, {found} is a file")


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees all of it or none: temporary name, fsync, rename.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left behind.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_dir():
        raise IsADirectoryError(21, "is a folder, a file name is needed", str(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        _remove_file(temporary)
        raise OSError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        _remove_file(temporary)
        raise


def append_line(file: IO[str], line: str) -> None:
    """Append a line to an open file: when this returns, it is on the disk.

    Raises
    ------
    OSError
        If it cannot be written; a part of it may be.
    """
    try:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, file.name) from None


def replace_folder(made: Path, folder: Path) -> None:
    """Give a finished folder its name; what had that name is removed afterwards.

    Raises
    ------
    OSError
        If one of them cannot be renamed.
    """
    old = folder.with_name(f".{folder.name}.replaced")
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    made.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def csv_text(frame: pd.DataFrame) -> str:
    """Return the frame as CSV: times (`.._s`) to the nanosecond, other floats so that they read back exactly."""
    import pandas as pd

    printed = frame.copy()
    for name in printed.columns:
        if name.endswith("_s") and pd.api.types.is_float_dtype(printed[name]):
            printed[name] = [f"{value:.9f}" if value == value else "" for value in printed[name]]
    return str(printed.to_csv(index=False, lineterminator="\n"))


def columns_text(columns: Mapping[str, Any], n_rows: int) -> str:
    """Return `csv_text` of columns without a frame: arrays or lists without gaps, or one text for all rows."""
    printed = []
    for name, column in columns.items():
        values = repeat(column, n_rows) if isinstance(column, str) else getattr(column, "tolist", lambda c=column: c)()
        printed.append([f"{value:.9f}" for value in values] if name.endswith("_s") else values)
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    rows.writerows(zip(*printed, strict=True))
    return text.getvalue()


def source_digest() -> str:
    """Return the SHA-256 of the program's own Python files: parts made by different programs are never mixed."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def content_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of a folder's files: what a result was made from."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(found for found in path.rglob("*") if found.is_file()):
        if file != path:
            digest.update(file.relative_to(path).as_posix().encode() + b"\0")
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


class Store:
    """The folder of one study while it is being made.

    Parameters
    ----------
    folder : Path
        Where the results are wanted.
    command : str
        The command that makes them, such as ``"compare"``.
    configuration : mapping
        Everything that decides the results, as plain JSON data.

    Raises
    ------
    ValueError
        If `folder` holds something this command did not make.
    OSError
        If it cannot be written.
    """

    def __init__(self, folder: Path, command: str, configuration: Mapping[str, Any]) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.partial = self.folder.with_name(self.folder.name + ".partial")
        self.manifest: dict[str, Any] = {
            "command": command,
            "configuration": json.loads(json.dumps(configuration)),
            "versions": {name: version(name) for name in LIBRARIES},
        }
        self._unfinished = {**self.manifest, "source_sha256": source_digest()}
        self._check_replaceable(self.folder)
        self._check_replaceable(self.partial)
        self.finished: dict[str, Any] = {}
        if self.partial.exists():
            self._resume()
        try:
            if not self.partial.exists():
                self.partial.mkdir(parents=True)
                write_file(self.partial / MANIFEST, _json(self._unfinished))
            self._journal = (self.partial / JOURNAL).open("a")
        except OSError:
            if not self.finished:
                shutil.rmtree(self.partial, ignore_errors=True)
            raise

    def keep(self, key: str, part: Any) -> None:
        """Keep one finished part (JSON data) at once, so that an interruption does not lose it."""
        append_line(self._journal, json.dumps([key, part]))
        self.finished[key] = part

    def write(self, name: str, content: str | bytes) -> None:
        """Add a result file."""
        write_file(self.partial / name, content)

    def write_frame(self, name: str, frame: pd.DataFrame) -> None:
        """Add a result table as CSV."""
        self.write(name, csv_text(frame))

    def publish(self) -> None:
        """Finish: list the files in the manifest, and give the folder its name, replacing an older result.

        Raises
        ------
        OSError
            If it cannot be written, or somebody has meanwhile put something where it is wanted.
        """
        try:
            self._check_replaceable(self.folder)
        except ValueError as error:
            raise OSError(str(error)) from None
        self._journal.close()
        digests = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.partial.iterdir())
            if path.name not in (MANIFEST, JOURNAL)
        }
        write_file(self.partial / MANIFEST, _json({**self.manifest, "files": digests}))
        (self.partial / JOURNAL).unlink()
        replace_folder(self.partial, self.folder)

    @contextmanager
    def giving_up(self, *, input_is_right: bool = False) -> Iterator[None]:
        """Abandon what is unfinished if anything ends the block early, and have an interruption say what is kept.

        Parameters
        ----------
        input_is_right : bool
            Finished parts are kept after a `ValueError` too.

        Raises
        ------
        Interrupted
            On Ctrl-C.
        OSError
            If a file cannot be read or written, because the disk is full, say.
        """
        from experiments.study.run import Interrupted  # here, as single files are written without running tasks

        try:
            yield
        except KeyboardInterrupt as interruption:
            raise Interrupted(f"{str(interruption) or 'interrupted'}; {self.abandon()}") from None
        except FileNotFoundError:  # of the input, and its name says which
            self.abandon()
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename is not None else ""
            raise OSError(f"{where}{error.strerror or error}; {self.abandon()}") from None
        except ValueError:  # what is wrong with the input stays wrong
            self.abandon(keep=input_is_right)
            raise
        except BaseException:
            self.abandon()
            raise

    def abandon(self, *, keep: bool = True) -> str:
        """Give up: remove what is unfinished, except (with `keep`) parts that can be used again; say what is kept."""
        with suppress(OSError):  # on a full disk, what was buffered was not promised
            self._journal.close()
        if not (keep and self.finished):
            shutil.rmtree(self.partial, ignore_errors=True)
            return "nothing is kept"
        if not (self.partial / JOURNAL).exists():
            return f"the results are in {self.partial}"
        for path in self.partial.iterdir():
            if path.name not in (MANIFEST, JOURNAL):
                _remove_file(path)
        return f"what was finished is kept in {self.partial}, and the same command goes on from there"

    def _resume(self) -> None:
        manifest = json.loads((self.partial / MANIFEST).read_text())
        if manifest != self._unfinished:  # of another configuration or program
            shutil.rmtree(self.partial)
            return
        journal = self.partial / JOURNAL
        text = journal.read_text() if journal.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # the last line may have been cut off
        self.finished = dict(json.loads(line) for line in whole.splitlines())
        write_file(journal, whole)

    def _check_replaceable(self, folder: Path) -> None:
        command = self.manifest["command"]
        refuse_file(folder)
        if not folder.exists():
            return
        present = {path.name for path in folder.iterdir()}
        if not present:
            folder.rmdir()
            return
        try:
            manifest = json.loads((folder / MANIFEST).read_text())
            same = manifest["command"] == command
            files = set(manifest.get("files", present)) | {MANIFEST}
        except (OSError, ValueError, KeyError, TypeError):
            same, files = False, set()
        if not same:
            raise ValueError(f"the output folder must be new or hold results of lpsm {command}, {folder} does not")
        if not present <= files:
            extra = sorted(present - files)[0]
            raise ValueError(f"the output folder {folder} holds {extra}, which lpsm {command} did not write")


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def _remove_file(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        return
