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
from experiments.figures.style import BOX, DAGGER, GREY, INK, clean, label, log_axis, looks, sheet
from experiments.quantities import BASELINE, LIMIT, REFERENCES

__all__ = ["front", "nondominated", "reference_lines", "tradeoff"]

_FAR = 3.0  # energies beyond so many times the largest but a tenth of those that save leave the picture
_NOTE = "#5c5c5c"
_SAID: Any = {"textcoords": "offset points", "fontsize": 8, "color": _NOTE, "bbox": BOX, "zorder": 1.5}


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


def tradeoff(table: pd.DataFrame, recommended: str, max_slowdown: float) -> Figure:
    """Draw the `front` of a tuning (`study.tune.measure`), by mean slowdown and by its 95th percentile."""
    levels = table[table["policy"].isin(REFERENCES)].set_index("policy")["energy_j_per_page"]
    panels = {"slowdown_mean": "mean slowdown of pages", "slowdown_p95": "slowdown of pages, 95th percentile"}
    return front(
        table, {str(name): float(level) for name, level in levels.items()}, panels=panels, recommended=recommended,
        max_slowdown=max_slowdown, named=len(table),
    )  # fmt: skip


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

    What needs far more energy than the others, such as no power saving, leaves the picture and is named at its edge.

    Parameters
    ----------
    rows : DataFrame
        One row a policy: `policy`, `energy_j_per_page`, and the columns that `panels` names.
    references : mapping
        ``limit`` and ``page-awake`` to their joules a page; those that are missing are not drawn.  A column
        `clairvoyant_j_per_page` of the rows is a dotted line.
    panels : mapping
        Column of slowdowns to what stands along its axis.
    recommended, max_slowdown : str, float
        The policy in a ring, if any, and the slowdown allowed, a line in the first panel, if finite.
    named : int
        At most so many policies have their names written: those on the front first.
    """
    own = rows[~rows["policy"].isin(REFERENCES)].reset_index(drop=True)
    saving = own.loc[own["policy"] != BASELINE, "energy_j_per_page"]
    is_far = own["energy_j_per_page"] > (_FAR * float(saving.quantile(0.9)) if len(saving) else float("inf"))
    shown, far = own[~is_far].reset_index(drop=True), own[is_far]
    known = own.reindex(columns=["clairvoyant_j_per_page", *panels]).dropna()
    energies = [*shown["energy_j_per_page"], *references.values(), *known["clairvoyant_j_per_page"]]
    low, high = min(energies, default=1.0), max(energies, default=1.0)
    span = max(high / low, 1.05)  # names need room on the right
    allowed = [max_slowdown if np.isfinite(max_slowdown) else None, *[None] * len(panels)]
    with sheet(5.6 if len(panels) == 1 else 8.4, 4.3, 1, len(panels)) as (figure, grid):
        for axes, (column, words), most in zip(grid, panels.items(), allowed, strict=False):
            log_axis(axes, "x", low / span**0.06, low * span**1.16)
            top = max(float(shown[column].max()) if len(shown) else 1.5, most or 1.0, 1.1)
            log_axis(axes, "y", 1 / top**0.12, top**1.1)
            reference_lines(axes, references)
            if len(known):
                least = known.sort_values(column)[["clairvoyant_j_per_page", column]].to_numpy()
                axes.plot(*least.T, ":", color=GREY, zorder=1)
                axes.annotate("knows when frames come", tuple(least[0]), xytext=(-20, -10), **_SAID)
            if most is not None:
                axes.axhline(most, color=GREY, linewidth=0.9, linestyle="-.", zorder=1)
                across: Any = ("axes fraction", "data")
                axes.annotate(f"allowed: {most:g}", (0.0, most), xycoords=across, xytext=(3, 3), **_SAID)
            clean(axes, "both", xlabel="energy [J per page]", ylabel=words)
        note = "left and low is better"
        if shown["policy"].map(lambda name: label(name).endswith(DAGGER)).any():
            note += f"    {DAGGER} knows what the host waits for"
        outside = zip(far["policy"], far["energy_j_per_page"], strict=True)
        names = [f"{label(policy)} {joules:.3g} J".replace(" ", "\N{NO-BREAK SPACE}") for policy, joules in outside]
        note += f"    further right: {'; '.join(names)}" if names else ""
        note = "\n".join(wrap(note, int(17.5 * figure.get_figwidth()), drop_whitespace=False))
        figure.text(0.005, 0.005, note, fontsize=8, color=_NOTE, ha="left", va="bottom")
        engine: Any = figure.get_layout_engine()
        margin = 0.04 * (1 + note.count("\n"))
        engine.set(rect=(0, margin, 1, 1 - margin))
        for axes, column, most in zip(grid, panels, allowed, strict=False):
            _points(axes, shown, column, recommended, named, most, references.values())
    return figure


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
    axes: Axes, rows: pd.DataFrame, column: str, recommended: str, named: int, allowed: float | None,
    levels: Iterable[float],
) -> None:  # fmt: skip
    """Draw the policies and their front; names keep off both and off the lines."""
    policies = rows["policy"].tolist()
    drawn = looks(policies)
    energy, slow = rows["energy_j_per_page"].tolist(), rows[column].tolist()
    best = [index for index in nondominated(energy, slow) if policies[index] != BASELINE]
    corners = [(energy[i], slow[i]) for i in best]
    axes.plot(*zip(*corners, strict=True), color="0.6", linewidth=1.1, drawstyle="steps-post", zorder=2)
    for x, y, policy in zip(energy, slow, policies, strict=True):
        look = drawn[policy]
        axes.plot(
            x, y, look.marker, color=look.colour, mfc=look.face, markersize=look.size + 1.5, markeredgewidth=1.2,
            zorder=4 + look.strong,
        )  # fmt: skip
        if policy == recommended:
            axes.plot(x, y, "o", mfc="none", mec=INK, markersize=15, markeredgewidth=1.4, zorder=3)
    spread = best if len(best) <= named else [best[i] for i in np.linspace(0, len(best) - 1, named).astype(int)]
    chosen = [index for index, policy in enumerate(policies) if policy == recommended]
    others = [index for index in range(len(rows)) if index not in best]
    wanted = list(dict.fromkeys([*chosen, *spread, *others]))[: max(named, 1)]
    order = dict.fromkeys([*wanted, *range(len(rows))])
    marks = [(label(policies[index]) if index in wanted else "", energy[index], slow[index]) for index in order]
    along = np.linspace(0.0, 1.0, 40)
    low, high = np.log(axes.get_ylim())
    lines = [(level, float(np.exp(low + t * (high - low)))) for level in levels for t in along]
    for (x, y), (next_x, next_y) in pairwise(corners):
        lines += [(x + t * (next_x - x), y) for t in along]
        lines += [(next_x, y + t * (next_y - y)) for t in along]
    if allowed is not None:
        across = np.geomspace(*axes.get_xlim(), len(along)).tolist()
        lines += [(x, allowed) for x in across]
        above = float(np.exp(np.log(allowed) + 0.025 * (high - low)))
        marks += [("", x, above) for x in across[: len(across) // 4]]  # what is written there
    name_points(axes, marks, {label(policy): look.colour for policy, look in drawn.items()}, lines=lines)
