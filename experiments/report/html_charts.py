"""Pieces of Plotly figures, as plain data: colours, axes, and the traces that several pages share.

A figure is a dictionary of ``data`` and ``layout`` as Plotly's JSON schema has it, so that building one needs no
library.  Lines and markers differ in shape as well as in colour (Okabe and Ito's palette, which colour-blind
readers can tell apart); legends lie below, where a phone has room for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["COLOURS", "DASHES", "SYMBOLS", "axis", "figure", "line", "numbers", "style", "thin", "vertical"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "triangle-down")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
INK, GRID = "#1a1a1a", "#e3e3e3"


def numbers(values: ArrayLike) -> list[float | None]:
    """Return the values as plain numbers, exactly, with None where there is none."""
    return [float(value) if value == value else None for value in np.asarray(values, dtype=float)]


def thin(count: int, most: int) -> slice:
    """Return which of `count` rows are drawn, so that no more than `most` are: every k-th.

    >>> thin(10, 4)
    slice(None, None, 3)
    """
    return slice(None, None, max(1, -(-count // most)))


def style(place: int) -> tuple[str, str, str]:
    """Return colour, marker and dash of the `place`-th thing in a picture."""
    return COLOURS[place % len(COLOURS)], SYMBOLS[place % len(SYMBOLS)], DASHES[place % len(DASHES)]


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Return an axis with its title and a light grid."""
    return {
        "title": {"text": title},
        "gridcolor": GRID,
        "linecolor": INK,
        "ticks": "outside",
        "automargin": True,
        "exponentformat": "power",
        **more,
    }


def figure(data: Sequence[Mapping[str, Any]], **layout: Any) -> dict[str, Any]:
    """Return a figure in the common layout; what is given wins over it."""
    common = {
        "font": {"color": INK, "size": 12},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "margin": {"l": 8, "r": 12, "t": 28, "b": 8},
        "height": 420,
        "hovermode": "closest",
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    }
    return {"data": list(data), "layout": {**common, **layout}}


def line(name: str, x: ArrayLike, y: ArrayLike, place: int, **more: Any) -> dict[str, Any]:
    """Return a line named in the legend."""
    colour, _, dash = style(place)
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": numbers(x), "y": numbers(y),
        "line": {"color": colour, "dash": dash, "width": 2}, **more,
    }  # fmt: skip


def vertical(value: float, name: str, dash: str) -> dict[str, Any]:
    """Return a line across the picture at x = `value`, named in the legend."""
    return {
        "type": "line", "xref": "x", "yref": "paper", "x0": value, "x1": value, "y0": 0, "y1": 1, "name": name,
        "showlegend": True, "line": {"color": INK, "width": 1.5, "dash": dash},
    }  # fmt: skip
