"""What a round is made of at numbers that a pocket calculator checks, and the texts of the catalogue."""

from math import exp, log, sqrt

import numpy as np
import pytest

from lpsm import samplers
from lpsm.native import is_plain
from lpsm.samplers import kernels, protocol
from lpsm.samplers.ensemble import pinned
from lpsm.samplers.state_io import PARTS
from lpsm.samplers.tuned import charge, vote
from tests.tables import cases_of, each, near, unequal

DEFAULTS = """
Perceptron(eta=1.0) ModifiedPerceptron(factor=2.0) ShiftingPerceptron(lambda_=0.01) BudgetPerceptron(B=500, eta=1.0)
LeastSquares(a=1.0, includes_instance=True) Lasec(b=1.0, c=100.0) DiagonalArow(r=1.0) AdaGrad(eta=0.5) Linear()
Radial(gamma=1.0) Polynomial(degree=3, gamma=1.0, coef0=1.0) Neighbours() Always()
Coin(b=0.5, adaptive=False, symbol='b') SecondOrderCoin(b=0.5, adaptive=False, symbol='b') FixedCoin(rate=0.5)
SmallMargin(K=1.0) NextLabel(K=1.0) Variance(kappa=0.3) Halving(R=10, s_1=1.0) KeptRate(rate=0.1, step=0.02)
AdaptiveSampler(lambda_=1.0, rho=None, mistake_driven=False, bias=None) Filter(K=1.0) AppleTasting(count_forced=False)
LabelEfficientFilter(C=1.0) ImportanceWeighted(c_0=0.0001, floor=0.01)
"""


@pytest.mark.skipif(is_plain(), reason="plain Python has no addresses")
@cases_of("key dtype", "'randomized-budget-perceptron', 'float64' ; 'lasec', 'float64' ; 'sop-ss', 'float32'")
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
    assert not unequal("""
(model.stores, model.normalize, model.max_queries) -> ("small margins", False, None)
entry.written -> "adaptive-sampler [lambda=1.0] [mistake_driven=False] [a=1.0]"
entry.example -> "lpsm label sms-spam --algorithm adaptive-sampler --param lambda=1.0"
[parameter.name for parameter in entry.parameters] -> ["lambda_", "rho", "mistake_driven", "bias", "a"]
""", globals() | locals())  # fmt: skip
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
