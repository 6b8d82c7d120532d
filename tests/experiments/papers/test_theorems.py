"""What is proved of sources with known constants: by hand, by trials, and on the runs of learners."""

import math
from fractions import Fraction
from math import log

import numpy as np
from scipy import stats

from experiments.papers import theorems
from experiments.papers.thesis import sphere
from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds.second_order import log_determinant
from tests.tables import each, near

NOISE = {"n_rounds": 100, "eigenvalue": 0.5, "alpha": 1.0, "c": 2.0}
WORLD = {"n_features": 2, **NOISE}
LN = log(100)


BY_HAND = """
# printed 2, although v = (0.1, 0) turns towards (0, 1) at sine 1
perceptron_lemma_sine(0.1) -> 1 / 3
perceptron_lemma_sine(2) -> 0.1
second_order_limit(comparator_norm=3, trace=2) -> 18
separable_second_order_step(6, n_features=2, gamma=0.5, lambda_0=0.5) -> 2 * sqrt(8 * log(4))
selected_risk(10, 100, exp(-2)) -> 0.1 + 6 * sqrt(0.02 * log(2 * 101 / exp(-2)))
supervised_regret_of_spectrum(n_rounds=4, alpha=0, c=1, eigenvalues=[0.25, 0.75]) -> sqrt(4 * (1 + log(8))) * 2
supervised_rate_in_labels(2) -> -0.75
adaptive_rate_in_labels(2) -> -1.2
adaptive_rate_in_labels(sqrt(3) - 1) -> supervised_rate_in_labels(sqrt(3) - 1)
# the least of 4 eps + 1/(4 eps), at eps = 1/4
disagreement_cap(0.25, alpha=1, c=4) -> 2
adaptive_regret(**WORLD, margin=0.5) -> 50 + 64 * LN + 4096 * LN + 1 + 8 * log(101)
adaptive_labels(**WORLD, margin=0.5) -> 100 + 64 * LN + 4096 * LN + 1 + 3 * log(101)
adaptive_labels(**WORLD | {"alpha": 0}) -> 200 + 64 * LN + 1024 * LN + 1 + 3 * log(101)
"""


@each("row", [row for row in BY_HAND.strip().splitlines() if row[0] != "#"])
def test_a_statement_has_the_value_worked_out_by_hand(row):
    value, by_hand = (eval(side, vars(math) | vars(theorems) | globals()) for side in row.split(" -> "))
    assert value == near(by_hand, rel=1e-12)


def test_the_penalised_hypothesis_is_that_of_the_definition_evaluated_at_every_round():
    for seed in range(12):
        rng, d = np.random.default_rng(seed), 2 + seed % 2
        stream = streams.uniform_sphere(60, d, rng)
        X, y = stream.X, np.where(rng.random(60) < 0.02 * (seed % 3), -stream.y, stream.y)
        sampler, at_round, starts = samplers.make("sop", d), [np.zeros(d)], [0]
        for t in range(59):
            stored = sampler.run(X[t : t + 1], y[t : t + 1]).stored[0]
            starts += [t + 1] if stored else []
            at_round.append(sampler.weights if stored else at_round[-1])
        wrong = np.where(np.array(at_round) @ X.T >= 0, 1.0, -1.0) != y
        rest = 60 - np.arange(60)
        costs = [row[t:].mean() for t, row in enumerate(wrong)] + np.sqrt(np.log(60 * 61 / 0.05) / (2 * rest))
        chosen = theorems.penalised_hypothesis(np.array(at_round)[starts], starts, X, y, delta=0.1)
        assert starts[chosen] == np.argmin(costs)


def test_the_adaptive_sampler_stores_a_fair_sample_and_the_selective_one_does_not():
    stream = streams.linear_noise(40_000, 2, 2.0, np.random.default_rng(2))
    sizes = np.abs(stream.X @ stream.target)
    for key, parameters, fair in (("adaptive-sampler", {"lambda_": 10.0, "rho": 20.0}, True),
        ("ss", {"K": 10.0, "normalize": True}, False)):  # fmt: skip
        stored = samplers.make(key, n_features=2, **parameters).run(stream.X, stream.y).stored
        assert 300 < stored.sum() < 20_000
        p = stats.kstest(sizes[stored], lambda size: np.clip(size, 0, 1) ** 2.0).pvalue
        assert p > 1e-3 if fair else p < 1e-9


def test_the_limit_of_large_a_has_the_trace_and_not_that_of_the_square():
    X, u, a = np.array([[2.0, 0.0]]), np.array([3.0, 4.0]), 1e9
    product = (a * u @ u + (X @ u) @ (X @ u)) * log_determinant(X, a)
    assert theorems.second_order_limit(comparator_norm=5.0, trace=4.0) == near(product, rel=1e-6)  # printed 16


def test_the_printed_eps_is_best_for_labels_and_not_for_regret():
    given = {"n_rounds": 10**6, "eigenvalue": 0.5, "alpha": 2.0, "c": 1.0}
    corrected, printed = theorems.best_regret_margin(**given), theorems.best_label_margin(**given)
    regret = theorems.adaptive_regret(n_features=2, **given)
    assert theorems.adaptive_regret(n_features=2, margin=printed, **given) > 1.01 * regret
    for factor in np.geomspace(0.3, 3, 31):
        assert theorems.adaptive_regret(n_features=2, margin=factor * corrected, **given) >= regret * (1 - 1e-12)
        labels = theorems.adaptive_labels(n_features=2, margin=factor * printed, **given)
        assert labels >= theorems.adaptive_labels(n_features=2, **given)


# -- the three points of thesis 4.3.1: reflections take rational angles to rational angles, so degrees are exact ---
def test_three_points_take_dkm_out_of_its_version_space_in_exact_arithmetic():
    x, u, labels = [Fraction(angle) for angle in sphere.POINTS], Fraction(90), [1, -1, 1]
    assert [1 if (angle - u + 90) % 360 < 180 else -1 for angle in x] == labels
    hypotheses = [x[0]]  # v_1 = y_0 x_0
    for angle, label in zip(x[1:], labels[1:], strict=True):
        v = hypotheses[-1]
        between = (angle - v) % 180
        assert abs(90 - between) <= 45  # abs(v.x) <= 1/sqrt(2) = sin 45: dkm asks (the second with equality)
        assert (1 if (angle - v + 90) % 360 < 180 else -1) != label  # and errs
        hypotheses.append((2 * (angle + 90) - v) % 360)  # v - 2 (v.x) x mirrors v in the line across x
    assert hypotheses == [15, 30, 120]
    assert (x[0] - hypotheses[2] + 90) % 360 >= 180  # v_3 gives x_0 the label -1; it was bought as +1
