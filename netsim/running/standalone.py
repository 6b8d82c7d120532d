"""Machine code called without numba: an object file, loaded by LLVM and called like a function of C.

What it models: numba's calling convention for compiled functions.  The function gets a place for its result, one
for an exception, and its arguments one after another; an array is seven numbers and two for every dimension beyond
the first: two pointers to who owns it (nobody, here), its number of items, the bytes of one, where it begins, its
shape and its strides.  It returns a status, 0 if all went well.
What it leaves out: functions that make arrays, whose memory only numba can manage; `save` keeps nothing of them.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from functools import cache, cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from lpsm._compile import Kept, Kernel, is_compiled

__all__ = ["Code", "Standalone", "address", "address_files", "call", "loaded", "save", "standalone", "types_of"]

Types = tuple[str, ...]

_LOADED: dict[tuple[Kept, Types], Code | None] = {}  # None: not on disk
_TRIED: set[tuple[Kept, Types]] = set()  # what this process has compiled by itself, or found kept
_ENGINES: list[Any] = []  # LLVM frees the machine code with its engine
_RESULTS: dict[str, Any] = {"int64": ctypes.c_int64, "float64": ctypes.c_double}
_CANNOT = b"it cannot stand alone"  # kept in place of machine code, so that it is tried once
_UNREACHED = "NRT_MemInfo_call_dtor"  # what frees an array that somebody owns; nobody owns those given here


class Standalone:
    """A kernel in another module that needs neither this module nor numba once its machine code is on disk."""

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

    def __call__(self, *args: Any) -> Any:
        """Call its machine code alone, or the kernel, whose machine code is then kept by itself too."""
        types = types_of(args)
        if types is None:
            return self.kernel(*args)
        if (code := loaded(self.files, types)) is None and isinstance(kernel := self.kernel, Kernel):
            save(self.files, types, kernel.py_func, tuple(kernel.dispatcher.typeof_pyval(arg) for arg in args))
            code = loaded(self.files, types)
        return self.kernel(*args) if code is None else call(code, types, args)


def standalone(module: str, name: str) -> Standalone:
    """Return an entry that is called by itself, compiled or loaded when first called.

    Its arguments must be whole numbers, floats and C-contiguous arrays, and its result a number.
    """
    return Standalone(module, name)


class Code(NamedTuple):
    """Machine code in memory: where it begins, and the type of its result, "" for one that is no number."""

    address: int
    result: str


def loaded(files: Kept, types: Types) -> Code | None:
    """Return the machine code for arguments of these types, or None if it is not on disk."""
    if (files, types) not in _LOADED:
        content = files.read(_key(types))
        _LOADED[files, types] = None if content in (None, _CANNOT) else _code(content)
    return _LOADED[files, types]


def save(files: Kept, types: Types, function: Callable[..., Any], signature: Any, returned: Any = None) -> None:
    """Compile a function by itself for numba's `signature`, and keep its machine code, if it can stand alone.

    A function that returns what `returned` says is called by its address only.
    """
    from llvmlite import binding
    from numba.core import registry

    compiler: Any = import_module("numba.core.compiler")
    if (files, types) in _TRIED:
        return
    _TRIED.add((files, types))
    if files.read(_key(types)) is not None:
        return
    flags = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.nrt = True
    flags.error_model = "numpy"
    target = registry.cpu_target
    made = compiler.compile_extra(
        target.typing_context, target.target_context, function, signature, returned, flags, {}
    )
    result, code = str(made.signature.return_type), made.library._get_compiled_object()
    known = returned is not None or result in _RESULTS
    wanted = _undefined(binding.ObjectFileRef.from_data(code)) - {_UNREACHED}
    anywhere = ctypes.CDLL(None)  # the process itself: the C library, and none of numba's own functions
    if known and all(hasattr(anywhere, name) for name in wanted):
        head = json.dumps({"name": made.fndesc.llvm_func_name, "result": "" if returned is not None else result})
        files.write(_key(types), len(head).to_bytes(4, "little") + head.encode() + code)
        _LOADED.pop((files, types), None)
    else:
        files.write(_key(types), _CANNOT)


def address(function: Callable[..., Any], kind: str) -> int | None:
    """Return where the machine code of a function of a known kind of signature is, or None if it is not on disk."""
    code = loaded(address_files(function), (kind,))
    return None if code is None else code.address


@cache
def address_files(function: Callable[..., Any]) -> Kept:
    """Return the place of the machine code of a function that is called by its address."""
    return Kept(function.__module__, f"{function.__qualname__}.standalone")


def call(code: Code, types: Types, args: tuple[Any, ...]) -> Any:
    """Call machine code with numbers and plain arrays of these types; return its result."""
    place, trouble = _RESULTS[code.result](), ctypes.c_void_p()
    flat: list[Any] = []
    for arg in args:
        if isinstance(arg, np.ndarray):
            address = arg.__array_interface__["data"][0]
            flat += (None, None, arg.size, arg.itemsize, address, *arg.shape, *arg.strides)
        else:
            flat.append(arg)
    status = _function(code.address, types)(ctypes.addressof(place), ctypes.addressof(trouble), *flat)
    if status:
        raise RuntimeError(f"compiled function must end with status 0, got {status}")
    return place.value


@cache
def _function(at: int, types: Types) -> Any:
    """Return the function at an address, with the values of C that numba passes for arguments of these types."""
    flat: list[Any] = []
    for name in types:
        _, is_array, dimensions = name.partition(":")
        number = ctypes.c_double if name == "float" else ctypes.c_int64
        pointers, sizes = (ctypes.c_void_p,) * 2, (ctypes.c_int64,) * 2
        shape = (ctypes.c_int64,) * (2 * int(dimensions or 0))
        flat += (*pointers, *sizes, ctypes.c_void_p, *shape) if is_array else (number,)
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *flat)(at)


def types_of(args: tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return the types of arguments by name, or None if they are not all numbers and plain arrays."""
    names = []
    for arg in args:
        if isinstance(arg, np.ndarray):
            if not arg.flags.carray or not arg.ndim:
                return None
            names.append(f"{arg.dtype.str}:{arg.ndim}")
        elif isinstance(arg, int | np.int64) and not isinstance(arg, bool):
            names.append("int")
        elif isinstance(arg, float):
            names.append("float")
        else:
            return None
    return tuple(names)


def _key(types: tuple[str, ...]) -> tuple[Any, ...]:
    """What the machine code depends on beside its sources: the types, the processor, the version of LLVM."""
    return "standalone", types, *_machine()


@cache
def _machine() -> tuple[Any, ...]:
    from llvmlite import binding

    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten(), binding.llvm_version_info


def _code(content: bytes) -> Code:
    """Load an object file and find its function."""
    from llvmlite import binding

    length = int.from_bytes(content[:4], "little")
    head, code = json.loads(content[4 : 4 + length]), content[4 + length :]
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.add_symbol(_UNREACHED, ctypes.cast(_no_owner, ctypes.c_void_p).value)
    machine = binding.Target.from_default_triple().create_target_machine(jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _ENGINES.append(engine)
    return Code(engine.get_function_address(head["name"]), head["result"])


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
