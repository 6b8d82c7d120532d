"""Pieces of Plotly figures, as plain data: colours, axes, and the traces that several pages share.

A figure is a dictionary of ``data`` and ``layout`` as Plotly's JSON schema has it, so that building one needs no
library.  Colours, markers and dashes are those of `experiments.figures.style`, the same as in print; legends lie
below, where a phone has room for them.  Energy is along the horizontal axis, as in every picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.figures.comparison import bar_parts
from experiments.figures.front import energy_range, far_from, nondominated
from experiments.figures.style import GREY, INK, Look, label, looks, readable, series
from experiments.quantities import BASELINE, REFERENCES

__all__ = ["axis", "energy_bars", "figure", "front", "line", "marker", "numbers", "thin", "vertical"]

GRID = "#e3e3e3"


def numbers(values: ArrayLike) -> list[float | None]:
    """Return the values as plain numbers, exactly, with None where there is none."""
    return [float(value) if value == value else None for value in np.asarray(values, dtype=float)]


def thin(count: int, most: int) -> slice:
    """Return which of `count` rows are drawn, so that no more than `most` are: every k-th.

    >>> thin(10, 4)
    slice(None, None, 3)
    """
    return slice(None, None, max(1, -(-count // most)))


def marker(look: Look, size: float = 0.0, **more: Any) -> dict[str, Any]:
    """Return a marker as Plotly has it; without a size, that of the look."""
    return {"color": look.colour, "symbol": look.symbol, "size": size or 1.5 * look.size, **more}


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


def line(name: str, x: ArrayLike, y: ArrayLike, look: Look | int, **more: Any) -> dict[str, Any]:
    """Return a line named in the legend; a number instead of a look is a place in the series of what has none."""
    look = series(look) if isinstance(look, int) else look
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": numbers(x), "y": numbers(y),
        "line": {"color": look.colour, "dash": look.stroke, "width": 1.4 * look.width}, **more,
    }  # fmt: skip


def energy_bars(rows: pd.DataFrame, references: Mapping[str, float]) -> dict[str, Any]:
    """Return the energy a page of every policy as a bar of its parts, which end at the total.

    Parameters
    ----------
    rows : DataFrame
        `policy`, `total_j_per_page`, `total_j_per_page_half_width`, and the parts of the energy a page.
    references : mapping
        ``limit`` and ``page-awake`` to joules a page, as far as known.
    """
    policies = [str(policy) for policy in rows["policy"]]
    names = [label(policy) for policy in policies]
    data: list[dict[str, Any]] = [
        {
            "type": "bar", "orientation": "h", "name": part.called, "x": numbers(rows[part.name]), "y": names,
            "ids": policies,
            "marker": {
                "color": colour, "line": {"color": INK, "width": 0.7},
                "pattern": {"shape": hatch[:1], "fillmode": "overlay", "fgcolor": INK, "size": 5},
            },
            "hovertemplate": "%{y}, " + part.called + ": %{x:.4g} J a page<extra></extra>",
        }
        for part, colour, hatch in bar_parts(rows)
    ]  # fmt: skip
    data.append(
        {
            "type": "scatter", "mode": "markers", "name": "total, 95 % interval", "ids": policies, "y": names,
            "x": numbers(rows["total_j_per_page"]), "marker": {"color": INK, "size": 6},
            "error_x": {"type": "data", "array": numbers(rows["total_j_per_page_half_width"]), "thickness": 1.2},
            "hovertemplate": "%{y}: %{x:.4g} J a page in all<extra></extra>",
        }
    )  # fmt: skip
    saving = rows[rows["policy"] != BASELINE] if len(rows) > 1 else rows
    highest = float(saving["total_j_per_page"].max())
    whiskers = float((saving["total_j_per_page"] + saving["total_j_per_page_half_width"].fillna(0)).max())
    return figure(
        data, barmode="stack", height=150 + 36 * len(names), bargap=0.35, shapes=reference_shapes(references),
        xaxis=axis("energy [J per page]", range=[0, max(1.1 * highest, min(1.04 * whiskers, 1.6 * highest))]),
        yaxis=axis("", autorange="reversed"),
    )  # fmt: skip


def front(
    rows: pd.DataFrame, slowdown: str, references: Mapping[str, float], words: str, *, recommended: str = "",
    max_slowdown: float = float("nan"), height: int = 460,
) -> dict[str, Any]:  # fmt: skip
    """Return energy against slowdown: a point a policy, its name beside it, and the front of those that none beats.

    Parameters
    ----------
    rows : DataFrame
        `policy`, `energy_j_per_page`, and the column `slowdown`.
    references : mapping
        ``limit`` and ``page-awake`` to joules a page, as far as known.
    words : str
        What stands along the axis of slowdowns.
    recommended : str
        The policy in a ring, if any.
    max_slowdown : float
        The slowdown allowed, a line if finite.
    """
    saving = rows[rows["policy"] != BASELINE].reset_index(drop=True)
    saving = saving[saving["energy_j_per_page"] <= far_from(saving)].reset_index(drop=True)
    energy, slow = saving["energy_j_per_page"].tolist(), saving[slowdown].tolist()
    best = nondominated(energy, slow)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "lines", "name": "front", "hoverinfo": "skip", "showlegend": False,
            "x": [energy[i] for i in best], "y": [slow[i] for i in best],
            "line": {"color": GREY, "shape": "hv", "width": 1.5},
        }
    ]  # fmt: skip
    low, high = energy_range([*energy, *references.values()])
    rank = {place: number for number, place in enumerate(sorted(range(len(slow)), key=lambda place: slow[place]))}
    for place, (policy, look) in enumerate(looks(saving["policy"].tolist()).items()):
        side = "left" if energy[place] > low**0.4 * high**0.6 else "right"  # the names stay inside
        taken = policy == recommended
        named = taken or place in best or len(energy) <= 12
        data.append(
            {
                "type": "scatter", "mode": "markers+text" if named else "markers", "showlegend": not named,
                "name": label(policy) + (", recommended" if taken else ""), "meta": {"choice": policy},
                "x": numbers([energy[place]]), "y": numbers([slow[place]]), "text": [label(policy)],
                "textposition": f"{('bottom', 'middle', 'top')[rank[place] % 3]} {side}",
                "textfont": {"color": readable(look.colour), "size": 11}, "cliponaxis": False,
                "marker": marker(look, 17 if taken else 0, line={"color": INK, "width": 2 if taken else 0.5}),
                "hovertemplate": f"{label(policy)}: %{{x:.4g}} J a page, slowdown %{{y:.3g}}<extra></extra>",
            }
        )  # fmt: skip
    shapes = reference_shapes(references)
    if max_slowdown == max_slowdown:
        shapes.append(
            {
                "type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": max_slowdown, "y1": max_slowdown,
                "showlegend": True, "name": f"largest slowdown allowed, {max_slowdown:g}",
                "line": {"color": GREY, "width": 1.2, "dash": "dashdot"},
            }
        )  # fmt: skip
    top = max([1.1, *slow, *([max_slowdown] if max_slowdown == max_slowdown else [])])
    return figure(
        data, height=height, shapes=shapes, showlegend=True,
        xaxis=axis(
            "energy [J per page]", type="log", range=np.log10([low, high]).tolist(), tickformat="~g",
            dtick="D2" if high > 4 * low else "D1",
        ),
        yaxis=axis(words, type="log", range=np.log10([top**-0.12, top**1.1]).tolist(), tickformat="~g"),
    )  # fmt: skip


def reference_shapes(references: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the reference energies as lines, named in the legend with their joules a page."""
    return [
        vertical(references[name], f"{name}, {references[name]:.3g} J", dash)
        for name, dash in zip(REFERENCES, ("dash", "dot"), strict=True)
        if name in references
    ]


def vertical(value: float, name: str, dash: str) -> dict[str, Any]:
    """Return a line across the picture at x = `value`, named in the legend."""
    return {
        "type": "line", "xref": "x", "yref": "paper", "x0": value, "x1": value, "y0": 0, "y1": 1, "name": name,
        "showlegend": True, "layer": "below", "line": {"color": INK, "width": 1.5, "dash": dash},
    }  # fmt: skip
