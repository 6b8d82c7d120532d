"""The folder of results: whole or not there, one process at a time, gone on with, and never somebody else's."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from experiments.study.files import alone, content_digest, csv_text
from experiments.study.store import Store, journal_of
from tests.experiments.makers import contents
from tests.tables import cases_of, each, value_error

SETTINGS = {"pages": 3, "policies": ["none"]}


def made(folder, settings=SETTINGS, command="compare", **more):
    store = Store(folder, command, settings, **more)
    store.write("a.txt", "result\n")
    store.publish()


def unfinished(folder, settings=SETTINGS):
    """Leave behind what a run that was stopped after a task does."""
    store = Store(folder, "compare", settings)
    store.keep("first", {"x": 0.1})
    store.write("half.txt", "half")
    store.abandon()
    return store.partial


def test_a_published_folder_holds_its_files_a_manifest_and_sums_that_sha256sum_checks(tmp_path):
    made(tmp_path / "out")
    assert sorted(contents(tmp_path)) == ["out/SHA256SUMS", "out/a.txt", "out/manifest.json"]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["command"], manifest["configuration"]) == ("compare", SETTINGS)
    assert manifest["files"] == {"a.txt": content_digest(tmp_path / "out" / "a.txt")}
    if shutil.which("sha256sum"):
        check = ["sha256sum", "--quiet", "-c", "SHA256SUMS"]
        assert subprocess.run(check, cwd=tmp_path / "out").returncode == 0
        (tmp_path / "out" / "a.txt").write_text("changed\n")
        assert subprocess.run(check, cwd=tmp_path / "out", capture_output=True).returncode == 1


def test_results_of_the_same_command_are_replaced_with_a_word_if_they_differ_and_of_no_other(tmp_path, capsys):
    for _ in range(2):
        made(tmp_path / "out")
    assert capsys.readouterr() == ("", "")  # the same again
    before, said = contents(tmp_path), f"{tmp_path / 'out'} holds a result of other options or data"
    with value_error(f"{said}: --force replaces it, or choose another --out"):
        made(tmp_path / "out", {"pages": 4})
    assert contents(tmp_path) == before
    made(tmp_path / "out", {"pages": 4}, force=True)
    assert capsys.readouterr() == ("", f"lpsm: {said}, and is replaced\n")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    with value_error("must be new or hold results of lpsm replay"):
        made(tmp_path / "out", command="replay")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["configuration"] == {"pages": 4}


def test_what_somebody_else_put_there_is_left_alone(tmp_path):
    out, foreign = tmp_path / "out", tmp_path / "foreign"
    made(out)
    (out / "notes.txt").write_text("mine")
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("years of work")
    (tmp_path / "file").write_text("a file")
    before = contents(tmp_path)
    for folder, rule in ((out, r"holds notes\.txt, which lpsm compare did not write"),
        (foreign, "must be new or hold results"), (tmp_path / "file", "must be a folder, .*/file is a file"),
        (tmp_path / "file" / "below", "must be a folder, .*/file is a file")):  # fmt: skip
        with value_error(rule):
            made(folder)
    assert contents(tmp_path) == before
    (out / "notes.txt").unlink()
    store = Store(out, "compare", SETTINGS)
    store.keep("first", 1)
    (out / "letter.txt").write_text("dear")  # meanwhile
    with pytest.raises(OSError, match=r"letter\.txt"), store.giving_up():
        store.publish()
    assert (out / "letter.txt").read_text() == "dear"
    assert journal_of(store.partial) == {"first": 1}


def test_an_empty_folder_may_be_used_and_a_run_stopped_before_it_took_its_name_is_gone_on_with(tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    store = Store(out, "compare", SETTINGS)
    store.keep("first", 1)
    store.write("a.txt", "whole")
    monkeypatch.setattr(type(out), "rename", None)
    with pytest.raises(TypeError):
        store.publish()
    store._alone.close()  # as of a process that was killed
    monkeypatch.undo()
    (store.partial / ".a.txt.0123456789ab.lpsm-tmp").write_text("half")  # while it wrote
    again = Store(out, "compare", SETTINGS)
    assert again.finished == {"first": 1}
    assert sorted(contents(again.partial)) == ["finished.jsonl", "manifest.json"]
    again.publish()
    (out / ".report.html.0123456789ab.lpsm-tmp").write_text("half")  # what no page has its name of is not ours
    with value_error(r"holds \.report\.html\."):
        Store(out, "compare", SETTINGS)


def test_what_a_run_left_that_was_killed_between_two_names_goes_with_the_next_and_nothing_else_does(tmp_path):
    out = tmp_path / "out"
    made(out)
    begun = unfinished(tmp_path / "begun")
    left = {name: tmp_path / f".{name}.0123456789ab.lpsm-tmp" for name in ("out", "out.partial", "other")}
    for name, there in {"out": out, "out.partial": begun, "other": out}.items():
        shutil.copytree(there, left[name])
    changed, more = (tmp_path / f".out.{digit * 12}.lpsm-tmp" for digit in "ab")
    for path, name in ((changed, "a.txt"), (more, "mine.txt")):
        shutil.copytree(out, path)
        (path / name).write_text("mine")
    made(out)
    assert [path.exists() for path in (*left.values(), changed, more)] == [False, False, True, True, True]


@each("command", ["compare", "population"])
def test_a_part_that_no_journal_names_is_somebody_elses_and_stays(tmp_path, command):
    store = Store(tmp_path / "out", command, SETTINGS)
    store.keep_part("part-000001.parquet", b"ours")
    store.abandon()
    stray = store.partial / "part-000002.parquet"
    stray.write_bytes(b"mine")
    with value_error("holds part-000002.parquet"):
        Store(tmp_path / "out", command, SETTINGS)
    assert stray.read_bytes() == b"mine"
    stray.unlink()
    assert Store(tmp_path / "out", command, SETTINGS).finished.keys() == {"part-000001.parquet"}


def test_the_mode_of_a_folder_and_what_it_is_a_link_to_stay(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "out").symlink_to("real")
    for _ in range(2):
        made(tmp_path / "out")
        assert (tmp_path / "out").is_symlink()
        assert (tmp_path / "real").stat().st_mode & 0o777 == 0o700
    assert contents(tmp_path / "real").keys() == {"a.txt", "manifest.json", "SHA256SUMS"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "real"]


def test_what_was_put_into_the_earlier_result_in_the_last_moment_stays_and_is_named(tmp_path, monkeypatch):
    made(tmp_path / "out")
    store, held = Store(tmp_path / "out", "compare", SETTINGS), Store._held

    def late(self, folder):
        found = held(self, folder)
        (tmp_path / "out" / "mine").write_text("dear")
        return found

    monkeypatch.setattr(Store, "_held", late)
    with pytest.raises(OSError, match="cannot be removed") as raised, store.giving_up():
        store.publish()
    assert f"the results are in {tmp_path / 'out'}" in raised.value.__notes__[0]
    [kept] = [path for path in tmp_path.iterdir() if path.name != "out"]
    assert contents(kept) == {"mine": b"dear"}


def test_what_was_finished_comes_back_for_the_same_configuration_and_only_if_it_is_whole(tmp_path):
    partial = unfinished(tmp_path / "out")
    assert sorted(contents(partial)) == ["finished.jsonl", "manifest.json"]
    with (partial / "finished.jsonl").open("a") as journal:
        journal.write('["second", {"cut of')  # the machine stopped in the middle of a line
    again = Store(tmp_path / "out", "compare", SETTINGS)
    assert again.finished == {"first": {"x": 0.1}}
    again.keep("third", 3)
    again.abandon()
    again = Store(tmp_path / "out", "compare", SETTINGS)
    assert again.finished == {"first": {"x": 0.1}, "third": 3}
    again.publish()
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["files"] == {}
    unfinished(tmp_path / "other")
    assert Store(tmp_path / "other", "compare", {"pages": 99}).finished == {}


@each("error", [KeyboardInterrupt(), OSError(28, "No space left"), ValueError("bad"), RuntimeError("bug")])
@cases_of("finished", "True ; False")
def test_giving_up_keeps_what_can_be_gone_on_with_and_says_so(tmp_path, error, finished):
    store = Store(tmp_path / "out", "compare", SETTINGS)
    if finished:
        store.keep("first", 1)
    with pytest.raises(type(error)) as raised, store.giving_up():
        raise type(error)(*error.args)
    assert bool(contents(tmp_path)) == finished
    said = "the same command goes on from there" if finished else "nothing is kept"
    assert said in "".join(raised.value.__notes__)


def test_a_folder_has_one_owner_who_loses_it_when_killed(tmp_path):
    out = tmp_path / "out"
    code = (
        "import sys, time; from pathlib import Path; from experiments.study.files import alone\n"
        "with alone(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "held\n"
    with value_error(f"another run writes here: {out}"):
        Store(out, "compare", SETTINGS)
    os.kill(owner.pid, signal.SIGKILL)
    owner.communicate()
    assert contents(tmp_path) == {".out.lpsm-lock": b""}  # nothing about the owner
    with alone(out), value_error("another run"), alone(out):
        pass
    made(out)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_csv_keeps_nanoseconds_of_times_and_all_of_other_numbers_of_columns_and_of_frames():
    columns = {"policy": "psm:100", "page": ["plain", 'with "quotes", a comma', "and\na line"],
        "latency_s": np.array([0.1234567894, 1e-9, np.nan]), "beacons": np.array([0, 1, 2**40]),
        "energy_j": np.array([1 / 3, 1e-17, 2.0])}  # fmt: skip
    text = csv_text(columns)
    assert text == csv_text(pd.DataFrame(columns))
    assert text.splitlines()[1] == f"psm:100,plain,0.123456789,0,{1 / 3!r}"
    back = pd.read_csv(io.StringIO(text))
    assert back["energy_j"].tolist() == columns["energy_j"].tolist()
    assert back["page"].tolist() == ["plain", 'with "quotes", a comma', "and\\na line"]  # which is inert


def test_a_folders_digest_depends_on_names_and_contents(tmp_path):
    for name, text in (("one", "x"), ("two", "x"), ("three", "y")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(text)
    assert content_digest(tmp_path / "one") == content_digest(tmp_path / "two") != content_digest(tmp_path / "three")
    (tmp_path / "two" / "file").rename(tmp_path / "two" / "other")
    assert content_digest(tmp_path / "one") != content_digest(tmp_path / "two")
