"""What learners, combiners, bounds, hindsight and made streams do not take is named, with the rule and the value."""

# ruff: noqa: F401 - the tables use what is imported
from math import inf, nan

import numpy as np
import pandas as pd
import pytest

import lpsm
from lpsm import Combiner, FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid, bounds, hindsight, synthetic
from lpsm import synthetic_streams as streams
from lpsm.bounds import drift, experts, perceptrons, risk, second_order
from lpsm.experts import AdaHedge, NormalHedge, Squint, VariableShare, doubling_regret, worst_divergence
from lpsm.online import Ledger
from tests.wrong_calls import refused, table

MASKED = np.ma.masked_array([1.0, 0.0])
HINGE = {"hinge": 1.0, "comparator_norm": 1.0}
SECOND = {**HINGE, "quadratic": 0.0, "log_det": 0.0}
MOVING = {"hinge": 0.0, "energy": 1.0, "quadratic_sum": 1.0}
NONE_PROVED = [AdaHedge(2), Squint(2), NormalHedge(2), VariableShare(2, 0.1)]


def rng():
    return np.random.default_rng(0)


def share(alpha=0.1, n=2, **common):
    return FixedShare(n, alpha, **common)


def alphas(*given, n=2, **common):
    return LearnAlpha(n, *given, **common)


@table(r"""
share(n=True) -> n_experts must be an integer of at least 1, got True
share(True) -> alpha must be a number, got True
share("x") -> alpha must be a number, got 'x'
share(10**400) -> alpha must lie in \[0, 1\], got an integer of 1329 bits
share(1.5) -> alpha must lie in \[0, 1\], got 1.5
share(eta=0.0) -> eta must be positive and finite, got 0.0
share(loss_range=-1.0) -> loss_range must be positive, got -1.0
share(prior=5.0) -> prior must have shape \(2,\), got \(\)
share(prior=[0.0, 0.0]) -> prior must have a positive finite sum
share(prior=[-1.0, 2.0]) -> prior must be non-negative
share(prior=[10**400, 1]) -> prior must be an array of numbers, got
MarkovShare([[0.5, 0.4], [0.5, 0.5]]) -> rows of P must sum to 1, got 0.9
MarkovShare([[1.5, -0.5], [0.5, 0.5]]) -> P must be non-negative, got -0.5
MarkovShare([[0.5, 0.5]]) -> P must have shape \(n, n\)
VariableShare(2, 1.0) -> alpha must lie in \[0, 1\), got 1.0
VariableShare(2, 1.5) -> alpha must lie in \[0, 1\], got 1.5
alphas() -> alphas must be given, or doubling=True
alphas([]) -> alphas must have shape \(m,\) with m >= 1, got \(0,\)
alphas([0.1, 1.5]) -> alphas must lie in \[0, 1\], got 1.5
alphas([0.1], alpha_prior=[0.0]) -> alpha_prior must be positive
alphas([0.1], doubling=True) -> must not be given with doubling
alphas([0.1], n=10**9) -> n_experts must be at most 1048576, got 1000000000
alphas([0.1] * 100, n=10**6) -> n_experts x alphas must be at most 33554432, got 1000000 x 100
alphas(doubling=True).run([[0.0, 0.0]], alpha_weights=True) -> alpha_weights must be False
share().run([[0.0, -1.0]]) -> signed=True
StaticExpert(2).update(np.array([1j, 0.0])) -> losses must be an array of numbers, got
StaticExpert(2).update(MASKED) -> got 'MaskedArray'
StaticExpert(2).run([[0.1, 0.2], [0.3, nan]]) -> got nan in round 1, expert 1
StaticExpert(2).run([0.1, 0.2]) -> \(T, 2\), got \(2,\)
StaticExpert(2).update([-0.1, 0.1]) -> must lie in \[0, inf\] \(or pass signed=True\), got -0.1
StaticExpert(2).update([0.1, 0.2], [2, 0]) -> awake must hold truth values, or 0 and 1, of shape \(2,\)
StaticExpert.from_state(share().state()) -> kind StaticExpert, version 3, got kind FixedShare
FixedShare.from_state({**share().state(), "version": np.array(2)}) -> version 3, got kind FixedShare, version 2
share(signed=True).update([-inf, 0.0]) -> must not be NaN or -inf, got -inf
share(loss_range=2.0).run([[0.0, 2.0], [2.5, 1.0]]) -> at most loss_range = 2, got 2\.5 in round 1, expert 0
Squint(2, loss_range=0.0) -> loss_range must be positive and finite, got 0.0
Squint(2).update([0.5, 1.5]) -> losses must be at most loss_range = 1, got 1.5
Squint(2, loss_range=1e9).update([inf, 0]) -> losses must be finite for Squint, got inf
alpha_grid() -> give either horizon or delta
alpha_grid(delta=0.1, horizon=5) -> either horizon or delta
alpha_grid(delta=1e-300) -> delta must be at least 5e-09 and finite, got 1e-300
alpha_grid(horizon=10**18) -> horizon must be a whole .* at most 100000000, got 1000000000000000000
alpha_grid(horizon=10, size=3) -> size=3
alpha_grid(kind="chebyshev") -> kind "chebyshev" takes size alone
alpha_grid(kind="chebyshev", size=10**12) -> size must be at most 1000000, got 1000000000000
alpha_grid(kind="chebishev", size=3) -> kind must be one of kl, chebyshev, got .*; did you mean .chebyshev.
doubling_regret(0) -> n_rounds must be an integer of at least 1, got 0
doubling_regret(10**18) -> n_rounds must be at most 100000000, got 1000000000000000000
worst_divergence([1.5]) -> alphas must lie in \[0, 1\], got 1.5
Ledger(["x"]) -> losses must be an array of numbers, got
Ledger([[1.0]]) -> losses must have shape \(T,\), got \(1, 1\)
Ledger([1.0], mistaken=[True, False]) -> mistaken must have shape \(1,\), got \(2,\)
Ledger([]).regret([1.0]) -> comparator must have shape \(0,\), got \(1,\)
lpsm.randomness.generator("x", 0) -> seed must be an integer of at least 0, got 'x'
Combiner(10**9) -> n_experts must be at most 1048576, got 1000000000
Combiner(3000, alphas=np.linspace(0.01, 0.9, 1200)) -> at most 33554432, got 3000 x 1200 x 12
Combiner(2, "squared") -> got 'squared'; did you mean 'square'
Combiner(2, rate=0.0) -> rate must be positive and finite, got 0.0
Combiner(2, rate="fast") -> rate must be 'learn' or a positive number, got 'fast'
Combiner(3, rate="x" * 10**6) -> ^rate must be .{5,60}, got .{1,60}$
Combiner(2, quantile=1.0) -> quantile must lie in \(0, 1\), got 1.0
Combiner(2, "absolute", quantile=0.9) -> quantile must be left out under the absolute loss
Combiner(2, "log", gradient=True) -> gradient must be False for the log loss
Combiner(2).update([1.0], 1.0) -> forecasts must have shape \(2,\), got \(1,\)
Combiner(2).update([1.0, 2.0], [1.0]) -> y must be a number, got \[1.0\]
hindsight.best_partition([[0.0], [0.0]], 1.5) -> k must be an integer
Combiner(2).update([1.0, inf], 1.0) -> or be NaN, got inf in round 0, forecast 1
Combiner(2).update([1.0, 2.0], inf) -> y must lie in .*, got inf
Combiner(2, "log").update([0.5, 1.5], 1.0) -> probabilities for the log loss, got 1.5 in round 0
Combiner(2, "log").update([0.5, 0.5], 2.0) -> y must be 0 and 1, or -1 and 1, for the log loss
Combiner(2).regret_bound(3) -> segments must be at most 1, got 3
Combiner.from_state({"kind": "LearnAlpha"}) -> state must hold version
lpsm.combine([[1.0]], [1.0], quantile=0.9) -> quantile must be left out under the square loss
lpsm.combine([1.0, 2.0], [1.0]) -> forecasts must have shape \(T, n\)
lpsm.combine([[1.0], [2.0]], [1.0]) -> y must have shape \(2,\), got \(1,\)
lpsm.combine(pd.DataFrame({"a": [1.0]}), pd.Series([1.0], index=[5])) -> the same index
hindsight.best_expert([1.0, 2.0]) -> losses must have shape
hindsight.alpha_losses([[1.0, -inf]], [0.1]) -> -inf
hindsight.alpha_losses([[1.0, 2.0]], [1.5]) -> alphas must lie in
hindsight.alpha_slopes([[1.0, 2.0]], [[0.1]]) -> alphas must have shape \(m,\) with m >= 1, got
hindsight.partition_curve([[1.0]], 2) -> k must lie in \[1, 1\], got 2
hindsight.best_transitions([[1.0, 2.0]], start=[[1.0, 0.5], [0.0, 1.0]]) -> rows of start must sum to 1, got 1.5
hindsight.best_transitions([[1.0, 2.0]], start=np.eye(3)) -> start must have shape \(2, 2\), got
experts.fixed_share_regret(10, 1.5, 0.1) -> best_alpha must lie in \[0, 1\], got 1.5
experts.fixed_share_regret_lower(10, 0.0, 0.5, 0.1) -> best_alpha must lie in \(0, 1\), got 0.0
experts.fixed_share_regret_lower(10, 0.5, 1.5, 0.1) -> beta must lie in \[0, 1\], got 1.5
experts.fixed_share_regret_lower(1, 0.5, 0.5, 0.1) -> horizon must be at least 2
experts.regret_identity(np.log([0.5, 0.5]), 1.0, 0.2) -> reference must lie in \(0, 1\)
experts.regret_identity([0.5, 0.5], 0.5, 0.2) -> log_q must hold
experts.relative_curvature(10, 0.5, -40.0) -> must give a beta in
experts.switch_distribution([[0.0, 1.0]], 0.0) -> alpha must lie in
experts.switch_distribution([[0.0], [1.0]], 0.5) -> at least 2 experts
experts.learn_alpha_regret(10, 0.2, [0.1, 1.2]) -> alphas must lie in \[0, 1\], got 1.2
experts.learn_alpha_regret(10, 0.2, [0.1, 0.2], prior=[1.0]) -> prior must have shape
experts.markov_share_regret(10, np.eye(2), np.eye(3)) -> matrix must have shape
experts.markov_share_regret(10, np.eye(2), np.ones((2, 2))) -> rows of matrix must sum to 1
experts.fixed_share_partition_loss(1.0, 12, 10, 3, 0.1) -> k must lie in \[1, 10\], got 12
experts.fixed_share_partition_loss(1.0, 2, 10, 1, 0.1) -> k must be 1
experts.static_expert_loss([]) -> expert_losses must have shape
experts.divergence(0.5, -0.1) -> must lie in
bounds.report(share()) -> losses must be given with a learner
bounds.report([[0.0, 1.0]]) -> run must be what a learner's run returned, or a learner, got \[\[0.0, 1.0\]\]
bounds.report(share().run([[0.0, 1.0]]), [[0.0, 1.0]]) -> a run carries its own
bounds.report(share().run(np.zeros((20, 2)), weights=False)) -> run must carry its losses .* \(weights=True\)
bounds.report(NONE_PROVED[0].run(np.ones((9, 2)))) -> run must be of a learner .*, got one of AdaHedge
perceptrons.selective_perceptron_mistakes(**HINGE, gamma=1, b=0) -> b must be positive and finite, got 0
perceptrons.perceptron_mistakes(**HINGE, radius=nan) -> radius must be non-negative .* got nan
second_order.log_determinant(np.eye(2), 0.0) -> a must be positive and finite, got 0
second_order.label_efficient_mistakes(**SECOND, C=0) -> C must be positive and finite, got 0
second_order.label_efficient_mistakes(**SECOND, C=1, a=0) -> a must be positive and finite, got 0
second_order.selective_second_order_mistakes(**SECOND, gamma=1, b=0) -> b must be positive and finite, got 0
second_order.second_order_mistakes(**{**SECOND, "log_det": -1.0}) -> log_det must be non-negative
drift.drift_mistakes(**MOVING, gamma=0) -> gamma must be positive and finite, got 0
drift.drift_mistakes(**{**MOVING, "energy": -1.0}, gamma=1) -> energy must be non-negative
drift.selective_drift_mistakes(**MOVING, gamma=1, a=0) -> a must be positive and finite, got 0
risk.average_risk(5, 4, 0.1) -> mistakes must lie in \[0, 4\], got 5
risk.average_risk(0, 0, 0.1) -> n_rounds must be an integer of at least 1
risk.average_risk(1, 4, 1.0) -> delta must lie in \(0, 1\), got 1.0
risk.importance_weighted_deviation(9, 0, 0.5, 0.1) -> n_hypotheses must be an integer of at least 1
risk.importance_weighted_deviation(9, 1, 0.0, 0.1) -> least_probability must lie in \(0, 1\], got 0.0
risk.importance_weighted_deviation(9, 1, 0.5, 0.0) -> delta must lie in \(0, 1\), got 0.0
synthetic.iid(rng(), 0, 2) -> rounds must be an integer of at least 1, got 0
synthetic.iid(rng(), 5, 2, scale=0.0) -> scale must be positive
synthetic.piecewise(rng(), 5, 2, segments=6) -> segments must lie in \[1, 5\], got 6
synthetic.fast_switching(rng(), 5, 2, rate=2.0) -> rate must lie in \[0, 1\], got 2.0
synthetic.fast_switching(rng(), 5, 2, quality=1.0) -> quality must lie in \(0, 1\), got 1.0
synthetic.drifting(rng(), 5, 2, step=-1.0) -> step must lie in \[0, 1\], got -1.0
streams.separable(0, 3, 0.1, rng()) -> n_rounds must be an integer of at least 1, got 0
streams.separable(5, 1, 0.1, rng()) -> n_features must be an integer of at least 2, got 1
streams.separable(5, 3, 1.0, rng()) -> margin must lie in \[0, 1\), got 1.0
streams.separable(5, 3, 0.1, rng(), np.zeros(3)) -> must have a direction, got norm 0.0
streams.linear_noise(5, 3, 0.0, rng()) -> exponent must be positive and finite, got 0.0
streams.linear_noise(5, 3, 1.0, rng(), margin=1.0) -> margin must lie in \[0, 1\), got 1.0
streams.drifting(5, 3, 16.1, rng()) -> drift must lie in .* got 16.1
streams.drifting(5, 3, 1.0, rng(), n_shifts=5) -> n_shifts must lie in .* got 5
streams.drifting(5, 3, 1.0, rng(), margin=-0.1) -> margin must lie in \[0, 1\), got -0.1
streams.similar_to_uniform(5, 3, 0.0, rng()) -> similarity must lie in \(0, 1\], got 0.0
""")
def test_a_wrong_call_is_answered_with_the_argument_the_rule_and_the_value(call, message):
    refused(call, message, globals())


def test_an_error_shows_little_of_a_long_value():
    for value in ("x" * 10**6, b"x" * 10**6, list(range(10**5)), 10**4000, [10**400]):
        assert len(lpsm.checks.shown(value)) <= 60


def test_numbers_of_numpy_and_arrays_of_no_dimension_are_numbers():
    for value in (0.5, np.float32(0.5), np.float64(0.5), np.array(0.5)):
        assert lpsm.checks.number("x", value) == 0.5
    assert lpsm.checks.whole(1, n=np.int8(7)) == 7
