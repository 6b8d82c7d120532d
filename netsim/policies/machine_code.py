"""Calling a policy's rule by the address of its machine code.

The engine is compiled once for all policies: it knows a rule by its address and its type, as C knows a function
pointer, so that a new policy costs the compilation of its own few lines.  numba has first-class functions too, but its
compiled code cannot be kept on disk for them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from lpsm._compile import compiled, is_compiled
from netsim.policies.compiled import FlatFrame, FlatView, ObserveRule, PlanRule
from netsim.policies.protocol import Plan
from netsim.running import standalone as _standalone

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_INTEGER, _FLAG = types.int64, types.boolean
_INTS, _FLOATS = types.Array(types.int64, 1, "C"), types.Array(types.float64, 1, "C")
_record: Any = types.NamedTuple
_integers: Any = types.NamedUniTuple
_PLAN = _record((_INTEGER, _INTEGER, _FLAG, _INTEGER, _FLAG), Plan)
_PLAN_TAKES = (_integers(_INTEGER, len(FlatView._fields), FlatView), _INTS, _FLOATS)
_OBSERVE_TAKES = (_integers(_INTEGER, len(FlatFrame._fields), FlatFrame), _INTS, _FLOATS)


def address(rule: PlanRule | ObserveRule, kind: str) -> int:
    """Return the address of the machine code of a rule that plans or observes, compiled if need be.

    It is then kept by itself too, so that the next process does without the compiler.
    """
    signature = _PLAN(*_PLAN_TAKES) if kind == "plan" else types.none(*_OBSERVE_TAKES)
    files, function = _standalone.address_files(rule), _kernel(rule).dispatcher.py_func
    _standalone.save(files, kind, function, signature.args, signature.return_type)
    found = _standalone.address(rule, kind)
    return _address(rule, signature) if found is None else found


def is_ready(rule: Any) -> bool:
    """Whether a rule is compiled, in this process or on disk."""
    return is_compiled(_kernel(rule))


def caller(kernel: Any) -> Any:
    """Return what calls a kernel from Python in the shortest way."""
    return _kernel(kernel).dispatcher


@cache
def _kernel(rule: Any) -> Any:
    return rule if hasattr(rule, "py_func") else compiled(rule)


@cache
def _address(rule: Any, signature: Any) -> int:
    kernel = _kernel(rule).dispatcher
    kernel.compile(signature)
    found = kernel.overloads[signature.args]
    if found.signature.return_type != signature.return_type:
        raise TypeError(f"{rule.__qualname__} must return {signature.return_type}, got {found.signature.return_type}")
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


def _caller(returned: Any, taken: tuple[Any, ...]) -> Any:
    """Return what calls, in compiled code, the function at an address with two arrays and a record."""

    def typed(_: Any, address: Any, ints: Any, floats: Any, record: Any) -> Any:
        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (address, ints, floats, record), convention = arguments, context.call_conv
            callee = builder.inttoptr(address, ir.PointerType(convention.get_function_type(returned, taken)))
            return convention.call_function(builder, callee, returned, taken, [record, ints, floats])[1]

        return returned(_INTEGER, _INTS, _FLOATS, taken[0]), lower

    return intrinsic(typed)


call_plan: Any = _caller(_PLAN, _PLAN_TAKES)
"""For compiled code: call the rule at an address with its arrays, and a `FlatView`."""
call_observe: Any = _caller(types.none, _OBSERVE_TAKES)
"""For compiled code: call what observes frames at an address with its arrays, and a `FlatFrame`."""


@compiled
def ask(address: int, numbers: Ints, ints: Ints, floats: Floats) -> None:
    """Call the rule at `address` with the view that `numbers` begins with; leave the plan there."""
    view = FlatView(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6])
    plan = call_plan(address, ints, floats, view)
    numbers[0] = plan.awake_until_ns
    numbers[1] = plan.wake_ns
    numbers[2] = plan.open_on_send
    numbers[3] = plan.repeat_ns
    numbers[4] = plan.agreed


@compiled
def tell(address: int, numbers: Ints, ints: Ints, floats: Floats) -> None:
    """Call what observes frames at `address` with the frame that `numbers` holds."""
    frame = FlatFrame(
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7], numbers[8],
        numbers[9],
    )  # fmt: skip
    call_observe(address, ints, floats, frame)
