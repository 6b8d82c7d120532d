"""Whole numbers of configurations: those of numpy are taken for what they are, others are refused by name."""

from __future__ import annotations

from operator import index
from typing import Any

__all__ = ["keep_whole", "whole"]


def whole(name: str, value: Any) -> int:
    """Return a whole number of any type as an `int`.

    Raises
    ------
    TypeError
        If it is no whole number.
    """
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None


def keep_whole(configuration: object, *names: str) -> None:
    """Make the fields of these names of a frozen configuration an `int` each.

    Raises
    ------
    TypeError
        If one of them is no whole number.
    """
    for name in names:
        object.__setattr__(configuration, name, whole(name, getattr(configuration, name)))
