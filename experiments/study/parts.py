"""A folder of results that grows file by file and survives what machines do.

Each finished task is one file, written to a temporary name, synced and renamed, and then a line of a journal
that says its SHA-256.  Whatever stops the program, files in the journal are whole; resuming checks
them against it, removes everything else, and has the rest computed again.  A manifest says from the start which
command makes the folder, with which configuration (and its hash), libraries and program, and at the end the digest
of every file.  Nothing in it depends on when, where or by how many workers it was made.

Files grow in the place where they are wanted.  If finished results are there already, the new ones grow in
`NAME.partial` beside them and take their name when they are whole: until then nothing happens to the earlier ones.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.study.store import JOURNAL, LIBRARIES, MANIFEST, append_line, replace_folder, source_digest, write_file

__all__ = ["Parts", "configuration_digest", "journal_of"]

RESULTS = "users"  # the folder of the parts


def configuration_digest(configuration: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a configuration, plain JSON data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()


def journal_of(folder: Path) -> dict[str, str]:
    """Return the digests that a journal holds, file name to SHA-256; a line that is not whole counts for nothing."""
    path = folder / JOURNAL
    found: dict[str, str] = {}
    for line in path.read_text(errors="replace").splitlines() if path.exists() else ():
        with suppress(ValueError):
            name, digest = json.loads(line)
            found[str(name)] = str(digest)
    return found


class Parts:
    """The folder while it is being made.

    Parameters
    ----------
    folder : Path
        Where results are wanted.
    command : str
        The command that makes them.
    configuration : mapping
        Everything that decides the results, as plain JSON data.
    others : iterable of str
        Names of the files that are written beside the parts.
    resume : bool
        Go on with what is there; otherwise a finished result of the same command is replaced, once this one is whole.

    Attributes
    ----------
    folder : Path
        Where files are written until the end.
    whole : dict of str to str
        Parts that need not be computed again, with their digests.

    Raises
    ------
    ValueError
        If the folder holds something else than results of the command; another configuration, or another version of
        the program, with `resume`; an unfinished run without.
    OSError
        If it cannot be read or written.
    """

    def __init__(
        self, folder: Path, command: str, configuration: Mapping[str, Any], others: Iterable[str], *, resume: bool
    ) -> None:
        self._wanted = Path(os.path.realpath(folder))
        partial = self._wanted.with_name(self._wanted.name + ".partial")
        self.folder = self._wanted
        plain = json.loads(json.dumps(configuration))
        self.manifest: dict[str, Any] = {
            "command": command,
            "configuration": plain,
            "configuration_sha256": configuration_digest(plain),
            "source_sha256": source_digest(),
            "versions": {name: version(name) for name in (*LIBRARIES, "pyarrow")},
        }
        self._others = frozenset(others)
        self.whole: dict[str, str] = {}
        earlier = self._earlier(self._wanted, command)
        beside = self._earlier(partial, command)
        if beside is not None and "files" in beside:  # stopped just before it took its name
            replace_folder(partial, self._wanted)
            earlier, beside = beside, None
        if beside is not None:
            self.folder, earlier = partial, beside
        if earlier is not None and resume:
            self._check_same(earlier)
            self._keep_whole({**earlier.get("files", {}), **journal_of(self.folder)})
        elif earlier is not None:
            if "files" not in earlier:
                raise ValueError(
                    f"{self.folder} holds an unfinished run: --resume goes on with it, removing it starts anew"
                )
            self.folder = partial
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_file(self.folder / JOURNAL, "".join(json.dumps(item) + "\n" for item in self.whole.items()))
            write_file(self.folder / MANIFEST, _json(self.manifest))
            self._journal = (self.folder / JOURNAL).open("a")
        except OSError:
            if not self.whole:
                self.remove()
            raise

    def keep(self, name: str, content: bytes) -> None:
        """Keep the file of a finished task: when this returns, it is safe."""
        path = f"{RESULTS}/{name}"
        write_file(self.folder / path, content)
        digest = hashlib.sha256(content).hexdigest()
        append_line(self._journal, json.dumps([path, digest]))
        self.whole[path] = digest

    def has(self, name: str) -> bool:
        """Say whether the file of a task is there and whole."""
        return f"{RESULTS}/{name}" in self.whole

    def write(self, name: str, content: str | bytes) -> None:
        """Write one of the other files."""
        write_file(self.folder / name, content)

    def files(self) -> list[Path]:
        """Return the parts, in the order of their names."""
        return [self.folder / name for name in sorted(self.whole)]

    def finish(self, wanted: Iterable[str]) -> None:
        """Remove parts that are not wanted, and list all files in the manifest: from here on the folder is complete.

        Raises
        ------
        OSError
            If it cannot be written, or somebody has put something into the earlier results that it is to replace.
        """
        if self.folder != self._wanted:
            try:
                _ours(self._wanted, self._others)
            except ValueError as error:
                raise OSError(str(error)) from None
        for name in set(self.whole) - {f"{RESULTS}/{name}" for name in wanted}:
            (self.folder / name).unlink()
            del self.whole[name]
        beside = {name: _digest(self.folder / name) for name in self._others if (self.folder / name).exists()}
        write_file(self.folder / MANIFEST, _json({**self.manifest, "files": {**self.whole, **beside}}))
        self.close()
        (self.folder / JOURNAL).unlink()
        if self.folder != self._wanted:
            replace_folder(self.folder, self._wanted)
            self.folder = self._wanted

    def close(self) -> None:
        """Stop here; what is finished stays."""
        with suppress(OSError):  # on a full disk, what was buffered was not promised
            self._journal.close()

    def give_up(self) -> str:
        """Stop here, before the end; what is finished stays, and what that is is said."""
        self.close()
        finished = len(journal_of(self.folder)) if (self.folder / JOURNAL).exists() else len(self.whole)
        if not finished:
            self.remove()
            return "nothing is kept"
        return f"{finished} finished tasks are kept in {self.folder}, and --resume goes on from there"

    def remove(self) -> None:
        """Remove everything of ours, and the folder if nothing else is in it."""
        for path in _ours(self.folder, self._others):
            path.unlink(missing_ok=True)
        for folder in (self.folder / RESULTS, self.folder):
            with suppress(OSError):
                folder.rmdir()

    def _earlier(self, folder: Path, command: str) -> dict[str, Any] | None:
        """Return the manifest of what a folder holds, if it is results of the command, or None if there is nothing."""
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"the output must be a folder, {folder} is a file")
        if not folder.exists() or not any(folder.iterdir()):
            return None
        present = {path.name for path in folder.iterdir()}
        if MANIFEST not in present and not any(path.suffix == ".parquet" for path in _ours(folder, self._others)):
            return None  # stopped before anything was made, or after it was removed
        try:
            manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
            same = manifest["command"] == command
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise ValueError(f"the output folder must be new or hold results of lpsm {command}, {folder} does not")
        _ours(folder, self._others)
        return manifest

    def _check_same(self, earlier: Mapping[str, Any]) -> None:
        own = self.manifest
        theirs = earlier.get("configuration", {})
        for name in sorted({*own["configuration"], *theirs}):
            if own["configuration"].get(name) != theirs.get(name):
                raise ValueError(
                    f"--resume needs the configuration that the folder was made with, {self.folder} differs in {name}"
                )
        for name, what in (("versions", "versions of the libraries"), ("source_sha256", "version of this program")):
            if own[name] != earlier.get(name):
                raise ValueError(f"--resume needs the {what} that the folder was made with, {self.folder} has another")

    def _keep_whole(self, listed: Mapping[str, str]) -> None:
        for path in _ours(self.folder, self._others):
            name = path.relative_to(self.folder).as_posix()
            if name in listed and name.startswith(f"{RESULTS}/") and _digest(path) == listed[name]:
                self.whole[name] = listed[name]
            elif name not in (MANIFEST, JOURNAL):
                path.unlink()


def _ours(folder: Path, others: Container[str]) -> list[Path]:
    """All files of a folder; one that is not ours is an error, and is never removed."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        temporary = path.name.startswith(".") and path.name.endswith(".tmp")
        part = name.startswith(f"{RESULTS}/") and name.endswith(".parquet") and name.count("/") == 1
        if path.is_dir() and not path.is_symlink() and name == RESULTS:
            continue
        if not (temporary or part or name in others or name in (MANIFEST, JOURNAL)):
            raise ValueError(f"the output folder {folder} holds {name}, which this command did not write")
        found.append(path)
    return sorted(found, key=lambda path: path.name == MANIFEST)  # last, as it is what makes the others ours


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, sort_keys=True) + "\n"
