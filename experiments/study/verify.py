"""Check a folder of results against its manifest: every file whole, none missing, none that does not belong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from experiments.study.files import file_digest
from experiments.study.store import JOURNAL, MANIFEST, configuration_digest, journal_of

__all__ = ["Verdict", "records", "verify"]


class Verdict(NamedTuple):
    """What was found.

    Attributes
    ----------
    command : str
        What made the folder.
    finished : bool
        Whether it says of itself that it is complete.
    whole : int
        Files that are as they were written.
    problems : list of str
        One for each thing that is wrong; an unfinished run is not wrong.
    """

    command: str
    finished: bool
    whole: int
    problems: list[str]


def verify(folder: Path) -> Verdict:
    """Check all files of a folder, finished or not.

    Raises
    ------
    ValueError
        If it has no manifest that can be read.
    OSError
        If a file cannot be read.
    """
    if not folder.is_dir():
        raise ValueError(f"results are a folder, {folder} is " + ("a file" if folder.exists() else "not there"))
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
        command, configuration = str(manifest["command"]), manifest["configuration"]
        finished = "files" in manifest
        listed: dict[str, str] = dict(manifest["files"]) if finished else journal_of(folder)
    except FileNotFoundError:
        raise ValueError(f"{folder} must hold a {MANIFEST}, as every folder of results does, got none") from None
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{folder / MANIFEST} must be whole, got one that cannot be read") from None
    problems = []
    digest = manifest.get("configuration_sha256")
    if digest is not None and digest != configuration_digest(configuration):
        problems.append(f"{MANIFEST}: the configuration is not the one it was made with")
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    whole = 0
    for name, wanted in sorted(listed.items()):
        path = folder / name
        if not _inside(name) or name not in present:
            problems.append(f"{name}: missing")
        elif file_digest(path) != wanted:
            problems.append(f"{name}: not as it was written")
        else:
            whole += 1
    if finished:
        problems += [f"{name}: not in the manifest" for name in sorted(present - set(listed) - {MANIFEST, JOURNAL})]
    return Verdict(command, finished, whole, problems)


def records(folder: Path) -> list[Path]:
    """Return the folders below `folder` that are results, in order; none if it is results itself."""
    return [] if (folder / MANIFEST).exists() else sorted(path.parent for path in folder.rglob(MANIFEST))


def _inside(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts
