"""Version spaces: the three points, exactly, and Lemmas 9 to 12 on every small concept class drawn."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from experiments.papers.proved import version_space as spaces
from lpsm import samplers

MANY = [200, pytest.param(2000, marks=pytest.mark.long)]


# The three points of thesis 4.3.1: reflections take rational angles to rational angles, so degrees are exact


def folded(degrees):
    """Angle to the nearest of a direction and its opposite, in [0, 90]."""
    degrees = degrees % 180
    return min(degrees, 180 - degrees)


def test_three_points_take_dkm_out_of_its_version_space_in_exact_arithmetic():
    x = [Fraction(15), Fraction(-135, 2), Fraction(165)]
    u = Fraction(90)
    assert tuple(float(angle) for angle in x) == spaces.counterexample().degrees
    labels = [1 if (angle - u + 90) % 360 < 180 else -1 for angle in x]
    assert labels == [1, -1, 1]
    v = x[0]  # v_1 = y_0 x_0
    hypotheses = [v]
    for angle, label in zip(x[1:], labels[1:], strict=True):
        assert 90 - folded(angle - v) <= 45  # abs(v.x) <= 1/sqrt(2) = sin 45: dkm asks (the second with equality)
        predicted = 1 if (angle - v + 90) % 360 < 180 else -1
        assert predicted != label  # and errs
        v = (2 * (angle + 90) - v) % 360  # v - 2 (v.x) x mirrors v in the line across x
        hypotheses.append(v)
    assert hypotheses == [15, 30, 120]
    assert folded(x[2] - hypotheses[1]) == 45
    assert (x[0] - hypotheses[2] + 90) % 360 >= 180  # v_3 gives x_0 the label -1; it was bought as +1


def test_the_closed_forms_are_those_angles_to_fifty_digits():
    with mpmath.workdps(60):
        sqrt = mpmath.sqrt
        large, small = sqrt(2 + sqrt(3)), sqrt(2 - sqrt(3))
        scale = 2 * sqrt(2 - large)
        printed = [(large / 2, small / 2), ((large - sqrt(3)) / scale, (small - 1) / scale), (-large / 2, small / 2)]
        example = spaces.counterexample()
        for point, degrees, floats in zip(printed, (15, -67.5, 165), example.X, strict=True):
            angle = mpmath.mpf(degrees) * mpmath.pi / 180
            for exact, coordinate, rounded in zip((mpmath.cos(angle), mpmath.sin(angle)), point, floats, strict=True):
                assert abs(exact - coordinate) < mpmath.mpf(10) ** -50
                assert float(coordinate) == pytest.approx(float(rounded), abs=1e-15)


def test_the_sampler_walks_out_on_the_three_points_and_errs_on_the_first():
    example = spaces.counterexample()
    sampler = samplers.make("dkm", n_features=2, R=5, s_1=1 / np.sqrt(2))
    log = sampler.run(example.X, example.y)
    assert log.queried.all()
    assert log.stored.all()
    for k, x in enumerate(example.X):
        assert sampler.decide(x).margin == pytest.approx(example.V[2] @ x)
        assert k > 0 or sampler.decide(x).prediction != example.y[0]
    assert example.y * (example.X @ example.u) == pytest.approx(np.abs(example.X @ example.u))


def test_the_arc_between_a_point_and_the_last_hypothesis_is_misread_though_its_label_is_forced():
    example = spaces.counterexample()
    for degrees in np.linspace(15.001, 29.999, 40):
        x = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        assert spaces.label_is_forced(example.X, example.y, x) == 1 == np.sign(example.u @ x)  # seen, not uncertain
        assert example.V[2] @ x < 0
    for degrees in (-60.0, 5.0, 170.0):  # beyond the seen arcs nothing is forced
        x = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        forced = spaces.label_is_forced(example.X, example.y, x)
        assert forced == {-60.0: -1, 5.0: 0, 170.0: 0}[degrees]


# Lemmas 9 to 12 on random finite classes


def draw(rng):
    """A concept class, a target in it, a labelled sample, a law over the points."""
    table = np.unique(rng.choice((-1, 1), (int(rng.integers(2, 20)), int(rng.integers(1, 8)))), axis=0)
    target = int(rng.integers(len(table)))
    points = rng.integers(0, table.shape[1], int(rng.integers(0, 6)))
    return table, target, points, rng.dirichlet(np.ones(table.shape[1]))


@pytest.mark.parametrize("n_trials", MANY)
def test_an_error_outside_the_uncertainty_region_puts_a_hypothesis_out_of_the_version_space(n_trials):
    outside = inside = 0
    for seed in range(n_trials):
        table, target, points, _ = draw(np.random.default_rng(seed))
        members = spaces.version_space(table, points, table[target, points])
        assert members[target]  # the realizable setting
        uncertain = spaces.uncertainty_region(table, members)
        for h in range(len(table)):
            certain_error = np.any(spaces.error_region(table, h, target) & ~uncertain)
            if certain_error:
                outside += 1
                assert not members[h]  # Lemma 9
            if not members[h]:
                inside += 1
                assert certain_error  # and, point by point, its converse
    assert min(outside, inside) > n_trials


def test_fewer_labels_than_dimensions_force_no_label_but_at_the_points_themselves():
    for seed in range(100):  # Lemma 10, up to sets of measure zero
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 7))
        u, X = rng.standard_normal(d), rng.standard_normal((int(rng.integers(1, d)), d))
        y = np.where(X @ u >= 0, 1.0, -1.0)
        v = -u  # misreads every example: outside the version space
        assert np.all(y * (X @ v) < 0)
        for x in rng.standard_normal((20, d)):
            assert spaces.label_is_forced(X, y, x) == 0
            both = np.vstack([X, x])
            for label in (1.0, -1.0):  # two consistent half-spaces that disagree on x
                w = np.linalg.lstsq(both, np.append(y, label), rcond=None)[0]
                assert both @ w == pytest.approx(np.append(y, label))
        assert spaces.label_is_forced(X, y, X[0]) == y[0]  # where Lemma 10 as printed fails


def test_d_labels_force_the_labels_of_a_cone():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 6))
        u, X = rng.standard_normal(d), rng.standard_normal((d, d))
        y = np.where(X @ u >= 0, 1.0, -1.0)
        inside = (y[:, None] * X).T @ rng.random(d)
        assert spaces.label_is_forced(X, y, inside) == 1
        assert spaces.label_is_forced(X, y, -inside) == -1


@pytest.mark.parametrize("n_trials", MANY)
def test_neither_target_region_nor_version_space_need_hold_the_other(n_trials):
    near_but_out = far_but_in = 0
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        table, target, _, law = draw(rng)
        epsilon = rng.uniform(0.05, 1.0)
        near = spaces.target_region(table, target, law, epsilon)
        distances = (table != table[target]) @ law
        for h in range(len(table)):
            wrong = np.flatnonzero(table[h] != table[target])
            right = np.flatnonzero(table[h] == table[target])
            t = int(rng.integers(1, 30))
            if len(wrong) and distances[h] < epsilon:  # Lemma 11: t examples, of positive probability, rule h out
                sample = rng.integers(0, table.shape[1], t)
                sample[rng.integers(t)] = rng.choice(wrong)
                near_but_out += 1
                assert near[h]
                assert not spaces.version_space(table, sample, table[target, sample])[h]
            if len(right) and distances[h] > epsilon:  # Lemma 12: t examples that never do
                sample = rng.choice(right, t)
                far_but_in += 1
                assert not near[h]
                assert spaces.version_space(table, sample, table[target, sample])[h]
    assert min(near_but_out, far_but_in) > n_trials


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spaces.version_space([[0, 1]], [0], [1]), "table must be .* labels -1 and [+]1"),
        (lambda: spaces.uncertainty_region([[1, 1]], [False]), "members must hold at least one hypothesis"),
        (lambda: spaces.target_region([[1, 1]], 0, [0.5, 0.5], 1.5), r"epsilon must lie in \(0, 1\], got 1.5"),
        (lambda: spaces.target_region([[1, 1]], 0, [0.5, 0.6], 0.5), "probabilities must be one a point"),
        (lambda: spaces.label_is_forced([[1.0]], [1], [1.0], tolerance=0), "tolerance must be positive"),
    ],
)
def test_a_broken_hypothesis_is_named_with_its_rule_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
