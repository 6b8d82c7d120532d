"""Streams in files of other systems, and arrays that hold no numbers: read, or one line that names the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.datasets import read


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
