"""What is learned by LPSM2: regrets from its rounds, and the best fixed schedules in hindsight."""

import numpy as np
import pytest

from experiments.papers.ours import lpsm2 as learning
from experiments.papers.ours.worlds import world_of
from netsim.policies.lpsm2 import CONTEXTS
from netsim.policies.lpsm2_record import Round


def a_round(context, costs, chosen, *, delay_s=(0.0, 0.0, 0.0), waiting=1):
    """What schedules cost without their delay, and the delay; priced at nothing."""
    none = np.zeros(3, dtype=np.int64)
    return Round(
        context=context, start_ns=0, end_ns=1, arrived=True, waiting=waiting, price_w=0.0, chosen=chosen,
        costs=np.array(costs, dtype=float), awake_ns=none, beacons=none, wakeups=none,
        delay_ns=np.round(1e9 * np.array(delay_s)).astype(np.int64),
    )  # fmt: skip


def test_regrets_are_those_of_every_sequence_of_schedules_tried():
    rng = np.random.default_rng(0)
    costs = rng.exponential(1.0, (7, 3))
    [row] = learning.regrets_of([a_round("T", row, 0) for row in costs])
    paths = np.array(np.meshgrid(*[range(3)] * 7)).reshape(7, -1).T
    totals = costs[np.arange(7), paths].sum(axis=1)
    segments = 1 + (np.diff(paths, axis=1) != 0).sum(axis=1)
    assert row["own"] == pytest.approx(costs[:, 0].sum())
    assert row["best_1"] == pytest.approx(costs.sum(axis=0).min())
    for k in (2, 5):
        assert row[f"best_{k}"] == pytest.approx(totals[segments <= k].min())
    assert row["best_20"] == pytest.approx(costs.min(axis=1).sum()) == row["least"]
    assert row["least"] <= row["mixture"] <= min(row[f"bound_{k}"] for k in learning.SEGMENTS)


def test_the_best_fixed_schedule_depends_on_the_price_of_a_second_and_on_who_waits():
    rounds = [a_round("W1", [0.1, 0.2, 0.0], 0, delay_s=(0.0, 0.0, 1.0))] * 2
    rounds += [a_round("W4", [0.1, 0.2, 0.0], 0, delay_s=(0.0, 0.0, 0.1), waiting=4)]
    place = {context: k for k, context in enumerate(CONTEXTS)}
    cheap, middle, dear = (learning.best_schedules(rounds, price) for price in (0.0, 2.0, 60.0))
    assert [found[place["W1"]] for found in (cheap, middle, dear)] == [2, 0, 0]
    assert [found[place["W4"]] for found in (cheap, middle, dear)] == [2, 2, 0]  # 2 x 0.1 / 4 is less than 0.1
    assert [found[place["I"]] for found in (cheap, middle, dear)] == [2, 0, 0]  # no round: what is best over all


def test_fixed_schedules_follow_theirs_and_learn_nothing():
    task = {"traffic": "web-lognormal", "seconds": 300.0, "seed": 5000}
    world = world_of(**task)
    hold = world.browse(learning.fixed_schedules((6,) * 7, "held"))  # awake for 1.6 s of every wait
    doze = world.browse(learning.fixed_schedules((0,) * 7, "every beacon"))
    assert hold.policy == "held"
    assert hold.latency_s.mean() < doze.latency_s.mean()
    assert len(set(map(tuple, (learner.weights for learner in hold.final_policy._learners)))) == 1
