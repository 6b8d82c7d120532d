"""Energy against slowdown: every policy a point, the front of those that nothing beats, and the reference energies.

Energy is on the horizontal axis, as in every picture: left is little energy, low is little waiting.  Both axes are
logarithmic, because radios of today make policies differ by factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.style import DAGGER, GREY, INK, clean, key, label, log_axis, looks, sheet
from experiments.quantities import BASELINE, LIMIT, REFERENCES

KNOWING: Mapping[str, Any] = {
    "clairvoyant_j_per_page": {"linestyle": ":", "label": "knows when\nframes come"},
    "polling_clairvoyant_j_per_page": {"linestyle": (0, (1, 4)), "label": "knows, and\nmay poll"},
}
"""Columns of what clients need that know when frames come, and how they are drawn."""


def nondominated(energy: Sequence[float], slowdown: Sequence[float]) -> list[int]:
    """Return which points no other beats in both, from little energy to much.

    >>> nondominated([3.0, 1.0, 2.0, 2.0, 4.0], [1.0, 3.0, 2.0, 2.5, 1.5])
    [1, 2, 0]
    """
    kept: list[int] = []
    for index in sorted(range(len(energy)), key=lambda i: (energy[i], slowdown[i])):
        if not kept or slowdown[index] < slowdown[kept[-1]]:
            kept.append(index)
    return kept


def tradeoff(table: pd.DataFrame, recommended: str, max_slowdown: float) -> Figure:
    """Draw the `front` of a tuning (`study.tune.measure`), by mean slowdown and by its 95th percentile."""
    levels = table[table["policy"].isin(REFERENCES)].set_index("policy")["energy_j_per_page"].to_dict()
    panels = {"slowdown_mean": "mean slowdown of pages", "slowdown_p95": "slowdown of pages, 95th percentile"}
    return front(table, levels, panels=panels, recommended=recommended, max_slowdown=max_slowdown)


def front(
    rows: pd.DataFrame,
    references: Mapping[Any, float],
    *,
    panels: Mapping[str, str],
    recommended: str = "",
    max_slowdown: float = float("nan"),
) -> Figure:
    """Draw energy a page and slowdown of every policy, a panel for each measure of slowdown.

    No power saving, whose slowdown is 1 and which needs far more energy than the others, is a number in the legend.

    Parameters
    ----------
    rows : DataFrame
        One row a policy: `policy`, `energy_j_per_page`, and the columns that `panels` names; 95 % intervals are drawn
        of those that have a half width (`.._half_width`).  The columns that `KNOWING` names are dotted lines.
    references : mapping
        ``limit`` and ``page-awake`` to their joules a page; those that are missing are not drawn.
    panels : mapping
        Column of slowdowns to what stands along its axis.
    recommended, max_slowdown : str, float
        The policy in a ring, if any, and the slowdown allowed, a line in the first panel, if finite.
    """
    own = rows[~rows["policy"].isin((BASELINE, *REFERENCES))].sort_values("energy_j_per_page", kind="stable")
    known = {name: own[[name, *panels]].dropna() for name in KNOWING if name in own}
    drawn = looks([name for name in rows["policy"] if name in set(own["policy"])])
    joules, joules_off = own["energy_j_per_page"], _half_width(own, "energy_j_per_page")
    energies = [
        *(joules - joules_off).clip(lower=joules / 2),
        *(joules + joules_off),
        *references.values(),
        *(joules for name, least in known.items() for joules in least[name]),
    ] or [1.0]
    low, span = min(energies), max(max(energies) / min(energies), 1.05)
    columns = 1 + len(own) // 22
    with sheet(3.7 * len(panels) + 1.9 * columns, 4.6, 1, len(panels)) as (figure, grid):
        for axes, (column, words) in zip(grid, panels.items(), strict=True):
            most = max_slowdown if axes is grid[0] else np.nan
            log_axis(axes, "x", low / span**0.06, low * span**1.06)
            top = float(np.nanmax([*own[column], most, 1.1]))
            log_axis(axes, "y", 1 / top**0.12, top**1.1)
            offs = np.stack([joules_off, _half_width(own, column)])
            for policy, x, slow, (x_off, off) in zip(own["policy"], joules, own[column], offs.T, strict=True):
                look = drawn[policy]
                axes.plot(x, slow, **look.drawn(linestyle="", label=label(policy)), zorder=4)
                if x_off > 0.0 or off > 0.0:
                    axes.errorbar(x, slow, off, x_off, fmt="none", ecolor=look.colour, elinewidth=0.9, zorder=3)
                if policy == recommended:
                    axes.plot(x, slow, "o", mfc="none", mec=INK, ms=15, mew=1.4, label="recommended")
            best = own.iloc[nondominated(own["energy_j_per_page"].tolist(), own[column].tolist())]
            axes.plot(best["energy_j_per_page"], best[column], color="0.6", drawstyle="steps-post", label="not beaten")
            reference_lines(axes, references)
            for name, least in known.items():
                least = least.sort_values(column)
                axes.plot(least[name], least[column], color=GREY, **KNOWING[name])
            if np.isfinite(most):
                axes.axhline(most, color=GREY, lw=0.9, ls="-.", label=f"allowed: {most:g}")
            clean(axes, "both", xlabel="energy [J per page]", ylabel=words)
        names = list(map(label, own["policy"]))
        notes = ["left and low is better", *["bars: 95 % intervals"] * bool(joules_off.any())]
        notes += [f"{DAGGER} knows what the host waits for"] * any(name.endswith(DAGGER) for name in names)
        base = rows.loc[rows["policy"] == BASELINE, "energy_j_per_page"]
        notes += [f"no power saving: {joules:.3g} J" for joules in base]
        key(figure, names, title="\n".join(notes), ncols=columns, labelspacing=0.35)
    return figure


def _half_width(rows: pd.DataFrame, column: str) -> pd.Series[float]:
    """Return the half widths of a column's intervals, 0 where there are none."""
    return rows.get(f"{column}_half_width", 0.0 * rows[column]).fillna(0.0)


def reference_lines(axes: Axes, references: Mapping[Any, float]) -> None:
    """Draw the reference energies as vertical lines behind everything, named in the legend."""
    for name, joules in references.items():
        dash = "--" if name == LIMIT else ":"
        axes.axvline(joules, color=INK, lw=1.0, ls=dash, zorder=0.8, label=f"{name} {joules:.3g} J")
