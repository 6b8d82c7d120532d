"""LPSM's regret on traffic that shifts: taken from its polls, it is that of the learner that ran."""

import numpy as np
import pytest

import netsim
import traces
from experiments.papers.ours.shifting import SEGMENTS, browse, regrets_of
from netsim.policies.polling import PollingConfig, PollingLearner

PAGES = traces.generate(40, np.random.default_rng(0))


@pytest.mark.parametrize(("policy", "term"), [("lpsm", "1/T"), ("lpsm:log", "1/log T")])
def test_the_polls_of_a_run_tell_what_its_learner_lost(policy, term):
    result = netsim.simulate(PAGES, policy)
    learner = PollingLearner(PollingConfig.thesis(term))
    mixture, fixed = 0.0, 0.0
    for slept_ms, found in zip(result.polls["slept_ms"], result.polls["buffered_bytes"], strict=True):
        nominal_ms = 100.0 * np.ceil(slept_ms / 100.0 - 1e-9)
        learner.poll(nominal_ms, float(found))
        mixture += learner.loss
        fixed = fixed + learner.losses
    assert np.allclose(learner.weights, result.final_policy.learner.weights, atol=1e-12)
    rows = regrets_of(result)
    assert [row["k"] for row in rows] == list(SEGMENTS)
    assert rows[0]["mixture"] == pytest.approx(mixture)
    assert rows[0]["best"] == pytest.approx(np.min(fixed))
    best = [row["best"] for row in rows]
    assert best == sorted(best, reverse=True)
    assert all(row["mixture"] <= row["bound"] for row in rows)


def test_servers_that_shift_make_the_slow_blocks_slower_and_the_hasty_ones_quicker():
    task = {"world": "shifting", "policy": "none", "seed": 0, "pages": 50, "server_delay_s": 0.5, "factors": [0.2, 3.0]}
    same, shifting = browse(**task), browse(**task, servers=True)
    difference = [
        after["latency_s"] - before["latency_s"]
        for before, after in zip(same["latencies"], shifting["latencies"], strict=True)
    ]
    assert max(difference[:25]) < 0 < min(difference[25:])
    assert "regrets" not in shifting
    assert len(browse(**task | {"policy": "lpsm"})["regrets"]) == len(SEGMENTS)
