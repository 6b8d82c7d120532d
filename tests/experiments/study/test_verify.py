from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.experiments.browsing import make

Run = Callable[..., Result]


@pytest.fixture(params=["population", "compare"])
def folder(request: pytest.FixtureRequest, lpsm: Run, tmp_path: Path) -> Path:
    """A folder of results of each command."""
    out = tmp_path / "out"
    if request.param == "population":
        trace = make(tmp_path / "sessions", 3, pages=1)
        result = lpsm("population", trace, "--policies", "none,psm", "--jobs", "1", "--out", out)
    else:
        result = lpsm("compare", "--pages", "2", "--seeds", "2", "--policies", "none,psm", "--jobs", "1", "--out", out)
    assert result.exit_code == 0, result.output
    return out


def test_a_folder_is_whole_until_something_happens_to_it(lpsm: Run, folder: Path) -> None:
    result = lpsm("verify", folder)
    assert result.exit_code == 0, result.output
    assert "all whole" in result.stdout
    victim = folder / "summary.csv"
    text = victim.read_text()
    victim.write_text(text.replace("1", "2", 1))
    result = lpsm("verify", folder)
    assert result.exit_code == 2
    assert "summary.csv: not as it was written" in result.stderr
    victim.unlink()
    assert "summary.csv: missing" in lpsm("verify", folder).stderr
    victim.write_text(text)
    assert lpsm("verify", folder).exit_code == 0
    (folder / "more.csv").write_text("")
    assert "more.csv: not in the manifest" in lpsm("verify", folder).stderr


def test_a_changed_configuration_and_an_unfinished_run_are_told(lpsm: Run, tmp_path: Path) -> None:
    trace = make(tmp_path / "sessions", 2, pages=1)
    out = tmp_path / "out"
    lpsm("population", trace, "--policies", "none", "--jobs", "1", "--out", out)
    path = out / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "configuration": {**manifest["configuration"], "policies": ["psm"]}}))
    assert "the configuration is not the one" in lpsm("verify", out).stderr
    parts = {name: digest for name, digest in manifest.pop("files").items() if name.startswith("users/")}
    (out / "finished.jsonl").write_text("".join(json.dumps(item) + "\n" for item in parts.items()) + '["users/cut')
    path.write_text(json.dumps(manifest))
    result = lpsm("verify", out, "--json")
    assert result.exit_code == 2
    assert "unfinished" in result.stderr
    found = json.loads(result.stdout)
    assert (found["finished"], found["whole"], found["problems"]) == (False, len(parts), [])


def test_what_is_no_folder_of_results_is_one_line(complaint: Callable[..., str], tmp_path: Path) -> None:
    assert "not there" in complaint("verify", tmp_path / "absent")
    assert "manifest.json" in complaint("verify", tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    assert "manifest.json" in complaint("verify", tmp_path)


def test_a_manifest_cannot_lead_out_of_its_folder(lpsm: Run, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "out"
    folder.mkdir()
    files = {"../secret": "0" * 64, str(tmp_path / "secret"): "0" * 64}
    (folder / "manifest.json").write_text(json.dumps({"command": "x", "configuration": {}, "files": files}))
    result = lpsm("verify", folder, "--json")
    assert [problem.rpartition(": ")[2] for problem in json.loads(result.stdout)["problems"]] == ["missing", "missing"]


def test_folders_of_results_below_a_folder_are_all_checked(lpsm: Run, tmp_path: Path) -> None:
    out = tmp_path / "papers"
    for name in ("thesis/counterexample-4-3", "thesis/theorem-7"):
        assert lpsm("reproduce", name, "--size", "smoke", "--jobs", "1", "--out", out).exit_code == 0
    result = lpsm("verify", out)
    n_files = sum(path.name != "manifest.json" for path in (out / "thesis").rglob("*.*"))
    assert (result.exit_code, result.stdout) == (0, f"{out}: 2 folders of results, {n_files} files, all whole\n")
    found = json.loads(lpsm("verify", out, "--json").stdout)
    assert [Path(one["folder"]).name for one in found["records"]] == ["counterexample-4-3", "theorem-7"]
    assert sum(one["whole"] for one in found["records"]) == n_files
    (out / "thesis" / "theorem-7" / "claims.csv").write_text("")
    result = lpsm("verify", out)
    assert result.exit_code == 2
    assert "thesis/theorem-7/claims.csv: not as it was written" in result.stderr
    (tmp_path / "empty").mkdir()
    assert "must hold a manifest.json" in lpsm("verify", tmp_path / "empty").stderr
