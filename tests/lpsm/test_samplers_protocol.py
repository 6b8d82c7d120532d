"""What a sampler promises its caller: labels only where asked, one coin a round, clear errors, a state that resumes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

from lpsm import samplers
from lpsm.samplers import catalogue
from tests.lpsm.frozen.streams import NO_KERNEL, a_stream, by_rounds

X, Y = a_stream(21)
D = 7


def test_a_label_is_taken_once_where_it_was_asked_for_and_for_the_instance_that_was_decided_on():
    silent = samplers.make("sop-fixed-bias", n_features=D, rate=0.0)
    with pytest.raises(RuntimeError, match="asked for"):
        silent.learn(X[0], 1)
    assert silent.decide(X[0]).query is False
    with pytest.raises(RuntimeError, match="not a query"):
        silent.learn(X[0], 1)
    asking, x = samplers.make("rls", n_features=D), X[0].copy()
    asking.decide(x)
    x[:] = 7.0  # which does not reach the learner
    for other in (x, X[1]):
        with pytest.raises(ValueError, match="x must be the instance"):
            asking.learn(other, 1)
    assert asking.learn(X[0].tolist(), 1) is True
    with pytest.raises(RuntimeError, match="not a query"):
        asking.learn(X[0], 1)
    twin = samplers.make("rls", n_features=D)
    twin.run(X[:1], [1])
    np.testing.assert_array_equal(asking.weights, twin.weights)
    assert (silent.stored, asking.stored) == (0, 1)


def test_schedules_may_be_functions_of_t():
    number = samplers.make("adaptive-sampler", n_features=D, rho=30.0, lambda_=50.0).run(X, Y)
    function = samplers.make("adaptive-sampler", n_features=D, rho_t=lambda t: 30.0, **{"lambda": 50.0}).run(X, Y)
    assert np.array_equal(number.queried, function.queried)
    coin = samplers.make("adaptive-sampler", n_features=D, rho=0.0, bias=lambda t: float(t % 2), lambda_=1.0).run(X, Y)
    t = np.arange(1, len(Y) + 1)  # heads at odd t, from t = 2 on (N = 0 at t = 1), buys the label of t + 1
    assert np.array_equal(coin.queried, (t == 1) | ((t % 2 == 0) & (t >= 4)))
    assert samplers.make("adaptive-sampler", n_features=D).run(X[:100], Y[:100]).queried.all()  # rho_t = 16 d


def test_a_schedule_is_asked_for_every_round_once():
    seen: list[int] = []
    parts = samplers.make("adaptive-sampler", n_features=D, rho=lambda t: seen.append(t) or 0.0)
    for first, end in ((0, 3), (3, 10), (10, 11)):
        parts.run(X[first:end], Y[first:end])
    assert seen == list(range(1, 12))


@pytest.mark.parametrize("key", ["sop", "lasec", "perceptron", "ssmd", "randomized-budget-perceptron", "arow-diagonal"])
@pytest.mark.parametrize("kernel", [None, "linear", "rbf"])
def test_features_that_appear_later_were_zero_until_then(key, kernel):
    if kernel and key in NO_KERNEL:
        return
    world = np.random.default_rng(3)
    rows = world.normal(size=(40, 5))
    rows[:20, 3:] = 0.0
    y = np.where(world.random(40) < 0.5, 1, -1)
    whole, growing = (samplers.make(key, d, kernel=kernel) for d in (5, 3))
    ticket = whole.decide(rows[0]).ticket
    assert growing.decide(rows[0, :3]).ticket == ticket
    for t in range(1, 40):
        if t == 20:
            growing.widen(5)
            assert whole.learn(ticket, 1) == growing.learn(ticket, 1)  # a question from before
        a, b = whole.decide(rows[t]), growing.decide(rows[t, : growing.n_features])
        assert a.margin == pytest.approx(b.margin, abs=1e-10)
        assert whole.learn(a.ticket, int(y[t])) == growing.learn(b.ticket, int(y[t])) if a.query else not b.query
    with pytest.raises(ValueError, match="n_features must be an integer of at least 5, got 4"):
        growing.widen(4)


def test_the_form_of_a_second_order_learner_goes_by_the_room_for_its_matrix(monkeypatch):
    assert catalogue.LARGEST_MATRIX == 16_384  # as the documentation of `make` has it
    monkeypatch.setattr(catalogue, "LARGEST_MATRIX", 4)
    for key in ("sop", "lasec", "arow", "sop-ss", "perceptron", "arow-diagonal"):
        for n_features in (2, 4, 5):
            dual = n_features == 5 and key not in ("perceptron", "arow-diagonal")
            assert samplers.make(key, n_features).kernel == (samplers.Linear() if dual else None), key
    assert samplers.make("sop", 5, kernel="rbf", gamma=2.0).kernel == samplers.Radial(gamma=2.0)


@pytest.mark.parametrize(("dtype", "kernel"), [("float32", None), ("float64", None), ("float64", "linear")])
def test_weights_and_the_inverse_are_copies_in_the_numbers_asked_for(dtype, kernel):
    sampler = samplers.make("rls", n_features=D, dtype=dtype, kernel=kernel)
    sampler.run(X[:5], Y[:5])
    weights = sampler.weights
    assert (weights.dtype, weights.shape) == (np.dtype(dtype), (5 if kernel else D,))
    weights[:] = 9.0
    assert not (sampler.weights == 9.0).any()
    if kernel is None:
        inverse = sampler.inverse
        assert (inverse.dtype, inverse.shape) == (np.dtype(dtype), (D, D))
        inverse[:] = 9.0
        assert np.abs(sampler.inverse).max() <= 1.0
        np.testing.assert_allclose(sampler.weights, sampler.inverse @ (X[:5].T @ Y[:5]), rtol=1e-5)


@pytest.mark.parametrize(("key", "rounds", "exact"), [("sop", 64, True), ("sop", 65, False), ("ridge", 90, True)])
def test_margins_of_a_long_run_are_put_off_where_they_cost_more_than_the_decision(key, rounds, exact):
    log = samplers.make(key, n_features=D).run(X[:rounds], Y[:rounds])
    assert log.exact == exact
    copied = pickle.loads(pickle.dumps(log))
    loop = by_rounds(samplers.make(key, n_features=D), X[:rounds], Y[:rounds])
    for one in (log, copied):
        np.testing.assert_array_equal(one.margin, loop[0])
        np.testing.assert_array_equal(one.prediction, loop[1])
        assert one.exact


def test_sparse_rows_may_be_unsorted_and_hold_duplicates_and_stay_as_they_were():
    messy = sparse.csr_matrix(
        (np.array([1.0, 2.0, 3.0, 0.5]), np.array([3, 1, 3, 0]), np.array([0, 3, 4])), shape=(2, D)
    )
    before = [array.copy() for array in (messy.data, messy.indices, messy.indptr)]
    sampler, dense = samplers.make("rls", n_features=D), samplers.make("rls", n_features=D)
    np.testing.assert_allclose(
        sampler.run(messy, [1, -1]).margin, dense.run(messy.toarray(), [1, -1]).margin, atol=1e-15)  # fmt: skip
    np.testing.assert_allclose(sampler.weights, dense.weights, atol=1e-15)
    for array, old in zip((messy.data, messy.indices, messy.indptr), before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_margins_that_are_read_after_their_rows_were_changed_are_refused():
    rows = X.copy()
    log = samplers.make("sop", n_features=D).run(rows, Y)
    early = samplers.make("sop", n_features=D).run(rows, Y)
    margin = early.margin.copy()
    rows[10:] *= 2.0
    np.testing.assert_array_equal(early.margin, margin)
    with pytest.raises(RuntimeError, match="X must stay as it was in the run until"):
        _ = log.margin
