"""Arrays in compiled code by the address of their elements: nothing is counted as in use, and no index is checked."""

from __future__ import annotations

from typing import Any

from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from lpsm._compile import compiled

__all__ = ["bits", "block", "integers_at", "real", "reals_at", "start"]


def _start(_: Any, array: Any) -> Any:
    """Return the address of an array's first element."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate  # type: ignore[no-untyped-call]


start: Any = intrinsic(_start)


def _cast(returned: Any, lower: Any) -> Any:
    """Return an intrinsic of one argument that is other bits, or other knowledge of the same bits."""

    def typed(_: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return lower(builder, arguments[0], context.get_value_type(returned))

        return returned(value), generate

    return intrinsic(typed)


_INTEGERS, _REALS = types.CPointer(types.int64), types.CPointer(types.float64)  # type: ignore[no-untyped-call]

real: Any = _cast(types.float64, lambda builder, value, kind: builder.bitcast(value, kind))
"""For compiled code: the number whose bits are an integer."""
bits: Any = _cast(types.int64, lambda builder, value, kind: builder.bitcast(value, kind))
"""For compiled code: the bits of a number."""
integers_at: Any = _cast(_INTEGERS, lambda builder, value, kind: builder.inttoptr(value, kind))
"""For compiled code: the array of integers at an address."""
reals_at: Any = _cast(_REALS, lambda builder, value, kind: builder.inttoptr(value, kind))
"""For compiled code: the array of numbers at an address."""


@compiled
def block(array: Any, at: int, shape: tuple[int, ...]) -> Any:
    """Return the numbers of a one-dimensional array from `at` on as an array of that shape.

    It is what slicing and `reshape` give, without their calls: a tenth of the time of a short kernel's round.
    """
    return carray(start(array[at:]), shape)
