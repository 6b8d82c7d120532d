"""One table of checks: numbers, arrays and saved states, each refused by an error that names argument, rule and value.

What it leaves out: instances and labels of samplers (`lpsm.samplers.checks`), losses (`lpsm.experts.learner`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial, wraps
from math import inf, prod
from numbers import Real
from operator import index
from types import UnionType
from typing import Any, ParamSpec, TypeVar, dataclass_transform

import numpy as np

from lpsm.arrays import Array

P = ParamSpec("P")
T = TypeVar("T")

_DOUBLE = np.dtype(np.float64)

MOST_TEXT = 1 << 20
"""Most characters of a text in a state."""


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False)
def frozen(kind: type[T]) -> type[T]:
    """Make a class a record that holds arrays: frozen, by keyword, and equal to itself alone."""
    return dataclass(frozen=True, slots=True, kw_only=True, eq=False)(kind)


def shown(value: object) -> str:
    """Return what an error shows of a value: at most 60 characters."""
    if isinstance(value, dict) and value:
        return ", ".join(f"{name}={shown(of)}" for name, of in value.items())[:60]
    if isinstance(value, int) and abs(value) >= 10**50:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str | bytes) and len(value) > 60:
        value = value[:60]
    text = str(value) if isinstance(value, np.generic) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def number(name: str, value: Any) -> float:
    """Return a number of any type as a float, infinite if it is too large for one; anything else is a TypeError."""
    if type(value) is float:
        return value
    if type(value) is not int:
        if type(value) is np.ndarray and value.ndim == 0:
            value = value.item()
        if isinstance(value, bool | np.bool_) or not issubclass(type(value), Real):
            raise TypeError(f"{name} must be a number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def whole(least: int = 0, most: int | None = None, /, **values: object) -> int:
    """Return the last of the values as an `int`; all are whole numbers of at least `least`, and at most `most`."""
    found = least
    for name, value in values.items():
        try:
            found = index(value)  # type: ignore[arg-type]
        except TypeError:
            found = least - 1
        if isinstance(value, bool | np.bool_) or found < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {shown(value)}")
        if most is not None and found > most:
            raise ValueError(f"{name} must be at most {most}, got {shown(value)}")
    return found


def positive(finite: bool = True, /, **values: object) -> None:
    """Every value is greater than 0 (and finite, unless the limit is allowed)."""
    _hold(f"be positive{' and finite' if finite else ''}", lambda x: x > 0.0 and (x < inf or not finite), values)


def keep_whole(configuration: object, least: int, most: int | None, /, *names: str) -> None:
    """The fields of these names of a frozen configuration are such whole numbers; each is made an `int`."""
    for name in names:
        object.__setattr__(configuration, name, whole(least, most, **{name: getattr(configuration, name)}))


def non_negative(**values: object) -> None:
    """Every value is finite and at least 0."""
    _hold("be non-negative and finite", lambda x: 0.0 <= x < inf, values)


def at_least(least: float, /, **values: object) -> None:
    """Every value is finite and at least `least`."""
    _hold(f"be at least {least:g} and finite", lambda x: least <= x < inf, values)


def between(low: float, high: float, open_low: bool = False, /, **values: object) -> None:
    """Every value lies in [low, high], or in (low, high]."""
    rule = f"lie in {'(' if open_low else '['}{low:g}, {high:g}]"
    _hold(rule, lambda x: (low < x if open_low else low <= x) and x <= high, values)


def probability(**values: object) -> None:
    """Every value lies strictly between 0 and 1."""
    _hold("lie in (0, 1)", lambda x: 0.0 < x < 1.0, values)


def _hold(rule: str, holds: Callable[[float], bool], values: Mapping[str, object]) -> None:
    for name, value in values.items():
        if not holds(number(name, value)):
            raise ValueError(f"{name} must {rule}, got {shown(value)}")


def known(name: str, value: object, names: Iterable[str]) -> None:
    """The value is one of the names; an error says which is nearest."""
    if value not in (names := list(names)):
        near = get_close_matches(str(value), names, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{name} must be one of {', '.join(names)}, got {shown(value)}{meant}")


def array(name: str, value: Any, dtype: Any = np.float64) -> Array:
    """Return numbers as a contiguous array; complex and masked ones, texts and objects are a TypeError."""
    if type(value) is np.ndarray and value.dtype == dtype:
        return np.ascontiguousarray(value) if value.ndim else value
    if type(value) is not list and (value is None or isinstance(value, np.ma.MaskedArray)):
        raise TypeError(f"{name} must be an array of numbers, got {shown(type(value).__name__)}")
    try:
        found = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be an array of numbers, got rows of several lengths") from None
    if found.dtype is _DOUBLE and dtype is np.float64 and type(value) is list:
        return found  # a list of floats, as learners get them round by round
    if found.dtype.kind not in "biuf" and found.size:
        raise TypeError(f"{name} must be an array of numbers, got {shown(value)}")
    return np.asarray(found, dtype, order="C")


def shaped(name: str, value: Any, *shape: int | str, filled: bool = False, dtype: Any = np.float64) -> Array:
    """Return numbers as an array of this shape, in which a letter stands for one length; if `filled`, of at least 1."""
    found = array(name, value, dtype)
    lengths = dict(zip(shape, found.shape, strict=False))
    wanted = tuple(lengths.get(one) if isinstance(one, str) else one for one in shape)
    if found.shape != wanted or (filled and 0 in wanted):
        rule = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
        letters = ", ".join(dict.fromkeys(one for one in shape if isinstance(one, str)))
        raise ValueError(
            f"{name} must have shape {rule}{f' with {letters} >= 1' * bool(filled and letters)}, got {found.shape}"
        )
    return found


def generator(name: str, value: object) -> np.random.Generator:
    """Return the generator, or the one of a seed: an integer from 0."""
    if isinstance(value, np.random.Generator):
        return value
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise TypeError(f"{name} must be of the type Generator, or a seed from 0, got {shown(value)}")
    return np.random.default_rng(value)


def of_type(kind: type[T], /, **values: object) -> None:
    """Every value is of this class."""
    for name, value in values.items():
        _kind(kind, f"of the type {kind.__name__}")(name, value)


def _kind(kinds: type | UnionType, meant: str) -> Callable[[str, object], None]:
    def rule(name: str, value: object) -> None:
        if not isinstance(value, kinds):
            raise TypeError(f"{name} must be {meant}, got {shown(value)}")

    return rule


_RULES: dict[str, Callable[[str, Any], object]] = {
    "bool": _kind(bool | np.bool_, "True or False"),
    "str": _kind(str, "a text"),
    "int": number,
    "float": number,
    "ArrayLike": array,
    "Generator": generator,
}


_OF_NAMES: dict[str, Callable[..., object]] = {
    name: check
    for names, check in (
        ("horizon n_experts n_alphas", partial(at_least, 1)),
        ("n_rounds n_hypotheses", partial(whole, 1)),
        ("gamma a b C scale exponent", positive),
        ("hinge energy quadratic quadratic_sum comparator_norm log_det radius", non_negative),
        ("delta quality", probability),
        ("alpha best_alpha beta rate step", partial(between, 0.0, 1.0)),
    )
    for name in names.split()
}
"""How arguments of these names are checked, whatever `checked` function takes them."""


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Check the arguments of a function by annotation and by name, and name it where its result is too large.

    A generator may be given by its seed.
    """
    signature = inspect.signature(function)
    rules = {p.name: _RULES[p.annotation] for p in signature.parameters.values() if p.annotation in _RULES}

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        for name, value in given.items():
            if name in rules and (found := rules[name](name, value)) is not value and rules[name] is generator:
                given[name] = found
            if name in _OF_NAMES:
                _OF_NAMES[name](**{name: value})
        try:
            return function(*bound.args, **bound.kwargs)
        except IndexError as error:
            raise ValueError(f"{function.__name__} must have arguments whose shapes fit: {error}") from None
        except (OverflowError, ZeroDivisionError, MemoryError):
            raise ValueError(f"{function.__name__} must have a result that fits a number, got {shown(given)}") from None

    return call


# -- states -------------------------------------------------------------------------------------


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn whatever a state that was not written by `state()` leads to into one ValueError."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{what} must hold {error.args[0]}, which is missing") from None
    except (TypeError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError, SystemError) as error:
        raise ValueError(f"{what} must be as its state() wrote it: {shown(str(error))}") from None


def state_text(state: Mapping[str, object], name: str) -> str:
    """Return a text of a state."""
    found = np.asarray(state[name])
    if found.ndim or found.dtype.kind != "U" or found.dtype.itemsize > 4 * MOST_TEXT:
        got = f"{found.dtype} of shape {found.shape}"
        raise ValueError(f"state must hold {name} as a text of at most {MOST_TEXT} characters, got {got}")
    try:
        return str(found)
    except SystemError:  # numpy's, of what is no character
        raise ValueError(f"state must hold {name} as a text, got characters that there are not") from None


def state_array(
    state: Mapping[str, object], name: str, shape: tuple[int | None, ...], dtype: Any = np.float64, low: float = -inf,
    high: float = inf,
) -> Array:  # fmt: skip
    """Return a copy of an array of a state: of this shape (None: any length) and type, finite, and in [low, high].

    Raises
    ------
    ValueError
        If it is not.
    """
    found = np.asarray(state[name])
    fits = len(found.shape) == len(shape) and all(b in (None, a) for a, b in zip(found.shape, shape, strict=True))
    if not fits or isinstance(state[name], np.ma.MaskedArray):
        raise ValueError(f"state must hold {name} of shape {shape}, got {found.shape}")
    if found.dtype != dtype and prod(found.shape):
        raise ValueError(f"state must hold {name} of type {np.dtype(dtype)}, got {found.dtype}")
    if found.dtype.kind in "iuf" and not (good := np.isfinite(found) & (found >= low) & (found <= high)).all():
        raise ValueError(f"state must hold {name} finite and in [{low:g}, {high:g}], got {found[~good][0]}")
    return np.array(found, dtype, order="C")
