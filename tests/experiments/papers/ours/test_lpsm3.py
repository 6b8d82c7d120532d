"""The study of LPSM3: fresh seeds, one configuration, and messages held against the ideal constant period."""

import numpy as np
import pandas as pd
import pytest

import netsim
from experiments.papers.ours import lpsm3
from experiments.papers.registry import Setup, all_experiments


def test_the_seeds_are_none_that_anything_was_chosen_on_and_every_kind_of_traffic_is_there():
    tasks = all_experiments()["ours/lpsm3"].sweep(Setup())
    assert {task["seed"] for task in tasks.values()} == set(range(8000, 8020))
    assert {name.partition(" ")[0] for name in tasks} == set(lpsm3.SECONDS)
    assert min(task["seed"] for task in all_experiments()["ours/lpsm3"].sweep(Setup(seed=5)).values()) == 8005


def test_every_policy_is_written_by_its_canonical_name_once_in_a_task():
    for task in all_experiments()["ours/lpsm3"].sweep(Setup(size="smoke")).values():
        names = [netsim.canonical(policy) for policy in task["policies"]]
        assert names == list(task["policies"])
        assert len(set(names)) == len(names)


def test_a_task_browses_one_world_under_every_policy_with_the_radio_it_names():
    task = {"traffic": "web-instant", "seconds": 300.0, "seed": 8900, "policies": ["psm:100", "lpsm3:1.05:400"]}
    ordinary, dear = lpsm3.run(task)["runs"], lpsm3.run(task | {"radio": "esp32-c3"})["runs"]
    assert [row["policy"] for row in ordinary] == task["policies"]
    assert {row["traffic"] for row in ordinary} == {"web-instant"}
    assert {row["traffic"] for row in dear} == {"esp32-c3"}
    assert dear[0]["total_j"] < ordinary[0]["total_j"]  # a radio of our time needs a fraction of that


@pytest.mark.parametrize("extra_mw", [-2.0, 0.0, 1.0])
def test_messages_are_held_against_the_constant_period_of_equal_delay(extra_mw):
    rows = []
    for seed in range(3):
        for ms in (100, 200, 300, 400, 500, 700, 1000, 1500):
            joules = 100.0 + 3.0 / (ms / 1000)  # of a constant period, exactly
            rows.append(["push-bursty", f"seed-{seed}", f"psm:{ms}", joules, ms / 2000])
        own = 100.0 + 3.0 / 0.36 + extra_mw
        rows.append(["push-bursty", f"seed-{seed}", lpsm3.pushed(200), own, 0.18])
    record = {"runs": pd.DataFrame(rows, columns=["traffic", "replication", "policy", "total_j", "added_s_mean"])}
    (found,) = lpsm3._below_period("push-bursty", 200)(record).values()
    assert np.mean(found.sample) == pytest.approx(-100 * extra_mw / (100.0 + 3.0 / 0.36), abs=1e-9)
    assert "180 ms" in found.words
