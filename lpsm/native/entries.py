"""Functions called by their address: one signature, one kept object file, no numba once it is there.

What it models: numba's calling convention for compiled functions.  The function gets a place for its result, one
for an exception, and its arguments; it returns a status, 0 if all went well.  An object file holds all that the
function calls, but for the C library, and LLVM loads it.
What it leaves out: functions that need more of numba's own; their machine code is kept by numba's means.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from typing import Any, NamedTuple

from lpsm.native.kept import Kept, is_plain
from lpsm.native.kernels import Kernel, compiled, compiler

INTS, FLOATS = "int64[::1]", "float64[::1]"
"""An array of one dimension, as numba writes it."""
Kind = type | str | None
"""What a signature has: `int`, `float`, `bool`, None, an array, or a named tuple of the first three."""


class Signature(NamedTuple):
    """What a function gives and takes."""

    returns: Kind
    takes: tuple[Kind, ...]

    def named(self) -> tuple[str, ...]:
        """Return how its kinds are written, with the fields of named tuples."""
        return tuple(f"{getattr(kind, '__name__', kind)}({named_fields(kind)})" for kind in (self.returns, *self.takes))


def named_fields(kind: Any) -> dict[str, str]:
    """Return the fields of a named tuple, and of what type each is, by its name; none of anything else."""
    fields = kind.__annotations__ if hasattr(kind, "_fields") else {}
    return {name: getattr(what, "__forward_arg__", None) or what.__name__ for name, what in fields.items()}


_CANNOT = b"it cannot stand alone"  # kept in place of machine code, so that it is tried once
_RESULTS: dict[Kind, type[ctypes.c_int64 | ctypes.c_double | ctypes.c_void_p]] = {
    int: ctypes.c_int64, float: ctypes.c_double, None: ctypes.c_void_p
}  # fmt: skip
_ENGINES: list[object] = []  # LLVM frees the machine code with its engine


class Entry:
    """A function of a module, or one that is given, that is called by its address.

    Without a function neither the module nor numba is imported once the machine code is on disk.
    """

    def __init__(
        self, module: str, name: str, signature: Signature, function: Callable[..., object] | None = None
    ) -> None:
        self.module, self.name, self.signature, self._function = module, name, signature, function

    def __reduce__(self) -> tuple[object, ...]:
        return Entry, (self.module, self.name, self.signature, self._function)

    @cached_property
    def files(self) -> Kept:
        """Where its machine code is kept; nowhere if another function of the module may have its name."""
        return Kept("" if "<" in self.name else self.module, f"{self.name}.entry")

    @cached_property
    def address(self) -> int:
        """Where its machine code is, compiled if it was not."""
        content = self.files.read(self._key)
        if content is None:
            content = compiler().alone(self._kernel.py_func, self.signature) or _CANNOT
            self.files.write(self._key, content)
        if content == _CANNOT:
            return int(compiler().address(self._kernel.dispatcher, self.signature))
        return _load(content)

    @property
    def is_ready(self) -> bool:
        """Whether nothing is left to compile, in this process or on disk."""
        if "address" in vars(self):
            return True
        content = self.files.read(self._key)
        return Kept(self.module, self.name).any() if content == _CANNOT else content is not None

    def __call__(self, *given: Any) -> Any:
        """Call it with numbers, and with arrays of the types of its signature."""
        if is_plain():
            return self._kernel(*given)
        words: list[Any] = []
        for kind, one in zip(self.signature.takes, given, strict=True):
            if isinstance(kind, str):  # an array without an owner, whose users nobody counts
                words += (0, 0, one.size, one.itemsize, one.ctypes.data, *one.shape, *one.strides)
            else:
                words.append(one)
        call, result, *places = self._call
        if status := call(*places, *words):
            raise RuntimeError(f"compiled function must end with status 0, got {status}")
        return result.value

    @cached_property
    def _kernel(self) -> Any:
        found = self._function or getattr(import_module(self.module), self.name)
        return found if isinstance(found, Kernel) else compiled(found)

    @cached_property
    def _key(self) -> tuple[object, ...]:
        """What the machine code depends on beside its sources: the signature, the processor, the version of LLVM."""
        return "entry", *self.signature.named(), *_machine()

    @cached_property
    def _call(self) -> tuple[Any, ...]:
        """What calls it, where its result is, the place of that, and the place of an exception."""
        result, trouble = _RESULTS[self.signature.returns](), ctypes.c_void_p()
        words: list[type] = [ctypes.c_void_p] * 2
        for kind in self.signature.takes:
            words += [ctypes.c_int64] * (7 + 2 * kind.count(",")) if isinstance(kind, str) else [_RESULTS[kind]]
        call = ctypes.CFUNCTYPE(ctypes.c_int32, *words)
        self._trouble = trouble
        return call(self.address), result, ctypes.addressof(result), ctypes.addressof(trouble)


@cache
def entry_of(function: Callable[..., object], signature: Signature) -> Entry:
    """Return the entry of a function."""
    return Entry(function.__module__, function.__qualname__, signature, function)


@cache
def _machine() -> tuple[object, ...]:
    from llvmlite import binding

    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten(), binding.llvm_version_info


def _load(content: bytes) -> int:
    """Load an object file, and return where its function is."""
    from llvmlite import binding

    name, _, code = content.partition(b"\0")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _ENGINES.append(engine)
    return int(engine.get_function_address(name.decode()))
