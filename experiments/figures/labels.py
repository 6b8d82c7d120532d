"""Names beside what they name: at the ends of lines and next to points, moved apart where they would meet.

Placing needs to know how large a text is, so a figure is laid out once before its names are placed, and its layout
is kept from then on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from experiments.figures.style import readable

__all__ = ["apart", "name_ends", "name_points"]

FONT_SIZE = 8.0
_LEADER: dict[str, Any] = {"arrowstyle": "-", "color": "0.7", "linewidth": 0.5}
_AROUND = ((1, 0), (0.7, 0.5), (0, 1), (0.7, -0.5), (0, -1), (-1, 0), (-0.7, 0.5), (-0.7, -0.5))
_CROSSING = 14.0  # places further away that a name takes rather than crossing a line
_PLACES = [(radius * dx, radius * dy) for radius in (1.0, 1.9, 3.0, 4.4, 6.0, 8.0) for dx, dy in _AROUND]


def apart(places: NDArray[np.float64], step: float, low: float, high: float) -> NDArray[np.float64]:
    """Move places, in ascending order, at least a step apart and as little as possible (in squares), then into a range.

    >>> apart(np.array([0.0, 0.0, 5.0]), 1.0, -9.0, 9.0)
    array([-0.5,  0.5,  5. ])
    """
    blocks: list[tuple[float, int]] = []  # mean and size, of places less what their rank takes: these may meet
    for rank, place in enumerate(places):
        blocks.append((float(place) - rank * step, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (mean, size), (before, n_before) = blocks.pop(), blocks.pop()
            blocks.append(((before * n_before + mean * size) / (n_before + size), n_before + size))
    ranks = step * np.arange(len(places), dtype=np.float64)
    means = np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
    moved: NDArray[np.float64] = np.clip(means, low, max(low, high - float(ranks[-1]))) + ranks
    return moved


def name_ends(axes: Axes, ends: Mapping[str, tuple[float, float]], colours: Mapping[str, str]) -> None:
    """Write names to the right of the axes at the heights where their lines end, and lead from one to the other.

    `ends` are in data; texts have the colours of the lines, dark enough to be read.
    """
    if not ends:
        return
    axes.get_ylim()  # settles the limits, which the transformation takes as they are
    to_axes = axes.transAxes.inverted()
    heights = {name: float(to_axes.transform(axes.transData.transform(end))[1]) for name, end in ends.items()}
    order = sorted(heights, key=lambda name: heights[name])
    step = 1.25 * FONT_SIZE / (axes.get_window_extent().height * 72 / axes.figure.dpi)
    places = apart(np.array([heights[name] for name in order]), step, 0.0, 1.0)
    for name, place in zip(order, places, strict=True):
        axes.annotate(
            name, ends[name], xycoords="data", xytext=(1.03, float(place)), textcoords="axes fraction",
            fontsize=FONT_SIZE, va="center", color=readable(colours[name]), annotation_clip=False,
            arrowprops={**_LEADER, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 1},
        )  # fmt: skip


def name_points(
    axes: Axes,
    points: Sequence[tuple[str, float, float]],
    colours: Mapping[str, str],
    *,
    lines: Sequence[tuple[float, float]] = (),
    gap: float = 7.0,
) -> None:
    """Write each name next to its point where it meets neither a point nor another name, with a leader if it is far.

    `points` are names and data coordinates; those without a name (an empty one) are only kept free.  `lines` are places
    on lines, which a name crosses rather than being far from its point; `gap` is from a point to its name, in points.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    canvas: Any = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    renderer = canvas.get_renderer()
    figure.set_layout_engine("none")
    scale = figure.dpi / 72
    room = axes.get_window_extent(renderer)
    at = {index: axes.transData.transform((x, y)) for index, (_, x, y) in enumerate(points)}
    taken = [Bbox.from_bounds(x - 4 * scale, y - 4 * scale, 8 * scale, 8 * scale) for x, y in at.values()]
    crossed = axes.transData.transform(lines) if len(lines) else np.empty((0, 2))
    for index, (name, x, y) in enumerate(points):
        if not name:
            continue
        text = axes.annotate(
            name, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=FONT_SIZE, zorder=6,
            color=readable(colours[name]), annotation_clip=False,
        )  # fmt: skip
        text.set_in_layout(False)
        box = text.get_window_extent(renderer)
        best, offset = np.inf, (gap, 0.0)
        for rank, (dx, dy) in enumerate(_PLACES):
            left = at[index][0] + gap * scale * dx - box.width * (1 - np.sign(dx)) / 2
            low = at[index][1] + gap * scale * dy - box.height * (1 - np.sign(dy)) / 2
            spot = Bbox.from_bounds(left, low, box.width, box.height)
            cost = rank + 1e4 * _outside(spot, room) + sum(1e3 for other in taken if spot.overlaps(other))
            cost += _CROSSING * bool(spot.count_contains(crossed))
            if cost < best:
                best, offset, chosen = cost, ((left - at[index][0]) / scale, (low - at[index][1]) / scale), spot
        text.set_position(offset)
        taken.append(chosen)
        if np.hypot(*offset) > 3 * gap and not offset[0] < 0 < offset[0] + box.width / scale:
            axes.annotate(
                "", (x, y), xytext=(offset[0], offset[1] + box.height / scale / 2), textcoords="offset points",
                arrowprops={**_LEADER, "shrinkA": 0, "shrinkB": 3},
            ).set_in_layout(False)  # fmt: skip


def _outside(spot: Bbox, room: Bbox) -> float:
    """Return how far a box leaves the axes, as a share of its own size."""
    over = np.maximum(np.subtract(room.min, spot.min), 0) + np.maximum(np.subtract(spot.max, room.max), 0)
    return float((over / np.maximum(spot.size, 1)).sum())
