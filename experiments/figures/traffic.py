"""The traffic of a trace over time, up and down."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator
from numpy.typing import NDArray

from experiments.figures.style import BLUE, GREY, INK, ORANGE, clean, sheet
from experiments.found import Found

__all__ = ["traffic"]

_BINS = 240
_LONGEST_GAP_US, _SHOWN_GAP_US = 3_600_000_000, 60_000_000


def traffic(found: Found) -> Figure:
    """Draw bytes a second, down above the axis and up below it; a mark where a page begins.

    Hours without traffic are drawn as one minute, between dotted lines.
    """
    times = found.times()
    start, end, pages, cuts = _without_gaps(times, np.array(found.report.page_starts_us, dtype=np.int64))
    span = max(float(end.max()), 1e-3)
    edges = np.linspace(0.0, span, _BINS + 1)
    with sheet(7.4, 3.2) as (figure, [axes]):
        for column, sign, colour, name in ((3, 1, BLUE, "down"), (2, -1, ORANGE, "up")):
            rate = _spread(start, end, times[:, column], edges) / (span / _BINS)
            axes.fill_between(edges[:-1], sign * rate, step="post", color=colour, linewidth=0, label=name)
        axes.plot(pages, np.zeros(len(pages)), "^", color=INK, markersize=4, clip_on=False, label="a page begins")
        for cut in cuts:
            axes.axvline(cut, color=GREY, linestyle=":", linewidth=0.8)
        axes.set_yscale("symlog", linthresh=100.0)
        scales = (("h", 3600.0), ("min", 60.0), ("s", 1.0))
        unit, scale = next((item for item in scales if span >= 3 * item[1]), scales[-1])
        ticks = [scale * tick for tick in MaxNLocator(8).tick_values(0, span / scale)]
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value / scale:g}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):,.0f}")
        axes.set_xlim(0, span)
        figure.legend(loc="outside upper right", ncols=3)
        clean(axes, xlabel=f"time since the first byte [{unit}]", ylabel="bytes a second")
    return figure


def _without_gaps(
    times: NDArray[np.int64], pages: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], list[float]]:
    """Return starts, ends and beginnings of pages in seconds, hours of silence cut out, and where."""
    order = np.argsort(times[:, 0], kind="stable")
    begun = times[order, 0]
    covered = np.maximum.accumulate(times[order, 1])
    gap = np.concatenate(([0], begun[1:] - covered[:-1]))
    cut = np.where(gap > _LONGEST_GAP_US, gap - _SHOWN_GAP_US, 0)
    shift = np.empty(len(times), dtype=np.int64)
    shift[order] = begun[0] + np.cumsum(cut)
    start, end = (times[:, 0] - shift) / 1e6, (times[:, 1] - shift) / 1e6
    of_pages = np.clip(np.searchsorted(begun, pages, side="right") - 1, 0, None)
    return start, end, (pages - shift[order][of_pages]) / 1e6, start[order][cut > 0].tolist()


def _spread(
    start: NDArray[np.float64], end: NDArray[np.float64], sizes: NDArray[np.int64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the bytes in each bin, those of an exchange spread evenly from its start to its end."""
    width, last = edges[1] - edges[0], len(edges) - 2
    first = np.clip((start / width).astype(np.int64), 0, last)
    final = np.clip((end / width).astype(np.int64), first, last)
    share = sizes / (final - first + 1)
    steps = np.zeros(len(edges), dtype=np.float64)
    np.add.at(steps, first, share)
    np.add.at(steps, final + 1, -share)
    return np.maximum(np.cumsum(steps)[:-1], 0.0)
