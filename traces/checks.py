"""Arguments of a wrong type or size, refused by an error that names argument, rule and value.

What it leaves out: what stands in files, which `TraceError` refuses with the place.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

P = ParamSpec("P")
T = TypeVar("T")

_NUMBERS: dict[type, type] = {int: Integral, float: Real}


def shown(value: object) -> str:
    """Return what an error shows of a value: at most 60 characters."""
    if isinstance(value, int) and abs(value) >= 10**50:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value[:60] if isinstance(value, str | bytes) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."


SEED = np.random.Generator | int
"""What a source of chance may be given as."""


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Refuse arguments that are not of the type of their annotation; what stands in brackets is not looked at.

    A generator may be given by its seed, an integer from 0.
    """
    signature = inspect.signature(function)
    hints = cache(lambda: get_type_hints(function))

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            if hints().get(name) == SEED and _is(value, int):
                if value < 0:
                    raise ValueError(f"{name} must be a generator or a seed, at least 0, got {shown(value)}")
                bound.arguments[name] = np.random.default_rng(value)
            elif name in hints():
                typed(name, value, hints()[name])
        return function(*bound.args, **bound.kwargs)

    return call


def each(name: str, values: Iterable[object], kind: type[T]) -> Iterator[T]:
    """Yield the values, each of which must be of this class."""
    for value in values:
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be of the type {kind.__name__}, got {shown(value)}")
        yield value


def between(low: float, high: float, /, **values: Any) -> None:
    """Every value is a number in [low, high]."""
    for name, value in values.items():
        typed(name, value, float)
        if not low <= value <= high:
            raise ValueError(f"{name} must lie in [{low:g}, {high:g}], got {shown(value)}")


def column(name: str, given: ArrayLike, shape: tuple[int, ...] | None, dtype: type = np.float64) -> NDArray[Any]:
    """Return numbers as a copy of this shape (None: any length) and type that cannot be written to."""
    try:
        found = np.asarray(given)
    except ValueError:
        raise ValueError(f"{name} must have shape {shape or '(n,)'}, got rows of several lengths") from None
    kinds = "i" if dtype is np.int64 else "iuf"
    masked = "numpy.ma" in sys.modules and isinstance(given, np.ma.MaskedArray)  # which takes long to import
    if masked or (found.dtype.kind not in kinds and found.size):
        what = "whole numbers below 2^63" if dtype is np.int64 else "numbers"
        raise TypeError(f"{name} must hold {what}, got {type(given).__name__} of {found.dtype}")
    if found.shape != shape if shape is not None else found.ndim != 1:
        raise ValueError(f"{name} must have shape {shape or '(n,)'}, got {found.shape}")
    made: NDArray[Any] = np.array(found, dtype=dtype, order="C")
    made.flags.writeable = False
    return made


def typed(name: str, value: object, hint: Any) -> None:
    """Refuse a value that is not of the type of an annotation."""
    kinds = [get_origin(kind) or kind for kind in (get_args(hint) if isinstance(hint, UnionType) else (hint,))]
    if Any in kinds or any(_is(value, kind) for kind in kinds):
        return
    words = " or ".join("None" if kind is NoneType else kind.__name__ for kind in kinds)
    raise TypeError(f"{name} must be of the type {words}, got {shown(value)}")


def _is(value: object, kind: type) -> bool:
    if kind in _NUMBERS:
        return isinstance(value, _NUMBERS[kind]) and not isinstance(value, bool)
    return isinstance(value, (bool, np.bool_) if kind is bool else kind)
