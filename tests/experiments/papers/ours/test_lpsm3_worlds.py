"""The 25 worlds of LPSM3: seeds, worlds and rivals, and the hull that it is held against."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from experiments.papers.kit import Setup
from experiments.papers.ours import lpsm3_worlds as worlds
from traces.traffic import KINDS


def test_there_are_25_worlds_and_36_rivals_on_fresh_seeds():
    tasks = worlds.WORLDS_OF_LPSM3.sweep(Setup())
    assert {task["seed"] for task in tasks.values()} == set(range(100, 110))
    assert len(worlds.WORLDS) == 25 == sum(name in KINDS for name in worlds.WORLDS) + 3
    assert len({netsim.canonical(policy) for policy in worlds.RIVALS}) == 36
    assert len(tasks) == 250


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1000, 2000), st.floats(0.1, 9.0)), min_size=4, max_size=12, unique=True),
    st.floats(0, 1),
)
def test_a_mixture_of_rivals_is_on_their_lower_convex_hull(points, part):
    points = np.array([(1.0, 10.0), *((slowdown / 1000, joules) for slowdown, joules in points)])
    at = 1.0 + part * (points[:, 0].max() - 1.0)
    weights, worth = worlds.time_shared(points[:, :1], points[:, 1], np.array([at]))
    mixed = weights @ points
    assert mixed[0] <= at + 1e-7
    pairs = [
        (a + (b - a) * np.clip((at - a[0]) / (b[0] - a[0]), 0, 1)) if b[0] > a[0] else a
        for a in points[points[:, 0] <= at] for b in points
    ]  # fmt: skip
    assert mixed[1] == pytest.approx(min(pair[1] for pair in pairs), abs=1e-6)
    assert (points[:, 1] >= mixed[1] - worth[0] * (points[:, 0] - mixed[0]) - 1e-6).all()  # a tangent below them all


def test_a_policy_is_held_against_the_mixture_of_its_own_slowdown_and_delay():
    rows = []
    for seed, noise in enumerate((-1.0, 0.0, 1.0)):
        for policy in (worlds.OWN[0], *worlds.RIVALS):
            slow, delay_s, joules = {
                worlds.OWN[0]: (1.1, 0.2, 77.0), "none": (1.0, 0.0, 100.0), "listen:1": (1.2, 0.4, 40.0),
            }.get(policy, (1.3, 0.5, 90.0))  # fmt: skip
            rows.append(["chat", f"seed-{seed}", policy, joules + noise, slow, delay_s])
    columns = ["traffic", "replication", "policy", "total_j", "slowdown_mean", "added_s_mean"]
    found = worlds.above_hull({"runs": pd.DataFrame(rows, columns=columns)}, "chat", worlds.OWN[0])
    assert np.mean(found.sample) == pytest.approx(10.0)  # half of the one and half of the other need 70
    assert np.std(found.sample) == pytest.approx(0.0, abs=1e-9)
    assert "1.100, 0.200" in found.note
