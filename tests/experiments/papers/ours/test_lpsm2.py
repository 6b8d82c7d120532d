"""The study of LPSM2: fronts at equal slowdown, what is measured of a run, and claims that a record can refute."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netsim
from experiments.papers.kit import Setup
from experiments.papers.ours import fronts
from experiments.papers.ours import lpsm2 as learning
from experiments.papers.ours.browsed import World, blocks, measure, world_of
from experiments.papers.ours.browsing import OF_LPSM2, sessions_of
from experiments.papers.ours.lpsm2 import FIRST_SEED, ON_THE_WEB
from experiments.papers.registry import all_experiments
from netsim.policies.lpsm2 import CONTEXTS
from netsim.policies.lpsm2_record import Round
from tests.experiments.makers import sessions
from traces.records import Page
from traces.traffic import Message, Traffic

points = st.lists(st.tuples(st.floats(1, 3), st.floats(1, 9)), min_size=1, max_size=8)


@given(points, st.floats(0.5, 4))
def test_a_front_is_between_its_points_never_rises_and_is_beaten_by_none_of_them(found, at):
    x, y = np.array(found).T
    energy = fronts.equal_energy(x, y, at)
    assert y.min() <= energy <= y.max()
    assert fronts.equal_energy(x, y, at + 0.1) <= energy + 1e-12
    if at >= x.min():
        least_here = y[x <= at].min()
        assert energy <= least_here + 1e-9


def test_a_policy_is_compared_with_a_front_on_its_own_seed():
    rows = []
    for seed, scale in ((0, 1.0), (1, 10.0)):
        for policy, slow, joules in (("a", 1.0, 4.0), ("b", 1.2, 2.0), ("mine", 1.1, 1.5)):
            rows.append(("t", f"seed-{seed}", policy, slow, joules * scale))
    record = {"runs": pd.DataFrame(rows, columns=["traffic", "replication", "policy", "slowdown_mean", "total_j"])}
    assert fronts.at_equal(record, "t", "mine", ["a", "b"]).tolist() == pytest.approx([3.0, 30.0])
    claim = fronts.saving_claim("t", "mine", ["a", "b"], "the others", 49.0)
    assert claim.check(record).holds
    assert not fronts.saving_claim("t", "mine", ["a", "b"], "the others", 51.0).check(record).holds
    assert not fronts.limited("t", "mine", 1.05).check(record).holds
    assert fronts.limited("t", "mine", 1.1).check(record).holds


def test_what_is_measured_is_what_the_documentation_defines():
    pages = [Page("s0", 300, 400_000, (), 0.0, 1.0), Page("s1", 300, 400_000, (), 0.0, 2.0), Page("w", 300, 9000)]
    traffic = Traffic(pages, ["0"] * 3, np.array([1.9, 2.6, np.nan]), np.array([0, 0, -1]), [Message(0.55, 800)])
    world = World(traffic, [netsim.ServerDelay()] * 3, 0)
    base, slow = world.browse("none"), world.browse("psm:200")
    found = measure(slow, base, world)
    assert found["slowdown_mean"] == pytest.approx((slow.latency_s / base.latency_s).mean())
    assert found["added_s_mean"] == pytest.approx(slow.messages.delay_s[0] - base.messages.delay_s[0])
    done = (slow.pages.issue_s + slow.pages.latency_s).to_numpy()
    late = np.maximum(done[:2] - [1.9, 2.6], 0.0)
    assert late[0] > 0
    assert found["stall_s"] == pytest.approx(late.max())
    assert found["stalls"] == (2 if late[1] > late[0] else 1)
    assert (found["pages"], found["messages"], found["segments"]) == (3, 1, 2)
    assert np.isnan(found["page_awake_j"])  # a message wakes up, and no page then loads
    assert found["limit_j"] < measure(base, base, world)["total_j"]


def test_a_task_browses_one_world_under_every_policy_and_a_learning_curve_has_its_mean():
    world = {"traffic": "web-lognormal", "seconds": 1100.0, "seed": FIRST_SEED}
    task = {**world, "policies": ["none", "psm:100", "lpsm2:1.05"]}
    rows = ON_THE_WEB.run(task)["runs"]
    assert [row["policy"] for row in rows] == ["none", "psm:100", "lpsm2:1.05"]
    assert rows[0]["slowdown_mean"] == 1.0
    assert rows[0]["page_awake_j"] < rows[0]["total_j"]
    assert json.dumps(ON_THE_WEB.run(task)["runs"]) == json.dumps(rows)  # NaN is equal to itself in writing
    drawn = world_of(**world)
    curve = blocks({"static": drawn.browse("psm:100")}, drawn.browse("none"), "web-lognormal", FIRST_SEED)
    assert [(row["policy"], row["first_page"]) for row in curve] == [("static", 0), ("static", 10)]
    assert np.mean([row["slowdown"] for row in curve]) == pytest.approx(rows[1]["slowdown_mean"])


def test_the_seeds_of_the_study_are_none_that_anything_was_chosen_on():
    for name in ("ours/lpsm2", "ours/lpsm2-traffic"):
        sweep = all_experiments()[name].sweep
        assert min(task["seed"] for task in sweep(Setup()).values()) == FIRST_SEED == 5000
        assert {task["seed"] for task in sweep(Setup(size="smoke", seed=3)).values()} == {5003, 5004}


def test_recorded_sessions_are_drawn_from_those_long_enough_and_browsed_by_name(tmp_path):
    folder = sessions(tmp_path / "trace", 6, pages=25)
    sessions(tmp_path / "short", 3, pages=4)
    names = sessions_of(folder, 3, 0)
    assert len(names) == 3
    assert names == sessions_of(folder, 3, 0)
    with pytest.raises(ValueError, match="must hold a session of 20 to 200 pages"):
        sessions_of(tmp_path / "short", 3, 0)
    task = {
        "folder": str(tmp_path), "trace": "trace", "sessions": names[:2], "servers": {"at once": "0", "slow": "0.5"},
        "policies": ["none", "psm:100"], "seed": 5000,
    }  # fmt: skip
    rows = OF_LPSM2.run(task)["runs"]
    assert [(row["replication"], row["traffic"], row["policy"]) for row in rows] == [
        (name, traffic, policy)
        for name in names[:2]
        for traffic in ("at once", "slow")
        for policy in ("none", "psm:100")
    ]


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
