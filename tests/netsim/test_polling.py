"""LPSM: losses over polling times, one decision a poll."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import alpha_grid
from netsim.policies.polling import PollingConfig, PollingLearner, beacons
from tests.oracles.experts import by_mpmath
from tests.tables import cases_of, near

polls = st.lists(st.tuples(st.integers(1, 12).map(lambda k: 100.0 * k), st.sampled_from([0.0, 40.0, 1500.0, 60_000.0])),
    max_size=40)  # fmt: skip


@cases_of("energy gamma term", """
"1/T", 1 / 1.2e5, lambda t: 1 / t ; "1/log T", 1 / 1.2e3, lambda t: 1 / log(t)
lambda t: 3 / t**0.5, 1e-4, lambda t: 3 / t**0.5
""")  # fmt: skip
@settings(max_examples=6)
@given(polls)
def test_means_and_losses_are_those_of_the_printed_algorithm(energy, gamma, term, sequence):
    alphas = alpha_grid(horizon=100)
    config = PollingConfig(energy=energy, alphas=tuple(alphas), gamma=gamma if callable(energy) else None)
    learner = PollingLearner(config)
    times = np.array(config.times_ms)
    charged = [[gamma * arrived * t * t / (2 * slept) + term(t) for t in times] for slept, arrived in sequence]
    charged = np.array(charged).reshape(-1, len(times))
    losses, weights, _ = by_mpmath(charged, alphas, np.ones(len(times)), np.ones(len(alphas)))
    means = weights @ times
    assert learner.mean_ms == near(means[0], rel=1e-15)
    for (slept, arrived), mean, loss in zip(sequence, means[1:], losses, strict=True):
        assert learner.poll(slept, arrived) == near(mean, rel=1e-11)
        assert learner.mean_ms == near(mean, rel=1e-11)
        assert learner.loss == near(loss, rel=1e-9, abs=1e-12)


def test_the_defaults_are_twelve_experts_and_259_alphas_with_a_mean_of_650_ms():
    learner = PollingLearner()
    assert (learner.mean_ms, beacons(learner.mean_ms), learner.alphas.size) == (650.0, 7, 259)
    assert learner.weights.tolist() == near([1 / 12] * 12)
    assert PollingConfig.thesis("1/log T") == PollingConfig(energy="1/log T")
    assert PollingConfig.thesis("1/log T").price() == 1 / 1.2e3
