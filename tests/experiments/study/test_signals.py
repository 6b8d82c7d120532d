"""However a program of several processes ends, none of them is left, and what was finished is gone on from."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from tests.experiments.browsing import contents, make
from tests.experiments.program import PROGRAM

COMMANDS = {
    "compare": ["compare", "--pages", "60", "--seeds", "8", "--policies", "none,psm,lpsm"],
    "tune": ["tune", "--pages", "60", "--seeds", "8", "--policies", "psm,bsd:1,lpsm"],
    "population": ["population", "TRACE", "--pages-per-task", "5", "--policies", "none,psm,lpsm:log"],
    "reproduce": ["reproduce", "thesis/fig-2-7", "--size", "smoke"],
}


SLOW_POLICY = """
import time
from netsim.policies.static import StaticPsm

class Slow:
    spec, host_aware = "slow.py:Slow", False

    def __init__(self, beacon_interval_ns):
        self.psm = StaticPsm(beacon_interval_ns=beacon_interval_ns)

    def plan(self, view):
        time.sleep(0.05)
        return self.psm.plan(view)
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("browsing") / "sessions", 60, n_users=60)


def command(name: str, trace: Path, out: Path, *more: str) -> list[str]:
    words = [str(trace) if word == "TRACE" else word for word in COMMANDS[name]]
    return [*PROGRAM, *words, "--out", str(out), *more]


def _not_as_under_nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def start(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=_not_as_under_nohup,
    )  # fmt: skip


def processes_of(session: int) -> list[int]:
    """Return the processes of a session, by what the kernel says of each."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if folder.name.isdigit() and int(fields[3]) == session and fields[0] != "Z":
            found.append(int(folder.name))
    return found


def workers_of(session: int) -> list[int]:
    """Return its workers alone: Python's own tracker of semaphores complains by itself when it is killed."""
    return [number for number in processes_of(session) if b"multiprocessing.spawn" in _command_line(number)]


def _command_line(number: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{number}/cmdline").read_bytes()
    return b""


def wait_for_workers(process: subprocess.Popen[str], count: int) -> list[int]:
    """Wait until the workers are there."""
    deadline = time.monotonic() + 60
    while len(found := workers_of(process.pid)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def nobody_is_left_of(session: int, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while left := processes_of(session):
        assert time.monotonic() < deadline, f"{len(left)} processes outlive the program"
        time.sleep(0.05)


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the kernel lists no processes here")


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("name", ["compare", "population"])
def test_workers_end_within_two_seconds_of_their_parent_however_it_ends(
    trace: Path, tmp_path: Path, name: str, number: signal.Signals
) -> None:
    slow = tmp_path / "slow.py"  # so that no machine is quick enough to end before the signal comes
    slow.write_text(SLOW_POLICY)
    process = start(command(name, trace, tmp_path / "out", "--jobs", "2", "--policies", f"none,psm,{slow}:Slow"))
    wait_for_workers(process, 2)
    process.send_signal(number)
    process.wait(timeout=60)
    nobody_is_left_of(process.pid, within_s=2.0)
    stdout, stderr = process.communicate()
    assert stdout == "", stderr
    assert "leaked" not in stderr
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        return
    assert "Traceback" not in stderr
    assert process.returncode == 128 + number
    lines = [line for line in stderr.splitlines() if line.startswith("lpsm: ")]
    assert len(lines) == 1, stderr
    word = "interrupted" if number == signal.SIGINT else "terminated"
    assert lines[0].startswith(f"lpsm: {word}")
    assert "kept" in lines[0]


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_terminal_that_ends_the_whole_group_is_answered_in_one_line(
    trace: Path, tmp_path: Path, number: signal.Signals
) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text(SLOW_POLICY)
    process = start(command("population", trace, tmp_path / "out", "--jobs", "2", "--policies", f"{slow}:Slow"))
    wait_for_workers(process, 2)
    time.sleep(3.0)  # they have begun, and wait for more
    os.killpg(process.pid, number)
    stdout, stderr = process.communicate(timeout=60)
    nobody_is_left_of(process.pid, within_s=2.0)
    assert (process.returncode, stdout) == (128 + number, "")
    assert "Traceback" not in stderr
    assert "resource_tracker" not in stderr
    assert sum(line.startswith("lpsm: ") for line in stderr.splitlines()) == 1, stderr


@needs_proc
def test_a_worker_that_is_killed_ends_the_program_in_one_line(trace: Path, tmp_path: Path) -> None:
    process = start(command("compare", trace, tmp_path / "out", "--jobs", "2"))
    children = wait_for_workers(process, 2)
    time.sleep(1.5)
    os.kill(children[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)
    nobody_is_left_of(process.pid, within_s=2.0)
    assert "Traceback" not in stderr
    assert process.returncode in (0, 2), stderr  # 0 if everything was computed by then


BUSY_EXPLORER = """
import time
from experiments.explore.answer import Explorer

def warm_up(self):
    future = self._threads.submit(time.sleep, 60)
    print("busy", flush=True)
    future.result()

Explorer.warm_up = warm_up
from experiments.cli import main
main(["explore", "--port", "0"])
"""


@needs_proc
@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_explorer_ends_within_two_seconds_even_while_its_threads_compute(number: signal.Signals) -> None:
    process = start([sys.executable, "-c", BUSY_EXPLORER])
    assert process.stdout is not None
    assert process.stdout.readline() == "busy\n"
    process.send_signal(number)
    _, stderr = process.communicate(timeout=2)
    assert process.returncode == 128 + number
    assert stderr.count("lpsm: ") == 1
    assert "the explorer has ended" in stderr


@pytest.fixture(scope="module")
def undisturbed(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, float]]:
    """Return what a command leaves behind when nothing ends it, and how long it takes."""

    @cache
    def run(name: str) -> tuple[Path, float]:
        out = tmp_path_factory.mktemp(name) / "wanted"
        began = time.monotonic()
        subprocess.run(command(name, trace, out, "--jobs", "2"), check=True, capture_output=True)
        return out, time.monotonic() - began

    return run


@needs_proc
@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("name", list(COMMANDS))
def test_signals_at_random_instants_with_resume_give_the_bytes_of_an_undisturbed_run(
    trace: Path, undisturbed: Callable[[str], tuple[Path, float]], tmp_path: Path, name: str, part: int
) -> None:
    draw = random.Random(f"{name} {part}")
    wanted, whole_s = undisturbed(name)
    out = tmp_path / "out"
    resume = ["--resume"] if name == "population" else []
    sent = 0
    while sent < 5:
        process = start(command(name, trace, out, "--jobs", "2", *resume))
        try:
            process.wait(timeout=draw.uniform(0.0, 1.1 * whole_s))
        except subprocess.TimeoutExpired:
            number = draw.choice([signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
            victim = draw.choice([process.pid, *workers_of(process.pid)])
            os.kill(victim, number)
            sent += 1
            print(f"{name}: {number.name} to the {'program' if victim == process.pid else 'worker'}")
        try:
            _, stderr = process.communicate(timeout=20 * whole_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        nobody_is_left_of(process.pid, within_s=2.0)
        if process.returncode != -signal.SIGKILL:  # a worker that starts while its parent is killed may complain
            assert "Traceback" not in stderr, stderr
        if process.returncode == 0:
            assert contents(out) == contents(wanted)
    subprocess.run(command(name, trace, out, "--jobs", "2", *resume), check=True, capture_output=True)
    assert contents(out) == contents(wanted)
