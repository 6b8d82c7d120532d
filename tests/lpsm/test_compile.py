"""Compiled kernels on disk: never older than any source they come from, and shared by whoever compiles at once."""

import importlib
import os
import stat
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from lpsm.native import Kept, compiled
from lpsm.native import kept as kept_code
from lpsm.native.entries import FLOATS, Entry, Signature, entry_of
from tests.tables import cases_of, each

CALLER = """
from lpsm.native import compiled
from mine.inner import callee

@compiled
def caller(x):
    return callee(x) + 1
"""
CALLEE = """
from lpsm.native import compiled
from mine import constants

@compiled
def callee(x):
    return constants.FACTOR * x
"""
ENTRIES = """
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
FILES = {"__init__": "", "outer": CALLER, "inner": CALLEE, "constants": "FACTOR = 2\n", "entries": ENTRIES}
ANSWERS = {"total": 30, "made": 5}  # of 5; memory for an array is numba's: kept, but never alone


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The folder of a package of kernels and a constant, each in a file of its own."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine").mkdir()
    for name, text in FILES.items():
        (tmp_path / "mine" / f"{name}.py").write_text(text)
    return tmp_path / "mine"


def anew():
    """Import the package as another process that finds it on disk."""
    for name in [one for one in sys.modules if one.partition(".")[0] == "mine"]:
        del sys.modules[name]
    kept_code.folder_of.cache_clear()
    kept_code._folder.cache_clear()
    importlib.invalidate_caches()
    importlib.import_module("mine")


def called(caplog):
    """What the caller gives for 10, and whether anything was compiled."""
    anew()
    caplog.clear()
    with caplog.at_level("INFO", "lpsm.compiling"):
        return importlib.import_module("mine.outer").caller(10), bool(caplog.records)


def entry(name):
    """An entry of the package, whether it was ready, and what it gives for 5."""
    anew()
    made = Entry("mine.entries", name, Signature(int, (int,)))
    return made.is_ready, made(5)


def start(code, folder):
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder.parent, stdout=subprocess.PIPE, text=True)


def kept(folder):
    return sorted(folder.rglob("*.code"))


def test_a_change_in_another_module_is_noticed_and_what_it_made_stale_is_removed(mine, caplog):
    assert called(caplog) == (21, True)
    [first] = kept(mine)  # that of the caller, which holds what it calls
    assert called(caplog) == (21, False)
    assert kept(mine) == [first]
    (mine / "inner.py").write_text(CALLEE.replace("* x", "* x + 100"))
    assert called(caplog) == (121, True)
    (mine / "constants.py").write_text("FACTOR = 30\n")
    assert called(caplog) == (401, True)
    assert len(kept(mine)) == 1
    assert kept(mine) != [first]
    assert len(list((mine / "__pycache__").glob("mine-*"))) == 1  # nor does an empty folder stay


@pytest.mark.long
def test_processes_that_compile_at_once_leave_one_whole_result(mine, caplog):
    processes = [start("from mine.outer import caller; print(caller(10))", mine) for _ in range(2)]
    assert [process.communicate(timeout=600)[0] for process in processes] == ["21\n"] * 2
    (folder,) = (mine / "__pycache__").glob("mine-*")
    assert len(list(folder.iterdir())) == 1
    assert called(caplog) == (21, False)


@each("few", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_damaged_file_is_compiled_again(mine, few):
    for name, answer in [*ANSWERS.items()][: 1 if few else 2]:
        assert entry(name) == (False, answer)
    whole = {path: path.read_bytes() for path in kept(mine)}
    names = ["mine.entries.made", "mine.entries.made.entry", "mine.entries.total.entry"]
    assert [path.name.rpartition("-")[0] for path in whole] == names[-len(whole) :]
    rng = np.random.default_rng(0)
    for path, content in whole.items():
        name = path.name.split(".")[2].partition("-")[0]
        for damage in [b""] if few else damaged(content, next(iter(whole.values())), rng):
            if damage != content:
                path.write_bytes(damage)
                assert entry(name) == (False, ANSWERS[name]), path.name
                assert entry(name) == (True, ANSWERS[name]), path.name


@pytest.mark.long
def test_an_entry_stands_alone_once_it_is_compiled(mine):
    code = """
import sys
import mine
from lpsm.native.entries import Entry, Signature
made = Entry("mine.entries", {!r}, Signature(int, (int,)))
print(made.is_ready, made(5), "numba" in sys.modules)
"""
    for _ in range(2):
        for name, said in (("total", "False 30 True True 30 False"), ("made", "False 5 True True 5 True")):
            assert " ".join(start(code.format(name), mine).communicate()[0].strip() for _ in range(2)) == said
        (mine / "another.py").touch()


@each("code, absent", [
    ("lpsm.LearnAlpha(3, [0.1]); lpsm.samplers.keys(); lpsm.hindsight; lpsm.bounds", "numba sklearn"),
    ("import netsim; lpsm.experts.hedge.Squint(2).run([[0.0, 1.0]] * 99)", "scipy.special"),
])  # fmt: skip
def test_the_library_imports_what_takes_long_only_for_what_needs_it(code, absent):
    code = f"import sys, lpsm; {code}; sys.exit(bool(sys.modules.keys() & {set(absent.split())}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@compiled
def halves(n: int, whole: int) -> float:
    return 0.5 * n if whole else 0.25 * n


@compiled
def many_kinds(n: int) -> float:
    return halves(n, True) + halves(3, n > 2) + halves(np.int32(n), 0)


def test_a_kernel_called_by_kernels_has_one_signature_whatever_whole_numbers_it_is_given():
    assert many_kinds(4) == njit(many_kinds.py_func)(4) == 2.0 + 1.5 + 1.0  # the first may have been kept on disk
    assert [str(kind) for (signature,) in [halves.linked.signatures] for kind in signature] == ["int64", "int64"]


def scaled(numbers, factor: float, whole: int, table):
    """Fill in the table, multiply the numbers, and return their sum."""
    if numbers.size == 0:
        raise ValueError("there must be numbers")
    table[0, 0] = table[1, 2] = whole
    for i in range(numbers.size):
        numbers[i] *= factor
    return numbers.sum()


def test_signatures_of_arrays_and_numbers_are_called_as_they_are_written():
    made = entry_of(scaled, Signature(float, (FLOATS, float, int, "int64[:, ::1]")))
    numbers, table = np.arange(4.0), np.zeros((2, 3), np.int64)
    assert made(numbers, 2.5, -3, table) == 15.0
    assert (numbers.tolist(), table.tolist()) == ([0, 2.5, 5, 7.5], [[-3, 0, 0], [0, 0, -3]])
    with pytest.raises(RuntimeError, match="status"):
        made(np.zeros(0), 2.5, -3, table)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The folder of a package, and that of the user's cache."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "package").mkdir()
    kept_code._folder.cache_clear()
    yield tmp_path / "package", tmp_path / "cache" / "lpsm"
    kept_code._folder.cache_clear()


def chosen(package):
    """Where machine code of the package is kept, asked anew."""
    kept_code._folder.cache_clear()
    return kept_code._folder("package", (package,))


def test_a_folder_that_others_own_or_may_write_is_passed_over_for_the_users_own(places, monkeypatch):
    package, cache = places
    first = chosen(package)
    assert first is not None
    assert (first.parent, stat.S_IMODE(first.stat().st_mode)) == (package / "__pycache__", 0o700)
    for mode in (0o775, 0o757, 0o777):
        first.chmod(mode)
        second = chosen(package)
        assert second is not None
        assert second.parent == cache
        first.chmod(0o755)
        assert chosen(package) == first
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    assert chosen(package) == (None if first.stat().st_uid else first)  # the administrator's may be used


@cases_of("umask", "0o002 ; 0o022")
def test_a_cache_that_others_may_write_or_have_written_in_keeps_nothing(places, monkeypatch, umask):
    package, cache = places
    before = os.umask(umask)
    try:
        (package / "__pycache__").mkdir()  # as Python makes it
        first = chosen(package)
        assert first is not None
        assert first.parent == (package / "__pycache__" if umask == 0o022 else cache)
        monkeypatch.setattr(kept_code, "folder_of", lambda module: first)
        (kept := Kept("module", "kernel")).write("key", b"code")
        assert kept.read("key") == b"code"
    finally:
        os.umask(before)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place := first.parent))
    assert chosen(package) == first
    for mode in (0o770, 0o707, 0o1777):
        place.chmod(mode)
        assert chosen(package) is None
    place.chmod(0o700)
    (first / "writable.code").touch()
    (first / "writable.code").chmod(0o666)
    assert chosen(package) is None
    (first / "writable.code").unlink()
    (first / "link.code").symlink_to("/dev/null")
    assert chosen(package) is None
    (first / "link.code").unlink()
    if os.geteuid() == 0:
        (first / "another.code").touch()
        os.chown(first / "another.code", 12345, -1)
        assert chosen(package) is None
        (first / "another.code").unlink()
    first.rename(elsewhere := place / "elsewhere")
    first.symlink_to(elsewhere)
    assert chosen(package) is None


def test_a_folder_of_other_sources_is_removed_but_for_what_is_not_machine_code(places):
    package, _ = places
    first = chosen(package)
    for name in ("kernel-0123.code", "mine.txt"):
        (first / name).touch()
    (package / "more.py").touch()
    assert chosen(package) != first
    assert [path.name for path in first.iterdir()] == ["mine.txt"]


def damaged(content, other, rng):
    """What may become of a file: a bit or a byte that is another, its end gone, all of it, another in its place."""
    at = int(rng.integers(len(content)))
    bit, byte = 1 << int(rng.integers(8)), int(rng.integers(256))
    yield content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :]
    yield content[:at] + bytes([byte]) + content[at:]
    yield from (content[:at], b"", content[: len(content) // 2], content + b"\0", other)


def test_no_damage_to_any_file_of_the_cache_is_read(tmp_path):
    rng, kept = np.random.default_rng(0), {}
    for package in ("lpsm", "netsim"):
        folder = kept_code.folder_of(package)
        for path in sorted(folder.glob("*.code"), key=lambda path: path.stat().st_size) if folder else ():
            kept[path] = path.read_bytes()
    (own := tmp_path / "own").mkdir()
    for name in ("one", "another"):  # where nothing was compiled yet
        written = Kept("module", name)
        written.folder = own
        written.write("key", name.encode() * 1000)
    kept |= {path: path.read_bytes() for path in own.iterdir()}
    tried, whole = 0, list(kept)
    while tried < 1500:
        path = whole[int(rng.integers(len(whole)))]
        copy = tmp_path / path.parent.name / path.name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(kept[path])
        assert kept_code._content(copy) == kept[path][32:]
        for content in damaged(kept[path], kept[whole[whole.index(path) - 1]], rng):
            if content != kept[path]:
                copy.write_bytes(content)
                assert kept_code._content(copy) is None
                tried += 1
        copy.unlink()
        copy.mkdir()
        assert kept_code._content(copy) is None
        copy.rmdir()


def test_without_home_and_with_nothing_to_write_to_kernels_are_compiled_and_not_kept(places, monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (places[0] / "__pycache__").write_text("a file where the folder would be")
    assert chosen(places[0]) is None
    monkeypatch.setattr(kept_code, "folder_of", lambda module: None)
    kept = Kept("module", "kernel")
    kept.write("key", b"code")
    assert (kept.read("key"), kept.any()) == (None, False)

    def double(x):
        return 2 * x

    assert compiled(double)(4) == 8


def test_a_full_disk_keeps_nothing_and_harms_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_code, "folder_of", lambda module: tmp_path)
    kept = Kept("module", "kernel")
    kept.write("key", b"code")
    assert (kept.read("key"), kept.read("another"), kept.any()) == (b"code", None, True)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    kept.write("another", b"code")
    assert kept.read("another") is None
    assert len(list(tmp_path.iterdir())) == 1
