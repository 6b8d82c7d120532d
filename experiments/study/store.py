"""Where results go: a folder that is either whole or not there.

Files grow in ``NAME.partial`` beside the folder that is wanted, and when all are written the folder takes its name in
one step.  A manifest says which command makes it, with which configuration and libraries, and lists the files before
the first is written; ``SHA256SUMS``, written last, holds the digest of every file (`sha256sum -c` checks it).  Nothing
in a folder depends on when, where or by how many processes it was made.

A journal holds the result of every finished task, a line each, with a digest that binds it to the manifest.  What was
stopped, by whatever, goes on from there when the same command runs again; lines that are not as they were written, and
what another configuration or another program left behind, are computed anew.  A result may be a file of its own, a
*part* (``part-000012.parquet``), whose digest the journal has before it is written; a part that the journal does not
name is somebody else's.

A folder is replaced only if its manifest is of the same command and lists all it holds: what somebody else put there is
never deleted.  If it has other options, or somebody has changed a file in it, that must be asked for.  One process at a
time has a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.escaping import echo, inert
from experiments.quantities import Row
from experiments.study import files
from experiments.study.signals import put_off
from traces.files import TEMPORARY, temporary

if TYPE_CHECKING:
    import pandas as pd

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
JOURNAL = "finished.jsonl"
PAGE = "report.html"  # which `lpsm report` may add to a finished folder
PAGE_HEAD = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta name="generator" content="lpsm report">\n'
LIBRARIES = ("lpsm", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy", "simpy")
PROGRAM = "program_sha256"  # in a configuration: no option, but by which program a record was made

_TEMPORARY = re.compile(rf"\.(.+)\.[0-9a-f]{{12}}{re.escape(TEMPORARY)}", re.DOTALL)
_PART = re.compile(r"part-\d{6,}\.parquet")
_SHAPE = {"command": str, "configuration": dict, "source_sha256": str, "versions": {...: str}}


def fits(data: object, shape: Any) -> bool:
    """Whether JSON data have a shape: a type; one of several shapes; a list of one; names, each with one.

    Further names are free, unless ``...`` has a shape for them.

    >>> fits({"a": [1, 2], "b": "text"}, {"a": [int]}), fits({"a": [1, True]}, {"a": [int]}), fits({"b": 1}, {...: str})
    (True, False, False)
    """
    if isinstance(shape, list):
        return isinstance(data, list) and all(fits(one, shape[0]) for one in data)
    if isinstance(shape, dict):
        rest = shape.get(..., object)
        return (
            isinstance(data, dict)
            and shape.keys() - {...} <= data.keys()
            and all(fits(one, shape.get(name, rest)) for name, one in data.items())
        )
    if isinstance(shape, tuple):
        return any(fits(data, one) for one in shape)
    return isinstance(data, shape) and (type(data) is not bool or shape in (bool, object))


def manifest_of(folder: Path) -> Row:
    """Return the manifest of a folder; an `OSError` if there is none, a `ValueError` if it is none that we write."""
    path = folder / MANIFEST
    try:
        found = json.loads(files.content(path))
    except (ValueError, RecursionError):
        raise ValueError(f"{path} must be JSON as lpsm writes it") from None
    if not fits(found, _SHAPE) or not fits(listed := found.get("files", {}), {...: str}):
        raise ValueError(f"{path} must have what lpsm writes into a manifest")
    try:
        _head(found)
    except RecursionError:
        raise ValueError(f"{path}: its configuration is nested too deeply") from None
    if others := [name for name in listed if PurePath(name).name != name or name == ".."]:
        raise ValueError(f"{path} must list files in the folder itself, got {others[0]!r}")
    return dict(found)


def finished(folder: Path) -> Row:
    """Return the manifest of a finished folder; as `manifest_of`, and a `ValueError` if it is not as it was written."""
    manifest = manifest_of(folder)
    if "files" not in manifest:
        raise ValueError(f"{folder}: the results of lpsm {manifest['command']} are not finished: no files are listed")
    if altered(folder, {"files": {}}) is not None:
        raise ValueError(f"{folder / MANIFEST} is not as it was written; delete {folder} and run again")
    return manifest


def content_of(folder: Path, name: str, manifest: Row, most: int | None = None) -> bytes:
    """Return a file of a `finished` folder, of at most so many bytes; a `ValueError` if it is not as it was written."""
    try:
        content, what = files.content(folder / name, most), "as it was written"
    except OSError:
        content, what = b"", "there"
    if what == "there" or _sha256(content) != manifest["files"].get(name):
        raise ValueError(f"{folder / name} is not {what}; delete {folder} and run again")
    return content


def journal_of(folder: Path) -> Row:
    """Return what the lines of a folder's journal say, checked or not: results by the keys of their tasks."""
    return dict(json.loads(line.partition(" ")[2]) for line in _lines(folder)[1:])


def altered(folder: Path, manifest: Row) -> Path | None:
    """Return a file of a finished folder that is there, but not as it was written, if there is one."""
    listed: dict[str, str] = manifest["files"]
    with suppress(OSError, ValueError):
        text = files.content(folder / SUMS).decode()
        sums = {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}
        if text != _listing(sums) or (listed and sums.keys() != {*listed, MANIFEST}):
            return folder / SUMS
        for name in sorted({*listed, MANIFEST}):
            digests = {listed.get(name, sums.get(name)), sums.get(name)}
            if (path := folder / name).is_file() and digests != {files.content_digest(path)}:
                return path
        return None
    return folder / SUMS


def part_name(number: int) -> str:
    """Return the name of a part, which is also the key of its task."""
    return f"part-{number:06d}.parquet"


class _Held(NamedTuple):
    """What a folder holds, if all of it is of one command: its manifest, and the names of its files."""

    manifest: Row
    names: list[str]


class Store:
    """The folder of one study while it is being made.

    `folder` is where the results are wanted, `partial` where they grow until the end; `command` makes them, such as
    ``"compare"``, and `configuration`, plain JSON data, is all that decides them.  `finished` is what need not be
    computed again: results by the keys of tasks.  `shape` is that of such a result (`fits`).  With `force` results of
    another configuration, or that somebody has changed, are replaced.

    A `folder` that holds something this command did not make or may not replace, or that another process has, is a
    `ValueError`; one that cannot be written is an `OSError`.
    """

    def __init__(
        self, folder: Path, command: str, configuration: Mapping[str, object], *, force: bool = False,
        shape: object = object,
    ) -> None:  # fmt: skip
        self.folder = Path(os.path.realpath(folder))
        self.partial = self.folder.with_name(self.folder.name + ".partial")
        self.configuration: Row = json.loads(json.dumps(configuration))
        self.manifest = {
            "command": command, "configuration": self.configuration, "source_sha256": files.source_digest(),
            "versions": {name: version(name) for name in LIBRARIES},
        }  # fmt: skip
        self.finished: Row = {}
        self._head = _head(self.manifest)
        self._contents: dict[str, bytes] = {}
        self._published = False
        files.refuse_file(self.folder)
        with ExitStack() as held:
            held.enter_context(files.alone(self.folder))
            self._begin(force, shape)
            self._alone = held.pop_all()

    def _begin(self, force: bool, shape: object) -> None:
        """Take over what can be gone on with, and remove what cannot."""
        earlier, unfinished = self._held(self.folder), self._held(self.partial)
        if earlier is not None:
            path, other = altered(self.folder, earlier.manifest), _options(earlier.manifest) != _options(self.manifest)
            what = (
                f"{path} is not as it was written" if path else f"{self.folder} holds a result of other options or data"
            )
            if (path or other) and not force:
                raise ValueError(f"{what}: --force replaces it, or choose another --out")
            if path or other:
                echo(f"lpsm: {what}, and is replaced", err=True)
        if unfinished is not None:
            self._take_over(shape)
        try:
            self._clear()
            if unfinished is not None and self.finished:
                self._start(self.partial, unfinished.manifest.get("files", {}))
            else:
                made = temporary(self.partial)
                made.mkdir()
                try:
                    self._start(made, {})
                    made.rename(self.partial)
                except BaseException:
                    _remove(made, (JOURNAL, MANIFEST))
                    raise
            self._journal = (self.partial / JOURNAL).open("a")
        except BaseException:
            self._clear()
            raise

    def _start(self, folder: Path, listed: Mapping[str, str]) -> None:
        """Write a journal of what is finished, and a manifest that lists the files there may be."""
        lines = [self._line(*pair) for pair in self.finished.items()]
        files.write_file(folder / JOURNAL, "".join([f"{self._head}\n", *lines]))
        files.write_file(folder / MANIFEST, _json({**self.manifest, "files": listed}))

    def _take_over(self, shape: object) -> None:
        """Read what the journal holds of this configuration and program, and say what is computed again."""
        head, *lines = _lines(self.partial)
        if head == self._head:
            pairs = [self._pair(line, shape) for line in lines]
            self.finished = dict(pair for pair in pairs if pair is not None)
            for name in filter(_PART.fullmatch, [*self.finished]):
                if _digest_of(self.partial / name) != self.finished[name]:
                    pairs.append(None)
                    del self.finished[name]
            count, why = pairs.count(None), "that are not as they were written, and are computed again"
        else:
            count, why = len(lines), "of another configuration or program, which cannot be gone on with"
        if count:
            echo(f"lpsm: {self.partial} has {count} finished runs {why}", err=True)

    def _pair(self, line: str, shape: object) -> tuple[str, object] | None:
        """Return the key and the result in a line of the journal, if it is as it was written."""
        digest, _, told = line.partition(" ")
        if digest == _sha256(self._head + told):
            with suppress(ValueError, RecursionError):
                found = json.loads(told)
                if fits(found, list) and len(found) == 2 and fits(found[0], str) and fits(found[1], shape):
                    return found[0], found[1]
        return None

    def _line(self, key: str, result: object) -> str:
        """Return a line of the journal: a digest, and the key and the result of a task."""
        told = json.dumps([key, result])
        return f"{_sha256(self._head + told)} {told}\n"

    def keep(self, key: str, result: object) -> None:
        """Keep the result of a finished task, JSON data: when this returns, no interruption loses it."""
        self._journal.write(self._line(key, result))
        self._journal.flush()
        os.fsync(self._journal.fileno())
        self.finished[key] = result

    def keep_part(self, name: str, content: bytes) -> None:
        """Keep the result of a finished task as a file of the folder (`part_name`), once the journal has its digest."""
        self.keep(name, _sha256(content))
        files.write_file(self.partial / name, content)

    def write(self, name: str, content: bytes | str | pd.DataFrame) -> None:
        """Add a result file: bytes, text, which for people (``.txt``) is made inert, or a table that becomes CSV."""
        if not isinstance(content, (bytes, str)):
            content = files.csv_text(content)
        if isinstance(content, str):
            content = (inert(content, "\n\t") if name.endswith(".txt") else content).encode()
        self._contents[name] = content

    def publish(self) -> None:
        """Finish: write the files and their digests, and give the folder its name, replacing an older result.

        It is an `OSError` if somebody has meanwhile put something there.
        """
        try:
            earlier = self._held(self.folder)
        except ValueError as error:
            raise OSError(str(error)) from None
        digests = {name: digest for name, digest in self.finished.items() if _PART.fullmatch(name)}
        digests |= {name: _sha256(content) for name, content in self._contents.items()}
        manifest = _json({**self.manifest, "files": digests})
        sums = {**digests, MANIFEST: _sha256(manifest)}
        files.write_file(self.partial / MANIFEST, manifest)
        for name, content in self._contents.items():
            files.write_file(self.partial / name, content)
        files.write_file(self.partial / SUMS, _listing(sums))
        old = temporary(self.folder)
        with put_off():  # between two names, and until the older result is gone
            if there := self.folder.exists():
                self.partial.chmod(self.folder.stat().st_mode & 0o7777)
                self.folder.rename(old)
            try:
                self.partial.rename(self.folder)
            except BaseException:
                if there:
                    old.rename(self.folder)
                raise
            self._published = True
            with suppress(OSError):
                self._journal.close()
            _remove(old, earlier.names if earlier else ())
            for path, names in self._left_behind():
                _remove(path, names)
            with suppress(OSError):
                (self.folder / JOURNAL).unlink()
            if left := [path for path in (old, self.folder / JOURNAL) if os.path.lexists(path)]:
                raise OSError(f"what is no longer needed cannot be removed: {left[0]}")
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
        with self._alone:
            with suppress(OSError):  # on a full disk, what was buffered was not promised
                self._journal.close()
            if self._published:
                return f"the results are in {self.folder}"
            self._clear()
        if not self.finished:
            return f"nothing is kept in {self.partial}"
        return f"what was finished is kept in {self.partial}, and the same command goes on from there"

    def _clear(self) -> None:
        """Remove what the same command writes again: all but the journal, or that too if nothing is finished."""
        with suppress(OSError, ValueError):  # what somebody has put there stays, with all the rest
            if (unfinished := self._held(self.partial)) is not None:
                kept = {MANIFEST, JOURNAL, *self.finished} if self.finished else set()
                _remove(self.partial, sorted({*unfinished.names} - kept))

    def _left_behind(self) -> Iterator[tuple[Path, list[str]]]:
        """Yield folders under temporary names that runs of this command were killed in, all of it as they wrote it."""
        for path in self.folder.parent.iterdir():
            of = _TEMPORARY.fullmatch(path.name)
            with suppress(OSError, ValueError):
                held = self._held(path) if of and of[1] in (self.folder.name, self.partial.name) else None
                if held and ({*held.names} <= {JOURNAL, MANIFEST} or altered(path, held.manifest) is None):
                    yield path, held.names

    def _held(self, folder: Path) -> _Held | None:
        """Return what a folder holds, if that is all ours, or None if there is nothing."""
        command, finished = self.manifest["command"], folder == self.folder
        files.refuse_file(folder)
        rule = f"the output folder must be new or hold results of lpsm {command}, {folder} does not"
        try:
            entries = {entry.name: entry.is_file(follow_symlinks=False) for entry in os.scandir(folder)}
            if not entries and finished:
                return None
            manifest = manifest_of(folder)
        except FileNotFoundError:
            if not os.path.lexists(folder):
                return None
            raise ValueError(rule) from None
        except (OSError, ValueError) as error:
            raise ValueError(f"{rule}: {error}") from None
        if manifest["command"] != command or folder.is_symlink() or (finished and "files" not in manifest):
            raise ValueError(rule)
        ours = {*manifest.get("files", ()), MANIFEST, SUMS}
        # of a program that was killed before it removed that, and of `lpsm report`
        heads = {JOURNAL: f"{_head(manifest)}\n", PAGE: PAGE_HEAD}
        ours |= {name for name, head in heads.items() if files.begins(folder / name, head.encode())}
        journal = _lines(folder) if entries.get(JOURNAL) else []
        ours |= set() if finished else {JOURNAL, *_PART.findall("\n".join(journal))}
        for name, is_file in entries.items():
            of = _TEMPORARY.fullmatch(name)
            if not is_file or (of[1] if of else name) not in ours:
                raise ValueError(f"the output folder {folder} holds {name}, which lpsm {command} did not write")
        return _Held(manifest, list(entries))


def _options(manifest: Row) -> Row:
    return {name: value for name, value in manifest["configuration"].items() if name != PROGRAM}


def _head(manifest: Row) -> str:
    """Return the first line of the journal that goes with a manifest."""
    made = {name: manifest[name] for name in _SHAPE}
    return f"lpsm finished {_sha256(_json(made))}"


def _lines(folder: Path) -> list[str]:
    """Return the first line of a journal, empty if there is none, and those of finished tasks."""
    try:
        head, *lines = files.content(folder / JOURNAL, None).decode(errors="replace").split("\n")
    except FileNotFoundError:
        return [""]
    return [head, *filter(None, lines)]


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Remove files of ours, and the folder if there is nothing else in it."""
    for name in names:
        with suppress(OSError):
            (folder / name).unlink()
    with suppress(OSError):
        folder.rmdir()


def _listing(digests: Mapping[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def _digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a regular file; None if there is none."""
    try:
        return _sha256(files.content(path, None))
    except OSError:
        return None


def _sha256(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def _json(data: object) -> str:
    return json.dumps(data, indent=2, sort_keys=True) + "\n"
