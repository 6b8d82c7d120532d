"""Runs of chapters 3 and 4 of Monteleoni 2006: samplers on the unit sphere, whose target is known.

What it models: a separable stream on the unit sphere; the hypothesis after every update is
rebuilt from what was stored, so that its angle to the target is exact; on uniform
instances the error is angle/pi.  Under laws only lambda-similar to uniform
(Definition 2) it is estimated on 20,000 fresh instances.  The patience R is one that works: the
proofs' own is for confidence.  What it leaves out: noise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.papers.proved.first_order import perceptron_lemma_sine
from experiments.papers.registry import Rows, Setup
from lpsm import samplers, synthetic_streams

__all__ = ["MODIFIED", "hypotheses", "tasks", "track"]

PATIENCE = 32
GOALS = (0.32, 0.16, 0.08, 0.04, 0.02, 0.01, 0.005)
MODIFIED = ("modified-perceptron", "dkm")
TEST = 20_000


def _parameters(key: str, d: int) -> dict[str, Any]:
    if key.startswith("dkm"):
        return {"R": PATIENCE, "s_1": d**-0.5}
    return {"b": 0.5} if key == "perceptron-ss" else {"rate": 0.1} if key == "random-perceptron" else {}


def tasks(setup: Setup, keys: tuple[str, ...], dims: tuple[int, ...], lambdas: tuple[float, ...], rounds: int) -> Any:
    """Return a task for each sampler, dimension, similarity and run."""
    return {
        f"{key} d={d} lambda={similarity:g} run {run}": {
            "key": key,
            "d": d,
            "similarity": similarity,
            "seed": setup.seed,
            "run": run,
            "rounds": rounds,
        }
        for key in keys
        for d in dims
        for similarity in lambdas
        for run in range(setup.pick(2, 20))
    }


def track(task: dict[str, Any]) -> Rows:
    """Run one sampler; a row for every update that is on a geometric grid, and Lemma 3 at every update."""
    d, key = task["d"], task["key"]
    world, coins = (
        np.random.default_rng(np.random.SeedSequence(task["seed"], spawn_key=(stream, task["run"])))
        for stream in (0, 3)
    )
    if task["similarity"] == 1.0:
        stream = synthetic_streams.uniform_sphere(task["rounds"], d, world)
        test = None
    else:
        target = world.standard_normal(d)
        axis = target + 0.0  # crowded about the target's own boundary, the harder of the two
        stream = synthetic_streams.similar_to_uniform(task["rounds"], d, task["similarity"], world, axis, target)
        test = synthetic_streams.similar_to_uniform(TEST, d, task["similarity"], world, axis, target)
    log_ = samplers.make(key, d, rng=coins, **_parameters(key, d)).run(stream.X, stream.y)
    at = np.flatnonzero(log_.stored)
    V = hypotheses(stream.X[at], stream.y[at], key in MODIFIED)
    norms = np.linalg.norm(V, axis=1)
    cosine = np.clip(V @ stream.target / norms, -1.0, 1.0)
    angles = np.arccos(cosine)
    if test is None:
        errors = angles / np.pi
    labels, mistakes = np.cumsum(log_.queried), np.cumsum(log_.prediction != stream.y)
    grid = np.unique(np.minimum(np.geomspace(1, len(at), 60).astype(int), len(at)) - 1)
    if test is not None:
        errors = np.full(len(at), np.nan)
        errors[grid] = [float(np.mean(np.where(test.X @ V[i] >= 0, 1.0, -1.0) != test.y)) for i in grid]
    common = {"key": key, "d": d, "similarity": task["similarity"], "run": task["run"]}
    rows = [
        {**common, **_counts(int(i), at, labels, mistakes), "error": float(errors[i]), "angle": float(angles[i])}
        for i in grid
    ]
    turned = np.flatnonzero(np.diff(angles) <= 0)  # theta_{t+1} <= theta_t
    slack = np.array([np.sin(angles[i]) - perceptron_lemma_sine(float(norms[i])) for i in turned])
    lemma = {"turns": len(turned), "below_lemma": int((slack < -1e-12).sum())}
    totals = {"labels": int(labels[-1]), "updates": len(at), "mistakes": int(mistakes[-1])}
    run = {**common, **totals, **lemma, "least_slack": float(slack.min()) if len(slack) else 0.0}
    goals = [
        {**common, "goal": goal, **_reached(goal, at, errors, labels, mistakes)}
        for goal in GOALS
        if test is None or goal >= 0.01
    ]
    return {"curve": rows, "runs": [run], "goals": goals}


def hypotheses(X: Any, y: Any, modified: bool) -> Any:
    """The hypothesis after each stored example; the first of the modified update is y x itself."""
    if not modified:
        return np.cumsum(X * y[:, None], axis=0)
    V = np.empty_like(X)
    V[0] = y[0] * X[0]
    for i in range(1, len(X)):
        V[i] = V[i - 1] - 2.0 * (V[i - 1] @ X[i]) * X[i]
    return V


def _reached(goal: float, at: Any, errors: Any, labels: Any, mistakes: Any) -> dict[str, Any]:
    """Labels, mistakes and updates when the error first was at most `goal`; -1 if it never was."""
    with np.errstate(invalid="ignore"):
        where = np.flatnonzero(errors <= goal)
    if not len(where):
        return {"labels": -1, "mistakes": -1, "updates": -1, "rounds": -1}
    return _counts(int(where[0]), at, labels, mistakes)


def _counts(update: int, at: Any, labels: Any, mistakes: Any) -> dict[str, Any]:
    """What it had cost when an update was made."""
    place = at[update]
    spent = {"labels": int(labels[place]), "mistakes": int(mistakes[place])}
    return {**spent, "updates": update + 1, "rounds": int(place) + 1}
