"""Several classes: with two it is the binary sampler, with more its definition, and one question an instance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lpsm import samplers
from lpsm.samplers.multiclass import MulticlassSampler
from tests.lpsm.test_samplers_oracles import a_stream, by_rounds

KEYS = {
    "ss": {"K": 0.4}, "ssmd": {"K": 0.05}, "ssnci": {"K": 0.4}, "sop-label-efficient": {"C": 0.3}, "sop-ss": {"b": 0.2},
    "perceptron-ss": {"b": 0.6}, "bbq": {"kappa": 0.27}, "arow-ss": {"b": 0.3}, "arow-diagonal-ss": {"b": 0.3},
    "iwal": {"c_0": 2e-4}, "lasec-ss": {"a": 0.2, "c": 15.0}, "dkm-perceptron": {"R": 6},
}  # fmt: skip
PRIMAL_ONLY = {"arow-diagonal-ss", "iwal"}


def several(seed, rounds=200, d=5, k=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, d)) + 0.01
    return X, (X @ rng.normal(size=(d, k)) + 0.3 * rng.normal(size=(rounds, k))).argmax(axis=1)


@pytest.mark.parametrize("form", ["dense", "sparse", "rbf"])
@pytest.mark.parametrize(("key", "parameters"), KEYS.items())
def test_two_classes_are_the_binary_sampler(key, parameters, form):
    X, y = a_stream(3, rounds=50, d=4)
    options = {**parameters, **({"kernel": "rbf"} if form == "rbf" and key not in PRIMAL_ONLY else {})}
    rows = sparse.csr_matrix(X) if form == "sparse" else X
    binary = samplers.make(key, 4, rng=np.random.default_rng(1), **options)
    margin, prediction, queried, stored = by_rounds(binary, rows, y)
    model = MulticlassSampler(key, 4, 2, rng=np.random.default_rng(1), **options)
    for t in range(len(y)):
        d = model.decide(rows[t])
        assert (d.prediction, d.query) == (prediction[t] > 0, queried[t])
        assert d.margin == pytest.approx(abs(margin[t]), abs=1e-9)
        if d.query:
            assert model.learn(d.ticket, int(y[t] > 0)) == stored[t]
    scores = model.scores(rows)
    np.testing.assert_allclose((scores[:, 1] - scores[:, 0]) / 2, binary.margins(rows), atol=1e-9)


@pytest.mark.parametrize("kernel", [None, "linear"])
def test_least_squares_for_every_class_is_its_definition(kernel):
    X, y = several(0, rounds=60)
    model = MulticlassSampler("ss", 5, 4, K=0.3, kernel=kernel)
    kept = []
    for t in range(len(y)):
        d = model.decide(X[t])
        A = np.eye(5) + sum((np.outer(X[i], X[i]) for i in kept), np.zeros((5, 5))) + np.outer(X[t], X[t])
        scores = [np.linalg.inv(A) @ sum(((1 if y[i] == c else -1) * X[i] for i in kept), np.zeros(5)) @ X[t]
                  for c in range(4)]  # fmt: skip
        best = sorted(scores)
        m = (best[-1] - best[-2]) / 2
        assert d.margin == pytest.approx(m, abs=1e-9)
        N = len(kept)
        assert d.query == (N == 0 or m * m <= X[t] @ X[t] * 0.3 * np.log(t + 1) / N)
        if d.query:
            kept.append(t)
            assert model.learn(d.ticket, int(y[t]))
    assert 10 < len(kept) < len(y) - 10


def test_the_perceptron_moves_the_true_class_and_the_best_other():
    X, y = several(1)
    model, W = MulticlassSampler("perceptron", 5, 4), np.zeros((4, 5))
    for x, label in zip(X, y, strict=True):
        d = model.decide(x)
        scores = W @ x
        assert scores[d.prediction] == pytest.approx(scores.max())
        if model.learn(d.ticket, int(label)):
            assert d.prediction != label
            others = np.where(np.arange(4) == label, -np.inf, scores)
            W[label] += x
            W[3 - int(others[::-1].argmax())] -= x
    np.testing.assert_allclose(model.scores(X), X @ W.T, atol=1e-9)


def test_there_is_one_question_an_instance_and_a_budget_of_them():
    X, y = several(2, rounds=600)
    model = MulticlassSampler("ss", 5, 4, K=0.3, max_queries=80)
    predicted, queried = model.run(X, y)
    assert queried.sum() == model.queries == 80
    assert (predicted[300:] == y[300:]).mean() > 0.75


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MulticlassSampler("ss", 2, 1), "n_classes must be an integer of at least 2, got 1"),
        (lambda: MulticlassSampler("ffole", 2, 3), "key must be a sampler that has a form for several classes"),
        (lambda: MulticlassSampler("dkm", 2, 3), "key must be a sampler that has a form for several classes"),
        (lambda: MulticlassSampler("ss", 2, 3).run([[1.0, 0.0]], [3]), "y must hold numbers of classes from 0 to 2"),
        (lambda: MulticlassSampler("ss", 2, 3).run([[1.0, 0.0]], [0.5]), "y must hold numbers of classes from 0 to 2"),
        (lambda: MulticlassSampler("ss", 2, 3).run([[1.0, 0.0]], [0, 1]), r"y must have shape \(1,\), got \(2,\)"),
        (lambda: MulticlassSampler("ss", 2, 4).learn(1, 7), "y must be a class from 0 to 3, got 7"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
