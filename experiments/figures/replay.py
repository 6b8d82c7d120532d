"""Pictures of a replay: losses, weights, competitive analysis and the switching rate (the thesis' figures 2-9 to 2-11).

Long replays are drawn as means over stretches of polls, so that a picture has no more
points than it can show; the beginning is drawn poll by poll beside them.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import LogNorm, to_hex
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.figures.style import INK, VERMILLION, clean, key, log_axis, sheet

STRETCHES = 240  # points a line across a panel
EARLY = 250  # polls of the panels on the beginning
_ALGORITHM = {"polling_loss": "at the sleep it took", "mixture_loss": "mixture loss"}
"""The two losses of the algorithm, and what they are called."""


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
    whole = f"{len(polls)} polls" + (f", means of {size}" if size > 1 else "")
    parts = {whole: thinned(polls), f"first {min(EARLY, len(polls))} polls": polls.head(EARLY)}
    with sheet(8.9, 3.4, 1, 2, sharey=True) as (figure, grid):
        for axes, (title, rows) in zip(grid, parts.items(), strict=True):
            every = max(1, len(rows) // 40)
            for name, colour in _colours(polls).items():
                axes.plot(rows["time_s"], rows[f"loss_{name}"], color=colour, lw=0.9, label=f"{name} ms")
            for (column, words), form, colour in zip(_ALGORITHM.items(), ("o-", "x"), (VERMILLION, INK), strict=True):
                how = {"color": colour, "mfc": "white", "ms": 3.0, "lw": 1.0, "label": f"algorithm, {words}"}
                axes.plot(rows["time_s"], rows[column], form, markevery=every, **how)
            axes.set_yscale("log")
            clean(axes, "both", title=title, xlabel="time [s]")
        grid[0].set_ylabel("loss a poll [nats]")
        key(figure)
    return figure


def weights(polls: pd.DataFrame) -> Figure:
    """Draw the weights of the experts over time, as a map and, at the beginning, as lines (figure 2-10).

    `polls` are those of `losses`, with `weight_T` of every expert T.
    """
    colours = _colours(polls)
    columns = [f"weight_{name}" for name in colours]
    early, times = polls.head(EARLY), polls["time_s"].to_numpy()
    with sheet(8.2, 3.2, 1, 2) as (figure, [map_axes, line_axes]):
        top = max(float(polls[columns].to_numpy().max()), 1e-9)
        size = -(-len(polls) // STRETCHES)
        edges = np.concatenate([[0.0], times[size - 1 : -1 : size], times[-1:]])
        values, norm = thinned(polls[columns]).to_numpy().T, LogNorm(top / 1e3, top, clip=True)
        rows = np.arange(len(colours) + 1) - 0.5
        image = map_axes.pcolormesh(edges, rows, values, cmap="viridis", norm=norm, rasterized=True)
        map_axes.set_yticks(range(len(colours)), list(colours))
        map_axes.set(xlabel="time [s]", ylabel="polling time of the expert [ms]", title=f"weights, {len(polls)} polls")
        figure.colorbar(image, ax=map_axes, shrink=0.8, label="weight (log scale)")
        for name, colour in colours.items():
            line_axes.plot(early["time_s"], early[f"weight_{name}"], color=colour, lw=1.1, label=f"{name} ms")
        clean(line_axes, xlabel="time [s]", ylabel="weight", title=f"first {len(early)} polls")
        key(figure)
    return figure


def _long(rows: pd.DataFrame, x: str, names: Mapping[str, str]) -> pd.DataFrame:
    """Return some columns, under the names that they have in a picture, as rows of `panels`."""
    return rows.rename(columns={x: "x", **names}).melt("x", [*names.values()], "group", "y")


def competition(regrets: pd.DataFrame, partitions: pd.DataFrame) -> Figure:
    """Draw the algorithm against the best fixed expert, the best expert of each poll and k-partitions (figure 2-11).

    `regrets` have `time_s` and the cumulative `mixture_loss`, `polling_loss`, `best_expert_loss`, `best_per_poll_loss`;
    `partitions` have `k` and `loss`, the least loss of k segments with an expert each.
    """
    rows = regrets.iloc[:: max(1, len(regrets) // STRETCHES)]
    names = {**_ALGORITHM, "best_per_poll_loss": "best expert of each poll"}
    levels = partitions[["k"]].merge(regrets.tail(1)[[*names]], "cross")
    segments = _long(partitions.merge(levels, on="k"), "k", {**names, "loss": "best k segments"})
    bases = {"best_expert_loss": "best fixed expert", "best_per_poll_loss": "best expert of each poll"}
    over = [(f"loss over {of}", rows[[*_ALGORITHM]].sub(rows[base], axis=0)) for base, of in bases.items()]
    frames = [(title, _long(frame.assign(x=rows["time_s"]), "x", _ALGORITHM)) for title, frame in over]
    figure = panels(
        [*frames, ("total loss against k segments", segments)], x="time [s]", y="cumulative [nats]", share_y=False
    )
    log_axis(figure.axes[2], "x", 0.9, 1.1 * float(partitions["k"].max()))
    figure.axes[2].set_xlabel("segments k")
    return figure


def alphas(quantiles: pd.DataFrame, posterior: pd.DataFrame) -> Figure:
    """Draw how the switching rate's posterior evolves, and what it is at the end.

    `quantiles` have `time_s`, `mean`, `quantile_0.05`, `quantile_0.5` and `quantile_0.95`; `posterior` has `alpha` and
    `weight`.
    """
    names = {"quantile_0.95": "95 %", "mean": "mean", "quantile_0.5": "median", "quantile_0.05": "5 %"}
    time = _long(quantiles.iloc[:: max(1, len(quantiles) // STRETCHES)], "time_s", names)
    end = posterior.rename(columns={"weight": "x", "alpha": "y"}).assign(group="weight at the end", points=True)
    figure = panels([("", time), ("", end)], x="time [s]", y="switching rate α", y_scale="log")
    figure.axes[1].set_xlabel("weight at the end")
    return figure
