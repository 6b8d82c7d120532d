"""What a sampler promises its caller: labels only where asked, one coin a round, clear errors, a state that resumes."""

from __future__ import annotations

import pickle
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from lpsm import online, samplers
from lpsm.samplers import catalogue
from tests.lpsm.test_samplers_oracles import CASES, NO_DUAL, D, a_stream, by_rounds, of

X, Y = a_stream(21)
KEYS = samplers.keys()
RANDOMIZED = {
    "perceptron-ss", "perceptron-ss-adaptive", "sop-ss", "sop-ss-adaptive", "sop-label-efficient", "sole",
    "sop-fixed-bias", "lasec-ss", "cbgz-dkm", "random-perceptron", "random-dkm", "ffoat", "fsoat", "ffole", "fsole",
    "arow-ss", "arow-diagonal-ss", "adagrad-ss", "iwal",
}  # fmt: skip


def test_learn_without_a_granted_query_raises_and_teaches_nothing():
    sampler = samplers.make("sop-fixed-bias", n_features=D, rate=0.0)
    with pytest.raises(RuntimeError, match="asked for"):
        sampler.learn(X[0], 1)
    assert sampler.decide(X[0]).query is False
    with pytest.raises(RuntimeError, match="not a query"):
        sampler.learn(X[0], 1)
    assert sampler.stored == 0


def test_a_label_is_taken_once():
    sampler = samplers.make("rls", n_features=D)
    sampler.decide(X[0])
    assert sampler.learn(X[0], 1) is True
    with pytest.raises(RuntimeError, match="not a query"):
        sampler.learn(X[0], 1)
    assert sampler.stored == 1


def test_learn_wants_the_instance_it_decided_on():
    sampler = samplers.make("sop", n_features=D)
    sampler.decide(X[0])
    with pytest.raises(ValueError, match="x must be the instance"):
        sampler.learn(X[1], 1)
    sampler.learn(X[0].tolist(), 1)


def test_an_instance_changed_after_the_decision_does_not_reach_the_learner():
    sampler, x = samplers.make("rls", n_features=D), X[0].copy()
    sampler.decide(x)
    x[:] = 7.0
    with pytest.raises(ValueError, match="x must be the instance"):
        sampler.learn(x, 1)
    sampler.learn(X[0], 1)
    twin = samplers.make("rls", n_features=D)
    twin.run(X[:1], [1])
    np.testing.assert_array_equal(sampler.weights, twin.weights)


@pytest.mark.parametrize(("key", "parameters"), CASES)
def test_randomised_rules_draw_one_uniform_a_round_and_others_none(key, parameters):
    rng, twin = np.random.default_rng(1), np.random.default_rng(1)
    sampler = samplers.make(key, n_features=D, rng=rng, **parameters)
    for x, y in zip(X[:50], Y[:50], strict=True):
        decision = sampler.decide(x)
        if key in RANDOMIZED or "bias" in parameters:
            u = twin.random()
        if key in RANDOMIZED:
            assert decision.query == (u < decision.probability)
        else:
            assert decision.query == (decision.probability == 1.0)
        if decision.query:
            sampler.learn(x, int(y))
    assert rng.random() == twin.random()


def test_evictions_leave_the_callers_generator_alone():
    rng, twin = np.random.default_rng(1), np.random.default_rng(1)
    sampler = samplers.make("randomized-budget-perceptron", n_features=D, B=3, rng=rng)
    assert sampler.run(X, Y).stored.sum() > 10
    assert rng.random() == twin.random()


def test_the_shared_run_loop_plays_a_sampler_and_its_ledger_agrees_with_the_log():
    one, other = (samplers.make("ssmd", n_features=D, K=0.1) for _ in range(2))
    rounds = list(online.play(one, X, lambda t: int(Y[t])))
    log = other.run(X, Y)
    own = log.ledger(Y)
    assert own.mistakes == sum(decision.prediction != y for (decision, _), y in zip(rounds, Y, strict=True))
    assert own.queries == sum(decision.query for decision, _ in rounds) == one.queries
    assert log.stored.tolist() == [stored for _, stored in rounds]
    np.testing.assert_array_equal(own.losses, log.prediction != Y)
    assert len(log) == own.rounds == len(Y)


@pytest.mark.parametrize("key", ["ssmd", "rls", "perceptron", "sop-label-efficient", "ssnl", "dkm", "bbq"])
def test_a_budget_ends_the_questions_and_changes_nothing_before(key):
    free, limited, single = (
        samplers.make(key, n_features=D, rng=np.random.default_rng(4), max_queries=most) for most in (None, 5, 5)
    )
    log, short, loop = free.run(X, Y), limited.run(X, Y), by_rounds(single, X, Y)
    last = int(np.flatnonzero(log.queried)[4])
    np.testing.assert_array_equal(short.queried[: last + 1], log.queried[: last + 1])
    assert not short.queried[last + 1 :].any()
    np.testing.assert_array_equal(short.margin[: last + 1], log.margin[: last + 1])
    for one, other in zip(of(short), loop, strict=True):
        np.testing.assert_array_equal(one, other)
    restored = samplers.Sampler.from_state(limited.state())
    assert restored.max_queries == 5
    assert not restored.run(X, Y).queried.any()
    assert not samplers.make(key, n_features=D, max_queries=0).run(X, Y).queried.any()


def test_a_budget_is_no_thing_for_a_filter():
    with pytest.raises(ValueError, match="max_queries must be None for a filter"):
        samplers.make("ffole", n_features=D, max_queries=3)
    with pytest.raises(ValueError, match="max_queries must be an integer of at least 0, got -1"):
        samplers.make("sop", n_features=D, max_queries=-1)


def test_a_filter_predicts_what_it_forwards():
    for key in ("filter", "ffoat", "fsoat", "ffole", "fsole"):
        log = samplers.make(key, n_features=D, rng=np.random.default_rng(2)).run(X, Y)
        assert np.array_equal(log.prediction == 1, log.queried)
        assert not log.queried.all()


def test_margins_and_predict_read_the_state_and_leave_it():
    for kernel in (None, "linear", lambda x, z: float(x @ z)):
        rng, twin = np.random.default_rng(3), np.random.default_rng(3)
        sampler = samplers.make("sop-label-efficient", n_features=D, C=0.1, rng=rng, kernel=kernel)
        sampler.run(X[:100], Y[:100])
        twin.random(100)
        expected = [sampler.decide(x).margin for x in X[100:103]]
        for _ in expected:
            twin.random()
        decision = sampler.decide(X[103])
        got = sampler.margins(X[100:103])
        np.testing.assert_allclose(got, expected, atol=1e-12)
        np.testing.assert_array_equal(sampler.predict(X[100:103]), np.where(got >= 0, 1, -1))
        if decision.query:
            sampler.learn(X[103], 1)  # the round in progress is still open
        twin.random()
        assert sampler.rounds == 104
        assert rng.random() == twin.random()


def test_margins_of_a_log_are_the_same_read_late_or_after_pickling():
    run = samplers.make("sop", n_features=D).run(X, Y)
    loop = by_rounds(samplers.make("sop", n_features=D), X, Y)
    copied = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(copied.margin, loop[0])
    np.testing.assert_array_equal(run.margin, loop[0])
    np.testing.assert_array_equal(copied.prediction, run.prediction)


def test_a_state_is_a_copy_and_a_wrong_one_is_refused():
    sampler = samplers.make("sop", n_features=D)
    before = sampler.state()
    sampler.run(X, Y)
    assert before["state_weights"].sum() == 0.0
    with pytest.raises(ValueError, match="version"):
        samplers.Sampler.from_state({**before, "version": np.array(99)})
    del before["state_matrix"]
    with pytest.raises(ValueError, match="state_matrix"):
        samplers.Sampler.from_state(before)
    with pytest.raises(ValueError, match="function cannot be saved"):
        samplers.make("adaptive-sampler", n_features=D, rho=lambda t: 2.0).state()
    with pytest.raises(ValueError, match="function cannot be saved"):
        samplers.make("sop", n_features=D, kernel=lambda x, z: float(x @ z)).state()


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
    if kernel and key in NO_DUAL:
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


def test_every_key_says_paper_figure_and_its_parameters_by_symbol():
    place = re.compile(
        r"\b(?:[TWARD]|AROW|AG|IU|IW) (figure|section|algorithm|remark|\()|journal version of W|as `perceptron-ss-a"
    )
    symbols = {"perceptron-ss": "b=0.5", "lasec-ss": "a=1.0, b=1.0, c=100.0", "sole": "C=1.0", "bbq": "kappa=0.3",
               "dkm": "R=10, s_1=1.0", "adaptive-sampler": "lambda_=1.0, rho=None"}  # fmt: skip
    for key in KEYS:
        text = samplers.describe(key)
        assert place.search(text), text
        assert symbols.get(key, "") in text


def test_every_key_is_in_the_table_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "samplers.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)`", page, re.MULTILINE)) == set(KEYS)


def test_more_features_than_a_matrix_can_hold_switch_to_the_dual_form():
    d = 16_385
    rows = sparse.csr_matrix(X[:40])
    wide = sparse.csr_matrix((rows.data, rows.indices * 2_000, rows.indptr), shape=(40, d))
    for key in ("ssmd", "lasec", "perceptron"):
        small, large = samplers.make(key, n_features=D), samplers.make(key, n_features=d)
        assert (large.kernel is None) == (key == "perceptron")
        np.testing.assert_allclose(large.run(wide, Y[:40]).margin, small.run(rows, Y[:40]).margin, atol=1e-9)
    assert samplers.make("sop", n_features=d, kernel="rbf").kernel == samplers.Radial()


def test_the_form_of_a_second_order_learner_goes_by_the_room_for_its_matrix(monkeypatch):
    assert catalogue.LARGEST_MATRIX == 16_384  # as the documentation of `make` has it
    monkeypatch.setattr(catalogue, "LARGEST_MATRIX", 4)
    for key in ("sop", "lasec", "arow", "sop-ss", "perceptron", "arow-diagonal"):
        for n_features in (2, 4, 5):
            dual = n_features == 5 and key not in ("perceptron", "arow-diagonal")
            assert samplers.make(key, n_features).kernel == (samplers.Linear() if dual else None), key
    assert samplers.make("sop", 5, kernel="rbf", gamma=2.0).kernel == samplers.Radial(gamma=2.0)


def test_coins_without_a_generator_are_those_of_seed_0_and_of_others_none_is_kept():
    twin = samplers.make("sop-fixed-bias", n_features=D, rng=np.random.default_rng(0)).run(X[:40], Y[:40])
    assert np.array_equal(samplers.make("sop-fixed-bias", n_features=D).run(X[:40], Y[:40]).queried, twin.queried)
    for key in ("sop", "ss", "perceptron"):
        assert str(samplers.make(key, n_features=D).state()["coins"]) == ""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", [None, "linear"])
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
    loop = by_rounds(samplers.make(key, n_features=D), X[:rounds], Y[:rounds])
    np.testing.assert_array_equal(log.margin, loop[0])
    assert log.exact


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


def test_learning_reuses_what_deciding_computed():
    calls = []

    def kernel(x, z):
        calls.append(1)
        return float(x @ z)

    sampler = samplers.make("rls", n_features=D, kernel=kernel)
    for t in range(6):
        sampler.decide(X[t])
        assert len(calls) == t + 1  # k(x, x) and k(x_i, x) once each
        sampler.learn(X[t], int(Y[t]))
        assert len(calls) == t + 1
        calls.clear()


def test_margins_that_are_read_after_their_rows_were_changed_are_refused():
    rows = X.copy()
    log = samplers.make("sop", n_features=D).run(rows, Y)
    early = samplers.make("sop", n_features=D).run(rows, Y)
    margin = early.margin.copy()
    rows[10:] *= 2.0
    np.testing.assert_array_equal(early.margin, margin)
    with pytest.raises(RuntimeError, match="X must stay as it was in the run until"):
        _ = log.margin


def test_a_log_holds_no_matrix_that_nothing_was_written_to():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(90, 600)), rng.choice([-1, 1], size=90)
    sampler = samplers.make("sop", n_features=600)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    logs = [sampler.run(rows, labels) for _ in range(5)]
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert not logs[-1].exact
    assert held < 5 * 600 * 8 * (90 + 60)  # a vector an update so far, and no 600 x 600 numbers
    np.testing.assert_array_equal(logs[0].margin, samplers.make("sop", n_features=600).run(rows, labels).margin)


def test_a_log_and_a_wrong_generator_or_key_are_told_in_a_line():
    log = samplers.make("sop", n_features=D).run(X, Y)
    assert repr(log) == f"RunLog(rounds=400, queries=400, stored={log.stored.sum()})"
    with pytest.raises(TypeError, match=r"^rng must be of the type Generator, or a seed from 0, got -1$"):
        samplers.make("sop", n_features=D, rng=-1)
    with pytest.raises(
        ValueError, match=r"^key must be one of lpsm.samplers.keys\(\); got 'sopp', did you mean sop\?$"
    ):
        samplers.make("sopp", n_features=D)
