"""All that knows how numba makes machine code; imported when something must be compiled, or numba's own is called."""

# numba and llvmlite are not typed.
# mypy: disable-error-code="no-untyped-call,call-arg,attr-defined,misc"

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable
from functools import cache
from logging import getLogger
from typing import Any

import numba
from llvmlite import binding, ir
from numba import carray, types
from numba._dynfunc import make_function
from numba.core import registry
from numba.core.compiler import Compiler, CompileResult, Flags, compile_extra
from numba.core.serialize import dumps
from numba.extending import intrinsic, overload, typeof_impl

from lpsm.native.entries import Signature
from lpsm.native.kept import Kept
from lpsm.native.kernels import Kernel, block

_WORD, _BYTE = ir.IntType(64), ir.IntType(8).as_pointer()


def dispatcher(
    function: Callable[..., Any], kept: Kept | None, apart: bool = False, takes: Any = None, inlined: bool = False
) -> Any:
    """Return what numba makes of a function, given the place for its machine code if it has its own.

    It is compiled for the types that it `takes`, by default for those of what it is given.
    """
    njit: Any = numba.njit  # its stubs do not know all of its options
    found = njit(
        function, error_model="numpy", nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=kept is None,
        pipeline_class=Compiler if kept else _linking(apart), forceinline=inlined,
    )  # fmt: skip
    if kept:
        found._cache = _Overloads(kept, found.targetctx)
    template = found.get_call_template
    found.get_call_template = lambda args, kws: template(takes or tuple(map(_plain, args)), {} if takes else kws)
    return found


def _plain(kind: Any) -> Any:
    whole = isinstance(kind, types.Integer | types.Boolean | types.IntegerLiteral | types.BooleanLiteral)
    return types.int64 if whole else kind


typeof_impl.register(Kernel)(lambda kernel, _: types.Dispatcher(kernel.linked))  # kernels call kernels


@overload(block, strict=False)
def _block(array: Any, at: Any, shape: Any) -> Any:
    return lambda array, at, shape: carray(_start(array[at:]), shape)


@intrinsic
def _start(_: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


class _Overloads:
    """What numba asks for machine code in place of its own cache, whose one index a function can lose entries."""

    def __init__(self, kept: Kept, target: Any) -> None:
        self.kept, self.target = kept, target

    def load_overload(self, signature: Any, target: Any) -> Any:
        target.refresh()
        if content := self.kept.read(self.key(signature)):
            return CompileResult._rebuild(target, *pickle.loads(content))
        getLogger("lpsm.compiling").info("compiling, once on this machine")
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        if self.kept.folder is not None and not result.lifted and not result.library.has_dynamic_globals:
            self.kept.write(self.key(signature), dumps(result._reduce()))

    def key(self, signature: Any) -> tuple[Any, ...]:
        return numba.__version__, signature, self.target.codegen().magic_tuple()


@cache
def _linking(apart: bool) -> Any:
    """Return numba's compiler for a function that only others call: it is optimised as a part of them, and not alone.

    numba itself makes machine code of every function, with all that it calls in it: half of the time of compiling.
    """

    class Linking(Compiler):
        def _compile_core(self) -> Any:
            self.state.flags.no_compile, self.state.flags.noalias = True, apart
            made = super()._compile_core()
            library, called = made.library, made.fndesc
            library._optimize_final_module = lambda: None
            library._finalize_final_module = lambda: setattr(library, "_finalized", True)
            module, name = called.lookup_module(), called.qualname
            own = make_function(module, name, "", 0, made.environment, (library,))  # by which callers find its code
            self.state.targetctx.insert_user_function(own, called, [library])
            return made._replace(entry_point=own)

    return Linking


# -- by address


def cast(wanted: Any, lower: Callable[[Any, Any], Any]) -> Any:
    """Return what makes, in compiled code, something else of an integer or a reference."""

    def typed(_: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return lower(builder, context.cast(builder, arguments[0], signature.args[0], types.int64))

        return wanted(value), generate

    return intrinsic(typed)


words_at: Any = cast(types.CPointer(types.int64), lambda builder, value: builder.inttoptr(value, _WORD.as_pointer()))
"""For compiled code: the integers at an address."""
reals_at: Any = cast(
    types.CPointer(types.float64), lambda builder, value: builder.inttoptr(value, ir.DoubleType().as_pointer())
)
"""For compiled code: the real numbers at an address."""
real_at: Any = cast(
    types.float64, lambda builder, value: builder.load(builder.inttoptr(value, ir.DoubleType().as_pointer()))
)
"""For compiled code: the real number at an address."""


# -- by signature


def types_of(signature: Signature) -> tuple[Any, tuple[Any, ...]]:
    """Return numba's types of what a signature gives and takes."""
    return _type(signature.returns), tuple(map(_type, signature.takes))


def _type(kind: Any) -> Any:
    plain: dict[Any, Any] = {int: types.int64, float: types.float64, bool: types.boolean, None: types.none}
    if kind in plain:
        return plain[kind]
    if isinstance(kind, str):
        name, _, axes = kind.partition("[")
        return types.Array(getattr(types, name), axes.count(",") + 1, "C")
    named = {"int": types.int64, "float": types.float64, "bool": types.boolean}
    inner = [named[getattr(what, "__forward_arg__", what)] for what in kind.__annotations__.values()]
    return types.NamedTuple(inner, kind) if len({*inner}) > 1 else types.NamedUniTuple(inner[0], len(inner), kind)


def alone(function: Callable[..., Any], signature: Signature) -> bytes | None:
    """Compile a function to an object file with all that it calls: its name there, and behind a zero byte the file.

    None if it needs more of numba than memory for arrays.
    """
    getLogger("lpsm.compiling").info("compiling, once on this machine")
    returns, takes = types_of(signature)
    flags: Any = Flags()
    target: Any = registry.cpu_target
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.nrt = True
    flags.error_model = "numpy"
    made = compile_extra(target.typing_context, target.target_context, function, takes, returns, flags, {})
    module = binding.parse_assembly(made.library.get_llvm_str())
    module.link_in(binding.parse_assembly(str(_memory(module.triple))))
    anywhere = ctypes.CDLL(None)  # the process itself: the C library, and none of numba's own functions
    declared = [*module.functions, *module.global_variables]
    wanted = {one.name for one in declared if one.is_declaration and not one.name.startswith("llvm.")}
    if not all(hasattr(anywhere, name) for name in wanted):
        return None
    _, cpu, features = target.target_context.codegen().magic_tuple()
    machine = binding.Target.from_triple(module.triple).create_target_machine(cpu, features, opt=3, jit=True)
    found: bytes = made.fndesc.llvm_func_name.encode() + b"\0" + machine.emit_object(module)
    return found


def address(kernel: Any, signature: Signature) -> int:
    """Return where numba's own machine code of a function is."""
    returns, takes = types_of(signature)
    kernel.compile(returns(*takes))
    found = kernel.overloads[takes]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def _memory(triple: str) -> ir.Module:
    """Write what compiled functions ask of numba for arrays of their own, by the C library's means.

    An array's memory begins with how often it is in use, two words for who frees it, and where its numbers begin.
    """
    module = ir.Module()
    module.triple = triple

    def function(name: str, returns: Any, *takes: Any) -> Any:
        made = ir.Function(module, ir.FunctionType(returns, takes), name)
        made.linkage = "linkonce_odr"
        return made, ir.IRBuilder(made.append_basic_block()), made.args

    def outside(name: str, returns: Any, *takes: Any) -> Any:
        return ir.Function(module, ir.FunctionType(returns, takes), name)

    malloc, free = outside("malloc", _BYTE, _WORD), outside("free", ir.VoidType(), _BYTE)
    aligned, build, (size, align) = function("NRT_MemInfo_alloc_aligned", _BYTE, _WORD, ir.IntType(32))
    head, step = _WORD(48), build.zext(align, _WORD)
    made = build.call(malloc, [build.add(size, build.add(head, step))])
    with build.if_then(build.icmp_unsigned("!=", build.ptrtoint(made, _WORD), _WORD(0))):
        words = build.bitcast(made, _WORD.as_pointer())
        first = build.add(build.ptrtoint(made, _WORD), build.add(head, build.sub(step, _WORD(1))))
        values = _WORD(1), _WORD(0), _WORD(0), build.and_(first, build.neg(step)), size, _WORD(0)
        for place, value in enumerate(values):
            build.store(value, build.gep(words, [_WORD(place)]))
    build.ret(made)
    _, build, (size,) = function("NRT_MemInfo_alloc", _BYTE, _WORD)
    build.ret(build.call(aligned, [size, ir.IntType(32)(32)]))
    _, build, (size,) = function("NRT_Allocate", _BYTE, _WORD)
    build.ret(build.call(malloc, [size]))
    for name in ("NRT_MemInfo_call_dtor", "NRT_Free"):
        _, build, (given,) = function(name, ir.VoidType(), _BYTE)
        build.call(free, [given])
        build.ret_void()
    kind = ir.DoubleType(), ir.IntType(32).as_pointer()
    _, build, given = function("numba_frexp", ir.DoubleType(), *kind)
    build.ret(build.call(outside("frexp", ir.DoubleType(), *kind), given))
    return module


def caller(signature: Signature) -> Any:
    """Return what calls, in compiled code, the function of a signature at an address: address first, then its own."""
    returns, takes = types_of(signature)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        (address, *given), convention = arguments, context.call_conv
        callee = builder.inttoptr(address, ir.PointerType(convention.get_function_type(returns, takes)))
        return convention.call_function(builder, callee, returns, takes, given)[1]

    kind = returns(types.int64, *takes)
    names = ", ".join(f"a{i}" for i in range(len(takes)))
    scope: dict[str, Any] = {"found": (kind, generate)}
    exec(f"def typed(_, address, {names}):\n    return found", scope)  # numba counts a function's parameters
    return intrinsic(scope["typed"])
