"""Tables a person reads in a terminal: plain text, aligned, no wider than it must be."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

__all__ = ["number", "plus_minus", "table"]


def number(value: float, digits: int = 2, *, sign: bool = False, unit: str = "") -> str:
    """Return the number with so many digits, or nothing where there is none."""
    if not isfinite(value):
        return ""
    return f"{value:{'+' if sign else ''}.{digits}f}{unit}"


def plus_minus(mean: float, half_width: float, digits: int = 2, *, sign: bool = False, unit: str = "") -> str:
    """Return mean and half width of an interval, or the mean alone where there is no interval."""
    if not isfinite(half_width) or half_width == 0:
        return number(mean, digits, sign=sign, unit=unit)
    return f"{number(mean, digits, sign=sign)} ± {number(half_width, digits, unit=unit)}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an aligned table; the first column is text, the others are numbers.

    >>> print(table(["policy", "J"], [["none", "39.1"], ["psm:100", "3.3"]]))
    policy      J
    none     39.1
    psm:100   3.3
    """
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    lines = []
    for row in [header, *rows]:
        numbers = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *numbers]).rstrip())
    return "\n".join(lines)
