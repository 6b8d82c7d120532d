"""A parameter found on the way: the sampler itself when there is no choice, fair estimates, and what it costs."""

import pickle
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from bench import tuned as bench
from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.samplers import TunedSampler
from tests.lpsm.frozen.streams import assert_same, of


def stream(seed=0, n=200, d=4):
    made = streams.separable(n, d, 0.1, np.random.default_rng(seed))
    return made.X, made.y


@pytest.mark.parametrize(
    ("key", "parameter", "value"),
    [("perceptron-ss", "b", 0.4), ("sop-ss", "b", 0.4), ("ssmd", "K", 0.3), ("dkm", "R", 4), ("lasec-ss", "a", 0.7)],
)
def test_a_grid_of_one_is_the_sampler_itself_draw_for_draw(key, parameter, value):
    X, y = stream()
    tuned = TunedSampler(key, 4, parameter, [value], rng=3).run(X, y)
    assert_same(of(tuned), of(samplers.make(key, 4, rng=3, **{parameter: value}).run(X, y)), 1e-9)


def test_predictions_are_votes_under_the_present_weights_and_a_question_may_be_forgotten():
    X, y = stream()
    s = TunedSampler("sop-label-efficient", 4, "C", [0.05, 0.3, 2.0], rng=np.random.default_rng(4))
    s.run(X[:100], y[:100])
    votes = np.array([one.predict(X) for one in s.samplers])
    assert s.margins(X) == pytest.approx(np.clip(s.weights @ votes, -1, 1))
    np.testing.assert_array_equal(s.predict(X), np.where(s.weights @ votes >= 0, 1, -1))
    asked = next(d for d in map(s.decide, X[100:]) if d.query)
    weights = s.weights
    s.forget(asked.ticket)
    assert s.open_tickets == []
    assert not any(one.open_tickets for one in s.samplers)
    assert not np.array_equal(s.weights, weights)  # asking was charged


def test_the_estimated_costs_are_unbiased():
    X, y = stream(1, n=60)
    grid, price = [0.05, 0.3, 2.0], 0.25
    warm = TunedSampler("sop-label-efficient", 4, "C", grid, label_price=price, rng=np.random.default_rng(4))
    warm.run(X[:-1], y[:-1])
    x, label = X[-1], int(-y[-1])  # so that some copy is wrong
    coins = (np.arange(2000) + 0.5) / 2000
    handed = []
    for u in coins:
        s = pickle.loads(pickle.dumps(warm))
        s._rng, s._squares[0] = SimpleNamespace(random=partial(float, u)), -1.0  # at which the rate is 1
        if s.decide(x).query:
            s.learn(x, label)
        handed.append(s._grid.costs)
    predictions = np.array([sampler.predict(x[None])[0] for sampler in warm.samplers])
    margins = np.array([sampler.margins(x[None])[0] for sampler in warm.samplers])
    chances = np.array(grid) / (np.array(grid) + np.abs(margins))
    expected = (predictions != label) + price * chances
    assert (predictions != label).any()
    assert np.mean(handed, axis=0) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("n_seeds", [2, pytest.param(10, marks=pytest.mark.long)])
def test_the_tuned_cost_is_near_the_best_in_hindsight_and_below_the_median_of_the_grid(n_seeds):
    for row in bench.rows(n_seeds=n_seeds, streams=("flipped", "drift"), keys=("sop-label-efficient",)):
        assert row["tuned"] < row["median of grid"]
        assert row["tuned"] < 1.3 * row["best in hindsight"]


def test_candidates_are_those_of_the_grid_whole_ones_as_integers():
    s = TunedSampler("dkm", 3, "R", [2.0, 5.0])
    assert repr([one.rule.R for one in s.samplers]) == "[2, 5]"
    s = TunedSampler("ssmd", 3, "K", [0.5, np.inf], a=2.0, mixture="static-expert")
    assert [(one.rule.K, one.learner.a) for one in s.samplers] == [(0.5, 2.0), (np.inf, 2.0)]
    free = TunedSampler("ssmd", 3, "K", [0.5], label_price=0.0)
    assert (s.exploration, free.exploration, free.label_price) == (0.01, 0.0, 0.0)
    s._mixture.update(np.array([1.0, 0.5]))
    assert s.tuned == np.inf
