"""The one compiling decorator: numba, imported when a kernel is first called, kept on disk where that is safe.

A kernel is compiled for the types of its arguments when first called with them, never with fast-math, and kept on
disk (`lpsm._kernel_files`).  Importing a module of kernels does not import numba, which takes longer than most of
what is done without one.

`standalone` goes further for the few entries that do a whole run in one call: their machine code is kept by itself
too, and is then called without numba at all (`lpsm._standalone`).
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from logging import getLogger
from typing import Any, TypeVar, cast

from lpsm._kernel_files import KernelFiles, files_of

__all__ = ["Kernel", "Standalone", "compiled", "is_compiled", "standalone"]

F = TypeVar("F", bound=Callable[..., Any])


class Kernel:
    """A function that is compiled when first called; other kernels call it like any compiled function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function

    @cached_property
    def dispatcher(self) -> Any:
        """What numba makes of the function."""
        return _numba().dispatcher(self.py_func, self.files)

    @cached_property
    def files(self) -> KernelFiles | None:
        """Where its machine code is kept."""
        return files_of(self.py_func.__module__, self.py_func.__qualname__)

    @property
    def signatures(self) -> list[Any]:
        """Types of arguments for which it is compiled or loaded in this process."""
        return list(self.dispatcher.signatures) if "dispatcher" in vars(self) else []

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher(*args)

    def __reduce__(self) -> str:
        return str(vars(self)["__qualname__"])  # pickled by its name, like any function


def compiled(function: F) -> F:
    """Compile a module-level kernel to machine code on its first call.

    The result is kept on disk where that is safe.  Rounding is that of the source: fast-math stays off, so that
    the same inputs give the same bytes.
    """
    return function if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else cast(F, Kernel(function))


def is_compiled(kernel: Any) -> bool:
    """Whether a kernel is compiled for some arguments, in this process or, from the sources as they are, on disk."""
    if not isinstance(kernel, Kernel):
        return True  # compiling is switched off
    return bool(kernel.signatures) or (kernel.files is not None and kernel.files.any())


class Standalone:
    """A kernel in another module that needs neither this module nor numba once its machine code is on disk."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    @property
    def kernel(self) -> Any:
        """The kernel itself; its module is imported."""
        return getattr(import_module(self.module), self.name)

    @cached_property
    def files(self) -> KernelFiles | None:
        """Where its machine code by itself is kept."""
        return files_of(self.module, f"{self.name}.standalone")

    def ready(self) -> bool:
        """Whether it need not be compiled: in this process, or on disk."""
        return (self.files is not None and self.files.any()) or (
            self.module in sys.modules and is_compiled(self.kernel)
        )

    def __call__(self, *args: Any) -> Any:
        from lpsm import _standalone

        files, types = self.files, _standalone.types_of(args)
        if files is not None and types is not None:
            code = _standalone.loaded(files, types)
            if code is not None:
                return _standalone.call(code, types, args)
        kernel = self.kernel
        result = kernel(*args)
        if files is not None and types is not None and isinstance(kernel, Kernel):
            signature = tuple(kernel.dispatcher.typeof_pyval(arg) for arg in args)
            _standalone.save(files, types, kernel.py_func, signature)
        return result


def standalone(module: str, name: str) -> Standalone:
    """Return an entry that is called by itself, compiled or loaded when first called.

    Its arguments must be whole numbers, floats and C-contiguous arrays, and its result a number.
    """
    return Standalone(module, name)


class _Overloads:
    """What numba asks for machine code in place of its own cache on disk."""

    def __init__(self, dispatcher: Any, files: KernelFiles) -> None:
        self._files, self._dispatcher = files, dispatcher

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return what was kept for a signature, or None."""
        results: Any = import_module("numba.core.compiler").CompileResult
        target.refresh()
        content = self._files.load(self._key(signature, target))
        if content is None:
            getLogger("lpsm.compiling").info("compiling, once on this machine")
            return None
        return results._rebuild(target, *pickle.loads(content))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled for a signature."""
        from numba.core.serialize import dumps

        if not result.lifted and not result.library.has_dynamic_globals:
            content = dumps(result._reduce())  # type: ignore[no-untyped-call]
            self._files.save(self._key(signature, self._dispatcher.targetctx), content)

    def _key(self, signature: Any, target: Any) -> tuple[Any, ...]:
        import numba

        return numba.__version__, signature, target.codegen().magic_tuple()


class _Numba:
    """numba, once it is imported."""

    def __init__(self) -> None:
        import numba
        from numba.core import types
        from numba.extending import typeof_impl

        self._njit: Any = numba.njit  # its stubs do not know all of its options

        def type_of(kernel: Kernel, _: Any) -> Any:
            return types.Dispatcher(kernel.dispatcher)

        typeof_impl.register(Kernel)(type_of)  # kernels call kernels

    def dispatcher(self, function: Callable[..., Any], files: KernelFiles | None) -> Any:
        inner = "Place" in function.__annotations__.values()  # an address, which only other kernels can give it
        made = self._njit(function, error_model="numpy", nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=inner)
        if files is not None:
            made._cache = _Overloads(made, files)
        return made


@cache
def _numba() -> _Numba:
    return _Numba()
