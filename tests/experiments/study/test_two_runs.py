"""Two runs into one folder at once: one finishes whole, the other is refused, and none of its bytes are published."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from click.testing import Result

from experiments.study.files import alone
from experiments.study.store import Store
from tests.experiments.browsing import contents, make
from tests.experiments.program import PROGRAM

COMMANDS = {
    "compare": ["compare", "--pages", "40", "--seeds", "6", "--policies", "none,psm,lpsm"],
    "population": ["population", "TRACE", "--pages-per-task", "5", "--policies", "none,psm,lpsm:log"],
    "reproduce": ["reproduce", "thesis/fig-2-7", "--size", "smoke"],
}
SETTINGS = {"pages": 3}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("browsing") / "sessions", 60, n_users=60)


def command(name: str, sessions: Path, out: Path, seed: int) -> list[str]:
    words = [str(sessions) if word == "TRACE" else word for word in COMMANDS[name]]
    return [*PROGRAM, *words, "--jobs", "1", "--seed", str(seed), "--out", str(out)]


@pytest.fixture(scope="module")
def wanted(sessions: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], dict[str, bytes]]:
    """Return what a command with a seed writes when it is alone."""

    @cache
    def made(name: str, seed: int) -> dict[str, bytes]:
        out = tmp_path_factory.mktemp(name) / "out"
        subprocess.run(command(name, sessions, out, seed), check=True, capture_output=True)
        return contents(out)

    return made


@pytest.mark.parametrize(
    ("name", "part"),
    [
        pytest.param(name, part, marks=[pytest.mark.long] if (name, part) != ("compare", 0) else [])
        for part in range(7) for name in COMMANDS
    ][:20],
)  # fmt: skip
def test_of_two_runs_into_one_folder_at_once_one_finishes_whole_and_the_other_is_refused(
    sessions: Path, wanted: Callable[[str, int], dict[str, bytes]], tmp_path: Path, name: str, part: int
) -> None:
    out = tmp_path / "out"
    both = [
        subprocess.Popen(command(name, sessions, out, seed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for seed in (0, 1)
    ]
    said = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2], said
    first, second = (0, 1) if both[0].returncode == 0 else (1, 0)
    assert said[second].splitlines()[-1].startswith(f"lpsm: another run writes here: {out}")
    assert "Traceback" not in said[second]
    assert contents(out) == wanted(name, first)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_another_run_has_is_refused_and_left_as_it_is(
    complaint: Callable[..., str], sessions: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    with alone(out / "RESULTS.md" if name == "reproduce" else out):
        before = contents(tmp_path)
        said = complaint(*command(name, sessions, out, 0)[len(PROGRAM) :])
        assert f"another run writes here: {out}" in said
        assert contents(tmp_path) == before


def test_a_run_that_was_killed_holds_no_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import sys, time; from pathlib import Path; from experiments.study.files import alone\n"
        "with alone(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "held\n"
    with pytest.raises(ValueError, match=f"another run writes here: {out}"):
        Store(out, "compare", SETTINGS)
    os.kill(owner.pid, signal.SIGKILL)
    owner.communicate()
    assert contents(tmp_path) == {"out.lock": b""}  # nothing about the owner
    store = Store(out, "compare", SETTINGS)
    store.publish()
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_a_file_that_another_program_changed_before_the_end_is_not_published(tmp_path: Path) -> None:
    store = Store(tmp_path / "out", "compare", SETTINGS)
    store.write("a.txt", "mine")
    (store.partial / "a.txt").write_text("another's")
    with pytest.raises(OSError, match=r"a\.txt is not as this run wrote it"):
        store.publish()
    assert not (tmp_path / "out").exists()


def test_a_page_that_a_killed_run_left_is_not_published_by_the_next(tmp_path: Path) -> None:
    store = Store(tmp_path / "out", "compare", SETTINGS)
    store.keep("first", 1)
    store.write("page.html", "half")
    del store  # as the kernel lifts the lock of a killed process
    store = Store(tmp_path / "out", "compare", SETTINGS)
    assert store.finished == {"first": 1}
    store.write("a.txt", "mine")
    store.publish()
    assert list(json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]) == ["a.txt"]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a.txt", "manifest.json"}


def test_a_smaller_comparison_says_that_it_removes_what_a_larger_one_had_finished(
    lpsm: Callable[..., Result], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    store = Store(out, "compare", {"pages": 500})
    store.keep("first", 1)
    store.abandon()
    result = lpsm("compare", "--pages", "2", "--seeds", "2", "--policies", "none,psm", "--jobs", "1", "--out", out)
    assert result.exit_code == 0
    said = f"lpsm: {out}.partial kept 1 finished tasks of another run, which this one replaces: pages was 500, is null"
    assert said in result.stderr
