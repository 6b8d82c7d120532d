"""What a round is made of at numbers that a pocket calculator or numpy checks, and the texts of the catalogue."""

from math import exp, log, sqrt

import numpy as np
import pytest
from numpy.random import default_rng

from lpsm import samplers
from lpsm.native import is_plain
from lpsm.samplers import kernels, linear_algebra, protocol
from lpsm.samplers.ensemble import pinned
from lpsm.samplers.linear_algebra import Row
from lpsm.samplers.state_io import PARTS
from lpsm.samplers.tuned import charge, vote
from tests.tables import cases_of, each, near

BLANK = np.zeros(0, np.int32)
DEFAULTS = """
Perceptron(eta=1.0) ModifiedPerceptron(factor=2.0) ShiftingPerceptron(lambda_=0.01) BudgetPerceptron(B=500, eta=1.0)
LeastSquares(a=1.0, includes_instance=True) Lasec(b=1.0, c=100.0) DiagonalArow(r=1.0) AdaGrad(eta=0.5) Linear()
Radial(gamma=1.0) Polynomial(degree=3, gamma=1.0, coef0=1.0) Neighbours() Always()
Coin(b=0.5, adaptive=False, symbol='b') SecondOrderCoin(b=0.5, adaptive=False, symbol='b') FixedCoin(rate=0.5)
SmallMargin(K=1.0) NextLabel(K=1.0) Variance(kappa=0.3) Halving(R=10, s_1=1.0) KeptRate(rate=0.1, step=0.02)
AdaptiveSampler(lambda_=1.0, rho=None, mistake_driven=False, bias=None) Filter(K=1.0) AppleTasting(count_forced=False)
LabelEfficientFilter(C=1.0) ImportanceWeighted(c_0=0.0001, floor=0.01)
"""


def symmetric(d):
    rng = default_rng(d)
    root = rng.normal(size=(d, d))
    return root @ root.T + np.eye(d), rng.normal(size=d)


@each("d", range(1, 11))
def test_products_of_matrices_and_what_waits_for_them_are_numpys(d):
    matrix, x = symmetric(d)
    upper = np.where(np.tri(d, k=-1) > 0, np.nan, matrix)  # what is below the diagonal is not read
    some = np.array([i for i in range(d) if i % 3 != 1], np.int32)
    waiting, full = default_rng(1).normal(size=(8, d)), np.zeros(d)
    full[some] = x[some]
    for values, columns, sparse, expected in ((x, BLANK, False, matrix @ x), (x[some], some, True, matrix @ full)):
        g, row = np.full(d, 7.0), Row(values.copy(), columns, len(values), sparse)
        linear_algebra.product(matrix, row, g)
        assert g == near(expected, rel=1e-12)
        g[:] = 0.0
        linear_algebra.product_upper(upper, row, g)
        assert g == near(expected, rel=1e-12)
    given = matrix.copy()
    linear_algebra.downdate(given, waiting, 0.25)
    assert given == near(matrix - waiting.T @ waiting + 0.25 * np.eye(d), rel=1e-12)
    upper, v, out = np.triu(matrix), x.copy(), np.zeros(d)
    linear_algebra.solve_lower(upper, d, v)
    assert v == near(np.linalg.solve(upper.T, x), rel=1e-9)
    linear_algebra.solve_upper(upper, d, x, out)
    assert out == near(np.linalg.solve(upper, x), rel=1e-9)


@each("n", range(19))
def test_inner_products_and_sums_are_numpys_and_read_no_further(n):
    rng = default_rng(n)
    a, b = np.full((2, n + 3), np.nan)
    a[:n], b[:n], at = rng.normal(size=n), rng.normal(size=n), rng.permutation(n + 3)[:n].astype(np.int32)
    assert linear_algebra.dot(a, b, n) == near(a[:n] @ b[:n], abs=1e-12)
    dense = rng.normal(size=n + 3)
    for columns, sparse in ((at, True), (np.arange(n, dtype=np.int32), False)):
        assert linear_algebra.along(Row(a, columns, n, sparse), dense) == near(a[:n] @ dense[columns],
            abs=1e-12)  # fmt: skip
        sums, expected = dense.copy(), dense.copy()
        expected[columns] += -1.5 * a[:n]
        linear_algebra.add(sums, -1.5, Row(a, at, n, sparse))
        assert sums == near(expected, abs=1e-12)


def test_of_wide_matrices_the_upper_triangle_is_kept(monkeypatch):
    matrix, x = symmetric(6)
    waiting, row, g = default_rng(1).normal(size=(8, 6)), Row(x, BLANK, 6, False), np.full(6, 7.0)
    linear_algebra.downdate(matrix.copy(), waiting, 0.25)  # compiled, and kept on disk, as it is
    linear_algebra.product(matrix, row, np.zeros(6))
    monkeypatch.setattr(linear_algebra, "WIDE", 5)  # seen by plain Python alone; compiled code reads all of it
    given = matrix.copy()
    linear_algebra.downdate(given, waiting, 0.25)
    assert np.triu(given) == near(np.triu(matrix - waiting.T @ waiting + 0.25 * np.eye(6)), rel=1e-12)
    if linear_algebra.downdate is getattr(linear_algebra.downdate, "py_func", linear_algebra.downdate):
        assert np.tril(given, -1) == near(np.tril(matrix, -1))
    linear_algebra.product(matrix, row, g)
    assert g == near(matrix @ x, rel=1e-12)


@pytest.mark.skipif(is_plain(), reason="plain Python has no addresses")
@cases_of("key dtype", "'randomized-budget-perceptron', 'float64' ; 'lasec', 'float64' ; 'adagrad', 'float32'")
def test_a_record_in_memory_has_the_places_of_its_arrays_and_no_owner_who_could_be_gone_when_it_is_read(key, dtype):
    sampler, arrays = samplers.make(key, 3, dtype=dtype), []
    kernels.changed(sampler._own.arrays, lambda name, array: arrays.append(array) or array)
    (place, _), at = pinned(sampler._own.arrays), 0
    for array in arrays:
        # who counts the users, whose memory it is, how many numbers of which size, where, and the shape
        assert place[at : at + 5].tolist() == [0, 0, array.size, array.itemsize, array.ctypes.data]
        assert place[at + 5 : at + 5 + array.ndim].tolist() == list(array.shape)
        at += 5 + 2 * array.ndim
    assert at > 13


def test_votes_and_charges():
    weights, costs = np.array([0.25, 0.75]), np.array([1.0, 3.0])
    outcome = np.zeros((3, 9))  # the last row is the ensemble's
    outcome[:2, protocol.PREDICTION], outcome[:2, protocol.CHANCE] = (1.0, -1.0), (0.2, 0.4)
    assert vote(weights, outcome, 0.1) == near((-0.5, 0.9 * 0.35 + 0.1))
    assert charge(weights, costs, 4.0) == near(4.0 + 0.75 * 4.0)  # costs above the least, squared
    assert costs == near(sqrt(log(2) / 5.0) * np.array([1.0, 3.0]))
    many = np.array([0.5, 0.0, 0.0, 0.0])
    charge(np.full(4, 0.25), many, 0.0)  # ln 4 is above 1, the rate is not
    assert many[0] == 0.5


def test_the_schedule_of_the_adaptive_sampler_and_that_it_stores_what_it_scheduled():
    rule = samplers.AdaptiveSampler(lambda_=2.0)
    assert rule.schedule(3, 1) == (12.0, 0.0)  # 16/4 max(3, ln t)
    assert rule.schedule(3, 200) == near((4.0 * log(200), 0.0))
    own = samplers.AdaptiveSampler(rho=lambda t: 2.0 * t, bias=lambda t: 1.0 / t)
    assert own.schedule(3, 4) == (8.0, 0.25)
    assert samplers.AdaptiveSampler(rho=7, bias=0.5).schedule(3, 4) == (7.0, 0.5)
    rule = samplers.AdaptiveSampler(rho=3.0)  # N = 0, 1, 2, 3 are at most 3
    model = samplers.Sampler(samplers.LeastSquares(), rule, n_features=1, stores="mistakes")
    assert model.run(np.ones((4, 1)), np.ones(4)).stored.all()


def test_the_defaults_of_every_part_and_what_the_catalogue_says_of_an_algorithm():
    assert (
        " ".join(repr(part()) for name, part in PARTS.items() if name != "CallableKernel").split() == DEFAULTS.split()
    )
    assert not any(hasattr(getattr(part(), "chance", None), "__self__") for part in PARTS.values())  # plain functions
    model, entry = samplers.make("iwal", 2), samplers.registry()["adaptive-sampler"]
    assert (model.stores, model.normalize, model.max_queries) == ("small margins", False, None)
    assert entry.written == "adaptive-sampler [lambda=1.0] [mistake_driven=False] [a=1.0]"
    assert entry.example == "lpsm label sms-spam --algorithm adaptive-sampler --param lambda=1.0"
    assert [parameter.name for parameter in entry.parameters] == ["lambda_", "rho", "mistake_driven", "bias", "a"]
    assert samplers.registry()["arow-ss"].source.endswith(
        "(W: Cesa-Bianchi, Gentile and Zaniboni 2004; AROW: Crammer, Kulesza and Dredze 2009)")  # fmt: skip
    assert samplers.describe("sole").startswith("sole(C=1.0, a=1.0): The second-order label-efficient classifier asks")


@each("kernel, parameters, expected",
    [("rbf", {"gamma": 0.1}, exp(-0.1 * (4.0 + 6.25))), ("linear", {}, 2.0),
     ("poly", {"gamma": 0.5, "degree": 3, "coef0": 2.0}, 27.0), ("polynomial", {}, 27.0),  # (2 + 1)^3
     (lambda a, b: float(a @ b) + 1.0, {}, 3.0)],
)  # fmt: skip
def test_kernels_at_a_pair_of_vectors(kernel, parameters, expected):
    model = samplers.make("perceptron", 2, kernel=kernel, **parameters)
    model.run([[3.0, -0.5]], [-1])
    assert model.margins([[1.0, 2.0]])[0] == near(-expected)
