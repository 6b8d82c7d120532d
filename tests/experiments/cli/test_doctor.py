"""`lpsm doctor`: what the program runs on, and what is missing."""

import json

from experiments.cli import doctor


def test_the_doctor_says_what_is_there(lpsm, monkeypatch, tmp_path):
    monkeypatch.setenv("LPSM_DATA", str(tmp_path))
    result = lpsm("doctor", "--json")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["compiled_code"], found["data_folder"]) == (0, "runs", str(tmp_path))


def test_code_that_does_not_run_is_told_and_ends_with_1(lpsm, monkeypatch):
    monkeypatch.setattr(doctor, "_run", lambda _: 1 / 0)
    result = lpsm("doctor")
    assert result.exit_code == 1
    assert "compiled code: does not run: division by zero" in result.stdout
