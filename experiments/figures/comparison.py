"""Energy and slowdown of policies: the thesis' figures 2-6, 2-7 and 2-8, and what one costs in the other.

Energy a page is stacked from its parts, with the two reference energies as lines; the slowdown of pages is shown as
mean, median and 95th percentile, and page by page against the time the page takes without power saving.
Source of the form: Monteleoni 2006, section 2.5.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.front import front, reference_lines
from experiments.figures.papers import panels
from experiments.figures.style import (
    BOX,
    GREY,
    INK,
    PART_FILLS,
    Look,
    clean,
    label,
    log_axis,
    looks,
    readable,
    rows_named,
    sheet,
)  # fmt: skip
from experiments.quantities import BASELINE, REFERENCES, energy_parts
from experiments.quantities import shown as shown_parts

__all__ = ["energy", "energy_front", "growth", "panel_each", "slowdown", "slowdown_by_page"]

WHISKER = "95 % interval, paired with PSM"
PRINTED = "printed in the thesis"
_PAIRED = "energy_minus_psm_j_per_page_half_width"
MANY_POINTS = 3000  # beyond this many in a panel, points are drawn as pixels in the SVG as well
_CELL = {"mean_mw": "mean power [mW]", "latency_s": "latency of a page [s]", "awake_percent": "time awake [%]"}
_BESIDE: Any = {"textcoords": "offset points", "fontsize": 8}


def energy_front(summary: pd.DataFrame) -> Figure:
    """Draw the mean slowdown of every policy over its energy a page, from the summary of a comparison."""
    rows = summary.rename(columns={"total_j_per_page": "energy_j_per_page"})
    return front(rows, _levels(summary), panels={"slowdown_mean": "mean slowdown of a page"})


def _levels(summary: pd.DataFrame) -> dict[str, float]:
    lines = summary[summary["policy"].isin(REFERENCES)]
    return dict(zip(lines["policy"], lines["total_j_per_page"].astype(float), strict=True))


def growth(table: pd.DataFrame) -> Figure:
    """Draw what power saving costs and delays as a cell fills: a panel a quantity, over the number of clients.

    The table is `study.cells.summary`: policy, clients, and each quantity with its half width.
    """
    rows = table.rename(columns={"policy": "group", "clients": "x"})
    frames = [
        (words, rows[["group", "x"]].assign(y=rows[name], half_width=rows[f"{name}_half_width"]))
        for name, words in _CELL.items()
    ]
    return panels(frames, x="clients", y="", y_scale="log", share_y=False)


def energy(summary: pd.DataFrame, printed: Mapping[str, float] | None = None) -> Figure:
    """Draw the energy a page by its parts (figure 2-6).

    `summary` has a row a policy: `policy`, the parts of the energy a page (`quantities.energy_parts`),
    `total_j_per_page`, `energy_minus_psm_j_per_page_half_width`, `energy_vs_psm_percent`; rows named ``limit`` and
    ``page-awake`` become lines.  What a paper prints, joules a page of policies, is marked beside ours.

    Beside each bar stand its length and the paired difference from static PSM, whose 95 % interval over replications is
    the whisker below its end.  The bar without power saving leaves the picture, its length is printed.
    """
    bars = summary[~summary["policy"].isin(REFERENCES)].reset_index(drop=True)
    saving = bars["policy"] != BASELINE if len(bars) > 1 else slice(None)
    highest = float(bars["total_j_per_page"][saving].max())
    longest = float((bars["total_j_per_page"] + bars[_PAIRED].fillna(0))[saving].max())
    end = max(1.34 * highest, min(1.04 * longest, 1.6 * highest))
    parts = {part.name: part.called for part in shown_parts(energy_parts(), bars)}
    with sheet(5.6, 1.35 + 0.33 * max(len(bars), 2)) as (figure, [axes]):
        left = np.zeros(len(bars))
        for name, (colour, hatch) in PART_FILLS.items():
            if name in parts:
                how: Any = {"color": colour, "hatch": hatch, "edgecolor": INK, "linewidth": 0.6, "label": parts[name]}
                axes.barh(range(len(bars)), bars[name].to_numpy(), 0.62, left, **how)
                left = left + bars[name].to_numpy()
        axes.set(xlim=(0, end), ylim=(len(bars) - 0.4, -0.6))
        for place, row in enumerate(bars.to_dict("records")):
            _whisker_and_total(axes, place, row, end)
        _mark_printed(axes, bars, printed)
        reference_lines(axes, _levels(summary))
        clean(axes, "x", xlabel="energy [J per page]")
        rows_named(axes, map(label, bars["policy"]))
        for tick, look in zip(axes.get_yticklabels(), looks(bars["policy"].tolist()).values(), strict=True):
            tick.set(color=readable(look.colour), fontweight="bold" if look.strong else "normal")
        if (bars[_PAIRED] > 0).any():
            axes.errorbar([], [], xerr=[], color=GREY, capsize=2, linewidth=0.8, label=WHISKER)
        figure.legend(loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=1.8)
    return figure


def _mark_printed(axes: Axes, rows: pd.DataFrame, printed: Mapping[str, float] | None) -> None:
    """Mark what a paper prints for policies, each above its row."""
    found = [(value, place - 0.38) for place, name in enumerate(rows["policy"]) if (value := (printed or {}).get(name))]
    if found:
        axes.plot(*zip(*found, strict=True), "v", color=INK, mfc="white", markersize=6, label=PRINTED, zorder=3)


def _whisker_and_total(axes: Axes, place: float, row: dict[Any, Any], end: float) -> None:
    total, half, saving = row["total_j_per_page"], row[_PAIRED], row["energy_vs_psm_percent"]
    if total > end:  # the bar leaves the picture
        text = f"{total:.3g} \N{RIGHTWARDS ARROW}"
        axes.text(0.985 * end, place, text, ha="right", va="center", fontsize=8, bbox=BOX)
        return
    text = f"{total:.3g}"
    if np.isfinite(saving) and saving != 0:
        text += f"  {saving:+.1f} %".replace("-", "−")
    axes.text(total + 0.012 * end, place - 0.02, text, ha="left", va="center", fontsize=8, bbox=BOX)
    if half > 0:
        axes.errorbar(total, place + 0.4, xerr=half, color=GREY, capsize=2, linewidth=0.8)


def slowdown(summary: pd.DataFrame, printed: Mapping[str, float] | None = None) -> Figure:
    """Draw mean (with its interval), median and 95th percentile of the slowdown of pages (figure 2-7).

    `summary` has a row a policy: `policy`, `slowdown_mean`, `slowdown_mean_half_width`, `slowdown_median`,
    `slowdown_p95`.  What a paper prints, mean slowdowns of policies, is marked beside ours.
    """
    rows = summary[~summary["policy"].isin((*REFERENCES, BASELINE))].reset_index(drop=True)
    drawn = looks(rows["policy"].tolist())
    median: Any = {"color": INK, "markersize": 10, "markeredgewidth": 1.3}
    late: Any = {"color": INK, "mfc": "white", "markersize": 4.5}
    with sheet(5.6, 1.3 + 0.33 * max(len(rows), 2)) as (figure, [axes]):
        for place, row in enumerate(rows.to_dict("records")):
            look, mean, half = drawn[row["policy"]], row["slowdown_mean"], row["slowdown_mean_half_width"]
            axes.hlines(place, row["slowdown_median"], row["slowdown_p95"], color=look.colour, linewidth=1.4, zorder=1)
            axes.plot(row["slowdown_median"], place, "|", **median)
            axes.plot(row["slowdown_p95"], place, "D", **late)
            axes.errorbar(
                mean, place, xerr=half if np.isfinite(half) else 0.0, fmt=look.marker, capsize=3, color=look.colour,
                mfc=look.face, markersize=look.size, linewidth=1.2,
            )  # fmt: skip
            at: Any = {"xycoords": ("axes fraction", "data"), "xytext": (4, 0), "va": "center"}
            axes.annotate(f"{mean:.2f}", (1.0, place), **at, **_BESIDE)
        axes.plot([], [], "|", **median, label="median")
        axes.errorbar([], [], xerr=[], fmt="o", color=GREY, capsize=3, label="mean, 95 % interval")
        axes.plot([], [], "D", **late, linestyle="", label="95th percentile")
        _mark_printed(axes, rows, printed)
        axes.annotate("mean", (1.0, 1.0), xycoords="axes fraction", xytext=(4, 2), **_BESIDE)
        axes.axvline(1.0, color=INK, linewidth=0.8, linestyle="--", zorder=0.8)
        log_axis(axes, "x", *_around(rows["slowdown_p95"], rows["slowdown_median"], pd.Series([1.0, 2.0])))
        clean(axes, "x", xlabel="slowdown: latency of a page / its latency without power saving (log scale)")
        rows_named(axes, map(label, rows["policy"]))
        figure.legend(loc="outside upper left", ncols=3, columnspacing=1.4)
    return figure


def _around(*shown: pd.Series[float]) -> tuple[float, float]:
    """Return where a logarithmic axis begins and ends that shows these values."""
    values = pd.concat(shown)
    return 0.93 * float(values.min()), 1.1 * float(values.max())


def slowdown_by_page(pages: pd.DataFrame) -> Figure:
    """Draw the slowdown of every page against its download time without power saving (figure 2-8).

    `pages` have a row a page: `replication`, `policy`, `base_latency_s`, `slowdown`.  There is a panel a policy; the
    dashed line is the mean over replications of their means, the figure that tables print.
    """
    policies = [policy for policy in pages["policy"].unique() if policy != BASELINE]
    shown = pages[pages["policy"].isin(policies)]
    with panel_each(policies, 1.95, 1.9, least=3.8) as (figure, grid):
        for axes, policy, look in grid:
            own = pages[pages["policy"] == policy]
            cloud(axes, own["base_latency_s"], own["slowdown"], look, 0.35, 2.6)
            mean = float(own.groupby("replication", sort=False)["slowdown"].mean().mean())
            axes.axhline(mean, color=INK, linewidth=1.1, linestyle="--")
            at: Any = {"xycoords": "axes fraction", "xytext": (-2, -8), "ha": "right", "bbox": BOX}
            axes.annotate(f"mean {mean:.2f}", (1.0, 1.0), **at, **_BESIDE)
            log_axis(axes, "x", *_around(shown["base_latency_s"]))
            log_axis(axes, "y", *_around(shown["slowdown"], pd.Series([1.0])))
        figure.supxlabel("download time of the page without power saving [s]", fontsize=9)
        figure.supylabel("slowdown", fontsize=9)
    return figure


@contextmanager
def panel_each(
    policies: Sequence[str], width: float, height: float, *, least: float = 0.0
) -> Iterator[tuple[Figure, list[tuple[Axes, str, Look]]]]:
    """Give a figure of a panel a policy, four beside one another, on common axes, of so many inches each."""
    columns = min(4, max(len(policies), 1))
    lines = max(ceil(len(policies) / columns), 1)
    drawn = looks(policies)
    size = max(0.6 + width * columns, least), 0.7 + height * lines
    with sheet(*size, lines, columns, sharex=True, sharey=True) as (figure, grid):
        for axes in grid[len(policies) :]:
            axes.set_axis_off()
        yield figure, [(axes, policy, drawn[policy]) for axes, policy in zip(grid, policies, strict=False)]
        for place, policy in enumerate(policies):
            clean(grid[place], "both", title=label(policy))
            grid[place].tick_params(labelbottom=place + columns >= len(policies))


def cloud(axes: Axes, x: pd.Series[float], y: pd.Series[float], look: Look, alpha: float, size: float) -> None:
    """Draw many points."""
    axes.plot(
        x, y, "o", color=look.colour, alpha=alpha, markersize=size, markeredgewidth=0, rasterized=len(x) > MANY_POINTS
    )
