"""What there is can be listed, completed and used as its example says; classes of one's own go everywhere."""

import json
import os
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

import netsim
from experiments.cli import main
from experiments.study import sweep
from experiments.study.run import run

MINE = """
from netsim.policies import make

class Patient:
    host_aware = False

    def __init__(self, parameter="2"):
        self._rule = make(f"listen:{parameter}")
        self.spec = f"patient:{parameter}"

    def plan(self, view):
        return self._rule.plan(view)
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return str(tmp_path / "mine.py")


@pytest.mark.parametrize("name", ["policies", "radios", "samplers", "formats", "world"])
def test_every_entry_of_a_list_has_a_meaning_a_source_and_an_example(lpsm, name):
    listed = json.loads(lpsm("list", name, "--json").stdout)[name]
    assert len({entry["name"] for entry in listed}) == len(listed) > 4
    text = lpsm("list", name).stdout
    for entry in listed:
        assert all(entry[field].strip() for field in ("written", "meaning", "source", "example"))
        assert f"{entry['written']}\n" in text


def test_the_example_of_every_policy_and_of_every_radio_runs(lpsm, workload):
    for entry in json.loads(lpsm("list", "policies", "--json").stdout)["policies"]:
        result = lpsm("simulate", workload, "--policy", entry["example"], "--engine", "packet", "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["policy"].partition(":")[0] == entry["name"]
    for entry in json.loads(lpsm("list", "radios", "--json").stdout)["radios"]:
        result = lpsm("simulate", workload, *shlex.split(entry["example"]), "--engine", "packet", "--json")
        assert result.exit_code == 0, result.output


def test_a_world_may_hold_every_field_of_the_configurations_and_each_example_is_taken(lpsm, workload, tmp_path):
    listed = {entry["name"]: entry for entry in json.loads(lpsm("list", "world", "--json").stdout)["world"]}
    for kind in (netsim.LinkConfig, netsim.TcpConfig, netsim.BeaconConfig, netsim.AirConfig):
        left_out = {"wired_delay_ms", "phy", "beacons"}  # rtt, air, and the fields of beacons
        assert {field.name for field in fields(kind)} - left_out <= {name for name in listed if listed[name]["meaning"]}
    lines = [entry["example"] for entry in listed.values()]
    lines = [
        line for line in lines if not line.startswith(("wireless_mbps", "radio"))
    ]  # not on the air, not beside others
    (tmp_path / "w.toml").write_text("\n".join(lines))
    result = lpsm("simulate", workload, "--world", tmp_path / "w.toml", "--engine", "packet", "--json")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("lpsm compare --policies psm,lp", {"psm,lpsm"}),
        ("lpsm simulate w --policy dyn", {"dynamic"}),
        ("lpsm tune --radio esp32-", {"esp32-c3"}),
        ("lpsm label d --algorithm ssm", {"ssmd"}),
        ("lpsm rep", {"replay", "reproduce"}),
        ("lpsm list for", {"formats"}),
        ("lpsm reproduce thesis/fig-2-6", {"thesis/fig-2-6"}),
    ],
)
def test_values_complete_in_the_shell(words, expected):
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_LPSM_COMPLETE": "bash_complete"}
    shown = CliRunner(env={**os.environ, **environment}).invoke(main, [], prog_name="lpsm")
    assert expected & {line.partition(",")[2] for line in shown.output.splitlines()}


def test_a_class_of_ones_own_goes_into_every_command(lpsm, mine, workload, tmp_path):
    own = ["--jobs", "1", "--json", "--policies", f"psm,{mine}:Patient,{mine}:Patient:3"]
    compared = lpsm("compare", "--pages", "3", "--seeds", "2", *own, "--out", tmp_path / "c")
    tuned = lpsm("tune", workload, *own, "--out", tmp_path / "t")
    population = lpsm("population", workload, *own, "--out", tmp_path / "p")
    for result in (compared, tuned, population):
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["policies"] == ["none", "psm:100", "patient:2", "patient:3"]
    same = lpsm("compare", "--pages", "3", "--seeds", "2", "--policies", "listen:2", "--out", tmp_path / "d", "--json")
    rows = [{row["policy"]: row for row in json.loads(result.stdout)["summary"]} for result in (compared, same)]
    assert rows[0]["patient:2"]["total_j_per_page"] == rows[1]["listen:2"]["total_j_per_page"]
    totals = json.loads(lpsm("simulate", workload, "--policy", f"{mine}:Patient", "--json").stdout)
    assert totals["policy"] == "patient:2"


def test_another_text_of_the_class_is_another_configuration(lpsm, mine, tmp_path):
    command = ["compare", "--pages", "3", "--seeds", "1", "--policies", f"{mine}:Patient", "--jobs", "1", "--out"]
    configurations = []
    for name, text in (("a", MINE), ("b", MINE.replace('"2"', '"4"'))):
        Path(mine).with_name(f"{name}.py").write_text(text)
        assert lpsm(*(word.replace("mine.py", f"{name}.py") for word in command), tmp_path / name).exit_code == 0
        manifest = json.loads((tmp_path / name / "manifest.json").read_text())
        configurations.append(manifest["configuration"]["own_policies"])
    assert [list(own) for own in configurations] == [["patient:2"], ["patient:4"]]
    assert configurations[0]["patient:2"] != configurations[1]["patient:4"]


def test_an_object_goes_into_a_sweep_and_gives_what_its_name_gives():
    config = netsim.SimulationConfig()
    policy = netsim.policies.make("bsd:0.2")
    listed = sweep.tasks([sweep.Generated(n_pages=3, seed=0)], [policy, "bsd:0.5"], config)
    assert [task.name for task in listed.values()] == ["none", "bsd:0.2", "bsd:0.5"]
    found = sweep.frames(run(sweep.simulate, listed, jobs=1)).runs.set_index("policy")
    wanted = sweep.tasks([sweep.Generated(n_pages=3, seed=0)], ["bsd:0.2"], config)
    named = sweep.frames(run(sweep.simulate, wanted, jobs=1)).runs.set_index("policy")
    assert found.loc["bsd:0.2"].equals(named.loc["bsd:0.2"])
