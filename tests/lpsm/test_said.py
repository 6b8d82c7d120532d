"""What the library says of itself, and what it says to those who give it what it does not take."""

import ast
from pathlib import Path

import numpy as np
import pytest

import lpsm
from lpsm import FixedShare, LearnAlpha, alpha_grid, bounds
from lpsm.experts import AdaHedge, NormalHedge, Squint, VariableShare, worst_divergence

ROOM = Path(lpsm.__file__).parent
OPENING = {"read_text", "write_text", "read_bytes", "write_bytes", "savez", "savetxt", "loadtxt", "to_csv"}
DRAWING = {"plot", "subplots", "imshow", "savefig"}


def test_the_library_opens_no_files_but_those_of_its_machine_code_and_draws_nothing():
    for path in ROOM.rglob("*.py"):
        called = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        methods = {call.attr for call in called if isinstance(call, ast.Attribute)}
        opens = any(isinstance(call, ast.Name) and call.id == "open" for call in called)
        assert not methods & DRAWING, path
        assert path.name == "_compile.py" or not (opens or methods & OPENING), path


@pytest.mark.parametrize("learner", [AdaHedge(2), Squint(2), NormalHedge(2), VariableShare(2, 0.1)])
def test_a_report_of_a_learner_of_whom_nothing_is_proved_here_is_refused(learner):
    losses = np.random.default_rng(0).random((20, 2))
    with pytest.raises(ValueError, match=f"run must be of a learner .*, got one of {type(learner).__name__}"):
        bounds.report(learner.run(losses))
    with pytest.raises(ValueError, match="run must be of a learner"):
        bounds.report(learner, losses)


def test_a_report_needs_the_losses_of_the_run():
    run = FixedShare(2, 0.1).run(np.zeros((20, 2)), weights=False)
    with pytest.raises(ValueError, match=r"run must carry its losses .* \(weights=True\)"):
        bounds.report(run)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FixedShare(5, "x"), "alpha must be a number, got 'x'"),
        (lambda: FixedShare(5, 1.5), r"alpha must lie in \[0, 1\], got 1.5"),
        (lambda: FixedShare("5", 0.5), "n_experts must be an integer of at least 1, got '5'"),
        (lambda: FixedShare(2, 0.5, eta=0.0), "eta must be positive and finite, got 0.0"),
        (lambda: FixedShare(2, 0.5, loss_range=-1.0), "loss_range must be positive, got -1.0"),
        (lambda: FixedShare(2, 0.5, prior=5.0), r"prior must have shape \(2,\), got \(\)"),
        (lambda: LearnAlpha(5, 100), r"alphas must have shape \(m,\) with m >= 1, got 100"),
        (lambda: LearnAlpha(5, [0.1, "x"]), "alphas must be an array of numbers"),
        (lambda: worst_divergence([]), r"alphas must lie in \[0, 1\] and be at least one, got \[\]"),
        (lambda: worst_divergence([1.5]), r"alphas must lie in \[0, 1\].*, got \[1.5\]"),
        (lambda: alpha_grid(horizon=10, kind="chebishev"), "kind must be one of kl, .*; did you mean 'chebyshev'"),
    ],
)  # fmt: skip
def test_what_is_not_taken_is_named_with_its_rule_and_value(call, message):
    with pytest.raises((ValueError, TypeError), match=message) as error:
        call()
    assert "\n" not in str(error.value)
