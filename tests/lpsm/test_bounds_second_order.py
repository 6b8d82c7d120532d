"""Second-order, risk and low-noise bounds: never violated, not idle, corrected where misprinted."""

import numpy as np
import pytest
from scipy import stats

from experiments.papers.proved import low_noise
from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds import risk, second_order
from tests.oracles import law_trials, path_trials, trials
from tests.oracles import mean_trials as means

MANY = [200, pytest.param(1000, marks=pytest.mark.long)]


@pytest.mark.parametrize("n_trials", MANY)
@pytest.mark.parametrize("trial", [*path_trials.SECOND_ORDER, *law_trials.LOW_NOISE], ids=lambda trial: trial.__name__)
def test_no_run_violates_the_bound_and_most_bounds_say_something(trial, n_trials):
    result = trials.tally(trial, n_trials)
    assert not result.violated
    assert result.held == n_trials
    assert result.informative >= 0.4 * n_trials


@pytest.mark.parametrize("n_trials", [20, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("trial", law_trials.PROBABLE, ids=lambda trial: trial.__name__)
def test_bounds_with_high_probability_fail_no_oftener_than_they_may(trial, n_trials):
    result = trials.tally(trial, n_trials)
    assert len(result.violated) <= stats.binom.ppf(0.999, n_trials, 0.05)
    assert result.informative >= 0.9 * n_trials


@pytest.mark.parametrize("n_streams", [2, pytest.param(16, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "expected",
    [
        means.expected_selective_second_order,
        means.expected_label_efficient,
        means.expected_linear_source,
        means.expected_supervised,
    ],
)
def test_means_over_runs_stay_below_the_bound_in_expectation(expected, n_streams):
    for seed in range(n_streams):
        sides = expected(seed, 200)
        low, _, high = trials.interval(sides.lhs - sides.rhs)
        assert low <= 1e-9
        assert high < 0.05 * sides.rhs.mean()
        assert sides.rhs.mean() < 0.5 * sides.trivial


@pytest.mark.parametrize("n_runs", [3, pytest.param(200, marks=pytest.mark.long)])
def test_the_adaptive_sampler_keeps_its_regret_and_its_labels(n_runs):
    for sides in means.expected_adaptive(0, n_runs):
        assert trials.interval(sides.lhs - sides.rhs)[2] <= 0.0
        assert sides.rhs.mean() < 0.3 * sides.trivial


def test_the_sop_ss_coins_add_up_to_its_labels_in_expectation():
    X, y = means.noisy_separable(1)
    surplus = []
    for log in means.repeated("sop-ss", X, y, 200, 4, b=0.3):
        m, r = np.abs(log.margin), path_trials.second_order_path(X, log.stored, 1.0)
        surplus.append(log.queried.sum() - np.sum(0.3 / (0.3 + m + m * m * (1 + r) / 2)))
    low, _, high = trials.interval(np.array(surplus), level=0.999)
    assert low <= 0.0 <= high


# Identities and best parameters


def test_the_tuned_forms_are_minima_over_the_parameter():
    sums = {"quadratic": 3.0, "comparator_norm": 2.0, "log_det": 5.0, "gamma": 0.5}
    best = second_order.selective_second_order_best_b(**sums)
    least = second_order.selective_second_order_tuned_mistakes(hinge=1.0, **sums)
    assert second_order.selective_second_order_mistakes(hinge=1.0, b=best, **sums) == pytest.approx(least)
    for b in np.geomspace(best / 10, best * 10, 41):
        assert second_order.selective_second_order_mistakes(hinge=1.0, b=b, **sums) >= least * (1 - 1e-12)
    given = {"hinge": 1.0, "quadratic": 3.0, "comparator_norm": 2.0, "log_det": 5.0, "a": 2.0}
    over_C = [second_order.label_efficient_mistakes(C=C, **given) for C in np.geomspace(0.01, 100, 2000)]
    assert min(over_C) == pytest.approx(second_order.second_order_mistakes(**given), rel=1e-4)


def test_the_solved_separable_bound_satisfies_its_own_inequality_with_equality():
    for gamma, lambda_0, d in ((0.1, 0.1, 3), (0.5, 0.25, 10), (1.0, 1.0, 2)):
        m = second_order.separable_second_order_mistakes(n_features=d, gamma=gamma, lambda_0=lambda_0)
        step = second_order.separable_second_order_step(m, n_features=d, gamma=gamma, lambda_0=lambda_0)
        assert step == pytest.approx(m)
        assert second_order.separable_second_order_step(2 * m, n_features=d, gamma=gamma, lambda_0=lambda_0) < 2 * m


def test_the_log_determinant_is_that_of_its_eigenvalues_and_capped_by_equal_ones():
    for m, d in ((0, 3), (2, 5), (40, 3)):
        X = np.random.default_rng(m).standard_normal((m, d))
        eigenvalues = np.linalg.eigvalsh(X.T @ X)
        assert second_order.log_determinant(X, 0.5) == pytest.approx(np.sum(np.log1p(np.maximum(0, eigenvalues) / 0.5)))
    assert second_order.log_determinant(np.eye(4)) == pytest.approx(second_order.log_determinant_cap(4, 4))


def test_the_penalised_hypothesis_is_that_of_the_definition_evaluated_at_every_round():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y, _, weights, starts, _ = law_trials.flipped_run(rng, 60)
        used = starts < 60
        costs = []
        for t in range(60):
            w = weights[np.searchsorted(starts, t, side="right") - 1]
            rest = 60 - t
            wrong = sum((1.0 if w @ x >= 0 else -1.0) != label for x, label in zip(X[t:], y[t:], strict=True))
            costs.append(wrong / rest + np.sqrt(np.log(60 * 61 / 0.05) / (2 * rest)))
        chosen = risk.penalised_hypothesis(weights[used], starts[used], X, y, delta=0.1)
        assert costs[starts[used][chosen]] == pytest.approx(min(costs))
        assert starts[used][chosen] == int(np.argmin(costs))


# A Lemma 4: what the adaptive sampler stores is a fair sample; what a selective one stores is not


def test_the_adaptive_sampler_stores_a_fair_sample_and_the_selective_one_does_not():
    stream = streams.linear_noise(40_000, 2, 2.0, np.random.default_rng(2))
    sizes = np.abs(stream.X @ stream.target)
    law = lambda e: np.clip(e, 0, 1) ** 2.0  # noqa: E731
    adaptive = samplers.make("adaptive-sampler", n_features=2, lambda_=10.0, rho=20.0).run(stream.X, stream.y)
    selective = samplers.make("ss", n_features=2, K=10.0, normalize=True).run(stream.X, stream.y)
    assert 300 < adaptive.stored.sum() < 20_000
    assert 300 < selective.stored.sum() < 20_000
    assert stats.kstest(sizes[adaptive.stored], law).pvalue > 1e-3
    assert stats.kstest(sizes[selective.stored], law).pvalue < 1e-9


# Errata


def test_the_log_determinant_step_needs_no_factor_two_and_bears_no_smaller_factor():
    for r in (1e-6, 0.3, 4.0, 100.0):
        x = np.array([np.sqrt(r), 0.0])  # A = I
        quadratic = x @ np.linalg.solve(np.eye(2) + np.outer(x, x), x)
        assert (
            quadratic
            <= second_order.quadratic_form_cap(r)
            == pytest.approx(np.linalg.slogdet(np.eye(2) + np.outer(x, x))[1])
        )
    assert second_order.quadratic_form_cap(1e-6) < 1.000001 * 1e-6 / (1 + 1e-6)
    # The printed 2 ln summed and halved is ln, where the next line and Theorem 2 have (1/2) ln.
    halved = 0.5 * 2 * second_order.quadratic_form_cap(4.0)
    assert halved == pytest.approx(np.log(5)) != pytest.approx(0.5 * np.log(5))


def test_the_limit_of_large_a_has_the_trace_and_not_that_of_the_square():
    X, u = np.array([[2.0, 0.0]]), np.array([3.0, 4.0])
    A = X.T @ X
    a = 1e9
    product = (a * u @ u + u @ A @ u) * second_order.log_determinant(X, a)
    assert second_order.second_order_limit(comparator_norm=5.0, trace=np.trace(A)) == pytest.approx(product, rel=1e-6)
    assert 25 * np.trace(A @ A.T) == pytest.approx(4 * product, rel=1e-6)  # the printed limit
    cap = second_order.trace_cap(1, 2.0)
    assert np.trace(A) <= cap == 4.0 < np.trace(A @ A.T) == 16.0  # (4) holds for tr(A), not as printed


def test_the_printed_eps_is_best_for_labels_and_not_for_regret():
    given = {"n_rounds": 10**6, "eigenvalue": 0.5, "alpha": 2.0, "c": 1.0}
    corrected, printed = low_noise.best_regret_margin(**given), low_noise.best_label_margin(**given)
    assert corrected == pytest.approx((1024 * np.log(1e6) / (0.5 * 1e6 * 3)) ** (1 / 5))
    assert printed == pytest.approx((1024 * np.log(1e6) / (0.5 * 1e6 * 2)) ** (1 / 4))
    regret = {m: low_noise.adaptive_regret(n_features=2, margin=m, **given) for m in (corrected, printed)}
    assert regret[printed] > 1.01 * regret[corrected]
    for factor in np.geomspace(0.3, 3, 31):
        assert low_noise.adaptive_regret(n_features=2, margin=factor * corrected, **given) >= regret[corrected]
        labels = low_noise.adaptive_labels(n_features=2, margin=factor * printed, **given)
        assert labels >= low_noise.adaptive_labels(n_features=2, **given)


def test_small_streams_make_the_adaptive_bounds_vacuous():
    given = {"n_features": 2, "eigenvalue": 0.5, "alpha": 2.0, "c": 1.0}
    assert low_noise.adaptive_regret(n_rounds=5000, **given) > 5000 * 2 / 3
    assert low_noise.adaptive_labels(n_rounds=5000, **given) > 5000
    assert low_noise.adaptive_labels(n_rounds=10**6, **given) < 10**6


def test_margins_without_the_current_instance_are_the_larger_ones():
    rng = np.random.default_rng(1)
    stream = streams.linear_noise(200, 3, 2.0, rng)
    bare = samplers.make("ssnci", n_features=3, K=1e9).run(stream.X, stream.y)
    shrunk = samplers.make("ss", n_features=3, K=1e9).run(stream.X, stream.y)
    assert bare.queried.all()
    assert shrunk.queried.all()
    assert np.all(np.abs(bare.margin) >= np.abs(shrunk.margin))
    assert np.any(np.abs(bare.margin) > 1.2 * np.abs(shrunk.margin))


def test_rank_deficient_instances_have_no_eigenvalue_for_lemma_3_to_speak_of():
    X = np.column_stack([np.ones(200), np.zeros(200)])
    assert np.linalg.eigvalsh(X.T @ X)[0] == 0.0
    with pytest.raises(ValueError, match=r"eigenvalue must lie in \(0, 1/d\] = \(0, 0.5\], got 0.0"):
        low_noise.eigenvalue_failure(200, n_features=2, eigenvalue=0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: second_order.log_determinant(np.eye(2), 0.0), "a must be positive and finite, got 0.0"),
        (lambda: second_order.quadratic_form_cap(-1.0), "r must be non-negative and finite, got -1.0"),
        (
            lambda: second_order.label_efficient_mistakes(hinge=0, quadratic=0, comparator_norm=1, log_det=0, C=0),
            "C must be positive and finite, got 0",
        ),
        (
            lambda: second_order.separable_second_order_mistakes(n_features=2, gamma=0.5, lambda_0=0.1),
            r"lambda_0 must lie in \[gamma\^2, 1\] = \[0.25, 1\], got 0.1",
        ),
        (
            lambda: second_order.separable_second_order_mistakes(n_features=2, gamma=1.5, lambda_0=1),
            r"gamma must lie in \(0, 1\], got 1.5",
        ),
        (lambda: risk.average_risk(5, 4, 0.1), r"mistakes must lie in \[0, 4\], got 5"),
        (lambda: risk.average_risk(1, 4, 1.0), r"delta must lie in \(0, 1\), got 1.0"),
        (lambda: risk.penalised_hypothesis(np.eye(2), [0, 0], np.eye(2), [1, 1], 0.1), "starts must be one a"),
        (lambda: risk.penalised_hypothesis(np.eye(2), [0, 2], np.eye(2), [1, 1], 0.1), "below 2"),
        (lambda: risk.linear_source_regret(gamma=0.0, log_det=1.0), r"gamma must lie in \(0, 1\], got 0.0"),
        (
            lambda: low_noise.supervised_regret(n_rounds=9, alpha=1.0, c=0.9, log_det=1.0),
            "c must be at least 1 and finite, got 0.9",
        ),
        (
            lambda: low_noise.supervised_regret_of_spectrum(n_rounds=9, alpha=1, c=1, eigenvalues=[0.2, 0.2]),
            "eigenvalues must be non-negative and sum to 1",
        ),
        (
            lambda: low_noise.eigenvalue_failure(127, n_features=2, eigenvalue=0.5),
            "n_instances must be at least 128 and finite, got 127",
        ),
        (
            lambda: low_noise.best_label_margin(n_rounds=100, eigenvalue=0.5, alpha=0.0, c=1.0),
            "alpha must be positive and finite, got 0.0",
        ),
        (lambda: low_noise.regret_from_margin(0.0, 0.1, alpha=1, c=1), "margin must be positive and finite, got 0.0"),
    ],
)
def test_a_broken_hypothesis_is_named_with_its_rule_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
