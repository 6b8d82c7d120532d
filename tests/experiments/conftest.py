import json
from functools import cache
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from experiments.cli import main
from experiments.study import progress as study_progress
from experiments.study import run as study_run
from tests.experiments import makers

RESULTS = {  # every command that writes a folder, with little to do
    "compare": "compare --pages 4 --seeds 2 --policies psm,lpsm:log --radio cc3235sf",
    "label": "label STREAM --algorithm sop-ss --param b=0.1 --window 50",
    "population": "population TRACE --by session --pages-per-task 6",
    "replay": "replay TRACE",
    "reproduce": "reproduce thesis/counterexample-4-3 --size smoke",
    "tune": "tune --pages 4 --seeds 4 --policies none,psm,bsd-phase:0.5,lpsm:log --max-slowdown 5 --beacon-ms 102.4",
}
JOBS = ("compare", "population", "reproduce", "tune")  # which compute in several processes


class Made(NamedTuple):
    """What a command made: its words without --out, its folder, the object of --json."""

    words: list
    folder: Any
    found: dict


def invoke(*words, given=None):
    return CliRunner().invoke(main, [str(word) for word in words], input=given)


@pytest.fixture
def lpsm():
    """Run the program in this process."""
    return invoke


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Show no bar of progress and start no processes unasked, however slow the machine is."""
    monkeypatch.setattr(study_progress, "PATIENCE_S", 600.0)
    monkeypatch.setattr(study_run, "WORTH_S", 600.0)


@pytest.fixture
def complaint():
    """Run the program on bad input; hold it to one printable line on standard error and status 2; return the line."""

    def run(*words):
        result = invoke(*words)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("lpsm: ")
        assert result.stderr.count("\n") == 1
        assert result.stderr[:-1].isprintable()
        return result.stderr

    return run


@pytest.fixture
def undrawn(monkeypatch):
    """Leave pictures empty, which take most of the time of a small command, where a test does not look at them."""
    from experiments.figures import style

    def empty(name, _figure):
        return {f"{name}.{kind}": b"" for kind in ("png", "svg")}

    empty.drawn = style.pictures
    monkeypatch.setattr(style, "pictures", empty)


@pytest.fixture
def workload(tmp_path):
    """Write three small pages."""
    path = tmp_path / "work.jsonl"
    path.write_text(makers.WORK)
    return path


@pytest.fixture(scope="session")
def trace(tmp_path_factory):
    """Write twelve sessions of browsing."""
    return makers.sessions(tmp_path_factory.mktemp("browsing") / "sessions", 12)


@pytest.fixture(scope="session")
def capture(tmp_path_factory):
    """Write a monitor-mode capture."""
    path = tmp_path_factory.mktemp("capture") / "air.pcap"
    path.write_bytes(makers.air_capture())
    return path


@pytest.fixture(scope="session")
def asked(tmp_path_factory, trace):
    """The words of the commands of RESULTS by their names, without --out."""
    stream = tmp_path_factory.mktemp("stream") / "stream.csv"
    stream.write_text(makers.STREAM)
    places = {"STREAM": str(stream), "TRACE": str(trace)}
    return {name: [places.get(word, word) for word in text.split()] + ["--jobs", "1"] * (name in JOBS)
            for name, text in RESULTS.items()}  # fmt: skip


@pytest.fixture(scope="session")
def results(tmp_path_factory, asked):
    """Run a command of RESULTS by its name, once."""

    @cache
    def made(name):
        from experiments.figures import style

        words, folder = asked[name], tmp_path_factory.mktemp(name) / "out"
        with pytest.MonkeyPatch.context() as patch:  # whoever asks first may leave pictures empty
            patch.setattr(style, "pictures", getattr(style.pictures, "drawn", style.pictures))
            result = invoke(*words, "--json", "--out", folder)
        assert result.exit_code == 0, result.output
        return Made(words, folder, json.loads(result.stdout))

    return made
