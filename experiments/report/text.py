"""Tables a person reads in a terminal: plain text, aligned, no wider than it must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.inert import inert
from experiments.quantities import Quantity, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cell", "cells", "counted", "markdown", "number", "of_frame", "plain", "plus_minus", "table"]


def number(value: float, digits: int = 2, *, sign: bool = False, unit: str = "") -> str:
    """Return the number with so many digits, two significant ones if it is smaller; nothing where there is none."""
    if not isfinite(value):
        return ""
    shown = round(float(value), digits) + 0.0  # and never -0
    if value and not shown and not sign:
        return f"{value:.2g}{unit}"
    return f"{shown:{'+' if sign else ''}.{digits}f}{unit}"


def plus_minus(mean: float, half_width: float, digits: int = 2, *, sign: bool = False, unit: str = "") -> str:
    """Return mean and half width of an interval, or the mean alone where there is no interval."""
    if not isfinite(half_width) or not round(half_width, digits):
        return number(mean, digits, sign=sign, unit=unit)
    return f"{number(mean, digits, sign=sign)} ± {number(half_width, digits, unit=unit)}"


def counted(count: int, things: str) -> str:
    """Return how many of what.

    >>> counted(1, "sessions"), counted(3, "sessions")
    ('1 session', '3 sessions')
    """
    return f"{count} {things.removesuffix('s') if count == 1 else things}"


def cell(quantity: Quantity, row: Mapping[str, Any], *, bare: bool = False) -> str:
    """Return what a table shows of a quantity in a row, with its unit unless `bare`."""
    value = row[quantity.name]
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else ""
    if not isinstance(value, (int, float)):
        return str(value)
    if quantity.only_with and not row[quantity.only_with]:
        return ""
    value *= quantity.factor
    unit = "" if bare else quantity.suffix
    if quantity.style == "g":
        return f"{value:.{quantity.digits}g}{unit}" if isfinite(value) else ""
    half_width = row[f"{quantity.name}_half_width"] if quantity.interval else 0.0
    return plus_minus(value, half_width, quantity.digits, sign=quantity.sign, unit=unit)


def cells(quantities: Sequence[Quantity], frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the header of a table of these quantities, and what it shows of every row of the frame."""
    columns = shown(quantities, frame)
    records: Any = frame.to_dict("records")
    rows = [[cell(quantity, row, bare=quantity.bare) for quantity in columns] for row in records]
    return [quantity.heading for quantity in columns], rows


def of_frame(quantities: Sequence[Quantity], frame: pd.DataFrame) -> str:
    """Return the aligned table of these quantities."""
    return table(*cells(quantities, frame))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an aligned table; the first column is text, the others are numbers.

    >>> print(table(["policy", "J"], [["none", "39.1"], ["psm:100", "3.3"]]))
    policy      J
    none     39.1
    psm:100   3.3
    """
    shown = [[inert(cell) for cell in row] for row in (header, *rows)]
    first, *widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join("  ".join([row[0].ljust(first), *map(str.rjust, row[1:], widths)]).rstrip() for row in shown)


def plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON data; what is not a number becomes null."""
    rows: Any = frame.to_dict("records")
    return [
        {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]


def markdown(frame: pd.DataFrame) -> str:
    """Return a frame of words as a table in Markdown."""
    rows = [list(frame.columns), ["---"] * frame.shape[1], *frame.astype(str).to_numpy().tolist()]
    return "".join(f"|{'|'.join(inert(cell).replace('|', chr(92) + '|') for cell in row)}|\n" for row in rows)
