"""Pictures of a replay: losses, weights, competitive analysis and the switching rate (the thesis' figures 2-9 to 2-11).

Long replays are drawn as means over stretches of polls, so that a picture has no more
points than it can show; the beginning is drawn poll by poll beside them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import LogNorm, to_hex
from matplotlib.figure import Figure

from experiments.figures.labels import name_ends
from experiments.figures.style import BLUE, INK, PALE, VERMILLION, clean, log_axis, sheet

__all__ = ["alphas", "competition", "losses", "thinned", "weights"]

STRETCHES = 240  # points a line across a panel
EARLY = 250  # polls of the panels on the beginning
_ALGORITHM = (("polling", "-", VERMILLION, "at the sleep it took"), ("mixture", "--", INK, "mixture loss"))
"""The two losses of the algorithm, how their lines look, and what they are called."""


def thinned(frame: pd.DataFrame, stretches: int = STRETCHES) -> pd.DataFrame:
    """Return means over at most `stretches` stretches of equally many rows."""
    size = max(1, -(-len(frame) // stretches))
    return frame.groupby(np.arange(len(frame)) // size).mean()


def _colours(polls: pd.DataFrame) -> dict[str, str]:
    """Return each expert's polling time, and a colour from dark (short) to light (long), which grey print keeps."""
    names = [name.removeprefix("loss_") for name in polls.columns if name.startswith("loss_")]
    places = np.linspace(0, 0.88, len(names))
    return {name: to_hex(colormaps["viridis"](place)) for name, place in zip(names, places, strict=True)}


def losses(polls: pd.DataFrame) -> Figure:
    """Draw the loss of every expert and of the algorithm over time, whole and at the beginning (figure 2-9).

    `polls` have `time_s`, `mixture_loss`, `polling_loss`, and `loss_T` of every expert T.
    """
    size = -(-len(polls) // STRETCHES)
    whole = thinned(polls), f"{len(polls)} polls" + (f", means of {size}" if size > 1 else "")
    early = polls.head(EARLY), f"first {min(EARLY, len(polls))} polls"
    with sheet(7.4, 3.6, 1, 2, sharey=True) as (figure, grid):
        for axes, (rows, title) in zip(grid, (whole, early), strict=True):
            every = max(1, len(rows) // 40)
            for name, colour in _colours(polls).items():
                axes.plot(rows["time_s"], rows[f"loss_{name}"], color=colour, linewidth=0.9, label=f"{name} ms")
            polling: Any = {"color": VERMILLION, "mfc": "white", "markersize": 3, "markevery": every, "linewidth": 1.0}
            axes.plot(rows["time_s"], rows["polling_loss"], "o-", **polling, label="algorithm, at the sleep it took")
            mixture: Any = {"color": INK, "markersize": 3.5, "markevery": (every // 2, every)}
            axes.plot(rows["time_s"], rows["mixture_loss"], "x", **mixture, label="algorithm, mixture loss")
            axes.set_yscale("log")
            clean(axes, "both", title=title, xlabel="time [s]")
        grid[0].set_ylabel("loss a poll [nats]")
        named = grid[0].get_legend_handles_labels()
        figure.legend(*named, loc="outside lower center", ncols=6, columnspacing=1.2, handlelength=2.4)
    return figure


def weights(polls: pd.DataFrame) -> Figure:
    """Draw the weights of the experts over time, as a map and, at the beginning, as lines (figure 2-10).

    `polls` are those of `losses`, with `weight_T` of every expert T.
    """
    colours = _colours(polls)
    columns = [f"weight_{name}" for name in colours]
    early, times = polls.head(EARLY), polls["time_s"].to_numpy()
    with sheet(7.4, 3.2, 1, 2) as (figure, [map_axes, line_axes]):
        top = max(float(polls[columns].to_numpy().max()), 1e-9)
        size = -(-len(polls) // STRETCHES)
        edges = np.concatenate([[0.0], times[size - 1 : -1 : size], times[-1:]])
        values, norm = thinned(polls[columns]).to_numpy().T, LogNorm(top / 1e3, top, clip=True)
        rows = np.arange(len(colours) + 1) - 0.5
        image = map_axes.pcolormesh(edges, rows, values, cmap="viridis", norm=norm, rasterized=True)
        map_axes.set_yticks(range(len(colours)), list(colours))
        map_axes.set(xlabel="time [s]", ylabel="polling time of the expert [ms]", title=f"weights, {len(polls)} polls")
        ticks = [tick for tick in 10.0 ** np.arange(-12, 1) if top / 1e3 <= tick <= top]
        figure.colorbar(image, ax=map_axes, shrink=0.8, label="weight (log scale)", ticks=ticks)
        for name, colour in colours.items():
            line_axes.plot(early["time_s"], early[f"weight_{name}"], color=colour, linewidth=1.1)
        last = early.iloc[-1]
        name_ends(line_axes, {name: (last["time_s"], last[f"weight_{name}"]) for name in colours}, colours)
        clean(line_axes, xlabel="time [s]", ylabel="weight", title=f"first {len(early)} polls")
    return figure


def competition(regrets: pd.DataFrame, partitions: pd.DataFrame) -> Figure:
    """Draw the algorithm against the best fixed expert, the best expert of each poll and k-partitions (figure 2-11).

    `regrets` have `time_s` and the cumulative `mixture_loss`, `polling_loss`, `best_expert_loss`, `best_per_poll_loss`;
    `partitions` have `k` and `loss`, the least loss of k segments with an expert each.
    """
    rows = regrets.iloc[:: max(1, len(regrets) // STRETCHES)]
    small: Any = {"fontsize": 8}
    with sheet(7.4, 3.0, 1, 3) as (figure, [fixed, current, curve]):
        for axes, base, title in (
            (fixed, "best_expert_loss", "loss over best fixed expert"),
            (current, "best_per_poll_loss", "loss over best expert of each poll"),
        ):
            for column, style, colour, name in _ALGORITHM:
                words = name if axes is fixed else None
                over = rows[f"{column}_loss"] - rows[base]
                axes.plot(rows["time_s"], over, style, color=colour, linewidth=1.2, label=words)
            axes.axhline(0, color=INK, linewidth=0.8)
            axes.set_title(title, **small)
            clean(axes, xlabel="time [s]")
        fixed.set_ylabel("cumulative [nats]")
        best: Any = {"color": BLUE, "markersize": 2, "linewidth": 1.0, "label": "best k segments"}
        curve.plot(partitions["k"], partitions["loss"], "o-", **best)
        last = regrets.iloc[-1]
        for column, style, colour, _ in _ALGORITHM:
            curve.axhline(last[f"{column}_loss"], color=colour, linewidth=1.2, linestyle=style)
        each: Any = {"color": INK, "linewidth": 1.0, "linestyle": ":", "label": "best expert of each poll"}
        curve.axhline(last["best_per_poll_loss"], **each)
        log_axis(curve, "x", 0.9, 1.1 * float(partitions["k"].max()))
        curve.set_title("total loss against k segments", **small)
        clean(curve, xlabel="segments k", ylabel="total [nats]")
        figure.legend(loc="outside lower center", ncols=4, columnspacing=1.4)
    return figure


def alphas(quantiles: pd.DataFrame, posterior: pd.DataFrame) -> Figure:
    """Draw how the switching rate's posterior evolves, and what it is at the end.

    `quantiles` have `time_s`, `mean`, `quantile_0.05`, `quantile_0.5` and `quantile_0.95`; `posterior` has `alpha` and
    `weight`.
    """
    rows = quantiles.iloc[:: max(1, len(quantiles) // STRETCHES)]
    low, median, high = (rows[f"quantile_{level}"] for level in ("0.05", "0.5", "0.95"))
    with sheet(7.4, 2.9, 1, 2, width_ratios=(2, 1)) as (figure, [time, end]):
        time.fill_between(rows["time_s"], low, high, color=PALE, linewidth=0, step="post", label="5 to 95 %")
        time.step(rows["time_s"], median, color=BLUE, linewidth=1.2, where="post", label="median")
        time.plot(rows["time_s"], rows["mean"], "--", color=INK, linewidth=1.0, label="mean")
        time.set_yscale("log")
        time.legend(loc="best")
        clean(time, xlabel="time [s]", ylabel="switching rate α")
        end.plot(posterior["alpha"], posterior["weight"], ".-", color=BLUE, markersize=3, linewidth=0.8)
        end.set_xscale("log")
        end.set_ylim(bottom=0)
        clean(end, xlabel="switching rate α", ylabel="weight at the end")
    return figure
