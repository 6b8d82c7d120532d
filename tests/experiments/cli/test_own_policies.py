"""Classes of one's own go into every command; in a worker, what they do wrong is one line too."""

import json

import pytest

from tests.experiments.makers import OWN_POLICIES, sessions
from tests.tables import each

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(OWN_POLICIES)
    return str(tmp_path / "mine.py")


def test_a_class_of_ones_own_goes_into_every_command(lpsm, mine, workload, tmp_path, capture):
    own = ["--policies", f"psm,{mine}:Patient,{mine}:Patient:3"]
    small = ["--pages", "2", "--seeds", "2"]

    def found(*words):
        folder = () if words[0] == "audit" else ("--jobs", "1", "--out", tmp_path / f"{words[0]}{len(words)}")
        result = lpsm(*words, *own, "--json", *folder)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    for words in (["compare", *small], ["compare", *small, "--clients", "1,2"], ["tune", workload],
                  ["population", workload]):  # fmt: skip
        answer = found(*words)
        assert answer["policies"] == ["none", "psm:102.4", "patient:2", "patient:3"]
        assert words[0] != "compare" or list(answer["own_policies"]) == ["patient:2", "patient:3"]
    [client] = found("audit", capture)["clients"]
    assert [row["policy"] for row in client["compared"]] == ["psm:102.4", "patient:2", "patient:3", "dynamic:60"]
    timeline = lpsm("timeline", workload, "--policies", f"{mine}:Patient", "--out", tmp_path / "a.svg")
    assert timeline.stdout.startswith("patient:2: page in"), timeline.output
    totals = [json.loads(lpsm("simulate", workload, "--policy", policy, "--json").stdout)
        for policy in (f"{mine}:Patient:3", "listen:3")]  # fmt: skip
    assert [one.pop("policy") for one in totals] == ["patient:3", "listen:3"]
    assert totals[0] == totals[1]


def test_a_class_of_ones_own_may_be_the_baseline_and_is_kept_by_the_name_it_gives_itself(lpsm, mine, tmp_path):
    words = ["--pages", "2", "--seeds", "2", "--policies", "psm", "--baseline", f"{mine}:Patient:3", "--jobs", "1"]
    result = lpsm("compare", *words, "--json", "--out", tmp_path / "out")
    answer = json.loads(result.stdout)
    assert answer["policies"] == ["none", "psm:102.4", "patient:3"]
    assert [row["policy"] for row in answer["against"]] == ["none", "psm:102.4"]
    assert "Paired differences from patient:3" in (tmp_path / "out" / "comparison.txt").read_text()
    manifest = (tmp_path / "out" / "manifest.json").read_text()
    assert json.loads(manifest)["configuration"]["baseline"] == "patient:3"
    assert str(mine) not in manifest


def test_another_text_of_the_class_is_another_configuration(lpsm, tmp_path):
    configurations = []
    for name, text in (("a", OWN_POLICIES), ("b", OWN_POLICIES.replace('"2"', '"4"'))):
        (tmp_path / f"{name}.py").write_text(text)
        words = ["--pages", "3", "--seeds", "1", "--policies", f"{tmp_path}/{name}.py:Patient", "--jobs", "1"]
        assert lpsm("compare", *words, "--out", tmp_path / name).exit_code == 0
        manifest = json.loads((tmp_path / name / "manifest.json").read_text())
        configurations.append(manifest["configuration"]["own_policies"])
    assert [list(own) for own in configurations] == [["patient:2"], ["patient:4"]]
    assert configurations[0]["patient:2"] != configurations[1]["patient:4"]


@each(
    "name, said",
    [
        ("Failing:SystemExit", "plan raised SystemExit: 0 (mine.py, line 24), at page"),
        pytest.param("Held", "cannot be copied", marks=pytest.mark.long),
    ],
)
def test_a_policy_that_fails_in_a_worker_is_the_same_line_and_not_success(lpsm, mine, tmp_path, name, said):
    own = ["--policies", f"{mine}:{name}", "--jobs", "2", "--pages-per-task", "3", "--preset", "thesis",
        "--out", tmp_path / "out"]  # fmt: skip
    result = lpsm("population", sessions(tmp_path / "sessions", 6, n_users=6), *own)
    assert result.exit_code == 2
    [line] = [line for line in result.stderr.splitlines() if line.startswith("lpsm: ")]
    assert said in line
    assert "Traceback" not in result.output
