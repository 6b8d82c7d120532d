"""What a sampler promises its caller: labels only where asked, one coin a round, clear errors, a state that resumes."""

from __future__ import annotations

import io
import pickle
import re
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from lpsm import online, samplers
from tests.lpsm.test_samplers_oracles import CASES, EVERY_ROUND, NO_DUAL, D, a_stream, by_rounds, of

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


def test_a_query_that_is_not_answered_expires_with_the_next_decision():
    answered, silent = samplers.make("ss", n_features=D), samplers.make("ss", n_features=D)
    silent.decide(X[1])
    for sampler in (answered, silent):
        sampler.decide(X[0])
        sampler.learn(X[0], -1)
    assert silent.rounds == answered.rounds + 1
    np.testing.assert_array_equal(silent.margins(X), answered.margins(X))


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


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize(("key", "parameters"), [*CASES, ("randomized-budget-perceptron", {"B": 6})])
def test_a_restored_sampler_goes_on_as_the_original(key, parameters, kernel):
    if kernel and key in NO_DUAL:
        return
    original = samplers.make(key, n_features=D, rng=np.random.default_rng(9), kernel=kernel, **parameters)
    original.run(X[:133], Y[:133])
    file = io.BytesIO()
    np.savez(file, **original.state())
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        restored = samplers.Sampler.from_state(dict(saved))
    assert (restored.key, restored.rounds, restored.stored) == (key, original.rounds, original.stored)
    for a, b in zip(of(original.run(X[133:], Y[133:])), of(restored.run(X[133:], Y[133:])), strict=True):
        assert np.array_equal(a, b)


def test_a_sparse_memory_is_restored():
    rows = sparse.csr_matrix(X)
    original = samplers.make("ssmd", n_features=D, kernel="linear")
    original.run(rows[:100], Y[:100])
    restored = samplers.Sampler.from_state(original.state())
    for a, b in zip(of(original.run(rows[100:], Y[100:])), of(restored.run(rows[100:], Y[100:])), strict=True):
        assert np.array_equal(a, b)


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
    d = 60_000
    rows = sparse.csr_matrix(X)
    wide = sparse.csr_matrix((rows.data, rows.indices * 8_000, rows.indptr), shape=(len(Y), d))
    for key in ("ssmd", "lasec", "perceptron"):
        small, large = samplers.make(key, n_features=D), samplers.make(key, n_features=d)
        np.testing.assert_allclose(large.run(wide, Y).margin, small.run(rows, Y).margin, atol=1e-9)


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


# -- bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "parameters", "message"),
    [
        ("sop", {"a": 0.0}, "a must be positive and finite, got 0.0"),
        ("sop", {"a": inf}, "a must be positive and finite, got inf"),
        ("sop-ss", {"b": -1.0}, "b must be positive, got -1.0"),
        ("sop-ss", {"b": nan}, "b must be positive, got nan"),
        ("sole", {"C": 0.0}, "C must be positive, got 0.0"),
        ("perceptron-ss-adaptive", {"beta": 0.0}, "beta must be positive, got 0.0"),
        ("lasec-ss", {"a": -2.0}, "a must be positive, got -2.0"),
        ("lasec", {"b": 2.0, "c": 2.0}, "c must be larger than b = 2.0, got 2.0"),
        ("lasec", {"c": nan}, "c must be larger than b = 1.0, got nan"),
        ("ss", {"K": 0.0}, "K must be positive, got 0.0"),
        ("bbq", {"kappa": -0.1}, "kappa must be positive and finite, got -0.1"),
        ("sop-fixed-bias", {"rate": 1.5}, r"rate must lie in \[0, 1\], got 1.5"),
        ("modified-perceptron", {"factor": 2.5}, r"factor must lie in \[0, 2\], got 2.5"),
        ("shifting-perceptron", {"lambda_": -1.0}, "lambda must be non-negative and finite, got -1.0"),
        ("adaptive-sampler", {"lambda_": 0.0}, "lambda must be positive and finite, got 0.0"),
        ("adaptive-sampler", {"rho": -1.0}, "rho must be non-negative, got -1.0"),
        ("adaptive-sampler", {"bias": 2.0}, r"bias must lie in \[0, 1\], got 2.0"),
        ("randomized-budget-perceptron", {"B": 0}, "B must be an integer of at least 1, got 0"),
        ("dkm", {"R": 2.5}, "R must be an integer of at least 1, got 2.5"),
        ("dkm", {"s_1": 0.0}, "s_1 must be positive and finite, got 0.0"),
        ("perceptron", {"eta": 0.0}, "eta must be positive and finite, got 0.0"),
        ("perceptron", {"b": 1.0}, r"'perceptron' takes the parameters \['eta'\], got \['b'\]"),
        ("sop", {"gamma": 1.0}, r"got \['gamma'\]"),
        ("sop", {"kernel": "cosine"}, "kernel must be one of"),
        ("sop", {"kernel": "rbf", "degree": 2}, "kernel 'rbf' does not take"),
        ("sop", {"kernel": "rbf", "gamma": 0.0}, "gamma must be positive and finite, got 0.0"),
        ("sop", {"kernel": "poly", "degree": 0}, "degree must be a positive integer, got 0"),
        ("sop", {"kernel": 3}, "kernel must be a name or a function"),
        ("sop", {"n_features": 0}, "n_features must be an integer of at least 1, got 0"),
        ("sop", {"dtype": "int64"}, "dtype must be float64 or float32, got int64"),
        ("no-such-key", {}, "key must be one of .*; got 'no-such-key'"),
    ],
)
def test_a_bad_parameter_is_named_with_its_rule_and_value(key, parameters, message):
    with pytest.raises(ValueError, match=message):
        samplers.make(key, **{"n_features": D, **parameters})


def test_combinations_without_meaning_are_refused():
    with pytest.raises(ValueError, match="stores must be"):
        samplers.Sampler(samplers.Perceptron(), samplers.Always(), n_features=2, stores="all")
    with pytest.raises(ValueError, match="Variance needs a second-order learner"):
        samplers.Sampler(samplers.Perceptron(), samplers.Variance(), n_features=2)
    with pytest.raises(ValueError, match="SecondOrderCoin needs a learner that includes"):
        samplers.Sampler(samplers.LeastSquares(includes_instance=False), samplers.SecondOrderCoin(), n_features=2)
    with pytest.raises(AttributeError, match="inverse belongs to second-order"):
        _ = samplers.make("perceptron", n_features=2).inverse


@pytest.mark.parametrize("make_rows", [np.asarray, sparse.csr_matrix])
def test_instances_that_are_no_numbers_or_of_another_dimension_are_refused(make_rows):
    sampler = samplers.make("sop", n_features=D)
    with pytest.raises(ValueError, match=rf"shape \(.*{D}\), got"):
        sampler.run(make_rows(X[:, :-1]), Y)
    with pytest.raises(ValueError, match=rf"shape \(.*{D}.*\), got"):
        sampler.decide(make_rows(X[:1, :-1]) if make_rows is sparse.csr_matrix else X[0, :-1])
    for bad in (nan, inf, -inf):
        broken = X.copy()
        broken[17, 3] = bad
        with pytest.raises(ValueError, match=f"X must be finite, got {bad} in row 17, feature 3"):
            sampler.run(make_rows(broken), Y)
    with pytest.raises(ValueError, match="x must be finite, got nan in feature 2"):
        sampler.decide([0.0, 1.0, nan, 0.0, 0.0, 0.0, 0.0])
    assert sampler.rounds == 0


@pytest.mark.parametrize("bad", [0, 2, nan, -1.5])
def test_labels_other_than_minus_and_plus_one_are_refused_before_anything_is_learned(bad):
    sampler = samplers.make("rls", n_features=D)
    labels = Y.astype(float)
    labels[5] = bad
    with pytest.raises(ValueError, match=f"y must hold only -1 and \\+1, got {float(bad)} in round 5"):
        sampler.run(X, labels)
    assert (sampler.rounds, sampler.stored) == (0, 0)
    sampler.decide(X[0])
    with pytest.raises(ValueError, match=r"y must be -1 or \+1"):
        sampler.learn(X[0], bad)
    sampler.learn(X[0], 1)
    with pytest.raises(ValueError, match=rf"y must have shape \({len(X)},\), got \(3,\)"):
        sampler.run(X, [1, -1, 1])


@pytest.mark.parametrize("make_rows", [np.asarray, sparse.csr_matrix])
def test_a_zero_vector_is_an_error_only_where_it_would_be_divided_by_its_norm(make_rows):
    holes = X.copy()
    holes[3] = 0.0
    with pytest.raises(ValueError, match="no zero row where instances are normalised, row 3 is"):
        samplers.make("perceptron-ss", n_features=D).run(make_rows(holes), Y)
    with pytest.raises(ValueError, match="x must not be zero where instances are normalised"):
        samplers.make("dkm", n_features=D).decide(holes[3])
    for key in KEYS:
        log = samplers.make(key, n_features=D, normalize=False, rng=np.random.default_rng(0)).run(make_rows(holes), Y)
        assert log.margin[3] == 0.0
        assert np.isfinite(log.margin).all()


def test_a_zero_first_instance_does_not_initialise_the_modified_perceptron():
    sampler = samplers.make("modified-perceptron", n_features=2, normalize=False)
    sampler.run([[0.0, 0.0], [3.0, 4.0]], [1, -1])
    np.testing.assert_array_equal(sampler.weights, [-3.0, -4.0])


@pytest.mark.parametrize("empty", [np.zeros((0, D)), sparse.csr_matrix((0, D)), []])
def test_an_empty_stream_gives_an_empty_log_and_draws_nothing(empty):
    rng, twin = np.random.default_rng(0), np.random.default_rng(0)
    for key in KEYS:
        log = samplers.make(key, n_features=D, rng=rng).run(empty, [])
        assert len(log) == len(log.margin) == len(log.queried) == len(log.stored) == 0
        rng = np.random.default_rng(0)
    assert rng.random() == twin.random()


@pytest.mark.parametrize("label", [-1, 1])
def test_streams_of_a_single_class_are_learned(label):
    one_sided = np.abs(X)
    for key in KEYS:
        log = samplers.make(key, n_features=D, rng=np.random.default_rng(0)).run(one_sided, np.full(len(X), label))
        if key in EVERY_ROUND:
            assert np.mean(log.prediction[200:] == label) == 1.0
        assert np.isfinite(log.margin).all()


def test_integers_and_lists_are_instances_too():
    sampler = samplers.make("perceptron", n_features=2)
    sampler.run([[1, 0], [0, 1]], [-1, 1])
    np.testing.assert_array_equal(sampler.weights, [-1.0, 0.0])
