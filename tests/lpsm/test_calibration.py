"""Probabilities from the labels that were bought: the scale by hand, and what each door enters for it."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from lpsm import samplers
from lpsm.samplers import SelectiveClassifier
from lpsm.samplers.calibration import fitted_scale, leads, probabilities
from tests.lpsm.streams import a_stream

X, Y = a_stream(31, rounds=90, d=3)
NAMES = np.where(Y > 0, "yes", "no")


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
    assert fitted_scale(leads(margins), np.array([0, 1, 0])) == 0.0  # all wrong
    assert fitted_scale(leads(np.zeros(4)), np.array([0, 1, 1, 1])) == 0.0  # nothing to go by
    assert fitted_scale(np.zeros((0, 2)), np.zeros(0, dtype=np.int64)) == 0.0
    several = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])  # 3/5 for the right one: e^(2 beta) = 3
    assert fitted_scale(several, np.array([0, 1])) == pytest.approx(log(3) / 2, rel=1e-4)
    assert probabilities(several, 0.5)[0] == pytest.approx(np.array([exp(1), 1, 1]) / (exp(1) + 2))
    for size in (1e-6, 1e6):  # in any units
        assert fitted_scale(size * several, np.array([0, 1])) * size == pytest.approx(log(3) / 2, rel=1e-3)


@pytest.mark.parametrize("key", ["sop-label-efficient", "ss", "sop"])
def test_probabilities_do_not_depend_on_when_they_were_asked_for(key):
    curious, patient = (SelectiveClassifier(key, random_state=1) for _ in range(2))
    for model in (curious, patient):
        model.fit(X[:80], NAMES[:80])
        if model is curious:
            model.predict_proba(X)
        model.partial_fit(X[80:], NAMES[80:])
    np.testing.assert_array_equal(curious.predict_proba(X), patient.predict_proba(X))


@pytest.mark.parametrize("way", ["a long run", "a short run", "by an oracle", "late"])
def test_a_classifier_enters_the_margins_of_the_rounds_and_the_labels_bought(way):
    rounds = 30 if way == "a short run" else 90
    model = SelectiveClassifier("sop-label-efficient", C=0.3, random_state=1)
    if way == "by an oracle":
        model.set_params(oracle=lambda i, x: NAMES[i]).fit(X, classes=["no", "yes"])
    elif way == "late":
        for start in (0, 30, 60):
            model.partial_fit(X[start : start + 30], classes=["no", "yes"])
            rows = np.flatnonzero(model.tickets_)[::-1]
            model.answer(model.tickets_[rows], NAMES[start + rows])
    else:
        model.fit(X[:rounds], NAMES[:rounds])
    twin, margins, labels = samplers.make("sop-label-efficient", 3, C=0.3, rng=np.random.default_rng(1)), [], []
    owed = []
    for t, (x, y) in enumerate(zip(X[:rounds], Y[:rounds], strict=True), 1):
        d = twin.decide(x)
        if d.query:
            margins.append(d.margin)
            labels.append(int(y > 0))
            owed.append((d.ticket, y))
        if way != "late" or t % 30 == 0:
            for ticket, label in reversed(owed):
                twin.learn(ticket, int(label))
            owed = []
    scale = scale_of(leads(np.array(margins)), labels)
    assert scale > 0.0
    expected = 1.0 / (1.0 + np.exp(-2.0 * scale * twin.margins(X[:5])))
    np.testing.assert_allclose(model.predict_proba(X[:5])[:, 1], expected, rtol=1e-3)
    assert len(labels) < rounds


@pytest.mark.parametrize("way", ["a run", "by an oracle", "late"])
def test_a_classifier_of_several_classes_enters_the_scores_of_the_rounds(way):
    codes = (X @ np.random.default_rng(2).normal(size=(3, 4))).argmax(axis=1)
    names = np.array(["a", "b", "c", "d"])
    model = SelectiveClassifier("ss", K=0.2)
    if way == "by an oracle":
        model.set_params(oracle=lambda i, x: names[codes[i]]).fit(X, classes=names)
    elif way == "late":
        model.partial_fit(X[:30], names[codes[:30]], classes=names).partial_fit(X[30:])
        rows = np.flatnonzero(model.tickets_)
        model.answer(model.tickets_[rows], names[codes[30:][rows]])
    else:
        model.fit(X, names[codes])
    twin, scores, labels, owed = samplers.MulticlassSampler("ss", 3, 4, K=0.2), [], [], []
    for t, (x, c) in enumerate(zip(X, codes, strict=True)):
        d = twin.decide(x)
        if d.query:
            scores.append(twin.last_scores)
            labels.append(int(c))
            owed.append((d.ticket, int(c)))
        if way != "late" or t < 30:
            for question in owed:
                twin.learn(*question)
            owed = []
    for question in owed:
        twin.learn(*question)
    expected = probabilities(twin.scores(X[:5]), scale_of(np.array(scores), labels))
    np.testing.assert_allclose(model.predict_proba(X[:5]), expected, rtol=2e-3)
    assert model.classes_[twin.predict(X)].tolist() == model.predict(X).tolist()
    assert len(labels) < 90
