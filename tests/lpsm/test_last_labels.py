"""Labels bought lately as features: their definition, what they cannot know, late labels, and states."""

from __future__ import annotations

import numpy as np
import pytest

import lpsm
from lpsm.samplers import LastLabels, Sampler, make
from tests.lpsm.frozen.streams import by_rounds

TIMES = (2.0, 9.0)
X = np.random.default_rng(3).normal(size=(120, 3))
Y = np.where(np.arange(120) // 12 % 2 == 0, 1, -1)


def inner(rate):
    return make("kept-rate", 5, rate=rate, step=0.1)


def means(bought, t):
    """The features of round t by their definition, of the labels that are known, by round."""
    weights = {s: np.exp(-(t - s) / np.array(TIMES)) for s in bought}
    return sum((bought[s] * w for s, w in weights.items()), np.zeros(2)) / (1.0 + sum(weights.values(), np.zeros(2)))


@pytest.mark.parametrize(("rate", "late"), [(0.3, 1), (1.0, 5)])
def test_the_sampler_sees_the_means_of_the_labels_that_it_bought_before_by_the_age_of_their_rounds(rate, late):
    series, plain, bought, owed = LastLabels(inner(rate), TIMES), inner(rate), {}, []
    for t in range(120):
        if t == 20:
            series = lpsm.from_state(lpsm.to_json(series.state()))
        one, other = series.decide(X[t]), plain.decide(np.append(X[t], means(bought, t)))
        assert (one.margin, one.query) == (pytest.approx(other.margin, abs=1e-12), other.query)
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
