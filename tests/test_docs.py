"""What the documentation shows is what happens: its Python runs, its commands run, its links lead somewhere.

A page's blocks are run from top to bottom in an empty folder.  Commands of ``lpsm``, and what draws pages and compares
from Python, run with fewer pages and seeds than shown; those that would take minutes, or need data that is not here,
are held to the command line's own parser: every command, option and value shown must exist.
"""

import contextlib
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from itertools import pairwise
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import experiments.comparison
import traces
from experiments.cli import COMMANDS, main
from experiments.papers.registry import choose
from lpsm import samplers
from netsim import policies
from tests.tables import each

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(lpsm [^`<]*|make [a-z-]+|python -m [\w.]+)(?: [^`<]*)?`(?!`)")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SMALL = {  # given after what is shown, so that these win
    "compare": ["--pages", "2", "--seeds", "1", "--jobs", "1"], "generate": ["--pages", "5"],
    "tune": ["--jobs", "1", "--policies", "none,psm,bsd:1"], "population": ["--jobs", "1"],
    "bounds": ["--rounds", "20", "--experts", "3"],
    **{name: [] for name in ("pages", "simulate", "timeline", "replay", "label", "doctor")},
}  # fmt: skip
TABLE = "time,bytes\n" + "".join(f"{9 * row}.5,{900 + 700 * row}\n" for row in range(8))
SESSION = "".join(f'cs20 {790000000 + 9 * row} 0 "http://a.b/{row}.html" {900 + 700 * row} 0.5\n' for row in range(8))
VISIT = {"log": {"entries": [
    {
        "startedDateTime": f"2024-01-01T00:00:{10 + 9 * row}.000Z", "time": 100,
        "request": {"url": f"http://a.b/{row}", "method": "GET", "headersSize": 200, "bodySize": 0},
        "response": {"status": 200, "headersSize": 100, "bodySize": 900 + 700 * row, "content": {"size": 900}},
    }
    for row in range(4)
]}}  # fmt: skip
WORDS = {  # what a file holds that a command of a page is given, by its suffix
    ".har": json.dumps(VISIT), ".toml": 'connections = "per-object"\n',
    ".jsonl": '{"page": "a", "request_bytes": 300, "reply_bytes": 5000, "think_s": 2.0}\n',
}  # fmt: skip


def commands(text):
    """Return the command lines of a shell block, without prompts, comments, what they print, and rows of numbers."""
    joined = text.replace("\\\n", " ").splitlines()
    shown = [line for line in joined if re.match(r"(lpsm [a-z-]|make |pip |python -m |sphinx-build )", line)]
    lines = [line[2:] for line in joined if line.startswith("$ ")] or shown
    return [shlex.split(line, comments=True) for line in lines
            if line.split("#")[0].strip() and not re.match(r"lpsm\S*\s+[\d.]+\s", line)]  # fmt: skip


def command_of(words):
    assert words[1] in COMMANDS, " ".join(words)
    return main.get_command(click.Context(main), words[1])


def check(words, *, whole):
    """Hold a command line to what exists: the program's parser, the Makefile, the modules; or but its options."""
    words = words[: words.index(">")] if ">" in words else words
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert {word for word in words[1:] if "=" not in word} <= set(targets), words
    elif words[:2] == ["python", "-m"]:
        assert importlib.util.find_spec(words[2]) is not None, words
    elif words[0] == "lpsm" and (words[1].startswith("-") or words[1] == "COMMAND"):
        assert set(words[1:]) <= {"COMMAND", "--help", "-h", "--version"}, words
    elif words[0] == "lpsm":
        known = {option for one in command_of(words).params for option in (*one.opts, *one.secondary_opts)}
        own = words[2 : words.index("--") if "--" in words else None]
        assert {word.partition("=")[0] for word in own if word.startswith("--")} <= known | {"--help"}, words
        if whole:
            command_of(words).make_context(words[1], words[2:], resilient_parsing=False)
            if words[1] == "reproduce" and "--list" not in words:
                choose(words[2])


def provide(words):
    """Put small files where a command expects to find some, under the names that the page uses."""
    parameters = command_of(words).params
    paths = {option for one in parameters for option in one.opts} & {"--trace", "--losses", "--world"}
    takes_input = any(isinstance(parameter, click.Argument) for parameter in parameters)
    for before, word in pairwise(words[1:]):
        is_argument = takes_input and not word.startswith("-") and not before.startswith("--")
        if (before in paths or is_argument or word == "radio.toml") and not Path(word).exists():
            provide_one(Path(word))


def provide_one(path):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(120, 4))
    rows, spam = pd.DataFrame(X, columns=list("abcd")), np.where(X[:, 0] > 0, "spam", "ham")
    mails = pd.DataFrame({"body": np.where(X[:, 0] > 0, "win a prize now", "see you at noon"), "kind": spam})
    streams = {  # examples to label, under the names of the page on labelling, and a radio
        "radio.toml": lambda: path.write_text("awake_mw = 300\nasleep_mw = 15\nbeacon_mj = 0.6\n"),
        "mails.csv": lambda: rows.assign(spam=spam).to_csv(path, index=False),
        "texts.csv": lambda: mails.to_csv(path, index=False),
        "prices.csv.gz": lambda: rows.assign(**{"class": spam}).to_csv(path, index_label="date"),
        "digits.npz": lambda: np.savez(path, X=X, y=draw.integers(0, 10, size=len(X))),
    }
    if path.name in streams:
        streams[path.name]()
    elif path.name == "ARCHIVE" or ".tar" in path.suffixes:
        with tarfile.open(path, "w:xz" if path.suffix == ".xz" else "w") as archive:
            for name in ("con2", "con17"):
                member = tarfile.TarInfo(f"Nov94/{name}.cs20.790000000")
                member.size = len(SESSION)
                archive.addfile(member, io.BytesIO(SESSION.encode()))
    elif path.name == "SESSIONS":
        path.mkdir()
        for name in ("con1.cs20.790000000", "con17.cs20.790000000"):
            (path / name).write_text(SESSION)
    elif "LOSSES" in path.name:
        path.write_text("0.1,0.9,0.3\n0.8,0.2,0.4\n0.5,0.5,0.1\n")
    else:
        path.write_text(WORDS.get(path.suffix, TABLE))


def run_command(words):
    provide(words)
    if "--out" in words and (out := Path(words[words.index("--out") + 1])).is_dir():
        shutil.rmtree(out)  # pages use one name for results of several commands
    output = words.index(">") if ">" in words else len(words)
    fewer = [] if "--losses" in words else SMALL[words[1]]
    if "--trace" in words:
        fewer = ["--jobs", "1"]  # what is drawn is no matter
    if "--data" in words:
        if "LPSM_DATA" not in os.environ:
            return
        words, fewer = [word.replace("FOLDER", os.environ["LPSM_DATA"]) for word in words], ["--rows", "500"]
    result = CliRunner().invoke(main, [*words[1:output], *fewer])
    assert result.exit_code == 0, f"{' '.join(words)}: {result.output}"
    if output < len(words):
        Path(words[output + 1]).write_text(result.stdout)


def fewer(monkeypatch, module, name, pages):
    """Let a function draw three pages at most, whose number is an argument at a place or of a name, and two seeds."""
    whole = getattr(module, name)

    def called(*given, **named):
        held = named if isinstance(pages, str) else (given := list(given))
        held[pages] = min(3, held[pages]) if isinstance(held[pages], int) else held[pages]
        return whole(*given, **named | ({"seeds": 2} if "seeds" in named else {}))

    monkeypatch.setattr(module, name, called)


@each("run", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_shows_exists_and_its_python_and_commands_run_from_top_to_bottom(page, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fewer(monkeypatch, traces, "generate", 0)
    fewer(monkeypatch, experiments.comparison, "compare", "traffic")
    fewer(monkeypatch, experiments.comparison, "sweep", "traffic")
    text, scope = page.read_text(encoding="utf-8"), {"__name__": page.stem}
    for language, block in BLOCK.findall(text):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, str(page), "exec"), scope)
        for words in commands(block) if language in ("", "console", "sh") else ():
            check(words, whole=True)
            is_small = words[0] == "lpsm" and words[1] in SMALL and "--scheduler" not in words
            if run and is_small and "\nlpsm: " not in block:  # an error that is shown
                run_command(words)
    for words in INLINE.findall(BLOCK.sub("", text)):
        check(shlex.split(words, comments=True), whole=False)
    for target in LINK.findall(text):
        assert (page.parent / target).exists(), target


@each("page, of", [("policies", policies), ("samplers", samplers), ("traces", traces)])
def test_every_name_of_a_registry_has_a_row_in_the_table_of_its_page(page, of):
    rows = re.findall(r"^\| (`[^|]*)\|", (ROOT / "docs" / f"{page}.md").read_text(), re.MULTILINE)
    assert set(re.findall(r"`([\w-]+)", " ".join(rows))) == set(of.registry())


def test_every_page_of_the_documentation_is_in_its_table_of_contents():
    listed = set(re.findall(r"^[a-z0-9-]+$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE))
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"} <= listed


@pytest.mark.long
def test_the_documentation_builds_without_a_warning(tmp_path):
    build = pytest.importorskip("sphinx.cmd.build")
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("_build", "api"))
    assert build.build_main(["-q", "-W", "-b", "html", str(tmp_path / "docs"), str(tmp_path / "html")]) == 0
    assert "FixedShare" in (tmp_path / "html" / "api" / "lpsm.experts.tracking.html").read_text()


@pytest.mark.long
def test_the_agent_trains_and_is_held_against_every_policy():
    quick = [sys.executable, ROOT / "docs" / "agent.py", "--quick"]
    lines = subprocess.run(quick, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["the", *dict.fromkeys(line.split()[0] for line in lines[1:])]
    assert len(lines) == 12
