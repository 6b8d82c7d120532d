"""The best fixed schedules in hindsight, from the rounds of LPSM2."""

import numpy as np

from experiments.papers.ours import lpsm2 as learning
from experiments.papers.ours.worlds import world_of
from netsim.policies.lpsm2 import CONTEXTS, Round


def a_round(context, costs, chosen, *, delay_s=(0.0, 0.0, 0.0), waiting=1):
    """What schedules cost without their delay, and the delay; priced at nothing."""
    none = np.zeros(3, dtype=np.int64)
    return Round(
        context=context, start_ns=0, end_ns=1, arrived=True, waiting=waiting, price_w=0.0, chosen=chosen,
        costs=np.array(costs, dtype=float), awake_ns=none, beacons=none, wakeups=none,
        delay_ns=np.round(1e9 * np.array(delay_s)).astype(np.int64),
    )  # fmt: skip


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
    assert (
        len(set(map(tuple, (learner.weights for learner in hold.final_policy.learners)))) == 2
    )  # those of waits, and of silence
