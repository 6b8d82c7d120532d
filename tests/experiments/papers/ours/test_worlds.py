"""What is browsed: one world under every policy, policies that are made for it, and what is kept of a run."""

import json

import numpy as np

import netsim
from experiments.papers.ours import worlds
from experiments.papers.ours.worlds import OWN, PARTS, World, runs, sessions, world_of
from netsim.policies.lpsm2 import CONTEXTS, Round
from netsim.policies.lpsm3 import Lpsm3
from netsim.sleep_planning.hazards import N_BINS
from tests.experiments.makers import sessions as made
from tests.tables import near, unequal, value_error
from traces.records import Message, Page
from traces.traffic import Traffic

MESSAGES = [Message(float(at), 300) for at in range(1, 200, 3)]


def test_what_is_measured_is_what_the_documentation_defines():
    pages = [Page("s0", 300, 400_000, (), 0.0, 1.0), Page("s1", 300, 400_000, (), 0.0, 2.0), Page("w", 300, 9000)]
    traffic = Traffic(pages, ["0"] * 3, np.array([1.9, 2.6, np.nan]), np.array([0, 0, -1]), [Message(0.55, 800)])
    world = World(traffic, 0)
    base, slow = world.browse("none"), world.browse("psm:200")
    found = worlds.measure(slow, base, world)
    assert not unequal("""
found["slowdown_mean"] -> (slow.latency_s / base.latency_s).mean()
found["slowdown_all"] -> slow.latency_s.sum() / base.latency_s.sum()
found["added_s_mean"] -> slow.messages.delay_s[0] - base.messages.delay_s[0]
""", globals() | locals())  # fmt: skip
    done = (slow.pages.issue_s + slow.pages.latency_s).to_numpy()
    late = np.maximum(done[:2] - [1.9, 2.6], 0.0)
    assert late[0] > 0
    assert found["stalls"] == (2 if late[1] > late[0] else 1)
    assert (found["pages"], found["messages"], found["total_j"]) == (3, 1, float(slow.energy.total_j))


def test_a_task_browses_one_world_under_every_policy_and_a_learning_curve_has_its_mean():
    policies = ["psm:100", OWN, "after another seed", "fixed in hindsight 2", "fixed in hindsight 40"]
    task = {"traffic": "web-lognormal", "seconds": 1100.0, "seed": 5000, "policies": policies, "curves": [OWN]}
    tables = runs(**task)
    assert json.dumps(runs(**task)) == json.dumps(tables)  # NaN is equal to itself in writing
    rows = {row["policy"]: row for row in tables["runs"]}
    assert list(rows) == policies
    cheap, dear = (rows[f"fixed in hindsight {price}"]["slowdown_mean"] for price in (2, 40))  # of a second
    assert 1.0 < dear < cheap
    assert np.mean([row["slowdown"] for row in tables["curves"]]) == near(rows[OWN]["slowdown_mean"])
    assert [row["first_page"] for row in tables["curves"]] == [0, 10]
    (other,) = runs("esp32-c3", 5000, ["psm:100"], 1100.0)["runs"]
    assert other["total_j"] < rows["psm:100"]["total_j"]  # a radio of our time needs a fraction of that


def test_a_stream_whose_deadlines_are_known_needs_less_than_without_them():
    whole, timed = runs("streaming", 8900, [OWN, f"{OWN} with deadlines"], 60.0)["runs"]
    assert timed["total_j"] < whole["total_j"]


def test_a_part_that_is_taken_away_is_gone_and_the_rest_stays():
    whole = Lpsm3()
    for part, change in PARTS.items():
        rest = worlds.without(part, **change)
        assert rest.spec == part
        for name, value in change.items():
            if name == "alone":
                learned = netsim.simulate([], rest, push=MESSAGES).final_policy.memory[0]
                assert learned["events"].sum() > 50
                assert np.array_equal(learned["mean_rates"], learned["rates"][:, value])  # whatever it learns
            else:
                assert getattr(rest.config, name) == value != getattr(whole.config, name)


def test_who_is_experienced_knows_waits_and_nothing_else_of_the_run_before():
    before = netsim.simulate([], OWN, push=MESSAGES).final_policy
    after, fresh = worlds.experienced(before).memory[0], Lpsm3().memory[0]
    changed = {name for name in fresh.dtype.names if not np.array_equal(after[name], fresh[name])}
    assert changed <= set(worlds.LEARNED)
    assert after["events"].shape[1] == N_BINS
    assert after["events"].sum() == before.memory[0]["events"].sum() > 50


def a_round(context, costs, *, delay_s, waiting=1):
    """What three schedules cost without their delay, and the delay; priced at nothing."""
    none = np.zeros(3, np.int64)
    return Round(context=context, start_ns=0, end_ns=1, arrived=True, waiting=waiting, price_w=0.0, chosen=0,
        awake_ns=none, costs=np.array(costs), beacons=none, wakeups=none,
        delay_ns=np.round(1e9 * np.array(delay_s)).astype(np.int64))  # fmt: skip


def test_the_best_fixed_schedule_depends_on_the_price_of_a_second_and_on_who_waits():
    rounds = [a_round("W1", [0.1, 0.2, 0.0], delay_s=(0.0, 0.0, 1.0))] * 2
    rounds += [a_round("W4", [0.1, 0.2, 0.0], delay_s=(0.0, 0.0, 0.1), waiting=4)]
    cheap, middle, dear = (dict(zip(CONTEXTS, worlds.best_schedules(rounds, price), strict=True))
        for price in (0.0, 2.0, 60.0))  # fmt: skip
    assert [found["W1"] for found in (cheap, middle, dear)] == [2, 0, 0]
    assert [found["W4"] for found in (cheap, middle, dear)] == [2, 2, 0]  # 2 x 0.1 / 4 is less than 0.1
    assert [found["I"] for found in (cheap, middle, dear)] == [2, 0, 0]  # no round: what is best over all


def test_fixed_schedules_follow_theirs_and_learn_nothing():
    world = world_of("web-lognormal", 300.0, 5000)
    hold = world.browse(worlds.fixed_schedules((6,) * 7))  # awake for 1.6 s of every wait
    doze = world.browse(worlds.fixed_schedules((0,) * 7))  # hears every beacon
    assert hold.latency_s.mean() < doze.latency_s.mean()
    assert len({tuple(learner.weights) for learner in hold.final_policy.learners}) == 2  # as at first: waits, silence


def test_recorded_sessions_are_those_long_enough_and_browsed_by_name(tmp_path):
    folder = made(tmp_path / "trace", 3, pages=25)
    found = sessions(folder)
    assert [len(pages) for pages in found.values()] == [25] * 3
    (row,) = runs("recorded", 8000, ["psm:100"], folder=str(tmp_path), trace="trace", session=min(found))["runs"]
    assert (row["replication"], row["pages"]) == (min(found), 25)
    with value_error("must hold a session of 20 to 200 pages"):
        sessions(made(tmp_path / "short", 3, pages=4))
