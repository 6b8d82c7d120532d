"""The experiments on the air: their claims can fail, and a task is a pure function of itself."""

import pandas as pd
import pytest

from experiments.papers.kit import Setup
from experiments.papers.ours.air import EXPERIMENTS

CONTENTION, TWT = EXPERIMENTS


@pytest.fixture(scope="module")
def one_task():
    return next(iter(CONTENTION.sweep(Setup(size="smoke")).values()))


def test_the_sweep_has_every_number_of_neighbours_dtim_and_rate_of_group_frames():
    tasks = list(CONTENTION.sweep(Setup()).values())
    assert {task["neighbours"] for task in tasks} == {0, 1, 5, 10, 20}
    assert {(task["dtim"], task["broadcast"]) for task in tasks if not task["neighbours"]} == {
        (dtim, rate) for dtim in (1, 3, 10) for rate in (0, 1, 10)
    }
    assert {task["clients"] for task in TWT.sweep(Setup()).values()} == {1, 10, 50}


def test_a_task_run_again_gives_the_same_rows(one_task):
    assert CONTENTION.run(one_task) == CONTENTION.run(dict(one_task))
    task = {"traffic": "pushed", "clients": 2, "seed": 3, "policy": "twt:1024:10", "seconds": 20, "pages": 1}
    [row] = TWT.run(task)["runs"]
    assert TWT.run(dict(task)) == {"runs": [row]}
    assert 0.0 < row["delay_s"] < 1.1


def _record(mean_mw):
    rows = [
        {"neighbours": count, "dtim": dtim, "broadcast": rate, "policy": policy, "replication": f"seed-{seed}",
         "mean_mw": mean_mw(count) * (0.5 if policy.startswith("lpsm2") else 1.0) + 0.01 * seed + 0.3 * rate,
         "awake_percent": 1.0 + 0.1 * count + 0.01 * seed, "latency_s": 0.2, "group_lost": 0.0}
        for count, dtim, rate in [(0, 1, 0), (5, 1, 0), (20, 1, 0), (0, 1, 10), (0, 3, 10)]
        for policy in ("none", "listen:1", "listen:3", "dynamic:100", "lpsm2:1.05")
        for seed in range(3)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    sparse = frame[(frame["policy"] == "listen:1") & (frame["dtim"] == 1) & (frame["broadcast"] == 0)]
    return {"runs": frame, "sparse": sparse}


def test_claims_about_neighbours_hold_where_they_should_and_fail_where_they_should():
    verdicts = [claim.check(_record(lambda count: 5 + 0.3 * count)) for claim in CONTENTION.claims]
    assert [one.holds for one in verdicts] == [True, True, True, True, True, True, False, True, True]
    flat = [claim.check(_record(lambda count: 5 - 0.1 * count)) for claim in CONTENTION.claims]
    assert [one.holds for one in flat[:3]] == [False, True, False]
