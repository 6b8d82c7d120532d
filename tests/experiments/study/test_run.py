import math
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from experiments.cli import main
from experiments.study import progress as study_progress
from experiments.study import run as study_run
from experiments.study.progress import progress
from experiments.study.run import run
from experiments.study.signals import SIGNALS, Handler, Interrupted, put_off
from experiments.study.store import Store
from tests.experiments.makers import contents
from tests.tables import cases_of, each


def test_results_come_in_the_order_of_the_tasks_and_no_more_are_under_way_than_keep_the_workers_busy():
    done, most = [], 0

    class Tasks(dict):
        taken = 0

        def __getitem__(self, key):
            nonlocal most
            self.taken += 1
            most = max(most, self.taken - len(done))
            return super().__getitem__(key)

    tasks = Tasks((f"k{number}", float(number)) for number in range(50))
    one, two = (run(math.sqrt, given, jobs=jobs, keep=lambda key, _: done.append(key))
        for given, jobs in ((dict(tasks), 1), (tasks, 2)))  # fmt: skip
    assert list(one.items()) == list(two.items()) == [(key, math.sqrt(value)) for key, value in tasks.items()]
    assert len(done) == 2 * tasks.taken == 100
    assert most <= study_run.UNDER_WAY * 2


def where(_):
    """Which process computes a task."""
    return os.getpid()


@each("worth_s, here", [(math.inf, 6), (1e-9, 1)])
def test_processes_are_started_by_default_only_once_what_is_left_is_worth_it(monkeypatch, worth_s, here):
    monkeypatch.setattr(study_run, "WORTH_S", worth_s)
    monkeypatch.setattr(study_run, "processes", lambda jobs: 2)
    found = list(run(where, dict.fromkeys("abcdef"), jobs=None).values())
    assert found.count(os.getpid()) == here
    assert os.getpid() not in found[here:]


def test_finished_tasks_are_not_computed_again_and_every_new_one_is_kept():
    kept = {}
    results = run(math.sqrt, {"a": -1.0, "b": 4.0}, jobs=1, finished={"a": 7.0, "foreign": 0.0}, keep=kept.__setitem__)
    assert results == {"a": 7.0, "b": 2.0}
    assert kept == {"b": 2.0}


def late_root(x):
    """The square root; of what has none an error, when all others are long finished."""
    time.sleep(0.5 if x < 0 else 0)
    return math.sqrt(x)


@cases_of("jobs", "1 ; 2")
def test_an_error_of_a_task_arrives_and_what_was_finished_is_kept(jobs):
    kept = {}
    with pytest.raises(ValueError, match=r"nonnegative|math domain"):
        run(late_root, {"a": 4.0, "b": -1.0, "c": -2.0}, jobs=jobs, keep=kept.__setitem__)
    assert kept == {"a": 2.0}


def test_a_worker_that_dies_is_an_error_and_not_a_hang():
    with pytest.raises(OSError, match="a worker process died"):
        run(os._exit, {"a": 3, "b": 3}, jobs=2)


def test_progress_says_what_is_left_on_stderr_and_nothing_of_quick_work(monkeypatch, capsys):
    assert run(math.sqrt, {"a": 4.0}, jobs=1) == {"a": 2.0}
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(study_progress, "PATIENCE_S", 0.02)
    out, err, until = "", "", time.monotonic() + 600
    with progress("runs", 1000, done=400) as advance:
        for _ in range(100):
            advance()
        while not re.search(r"\rruns: 500 of 1000, \d+ s, about \d+ s left", err) and time.monotonic() < until:
            out, err = map("".join, zip((out, err), capsys.readouterr(), strict=True))
    assert (out, time.monotonic() < until) == ("", True)


class Lost:
    """Sends this process a signal while it is freed, where Python drops the exception that the handler raises."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        os.kill(os.getpid(), self.number)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@each("number, status", [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)])
def test_a_signal_whose_exception_python_drops_ends_the_program_after_the_task_and_the_same_command_goes_on(
    number, status, results, tmp_path, monkeypatch, capsys
):
    kept, made, before = [], results("compare"), [signal.getsignal(one) for one in SIGNALS]
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
    said = capsys.readouterr().err.splitlines()[-1]
    assert "ed, 2 of 6 runs of a policy were finished; what was finished is kept in" in said
    with pytest.raises(SystemExit):
        main(command)
    assert len(kept) == 6
    assert contents(tmp_path / "out") == contents(made.folder)
    assert [signal.getsignal(one) for one in SIGNALS] == before  # they do again what they did


@pytest.fixture
def handler():
    """A handler of the program's signals, whatever ran before; afterwards they do again what they did."""
    made, previous = Handler(), {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, made)
    yield made
    for number, earlier in previous.items():
        signal.signal(number, earlier)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("handler")
def test_with_several_processes_too_and_the_error_says_how_much_was_finished():
    kept = {}

    def keep_and_lose(key, result):
        kept[key] = result
        if len(kept) == 1:
            Lost(signal.SIGINT)

    with pytest.raises(Interrupted) as stopped:
        run(math.sqrt, {str(number): 4.0 for number in range(400)}, jobs=2, keep=keep_and_lose)
    assert 1 <= len(kept) < 10
    assert stopped.value.__notes__ == [f", {len(kept)} of 400 runs were finished"]


def test_a_signal_that_comes_while_workers_start_is_put_off_and_they_never_hear_of_ctrl_c(handler):
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


def test_a_second_signal_does_not_disturb_the_order_that_the_first_one_makes_unless_that_takes_long(
    handler, monkeypatch, capfd
):
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    with pytest.raises(Interrupted):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)
    assert (handler.came, ended) == (signal.SIGTERM, [])
    monkeypatch.setattr("experiments.study.signals.GRACE_S", 0.0)
    signal.raise_signal(signal.SIGINT)
    assert ended == [143]
    assert capfd.readouterr().err == "lpsm: terminated again; what was finished before is kept\n"


def test_a_signal_after_the_end_changes_nothing_of_it():
    code = (
        "import atexit, signal; from experiments.study.signals import handled\n"
        "atexit.register(signal.raise_signal, signal.SIGINT)\n"
        "with handled(to_the_end=True): raise SystemExit(7)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (ended.returncode, ended.stderr) == (7, b"")
