"""A sampler's run over a stream in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from experiments.report.text import number, table
from experiments.study.label import Problem

__all__ = ["bounds_text", "label_text", "mapping_text"]


def mapping_text(asked: Sequence[Problem]) -> str:
    """Return which class is +1 and which -1."""
    if len(asked) == 1:
        return f"label +1 is {asked[0].positive}, label -1 is {asked[0].negative}"
    return f"{len(asked)} classes, label +1 is each of them in turn, label -1 is the rest"


def label_text(classes: pd.DataFrame, summary: dict[str, Any], asked: Sequence[Problem], name: str) -> str:
    """Return the result as text: a line a class, and the whole."""
    header = ["class", "positive", "labels asked", "rate", "stored", "mistakes", "accuracy", "precision", "recall", "F"]
    rows: list[dict[str, Any]] = [{str(key): value for key, value in row.items()} for row in classes.to_dict("records")]
    lines = [
        [
            str(row["class"]), str(row["positive"]), str(row["queries"]), f"{100 * row['label_rate']:.1f} %",
            str(row["stored"]), str(row["mistakes"]), number(row["accuracy"], 4), number(row["precision"], 3),
            number(row["recall"], 3), number(row["f_measure"], 3),
        ]
        for row in rows
    ]  # fmt: skip
    text = f"{name}: {summary['rounds']} rounds, {summary['features']} features; {mapping_text(asked)}\n\n"
    text += table(header, lines)
    if len(asked) > 1:
        what = "the largest margin is right" if summary["exclusive"] else "a yes or no is right"
        text += (
            f"\n\nmean F {number(summary['f_measure'], 4)}, {what} in {100 * summary['accuracy']:.2f} %; "
            f"labels asked for: {100 * summary['label_rate']:.1f} % of all yes and no, "
            f"something about {100 * summary['rounds_asked']:.1f} % of the instances"
        )
    return text


def bounds_text(held: pd.DataFrame) -> str:
    """Return what is proved about the sampler as text, a line a statement."""
    header = ["class", "statement", "measured", "bound", "verdict"]
    rows: list[dict[str, Any]] = [{str(key): value for key, value in row.items()} for row in held.to_dict("records")]
    lines = [
        [str(row["class"]), row["statement"], f"{row['measured']:.6g}", number(row["bound"], 2), row["verdict"]]
        for row in rows
    ]
    return "Held against its theorem:\n\n" + table(header, lines)
