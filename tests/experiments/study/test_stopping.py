"""However a command of several processes ends, nobody is left, and the same command ends in the same bytes.

The population stands for all commands: they share what runs tasks and the store.
"""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.experiments.makers import PROGRAM, contents, sessions
from tests.tables import each

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the kernel lists no processes here")
OTHERS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
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
def trace(tmp_path_factory):
    return sessions(tmp_path_factory.mktemp("browsing") / "sessions", 60, n_users=60)


def command(trace, out, *more):
    words = ["population", str(trace), "--pages-per-task", "5", "--policies", "none,psm,lpsm:log", "--out", str(out)]
    return [*words, *more]


def start(words):
    return subprocess.Popen(
        [*PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # not as under nohup
    )  # fmt: skip


def processes_of(session, name=b""):
    """Return the processes of a session, by what the kernel says of each."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            of_it = folder.name.isdigit() and int(fields[3]) == session and fields[0] != "Z"
            if of_it and name in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def nobody_is_left_of(session):
    deadline = time.monotonic() + 60.0
    while left := processes_of(session):
        assert time.monotonic() < deadline, f"{len(left)} processes outlive the program"
        time.sleep(0.05)


@each("number", [signal.SIGINT, *(pytest.param(one, marks=pytest.mark.long) for one in OTHERS)])
def test_workers_end_with_their_parent_however_it_ends(trace, tmp_path, number):
    slow = tmp_path / "slow.py"  # so that no machine is quick enough to end before the signal comes
    slow.write_text(SLOW_POLICY)
    process = start(command(trace, tmp_path / "out", "--jobs", "2", "--policies", f"none,psm,{slow}:Slow"))
    deadline = time.monotonic() + 600
    while len(processes_of(process.pid, b"multiprocessing.spawn")) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if number in (signal.SIGINT, signal.SIGHUP):
        os.killpg(process.pid, number)  # what a terminal does on Ctrl-C, and when it is closed
    else:
        process.send_signal(number)
    if number == signal.SIGINT:
        time.sleep(0.1)
        os.killpg(process.pid, number)  # by somebody impatient
    stdout, stderr = process.communicate(timeout=600)
    nobody_is_left_of(process.pid)
    assert stdout == "", stderr
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
        return
    assert "Traceback" not in stderr
    assert "resource_tracker" not in stderr
    assert process.returncode == 128 + number
    (line,) = [line for line in stderr.splitlines() if line.startswith("lpsm: ")]
    assert line.startswith("lpsm: interrupted" if number == signal.SIGINT else "lpsm: terminated")
    assert "kept" in line


@pytest.mark.long
def test_a_run_killed_at_ten_random_instants_ends_in_the_bytes_of_one_that_nobody_disturbed(trace, tmp_path):
    whole, killed, draw, kept = tmp_path / "whole", tmp_path / "killed", random.Random(4), [0]
    more = ("--jobs", "1", "--pages-per-task", "1")
    assert start(command(trace, whole, *more)).wait() == 0
    for _ in range(10):
        process, wanted = start(command(trace, killed, *more)), kept[-1] + draw.randint(1, 3)
        while process.poll() is None and len([*tmp_path.glob("killed.partial/part-*.parquet")]) < wanted:
            time.sleep(0.002)
        time.sleep(draw.uniform(0.0, 0.05))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        kept.append(len([*tmp_path.glob("killed.partial/part-*.parquet")]))
    assert kept[1] > 0
    assert kept == sorted(kept)
    assert start(command(trace, killed, *more)).wait() == 0
    assert contents(killed) == contents(whole)
