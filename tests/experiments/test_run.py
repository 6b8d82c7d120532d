from __future__ import annotations

import math
import os
import signal

import pytest

from experiments.study.run import Interrupted, run


def test_results_come_in_the_order_of_the_tasks_however_many_processes() -> None:
    tasks = {f"k{number}": float(number) for number in range(7)}
    one, two = (run(math.sqrt, tasks, jobs=jobs) for jobs in (1, 2))
    assert list(one.items()) == list(two.items()) == [(key, math.sqrt(value)) for key, value in tasks.items()]


def test_finished_tasks_are_not_computed_again_and_every_new_one_is_kept() -> None:
    kept: dict[str, float] = {}
    results = run(math.sqrt, {"a": -1.0, "b": 4.0}, jobs=1, finished={"a": 7.0, "foreign": 0.0}, keep=kept.__setitem__)
    assert results == {"a": 7.0, "b": 2.0}
    assert kept == {"b": 2.0}


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_task_arrives_and_what_was_finished_is_kept(jobs: int) -> None:
    kept: dict[str, float] = {}
    with pytest.raises(ValueError, match=r"nonnegative|math domain"):
        run(math.sqrt, {"a": 4.0, "b": -1.0, "c": -2.0}, jobs=jobs, keep=kept.__setitem__)
    assert kept == {"a": 2.0}


def test_an_interrupt_says_how_much_was_finished() -> None:
    def function(task: int) -> int:
        if task == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return task

    kept: dict[str, int] = {}
    with pytest.raises(Interrupted, match="2 of 4 walks were finished"):
        run(function, {str(number): number for number in range(4)}, jobs=1, keep=kept.__setitem__, title="walks")
    assert kept == {"0": 0, "1": 1}


def test_a_worker_that_dies_is_an_error_and_not_a_hang() -> None:
    with pytest.raises(OSError, match="a worker process died"):
        run(os._exit, {"a": 3, "b": 3}, jobs=2)


def test_jobs_must_be_positive() -> None:
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        run(math.sqrt, {"a": 1.0}, jobs=0)
