"""Labels that weigh 1/probability estimate, without bias and within their bound, the errors over all of a stream."""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np
import pytest

from lpsm import samplers
from lpsm.bounds import risk

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
    return total / rounds, bought / rounds


def test_weighted_errors_are_unbiased_and_within_their_bound():
    rounds, floor, delta = 120, 0.3, 0.05
    trials = [weighted_errors(seed, rounds, floor) for seed in range(60)]
    assert np.mean([rate for _, rate in trials]) < 0.8  # something was left out
    errors = np.array([found for found, _ in trials])
    standard_error = errors.std(axis=0, ddof=1) / sqrt(len(trials))
    assert (np.abs(errors.mean(axis=0) - RISKS) < 4.0 * standard_error).all()
    bound = risk.importance_weighted_deviation(rounds, len(RISKS), floor, delta)
    worst = np.abs(errors - RISKS).max(axis=1)
    assert (worst <= bound).mean() >= 1 - delta
    assert worst.max() > bound / 10


def test_the_bound_by_hand_and_what_it_refuses():
    assert risk.importance_weighted_deviation(200, 4, 0.5, 0.1) == pytest.approx(2 * sqrt(2 * log(80) / 200))
    with pytest.raises(ValueError, match=r"least_probability must lie in \(0, 1\], got 0"):
        risk.importance_weighted_deviation(200, 4, 0.0, 0.1)
    with pytest.raises(ValueError, match="n_hypotheses must be at least 1, got 0"):
        risk.importance_weighted_deviation(200, 0, 0.5, 0.1)


def test_a_heavy_label_never_carries_the_margin_beyond_one():
    sampler = samplers.make("iwal", 3, c_0=1e-7, floor=0.001, eta=5.0, rng=np.random.default_rng(2))
    rng = np.random.default_rng(0)
    for _ in range(300):
        x = rng.normal(size=3)
        if (decision := sampler.decide(x)).query:
            y = 1 if x[0] > 0 else -1
            sampler.learn(x, y)
            assert y * sampler.margins([x])[0] <= max(1.0, y * decision.margin) + 1e-12


def test_it_needs_a_learner_that_takes_weighted_labels():
    with pytest.raises(ValueError, match="ImportanceWeighted needs AdaGrad"):
        samplers.Sampler(samplers.Perceptron(), samplers.ImportanceWeighted(), n_features=2)
    with pytest.raises(ValueError, match="neither a filter nor one that weighs labels"):
        samplers.TunedSampler("iwal", 2, "c_0", [0.1])
    with pytest.raises(ValueError, match=r"floor must lie in \(0, 1\], got 0"):
        samplers.make("iwal", 2, floor=0.0)
