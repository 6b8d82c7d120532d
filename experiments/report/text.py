"""Tables a person reads in a terminal: plain text, aligned, no wider than it must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, log10, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.escaping import inert
from experiments.presets import BATTERY_MWH
from experiments.quantities import Quantity, Row, shown

if TYPE_CHECKING:
    import pandas as pd

MANY_PERCENT = 200.0  # from here on a difference is a factor


def number(value: float, form: str = ".2f") -> str:
    """Return the number in a form (`Quantity`), with two significant digits if it would be 0, or nothing for a NaN.

    A difference of many percent is a factor of three digits at least.

    >>> number(-0.1234, "+.1f %"), number(0.00123), number(0.5, ".1%"), number(9110.0, "+.1f %"), number(1e6, "+.1f %")
    ('-0.1 %', '0.0012', '50.0 %', '× 92.1', '× 10001')
    """
    if not isfinite(value):
        return ""
    if form[-1] == "%" and form[0] == "+" and value >= MANY_PERCENT:
        return f"× {1 + value / 100:.{_decimals(value)}f}"
    form, blank, unit = form.partition(" ")
    if value and not round(value, 9 if form[-1] in "g%" else int(form[-2])) and form[0] != "+":
        form = ".2g"
    return f"{value:{form.replace('.', 'z.')}}".replace("%", " %") + blank + unit


def power_words(mean_mw: float) -> str:
    """Return a mean power with the life of the usual battery.

    >>> power_words(4.158)
    '4.16 mW: 2405 h on 10000 mWh'
    """
    return f"{mean_mw:.3g} mW: {BATTERY_MWH / mean_mw:.0f} h on {BATTERY_MWH:g} mWh"


def plus_minus(mean: float, half_width: float, form: str = ".2f") -> str:
    """Return mean and half width of an interval, or the mean alone where there is no interval.

    >>> plus_minus(1.0, 0.25, "+.1f %"), plus_minus(9810.6, 341.5, "+.1f %"), plus_minus(10_810.0, 9.2, "+.1f %")
    ('+1.0 ± 0.2 %', '× 99.1 ± 3.4', '× 109')
    """
    style, _, _ = form.partition(" ")
    if not isfinite(half_width) or not float(f"{half_width:{style}}"):
        return number(mean, form)
    if form.endswith("%") and mean >= MANY_PERCENT:
        half = f"{half_width / 100:.{_decimals(mean)}f}"
        return number(mean, form) + f" ± {half}" * bool(float(half))
    return f"{number(mean, style)} ± {number(half_width, form.removeprefix('+'))}"


def _decimals(percent: float) -> int:
    """Return how many decimals a factor has, whose percentage this is."""
    return max(0, 2 - int(log10(1 + percent / 100)))


def _cell(quantity: Quantity, row: Mapping[Any, Any]) -> str:
    """Return what a table shows of a quantity in a row."""
    value = row[quantity.name]
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else ""
    if not isinstance(value, (int, float)):
        return str(value)
    if not all(row.get(word, True) for word in quantity.note.split()):
        return ""
    return plus_minus(value, row[f"{quantity.name}_half_width"] if "±" in quantity.note else nan, quantity.form)


def cells(quantities: Sequence[Quantity], frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the header of a table of these quantities, and what it shows of every row of the frame."""
    columns = shown(quantities, frame)
    rows = [[_cell(quantity, row) for quantity in columns] for row in frame.to_dict("records")]
    return [quantity.heading for quantity in columns], rows


def of_frame(quantities: Sequence[Quantity], frame: pd.DataFrame, width: int | None = None) -> str:
    """Return the aligned table of these quantities, of a `width` without as many details, from the right, as it takes.

    Below such a table stands what is not shown.
    """
    left_out: list[str] = []
    while True:
        text = table(*cells(quantities, frame))
        details = [one for one in shown(quantities, frame) if "detail" in one.note.split()]
        if width is None or not details or max(map(len, text.splitlines())) <= width:
            return text + f"\nnot shown at this width: {', '.join(left_out)}" * bool(left_out)
        left_out.insert(0, details[-1].heading)
        quantities = [one for one in quantities if one != details[-1]]


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


def plain(frame: pd.DataFrame) -> list[Row]:
    """Return the rows as JSON data; what is not a number becomes null."""
    rows: Any = frame.to_dict("records")
    return [
        {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]


def escaped(words: object) -> str:
    """Return words as they stand in Markdown."""
    return " ".join(inert(str(words)).replace("|", "\\|").replace("*", "\\*").split())


def markdown(frame: pd.DataFrame) -> str:
    """Return a frame of words as a table in Markdown."""
    rows = [list(frame.columns), ["---"] * frame.shape[1], *frame.to_numpy().tolist()]
    return "".join(f"|{'|'.join(map(escaped, row))}|\n" for row in rows)
