"""Static-expert, Fixed-share and Markov-share: invariants, oracles, theorems, extremes."""

from itertools import pairwise
from math import copysign, exp, log

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


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_renaming_the_experts_renames_the_weights(n):
    losses = np.random.default_rng(n).exponential(size=(50, n))
    for alpha in RATES:
        forward = FixedShare(n, alpha).run(losses)
        backward = FixedShare(n, alpha).run(losses[:, ::-1])
        np.testing.assert_allclose(forward.weights, backward.weights[:, ::-1], atol=1e-12)


@pytest.mark.parametrize("shift", [1.0, 1e4])
def test_a_loss_common_to_all_experts_is_paid_and_changes_no_weight(shift):
    losses = np.random.default_rng(3).exponential(size=(40, 3))
    for (plain, _), (shifted, _) in zip(learners(3), learners(3), strict=True):
        a, b = plain.run(losses), shifted.run(losses + shift)
        np.testing.assert_allclose(a.weights, b.weights, atol=1e-9)
        np.testing.assert_allclose(a.loss + shift, b.loss, rtol=1e-12)


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


@pytest.mark.parametrize("seed", range(5))
def test_alpha_one_between_two_experts_is_static_expert_on_swapped_losses(seed):
    losses = np.random.default_rng(seed).exponential(size=(300, 2)) * 20
    swapped = losses.copy()
    swapped[1::2] = losses[1::2, ::-1]
    static = StaticExpert(2).run(swapped)
    np.testing.assert_allclose(FixedShare(2, 1.0).run(losses).loss, static.loss, rtol=1e-12, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 4), st.integers(2, 60), st.floats(1e-4, 0.5), st.integers(0, 2**32 - 1))
def test_fixed_share_stays_within_its_bound_of_the_best_partition(n, rounds, alpha, seed):
    losses = np.random.default_rng(seed).exponential(size=(rounds, n))
    total = FixedShare(n, alpha).run(losses).total_loss
    assert StaticExpert(n).run(losses).total_loss <= losses.sum(axis=0).min() + log(n) + 1e-9
    for segments in range(1, 4):
        cuts = np.linspace(0, rounds, segments + 1).astype(int)
        parts = [losses[a:b] for a, b in pairwise(cuts) if b > a]
        partition = sum(part.sum(axis=0).min() for part in parts)
        k = len(parts)
        bound = partition + log(n) + (k - 1) * log((n - 1) / alpha) + (rounds - k) * log(1 / (1 - alpha))
        assert total <= bound + 1e-9  # counting a repeated expert as a switch only loosens it up to alpha = 1 - 1/n


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


def test_negative_losses_need_to_be_announced():
    losses = np.random.default_rng(0).normal(size=(30, 3))
    signed = FixedShare(3, 0.1, signed=True).run(losses)
    shifted = FixedShare(3, 0.1).run(losses - losses.min())
    np.testing.assert_allclose(signed.loss, shifted.loss + losses.min(), atol=1e-12)
    with pytest.raises(ValueError, match="signed=True"):
        FixedShare(3, 0.1).run(losses)


@pytest.mark.long
@pytest.mark.parametrize("alpha", [0.0, 0.05, 1.0])
def test_a_million_rounds_with_losses_of_a_million_stay_exact(alpha):
    rng = np.random.default_rng(1)
    losses = np.where(rng.random((1_000_000, 2)) < 0.5, 1e6, 0.0)
    loss = FixedShare(2, alpha).run(losses, weights=False).loss
    expected = np.empty(len(losses))
    gap = 0.0  # log odds of expert 0 against 1: exact where they are large
    for t, (a, b) in enumerate(losses):
        expected[t] = -np.logaddexp(-np.logaddexp(0, -gap) - a, -np.logaddexp(0, gap) - b)
        gap += b - a
        if alpha == 1.0:
            gap = -gap
        elif alpha:  # odds after the share, symmetric in the experts
            odds = exp(-abs(gap))
            gap = copysign(log((1 - alpha + alpha * odds) / (alpha + (1 - alpha) * odds)), gap)
    np.testing.assert_allclose(loss, expected, rtol=1e-9, atol=1e-9)
