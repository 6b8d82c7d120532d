"""The page of `lpsm replay --report`: losses, weights, hindsight and switching rate of one replay, totals of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures.replay import thinned
from experiments.quantities import Quantity
from experiments.report.html import Chart, Page, Table
from experiments.report.html_charts import axis, figure, line, numbers, thin
from experiments.study.replay import Details

__all__ = ["replay_page"]

POINTS = 400  # of a line; of more polls, means over stretches or every k-th
COLUMNS = (
    Quantity("replay", "replay"),
    Quantity("requests", "requests", 0),
    Quantity("polls", "polls", 0),
    Quantity("mean_sleep_ms", "mean sleep [ms]", 0),
    Quantity("mixture_loss", "mixture loss [nats]"),
    Quantity("polling_loss", "polling loss [nats]"),
    Quantity("best_expert_loss", "best fixed expert [nats]"),
    Quantity("best_expert_ms", "its time [ms]", 0),
    Quantity("best_per_poll_loss", "best of each poll [nats]"),
)
STATEMENTS = (
    Quantity("statement", "statement"),
    Quantity("measured", "measured", 4, style="g"),
    Quantity("bound", "bound", 4, style="g"),
    Quantity("verdict", "verdict"),
)
AGAINST = (
    ("polling_loss", "at its own sleep"),
    ("mixture_loss", "mixture"),
    ("best_per_poll_loss", "best of each poll"),
)
NOTES = (
    "The mixture loss (2.8) is what the bounds speak of; the polling loss (2.34) is at the time actually slept.",
    "Hindsight: the best fixed expert over the whole replay, the best expert of each poll, the best k segments.",
)


def replay_page(
    rows: Sequence[Mapping[str, Any]], shown: str, found: Details, *, command: str, manifest: Mapping[str, Any]
) -> Page:
    """Lay out a replay.

    Parameters
    ----------
    rows : sequence of mappings
        A row a replay (`summary.csv`).
    shown : str
        The replay that the pictures are of, with its `found` details.
    command : str
        The command line that makes it again.
    manifest : mapping
        ``configuration`` and ``versions`` of the result.
    """
    experts = [str(name).removeprefix("loss_") for name in found.polls.columns if str(name).startswith("loss_")]
    charts = [
        _losses(found.polls, experts), _weights(found.polls, experts), _regret(found.regrets),
        _segments(found.partitions, found.regrets), _alphas(found.alphas), _posterior(found.posterior),
    ]  # fmt: skip
    if len(rows) > 1:
        charts.append(_distribution(pd.DataFrame(rows)))
    return Page(
        title="LPSM's learner on real arrivals",
        lead=f"{len(rows)} replay{'s' * (len(rows) > 1)}; the pictures are of {shown}.",
        command=command,
        configuration=manifest["configuration"],
        versions=manifest["versions"],
        tables=[
            Table("summary.csv", "Every replay.", pd.DataFrame(rows), COLUMNS),
            Table("bounds.csv", f"What is proved, on {shown}.", found.bounds, STATEMENTS),
        ],
        charts=charts,
        choices=[(f"expert {name}", f"{name} ms") for name in experts],
        chosen="experts",
        notes=NOTES,
    )


def _stretches(polls: pd.DataFrame) -> str:
    size = -(-len(polls) // POINTS)
    return f"{len(polls)} polls" + (f", drawn as means over {size}." if size > 1 else ".")


def _losses(polls: pd.DataFrame, experts: Sequence[str]) -> Chart:
    rows = thinned(polls.drop(columns=[name for name in polls.columns if polls[name].dtype == object]), POINTS)
    data = [
        line(
            f"{name} ms", rows["time_s"], rows[f"loss_{name}"], place, meta={"choice": f"expert {name}"},
            hovertemplate=f"{name} ms: %{{y:.3g}} nats at %{{x:.1f}} s<extra></extra>",
        )
        for place, name in enumerate(experts)
    ]  # fmt: skip
    for own in data:
        own["line"]["width"] = 1
    for (column, name), dash in zip(AGAINST[:2], ("solid", "dash"), strict=True):
        hover = f"{name}: %{{y:.3g}} nats at %{{x:.1f}} s<extra></extra>"
        data.append(
            line(
                f"algorithm, {name}", rows["time_s"], rows[column], 0, hovertemplate=hover,
                line={"color": "#000000", "width": 2.5, "dash": dash},
            )
        )  # fmt: skip
    chart = figure(data, height=480, xaxis=axis("time [s]"), yaxis=axis("loss a poll [nats]", type="log"))
    return Chart("losses", "What each expert loses", _stretches(polls), chart)


def _weights(polls: pd.DataFrame, experts: Sequence[str]) -> Chart:
    columns = [f"weight_{name}" for name in experts]
    rows = thinned(polls[["time_s", *columns]], POINTS)
    trace = {
        "type": "heatmap", "x": numbers(rows["time_s"]), "y": [f"{name} ms" for name in experts],
        "z": [numbers(rows[column]) for column in columns], "colorscale": "Blues", "reversescale": True, "zmin": 0,
        "colorbar": {"title": {"text": "weight"}, "thickness": 12},
        "hovertemplate": "%{y}: weight %{z:.3f} at %{x:.1f} s<extra></extra>",
    }  # fmt: skip
    chart = figure([trace], xaxis=axis("time [s]"), yaxis=axis("polling time of the expert"))
    return Chart("weights", "Whom the learner trusts", _stretches(polls), chart)


def _regret(regrets: pd.DataFrame) -> Chart:
    rows = regrets.iloc[thin(len(regrets), POINTS)]
    data = [
        line(name, rows["time_s"], rows[column] - rows["best_expert_loss"], place,
             hovertemplate=f"{name}: %{{y:.4g}} nats at %{{x:.1f}} s<extra></extra>")
        for place, (column, name) in enumerate(AGAINST)
    ]  # fmt: skip
    chart = figure(data, xaxis=axis("time [s]"), yaxis=axis("cumulative loss over the best fixed expert's [nats]"))
    caption = "Below zero: better than the expert that turned out best."
    return Chart("regret", "Against the best fixed expert", caption, chart)


def _segments(partitions: pd.DataFrame, regrets: pd.DataFrame) -> Chart:
    last = regrets.iloc[-1]
    ends = [float(partitions["k"].min()), float(partitions["k"].max())]
    hover = "%{x} segments: %{y:.4g} nats<extra></extra>"
    data = [line("best k segments", partitions["k"], partitions["loss"], 0, mode="lines+markers", hovertemplate=hover)]
    for place, (column, name) in enumerate(AGAINST, 1):
        data.append(
            line(name, ends, [last[column]] * 2, place, hovertemplate=f"{name}: %{{y:.4g}} nats<extra></extra>")
        )
    chart = figure(data, xaxis=axis("segments k", type="log"), yaxis=axis("total loss [nats]"))
    caption = "The least loss of a sequence of k segments, each with an expert of its own, chosen in hindsight."
    return Chart("segments", "Against k segments", caption, chart)


def _alphas(quantiles: pd.DataFrame) -> Chart:
    rows = quantiles.iloc[thin(len(quantiles), POINTS)]
    low = line("5 %", rows["time_s"], rows["quantile_0.05"], 7, showlegend=False)
    high = line(
        "5 to 95 %", rows["time_s"], rows["quantile_0.95"], 7, fill="tonexty", fillcolor="rgba(127,127,127,0.25)"
    )
    for own in (low, high):
        own["line"] = {"color": "#7F7F7F", "width": 0.5, "shape": "hv"}
    data = [
        low,
        high,
        line("median", rows["time_s"], rows["quantile_0.5"], 0),
        line("mean", rows["time_s"], rows["mean"], 1),
    ]
    chart = figure(data, hovermode="x unified", xaxis=axis("time [s]"), yaxis=axis("switching rate α", type="log"))
    return Chart(
        "alphas", "How often the best expert changes, as learned", "The posterior of the switching rate.", chart
    )


def _posterior(posterior: pd.DataFrame) -> Chart:
    hover = "α = %{x:.3g}: weight %{y:.3g}<extra></extra>"
    data = [line("weight", posterior["alpha"], posterior["weight"], 0, mode="lines+markers", hovertemplate=hover)]
    chart = figure(data, xaxis=axis("switching rate α", type="log"), yaxis=axis("weight", rangemode="tozero"))
    return Chart("posterior", "The switching rate at the end", "Learn-alpha's weights over its grid.", chart)


def _distribution(summary: pd.DataFrame) -> Chart:
    data = []
    for place, (column, name) in enumerate((("polling_regret", "at its own sleep"), ("mixture_regret", "mixture"))):
        values = np.sort(summary[column].to_numpy(dtype=float))
        rows = thin(len(values), POINTS)
        share = np.arange(1, len(values) + 1) / len(values)
        data.append(
            line(name, values[rows], share[rows], place, line={"shape": "hv", "width": 2},
                 hovertemplate=f"{name}: %{{y:.3p}} of replays lose at most %{{x:.3g}}<extra></extra>")
        )  # fmt: skip
    chart = figure(
        data,
        xaxis=axis("regret a poll against the best fixed expert [nats]"),
        yaxis=axis("share of replays", range=[0, 1.02]),
    )
    return Chart("regrets", "Over all replays", "The share of replays with at most so much regret.", chart)
