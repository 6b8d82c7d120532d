"""Machine code called without numba, once it is compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lpsm import native
from lpsm.native.entries import FLOATS, Signature, entry_of
from tests.tables import each

ENTRY = """
import numpy as np
from lpsm.native import compiled

@compiled
def total(n):
    found = 0
    for i in range(n):
        found += i * i
    return found

@compiled
def made(n):
    some = np.ones(n)
    for i in range(1, n):
        some[i] += some[i - 1]
    return int(some[n - 1])
"""
CALL = """
import sys
import mine
from lpsm.native.entries import Entry, Signature
entry = Entry("mine.entry", "total", Signature(int, (int,)))
print(entry.is_ready, entry(5), "numba" in sys.modules)
"""
OF_OTHERS = CALL.replace("total", "made")


Run = Callable[[str], str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run code in a process of its own, in a place with a package of two kernels."""
    shutil.copytree(Path(native.__file__).parent, tmp_path / "lpsm" / "native",
        ignore=shutil.ignore_patterns("*pycache*"))  # fmt: skip
    (tmp_path / "mine").mkdir()
    for package in ("lpsm", "mine"):
        (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / "mine" / "entry.py").write_text(ENTRY)

    def run(code: str) -> str:
        kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
        found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=kept, capture_output=True, check=True)
        return found.stdout.decode().strip()

    return run


def damaged(content: bytes, other: bytes) -> dict[str, bytes]:
    """What may become of a file."""
    found = {"": b"", "half": content[: len(content) // 2], "another in its place": other}
    for at in (0, 31, 32, 40, len(content) // 2, len(content) - 1):
        found[f"a bit at {at}"] = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    return found


@each("ways", [pytest.param([""], id="empty"), pytest.param(None, id="each way", marks=pytest.mark.long)])
def test_a_damaged_file_is_compiled_again(run: Run, tmp_path: Path, ways: list[str] | None) -> None:
    assert (run(CALL), run(OF_OTHERS)) == ("False 30 True", "False 5 True")
    whole = {path: path.read_bytes() for path in tmp_path.rglob("*.code")}
    assert sorted(path.name.rpartition("-")[0] for path in whole) == ["mine.entry.made", "mine.entry.made.entry",
        "mine.entry.total.entry"]  # fmt: skip
    for path, content in whole.items():
        call, answer = (OF_OTHERS, "5 True") if "made" in path.name else (CALL, "30 True")
        for way, found in damaged(content, next(other for other in whole.values() if other != content)).items():
            if ways is None or (way in ways and "total" in path.name):
                path.write_bytes(found)
                assert run(call) == f"False {answer}", (path.name, way)
                assert run(call).startswith("True"), (path.name, way)


@pytest.mark.long
def test_an_entry_stands_alone_once_it_is_compiled(run: Run, tmp_path: Path) -> None:
    for _ in range(2):
        assert run(CALL) == "False 30 True"
        assert run(CALL) == "True 30 False"
        assert run(OF_OTHERS) == "False 5 True"
        assert run(OF_OTHERS) == "True 5 True"  # memory for an array is numba's: kept, but never alone
        (tmp_path / "mine" / "another.py").touch()


def test_signatures_of_arrays_and_numbers_are_called_as_they_are_written() -> None:
    entry = entry_of(scaled, Signature(float, (FLOATS, float, int, "int64[:, ::1]")))
    numbers, table = np.arange(4.0), np.zeros((2, 3), np.int64)
    assert entry(numbers, 2.5, -3, table) == 15.0
    assert (numbers.tolist(), table.tolist()) == ([0, 2.5, 5, 7.5], [[-3, 0, 0], [0, 0, -3]])
    with pytest.raises(RuntimeError, match="status"):
        entry(np.zeros(0), 2.5, -3, table)


def scaled(numbers: Any, factor: float, whole: int, table: Any) -> Any:
    """Fill in the table, multiply the numbers, and return their sum."""
    if numbers.size == 0:
        raise ValueError("there must be numbers")
    table[0, 0] = table[1, 2] = whole
    for i in range(numbers.size):
        numbers[i] *= factor
    return numbers.sum()
