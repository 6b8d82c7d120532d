"""Variable-share, AdaHedge, Squint and NormalHedge: invariants, oracles, theorems, extremes."""

from math import log, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import StaticExpert
from lpsm.experts import AdaHedge, NormalHedge, Squint, VariableShare
from tests.oracles.experts import (
    ada_hedge_reference,
    by_enumeration_of_laws,
    normal_hedge_weights,
    regrets_by,
    squint_weights,
    variable_share_matrices,
)


def comparators(n):
    return [VariableShare(n, 0.1), AdaHedge(n), Squint(n), NormalHedge(n)]


def weights_of(learner, losses):
    run = learner.run(losses)
    return np.vstack([run.weights, learner.weights])


@settings(max_examples=8, deadline=None)
@given(
    st.integers(1, 3).flatmap(
        lambda n: st.lists(st.lists(st.floats(0, 20), min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    st.sampled_from([0.0, 0.05, 0.5, 0.999]),
)
def test_variable_share_equals_the_sum_over_all_sequences_of_experts(table, alpha):
    losses = np.array(table)
    n = losses.shape[1]
    learner = VariableShare(n, alpha)
    run = learner.run(losses)
    loss, weights = by_enumeration_of_laws(losses, variable_share_matrices(losses, alpha), [1 / n] * n)
    np.testing.assert_allclose(run.loss, loss, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.vstack([run.weights, learner.weights]), weights, atol=1e-12)


def test_variable_share_without_share_is_static_expert_and_leaves_a_lossless_expert_alone():
    losses = np.random.default_rng(0).exponential(size=(50, 4)) * 30
    np.testing.assert_allclose(VariableShare(4, 0.0).run(losses).loss, StaticExpert(4).run(losses).loss, rtol=1e-12)
    learner = VariableShare(2, 0.3)
    for _ in range(2000):
        learner.update([0.0, 3.0])
    assert learner.weights[0] == pytest.approx(1.0, abs=1e-15)
    for _ in range(12):
        learner.update([3.0, 0.0])  # nobody is lost for ever
    assert learner.weights[1] > 0.99


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 4), st.integers(1, 25), st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 50.0]))
def test_ada_hedge_equals_its_definition_in_fifty_digits(n, rounds, seed, scale):
    losses = np.random.default_rng(seed).random((rounds, n)) * scale
    np.testing.assert_allclose(weights_of(AdaHedge(n), losses), ada_hedge_reference(losses), atol=1e-9)


@settings(max_examples=6, deadline=None)
@given(st.integers(2, 3), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_squint_equals_numerical_integration_over_the_learning_rate(n, rounds, seed):
    losses = np.random.default_rng(seed).random((rounds, n))
    np.testing.assert_allclose(weights_of(Squint(n), losses), regrets_by(squint_weights, losses), atol=1e-10)


@pytest.mark.parametrize("regret", [-300.0, -25.0, -3.0, -1e-9, 0.0, 0.1, 3.0, 19.9, 25.0, 300.0])
@pytest.mark.parametrize("variance", [0.0, 1e-9, 9.9e-3, 1.1e-2, 1.0, 30.0, 5000.0])
def test_squints_evidence_is_right_for_large_and_small_regrets(regret, variance):
    learner = Squint(2)
    learner._regret[:] = [regret, 0.5]
    learner._variance[:] = [variance, 2.0]
    expected = squint_weights([regret, 0.5], [variance, 2.0])
    np.testing.assert_allclose(learner.weights, expected, rtol=1e-8, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 5), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_normal_hedge_equals_its_definition_by_bisection(n, rounds, seed):
    losses = np.random.default_rng(seed).random((rounds, n))
    np.testing.assert_allclose(weights_of(NormalHedge(n), losses), regrets_by(normal_hedge_weights, losses), atol=1e-9)


def hard_losses(rounds, n, seed):
    rng = np.random.default_rng(seed)
    losses = rng.random((rounds, n))
    losses[:, 0] *= rng.choice([0.2, 0.9, 1.0])
    return losses


@pytest.mark.parametrize("seed", range(6))
def test_ada_hedge_stays_below_the_bound_of_its_authors(seed):
    n, rounds = 4, 400
    losses = hard_losses(rounds, n, seed)
    regret = (AdaHedge(n).run(losses).weights * losses).sum() - losses.sum(axis=0).min()
    best = losses.sum(axis=0).min()
    assert regret <= 2 * sqrt(best * (rounds - best) / rounds * log(n)) + 16 / 3 * log(n) + 2


@pytest.mark.parametrize("seed", range(6))
def test_squints_potential_never_rises_above_zero(seed):
    n = 3
    learner = Squint(n)
    for row in hard_losses(60, n, seed):
        learner.update(row)
    total = 0.0
    for R, V in zip(learner._regret, learner._variance, strict=True):
        total += mpmath.quad(lambda eta, R=R, V=V: (mpmath.expm1(eta * R - eta * eta * V)) / eta, [0, 0.25, 0.5])
    assert total / n <= 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_normal_hedge_stays_below_the_bound_of_its_authors(seed):
    n, rounds, delta = 4, 400, 0.2
    losses = hard_losses(rounds, n, seed)
    regret = (NormalHedge(n).run(losses).weights * losses).sum() - losses.sum(axis=0).min()
    square = 3 * (1 + 50 * delta) * rounds + 16 * log(n) ** 2 / delta * (10.2 / delta**2 + log(n))
    assert regret <= sqrt((1 + log(n)) * square)
    assert regret <= 2 * sqrt(rounds * log(n))  # far below it, in fact


@pytest.mark.parametrize("make", [AdaHedge, NormalHedge])
def test_the_unit_of_the_losses_does_not_matter_to_rules_without_a_range(make):
    losses = np.random.default_rng(1).random((80, 3))
    np.testing.assert_allclose(make(3).run(losses).weights, make(3).run(1024 * losses).weights, atol=1e-9)


def test_a_sleeper_keeps_its_regret_and_its_loss_is_not_looked_at():
    for learner in (AdaHedge(3), Squint(3), NormalHedge(3), VariableShare(3, 0.1)):
        learner.update([0.1, 0.9, 0.4])
        before = learner.weights
        learner.update([0.2, 0.2, np.nan], [True, True, False])
        assert np.isfinite(learner.weights).all()
        assert learner.update([np.nan] * 3, [False] * 3) == 0.0
        if not isinstance(learner, AdaHedge | VariableShare):
            fresh = type(learner)(3)
            fresh.update([0.1, 0.9, 0.4])
            assert fresh._regret[2] == learner._regret[2]
        assert before.shape == (3,)


def test_long_runs_leave_finite_weights_on_the_best_expert():
    losses = np.tile([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]], (1000, 1))
    for learner in comparators(3):
        run = learner.run(losses)
        assert np.isfinite(run.loss).all()
        assert learner.weights[0] == pytest.approx(1.0, abs=1e-3)
