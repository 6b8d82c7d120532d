"""What callers and compiled code agree on: what a function that is called by its address gives and takes."""

from __future__ import annotations

from typing import Any, NamedTuple

INTS, FLOATS = "int64[::1]", "float64[::1]"
"""An array of one dimension, as numba writes it."""
Kind = type | str | None
"""What a signature has: `int`, `float`, `bool`, None, an array, or a named tuple of the first three."""


class Signature(NamedTuple):
    """What a function gives and takes."""

    returns: Kind
    takes: tuple[Kind, ...]

    def named(self) -> tuple[str, ...]:
        """Return how its kinds are written, with the fields of named tuples."""
        return tuple(f"{getattr(kind, '__name__', kind)}({named_fields(kind)})" for kind in (self.returns, *self.takes))


def named_fields(kind: Any) -> dict[str, str]:
    """Return the fields of a named tuple, and of what type each is, by its name; none of anything else."""
    fields = kind.__annotations__ if hasattr(kind, "_fields") else {}
    return {name: getattr(what, "__forward_arg__", None) or what.__name__ for name, what in fields.items()}
