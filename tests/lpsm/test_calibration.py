"""Probabilities from the labels that were bought: the scale by hand, and what each door enters for it."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from lpsm import samplers
from lpsm.samplers import SelectiveClassifier
from lpsm.samplers.calibration import LEAST, fitted_scale, leads, probabilities
from tests.lpsm.frozen.streams import a_stream

X, Y = a_stream(31, rounds=90, d=3)


def scale_of(scores, labels):
    """The definition: softened targets, log loss, and its least over beta >= 0, by another minimiser."""
    n, k = scores.shape

    def loss(beta):
        chances = np.exp(beta * scores) / np.exp(beta * scores).sum(axis=1, keepdims=True)
        targets = np.where(np.arange(k) == np.array(labels)[:, None], (n + 1) / (n + k), 1 / (n + k))
        return -(targets * np.log(chances)).sum()

    return max(minimize_scalar(loss).x, 0.0)


def test_the_scale_by_hand():
    margins = np.array([0.5, -0.5, 0.5])
    # three of three right: the target is 4/5, and sigmoid(2 beta/2) is that at beta = ln 4
    assert fitted_scale(leads(margins), np.array([1, 0, 1])) == pytest.approx(log(4), rel=1e-4)
    assert probabilities(leads(margins), log(4))[:, 1] == pytest.approx([0.8, 0.2, 0.8])
    assert fitted_scale(leads(margins), np.array([0, 1, 0])) == pytest.approx(2 * LEAST)  # all wrong
    assert fitted_scale(leads(np.zeros(4)), np.array([0, 1, 1, 1])) == LEAST  # their size is not known
    assert fitted_scale(np.zeros((0, 2)), np.zeros(0, dtype=np.int64)) == 0.0
    several = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])  # 3/5 for the right one: e^(2 beta) = 3
    assert fitted_scale(several, np.array([0, 1])) == pytest.approx(log(3) / 2, rel=1e-4)
    assert probabilities(several, 0.5)[0] == pytest.approx(np.array([exp(1), 1, 1]) / (exp(1) + 2))
    for size in (1e-6, 1e6):  # in any units
        assert fitted_scale(size * several, np.array([0, 1])) * size == pytest.approx(log(3) / 2, rel=1e-3)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("way", ["a run", "a short run", "by an oracle", "late"])
def test_a_classifier_enters_the_scores_of_the_rounds_and_the_labels_bought(way, several):
    rounds = 30 if way == "a short run" else 90
    codes = (X @ np.random.default_rng(2).normal(size=(3, 4))).argmax(axis=1) if several else (Y > 0).astype(int)
    names = np.array(["a", "b", "c", "d"] if several else ["no", "yes"])
    key, own = ("ss", {"K": 0.2}) if several else ("sop-label-efficient", {"C": 0.3})
    model = SelectiveClassifier(key, random_state=1, **own)
    if way == "by an oracle":
        model.set_params(oracle=lambda i, x: names[codes[i]]).fit(X, classes=names)
    elif way == "late":
        for start in (0, 30, 60):
            model.partial_fit(X[start : start + 30], classes=names)
            model.predict_proba(X)  # which changes nothing
            rows = np.flatnonzero(model.tickets_)
            model.answer(model.tickets_[rows], names[codes[start + rows]])
    else:
        model.fit(X[:rounds], names[codes[:rounds]])
    rng = np.random.default_rng(1)
    twin = samplers.MulticlassSampler(key, 3, 4, rng=rng, **own) if several else samplers.make(key, 3, rng=rng, **own)
    scores, labels, owed = [], [], []
    for t in range(rounds):
        decision = twin.decide(X[t])
        if decision.query:
            scores.append(twin.last_scores if several else leads(np.array([decision.margin]))[0])
            labels.append(int(codes[t]))
            owed.append((decision.ticket, int(codes[t]) if several else int(Y[t])))
        if way != "late" or t % 30 == 29:
            for question in owed:
                twin.learn(*question)
            owed = []
    said = twin.scores(X[:5]) if several else leads(twin.margins(X[:5]))
    expected = probabilities(said, scale_of(np.array(scores), labels))
    np.testing.assert_allclose(model.predict_proba(X[:5]), expected, rtol=2e-3)
    assert not np.allclose(expected, 1.0 / len(names))
    assert len(labels) < rounds
    predicted = twin.predict(X) if several else (twin.margins(X) >= 0).astype(int)
    assert model.classes_[predicted].tolist() == model.predict(X).tolist()
