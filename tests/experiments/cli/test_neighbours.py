"""What somebody else made is never deleted, changed or followed, whatever it is called: by any command that writes."""

import os
import re
import shutil
import socket
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from experiments.study.store import Store
from tests.experiments.conftest import RESULTS
from tests.experiments.makers import TABLE, WORK
from tests.tables import each, value_error

pytestmark = pytest.mark.usefixtures("undrawn")
FREE = ("{}.lock", ".{}.replaced", ".{}.tmp", ".{}.0123456789ab.lpsm-tmp", "{}~", "{}.lpsm-lock", ".{}", "{}.old", "a")
TAKEN = (".{}.lpsm-lock", "{}.partial")  # names that are needed: a lock and what is not whole yet
BESIDE = {  # commands of RESULTS, and those that write files
    **dict.fromkeys(RESULTS, "out"),
    "generate --pages 2 --out out": "out",
    "pages TABLE --out out": "out",
    "simulate WORK --out out": "out",
    "timeline WORK --policies psm --out out.svg --perfetto out": "out",
    "audit CAPTURE --picture out.svg": "out.svg",
}


def plain(path):
    path.write_text("important")


def filled(path):
    path.mkdir()
    (path / "thesis.tex").write_text("years of work")


def bound(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))  # a longer name may be too long


KINDS = {"file": plain, "folder": filled, "empty-folder": Path.mkdir, "fifo": os.mkfifo, "socket": bound,
    "link": lambda path: path.symlink_to("precious"), "dangling": lambda path: path.symlink_to("made-by-nobody"),
    "folder-link": lambda path: path.symlink_to("museum")}  # fmt: skip
if os.geteuid() == 0:
    KINDS["device"] = lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 7))  # always full


def seen(folder, *but):
    """Everything below a folder: kind, place on the disk, mode, owner, when it was changed, content."""
    found = {}
    for path in folder.rglob("*"):
        it, name = path.lstat(), path.relative_to(folder).as_posix()
        if name.split("/")[0] not in but:
            content = sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(it.st_mode) else ""
            content = os.readlink(path) if stat.S_ISLNK(it.st_mode) else content
            times = (0, it.st_size, it.st_mtime_ns)[stat.S_ISREG(it.st_mode) :]
            found[name] = it.st_ino, it.st_mode, it.st_uid, it.st_nlink, content, times
    return found


@pytest.fixture
def there(tmp_path, monkeypatch, trace, capture):
    """A folder to write in, with what commands read."""
    made = tmp_path / "there"
    made.mkdir()
    monkeypatch.chdir(made)
    for name, text in {"WORK": WORK, "TABLE": TABLE, "precious": "gold"}.items():
        (made / name).write_text(text)
    (made / "CAPTURE").write_bytes(capture.read_bytes())
    filled(made / "museum")
    return made


QUICK = ("label", "reproduce", "simulate WORK --out out")


@each(
    "name, shift",
    [(name, 0) if name in QUICK else pytest.param(name, 0, marks=pytest.mark.long) for name in BESIDE]
    + [pytest.param(name, shift, marks=pytest.mark.long) for name in BESIDE for shift in range(1, len(KINDS))],
)
def test_neighbours_of_every_kind_are_as_they_were_after_every_command_that_writes(lpsm, asked, there, name, shift):
    kinds = [*KINDS.values()]
    for at, form in enumerate(FREE):
        kinds[(at + shift) % len(kinds)](there / form.format(BESIDE[name]))
    before = seen(there)
    for _ in range(2):
        result = lpsm(*([*asked[name], "--out", "out"] if name in RESULTS else name.split()))
        assert result.exit_code == 0, result.output
        assert seen(there, "out", "out.svg") == before


@each("kind", KINDS)
@each("form", TAKEN)
def test_what_has_a_name_that_a_folder_of_results_needs_is_named_and_stays(there, form, kind):
    path = there / form.format("out")
    KINDS[kind](path)
    before = seen(there)
    with value_error(re.escape(path.name)):
        Store(there / "out", "compare", {})
    assert seen(there) == before


@each("kind", KINDS)
@each("of", "out out.partial")
def test_what_somebody_puts_into_a_folder_of_results_is_named_and_stays(there, of, kind):
    for made in ("out", "out.partial"):
        store = Store(there / made, "compare", {})
        store.write("a.txt", "result")
        store.publish()
    for name in ("finished.jsonl", "report.html", ".thesis.tmp", ".a.txt.0123456789ab.tmp", "mine"):
        path = there / of / name
        if of == "out.partial" and name == "finished.jsonl" and kind == "file":
            continue  # where a journal grows, it is ours
        KINDS[kind](path)
        before = seen(there)
        with value_error(re.escape(name)):
            Store(there / "out", "compare", {}, force=True)
        assert seen(there) == before
        path.rename(there / f"moved {name}")


def test_a_page_and_a_summary_that_somebody_wrote_are_not_replaced(lpsm, results, asked, there):
    folder = shutil.copytree(results("label").folder, there / "out")
    for path, words in ((folder / "report.html", ["report", "out"]),
        (there / "papers" / "RESULTS.md", [*asked["reproduce"], "--out", "papers"]),
        (there / "papers/docs/results/thesis.md", [*asked["reproduce"], "--out", "papers"])):  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        result = lpsm(*words)
        assert (result.exit_code, path.read_text()) == (2, "mine")
        assert f"{path.name} was not written by lpsm re" in result.stderr
        path.unlink()
        assert [lpsm(*words).exit_code for _ in range(2)] == [0, 0]
