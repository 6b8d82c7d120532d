"""Classes of one's own go into every command; what they must not do, and what they do wrong, is one line."""

import json

import pytest

from tests.experiments.browsing import make
from tests.experiments.cli.test_audit import capture  # noqa: F401 (a fixture)

MINE = """
from threading import Lock

import netsim

class Patient:
    spec, host_aware, beacon_ns = "patient", False, 100_000_000

    def __init__(self, beacon_interval_ns):
        self.beacon_ns = beacon_interval_ns

    def plan(self, view):
        period_ns = 3 * self.beacon_ns
        return netsim.Plan(view.now_ns, (view.now_ns // period_ns + 1) * period_ns)

class Failing(Patient):
    spec = "failing\\x1b[2J"

    def __init__(self, error):
        self.error = error

    def plan(self, view):
        if view.now_ns > 4_000_000_000:
            raise {"SystemExit": SystemExit(0), "KeyError": KeyError("no\\x1b[2J\\nluck\\u202e")}[self.error]
        return super().plan(view)

class Odd(Patient):
    def plan(self, view):
        return None if view.now_ns > 4_000_000_000 else super().plan(view)

class Held(Patient):
    def __init__(self):
        self.lock = Lock()
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return str(tmp_path / "mine.py")


def test_a_class_of_ones_own_goes_into_cells_timelines_and_audits(
    lpsm,
    mine,
    workload,
    tmp_path,
    capture,  # noqa: F811
):
    own = ["--policies", f"{mine}:Patient"]
    small = ["--clients", "1,2", "--pages", "2", "--seeds", "2", "--jobs", "2", "--json", "--out", tmp_path / "cell"]
    cell = lpsm("compare", *own, *small)
    assert cell.exit_code == 0, cell.output
    assert json.loads(cell.stdout)["policies"] == ["none", "patient"]
    assert list(json.loads(cell.stdout)["own_policies"]) == ["patient"]
    timeline = lpsm("timeline", workload, *own, "--out", tmp_path / "a.svg")
    assert timeline.exit_code == 0, timeline.output
    assert timeline.stdout.startswith("patient: page in")
    audit = lpsm("audit", capture, *own, "--json")
    assert audit.exit_code == 0, audit.output
    [client] = json.loads(audit.stdout)["clients"]
    assert [row["policy"] for row in client["compared"]] == ["patient", "dynamic:60"]


@pytest.mark.parametrize("text", ["subprocess:Popen:./evil.sh", "logging:FileHandler:made", "evil.py:Evil"])
def test_what_is_typed_is_called_only_if_it_is_a_class_with_a_plan(complaint, workload, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.sh").write_text("#!/bin/sh\ntouch made\n")
    (tmp_path / "evil.sh").chmod(0o755)
    (tmp_path / "evil.py").write_text("class Evil:\n    def __init__(self):\n        open('made', 'w')\n")
    for words in (
        ["simulate", workload, "--policy"],
        ["compare", "--policies"],
        ["population", workload, "--policies"],
    ):
        assert "with a method plan" in complaint(*words, text)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Failing:SystemExit", r"policy failing\x1b[2J: plan raised SystemExit: 0, at page 'b'"),
        ("Failing:KeyError", r"policy failing\x1b[2J: plan raised KeyError: 'no\x1b[2J\nluck\u202e', at page 'b'"),
        ("Odd", "policy patient: plan must return a Plan, got None, at page 'b'"),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "population", "timeline"])
def test_a_policy_that_fails_is_one_line_that_names_policy_and_page(
    complaint, mine, workload, tmp_path, command, name, said
):
    option = "--policy" if command == "simulate" else "--policies"
    out = tmp_path / ("out.svg" if command == "timeline" else "out")
    line = complaint(command, workload, option, f"{mine}:{name}", "--out", out)
    assert line.startswith(f"lpsm: {said}")
    assert line[:-1].isprintable()
    assert not out.is_file()


def test_a_policy_that_fails_in_a_worker_is_the_same_line_and_not_success(lpsm, mine, tmp_path):
    trace = make(tmp_path / "sessions", 6, n_users=6)
    for name, said in (("Failing:SystemExit", "plan raised SystemExit: 0, at page"), ("Held", "cannot be copied")):
        own = ["--policies", f"{mine}:{name}", "--jobs", "2", "--pages-per-task", "3", "--out", tmp_path / name]
        result = lpsm("population", trace, *own)
        assert result.exit_code == 2
        [line] = [line for line in result.stderr.splitlines() if line.startswith("lpsm: ")]
        assert said in line
        assert "Traceback" not in result.output
