"""A parameter found on the way: the sampler itself without a choice, fair estimates, its cost; labels as features."""

import pickle
from functools import partial
from types import SimpleNamespace

import numpy as np
from numpy.random import default_rng
from scipy import sparse

import lpsm
from bench import tuned as bench
from lpsm.samplers import LastLabels, Sampler, TunedSampler, make
from tests.lpsm.frozen.streams import a_stream, assert_same, by_rounds, of
from tests.oracles.samplers import TIMES, means
from tests.tables import cases_of, near


@cases_of("key parameter value", """
"perceptron-ss", "b", 0.4 ; "sop-ss", "b", 0.4 ; "ssmd", "K", 0.3 ; "dkm", "R", 4 ; "lasec-ss", "a", 0.7
""")  # fmt: skip
def test_a_grid_of_one_is_the_sampler_itself_draw_for_draw(key, parameter, value):
    X, y = a_stream(0, 200, 4)
    tuned = TunedSampler(key, 4, parameter, [value], rng=3).run(X, y)
    assert_same(of(tuned), of(make(key, 4, rng=3, **{parameter: value}).run(X, y)), 1e-9)


def test_predictions_are_votes_under_the_present_weights_and_a_question_may_be_forgotten():
    X, y = a_stream(0, 200, 4)
    s = TunedSampler("sop-label-efficient", 4, "C", [0.05, 0.3, 2.0], rng=default_rng(4))
    s.run(X[:100], y[:100])
    votes = np.array([one.predict(X) for one in s.samplers])
    assert s.margins(X) == near(np.clip(s.weights @ votes, -1, 1))
    np.testing.assert_array_equal(s.predict(X), np.where(s.weights @ votes >= 0, 1, -1))
    asked = next(d for d in map(s.decide, X[100:]) if d.query)
    weights = s.weights
    s.forget(asked.ticket)
    assert s.open_tickets == []
    assert not any(one.open_tickets for one in s.samplers)
    assert not np.array_equal(s.weights, weights)  # asking was charged


def test_the_estimated_costs_are_unbiased():
    X, y = a_stream(1, 60, 4)
    grid, price = [0.05, 0.3, 2.0], 0.25
    warm = TunedSampler("sop-label-efficient", 4, "C", grid, label_price=price, rng=default_rng(4))
    warm.run(X[:-1], y[:-1])
    x, label = X[-1], int(-y[-1])  # so that some copy is wrong
    coins = (np.arange(2000) + 0.5) / 2000
    handed = []
    for u in coins:
        s = pickle.loads(pickle.dumps(warm))
        s._rng, s._squares[0] = SimpleNamespace(random=partial(float, u)), -1.0  # at which the rate is 1
        if s.decide(x).query:
            s.learn(x, label)
        handed.append(s._ensemble.voters.costs)
    predictions = np.array([sampler.predict(x[None])[0] for sampler in warm.samplers])
    margins = np.array([sampler.margins(x[None])[0] for sampler in warm.samplers])
    chances = np.array(grid) / (np.array(grid) + np.abs(margins))
    expected = (predictions != label) + price * chances
    assert (predictions != label).any()
    assert np.mean(handed, axis=0) == near(expected, abs=2e-3)


def test_the_tuned_cost_is_near_the_best_in_hindsight_and_below_the_median_of_the_grid():
    for row in bench.rows(n_seeds=2, streams=("flipped", "drift"), keys=("sop-label-efficient",)):
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


# -- labels bought lately as features: their definition, what they cannot know, late labels, and states
X = default_rng(3).normal(size=(120, 3))
Y = np.where(np.arange(120) // 12 % 2 == 0, 1, -1)


def inner(rate):
    return make("kept-rate", 5, rate=rate, step=0.1)


@cases_of("rate late", "0.3, 1 ; 1.0, 5")
def test_the_sampler_sees_the_means_of_the_labels_that_it_bought_before_by_the_age_of_their_rounds(rate, late):
    series, plain, bought, owed = LastLabels(inner(rate), TIMES), inner(rate), {}, []
    for t in range(120):
        if t == 20:
            series = lpsm.from_state(lpsm.to_json(series.state()))
        one, other = series.decide(X[t]), plain.decide(np.append(X[t], means(bought, t)))
        assert (one.margin, one.query) == (near(other.margin, abs=1e-12), other.query)
        owed += [one.ticket] if one.query else []
        if t % late == late - 1:
            for ticket in reversed(owed):
                label = bought[ticket - 1] = int(Y[ticket - 1])
                assert series.learn(ticket, label) == plain.learn(ticket, label)
            owed = []
    assert 30 < len(bought) < 40 or rate == 1.0
    assert repr(series).startswith("LastLabels(Sampler('kept-rate', n_features=5")
    assert isinstance(series.sampler, Sampler)


def test_a_label_that_was_not_bought_changes_nothing_and_a_run_is_its_rounds():
    first, second = (LastLabels(inner(0.3), TIMES) for _ in range(2))
    log = first.run(X, Y)
    margin, prediction, *_ = by_rounds(second, X, np.where(log.queried, Y, -Y), by_ticket=True)
    assert np.array_equal(log.prediction, prediction)
    assert np.array_equal(log.margin, margin)
    assert (log.prediction == Y)[60:].mean() > 0.7 > (make("ss", 3).run(X, Y).prediction == Y)[60:].mean()


def test_a_copy_that_is_read_by_itself_sees_the_arrays_that_have_grown_since():
    X, y = a_stream(3, 60, 9)
    narrow, wide = sparse.csr_matrix(X * (np.arange(9) < 2)), sparse.csr_matrix(X)
    tuned = TunedSampler("perceptron-ss", 9, "b", [1.0, 50.0], kernel="rbf", normalize=False, rng=0)
    tuned.run(narrow[:20], y[:20])
    tuned = pickle.loads(pickle.dumps(tuned))
    copy = tuned.samplers[1]
    copy.margins(narrow[:5])
    tuned.run(wide[20:], y[20:])  # of which rows of two values make no room
    expected = Sampler.from_state(copy.state()).margins(narrow)
    np.testing.assert_array_equal(copy.margins(narrow), expected)
