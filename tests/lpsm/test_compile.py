"""Compiled kernels on disk: never older than any source they come from, and shared by whoever compiles at once."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from lpsm import _compile, _kernel_files, _standalone
from lpsm._compile import Kernel, Standalone, compiled, is_compiled, standalone
from lpsm._kernel_files import KernelFiles

CALLER = """
from lpsm._compile import compiled
from mine.inner import (  # a name a line
    callee,
)

@compiled
def caller(x):
    return callee(x) + 1
"""
CALLEE = """
from lpsm._compile import compiled
from mine import constants

@compiled
def callee(x):
    return constants.FACTOR * x
"""
COUNTED = """
from lpsm import _kernel_files
found = []
load = _kernel_files.KernelFiles.load
def counted(self, key):
    content = load(self, key)
    found.append(content is not None and "caller" in self._stem)
    return content
_kernel_files.KernelFiles.load = counted
"""
RUN = COUNTED + "from mine.outer import caller; print(caller(10), sum(found))"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A place with the decorator and a package of two kernels and a constant, each in a file of its own."""
    (tmp_path / "lpsm").mkdir()
    for module in (_compile, _kernel_files, _standalone):
        shutil.copy(module.__file__, tmp_path / "lpsm")
    (tmp_path / "lpsm" / "__init__.py").write_text("")
    mine = tmp_path / "mine"
    mine.mkdir()
    for name, text in (("__init__", ""), ("outer", CALLER), ("inner", CALLEE), ("constants", "FACTOR = 2\n")):
        (mine / f"{name}.py").write_text(text)
    return tmp_path


def start(folder: Path) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    return subprocess.Popen([sys.executable, "-c", RUN], cwd=folder, env=kept, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> tuple[int, int]:
    """What the caller gave for 10, and how often its machine code was found on disk."""
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    value, hits = stdout.split()
    return int(value), int(hits)


def kept(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*.nb[ic]")}


def test_a_change_in_another_module_is_noticed_and_what_it_made_stale_is_removed(copied: Path) -> None:
    mine = copied / "mine"
    (mine / "__pycache__").mkdir()
    for name in ("outer.caller-8.py311.nbi", "outer.caller-8.py311.1.nbc"):  # as numba itself would name them
        (mine / "__pycache__" / name.replace("py311", _kernel_files._ABI)).write_text("")
    assert answer(start(copied)) == (21, 0)
    first = kept(copied)
    assert len(first) == 2
    (mine / "unrelated.py").write_text("from mine.outer import caller\n")
    assert answer(start(copied)) == (21, 1)
    assert kept(copied) == first
    (mine / "inner.py").write_text(CALLEE.replace("* x", "* x + 100"))
    assert answer(start(copied)) == (121, 0)
    (mine / "constants.py").write_text("FACTOR = 3\n")
    assert answer(start(copied)) == (131, 0)
    assert len(kept(copied)) == 2
    assert not kept(copied) & first


def test_processes_that_compile_at_once_leave_one_whole_result(copied: Path) -> None:
    processes = [start(copied), start(copied)]
    assert [answer(process)[0] for process in processes] == [21, 21]
    assert len(kept(copied)) == 2
    assert answer(start(copied)) == (21, 1)
    assert not list(copied.rglob("*.tmp"))


def kernels() -> Iterator[Kernel]:
    root = Path(_compile.__file__).parents[1]
    for package in ("lpsm", "netsim"):
        for path in sorted((root / package).rglob("*.py")):
            if "@compiled" in path.read_text():
                module = import_module(".".join(path.relative_to(root).with_suffix("").parts))
                found = (value for value in vars(module).values() if isinstance(value, Kernel))
                yield from (value for value in found if value.__module__ == module.__name__)


def test_the_sources_of_every_kernel_are_those_of_all_it_calls() -> None:
    n_called = 0
    for kernel in kernels():
        files = _kernel_files._imported(kernel.__module__)
        assert "lpsm._compile" in files
        for name in kernel.py_func.__code__.co_names:
            called = kernel.py_func.__globals__.get(name)
            if isinstance(called, Kernel):
                n_called += 1
                assert called.__module__ in files
                assert set(_kernel_files._imported(called.__module__)) <= set(files)
    assert n_called > 50


def test_importing_the_library_does_not_import_numba() -> None:
    code = (
        "import sys, lpsm; lpsm.LearnAlpha(3, [0.1]); lpsm.samplers.keys(); "
        "lpsm.hindsight; lpsm.bounds; sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_imports_are_found_however_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "import a.b, c as d  # import e\n"
        "from f import (\n    g,  # the g\n    h as i,\n)\n"
        "def k():\n    from l.m import n, o\n"
        "text = 'import p'\n"
    )
    _, found = _kernel_files._read(path)
    assert found == (("a.b", ""), ("c", ""), ("f", "g"), ("f", "h"), ("l.m", "n"), ("l.m", "o"))


def test_what_is_not_whole_is_as_good_as_none(tmp_path: Path) -> None:
    files = KernelFiles(tmp_path, "module.kernel", "0" * 16)
    files.save("key", b"code")
    (path,) = tmp_path.iterdir()
    assert (files.load("key"), files.load("another")) == (b"code", None)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert files.load("key") is None
    path.write_bytes(b"code")
    assert files.load("key") is None
    path.write_bytes(whole)
    assert files.load("key") == b"code"


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_machine_code_that_others_could_have_written_is_not_loaded(mode: int, tmp_path: Path) -> None:
    files = KernelFiles(tmp_path, "module.kernel", "0" * 16)
    files.save("key", b"code")
    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(mode)
    assert files.load("key") is None


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A module's folder, and the folder of the user's cache."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "package").mkdir()
    _kernel_files._folder.cache_clear()
    yield tmp_path / "package", tmp_path / "cache" / "lpsm"
    _kernel_files._folder.cache_clear()


def test_a_folder_that_others_may_write_is_passed_over_for_the_users_own(places: tuple[Path, Path]) -> None:
    package, cache = places
    (package / "__pycache__").mkdir()
    (package / "__pycache__").chmod(0o775)
    folder = _kernel_files._folder(package / "module.py")
    assert folder is not None
    assert folder.parent == cache
    (package / "__pycache__").chmod(0o755)
    _kernel_files._folder.cache_clear()
    assert _kernel_files._folder(package / "module.py") == package / "__pycache__"


def test_a_folder_of_somebody_else_is_passed_over(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    package, cache = places
    (package / "__pycache__").mkdir(mode=0o755)
    cache.mkdir(parents=True)
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    if (package / "__pycache__").stat().st_uid == 0:
        assert _kernel_files._folder(package / "module.py") == package / "__pycache__"  # the administrator's
    else:
        assert _kernel_files._folder(package / "module.py") is None


def test_without_home_and_with_nothing_to_write_to_kernels_are_compiled_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = KernelFiles(tmp_path / "absent", "module.kernel", "0" * 16)
    files.save("key", b"code")
    assert files.load("key") is None
    for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "__pycache__").write_text("a file where the folder would be")
    _kernel_files._folder.cache_clear()
    assert _kernel_files._folder(tmp_path / "module.py") is None
    _kernel_files._folder.cache_clear()
    monkeypatch.setattr(_kernel_files, "_folder", lambda source: None)

    def double(x: int) -> int:
        return 2 * x

    kernel = compiled(double)
    assert not is_compiled(kernel)
    assert kernel(4) == 8
    assert is_compiled(kernel)


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
from lpsm._compile import standalone
entry, out = standalone("mine.entry", "total"), np.zeros(3)
print(entry.ready(), entry(1, np.arange(12.0).reshape(4, 3), 0.5, out), out.tolist(), "numba" in sys.modules)
"""


def test_an_entry_stands_alone_once_it_is_compiled(copied: Path) -> None:
    (copied / "mine" / "entry.py").write_text(ENTRY)

    def run(code: str) -> str:
        kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
        found = subprocess.run([sys.executable, "-c", code], cwd=copied, env=kept, capture_output=True, check=True)
        return found.stdout.decode().strip()

    assert run(CALL) == "False 31.5 [18.0, 21.0, 24.0] True"
    assert run(CALL) == "True 31.5 [18.0, 21.0, 24.0] False"
    (copied / "mine" / "entry.py").write_text(ENTRY.replace("+= scale", "-= scale"))
    assert run(CALL) == "False -31.5 [18.0, 21.0, 24.0] True"
    allocating = CALL.replace('"total"', '"made"').replace(
        "entry(1, np.arange(12.0).reshape(4, 3), 0.5, out)", "entry(3)"
    )
    assert run(allocating) == "False 3.0 [0.0, 0.0, 0.0] True"
    assert run(allocating) == "True 3.0 [0.0, 0.0, 0.0] True"  # numba's memory: compiled, but never alone


def test_arguments_of_other_types_go_to_numba() -> None:
    table = np.zeros((2, 2))
    assert _standalone.types_of((1, 2.0, table)) == ("int", "float", "<f8:2")
    for other in (True, "text", table.T[:1], table[:, :1], [1]):
        assert _standalone.types_of((other,)) is None
    assert isinstance(standalone("netsim", "absent"), Standalone)
