"""Signals at any instant: what was finished stays, and resuming ends in the bytes of a run that nobody disturbed."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.experiments.browsing import contents, make
from tests.experiments.program import PROGRAM, finish


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("browsing") / "sessions", 150, n_users=150)


def command(trace: Path, out: Path, *more: str) -> list[str]:
    return [
        "population", str(trace), "--pages-per-task", "5", "--policies", "none,psm,lpsm:log",
        "--out", str(out), *more,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    finish(command(trace, out, "--jobs", "1"))
    return contents(out)


def start(trace: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROGRAM, *command(trace, out, *more)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def wait_for_parts(process: subprocess.Popen[str], out: Path, at_least: int) -> None:
    deadline = time.monotonic() + 60
    while len(list(out.glob("users/*.parquet"))) < at_least:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def nobody_is_left_of(process: subprocess.Popen[str]) -> None:
    """Workers end when their parent was killed."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("worker processes outlive the program")


def killed_and_resumed(
    trace: Path, out: Path, wanted: dict[str, bytes], n_kills: int, longest_s: float, draw: random.Random
) -> int:
    """Kill at random instants and resume, again and again; return how often the end was reached in between."""
    ends = kills = parts = 0
    while kills < n_kills:
        process = start(trace, out, "--jobs", "2", "--resume")
        try:
            process.wait(timeout=draw.uniform(0.0, longest_s))
        except subprocess.TimeoutExpired:
            process.kill()
            kills += 1
        process.communicate()
        nobody_is_left_of(process)
        if process.returncode == 0:
            assert contents(out) == wanted
            shutil.rmtree(out)
            ends, parts = ends + 1, 0
        elif out.exists():
            assert process.returncode == -signal.SIGKILL
            found = len(list(out.glob("users/*.parquet")))
            assert found >= parts  # nothing that was finished is lost
            parts = found
    finish(command(trace, out, "--jobs", "1", "--resume"))
    assert contents(out) == wanted
    return ends


def test_three_kills_with_resume_give_the_bytes_of_an_undisturbed_run(
    trace: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    out = tmp_path / "out"
    for parts, jobs in ((1, "1"), (20, "2"), (45, "1")):
        process = start(trace, out, "--jobs", jobs, "--resume")
        wait_for_parts(process, out, parts)
        process.kill()
        process.communicate()
        nobody_is_left_of(process)
    assert len(list(out.glob("users/*.parquet"))) >= 45
    finish(command(trace, out, "--jobs", "1", "--resume"))
    assert contents(out) == undisturbed


@pytest.mark.long
def test_fifty_kills_at_random_instants_with_resume_give_the_bytes_of_an_undisturbed_run(
    trace: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    began = time.monotonic()
    subprocess.run([*PROGRAM, *command(trace, tmp_path / "timed", "--jobs", "2")], check=True, capture_output=True)
    whole_s = time.monotonic() - began
    ends = killed_and_resumed(trace, tmp_path / "out", undisturbed, 50, 1.2 * whole_s, random.Random(0))
    print(f"50 kills, {ends} runs reached their end in between, an undisturbed one takes {whole_s:.1f} s")


@pytest.mark.parametrize(
    ("number", "jobs", "status", "word"),
    [(signal.SIGINT, "2", 130, "interrupted"), (signal.SIGTERM, "1", 143, "terminated")],
)
def test_an_interrupted_run_says_what_it_keeps(
    trace: Path, tmp_path: Path, number: signal.Signals, jobs: str, status: int, word: str
) -> None:
    out = tmp_path / "out"
    process = start(trace, out, "--jobs", jobs)
    wait_for_parts(process, out, 3)
    os.killpg(process.pid, number)  # what a terminal does on Ctrl-C
    stdout, stderr = process.communicate(timeout=30)
    nobody_is_left_of(process)
    assert process.returncode == status, stderr
    assert stdout == ""
    assert "Traceback" not in stderr
    (line,) = [line for line in stderr.splitlines() if line.startswith("lpsm: ")]
    # A task whose line was written when the signal came may be written down once more.
    kept = len(set((out / "finished.jsonl").read_text().splitlines()))
    assert f"{word}; {kept} finished tasks are kept in {out}" in line
    assert kept <= len(list(out.glob("users/*.parquet"))) <= kept + 1  # one may have been about to be listed
    assert not list(out.rglob("*.tmp"))


def test_a_file_that_cannot_grow_is_one_clear_line(trace: Path, tmp_path: Path) -> None:
    def no_large_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))  # less than one part

    done = subprocess.run(
        [*PROGRAM, *command(trace, tmp_path / "out", "--jobs", "1", "--by", "session")],
        capture_output=True, text=True, preexec_fn=no_large_files, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").rglob("*.tmp"))
