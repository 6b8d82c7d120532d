"""Whichever system call fails: one line, nothing lost, nothing half; the same command then ends in the same bytes."""

import errno
import json
import os
from itertools import count
from shutil import copytree, rmtree
from types import SimpleNamespace

import click
import pytest

from experiments import cli
from experiments.study.store import Store
from tests.experiments.makers import contents
from tests.experiments.study.failing import Calls, tree
from tests.tables import each

pytestmark = pytest.mark.usefixtures("undrawn")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
OTHER = {"compare": ["--seed", "3"], "population": ["--seed", "3"], "tune": ["--beacon-ms", "110"],
         "label": ["--window", "49"]}  # fmt: skip


@pytest.fixture
def played(lpsm, monkeypatch):
    """Make a command of what a command does to its folder: it begins, keeps results of tasks, writes and publishes."""

    def play(words, out):
        did = SimpleNamespace(begun=None, kept={}, written={})

        class Watched(Store):
            def __init__(self, folder, *args, **more):
                did.begun = args, more
                super().__init__(folder, *args, **more)

            def keep(self, key, result):
                did.kept[key] = result
                super().keep(key, result)

            def keep_part(self, name, content):
                super().keep_part(name, content)
                did.kept[name] = content

            def write(self, name, content):
                did.written[name] = content
                super().write(name, content)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("experiments.study.store.Store", Watched)
            result = lpsm(*words, "--out", out)
        assert result.exit_code == 0, result.output

        @click.command()
        @click.argument("folder")
        @click.option("--stop", type=int)
        def again(folder, stop):
            args, more = did.begun
            store = Store(folder, *args, **more | {"force": True})
            with store.giving_up():
                for number, (key, result) in enumerate(did.kept.items()):
                    if number == stop:
                        raise KeyboardInterrupt
                    if key not in store.finished:
                        (store.keep_part if isinstance(result, bytes) else store.keep)(key, result)
                for name, content in did.written.items():
                    store.write(name, content)
                store.publish()

        return again

    monkeypatch.setitem(cli.COMMANDS, "again", "")
    return play


def finished(folder):
    path = folder / "finished.jsonl"
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    return {json.loads(line.partition(" ")[2])[0] for line in lines}


def check(run, start, whole, place, number, error, kept):
    """Hold one run, whose call of that number fails, to what it promises; return whether there was such a call."""
    copytree(start, place, symlinks=True)
    calls = Calls(place, number, error)
    with calls.counted():
        result = run(place / "out")
    where = f"call {number}, {calls.last}, {errno.errorcode[error]}: {result.output}"
    assert "Traceback" not in result.output, where
    if result.exit_code == 2:
        assert result.stderr.splitlines()[-1].startswith("lpsm: "), where
        assert calls.count >= number
    else:  # to remove an empty lock, to look whether a lock is there
        assert result.exit_code == 0, where
    there = contents(place / "out") if (place / "out").exists() else None
    there.pop("finished.jsonl", None)  # which is removed last
    assert there in (contents(start / "out"), contents(whole)), where
    if there == contents(start / "out"):
        assert kept <= finished(place / "out.partial"), where
    if calls.failed not in ("unlink", "rmdir", "scandir"):
        assert not [name for name in tree(place) if name.endswith("tmp")], where
    again = run(place / "out")
    assert again.exit_code == 0, where + again.output
    assert contents(place / "out") == contents(whole), where
    rmtree(place)
    return calls.count >= number


@each(
    "name, step, errors",
    [("population", 23, ERRORS[1:2])] + [pytest.param(name, 1, ERRORS, marks=pytest.mark.long) for name in OTHER],
)
def test_a_call_that_fails_costs_nothing_but_a_line(lpsm, asked, tmp_path, monkeypatch, played, name, step, errors):
    monkeypatch.setattr(os, "fsync", lambda _: None)  # counted all the same
    words, earlier, begun, whole = asked[name], tmp_path / "earlier", tmp_path / "begun", tmp_path / "whole"
    one, other = (played([*words, *more], tmp_path / f"{len(more)}" / "out") for more in ([], OTHER[name]))
    monkeypatch.setattr(cli, "load_command", lambda _: now)
    now = other
    for start in (earlier, begun):
        start.mkdir()
        assert lpsm("again", start / "out").exit_code == 0
    now = one
    assert lpsm("again", whole).exit_code == 0
    assert contents(whole) == contents(tmp_path / "0" / "out")
    assert lpsm("again", begun / "out", "--stop", "2").exit_code in (0, 130)
    kept = finished(begun / "out.partial")
    assert len(kept) == (0 if name == "label" else 2)
    for start in (earlier, begun):
        for error in errors:
            for number in count(1 + step // 2, step):
                if not check(lambda out: lpsm("again", out), start, whole, tmp_path / "place", number, error,
                             kept if start is begun else set()):  # fmt: skip
                    assert number > 60
                    break
