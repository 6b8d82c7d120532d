"""The one compiling decorator: numba, imported when a kernel is first called; what it makes is kept on disk.

A kernel is compiled for the types of its arguments, never with fast-math.  Called by another kernel, every whole
number, literal or truth value counts as int64, so that a kernel has one signature.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from math import prod
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from lpsm.native.kept import Kept, is_plain

if TYPE_CHECKING:
    from lpsm.arrays import Array

P = ParamSpec("P")
T = TypeVar("T")


def compiled(function: Callable[P, T], apart: bool = False) -> Callable[P, T]:
    """Compile a module-level kernel to machine code on its first call; rounding is that of the source.

    `apart` promises other kernels that call it that no two of its arrays overlap, so that its loops vectorise.
    """
    return function if is_plain() else cast("Callable[P, T]", Kernel(function, apart))


class Kernel:
    """A function that is compiled when first called; other kernels call it like any compiled function."""

    def __init__(self, function: Callable[..., object], apart: bool = False) -> None:
        update_wrapper(self, function)
        self.py_func, self.apart = function, apart

    @cached_property
    def dispatcher(self) -> Any:
        """What numba makes of the function."""
        return compiler().dispatcher(self.py_func, Kept(self.py_func.__module__, self.py_func.__qualname__))

    @cached_property
    def linked(self) -> Any:
        """What numba makes of it for other kernels, which hold its code in theirs."""
        return compiler().dispatcher(self.py_func, None, self.apart)

    @property
    def _numba_type_(self) -> Any:  # that of a name in another kernel
        return self.linked._numba_type_

    def __call__(self, *args: Any) -> Any:  # noqa: D102
        return self.dispatcher(*args)

    def __reduce__(self) -> str:
        return str(vars(self)["__qualname__"])  # pickled by its name, like any function


def block(array: Array, at: int, shape: tuple[int, ...]) -> Array:
    """Return the numbers of a one-dimensional array from `at` on as an array of that shape.

    In compiled code it is what slicing and `reshape` give, without their calls, counts and checks.
    """
    return array[at : at + prod(shape)].reshape(shape)


@cache
def compiler() -> ModuleType:
    """Import numba, and tell it of `block`."""
    from lpsm.native import compiler

    compiler.know_block(block)
    return compiler
