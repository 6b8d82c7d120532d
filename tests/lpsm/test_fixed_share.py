"""Static-expert, Fixed-share and Markov-share: invariants, oracles, theorems, extremes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import FixedShare, MarkovShare, StaticExpert
from tests.oracles.experts import by_enumeration, by_logarithms, by_mpmath, share_matrix

RATES = [0.0, 1e-300, 1e-9, 0.02, 0.5, 2 / 3, 0.97, 1 - 1e-4, 1 - 1e-12, 1.0]


def matrix_of(rng, n):
    matrix = rng.random((n, n)) * (rng.random((n, n)) < 0.7) + 0.01 * np.eye(n)
    return matrix / matrix.sum(axis=1, keepdims=True)


def learners(n, seed=0):
    """Every learner of one transition law, with the law."""
    matrix = matrix_of(np.random.default_rng(seed), n)
    yield StaticExpert(n), np.eye(n)
    yield MarkovShare(matrix), matrix
    for alpha in RATES:
        yield FixedShare(n, alpha), share_matrix(n, alpha)


def played(learner, losses, awake=None):
    """Losses and weights by repeated update; weights also after the last round."""
    loss, weights = [], [learner.weights]
    for t, row in enumerate(losses):
        loss.append(learner.update(row) if awake is None else learner.update(row, awake[t]))
        weights.append(learner.weights)
    return np.array(loss), np.array(weights)


loss_tables = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(st.floats(0, 20), min_size=n, max_size=n), min_size=1, max_size=6)
)


@settings(max_examples=8, deadline=None)
@given(loss_tables)
def test_every_learner_equals_the_sum_over_all_sequences_of_experts(table):
    losses = np.array(table)
    n = losses.shape[1]
    for learner, matrix in learners(n):
        loss, weights = played(learner, losses)
        expected_loss, expected_weights, _ = by_enumeration(losses, [matrix], [1 / n] * n, [1.0])
        np.testing.assert_allclose(loss, expected_loss, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(weights, expected_weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 50.0, 1e6])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_short_runs_with_huge_and_infinite_losses_equal_sixty_digit_arithmetic(n, scale):
    rng = np.random.default_rng(n)
    losses = rng.exponential(size=(40, n)) * scale
    losses[rng.random(losses.shape) < 0.3] = 0.0
    losses[9] = np.inf
    if n > 1:
        losses[rng.random(losses.shape) < 0.03] = np.inf
    for learner, matrix in learners(n):
        law = learner.alpha if isinstance(learner, FixedShare) else matrix
        loss, weights = played(learner, losses)
        expected_loss, expected_weights, _ = by_mpmath(losses, [law], [1 / n] * n, [1.0])
        np.testing.assert_allclose(loss, expected_loss, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(weights, expected_weights, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_sleeping_experts_keep_their_part_as_in_sixty_digit_arithmetic(n):
    rng = np.random.default_rng(10 + n)
    losses = rng.exponential(size=(30, n)) * rng.choice([1.0, 1e3], size=(30, n))
    awake = rng.random((30, n)) < 0.6
    prior = rng.random(n) ** 8 + 1e-200
    law = matrix_of(rng, n)
    cases = [(FixedShare(n, alpha, prior=prior), alpha) for alpha in RATES]
    cases += [(MarkovShare(law, prior=prior), law), (StaticExpert(n, prior=prior), 0.0)]
    for learner, law in cases:
        loss, weights = played(learner, np.where(awake, losses, np.nan), awake)
        expected_loss, expected_weights, _ = by_mpmath(losses, [law], prior, [1.0], awake)
        np.testing.assert_allclose(loss, expected_loss, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(weights, expected_weights, rtol=0, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
def test_a_long_run_equals_long_double_logarithms(alpha):
    losses = np.random.default_rng(5).exponential(size=(5000, 3)) * 5
    run = FixedShare(3, alpha).run(losses)
    expected, _, cumulative = by_logarithms(losses, [alpha])
    np.testing.assert_allclose(run.loss, expected, rtol=1e-9, atol=1e-9)
    assert run.total_loss == pytest.approx(cumulative[0], abs=1e-8)


def test_a_round_that_nobody_foresaw_costs_infinity_and_teaches_nothing():
    for learner, _ in learners(3):
        learner.update([0.1, 0.5, 0.2])
        before = learner.weights
        assert learner.update([np.inf] * 3) == np.inf
        np.testing.assert_array_equal(learner.weights, before)
    learner = StaticExpert(2)
    learner.update([0.0, np.inf])
    assert learner.update([np.inf, 0.0]) == np.inf
    np.testing.assert_array_equal(learner.weights, [1.0, 0.0])
    assert learner.update([2.0, 0.0]) == 2.0
