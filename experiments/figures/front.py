"""Energy against slowdown: every policy a point, the front of those that nothing beats, and the reference energies.

Energy is on the horizontal axis, as in every picture: left is little energy, low is little waiting.  Both axes are
logarithmic, because radios of today make policies differ by factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.labels import name_points
from experiments.figures.style import BOX, DAGGER, DPI, GREY, INK, clean, label, log_axis, looks, styled
from experiments.quantities import BASELINE, LIMIT, REFERENCES

__all__ = ["energy_range", "far_from", "front", "nondominated", "reference_lines"]

_FAR = 3.0  # energies beyond so many times the largest but a tenth of those that save leave the picture


def nondominated(energy: Sequence[float], slowdown: Sequence[float]) -> list[int]:
    """Return which points no other beats in both, from little energy to much.

    >>> nondominated([3.0, 2.0, 2.5], [1.0, 2.0, 2.0])
    [1, 0]
    """
    kept: list[int] = []
    for index in sorted(range(len(energy)), key=lambda i: (energy[i], slowdown[i])):
        if not kept or slowdown[index] < slowdown[kept[-1]]:
            kept.append(index)
    return kept


def front(
    rows: pd.DataFrame,
    references: Mapping[str, float],
    *,
    panels: Mapping[str, str],
    recommended: str = "",
    max_slowdown: float = float("nan"),
    named: int = 12,
) -> Figure:
    """Draw energy a page and slowdown of every policy, a panel for each measure of slowdown.

    Parameters
    ----------
    rows : DataFrame
        One row a policy: `policy`, `energy_j_per_page`, and the columns that `panels` names.
    references : mapping
        ``limit`` and ``page-awake`` to their joules a page; those that are missing are not drawn.
    panels : mapping
        Column of slowdowns to what stands along its axis.
    recommended : str
        The policy in a ring, if any.
    max_slowdown : float
        The slowdown allowed, a line in the first panel, if finite.
    named : int
        At most so many policies have their names written: those on the front first.

    Returns
    -------
    Figure
        What needs far more energy than the others, such as no power saving, leaves the picture and is told at its edge.
    """
    own = rows[~rows["policy"].isin(REFERENCES)].reset_index(drop=True)
    shown = own[own["energy_j_per_page"] <= far_from(own)].reset_index(drop=True)
    far = own[own["energy_j_per_page"] > far_from(own)]
    low, high = energy_range([*shown["energy_j_per_page"], *references.values()])
    with styled():
        figure = Figure(figsize=(5.6 if len(panels) == 1 else 8.4, 4.3), dpi=DPI, layout="constrained")
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (column, words) in zip(grid, panels.items(), strict=True):
            first = axes is grid[0]
            log_axis(axes, "x", low, high)
            top = float(shown[column].max()) if len(shown) else 1.5
            bounds = [top, max_slowdown if first and np.isfinite(max_slowdown) else 1.0, 1.1]
            log_axis(axes, "y", 1 / max(bounds) ** 0.12, max(bounds) ** 1.1)
            reference_lines(axes, references)
            if first and np.isfinite(max_slowdown):
                axes.axhline(max_slowdown, color=GREY, linewidth=0.9, linestyle="-.", zorder=1)
                axes.annotate(
                    f"allowed: {max_slowdown:g}", (0.0, max_slowdown), xycoords=("axes fraction", "data"),
                    xytext=(3, 3), textcoords="offset points", fontsize=8, color="#5c5c5c", bbox=BOX, zorder=1.5,
                )  # fmt: skip
            axes.set(xlabel="energy [J per page]", ylabel=words)
            clean(axes, "both")
        note = "left and low is better"
        if shown["policy"].map(lambda name: label(name).endswith(DAGGER)).any():
            note += f"    {DAGGER} knows what the host waits for"
        if len(far):
            note += "    further right: " + "; ".join(
                f"{label(row['policy'])} {row['energy_j_per_page']:.3g} J".replace(" ", "\N{NO-BREAK SPACE}")
                for row in _records(far)
            )
        note = "\n".join(wrap(note, int(17.5 * figure.get_figwidth()), drop_whitespace=False))
        figure.text(0.005, 0.005, note, fontsize=8, color="#5c5c5c", ha="left", va="bottom")
        grid[0].set_xlabel("energy [J per page]", labelpad=4)
        engine: Any = figure.get_layout_engine()
        margin = 0.04 * (1 + note.count("\n"))
        engine.set(rect=(0, margin, 1, 1 - margin))
        for axes, column in zip(grid, panels, strict=True):
            allowed = max_slowdown if axes is grid[0] else float("nan")
            _points(axes, shown, column, recommended, named, allowed, references.values())
    return figure


def far_from(rows: pd.DataFrame) -> float:
    """Return the energy beyond which a policy leaves the picture, joules a page."""
    saving = rows.loc[rows["policy"] != BASELINE, "energy_j_per_page"]
    return _FAR * float(saving.quantile(0.9)) if len(saving) else float("inf")


def energy_range(energies: Sequence[float]) -> tuple[float, float]:
    """Return where the logarithmic axis of energies begins and ends, joules a page; names need room on the right."""
    low, high = min(energies, default=1.0), max(energies, default=1.0)
    span = max(high / low, 1.05)
    return low / span**0.06, low * span**1.16


def reference_lines(axes: Axes, references: Mapping[str, float]) -> None:
    """Draw the reference energies inside the limits as vertical lines behind everything, named above the axes."""
    most, across = axes.get_xlim()[1], axes.transData - axes.transAxes
    known = {name: references[name] for name in REFERENCES if references.get(name, float("inf")) <= most}
    places = [float(across.transform((level, axes.get_ylim()[0]))[0]) for level in known.values()]
    apart_enough = len(places) < 2 or places[1] - places[0] > 0.45
    for (name, level), place in zip(known.items(), places, strict=True):
        axes.axvline(level, color=INK, linewidth=1.0, linestyle="--" if name == LIMIT else ":", zorder=0.8)
        left = place > 0.7 if apart_enough else name == LIMIT
        axes.annotate(
            f"{name} {level:.3g}", (level, 1.0), xycoords=("data", "axes fraction"), xytext=(2 if left else -2, 3),
            textcoords="offset points", ha="right" if left else "left", va="bottom", fontsize=8, annotation_clip=False,
        )  # fmt: skip


def _points(
    axes: Axes,
    rows: pd.DataFrame,
    column: str,
    recommended: str,
    named: int,
    allowed: float,
    levels: Iterable[float],
) -> None:
    drawn = looks(rows["policy"].tolist())
    energy, slow = rows["energy_j_per_page"].tolist(), rows[column].tolist()
    best = [index for index in nondominated(energy, slow) if rows["policy"][index] != BASELINE]
    axes.plot(
        [energy[i] for i in best], [slow[i] for i in best], color="0.6", linewidth=1.1, drawstyle="steps-post", zorder=2
    )
    for x, y, policy in zip(energy, slow, rows["policy"], strict=True):
        look = drawn[policy]
        axes.plot(
            x, y, look.marker, color=look.colour, mfc=look.face, markersize=look.size + 1.5, markeredgewidth=1.2,
            zorder=4 + look.strong,
        )  # fmt: skip
        if policy == recommended:
            axes.plot(x, y, "o", mfc="none", mec=INK, markersize=15, markeredgewidth=1.4, zorder=3)
    chosen = [index for index in range(len(rows)) if rows["policy"][index] == recommended]
    spread = best if len(best) <= named else [best[i] for i in np.linspace(0, len(best) - 1, named).astype(int)]
    others = [index for index in range(len(rows)) if index not in best and index not in chosen]
    wanted = [*chosen, *(index for index in spread if index not in chosen), *others][: max(named, 1)]
    names = {index: label(rows["policy"][index]) for index in wanted}
    order = [*wanted, *(index for index in range(len(rows)) if index not in wanted)]
    marks = [(names.get(index, ""), energy[index], slow[index]) for index in order]
    along = np.linspace(0.0, 1.0, 40)
    low, high = np.log(axes.get_ylim())
    lines = [(level, float(np.exp(low + t * (high - low)))) for level in levels for t in along]
    for i, j in pairwise(best):
        lines += [(energy[i] + t * (energy[j] - energy[i]), slow[i]) for t in along]
        lines += [(energy[j], slow[i] + t * (slow[j] - slow[i])) for t in along]
    if np.isfinite(allowed):
        across = np.geomspace(*axes.get_xlim(), len(along)).tolist()
        lines += [(x, allowed) for x in across]
        above = float(np.exp(np.log(allowed) + 0.025 * (high - low)))
        marks += [("", x, above) for x in across[: len(across) // 4]]  # what is written there
    name_points(axes, marks, {label(policy): look.colour for policy, look in drawn.items()}, lines=lines)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
