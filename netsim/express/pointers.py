"""Addresses in compiled code, apart from `layout` because they need numba."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

__all__ = ["start"]


def _start(_: Any, array: Any) -> Any:
    """Return the address of an array's first element: no reference is counted, no index checked for its sign."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate  # type: ignore[no-untyped-call]


start: Any = intrinsic(_start)
