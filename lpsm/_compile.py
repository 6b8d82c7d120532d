"""The one compiling decorator: numba, imported when a kernel is first called; what it makes is kept on disk.

A kernel is compiled for the types of its arguments, never with fast-math.  Called by another kernel, every whole
number, literal or truth value counts as int64, so that a kernel has one signature.

Machine code holds that of all that it calls.  So it is kept in a folder named by a digest of all sources of the
kernel's package and of this one, a file a signature: processes that compile at once, even from different sources,
cannot mistake one another's.  Loading it is running it: the folder must belong to this user or to the administrator,
and nobody else may write it.  It stands in `NUMBA_CACHE_DIR` if that is set, else beside the package's modules, else
in the user's cache; where none of them will do, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import stat
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from logging import getLogger
from pathlib import Path
from typing import Any


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
        """Whether there is one."""
        return self.folder is not None and any(self.folder.glob(f"{self._stem}-*.code"))

    def read(self, key: object) -> bytes | None:
        """Return what was written."""
        try:
            return None if self.folder is None else self._path(self.folder, key).read_bytes()
        except OSError:
            return None

    def write(self, key: object, content: bytes) -> None:
        """Write to a temporary name, flush and rename."""
        if self.folder is None:
            return
        path = self._path(self.folder, key)
        temporary = path.with_suffix(f".{uuid.uuid4().hex}")
        try:
            with temporary.open("xb") as file:
                file.write(content)
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError:  # a full disk, say: this process has what it needs
            with suppress(OSError):
                temporary.unlink()

    def _path(self, folder: Path, key: object) -> Path:
        return folder / f"{self._stem}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.code"


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
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                for old in place.glob(f"{stem}*"):  # made of other sources; a link is left alone
                    if old != folder and _is_safe(old):
                        shutil.rmtree(old, ignore_errors=True)
            if _is_safe(folder):
                return folder
    return None


def _is_safe(folder: Path) -> bool:
    """Whether this user may read it, this user or the administrator owns it, and nobody else may write it."""
    found = folder.stat()
    ours = not hasattr(os, "geteuid") or found.st_uid in (os.geteuid(), 0)
    return ours and os.access(folder, os.R_OK | os.X_OK) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


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
