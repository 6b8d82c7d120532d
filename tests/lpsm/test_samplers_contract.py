"""One contract for everything that samples, whatever the algorithm and the form of its rows.

A stream is the same whole, in pieces, and one by one, with labels by instance or by ticket; restored in the middle;
from sparse, read-only, strided and shorter numbers; labels are taken only where they were asked for; and reading
changes nothing.
"""

import io
import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import lpsm
from lpsm import samplers
from lpsm.samplers import MulticlassSampler, TunedSampler, catalogue, kernels
from tests.lpsm.frozen import streams
from tests.lpsm.frozen.streams import GRIDS, MORE, NO_KERNEL, PARAMETERS, STREAMS, by_rounds, plain
from tests.tables import cases_of, each, near, value_error, words

X, Y = plain(6, 150, 11)
X = X.astype(np.float32).astype(float)  # so that single precision holds the same rows
CODES = (X @ np.random.default_rng(6).normal(size=(6, 4))).argmax(axis=1)


def made(kind, key, **options):
    return kind(key, 6, rng=np.random.default_rng(5), **options)


def registry():
    """Everything with a state: how it is made, and the labels it takes."""
    for key, parameters in [*PARAMETERS.items(), *MORE[:1], *MORE[2:4]]:
        yield f"{key} {parameters}", partial(made, samplers.make, key, **parameters), Y
    for key in words("sop-ss ss lasec dkm randomized-budget-perceptron perceptron"):
        for kernel in ("linear", "rbf"):
            yield f"{key} {kernel}", partial(made, samplers.make, key, kernel=kernel, **PARAMETERS[key]), Y
    for key in words("ss sop-label-efficient perceptron-ss arow-diagonal-ss iwal lasec-ss nearest"):
        for kernel in (None, "rbf") if key not in NO_KERNEL else (None,):
            several = partial(made, MulticlassSampler, key, n_classes=4, kernel=kernel, **PARAMETERS[key])
            yield f"{key} of four classes {kernel}", several, CODES
    for key, parameter, grid in GRIDS:
        yield f"{key} over a grid", partial(made, TunedSampler, key, parameter=parameter, grid=grid), Y
    budget = partial(made, TunedSampler, "ss", parameter="K", grid=[0.1, 1.0], max_queries=9)
    yield "a grid with a budget", budget, Y


EVERY = pytest.mark.parametrize(("make", "labels"), [pytest.param(*one, id=name) for name, *one in registry()])


def whole(model, rows, labels):
    """Predictions, questions and numbers of a run; of classes without margins the scores that follow."""
    log = model.run(rows, labels)
    if isinstance(model, MulticlassSampler):
        return log[0], log[1], model.last_scores
    return log.prediction, log.queried, log.margin


def singly(model, rows, labels, by_ticket=True):
    margins, said, asked, *_ = by_rounds(model, rows, labels, by_ticket=by_ticket)
    return said, asked, model.last_scores if isinstance(model, MulticlassSampler) else margins


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert_array_equal(a, b)


def equal_states(one, other):
    a, b = one.state(), other.state()
    assert list(a) == list(b)
    for name in a:
        assert (a[name].dtype, a[name].shape) == (b[name].dtype, b[name].shape), name
        assert_array_equal(a[name], b[name], err_msg=name)


@EVERY
def test_a_run_is_its_pieces_and_its_rounds_to_the_last_bit_and_draw_in_any_memory(make, labels, monkeypatch):
    """Labels that the run did not ask for are turned over for the others, which must not look at them."""
    monkeypatch.setattr(kernels, "FIRST_CAPACITY", 2)
    run, pieces, rounds, tickets = (make() for _ in range(4))
    one = whole(run, X, labels)
    told = np.where(one[1], labels, (labels + 1) % 4 if labels is CODES else -labels)
    read_only, strided = fixed(X), np.repeat(X, 2, axis=1)[:, ::2]
    forms = zip((read_only, X, X.astype(np.float32), X.tolist(), strided), pairwise((0, 3, 3, 90, 91, 150)),
        strict=True)  # fmt: skip
    *joined, numbers = zip(*(whole(pieces, rows[a:b], told[a:b]) for rows, (a, b) in forms), strict=True)
    ends = numbers[-1] if isinstance(run, MulticlassSampler) else np.concatenate(numbers)
    same([*map(np.concatenate, joined), ends], one)
    same(singly(rounds, strided, told, by_ticket=False), one)
    same(singly(tickets, read_only, told), one)
    for other in (pieces, rounds, tickets):
        equal_states(other, run)
    assert (run.rounds, run.queries) == (150, one[1].sum())
    assert not len(whole(make(), sparse.csr_matrix((0, 6)), labels[:0])[0])


@EVERY
@each("turn", [np.asarray, sparse.csr_matrix])
def test_what_is_restored_goes_on_as_it_would_have_and_says_the_same_of_itself(make, labels, turn):
    model, rows = make(), turn(X)
    singly(model, rows[:60], labels[:60])
    owed = [ticket for ticket in (model.decide(rows[t]).ticket for t in range(60, 64)) if ticket]
    file = io.BytesIO()
    np.savez(file, **model.state())
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        copies = [lpsm.from_state(dict(saved)), lpsm.from_state(lpsm.to_json(model.state()))]
    copies.append(pickle.loads(pickle.dumps(model)))
    for one in copies:
        assert (type(one), repr(one), one.open_tickets) == (type(model), repr(model), owed)
    found = []
    for one in (model, *copies):
        stored = [one.learn(ticket, int(labels[ticket - 1])) for ticket in reversed(owed)]
        found.append((*whole(one, rows[64:], labels[64:]), stored))
        same(found[-1], found[0])
        equal_states(one, model)


@EVERY
def test_what_reads_the_state_says_what_a_decision_would_and_leaves_it_and_a_question_is_closed_once(make, labels):
    curious, patient = make(), make()
    for model in (curious, patient):
        singly(model, X[:40], labels[:40])
        decisions = []
        for x in X[40:80]:
            decisions.append(decision := model.decide(x))
            if model is curious:
                said = model.predict(x[None])[0]
                if isinstance(model, MulticlassSampler):
                    assert said == decision.prediction
                elif not isinstance(model, TunedSampler):  # in which a decision may move the votes
                    margin = model.margins(x[None])[0]
                    assert (margin, said) == (near(decision.margin, abs=1e-9), 1 if margin >= 0 else -1)
    equal_states(curious, patient)
    tickets = [decision.ticket for decision in decisions if decision.query]
    assert model.open_tickets == tickets
    for gone in (*tickets[:1], 999):
        if gone != 999:
            model.forget(gone)
        for close in (model.forget, lambda ticket: model.learn(ticket, 1)):
            with pytest.raises(RuntimeError, match=rf"ticket must be of an open question, got {gone}; open are"):
                close(gone)
    assert model.open_tickets == tickets[1:]


@cases_of("form", "'a key' ; 'a grid'")
@each("key", words("ssmd rls perceptron sop-label-efficient ssnl dkm bbq"))
def test_a_budget_ends_the_questions_and_changes_nothing_before(key, form):
    first = samplers.registry()[key].parameters[0]
    grid = {} if form == "a key" else {"parameter": first.name, "grid": [first.default, 2 * first.default]}
    free, limited, none = (made(TunedSampler if grid else samplers.make, key, max_queries=most, **grid)
                           for most in (None, 5, 0))  # fmt: skip
    log, short = free.run(X, Y), limited.run(X, Y)
    before = slice(np.flatnonzero(log.queried)[4] + 1)
    same((short.queried[before], short.margin[before]), (log.queried[before], log.margin[before]))
    assert (short.queried.sum(), limited.queries) == (5, 5) != (log.queried.sum(), free.queries)
    assert not lpsm.from_state(limited.state()).run(X, Y).queried.any()
    assert not none.run(X, Y).queried.any()


QUICK = ("sop-ss",)  # the others are compiled for numbers of single precision one by one


@each("key", [pytest.param(key, marks=[] if key in QUICK else pytest.mark.long) for key in PARAMETERS])
def test_single_precision_decides_as_double_does_away_from_ties(key):
    one, other = (made(samplers.make, key, dtype=dtype, **PARAMETERS[key]) for dtype in ("float64", "float32"))
    a, b = one.run(X[:60], Y[:60]), other.run(X[:60], Y[:60])
    assert np.mean(a.prediction == b.prediction) > 0.9
    assert np.mean(a.queried == b.queried) > 0.9
    assert other.weights.dtype == np.float32


def test_a_label_is_taken_once_where_it_was_asked_for_and_for_the_instance_that_was_decided_on():
    silent, asking, twin = (samplers.make(key, 6, **given) for key, given in
                            (("sop-fixed-bias", {"rate": 0.0}), ("rls", {}), ("rls", {})))  # fmt: skip
    with pytest.raises(RuntimeError, match="asked for"):
        silent.learn(X[0], 1)
    assert silent.decide(X[0]).query is False
    with pytest.raises(RuntimeError, match="not a query"):
        silent.learn(X[0], 1)
    x = X[0].copy()
    asking.decide(x)
    x[:] = 7.0  # which does not reach the learner
    for other in (x, X[1]):
        with value_error("x must be the instance"):
            asking.learn(other, 1)
    assert asking.learn(X[0].tolist(), 1) is True
    with pytest.raises(RuntimeError, match="not a query"):
        asking.learn(X[0], 1)
    twin.run(X[:1], [1])
    assert_array_equal(asking.weights, twin.weights)
    assert (silent.stored, asking.stored) == (0, 1)


def test_schedules_may_be_functions_of_t_which_are_asked_for_every_round_once():
    adaptive, seen = partial(samplers.make, "adaptive-sampler", 6), []
    number = adaptive(rho=30.0, lambda_=50.0).run(X, Y)
    function = adaptive(rho_t=lambda t: 30.0, **{"lambda": 50.0}).run(X, Y)
    assert np.array_equal(number.queried, function.queried)
    coin = adaptive(rho=0.0, bias=lambda t: float(t % 2), lambda_=1.0).run(X, Y)
    t = np.arange(1, len(Y) + 1)  # heads at odd t, from t = 2 on (N = 0 at t = 1), buys the label of t + 1
    assert np.array_equal(coin.queried, (t == 1) | ((t % 2 == 0) & (t >= 4)))
    assert adaptive().run(X[:90], Y[:90]).queried.all()  # rho_t = 16 d
    parts = adaptive(rho=lambda t: seen.append(t) or 0.0)
    for first, end in ((0, 3), (3, 10), (10, 11)):
        parts.run(X[first:end], Y[first:end])
    assert seen == list(range(1, 12))


def test_the_form_of_a_second_order_learner_goes_by_the_room_for_its_matrix(monkeypatch):
    assert catalogue.LARGEST_MATRIX == 16_384  # as the documentation of `make` has it
    monkeypatch.setattr(catalogue, "LARGEST_MATRIX", 4)
    for key in words("sop lasec arow perceptron arow-diagonal"):
        for n_features in (2, 4, 5):
            dual = n_features == 5 and key not in ("perceptron", "arow-diagonal")
            assert samplers.make(key, n_features).kernel == (samplers.Linear() if dual else None), key
    assert samplers.make("sop", 5, kernel="rbf", gamma=2.0).kernel == samplers.Radial(gamma=2.0)


@cases_of("key dtype kernel", "'sop-ss', 'float32', None ; 'rls', 'float64', None ; 'rls', 'float64', 'linear'")
def test_weights_and_the_inverse_are_copies_in_the_numbers_asked_for(key, dtype, kernel):
    sampler = samplers.make(key, 6, dtype=dtype, kernel=kernel)
    sampler.run(X[:5], Y[:5])
    for name, shape in (("weights", (5 if kernel else 6,)), ("inverse", (6, 6)))[: 1 if kernel else 2]:
        array = getattr(sampler, name)
        assert (array.dtype, array.shape) == (np.dtype(dtype), shape)
        array[:] = 9.0
        assert np.abs(getattr(sampler, name)).max() < 9.0


@cases_of("key rounds exact", """
"sop", 64, True ; "sop", 65, False ; "ridge", 90, True
""")  # fmt: skip
def test_margins_of_a_long_run_are_put_off_where_they_cost_more_than_the_decision(key, rounds, exact):
    log = samplers.make(key, 6).run(X[:rounds], Y[:rounds])
    assert (log.replay is None) == exact
    for one in (log, pickle.loads(pickle.dumps(log))):
        same((one.margin, one.prediction), by_rounds(samplers.make(key, 6), X[:rounds], Y[:rounds])[:2])
        assert one.replay is None


def test_sparse_rows_may_be_unsorted_and_hold_duplicates_and_stay_as_they_were():
    messy = sparse.csr_matrix((np.array([1.0, 2.0, 3.0, 0.5]), np.array([3, 1, 3, 0]), np.array([0, 3, 4])),
        shape=(2, 6))  # fmt: skip
    before = messy.copy()
    sampler, dense = samplers.make("rls", 6), samplers.make("rls", 6)
    np.testing.assert_allclose(sampler.run(messy, [1, -1]).margin, dense.run(before.toarray(), [1, -1]).margin,
        atol=1e-15)  # fmt: skip
    np.testing.assert_allclose(sampler.weights, dense.weights, atol=1e-15)
    for name in ("data", "indices", "indptr"):
        assert_array_equal(getattr(messy, name), getattr(before, name))


@each("key", words("perceptron-ss sop arow-diagonal-ss randomized-budget-perceptron"))
@cases_of("normalize", "False ; True")
def test_an_instance_may_be_its_values_and_columns_in_any_order_and_of_any_numbers(key, normalize):
    X, y = STREAMS["plain"]()
    rows = sparse.csr_matrix(X)
    rows_of = {"row": lambda row: row, "pair": lambda row: (row.data, row.indices),
        "turned": lambda row: (row.data[::-1], row.indices[::-1].astype(np.int64)),
        "doubled": lambda row: (np.repeat(row.data / 2, 2), np.repeat(row.indices, 2)),
        "apart": lambda row: (np.repeat(row.data, 2)[::2], np.repeat(row.indices, 2)[::2]),
        "fixed": lambda row: (fixed(row.data), fixed(row.indices))}  # fmt: skip
    found = {}
    for form, turn in rows_of.items():
        model = samplers.make(key, X.shape[1], rng=3, normalize=normalize)
        answers = []
        for t, label in enumerate(y.tolist()):
            x = turn(rows[t])
            assert model.margin(x) == model.margins(rows[t])[0]
            answers.append(model.decide(x))
            if answers[-1].query:
                model.learn(turn(rows[t]), label)
        found[form] = answers
    assert all(answers == found["row"] for answers in found.values())
    assert any(decision.query for decision in found["row"])


def fixed(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def test_a_pair_that_was_asked_about_is_kept_as_it_was_and_another_is_refused():
    model, values, columns = samplers.make("perceptron", 9), np.ones(3), np.array([1, 4, 6], np.int32)
    model.decide((values, columns))
    columns[0] = 0
    with value_error("x must be the instance that decide asked about"):
        model.learn((values, columns), 1)
    columns[0] = 1
    with value_error("x must be the instance that decide asked about"):
        model.learn((2 * values, columns), 1)
    assert model.learn((values, columns), -1)
    assert model.weights.tolist() == [0, -1, 0, 0, -1, 0, -1, 0, 0]


def test_margins_that_are_read_after_their_rows_were_changed_are_refused():
    rows = X.copy()
    early, late = (samplers.make("sop", 6).run(rows, Y) for _ in range(2))
    margin = early.margin.copy()
    rows[10:] *= 2.0
    assert_array_equal(early.margin, margin)
    with pytest.raises(RuntimeError, match="X must stay as it was in the run until"):
        _ = late.margin


# -- answers as they were when they were written down, from dense and from sparse rows
ANSWERS = streams.read()


def test_an_answer_is_changed_or_dropped_only_by_name():
    then = {"a": np.ones(2), "b": np.zeros(1)}
    now = {"b": np.ones(1), "c": np.zeros(3)}
    with value_error("answers must be named to be changed or dropped, got 'a', 'b'"):
        streams.merged(then, now, [])
    assert list(streams.merged(then, now, ["a", "b"])) == ["b", "c"]
    assert streams.merged(then, {**then, **now, "b": then["b"]}, [])["a"] is then["a"]


def test_every_key_has_answers_and_every_answer_a_case():
    assert set(PARAMETERS) == set(samplers.keys())
    assert [name for name, *_ in streams.cases()] == list(ANSWERS)


@each("key", samplers.keys())
def test_predictions_questions_stores_margins_and_weights_are_those_of_then(key):
    for name, make, X, y in streams.cases():
        if name.split()[0] == key:
            for rows in (X, sparse.csr_matrix(X)):
                assert streams.close(name, streams.run(make, rows, y), ANSWERS[name]), name
