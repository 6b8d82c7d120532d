"""The streams have the properties they promise: exact ones to rounding, laws by Kolmogorov-Smirnov."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from lpsm import synthetic_streams as streams

SIZES = st.tuples(st.integers(1, 60), st.integers(2, 8), st.integers(0, 2**32 - 1))


def rng_of(seed):
    return np.random.default_rng(seed)


# Invariants


@given(SIZES, st.floats(0.0, 0.99))
@settings(deadline=None, max_examples=60)
def test_separable_instances_are_unit_vectors_with_the_margin_asked_for(sizes, margin):
    n, d, seed = sizes
    stream = streams.separable(n, d, margin, rng_of(seed))
    assert stream.X.shape == (n, d)
    assert np.allclose(np.linalg.norm(stream.X, axis=1), 1.0, atol=1e-12)
    assert np.linalg.norm(stream.target) == pytest.approx(1.0)
    assert np.min(stream.y * (stream.X @ stream.target)) >= margin - 1e-12


@given(SIZES, st.floats(0.0, 1.0), st.floats(0.0, 0.9))
@settings(deadline=None, max_examples=60)
def test_the_drift_is_the_drift_asked_for_and_every_label_has_its_margin(sizes, part, margin):
    n, d, seed = sizes
    drift = part * 4 * (n - 1)
    stream = streams.drifting(n, d, drift, rng_of(seed), margin=margin)
    moved = np.sum(np.diff(stream.targets, axis=0) ** 2)
    assert moved == pytest.approx(drift, rel=1e-9, abs=1e-12)
    assert np.allclose(np.linalg.norm(stream.targets, axis=1), 1.0)
    assert np.min(stream.y * np.sum(stream.X * stream.targets, axis=1)) >= margin - 1e-12


# Laws, against oracles that share no code


def test_uniform_instances_project_as_a_normalised_gaussian_does():
    for d in (2, 3, 7):
        stream = streams.uniform_sphere(4000, d, rng_of(d))
        gaussian = rng_of(100 + d).standard_normal((4000, d))
        peer = gaussian[:, 0] / np.linalg.norm(gaussian, axis=1)
        assert stats.ks_2samp(stream.X @ stream.target, peer).pvalue > 1e-3
        assert stats.ks_2samp(stream.X[:, 0], peer).pvalue > 1e-3


@pytest.mark.parametrize("exponent", [0.3, 1.0, 2.0, 8.0])
def test_low_noise_margins_follow_their_power_law_and_labels_their_mean(exponent):
    stream = streams.linear_noise(20_000, 3, exponent, rng_of(3))
    projections = stream.X @ stream.target
    assert stats.kstest(np.abs(projections), lambda e: np.clip(e, 0, 1) ** exponent).pvalue > 1e-3
    residuals = stream.y - projections
    for part in (projections > 0.5, projections < -0.5, np.abs(projections) <= 0.5):
        assert abs(residuals[part].mean()) < 4 * residuals[part].std() / np.sqrt(part.sum())


@pytest.mark.parametrize("exponent", [0.5, 3.0])
def test_a_hard_margin_keeps_every_margin_and_the_law_of_what_is_above_it(exponent):
    stream = streams.linear_noise(40_000, 3, exponent, rng_of(6), margin=0.4)
    sizes = np.abs(stream.X @ stream.target)
    assert sizes.min() >= 0.4 - 1e-12
    assert np.mean(sizes < 0.7) == pytest.approx(0.5**exponent, abs=0.01)
    assert np.mean(sizes**2) == pytest.approx(stream.correlation_eigenvalues[0], abs=0.01)
    np.testing.assert_array_equal(
        streams.linear_noise(9, 3, exponent, rng_of(6)).X, streams.linear_noise(9, 3, exponent, rng_of(6), margin=0.0).X
    )


@pytest.mark.parametrize(("d", "similarity"), [(2, 0.3), (3, 0.5), (6, 0.8)])
def test_the_similar_density_takes_both_extreme_values_and_no_other(d, similarity):
    axis = np.eye(d)[0]
    stream = streams.similar_to_uniform(40_000, d, similarity, rng_of(d), axis=axis)
    share = similarity / (1 + similarity)  # uniform measure of the crowded band
    ranks = special.betainc(0.5, (d - 1) / 2, stream.X[:, 0] ** 2)  # uniform on [0, 1] under uniform instances
    assert stats.binomtest(int(np.sum(ranks <= share)), 40_000, share / similarity).pvalue > 1e-3
    assert stats.kstest(ranks[ranks <= share] / share, "uniform").pvalue > 1e-3
    assert stats.kstest((ranks[ranks > share] - share) / (1 - share), "uniform").pvalue > 1e-3


# Extremes


def test_extreme_parameters_give_what_they_must():
    poles = streams.separable(50, 3, 0.999999, rng_of(0))
    assert np.allclose(poles.X, poles.y[:, None] * poles.target, atol=2e-3)
    still = streams.drifting(20, 3, 0.0, rng_of(0))
    assert np.ptp(still.targets, axis=0).max() == 0.0
    flips = streams.drifting(5, 2, 16.0, rng_of(0))
    assert np.allclose(flips.targets[1:], -flips.targets[:-1])
    sure = streams.linear_noise(500, 3, 1e9, rng_of(0))
    assert np.array_equal(sure.y, np.sign(sure.X @ sure.target))
    same = streams.similar_to_uniform(5000, 3, 1.0, rng_of(0))
    assert stats.kstest(same.X[:, 0], "uniform", args=(-1, 2)).pvalue > 1e-3  # Archimedes: uniform in d = 3
