"""`lpsm doctor`: what the program needs, and what is missing."""

import json
from pathlib import Path

import pytest

from experiments import datasets
from experiments.cli import doctor


def test_the_doctor_finds_everything_it_needs(lpsm, monkeypatch, tmp_path):
    monkeypatch.setenv("LPSM_DATA", str(tmp_path))
    (tmp_path / "har").mkdir()
    result = lpsm("doctor", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert found["wrong"] == []
    assert found["compiled_code"] == "runs"
    assert found["data"]["har"] == "found"
    assert found["data"]["pcap"] == "not found"
    assert set(datasets.names()) <= set(found["data"]) == set(doctor.DATA)
    assert {"gymnasium", "river"} <= set(found["extras"])
    assert "everything needed is there" in lpsm("doctor").stdout


def test_where_the_doctor_looks_for_a_data_set_is_where_it_is_read_from(tmp_path):
    for name in datasets.names():
        with pytest.raises(FileNotFoundError) as absent:
            datasets.load(name, tmp_path)
        assert Path(absent.value.filename).relative_to(tmp_path).parts[0] == doctor.DATA[name]


def test_the_doctor_says_what_is_missing_and_ends_with_1(lpsm, monkeypatch):
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: ["numpy>=1.26", "no-such-library", "x; extra == 'y'"])
    monkeypatch.delenv("LPSM_DATA", raising=False)
    result = lpsm("doctor")
    assert result.exit_code == 1
    assert "wrong: no-such-library is missing" in result.stdout
    assert "x not installed, lpsm[y]" in result.stdout
