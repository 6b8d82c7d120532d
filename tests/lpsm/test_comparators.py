"""AdaHedge, Squint and NormalHedge: their definitions in more digits, the bounds of their authors, sleepers."""

from functools import partial
from math import log, sqrt

import numpy as np
import pytest

from lpsm.experts import AdaHedge, NormalHedge, Squint, VariableShare
from tests.oracles.experts import ada_hedge_reference, normal_hedge_weights, regrets_by, squint_weights


@pytest.mark.parametrize(
    ("learner", "definition", "rounds", "examples", "near"),
    [(AdaHedge, ada_hedge_reference, 25, 20, 1e-9), (Squint, partial(regrets_by, squint_weights), 12, 6, 1e-10),
     (NormalHedge, partial(regrets_by, normal_hedge_weights), 30, 20, 1e-9)],
)  # fmt: skip
def test_weights_are_those_of_the_definition_in_more_digits(learner, definition, rounds, examples, near):
    """In fifty digits, by numerical integration over the learning rate, and by bisection."""
    for seed in range(examples):
        rng = np.random.default_rng(seed)
        losses = rng.random((int(rng.integers(1, rounds + 1)), int(rng.integers(2, 5))))
        losses *= 1.0 if learner is Squint else rng.choice([1e-3, 1.0, 50.0])
        made = learner(losses.shape[1])
        np.testing.assert_allclose([*made.run(losses).weights, made.weights], definition(losses), atol=near)


@pytest.mark.parametrize("regret", [-300.0, -25.0, -3.0, -1e-9, 0.0, 0.1, 3.0, 19.9, 25.0, 300.0])
@pytest.mark.parametrize("variance", [0.0, 1e-9, 9.9e-3, 1.1e-2, 1.0, 30.0, 5000.0])
def test_squints_evidence_is_right_for_large_and_small_regrets(regret, variance):
    learner = Squint(2)
    learner._regret[:] = [regret, 0.5]
    learner._variance[:] = [variance, 2.0]
    expected = squint_weights([regret, 0.5], [variance, 2.0])
    np.testing.assert_allclose(learner.weights, expected, rtol=1e-8, atol=1e-12)


def test_a_sleeper_keeps_its_regret_and_its_loss_is_not_looked_at():
    for learner in (AdaHedge(3), Squint(3), NormalHedge(3), VariableShare(3, 0.1)):
        learner.update([0.1, 0.9, 0.4])
        before = learner.state().get("regret", np.zeros(3))[2]
        learner.update([0.2, 0.2, np.nan], [True, True, False])
        assert np.isfinite(learner.weights).all()
        assert learner.update([np.nan] * 3, [False] * 3) == 0.0
        assert isinstance(learner, AdaHedge) or learner.state().get("regret", np.zeros(3))[2] == before


@pytest.mark.parametrize("seed", range(6))
def test_regrets_stay_below_the_bounds_of_the_authors(seed):
    n, rounds, delta = 4, 400, 0.2
    rng = np.random.default_rng(seed)
    losses = rng.random((rounds, n))
    losses[:, 0] *= rng.choice([0.2, 0.9, 1.0])
    best = losses.sum(axis=0).min()
    ada, normal = ((make(n).run(losses).weights * losses).sum() - best for make in (AdaHedge, NormalHedge))
    assert ada <= 2 * sqrt(best * (rounds - best) / rounds * log(n)) + 16 / 3 * log(n) + 2
    square = 3 * (1 + 50 * delta) * rounds + 16 * log(n) ** 2 / delta * (10.2 / delta**2 + log(n))
    assert normal <= sqrt((1 + log(n)) * square)
    assert normal <= 2 * sqrt(rounds * log(n))  # far below it, in fact
