"""Streams in files of other systems, and arrays that hold no numbers: read, or one line that names the file."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from experiments.datasets import files, npz, read, text


def test_lines_may_end_as_on_any_system(tmp_path: Path) -> None:
    table = "a,b,label\n1,2,x\n2,1,y\n0,1,x\n"
    found = []
    for name, end in (("unix", "\n"), ("windows", "\r\n"), ("old", "\r")):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(table.replace("\n", end).encode())
        found.append(read(path))
    assert all(np.array_equal(stream.X, found[0].X) and np.array_equal(stream.y, found[0].y) for stream in found)
    assert [list(stream.lines) for stream in found] == [[2, 3, 4]] * 3


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"y": np.array(1)}, "y must be a vector"),
        ({"X": np.array(1.0)}, "X must"),
        ({"X": np.ones((3, 2)) * 1j}, "complex"),
        ({"data": np.ones(3) * 1j}, "the type of data is complex"),
        ({"indices": np.array([np.nan, 0.0, 1.0])}, "the type of indices is float"),
        ({"shape": np.array([np.inf, 2.0])}, "the type of shape is float"),
        ({"shape": np.array(3)}, "X must be a matrix"),
        ({"indptr": np.array([0, 1, 2, 10**9])}, "X must be a matrix"),
        ({"indptr": np.array([0, 2, 3, -1]), "indices": np.array([7, 10**6, -9])}, "X must be a matrix"),
        ({"indptr": np.array([0, 3, 1, 3])}, "X must be a matrix"),
        ({"indices": np.array([0, 1, 2**64 - 1], dtype=np.uint64)}, "X must be a matrix"),
        ({"y": np.array([2**31 - 1] * 3, dtype=np.uint32).view("U1")}, "y must be text in Unicode"),
    ],
)
def test_arrays_that_are_no_stream_are_one_line_that_names_the_file(
    tmp_path: Path, changed: dict[str, Any], rule: str
) -> None:
    sparse = {
        "data": np.ones(3), "indices": np.array([0, 1, 0]), "indptr": np.array([0, 1, 2, 3]), "shape": np.array([3, 2]),
    }  # fmt: skip
    arrays = {"y": np.array([0, 1, 0]), **({} if "X" in changed else sparse), **changed}
    if "y" in changed:
        arrays = {"X": np.ones((3, 2)), **changed}
    path = tmp_path / "stream.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=rule) as raised:
        read(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_header_that_numpy_cannot_parse_is_one_line_that_names_the_file(tmp_path: Path) -> None:
    for name, header in (
        ("open", "{'descr': '<f8"),
        ("long", "{'shape': (" + "9" * 5000 + ",)}"),
        ("deep", "[" * 9000),
    ):
        path = tmp_path / f"{name}.npz"
        start = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little")
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("y.npy", start + header.encode())
        with pytest.raises(ValueError, match="must hold plain arrays, and be whole") as raised:
            read(path)
        assert str(path) in str(raised.value)


@pytest.mark.parametrize("kind", ["table", "svmlight", "npz", "line"])
def test_a_stream_that_unpacks_to_more_than_is_read_is_refused_with_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(npz if kind == "npz" else text, "MAX_STREAM_BYTES", 10_000)
    monkeypatch.setattr(text, "_LONGEST_LINE_BYTES", 5_000)
    path = tmp_path / "stream"
    if kind == "npz":
        with path.open("wb") as file:
            np.savez_compressed(file, X=np.zeros((1000, 2)), y=np.zeros(1000))
    else:
        line = {"table": b"1,2,x\n", "svmlight": b"1 1:2\n", "line": b"1,2,"}[kind]
        path.write_bytes(gzip.compress(line * 10_000))
    with pytest.raises(ValueError, match=r"10000|must not be longer than 5000 bytes"):
        read(path)


@pytest.mark.parametrize("line", ["1,2,x\n", "1 1:2 3:4\n", '{"a": 1, "label": "x"}\n'])
def test_a_stream_of_too_many_cells_is_refused_before_any_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    path = tmp_path / "stream"
    path.write_text(line * 100)
    assert len(read(path).y) == 100
    monkeypatch.setattr(text, "MOST_CELLS", 299)
    with pytest.raises(ValueError, match="must hold at most 299 cells, got more"):
        read(path)


def test_a_first_line_without_names_is_refused_with_the_next(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_text('{}\n{"a": 1, "label": "x"}\n')
    with pytest.raises(ValueError, match="line 2: every line must name , got a, label"):
        read(path)


def test_a_label_of_a_parquet_file_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "stream.parquet"
    pd.DataFrame({"a": [0.0, 1.0, 2.0], "label": [1.0, np.nan, 1.0]}).to_parquet(path)
    with pytest.raises(ValueError, match="row 1: a label must name a class, got ''"):
        read(path)


def test_a_parquet_file_of_too_many_cells_is_refused_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "stream.parquet"
    pd.DataFrame({"a": np.zeros(1000), "label": 1}).to_parquet(path)
    assert len(read(path).y) == 1000
    monkeypatch.setattr(files, "MOST_CELLS", 1999)
    with pytest.raises(ValueError, match="1000 rows of 2 columns; 1999 cells are read"):
        read(path)
    pd.DataFrame({"a": [np.zeros(2000)], "label": 1}).to_parquet(path)
    with pytest.raises(ValueError, match="lists or records in a; numbers and texts are read"):
        read(path)
    path.write_bytes(path.read_bytes()[:-9] + b"damagePAR")
    with pytest.raises(ValueError, match="a parquet file must be whole"):
        read(path)
