"""How compiled code calls the methods of a learner by address, so that the loop over rounds is compiled once.

What it models: `pin` writes a record of arrays where machine code finds it, and compiles the record's methods, each a
function of that place and of a `protocol.Round`; the loop knows addresses alone.  Rules are called likewise
(`protocol.call`), by a signature of arrays and numbers (`lpsm.native.entries`).
What it leaves out: plain Python, which calls the methods as they are.  The module imports numba, and is imported when
the first kernel is needed.
"""

# An intrinsic is called with less than it is written with, numba is not typed, and it counts a function's parameters.
# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg,unreachable"

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import Constant
from numba import typeof, types
from numba.extending import intrinsic, overload
from numba.np.numpy_support import as_dtype

from lpsm.native import Kernel, compiled
from lpsm.native.compiler import address_of, caller, calling
from lpsm.samplers import protocol
from lpsm.samplers.linear_algebra import Row
from lpsm.samplers.protocol import play

OPTIONS: Any = {"error_model": "numpy"}
WORD = ir.IntType(64)


def _invoked(entry, at, j, now):
    """Call a method of the record that stands at the j-th place; it raises nothing."""
    method, bytes_each = calling(types.float64, (types.int64, now)), 8 * protocol.WORDS
    return lambda entry, at, j, now: method(entry, address_of(at) + bytes_each * j, now)


def _unowned(context, builder, kind, value):
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
def _place(_, record, place):
    """Write a record to an address."""

    def generate(context, builder, signature, arguments):
        value = _unowned(context, builder, record, arguments[0])
        builder.store(value, builder.inttoptr(arguments[1], value.type.as_pointer()))
        return context.get_dummy_value()

    return types.void(record, place), generate


def _loader(record):
    """Return a function for compiled code: the record at an address."""

    def load(_, at):
        def generate(context, builder, signature, arguments):
            return builder.load(builder.inttoptr(arguments[0], context.get_value_type(record).as_pointer()))

        return record(at), generate

    return intrinsic(load)


def _record(place, values):
    example = protocol.example(protocol.RoundRecord, Values=np.zeros(1, as_dtype(values.dtype)))
    loaded = _loader(typeof(example))
    return lambda place, values: loaded(address_of(place))


_called = caller(protocol.RULE_FUNCTION)
for _function, _made in (
    (protocol.call, lambda function, rule, counts, scalars, a, b, c, d, e:
     lambda function, rule, counts, scalars, a, b, c, d, e: _called(function, rule, counts, scalars, a, b, c, d, e)),
    (protocol.invoke, _invoked),
    (protocol.record_at, _record),
):  # fmt: skip
    overload(_function, jit_options=OPTIONS, strict=False)(_made)


def _linked(function, name):
    """Return a function to be optimised with what calls it; learners make no array, so that it counts no users."""
    made = Kernel(function).linked
    made.targetoptions["_nrt"] = name in ("vote", "reweigh")
    return made


def _address(name):
    """Return a function for compiled code: the address of a method's entry for a record, 0 if it has no such method."""

    def typed(_, record):
        def generate(context, builder, signature, arguments):
            if not callable(verb := getattr(record.instance_class, name, None)):
                return WORD(0)
            loaded, method = _loader(record), _linked(verb, name)

            def does(at, now):
                method(loaded(at), now)
                return 0.0

            def answers(at, now):
                return method(loaded(at), now)

            values = np.zeros(1, as_dtype(record.types[record.fields.index("weights")].dtype))
            now = protocol.example(protocol.Round, Row=Row(values, np.zeros(1, np.int32), 0, True))
            takes = types.int64, typeof(now)
            entry = answers if name in ("variance", "overlap") else does
            # Code kept on disk is linked by name, and the number that numba appends begins anew in every process.
            entry.__qualname__ = f"{name} of {sha256(str(record).encode()).hexdigest()}"
            linked = _linked(entry, name)
            linked.compile(takes)
            made = linked.overloads[takes]
            context.active_code_library.add_linking_library(made.library)
            return builder.ptrtoint(context.declare_function(builder.module, made.fndesc), WORD)

        return types.int64(record), generate

    return intrinsic(typed)


_score, _variance, _overlap, _update, _vote, _reweigh = (_address(name) for name in protocol.ENTRIES)


@compiled
def pin(record, place, entries):
    """Write a record into a place in memory, and the addresses of its methods into `entries`."""
    _place(record, address_of(place))
    entries[0], entries[1], entries[2] = _score(record), _variance(record), _overlap(record)
    entries[3], entries[4], entries[5] = _update(record), _vote(record), _reweigh(record)


_kernels: Any = play, pin
for _kernel in _kernels:
    _kernel.dispatcher.targetoptions["_nrt"] = False
for _part in vars(protocol).values():  # the record has 150 words, which no call is to pass on
    if isinstance(_part, Kernel) and _part.__module__ == protocol.__name__ and _part is not play:
        _part.linked.targetoptions["forceinline"] = True
