"""What learners did, in words: a sampler's run over a stream, a replay of traffic, and what is proved about both."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from experiments.quantities import LABELS, REPLAYS, STATEMENTS, Row
from experiments.report.text import number, of_frame, table
from experiments.study.label import Problem

LISTED = 20  # replays in the printed table


def mapping_text(asked: Sequence[Problem], *, multiclass: bool) -> str:
    """Return which class is +1 and which -1; none is where the class itself is asked for."""
    if multiclass:
        return f"{len(asked)} classes"
    if len(asked) == 1:
        return f"label +1 is {asked[0].positive}, label -1 is {asked[0].negative}"
    return f"{len(asked)} classes, label +1 is each of them in turn, label -1 is the rest"


def label_text(classes: pd.DataFrame, summary: Row, asked: Sequence[Problem], name: str, *, multiclass: bool) -> str:
    """Return the result of a sampler as text: a line a class, and the whole."""
    text = f"{name}: {summary['rounds']} rounds, {summary['features']} features; "
    text += f"{mapping_text(asked, multiclass=multiclass)}\n\n"
    text += of_frame(LABELS, classes)
    mean = f"\n\nmean F {number(summary['f_measure'], '.4f')}, "
    right, asked_of = 100 * summary["accuracy"], 100 * summary["rounds_asked"]
    if multiclass:
        text += f"{mean}the class is right in {right:.2f} %; it was asked for in {asked_of:.1f} % of the instances"
    elif len(asked) > 1:
        what = "the largest margin is right" if summary["exclusive"] else "a yes or no is right"
        asked_share = 100 * summary["label_rate"]
        text += f"{mean}{what} in {right:.2f} %; labels asked for: {asked_share:.1f} % of all yes and no, "
        text += f"one of them at least of {asked_of:.1f} % of the instances"
    return text


def bounds_text(held: pd.DataFrame) -> str:
    """Return what is proved about the sampler as text, a line a statement."""
    return f"Held against its theorem:\n\n{of_frame(STATEMENTS, held)}"


def replay_text(rows: Sequence[Row], shown: str, n_polls: int, bounds: pd.DataFrame) -> str:
    """Return the tables of `lpsm replay`; losses in nats, regrets in nats a poll against the best fixed expert."""
    frame = pd.DataFrame(rows)
    text = of_frame(REPLAYS, frame[:LISTED])
    if len(rows) > LISTED:
        text += f"\n.. and {len(rows) - LISTED} more in summary.csv"
    if len(rows) > 1:
        lines = []
        for name, column in (("mixture loss (2.8)", "mixture_regret"), ("polling loss (2.34)", "polling_regret")):
            quantiles = [f"{value:.2e}" for value in np.quantile(frame[column], (0.05, 0.5, 0.95))]
            lines.append([name, *quantiles, f"{100 * np.mean(frame[column] < 0):.0f} %"])
        text += "\n\n" + table(["regret a poll, nats", "5 %", "median", "95 %", "share below 0"], lines)
    return f"{text}\n\nThe statements on {shown}, {n_polls} polls:\n{of_frame(STATEMENTS, bounds)}"
