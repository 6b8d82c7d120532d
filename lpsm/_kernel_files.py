"""Machine code on disk: where it is kept, by what sources it goes, and who may have written it.

Machine code holds that of all kernels it calls, so what is kept goes by the SHA-256 of the source of the
kernel's module and of all modules of this project that it imports, however far.  numba's own index knows the
kernel's file alone, and goes on with old code when another file has changed.  Here there is no index: a file is
named after the sources, the argument types, the processor and the versions, so that processes that compile at
once, even from different sources, cannot mistake one another's.

Loading machine code is running it.  So it is kept, and looked for, only in a folder that belongs to this user (or
to the administrator) and that nobody else may write: `NUMBA_CACHE_DIR` if that is set, the folder beside the
module, the user's cache; where none of them will do, it is not kept at all.

What it leaves out: a module imported under a name that is made at run time.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path

__all__ = ["KernelFiles", "files_of", "sources_of"]

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE)
_COMMENT = re.compile(r"#.*")
_ABI = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
_DIGEST_BYTES = 32


def files_of(module: str, name: str) -> KernelFiles | None:
    """Return the place of a kernel's machine code, or None if there is no safe one or the module has no package."""
    sources = sources_of(module)
    found = _file(module, _packages(module))
    folder = None if sources is None or found is None else _folder(found)
    if folder is None:
        return None
    stem = f"{module.rpartition('.')[2]}.{name}"
    return KernelFiles(folder, re.sub(r"[^\w.]", "", stem), str(sources))


class KernelFiles:
    """The machine code of one kernel on disk.

    A file is the digest of its content, then the content; one that is not whole, or that somebody else could
    have written, is as good as none.
    """

    def __init__(self, folder: Path, stem: str, sources: str) -> None:
        self._folder, self._stem, self._sources = folder, stem, f"{stem}-{sources}.{_ABI}."

    def any(self) -> bool:
        """Whether there is one from these sources."""
        return any(self._folder.glob(f"{self._sources}*.nbc"))

    def load(self, key: object) -> bytes | None:
        """Return what was saved, or None."""
        try:
            with self._path(key).open("rb") as file:
                if not _is_ours(os.fstat(file.fileno())):
                    return None
                stored = file.read()
        except OSError:
            return None
        digest, content = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
        return content if hashlib.sha256(content).digest() == digest else None

    def save(self, key: object, content: bytes) -> None:
        """Save, if it can be; and remove what other sources gave, by this version of Python."""
        path = self._path(key)
        temporary = path.with_suffix(f".{uuid.uuid4().hex[:16]}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            with open(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o644)  # whatever the umask: a file that others may write would not be read
                file.write(hashlib.sha256(content).digest() + content)
            temporary.replace(path)
        except OSError:  # a full disk, say: this process has what it needs
            with suppress(OSError):
                temporary.unlink()
        for other in self._folder.glob(f"{self._stem}-*"):
            if not other.name.startswith(self._sources) and f".{_ABI}." in other.name:
                with suppress(OSError):
                    other.unlink()

    def _path(self, key: object) -> Path:
        return self._folder / f"{self._sources}{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"


@cache
def sources_of(module: str) -> str | None:
    """Return a digest of a module's source and of what it imports, or None if it is not of a package."""
    files = _imported(module)
    if module not in files:
        return None
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + _read(files[name])[0])
    return digest.hexdigest()[:16]


def _is_ours(found: os.stat_result) -> bool:
    """Whether this user or the administrator owns it, and nobody else may write it."""
    if not hasattr(os, "geteuid"):
        return True  # no such owners on this system
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@cache
def _folder(source: Path) -> Path | None:
    """Return the first safe folder for what is compiled of a source file; it is made if need be."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    below = f"{source.parent.name}-{hashlib.sha256(str(source.parent).encode()).hexdigest()[:16]}"
    wanted = [Path(named) / below] if named else [source.parent / "__pycache__"]
    home = os.environ.get("XDG_CACHE_HOME") or (os.path.expanduser("~/.cache") if os.environ.get("HOME") else "")
    if home and not named:
        wanted.append(Path(home) / "lpsm" / below)
    for folder in wanted:
        with suppress(OSError):
            if not folder.is_dir():
                folder.mkdir(mode=0o755, parents=True)
                folder.chmod(0o755)
            found = folder.stat()
            may_write = os.access(folder, os.W_OK) or found.st_uid == 0  # the administrator's holds what there is
            if _is_ours(found) and may_write:
                return folder
    return None


def _packages(module: str) -> frozenset[str]:
    return frozenset((__name__.partition(".")[0], module.partition(".")[0]))


def _imported(module: str) -> dict[str, Path]:
    """Return the files of a module and of all that it imports, however far, from its package and this one."""
    packages = _packages(module)
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _file(name, packages)
        if path is None or name in found:
            continue
        found[name] = path
        for whence, what in _read(path)[1]:
            inner = f"{whence}.{what}"
            waiting.append(inner if what and _file(inner, packages) else whence)
    return found


@cache
def _file(name: str, packages: frozenset[str]) -> Path | None:
    """Return the file of a module that belongs to one of the packages."""
    package, *inner = name.split(".")
    folder = getattr(sys.modules.get(package), "__path__", None)
    if package not in packages or folder is None:
        return None
    path = Path(folder[0], *inner)
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def _read(path: Path) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """Return the digest of a source file, as it is when first asked for, and what it imports: (module, name or "")."""
    source = path.read_bytes()
    pairs: list[tuple[str, str]] = []
    for whence, what, modules in _IMPORT.findall(source.decode()):
        names = [
            item.split()[0] for item in _COMMENT.sub("", what or modules).strip("() \t\n").split(",") if item.strip()
        ]
        pairs += [(whence, name) for name in names] if whence else [(name, "") for name in names]
    return hashlib.sha256(source).digest(), tuple(pairs)
