import math
import os
import re
import signal
import threading

import pytest

from experiments.cli import main
from experiments.study import progress as study_progress
from experiments.study import run as study_run
from experiments.study.interruptions import SIGNALS, Handler, Interrupted, put_off
from experiments.study.progress import progress
from experiments.study.run import run
from experiments.study.store import Store
from tests.experiments.makers import contents


def test_results_come_in_the_order_of_the_tasks_however_many_processes():
    tasks = {f"k{number}": float(number) for number in range(7)}
    one, two = (run(math.sqrt, tasks, jobs=jobs) for jobs in (1, 2))
    assert list(one.items()) == list(two.items()) == [(key, math.sqrt(value)) for key, value in tasks.items()]


def test_finished_tasks_are_not_computed_again_and_every_new_one_is_kept():
    kept = {}
    results = run(math.sqrt, {"a": -1.0, "b": 4.0}, jobs=1, finished={"a": 7.0, "foreign": 0.0}, keep=kept.__setitem__)
    assert results == {"a": 7.0, "b": 2.0}
    assert kept == {"b": 2.0}


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_a_task_arrives_and_what_was_finished_is_kept(jobs):
    kept = {}
    with pytest.raises(ValueError, match=r"nonnegative|math domain"):
        run(math.sqrt, {"a": 4.0, "b": -1.0, "c": -2.0}, jobs=jobs, keep=kept.__setitem__)
    assert kept == {"a": 2.0}


@pytest.fixture
def handlers():
    """Signals do what they do in a program that has just begun, whatever ran before, and again what they did."""
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in previous.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
def test_an_interrupt_says_how_much_was_finished():
    def function(task):
        if task == 2:
            signal.raise_signal(signal.SIGINT)
        return task

    kept = {}
    with pytest.raises(Interrupted, match="2 of 4 walks were finished"):
        run(function, {str(number): number for number in range(4)}, jobs=1, keep=kept.__setitem__, title="walks")
    assert kept == {"0": 0, "1": 1}


def test_a_worker_that_dies_is_an_error_and_not_a_hang():
    with pytest.raises(OSError, match="a worker process died"):
        run(os._exit, {"a": 3, "b": 3}, jobs=2)


def test_progress_says_what_is_left_on_stderr_and_nothing_on_stdout(monkeypatch, capsys):
    monkeypatch.setattr(study_progress, "PATIENCE_S", 0.0)
    with progress("runs of thesis/table-4-1", 1000, done=400) as advance:
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.join(30.0)  # the bar is up
        for _ in range(100):
            advance()
    out, err = capsys.readouterr()
    assert out == ""
    assert "500/1000" in err
    assert re.search(r"\d:\d\d:\d\d left", err)


def test_quick_work_shows_no_progress(capsys):
    assert run(math.sqrt, {"a": 4.0}, jobs=1) == {"a": 2.0}
    assert capsys.readouterr() == ("", "")


class Lost:
    """Sends this process a signal while it is freed, where Python drops the exception that the handler raises."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        os.kill(os.getpid(), self.number)


def test_when_the_program_ends_signals_do_again_what_they_did_before(capsys):
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(SystemExit):
        main(["list", "formats"])
    assert capsys.readouterr().out
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert not isinstance(before[0], Handler)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_whose_exception_python_drops_ends_the_program_after_the_task_and_the_same_command_goes_on(
    number, status, results, tmp_path, monkeypatch, capsys
):
    kept, made = [], results("compare")
    command = [*made.words, "--out", str(tmp_path / "out")]

    def keep_and_lose(self, name, content, keep=Store.keep):
        keep(self, name, content)
        kept.append(name)
        if len(kept) == 2:
            Lost(number)

    monkeypatch.setattr(Store, "keep", keep_and_lose)
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == status
    assert len(kept) == 2
    assert "2 of 6 runs of a policy were finished" in capsys.readouterr().err.splitlines()[-1]
    with pytest.raises(SystemExit):
        main(command)
    assert len(kept) == 6
    assert contents(tmp_path / "out") == contents(made.folder)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("handlers")
def test_with_several_processes_too_and_what_is_ready_by_then_is_kept():
    signal.signal(signal.SIGINT, Handler())
    kept = {}

    def keep_and_lose(key, result):
        kept[key] = result
        if len(kept) == 1:
            Lost(signal.SIGINT)

    with pytest.raises(Interrupted, match="of 400 runs were finished") as stopped:
        run(math.sqrt, {str(number): 4.0 for number in range(400)}, jobs=2, keep=keep_and_lose)
    assert 1 <= len(kept) < 10
    assert str(stopped.value).startswith(f"interrupted, {len(kept)} of")


@pytest.mark.usefixtures("handlers")
def test_a_signal_that_comes_while_workers_start_is_put_off_and_they_never_hear_of_ctrl_c():
    handler = Handler()
    signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGINT, handler)
    inside = []

    def start():
        with put_off():
            signal.raise_signal(signal.SIGTERM)
            inside.append((handler.came, signal.pthread_sigmask(signal.SIG_BLOCK, ())))

    with pytest.raises(Interrupted) as stopped:
        start()
    assert inside == [(signal.SIGTERM, {signal.SIGINT, signal.SIGHUP})]
    assert stopped.value.status == 143
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_no_more_tasks_are_under_way_than_keep_the_workers_busy():
    done, most = [], 0

    class Tasks(dict):
        taken = 0

        def __getitem__(self, key):
            nonlocal most
            self.taken += 1
            most = max(most, self.taken - len(done))
            return super().__getitem__(key)

    tasks = Tasks((str(number), number) for number in range(50))
    run(abs, tasks, jobs=2, keep=lambda key, _: done.append(key))
    assert len(done) == tasks.taken == 50
    assert most <= study_run.UNDER_WAY * 2
