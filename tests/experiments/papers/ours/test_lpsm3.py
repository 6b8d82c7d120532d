"""The study of LPSM3: fresh seeds, one configuration, and messages held against the ideal constant period."""

import numpy as np
import pandas as pd
import pytest

import netsim
from experiments.papers.kit import Setup
from experiments.papers.ours import lpsm3
from experiments.papers.registry import all_experiments
from netsim.policies.lpsm3 import Lpsm3
from netsim.sleep_planning.hazards import N_BINS
from traces.records import Message

MESSAGES = [Message(float(at), 300) for at in range(1, 200, 3)]


def test_the_seeds_are_none_that_anything_was_chosen_on_and_every_kind_of_traffic_is_there():
    tasks = all_experiments()["ours/lpsm3"].sweep(Setup())
    assert {task["seed"] for task in tasks.values()} == set(range(8000, 8020))
    assert {name.partition(" ")[0] for name in tasks} == set(lpsm3.SECONDS)
    assert min(task["seed"] for task in all_experiments()["ours/lpsm3"].sweep(Setup(seed=5)).values()) == 8005


def test_a_task_browses_one_world_under_every_policy_with_the_radio_it_names():
    task = {"seconds": 300.0, "seed": 8900, "policies": ["psm:100", "lpsm3:1.05:400"]}
    ordinary, dear = (lpsm3.LPSM3.run({**task, "traffic": kind})["runs"] for kind in ("web-lognormal", "esp32-c3"))
    assert [row["policy"] for row in ordinary] == task["policies"]
    assert {row["traffic"] for row in ordinary} == {"web-lognormal"}
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
    found = lpsm3.below_period(record, "push-bursty", 200)
    assert np.mean(found.sample) == pytest.approx(-100 * extra_mw / (100.0 + 3.0 / 0.36), abs=1e-9)
    assert "180 ms" in found.note


@pytest.fixture(scope="module")
def stream_rows():
    task = {"traffic": "streaming", "seconds": 60.0, "seed": 8900, "policies": ["hold:0", lpsm3.OWN]}
    return {row["policy"]: row for row in lpsm3.LPSM3.run(task)["runs"]}


def test_a_stream_is_also_run_with_its_deadlines_which_the_claims_ask_for(stream_rows):
    assert list(stream_rows) == ["hold:0", lpsm3.OWN, lpsm3.HINTED]
    assert stream_rows[lpsm3.HINTED]["total_j"] < stream_rows[lpsm3.OWN]["total_j"]
    rows = [{**row, "replication": f"seed-{seed}"} for seed in range(3) for row in stream_rows.values()]
    record = {"runs": pd.DataFrame(rows)}
    hinted = record["runs"]["policy"] == lpsm3.HINTED
    record["runs"].loc[hinted, ["total_j", "stalls"]] = 0.99 * stream_rows["hold:0"]["total_j"], 0
    assert all(claim.check(record).holds for claim in lpsm3.OF_DEADLINES)
    record["runs"].loc[hinted, ["total_j", "stalls"]] = 1e6, 1
    assert not any(claim.check(record).holds for claim in lpsm3.OF_DEADLINES)


def test_a_part_that_is_taken_away_is_gone_and_the_rest_stays():
    whole = Lpsm3()
    for part, change in {**lpsm3.PARTS, **lpsm3.PARTS_OF_PUSH}.items():
        rest = lpsm3.without(part, change, max_push_delay_s=0.1)
        assert rest.spec == part
        assert rest.config.max_push_delay_s == 0.1
        for name, value in change.items():
            if name == "alone":
                learned = netsim.simulate([], rest, push=MESSAGES).final_policy.memory[0]
                assert learned["events"].sum() > 50
                assert np.array_equal(learned["mean_rates"], learned["rates"][:, value])  # whatever it learns
            else:
                assert getattr(rest.config, name) == value != getattr(whole.config, name)


def test_who_is_experienced_knows_waits_and_nothing_else_of_the_run_before():
    before = netsim.simulate([], lpsm3.OWN, push=MESSAGES).final_policy
    after, fresh = lpsm3.experienced(before).memory[0], Lpsm3().memory[0]
    changed = {name for name in fresh.dtype.names if not np.array_equal(after[name], fresh[name])}
    assert changed <= set(lpsm3.LEARNED)
    assert after["events"].shape[1] == N_BINS
    assert after["events"].sum() == before.memory[0]["events"].sum() > 50


def test_regret_is_what_is_needed_above_the_schedules_at_equal_slowdown():
    rows = []
    for seed in range(3):
        for place, name in enumerate(lpsm3.fixed(lpsm3.HINDSIGHT)):
            rows.append(["web-instant", f"seed-{seed}", name, 50.0 - 2 * place, 1.0 + 0.1 * place])
        rows.append(["web-instant", f"seed-{seed}", lpsm3.OWN, 51.5, 1.05])
    record = {"runs": pd.DataFrame(rows, columns=["traffic", "replication", "policy", "total_j", "slowdown_mean"])}
    found = lpsm3.regret_j(record, "web-instant", "slowdown_mean")
    assert np.asarray(found.sample) == pytest.approx([2.5] * 3)
