"""The program in unusual surroundings: the same bytes, or one line and exit status 2."""

import os
import resource
import subprocess

import pytest

from tests.experiments.makers import PROGRAM, contents
from tests.tables import cases_of


def run(*words, python=(), without=(), closed=(), limit=None, **variables):
    """Run the program in a process of its own, in an environment that is changed as told."""

    def prepare():
        for number in closed:
            os.close(number)
        if limit is not None:
            resource.setrlimit(limit[0], (limit[1], limit[1]))

    environment = {name: value for name, value in os.environ.items() if name not in without} | variables
    return subprocess.run([PROGRAM[0], *python, *PROGRAM[1:], *map(str, words)], env=environment, preexec_fn=prepare,
        capture_output=True, stdin=subprocess.DEVNULL)  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Write replies with dates, a word that Turkish writes otherwise, and a letter that is not in ASCII."""
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_text("TIME,BYTES,URL\n2020-03-29T01:59:59,2000,HTTP://İI.edu/I.GIF\n2020-03-29T03:00:09,300,/é.html\n")
    return path


def one_line(ended):
    said = ended.stderr.decode()
    assert ended.returncode == 2, said
    assert "Traceback" not in said
    assert said.count("lpsm: ") == 1
    return said


def everything(table, folder, **how):
    """Return what several commands write."""
    folder.mkdir()
    for words in (["pages", table, "--out", folder / "w.jsonl"],
                  ["simulate", folder / "w.jsonl", "--policy", "psm", "--out", folder / "s.csv"],
                  ["compare", "--trace", folder / "w.jsonl", "--policies", "none,psm", "--jobs", "2", "--out",
                   folder / "out"]):  # fmt: skip
        ended = run(*words, **how)
        assert ended.returncode == 0, ended.stderr.decode()
    return contents(folder)


@pytest.fixture(scope="module")
def usual(table, tmp_path_factory):
    return everything(table, tmp_path_factory.mktemp("usual") / "folder")


@pytest.mark.long
@pytest.mark.parametrize("changed", [
    {"python": ("-OO",)}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"LC_ALL": "tr_TR.UTF-8"},
    {"PYTHONIOENCODING": "ascii"}, {"TZ": "Europe/Berlin"}, {"TZ": "Pacific/Kiritimati"},
    {"without": ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "TERM")}, {"limit": (resource.RLIMIT_NOFILE, 64)},
], ids=str)  # fmt: skip
def test_the_bytes_are_the_same(table, usual, tmp_path, changed):
    assert everything(table, tmp_path / "folder", **changed) == usual


@cases_of("closed", "(0,) ; (0, 1, 2)")
def test_closed_standard_streams_are_taken_for_none(tmp_path, closed):
    out = tmp_path / "w.jsonl"
    ended = run("generate", "--pages", "2", "--out", out, closed=closed)
    assert ended.returncode == 0, ended.stderr.decode()
    assert out.read_text().startswith('{"page": "w0"')


def test_what_the_terminals_characters_do_not_include_is_written_as_an_escape(tmp_path):
    ended = run("simulate", tmp_path / "é.jsonl", PYTHONIOENCODING="cp1251:strict")
    assert r"\xe9.jsonl: No such file" in one_line(ended)


@pytest.mark.long
def test_too_little_memory_is_one_line(tmp_path):
    path = tmp_path / "big.csv"
    path.write_text("a,b,label\n" + "1.5,2.5,x\n0.5,2.5,y\n" * 2_000_000)
    said = one_line(run("label", path, "--algorithm", "ssmd", limit=(resource.RLIMIT_AS, 700 << 20)))
    assert "not enough memory" in said
