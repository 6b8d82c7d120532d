"""Where results go: a folder that is either whole or not there.

Files grow in ``NAME.partial`` beside the folder that is wanted, and when all are written the folder takes its name in
one step.  A manifest says which command makes it, with which configuration and libraries; ``SHA256SUMS``, written
last, holds the digest of every file (`sha256sum -c` checks it).  Nothing in a folder depends on when, where or by how
many processes it was made.

A journal holds the result of every finished task, a line each.  What was stopped, by whatever, goes on from there when
the same command runs again; what another configuration or another program left behind is computed anew.  A folder is
replaced only if its manifest is of the same command and lists all it holds: what somebody else put there is never
deleted.  One process at a time has a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.inert import echo, inert
from experiments.study import files

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
JOURNAL = "finished.jsonl"
PAGE = "report.html"  # which `lpsm report` may add to a finished folder
LIBRARIES = ("lpsm", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy", "simpy")


def journal_of(folder: Path) -> dict[str, Any]:
    """Return what the journal of a folder holds: results by the keys of their tasks."""
    path = folder / JOURNAL
    found: dict[str, Any] = {}
    for line in path.read_text(errors="replace").splitlines() if path.exists() else ():
        with suppress(ValueError, TypeError):  # the last line may not be whole, and others no pairs
            key, found[key] = json.loads(line)
    return found


class Store:
    """The folder of one study while it is being made.

    `folder` is where the results are wanted, `partial` where they grow until the end; `command` makes them, such as
    ``"compare"``, and `configuration`, plain JSON data, is all that decides them.  `finished` is what need not be
    computed again: results by the keys of tasks.

    A `folder` that holds something this command did not make, or that another process has, is a `ValueError`; one that
    cannot be written is an `OSError`.
    """

    def __init__(self, folder: Path, command: str, configuration: Mapping[str, Any]) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.partial = self.folder.with_name(self.folder.name + ".partial")
        self.configuration: dict[str, Any] = json.loads(json.dumps(configuration))
        self.manifest = {
            "command": command, "configuration": self.configuration, "source_sha256": files.source_digest(),
            "versions": {name: version(name) for name in LIBRARIES},
        }  # fmt: skip
        self.finished: dict[str, Any] = {}
        self._written: dict[str, str] = {}
        self._published = False
        files.refuse_file(self.folder)
        with ExitStack() as held:
            held.enter_context(files.alone(self.folder))
            self._begin()
            self._alone = held.pop_all()

    def _begin(self) -> None:
        """Take over what can be gone on with, and remove what cannot."""
        earlier, unfinished = self._manifest_of(self.folder), self._manifest_of(self.partial)
        kept = journal_of(self.partial)
        if unfinished is not None and self.manifest.items() <= unfinished.items():
            self.finished = kept
        elif kept:
            echo(f"lpsm: {self.partial} kept {len(kept)} finished runs of another configuration or program", err=True)
        if earlier is not None and earlier["configuration"] != self.configuration:
            echo(f"lpsm: {self.folder} holds a result of another configuration, which this one replaces", err=True)
        self._clear()
        try:
            self.partial.mkdir(parents=True, exist_ok=True)
            lines = (json.dumps(pair) + "\n" for pair in self.finished.items())
            files.write_file(self.partial / JOURNAL, "".join(lines))
            files.write_file(self.partial / MANIFEST, _json(self.manifest))
            self._journal = (self.partial / JOURNAL).open("a")
        except OSError:
            self._clear()
            raise

    def keep(self, key: str, result: Any) -> None:
        """Keep the result of a finished task, JSON data: when this returns, no interruption loses it."""
        self._journal.write(json.dumps([key, result]) + "\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())
        self.finished[key] = result

    def write(self, name: str, content: Any) -> None:
        """Add a result file: bytes, text, which for people (``.txt``) is made inert, or a table that becomes CSV."""
        if not isinstance(content, (bytes, str)):
            content = files.csv_text(content)
        if isinstance(content, str):
            content = (inert(content, "\n\t") if name.endswith(".txt") else content).encode()
        files.write_file(self.partial / name, content)
        self._written[name] = hashlib.sha256(content).hexdigest()

    def publish(self) -> None:
        """Finish: list the files with their digests, and give the folder its name, replacing an older result.

        It is an `OSError` if somebody has meanwhile put something there.
        """
        try:
            self._manifest_of(self.folder)
        except ValueError as error:
            raise OSError(str(error)) from None
        manifest = _json({**self.manifest, "files": self._written})
        sums = {**self._written, MANIFEST: hashlib.sha256(manifest.encode()).hexdigest()}
        files.write_file(self.partial / SUMS, "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))
        files.write_file(self.partial / MANIFEST, manifest)
        old = self.folder.with_name(f".{self.folder.name}.replaced")
        if self.folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            self.folder.rename(old)
        self.partial.rename(self.folder)
        self._published = True
        self._journal.close()
        (self.folder / JOURNAL).unlink()
        shutil.rmtree(old, ignore_errors=True)
        self._alone.close()

    @contextmanager
    def giving_up(self) -> Iterator[None]:
        """Abandon what is unfinished if anything ends the block early, and have the error say what is kept."""
        try:
            yield
        except BaseException as error:
            error.add_note(f"; {self.abandon()}")
            raise

    def abandon(self) -> str:
        """Give up: remove what is unfinished, except the journal; say what is kept."""
        if self._published:
            return f"the results are in {self.folder}"
        with self._alone:
            with suppress(OSError):  # on a full disk, what was buffered was not promised
                self._journal.close()
            self._clear()
        if not self.finished:
            return f"nothing is kept in {self.partial}"
        return f"what was finished is kept in {self.partial}, and the same command goes on from there"

    def _clear(self) -> None:
        """Remove what the same command writes again: all but the journal, or that too if nothing is finished."""
        if not self.finished:
            shutil.rmtree(self.partial, ignore_errors=True)
            return
        for path in self.partial.iterdir():
            if path.name not in (MANIFEST, JOURNAL):
                with suppress(OSError):
                    path.unlink()

    def _manifest_of(self, folder: Path) -> dict[str, Any] | None:
        """Return the manifest of what a folder holds, if that is all ours, or None if there is nothing."""
        command = self.manifest["command"]
        files.refuse_file(folder)
        paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
        # a store that was killed at once may leave a journal and temporary files
        there = {path.relative_to(folder).as_posix() for path in paths if not re.fullmatch(r"\..*\.tmp", path.name)}
        if not there - {JOURNAL}:
            return None
        try:
            manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
            same = manifest["command"] == command
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise ValueError(f"the output folder must be new or hold results of lpsm {command}, {folder} does not")
        others = there - {*manifest.get("files", there), MANIFEST, JOURNAL, SUMS, PAGE}
        if others:
            raise ValueError(f"the output folder {folder} holds {min(others)}, which lpsm {command} did not write")
        return manifest


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, sort_keys=True) + "\n"
