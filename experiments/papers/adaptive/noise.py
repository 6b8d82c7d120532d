"""The low-noise condition of Cavallanti et al. 2010, section 4, in its two forms, and the hard margin.

What it models: instances in the plane whose abs(f*(x)) = abs(u.x) has P(abs(f*) < eps) = eps^alpha, so that
Assumption 1 holds with c = 1, and others with a hard margin.  The equivalent form bounds P(f* f < 0) by a power of the
regret of f.  It is held with the constant that follows from c (`disagreement_cap`), on half-planes turned away from the
target and on the f that are hardest for it, those wrong exactly where abs(f*) is below a level.
What it leaves out: learning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.claims import Beside, Claim, Record
from experiments.papers.predicates import at_least, each, reaching
from experiments.papers.proved.low_noise import disagreement_cap
from experiments.papers.registry import Experiment, Rows, Setup
from lpsm.randomness import WORKLOAD, generator
from lpsm.synthetic_streams import linear_noise

__all__ = ["EXPERIMENTS"]

LAWS = ((0.5, 0.0), (1.0, 0.0), (2.0, 0.0), (4.0, 0.0), (1.0, 0.5))  # exponent and hard margin
ANGLES = tuple(np.pi * 2.0 ** np.arange(-7.0, 0.0))
LEVELS = tuple(2.0 ** np.arange(-5.0, 0.1))
EIGHTH = LEVELS[2]


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    return {
        f"alpha {alpha:g} margin {margin:g} run {run}": {
            "alpha": alpha, "margin": margin, "run": run, "seed": setup.seed, "instances": setup.pick(10_000, 200_000),
        }
        for alpha, margin in LAWS
        for run in range(setup.pick(2, 10))
    }  # fmt: skip


def classifiers(task: dict[str, Any]) -> Rows:
    """Disagreement with the Bayes rule, and regret, of half-planes and of what errs on small margins alone."""
    rng = generator(task["seed"], WORKLOAD, task["run"])
    stream = linear_noise(task["instances"], 2, task["alpha"], rng, margin=task["margin"])
    best = stream.X @ stream.target
    across = stream.X @ np.array([-stream.target[1], stream.target[0]])
    wrong = {("turned by", angle): best * (np.cos(angle) * best + np.sin(angle) * across) < 0.0 for angle in ANGLES}
    levels = [task["margin"] + (1.0 - task["margin"]) * level for level in LEVELS]
    wrong |= {("wrong below", level): np.abs(best) < level for level in levels}
    named = {name: task[name] for name in ("alpha", "margin", "run")}
    return {
        "classifiers": [
            {**named, "kind": kind, "at": float(at), "disagreement": float(errs.mean()),
             "regret": float(np.mean(np.abs(best) * errs)), "least": float(np.abs(best).min())}
            for (kind, at), errs in wrong.items()
        ]
    }  # fmt: skip


def _soft(record: Record) -> pd.DataFrame:
    own: pd.DataFrame = record["classifiers"][record["classifiers"]["margin"] == 0.0]
    return own


def _assumption(record: Record) -> dict[str, Any]:
    """P(abs(f*) < eps) over eps^alpha, a number a run, by alpha and eps."""
    rows = _soft(record)
    rows = rows[rows["kind"] == "wrong below"]
    ratio = rows["disagreement"] / rows["at"] ** rows["alpha"]
    groups = ratio.groupby([rows["alpha"], rows["at"]])
    return {f"alpha {alpha:g} eps {at:g}:": own for (alpha, at), own in groups}


def _equivalent(record: Record) -> dict[str, Any]:
    """P(f* f < 0) over what the equivalent form allows, every f and run, by alpha."""
    rows, found = _soft(record), {}
    for alpha, own in rows[rows["regret"] > 0.0].groupby("alpha"):
        exponent = float(str(alpha))
        cap = [disagreement_cap(regret, alpha=exponent, c=1.0) for regret in own["regret"]]
        same = (own["disagreement"] / own["regret"] ** (exponent / (1.0 + exponent))).max()
        found[f"alpha {alpha:g}:"] = Beside(own["disagreement"] / cap, f"(it takes a constant of {same:.2f})")
    return found


def _hard(record: Record) -> dict[str, Any]:
    """Least abs(f*) over 1/(2c), for the least c with P(f* f < 0) <= c R(f) for every f tried, a number a run."""
    rows = record["classifiers"]
    rows = rows[(rows["margin"] > 0.0) & (rows["regret"] > 0.0)]
    c = (rows["disagreement"] / rows["regret"]).groupby(rows["run"]).max()
    least = rows.groupby("run")["least"].first()
    return {"": Beside(least * 2.0 * c, f"times 1/(2c) (c = {c.mean():.2f}, least abs(f*) {least.mean():.2f})")}


def _without(record: Record) -> dict[str, Any]:
    """P(f* f < 0)/R(f) where f is wrong below 1/8, over that where it is wrong everywhere, a number a run, by alpha."""
    rows = _soft(record)
    rows = rows[rows["kind"] == "wrong below"].assign(ratio=rows["disagreement"] / rows["regret"])
    table = rows.pivot(index=["alpha", "run"], columns="at", values="ratio")
    return {f"alpha {alpha:g}:": own for alpha, own in (table[EIGHTH] / table[1.0]).groupby("alpha")}


def _draw(record: Record) -> Mapping[str, Figure]:
    rows = record["classifiers"][record["classifiers"]["regret"] > 0.0]
    frames = []
    for (alpha, margin), own in rows.groupby(["alpha", "margin"]):
        means = own.groupby(["kind", "at"])[["regret", "disagreement"]].mean().reset_index()
        title = f"alpha {alpha:g}" if not margin else f"hard margin {margin:g}"
        frame = pd.DataFrame({"group": means["kind"], "x": means["regret"], "y": means["disagreement"]})
        frames.append((title, frame))
    return {"noise": panels(frames, x="regret", y="P(f* f < 0)", x_scale="log", y_scale="log")}


EXPERIMENTS = (
    Experiment(
        name="adaptive/noise-condition",
        claim="the low-noise condition, its equivalent form, and the hard margin",
        time="10 s",
        sweep=_sweep,
        run=classifiers,
        claims=(
            Claim(
                "Assumption 1: P(abs(f*) < eps) <= c eps^alpha",
                reaching(_assumption, high=1.0),
                "c eps^alpha",
                "over eps^alpha, c being 1; every eps",
            ),
            Claim(
                "the equivalent form: P(f* f < 0) <= c R(f)^(alpha/(1+alpha)) for all f",
                each(_equivalent, high=1.0),
                "equivalent",
                "over the cap with the constant that follows from c = 1, which is not 1; every f and run",
            ),
            Claim(
                "where alpha is infinite, abs(f*) >= 1/(2c)",
                at_least(_hard, 1.0),
                "1/(2c)",
                "c: the least with P(f* f < 0) <= c R(f) for every f tried",
            ),
            Claim(
                "without a hard margin no c is enough for that",
                at_least(_without, 7.0),
                reason="P(f* f < 0)/R(f) for an f wrong below 1/8, over that for one wrong everywhere; it is to be 8",
            ),
        ),
        figures=_draw,
    ),
)
