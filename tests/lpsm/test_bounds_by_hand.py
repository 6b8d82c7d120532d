"""Every constant of every bound, pinned by a value worked out by hand: the arithmetic stands beside each.

The numbers are chosen so that every constant, exponent and sign of a statement changes the value.
"""

import math
from math import log

import numpy as np
import pytest

from lpsm import bounds
from lpsm.bounds import experts
from tests.tables import each


def close(value):
    return pytest.approx(value, rel=1e-12)


HINGE = {"hinge": 2.0, "comparator_norm": 2.0, "gamma": 0.5}
SECOND = {"quadratic": 5.0, "comparator_norm": 2.0}
MOVING = {"hinge": 2.0, "energy": 9.0, "quadratic_sum": 4.0, "gamma": 0.5}
BEST, MATRIX = [[0.75, 0.25], [0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]]
APART, OTHER = 0.25 * log(0.5) + 0.75 * log(1.5), 0.5 * log(2.0) + 0.5 * log(2.0 / 3.0)
FAR = 0.25 * log(2.5) + 0.75 * log(0.75 / 0.9)
LAW = experts.switch_distribution(-np.log([[0.75, 0.25]] * 3), 0.5)  # two experts over three rounds
MEAN = 0.5 * 24.0 / 64.0 + 12.0 / 64.0
VARIANCE = 0.25 * 24.0 / 64.0 + 12.0 / 64.0 - MEAN**2

BOUNDS = """
# L = 3, norm(u) X = 2 * 3 = 6, k = 36: 3 + 18 + 6 sqrt(3 + 9)
perceptrons.perceptron_mistakes(hinge=3.0, comparator_norm=2.0, radius=3.0) -> 21 + 6 * sqrt(12)
# norm(u)^2/gamma^2 = 4/(1/4) = 16, b = 1: (3/2)(2/0.5) + (9/8) 16 = 6 + 18; b = 2: (5/4) 4 + (25/16) 16
perceptrons.selective_perceptron_mistakes(**HINGE, b=1.0) -> 24.0
perceptrons.selective_perceptron_mistakes(**HINGE, b=2.0) -> 30.0
# norm(u)^2 + quadratic = 4 + 5 = 9, b = 2: 4 + (2/(1/2)) 9 + 3/4
second_order.selective_second_order_mistakes(quadratic=5.0, **HINGE, log_det=3.0, b=2.0) -> 40.75
# a norm(u)^2 + quadratic = 3 * 4 + 5 = 17, and with a = 1 again 9
second_order.second_order_mistakes(hinge=1.5, **SECOND, log_det=2.0, a=3.0) -> 1.5 + sqrt(34)
second_order.second_order_mistakes(hinge=1.5, **SECOND, log_det=2.0) -> 1.5 + sqrt(18)
# C = 4: 1.5 + 2 * 17 + 2/8, and with a = 1: 1.5 + 2 * 9 + 2/8
second_order.label_efficient_mistakes(hinge=1.5, **SECOND, log_det=2.0, a=3.0, C=4.0) -> 35.75
second_order.label_efficient_mistakes(hinge=1.5, **SECOND, log_det=2.0, C=4.0) -> 19.75
# I + X'X/2 of (1, 0) twice and (0, 2): diag(1 + 2/2, 1 + 4/2); and one instance of two features
second_order.log_determinant([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]], a=2.0) -> log(2) + log(3)
second_order.log_determinant([[3.0, 4.0]], a=5.0) -> log(6)
second_order.log_determinant([[3.0, 4.0]]) -> log(26)
# (2 + sqrt(9 * 4))/(1/2); a = 2: 2/0.5 + 2/(2 * 1/4) 9 + 4/4
drift.drift_mistakes(**MOVING) -> 16.0
drift.selective_drift_mistakes(**MOVING, a=2.0) -> 41.0
# M/n = 10/100; ln(1/delta) = 2 and sqrt(2/100 * 2) = 1/5
risk.average_risk(mistakes=10, n_rounds=100, delta=exp(-2)) -> 0.1 + 0.2
risk.average_risk(mistakes=1, n_rounds=1, delta=exp(-2)) -> 1.0 + 2.0
# sqrt(2 ln(2 * 3/.5)/50)/.25
risk.importance_weighted_deviation(50, n_hypotheses=3, least_probability=0.25, delta=0.5) -> 4 * sqrt(log(12) / 25)
# ln 5 + 7 (1/16)
experts.learn_alpha_optimised_regret(horizon=8, n_alphas=5) -> log(5) + 7 / 16
# divergences, and the static expert
experts.divergence(0.25, 0.5) -> APART
float(experts.divergence(1.0, 0.25)) -> log(4)
float(experts.divergence(0.0, 1.0)) -> inf
experts.static_expert_loss([3.0, 2.0, 5.0]) -> 2.0 + log(3)
experts.static_expert_loss([3.0, 2.0], [0.9, 0.1]) -> 3.0 + log(1 / 0.9)
# Fixed-share against three segments of five rounds: L_3 + ln 4 + 2 ln(3/alpha) + 2 ln(1/(1 - alpha)) at alpha = 1/4
experts.fixed_share_partition_loss(1.5, 3, 5, 4, 0.25) -> 1.5 + log(4) + 2 * log(12) + 2 * log(4 / 3)
experts.fixed_share_partition_loss(1.5, 3, 5, 4, 0.25, prior=0.5) -> 1.5 + log(2) + 2 * log(12) + 2 * log(4 / 3)
experts.fixed_share_partition_loss(1.5, 1, 5, 4, 0.0) -> 1.5 + log(4)
experts.fixed_share_partition_loss(1.5, 5, 5, 4, 1.0) -> 1.5 + log(4) + 4 * log(3)
# Theorem 1 in both forms
experts.fixed_share_regret(5, 0.25, 0.5) -> 4 * APART
experts.fixed_share_regret(1, 0.25, 0.5) -> 0.0
experts.markov_share_regret(5, BEST, MATRIX) -> 4 * max(APART, OTHER)
experts.markov_share_regret(5, BEST, MATRIX, [4.0, 0.0]) -> 4 * APART
experts.markov_share_visited_regret([3.0, 1.0], BEST, MATRIX) -> 3 * APART + OTHER
# Corollary 1 of two rates: ln 2 + 4 D(1/4 || 1/2), and with priors ln(1/.1) against ln(1/.9) + 4 D(1/4 || 1/10)
experts.learn_alpha_regret(5, 0.25, [0.5, 0.1]) -> log(2) + 4 * min(APART, FAR)
experts.learn_alpha_regret(5, 0.25, [0.25, 0.1], [0.1, 0.9]) -> min(log(10), log(1 / 0.9) + 4 * FAR)
# the mass of 0, 1, 2 switches at rate 1/2 is that of the paths: 11 and 22; 12, 112, ...: by hand (27 + 1), (9 + 3 + 9
# + 3) and (9 + 3) of 64
np.exp(LAW).tolist() -> [28 / 64, 24 / 64, 12 / 64]
experts.switch_moments(LAW)[0] -> MEAN
experts.switch_moments(LAW)[1] -> VARIANCE
experts.log_switch_variance(LAW) -> log(VARIANCE)
# Lemma 1: L(1/4) - L(1/2) = -ln of sum Q(k) (1/4)^k (3/4)^(2-k)/(1/4)
experts.regret_identity(LAW, 0.5, 0.25) -> -log(4 * (28 * 9 + 24 * 3 + 12) / 64 / 16)
# Claim 1: T = 5, alpha* = 1/4: spread 3/16; curvature (4/(3/16))^2 (3/64 - v) at v = 1/64
experts.curvature(5, 0.25, 1 / 64) -> (64 / 3) ** 2 * 2 / 64
# beta = spread/(T - 1) times it: (3/64) * 128/9 = 2/3
experts.relative_curvature(5, 0.25, 128 / 9) -> 2 / 3
# Theorem 2: variance (1/3)(3/64) = 1/64; towards 1: q/(1 - q) = (1/64)/(9/16) = 1/36, rest 1/4 - (1/36)(3/4) = 11/48
experts.fixed_share_regret_lower(5, 0.25, 2 / 3, 0.5) -> -log((2**4 + 36 * 2 ** (11 / 12) * (2 / 3) ** (37 / 12)) / 37)
# towards 0: q/(1 - q) = (1/64)/(1/16) = 1/4, rest = 1/4 * 5/4 = 5/16
experts.fixed_share_regret_lower(5, 0.25, 2 / 3, 0.125) -> -log(0.2 * (7 / 6) ** 4 + 0.8 * 0.5**1.25 * (7 / 6) ** 2.75)
"""


@each("row", [row for row in BOUNDS.strip().splitlines() if row[0] != "#"])
def test_a_bound_has_the_constants_of_its_statement(row):
    bound, value = (eval(side, globals() | vars(math) | vars(bounds)) for side in row.split(" -> "))
    assert bound == close(value)
