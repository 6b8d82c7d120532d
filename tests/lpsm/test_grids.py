"""Grids of switching rates: sizes, guarantee, exact Bayes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import LearnAlpha, alpha_grid
from lpsm.experts import worst_divergence
from tests.oracles.experts import krichevsky_trofimov_loss


def dense_divergence(alphas, points=20_001):
    """Smallest divergence from the grid at many alpha*, by the definition."""
    angles = np.linspace(0, np.pi / 2, points)
    p, q = np.sin(angles)[:, None] ** 2, np.cos(angles)[:, None] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(p > 0, p * np.log(p / alphas), 0.0) + np.where(
            q > 1e-300, q * np.log(q / (1 - alphas)), 0.0
        )
    return divergence.min(axis=1).max()


@pytest.mark.parametrize(("horizon", "size"), [(100, 17), (1000, 51), (10_000, 157), (27_000, 259)])
def test_the_grid_for_a_horizon_has_the_known_size_and_keeps_its_promise(horizon, size):
    grid = alpha_grid(horizon=horizon)
    assert grid.shape == (size,)
    assert worst_divergence(grid) * 2 * horizon <= 1 + 1e-9
    assert worst_divergence(grid) * 2 * horizon >= 1 - 1e-9  # and is not finer than needed at its ends
    np.testing.assert_array_equal(grid, alpha_grid(delta=0.5 / horizon))


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-5, 2.0))
def test_no_alpha_is_further_than_delta_from_the_grid(delta):
    grid = alpha_grid(delta=delta)
    assert (np.diff([0.0, *grid, 1.0]) > 0).all()
    assert 0.5 in grid
    np.testing.assert_allclose(grid + grid[::-1], 1.0, atol=1e-15)
    assert worst_divergence(grid) <= delta * (1 + 1e-9)
    assert dense_divergence(grid) <= delta * (1 + 1e-9) + 1e-15


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0.001, 0.999), min_size=1, max_size=12, unique=True))
def test_the_worst_divergence_is_that_of_a_fine_scan(alphas):
    grid = np.array(alphas)
    assert worst_divergence(grid) == pytest.approx(dense_divergence(grid), rel=2e-2, abs=1e-9)
    assert worst_divergence(grid) >= dense_divergence(grid) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("alphas", "worst"), [([0.0, 0.3, 1.0], -np.log(0.3)), ([0.0], np.inf), ([1.0], np.inf), ([0.5], np.log(2))]
)
def test_ends_of_the_interval_are_allowed_in_a_grid(alphas, worst):
    assert worst_divergence(alphas) == pytest.approx(worst)


def test_chebyshev_nodes_are_symmetric_roots_of_the_chebyshev_polynomial():
    for size in (1, 2, 7, 100):
        nodes = alpha_grid(kind="chebyshev", size=size)
        np.testing.assert_allclose(np.polynomial.chebyshev.Chebyshev.basis(size)(2 * nodes - 1), 0, atol=1e-11)
        assert (np.diff(nodes) > 0).all()


@pytest.mark.parametrize("n", [2, 3])
def test_chebyshev_of_half_the_horizon_is_the_krichevsky_trofimov_mixture(n):
    rng = np.random.default_rng(n)
    rounds = 200
    losses = rng.exponential(size=(rounds, n)) * 2
    losses[rounds // 2 :, 0] *= 0.1
    exact = krichevsky_trofimov_loss(losses)
    for size in (rounds // 2, 130):
        run = LearnAlpha(n, alpha_grid(kind="chebyshev", size=size)).run(losses)
        assert run.total_loss == pytest.approx(exact, abs=1e-10)
    near = LearnAlpha(n, alpha_grid(kind="chebyshev", size=22)).run(losses).total_loss
    assert abs(near - exact) < 5e-3
    assert abs(near - exact) > 1e-10  # too few nodes are not exact
