"""Pictures of a replay: losses, weights, competitive analysis and the switching rate (the thesis' figures 2-9 to 2-11).

Long replays are drawn as means over stretches of polls, so that a picture has no more
points than it can show; the beginning is drawn poll by poll beside them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.figures.style import DARK, DPI, LIGHT, MIDDLE, clean, styled

__all__ = ["alphas", "apart", "competition", "losses", "regret_distribution", "thinned", "weights"]

STRETCHES = 240  # points a line across a panel
EARLY = 250  # polls of the panels on the beginning
_STYLES = ("-", "--", "-.", ":")


def thinned(frame: pd.DataFrame, stretches: int = STRETCHES) -> pd.DataFrame:
    """Return means over at most `stretches` stretches of equally many rows."""
    size = max(1, -(-len(frame) // stretches))
    return frame.groupby(np.arange(len(frame)) // size).mean()


def _experts(polls: pd.DataFrame) -> list[str]:
    return [name.removeprefix("loss_") for name in polls.columns if name.startswith("loss_")]


def _greys(count: int) -> NDArray[np.float64]:
    return np.linspace(0.2, 0.75, max(count, 2))


def losses(polls: pd.DataFrame) -> Figure:
    """Draw the loss of every expert and of the algorithm over time, whole and at the beginning (figure 2-9).

    Parameters
    ----------
    polls : DataFrame
        `time_s`, `mixture_loss`, `polling_loss`, and `loss_T` of every expert T.
    """
    experts = _experts(polls)
    with styled():
        figure = Figure(figsize=(7.4, 3.6), dpi=DPI, layout="constrained")
        whole, early = figure.subplots(1, 2, sharey=True)
        for axes, rows in ((whole, thinned(polls)), (early, polls.head(EARLY))):
            for index, (name, grey) in enumerate(zip(experts, _greys(len(experts)), strict=False)):
                axes.plot(
                    rows["time_s"], rows[f"loss_{name}"], color=f"{grey:.2f}", linewidth=0.8,
                    linestyle=_STYLES[index % 4], label=f"{name} ms" if axes is whole else None,
                )  # fmt: skip
            every = max(1, len(rows) // 40)
            axes.plot(
                rows["time_s"], rows["polling_loss"], "o-", color="black", mfc="white", markersize=3, markevery=every,
                linewidth=1.0, label="algorithm, at its own sleep (2.34)" if axes is whole else None,
            )  # fmt: skip
            axes.plot(
                rows["time_s"], rows["mixture_loss"], "x", color="black", markersize=3.5, markevery=(every // 2, every),
                label="algorithm, mixture (2.8)" if axes is whole else None,
            )  # fmt: skip
            axes.set_yscale("log")
            axes.set_xlabel("time [s]")
            clean(axes, "both")
        whole.set_ylabel("loss a poll [nats]")
        size = -(-len(polls) // STRETCHES)
        whole.set_title(f"{len(polls)} polls" + (f", means of {size}" if size > 1 else ""))
        early.set_title(f"first {min(EARLY, len(polls))} polls")
        figure.legend(loc="outside lower center", ncols=6, columnspacing=1.2, handlelength=2.4)
    return figure


def weights(polls: pd.DataFrame) -> Figure:
    """Draw the weights of the experts over time, as a map and, at the beginning, as lines (figure 2-10).

    Parameters
    ----------
    polls : DataFrame
        `time_s`, and `weight_T` of every expert T.
    """
    experts = _experts(polls)
    columns = [f"weight_{name}" for name in experts]
    rows = thinned(polls[["time_s", *columns]])
    early = polls.head(EARLY)
    with styled():
        figure = Figure(figsize=(7.4, 3.2), dpi=DPI, layout="constrained")
        map_axes, line_axes = figure.subplots(1, 2)
        top = max(float(polls[columns].to_numpy().max()), 1e-9)
        size = -(-len(polls) // STRETCHES)
        edges = np.concatenate(
            [[0.0], polls["time_s"].to_numpy()[size - 1 : -1 : size], polls["time_s"].to_numpy()[-1:]]
        )
        image = map_axes.pcolormesh(
            edges, np.arange(len(experts) + 1) - 0.5, rows[columns].to_numpy().T, cmap="Greys", vmin=0, vmax=top,
            rasterized=True,
        )  # fmt: skip
        map_axes.set_yticks(range(len(experts)), experts)
        map_axes.set(xlabel="time [s]", ylabel="polling time of the expert [ms]")
        map_axes.set_title(f"weights, {len(polls)} polls")
        figure.colorbar(image, ax=map_axes, shrink=0.8, label="weight")
        for index, (column, grey) in enumerate(zip(columns, _greys(len(columns)), strict=False)):
            line_axes.plot(
                early["time_s"], early[column], color=f"{grey:.2f}", linestyle=_STYLES[index % 4], linewidth=1.0
            )
        _name_lines(line_axes, [float(early[column].iloc[-1]) for column in columns], experts)
        line_axes.set(xlabel="time [s]", ylabel="weight")
        line_axes.set_title(f"first {len(early)} polls")
        clean(line_axes)
    return figure


def _name_lines(axes: Axes, ends: list[float], names: list[str]) -> None:
    """Write each line's name beside its end, moved apart where lines end together, and lead from one to the other."""
    low, high = axes.get_ylim()
    order = np.argsort(ends, kind="stable")
    for index, place in zip(order, apart(np.asarray(ends)[order], 0.055 * (high - low), low, high), strict=True):
        axes.annotate(
            names[index], (1.0, ends[index]), xycoords=("axes fraction", "data"), xytext=(1.06, float(place)),
            textcoords=("axes fraction", "data"), fontsize=7, va="center", annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 0,
            },
        )  # fmt: skip


def apart(places: NDArray[np.float64], step: float, low: float, high: float) -> NDArray[np.float64]:
    """Move places, in ascending order, at least a step apart and as little as possible (in squares), then into a range.

    >>> apart(np.array([0.0, 0.0, 5.0]), 1.0, -9.0, 9.0)
    array([-0.5,  0.5,  5. ])
    """
    blocks: list[tuple[float, int]] = []  # mean and size, of places less what their rank takes: these may meet
    for rank, place in enumerate(places):
        blocks.append((float(place) - rank * step, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (mean, size), (before, n_before) = blocks.pop(), blocks.pop()
            blocks.append(((before * n_before + mean * size) / (n_before + size), n_before + size))
    ranks = step * np.arange(len(places), dtype=np.float64)
    means = np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
    moved: NDArray[np.float64] = np.clip(means, low, max(low, high - float(ranks[-1]))) + ranks
    return moved


def competition(regrets: pd.DataFrame, partitions: pd.DataFrame) -> Figure:
    """Draw the algorithm against the best fixed expert, the best expert of each poll and k-partitions (figure 2-11).

    Parameters
    ----------
    regrets : DataFrame
        `time_s` and the cumulative `mixture_loss`, `polling_loss`, `best_expert_loss`, `best_per_poll_loss`.
    partitions : DataFrame
        `k` and `loss`, the least loss of k segments with an expert each.
    """
    rows = regrets.iloc[:: max(1, len(regrets) // STRETCHES)]
    with styled():
        figure = Figure(figsize=(7.4, 3.0), dpi=DPI, layout="constrained")
        fixed, current, curve = figure.subplots(1, 3)
        for axes, base, title in (
            (fixed, "best_expert_loss", "loss over best fixed expert"),
            (current, "best_per_poll_loss", "loss over best expert of each poll"),
        ):
            for column, style, grey, name in (
                ("polling_loss", "-", DARK, "at its own sleep (2.34)"), ("mixture_loss", "--", DARK, "mixture (2.8)"),
            ):  # fmt: skip
                axes.plot(
                    rows["time_s"], rows[column] - rows[base], style, color=grey, linewidth=1.2,
                    label=name if axes is fixed else None,
                )  # fmt: skip
            axes.axhline(0, color="black", linewidth=0.8)
            axes.set_title(title, fontsize=8)
            axes.set_xlabel("time [s]")
            clean(axes)
        fixed.set_ylabel("cumulative [nats]")
        curve.plot(
            partitions["k"],
            partitions["loss"],
            "o-",
            color=MIDDLE,
            markersize=2,
            linewidth=1.0,
            label="best k segments",
        )
        last = regrets.iloc[-1]
        curve.axhline(last["polling_loss"], color=DARK, linewidth=1.2)
        curve.axhline(last["mixture_loss"], color=DARK, linewidth=1.2, linestyle="--")
        curve.axhline(
            last["best_per_poll_loss"], color="black", linewidth=1.0, linestyle=":", label="best expert of each poll"
        )
        curve.set_xscale("log")
        curve.set_title("total loss against k segments", fontsize=8)
        curve.set_xlabel("segments k")
        clean(curve)
        figure.legend(loc="outside lower center", ncols=4, columnspacing=1.4)
    return figure


def alphas(quantiles: pd.DataFrame, posterior: pd.DataFrame) -> Figure:
    """Draw how the switching rate's posterior evolves, and what it is at the end.

    Parameters
    ----------
    quantiles : DataFrame
        `time_s`, `mean`, `quantile_0.05`, `quantile_0.5`, `quantile_0.95`.
    posterior : DataFrame
        `alpha`, `weight`.
    """
    rows = quantiles.iloc[:: max(1, len(quantiles) // STRETCHES)]
    with styled():
        figure = Figure(figsize=(7.4, 2.9), dpi=DPI, layout="constrained")
        time, end = figure.subplots(1, 2, width_ratios=(2, 1))
        time.fill_between(
            rows["time_s"], rows["quantile_0.05"], rows["quantile_0.95"], color=LIGHT, linewidth=0, step="post",
            label="5 to 95 %",
        )  # fmt: skip
        time.step(rows["time_s"], rows["quantile_0.5"], color=DARK, linewidth=1.2, where="post", label="median")
        time.plot(rows["time_s"], rows["mean"], "--", color="black", linewidth=1.0, label="mean")
        time.set_yscale("log")
        time.set(xlabel="time [s]", ylabel="switching rate α")
        time.legend(loc="best")
        clean(time)
        end.plot(posterior["alpha"], posterior["weight"], ".-", color=DARK, markersize=3, linewidth=0.8)
        end.set_xscale("log")
        end.set(xlabel="switching rate α", ylabel="weight at the end")
        end.set_ylim(bottom=0)
        clean(end)
    return figure


def regret_distribution(summary: pd.DataFrame) -> Figure:
    """Draw the distribution over replays of the regret a poll against the best fixed expert.

    Parameters
    ----------
    summary : DataFrame
        One row a replay: `mixture_regret`, `polling_regret`, nats a poll.
    """
    with styled():
        figure = Figure(figsize=(4.6, 3.0), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        share = np.arange(1, len(summary) + 1) / len(summary)
        for column, style, name in (
            ("polling_regret", "-", "at its own sleep (2.34)"), ("mixture_regret", "--", "mixture (2.8)"),
        ):  # fmt: skip
            axes.step(np.sort(summary[column]), share, style, where="post", color=DARK, linewidth=1.2, label=name)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xscale("symlog", linthresh=1e-4)
        axes.set(xlabel="regret a poll against the best fixed expert [nats]", ylabel="share of replays", ylim=(0, 1.02))
        axes.legend(loc="best")
        clean(axes)
    return figure
