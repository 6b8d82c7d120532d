"""Samplers inside river's own progressive validation; skipped where river is not installed."""

import numpy as np
import pytest
from numpy.random import default_rng

from tests.tables import cases_of, each, near, rows, value_error

river = pytest.importorskip("river")

from river import checks, evaluate, metrics, preprocessing  # noqa: E402

from lpsm import samplers  # noqa: E402
from lpsm import synthetic_streams as streams  # noqa: E402
from lpsm.samplers.calibration import fitted_scale, leads  # noqa: E402
from lpsm.samplers.river_adapter import ActiveRiverSampler, RiverSampler  # noqa: E402


def example(n=400):
    stream = streams.separable(n, 3, 0.1, default_rng(0))
    return stream, [
        (dict(zip("abc", x, strict=True)), bool(y > 0)) for x, y in zip(stream.X.tolist(), stream.y, strict=True)
    ]


@each("key", "ssmd sop-ss perceptron-ss dkm")
def test_progressive_validation_sees_the_predictions_of_the_run(key):
    stream, rows = example()
    log = samplers.make(key, 3, rng=default_rng(5)).run(stream.X, stream.y)
    accuracy = np.mean(log.prediction == stream.y)
    plain = RiverSampler(key, seed=5)
    assert evaluate.progressive_val_score(rows, plain, metrics.Accuracy()).get() == near(accuracy)
    assert plain.n_queries == log.queried.sum()
    active = ActiveRiverSampler(RiverSampler(key, seed=5))
    steps = list(evaluate.iter_progressive_val_score(rows, active, metrics.Accuracy(), step=400))
    assert steps[-1]["Accuracy"].get() == near(accuracy)
    assert steps[-1]["Samples used"] == log.queried.sum()


@cases_of("classes", "(False, True) ; ('ham', 'spam')")
def test_predictions_by_hand_while_features_appear(classes):
    model, by_hand = RiverSampler("sop", classes=classes), samplers.make("sop", 3)
    assert model.n_queries == 0
    assert model.predict_one({"a": 1.0}) == classes[1]  # SGN(0) = +1
    assert list(model.predict_proba_one({"a": 1.0}).items()) == [(classes[1], 0.5), (classes[0], 0.5)]
    margins, labels = [], []
    for x, row, y in rows("""
{"b": 1.0, "a": 2.0}, [1.0, 2.0, 0.0], -1 ; {"a": -1.0}, [0.0, -1.0, 0.0], 1 ; {"c": 2.0, "b": 1.0}, [1.0, 0.0, 2.0], -1
{"c": 1.0}, [0.0, 0.0, 1.0], 1 ; {"a": 1.0, "c": 0.5}, [0.0, 1.0, 0.5], -1 ; {"a": 2.0, "c": 2.0}, [0.0, 2.0, 2.0], -1
"""):
        model.predict_one({"unheard of": 9.0, **x})  # is not remembered
        decision = by_hand.decide(row)
        assert model.ask(x)
        assert model.ask(dict(x))  # the round is open already
        model.learn_one(x, classes[y > 0])
        by_hand.learn(row, y)
        margins.append(decision.margin)
        labels.append(int(y > 0))
    assert (model.n_queries, model.sampler.rounds, model.sampler.n_features) == (6, 6, 3)
    scale = fitted_scale(leads(np.array(margins)), np.array(labels))
    for x, row in (({"a": 1.0}, [0.0, 1.0, 0.0]), ({"b": -1.0, "z": 3.0}, [-1.0, 0.0, 0.0]), ({}, [0.0, 0.0, 0.0])):
        margin = by_hand.margins([row])[0]
        chance = 1.0 / (1.0 + np.exp(-2.0 * scale * margin))
        found = model.predict_proba_one(x)
        assert found == near({classes[1]: chance, classes[0]: 1.0 - chance})
        assert next(iter(found)) == model.predict_one(x) == classes[int(margin >= 0.0)]
    assert scale > 0.0


def test_an_active_sampler_owes_labels_to_the_oldest_instance_first_and_looks_at_no_others():
    model = ActiveRiverSampler(RiverSampler("sop-fixed-bias", {"rate": 0.5, "normalize": False}, seed=0))
    coins, by_hand = default_rng(0), samplers.make("sop", 1)
    asked = [model.predict_one({"a": float(i)})[1] for i in range(1, 9)]
    assert asked == (coins.random(8) < 0.5).tolist()
    assert 0 < sum(asked) < 8
    model.predict_proba_one({"a": 8.0})  # the other half of the last round
    assert model.sampler.sampler.rounds == 8
    for i, wanted in enumerate(asked, 1):
        model.learn_one({"a": float(i)}, (i % 2 == 0) if wanted else "not looked at")
        if wanted:
            by_hand.decide([float(i)])
            by_hand.learn([float(i)], 1 if i % 2 == 0 else -1)
        if not wanted and i < 8:  # its round is played anew, and the answer is no
            break
    assert model.sampler.n_queries >= sum(asked)


def test_labels_of_instances_asked_about_before_others_come_late_and_close_their_questions():
    model, rng = RiverSampler("sop", features=["a"]), default_rng(1)
    rows = [{"a": float(value)} for value in rng.normal(size=100)]
    assert all(model.ask(x) for x in rows)
    for x in rows[:99]:
        model.learn_one(x, x["a"] > 0)
    assert (model.sampler.rounds, model.sampler.stored > 0, model.sampler.open_tickets) == (100, True, [100])
    model.forget(rows[99])
    assert model.sampler.open_tickets == []
    with value_error("x must be an instance that was asked about, got"):
        model.forget(rows[99])


MODELS = [kind(**given) for kind in (RiverSampler, ActiveRiverSampler) for given in kind._unit_test_params()]


@each("model", [pytest.param(one, marks=[] if i == 1 else pytest.mark.long) for i, one in enumerate(MODELS)])
def test_every_check_of_river_passes(model):
    checks.check_estimator(model)


@cases_of("delay", "None ; 20")
def test_a_scaler_and_late_labels_leave_a_round_an_instance(delay):
    _, rows = example(600)
    rows = [({name: 5.0 + 3.0 * value for name, value in x.items()}, y) for x, y in rows]
    scaler, by_hand = preprocessing.StandardScaler(), samplers.make("ssmd", 3, K=0.1)
    for x, y in rows:
        scaler.learn_one(x)
        row = list(scaler.transform_one(x).values())
        decision = by_hand.decide(row)
        if decision.query:
            by_hand.learn(row, 1 if y else -1)
    model = preprocessing.StandardScaler() | RiverSampler("ssmd", {"K": 0.1})
    evaluate.progressive_val_score(rows, model, metrics.Accuracy(), delay=delay)
    inner = model["RiverSampler"]
    assert inner.sampler.rounds == 600
    assert inner.n_queries == by_hand.queries < 500


def test_labels_of_an_active_sampler_come_late_and_in_another_order_to_the_instances_asked_about():
    _, rows = example(60)
    model = ActiveRiverSampler(preprocessing.StandardScaler() | RiverSampler("sop-label-efficient", {"C": 0.3}, seed=2))
    scaler, by_hand, owed = preprocessing.StandardScaler(), samplers.make("sop-label-efficient", 3, C=0.3, rng=2), []
    for t, (x, y) in enumerate(rows):
        _, wanted = model.predict_one(x)
        decision = by_hand.decide(list(scaler.transform_one(x).values()))
        assert wanted == decision.query
        if wanted:
            owed.append((x, y, decision.ticket))
        if t % 7 == 6:
            for x_then, y_then, ticket in reversed(owed):
                model.learn_one(x_then, y_then)
                scaler.learn_one(x_then)
                by_hand.learn(ticket, 1 if y_then else -1)
            owed = []
    np.testing.assert_allclose(model.sampler.sampler.weights, by_hand.weights, atol=1e-12)
