"""Figure 1 of Cesa-Bianchi 2007: where the second-order Perceptron has an advantage.

What it models: section 3.1.  The figure's set is a long flat cloud in the plane whose separating line runs along its
length, so that the normal is an eigenvector of the smallest eigenvalue.  Beside it stands what the section says takes
the advantage away: instances spread evenly over the sphere in far more dimensions than there are mistakes.  The bound
of Theorem 1 is evaluated at the separating vector scaled to margin 1, so that no hinge loss is left; for a -> infinity
it is the classical Perceptron's.
The bound holds for every comparator: both sides of the comparison over a take the one of least norm that has the
margins of the separating vector on the mistakes.
What it leaves out: other comparators.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import inf, sqrt
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import Claim, Noted, point
from experiments.papers.kit import Experiment, Setup
from experiments.papers.predicates import below, each
from experiments.papers.proved import second_order_limit
from lpsm import samplers
from lpsm.bounds.second_order import log_determinant, second_order_mistakes
from lpsm.randomness import WORKLOAD, generator
from lpsm.synthetic_streams import separable

__all__ = ["EXPERIMENTS"]

A = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
MARGIN, WIDTH, LENGTH = 0.01, 0.1, 1.0  # of the cloud: |x_2| in [margin, width], |x_1| up to length
WIDE = 1000  # dimensions of the even cloud
SOURCES = {"flat": "flat cloud", "even": "even cloud, 1000 dimensions"}
FIG_1 = Experiment("rls/fig-1", "a separable set on which the second-order Perceptron has an advantage", "1 min")


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    return {
        f"{source} run {run}": {"source": source, "run": run, "seed": setup.seed, "rounds": setup.pick(300, rounds)}
        for source, rounds in (("flat", 2000), ("even", 500))
        for run in range(setup.pick(3, 20))
    }


def _draw(source: str, run: int, seed: int, rounds: int) -> tuple[Any, Any, Any, float]:
    """Return instances, labels, the unit vector that separates them, and its margin."""
    rng = generator(seed, WORKLOAD, run)
    if source == "even":
        stream = separable(rounds, WIDE, MARGIN, rng)
        return stream.X, stream.y, stream.target, float(np.min(stream.y * (stream.X @ stream.target)))
    y = np.where(rng.random(rounds) < 0.5, 1.0, -1.0)
    X = np.column_stack([rng.uniform(-LENGTH, LENGTH, rounds), y * rng.uniform(MARGIN, WIDTH, rounds)])
    return X, y, np.array([0.0, 1.0]), float(np.min(y * X[:, 1]))


@FIG_1.runs(_sweep)
def run_once(source: str, run: int, seed: int, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Count mistakes of both Perceptrons, and evaluate the bound on the mistakes made at a = 1."""
    X, y, target, margin = _draw(source, run, seed, rounds)
    u, named = target / margin, {"source": source, "replication": run, "rounds": len(y)}
    wrong = samplers.make("perceptron", X.shape[1]).run(X, y).prediction != y
    counts: list[dict[str, Any]] = [{**named, "key": "perceptron", "a": inf, "mistakes": int(wrong.sum())}]
    bounds: list[dict[str, Any]] = []
    for a in A:
        missed = X[samplers.make("sop", X.shape[1], a=a).run(X, y).prediction != y]
        counts.append({**named, "key": "sop", "a": a, "mistakes": len(missed), "bound": _bound(u, missed, a)})
        if a == 1.0:
            inside = np.linalg.lstsq(missed, missed @ u, rcond=None)[0]  # the same margins on the mistakes, least norm
            bounds = [{**named, "a": value, "bound": _bound(inside, missed, value)} for value in (*A, inf)]
    return {"counts": counts, "bounds": bounds}


def _bound(u: Any, missed: Any, a: float) -> float:
    """Return the bound of Theorem 1 without hinge loss, or its limit for an infinite a."""
    norm = float(np.linalg.norm(u))
    if a == inf:
        return sqrt(second_order_limit(comparator_norm=norm, trace=float(np.sum(missed * missed))))
    return second_order_mistakes(
        hinge=0.0, quadratic=float(np.sum((missed @ u) ** 2)), comparator_norm=norm,
        log_det=log_determinant(missed, a), a=a,
    )  # fmt: skip


@FIG_1.claim(
    "on such a set the second-order Perceptron makes fewer mistakes than the Perceptron", below, "has an advantage",
    "a = 1, paired over runs",
)  # fmt: skip
def _mistakes_less_perceptron(counts: pd.DataFrame) -> Noted:
    own = counts[(counts["source"] == "flat") & counts["a"].isin((1.0, inf))]
    made = own.pivot(index="replication", columns="key", values="mistakes")
    words = f"({made['sop'].mean():.1f} against {made['perceptron'].mean():.1f} of {own['rounds'].iloc[0]})"
    return Noted(made["sop"] - made["perceptron"], words)


def _over_limit(bounds: pd.DataFrame, source: str) -> Noted:
    """Least bound over finite a over that of a -> infinity: a number a run."""
    table = bounds[bounds["source"] == source].pivot(index="replication", columns="a", values="bound")
    finite = table[list(A)]
    places = ", ".join(f"{a:g}" for a in sorted(set(finite.idxmin(axis=1))))
    return Noted(finite.min(axis=1) / table[inf], f"(at a = {places})")


LEAST = "least bound over the limit for a -> infinity, both at the comparator of least norm, in every run"
FIG_1.claims += [
    Claim("the bound of Theorem 1 there reaches its minimum at a finite a",
          each(partial(_over_limit, source="flat"), high=0.99, open=True), "a < infinity", LEAST),
    Claim("it loses this with a nearly uniform spectrum and many more dimensions than mistakes",
          each(partial(_over_limit, source="even"), 0.95), "loses its advantage", LEAST),
]  # fmt: skip


@FIG_1.claim(
    "the mistakes are at most the bound of Theorem 1", each, "Theorem 1",
    "mistakes over the bound, every run, source and a", high=1.0,
)  # fmt: skip
def _over_bound(counts: pd.DataFrame) -> pd.Series:
    own = counts[counts["key"] == "sop"]
    return own["mistakes"] / own["bound"]


@FIG_1.picture("fig-1", x="regulariser a", y="mistakes", x_scale="log", y_scale="log", share_y=False)
def _curves(counts: pd.DataFrame, bounds: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    both = ((counts, "mistakes", "2nd order", "Perceptron"), (bounds, "bound", "", "a -> infinity"))
    for source, title in SOURCES.items():
        finite, level = [], []
        for table, column, at_a, at_infinity in both:
            for a, own in table[table["source"] == source].groupby("a")[column]:
                if a == inf:
                    name = f"{column}, {at_infinity}"
                    level += [{"group": name, "x": x, "y": own.mean(), "half_width": np.nan} for x in A]
                else:
                    finite.append(point(", ".join(filter(None, (column, at_a))), a, own))
        yield title, pd.DataFrame([*finite, *level])


EXPERIMENTS = (FIG_1,)
