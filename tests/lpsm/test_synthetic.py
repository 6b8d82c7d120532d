"""Loss processes and streams have the properties they promise: exact ones to rounding, laws by Kolmogorov-Smirnov."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import special, stats

from lpsm import FixedShare, LearnAlpha, StaticExpert, alpha_grid, hindsight, synthetic
from lpsm import synthetic_streams as streams
from tests.tables import cases_of, each, near

generators = st.integers(0, 2**32).map(np.random.default_rng)
sizes = st.tuples(st.integers(1, 40), st.integers(1, 5))
stream_sizes = st.tuples(st.integers(1, 60), st.integers(2, 8))


def rng_of(seed):
    return np.random.default_rng(seed)


# -- losses of experts
@given(st.sampled_from(synthetic.PROCESSES), generators, sizes)
def test_every_process_gives_legal_losses_and_the_expert_of_least_mean(name, rng, size):
    if name == "adversarial":
        found = synthetic.adversarial(StaticExpert(size[1]), size[0])
    else:
        more = {"segments": 1} if name == "piecewise" else {}
        found = getattr(synthetic, name.replace("-", "_"))(rng, *size, **more)
    assert found.losses.shape == found.means.shape == size
    assert ((found.losses >= 0.0) & np.isfinite(found.losses)).all()
    assert_array_equal(found.best, found.means.argmin(axis=1))


@given(generators, st.integers(2, 60), st.integers(2, 5), st.data())
def test_piecewise_losses_have_exactly_the_segments_asked_for(rng, rounds, n, data):
    segments = data.draw(st.integers(1, rounds))
    found = synthetic.piecewise(rng, rounds, n, segments=segments)
    assert np.count_nonzero(np.diff(found.best)) == segments - 1
    assert set(np.unique(found.means)) == {0.1, 1.0}


def test_fast_switching_changes_at_its_rate_and_visits_all_experts_alike():
    found = synthetic.fast_switching(rng_of(1), 40_000, 4, rate=0.7)
    switches = np.count_nonzero(np.diff(found.best))
    assert switches / 39_999 == near(0.7, abs=4 * np.sqrt(0.7 * 0.3 / 40_000))
    np.testing.assert_allclose(np.bincount(found.best) / 40_000, 0.25, atol=0.01)


@given(generators, sizes, st.floats(0.0, 1.0))
def test_drifting_means_move_by_exactly_one_step_except_at_the_walls(rng, size, step):
    found = synthetic.drifting(rng, *size, step=step, scale=2.0)
    moved, walls = np.abs(np.diff(found.means, axis=0)) / 2.0, np.minimum(found.means, 2.0 - found.means) / 2.0
    assert (walls >= 0.0).all()
    assert (moved <= step + 1e-12).all()
    assert ((walls < step + 1e-12)[1:] | (np.abs(moved - step) < 1e-12)).all()
    assert (found.losses <= 2.0 * found.means + 1e-12).all()


@each("make", [StaticExpert, lambda n: FixedShare(n, 0.2), lambda n: LearnAlpha(n, alpha_grid(horizon=200))])
def test_the_adversary_makes_the_learner_lose_in_every_round_and_leaves_a_good_expert(make):
    scale, rounds, n = 1.5, 200, 4
    losses = synthetic.adversarial(make(n), rounds, scale=scale).losses
    played = make(n).run(losses)
    assert_array_equal(losses.argmax(axis=1), played.weights.argmax(axis=1))
    assert (played.loss >= -np.log(1 - (1 - np.exp(-scale)) / n) - 1e-12).all()
    assert hindsight.best_expert(losses).loss <= rounds * scale / n


# -- streams of instances
@given(stream_sizes, generators, st.floats(0.0, 0.99))
@settings(max_examples=60)
def test_separable_instances_are_unit_vectors_with_the_margin_asked_for(size, rng, margin):
    stream = streams.separable(*size, margin, rng)
    assert stream.X.shape == size
    assert np.linalg.norm([*stream.X, stream.target], axis=1) == near(1.0, abs=1e-12)
    assert np.min(stream.y * (stream.X @ stream.target)) >= margin - 1e-12


@given(stream_sizes, generators, st.floats(0.0, 1.0), st.floats(0.0, 0.9))
@settings(max_examples=60)
def test_the_drift_is_the_drift_asked_for_and_every_label_has_its_margin(size, rng, part, margin):
    drift = part * 4 * (size[0] - 1)
    stream = streams.drifting(*size, drift, rng, margin=margin)
    assert np.sum(np.diff(stream.targets, axis=0) ** 2) == near(drift, rel=1e-9, abs=1e-12)
    assert np.linalg.norm(stream.targets, axis=1) == near(1.0)
    assert np.min(stream.y * np.sum(stream.X * stream.targets, axis=1)) >= margin - 1e-12


@cases_of("d", "2 ; 3 ; 7")
def test_uniform_instances_project_as_a_normalised_gaussian_does(d):
    stream, gaussian = streams.uniform_sphere(4000, d, rng_of(d)), rng_of(100 + d).standard_normal((4000, d))
    peer = gaussian[:, 0] / np.linalg.norm(gaussian, axis=1)
    for projected in (stream.X @ stream.target, stream.X[:, 0]):
        assert stats.ks_2samp(projected, peer).pvalue > 1e-3


@cases_of("exponent", "0.3 ; 1.0 ; 2.0 ; 8.0")
def test_low_noise_margins_follow_their_power_law_and_labels_their_mean(exponent):
    stream = streams.linear_noise(20_000, 3, exponent, rng_of(3))
    projections = stream.X @ stream.target
    assert stats.kstest(np.abs(projections), lambda e: np.clip(e, 0, 1) ** exponent).pvalue > 1e-3
    residuals = stream.y - projections
    for part in (projections > 0.5, projections < -0.5, np.abs(projections) <= 0.5):
        assert abs(residuals[part].mean()) < 4 * residuals[part].std() / np.sqrt(part.sum())


@cases_of("exponent", "0.5 ; 3.0")
def test_a_hard_margin_keeps_every_margin_and_the_law_of_what_is_above_it(exponent):
    stream = streams.linear_noise(40_000, 3, exponent, rng_of(6), margin=0.4)
    sizes = np.abs(stream.X @ stream.target)
    assert sizes.min() >= 0.4 - 1e-12
    assert np.mean(sizes < 0.7) == near(0.5**exponent, abs=0.01)
    assert np.mean(sizes**2) == near(stream.correlation_eigenvalues[0], abs=0.01)
    plain, none = (streams.linear_noise(9, 3, exponent, rng_of(6), **given).X for given in ({}, {"margin": 0.0}))
    assert_array_equal(plain, none)


@cases_of("d similarity", "2, 0.3 ; 3, 0.5 ; 6, 0.8 ; 3, 1.0")
def test_the_similar_density_takes_both_extreme_values_and_no_other(d, similarity):
    stream = streams.similar_to_uniform(40_000, d, similarity, rng_of(d), axis=np.eye(d)[0])
    share = similarity / (1 + similarity)  # uniform measure of the crowded band
    ranks = special.betainc(0.5, (d - 1) / 2, stream.X[:, 0] ** 2)  # uniform on [0, 1] under uniform instances
    assert stats.binomtest(int(np.sum(ranks <= share)), 40_000, share / similarity).pvalue > 1e-3
    assert stats.kstest(ranks[ranks <= share] / share, "uniform").pvalue > 1e-3
    assert stats.kstest((ranks[ranks > share] - share) / (1 - share), "uniform").pvalue > 1e-3
