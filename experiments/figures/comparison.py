"""Energy and slowdown of policies: the thesis' figures 2-6, 2-7 and 2-8, and what one costs in the other.

Energy a page is stacked from its parts, with the two reference energies as lines; the slowdown of pages is shown as
mean, median and 95th percentile, and page by page against the time the page takes without power saving.
Source of the form: Monteleoni 2006, section 2.5.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.front import front, reference_lines
from experiments.figures.style import BOX, DPI, GREY, INK, PART_FILLS, clean, label, log_axis, looks, readable, styled
from experiments.quantities import BASELINE, REFERENCES, Quantity, energy_parts
from experiments.quantities import shown as shown_parts

__all__ = ["bar_parts", "energy", "energy_front", "slowdown", "slowdown_by_page"]

WHISKER = "95 % interval, paired with PSM"
PRINTED = "printed in the thesis"
_PAIRED = "energy_minus_psm_j_per_page_half_width"
MANY_POINTS = 3000  # beyond this many in a panel, points are drawn as pixels in the SVG as well


def energy_front(summary: pd.DataFrame) -> Figure:
    """Draw the mean slowdown of every policy over its energy a page, from the summary of a comparison."""
    rows = summary.rename(columns={"total_j_per_page": "energy_j_per_page"})
    return front(rows, _levels(summary), panels={"slowdown_mean": "mean slowdown of a page"})


def _levels(summary: pd.DataFrame) -> dict[str, float]:
    lines = summary[summary["policy"].isin(REFERENCES)]
    return dict(zip(lines["policy"], lines["total_j_per_page"].astype(float), strict=True))


def bar_parts(bars: pd.DataFrame) -> list[tuple[Quantity, str, str]]:
    """Return the parts of the energy a page that these bars are made of, with their colours and hatchings, in order."""
    parts = {part.name: part for part in shown_parts(energy_parts(), bars)}
    return [(parts[name], *fill) for name, fill in PART_FILLS.items() if name in parts]


def energy(summary: pd.DataFrame, printed: Mapping[str, float] | None = None) -> Figure:
    """Draw the energy a page by its parts (figure 2-6).

    Parameters
    ----------
    summary : DataFrame
        One row a policy: `policy`, the parts of the energy a page (`quantities.energy_parts`), `total_j_per_page`,
        `energy_minus_psm_j_per_page_half_width`, `energy_vs_psm_percent`; rows named ``limit`` and ``page-awake``
        become lines.
    printed : mapping of str to float, optional
        Joules a page of policies as a paper prints them, marked beside ours.

    Returns
    -------
    Figure
        Beside each bar its length and the paired difference from static PSM, whose 95 % interval over replications is
        the whisker below its end.  The bar without power saving leaves the picture, its length is printed.
    """
    bars = summary[~summary["policy"].isin(REFERENCES)].reset_index(drop=True)
    drawn = looks(bars["policy"].tolist())
    saving = bars[bars["policy"] != BASELINE] if len(bars) > 1 else bars
    highest = float(saving["total_j_per_page"].max())
    whiskers = float((saving["total_j_per_page"] + saving[_PAIRED].fillna(0)).max())
    end = max(1.34 * highest, min(1.04 * whiskers, 1.6 * highest))
    with styled():
        figure = Figure(figsize=(5.6, 1.35 + 0.33 * max(len(bars), 2)), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        places = np.arange(len(bars))
        left = np.zeros(len(bars))
        for part, colour, hatch in bar_parts(bars):
            length = bars[part.name].to_numpy()
            axes.barh(
                places, length, 0.62, left, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.6, label=part.called
            )
            left = left + length
        axes.set_xlim(0, end)
        axes.set_ylim(len(bars) - 0.4, -0.6)
        rows: Any = bars.to_dict("records")
        for place, row in enumerate(rows):
            _whisker_and_total(axes, place, row, end)
        _mark_printed(axes, bars, printed)
        reference_lines(axes, _levels(summary))
        axes.set_yticks(places, [label(policy) for policy in bars["policy"]])
        for tick, policy in zip(axes.get_yticklabels(), bars["policy"], strict=True):
            tick.set_color(readable(drawn[policy].colour))
            tick.set_fontweight("bold" if drawn[policy].strong else "normal")
        axes.set_xlabel("energy [J per page]")
        clean(axes, "x")
        axes.tick_params(axis="y", length=0)
        if (bars[_PAIRED] > 0).any():
            axes.errorbar([], [], xerr=[], color=GREY, capsize=2, linewidth=0.8, label=WHISKER)
        figure.legend(loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=1.8)
    return figure


def _mark_printed(axes: Axes, rows: pd.DataFrame, printed: Mapping[str, float] | None) -> None:
    """Mark what a paper prints for policies, each above its row."""
    found = [(value, place - 0.38) for place, name in enumerate(rows["policy"]) if (value := (printed or {}).get(name))]
    if found:
        axes.plot(*zip(*found, strict=True), "v", color=INK, mfc="white", markersize=6, label=PRINTED, zorder=3)


def _whisker_and_total(axes: Axes, place: float, row: dict[str, Any], end: float) -> None:
    total, half = row["total_j_per_page"], row[_PAIRED]
    if total > end:  # the bar leaves the picture
        axes.text(
            0.985 * end, place, f"{total:.3g} \N{RIGHTWARDS ARROW}", ha="right", va="center", fontsize=8, bbox=BOX
        )
        return
    text = f"{total:.3g}"
    saving = row["energy_vs_psm_percent"]
    if np.isfinite(saving) and saving != 0:
        text += f"  {saving:+.1f} %".replace("-", "−")
    axes.text(total + 0.012 * end, place - 0.02, text, ha="left", va="center", fontsize=8, bbox=BOX)
    if half > 0:
        axes.errorbar(total, place + 0.4, xerr=half, color=GREY, capsize=2, linewidth=0.8)


def slowdown(summary: pd.DataFrame, printed: Mapping[str, float] | None = None) -> Figure:
    """Draw mean (with its interval), median and 95th percentile of the slowdown of pages (figure 2-7).

    Parameters
    ----------
    summary : DataFrame
        One row a policy: `policy`, `slowdown_mean`, `slowdown_mean_half_width`, `slowdown_median`, `slowdown_p95`.
    printed : mapping of str to float, optional
        Mean slowdowns of policies as a paper prints them, marked beside ours.
    """
    rows = summary[~summary["policy"].isin((*REFERENCES, BASELINE))].reset_index(drop=True)
    drawn = looks(rows["policy"].tolist())
    with styled():
        figure = Figure(figsize=(5.6, 1.3 + 0.33 * max(len(rows), 2)), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        records: Any = rows.to_dict("records")
        for place, row in enumerate(records):
            look = drawn[row["policy"]]
            axes.hlines(place, row["slowdown_median"], row["slowdown_p95"], color=look.colour, linewidth=1.4, zorder=1)
            axes.plot(row["slowdown_median"], place, "|", color=INK, markersize=10, markeredgewidth=1.3)
            axes.plot(row["slowdown_p95"], place, "D", color=INK, mfc="white", markersize=4.5)
            half = row["slowdown_mean_half_width"]
            axes.errorbar(
                row["slowdown_mean"], place, xerr=half if np.isfinite(half) else 0.0, fmt=look.marker, capsize=3,
                color=look.colour, mfc=look.face, markersize=look.size, linewidth=1.2,
            )  # fmt: skip
            axes.annotate(
                f"{row['slowdown_mean']:.2f}", (1.0, place), xycoords=("axes fraction", "data"), xytext=(4, 0),
                textcoords="offset points", va="center", fontsize=8,
            )  # fmt: skip
        axes.plot([], [], "|", color=INK, markersize=10, markeredgewidth=1.3, label="median")
        axes.errorbar([], [], xerr=[], fmt="o", color=GREY, capsize=3, label="mean, 95 % interval")
        axes.plot([], [], "D", color=INK, mfc="white", markersize=4.5, linestyle="", label="95th percentile")
        _mark_printed(axes, rows, printed)
        axes.annotate(
            "mean", (1.0, 1.0), xycoords="axes fraction", xytext=(4, 2), textcoords="offset points", fontsize=8
        )
        axes.axvline(1.0, color=INK, linewidth=0.8, linestyle="--", zorder=0.8)
        shown = pd.concat([rows["slowdown_p95"], rows["slowdown_median"], pd.Series([1.0, 2.0])])
        log_axis(axes, "x", 0.93 * float(shown.min()), 1.1 * float(shown.max()))
        axes.set_yticks(range(len(rows)), [label(policy) for policy in rows["policy"]])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("slowdown: latency of a page / its latency without power saving (log scale)")
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
    shown = pages[pages["policy"].isin(policies)]
    drawn = looks(policies)
    with styled():
        figure = Figure(figsize=(max(0.6 + 1.95 * columns, 3.8), 0.7 + 1.9 * lines), dpi=DPI, layout="constrained")
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for axes in grid.flat[len(policies) :]:
            axes.set_axis_off()
        for axes, policy in zip(grid.flat, policies, strict=False):
            own = pages[pages["policy"] == policy]
            axes.plot(
                own["base_latency_s"], own["slowdown"], "o", color=drawn[policy].colour, alpha=0.35, markersize=2.6,
                markeredgewidth=0, rasterized=len(own) > MANY_POINTS,
            )  # fmt: skip
            mean = float(own.groupby("replication", sort=False)["slowdown"].mean().mean())
            axes.axhline(mean, color=INK, linewidth=1.1, linestyle="--")
            axes.set_title(label(policy))
            axes.annotate(
                f"mean {mean:.2f}", (1.0, 1.0), xycoords="axes fraction", xytext=(-2, -8), textcoords="offset points",
                ha="right", fontsize=8, bbox=BOX,
            )  # fmt: skip
            log_axis(axes, "x", *_around(shown["base_latency_s"]))
            log_axis(axes, "y", *_around(pd.concat([shown["slowdown"], pd.Series([1.0])])))
            clean(axes, "both")
            axes.tick_params(labelbottom=axes in _lowest(grid, len(policies)))
        figure.supxlabel("download time of the page without power saving [s]", fontsize=9)
        figure.supylabel("slowdown", fontsize=9)
    return figure


def _around(shown: pd.Series[float]) -> tuple[float, float]:
    return 0.93 * float(shown.min()), 1.1 * float(shown.max())


def _lowest(grid: Any, n_panels: int) -> list[Any]:
    columns = grid.shape[1]
    return [axes for index, axes in enumerate(grid.flat) if index < n_panels <= index + columns]
