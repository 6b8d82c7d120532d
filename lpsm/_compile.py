"""The one compiling decorator: numba, cached where the place is writable, never with fast-math.

Machine code holds that of all kernels it calls, so what is kept on disk goes by the SHA-256 of the source of the
kernel's module and of all modules of this project that it imports, however far.  numba's own index knows the
kernel's file alone, and goes on with old code when another file has changed.  Here there is no index: a file is named
after the sources, the argument types, the processor and the versions, so that processes that compile at once, even
from different sources, cannot mistake one another's.

What it leaves out: a module imported under a name that is made at run time.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.serialize import dumps

__all__ = ["compiled", "is_compiled"]

F = TypeVar("F", bound=Callable[..., Any])

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE)
_COMMENT = re.compile(r"#.*")
_ABI = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
_DIGEST_BYTES = 32


def compiled(function: F) -> F:
    """Compile a module-level kernel to machine code on its first call.

    The result is cached on disk beside the module, or in the user's cache, or,
    where neither can be written, not at all.  Rounding is that of the source:
    fast-math stays off, so that the same inputs give the same bytes.
    """
    try:
        kernel = numba.njit(function, cache=True, error_model="numpy", nogil=True)
    except RuntimeError:  # numba found no place for its cache
        return numba.njit(function, error_model="numpy", nogil=True)  # type: ignore[no-any-return]
    kept = getattr(kernel, "_cache", None)  # none where compiling is switched off
    sources = _sources(function.__module__)
    if kept is not None and sources is not None:
        stem = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        kept._cache_file = _Files(Path(kept.cache_path), re.sub(r"[^\w.]", "", stem), sources)
    return kernel  # type: ignore[no-any-return]


def is_compiled(kernel: Any) -> bool:
    """Whether a kernel is compiled for some arguments, in this process or, from the sources as they are, on disk."""
    files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return bool(kernel.signatures) or (isinstance(files, _Files) and files.any())


class _Files:
    """The machine code of one kernel on disk: what numba asks in place of its index.

    A file is the digest of its content, then the content; one that is not whole is as good as none.
    """

    def __init__(self, folder: Path, stem: str, sources: str) -> None:
        self._folder, self._stem, self._sources = folder, stem, f"{stem}-{sources}.{_ABI}."

    def any(self) -> bool:
        """Whether there is one from these sources."""
        return any(self._folder.glob(f"{self._sources}*.nbc"))

    def load(self, key: Any) -> Any:
        """Return what was saved, or None."""
        try:
            stored = self._path(key).read_bytes()
        except OSError:
            return None
        digest, content = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
        return pickle.loads(content) if hashlib.sha256(content).digest() == digest else None

    def save(self, key: Any, data: Any) -> None:
        """Save, if it can be; and remove what other sources gave, by this version of Python."""
        content: bytes = dumps(data)  # type: ignore[no-untyped-call]
        path = self._path(key)
        temporary = path.with_suffix(f".{uuid.uuid4().hex[:16]}.tmp")
        try:
            temporary.write_bytes(hashlib.sha256(content).digest() + content)
            temporary.replace(path)
        except OSError:  # a full disk, say: this process has what it needs
            with suppress(OSError):
                temporary.unlink()
        for other in self._folder.glob(f"{self._stem}-*"):
            if not other.name.startswith(self._sources) and f".{_ABI}." in other.name:
                with suppress(OSError):
                    other.unlink()

    def flush(self) -> None:
        """Forget what these sources gave."""
        for path in self._folder.glob(f"{self._sources}*.nbc"):
            with suppress(OSError):
                path.unlink()

    def _path(self, key: Any) -> Path:
        named = hashlib.sha256(f"{numba.__version__} {key!r}".encode()).hexdigest()
        return self._folder / f"{self._sources}{named[:16]}.nbc"


@cache
def _sources(module: str) -> str | None:
    """Return a digest of a module's source and of what it imports, or None if it is not of a package."""
    files = _imported(module)
    if module not in files:
        return None
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + _read(files[name])[0])
    return digest.hexdigest()[:16]


def _imported(module: str) -> dict[str, Path]:
    """Return the files of a module and of all that it imports, however far, from its package and this one."""
    packages = frozenset((__name__.partition(".")[0], module.partition(".")[0]))
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
