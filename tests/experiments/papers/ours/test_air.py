"""The experiments on the air: their claims can fail, and a task is a pure function of itself."""

import pytest

from experiments.papers.kit import Setup
from experiments.papers.ours.air import CONTENTION, TWT


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
    task = {"traffic": "pushed", "clients": 2, "seed": 3, "policy": "twt:1024:10", "seconds": 20}
    [row] = TWT.run(task)["runs"]
    assert TWT.run(dict(task)) == {"runs": [row]}
    assert 0.0 < row["delay_s"] < 1.1
