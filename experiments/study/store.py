"""Where results go: a folder that is either whole or not there.

Files grow in ``NAME.partial`` beside the folder that is wanted, and when all are written the folder takes its name in
one step.  A manifest says from the start which command makes it, with which configuration and libraries, and at the
end the digest of every file.  Nothing in a folder depends on when, where or by how many processes it was made.
A journal holds what is finished, a line each, so that what was stopped, by whatever, goes on where it was.

There are two kinds.  In one, a line of the journal is the result of a task, the same command goes on by itself, and
what another configuration or program left behind is computed anew.  In the other, made for results that do not fit
into memory (`parts`), each task is a file and a line says its digest; going on is asked for (`resume`) and checked,
and files grow where they are wanted unless finished results are there already.

A folder is replaced only if its manifest is of the same command and lists all it holds: what somebody else put there
is never deleted.  One run at a time has a folder, and publishes it only if all files are as this run wrote them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.inert import echo, inert
from experiments.study.files import (
    alone,
    append_line,
    csv_text,
    file_digest,
    refuse_file,
    replace_folder,
    source_digest,
    write_file,
)
from experiments.study.interruptions import Interrupted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["JOURNAL", "LIBRARIES", "MANIFEST", "Store", "configuration_digest", "journal_of"]

MANIFEST = "manifest.json"
JOURNAL = "finished.jsonl"
LIBRARIES = ("lpsm", "matplotlib", "numba", "numpy", "pandas", "scipy", "simpy")


def configuration_digest(configuration: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a configuration, plain JSON data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()


def journal_of(folder: Path) -> dict[str, Any]:
    """Return what the journal of a folder holds; a line that is not whole counts for nothing."""
    path = folder / JOURNAL
    found: dict[str, Any] = {}
    for line in path.read_text(errors="replace").splitlines() if path.exists() else ():
        with suppress(ValueError):
            key, value = json.loads(line)
            found[str(key)] = value
    return found


def _differences(old: Any, new: Any, name: str = "configuration") -> list[str]:
    """Say what differs between two configurations, a setting each."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = [*old, *(key for key in new if key not in old)]
        return [line for key in names for line in _differences(old.get(key), new.get(key), key)]
    texts = [json.dumps(value) for value in (old, new)]
    was, now = (text if len(text) <= 60 else f"{text[:57]}..." for text in texts)
    return [] if old == new else [f"{name} was {was}, is {now}"]


def _warn(what: str, old: Any, new: Any) -> None:
    """Say on standard error what is replaced, if it is another result, and how the two differ."""
    if others := _differences(old, new):
        more = f", and {len(others) - 3} more" if len(others) > 3 else ""
        echo(f"lpsm: {what}, which this one replaces: {', '.join(others[:3])}{more}", err=True)


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
    parts : str
        The folder below it that holds a file for each task; empty if results of tasks are kept in the journal.
    beside : iterable of str
        With `parts`: names of the files that are written beside them.
    resume : bool
        With `parts`: go on with what is there; otherwise a finished result of the same command is replaced, once this
        one is whole, and an unfinished one refused.

    Attributes
    ----------
    folder, partial : Path
        Where the results are wanted, and where they grow until the end.
    finished : dict
        What need not be computed again: key to result, or with `parts` name to digest.

    Raises
    ------
    ValueError
        If `folder` holds something this command did not make, or what cannot be gone on with, or another run has it.
    OSError
        If it cannot be written.
    """

    def __init__(
        self,
        folder: Path,
        command: str,
        configuration: Mapping[str, Any],
        *,
        parts: str = "",
        beside: Iterable[str] = (),
        resume: bool = True,
    ) -> None:
        self.folder = self.partial = Path(os.path.realpath(folder))
        self._parts, self._beside = parts, frozenset(beside)
        plain = json.loads(json.dumps(configuration))
        libraries = (*LIBRARIES, "pyarrow") if parts else LIBRARIES
        self.manifest: dict[str, Any] = {
            "command": command, "configuration": plain, "versions": {name: version(name) for name in libraries},
        }  # fmt: skip
        self._unfinished = {**self.manifest, "source_sha256": source_digest()}
        if parts:
            self._unfinished["configuration_sha256"] = configuration_digest(plain)
            self.manifest = dict(self._unfinished)
        self._written: dict[str, str] = {}
        self._published = False
        refuse_file(self.folder)
        with ExitStack() as held:
            held.enter_context(alone(self.folder))
            self._begin(resume)
            self._alone = held.pop_all()

    def _begin(self, resume: bool) -> None:
        """Take over what can be gone on with, and remove what cannot."""
        parts, growing = self._parts, self.folder.with_name(self.folder.name + ".partial")
        earlier, unfinished = self._manifest_of(self.folder), self._manifest_of(growing)
        if unfinished is not None and "files" in unfinished:  # stopped just before it took its name
            replace_folder(growing, self.folder)
            earlier, unfinished = unfinished, None
        if not parts or unfinished is not None or (earlier is not None and not resume):
            self.partial = growing
        found = unfinished if self.partial == growing else earlier
        self.finished: dict[str, Any] = {}
        if parts:
            self._check_resumable(earlier, unfinished, resume)
            if found is not None:
                self._keep_whole({**found.get("files", {}), **journal_of(self.partial)})
        elif found == self._unfinished:
            self.finished = journal_of(self.partial)
            self._clear()
        elif found is not None:  # of another configuration or program
            if kept := len(journal_of(self.partial)):
                _warn(f"{self.partial} kept {kept} finished tasks of another run", found, self._unfinished)
            shutil.rmtree(self.partial)
        try:
            self.partial.mkdir(parents=True, exist_ok=True)
            write_file(self.partial / JOURNAL, "".join(json.dumps(item) + "\n" for item in self.finished.items()))
            write_file(self.partial / MANIFEST, _json(self._unfinished))
            self._journal = (self.partial / JOURNAL).open("a")
        except OSError:
            if not self.finished:
                self._remove()
            raise
        self._found = len(self.finished)

    def keep(self, key: str, result: Any) -> None:
        """Keep what is finished: a result (JSON data), or with `parts` the content of a file, by its name.

        When this returns, it is on the disk, and no interruption loses it.
        """
        if self._parts:
            key = f"{self._parts}/{key}"
            write_file(self.partial / key, result)
            result = hashlib.sha256(result).hexdigest()
        append_line(self._journal, json.dumps([key, result]))
        self.finished[key] = result

    def has(self, name: str) -> bool:
        """Say whether the file of a task is there and whole."""
        return f"{self._parts}/{name}" in self.finished

    def files(self) -> list[Path]:
        """Return the files of the tasks, in the order of their names."""
        return [self.partial / name for name in sorted(self.finished)]

    def write(self, name: str, content: str | bytes) -> None:
        """Add a result file; text for people (``.txt``) is inert."""
        if isinstance(content, str):
            content = (inert(content, "\n\t") if name.endswith(".txt") else content).encode()
        write_file(self.partial / name, content)
        self._written[name] = hashlib.sha256(content).hexdigest()

    def write_frame(self, name: str, frame: pd.DataFrame) -> None:
        """Add a result table as CSV."""
        self.write(name, csv_text(frame))

    def publish(self, wanted: Iterable[str] = ()) -> None:
        """Finish: list the files in the manifest, and give the folder its name, replacing an older result.

        One of another configuration is not replaced without a word on standard error.

        Parameters
        ----------
        wanted : iterable of str
            With `parts`: the names of those that are results; others are removed.

        Raises
        ------
        OSError
            If it cannot be written, is not as it was, or somebody has meanwhile put something where it is wanted.
        """
        try:
            replaced = self._manifest_of(self.folder) if self.partial != self.folder else None
        except ValueError as error:
            raise OSError(str(error)) from None
        if self._parts:
            for name in set(self.finished) - {f"{self._parts}/{name}" for name in wanted}:
                (self.partial / name).unlink()
                del self.finished[name]
        digests = {**(self.finished if self._parts else {}), **self._written}
        for name, digest in digests.items():
            if not (self.partial / name).is_file() or file_digest(self.partial / name) != digest:
                raise OSError(f"{self.partial / name} is not as this run wrote it: somebody else writes there")
        self._journal.close()
        write_file(self.partial / MANIFEST, _json({**self.manifest, "files": digests}))
        (self.partial / JOURNAL).unlink()
        if self.partial != self.folder:
            replace_folder(self.partial, self.folder)
        if replaced is not None:
            _warn(f"{self.folder} held another result", replaced.get("configuration"), self.manifest["configuration"])
        self._published = True
        self._alone.close()

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
            On Ctrl-C, or another signal that asks to stop.
        OSError
            If a file cannot be read or written, because the disk is full, say.
        """
        try:
            yield
        except KeyboardInterrupt as interruption:
            raise Interrupted.saying(f"; {self.abandon()}", interruption) from None
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
        """Give up: remove what is unfinished, except (with `keep`) what can be used again; say what is kept.

        What an earlier run of a store of parts finished is kept in any case.
        """
        if self._published:
            return f"the results are in {self.folder}"
        with self._alone:
            with suppress(OSError):  # on a full disk, what was buffered was not promised
                self._journal.close()
            if self._parts:
                kept = len(journal_of(self.partial)) if (self.partial / JOURNAL).exists() else len(self.finished)
                if kept and (keep or self._found):
                    return f"{kept} finished tasks are kept in {self.partial}, and --resume goes on from there"
            elif keep and self.finished:
                if not (self.partial / JOURNAL).exists():
                    return f"the results are in {self.partial}"
                self._clear()
                return f"what was finished is kept in {self.partial}, and the same command goes on from there"
            self._remove()
        return "nothing is kept"

    def _clear(self) -> None:
        """Remove what is written at the end, which the same command writes again."""
        for path in self.partial.iterdir():
            if path.name not in (MANIFEST, JOURNAL):
                with suppress(OSError):
                    path.unlink()

    def _remove(self) -> None:
        """Remove everything of ours, and the folder if nothing else is in it."""
        if not self._parts:
            shutil.rmtree(self.partial, ignore_errors=True)
            return
        for path in self._ours(self.partial, None):
            path.unlink(missing_ok=True)
        for folder in (self.partial / self._parts, self.partial):
            with suppress(OSError):
                folder.rmdir()

    def _manifest_of(self, folder: Path) -> dict[str, Any] | None:
        """Return the manifest of what a folder holds, if that is all ours, or None if there is nothing."""
        command = self.manifest["command"]
        refuse_file(folder)
        if not folder.exists() or not any(folder.iterdir()):
            return None
        if not (folder / MANIFEST).exists() and all(_is_scaffold(path) for path in folder.iterdir()):
            return None  # stopped before anything was made, or after it was removed
        try:
            manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
            same = manifest["command"] == command
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise ValueError(f"the output folder must be new or hold results of lpsm {command}, {folder} does not")
        if self._parts or "files" in manifest:
            self._ours(folder, manifest.get("files"))
        return manifest

    def _ours(self, folder: Path, listed: Mapping[str, str] | None) -> list[Path]:
        """Return all files of a folder; one that is not ours is an error, and is never removed."""
        found = []
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if name == self._parts and path.is_dir() and not path.is_symlink():
                continue
            ours = name in (self._beside if listed is None else listed)
            ours |= listed is None and name.startswith(f"{self._parts}/") and name.endswith(".parquet")
            if not (ours or _is_temporary(path) or name in (MANIFEST, JOURNAL)):
                raise ValueError(
                    f"the output folder {folder} holds {name}, which lpsm {self.manifest['command']} did not write"
                )
            found.append(path)
        return sorted(found, key=lambda path: path.name == MANIFEST)  # last, as it is what makes the others ours

    def _check_resumable(
        self, earlier: Mapping[str, Any] | None, unfinished: Mapping[str, Any] | None, resume: bool
    ) -> None:
        found = unfinished if unfinished is not None else earlier
        if found is None:
            return
        where = self.folder if unfinished is None else self.partial
        if not resume:
            if "files" not in found:
                raise ValueError(f"{where} holds an unfinished run: --resume goes on with it, removing it starts anew")
            return
        own, theirs = self._unfinished, found.get("configuration", {})
        for name in sorted({*own["configuration"], *theirs}):
            if own["configuration"].get(name) != theirs.get(name):
                raise ValueError(
                    f"--resume needs the configuration that the folder was made with, {where} differs in {name}"
                )
        for name, what in (("versions", "versions of the libraries"), ("source_sha256", "version of this program")):
            if own[name] != found.get(name):
                raise ValueError(f"--resume needs the {what} that the folder was made with, {where} has another")

    def _keep_whole(self, listed: Mapping[str, str]) -> None:
        """Keep the parts that are as they were written, and remove all else."""
        for path in self._ours(self.partial, None):
            name = path.relative_to(self.partial).as_posix()
            if name.startswith(f"{self._parts}/") and file_digest(path) == listed.get(name):
                self.finished[name] = listed[name]
            elif name not in (MANIFEST, JOURNAL):
                path.unlink()


def _is_temporary(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(".tmp")


def _is_scaffold(path: Path) -> bool:
    """Tell what a store that was killed at once may leave behind: an empty folder, a journal, a temporary file."""
    return not any(path.iterdir()) if path.is_dir() else path.name == JOURNAL or _is_temporary(path)


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, sort_keys=True) + "\n"
