"""LPSM: losses over polling times, one decision a poll."""

from math import exp, floor, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import LearnAlpha, alpha_grid
from lpsm._compile import compiled
from lpsm.experts import share
from netsim.policies.polling import TIME, PollingConfig, PollingLearner, beacons, polling_round
from tests.oracles.experts import polling_reference

polls = st.lists(
    st.tuples(st.integers(1, 12).map(lambda k: 100.0 * k), st.sampled_from([0.0, 40.0, 1500.0, 60_000.0])), max_size=40
)


@pytest.mark.parametrize(
    ("energy", "gamma", "term"),
    [
        ("1/T", 1 / 1.2e5, lambda t: 1 / t),
        ("1/log T", 1 / 1.2e3, lambda t: 1 / log(t)),
        (lambda t: 3 / t**0.5, 1e-4, lambda t: 3 / t**0.5),
    ],
)
@settings(max_examples=15, deadline=None)
@given(polls)
def test_means_and_losses_are_those_of_the_printed_algorithm(energy, gamma, term, sequence):
    alphas = alpha_grid(horizon=100)
    config = PollingConfig(energy=energy, alphas=tuple(alphas), gamma=gamma if callable(energy) else None)
    learner = PollingLearner(config)
    means, losses = polling_reference(sequence, config.times_ms, term, gamma, alphas)
    assert learner.mean_ms == pytest.approx(means[0], rel=1e-15)
    for (slept, arrived), mean, loss in zip(sequence, means[1:], losses, strict=True):
        assert learner.poll(slept, arrived) == pytest.approx(mean, rel=1e-11)
        assert learner.mean_ms == pytest.approx(mean, rel=1e-11)
        assert learner.loss == pytest.approx(loss, rel=1e-9, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(polls)
def test_a_poll_is_an_update_of_learn_alpha_with_the_polling_losses(sequence):
    polling, plain = PollingLearner(), LearnAlpha(12, alpha_grid(horizon=27_000))
    times = np.arange(100.0, 1201.0, 100.0)
    for slept, arrived in sequence:
        polling.poll(slept, arrived)
        losses = arrived / (1.2e5 * 2 * slept) * times**2 + 1 / times
        np.testing.assert_allclose(polling.losses, losses, rtol=1e-14)
        assert polling.loss == pytest.approx(plain.update(losses), rel=1e-11)
    np.testing.assert_allclose(polling.weights, plain.weights, atol=1e-12)
    np.testing.assert_allclose(polling.alpha_weights, plain.alpha_weights, atol=1e-12)
    assert 100.0 <= polling.mean_ms <= 1200.0


def test_the_defaults_are_twelve_experts_and_259_alphas_with_a_mean_of_650_ms():
    learner = PollingLearner()
    assert learner.mean_ms == 650.0
    assert beacons(learner.mean_ms) == 7
    assert learner.alphas.size == 259
    assert learner.weights.tolist() == pytest.approx([1 / 12] * 12)
    assert PollingConfig.thesis("1/log T") == PollingConfig(energy="1/log T")
    assert PollingConfig.thesis("1/log T").price() == 1 / 1.2e3


def test_idle_polls_lengthen_the_sleep_and_traffic_shortens_it():
    learner = PollingLearner(PollingConfig.thesis("1/log T"))
    idle = [learner.poll(700.0, 0) for _ in range(300)]
    assert (np.diff(idle) > 0).all()
    busy = [learner.poll(100.0 * beacons(idle[-1]), 30_000) for _ in range(5)]
    assert busy[-1] < 200 < 650 < idle[-1]


def test_losses_depend_on_bytes_per_time_slept_only():
    a, b = PollingLearner(), PollingLearner()
    for _ in range(20):
        assert a.poll(300.0, 3000) == b.poll(1000.0, 10_000)


@given(st.floats(1.0, 1e5))
def test_rounding_goes_to_the_nearest_beacon_halves_up_and_never_below_one(time_ms):
    k = beacons(time_ms)
    assert k == max(1, floor(time_ms / 100 + 0.5 + 1e-9))
    assert k >= 1
    assert abs(k * 100 - max(time_ms, 100.0)) <= 50 + 1e-6


def test_a_half_rounds_up_also_when_it_falls_short_by_rounding():
    assert [beacons(value) for value in (0.0, 49.9, 150.0, 149.99, 650.0 - 1e-8, 649.99)] == [1, 1, 2, 1, 7, 6]
    assert beacons(300.0, 200.0) == 2


def test_huge_buffers_and_many_polls_leave_a_finite_mean_that_recovers():
    learner = PollingLearner(PollingConfig(alphas=(0.0, 1e-3, 0.5, 1.0)))
    assert learner.poll(100.0, 1e12) < 650.0
    for _ in range(1000):
        learner.poll(1200.0, 0)
    assert 100 <= learner.mean_ms <= 1200
    single = PollingLearner(PollingConfig(times_ms=(250.0,)))
    assert single.poll(200.0, 1e9) == pytest.approx(250.0)


def test_the_kernel_can_be_called_from_compiled_code():
    direct, inside = PollingLearner(), PollingLearner()

    @compiled
    def three(a, b, c, d, e, f):
        mean = 0.0
        for k in range(3):
            mean = polling_round(700.0, 1000.0 * k, a, b, c, d, e, f)
        return mean

    assert three(*inside.arrays()) == [direct.poll(700.0, 1000.0 * k) for k in range(3)][-1]


@pytest.mark.parametrize(("slept", "arrived"), [(0.0, 1), (-1.0, 1), (float("nan"), 1), (1.0, -1), (1.0, float("inf"))])
def test_an_illegal_poll_is_named_and_changes_nothing(slept, arrived):
    learner = PollingLearner()
    learner.poll(100.0, 50)
    before = learner.weights, learner.mean_ms, learner.loss
    with pytest.raises(ValueError, match="slept_ms must be positive and buffered_bytes not negative"):
        learner.poll(slept, arrived)
    assert learner.weights.tolist() == before[0].tolist()
    assert (learner.mean_ms, learner.loss) == before[1:]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"times_ms": ()}, "times_ms must name at least one"),
        ({"times_ms": (0.5,)}, "times_ms must be finite and above 1 ms, got 0.5"),
        ({"energy": "log"}, "energy must be one of"),
        ({"energy": lambda t: 1.0}, "gamma must be given"),
        ({"energy": lambda t: -1.0, "gamma": 1.0}, "energy must be finite and not negative, got -1.0 at 100.0 ms"),
        ({"gamma": -1.0}, "gamma must be non-negative and finite, got -1.0"),
        ({"alphas": ()}, "alphas must name at least one"),
        ({"alphas": (2.0,)}, r"alphas must lie in \[0, 1\], got 2.0"),
        ({"times_ms": (1.0, 2.0), "energy": "1/log T"}, "times_ms must be finite and above 1 ms, got 1.0"),
    ],
)
def test_a_bad_parameter_is_named_with_its_rule_and_value(arguments, message):
    with pytest.raises(ValueError, match=message):
        PollingConfig(**arguments)


def test_the_mixture_loss_lies_between_the_losses_of_the_experts():
    learner = PollingLearner()
    for arrived in (0, 100, 10_000, 0):
        weights = learner.weights
        learner.poll(500.0, arrived)
        assert learner.losses.min() - 1e-12 <= learner.loss <= learner.losses.max() + 1e-12
        expected = -log(sum(w * exp(-v) for w, v in zip(weights, learner.losses, strict=True)))
        assert learner.loss == pytest.approx(expected, rel=1e-9)


def test_one_sweep_finds_the_round_and_the_mean_that_two_do():
    rng = np.random.default_rng(3)
    for n in (2, 5, 12):
        config = PollingConfig(times_ms=tuple(100.0 * k for k in range(1, n + 1)), gamma=1e-3)
        learner = PollingLearner(config)
        weights, columns, slow, head, work, experts = (array.copy() for array in learner.arrays())
        for _ in range(200):
            slept, found = 100.0 * rng.integers(1, 13), rng.integers(0, 40_000) * (rng.random() < 0.3)
            mean = learner.poll(slept, found)
            loss = share.learn_alpha_round(learner.losses, weights, columns, slow, head, work)
            assert learner.loss == pytest.approx(loss, rel=1e-12)
            share.mixture(weights, columns, slow, head, work[0])
            assert mean == pytest.approx(experts[TIME] @ work[0], rel=1e-12)
            assert np.array_equal(learner.arrays()[0], weights)
