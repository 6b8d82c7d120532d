"""Every key against its literal formula: decisions equal on 400 rounds, margins to 1e-8; every form of each."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lpsm import samplers
from lpsm.samplers import kernels, sampler
from tests.lpsm.frozen import streams
from tests.lpsm.frozen.streams import NO_KERNEL as NO_DUAL
from tests.oracles.samplers import margins_by_recursion, play

T, D = 400, 7

PARAMETERS = {key: given for key, given in streams.PARAMETERS.items() if key != "randomized-budget-perceptron"}
NORMALIZED = {
    "perceptron-ss", "sop-ss", "sop-fixed-bias", "modified-perceptron", "adaptive-sampler", "bbq", "bbq-i",
    "dkm", "dkm-perceptron", "cbgz-dkm", "random-perceptron", "random-dkm",
}  # fmt: skip
EVERY_ROUND = {"perceptron", "modified-perceptron", "sop", "ridge", "rls", "rls-all", "lasec", "shifting-perceptron",
               "arow", "arow-diagonal", "adagrad"}  # fmt: skip
CASES = [*PARAMETERS.items(), ("adaptive-sampler", {"lambda_": 40.0, "rho": 12.0, "mistake_driven": True}),
         ("adaptive-sampler", {"lambda_": 1.0, "rho": 12.0, "bias": 0.2}), ("ffoat", {"count_forced": True}),
         ("fsoat", {"count_forced": True})]  # fmt: skip


def a_stream(seed, rounds=T, d=D, noise=0.6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, d)) * rng.uniform(0.3, 2.0, size=(rounds, 1))
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 0] += 0.01  # no zero row
    u = rng.normal(size=d)
    return X, np.where(X @ u + noise * rng.normal(size=rounds) >= 0.0, 1, -1)


def by_rounds(sampler, X, y):
    rows = []
    for x, label in zip(X, y, strict=True):
        decision = sampler.decide(x)
        stored = bool(decision.query) and sampler.learn(x, int(label))
        rows.append((decision.margin, decision.prediction, decision.query, stored))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def assert_same(got, expected, margin_tolerance=1e-8):
    for name, a, b in zip(("prediction", "queried", "stored"), got[1:], expected[1:], strict=True):
        assert np.array_equal(a, b), f"{name} differs first in round {int(np.argmin(np.equal(a, b)))}"
    np.testing.assert_allclose(got[0], expected[0], atol=margin_tolerance, rtol=0)


def of(log):
    return log.margin, log.prediction, log.queried, log.stored


@pytest.mark.parametrize(("key", "parameters"), CASES)
def test_decisions_are_those_of_the_literal_formula(key, parameters):
    for seed in (0, 1):
        X, y = a_stream(seed)
        expected = play(key, X, y, np.random.default_rng(seed), key in NORMALIZED, **parameters)
        sampler = samplers.make(key, n_features=D, rng=np.random.default_rng(seed), **parameters)
        assert_same(by_rounds(sampler, X, y), expected)
        asked = expected[2].mean()
        assert asked == 1.0 if key in EVERY_ROUND else 0.0 < asked < 1.0  # the stream tries both answers


@pytest.mark.parametrize(("key", "parameters"), CASES)
def test_a_few_rounds_in_every_form_are_the_literal_formula(key, parameters, monkeypatch):
    monkeypatch.setattr(sampler, "SHORT", 0)  # every run skips the work that cannot change a decision
    monkeypatch.setattr(kernels, "FIRST_CAPACITY", 2)  # and stored instances outgrow their room
    X, y = a_stream(11, rounds=36, d=3)

    def fresh(kernel=None):
        return samplers.make(key, n_features=3, rng=np.random.default_rng(12), kernel=kernel, **parameters)

    expected = play(key, X, y, np.random.default_rng(12), key in NORMALIZED, **parameters)
    assert_same(by_rounds(fresh(), X, y), expected)
    rows = sparse.csr_matrix(X)
    forms = [fresh().run(X, y), fresh().run(rows, y)]
    forms += [] if key in NO_DUAL else [fresh("linear").run(X, y), fresh("linear").run(rows, y)]
    for log in forms:
        assert_same(of(log), expected)
    assert_same(by_rounds(fresh(), rows, y), expected)
    if key in NO_DUAL:
        with pytest.raises(ValueError, match="kernel must be None for a learner that keeps a number a feature"):
            fresh("linear")
        return
    assert_same(by_rounds(fresh("linear"), rows, y), expected)
    assert_same(of(fresh(lambda x, z: float(x @ z)).run(X, y)), expected)


@pytest.mark.parametrize("key", ["perceptron-ss", "sop-ss", "lasec", "ssmd", "ssnci", "randomized-budget-perceptron"])
@pytest.mark.parametrize(
    ("kernel", "parameters", "features"),
    [
        ("poly", {"degree": 2, "coef0": 0.0}, lambda X: (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)),
        ("rbf", {"gamma": 0.4}, None),
    ],
)  # fmt: skip
def test_a_kernel_is_a_linear_sampler_on_its_features(key, kernel, parameters, features):
    X, y = a_stream(6, rounds=50, d=4)
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = y * np.sign(X[:, 1] + 0.1).astype(int)
    if features is None:  # features of these instances: the rows of a root of their Gram matrix
        gram = np.exp(-parameters["gamma"] * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        values, vectors = np.linalg.eigh(gram)
        Z = vectors * np.sqrt(np.maximum(values, 0.0))
    else:
        Z = features(X)
    own = {"randomized-budget-perceptron": {"B": 12}, "ssmd": {"K": 0.05}, "lasec": {"c": 9.0}}.get(key, {})
    expected = of(samplers.make(key, n_features=Z.shape[1], rng=np.random.default_rng(1), **own).run(Z, y))
    settings = {"n_features": 4, "kernel": kernel, "normalize": False, **parameters, **own}  # X is of unit norm
    for rows in (X, sparse.csr_matrix(X)):
        dual = samplers.make(key, rng=np.random.default_rng(1), **settings)
        assert_same(of(dual.run(rows, y)), expected, margin_tolerance=1e-7)


def test_lasec_is_ridge_on_the_kernel_that_weighs_the_past_by_its_age():
    X, y = a_stream(7, rounds=50)
    learner = samplers.Lasec(b=1.3, c=8.0)
    primal = samplers.Sampler(learner, samplers.Always(), n_features=D, stores="queried")
    dual = samplers.Sampler(learner, samplers.Always(), n_features=D, stores="queried", kernel=samplers.Linear())
    expected = margins_by_recursion(X, y, 1.3, 8.0)
    np.testing.assert_allclose(primal.run(X, y).margin, expected, atol=1e-9)
    np.testing.assert_allclose(dual.run(X, y).margin, expected, atol=1e-9)


def test_the_budget_perceptron_is_the_sum_of_what_it_stores_and_never_of_more():
    X, y = a_stream(8)
    sampler = samplers.make("randomized-budget-perceptron", n_features=D, B=5, rng=np.random.default_rng(2))
    twin = np.random.default_rng(2).spawn(1)[0]
    rows = sparse.csr_matrix(X[:60])
    logs = []
    for table in (X[:60], rows):
        for kernel in (None, "linear"):
            rng = np.random.default_rng(2)
            model = samplers.make("randomized-budget-perceptron", n_features=D, B=5, rng=rng, kernel=kernel)
            logs.append(model.run(table, y[:60]))
    for log in logs[1:]:
        assert_same(of(log), of(logs[0]))
    kept: list[np.ndarray] = []
    for x, label in zip(X, y, strict=True):
        decision = sampler.decide(x)
        assert decision.margin == pytest.approx(sum(float(z @ x) for z in kept), abs=1e-9)
        if sampler.learn(x, int(label)):
            if len(kept) == 5:
                kept[int(twin.random() * 5)] = label * x
            else:
                kept.append(label * x)
    assert len(kept) == 5 < sampler.stored


@pytest.mark.long
@pytest.mark.parametrize(("key", "parameters"), [*CASES, ("randomized-budget-perceptron", {"B": 4})])
def test_runs_loops_and_forms_agree_over_dimensions_lengths_and_seeds(key, parameters):
    for seed in range(40):
        pick = np.random.default_rng(seed)
        d, rounds = int(pick.integers(1, 80)), int(pick.integers(1, 300))
        X, y = a_stream(seed, rounds=rounds, d=d, noise=float(pick.uniform(0.0, 3.0)))
        if seed % 3 == 0:  # few distinct instances: ties, and directions that are exhausted
            X = X[pick.integers(0, min(rounds, 5), size=rounds)]
            y = y[pick.permutation(rounds)]

        def fresh(kernel=None, d=d, seed=seed):
            return samplers.make(key, n_features=d, rng=np.random.default_rng(seed), kernel=kernel, **parameters)

        expected = by_rounds(fresh(), X, y)
        cut = rounds // 3
        run = fresh()
        halves = [of(run.run(X[:cut], y[:cut])), of(run.run(X[cut:], y[cut:]))]
        assert_same([np.concatenate(pair) for pair in zip(*halves, strict=True)], expected, margin_tolerance=0.0)
        if seed % 3:
            assert_same(of(fresh().run(sparse.csr_matrix(X), y)), expected)
            if key not in NO_DUAL:
                assert_same(of(fresh("linear").run(X, y)), expected)
