"""`lpsm doctor`: what the program runs on, and what is missing."""

import json
from pathlib import Path

import pytest

from experiments import datasets
from experiments.cli import doctor


def test_the_doctor_says_what_is_there_and_looks_for_data_where_they_are_read_from(lpsm, monkeypatch, tmp_path):
    monkeypatch.setenv("LPSM_DATA", str(tmp_path))
    (tmp_path / "har").mkdir()
    result = lpsm("doctor", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["compiled_code"], found["data_folder"]) == (0, "runs", str(tmp_path))
    assert (found["data"]["har"], found["data"]["pcap"]) == ("found", "not found")
    assert set(datasets.names()) <= set(found["data"])
    assert {"lpsm", "click", "h11", "scikit-learn", "simpy"} <= set(found["libraries"])
    assert set(found["extras"]) == {"distributed", "starlette", "gymnasium", "jupyterlab", "river"}
    for name in datasets.names():
        with pytest.raises(FileNotFoundError) as absent:
            datasets.load(name, tmp_path)
        assert Path(absent.value.filename).relative_to(tmp_path).parts[0] == doctor.DATA[name]


def test_code_that_does_not_run_is_told_and_ends_with_1(lpsm, monkeypatch):
    monkeypatch.setattr(doctor, "_run", lambda: 1 / 0)
    result = lpsm("doctor")
    assert result.exit_code == 1
    assert "compiled code: does not run: division by zero" in result.stdout
