"""All that knows how numba makes machine code; imported when something must be compiled, or numba's own is called."""

# numba and llvmlite are not typed.
# mypy: disable-error-code="no-untyped-call,no-any-return,call-arg,attr-defined,misc,assignment"

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable
from functools import cache
from logging import getLogger
from typing import Any, TypeAlias

import numba
from llvmlite import binding, ir
from numba import carray, types
from numba._dynfunc import make_function
from numba.core import registry
from numba.core.base import BaseContext
from numba.core.compiler import Compiler, CompileResult, Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps
from numba.core.typing import Signature as Typed
from numba.extending import intrinsic, overload

from lpsm.native.entries import Kind, Signature, named_fields
from lpsm.native.kept import Kept

Native: TypeAlias = Any
"""A function or a compiler of numba's, which has no types."""
Lowered: TypeAlias = tuple[Typed, Callable[[BaseContext, ir.IRBuilder, Typed, list[ir.Value]], ir.Value]]
"""What an intrinsic takes and gives, and what writes its code."""

_WORD = ir.IntType(64)
PLAIN = {"int": types.int64, "float": types.float64, "bool": types.boolean, "None": types.none}
"""numba's types by how they are annotated."""
_UNCOUNTED = "".join(f"define void @NRT_{name}(ptr %0) {{ ret void }}\n" for name in ("incref", "decref"))
"""What numba calls to count the users of an array: nothing, for what is not made here is not freed here."""


def dispatcher(
    function: Callable[..., object],
    kept: Kept | None,
    apart: bool = False,
    takes: tuple[types.Type, ...] = (),
    inlined: bool = False,
) -> Native:
    """Return what numba makes of a function, given the place for its machine code if it has its own.

    It is compiled for the types that it `takes`, by default for those of what it is given.
    """
    njit: Native = numba.njit  # its stubs do not know all of its options
    found = njit(
        function, error_model="numpy", nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=kept is None,
        pipeline_class=Compiler if kept else _linking(apart), forceinline=inlined,
    )  # fmt: skip
    if kept:
        found._cache = _Overloads(kept, found.targetctx)
    template = found.get_call_template
    found.get_call_template = lambda args, kws: template(takes or tuple(map(_plain, args)), {} if takes else kws)
    return found


def _plain(kind: types.Type) -> types.Type:
    whole = isinstance(kind, types.Integer | types.Boolean | types.IntegerLiteral | types.BooleanLiteral)
    return types.int64 if whole else kind


def know_block(block: Callable[..., object]) -> None:
    """Tell numba what `lpsm.native.block` is in compiled code."""
    overload(block, strict=False)(lambda array, at, shape: lambda array, at, shape: carray(_start(array[at:]), shape))


@intrinsic
def address_of(_: BaseContext, array: types.Array) -> Lowered:
    """For compiled code: where the first element of an array is."""

    def generate(context: BaseContext, builder: ir.IRBuilder, _: Typed, given: list[ir.Value]) -> ir.Value:
        return builder.ptrtoint(context.make_array(array)(context, builder, given[0]).data, _WORD)

    return types.int64(array), generate


@intrinsic
def _start(_: BaseContext, array: types.Array) -> Lowered:
    def generate(context: BaseContext, builder: ir.IRBuilder, _: Typed, given: list[ir.Value]) -> ir.Value:
        return context.make_array(array)(context, builder, given[0]).data

    return types.CPointer(array.dtype)(array), generate


class _Overloads:
    """What numba asks for machine code in place of its own cache, whose one index a function can lose entries."""

    def __init__(self, kept: Kept, target: BaseContext) -> None:
        self.kept, self.target = kept, target

    def load_overload(self, signature: Typed, target: BaseContext) -> CompileResult | None:
        target.refresh()
        if content := self.kept.read(self.key(signature)):
            return CompileResult._rebuild(target, *pickle.loads(content))
        getLogger("lpsm.compiling").info("compiling, once on this machine")
        return None

    def save_overload(self, signature: Typed, result: CompileResult) -> None:
        if self.kept.folder is not None and not result.lifted and not result.library.has_dynamic_globals:
            self.kept.write(self.key(signature), dumps(result._reduce()))

    def key(self, signature: Typed) -> tuple[object, ...]:
        return numba.__version__, signature, self.target.codegen().magic_tuple()


@cache
def _linking(apart: bool) -> type[Compiler]:
    """Return numba's compiler for a function that only others call: it is optimised as a part of them, and not alone.

    numba itself makes machine code of every function, with all that it calls in it: half of the time of compiling.
    """

    class Linking(Compiler):
        def _compile_core(self) -> CompileResult:
            self.state.flags.no_compile, self.state.flags.noalias = True, apart
            made = super()._compile_core()
            library, called = _as_written(made), made.fndesc
            module, name = called.lookup_module(), called.qualname
            own = make_function(module, name, "", 0, made.environment, (library,))  # by which callers find its code
            self.state.targetctx.insert_user_function(own, called, [library])
            return made._replace(entry_point=own)

    return Linking


def _as_written(made: CompileResult) -> Native:
    """Return the library of what was compiled, which numba now neither optimises nor makes machine code of."""
    library = made.library
    library._optimize_final_module = lambda: None
    library._finalize_final_module = lambda: setattr(library, "_finalized", True)
    return library


# -- by address


def cast(wanted: types.Type, lower: Callable[[ir.IRBuilder, ir.Value], ir.Value]) -> Native:
    """Return what makes, in compiled code, something else of an integer or a reference."""

    def typed(_: BaseContext, value: types.Type) -> Lowered:
        def generate(context: BaseContext, builder: ir.IRBuilder, taken: Typed, given: list[ir.Value]) -> ir.Value:
            return lower(builder, context.cast(builder, given[0], taken.args[0], types.int64))

        return wanted(value), generate

    return intrinsic(typed)


def _pointer(kind: ir.Type) -> Callable[[ir.IRBuilder, ir.Value], ir.Value]:
    return lambda builder, value: builder.inttoptr(value, kind.as_pointer())


words_at = cast(types.CPointer(types.int64), _pointer(_WORD))
"""For compiled code: the integers at an address."""
reals_at = cast(types.CPointer(types.float64), _pointer(ir.DoubleType()))
"""For compiled code: the real numbers at an address."""
real_at = cast(types.float64, lambda builder, value: builder.load(_pointer(ir.DoubleType())(builder, value)))
"""For compiled code: the real number at an address."""


# -- by signature


def types_of(signature: Signature) -> tuple[types.Type, tuple[types.Type, ...]]:
    """Return numba's types of what a signature gives and takes."""
    return _type(signature.returns), tuple(map(_type, signature.takes))


def _type(kind: Kind) -> types.Type:
    if isinstance(kind, str):
        name, _, axes = kind.partition("[")
        return types.Array(getattr(types, name), axes.count(",") + 1, "C")
    if plain := PLAIN.get(getattr(kind, "__name__", "None")):
        return plain
    inner = [PLAIN[what] for what in named_fields(kind).values()]
    return types.NamedTuple(inner, kind) if len({*inner}) > 1 else types.NamedUniTuple(inner[0], len(inner), kind)


def alone(function: Callable[..., object], signature: Signature) -> bytes | None:
    """Compile a function to an object file with all that it calls: its name there, and behind a zero byte the file.

    None if it needs more of numba, such as memory for arrays.
    """
    getLogger("lpsm.compiling").info("compiling, once on this machine")
    returns, takes = types_of(signature)
    flags, target = Flags(), registry.cpu_target
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.nrt = flags.no_compile = True
    flags.error_model = "numpy"
    made = compile_extra(target.typing_context, target.target_context, function, takes, returns, flags, {})
    library, codegen = _as_written(made), target.target_context.codegen()
    with global_compiler_lock:
        library.finalize()  # with all that it calls
    module = binding.parse_assembly(library.get_llvm_str())
    module.link_in(binding.parse_assembly(_UNCOUNTED))
    name = made.fndesc.llvm_func_name
    for one in module.functions:  # nobody else calls them: LLVM may change what they take and give
        if not (one.is_declaration or one.name == name):
            one.linkage = "internal"
    for cost in "cheap", "full":
        passes, builder = codegen._module_pass_manager(cost=cost)
        passes.run(module, builder)
    anywhere = ctypes.CDLL(None)  # the process itself: the C library, and none of numba's own functions
    declared = [*module.functions, *module.global_variables]
    wanted = {one.name for one in declared if one.is_declaration and not one.name.startswith("llvm.")}
    if not all(hasattr(anywhere, name) for name in wanted):
        return None
    _, cpu, features = codegen.magic_tuple()
    machine = binding.Target.from_triple(module.triple).create_target_machine(cpu, features, opt=3, jit=True)
    return name.encode() + b"\0" + machine.emit_object(module)


def address(kernel: Native, signature: Signature) -> int:
    """Return where numba's own machine code of a function is."""
    returns, takes = types_of(signature)
    kernel.compile(returns(*takes))
    found = kernel.overloads[takes]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def caller(signature: Signature) -> Native:
    """Return what calls, in compiled code, the function of a signature at an address: address first, then its own."""
    return calling(*types_of(signature))


def calling(returns: types.Type, takes: tuple[types.Type, ...]) -> Native:
    """Return the same for numba's types."""

    def generate(context: BaseContext, builder: ir.IRBuilder, _: Typed, given: list[ir.Value]) -> ir.Value:
        convention = context.call_conv
        callee = builder.inttoptr(given[0], ir.PointerType(convention.get_function_type(returns, takes)))
        return convention.call_function(builder, callee, returns, takes, given[1:])[1]

    names = ", ".join(f"a{i}" for i in range(len(takes)))
    scope = {"found": (returns(types.int64, *takes), generate)}
    exec(f"def typed(_, address, {names}):\n    return found", scope)  # numba counts a function's parameters
    return intrinsic(scope["typed"])
