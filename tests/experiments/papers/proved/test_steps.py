"""Steps, corollaries and low-noise bounds: never violated, best where they say, corrected where misprinted."""

import numpy as np
import pytest
from scipy import stats

from experiments.papers.proved import drift, first_order, low_noise, risk, second_order
from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds.drift import drift_mistakes, selective_drift_mistakes
from lpsm.bounds.perceptrons import hinge_losses, perceptron_mistakes, selective_perceptron_mistakes
from lpsm.bounds.second_order import (
    label_efficient_mistakes,
    log_determinant,
    second_order_mistakes,
    selective_second_order_mistakes,
)
from tests.oracles import law_trials, trials
from tests.oracles import mean_trials as means
from tests.oracles import sampler_bounds as oracle

MANY = [200, pytest.param(1000, marks=pytest.mark.long)]


@pytest.mark.parametrize("n_trials", MANY)
@pytest.mark.parametrize("trial", law_trials.LOW_NOISE, ids=lambda trial: trial.__name__)
def test_no_run_violates_the_bound_and_most_bounds_say_something(trial, n_trials):
    result = trials.tally(trial, n_trials)
    assert not result.violated
    assert result.held == n_trials
    assert result.informative >= 0.4 * n_trials


@pytest.mark.parametrize("n_streams", [2, pytest.param(16, marks=pytest.mark.long)])
@pytest.mark.parametrize("expected", [means.expected_linear_source, means.expected_supervised])
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


# Drift: the objective, its minimum, the best parameters


def problem(rng, t=None):
    t, d = int(rng.integers(1, 14)) if t is None else t, int(rng.integers(1, 5))
    b = 10 ** rng.uniform(-1, 1)
    return rng.standard_normal((t, d)), rng.choice((-1.0, 1.0), t), b, b * (1 + 10 ** rng.uniform(-1, 3))


@pytest.mark.parametrize("n_trials", MANY)
def test_lemma_1_gives_the_least_squares_minimum_of_the_drift_objective(n_trials):
    for seed in range(n_trials):
        X, y, b, c = problem(np.random.default_rng(seed))
        least, path = oracle.drift_minimum(X, y, b, c)
        assert drift.drift_objective_minimum(X, y, b=b, c=c) == pytest.approx(least, rel=1e-8, abs=1e-9)
        assert drift.drift_objective(path, X, y, b=b, c=c) == pytest.approx(least, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("n_trials", MANY)
def test_lemma_1_gives_the_minimum_given_the_last_vector(n_trials):
    for seed in range(n_trials // 4):
        rng = np.random.default_rng(seed)
        X, y, b, c = problem(rng)
        d = X.shape[1]
        u = rng.standard_normal(d)
        matrices = drift.drift_matrices(X, y, b=b, c=c)
        expected = u @ matrices.D[-1] @ u - 2 * u @ matrices.e[-1] + matrices.f[-1]
        F, g = oracle.drift_system(X, y, b, c)
        free = F[:, :-d]
        rest = g - F[:, -d:] @ u
        if free.shape[1]:
            rest = rest - free @ np.linalg.lstsq(free, rest, rcond=None)[0]
        assert rest @ rest == pytest.approx(expected, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("n_trials", [8, pytest.param(200, marks=pytest.mark.long)])
def test_the_sampler_predicts_the_last_step_min_max_margin(n_trials):
    for seed in range(n_trials):
        rng = np.random.default_rng(seed)
        X, y, b, c = problem(rng, t=30)
        log = samplers.make("lasec", n_features=X.shape[1], b=b, c=c).run(X, y)
        for t in range(30):
            kept = np.flatnonzero(log.stored[:t])
            assert log.margin[t] == pytest.approx(oracle.lasec_margin(X[kept], y[kept], X[t], b, c), abs=1e-8)
            assert log.stored[t] == (log.prediction[t] != y[t])


def test_without_drift_the_matrices_are_those_of_ridge_regression():
    X, y, b, _ = problem(np.random.default_rng(3), t=12)
    matrices = drift.drift_matrices(X, y, b=b, c=np.inf)
    assert matrices.D[-1] == pytest.approx(b * np.eye(X.shape[1]) + X.T @ X)
    assert matrices.e[-1] == pytest.approx(X.T @ y)
    assert matrices.quadratic.sum() <= log_determinant(X, b) + 1e-12
    stiff = drift.drift_objective_minimum(X, y, b=b, c=1e12)
    assert drift.drift_objective_minimum(X, y, b=b, c=np.inf) == pytest.approx(stiff, rel=1e-6)


def test_the_best_a_turns_theorem_4_into_the_form_of_theorem_2():
    given = {"energy": 7.0, "quadratic_sum": 3.0, "gamma": 0.5}
    best = drift.drift_best_a(**given)
    least = drift_mistakes(hinge=2.0, **given)
    assert selective_drift_mistakes(hinge=2.0, a=best, **given) == pytest.approx(least)
    for a in np.geomspace(best / 10, best * 10, 41):
        assert selective_drift_mistakes(hinge=2.0, a=a, **given) >= least * (1 - 1e-12)


def test_the_tuned_bound_optimised_over_a_is_the_least_of_corollary_9():
    given = {"n_rounds": 5000, "n_features": 2, "radius": 1.0, "drift": 0.05, "epsilon": 0.004}
    sums = {"hinge": 3.0, "quadratic": 9.0, "comparator_norm": 2.0, "log_det": 1.5, "gamma": 1.0}
    least = drift.tuned_selective_drift_mistakes(a=None, **sums, **given)
    values = [drift.tuned_selective_drift_mistakes(a=a, **sums, **given) for a in np.geomspace(0.01, 100, 400)]
    assert least <= min(values) <= least * 1.001


def test_drift_counts_update_rounds_only_and_can_exceed_that_of_all_rounds():
    targets = streams.drifting(100, 2, 1.0, np.random.default_rng(0)).targets
    assert drift.total_drift(targets) == pytest.approx(1.0)
    assert drift.total_drift(targets[[0, 33, 66, 99]]) > 3.0  # sums of steps, then squared
    assert drift.total_drift(targets[:1]) == drift.total_drift(targets[:0]) == 0.0


def test_no_update_leaves_every_sum_at_its_start():
    X, y = np.zeros((0, 3)), np.zeros(0)
    assert drift.drift_objective(X, X, y, b=1.0, c=2.0) == 0.0
    assert drift.drift_objective_minimum(X, y, b=1.0, c=2.0) == 0.0
    assert drift.square_loss_cap(X, X, y, b=1.0, c=2.0) == 0.0


def test_corollary_8_needs_an_inequality_where_its_proof_prints_an_equality():
    X, b, c = 1.0, 0.5, 2.0
    largest = max((3 * X**2 + np.sqrt(X**4 + 4 * X**2 * c)) / 2, b + X**2)
    printed = 2 * X * np.sqrt(2 * c)
    assert (largest, printed) == (3.0, 4.0)  # not equal
    rng = np.random.default_rng(0)
    applied = 0
    for _ in range(1000):
        V, epsilon, X = 10 ** rng.uniform(-4, 2), 10 ** rng.uniform(-4, -0.1), 10 ** rng.uniform(-1, 1)
        tuning = drift.drift_tuning(n_rounds=1000, n_features=3, radius=X, drift=V, epsilon=epsilon)
        if tuning.applies:
            applied += 1
            c, b = tuning.c, tuning.b
            largest = max((3 * X**2 + np.sqrt(X**4 + 4 * X**2 * c)) / 2, b + X**2)
            assert largest <= 2 * X * np.sqrt(2 * c) * (1 + 1e-12)
    assert applied > 300


# Perceptrons


@pytest.mark.parametrize("hinge", [0.0, 0.7, 40.0])
def test_the_tuned_form_is_the_minimum_over_b(hinge):
    given = {"hinge": hinge, "comparator_norm": 2.0, "gamma": 0.5}
    best = first_order.selective_perceptron_best_b(**given)
    tuned = first_order.selective_perceptron_tuned_mistakes(**given)
    assert selective_perceptron_mistakes(b=best, **given) == pytest.approx(tuned)
    for b in np.geomspace(best / 20, best * 20, 81):
        assert selective_perceptron_mistakes(b=b, **given) >= tuned * (1 - 1e-12)


def test_separable_streams_are_tuned_by_one_half_to_the_perceptron_bound():
    given = {"hinge": 0.0, "comparator_norm": 1.0, "gamma": 0.2}
    assert first_order.selective_perceptron_best_b(**given) == 0.5
    assert first_order.selective_perceptron_tuned_mistakes(**given) == pytest.approx(25.0)
    assert perceptron_mistakes(hinge=0.0, comparator_norm=5.0, radius=1.0) == pytest.approx(25.0)


@pytest.mark.parametrize("d", [2, 5, 50])
def test_remark_1_as_printed_is_broken_by_orthogonal_negatives_and_tight_once_corrected(d):
    X, y = np.eye(d), -np.ones(d)
    log = samplers.make("perceptron-ss", n_features=d, b=0.5, rng=np.random.default_rng(0)).run(X, y)
    mistakes = np.sum(log.prediction != y)
    assert mistakes == d  # every margin is 0: always asked, always wrong
    u = -np.ones(d)
    hinge = hinge_losses(u, X, y).sum()
    corrected = first_order.selective_perceptron_tuned_mistakes(
        hinge=hinge, comparator_norm=np.linalg.norm(u), gamma=1.0
    )
    square = float(u @ u)
    printed = hinge + square / 2 + np.sqrt(square) / 2 * np.sqrt(hinge + square / 4)
    assert printed == pytest.approx(0.75 * d)
    assert printed < mistakes <= corrected * (1 + 1e-12)
    assert corrected == pytest.approx(d)


def test_theorem_3_as_printed_fails_for_a_short_start_where_lemma_3_holds():
    u, v = np.array([0.0, 1.0]), np.array([0.1, 0.0])  # l_t = 0 labels so far, norm(v_0) = 0.1
    path = oracle.perceptron_path(np.array([[0.0, 1.0]]), np.array([1.0]), v)
    cosines = path @ u / np.linalg.norm(path, axis=1)
    assert cosines[1] > cosines[0]  # the angle shrank
    sine = np.sqrt(1 - cosines[0] ** 2)
    printed = 1 / (5 * np.sqrt(0 + v @ v))
    assert printed == pytest.approx(2.0)
    assert first_order.perceptron_lemma_sine(0.1) == 1 / 3
    assert 1 / 3 <= sine < printed


def test_few_updates_cannot_hold_a_small_angle():
    assert first_order.perceptron_updates_needed(0.01) == pytest.approx(1 / (25 * np.sin(0.01) ** 2))
    assert first_order.perceptron_updates_needed(0.5) == 0.0
    assert first_order.perceptron_updates_needed(0.2, initial_norm=10.0) == 0.0
    rng = np.random.default_rng(5)
    for _ in range(200):  # updates that do not turn away, and the angle they started from
        d = int(rng.integers(2, 5))
        X = rng.standard_normal((400, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        path = oracle.perceptron_path(X, np.where(X[:, 0] >= 0, 1.0, -1.0), np.eye(d)[0] * 0.5)
        cosines = path[:, 0] / np.linalg.norm(path, axis=1)
        for t in np.flatnonzero(cosines[1:] >= cosines[:-1]):
            angle = float(np.arccos(min(1.0, cosines[t])))
            assert angle > 0
            assert t >= first_order.perceptron_updates_needed(angle, initial_norm=0.5) - 1e-6


# Second order, risk and low noise


def test_the_tuned_forms_are_minima_over_the_parameter():
    sums = {"quadratic": 3.0, "comparator_norm": 2.0, "log_det": 5.0, "gamma": 0.5}
    best = second_order.selective_second_order_best_b(**sums)
    least = second_order.selective_second_order_tuned_mistakes(hinge=1.0, **sums)
    assert selective_second_order_mistakes(hinge=1.0, b=best, **sums) == pytest.approx(least)
    for b in np.geomspace(best / 10, best * 10, 41):
        assert selective_second_order_mistakes(hinge=1.0, b=b, **sums) >= least * (1 - 1e-12)
    given = {"hinge": 1.0, "quadratic": 3.0, "comparator_norm": 2.0, "log_det": 5.0, "a": 2.0}
    over_C = [label_efficient_mistakes(C=C, **given) for C in np.geomspace(0.01, 100, 2000)]
    assert min(over_C) == pytest.approx(second_order_mistakes(**given), rel=1e-4)


def test_the_solved_separable_bound_satisfies_its_own_inequality_with_equality():
    for gamma, lambda_0, d in ((0.1, 0.1, 3), (0.5, 0.25, 10), (1.0, 1.0, 2)):
        m = second_order.separable_second_order_mistakes(n_features=d, gamma=gamma, lambda_0=lambda_0)
        step = second_order.separable_second_order_step(m, n_features=d, gamma=gamma, lambda_0=lambda_0)
        assert step == pytest.approx(m)
        assert second_order.separable_second_order_step(2 * m, n_features=d, gamma=gamma, lambda_0=lambda_0) < 2 * m


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
    product = (a * u @ u + u @ A @ u) * log_determinant(X, a)
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


WORLD = {"n_features": 2, "radius": 1.0, "n_rounds": 10}
SUMS = {"hinge": 0.0, "quadratic": 1.0, "comparator_norm": 1.0, "log_det": 1.0, "gamma": 1.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: drift.drift_matrices(np.eye(2), [1, 1], b=1.0, c=1.0), "c must be greater than b = 1.0, got 1.0"),
        (lambda: drift.drift_matrices(np.eye(2), [1, 1], b=0.0, c=1.0), "b must be positive and finite, got 0.0"),
        (lambda: drift.drift_objective(np.eye(3), np.eye(2), [1, 1], b=1, c=2), "U must have the shape of X"),
        (lambda: drift.drift_tuning(**WORLD, drift=1, epsilon=1.0), r"epsilon must lie in \(0, 1\), got 1.0"),
        (
            lambda: drift.tuned_drift_mistakes(**SUMS, **WORLD, drift=1e3, epsilon=0.5),
            "drift must be at most .* got 1000",
        ),
        (
            lambda: first_order.selective_perceptron_best_b(hinge=1, comparator_norm=0, gamma=1),
            "comparator_norm must be positive and finite, got 0",
        ),
        (lambda: first_order.perceptron_lemma_sine(-1.0), "norm must be non-negative and finite, got -1.0"),
        (lambda: first_order.perceptron_updates_needed(0.0), r"angle must lie in \(0, pi/2\], got 0.0"),
        (lambda: second_order.quadratic_form_cap(-1.0), "r must be non-negative and finite, got -1.0"),
        (
            lambda: second_order.separable_second_order_mistakes(n_features=2, gamma=0.5, lambda_0=0.1),
            r"lambda_0 must lie in \[gamma\^2, 1\] = \[0.25, 1\], got 0.1",
        ),
        (
            lambda: second_order.separable_second_order_mistakes(n_features=2, gamma=1.5, lambda_0=1),
            r"gamma must lie in \(0, 1\], got 1.5",
        ),
        (lambda: second_order.linear_source_regret(gamma=0.0, log_det=1.0), r"gamma must lie in \(0, 1\], got 0.0"),
        (lambda: risk.penalised_hypothesis(np.eye(2), [0, 0], np.eye(2), [1, 1], 0.1), "starts must be one a"),
        (lambda: risk.penalised_hypothesis(np.eye(2), [0, 2], np.eye(2), [1, 1], 0.1), "below 2"),
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
