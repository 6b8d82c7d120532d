"""Experts that sleep: each is a comparator over the rounds in which it was awake."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import StaticExpert, hindsight
from lpsm.bounds import expert_report


@given(
    seed=st.integers(0, 10_000), rounds=st.integers(1, 60), n=st.integers(1, 5), scale=st.sampled_from([0.1, 1.0, 8.0])
)
@settings(max_examples=40, deadline=None)
def test_static_expert_is_near_every_expert_over_the_rounds_in_which_it_is_awake(seed, rounds, n, scale):
    rng = np.random.default_rng(seed)
    losses, awake = scale * rng.exponential(size=(rounds, n)), rng.random((rounds, n)) < 0.6
    awake[np.arange(rounds), rng.integers(n, size=rounds)] = True
    prior = rng.dirichlet(np.ones(n))
    run = StaticExpert(n, prior=prior).run(losses, awake)
    regrets = hindsight.awake_regrets(run.loss, losses, awake)
    for i in range(n):
        own = sum(run.loss[t] - losses[t, i] for t in range(rounds) if awake[t, i])
        assert regrets[i] == pytest.approx(own)
        assert own <= -np.log(prior[i]) + 1e-9
    row = expert_report.rows(run)[0]
    assert row.holds
    assert row.verdict == "holds"
    assert row.slack == pytest.approx((-np.log(prior) - regrets).min())
