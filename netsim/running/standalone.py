"""Machine code called without numba: an object file, loaded by LLVM and called like a function of C.

What it models: numba's calling convention for compiled functions.  The function gets a place for its result, one
for an exception, and its arguments; it returns a status, 0 if all went well.
What it leaves out: functions that make arrays, whose memory only numba can manage; `save` keeps nothing of them.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from lpsm._compile import Kept, Kernel, is_compiled

_LOADED: dict[tuple[Kept, str], int | None] = {}  # addresses; None: not on disk
_TRIED: set[tuple[Kept, str]] = set()  # what this process has compiled by itself, or found kept
_ENGINES: list[Any] = []  # LLVM frees the machine code with its engine
_CANNOT = b"it cannot stand alone"  # kept in place of machine code, so that it is tried once
_UNREACHED = "NRT_MemInfo_call_dtor"  # what frees an array that somebody owns; nobody owns those given here
_OF_A_NUMBER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


class Standalone:
    """A kernel in another module, from a whole number to another, that needs neither this module nor numba once its
    machine code is on disk.
    """

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    @property
    def kernel(self) -> Any:
        """The kernel itself; its module is imported."""
        return getattr(import_module(self.module), self.name)

    @cached_property
    def files(self) -> Kept:
        """Where its machine code by itself is kept."""
        return Kept(self.module, f"{self.name}.standalone")

    def ready(self) -> bool:
        """Whether it need not be compiled: in this process, or on disk."""
        return self.files.any() or (self.module in sys.modules and is_compiled(self.kernel))

    def __call__(self, number: int) -> int:
        """Call its machine code alone, or the kernel, whose machine code is then kept by itself too."""
        if (at := _loaded(self.files, "number")) is None and isinstance(kernel := self.kernel, Kernel):
            from numba import int64

            save(self.files, "number", kernel.py_func, (int64,), int64)
            at = _loaded(self.files, "number")
        if at is None:
            return int(self.kernel(number))
        found, trouble = ctypes.c_int64(), ctypes.c_void_p()
        status = _OF_A_NUMBER(at)(ctypes.addressof(found), ctypes.addressof(trouble), number)
        if status:
            raise RuntimeError(f"compiled function must end with status 0, got {status}")
        return found.value


def save(files: Kept, kind: str, function: Callable[..., Any], takes: Any, returns: Any) -> None:
    """Compile a function by itself for numba's types, and keep its machine code, if it can stand alone."""
    from llvmlite import binding
    from numba.core import registry

    compiler: Any = import_module("numba.core.compiler")
    if (files, kind) in _TRIED:
        return
    _TRIED.add((files, kind))
    if files.read(_key(kind)) is not None:
        return
    flags = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.nrt = True
    flags.error_model = "numpy"
    target = registry.cpu_target
    made = compiler.compile_extra(target.typing_context, target.target_context, function, takes, returns, flags, {})
    code = made.library._get_compiled_object()
    wanted = _undefined(binding.ObjectFileRef.from_data(code)) - {_UNREACHED}
    anywhere = ctypes.CDLL(None)  # the process itself: the C library, and none of numba's own functions
    if all(hasattr(anywhere, name) for name in wanted):
        files.write(_key(kind), made.fndesc.llvm_func_name.encode() + b"\0" + code)
        _LOADED.pop((files, kind), None)
    else:
        files.write(_key(kind), _CANNOT)


def address(function: Callable[..., Any], kind: str) -> int | None:
    """Return where the machine code of a function of a known kind of signature is, or None if it is not on disk."""
    return _loaded(address_files(function), kind)


@cache
def address_files(function: Callable[..., Any]) -> Kept:
    """Return the place of the machine code of a function that is called by its address."""
    return Kept(function.__module__, f"{function.__qualname__}.standalone")


def _loaded(files: Kept, kind: str) -> int | None:
    """Return where machine code is in memory, or None if it is not on disk."""
    if (files, kind) not in _LOADED:
        content = files.read(_key(kind))
        _LOADED[files, kind] = None if content in (None, _CANNOT) else _load(content)
    return _LOADED[files, kind]


def _key(kind: str) -> tuple[Any, ...]:
    """What the machine code depends on beside its sources: its types, the processor, the version of LLVM."""
    return "standalone", kind, *_machine()


@cache
def _machine() -> tuple[Any, ...]:
    from llvmlite import binding

    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten(), binding.llvm_version_info


def _load(content: bytes) -> int:
    """Load an object file, and return where its function is."""
    from llvmlite import binding

    name, _, code = content.partition(b"\0")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.add_symbol(_UNREACHED, ctypes.cast(_no_owner, ctypes.c_void_p).value)
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _ENGINES.append(engine)
    return int(engine.get_function_address(name.decode()))


_no_owner = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)  # takes the place of what is never called


def _undefined(parsed: Any) -> set[str]:
    """Return the names that an object file of ELF takes from elsewhere."""
    sections = {section.name(): section.data() for section in parsed.sections()}
    symbols, names = sections.get(b".symtab", b""), sections.get(b".strtab", b"")
    found = set()
    for at in range(24, len(symbols), 24):  # a symbol: name, four bytes; .. section, two bytes at the seventh
        start = int.from_bytes(symbols[at : at + 4], "little")
        if symbols[at + 6 : at + 8] == b"\0\0":
            found.add(names[start : names.index(b"\0", start)].decode())
    return found if symbols else {"no table of symbols"}
