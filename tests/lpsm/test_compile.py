"""Compiled kernels on disk: never older than any source they come from, and shared by whoever compiles at once."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from lpsm import native
from lpsm.native import Kept, compiled
from lpsm.native import kept as kept_code
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
RUN = """
from lpsm import native
found = []
read = native.Kept.read
def counted(self, key):
    content = read(self, key)
    found.append(content is not None and "caller" in self._stem)
    return content
native.Kept.read = counted
from mine.outer import caller
print(caller(10), sum(found))
"""


@pytest.fixture
def copied(tmp_path):
    """A place with the decorator and a package of two kernels and a constant, each in a file of its own."""
    shutil.copytree(Path(native.__file__).parent, tmp_path / "lpsm" / "native",
        ignore=shutil.ignore_patterns("*pycache*"))  # fmt: skip
    (tmp_path / "lpsm" / "__init__.py").write_text("")
    mine = tmp_path / "mine"
    mine.mkdir()
    for name, text in (("__init__", ""), ("outer", CALLER), ("inner", CALLEE), ("constants", "FACTOR = 2\n")):
        (mine / f"{name}.py").write_text(text)
    return tmp_path


def start(folder):
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    return subprocess.Popen([sys.executable, "-c", RUN], cwd=folder, env=kept, stdout=subprocess.PIPE, text=True)


def answer(process):
    """What the caller gave for 10, and how often its machine code was found on disk."""
    return tuple(map(int, process.communicate(timeout=600)[0].split()))


def kept(folder):
    return set(folder.rglob("*.code"))


def test_a_change_in_another_module_is_noticed_and_what_it_made_stale_is_removed(copied):
    mine = copied / "mine"
    assert answer(start(copied)) == (21, 0)
    first = kept(copied)
    assert len(first) == 1  # that of the caller, which holds what it calls
    assert answer(start(copied)) == (21, 1)
    assert kept(copied) == first
    (mine / "inner.py").write_text(CALLEE.replace("* x", "* x + 100"))
    assert answer(start(copied)) == (121, 0)
    (mine / "constants.py").write_text("FACTOR = 3\n")
    assert answer(start(copied)) == (131, 0)
    assert len(kept(copied)) == 1
    assert not kept(copied) & first
    assert len(list((mine / "__pycache__").glob("mine-*"))) == 1  # nor does an empty folder stay


@pytest.mark.long
def test_processes_that_compile_at_once_leave_one_whole_result(copied):
    processes = [start(copied), start(copied)]
    assert [answer(process)[0] for process in processes] == [21, 21]
    (folder,) = (copied / "mine" / "__pycache__").glob("mine-*")
    assert len(list(folder.iterdir())) == 1
    assert answer(start(copied)) == (21, 1)


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
    while tried < 5000:
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
