"""Machine code called without numba, once it is compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lpsm import _compile
from netsim.running import standalone

ENTRY = """
import numpy as np
from lpsm._compile import compiled

@compiled
def total(n):
    found = 0
    for i in range(n):
        found += i * i
    return found

@compiled
def made(n):
    return int(np.ones(n).sum())
"""
CALL = """
import sys
import mine
from netsim.running.standalone import Standalone
entry = Standalone("mine.entry", "total")
print(entry.ready(), entry(5), "numba" in sys.modules)
"""


Run = Callable[[str], str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run code in a process of its own, in a place with a package of two kernels."""
    for module in (_compile, standalone):
        folder = tmp_path.joinpath(*module.__name__.split(".")[:-1])
        folder.mkdir(parents=True)
        shutil.copy(module.__file__, folder)
    (tmp_path / "mine").mkdir()
    for package in ("lpsm", "netsim", "netsim/running", "mine"):
        (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / "mine" / "entry.py").write_text(ENTRY)

    def run(code: str) -> str:
        kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
        found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=kept, capture_output=True, check=True)
        return found.stdout.decode().strip()

    return run


def damage(tmp_path: Path, how: str, *, alone: bool) -> None:
    """Damage the machine code that is kept of a kernel, that which stands alone or numba's own."""
    paths = [path for path in tmp_path.rglob("*.code") if ".standalone-" in path.name]
    others = [path for path in tmp_path.rglob("*.code") if ".standalone-" not in path.name]
    if not alone:
        for path in paths:
            path.unlink()
        paths, others = others, paths
    for path in paths:
        content = path.read_bytes()
        where = {"flip at": 32, "flip half way to": len(content) // 2, "flip the end of": len(content) - 1}.get(how)
        if where is not None:
            path.write_bytes(content[:where] + bytes([content[where] ^ 1]) + content[where + 1 :])
        elif how == "swap":
            path.write_bytes(others[0].read_bytes() if others[0].exists() else content[32:])
        else:
            path.write_bytes(content[: 0 if how == "empty" else len(content) // 2])


WAYS = ["flip at", "flip half way to", "flip the end of", "swap", "empty", "halve"]


@pytest.mark.parametrize("how", ["empty", pytest.param("rest", marks=pytest.mark.long)])
def test_a_damaged_file_is_compiled_again(run: Run, tmp_path: Path, how: str) -> None:
    assert run(CALL) == "False 30 True"
    for alone in (True, False):
        for way in [how] if how == "empty" else WAYS:
            damage(tmp_path, way, alone=alone)
            assert run(CALL) == "False 30 True", (way, alone)
            assert run(CALL) == "True 30 False"


@pytest.mark.long
def test_an_entry_stands_alone_once_it_is_compiled(run: Run, tmp_path: Path) -> None:
    assert run(CALL) == "False 30 True"
    assert run(CALL) == "True 30 False"
    (tmp_path / "mine" / "entry.py").write_text(ENTRY.replace("+= i", "-= i"))
    assert run(CALL) == "False -30 True"
    allocating = CALL.replace('"total"', '"made"')
    assert run(allocating) == "False 5 True"
    assert run(allocating) == "True 5 True"  # numba's memory: compiled, but never alone
