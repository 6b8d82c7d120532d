"""How compiled code calls the verbs of a learner by address, so that the loop over rounds is compiled once.

What it models: `pin` writes a record of arrays where machine code finds it, and compiles the record's verbs, each a
function of that place and of a `core.Now`; the loop knows addresses alone.  Rules are called likewise (`core.call`).
What it leaves out: plain Python, which calls the verbs as they are.  The module imports numba, and is imported when the
first kernel is needed.
"""

# An intrinsic is called with less than it is written with, and numba is not typed.
# mypy: disable-error-code="no-untyped-call,call-arg,unreachable"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import Constant
from numba import njit, typeof, types
from numba.core import cgutils
from numba.core.callconv import excinfo_t
from numba.core.compiler import Flags
from numba.extending import intrinsic, overload
from numba.np.numpy_support import as_dtype

from lpsm._compile import compiled
from lpsm.samplers import core
from lpsm.samplers.rows import Row

__all__ = ["pin", "register"]

OPTIONS: Any = {"error_model": "numpy"}
RETURNING = ("spread", "overlap")  # the verbs that answer with a number
_WORD = ir.IntType(64)


def register() -> None:
    """Tell numba of calls by address, and of the desk that was pinned."""
    for function, made in (
        (core.call, lambda function, rule, counts, scalars, a, b, c, d, e:
         _called(function, rule, counts, scalars, a, b, c, d, e)),
        (core.invoke, lambda entry, at, j, now: _invoked(entry, at, j, now)),
        (core.desk_at, lambda place, values: _loaded(place, values)),
    ):  # fmt: skip
        overload(function, jit_options=OPTIONS, strict=False)(lambda *_, made=made: made)
    kernels: Any = (core.play, pin)
    for kernel in kernels:
        kernel.dispatcher.targetoptions["_nrt"] = False


@intrinsic
def _called(_: Any, function: Any, rule: Any, counts: Any, scalars: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    """Call a function of C of three arrays, by their first elements, and five numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = zip(signature.args[1:4], arguments[1:4], strict=True)
        pointers = [context.make_array(kind)(context, builder, value).data for kind, value in arrays]
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [*(pointer.type for pointer in pointers), *5 * [double]])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [*pointers, *arguments[4:]])

    return types.float64(types.int64, rule, counts, scalars, *5 * (types.float64,)), generate


@intrinsic
def _invoked(_: Any, entry: Any, at: Any, j: Any, now: Any) -> Any:
    """Call a compiled function at an address; it raises nothing."""
    kinds = [types.int64, now]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry, place, copy, now = arguments
        found = builder.ptrtoint(context.make_array(at)(context, builder, place).data, _WORD)
        values = [builder.add(found, builder.mul(copy, Constant(_WORD, 8 * core.WORDS))), now]
        function = context.call_conv.get_function_type(types.float64, kinds)
        result, trouble = (cgutils.alloca_once(builder, kind) for kind in (ir.DoubleType(), excinfo_t.as_pointer()))
        packed = context.get_arg_packer(kinds).as_arguments(builder, values)
        builder.call(builder.inttoptr(entry, function.as_pointer()), [result, trouble, *packed])
        return builder.load(result)

    return types.float64(types.int64, at, types.int64, now), generate


def _unowned(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return a record whose arrays have no owner: who counts their users is gone before the place is read."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo, array.parent = (Constant(part.type, None) for part in (array.meminfo, array.parent))
        return array._getvalue()
    parts: Any = kind if isinstance(kind, types.BaseTuple) else ()
    for i, part in enumerate(parts):
        inner = _unowned(context, builder, part, builder.extract_value(value, i))
        value = builder.insert_value(value, inner, i)
    return value


@intrinsic
def _place(_: Any, record: Any, place: Any) -> Any:
    """Write a record into an array of whole numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(place)(context, builder, arguments[1]).data
        value = _unowned(context, builder, record, arguments[0])
        builder.store(value, builder.bitcast(data, value.type.as_pointer()))
        return context.get_dummy_value()

    return types.void(record, place), generate


def _load(_: Any, place: Any, values: Any) -> Any:
    """Read the desk that was written into an array of whole numbers."""
    whole, line, table = np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros((1, 1))
    learned = core.Learned(whole, 0, 0, 0, 0, True, True, True, table, line, 0, True, 0, 0)
    tally, question = core.Tally(whole[None], table), core.Question(table, 0, 0, 0, True, True, True, True, True, 0)
    notes, scratch = core.Notes(line, line, line, table, table, table, table), np.zeros(1, dtype=as_dtype(values.dtype))
    kind = typeof(core.Desk(core.ALONE, learned, tally, question, notes, scratch, whole))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(place)(context, builder, arguments[0]).data
        return builder.load(builder.bitcast(data, context.get_value_type(kind).as_pointer()))

    return kind(place, values), generate


_loaded: Any = intrinsic(_load)


def _entry(record: Any, name: str) -> Callable[..., float]:
    """Return a verb of what `_place` wrote, as a function of the place and of now."""

    def load(_: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(builder.inttoptr(arguments[0], context.get_value_type(record).as_pointer()))

        return record(types.int64), generate

    loaded: Any = intrinsic(load)
    verb: Any = njit(getattr(record.instance_class, name), **OPTIONS)

    def does(at, now):  # type: ignore[no-untyped-def]
        verb(loaded(at), now)
        return 0.0

    return (lambda at, now: verb(loaded(at), now)) if name in RETURNING else does


def _address(name: str) -> Any:
    """Return a function for compiled code: the address of a verb's entry for a record, 0 if it has no such verb."""

    def typed(_: Any, record: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if not hasattr(record.instance_class, name):
                return context.get_constant(types.int64, 0)
            line, table = (types.Array(types.float64, n, "C") for n in (1, 2))
            values = types.Array(record.types[record.fields.index("weights")].dtype, 1, "C")
            row = types.NamedTuple((values, types.Array(types.int32, 1, "C"), types.int64, types.boolean), Row)
            now = (types.Array(types.int64, 1, "C"), line, row, table, *3 * (types.int64,), *6 * (types.float64,))
            # learners make and keep no array, so that nothing counts who uses them
            flags: Any = Flags()
            flags.nrt, flags.error_model = name in ("consult", "settle_up"), "numpy"
            flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            kinds = types.float64(types.int64, types.NamedTuple(now, core.Now))
            made = context.compile_subroutine(builder, _entry(record, name), kinds, flags=flags, caching=False)
            return builder.ptrtoint(context.declare_function(builder.module, made.fndesc), _WORD)

        return types.int64(record), generate

    return intrinsic(typed)


_look, _spread, _overlap, _store, _consult, _settle = (_address(name) for name in core.ENTRIES)


@compiled
def pin(record: Any, place: np.ndarray[Any, Any], entries: np.ndarray[Any, Any]) -> None:
    """Write a record into a place in memory, and the addresses of its verbs into `entries`."""
    _place(record, place)
    entries[0], entries[1], entries[2] = _look(record), _spread(record), _overlap(record)
    entries[3], entries[4], entries[5] = _store(record), _consult(record), _settle(record)
