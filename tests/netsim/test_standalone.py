"""Machine code called without numba, once it is compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lpsm import _compile
from netsim.running import standalone

ENTRY = """
import numpy as np
from lpsm._compile import compiled

@compiled
def total(first, table, scale, out):
    found = 0.0
    for i in range(first, table.shape[0]):
        for j in range(table.shape[1]):
            found += scale * table[i, j]
            out[j] += table[i, j]
    return found

@compiled
def made(n):
    return np.ones(n).sum()
"""
CALL = """
import sys
import numpy as np
import mine
from netsim.running.standalone import standalone
entry, out = standalone("mine.entry", "total"), np.zeros(3)
print(entry.ready(), entry(1, np.arange(12.0).reshape(4, 3), 0.5, out), out.tolist(), "numba" in sys.modules)
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

    assert run(CALL) == "False 31.5 [18.0, 21.0, 24.0] True"
    assert run(CALL) == "True 31.5 [18.0, 21.0, 24.0] False"
    (tmp_path / "mine" / "entry.py").write_text(ENTRY.replace("+= scale", "-= scale"))
    assert run(CALL) == "False -31.5 [18.0, 21.0, 24.0] True"
    allocating = CALL.replace('"total"', '"made"').replace(
        "entry(1, np.arange(12.0).reshape(4, 3), 0.5, out)", "entry(3)"
    )
    assert run(allocating) == "False 3.0 [0.0, 0.0, 0.0] True"
    assert run(allocating) == "True 3.0 [0.0, 0.0, 0.0] True"  # numba's memory: compiled, but never alone


def test_arguments_of_other_types_go_to_numba() -> None:
    table = np.zeros((2, 2))
    assert standalone.types_of((1, 2.0, table)) == ("int", "float", "<f8:2")
    for other in (True, "text", table.T[:1], table[:, :1], [1]):
        assert standalone.types_of((other,)) is None
    assert isinstance(standalone.standalone("netsim", "absent"), standalone.Standalone)
