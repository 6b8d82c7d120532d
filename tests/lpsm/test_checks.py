"""What is no number, and what no memory holds, is refused by an error that names argument, rule and value."""

from __future__ import annotations

import numpy as np
import pytest

import lpsm
from lpsm import (
    FixedShare,
    LearnAlpha,
    StaticExpert,
    alpha_grid,
    checks,
    hindsight,
    online,
    randomness,
)
from lpsm.experts import doubling_regret, worst_divergence
from lpsm.samplers import make
from netsim.policies import polling
from netsim.sleep_planning import schedules


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FixedShare(True, 0.1), "n_experts must be an integer of at least 1, got True"),
        (lambda: FixedShare(3, True), "alpha must be a number, got True"),
        (lambda: FixedShare(3, 0.1 + 0j), r"alpha must be a number, got \(0.1\+0j\)"),
        (lambda: FixedShare(5, "x"), "alpha must be a number, got 'x'"),
        (lambda: FixedShare(5, 10**400), r"alpha must lie in \[0, 1\], got an integer of 1329 bits"),
        (lambda: LearnAlpha(10**9, [0.1]), "n_experts must be at most 1048576, got 1000000000"),
        (lambda: LearnAlpha(10**6, [0.1] * 100), "n_experts x alphas must be at most 33554432, got 1000000 x 100"),
        (lambda: LearnAlpha(5, ["x"]), r"alphas must be an array of numbers, got \['x'\]"),
        (lambda: LearnAlpha(5, np.ma.masked_array([0.1])), "alphas must be an array of numbers, got 'MaskedArray'"),
        (lambda: StaticExpert(2).update([1j, 0.0]), r"losses must be an array of numbers, got \[1j, 0.0\]"),
        (lambda: StaticExpert(2).update(np.array([1j, 0.0])), "losses must be an array of numbers, got"),
        (lambda: StaticExpert(2).update(np.ma.masked_array([1.0, 0.0])), "got 'MaskedArray'"),
        (lambda: StaticExpert(2).run(np.ma.masked_array([[1.0, 0.0]])), "got 'MaskedArray'"),
        (lambda: StaticExpert(2).run([[1.0], [1.0, 2.0]]), "losses must be an array of numbers, got rows of several"),
        (lambda: StaticExpert(2, prior=[10**400, 1]), "prior must be an array of numbers, got"),
        (lambda: lpsm.Combiner(10**9), "n_experts must be at most 1048576, got 1000000000"),
        (lambda: lpsm.Combiner(2, quantile="x"), "quantile must be a number, got 'x'"),
        (lambda: alpha_grid(10**18), "horizon must be a whole .* at most 100000000, got 1000000000000000000"),
        (lambda: alpha_grid(delta=1e-300), "delta must be at least 5e-09 and finite, got 1e-300"),
        (lambda: alpha_grid(kind="chebyshev", size=10**12), "size must be at most 1000000, got 1000000000000"),
        (lambda: doubling_regret(10**18), "n_rounds must be at most 100000000, got 1000000000000000000"),
        (lambda: worst_divergence([]), r"alphas must lie in \[0, 1\] and be at least one, got \[\]"),
        (lambda: online.play(3, [], int), "learner must have the methods decide and learn, got 3"),
        (lambda: online.play(make("sop", 3), [], 3), "label must have the methods __call__, got 3"),
        (lambda: online.Ledger().record("x"), "loss must be a number, got 'x'"),
        (lambda: polling.beacons("x"), "time_ms must be a number, got 'x'"),
        (lambda: polling.PollingConfig(times_ms=[10**400]), "times_ms must be finite .*, got an integer of 1329 bits"),
        (lambda: schedules.table(["x"], 100), "schedules must be of the type Schedule, got 'x'"),
        (lambda: schedules.Schedule(stride="x"), "stride must be an integer of at least 0, got 'x'"),
        (lambda: randomness.generator("x", 0), "seed must be an integer of at least 0, got 'x'"),
        (lambda: hindsight.alpha_slopes([[1.0, 2.0]], [[0.1]]), r"alpha must lie in \[0, 1\], shape \(m,\), got"),
    ],
)
def test_a_wrong_number_is_refused_by_name_rule_and_value(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_an_error_shows_little_of_a_long_value():
    for value in ("x" * 10**6, b"x" * 10**6, list(range(10**5)), 10**4000, [10**400]):
        assert len(checks.shown(value)) <= 60


def test_numbers_of_numpy_and_arrays_of_no_dimension_are_numbers():
    for value in (0.5, np.float32(0.5), np.float64(0.5), np.array(0.5)):
        assert checks.number("x", value) == 0.5
    assert checks.whole(1, n=np.int8(7)) == 7


def test_an_instance_of_nothing_but_zeros_that_cannot_be_written_to_is_an_instance():
    zeros = np.zeros(3)
    zeros.flags.writeable = False
    assert make("perceptron", n_features=3).decide(zeros).margin == 0.0
