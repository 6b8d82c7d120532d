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
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from lpsm._kernel_files import KernelFiles

__all__ = ["loaded", "save"]

_LOADED: dict[tuple[KernelFiles, tuple[str, ...]], Callable[..., Any] | None] = {}  # None: not on disk
_TRIED: set[tuple[KernelFiles, tuple[str, ...]]] = set()  # what this process has compiled by itself
_ENGINES: list[Any] = []  # LLVM frees the machine code with its engine
_RESULTS: dict[str, Any] = {"int64": ctypes.c_int64, "float64": ctypes.c_double}
_UNREACHED = "NRT_MemInfo_call_dtor"  # what frees an array that somebody owns; nobody owns those given here


def loaded(files: KernelFiles, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """Return the function for arguments of these types, or None if it is not on disk."""
    types = _types(args)
    if types is None:
        return None
    if (files, types) not in _LOADED:
        content = files.load(_key(types))
        _LOADED[files, types] = None if content is None else _function(content)
    return _LOADED[files, types]


def save(files: KernelFiles, dispatcher: Any, args: tuple[Any, ...]) -> None:
    """Keep the machine code of a compiled function for arguments of these types, if it can stand alone."""
    from llvmlite import binding
    from numba.core import registry

    compiler: Any = import_module("numba.core.compiler")
    types = _types(args)
    if types is None or (files, types) in _TRIED:
        return
    _TRIED.add((files, types))
    flags = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.nrt = True
    flags.error_model = "numpy"
    target = registry.cpu_target
    signature = tuple(dispatcher.typeof_pyval(arg) for arg in args)
    made = compiler.compile_extra(
        target.typing_context, target.target_context, dispatcher.py_func, signature, None, flags, {}
    )
    result, code = str(made.signature.return_type), made.library._get_compiled_object()
    if result in _RESULTS and _undefined(binding.ObjectFileRef.from_data(code), code) <= {_UNREACHED}:
        head = json.dumps({"name": made.fndesc.llvm_func_name, "result": result}).encode()
        files.save(_key(types), len(head).to_bytes(4, "little") + head + code)
        _LOADED.pop((files, types), None)


def _types(args: tuple[Any, ...]) -> tuple[str, ...] | None:
    """Return the types of arguments by name, or None if they are not all numbers and plain arrays."""
    names = []
    for arg in args:
        if isinstance(arg, np.ndarray):
            if not (arg.flags.c_contiguous and arg.flags.aligned and arg.flags.writeable and arg.ndim > 0):
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
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    return "standalone", types, binding.get_host_cpu_name(), features, binding.llvm_version_info


def _function(content: bytes) -> Callable[..., Any]:
    """Load an object file and return its function."""
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
    address, result = engine.get_function_address(head["name"]), _RESULTS[head["result"]]

    def call(*args: Any) -> Any:
        place, trouble = result(), ctypes.c_void_p()
        flat: list[Any] = [value for arg in args for value in _flat(arg)]
        types: list[Any] = [ctypes.c_void_p, ctypes.c_void_p, *(type(value) for value in flat)]
        function = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(address)
        status = function(ctypes.addressof(place), ctypes.addressof(trouble), *flat)
        if status:
            raise RuntimeError(f"compiled function must end with status 0, got {status}")
        return place.value

    return call


def _flat(arg: Any) -> list[Any]:
    """Return an argument as the values of C that numba passes for it."""
    if isinstance(arg, np.ndarray):
        sizes = [ctypes.c_int64(value) for value in (arg.size, arg.itemsize)]
        places = [ctypes.c_int64(value) for value in (*arg.shape, *arg.strides)]
        return [ctypes.c_void_p(), ctypes.c_void_p(), *sizes, ctypes.c_void_p(arg.ctypes.data), *places]
    return [ctypes.c_double(arg) if isinstance(arg, float) else ctypes.c_int64(arg)]


_no_owner = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)  # takes the place of what is never called


def _undefined(parsed: Any, code: bytes) -> set[str]:
    """Return the names that an object file of ELF takes from elsewhere."""
    sections = {section.name(): section.data() for section in parsed.sections()}
    symbols, names = sections.get(b".symtab", b""), sections.get(b".strtab", b"")
    found = set()
    for at in range(24, len(symbols), 24):  # a symbol: name, four bytes; .. section, two bytes at the seventh
        start = int.from_bytes(symbols[at : at + 4], "little")
        if symbols[at + 6 : at + 8] == b"\0\0":
            found.add(names[start : names.index(b"\0", start)].decode())
    return found if symbols else {"no table of symbols"}
