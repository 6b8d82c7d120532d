"""Labels that come late: any interleaving of decisions and labels equals its definition, written out here anew."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from lpsm import samplers
from tests.lpsm.test_samplers_oracles import NO_DUAL
from tests.oracles.samplers import Stored

D, T = 4, 30
WORLD = np.random.default_rng(5)
X = WORLD.normal(size=(T, D))
Y = np.where(X @ WORLD.normal(size=D) + 0.5 * WORLD.normal(size=T) >= 0.0, 1, -1)

# key -> parameters, margin from what is stored, probability of asking from (margin, |x|^2, t, N), and what it stores
DEFINITIONS = {
    "rls": ({}, lambda S, x: S.forward(x, 1.0), lambda m, square, t, n: 1.0, True),
    "ridge": ({}, lambda S, x: S.ridge(x, 1.0), lambda m, square, t, n: 1.0, True),
    "sop": ({}, lambda S, x: S.forward(x, 1.0), lambda m, square, t, n: 1.0, False),
    "perceptron": ({}, lambda S, x: S.perceptron(x, 1.0), lambda m, square, t, n: 1.0, False),
    "shifting-perceptron": ({"lambda_": 0.4}, lambda S, x: S.shifting(x, 0.4), lambda m, square, t, n: 1.0, False),
    "lasec": ({"b": 1.3, "c": 20.0}, lambda S, x: S.lasec(x, 1.3, 20.0), lambda m, square, t, n: 1.0, False),
    "ss": ({"K": 0.5}, lambda S, x: S.forward(x, 1.0),
           lambda m, square, t, n: 1.0 if n == 0 or m * m <= square * 0.5 * log(t) / n else 0.0, True),
    "ssmd": ({"K": 0.2}, lambda S, x: S.forward(x, 1.0),
             lambda m, square, t, n: 1.0 if n == 0 or m * m <= square * 0.2 * log(t) / n else 0.0, False),
    "sop-label-efficient": ({"C": 0.3}, lambda S, x: S.forward(x, 1.0),
                            lambda m, square, t, n: 0.3 / (0.3 + abs(m)), False),
    "arow-ss": ({"b": 0.3, "r": 0.7}, lambda S, x: S.arow(x, 0.7, False),
                lambda m, square, t, n: 0.3 / (0.3 + abs(m)), "small margins"),
    "arow-diagonal": ({"r": 0.7}, lambda S, x: S.arow(x, 0.7, True), lambda m, square, t, n: 1.0, "small margins"),
    "adagrad": ({"eta": 0.6}, lambda S, x: S.adagrad(x, 0.6)[0], lambda m, square, t, n: 1.0, "small margins"),
}  # fmt: skip


@pytest.mark.parametrize("form", ["dense", "sparse", "dual"])
@pytest.mark.parametrize("key", DEFINITIONS)
@given(order=st.lists(st.integers(-1, 6), min_size=T, max_size=2 * T), seed=st.integers(0, 9))
@settings(max_examples=15, deadline=None)
def test_any_interleaving_of_decisions_and_late_labels_equals_its_definition(key, form, order, seed):
    parameters, margin, chance, stores = DEFINITIONS[key]
    coins = np.random.default_rng(seed)
    kernel = "linear" if form == "dual" and key not in ("shifting-perceptron", *NO_DUAL) else None
    sampler = samplers.make(key, D, rng=np.random.default_rng(seed), kernel=kernel, **parameters)
    stored, owed, t = Stored(D), {}, 0
    for step in order:
        if step >= 0 and owed:  # a label comes: of any question that is open
            ticket = list(owed)[step % len(owed)]
            row, predicted, said = owed.pop(ticket)
            keeps = stores is True or predicted != Y[row]
            if stores == "small margins":  # in its round, and on the day its label comes
                keeps = Y[row] * said < 1 and Y[row] * margin(stored, X[row]) < 1
            if keeps:
                stored.add(X[row], int(Y[row]))
            assert sampler.learn(ticket, int(Y[row])) == keeps
        elif t < T:
            x = X[t]
            decision = sampler.decide(sparse.csr_matrix(x[None]) if form == "sparse" else x)
            m = margin(stored, x)
            probability = chance(m, x @ x, t + 1, len(stored))
            asks = coins.random() < probability if sampler.randomized else probability == 1.0
            assert decision.margin == pytest.approx(m, abs=1e-9)
            assert decision.query == asks
            assert decision.ticket == (t + 1 if asks else None)
            if asks:
                owed[decision.ticket] = (t, decision.prediction, m)
            t += 1
        assert sampler.open_tickets == list(owed)
        assert sampler.stored == len(stored)


def test_a_modified_update_is_left_out_where_the_learner_has_come_right_since():
    sampler = samplers.make("modified-perceptron", 2)
    first = sampler.decide([1.0, 0.0])
    assert sampler.learn(first.ticket, -1)  # v = (-1, 0)
    x = [0.8, 0.6]
    early, again = sampler.decide(x), sampler.decide(x)
    assert early.prediction == again.prediction == -1
    assert sampler.learn(early.ticket, 1)
    assert sampler.margins([x])[0] > 0.0
    assert not sampler.learn(again.ticket, 1)  # a reflection would turn it wrong again
    assert sampler.margins([x])[0] > 0.0


def test_a_tuned_sampler_with_one_candidate_takes_late_labels_as_that_sampler():
    plain = samplers.make("sop-label-efficient", D, C=0.3, rng=np.random.default_rng(2))
    tuned = samplers.TunedSampler("sop-label-efficient", D, "C", [0.3], rng=np.random.default_rng(2))
    for t, x in enumerate(X):
        assert plain.decide(x) == tuned.decide(x)
        if t % 3 == 2:
            for ticket in reversed(plain.open_tickets):
                assert plain.learn(ticket, int(Y[ticket - 1])) == tuned.learn(ticket, int(Y[ticket - 1]))
    assert plain.open_tickets == tuned.open_tickets
    np.testing.assert_array_equal(plain.weights, tuned.samplers[0].weights)
