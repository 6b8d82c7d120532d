"""Energy and slowdown of policies: the thesis' figures 2-6, 2-7 and 2-8, and what one costs in the other.

Energy a page is stacked from its parts, with the two reference energies as lines; the slowdown of pages is shown as
mean, median and 95th percentile, and page by page against the time the page takes without power saving.
Source of the form: Monteleoni 2006, section 2.5.4.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.front import front, reference_lines
from experiments.figures.papers import panels
from experiments.figures.style import GREY, INK, PART_FILLS, clean, key, label, log_axis, looks, rows_named, sheet
from experiments.quantities import BASELINE, ENERGY_PARTS, REFERENCES

_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # behind a text that a line may cross
_OWN, _PAIRED = "total_j_per_page_half_width", "energy_vs_psm_percent_half_width"
_CELL = {"mean_mw": "mean power [mW]", "latency_s": "latency of a page [s]", "awake_percent": "time awake [%]"}


def energy_front(summary: pd.DataFrame) -> Figure:
    """Draw the mean slowdown of every policy over its energy a page, from the summary of a comparison."""
    rows = summary.rename(columns={"total_j_per_page": "energy_j_per_page", _OWN: "energy_j_per_page_half_width"})
    return front(rows, _levels(summary), panels={"slowdown_mean": "mean slowdown of a page"})


def _levels(summary: pd.DataFrame) -> dict[Any, float]:
    return summary[summary["policy"].isin(REFERENCES)].set_index("policy")["total_j_per_page"].to_dict()


def growth(table: pd.DataFrame, field: str = "clients") -> Figure:
    """Draw what power saving costs and delays as a `field` of the world grows, in a panel a quantity.

    Words along the axis, such as kinds of air, stand in the order of the rows.
    """
    rows = table.rename(columns={"policy": "group", field: "x"})
    words = [] if pd.api.types.is_numeric_dtype(rows["x"]) else rows["x"].unique().tolist()
    if words:
        rows["x"] = rows["x"].map(words.index)
    frames = [
        (title, rows[["group", "x"]].assign(y=rows[name], half_width=rows[f"{name}_half_width"]))
        for name, title in _CELL.items()
        if name in rows
    ]
    figure = panels(frames, x=field.replace("_", " "), y="", y_scale="log", share_y=False)
    for axes in figure.axes[: len(words) and None]:
        axes.set_xticks(range(len(words)), list(map(str, words)))
    return figure


def energy(summary: pd.DataFrame, printed: Mapping[str, float] | None = None) -> Figure:
    """Draw the energy a page by its parts (figure 2-6).

    `summary` has a row a policy: `policy`, the parts of the energy a page (`quantities.ENERGY_PARTS`),
    `total_j_per_page` and `energy_vs_psm_percent` with their half widths (`.._half_width`); rows named ``limit`` and
    ``page-awake`` become lines.  What a paper prints, joules a page of policies, is marked beside ours.

    The whisker below the end of a bar is the 95 % interval of its length over replications.  Beside it stand its length
    and how many percent that is from static PSM, with the interval of the paired difference.  No power
    saving, if others are there, is a number below the picture.
    """
    bars = summary[~summary["policy"].isin(REFERENCES)]
    saving = bars["policy"] != BASELINE
    left_out = bars[~saving] if saving.any() else bars[:0]
    words = "; without power saving ".join(["energy [J per page]", *map("{:.3g}".format, left_out["total_j_per_page"])])
    bars = bars.drop(left_out.index)
    totals, places = bars["total_j_per_page"].to_numpy(), np.arange(len(bars))
    left, ends = np.zeros(len(bars)), totals + np.nan_to_num(bars[_OWN].to_numpy(dtype=float))
    with sheet(5.6, 1.45 + 0.33 * max(len(bars), 2)) as (figure, [axes]):
        for name, (colour, hatch) in PART_FILLS.items():
            if (part := bars[f"{name}_per_page"].to_numpy()).any():
                axes.barh(
                    places, part, 0.62, left, color=colour, hatch=hatch, edgecolor=INK, lw=0.6,
                    label=ENERGY_PARTS[name],
                )  # fmt: skip
                left = left + part
        if (half := bars[_OWN].where(bars[_OWN] > 0)).any():
            axes.errorbar(
                totals, places + 0.4, xerr=half, fmt="none", ecolor=GREY, capsize=2, elinewidth=0.8,
                label="95 % interval",
            )  # fmt: skip
        differences = bars[["energy_vs_psm_percent", _PAIRED]].to_numpy(dtype=float)
        for place, total, end, (percent, off) in zip(places, totals, ends, differences, strict=True):
            beside = f"  {percent:+.1f}{f' ± {off:.1f}' if off > 0 else ''} %".replace("-", "−")
            text = f"{total:.3g}{beside if np.isfinite(percent) and percent else ''}"
            axes.text(end + 0.015 * ends.max(), place, text, va="center", fontsize=8, bbox=_BOX)
        axes.set_xlim(0, 1.42 * ends.max())
        _mark_printed(axes, bars, printed)
        reference_lines(axes, _levels(summary))
        paired = "\nbeside the bars: difference from static PSM, with its paired interval"
        clean(axes, "x", xlabel=words + paired * bool(np.isfinite(differences[:, 0]).any()))
        rows_named(axes, map(label, bars["policy"]))
        key(figure, loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=1.8)
    return figure


def _mark_printed(axes: Axes, rows: pd.DataFrame, printed: Mapping[str, float] | None) -> None:
    """Mark what a paper prints for policies, each above its row."""
    if printed:
        values = rows["policy"].map(printed)
        places = np.arange(len(rows)) - 0.38
        axes.plot(values, places, "v", color=INK, mfc="white", markersize=6, label="printed in the thesis", zorder=3)


def slowdown(summary: pd.DataFrame, printed: Mapping[str, float] | None = None) -> Figure:
    """Draw mean (with its interval), median and 95th percentile of the slowdown of pages (figure 2-7).

    `summary` has a row a policy: `policy`, `slowdown_mean`, `slowdown_mean_half_width`, `slowdown_median`,
    `slowdown_p95`.  What a paper prints, mean slowdowns of policies, is marked beside ours.
    """
    rows = summary[~summary["policy"].isin((*REFERENCES, BASELINE))]
    median, late, places = rows["slowdown_median"], rows["slowdown_p95"], np.arange(len(rows))
    drawn = looks(rows["policy"].tolist())
    with sheet(5.6, 1.3 + 0.33 * max(len(rows), 2)) as (figure, [axes]):
        axes.hlines(places, median, late, color=[look.colour for look in drawn.values()], linewidth=1.4, zorder=1)
        axes.plot(median, places, "|", color=INK, markersize=10, markeredgewidth=1.3, label="median")
        for place, look in enumerate(drawn.values()):
            mean, half = rows.iloc[place][["slowdown_mean", "slowdown_mean_half_width"]].fillna(0.0)
            axes.errorbar(mean, place, xerr=half, capsize=3, **look.drawn(linestyle=""))
        axes.errorbar([], [], xerr=[], fmt="o", color=GREY, capsize=3, label="mean (in brackets), 95 % interval")
        axes.plot(late, places, "D", color=INK, mfc="white", markersize=4.5, label="95th percentile")
        _mark_printed(axes, rows, printed)
        axes.axvline(1.0, color=INK, linewidth=0.8, linestyle="--", zorder=0.8)
        log_axis(axes, "x", *_around(late, median, [1.0, 2.0]))
        clean(axes, "x", xlabel="latency of a page / without power saving (log scale)")
        means = zip(rows["policy"], rows["slowdown_mean"], strict=True)
        rows_named(axes, [f"{label(policy)} ({mean:.2f})" for policy, mean in means])
        key(figure, loc="outside upper left", ncols=3, columnspacing=1.4)
    return figure


def _around(*shown: Any) -> tuple[float, float]:
    """Return where a logarithmic axis begins and ends that shows these values."""
    values = np.concatenate(shown)
    values = np.ones(1) if np.isnan(values).all() else values  # of messages alone, no page is slowed down
    return 0.93 * float(np.nanmin(values)), 1.1 * float(np.nanmax(values))


def slowdown_by_page(pages: pd.DataFrame) -> Figure:
    """Draw the slowdown of every page against its download time without power saving (figure 2-8).

    `pages` have a row a page: `replication`, `policy`, `base_latency_s`, `slowdown`.  There is a panel a policy; the
    dashed line is the mean over replications of their means, the figure that tables print.
    """
    shown = pages[pages["policy"] != BASELINE]
    words = {
        "base_latency_s": "download time of the page without power saving [s]",
        "slowdown": "slowdown (dashed: mean)",
    }
    means = shown.groupby(["policy", "replication"])[["slowdown"]].mean().groupby("policy").mean()
    figure = clouds(shown, words, means)
    log_axis(figure.axes[0], "y", *_around(shown["slowdown"], [1.0]))  # all share it
    return figure


def clouds(table: pd.DataFrame, words: Mapping[str, str], middle: pd.DataFrame) -> Figure:
    """Draw all rows of each policy as points, a panel a policy, four beside one another, on common axes.

    `words` are the two columns and what stands along their axes, of which the horizontal one is logarithmic; `middle`
    has, by policy, values of some of them, which are dashed lines.
    """
    (x, across), (y, up) = words.items()
    drawn = looks(table["policy"].unique().tolist())
    columns = min(4, max(len(drawn), 1))
    lines = max(ceil(len(drawn) / columns), 1)
    with sheet(max(0.6 + 1.95 * columns, 3.8), 0.7 + 1.9 * lines, lines, columns, sharex=True, sharey=True) as (
        figure,
        grid,
    ):
        for place, (axes, (policy, look)) in enumerate(zip(grid, drawn.items(), strict=False)):
            own = table[table["policy"] == policy]
            axes.plot(own[x], own[y], "o", color=look.colour, alpha=0.4, ms=2.6, mew=0, rasterized=len(table) > 3000)
            for column, line in ((x, axes.axvline), (y, axes.axhline)):
                if column in middle:
                    line(middle.loc[policy, column], color=INK, linewidth=1.1, linestyle="--")
            clean(axes, "both", title=label(policy))
            axes.tick_params(labelbottom=place + columns >= len(drawn))
        for axes in grid[len(drawn) :]:
            axes.set_axis_off()
        log_axis(grid[0], "x", *_around(table[x]))  # all share it
        figure.supxlabel(across, fontsize=9)
        figure.supylabel(up, fontsize=9)
    return figure
