"""Compiled kernels on disk: never older than any source they come from, and shared by whoever compiles at once."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numba
import pytest
from numba.core import caching
from numba.core.dispatcher import Dispatcher

from lpsm import _compile
from lpsm._compile import _Files, compiled, is_compiled

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
RUN = "from mine.outer import caller; print(caller(10), sum(caller.stats.cache_hits.values()))"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A place with the decorator and a package of two kernels and a constant, each in a file of its own."""
    (tmp_path / "lpsm").mkdir()
    shutil.copy(_compile.__file__, tmp_path / "lpsm")
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
        (mine / "__pycache__" / name.replace("py311", _compile._ABI)).write_text("")
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


def kernels() -> Iterator[Dispatcher]:
    root = Path(_compile.__file__).parents[1]
    for package in ("lpsm", "netsim"):
        for path in sorted((root / package).rglob("*.py")):
            if "@compiled" in path.read_text():
                module = import_module(".".join(path.relative_to(root).with_suffix("").parts))
                found = (value for value in vars(module).values() if isinstance(value, Dispatcher))
                yield from (value for value in found if value.py_func.__module__ == module.__name__)


def test_the_sources_of_every_kernel_are_those_of_all_it_calls() -> None:
    n_called = 0
    for kernel in kernels():
        files = _compile._imported(kernel.py_func.__module__)
        assert "lpsm._compile" in files
        assert isinstance(kernel._cache._cache_file, _Files), "numba keeps its cache in another way"
        for name in kernel.py_func.__code__.co_names:
            called = kernel.py_func.__globals__.get(name)
            if isinstance(called, Dispatcher):
                n_called += 1
                assert called.py_func.__module__ in files
                assert set(_compile._imported(called.py_func.__module__)) <= set(files)
    assert n_called > 50


def test_imports_are_found_however_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "import a.b, c as d  # import e\n"
        "from f import (\n    g,  # the g\n    h as i,\n)\n"
        "def k():\n    from l.m import n, o\n"
        "text = 'import p'\n"
    )
    _, found = _compile._read(path)
    assert found == (("a.b", ""), ("c", ""), ("f", "g"), ("f", "h"), ("l.m", "n"), ("l.m", "o"))


def test_what_is_not_whole_is_as_good_as_none(tmp_path: Path) -> None:
    files = _Files(tmp_path, "module.kernel", "0" * 16)
    files.save("key", [1, 2])
    (path,) = tmp_path.iterdir()
    assert (files.load("key"), files.load("another")) == ([1, 2], None)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert files.load("key") is None
    path.write_bytes(pickle.dumps([3]))
    assert files.load("key") is None
    files.flush()
    assert not files.any()


def test_where_nothing_can_be_written_kernels_are_compiled_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = _Files(tmp_path / "absent", "module.kernel", "0" * 16)
    files.save("key", [1, 2])
    assert files.load("key") is None
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])

    def double(x: int) -> int:
        return 2 * x

    kernel = compiled(double)
    assert not is_compiled(kernel)
    assert kernel(4) == 8
    assert is_compiled(kernel)
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(double, cache=True)
