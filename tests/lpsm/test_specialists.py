"""Experts that sleep: each is a comparator over the rounds in which it was awake."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import FixedShare, LearnAlpha, MarkovShare, StaticExpert, bounds, hindsight


def sleepy(seed, rounds, n, scale):
    rng = np.random.default_rng(seed)
    losses, awake = scale * rng.exponential(size=(rounds, n)), rng.random((rounds, n)) < 0.6
    awake[np.arange(rounds), rng.integers(n, size=rounds)] = True
    return losses, awake, rng


@given(
    seed=st.integers(0, 10_000), rounds=st.integers(1, 30), n=st.integers(1, 5), scale=st.sampled_from([0.1, 1.0, 8.0])
)
@settings(max_examples=10, deadline=None)
def test_static_expert_is_near_every_expert_over_the_rounds_in_which_it_is_awake(seed, rounds, n, scale):
    losses, awake, rng = sleepy(seed, rounds, n, scale)
    prior = rng.dirichlet(np.ones(n))
    run = StaticExpert(n, prior=prior).run(losses, awake)
    regrets = hindsight.awake_regrets(run.loss, losses, awake)
    for i in range(n):
        own = sum(run.loss[t] - losses[t, i] for t in range(rounds) if awake[t, i])
        assert regrets[i] == pytest.approx(own)
        assert own <= -np.log(prior[i]) + 1e-9
    row = bounds.report(run).iloc[0]
    assert row.holds
    assert row.verdict == "holds"
    assert row.slack == pytest.approx((-np.log(prior) - regrets).min())


@given(seed=st.integers(0, 10_000), rounds=st.integers(2, 15), n=st.integers(2, 4), scale=st.sampled_from([0.1, 3.0]))
@settings(max_examples=4, deadline=None)
def test_no_statement_is_violated_where_experts_sleep(seed, rounds, n, scale):
    losses, awake, rng = sleepy(seed, rounds, n, scale)
    for learner in (
        StaticExpert(n),
        FixedShare(n, rng.random()),
        MarkovShare(rng.dirichlet(np.ones(n), size=n)),
        LearnAlpha(n, [0.0, 0.1, 0.5]),
    ):
        run = learner.run(losses, awake)
        found = bounds.report(run)
        assert found["holds"].all(), found.to_string()
        if not isinstance(learner, LearnAlpha):  # it is the run in which sleepers lose what the mixture loses
            again = type(learner).from_state(run.start.state()).run(np.where(awake, losses, run.loss[:, None]))
            np.testing.assert_allclose(again.loss, run.loss, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_regret_against_a_partition_counts_the_rounds_in_which_its_experts_are_awake(k):
    losses, awake, _ = sleepy(k, 12, 3, 2.0)
    run = FixedShare(3, 0.2).run(losses, awake)
    limit = np.log(3) + (k - 1) * np.log(2 / 0.2) + (12 - k) * np.log(1 / 0.8)
    worst = -np.inf
    for cuts in combinations(range(1, 12), k - 1):
        ends = [0, *cuts, 12]
        for experts in product(range(3), repeat=k):
            if any(a == b for a, b in pairwise(experts)):
                continue
            path = np.repeat(experts, np.diff(ends))
            there = awake[np.arange(12), path]
            worst = max(worst, float((run.loss - losses[np.arange(12), path])[there].sum()))
    row = bounds.report(run, k_max=k).set_index("statement").loc["Fixed-share against k segments"]
    assert worst <= limit + 1e-9
    assert row.slack <= limit - worst + 1e-9
    if f"k = {k})" in row.verdict:
        assert row.measured == pytest.approx(worst)
