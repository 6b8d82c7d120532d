"""Machine code on disk: a file a function and signature, in a folder named by the sources that it was made of.

Machine code holds that of all that it calls.  So it is kept in a folder named by a digest of all sources of the
kernel's package and of this one: processes that compile at once, even from different sources, cannot mistake one
another's.  Loading it is running it: the folder, where it stands and all that is in it must belong to this user or to
the administrator, and nobody else may write it.  It stands in `NUMBA_CACHE_DIR` if that is set, else beside the
package's modules, else in the user's cache; where none of them will do, nothing is kept.  A file begins with a digest
of its place and its content; what is damaged, or stands where it was not written, is as if it were not there.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path

_DIGEST_BYTES = 32


def is_plain() -> bool:
    """Whether all is to run as plain Python, by `NUMBA_DISABLE_JIT`."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


class Kept:
    """The files of one function, each by a key; reading gives None, and writing does nothing, where it cannot be."""

    def __init__(self, module: str, name: str) -> None:
        self.folder, self._stem = folder_of(module), f"{module}.{name}".replace("<", "").replace(">", "")

    def any(self) -> bool:
        """Whether there is one, undamaged."""
        return self.folder is not None and any(_content(path) for path in self.folder.glob(f"{self._stem}-*.code"))

    def read(self, key: object) -> bytes | None:
        """Return what was written."""
        return None if self.folder is None else _content(self._path(self.folder, key))

    def write(self, key: object, content: bytes) -> None:
        """Write to a temporary name, flush and rename."""
        if self.folder is None:
            return
        path = self._path(self.folder, key)
        temporary = path.with_suffix(f".{uuid.uuid4().hex}.code")
        try:
            with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o644)) as file:
                file.write(_digest(path, content) + content)
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError:  # a full disk, say: this process has what it needs
            with suppress(OSError):
                temporary.unlink()

    def _path(self, folder: Path, key: object) -> Path:
        return folder / f"{self._stem}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.code"


def _digest(path: Path, content: bytes) -> bytes:
    return hashlib.sha256(f"{path.parent.name}/{path.name}\0".encode() + content).digest()


def _content(path: Path) -> bytes | None:
    """Return the content of a file of ours, None if it is not there as it was written, or not ours."""
    try:
        found = path.read_bytes() if _is_ours(path.lstat()) else b""
    except OSError:
        return None
    digest, content = found[:_DIGEST_BYTES], found[_DIGEST_BYTES:]
    return content if content and digest == _digest(path, content) else None


@cache
def folder_of(module: str) -> Path | None:
    """Return the folder for what is made of a module, or None if there is no safe one or it is of no package."""
    if is_plain():
        return None
    package = module.partition(".")[0]
    roots = [getattr(sys.modules.get(name), "__path__", None) for name in sorted({__name__.partition(".")[0], package})]
    return None if None in roots else _folder(package, tuple(Path(root[0]) for root in roots if root))


@cache
def _folder(package: str, roots: tuple[Path, ...]) -> Path | None:
    digest = hashlib.sha256()
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    own = next(root for root in roots if root.name == package)
    stem = f"{package}-{hashlib.sha256(str(own).encode()).hexdigest()[:8]}-{sys.implementation.cache_tag}-"
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        places = [Path(named)]
    else:
        users = os.environ.get("XDG_CACHE_HOME") or (os.path.expanduser("~/.cache") if os.environ.get("HOME") else "")
        places = [own / "__pycache__", *([Path(users) / "lpsm"] if users else [])]
    for place in places:
        folder = place / f"{stem}{digest.hexdigest()[:16]}"
        with suppress(OSError):
            for made in (place, folder):
                made.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_safe(folder):
                for old in place.glob(f"{stem}*"):  # made of other sources
                    if old != folder and _is_safe(old):
                        _remove(old)
                return folder
    return None


def _is_safe(folder: Path) -> bool:
    """Whether a folder, that in which it stands, and all that is in it are ours alone to write; no link is followed."""
    if not (stat.S_ISDIR(folder.lstat().st_mode) and os.access(folder, os.R_OK | os.X_OK)):
        return False
    return all(map(_is_ours, (folder.parent.stat(), folder.lstat(), *(path.lstat() for path in folder.iterdir()))))


def _is_ours(found: os.stat_result) -> bool:
    """Whether this user or the administrator owns a file or a folder, and nobody else may write it."""
    ours = not hasattr(os, "geteuid") or found.st_uid in (os.geteuid(), 0)
    plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return ours and plain and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _remove(folder: Path) -> None:
    """Remove machine code, and its folder if nothing else is in it."""
    with suppress(OSError):
        for path in folder.glob("*.code"):
            path.unlink()
        folder.rmdir()
