"""What a sampler does not take it names, with the rule and the value; what is odd but legal it learns from."""

from __future__ import annotations

import warnings
from math import inf, nan

import numpy as np
import pytest
from scipy import sparse

from lpsm import samplers
from tests.lpsm.test_samplers_oracles import EVERY_ROUND, D, a_stream

X, Y = a_stream(21)
KEYS = samplers.keys()


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
        ("sop", {"kernel": "poly", "degree": 2.5}, "degree must be a positive integer, got 2.5"),
        ("sop", {"kernel": "poly", "coef0": -0.5}, "coef0 must be non-negative, got -0.5"),
        ("sop", {"kernel": samplers.Radial(), "gamma": 2.0}, r"parameters of a kernel need its name, got \['gamma'\]"),
        ("adaptive-sampler", {"rho": nan}, "rho must be non-negative, got nan"),
        ("iwal", {"c_0": 0.0}, "c_0 must be positive and finite, got 0.0"),
        ("dkm", {"R": True}, "R must be an integer of at least 1, got True"),
        ("filter", {"K": -1.0}, "K must be positive, got -1.0"),
        ("ssnl", {"K": nan}, "K must be positive, got nan"),
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
    for bad in (nan, inf, -inf):
        with pytest.raises(ValueError, match=f"x must be finite, got {bad} in feature 2"):
            sampler.decide(np.array([0.0, 1.0, bad, 0.0, 0.0, 0.0, 0.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype, large in (("float64", 1e155), ("float64", -1e308), ("float32", 1e20)):
            sampler = samplers.make("perceptron", n_features=D, dtype=dtype)
            broken = X.copy()
            broken[17, 3] = large
            with pytest.raises(ValueError, match=r"lengths that are finite, got a feature of .* in row 17"):
                sampler.run(make_rows(broken), Y)
            for one in (sparse.csr_matrix(broken[17]), broken[17], list(broken[17])):
                with pytest.raises(ValueError, match=r"squared lengths? that (is|are) finite, got a feature of 1e"):
                    sampler.decide(one)
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
    holes[3] = 1e-170 * X[3]  # so short that its squared length is rounded to zero
    with pytest.raises(ValueError, match="no zero row where instances are normalised, row 3 is"):
        samplers.make("perceptron-ss", n_features=D).run(make_rows(holes), Y)
    with pytest.raises(ValueError, match="x must not be zero where instances are normalised"):
        samplers.make("dkm", n_features=D).decide(holes[3])
    holes[[0, 3]] = 0.0
    for key in KEYS:
        model = samplers.make(key, n_features=D, normalize=False, rng=np.random.default_rng(0))
        log = model.run(make_rows(holes[:20]), Y[:20])
        assert (log.margin[[0, 3]] == 0.0).all()
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
    one_sided = np.abs(X[:40])
    for key in KEYS:
        log = samplers.make(key, n_features=D, rng=np.random.default_rng(0)).run(one_sided, np.full(40, label))
        if key in EVERY_ROUND:
            assert np.mean(log.prediction[20:] == label) == 1.0
        assert np.isfinite(log.margin).all()


def test_integers_and_lists_are_instances_too():
    sampler = samplers.make("perceptron", n_features=2)
    sampler.run([[1, 0], [0, 1]], [-1, 1])
    np.testing.assert_array_equal(sampler.weights, [-1.0, 0.0])


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("indices", 10**6, rf"X must have columns below {D}, got .* to 1000000"),
        ("indices", -5, rf"X must have columns below {D}, got -5 to"),
        ("indptr", 10**6, "X must have row pointers that rise from 0 to"),
    ],
)
def test_sparse_rows_whose_columns_lie_outside_are_refused_before_a_round_goes_there(part, value, message):
    for key in ("sop", "ssmd"):
        rows = sparse.csr_matrix(X[:8])
        getattr(rows, part)[3] = value
        with pytest.raises(ValueError, match=message):
            samplers.make(key, D).run(rows, Y[:8])


@pytest.mark.parametrize(
    "x", [np.ma.masked_array(np.ones(D)), np.ones(D, dtype=complex), np.full(D, None), ["a"] * D, [10**400] * D]
)
def test_instances_that_are_no_real_numbers_are_refused_by_name(x):
    with pytest.raises(TypeError, match=r"^x must be an array of numbers, got"):
        samplers.make("sop", D).decide(x)
    with pytest.raises(TypeError, match=r"^X must be an array of numbers, got"):
        samplers.make("sop", D).run([x] if isinstance(x, list) else x[None], [1])
