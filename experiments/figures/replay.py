"""Pictures of a replay: losses, weights, competitive analysis and the switching rate (the thesis' figures 2-9 to 2-11).

Long replays are drawn as means over stretches of polls, so that a picture has no more
points than it can show; the beginning is drawn poll by poll beside them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import LogNorm, to_hex
from matplotlib.figure import Figure

from experiments.figures.labels import name_ends
from experiments.figures.style import BLUE, DPI, INK, PALE, VERMILLION, clean, log_axis, styled

__all__ = ["alphas", "competition", "losses", "regret_distribution", "thinned", "weights"]

STRETCHES = 240  # points a line across a panel
EARLY = 250  # polls of the panels on the beginning


def thinned(frame: pd.DataFrame, stretches: int = STRETCHES) -> pd.DataFrame:
    """Return means over at most `stretches` stretches of equally many rows."""
    size = max(1, -(-len(frame) // stretches))
    return frame.groupby(np.arange(len(frame)) // size).mean()


def _experts(polls: pd.DataFrame) -> list[str]:
    return [name.removeprefix("loss_") for name in polls.columns if name.startswith("loss_")]


def _ordered(names: list[str]) -> dict[str, str]:
    """Return a colour a polling time, from dark (short) to light (long), which grey print keeps in order."""
    return {
        name: to_hex(colormaps["viridis"](place))
        for name, place in zip(names, np.linspace(0, 0.88, len(names)), strict=True)
    }


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
            for name, colour in _ordered(experts).items():
                axes.plot(
                    rows["time_s"], rows[f"loss_{name}"], color=colour, linewidth=0.9,
                    label=f"{name} ms" if axes is whole else None,
                )  # fmt: skip
            every = max(1, len(rows) // 40)
            axes.plot(
                rows["time_s"], rows["polling_loss"], "o-", color=VERMILLION, mfc="white", markersize=3,
                markevery=every, linewidth=1.0, label="algorithm, at the sleep it took" if axes is whole else None,
            )  # fmt: skip
            axes.plot(
                rows["time_s"], rows["mixture_loss"], "x", color=INK, markersize=3.5, markevery=(every // 2, every),
                label="algorithm, mixture loss" if axes is whole else None,
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
        places, shares = np.arange(len(experts) + 1) - 0.5, rows[columns].to_numpy().T
        scale = LogNorm(top / 1e3, top, clip=True)
        image = map_axes.pcolormesh(edges, places, shares, cmap="viridis", norm=scale, rasterized=True)
        map_axes.set_yticks(range(len(experts)), experts)
        map_axes.set(xlabel="time [s]", ylabel="polling time of the expert [ms]")
        map_axes.set_title(f"weights, {len(polls)} polls")
        ticks = [tick for tick in 10.0 ** np.arange(-12, 1) if top / 1e3 <= tick <= top]
        figure.colorbar(image, ax=map_axes, shrink=0.8, label="weight (log scale)", ticks=ticks)
        colours = _ordered(experts)
        for name, colour in colours.items():
            line_axes.plot(early["time_s"], early[f"weight_{name}"], color=colour, linewidth=1.1)
        last = float(early["time_s"].iloc[-1])
        name_ends(line_axes, {name: (last, float(early[f"weight_{name}"].iloc[-1])) for name in experts}, colours)
        line_axes.set(xlabel="time [s]", ylabel="weight")
        line_axes.set_title(f"first {len(early)} polls")
        clean(line_axes)
    return figure


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
            for column, style, colour, name in (
                ("polling_loss", "-", VERMILLION, "at the sleep it took"),
                ("mixture_loss", "--", INK, "mixture loss"),
            ):  # fmt: skip
                axes.plot(
                    rows["time_s"], rows[column] - rows[base], style, color=colour, linewidth=1.2,
                    label=name if axes is fixed else None,
                )  # fmt: skip
            axes.axhline(0, color=INK, linewidth=0.8)
            axes.set_title(title, fontsize=8)
            axes.set_xlabel("time [s]")
            clean(axes)
        fixed.set_ylabel("cumulative [nats]")
        curve.plot(
            partitions["k"],
            partitions["loss"],
            "o-",
            color=BLUE,
            markersize=2,
            linewidth=1.0,
            label="best k segments",
        )
        last = regrets.iloc[-1]
        curve.axhline(last["polling_loss"], color=VERMILLION, linewidth=1.2)
        curve.axhline(last["mixture_loss"], color=INK, linewidth=1.2, linestyle="--")
        curve.axhline(
            last["best_per_poll_loss"], color=INK, linewidth=1.0, linestyle=":", label="best expert of each poll"
        )
        log_axis(curve, "x", 0.9, 1.1 * float(partitions["k"].max()))
        curve.set_title("total loss against k segments", fontsize=8)
        curve.set(xlabel="segments k", ylabel="total [nats]")
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
            rows["time_s"], rows["quantile_0.05"], rows["quantile_0.95"], color=PALE, linewidth=0, step="post",
            label="5 to 95 %",
        )  # fmt: skip
        time.step(rows["time_s"], rows["quantile_0.5"], color=BLUE, linewidth=1.2, where="post", label="median")
        time.plot(rows["time_s"], rows["mean"], "--", color=INK, linewidth=1.0, label="mean")
        time.set_yscale("log")
        time.set(xlabel="time [s]", ylabel="switching rate α")
        time.legend(loc="best")
        clean(time)
        end.plot(posterior["alpha"], posterior["weight"], ".-", color=BLUE, markersize=3, linewidth=0.8)
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
        for column, style, colour, name in (
            ("polling_regret", "-", VERMILLION, "at the sleep it took"),
            ("mixture_regret", "--", INK, "mixture loss"),
        ):  # fmt: skip
            axes.step(np.sort(summary[column]), share, style, where="post", color=colour, linewidth=1.2, label=name)
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_xscale("symlog", linthresh=1e-4)
        axes.set(xlabel="regret a poll against the best fixed expert [nats]", ylabel="share of replays", ylim=(0, 1.02))
        axes.legend(loc="best")
        clean(axes)
    return figure
