"""Energy and slowdown of policies: the thesis' figures 2-6, 2-7 and 2-8, over as many replications as there are.

Energy a page is stacked from its three parts, with the two reference energies as lines;
the slowdown of pages is shown as mean, median and 95th percentile, and page by page against the
time the page takes without power saving.  Source of the form: Monteleoni 2006, section 2.5.4.
"""

from __future__ import annotations

from math import ceil
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from experiments.figures.style import DARK, DPI, LIGHT, MIDDLE, clean, label, styled
from experiments.quantities import BASELINE, REFERENCES, energy_parts, shown

__all__ = ["energy", "slowdown", "slowdown_by_page"]

WHISKER = "95 % interval of a total; percentages are paired"
MANY_POINTS = 3000  # beyond this many in a panel, points are drawn as pixels in the SVG as well
_PATTERNS = {
    "sleep_j_per_page": (LIGHT, ""), "awake_j_per_page": ("white", "/////"), "listen_j_per_page": ("0.4", ""),
    "wakeup_j_per_page": ("white", "...."),
}  # fmt: skip


def energy(summary: pd.DataFrame) -> Figure:
    """Draw the energy a page by its parts (figure 2-6).

    Parameters
    ----------
    summary : DataFrame
        One row a policy: `policy`, `replications`, the parts of the energy a page (`quantities.energy_parts`),
        `total_j_per_page`, `total_j_per_page_half_width`, `energy_vs_psm_percent`; rows named ``limit`` and
        ``page-awake`` become lines.

    Returns
    -------
    Figure
        Over each bar its height and the paired difference from static PSM; the whisker beside it is the 95 %
        interval of the height over replications, wider than that of the difference.  The bar without power saving
        leaves the picture, its height is printed.
    """
    bars = summary[~summary["policy"].isin(REFERENCES)].reset_index(drop=True)
    lines = summary[summary["policy"].isin(REFERENCES)]
    saving = bars[bars["policy"] != BASELINE] if len(bars) > 1 else bars
    highest = float(saving["total_j_per_page"].max())
    whiskers = float((saving["total_j_per_page"] + saving["total_j_per_page_half_width"].fillna(0)).max())
    ceiling = max(1.22 * highest, min(1.04 * whiskers, 1.6 * highest))
    with styled():
        figure = Figure(figsize=(1.6 + 0.75 * max(len(bars), 4), 3.7), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        places = np.arange(len(bars))
        bottom = np.zeros(len(bars))
        for part in sorted(shown(energy_parts(), bars), key=lambda part: list(_PATTERNS).index(part.name)):
            height = bars[part.name].to_numpy()
            colour, hatch = _PATTERNS[part.name]
            axes.bar(
                places, height, 0.62, bottom, color=colour, hatch=hatch, edgecolor=DARK, linewidth=0.7,
                label=part.called,
            )  # fmt: skip
            bottom = bottom + height
        rows: Any = bars.to_dict("records")
        for place, row in enumerate(rows):
            _whisker_and_total(axes, place, row, ceiling)
        for level, policy, style in zip(lines["total_j_per_page"], lines["policy"], ("--", ":"), strict=False):
            axes.axhline(level, color="black", linewidth=1.1, linestyle=style, label=label(policy), zorder=1.5)
        axes.set_ylim(0, ceiling)
        axes.set_xlim(-0.6, len(bars) - 0.4)
        axes.set_xticks(places, [label(policy).replace(" ", "\n", 1) for policy in bars["policy"]])
        axes.set_ylabel("energy per page [J]")
        clean(axes)
        axes.tick_params(axis="x", length=0)
        if np.isfinite(bars["total_j_per_page_half_width"]).any():
            axes.errorbar([], [], [], color="0.45", capsize=2, linewidth=0.8, label=WHISKER)
        figure.legend(loc="outside upper left", ncols=4, columnspacing=1.2, handlelength=1.8)
    return figure


def _whisker_and_total(axes: Axes, place: float, row: dict[str, Any], ceiling: float) -> None:
    total, half = row["total_j_per_page"], row["total_j_per_page_half_width"]
    if total > ceiling:  # the bar leaves the picture
        axes.text(place, 0.93 * ceiling, f"↑ {total:.1f}", ha="center", va="center", fontsize=8, bbox=_BOX)
        return
    text = f"{total:.2f}"
    saving = row["energy_vs_psm_percent"]
    if np.isfinite(saving) and saving != 0:
        text += f"\n{saving:+.1f} %".replace("-", "−")
    axes.text(place, total + 0.015 * ceiling, text, ha="center", va="bottom", fontsize=8, linespacing=1.2)
    if np.isfinite(half):
        axes.errorbar(place + 0.39, total, half, color="0.45", capsize=2, linewidth=0.8)


_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}


def slowdown(summary: pd.DataFrame) -> Figure:
    """Draw mean (with its interval), median and 95th percentile of the slowdown of pages (figure 2-7).

    Parameters
    ----------
    summary : DataFrame
        One row a policy: `policy`, `slowdown_mean`, `slowdown_mean_half_width`, `slowdown_median`, `slowdown_p95`.
    """
    rows = summary[~summary["policy"].isin((*REFERENCES, BASELINE))].reset_index(drop=True)
    with styled():
        figure = Figure(figsize=(6.4, 1.3 + 0.34 * max(len(rows), 2)), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        places = np.arange(len(rows))
        mean, half = rows["slowdown_mean"].to_numpy(), rows["slowdown_mean_half_width"].fillna(0).to_numpy()
        axes.hlines(places, rows["slowdown_median"], rows["slowdown_p95"], color=MIDDLE, linewidth=1.0, zorder=1)
        axes.plot(
            rows["slowdown_median"], places, "|", color="black", markersize=9, markeredgewidth=1.3, label="median"
        )
        axes.plot(rows["slowdown_p95"], places, "D", color="black", mfc="white", markersize=5, label="95th percentile")
        axes.errorbar(
            mean, places, xerr=half, fmt="o", color="black", markersize=5, capsize=3, linewidth=1.2,
            label="mean and its 95 % interval",
        )  # fmt: skip
        for place, value in zip(places, mean, strict=True):
            axes.annotate(
                f"{value:.2f}", (1.0, float(place)), xycoords=("axes fraction", "data"), xytext=(4, 0),
                textcoords="offset points", va="center", fontsize=8,
            )  # fmt: skip
        axes.annotate(
            "mean", (1.0, 1.0), xycoords="axes fraction", xytext=(4, 2), textcoords="offset points", fontsize=8
        )
        axes.axvline(1.0, color="black", linewidth=0.8, linestyle="--")
        _log_axis(axes, "x", pd.concat([rows["slowdown_p95"], rows["slowdown_median"], pd.Series([1.0, 2.0])]))
        axes.set_yticks(places, [label(policy) for policy in rows["policy"]])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("slowdown: latency of a page / its latency without power saving")
        clean(axes, "x")
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside upper left", ncols=3, columnspacing=1.4)
    return figure


def slowdown_by_page(pages: pd.DataFrame) -> Figure:
    """Draw the slowdown of every page against its download time without power saving (figure 2-8).

    Parameters
    ----------
    pages : DataFrame
        One row a page: `replication`, `policy`, `base_latency_s`, `slowdown`.  One panel a policy; the dashed line is
        the mean over replications of their means, the figure that tables print.
    """
    policies = [policy for policy in pages["policy"].unique() if policy != BASELINE]
    columns = min(4, max(len(policies), 1))
    lines = max(ceil(len(policies) / columns), 1)
    drawn = pages[pages["policy"].isin(policies)]
    with styled():
        figure = Figure(figsize=(0.6 + 1.95 * columns, 0.7 + 1.9 * lines), dpi=DPI, layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for axes in grid.flat[len(policies) :]:
            axes.set_axis_off()
        for axes, policy in zip(grid.flat, policies, strict=False):
            own = pages[pages["policy"] == policy]
            axes.plot(
                own["base_latency_s"], own["slowdown"], "o", color="black", alpha=0.28, markersize=2.6,
                markeredgewidth=0, rasterized=len(own) > MANY_POINTS,
            )  # fmt: skip
            mean = float(own.groupby("replication", sort=False)["slowdown"].mean().mean())
            axes.axhline(mean, color="black", linewidth=1.1, linestyle="--")
            axes.set_title(label(policy))
            axes.annotate(
                f"mean {mean:.2f}", (1.0, 1.0), xycoords="axes fraction", xytext=(0, 3), textcoords="offset points",
                ha="right", fontsize=8,
            )  # fmt: skip
            _log_axis(axes, "x", drawn["base_latency_s"])
            _log_axis(axes, "y", pd.concat([drawn["slowdown"], pd.Series([1.0])]))
            clean(axes, "both")
            axes.tick_params(labelbottom=axes in _lowest(grid, len(policies)))
        figure.supxlabel("download time of the page without power saving [s]", fontsize=9)
        figure.supylabel("slowdown", fontsize=9)
    return figure


def _lowest(grid: Any, n_panels: int) -> list[Any]:
    columns = grid.shape[1]
    return [axes for index, axes in enumerate(grid.flat) if index < n_panels <= index + columns]


def _log_axis(axes: Axes, which: Literal["x", "y"], shown: pd.Series[float]) -> None:
    """Make a logarithmic axis a little wider than what is shown, with plain numbers at 1, 2, 5 (3) of every decade."""
    low, high = 0.93 * float(shown.min()), 1.1 * float(shown.max())
    steps = (1, 2, 5) if high > 12 * low else (1, 1.5, 2, 3, 4, 5, 7)
    ticks = [step * 10.0**power for power in range(-4, 6) for step in steps]
    axis = axes.xaxis if which == "x" else axes.yaxis
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    axis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
