"""Statements about learners over experts: both sides by enumeration, at their ends, over random runs, and asleep."""

from itertools import combinations, pairwise, product
from math import inf, log

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng
from scipy.optimize import linprog

from experiments.study import trials as bounds_trials
from lpsm import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid, bounds, hindsight, synthetic
from lpsm.bounds import expert_report
from lpsm.bounds import experts as statements
from lpsm.bounds.verdicts import compare
from tests.lpsm.test_hindsight import shifting
from tests.oracles import experts as oracle
from tests.tables import cases_of, each, near

interior = st.floats(0.01, 0.99)
small_losses = st.tuples(st.integers(2, 5),
    st.integers(2, 3)).flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(0, 4)))  # fmt: skip


def sleepy(seed, rounds, n, scale):
    rng = default_rng(seed)
    losses, awake = scale * rng.exponential(size=(rounds, n)), rng.random((rounds, n)) < 0.6
    awake[np.arange(rounds), rng.integers(n, size=rounds)] = True
    return losses, awake, rng


def switching_fast():
    """Losses whose best rate is well inside (0, 1), so that Theorem 2 says something."""
    return synthetic.fast_switching(default_rng(1), 120, 4, rate=0.4, scale=1000.0).losses


# --- each function against enumeration or high precision
@settings(max_examples=30)
@given(small_losses, interior)
def test_the_law_of_the_switches_is_that_of_enumeration(losses, alpha):
    found = np.exp(statements.switch_distribution(losses, alpha))
    np.testing.assert_allclose(found, [float(q) for q in oracle.switch_distribution(losses, alpha)], rtol=1e-11)


@settings(max_examples=30)
@given(small_losses, interior, st.one_of(interior, st.sampled_from([0.0, 1e-12, 1.0])))
def test_lemma_1_is_an_identity_at_any_two_rates(losses, reference, alpha):
    log_q = statements.switch_distribution(losses, reference)
    one, other = (oracle.markov_loss(losses, oracle.share_matrix(losses.shape[1], a)) for a in (alpha, reference))
    regret = one - other
    assert statements.regret_identity(log_q, reference, alpha) == near(regret, rel=1e-11, abs=1e-11)


def test_claim_1_is_the_fifty_digit_second_derivative_at_the_best_rate():
    losses = shifting(12)
    best = hindsight.best_alpha(losses)
    mean, variance = statements.switch_moments(statements.switch_distribution(losses, best.alpha))
    assert mean == near(best.alpha, abs=1e-12)  # what stationarity means, thesis (C1)
    with mpmath.workdps(60):
        second = mpmath.diff(lambda a: oracle.share_loss(losses, a), mpmath.mpf(best.alpha), 2)
    assert statements.curvature(12, best.alpha, variance) == near(float(second), rel=1e-9)


@settings(max_examples=25)
@given(st.integers(2, 60), st.floats(0.05, 0.95), st.floats(0.0, 0.9), st.floats(0.02, 0.98))
def test_theorem_2_is_the_least_regret_of_any_law_with_that_mean_and_variance(horizon, best, beta, alpha):
    """By a linear programme over the laws on a fine grid."""
    variance = (1 - beta) * best * (1 - best) / (horizon - 1)
    bound = statements.fixed_share_regret_lower(horizon, best, beta, alpha)
    points = np.linspace(0.0, 1.0, 1201)
    ratio = (horizon - 1) * (points * log(alpha / best) + (1 - points) * log((1 - alpha) / (1 - best)))
    scale = max(ratio.max() - 600.0, -bound)  # so that the objective stays within floats
    objective = np.exp(ratio - scale)
    found = linprog(-objective / objective.max(),
        A_eq=[np.ones_like(points), points - best, (points - best) ** 2 / variance], b_eq=[1.0, 0.0, 1.0],
        method="highs")  # fmt: skip
    assume(found.status == 0 and found.fun < -1e-6)  # the grid allows the variance, and the solver's digits suffice
    least = -(log(-found.fun) + log(objective.max()) + scale)
    assert least >= bound - 1e-6 * max(1.0, abs(bound))
    assert least <= bound + 0.02 * max(1.0, abs(bound))


# --- the report
CHAIN = np.full((4, 4), 0.05) + 0.8 * np.eye(4)
GRID = alpha_grid(horizon=120)
COARSE = alpha_grid(horizon=119)  # its worst divergence is above 1/(2T) by one part in 119
NOT_INSIDE = dict.fromkeys(("Lemma 1", "Claim 1", "Theorem 2"), "void: alpha* = 0 is not inside (0, 1)")
SEVEN = ("Fixed-share against k segments", "Theorem 1", "Lemma 1", "Claim 1", "Theorem 2", "Theorem 1 for matrices",
         "Theorem 1 for matrices, by visits")  # fmt: skip


def near_the_best(losses):
    return FixedShare(4, hindsight.best_alpha(losses).alpha + 0.02)


def hopeless():
    return np.where(np.arange(120)[:, None] == 5, inf, shifting())


def gone_on():
    learner = FixedShare(4, 0.05)
    learner.run(shifting()[:50])
    return learner


# the learner, losses, options, and how the verdicts of some statements, or of all, begin
@cases_of("make losses options expected", """
lambda: near_the_best(switching_fast()), switching_fast, {}, dict.fromkeys(SEVEN, "holds")
lambda: LearnAlpha(4, GRID), switching_fast, {}, {"": "holds"}
gone_on, lambda: shifting()[50:], {}, {"Lemma 1": "holds", "Theorem 1": "holds"}
lambda: FixedShare(2, 0.1), lambda: np.tile([0.0, 9.0], (40, 1)), {}, {**NOT_INSIDE, "Theorem 1": "holds"}
lambda: StaticExpert(4), shifting, {}, {"Theorem 1": "vacuous: the bound is infinite"}
lambda: FixedShare(4, 0.9), shifting, {}, {"Theorem 2": "vacuous"}
lambda: StaticExpert(2), lambda: [[0.0, 0.1]], {}, {"Static-expert against the best expert": "vacuous"}
lambda: FixedShare(4, 0.1), shifting, {"exact_rounds": 100}, {"Lemma 1": "void: not comp", "Theorem 1": "holds"}
lambda: LearnAlpha(4, GRID), shifting, {}, {"Corollary 1, optimised": "holds"}
lambda: LearnAlpha(4, COARSE), shifting, {}, {"Corollary 1, optimised": "void: the worst divergence of"}
lambda: LearnAlpha(4, GRID, alpha_prior=1.0 + 1e-9 * np.arange(GRID.size)), shifting, {},
  {"Corollary 1, optimised": "void: the prior over the alphas is not uniform"}
lambda: LearnAlpha(4, [0.01, 0.05], prior=[0.7, 0.1, 0.1, 0.1], alpha_prior=[0.2, 0.8]), shifting, {},
  {"Corollary 1": "holds", "Corollary 1, optimised": "void"}
lambda: StaticExpert(4), hopeless, {}, {"": "void"} ; lambda: FixedShare(4, 0.1), hopeless, {}, {"": "void"}
lambda: LearnAlpha(4, doubling=True), hopeless, {}, {"": "void"}
""", globals())  # fmt: skip
def test_a_statement_holds_or_is_vacuous_or_void_as_its_hypotheses_say(make, losses, options, expected):
    learner = make()
    before, run = learner.state(), learner.run(losses())
    table = bounds.report(run, **options)
    found = dict(zip(table["statement"], table["verdict"], strict=True))
    assert table.holds.all()
    for statement, verdict in expected.items():
        for one in [statement] if statement else found:
            assert found[one].startswith(verdict), one
    if len(expected) == len(SEVEN):
        assert set(found) == set(SEVEN)
    again = type(learner).from_state(before)
    assert bounds.report(again, losses(), **options).equals(table)
    assert again.weights.tolist() == type(learner).from_state(before).weights.tolist()


@each(
    "make",
    [lambda: StaticExpert(4), lambda: FixedShare(4, 0.05), lambda: MarkovShare(CHAIN), lambda: LearnAlpha(4, GRID)],
)
def test_a_run_that_lost_too_much_is_caught(make):
    run = make().run(shifting())
    run.loss[:] += 0.5
    table = bounds.report(run)
    assert not table.holds.all()
    assert (table.loc[~table.holds, "verdict"].str.startswith("violated")).all()


def test_a_run_that_lost_too_little_is_caught_by_the_identity_and_the_lower_bound():
    losses = switching_fast()
    run = near_the_best(losses).run(losses)
    run.loss[:] *= hindsight.best_alpha(losses).loss / run.total_loss
    holds = bounds.report(run).set_index("statement").holds
    assert [holds[name] for name in ("Lemma 1", "Theorem 2", "Theorem 1")] == [False, False, True]


def test_a_static_expert_whose_experts_sleep_is_held_to_the_statements_of_its_switching_rate_0():
    losses, awake = shifting(30), default_rng(2).random((30, 4)) < 0.8
    first = bounds.report(StaticExpert(4, prior=[0.5, 0.5, 0.0, 0.0]).run(losses, awake)).iloc[0]
    assert (first.holds, first.bound) == (True, near(log(2)))
    of_share, others = (bounds.report(one.run(losses, awake)).set_index("statement")["bound"]
                        for one in (FixedShare(4, 0.0), StaticExpert(4)))  # fmt: skip
    assert others[1:].tolist() == near(of_share[others.index[1:]].tolist(), nan_ok=True)


@settings(max_examples=60)
@given(
    st.tuples(st.integers(0, 12), st.integers(1, 4)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 1e-12, 0.5, 1.0, 40.0, 1e6, inf]))
    ),
    st.sampled_from([0.0, 1e-300, 1e-15, 0.3, 0.5, 1 - 1e-16, 1.0]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_losses_and_rates_at_the_extremes_violate_nothing_nor_do_experts_that_sleep(losses, alpha, sleep, seed):
    n, rng = losses.shape[1], default_rng(seed)
    prior = rng.dirichlet(np.ones(n))
    prior[: rng.integers(n)] = 0.0
    matrix = rng.dirichlet(np.full(n, 0.3), size=n)
    matrix = np.where(matrix < 0.2, 0.0, matrix)
    awake = None
    if sleep:
        awake = (rng.random(losses.shape) < 0.6) | (np.arange(n) == rng.integers(n, size=(len(losses), 1)))
    for learner in (StaticExpert(n, prior=prior), FixedShare(n, alpha, prior=prior),
        MarkovShare(matrix / matrix.sum(axis=1, keepdims=True), prior=prior),
        LearnAlpha(n, [0.0, alpha, 1.0], prior=prior), LearnAlpha(n, alpha_grid(horizon=max(1, len(losses)))),
        LearnAlpha(n, doubling=True)):  # fmt: skip
        table = bounds.report(learner.run(losses, awake))
        assert table.empty if not len(losses) else table.holds.all(), table.to_string()


@pytest.mark.long
def test_ten_thousand_random_trials_violate_nothing():
    reports = pd.DataFrame(row for i in range(10_000) for row in bounds_trials.play(bounds_trials.Trial(index=i)))
    assert reports.loc[~reports["holds"]].empty, reports.loc[~reports["holds"]].head().to_string()
    lemma = reports["statement"].str.startswith("Lemma 1") & (reports["verdict"] == "holds")
    assert reports.loc[lemma, "slack"].max() <= 1e-9
    assert (bounds_trials.summary(reports)["firm"] >= 100).all()


def test_of_several_rows_the_one_nearest_to_being_violated_stands_for_all():
    def chosen(kind, *sides):
        return expert_report._tightest([compare("x", kind, *side, 0.1) for side in sides]).measured

    assert chosen("upper", (1.0, 5.0), (2.0, 3.0), (0.0, 9.0)) == 2.0
    assert chosen("lower", (6.0, 5.0), (9.0, 3.0)) == 6.0
    assert chosen("identity", (1.0, 1.01), (2.0, 2.05), (3.0, 3.0)) == 2.0  # the largest difference
    assert chosen("upper", (1.0, 1.0), (2.0, 1.0)) == 2.0  # a violation


def test_learn_alpha_is_held_against_segments_of_its_best_alpha_expert_where_experts_sleep():
    losses = np.array([[0.0, 2.0], [0.5, 3.0], [1.0, 0.0], [4.0, 0.25], [2.0, 0.0]])
    awake = np.array([[True, True], [True, False], [True, True], [False, True], [True, True]])
    run = LearnAlpha(2, [0.1, 0.4]).run(losses, awake)
    each = [FixedShare(2, alpha).run(losses, awake) for alpha in (0.1, 0.4)]
    totals = [one.total_loss for one in each]
    best = int(np.argmin(totals))
    curve = hindsight.partition_curve(np.where(awake, losses, each[best].loss[:, None]), 5, neighbours_differ=True)
    limits = [statements.fixed_share_partition_loss(loss, k, 5, 2, (0.1, 0.4)[best]) for k, loss in enumerate(curve, 1)]
    k = int(np.argmin(limits))
    extra = min(total + log(2) for total in totals) - min(totals)
    first, second = bounds.report(run).itertuples(index=False)
    assert (first.measured, first.bound) == near((run.total_loss - min(totals), extra))
    assert (second.measured, second.bound) == near((run.total_loss - curve[k], limits[k] - curve[k] + extra))
    assert second.verdict.endswith(f"(tightest at k = {k + 1})")


@given(seed=st.integers(0, 10_000), rounds=st.integers(1, 30), n=st.integers(1, 5),
    scale=st.sampled_from([0.1, 1.0, 8.0]))  # fmt: skip
@settings(max_examples=10)
def test_static_expert_is_near_every_expert_over_the_rounds_in_which_it_is_awake(seed, rounds, n, scale):
    losses, awake, rng = sleepy(seed, rounds, n, scale)
    prior = rng.dirichlet(np.ones(n))
    run = StaticExpert(n, prior=prior).run(losses, awake)
    regrets = hindsight.awake_regrets(run.loss, losses, awake)
    assert regrets == near(np.where(awake, run.loss[:, None] - losses, 0.0).sum(axis=0))
    row = bounds.report(run).iloc[0]
    assert (row.holds, row.verdict) == (True, "holds")
    assert -1e-12 <= row.slack == near((-np.log(prior) - regrets).min(), abs=1e-12)


@cases_of("k", "1 ; 2 ; 3")
def test_the_regret_against_a_partition_counts_the_rounds_in_which_its_experts_are_awake(k):
    losses, awake, _ = sleepy(k, 12, 3, 2.0)
    run = FixedShare(3, 0.2).run(losses, awake)
    limit = statements.fixed_share_partition_loss(0.0, k, 12, 3, 0.2)
    lost = np.where(awake, run.loss[:, None] - losses, 0.0)
    worst = max(lost[np.arange(12), np.repeat(experts, np.diff([0, *cuts, 12]))].sum()
        for cuts in combinations(range(1, 12), k - 1) for experts in product(range(3), repeat=k)
        if all(a != b for a, b in pairwise(experts)))  # fmt: skip
    row = bounds.report(run, k_max=k).set_index("statement").loc["Fixed-share against k segments"]
    assert worst <= limit + 1e-9
    assert row.slack <= limit - worst + 1e-9
    if f"k = {k})" in row.verdict:
        assert row.measured == near(worst)


def test_a_matrix_that_is_not_stationary_makes_the_statement_void_with_both_sides(monkeypatch):
    search, losses = hindsight.best_transitions, shifting()
    monkeypatch.setattr(
        hindsight, "best_transitions", lambda *given, **how: search(*given, **how | {"max_iterations": 1})
    )
    run = MarkovShare(CHAIN).run(losses)
    found = search(losses, start=CHAIN, prior=np.full(4, 0.25), max_iterations=1)
    table = bounds.report(run)
    assert table["verdict"].str.startswith("void: the re-estimation has not settled, residual").all()
    assert table["measured"].tolist() == near([run.total_loss - found.loss] * 2)
    assert table["bound"][0] == near(statements.markov_share_regret(120, found.matrix, CHAIN, found.visits))


def test_what_overflows_is_void_and_not_violated():
    table = bounds.report(FixedShare(2, 0.01), [[1e300, 0], [0, 1e300]])
    assert table.holds.all()
    assert table.verdict[1].startswith("void: it is beyond what floating-point numbers hold")
