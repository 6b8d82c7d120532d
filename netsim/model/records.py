"""A record: a Python object with slots where the model is interpreted, a place in memory where it is compiled.

Functions of the model read and write fields as attributes, and the same source does both.  A field is an integer, a
real number, a reference to a record, a record that is part of this one (`Part`), records in a row (`Rows`), or
integers in a row (`Ints`).  `NONE` refers to nothing, and is false where every record is true.  How a record lies in
memory is said in `netsim.running.references`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

T = TypeVar("T")

NONE: Any = 0
"""What a field holds that refers to no record."""
NEVER = 2**62
"""An instant later than any of a run, nanoseconds."""
Part = Annotated[T, "part"]
"""Of a field: a record that is part of this one."""
Rows = Sequence[T]
"""Of a field: records in a row, taken by their places."""
Ints = Any
"""Of a field: integers in a row."""
RECORDS: dict[str, Any] = {}
"""Every kind of record by its name; `fields` of a kind are the annotations by the names of its fields."""


def record(cls: type[T]) -> type[T]:
    """Make a kind of records of a class whose annotations are the fields; all are 0 at first."""
    fields: dict[str, str] = cls.__annotations__
    lines = [f"    self.{name} = {_first(what)}" for name, what in fields.items()]
    scope = dict(RECORDS)
    exec("def __init__(self):\n" + "\n".join(lines), scope)
    made = type(cls.__name__, (), {"__slots__": tuple(fields), "__init__": scope["__init__"], "__doc__": cls.__doc__})
    made.fields = fields  # type: ignore[attr-defined]
    made.__module__ = cls.__module__
    RECORDS[cls.__name__] = made
    return made


def _first(what: str) -> str:
    if what.startswith("Part["):
        return f"{what[5:-1]}()"
    return "0.0" if what == "float" else "0"
