"""What every learner with a state keeps to, whatever it learns: one test a promise, over a registry of all of them."""

import re
from itertools import pairwise

import numpy as np
import pytest

import lpsm
from lpsm import Combiner, FixedShare, LearnAlpha, MarkovShare, StaticExpert
from lpsm.online import Ledger
from tests.tables import cases_of, each, near, value_error

N, ROUNDS = 3, 70  # beyond the first epoch of 64 rounds
CHAIN = [[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.5, 0.5]]
LEARNERS = re.split(
    "; |\n",
    """\
StaticExpert(N, prior=[0.5, 0.3, 0.2]); FixedShare(N, 0.1); FixedShare(N, 1.0, signed=True)
FixedShare(N, 0.1, eta=3.0, loss_range=4.0); MarkovShare(CHAIN, eta=0.5); VariableShare(N, 0.2, eta=2.0)
LearnAlpha(N, alpha_grid(horizon=ROUNDS)); LearnAlpha(N, doubling=True)
LearnAlpha(N, [0.0, 1e-200, 0.1, 0.5, 1.0], alpha_prior=[1, 2, 3, 4, 5], eta=2.0)
AdaHedge(N); Squint(N, loss_range=4.0); NormalHedge(N, signed=True)""",
)
MAKES = [lambda text=text: eval(text, vars(lpsm.experts) | globals()) for text in LEARNERS]
COMBINERS = {"learn-alpha": lambda: Combiner(N), "one rate": lambda: Combiner(N, alphas=0.0)}
every = pytest.mark.parametrize("make", MAKES, ids=LEARNERS)
every_combiner = pytest.mark.parametrize("make", COMBINERS.values(), ids=COMBINERS)


def world(seed=0):
    """Losses, and who is awake; one round in which nobody is."""
    rng = np.random.default_rng(seed)
    awake = rng.random((ROUNDS, N)) < 0.7
    awake[9] = False
    return np.minimum(rng.exponential(size=(ROUNDS, N)), 4.0).astype(np.float32).astype(float), awake


def table(seed=0):
    """Forecasts of which some are asleep, and outcomes of which some are not known."""
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(size=ROUNDS))
    forecasts = y[:, None] + rng.normal(size=(ROUNDS, N)) * [0.3, 1.0, 2.0]
    return np.where(rng.random((ROUNDS, N)) < 0.2, np.nan, forecasts), np.where(rng.random(ROUNDS) < 0.1, np.nan, y)


def same(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@every
@cases_of("sleep", "False ; True")
def test_a_run_is_its_rounds_and_its_chunks_of_any_memory_with_a_saved_state_between(make, sleep, tmp_path):
    losses, awake = world()
    kept, mask = losses.copy(), awake if sleep else None
    whole, single, parts = make(), make(), make()
    run = whole.run(losses, mask)
    weights, loss = [], []
    for t, row in enumerate(losses):
        weights.append(single.weights)
        assert single.predict(row) == near(weights[-1] @ row)
        asleep_too = (np.where(mask[t], row, np.nan), mask[t].astype(int)) if sleep else (row.astype(np.float32),)
        loss.append(single.update(*asleep_too))
    same(run.loss, loss)
    same(run.weights, weights)
    same(run.weights.sum(axis=1), 1.0)
    if not sleep:
        same(run.loss, -np.log((run.weights * np.exp(-whole.eta * losses)).sum(axis=1)) / whole.eta)
    read_only = losses.copy()
    read_only.flags.writeable = False
    forms = (read_only, losses.astype(np.float32), losses, np.asfortranarray(losses), losses.tolist(),
             np.repeat(losses, 2, axis=0)[::2])  # fmt: skip
    cuts = (0, 0, 1, 20, 20, 40, ROUNDS)
    for rows, save, (start, end) in zip(forms, (dict, lpsm.to_json, np.savez) * 2, pairwise(cuts), strict=True):
        before, state = parts, parts.state()
        if save is np.savez:
            save(tmp_path / "state.npz", **state)
            with np.load(tmp_path / "state.npz") as file:
                parts = lpsm.from_state(file)
        else:
            parts = lpsm.from_state(save(state))
        assert (type(parts), repr(parts)) == (type(before), repr(before))
        chunk = parts.run(rows[start:end], None if mask is None else mask[start:end])
        again = before.copy().run(rows[start:end], None if mask is None else mask[start:end])
        assert chunk.loss.tolist() == again.loss.tolist()
        same(chunk.loss, run.loss[start:end])
        same(chunk.weights, run.weights[start:end])
    for learner in (single, parts):
        same(learner.weights, whole.weights)
    assert losses.tolist() == kept.tolist()
    assert repr(run).startswith("ExpertRun(70 rounds of ")
    assert len(repr(run)) < 120
    with value_error(r"forecasts must have shape \(3, ...\), got \(2,\)"):
        whole.predict([1.0, 2.0])


@every
def test_a_record_does_not_change_with_the_arrays_it_was_made_from(make):
    for rounds in (5, ROUNDS):
        losses, awake = (array[:rounds].copy() for array in world())
        run = make().run(losses, awake)
        losses[:] = 1.0
        awake[:] = True
        again = make().run(*(array[:rounds] for array in world()))
        assert run.weights.tolist() == again.weights.tolist()
        assert run.played_loss.tolist() == again.played_loss.tolist()
        assert make().run(losses, weights=False).losses is None


@every
def test_what_is_not_legal_changes_nothing(make):
    losses, _ = world()
    learner = make()
    learner.run(losses[:7])
    before = lpsm.to_json(learner.state())
    for bad in (np.full(N, np.nan), np.zeros(N + 1), np.full((1, N), -np.inf), ["a"] * N):
        for asked, call in ((bad, learner.update), ([bad, bad], learner.run)):
            with pytest.raises((ValueError, TypeError), match="losses must"):
                call(asked)
    with value_error("awake must hold"):
        learner.update(losses[0], [0.5] * N)
    assert lpsm.to_json(learner.state()) == before


@every
def test_playing_costs_no_less_than_the_mixture_loses_and_no_more_than_hoeffding_allows(make):
    losses, awake = world(1)
    for mask in (None, awake):
        learner = make()
        run = learner.run(losses, mask)
        there = np.ones_like(awake) if mask is None else mask
        part = np.where(there, run.weights, 0.0)
        part /= np.maximum(part.sum(axis=1, keepdims=True), 1e-300)
        same(run.played_loss, (part * losses).sum(axis=1))
        if mask is None or not isinstance(learner, LearnAlpha):  # of whose columns each has its own part awake
            assert (run.played_loss >= run.loss - 1e-12).all()
            assert (run.played_loss <= run.loss + learner.eta * 4.0**2 / 8 + 1e-12).all()


@each(
    "kind, given",
    [(FixedShare, (N, 0.1)), (StaticExpert, (N,)), (LearnAlpha, (N, [0.0, 0.3])), (MarkovShare, (CHAIN,))],
)
@cases_of("eta", "0.1 ; 7.0")
def test_a_learning_rate_is_the_scale_of_the_losses(kind, given, eta):
    losses, awake = world()
    rated, plain = kind(*given, eta=eta).run(losses, awake), kind(*given).run(eta * losses, awake)
    same(rated.loss, plain.loss / eta)
    same(rated.weights, plain.weights)


@every_combiner
def test_a_run_of_a_combiner_is_its_rounds_its_chunks_and_what_is_restored(make):
    forecasts, y = table()
    whole, single, parts = make(), make(), make()
    predictions, weights = whole.run(forecasts, y)
    rounds = []
    for t in range(ROUNDS):
        rounds.append(single.predict(forecasts[t]))
        assert single.update(forecasts[t], y[t]) == near(rounds[-1], nan_ok=True)
    same(predictions, rounds)
    for part in (slice(0, 1), slice(1, 25), slice(25, 25), slice(25, ROUNDS)):
        parts = lpsm.from_state(lpsm.to_json(parts.state()))
        found = parts.run(forecasts[part].astype(forecasts.dtype, order="F"), y[part])
        same(found[0], predictions[part])
        same(found[1], weights[part])
    same(parts.weights, whole.weights)
    assert not weights[np.isnan(forecasts)].any()


@every_combiner
def test_a_combiner_has_no_unit_of_its_own_and_finds_the_forecast_that_is_right(make):
    forecasts, y = table(4)
    predictions, _ = make().run(forecasts, y)
    np.testing.assert_allclose(make().run(8.0 * forecasts, 8.0 * y)[0], 8.0 * predictions, rtol=1e-9)
    forecasts[:, 1] = y
    assert np.nan_to_num(make().run(forecasts, y)[1])[-10:, 1].max() > 0.9


# -- the ledger
def test_a_round_infinite_for_both_leaves_the_regret_unchanged():
    ledger = Ledger([1.0, np.inf, 2.0])
    assert ledger.regret([0.5, np.inf, 0.5]).tolist() == [0.5, 0.5, 2.0]
    assert ledger.regret([0.5, 0.0, 0.5])[-1] == np.inf
