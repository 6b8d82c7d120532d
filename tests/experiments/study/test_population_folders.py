"""What becomes of the folder of a population: resumed, replaced, refused, and left alone."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from experiments.cli import main
from experiments.study import executor, store
from tests.experiments.browsing import contents, damaged, make, population

Run = Callable[..., Result]


def test_resuming_repeats_what_is_not_whole_and_nothing_else(
    lpsm: Run, folder: Path, trace: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    options = ("--by", "session", "--resume")
    assert lpsm(*population(trace, out, *options)).exit_code == 0
    assert contents(out) == contents(folder)
    names = sorted(path.name for path in (out / "users").iterdir())
    (out / "users" / names[0]).unlink()
    (out / "users" / names[1]).write_bytes((out / "users" / names[1]).read_bytes()[:-7])
    spoilt = bytearray((out / "users" / names[2]).read_bytes())
    spoilt[40] ^= 1
    (out / "users" / names[2]).write_bytes(spoilt)
    kept = os.stat(out / "users" / names[3])
    assert lpsm(*population(trace, out, *options)).exit_code == 0
    assert contents(out) == contents(folder)
    again = os.stat(out / "users" / names[3])
    assert (again.st_ino, again.st_mtime_ns) == (kept.st_ino, kept.st_mtime_ns)


@pytest.mark.parametrize(
    ("changed", "what"),
    [(("--seed", "7"), "traffic"), (("--policies", "none,bsd:1"), "policies"), (("--mss", "1000"), "model"),
     (("--by", "user"), "traffic"), (("--pages-per-task", "7"), "pages_per_task")],
)  # fmt: skip
def test_resuming_another_configuration_is_refused_and_touches_nothing(
    lpsm: Run, complaint: Callable[..., str], folder: Path, trace: Path, changed: tuple[str, ...], what: str
) -> None:
    before = contents(folder)
    line = complaint(*population(trace, folder, "--by", "session", "--resume", *changed))
    assert "configuration" in line
    assert what in line
    assert contents(folder) == before


def test_a_full_disk_is_one_clear_line_and_what_was_finished_stays(
    lpsm: Run, folder: Path, trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0
    really = store.write_file

    def full(path: Path, content: str | bytes) -> None:
        nonlocal written
        written += path.suffix == ".parquet"
        if written > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        really(path, content)

    monkeypatch.setattr(store, "write_file", full)
    out = tmp_path / "out"
    result = lpsm(*population(trace, out, "--by", "session"))
    assert result.exit_code == 2
    errors = [line for line in result.stderr.splitlines() if line.startswith("lpsm: ")]
    assert len(errors) == 1
    assert "No space left on device" in errors[0]
    assert "2 finished tasks are kept" in errors[0]
    monkeypatch.undo()
    assert not list(out.rglob("*.tmp"))
    assert lpsm(*population(trace, out, "--by", "session", "--resume")).exit_code == 0
    assert contents(out) == contents(folder)


def test_an_unfinished_folder_is_not_replaced_but_a_finished_one_is(
    lpsm: Run, complaint: Callable[..., str], trace: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert lpsm(*population(trace, out, "--policies", "none,psm")).exit_code == 0
    assert lpsm(*population(trace, out, "--policies", "none")).exit_code == 0
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["files"]
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert "--resume" in complaint(*population(trace, out, "--policies", "none"))


def test_a_folder_with_somebody_elses_file_is_left_alone(
    lpsm: Run, complaint: Callable[..., str], trace: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert lpsm(*population(trace, out, "--policies", "none")).exit_code == 0
    (out / "users" / "letter.txt").write_text("dear")
    assert "letter.txt" in complaint(*population(trace, out, "--policies", "none"))
    assert "letter.txt" in complaint(*population(trace, out, "--policies", "none", "--resume"))
    assert (out / "users" / "letter.txt").read_text() == "dear"


def test_a_damaged_trace_is_one_line_and_leaves_nothing(
    complaint: Callable[..., str], lpsm: Run, tmp_path: Path
) -> None:
    trace = damaged(make(tmp_path / "sessions", 6))
    out = tmp_path / "out"
    line = complaint(*population(trace, out, "--by", "session", "--policies", "none"))
    assert max(trace.iterdir()).name in line
    assert not out.exists()
    assert lpsm(*population(trace, out, "--policies", "none", "--skip-damaged")).exit_code == 0


def test_finished_results_stay_until_new_ones_are_whole(
    complaint: Callable[..., str], lpsm: Run, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(folder, out)
    trace = make(tmp_path / "sessions", 8)
    assert "--resume" not in complaint(*population(damaged(trace), out, "--by", "session"))
    assert contents(out) == contents(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"out", "sessions"}
    shutil.rmtree(trace)
    repaired = make(trace, 8)
    assert lpsm(*population(repaired, out, "--by", "session")).exit_code == 0
    assert len(pd.read_parquet(out / "users")) == 8 * 4
    assert {path.name for path in tmp_path.iterdir()} == {"out", "sessions"}


def test_new_results_that_were_interrupted_are_gone_on_with_beside_the_earlier_ones(
    complaint: Callable[..., str], lpsm: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace, out, partial = make(tmp_path / "sessions", 8), tmp_path / "out", tmp_path / "out.partial"
    assert lpsm(*population(trace, tmp_path / "wanted", "--by", "session")).exit_code == 0
    shutil.copytree(folder, out)
    command = population(trace, out, "--by", "session")
    with monkeypatch.context() as interrupted:
        really = store.Store.keep

        def keep(self: store.Store, name: str, content: Any) -> None:
            if name == "part-000002.parquet":
                raise KeyboardInterrupt
            really(self, name, content)

        interrupted.setattr(store.Store, "keep", keep)
        result = lpsm(*command)
    assert result.exit_code == 130
    assert f"2 finished tasks are kept in {partial}" in result.stderr
    assert contents(out) == contents(folder)
    assert f"{partial} holds an unfinished run" in complaint(*command)
    assert "configuration" in complaint(*command, "--seed", "3", "--resume")
    kept = os.stat(partial / "users" / "part-000000.parquet").st_ino
    assert lpsm(*command, "--resume").exit_code == 0
    assert contents(out) == contents(tmp_path / "wanted")
    assert os.stat(out / "users" / "part-000000.parquet").st_ino == kept
    assert not partial.exists()


def test_a_run_killed_just_before_its_results_took_their_name_is_complete_when_it_is_resumed(
    lpsm: Run, folder: Path, trace: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(folder, tmp_path / "out.partial")
    shutil.copytree(folder, tmp_path / ".out.replaced")
    assert lpsm(*population(trace, out, "--by", "session", "--resume")).exit_code == 0
    assert contents(out) == contents(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_a_letter_put_into_the_earlier_results_meanwhile_is_left_alone_and_so_is_the_work(
    lpsm: Run, trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    command = population(trace, out, "--policies", "none")
    assert lpsm(*command).exit_code == 0
    with monkeypatch.context() as meanwhile:
        really = store.Store.keep

        def keep(self: store.Store, name: str, content: Any) -> None:
            (out / "letter.txt").write_text("dear")
            really(self, name, content)

        meanwhile.setattr(store.Store, "keep", keep)
        result = lpsm(*command)
    assert result.exit_code == 2
    assert "letter.txt" in result.stderr
    assert f"tasks are kept in {tmp_path / 'out.partial'}" in result.stderr
    (out / "letter.txt").unlink()
    assert lpsm(*command, "--resume").exit_code == 0
    assert not (tmp_path / "out.partial").exists()


@pytest.mark.parametrize("wrong", ["scheduler", "trace"])
def test_what_is_wrong_from_the_start_leaves_earlier_results_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setattr(executor, "CONNECT_S", 0.5)
    table, empty, out = tmp_path / "t.csv", tmp_path / "empty.csv", tmp_path / "out"
    table.write_text("time,bytes\n0.5,2000\n9.5,3000\n30,500\n")
    empty.write_text("")
    command = ["population", str(table), "--policies", "none,psm", "--jobs", "1", "--out", str(out)]
    assert CliRunner().invoke(main, command).exit_code == 0
    before = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    other = ["--scheduler", "tcp://127.0.0.1:1"] if wrong == "scheduler" else ["--jobs", "1"]
    source = str(empty if wrong == "trace" else table)
    result = CliRunner().invoke(main, ["population", source, "--policies", "none,psm", *other, "--out", str(out)])
    assert result.exit_code == 2
    assert {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
