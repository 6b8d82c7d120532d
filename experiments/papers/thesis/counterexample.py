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
from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment, Rows
from experiments.papers.predicates import at_most, each
from experiments.papers.proved.version_space import counterexample
from experiments.papers.thesis.sphere_runs import hypotheses
from lpsm import samplers

__all__ = ["EXPERIMENTS"]


def three_points(task: dict[str, Any]) -> Rows:
    """Run dkm on the three points of section 4.3."""
    example = counterexample()
    sampler = samplers.make("dkm", 2, R=task["R"], s_1=2.0**-0.5)
    log_ = sampler.run(example.X, example.y)
    V = hypotheses(example.X, example.y, True)
    points = pd.DataFrame(example.X, columns=["x", "y"]).assign(label=example.y.astype(float))
    points = points.assign(queried=log_.queried, stored=log_.stored, v_x=V[:, 0], v_y=V[:, 1])
    return {"points": points.assign(final_prediction=sampler.predict(example.X)).to_dict("records")}  # type: ignore[dict-item]


def _last_hypothesis(record: Record) -> dict[str, Any]:
    last = record["points"].iloc[-1]
    off = float(np.hypot(last["v_x"] + 0.5, last["v_y"] - 3**0.5 / 2))
    return {"off by": Noted(off, f"at ({last['v_x']:.6f}, {last['v_y']:.6f})")}


def _all_bought(record: Record) -> dict[str, Any]:
    return {name: record["points"][name].astype(float) for name in ("queried", "stored")}


def _leaves(record: Record) -> dict[str, Any]:
    """Whether each point is predicted as it should be that was to be left: x_0 wrongly, the others rightly."""
    points = record["points"]
    right = points["final_prediction"] == points["label"]
    wrong = ", ".join(f"x_{i}" for i in np.flatnonzero(~right))
    return {"": Noted((right == [False, True, True]).astype(float), f"wrong on {wrong or 'none'}")}


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
        name="thesis/counterexample-4-3",
        subject="dkm's hypothesis can leave the version space",
        time="1 s",
        sweep=lambda setup: {"three points": {"R": 100}},
        run=three_points,
        claims=(
            Claim(
                "all three points are bought, and the second and third are mistakes", each(_all_bought, 1), "labelled"
            ),
            Claim("the last hypothesis", at_most(_last_hypothesis, 1e-12), "(-1/2, sqrt(3)/2)", "rounding"),
            Claim(
                "it misclassifies x_0, on which it was trained, and only that", each(_leaves, 1), "misclassifies x_0"
            ),
        ),
        figures=_draw_points,
    ),
)
