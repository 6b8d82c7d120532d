"""Labels that weigh 1/probability estimate, without bias and within their bound, the errors over all of a stream."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

from lpsm import samplers
from lpsm.bounds import risk
from lpsm.samplers import core
from tests.oracles.samplers import importance

ANGLES = np.linspace(0.0, pi, 9)[:-1]
HYPOTHESES = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])  # the first makes the labels
RISKS = ANGLES / pi * 0.8 + 0.1  # a tenth of the labels is flipped


def weighted_errors(seed, rounds, floor):
    """Estimates of the hypotheses' errors from bought labels alone, and how many were bought."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 2))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.where(X[:, 0] >= 0, 1, -1) * np.where(rng.random(rounds) < 0.1, -1, 1)
    sampler = samplers.make("iwal", 2, c_0=1e-5, floor=floor, rng=rng)
    total, bought = np.zeros(len(HYPOTHESES)), 0
    for x, label in zip(X, y, strict=True):
        decision = sampler.decide(x)
        assert decision.probability >= floor
        if decision.query:
            sampler.learn(x, int(label))
            total += (np.where(HYPOTHESES @ x >= 0, 1, -1) != label) / decision.probability
            bought += 1
    plain = (np.where(X @ HYPOTHESES.T >= 0, 1, -1) != y[:, None]).mean(axis=0)
    return total / rounds, bought / rounds, plain


def test_weighted_errors_are_unbiased_and_within_their_bound():
    rounds, floor, delta = 120, 0.3, 0.05
    trials = [weighted_errors(seed, rounds, floor) for seed in range(60)]
    assert np.mean([rate for _, rate, _ in trials]) < 0.8  # something was left out
    errors, plains = (np.array([trial[at] for trial in trials]) for at in (0, 2))
    standard_error = errors.std(axis=0, ddof=1) / sqrt(len(trials))
    assert (np.abs(errors.mean(axis=0) - RISKS) < 4.0 * standard_error).all()
    bound = risk.importance_weighted_deviation(rounds, len(RISKS), floor, delta)
    worst = np.abs(errors - RISKS).max(axis=1)
    assert (worst <= bound / 2).mean() >= 1 - delta  # half of it, as the docstring proves
    assert worst.max() > bound / 10
    on_stream = np.array([np.abs(found - plain).max() for found, plain in zip(errors, plains, strict=True)])
    assert (on_stream <= bound / 2).mean() >= 1 - delta


@pytest.mark.parametrize("c_0", [1e-6, 1e-4, 1e-2])
def test_the_probability_solves_the_equation_of_the_paper(c_0):
    counts, rule = np.zeros(core.N_COUNTS, dtype=np.int64), samplers.ImportanceWeighted(c_0=c_0, floor=1e-12)
    below_one = 0
    for t in (1, 2, 5, 60, 4000):
        counts[core.ROUND] = t
        for p, reach in ((0.0, 1.0), (1e-4, 0.7), (0.05, 0.3), (-1.5, 0.2), (3.0, 0.01)):
            found = rule.chance(rule.numbers(), counts, np.zeros(8), p, reach, p, 1.0, 0.0)
            assert found == pytest.approx(importance(t, abs(p) / (reach * t), c_0, 1e-12), rel=1e-9)
            below_one += found < 1.0
    assert below_one >= 4
