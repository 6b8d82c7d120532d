"""Section 4.3 of Monteleoni 2006: dkm's hypothesis can leave the version space.

What it models: the three points of the counterexample, exactly.
Source: Theorem 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import lines
from experiments.papers.registry import Claim, Experiment, Record, Rows, Verdict
from experiments.papers.thesis.active import hypotheses
from lpsm import samplers
from lpsm.bounds.version_space import counterexample

__all__ = ["EXPERIMENTS"]


def three_points(task: dict[str, Any]) -> Rows:
    """Run dkm on the three points of section 4.3."""
    example = counterexample()
    sampler = samplers.make("dkm", 2, R=task["R"], s_1=2.0**-0.5)
    log_ = sampler.run(example.X, example.y)
    V = hypotheses(example.X, example.y, True)
    return {
        "points": [
            {
                "x": float(example.X[i, 0]), "y": float(example.X[i, 1]), "label": float(example.y[i]),
                "queried": bool(log_.queried[i]), "stored": bool(log_.stored[i]),
                "v_x": float(V[i, 0]), "v_y": float(V[i, 1]),
                "final_prediction": int(sampler.predict(example.X[i : i + 1])[0]),
            }
            for i in range(3)
        ]
    }  # fmt: skip


def _last_hypothesis(record: Record) -> Verdict:
    last = record["points"].iloc[-1]
    off = float(np.hypot(last["v_x"] + 0.5, last["v_y"] - 3**0.5 / 2))
    return Verdict(f"({last['v_x']:.6f}, {last['v_y']:.6f}), off by {off:.0e}", off < 1e-12)


def _all_bought(record: Record) -> Verdict:
    points = record["points"]
    return Verdict(f"queried {int(points['queried'].sum())}, stored {int(points['stored'].sum())} of 3",
                   bool(points["queried"].all() and points["stored"].all()))  # fmt: skip


def _leaves(record: Record) -> Verdict:
    wrong = record["points"]["final_prediction"] != record["points"]["label"]
    return Verdict(
        f"wrong on {', '.join(f'x_{i}' for i in np.flatnonzero(wrong))}", wrong.tolist() == [True, False, False]
    )


def _draw_points(record: Record) -> Mapping[str, Figure]:
    points = record["points"]
    rows = [
        {"group": f"v_{i + 1}", "x": x, "y": y, "reference": i < 2}
        for i, row in enumerate(points.to_dict("records"))
        for x, y in ((0.0, 0.0), (row["v_x"], row["v_y"]))
    ]
    rows += [
        {"group": "examples", "x": row["x"], "y": row["y"], "reference": False} for row in points.to_dict("records")
    ]
    return {"counterexample": lines(pd.DataFrame(rows), x="first coordinate", y="second coordinate")}


EXPERIMENTS = (
    Experiment(
        name="thesis/counterexample-4-3", claim="dkm's hypothesis can leave the version space", time="1 s",
        sweep=lambda setup: {"three points": {"R": 100}}, run=three_points,
        claims=(
            Claim(
                statement="all three points are bought, and the second and third are mistakes", printed="labelled",
                check=_all_bought, tolerance="none",
            ),
            Claim(
                statement="the last hypothesis", printed="(-1/2, sqrt(3)/2)", check=_last_hypothesis,
                tolerance="1e-12, rounding",
            ),
            Claim(
                statement="it misclassifies x_0, on which it was trained, and only that", printed="misclassifies x_0",
                check=_leaves, tolerance="none",
            ),
        ),
        figures=_draw_points,
    ),
)  # fmt: skip
