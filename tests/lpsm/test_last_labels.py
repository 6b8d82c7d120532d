"""Labels bought lately as features: their definition, what they cannot know, late labels, and states."""

from __future__ import annotations

import numpy as np
import pytest

import lpsm
from lpsm.samplers import LastLabels, Sampler, make

TIMES = (2.0, 9.0)
RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 3))
Y = np.where(np.arange(120) // 12 % 2 == 0, 1, -1)


def fresh(rate=0.3):
    return LastLabels(make("kept-rate", 5, rate=rate, step=0.1), TIMES)


def means(bought, t):
    """The features of round t by their definition, of the labels that are known, by round."""
    weights = {s: np.exp(-(t - s) / np.array(TIMES)) for s in bought}
    return sum((bought[s] * w for s, w in weights.items()), np.zeros(2)) / (1.0 + sum(weights.values(), np.zeros(2)))


def test_the_sampler_sees_the_means_of_the_labels_that_it_bought_before():
    series, plain, bought = fresh(), make("kept-rate", 5, rate=0.3, step=0.1), {}
    for t in range(120):
        row = np.append(X[t], means(bought, t))
        one, other = series.decide(X[t]), plain.decide(row)
        assert one.margin == pytest.approx(other.margin, abs=1e-12)
        assert one.query == other.query
        if one.query:
            assert series.learn(X[t], int(Y[t])) == plain.learn(row, int(Y[t]))
            bought[t] = Y[t]
    assert 30 < len(bought) < 40


def test_a_label_that_was_not_bought_changes_nothing_and_a_run_is_its_rounds():
    first, second = fresh(), fresh()
    log = first.run(X, Y)
    other = second.run(X, np.where(log.queried, Y, -Y))
    assert np.array_equal(log.prediction, other.prediction)
    assert np.array_equal(log.margin, other.margin)
    assert (log.prediction == Y)[60:].mean() > 0.7 > (make("ss", 3).run(X, Y).prediction == Y)[60:].mean()


def test_a_late_label_counts_by_the_age_of_its_round_and_a_saved_state_goes_on_alike():
    series, bought, owed = fresh(1.0), {}, []
    for t in range(40):
        if t == 20:
            series = lpsm.from_state(lpsm.to_json(series.state()))
        decision = series.decide(X[t])
        np.testing.assert_allclose(series._seen, means(bought, t), atol=1e-12)
        owed += [decision.ticket] if decision.query else []
        if t % 5 == 4:
            for ticket in reversed(owed):
                series.learn(ticket, int(Y[ticket - 1]))
                bought[ticket - 1] = Y[ticket - 1]
            owed = []
    assert len(bought) > 10


def test_it_says_what_it_is():
    assert repr(fresh()).startswith("LastLabels(Sampler('kept-rate', n_features=5")
    assert isinstance(fresh().sampler, Sampler)
