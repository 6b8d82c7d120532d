"""Loss processes have the property their names claim, exactly where it is claimed exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import FixedShare, LearnAlpha, StaticExpert, alpha_grid, hindsight, synthetic

seeds = st.integers(0, 2**32)
sizes = st.tuples(st.integers(1, 40), st.integers(1, 5))


def generator(seed):
    return np.random.default_rng(seed)


def make(name, rng, rounds, n):
    return {
        "iid": lambda: synthetic.iid(rng, rounds, n),
        "piecewise": lambda: synthetic.piecewise(rng, rounds, n, segments=1),
        "fast-switching": lambda: synthetic.fast_switching(rng, rounds, n),
        "drifting": lambda: synthetic.drifting(rng, rounds, n),
        "adversarial": lambda: synthetic.adversarial(StaticExpert(n), rounds),
    }[name]()


@settings(deadline=None)
@given(st.sampled_from(synthetic.PROCESSES), seeds, sizes)
def test_every_process_gives_legal_losses_and_the_expert_of_least_mean(name, seed, size):
    found = make(name, generator(seed), *size)
    assert found.losses.shape == found.means.shape == size
    assert (found.losses >= 0.0).all()
    assert np.isfinite(found.losses).all()
    np.testing.assert_array_equal(found.best, found.means.argmin(axis=1))


@given(seeds, st.integers(2, 60), st.integers(2, 5), st.data())
def test_piecewise_losses_have_exactly_the_segments_asked_for(seed, rounds, n, data):
    segments = data.draw(st.integers(1, rounds))
    found = synthetic.piecewise(generator(seed), rounds, n, segments=segments)
    assert np.count_nonzero(np.diff(found.best)) == segments - 1
    assert set(np.unique(found.means)) == {0.1, 1.0}


def test_fast_switching_changes_at_its_rate_and_visits_all_experts_alike():
    found = synthetic.fast_switching(generator(1), 40_000, 4, rate=0.7)
    switches = np.count_nonzero(np.diff(found.best))
    assert switches / 39_999 == pytest.approx(0.7, abs=4 * np.sqrt(0.7 * 0.3 / 40_000))
    np.testing.assert_allclose(np.bincount(found.best) / 40_000, 0.25, atol=0.01)


@given(seeds, sizes, st.floats(0.0, 1.0))
def test_drifting_means_move_by_exactly_one_step_except_at_the_walls(seed, size, step):
    found = synthetic.drifting(generator(seed), *size, step=step, scale=2.0)
    moved = np.abs(np.diff(found.means, axis=0)) / 2.0
    assert (found.means >= 0.0).all()
    assert (found.means <= 2.0).all()
    assert (moved <= step + 1e-12).all()
    near_wall = (np.minimum(found.means, 2.0 - found.means) / 2.0 < step + 1e-12)[1:]
    assert (near_wall | (np.abs(moved - step) < 1e-12)).all()
    assert (found.losses <= 2.0 * found.means + 1e-12).all()


@pytest.mark.parametrize(
    "learner",
    [StaticExpert(4), FixedShare(4, 0.2), LearnAlpha(4, alpha_grid(horizon=200))],
    ids=lambda x: type(x).__name__,
)
def test_the_adversary_makes_the_learner_lose_in_every_round_and_leaves_a_good_expert(learner):
    run = type(learner).from_state(learner.state())
    scale, rounds, n = 1.5, 200, 4
    losses = synthetic.adversarial(run, rounds, scale=scale).losses
    played = learner.run(losses)
    np.testing.assert_array_equal(losses.argmax(axis=1), played.weights.argmax(axis=1))
    assert (played.loss >= -np.log(1 - (1 - np.exp(-scale)) / n) - 1e-12).all()
    assert hindsight.best_expert(losses).loss <= rounds * scale / n
