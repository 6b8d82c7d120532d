"""What is not taken is refused by an error that names argument, rule and value; what the library says of itself."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import lpsm
from lpsm import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid, bounds, checks, online, randomness
from lpsm.experts import AdaHedge, NormalHedge, Squint, VariableShare, doubling_regret, worst_divergence
from lpsm.hindsight import alpha_slopes
from lpsm.samplers import make
from netsim.policies import polling
from netsim.sleep_planning import schedules

OPENING = {"read_text", "write_text", "read_bytes", "write_bytes", "savez", "savetxt", "loadtxt", "to_csv"}
DRAWING = {"plot", "subplots", "imshow", "savefig"}
MASKED = np.ma.masked_array([1.0, 0.0])


def shares(alpha=0.1, n=2, **common):
    return lambda: FixedShare(n, alpha, **common)


def alphas(*given, n=2, **common):
    return lambda: LearnAlpha(n, *given, **common)


def grid(**given):
    return lambda: alpha_grid(**given)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (shares(n=True), "n_experts must be an integer of at least 1, got True"),
        (shares(n=0), "n_experts must be an integer of at least 1, got 0"),
        (shares(n="5"), "n_experts must be an integer of at least 1, got '5'"),
        (shares(True), "alpha must be a number, got True"),
        (shares(0.1 + 0j), r"alpha must be a number, got \(0.1\+0j\)"),
        (shares("x"), "alpha must be a number, got 'x'"),
        (shares(10**400), r"alpha must lie in \[0, 1\], got an integer of 1329 bits"),
        (shares(1.5), r"alpha must lie in \[0, 1\], got 1.5"),
        (shares(float("nan")), r"alpha must lie in \[0, 1\], got nan"),
        (shares(eta=0.0), "eta must be positive and finite, got 0.0"),
        (shares(loss_range=-1.0), "loss_range must be positive, got -1.0"),
        (shares(prior=5.0), r"prior must have shape \(2,\), got \(\)"),
        (shares(prior=[1.0]), r"prior must have shape \(2,\), got \(1,\)"),
        (shares(prior=[0.0, 0.0]), "prior must have a positive finite sum"),
        (shares(prior=[-1.0, 2.0]), "prior must be non-negative"),
        (shares(prior=[10**400, 1]), "prior must be an array of numbers, got"),
        (lambda: MarkovShare([[0.5, 0.4], [0.5, 0.5]]), "rows of P must sum to 1, got 0.9"),
        (lambda: MarkovShare([[1.5, -0.5], [0.5, 0.5]]), "P must be non-negative, got -0.5"),
        (lambda: MarkovShare([[0.5, 0.5]]), r"P must have shape \(n, n\)"),
        (lambda: VariableShare(2, 1.0), r"alpha must lie in \[0, 1\), got 1.0"),
        (lambda: VariableShare(2, -0.1), r"alpha must lie in \[0, 1\], got -0.1"),
        (alphas(), "alphas must be given, or doubling=True"),
        (alphas([]), r"alphas must have shape \(m,\) with m >= 1, got \[\]"),
        (alphas(100), r"alphas must have shape \(m,\) with m >= 1, got 100"),
        (alphas([0.1, 1.5]), r"alphas must lie in \[0, 1\], got 1.5"),
        (alphas([float("nan")]), r"alphas must lie in \[0, 1\], got nan"),
        (alphas(["x"]), r"alphas must be an array of numbers, got \['x'\]"),
        (alphas(np.ma.masked_array([0.1])), "alphas must be an array of numbers, got 'MaskedArray'"),
        (alphas([0.1], alpha_prior=[0.0]), "alpha_prior must be positive"),
        (alphas([0.1], alpha_prior=[0.5, 0.5]), r"alpha_prior must have shape \(1,\)"),
        (alphas([0.1], doubling=True), "must not be given with doubling"),
        (alphas([0.1], n=10**9), "n_experts must be at most 1048576, got 1000000000"),
        (alphas([0.1] * 100, n=10**6), "n_experts x alphas must be at most 33554432, got 1000000 x 100"),
        (lambda: LearnAlpha(2, doubling=True).run([[0.0, 0.0]], alpha_weights=True), "alpha_weights must be False"),
        (lambda: FixedShare(2, 0.1).run([[0.0, 1.0]], alpha_weights=True), "alpha_weights must be False"),
        (lambda: StaticExpert(2).update([1j, 0.0]), r"losses must be an array of numbers, got \[1j, 0.0\]"),
        (lambda: StaticExpert(2).update(np.array([1j, 0.0])), "losses must be an array of numbers, got"),
        (lambda: StaticExpert(2).update(MASKED), "got 'MaskedArray'"),
        (lambda: StaticExpert(2).run(MASKED[None]), "got 'MaskedArray'"),
        (lambda: StaticExpert(2).run([[1.0], [1.0, 2.0]]), "losses must be an array of numbers, got rows of several"),
        (lambda: StaticExpert(2).run([[0.1, 0.2], [0.3, np.nan]]), "got nan in round 1, expert 1"),
        (lambda: StaticExpert(2).run([0.1, 0.2]), r"\(T, 2\), got \(2,\)"),
        (lambda: StaticExpert(2).update([0.1]), r"losses must have shape \(2,\), got \(1,\)"),
        (lambda: StaticExpert(2).update([-0.1, 0.1]), r"must lie in \[0, inf\] \(or pass signed=True\), got -0.1"),
        (lambda: FixedShare(2, 0.1, signed=True).update([-np.inf, 0.0]), "must not be NaN or -inf, got -inf"),
        (lambda: StaticExpert(2).update([0.1, 0.2], [2, 0]), r"awake must be boolean of shape \(2,\)"),
        (lambda: Squint(2, loss_range=0.0), "loss_range must be positive and finite, got 0.0"),
        (lambda: Squint(2).update([0.5, 1.5]), "losses must be at most loss_range = 1, got 1.5"),
        (lambda: Squint(2, loss_range=1e9).update([np.inf, 0]), "losses must be finite for Squint, got inf"),
        (lambda: AdaHedge(2).update([0.5, np.inf]), "losses must be finite for AdaHedge, got inf"),
        (lambda: NormalHedge(2).update([0.5, np.inf]), "losses must be finite for NormalHedge, got inf"),
        (lambda: lpsm.Combiner(10**9), "n_experts must be at most 1048576, got 1000000000"),
        (lambda: lpsm.Combiner(2, quantile="x"), "quantile must be a number, got 'x'"),
        (grid(), "give either horizon or delta"),
        (grid(delta=0.1, horizon=5), "either horizon or delta"),
        (grid(delta=0.0), "delta must be positive and finite, got 0.0"),
        (grid(delta=float("nan")), "delta must be positive and finite, got nan"),
        (grid(delta=1e-300), "delta must be at least 5e-09 and finite, got 1e-300"),
        (grid(horizon=0), "horizon must be a whole number of rounds, at least 1 and at most 100000000, got 0"),
        (grid(horizon=10**18), "horizon must be a whole .* at most 100000000, got 1000000000000000000"),
        (grid(horizon=10, size=3), "size=3"),
        (grid(kind="chebyshev"), 'kind "chebyshev" takes size alone'),
        (grid(kind="chebyshev", size=0), "size must be an integer of at least 1, got 0"),
        (grid(kind="chebyshev", size=10**12), "size must be at most 1000000, got 1000000000000"),
        (grid(kind="chebishev", size=3), "kind must be one of kl, chebyshev, got .*; did you mean .chebyshev."),
        (lambda: doubling_regret(0), "n_rounds must be an integer of at least 1"),
        (lambda: doubling_regret(10**18), "n_rounds must be at most 100000000, got 1000000000000000000"),
        (lambda: worst_divergence([]), r"alphas must lie in \[0, 1\] and be at least one, got \[\]"),
        (lambda: worst_divergence([1.5]), r"alphas must lie in \[0, 1\].*, got \[1.5\]"),
        (lambda: online.play(3, [], int), "learner must have the methods decide and learn, got 3"),
        (lambda: online.play(make("sop", 3), [], 3), "label must have the methods __call__, got 3"),
        (lambda: online.Ledger().record("x"), "loss must be a number, got 'x'"),
        (lambda: polling.beacons("x"), "time_ms must be a number, got 'x'"),
        (lambda: polling.PollingConfig(times_ms=[10**400]), "times_ms must be finite .*, got an integer of 1329 bits"),
        (lambda: schedules.table(["x"], 100), "schedules must be of the type Schedule, got 'x'"),
        (lambda: schedules.Schedule(stride="x"), "stride must be an integer of at least 0, got 'x'"),
        (lambda: randomness.generator("x", 0), "seed must be an integer of at least 0, got 'x'"),
        (lambda: alpha_slopes([[1.0, 2.0]], [[0.1]]), r"alpha must lie in \[0, 1\], shape \(m,\), got"),
    ],
)
def test_what_is_not_taken_is_named_with_its_rule_and_value(call, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        call()
    assert "\n" not in str(error.value)


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


def test_the_library_opens_no_files_but_those_of_its_machine_code_and_draws_nothing():
    for path in Path(lpsm.__file__).parent.rglob("*.py"):
        called = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        methods = {call.attr for call in called if isinstance(call, ast.Attribute)}
        opens = any(isinstance(call, ast.Name) and call.id == "open" for call in called)
        assert not methods & DRAWING, path
        assert path.name == "_compile.py" or not (opens or methods & OPENING), path


@pytest.mark.parametrize("learner", [AdaHedge(2), Squint(2), NormalHedge(2), VariableShare(2, 0.1)])
def test_a_report_of_a_learner_of_whom_nothing_is_proved_here_is_refused(learner):
    losses = np.random.default_rng(0).random((20, 2))
    for given in ((learner.run(losses),), (learner, losses)):
        with pytest.raises(ValueError, match=f"run must be of a learner .*, got one of {type(learner).__name__}"):
            bounds.report(*given)


def test_a_report_needs_the_losses_of_the_run():
    run = FixedShare(2, 0.1).run(np.zeros((20, 2)), weights=False)
    for bare in (run, type(run)(loss=run.loss)):
        with pytest.raises(ValueError, match=r"run must carry its losses .* \(weights=True\)"):
            bounds.report(bare)
