"""What is kept of a run in a world, fronts at equal slowdown, and claims that a record can refute."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netsim
from experiments.papers.kit import Setup
from experiments.papers.ours import worlds
from experiments.papers.ours.browsing import OF_LPSM2, sessions_of
from experiments.papers.ours.lpsm2 import FIRST_SEED, ON_THE_WEB
from experiments.papers.predicates import at_least, at_most
from experiments.papers.registry import all_experiments
from tests.experiments.makers import sessions
from traces.records import Page
from traces.traffic import Message, Traffic

points = st.lists(st.tuples(st.floats(1, 3), st.floats(1, 9)), min_size=1, max_size=8)


@given(points, st.floats(0.5, 4))
def test_a_front_is_between_its_points_never_rises_and_is_beaten_by_none_of_them(found, at):
    x, y = np.array(found).T
    energy = worlds.equal_energy(x, y, at)
    assert y.min() <= energy <= y.max()
    assert worlds.equal_energy(x, y, at + 0.1) <= energy + 1e-12
    if at >= x.min():
        least_here = y[x <= at].min()
        assert energy <= least_here + 1e-9


def test_a_policy_is_compared_with_a_front_on_its_own_seed():
    rows = []
    for seed, scale in ((0, 1.0), (1, 10.0)):
        for policy, slow, joules in (("a", 1.0, 4.0), ("b", 1.2, 2.0), ("mine", 1.1, 1.5)):
            rows.append(("t", f"seed-{seed}", policy, slow, joules * scale))
    record = {"runs": pd.DataFrame(rows, columns=["traffic", "replication", "policy", "slowdown_mean", "total_j"])}
    assert worlds.at_equal(record, "t", "mine", ["a", "b"])[1].tolist() == pytest.approx([3.0, 30.0])
    for percent, slowdown, holds in ((49.0, 1.1, True), (51.0, 1.05, False)):  # it is 50 % below, at 1.1
        below = worlds.spared(iter([("t", "mine", "others", ["a", "b"], percent)]))
        assert [at_least(below)(record).holds for _ in range(2)] == [holds] * 2  # a measure is taken again and again
        asked = worlds.over_asked("slowdown_mean", [("t", "mine", slowdown)])
        assert at_most(asked, limit=1.0)(record).holds == holds


def test_what_is_measured_is_what_the_documentation_defines():
    pages = [Page("s0", 300, 400_000, (), 0.0, 1.0), Page("s1", 300, 400_000, (), 0.0, 2.0), Page("w", 300, 9000)]
    traffic = Traffic(pages, ["0"] * 3, np.array([1.9, 2.6, np.nan]), np.array([0, 0, -1]), [Message(0.55, 800)])
    world = worlds.World(traffic, [netsim.ServerDelay()] * 3, 0)
    base, slow = world.browse("none"), world.browse("psm:200")
    found = worlds.measure(slow, base, world)
    assert found["slowdown_mean"] == pytest.approx((slow.latency_s / base.latency_s).mean())
    assert found["slowdown_all"] == pytest.approx(slow.latency_s.sum() / base.latency_s.sum())
    assert found["added_s_mean"] == pytest.approx(slow.messages.delay_s[0] - base.messages.delay_s[0])
    done = (slow.pages.issue_s + slow.pages.latency_s).to_numpy()
    late = np.maximum(done[:2] - [1.9, 2.6], 0.0)
    assert late[0] > 0
    assert found["stall_s"] == pytest.approx(late.max())
    assert found["stalls"] == (2 if late[1] > late[0] else 1)
    assert (found["pages"], found["messages"]) == (3, 1)
    assert np.isnan(found["page_awake_j"])  # a message wakes up, and no page then loads
    assert found["limit_j"] < worlds.measure(base, base, world)["total_j"] == found["base_j"]


def test_a_task_browses_one_world_under_every_policy_and_a_learning_curve_has_its_mean():
    world = {"traffic": "web-lognormal", "seconds": 1100.0, "seed": FIRST_SEED}
    task = {**world, "policies": ["none", "psm:100", "lpsm2:1.05"]}
    rows = ON_THE_WEB.run(task)["runs"]
    assert [row["policy"] for row in rows] == ["none", "psm:100", "lpsm2:1.05"]
    assert rows[0]["slowdown_mean"] == 1.0
    assert rows[0]["page_awake_j"] < rows[0]["total_j"]
    assert json.dumps(ON_THE_WEB.run(task)["runs"]) == json.dumps(rows)  # NaN is equal to itself in writing
    drawn = worlds.world_of(**world)
    curve = worlds.blocks({"static": drawn.browse("psm:100")}, drawn.browse("none"), "web-lognormal", FIRST_SEED)
    assert [(row["policy"], row["first_page"]) for row in curve] == [("static", 0), ("static", 10)]
    assert np.mean([row["slowdown"] for row in curve]) == pytest.approx(rows[1]["slowdown_mean"])


def test_the_radio_is_the_one_that_a_world_names():
    task = {"seconds": 300.0, "seed": 8900, "policies": ["psm:100"]}
    (ordinary,), (dear,) = (worlds.runs(**task, traffic=kind) for kind in ("web-lognormal", "esp32-c3"))
    assert dear["total_j"] < ordinary["total_j"]  # a radio of our time needs a fraction of that


@pytest.mark.parametrize(("name", "first", "count"), [
    ("lpsm2", 5000, 20), ("lpsm2-traffic", 5000, 20), ("lpsm3", 8000, 20), ("lpsm3-worlds", 100, 10)
])  # fmt: skip
def test_the_seeds_of_the_studies_are_none_that_anything_was_chosen_on(name, first, count):
    sweep = all_experiments()[f"ours/{name}"].sweep
    assert {task["seed"] for task in sweep(Setup()).values()} == set(range(first, first + count))
    assert {task["seed"] for task in sweep(Setup(size="smoke", seed=3)).values()} == {first + 3, first + 4}


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
