"""Learn-alpha: invariants, oracles, theorems, extremes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import FixedShare, LearnAlpha, alpha_grid
from lpsm.experts import doubling_regret
from tests.oracles.experts import by_enumeration, by_logarithms, by_mpmath, share_matrix

MIXED = [0.3, 0.0, 1.0, 1e-300, 0.01, 1 - 1e-10, 0.9, 1e-7, 0.5, 0.25]


def played(learner, losses, awake=None):
    loss, weights, alphas = [], [learner.weights], [learner.alpha_weights]
    for t, row in enumerate(losses):
        loss.append(learner.update(row) if awake is None else learner.update(row, awake[t]))
        weights.append(learner.weights)
        alphas.append(learner.alpha_weights)
    return np.array(loss), np.array(weights), np.array(alphas)


loss_tables = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(st.floats(0, 20), min_size=n, max_size=n), min_size=1, max_size=6)
)


@settings(max_examples=8, deadline=None)
@given(loss_tables, st.lists(st.floats(0, 1), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_learn_alpha_equals_the_sum_over_all_sequences_of_experts(table, alphas, seed):
    losses = np.array(table)
    n = losses.shape[1]
    rng = np.random.default_rng(seed)
    alpha_prior, prior = rng.dirichlet(np.ones(len(alphas))) + 1e-6, rng.dirichlet(np.ones(n))
    alpha_prior /= alpha_prior.sum()
    learner = LearnAlpha(n, alphas, prior=prior, alpha_prior=alpha_prior)
    expected = by_enumeration(losses, [share_matrix(n, alpha) for alpha in alphas], prior, alpha_prior)
    for got, want in zip(played(learner, losses), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 50.0, 1e6])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("sleepy", [False, True])
def test_short_runs_with_huge_and_infinite_losses_equal_sixty_digit_arithmetic(n, scale, sleepy):
    rng = np.random.default_rng(n)
    losses = rng.exponential(size=(40, n)) * scale
    losses[rng.random(losses.shape) < 0.3] = 0.0
    losses[rng.random(losses.shape) < 0.02] = np.inf
    losses[9] = np.inf
    awake = rng.random(losses.shape) < 0.7 if sleepy else None
    prior = rng.random(n) ** 8 + 1e-200
    alpha_prior = rng.random(len(MIXED)) + 0.01
    learner = LearnAlpha(n, MIXED, prior=prior, alpha_prior=alpha_prior)
    got = played(learner, losses if awake is None else np.where(awake, losses, np.nan), awake)
    expected = by_mpmath(losses, MIXED, prior, alpha_prior, awake)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(got[1], expected[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(got[2], expected[2], rtol=0, atol=1e-9)


def test_a_long_run_equals_long_double_logarithms_over_a_whole_grid():
    rng = np.random.default_rng(5)
    losses = rng.exponential(size=(3000, 3)) * 5
    losses[1000:2000, 0] = 0.01
    grid = np.concatenate([[0.0], alpha_grid(horizon=300), [1.0]])
    learner = LearnAlpha(3, grid)
    run = learner.run(losses)
    expected, weights, cumulative = by_logarithms(losses, grid)
    np.testing.assert_allclose(run.loss, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(learner.weights, weights, atol=1e-9)
    posterior = np.exp(cumulative.min() - cumulative)
    np.testing.assert_allclose(learner.alpha_weights, posterior / posterior.sum(), atol=1e-9)


def test_an_alpha_hopelessly_behind_comes_back_when_the_world_changes():
    rounds = 20_000
    losses = np.zeros((2 * rounds, 2))
    losses[:rounds:2, 0] = losses[1:rounds:2, 1] = 2.0  # the best expert alternates ..
    losses[rounds:, 1] = 2.0  # .. then never changes again
    learner = LearnAlpha(2, [1e-4, 1 - 1e-4])
    first = learner.run(losses[:rounds])
    assert learner.alpha_weights[0] < 1e-300
    learner.run(losses[rounds:])
    cumulative = [FixedShare(2, alpha).run(losses).total_loss for alpha in (1e-4, 1 - 1e-4)]
    odds = np.exp(cumulative[1] - cumulative[0])
    assert learner.alpha_weights[0] == pytest.approx(odds / (1 + odds), rel=1e-6)
    assert len(first.loss) == rounds


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 700), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_doubling_loses_no_more_than_its_bound_to_any_alpha(rounds, n, seed):
    rng = np.random.default_rng(seed)
    best = np.cumsum(rng.random(rounds) < rng.choice([0.0, 0.02, 0.5])) % n
    losses = rng.exponential(1.0, size=(rounds, n)) + 1
    losses[np.arange(rounds), best] = 0.0
    total = LearnAlpha(n, doubling=True).run(losses).total_loss
    alphas = np.concatenate([[0.0, 1.0], alpha_grid(delta=1e-3)])
    assert total <= min(FixedShare(n, alpha).run(losses).total_loss for alpha in alphas) + doubling_regret(rounds)


def test_doubling_agrees_with_learn_alpha_inside_the_first_epoch_and_then_refines_its_grid():
    losses = np.random.default_rng(0).exponential(size=(200, 3))
    doubling, fixed = LearnAlpha(3, doubling=True), LearnAlpha(3, alpha_grid(horizon=64))
    run = doubling.run(losses)
    np.testing.assert_allclose(run.loss[:64], fixed.run(losses[:64]).loss, rtol=1e-14)
    assert doubling.alphas.size == alpha_grid(horizon=256).size  # rounds 192.. are the epoch of 256
    second = LearnAlpha(3, alpha_grid(horizon=128), prior=fixed.weights)
    np.testing.assert_allclose(run.loss[64:192], second.run(losses[64:192]).loss, rtol=1e-12)
    single = LearnAlpha(3, doubling=True)
    np.testing.assert_allclose([single.update(row) for row in losses], run.loss, rtol=1e-12)
