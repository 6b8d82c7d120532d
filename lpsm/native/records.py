"""A record: one declaration of named numbers for Python objects, for numpy's structured arrays and for compiled code.

Functions read and write fields as attributes, and the same source does so in Python and compiled.  A field is an
integer, a real number, a reference to a record, a record that is part of this one (`Part`), records in a row (`Rows`),
integers in a row (`Ints`), or an array that stands in the record (`IntArray`, `RealArray`), whose value in the class is
its shape.  `NONE` refers to nothing, and is false where every record is true.

In memory every number has eight bytes, and fields follow one another as they are declared: `dtype_of` is the layout.
A reference is an address (`lpsm.native.references`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")

NONE: Any = 0
"""What a field holds that refers to no record."""
Part = Annotated[T, "part"]
"""Of a field: a record that is part of this one."""
Rows = Sequence[T]
"""Of a field: records in a row, taken by their places."""
Ints = Any
"""Of a field: integers in a row, elsewhere."""
IntArray = Any
RealArray = Any
"""Of a field: numbers that stand in the record; its value in the class is their shape."""
RECORDS: dict[str, Any] = {}
"""Every kind of record by its name; `fields` are its annotations, `shapes` those of its arrays, by names of fields."""


def record(cls: type[T]) -> type[T]:
    """Make a kind of records of a class whose annotations are the fields; all are 0 at first.

    Fields of a base come last: numba would take a record that begins like another for one of its kind.  In a copy of
    a module, whose name has an @, the name of a record has it, too.
    """
    called = "".join((cls.__name__, *cls.__module__.partition("@")[1:]))
    if called in RECORDS and RECORDS[called].__module__ != cls.__module__:
        raise NameError(f"two records must not have one name, got {called} of {cls.__module__} too")
    fields: dict[str, str] = {**cls.__annotations__, **getattr(cls.__base__, "fields", {})}
    shapes = {**getattr(cls.__base__, "shapes", {}), **{name: vars(cls)[name] for name in fields if name in vars(cls)}}
    lines = [f"    self.{name} = {_first(what)}" for name, what in fields.items()]
    scope = dict(RECORDS)
    exec("def __init__(self):\n" + "\n".join(lines), scope)
    made = type(called, (), {"__slots__": tuple(fields), "__init__": scope["__init__"], "__doc__": cls.__doc__})
    made.fields, made.shapes = fields, shapes  # type: ignore[attr-defined]
    made.__module__ = cls.__module__
    RECORDS[called] = made
    return made


def _part(what: str) -> str:
    return what[5:-1] if what.startswith("Part[") else ""


def _first(what: str) -> str:
    return f"{_part(what)}()" if _part(what) else "0.0" if what == "float" else "0"


# -- in memory


class Field(NamedTuple):
    """Where a field stands in its record, in words of eight bytes; its annotation; and of a part, its kind."""

    at: int
    what: str
    part: str


@cache
def dtype_of(kind: str) -> np.dtype[Any]:
    """Return numpy's type of records of a kind, whose fields are attributes."""
    shapes = RECORDS[kind].shapes
    plain = {"float": "f8", "RealArray": "f8"}
    fields = [
        (name, dtype_of(_part(what)) if _part(what) else plain.get(what, "i8"), shapes.get(name, ()))
        for name, what in RECORDS[kind].fields.items()
    ]
    return np.dtype((np.record, np.dtype(fields, align=True)))


@cache
def fields_of(kind: str) -> dict[str, Field]:
    """Return the fields of a kind of record, in their order."""
    layout: Any = dtype_of(kind).fields
    return {name: Field(layout[name][1] // 8, what, _part(what)) for name, what in RECORDS[kind].fields.items()}


def words_of(kind: str) -> int:
    """Return how many numbers a record of a kind has."""
    return dtype_of(kind).itemsize // 8


def _leaves(kind: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in fields_of(kind).items():
        yield from _leaves(field.part, f"{prefix}{name}.") if field.part else [(prefix + name, field.what)]


@cache
def numbers_of(kind: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return what reads the numbers of a record of a kind, those of its parts among them, in the order of its words."""
    return attrgetter(*(name for name, _ in _leaves(kind)))


@cache
def reals_of(kind: str) -> list[int]:
    """Return the places of those that are no integers."""
    return [at for at, (_, what) in enumerate(_leaves(kind)) if what == "float"]
