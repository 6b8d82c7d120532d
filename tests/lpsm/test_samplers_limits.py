"""Identities between samplers at limits of parameters, theorems, what rounding leaves, and labels with weights."""

from itertools import pairwise
from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import sparse

from lpsm import samplers
from lpsm.bounds import risk
from lpsm.samplers import protocol
from tests.lpsm.frozen.streams import a_stream, assert_same, of
from tests.oracles.samplers import Stored, importance
from tests.tables import cases_of, each, value_error

D = 7
KEYS = samplers.keys()
LIMITS = """
lasec, b=0.7, c=inf; sop, a=0.7
lasec-ss, a=0.4, b=0.7, c=inf; sop-label-efficient, C=0.4, a=0.7
lasec-ss, a=inf, b=0.7, c=9.0; lasec, b=0.7, c=9.0
sop-ss, b=inf; sop, normalize=True
perceptron-ss, b=inf, normalize=False; perceptron
ssmd, K=inf; sop
ssnci, K=inf; ridge
adaptive-sampler, rho=inf, normalize=False; rls-all
randomized-budget-perceptron, B=1000; perceptron
iwal, floor=1.0; adagrad
"""


@each("row", LIMITS.strip().splitlines())
def test_a_limit_of_one_sampler_is_another(row):
    both = [
        (key, eval(f"dict({given})", vars(np))) for key, _, given in (part.partition(", ") for part in row.split("; "))
    ]
    X, y = a_stream(11)
    assert_same(*(of(samplers.make(key, D, rng=3, **given).run(X, y)) for key, given in both), 1e-12)


def test_after_twenty_thousand_updates_the_inverse_is_a_fresh_one_to_1e_6():
    rng = default_rng(5)
    d, rounds = 256, 20_000
    spread = np.logspace(0, -3, d)
    X = rng.normal(size=(rounds, d)) * spread
    y = np.where(X @ rng.normal(size=d) >= 0.0, 1, -1)
    sampler = samplers.make("rls", n_features=d)
    assert sampler.run(X, y).stored.all()
    fresh = np.linalg.inv(np.eye(d) + X.T @ X)
    assert np.abs(sampler.inverse - fresh).max() <= 1e-6 * np.abs(fresh).max()
    assert np.array_equal(sampler.inverse, sampler.inverse.T)
    assert_allclose(sampler.weights, fresh @ (X.T @ y), atol=1e-6)


@each("make_rows", [np.asarray, sparse.csr_matrix])
def test_the_inverse_is_a_fresh_one_while_updates_wait_when_the_matrix_takes_them_and_after(make_rows):
    rng = default_rng(8)
    d, b, c = 40, 0.8, 9.0  # 16 updates wait
    X = rng.normal(size=(45, d)) * (rng.random((45, d)) < 0.7)
    y = np.where(rng.random(45) < 0.5, -1, 1)
    ridge = samplers.make("rls", n_features=d, a=2.0)
    drifting = samplers.Sampler(samplers.Lasec(b=b, c=c), samplers.Always(), n_features=d, stores="queried")
    stored, literal = Stored(d), []
    for x, label in zip(X, y, strict=True):
        literal.append(stored.lasec(x, c, b))
        stored.add(x, label)
    for first, end in pairwise((0, 3, 8, 15, 16, 17, 24, 31, 45)):
        part, labels = make_rows(X[first:end]), y[first:end]
        ridge.run(part, labels)
        fresh = np.linalg.inv(2.0 * np.eye(d) + X[:end].T @ X[:end])
        assert_allclose(ridge.inverse, fresh, atol=1e-14)
        assert_allclose(ridge.weights, fresh @ (X[:end].T @ y[:end]), atol=1e-13)
        assert_allclose(drifting.run(part, labels).margin, literal[first:end], atol=1e-12)


def test_huge_and_tiny_instances_keep_every_margin_finite():
    X, y = a_stream(14, rounds=60)
    scales = np.where(np.arange(len(y)) % 2 == 0, 1e6, 1e-6)[:, None]
    for key in KEYS:
        margin = samplers.make(key, n_features=D, rng=default_rng(0)).run(X * scales, y).margin
        assert np.isfinite(margin).all(), key


@given(seed=st.integers(0, 50), key=st.sampled_from(["kept-rate", "nearest", "perceptron", "adagrad", "ssmd", "dkm"]),
    rate=st.floats(0.0, 1.0), step=st.sampled_from([0.02, 0.3]))  # fmt: skip
@settings(max_examples=40)
def test_a_rate_is_never_exceeded_by_a_label_nor_missed_by_more_than_the_largest_margin_allows(seed, key, rate, step):
    X, y = a_stream(seed, rounds=200)
    sampler = samplers.make(key, D, rate=rate, step=step)
    log = sampler.run(X, y)
    asked, t = log.queried.cumsum(), np.arange(1, 201)
    largest = np.maximum.accumulate(np.abs(log.margin))
    assert (asked <= rate * t + 1 - rate + 1e-9).all()
    assert (asked >= rate * (t - 1) - largest / step - 1e-9).all()
    assert sampler.stored == asked[-1] or sampler.stores != "queried"


def test_any_key_keeps_a_rate_and_stores_all_it_buys_where_it_is_told_to():
    X, y = a_stream(4)
    for key in KEYS:
        entry = samplers.registry()[key].recipe
        if entry.rule.filters:
            with value_error(r"rate must not be given for .* a filter"):
                samplers.make(key, D, rate=0.1)
            continue
        sampler = samplers.make(key, D, rate=0.25, stores="queried")
        log = sampler.run(X, y)
        assert sampler.stored == log.queried.sum(), key
        own = isinstance(sampler.rule, samplers.FixedCoin)
        assert own == isinstance(entry.rule, samplers.FixedCoin), key
    with value_error("kernel must be given"):
        samplers.Sampler(samplers.Neighbours(), samplers.Always(), n_features=2)


# -- labels that weigh 1/probability
ANGLES = np.linspace(0.0, pi, 9)[:-1]
HYPOTHESES = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])  # the first makes the labels
RISKS = ANGLES / pi * 0.8 + 0.1  # a tenth of the labels is flipped


def weighted_errors(seed, rounds, floor):
    """Estimates of the hypotheses' errors from bought labels alone, and how many were bought."""
    rng = default_rng(seed)
    X = rng.normal(size=(rounds, 2))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.where(X[:, 0] >= 0, 1, -1) * np.where(rng.random(rounds) < 0.1, -1, 1)
    sampler = samplers.make("iwal", 2, c_0=1e-5, floor=floor, rng=rng)
    total, bought = np.zeros(len(HYPOTHESES)), 0
    for x, label in zip(X, y, strict=True):
        decision = sampler.decide(x)
        assert decision.probability >= floor
        if decision.query:
            sampler.learn(x, int(label))
            total += (np.where(HYPOTHESES @ x >= 0, 1, -1) != label) / decision.probability
            bought += 1
    plain = (np.where(X @ HYPOTHESES.T >= 0, 1, -1) != y[:, None]).mean(axis=0)
    return total / rounds, bought / rounds, plain


def test_weighted_errors_are_unbiased_and_within_their_bound():
    rounds, floor, delta = 120, 0.3, 0.05
    trials = [weighted_errors(seed, rounds, floor) for seed in range(60)]
    assert np.mean([rate for _, rate, _ in trials]) < 0.8  # something was left out
    errors, plains = (np.array([trial[at] for trial in trials]) for at in (0, 2))
    standard_error = errors.std(axis=0, ddof=1) / sqrt(len(trials))
    assert (np.abs(errors.mean(axis=0) - RISKS) < 4.0 * standard_error).all()
    bound = risk.importance_weighted_deviation(rounds, len(RISKS), floor, delta)
    worst = np.abs(errors - RISKS).max(axis=1)
    assert (worst <= bound / 2).mean() >= 1 - delta  # half of it, as the docstring proves
    assert worst.max() > bound / 10
    on_stream = np.array([np.abs(found - plain).max() for found, plain in zip(errors, plains, strict=True)])
    assert (on_stream <= bound / 2).mean() >= 1 - delta


@cases_of("c_0", "1e-6 ; 1e-4 ; 1e-2")
def test_the_probability_solves_the_equation_of_the_paper(c_0):
    counts, rule = np.zeros(protocol.N_COUNTS, np.int64), samplers.ImportanceWeighted(c_0=c_0, floor=1e-12)
    below_one = 0
    for t in (1, 2, 5, 60, 4000):
        counts[protocol.ROUND] = t
        for p, reach in ((0.0, 1.0), (1e-4, 0.7), (0.05, 0.3), (-1.5, 0.2), (3.0, 0.01)):
            found = rule.chance(rule.numbers(), counts, np.zeros(8), p, reach, p, 1.0, 0.0)
            assert found == pytest.approx(importance(t, abs(p) / (reach * t), c_0, 1e-12), rel=1e-9)
            below_one += found < 1.0
    assert below_one >= 4


@protocol.parameters
class Doubt(protocol.Rule):
    """A rule of one's own that asks the more often the larger r is."""

    randomized = True
    chance = staticmethod(lambda rule, counts, scalars, p, r, m, norm2, bias: r / (1.0 + r))


def test_a_rule_that_reads_r_gets_it_or_is_refused():
    x, learner = [3.0, 4.0], samplers.DiagonalArow()
    with value_error("Doubt reads r, and needs a second-order learner .*or needs_variance = True, got DiagonalArow"):
        samplers.Sampler(learner, Doubt(), n_features=2)
    told = protocol.parameters(type("Told", (Doubt,), {"needs_variance": True, "__module__": __name__}))()
    assert samplers.Sampler(learner, told, n_features=2).decide(x).probability == 25 / 26
    assert samplers.Sampler(samplers.LeastSquares(a=5.0), Doubt(), n_features=2).decide(x).probability == 5 / 6
