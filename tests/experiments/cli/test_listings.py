"""What there is can be listed, completed and used as its example says."""

import json
import os
from dataclasses import fields

from click.testing import CliRunner

import netsim
from experiments.cli import main
from tests.tables import cases_of, each


@each("name", "policies radios samplers formats world")
def test_every_entry_of_a_list_has_a_meaning_a_source_and_an_example(lpsm, name):
    listed = json.loads(lpsm("list", name, "--json").stdout)[name]
    assert len({entry["name"] for entry in listed}) == len(listed) > 4
    text = lpsm("list", name).stdout
    for entry in listed:
        assert all(entry[field].strip() for field in ("written", "meaning", "source", "example"))
        assert f"{entry['written']}\n" in text


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


@cases_of("words expected", """
"lpsm compare --policies psm,lp", {"psm,lpsm"} ; "lpsm tune --radio esp32-", {"esp32-c3"}
"lpsm rep", {"replay", "reproduce"} ; "lpsm reproduce thesis/fig-2-6", {"thesis/fig-2-6"}
""")  # fmt: skip
def test_values_complete_in_the_shell(words, expected):
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_LPSM_COMPLETE": "bash_complete"}
    shown = CliRunner(env={**os.environ, **environment}).invoke(main, [], prog_name="lpsm")
    assert expected & {line.partition(",")[2] for line in shown.output.splitlines()}
