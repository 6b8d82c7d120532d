"""One contract for everything that samples, whatever the algorithm and the form of its rows.

A stream is the same whole, in pieces, and one by one, with labels by instance or by ticket; restored in the middle;
from sparse, read-only, strided and shorter numbers; and nothing comes of nothing.
"""

from __future__ import annotations

import io
import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import lpsm
from lpsm import samplers
from lpsm.samplers import MulticlassSampler, TunedSampler, kernels
from tests.lpsm.frozen.streams import GRIDS, MORE, NO_KERNEL, PARAMETERS, by_rounds, plain
from tests.oracles.samplers import RANDOMIZED

X, Y = plain(6, 150, 11)
CODES = (X @ np.random.default_rng(6).normal(size=(6, 4))).argmax(axis=1)
SIGNS = np.where(Y > 0, 1, -1)


def made(kind, key, **options):
    return kind(key, 6, rng=np.random.default_rng(5), **options)


def registry():
    """Everything with a state: how it is made, and the labels it takes."""
    for key, parameters in [*PARAMETERS.items(), *MORE[:1], *MORE[2:4]]:
        yield pytest.param(partial(made, samplers.make, key, **parameters), SIGNS, id=f"{key} {parameters}")
    for key in ("sop-ss", "ss", "lasec", "dkm", "randomized-budget-perceptron", "perceptron"):
        for kernel in ("linear", "rbf"):
            one = partial(made, samplers.make, key, kernel=kernel, **PARAMETERS[key])
            yield pytest.param(one, SIGNS, id=f"{key} {kernel}")
    for key in ("ss", "sop-label-efficient", "perceptron-ss", "arow-diagonal-ss", "iwal", "lasec-ss", "nearest"):
        for kernel in (None, "rbf") if key not in NO_KERNEL else (None,):
            several = partial(made, MulticlassSampler, key, n_classes=4, kernel=kernel, **PARAMETERS[key])
            yield pytest.param(several, CODES, id=f"{key} of four classes {kernel}")
    for key, parameter, grid in GRIDS:
        tuned = partial(made, TunedSampler, key, parameter=parameter, grid=grid)
        yield pytest.param(tuned, SIGNS, id=f"{key} over a grid")
    yield pytest.param(
        partial(made, TunedSampler, "ss", parameter="K", grid=[0.1, 1.0], max_queries=9),
        SIGNS,
        id="a grid with a budget",
    )


EVERY = pytest.mark.parametrize(("make", "labels"), list(registry()))


def whole(model, rows, labels):
    """Predictions, questions and numbers of a run; of classes without margins the scores that follow."""
    log = model.run(rows, labels)
    if isinstance(model, MulticlassSampler):
        return log[0], log[1], model.last_scores
    return log.prediction, log.queried, log.margin


def singly(model, rows, labels, by_ticket=True):
    margins, said, asked, _ = by_rounds(model, rows, labels, by_ticket=by_ticket or hasattr(model, "n_classes"))
    return said, asked, model.last_scores if isinstance(model, MulticlassSampler) else margins


def same(one, other, tolerance=0.0):
    for a, b in zip(one[:2], other[:2], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(one[2], other[2], atol=tolerance, rtol=0)


def equal_states(one, other):
    a, b = one.state(), other.state()
    assert list(a) == list(b)
    for name in a:
        assert (a[name].dtype, a[name].shape) == (b[name].dtype, b[name].shape), name
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@EVERY
def test_a_run_is_its_pieces_and_its_rounds_to_the_last_bit_and_to_the_last_draw(make, labels, monkeypatch):
    monkeypatch.setattr(kernels, "FIRST_CAPACITY", 2)
    run, pieces, rounds, tickets = make(), make(), make(), make()
    one = whole(run, X, labels)
    parts = [whole(pieces, X[a:b], labels[a:b]) for a, b in pairwise((0, 3, 90, 91, 150))]
    joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    if isinstance(run, MulticlassSampler):
        joined[2] = pieces.last_scores
    same(joined, one)
    same(singly(rounds, X, labels, by_ticket=False), one)
    same(singly(tickets, X, labels), one)
    for other in (pieces, rounds, tickets):
        equal_states(other, run)
    assert (run.rounds, run.queries) == (150, one[1].sum())


@EVERY
@pytest.mark.parametrize("turn", [np.asarray, sparse.csr_matrix])
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
    expected = None
    for one in (model, *copies):
        stored = [one.learn(ticket, int(labels[ticket - 1])) for ticket in reversed(owed)]
        found = (*whole(one, rows[64:], labels[64:]), stored)
        if expected is not None:
            same(found, expected)
            assert stored == expected[3]
        expected = found
    for one in copies:
        equal_states(one, model)


@EVERY
@pytest.mark.parametrize("turn", ["sparse", "strided", "read-only", "list", "single precision"])
def test_rows_in_another_form_are_the_same_rows(make, labels, turn):
    table = {
        "sparse": lambda: sparse.csr_matrix(X), "strided": lambda: np.repeat(X, 2, axis=1)[:, ::2],
        "read-only": lambda: X.copy(), "list": lambda: X.tolist(), "single precision": lambda: X.astype(np.float32),
    }[turn]()  # fmt: skip
    if turn == "read-only":
        table.flags.writeable = False
    expected = whole(make(), X.astype(np.float32).astype(float) if turn == "single precision" else X, labels)
    tolerance = 1e-9 if turn == "sparse" else 0.0
    same(whole(make(), table, labels), expected, tolerance)
    if turn != "list":
        same(singly(make(), table, labels), expected, tolerance)


@EVERY
def test_nothing_comes_of_nothing(make, labels):
    model, untouched = make(), make()
    for empty in (np.zeros((0, 6)), sparse.csr_matrix((0, 6))):
        log = make().run(empty, labels[:0])
        assert len(log[0] if isinstance(model, MulticlassSampler) else log) == 0
    model.run(X[:0], labels[:0])
    for name, part in model.state().items():
        if not name.endswith("config"):  # which form of rows is stored may be settled
            np.testing.assert_array_equal(part, untouched.state()[name])


@EVERY
def test_what_reads_the_state_says_what_a_decision_would_and_leaves_it(make, labels):
    curious, patient = make(), make()
    for model in (curious, patient):
        singly(model, X[:40], labels[:40])
        for t in range(40, 50):
            decision = model.decide(X[t])
            if model is curious:
                said = model.predict(X[[t]])[0]
                if isinstance(model, MulticlassSampler):
                    assert said == decision.prediction
                elif not isinstance(model, TunedSampler):  # in which a decision may move the votes
                    assert model.margins(X[[t]])[0] == pytest.approx(decision.margin, abs=1e-9)
                    assert said == (1 if model.margins(X[[t]])[0] >= 0 else -1)
            if decision.query:
                model.learn(decision.ticket, int(labels[t]))
    equal_states(curious, patient)


@EVERY
def test_labels_that_were_not_asked_for_change_nothing(make, labels):
    one = whole(make(), X, labels)
    others = (labels + 1) % 4 if labels is CODES else -labels
    same(whole(make(), X, np.where(one[1], labels, others)), one)


@pytest.mark.parametrize("form", ["a key", "a grid"])
@pytest.mark.parametrize("key", ["ssmd", "rls", "perceptron", "sop-label-efficient", "ssnl", "dkm", "bbq"])
def test_a_budget_ends_the_questions_and_changes_nothing_before(key, form):
    def fresh(most):
        rng = np.random.default_rng(4)
        if form == "a key":
            return samplers.make(key, 6, rng=rng, max_queries=most)
        symbol = samplers.registry()[key].parameters[0].name
        default = samplers.registry()[key].parameters[0].default
        return TunedSampler(key, 6, symbol, [default, 2 * default], rng=rng, max_queries=most)

    free, limited, single = fresh(None), fresh(5), fresh(5)
    log, short = free.run(X, SIGNS), limited.run(X, SIGNS)
    last = int(np.flatnonzero(log.queried)[4])
    np.testing.assert_array_equal(short.queried[: last + 1], log.queried[: last + 1])
    np.testing.assert_array_equal(short.margin[: last + 1], log.margin[: last + 1])
    assert (short.queried.sum(), limited.queries) == (5, 5) != (log.queried.sum(), free.queries)
    same(singly(single, X, SIGNS), whole(fresh(5), X, SIGNS))
    assert not lpsm.from_state(limited.state()).run(X, SIGNS).queried.any()
    assert not fresh(0).run(X, SIGNS).queried.any()


@pytest.mark.parametrize(("key", "parameters"), [*PARAMETERS.items(), *MORE[:2]])
def test_randomised_rules_draw_one_uniform_a_round_and_others_none(key, parameters):
    rng, twin = np.random.default_rng(1), np.random.default_rng(1)
    model = samplers.make(key, 6, rng=rng, **parameters)
    for x, y in zip(X[:50], SIGNS[:50], strict=True):
        decision = model.decide(x)
        if key in RANDOMIZED or "bias" in parameters:
            u = twin.random()
        if key in RANDOMIZED:
            assert decision.query == (u < decision.probability)
        else:
            assert decision.query == (decision.probability == 1.0)
        if decision.query:
            model.learn(x, int(y))
    assert rng.random() == twin.random()


@EVERY
def test_a_question_is_closed_once_and_may_be_forgotten(make, labels):
    model = make()
    tickets = [ticket for ticket in (model.decide(x).ticket for x in X[:40]) if ticket]
    assert model.open_tickets == tickets
    assert tickets
    model.forget(tickets[0])
    for gone in (tickets[0], 999):
        for close in (model.forget, lambda ticket: model.learn(ticket, 1)):
            with pytest.raises(RuntimeError, match=rf"ticket must be of an open question, got {gone}; open are"):
                close(gone)
    assert model.open_tickets == tickets[1:]


@pytest.mark.parametrize("key", [key for key in PARAMETERS if "classes" not in key])
def test_single_precision_decides_as_double_does_away_from_ties(key):
    one, other = (made(samplers.make, key, dtype=dtype, **PARAMETERS[key]) for dtype in ("float64", "float32"))
    a, b = one.run(X[:60], SIGNS[:60]), other.run(X[:60], SIGNS[:60])
    assert np.mean(a.prediction == b.prediction) > 0.9
    assert np.mean(a.queried == b.queried) > 0.9
    assert other.weights.dtype == np.float32
