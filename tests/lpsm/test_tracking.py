"""Learners of transition laws are Bayes' rule in sixty digits; AdaHedge, Squint and NormalHedge their definitions.

`by_mpmath` is the rule as a recursion, and is held to the sum over all sequences of experts first.
"""

from itertools import accumulate
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import special

from lpsm import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid
from lpsm.experts import AdaHedge, NormalHedge, Squint, VariableShare, doubling_regret, hedge, share
from tests.oracles import experts as oracle
from tests.oracles.experts import by_mpmath, markov_loss, share_matrix, variable_share_matrices
from tests.tables import cases_of, each, rows

RATES = [0.0, 1e-300, 1e-9, 0.02, 0.5, 2 / 3, 0.97, 1 - 1e-4, 1 - 1e-12, 1.0]
MIXED = [0.3, 0.0, 1.0, 1e-300, 0.01, 1 - 1e-10, 0.9, 1e-7, 0.5, 0.25]
LAYOUTS = rows("""
1, 1 ; 1, 3 ; 2, 1 ; 2, 2 ; 3, 1 ; 3, 3 ; 5, 10 ; 6, 5 ; 7, 2 ; 8, 9 ; 9, 4 ; 10, 1
""")


def close(got, want):
    assert_allclose(got, want, rtol=1e-9, atol=1e-11)


def matrix_of(rng, n):
    matrix = rng.random((n, n)) * (rng.random((n, n)) < 0.7) + 0.01 * np.eye(n)
    return matrix / matrix.sum(axis=1, keepdims=True)


def learners(n):
    """Every learner under a prior that is not even, its laws, and the prior over them."""
    rng = default_rng(n)
    prior, matrix, top = rng.random(n) ** 8 + 1e-200, matrix_of(rng, n), rng.random(len(MIXED)) + 0.01
    yield StaticExpert(n, prior=prior), [0.0], prior, [1.0]
    yield MarkovShare(matrix, prior=prior), [matrix], prior, [1.0]
    for alpha in RATES:
        yield FixedShare(n, alpha, prior=prior), [alpha], prior, [1.0]
    yield LearnAlpha(n, MIXED, prior=prior, alpha_prior=top), MIXED, prior, top


def held(learner, losses, laws, prior, top, awake=None):
    """Hold a learner, round by round and in two runs, to the rule; losses of those asleep are not looked at."""
    expected = by_mpmath(losses, laws, prior, top, awake)
    given = losses if awake is None else np.where(awake, losses, np.nan)
    many, other = isinstance(learner, LearnAlpha), learner.copy()
    loss, weights, alphas = [], [learner.weights], [learner.alpha_weights] if many else []
    for t, row in enumerate(given):
        loss.append(learner.update(row) if awake is None else learner.update(row, awake[t]))
        weights.append(learner.weights)
        alphas += [learner.alpha_weights] if many else []
    asked = {"alpha_weights": True} if many else {}
    parts = [other.run(given[part], None if awake is None else awake[part], **asked) for part in np.s_[:5, 5:]]
    runs = np.concatenate([part.loss for part in parts]), np.concatenate([part.weights for part in parts])
    for found in ((loss, weights, alphas),
        (*runs, [row for part in parts for row in part.alpha_weights] if many else ())):  # fmt: skip
        for got, want in zip(found[: 2 + many], expected, strict=False):
            close(got, want[: len(got)])


def test_the_rule_is_the_sum_over_all_sequences_of_experts():
    rng = default_rng(0)
    for n, rounds in ((1, 4), (2, 6), (3, 5)):
        losses, laws = rng.exponential(2.0, (rounds, n)), [share_matrix(n, 0.3), matrix_of(rng, n)]
        prior, top = rng.dirichlet(np.ones(n)), np.array([0.2, 0.8])
        for laws_then, top_then in ((laws, top), (laws[:1], [1.0])):
            found = np.cumsum(by_mpmath(losses, laws_then, prior, top_then)[0])
            for t in range(1, rounds + 1):
                each = [np.exp(-markov_loss(losses[:t], law, prior)) for law in laws_then]
                assert found[t - 1] == pytest.approx(-np.log(np.dot(top_then, each)), rel=1e-12)


@cases_of("sleepy", "False ; True")
@cases_of("n", "1 ; 2 ; 3 ; 5")
def test_with_huge_and_infinite_losses_and_sleepers_every_learner_is_bayes_rule(n, sleepy):
    rng = default_rng(n)
    losses = rng.exponential(size=(24, n)) * rng.choice([1.0, 1e6], size=(24, 1), p=[0.8, 0.2])
    losses[rng.random(losses.shape) < 0.3] = 0.0
    losses[rng.random(losses.shape) < 0.04] = np.inf
    losses[9] = np.inf
    awake = rng.random(losses.shape) < 0.7 if sleepy else None
    for learner, laws, prior, top in learners(n):
        held(learner, losses, laws, prior, top, awake)


@cases_of("alpha", "0.0 ; 0.05 ; 0.5 ; 0.999")
@cases_of("n", "1 ; 2 ; 3")
def test_variable_share_is_bayes_rule_under_laws_that_depend_on_the_losses(n, alpha):
    rng = default_rng(n)
    losses = rng.exponential(size=(24, n)) * rng.choice([0.0, 1.0, 10.0], size=(24, n))
    held(VariableShare(n, alpha), losses, [variable_share_matrices(losses, alpha)], np.ones(n), [1.0])


@each("n, m", LAYOUTS)
def test_every_number_of_experts_and_of_rates_is_bayes_rule(n, m):
    rng = default_rng([n, m])
    losses = rng.exponential(2.0, (18, n)) + rng.exponential(1.0, (18, 1))
    losses[2], losses[4, 0], losses[6, n > 1] = 0.0, 40.0, np.inf if n > 1 else 3.0
    rates, top, prior = [0.2, 0.05, 0.6, 1e-12, 0.9, 0.0, 1.0, 0.4, 0.3, 1e-30][:m], rng.random(m) + 0.1, rng.random(n)
    learner, mean, played = (LearnAlpha(n, rates, prior=prior, alpha_prior=top) for _ in range(3))
    assert learner.untouched
    held(learner, losses, rates, prior, top)
    assert not learner.untouched
    values, arrays = 1.0 + np.arange(n) ** 2, mean.arrays()
    for row in [*losses, np.full(n, np.inf)]:  # the same by the form that also finds a mean; the last teaches nothing
        found, loss = share.learn_alpha_mean_round(values, row, *arrays), played.update(row)
        assert (found, arrays[3][share.LOSS]) == pytest.approx((values @ played.weights, loss), rel=1e-9, abs=1e-13)


def test_columns_all_of_whose_awake_weight_is_excluded_die_and_those_with_none_awake_go_on():
    rng, rates = default_rng(5), [0.0, 1e-300, 0.01, 0.4, 1.0]
    for _ in range(20):
        losses = np.where(rng.random((25, 3)) < 0.5, np.inf, rng.exponential(size=(25, 3)))
        held(LearnAlpha(3, rates), losses, rates, np.ones(3), np.ones(5), rng.random((25, 3)) < 0.6)


@each("rates", [[0.0], [0.01], [1.0], [0.0, *alpha_grid(horizon=20), 1.0]])
def test_a_long_run_is_bayes_rule(rates):
    losses = default_rng(5).exponential(size=(1000, 3)) * 5
    losses[300:700, 0] = 0.01
    held(LearnAlpha(3, rates), losses, rates, np.ones(3), np.ones(len(rates)))


def test_an_alpha_hopelessly_behind_comes_back_when_the_world_changes():
    rounds = 20_000
    losses = np.zeros((2 * rounds, 2))
    losses[:rounds:2, 0] = losses[1:rounds:2, 1] = 2.0  # the best expert alternates ..
    losses[rounds:, 1] = 2.0  # .. then never changes again
    learner = LearnAlpha(2, [1e-4, 1 - 1e-4])
    learner.run(losses[:rounds])
    assert learner.alpha_weights[0] < 1e-300
    learner.run(losses[rounds:])
    cumulative = [FixedShare(2, alpha).run(losses).total_loss for alpha in (1e-4, 1 - 1e-4)]
    odds = np.exp(cumulative[1] - cumulative[0])
    assert learner.alpha_weights[0] == pytest.approx(odds / (1 + odds), rel=1e-6)


@settings(max_examples=20)
@given(st.integers(1, 700), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_doubling_loses_no_more_than_its_bound_to_any_alpha(rounds, n, seed):
    rng = default_rng(seed)
    best = np.cumsum(rng.random(rounds) < rng.choice([0.0, 0.02, 0.5])) % n
    losses = rng.exponential(1.0, size=(rounds, n)) + 1
    losses[np.arange(rounds), best] = 0.0
    total = LearnAlpha(n, doubling=True).run(losses).total_loss
    alphas = np.concatenate([[0.0, 1.0], alpha_grid(delta=1e-3)])
    assert total <= min(FixedShare(n, alpha).run(losses).total_loss for alpha in alphas) + doubling_regret(rounds)


def test_doubling_is_learn_alpha_of_a_finer_grid_in_every_epoch():
    losses, learner = default_rng(0).exponential(size=(200, 3)), LearnAlpha(3, doubling=True)
    run, prior = learner.run(losses), None
    epochs = accumulate((64, 128), initial=0)
    for start, horizon in zip(epochs, (64, 128, 256), strict=True):
        fixed = LearnAlpha(3, alpha_grid(horizon=horizon), prior=prior)
        own = fixed.run(losses[start : start + horizon])
        assert_allclose(run.loss[start : start + horizon], own.loss, rtol=1e-12)
        prior = fixed.weights
    assert learner.alphas.size == alpha_grid(horizon=256).size


def test_variable_share_leaves_a_lossless_expert_alone_and_loses_nobody_for_ever():
    learner = VariableShare(2, 0.3)
    learner.run(np.tile([0.0, 3.0], (2000, 1)))
    assert learner.weights[0] == pytest.approx(1.0, abs=1e-15)
    learner.run(np.tile([3.0, 0.0], (12, 1)))
    assert learner.weights[1] > 0.99


# -- AdaHedge, Squint and NormalHedge: their definitions, sleepers, the bounds of their authors
def test_weights_of_adahedge_are_those_of_the_definition_in_fifty_digits():
    for seed in range(8):
        rng = default_rng(seed)
        losses = rng.random((int(rng.integers(1, 26)), int(rng.integers(2, 5)))) * rng.choice([1e-3, 1.0, 50.0])
        made = AdaHedge(losses.shape[1])
        assert_allclose([*made.run(losses).weights, made.weights], oracle.ada_hedge_reference(losses), atol=1e-9)


@cases_of("asleep", "0.0 ; 0.3 ; 0.9")
@each("make", [AdaHedge, Squint, NormalHedge])
def test_compiled_hedges_are_their_definitions_round_by_round_by_integration_and_by_bisection(make, asleep):
    for seed in range(4):
        rng = default_rng(seed)
        n, rounds = int(rng.integers(1, 9)), 12 if make is Squint else 150  # whose integrals take long
        losses = rng.random((rounds, n)) * rng.choice([0.0, 0.5, 1.0], size=n)
        losses[rng.random(rounds) < 0.1] = 0.25  # all alike
        awake = rng.random((rounds, n)) >= asleep
        learner, single = make(n), make(n)
        loss, weights = oracle.hedge_run(make.__name__, losses, awake)
        run = learner.run(losses, awake) if asleep else learner.run(losses)
        assert_allclose(run.weights, weights, rtol=1e-11, atol=1e-12)
        assert_allclose(run.loss, loss, rtol=1e-11, atol=1e-12)
        losses[~awake] = np.nan  # nobody looks there
        there = awake if asleep else [None] * rounds
        assert [single.update(*both) for both in zip(losses, there, strict=True)] == run.loss.tolist()
        assert (single.weights == learner.weights).all()


def test_the_scaled_complementary_error_function_is_right_to_twelve_digits():
    x = np.concatenate([np.linspace(0.0, 12.0, 2401), np.geomspace(1e-300, 1e300, 601)])
    found = np.array([hedge.erfcx(value) for value in x])
    assert_allclose(found, special.erfcx(x), rtol=1e-14, atol=0)


@cases_of("regret", "-300.0 ; -25.0 ; -3.0 ; -1e-9 ; 0.0 ; 0.1 ; 3.0 ; 19.9 ; 25.0 ; 300.0")
@cases_of("variance", "0.0 ; 1e-9 ; 9.9e-3 ; 1.1e-2 ; 1.0 ; 30.0 ; 5000.0")
def test_squints_evidence_is_right_for_large_and_small_regrets(regret, variance):
    learner = Squint(2)
    learner._first[:] = [regret, 0.5]
    learner._second[:] = [variance, 2.0]
    expected = oracle.squint_weights([regret, 0.5], [variance, 2.0])
    assert_allclose(learner.weights, expected, rtol=1e-8, atol=1e-12)


def test_a_sleeper_keeps_its_regret_and_its_loss_is_not_looked_at():
    for learner in (AdaHedge(3), Squint(3), NormalHedge(3), VariableShare(3, 0.1)):
        learner.update([0.1, 0.9, 0.4])
        before = learner.state().get("regret", np.zeros(3))[2]
        learner.update([0.2, 0.2, np.nan], [True, True, False])
        assert np.isfinite(learner.weights).all()
        assert learner.update([np.nan] * 3, [False] * 3) == 0.0
        assert isinstance(learner, AdaHedge) or learner.state().get("regret", np.zeros(3))[2] == before


def test_an_expert_without_weight_does_not_hide_the_losses_of_the_others():
    learner = NormalHedge(2, signed=True)
    learner._first[:] = [-9.0, 9.0]  # who has no regret has no weight
    assert learner.weights.tolist() == [0.0, 1.0]
    assert learner.update([-2000.0, 0.5]) == 0.5
    learner = AdaHedge(2)
    learner._first[:], learner._second[:] = [0.0, 2.0], 1e-3
    assert learner.weights.tolist() == [1.0, 0.0]
    learner.update([2.0, 0.0])
    assert learner.weights[1] == pytest.approx(0.5)  # nothing was gained by mixing, and the rate is as it was


def test_losses_beyond_the_smallest_float_are_compared_while_somebody_sleeps():
    learner = LearnAlpha(3, [0.1, 0.4])
    learner.update([0.0, 0.0, 0.0])
    assert learner.update([2000.0, 2001.0, np.nan], [True, True, False]) == pytest.approx(
        2000.0 - log((1.0 + exp(-1.0)) / 2.0), rel=1e-15
    )
    assert learner.update(np.array([inf, inf, np.nan]), [True, True, False]) == inf
    assert learner.update([0.0, 0.0, 0.0]) == 0.0


@each("seed", range(6))
def test_regrets_stay_below_the_bounds_of_the_authors(seed):
    n, rounds, delta = 4, 400, 0.2
    rng = default_rng(seed)
    losses = rng.random((rounds, n))
    losses[:, 0] *= rng.choice([0.2, 0.9, 1.0])
    best = losses.sum(axis=0).min()
    ada, normal = ((make(n).run(losses).weights * losses).sum() - best for make in (AdaHedge, NormalHedge))
    assert ada <= 2 * sqrt(best * (rounds - best) / rounds * log(n)) + 16 / 3 * log(n) + 2
    square = 3 * (1 + 50 * delta) * rounds + 16 * log(n) ** 2 / delta * (10.2 / delta**2 + log(n))
    assert normal <= sqrt((1 + log(n)) * square)
    assert normal <= 2 * sqrt(rounds * log(n))  # far below it, in fact
