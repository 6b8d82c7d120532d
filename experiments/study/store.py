"""Where results go: a folder that is either whole or not there.

Files grow in ``NAME.partial`` beside the folder that is wanted, and when all are written the folder takes its name in
one step.  A manifest says which command makes it, with which configuration and libraries; ``SHA256SUMS``, written
last, holds the digest of every file (`sha256sum -c` checks it).  Nothing in a folder depends on when, where or by how
many processes it was made.

A journal holds the result of every finished task, a line each.  What was stopped, by whatever, goes on from there when
the same command runs again; what another configuration or another program left behind is computed anew.

A folder is replaced only if its manifest is of the same command and lists all it holds: what somebody else put there
is never deleted.  What holds more runs than will be computed is replaced only if that is asked for.  One process at a
time has a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.inert import echo, inert
from experiments.study import files
from experiments.study.interruptions import Interrupted

__all__ = ["JOURNAL", "LIBRARIES", "MANIFEST", "PAGE", "SUMS", "Store", "journal_of"]

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
        with suppress(ValueError):  # the last line may not be whole
            key, found[key] = json.loads(line)
    return found


class Store:
    """The folder of one study while it is being made.

    `folder` is where the results are wanted, `partial` where they grow until the end; `command` makes them, such as
    ``"compare"``, and `configuration`, plain JSON data, is all that decides them.  With `runs`, how many tasks will be
    computed, the manifest counts them, and a result of another configuration that has more, or policies that this one
    lacks, is refused unless `replace`.  `finished` is what need not be computed again: results by the keys of tasks.

    A `folder` that holds something this command did not make, or such a larger result, or that another process has, is
    a `ValueError`; one that cannot be written is an `OSError`.
    """

    def __init__(
        self, folder: Path, command: str, configuration: Mapping[str, Any], *, runs: int | None = None,
        replace: bool = False,
    ) -> None:  # fmt: skip
        self.folder = Path(os.path.realpath(folder))
        self.partial = self.folder.with_name(self.folder.name + ".partial")
        self.configuration: dict[str, Any] = json.loads(json.dumps(configuration))
        versions = {name: version(name) for name in LIBRARIES}
        self.manifest = {"command": command, "configuration": self.configuration, "versions": versions}
        self.finished: dict[str, Any] = {}
        self._unfinished = {**self.manifest, "source_sha256": files.source_digest()}
        self._written: dict[str, str] = {}
        self._published, self._runs, self._replace = False, runs, replace
        files.refuse_file(self.folder)
        with ExitStack() as held:
            held.enter_context(files.alone(self.folder))
            self._begin()
            self._alone = held.pop_all()

    def _begin(self) -> None:
        """Take over what can be gone on with, and remove what cannot."""
        earlier, unfinished = self._manifest_of(self.folder), self._manifest_of(self.partial)
        if unfinished is not None and "files" in unfinished:  # stopped just before it took its name
            files.replace_folder(self.partial, self.folder)
            earlier, unfinished = unfinished, None
        kept = journal_of(self.partial) if unfinished is not None else {}
        if unfinished == self._unfinished:
            self.finished = kept
        elif kept:
            self._warn(f"{self.partial} kept", len(kept), unfinished, self._unfinished)
        if earlier is not None:
            self._warn(f"{self.folder} holds", earlier.get("runs", 0), earlier, self.manifest)
        self._clear()
        try:
            self.partial.mkdir(parents=True, exist_ok=True)
            lines = (json.dumps(pair) + "\n" for pair in self.finished.items())
            files.write_file(self.partial / JOURNAL, "".join(lines))
            files.write_file(self.partial / MANIFEST, _json(self._unfinished))
            self._journal = (self.partial / JOURNAL).open("a")
        except OSError:
            self._clear()
            raise

    def _warn(self, where: str, count: int, old: Any, new: Any) -> None:
        """Say on standard error which result is replaced and how the two differ; refuse if it is a larger one."""
        others = _differences(old.get("configuration"), new["configuration"])
        others = others or [f"the {name} was another" for name in ("source_sha256",) if name in new and old != new]
        if not others:
            return
        words = f"{where} {f'{count} finished runs' if count else 'a result'} of another configuration"
        differ = ", ".join(others[:3]) + (f", and {len(others) - 3} more" if len(others) > 3 else "")
        earlier: list[Any] = dict(old.get("configuration") or {}).get("policies", [])
        more_runs, lost = count > (self._runs or 0), {*earlier} - {*self.configuration.get("policies", earlier)}
        if self._runs is not None and (more_runs or (count and lost)) and not self._replace:
            rule = "more than these" if more_runs else "with policies that these lack"
            raise ValueError(f"{words} ({differ}), {rule}; --replace replaces them, --out writes elsewhere")
        echo(f"lpsm: {words}, which this one replaces: {differ}", err=True)

    def keep(self, key: str, result: Any) -> None:
        """Keep the result of a finished task, JSON data: when this returns, no interruption loses it."""
        files.append_line(self._journal, json.dumps([key, result]))
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
        runs = {} if self._runs is None else {"runs": len(self.finished)}
        manifest = _json({**self.manifest, **runs, "files": self._written})
        self._journal.close()
        sums = {**self._written, MANIFEST: hashlib.sha256(manifest.encode()).hexdigest()}
        files.write_file(self.partial / SUMS, "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))
        files.write_file(self.partial / MANIFEST, manifest)
        (self.partial / JOURNAL).unlink()
        files.replace_folder(self.partial, self.folder)
        self._published = True
        self._alone.close()

    @contextmanager
    def giving_up(self, *, input_is_right: bool = False) -> Iterator[None]:
        """Abandon what is unfinished if anything ends the block early, and have an interruption say what is kept.

        What is finished is kept, after a `ValueError` only if the `input_is_right`.
        """
        try:
            yield
        except KeyboardInterrupt as interruption:
            raise Interrupted.saying(f"; {self.abandon()}", interruption) from None
        except OSError as error:
            said = self.abandon()
            if self._published or isinstance(error, FileNotFoundError):  # of the input, and its name says which
                raise
            where = f"{error.filename}: " if error.filename is not None else ""
            raise OSError(f"{where}{error.strerror or error}; {said}") from None
        except BaseException as error:
            self.abandon(keep=input_is_right or not isinstance(error, ValueError))
            raise

    def abandon(self, *, keep: bool = True) -> str:
        """Give up: remove what is unfinished, except (with `keep`) the journal; say what is kept."""
        if self._published:
            return f"the results are in {self.folder}"
        with self._alone:
            with suppress(OSError):  # on a full disk, what was buffered was not promised
                self._journal.close()
            if not keep:
                self.finished.clear()
            elif self.finished and not (self.partial / JOURNAL).exists():
                return f"the results are in {self.partial}"
            self._clear()
        if not self.finished:
            return "nothing is kept"
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
        there = sorted(folder.rglob("*")) if folder.exists() else []
        # a store that was killed at once may leave a journal and temporary files
        if folder / MANIFEST not in there and all(path.name == JOURNAL or _is_temporary(path) for path in there):
            return None
        try:
            manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
            same = manifest["command"] == command
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise ValueError(f"the output folder must be new or hold results of lpsm {command}, {folder} does not")
        for path in there if "files" in manifest else ():
            name = path.relative_to(folder).as_posix()
            ours = name in (*manifest["files"], MANIFEST, JOURNAL, SUMS, PAGE) or _is_temporary(path)
            if not ours and (path.is_symlink() or not path.is_dir()):
                raise ValueError(f"the output folder {folder} holds {name}, which lpsm {command} did not write")
        return manifest


def _is_temporary(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(".tmp")


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, sort_keys=True) + "\n"


def _differences(old: Any, new: Any, name: str = "configuration") -> list[str]:
    """Say what differs between two configurations, a setting each."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [line for key in {**old, **new} for line in _differences(old.get(key), new.get(key), key)]
    was, now = (text if len(text) <= 60 else f"{text[:57]}..." for text in map(json.dumps, (old, new)))
    return [] if old == new else [f"{name} was {was}, is {now}"]
