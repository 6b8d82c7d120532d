"""Trials of what holds with high probability on independent examples: both sides, the risks exactly."""

import numpy as np

from experiments.papers import proved
from lpsm import synthetic_streams as streams
from lpsm.bounds import risk
from tests.oracles.bound_trials import run, upper


def flipped_run(rng, n):
    """sop on the uniform sphere with labels flipped at a known rate, and the exact risk of each hypothesis."""
    d, rate = int(rng.integers(2, 4)), rng.choice((0.0, 0.02))
    stream = streams.uniform_sphere(n, d, rng)
    y = np.where(rng.random(n) < rate, -stream.y, stream.y)
    U = run("sop", stream.X, y, rng, a=1.0).stored
    A, e, weights = np.eye(d), np.zeros(d), [np.zeros(d)]
    for t in np.flatnonzero(U):
        A, e = A + np.outer(stream.X[t], stream.X[t]), e + y[t] * stream.X[t]
        weights.append(np.linalg.solve(A, e))
    weights, starts = np.array(weights), np.concatenate([[0], np.flatnonzero(U) + 1])
    norms = np.linalg.norm(weights[1:], axis=1)
    angles = np.concatenate([[np.pi / 2], np.arccos(np.clip(weights[1:] @ stream.target / norms, -1, 1))])
    return stream.X, y, U, weights, starts, rate + (1 - 2 * rate) * angles / np.pi


def average_risks(rng):
    """R average risk"""
    n, delta = int(rng.integers(100, 400)), 0.05
    _, _, U, _, starts, risks = flipped_run(rng, n)
    held = np.diff(np.append(starts, n))
    yield upper(average_risks, held @ risks[: len(held)] / n, risk.average_risk(int(U.sum()), n, delta), 1.0)


def selected_risks(rng):
    """R (6)"""
    n, delta = 4000, 0.05
    X, y, U, weights, starts, risks = flipped_run(rng, n)
    used = starts < n
    chosen = proved.penalised_hypothesis(weights[used], starts[used], X, y, delta)
    yield upper(selected_risks, risks[chosen], proved.selected_risk(int(U.sum()), n, delta), 1.0)


PROBABLE = (average_risks, selected_risks)  # may fail, seldom
