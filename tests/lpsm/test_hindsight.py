"""Hindsight comparators and grids of rates against enumeration, against their own theorems, and at extremes."""

from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import minimize_scalar

from lpsm import LearnAlpha, alpha_grid, hindsight
from lpsm.experts import hindsight_kernels as kernels
from lpsm.experts import worst_divergence
from lpsm.experts.hindsight_kernels import Likelihoods, interpolation_error, node_losses, read_between, slopes
from tests.oracles import experts as oracle
from tests.tables import cases_of, each, value_error

values = st.one_of(st.floats(0, 5), st.sampled_from([0.0, 1.0, 30.0, 1e6]))


def matrices(max_rounds=5, max_experts=3, elements=values):
    shapes = st.tuples(st.integers(1, max_rounds), st.integers(1, max_experts))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=elements))


def shifting(rounds=120, n_experts=4, segments=6, seed=0):
    rng = default_rng(seed)
    losses = rng.exponential(1.0, (rounds, n_experts))
    for s, part in enumerate(np.array_split(np.arange(rounds), segments)):
        losses[part, s % n_experts] *= 0.1
    return losses


@given(matrices())
def test_partition_curves_are_those_of_enumeration(losses):  # oracle
    rounds = len(losses)
    for strict in (False, True):
        expected = [oracle.best_with_switches(losses, k, at_most=not strict) for k in range(1, rounds + 1)]
        found = hindsight.partition_curve(losses, rounds, neighbours_differ=strict)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(matrices(max_rounds=12, max_experts=4), st.booleans(), st.data())
def test_the_best_partition_pays_what_its_curve_says_and_has_k_segments(losses, differ, data):
    k = data.draw(st.integers(1, len(losses)))
    curve = hindsight.partition_curve(losses, k, neighbours_differ=differ)
    if not np.isfinite(curve[-1]):
        with value_error("k must allow"):
            hindsight.best_partition(losses, k, neighbours_differ=differ)
        return
    found = hindsight.best_partition(losses, k, neighbours_differ=differ)
    assert found.starts[0] == 0
    assert found.starts.shape == found.experts.shape == (k,)
    assert (np.diff(found.starts) > 0).all()
    assert (np.diff(found.experts) != 0).all() or not differ
    experts = np.repeat(found.experts, np.diff(np.append(found.starts, len(losses))))
    assert losses[np.arange(len(losses)), experts].sum() == pytest.approx(found.loss, rel=1e-12, abs=1e-12)
    assert found.loss == curve[-1]


@settings(max_examples=40)
@given(matrices(), st.sampled_from([0.0, 1e-200, 1e-9, 0.2, 0.5, 0.9, 1 - 1e-9, 1.0]))
def test_loss_at_a_rate_is_the_sum_over_all_expert_sequences(losses, alpha):  # oracle
    n = losses.shape[1]
    expected = oracle.markov_loss(losses, oracle.share_matrix(n, alpha if n > 1 else 0.0))
    assert hindsight.alpha_losses(losses, [alpha])[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@cases_of("alpha", "1e-6 ; 0.03 ; 0.5 ; 0.97")
def test_slope_and_curvature_are_those_of_fifty_digit_differences(alpha):  # oracle
    losses = shifting(40)
    with mpmath.workdps(60):
        expected = [mpmath.diff(lambda a: oracle.share_loss(losses, a), mpmath.mpf(alpha), k) for k in (0, 1, 2)]
    assert_allclose(hindsight.alpha_slopes(losses, [alpha])[0], [float(x) for x in expected], rtol=1e-10,
        atol=1e-10)  # fmt: skip


@settings(max_examples=60)
@given(matrices(max_rounds=30, max_experts=4))
def test_no_rate_on_a_dense_grid_beats_the_best_rate_by_more_than_its_gap(losses):  # theorem: the lower bound
    best = hindsight.best_alpha(losses, max_evaluations=3_000)
    dense = np.concatenate(([0.0, 1e-9, 1e-6], np.linspace(0.0005, 1.0, 1_999)))
    at = hindsight.alpha_losses(losses, dense)
    scale = 1e-12 * (1 + abs(best.loss))
    assert at.min() >= best.loss - best.gap - scale
    assert best.loss == pytest.approx(hindsight.alpha_losses(losses, [best.alpha])[0], rel=1e-14)


@each("seed", range(4))
def test_what_is_best_of_five_rounds_is_so_by_enumeration(seed):
    losses = default_rng(seed).exponential(2.0, (5, 2 + seed % 2))
    best, moved = hindsight.best_alpha(losses), hindsight.best_transitions(losses, max_iterations=3)
    assert float(oracle.share_loss(losses, best.alpha)) == pytest.approx(best.loss, rel=1e-13)
    for alpha in np.linspace(0.0, 1.0, 21):
        assert oracle.share_loss(losses, alpha) >= best.loss - best.gap - 1e-12
    assert_allclose(moved.counts, oracle.transition_counts(losses, moved.matrix), rtol=1e-11)


@cases_of("rounds n segments", "120, 4, 6 ; 300, 3, 10 ; 60, 2, 3")
def test_at_the_best_rate_the_loss_has_no_slope_to_the_last_digits_of_the_rate(rounds, n, segments):
    losses = shifting(rounds, n, segments)
    best = hindsight.best_alpha(losses)
    _, slope, curvature = hindsight.alpha_slopes(losses, [best.alpha])[0]
    assert abs(slope) <= 1e-13 * best.alpha * curvature


def test_the_global_minimum_is_found_among_two_local_ones():
    # a constant expert and an alternating pair: rates near 0 and rates near 1 are both good, between them not
    losses = np.array([[0.0, 2.0]] * 20 + [[0.0, 2.0], [2.0, 0.0]] * 10)
    for lengthened in (0, 8, 12):  # rounds that favour staying, one side or the other
        more = np.vstack([np.tile([0.0, 2.0], (lengthened, 1)), losses])
        best = hindsight.best_alpha(more)
        grid = np.linspace(1e-4, 1 - 1e-4, 401)
        near = grid[hindsight.alpha_losses(more, grid).argmin()]
        loss_at = partial(hindsight.alpha_losses, more)
        found = minimize_scalar(
            lambda alpha, at=loss_at: at([alpha])[0],
            bounds=(max(0.0, near - 0.003), min(1.0, near + 0.003)),
            method="bounded",
            options={"xatol": 1e-7},
        )
        assert best.loss <= found.fun + 1e-12
        assert best.alpha == pytest.approx(found.x, abs=1e-5)
        assert best.gap <= 1e-6


@each("far", [0.7, 0.9])
def test_a_stationary_rate_is_found_on_this_side_of_a_higher_one(far):  # beyond which the loss falls again
    prepared = Likelihoods(np.array([[0.0, 2.0]] * 20 + [[0.0, 2.0], [2.0, 0.0]] * 10), None)
    rates = np.array([0.0, 0.005, far])
    values = slopes(prepared, rates)[:, 0]
    assert values[1] < values[2]
    found = kernels.stationary_rate(prepared, rates.tolist(), values.tolist())
    [[loss, slope, curvature]] = slopes(prepared, np.array([found]))
    assert abs(slope) <= 1e-12 * curvature
    assert loss < values[1]


@cases_of("rounds n scale repeats", "2, 3, 1.0, 1 ; 12, 2, 4.0, 1 ; 300, 5, 1e-3, 1 ; 300, 5, 2.0, 1 ; 300, 3, 3.0, 50")
def test_the_polynomial_through_few_losses_is_as_near_as_its_bound_says(rounds, n, scale, repeats):  # theorem
    rng = default_rng(rounds + repeats)
    prepared = Likelihoods(np.repeat(rng.exponential(scale, size=(rounds // repeats, n)), repeats, axis=0),
        np.ones(n) / n)  # fmt: skip
    rates = rng.random(60)
    exact = -slopes(prepared, rates)[:, 0] + prepared.offset
    for nodes in (4, 20, 60, rounds):
        at = alpha_grid(kind="chebyshev", size=nodes)
        values = -node_losses(prepared, at)
        top = max(values.max(), exact.max())
        through = BarycentricInterpolator(at, np.exp(values - top), rng=0)(rates)
        error = np.abs(through - np.exp(exact - top)).max()
        assert error <= interpolation_error(rounds, nodes) + 1e-9


def test_losses_of_more_nodes_than_are_played_together_are_those_of_each(monkeypatch):
    monkeypatch.setattr(kernels, "CACHED", 32)
    prepared = Likelihoods(shifting(30), np.full(4, 0.25))
    rates = alpha_grid(kind="chebyshev", size=40)
    assert_allclose(node_losses(prepared, rates), slopes(prepared, rates)[:, 0] - prepared.offset, rtol=1e-11)


def test_the_largest_value_of_a_polynomial_is_read_between_its_nodes():
    nodes = alpha_grid(kind="chebyshev", size=7)
    rates, log_most = read_between(1.0 - (nodes - 0.3) ** 2, 1e-6)
    assert rates.min() <= 0.3 <= rates.max() < rates.min() + 0.01
    assert 0.0 <= log_most <= 1e-6


def test_the_error_between_nodes_is_the_printed_one_and_no_more_nodes_are_taken_than_it_asks_for():
    # degree D = 100, N = 40: 4 D / N exp(N / D - N^2 / (2 D))
    assert interpolation_error(101, 40) == pytest.approx(10.0 * np.exp(0.4 - 8.0), rel=1e-12)
    assert (interpolation_error(101, 101), interpolation_error(5, 2)) == (0.0, 1.0)
    nodes = kernels.nodes_for(10_001, 1e-9, 4096)
    assert interpolation_error(10_001, nodes) <= 1e-9 < interpolation_error(10_001, int(nodes * 0.98))
    assert [kernels.nodes_for(*of) for of in ((10_001, 1e-9, 300), (50, 0.0, 300))] == [300, 50]


def test_the_gap_is_what_reading_between_the_nodes_and_the_polynomial_leave_open():
    losses, tolerance = shifting(4_000, 2), 0.4
    prepared = Likelihoods(losses, np.full(2, 0.5))
    nodes = kernels.nodes_for(4_000, 0.25 * tolerance, 10_000)
    values = node_losses(prepared, alpha_grid(kind="chebyshev", size=nodes))
    _, excess = read_between(np.exp(values.min() - values), 0.25 * tolerance)
    error = interpolation_error(4_000, nodes)
    assert excess > 1e-3 < error < 0.25 * tolerance
    best = kernels.search(prepared, tolerance, 10_000)
    left_open = best.loss - (prepared.offset + values.min()) + excess - np.log1p(-error)
    assert best.gap == pytest.approx(left_open, rel=1e-9)


def test_a_flat_curve_is_settled_by_six_losses_for_each_root_of_the_rounds():
    losses = default_rng(0).exponential(1e-3, size=(2_000, 3))
    best = hindsight.best_alpha(losses)
    assert best.evaluations <= 6.5 * np.sqrt(2_000)
    assert best.gap <= 1e-6
    dense = np.sin(np.linspace(0.0, np.pi / 2, 301)) ** 2
    assert best.loss - best.gap <= hindsight.alpha_losses(losses, dense).min() <= best.loss + 1e-6
    few, too_few = (hindsight.best_alpha(losses, max_evaluations=most) for most in (150, 50))
    assert 140 <= few.evaluations <= 150
    assert 1e-6 < few.gap < too_few.gap == np.inf


def test_an_expert_without_prior_weight_does_not_hide_the_losses_of_the_others():
    losses = np.array([[0.0, 1e7, 2e7], [3.0, 1.0, 0.0], [0.0, 1.0, 5.0]])
    prior = [0.0, 0.25, 0.75]
    for alpha in (1e-9, 0.3, 1.0):
        expected = float(oracle.share_loss(losses, alpha, prior=prior))
        assert hindsight.alpha_losses(losses, [alpha], prior=prior)[0] == pytest.approx(expected, rel=1e-14)
    assert np.isfinite(hindsight.best_transitions(losses, prior=prior).loss)


@cases_of("losses alpha", """
np.tile([0.0, 9.0], (50, 1)), 0.0 ; np.where(np.add.outer(np.arange(50), np.arange(2)) % 2, 9.0, 0.0), 1.0
np.array([[3.0, 1.0]]), 0.0 ; np.ones((20, 1)), 0.0 ; np.ones((200, 3)), 0.0
""")  # fmt: skip
def test_the_best_rate_reaches_the_ends(losses, alpha):  # extremes
    best = hindsight.best_alpha(losses)
    assert best.alpha == alpha
    assert best.gap <= (0.0 if 1 in losses.shape else 1e-6)


@settings(max_examples=25)
@given(matrices(max_rounds=5, elements=st.floats(0, 5)))
def test_the_best_transitions_reproduce_the_posterior_moves_they_induce(losses):  # oracle
    assert hindsight.best_transitions(losses, max_iterations=0).iterations == 0
    found = hindsight.best_transitions(losses, max_iterations=200)
    expected = oracle.transition_counts(losses, found.matrix)
    assert_allclose(found.counts, expected, atol=1e-9)
    visits = found.counts.sum(axis=1, keepdims=True)
    assert found.residual == pytest.approx(np.abs(found.counts - visits * found.matrix).max(), abs=1e-12)
    assert found.loss == pytest.approx(oracle.markov_loss(losses, found.matrix), rel=1e-10, abs=1e-10)


@cases_of("shift", "2.0 ; 0.5")
def test_stretched_steps_need_half_as_many_as_plain_ones_where_entries_fall_to_zero(shift):
    losses = np.where(np.add.outer(np.arange(90), -np.arange(3)) % 3, shift, 0.0)  # the experts take turns
    found = hindsight.best_transitions(losses)
    steps, one = 1, hindsight.best_transitions(losses, max_iterations=1)
    while one.residual > 1e-10:
        steps, one = steps + 1, hindsight.best_transitions(losses, start=one.matrix, max_iterations=1)
    assert 2 * found.iterations <= steps
    assert found.loss <= one.loss + 1e-9


def test_one_infinite_loss_is_legal_and_a_round_of_them_costs_infinity():
    losses = shifting(30)
    losses[7, 2] = np.inf
    for found in (hindsight.alpha_losses(losses, [0.0, 0.2, 1.0]), hindsight.best_alpha(losses).loss,
        hindsight.best_transitions(losses).loss, hindsight.partition_curve(losses, 5)):  # fmt: skip
        assert np.isfinite(found).all()
    assert hindsight.best_alpha([[np.inf, 0.0], [0.0, 0.0]], prior=[1.0, 0.0]).loss == np.inf
    losses[7] = np.inf
    assert hindsight.best_alpha(losses).loss == np.inf
    assert np.isinf(hindsight.partition_curve(losses, 5)).all()
    with value_error("finite"):
        hindsight.best_transitions(losses)


# -- grids of switching rates: sizes, guarantee, exact Bayes
def dense_divergence(alphas, points=20_001):
    """Smallest divergence from the grid at many alpha*, by the definition."""
    angles = np.linspace(0, np.pi / 2, points)
    p, q = np.sin(angles)[:, None] ** 2, np.cos(angles)[:, None] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(p > 0, p * np.log(p / alphas), 0.0) + np.where(q > 1e-300, q * np.log(q / (1 - alphas)),
            0.0)  # fmt: skip
    return divergence.min(axis=1).max()


@cases_of("horizon size", "100, 17 ; 1000, 51 ; 10_000, 157 ; 27_000, 259")
def test_the_grid_for_a_horizon_has_the_known_size_and_keeps_its_promise(horizon, size):
    grid = alpha_grid(horizon=horizon)
    assert grid.shape == (size,)
    assert worst_divergence(grid) * 2 * horizon <= 1 + 1e-9
    assert worst_divergence(grid) * 2 * horizon >= 1 - 1e-9  # and is not finer than needed at its ends
    np.testing.assert_array_equal(grid, alpha_grid(delta=0.5 / horizon))


@settings(max_examples=60)
@given(st.floats(1e-5, 2.0))
def test_no_alpha_is_further_than_delta_from_the_grid(delta):
    grid = alpha_grid(delta=delta)
    assert (np.diff([0.0, *grid, 1.0]) > 0).all()
    assert 0.5 in grid
    assert_allclose(grid + grid[::-1], 1.0, atol=1e-15)
    assert worst_divergence(grid) <= delta * (1 + 1e-9)
    assert dense_divergence(grid) <= delta * (1 + 1e-9) + 1e-15


@settings(max_examples=30)
@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=12, unique=True))
def test_the_worst_divergence_is_that_of_a_fine_scan(alphas):
    grid = np.array(alphas)
    assert worst_divergence(grid) == pytest.approx(dense_divergence(grid), rel=2e-2, abs=1e-9)
    assert worst_divergence(grid) >= dense_divergence(grid) * (1 - 1e-9)


@cases_of("alphas worst", "[0.0, 0.3, 1.0], -np.log(0.3) ; [0.0], np.inf ; [1.0], np.inf ; [0.5], np.log(2)")
def test_ends_of_the_interval_are_allowed_in_a_grid(alphas, worst):
    assert worst_divergence(alphas) == pytest.approx(worst)


@cases_of("n", "2 ; 3")
def test_chebyshev_of_half_the_horizon_is_the_krichevsky_trofimov_mixture(n):
    rng = default_rng(n)
    rounds = 200
    losses = rng.exponential(size=(rounds, n)) * 2
    losses[rounds // 2 :, 0] *= 0.1
    exact = oracle.krichevsky_trofimov_loss(losses)
    for size in (rounds // 2, 130):
        run = LearnAlpha(n, alpha_grid(kind="chebyshev", size=size)).run(losses)
        assert run.total_loss == pytest.approx(exact, abs=1e-10)
    near = LearnAlpha(n, alpha_grid(kind="chebyshev", size=22)).run(losses).total_loss
    assert abs(near - exact) < 5e-3
    assert abs(near - exact) > 1e-10  # too few nodes are not exact
