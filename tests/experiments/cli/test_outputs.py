"""Nothing that is read is ever written over, and every command of the table can be loaded."""

from importlib import import_module

import pytest
from click.testing import CliRunner

from experiments.cli import COMMANDS, main


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_can_be_loaded(name):
    module, attribute, _ = COMMANDS[name]
    assert callable(getattr(import_module(module), attribute))


def test_an_output_that_is_the_input_is_refused_and_the_input_stays(tmp_path):
    table, workload = tmp_path / "t.csv", tmp_path / "w.jsonl"
    table.write_text("time,bytes\n0.5,2000\n9.5,3000\n")
    assert CliRunner().invoke(main, ["pages", str(table), "--out", str(workload)]).exit_code == 0
    before = workload.read_text()
    for command in (
        ["pages", str(table), "--out", str(table)],
        ["simulate", str(workload), "--out", str(workload)],
        ["simulate", str(workload), "--out", str(tmp_path / "x"), "--polls", str(tmp_path / "x")],
    ):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 2
        assert "an output must be a file of its own" in result.stderr
    assert table.read_text().startswith("time,bytes")
    assert workload.read_text() == before
