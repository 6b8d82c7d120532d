"""The formulae of a round at numbers that a pocket calculator checks, and the defaults and texts of the catalogue."""

from __future__ import annotations

from dataclasses import asdict
from math import exp, inf, log, sqrt

import numpy as np
import pytest

from lpsm import samplers
from lpsm.samplers import core, kernels
from lpsm.samplers.core import Now
from lpsm.samplers.rows import Row
from lpsm.samplers.saving import PARTS
from lpsm.samplers.tuned import charge, vote

WIDTH = sqrt(log(7))  # sqrt(K ln t / N) at K = 2, t = 7, N = 2


def chance(key, parameters, counts, p, r, norm2, scalars=(0.0, 0.0, 0.0, 1.0), bias=0.3):
    numbers = np.zeros(core.N_COUNTS, dtype=np.int64)
    for name, value in counts.items():
        numbers[getattr(core, name)] = value
    model = samplers.make(key, 3, **parameters)
    margin = p / (1.0 + r) if getattr(model.learner, "includes_instance", False) else p
    if model.rule.chance is None:
        return 1.0
    arguments = (float(one) for one in (p, r, margin, norm2, bias))
    return model.rule.chance(model.rule.numbers(), numbers, np.array(scalars), *arguments)


@pytest.mark.parametrize(
    ("key", "parameters", "counts", "p", "r", "norm2", "expected"),
    [
        ("perceptron-ss", {"b": inf}, {}, -1.5, 0.0, 1.0, 1.0),
        ("perceptron-ss-adaptive", {"beta": 0.5}, {"STORED": 3}, 1.0, 0.0, 4.0, 4.0 / 5.0),  # b_t = .5 x 4 x 2
        ("perceptron-ss-adaptive", {"beta": 0.5}, {}, 0.0, 0.0, 0.0, 1.0),  # nothing but zeros so far
        ("ss", {"K": 2.0}, {"ROUND": 7, "STORED": 2}, 1.5 * 0.5 * (WIDTH - 1e-9), 0.5, 0.25, 1.0),  # |x| = .5
        ("ss", {"K": 2.0}, {"ROUND": 7, "STORED": 2}, -1.5 * 0.5 * (WIDTH + 1e-9), 0.5, 0.25, 0.0),
        ("ss", {"K": 2.0}, {"ROUND": 7, "STORED": 0}, 99.0, 0.5, 0.25, 1.0),
        ("ss", {"K": inf}, {"ROUND": 7, "STORED": 2}, 99.0, 0.5, 0.25, 1.0),
        ("ssnci", {"K": 2.0}, {"ROUND": 7, "STORED": 2}, -0.5 * (WIDTH - 1e-9), 0.5, 0.25, 1.0),
        ("ssnci", {"K": 2.0}, {"ROUND": 7, "STORED": 2}, 0.5 * (WIDTH + 1e-9), 0.5, 0.25, 0.0),
        ("ssnl", {"K": 2.0}, {"ROUND": 7, "STORED": 2}, 1.5 * 0.5 * (WIDTH + 1e-9), 0.5, 0.25, 0.0),
        ("adaptive-sampler", {"lambda_": 32.0}, {"ROUND": 7, "STORED": 4}, 1.5 * (WIDTH - 1e-9), 0.5, 9.0, 1.0),
        ("adaptive-sampler", {"lambda_": 32.0}, {"ROUND": 7, "STORED": 4}, 1.5 * (WIDTH + 1e-9), 0.5, 9.0, 0.0),
        ("bbq", {"kappa": 0.5}, {"ROUND": 9}, 9.0, 0.5 + 1e-9, 1.0, 1.0),  # r/(1+r) = 1/3 = 9^-.5
        ("bbq", {"kappa": 0.5}, {"ROUND": 9}, 9.0, 0.5 - 1e-9, 1.0, 0.0),
        ("dkm", {}, {}, -0.4, 0.0, 1.0, 1.0),
        ("dkm", {}, {}, -0.4 - 1e-9, 0.0, 1.0, 0.0),
        ("filter", {"K": 2.0}, {"ROUND": 7, "STORED": 2}, -1.5 * 0.5 * (WIDTH - 1e-9), 0.5, 0.25, 1.0),
        ("filter", {"K": 2.0}, {"ROUND": 7, "STORED": 2}, -1.5 * 0.5 * (WIDTH + 1e-9), 0.5, 0.25, 0.0),
        ("filter", {"K": 2.0}, {"ROUND": 7, "STORED": 0}, -99.0, 0.5, 0.25, 1.0),
        ("ffoat", {}, {"ROUND": 9, "FALSE_POSITIVES": 3}, -9.0, 0.0, 1.0, 2.0 / 3.0),  # sqrt((1 + 3)/9)
        ("ffoat", {}, {"ROUND": 2, "FALSE_POSITIVES": 3}, -9.0, 0.0, 1.0, 1.0),
        ("ffoat", {}, {"ROUND": 9, "FALSE_POSITIVES": 3}, 0.0, 0.0, 1.0, 1.0),
        ("fsole", {"C": 0.5}, {}, 0.75, 0.5, 1.0, 1.0),
        ("iwal", {"floor": 0.2}, {"ROUND": 1}, 9.0, 0.5, 1.0, 1.0),
        ("iwal", {"floor": 0.2}, {"ROUND": 50}, 9.0, 0.0, 1.0, 1.0),
        ("iwal", {"floor": 0.2}, {"ROUND": 50}, 900.0, 0.5, 1.0, 0.2),
    ],
)
def test_the_chance_of_a_question(key, parameters, counts, p, r, norm2, expected):
    assert chance(key, parameters, counts, p, r, norm2, (0.4, 0.0, 0.0, 1.0)) == pytest.approx(expected, abs=1e-12)


def test_the_largest_norm_at_an_update_counts_where_it_exceeds_that_of_the_instance():
    found = chance("perceptron-ss-adaptive", {"beta": 0.5}, {"STORED": 3}, 1.0, 0.0, 1.0, (0.0, 4.0, 0.0, 1.0))
    assert found == pytest.approx(4.0 / 5.0)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("key", "parameters", "kept", "p", "y", "weight", "reach", "weights", "after"),
    [  # of x = (1, 2) at w = (.5, 0); AROW has S = (1, 1/4), AdaGrad sums (3, 5)
        ("arow-diagonal", {"r": 2.0}, (0, 3), 0.5, 1, 1, 2.0, (0.625, 0.0625), (1 / 0.75 - 1, 1 / 0.1875 - 1)),
        ("arow-diagonal", {"r": 2.0}, (0, 3), 0.5, -1, 1, 2.0, (0.125, -0.1875), (1 / 0.75 - 1, 1 / 0.1875 - 1)),
        ("adagrad", {"eta": 0.6}, (3, 5), 3.0, -1, 1, 1.1, (0.2, -0.4), (4, 9)),  # .6 x (1/2 + 4/3), a step of .6
        ("adagrad", {"eta": 0.6}, (3, 5), 3.0, -1, 2, 1.1, (-0.1, -0.8), (4, 9)),
        ("adagrad", {"eta": 0.6}, (3, 5), 0.56, 1, 1, 1.1, (0.62, 0.16), (4, 9)),  # .44/(11/6) = .24 make it 1
    ],
)
def test_a_step_of_the_learners_that_keep_a_number_a_feature(
    sparse, key, parameters, kept, p, y, weight, reach, weights, after
):
    model, columns = samplers.make(key, 3, **parameters), np.array([2, 0] if sparse else [0, 1], dtype=np.int32)
    learner, counts, scalars, expected = model._learner, model._counts, model._scalars, np.zeros(3)
    learner.kept[0, columns], learner.weights[0, columns], scalars[core.WEIGHT] = kept, (0.5, 0.0), weight
    expected[columns] = weights
    for x in (np.array([1.0, 2.0]), np.zeros(2)):  # nothing moves by an instance of zeros
        row, scores = Row(x, columns, 2, sparse), np.zeros((1, 1))
        now = Now(counts, scalars, row, scores, 0, 0, 0, 0.0, 0.0, float(p) if x.any() else 0.0, 0.0, float(y), 0.0)
        r = learner.spread(now)
        assert r == pytest.approx(reach if x.any() else 0.0)
        learner.store(now._replace(r=r))
        assert learner.weights[0] == pytest.approx(expected)
        assert learner.kept[0, columns] == pytest.approx(after)


@pytest.mark.skipif(core._plain(), reason="plain Python has no addresses")
@pytest.mark.parametrize(
    ("key", "dtype"), [("randomized-budget-perceptron", "float64"), ("lasec", "float64"), ("adagrad", "float32")]
)
def test_a_record_in_memory_has_the_places_of_its_arrays_and_no_owner_who_could_be_gone_when_it_is_read(key, dtype):
    sampler = samplers.make(key, 3, dtype=dtype)
    sampler.run(np.eye(3), [1, -1, 1])
    arrays: list[np.ndarray] = []
    kernels.changed(sampler._learner, lambda name, array: arrays.append(array) or array)
    (place, _), at = core.pinned(sampler._learner), 0
    for (
        array
    ) in arrays:  # who counts the users, whose memory it is, how many numbers of which size, where, and the shape
        assert place[at : at + 5].tolist() == [0, 0, array.size, array.itemsize, array.ctypes.data]
        assert place[at + 5 : at + 5 + array.ndim].tolist() == list(array.shape)
        at += 5 + 2 * array.ndim
    assert at > 13


def test_votes_and_charges():
    weights, costs = np.array([0.25, 0.75]), np.array([1.0, 3.0])
    told = np.zeros((3, 9))  # the last row is the company's
    told[:2, core.PREDICTION], told[:2, core.CHANCE] = (1.0, -1.0), (0.2, 0.4)
    assert vote(weights, told, 0.1) == pytest.approx((-0.5, 0.9 * 0.35 + 0.1))
    assert charge(weights, costs, 4.0) == pytest.approx(4.0 + 0.75 * 4.0)  # costs above the least, squared
    assert costs == pytest.approx(sqrt(log(2) / 5.0) * np.array([1.0, 3.0]))
    many = np.array([0.5, 0.0, 0.0, 0.0])
    charge(np.full(4, 0.25), many, 0.0)  # ln 4 is above 1, the rate is not
    assert many[0] == 0.5


def test_the_adaptive_sampler_stores_what_it_scheduled_though_others_store_mistakes_alone():
    rule = samplers.AdaptiveSampler(rho=3.0)  # N = 0, 1, 2, 3 are at most 3
    model = samplers.Sampler(samplers.LeastSquares(), rule, n_features=1, stores="mistakes")
    assert model.run(np.ones((4, 1)), np.ones(4)).stored.all()


def test_the_schedule_of_the_adaptive_sampler():
    rule = samplers.AdaptiveSampler(lambda_=2.0)
    assert rule.schedule(3, 1) == (12.0, 0.0)  # 16/4 max(3, ln t)
    assert rule.schedule(3, 200) == pytest.approx((4.0 * log(200), 0.0))
    own = samplers.AdaptiveSampler(rho=lambda t: 2.0 * t, bias=lambda t: 1.0 / t)
    assert own.schedule(3, 4) == (8.0, 0.25)
    assert samplers.AdaptiveSampler(rho=7, bias=0.5).schedule(3, 4) == (7.0, 0.5)


def test_the_defaults_of_every_part():
    found = {name: asdict(part()) for name, part in PARTS.items() if name != "CallableKernel"}
    coin = {"b": 0.5, "adaptive": False, "symbol": "b"}
    assert found == {
        "Perceptron": {"eta": 1.0}, "ModifiedPerceptron": {"factor": 2.0}, "ShiftingPerceptron": {"lambda_": 0.01},
        "BudgetPerceptron": {"B": 500, "eta": 1.0}, "LeastSquares": {"a": 1.0, "includes_instance": True},
        "Lasec": {"b": 1.0, "c": 100.0}, "Neighbours": {}, "KeptRate": {"rate": 0.1, "step": 0.02},
        "DiagonalArow": {"r": 1.0}, "AdaGrad": {"eta": 0.5}, "Linear": {},
        "Radial": {"gamma": 1.0}, "Polynomial": {"degree": 3, "gamma": 1.0, "coef0": 1.0}, "Always": {},
        "Coin": coin, "SecondOrderCoin": coin, "FixedCoin": {"rate": 0.5}, "SmallMargin": {"K": 1.0},
        "NextLabel": {"K": 1.0}, "Variance": {"kappa": 0.3}, "Halving": {"R": 10, "s_1": 1.0},
        "AdaptiveSampler": {"lambda_": 1.0, "rho": None, "mistake_driven": False, "bias": None}, "Filter": {"K": 1.0},
        "AppleTasting": {"count_forced": False}, "LabelEfficientFilter": {"C": 1.0},
        "ImportanceWeighted": {"c_0": 0.0001, "floor": 0.01},
    }  # fmt: skip
    model = samplers.make("iwal", 2)
    assert (model.stores, model.normalize, model.max_queries) == ("small margins", False, None)


def test_what_the_catalogue_says_of_an_algorithm():
    entry = samplers.registry()["adaptive-sampler"]
    assert entry.written == "adaptive-sampler [lambda=1.0] [mistake_driven=False] [a=1.0]"
    assert entry.example == "lpsm label sms-spam --algorithm adaptive-sampler --param lambda=1.0"
    assert [parameter.name for parameter in entry.parameters] == ["lambda_", "rho", "mistake_driven", "bias", "a"]
    assert samplers.registry()["dkm"].source == ("T figures 3-4 and 4-3 (DKM^2 of T table 4.1) (T: Monteleoni 2006)")
    assert samplers.registry()["iwal"].source.endswith(
        "(IU: Karampatziakis and Langford 2011; IW: Beygelzimer, Hsu, Langford and Zhang 2010)"
    )
    assert samplers.registry()["arow-ss"].source.endswith(
        "(W: Cesa-Bianchi, Gentile and Zaniboni 2004; AROW: Crammer, Kulesza and Dredze 2009)"
    )
    assert samplers.describe("sole").startswith("sole(C=1.0, a=1.0): The second-order label-efficient classifier asks")
    assert samplers.registry()["sole"].recipe is samplers.registry()["sop-label-efficient"].recipe


def test_kernels_at_a_pair_of_vectors():
    x, z = [1.0, 2.0], [3.0, -0.5]
    for kernel, parameters, expected in (
        ("rbf", {"gamma": 0.1}, exp(-0.1 * (4.0 + 6.25))), ("linear", {}, 2.0),
        ("poly", {"gamma": 0.5, "degree": 3, "coef0": 2.0}, 27.0), ("polynomial", {}, 27.0),  # (2 + 1)^3
        (lambda a, b: float(a @ b) + 1.0, {}, 3.0),
    ):  # fmt: skip
        model = samplers.make("perceptron", 2, kernel=kernel, **parameters)
        model.run([z], [-1])
        assert model.margins([x])[0] == pytest.approx(-expected)
    assert kernels.as_kernel(None) is None
