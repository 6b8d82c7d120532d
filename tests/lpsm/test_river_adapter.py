"""Samplers inside river's own progressive validation; skipped where river is not installed."""

import numpy as np
import pytest

river = pytest.importorskip("river")

from river import compose, datasets, evaluate, metrics, preprocessing  # noqa: E402

from lpsm import samplers  # noqa: E402
from lpsm import synthetic_streams as streams  # noqa: E402
from lpsm.samplers.river_adapter import ActiveRiverSampler, RiverSampler  # noqa: E402


def example(n=400):
    stream = streams.separable(n, 3, 0.1, np.random.default_rng(0))
    rows = [
        ({f"x{j}": float(v) for j, v in enumerate(x)}, bool(y > 0)) for x, y in zip(stream.X, stream.y, strict=True)
    ]
    return stream, rows


@pytest.mark.parametrize("key", ["ssmd", "sop-ss", "perceptron-ss", "dkm"])
def test_progressive_validation_sees_the_predictions_of_the_run(key):
    stream, rows = example()
    log = samplers.make(key, 3, rng=np.random.default_rng(5)).run(stream.X, stream.y)
    accuracy = np.mean(log.prediction == stream.y)
    plain = RiverSampler(key, seed=5)
    assert evaluate.progressive_val_score(rows, plain, metrics.Accuracy()).get() == pytest.approx(accuracy)
    assert plain.n_queries == log.queried.sum()
    active = ActiveRiverSampler(RiverSampler(key, seed=5))
    steps = list(evaluate.iter_progressive_val_score(rows, active, metrics.Accuracy(), step=400))
    assert steps[-1]["Accuracy"].get() == pytest.approx(accuracy)
    assert steps[-1]["Samples used"] == log.queried.sum()


def test_labels_that_were_not_asked_for_are_not_looked_at():
    _, rows = example(100)
    model = RiverSampler("perceptron-ss", {"b": 0.2}, seed=1)
    for x, y in rows:
        model.learn_one(x, y if model.ask(x) else "no label at all")
    assert 0 < model.n_queries < 100


def test_it_works_behind_a_scaler_on_one_of_rivers_own_data_sets():
    model = compose.Pipeline(preprocessing.StandardScaler(), RiverSampler("sop-label-efficient", {"C": 0.5}, seed=0))
    score = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert score.get() > 0.8


def test_a_round_is_one_instance_however_often_it_is_predicted():
    _, rows = example(20)
    model = RiverSampler("perceptron-ss", seed=0)
    for x, y in rows:
        model.predict_one(x)
        model.predict_proba_one(x)
        model.ask(x)
        model.learn_one(x, y)
    assert model.sampler.rounds == 20


def test_words_without_end_are_hashed():
    texts = [({"cheap": 1, "pills": 1}, True), ({"dear": 1, "friend": 1}, False)] * 40
    model = RiverSampler("perceptron", n_hashed=2**10)
    assert evaluate.progressive_val_score(texts, model, metrics.Accuracy()).get() > 0.9
    assert model.predict_one({"pills": 2}) is True


def test_clones_are_fresh_and_alike():
    model = RiverSampler("ssmd", {"K": 0.3}, classes=("ham", "spam"), seed=4)
    model.learn_one({"a": 1.0}, "spam")
    copy = model.clone()
    assert copy.sampler is None
    assert (copy.key, copy.params, copy.classes, copy.seed) == ("ssmd", {"K": 0.3}, ("ham", "spam"), 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RiverSampler(classes=("one",)), "classes must be two different labels"),
        (lambda: RiverSampler(features=["a"], n_hashed=4), "features and n_hashed exclude each other"),
        (lambda: RiverSampler(features=["a"]).predict_one({"b": 1.0}), "x must hold only the features .* got 'b'"),
        (lambda: RiverSampler().learn_one({"a": 1.0}, "?"), "y must be one of the classes"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
