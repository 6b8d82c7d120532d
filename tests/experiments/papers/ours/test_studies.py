"""The studies of LPSM2 and LPSM3: tables, fronts at equal slowdown, the hull, and claims that a record can refute."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from experiments.papers.kit import Setup
from experiments.papers.ours import studies
from experiments.papers.ours.studies import Case
from experiments.papers.predicates import at_least
from experiments.papers.registry import all_experiments
from experiments.study.hull import time_shared
from tests.tables import cases_of, near
from traces.traffic import KINDS

COLUMNS = ["traffic", "replication", "policy", "total_j", "slowdown_mean", "added_s_mean", "messages"]
points = st.lists(st.tuples(st.floats(1, 3), st.floats(1, 9)), min_size=1, max_size=8)


def record_of(rows):
    return {"runs": pd.DataFrame([[*row, 99][: len(COLUMNS)] for row in rows], columns=COLUMNS)}


def test_a_table_says_which_families_a_policy_is_held_against_where_and_by_how_much():
    assert studies.read("""
        mine | PSM | psm:{} | 100 200 | air, 5 neighbours = -2; push
        mine | hold:0 | hold:0 | | Web = 1.5
    """) == [
        Case("air, 5 neighbours", "mine", "PSM", ("psm:100", "psm:200"), -2.0),
        Case("push", "mine", "PSM", ("psm:100", "psm:200"), 0.0),
        *(Case(world, "mine", "hold:0", ("hold:0",), 1.5) for world in studies.WEB),
    ]  # fmt: skip
    assert studies.lasting("a; b c = 1 2 3\nd = 4 5 6") == {"a": (1, 2, 3), "b c": (1, 2, 3), "d": (4, 5, 6)}


@given(points, st.floats(0.5, 4))
def test_a_front_is_between_its_points_never_rises_and_is_beaten_by_none_of_them(found, at):
    x, y = np.array(found).T
    energy = studies.equal_energy(x, y, at)
    assert y.min() <= energy <= y.max()
    assert studies.equal_energy(x, y, at + 0.1) <= energy + 1e-12
    if at >= x.min():
        least_here = y[x <= at].min()
        assert energy <= least_here + 1e-9


def test_a_policy_is_compared_with_a_front_on_its_own_seed_and_with_what_its_name_asks_for():
    rows = []
    for seed, scale in ((0, 1.0), (1, 10.0)):
        for policy, slow, joules in (("a", 1.0, 4.0), ("b", 1.2, 2.0), ("mine:1.1:300", 1.1, 1.5)):
            rows.append(("t", f"seed-{seed}", policy, joules * scale, slow, 0.33, 60 - 20 * seed))
    record = record_of(rows)
    for percent, holds in ((49.0, True), (51.0, False)):  # it is 50 % below, at 1.1
        case = Case("t", "mine:1.1:300", "others", ("a", "b"), percent)
        assert at_least(lambda record, case=case: studies.spared(record, [case]))(record).holds == holds
    for column, over, seeds in (("slowdown_mean", 1.0, 2), ("added_s_mean", 1.1, 1)):  # 40 messages are too few
        (found,) = studies.over_asked(record, column, ["t", "none"], ["mine:1.1:300", "mine:1.2:300"]).values()
        assert found.sample.to_numpy() == near([over] * seeds)
    ((_, drawn),) = studies.fronts({"runs": record["runs"].assign(elapsed_s=100.0)}, [case], ["t"])
    assert drawn[["group", "x"]].to_numpy().tolist() == [["others", 1.0], ["others", 1.2], ["mine:1.1:300", 1.1]]
    assert drawn["y"].tolist() == near([220.0, 110.0, 82.5])


@cases_of("extra_j", "-2.0 ; 0.0 ; 1.0")
def test_messages_are_held_against_the_constant_period_of_equal_delay(extra_j):
    case, rows = Case("push-bursty", "mine", "static PSM", studies.family("psm:{}", "100 300 400 500 1500"), 2.5), []
    for seed in range(3):
        for policy in case.members:
            delay_s = float(policy[4:]) / 2000
            rows.append(["push-bursty", seed, policy, 100.0 + 1.5 / delay_s, 1.0, delay_s])
        rows.append(["push-bursty", seed, "mine", 100.0 + 1.5 / 0.18 + extra_j, 1.0, 0.18])
    (found,) = studies.spared(record_of(rows), [case]).values()
    assert np.mean(found.sample) == near(-100 * extra_j / (100.0 + 1.5 / 0.18) - 2.5, abs=1e-9)
    assert "0.180" in found.note


@cases_of("name first count", """
"lpsm2", 5000, 20 ; "lpsm3", 8000, 20 ; "lpsm3-browsing", 8000, 20 ; "lpsm3-worlds", 100, 10
""")  # fmt: skip
def test_the_seeds_of_the_studies_are_none_that_anything_was_chosen_on(name, first, count):
    sweep = all_experiments()[f"ours/{name}"].sweep
    assert {task["seed"] for task in sweep(Setup(stand_in=True)).values()} == set(range(first, first + count))
    small = sweep(Setup(size="smoke", seed=3, stand_in=True)).values()
    assert {task["seed"] for task in small} == {first + 3, first + 4}


def test_there_are_25_worlds_and_36_rivals():
    assert len(studies.WORLDS) == 25 == sum(name in KINDS for name in studies.WORLDS) + 3
    assert len({netsim.canonical(policy) for policy in studies.RIVALS}) == 36
    assert len(studies.HULL.sweep(Setup())) == 250


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1000, 2000), st.floats(0.1, 9.0)), min_size=4, max_size=12, unique=True),
    st.floats(0, 1))  # fmt: skip
def test_a_mixture_of_rivals_is_on_their_lower_convex_hull(points, part):
    points = np.array([(1.0, 10.0), *((slowdown / 1000, joules) for slowdown, joules in points)])
    at = 1.0 + part * (points[:, 0].max() - 1.0)
    weights, worth = time_shared(points[:, :1], points[:, 1], np.array([at]))
    mixed = weights @ points
    assert mixed[0] <= at + 1e-7
    pairs = [(a + (b - a) * np.clip((at - a[0]) / (b[0] - a[0]), 0, 1)) if b[0] > a[0] else a
        for a in points[points[:, 0] <= at] for b in points]  # fmt: skip
    assert mixed[1] == near(min(pair[1] for pair in pairs), abs=1e-6)
    assert (points[:, 1] >= mixed[1] - worth[0] * (points[:, 0] - mixed[0]) - 1e-6).all()  # a tangent below them all


def test_a_policy_is_held_against_the_mixture_of_its_own_slowdown_and_delay():
    own, rows = studies.ASKED[0], []
    for seed, noise in enumerate((-1.0, 0.0, 1.0)):
        for policy in (own, *studies.RIVALS):
            joules, slow, delay_s = {own: (77.0, 1.1, 0.2), "none": (100.0, 1.0, 0.0),
                "listen:1": (40.0, 1.2, 0.4)}.get(policy, (90.0, 1.3, 0.5))  # fmt: skip
            rows.append(["chat", f"seed-{seed}", policy, joules + noise, slow, delay_s])
    above = studies.above_hull(record_of(rows), "chat", own)
    assert above == near([10.0] * 3)  # half of the one and half of the other need 70
