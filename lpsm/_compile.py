"""The one compiling decorator: numba, imported when a kernel is first called; what it makes is kept on disk.

A kernel is compiled for the types of its arguments, never with fast-math.  Called by another kernel, every whole
number, literal or truth value counts as int64, so that a kernel has one signature.

Machine code holds that of all that it calls.  So it is kept in a folder named by a digest of all sources of the
kernel's package and of this one, a file a signature: processes that compile at once, even from different sources,
cannot mistake one another's.  Loading it is running it: the folder, where it stands and all that is in it must belong
to this user or to the administrator, and nobody else may write it.  It stands in `NUMBA_CACHE_DIR` if that is set, else
beside the package's modules, else in the user's cache; where none of them will do, nothing is kept.  A file begins with
a digest of its place and its content; what is damaged, or stands where it was not written, is as if it were not there.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from logging import getLogger
from pathlib import Path
from typing import Any

_DIGEST_BYTES = 32


def compiled(function: Callable[..., Any], apart: bool = False) -> Any:
    """Compile a module-level kernel to machine code on its first call; rounding is that of the source.

    `apart` promises other kernels that call it that no two of its arrays overlap, so that its loops vectorise.
    """
    return function if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else Kernel(function, apart)


def is_compiled(kernel: Any) -> bool:
    """Whether a kernel is compiled for some arguments, in this process or, from the sources as they are, on disk."""
    return not isinstance(kernel, Kernel) or bool(kernel.signatures) or kernel.kept.any()


class Kernel:
    """A function that is compiled when first called; other kernels call it like any compiled function."""

    def __init__(self, function: Callable[..., Any], apart: bool = False) -> None:
        update_wrapper(self, function)
        self.py_func, self.apart = function, apart

    @cached_property
    def dispatcher(self) -> Any:
        """What numba makes of the function."""
        return _numba()(self.py_func, self.kept)

    @cached_property
    def linked(self) -> Any:
        """What numba makes of it for other kernels, which hold its code in theirs."""
        return _numba()(self.py_func, None, self.apart)

    @cached_property
    def kept(self) -> Kept:
        """Its machine code on disk."""
        return Kept(self.py_func.__module__, self.py_func.__qualname__)

    @property
    def signatures(self) -> list[Any]:
        """Types of arguments for which it is compiled or loaded in this process."""
        return list(self.dispatcher.signatures) if "dispatcher" in vars(self) else []

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher(*args)

    def __reduce__(self) -> str:
        return str(vars(self)["__qualname__"])  # pickled by its name, like any function


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


def linking(apart: bool = False) -> Any:
    """Return numba's compiler for a function that only others call: it is optimised as a part of them, and not alone.

    numba itself makes machine code of every function, with all that it calls in it: half of the time of compiling.
    """
    from numba._dynfunc import make_function
    from numba.core.compiler import Compiler

    class Linking(Compiler):
        def _compile_core(self) -> Any:
            self.state.flags.no_compile, self.state.flags.noalias = True, apart
            made = super()._compile_core()  # type: ignore[no-untyped-call]
            library, called = made.library, made.fndesc
            library._optimize_final_module = lambda: None
            library._finalize_final_module = lambda: setattr(library, "_finalized", True)
            module, name = called.lookup_module(), called.qualname
            own = make_function(module, name, "", 0, made.environment, (library,))  # by which callers find its code
            self.state.targetctx.insert_user_function(own, called, [library])
            return made._replace(entry_point=own)

    return Linking


@cache
def _numba() -> Callable[..., Any]:
    """Import numba; return what makes a function of numba's, given the place for its machine code if it has its own."""
    import numba
    from numba.core import types
    from numba.core.compiler import Compiler, CompileResult
    from numba.core.serialize import dumps
    from numba.extending import typeof_impl

    class Overloads:
        """What numba asks for machine code in place of its own cache, whose one index a function can lose entries."""

        def __init__(self, kept: Kept, target: Any) -> None:
            self.kept, self.target = kept, target

        def load_overload(self, signature: Any, target: Any) -> Any:
            target.refresh()
            if content := self.kept.read(self.key(signature)):
                return CompileResult._rebuild(target, *pickle.loads(content))  # type: ignore[no-untyped-call]
            getLogger("lpsm.compiling").info("compiling, once on this machine")
            return None

        def save_overload(self, signature: Any, result: Any) -> None:
            if self.kept.folder is not None and not result.lifted and not result.library.has_dynamic_globals:
                self.kept.write(self.key(signature), dumps(result._reduce()))  # type: ignore[no-untyped-call]

        def key(self, signature: Any) -> tuple[Any, ...]:
            return numba.__version__, signature, self.target.codegen().magic_tuple()

    def plain(kind: Any) -> Any:
        whole = isinstance(kind, types.Integer | types.Boolean | types.IntegerLiteral | types.BooleanLiteral)
        return types.int64 if whole else kind

    def made(function: Callable[..., Any], kept: Kept | None, apart: bool = False) -> Any:
        njit: Any = numba.njit  # its stubs do not know all of its options
        found = njit(
            function, error_model="numpy", nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=kept is None,
            pipeline_class=Compiler if kept else linking(apart),
        )  # fmt: skip
        if kept:
            found._cache = Overloads(kept, found.targetctx)
        template = found.get_call_template
        found.get_call_template = lambda args, kws: template(tuple(map(plain, args)), kws)
        return found

    typeof_impl.register(Kernel)(lambda kernel, _: types.Dispatcher(kernel.linked))  # kernels call kernels
    return made
