from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.study.files import columns_text, content_digest, csv_text, write_file
from experiments.study.store import Store

SETTINGS = {"pages": 3, "policies": ["none"]}


def made(folder: Path, settings: dict[str, object] = SETTINGS, command: str = "compare") -> None:
    store = Store(folder, command, settings)
    store.write("a.txt", "result\n")
    store.publish()


def test_a_published_folder_holds_its_files_and_a_manifest_with_their_digests(tmp_path: Path) -> None:
    made(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.txt", "manifest.json"]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["command"] == "compare"
    assert manifest["configuration"] == SETTINGS
    assert manifest["files"] == {"a.txt": content_digest(tmp_path / "out" / "a.txt")}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_results_of_the_same_command_are_replaced_and_of_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path / "out")
    made(tmp_path / "out")
    assert capsys.readouterr() == ("", "")  # the same again
    made(tmp_path / "out", {"pages": 4})
    said = f"lpsm: {tmp_path / 'out'} held another result, which this one replaces: pages was 3, is 4, "
    assert capsys.readouterr() == ("", said + 'policies was ["none"], is null\n')
    with pytest.raises(ValueError, match="must be new or hold results of lpsm replay"):
        made(tmp_path / "out", command="replay")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["configuration"] == {"pages": 4}


def test_a_folder_that_holds_somebodys_file_is_left_alone(tmp_path: Path) -> None:
    made(tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"holds notes\.txt, which lpsm compare did not write"):
        made(tmp_path / "out")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="must be new or hold results"):
        made(foreign)
    assert (foreign / "thesis.tex").read_text() == "years of work"
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    made(tmp_path / "out")
    assert (tmp_path / "out" / "a.txt").exists()


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    for folder in ("out", "out/below"):
        with pytest.raises(ValueError, match=r"must be a folder, .*/out is a file"):
            made(tmp_path / folder)


def test_finished_parts_come_back_only_for_the_same_configuration(tmp_path: Path) -> None:
    store = Store(tmp_path / "out", "compare", SETTINGS)
    store.keep("first", {"x": 0.1})
    store.keep("second", [1, 2])
    store.abandon()
    with (store.partial / "finished.jsonl").open("a") as journal:
        journal.write('["third", {"cut of')  # the machine stopped in the middle of a line
    again = Store(tmp_path / "out", "compare", SETTINGS)
    assert again.finished == {"first": {"x": 0.1}, "second": [1, 2]}
    again.keep("third", 3)
    again.abandon()
    assert Store(tmp_path / "out", "compare", SETTINGS).finished["third"] == 3
    assert Store(tmp_path / "out", "compare", {"pages": 99}).finished == {}


def test_giving_up_with_nothing_finished_leaves_nothing(tmp_path: Path) -> None:
    Store(tmp_path / "out", "compare", SETTINGS).abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    write_file(tmp_path / "new" / "a.txt", "one")
    write_file(tmp_path / "new" / "a.txt", b"two")
    assert (tmp_path / "new" / "a.txt").read_text() == "two"
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"a directory|exists"):
        write_file(tmp_path / "file" / "a.txt", "x")
    with pytest.raises(OSError, match="is a folder"):
        write_file(tmp_path / "new", "x")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.txt", "file", "new"]


def test_csv_keeps_nanoseconds_of_times_and_all_of_other_numbers() -> None:
    frame = pd.DataFrame({"latency_s": [0.1234567894, np.nan], "energy_j": [1 / 3, 2e-17], "beacons": [3, 0]})
    text = csv_text(frame)
    assert text.splitlines()[1] == f"0.123456789,{1 / 3!r},3"
    back = pd.read_csv(io.StringIO(text))
    assert back["energy_j"].tolist() == frame["energy_j"].tolist()


def test_a_folders_digest_depends_on_names_and_contents(tmp_path: Path) -> None:
    for name, text in (("one", "x"), ("two", "x"), ("three", "y")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(text)
    assert content_digest(tmp_path / "one") == content_digest(tmp_path / "two") != content_digest(tmp_path / "three")
    (tmp_path / "two" / "file").rename(tmp_path / "two" / "other")
    assert content_digest(tmp_path / "one") != content_digest(tmp_path / "two")


def test_columns_and_frames_are_the_same_text():
    columns = {
        "policy": "psm:100",
        "page": ["plain", 'with "quotes", a comma', "and\na line"],
        "latency_s": np.array([0.1, 1e-9, 12345.678901234]),
        "beacons": np.array([0, 1, 2**40]),
        "energy_j": np.array([1 / 3, 1e-17, 2.0]),
    }
    assert columns_text(columns, 3) == csv_text(pd.DataFrame(columns))
