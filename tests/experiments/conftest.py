import pytest
from click.testing import CliRunner

from experiments.cli import main
from experiments.study import run as study_run
from tests.experiments.browsing import make, population


@pytest.fixture
def lpsm():
    """Run the program in this process."""

    def run(*arguments, given=None):
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=given)

    return run


@pytest.fixture
def complaint(lpsm, monkeypatch):
    """Run the program on bad input; hold it to one line on standard error and exit status 2; return the line."""

    monkeypatch.setattr(study_run, "PATIENCE_S", 600.0)  # no bar, however slow the machine is

    def run(*arguments):
        result = lpsm(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("lpsm: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return run


@pytest.fixture
def workload(tmp_path):
    """Write three small pages."""
    path = tmp_path / "work.jsonl"
    path.write_text(
        '{"page": "a", "request_bytes": 300, "reply_bytes": 5000, "objects": [[200, 700]], "think_s": 2.0}\n'
        '{"page": "b", "request_bytes": 300, "reply_bytes": 500, "think_s": 1.5}\n'
        '{"page": "c", "request_bytes": 300, "reply_bytes": 40000, "think_s": 1.0, "issue_s": 9.0}\n'
    )
    return path


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Write twelve sessions of browsing."""
    return make(tmp_path_factory.mktemp("browsing") / "sessions", 12)


@pytest.fixture(scope="module")
def folder(trace, tmp_path_factory):
    """Run the population of these sessions."""
    out = tmp_path_factory.mktemp("population") / "out"
    result = CliRunner().invoke(main, population(trace, out, "--by", "session"))
    assert result.exit_code == 0, result.output
    return out
