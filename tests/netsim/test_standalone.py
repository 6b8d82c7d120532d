"""Machine code called without numba, once it is compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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


@pytest.mark.long
def test_an_entry_stands_alone_once_it_is_compiled(tmp_path: Path) -> None:
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

    assert run(CALL) == "False 30 True"
    assert run(CALL) == "True 30 False"
    (tmp_path / "mine" / "entry.py").write_text(ENTRY.replace("+= i", "-= i"))
    assert run(CALL) == "False -30 True"
    allocating = CALL.replace('"total"', '"made"')
    assert run(allocating) == "False 5 True"
    assert run(allocating) == "True 5 True"  # numba's memory: compiled, but never alone
