import csv
import io
import json
import subprocess
import sys
from itertools import pairwise

import pytest

import netsim
import traces

COLUMNS = ["policy", "page", "issue_s", "latency_s", "awake_s", "asleep_s", "beacons", "energy_j"]


def test_the_file_has_the_pages_in_order_and_times_to_the_nanosecond(lpsm, workload, tmp_path):
    out = tmp_path / "pages.csv"
    result = lpsm("simulate", workload, "--policy", "psm", "--out", out)
    assert result.exit_code == 0
    assert result.stdout == ""
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == COLUMNS
    assert [row["page"] for row in rows] == ["a", "b", "c"]
    assert {row["policy"] for row in rows} == {"psm:100"}
    assert all(len(row["latency_s"].partition(".")[2]) == 9 for row in rows)
    expected = netsim.simulate(traces.read_workload(workload), "psm").pages
    assert [float(row["latency_s"]) for row in rows] == pytest.approx(expected["latency_s"].tolist(), abs=1e-9)


def test_without_a_file_the_pages_go_to_standard_output_and_nothing_else_does(lpsm, workload):
    rows = list(csv.DictReader(io.StringIO(lpsm("simulate", workload, "--policy", "bsd:0.50").stdout)))
    assert list(rows[0]) == COLUMNS
    assert {row["policy"] for row in rows} == {"bsd:0.5"}


def test_clients_have_rows_of_their_own_and_totals_are_means_over_them(lpsm, workload, tmp_path):
    out, polls = tmp_path / "pages.csv", tmp_path / "polls.csv"
    several = ("simulate", workload, "--policy", "psm", "--clients", "2")
    totals = json.loads(lpsm(*several, "--air", "11g", "--out", out, "--polls", polls, "--json").stdout)
    rows = list(csv.DictReader(out.open()))
    assert list(rows[0]) == [*COLUMNS, "client"]
    assert [(row["client"], row["page"]) for row in rows] == [(client, page) for client in "01" for page in "abc"]
    assert (totals["clients"], totals["pages"]) == (2, 3)
    listened = [row["client"] for row in csv.DictReader(polls.open())]
    assert set(listened) == {"0", "1"}
    assert 1000 * totals["energy_j_per_page"] * 3 == pytest.approx(totals["mean_mw"] * totals["elapsed_s"])
    assert lpsm(*several, "--engine", "express").stdout == lpsm(*several, "--engine", "packet").stdout


def test_json_is_one_object_with_the_totals_of_the_whole_run(lpsm, workload):
    totals = json.loads(lpsm("simulate", workload, "--policy", "psm", "--radio", "thesis", "--json").stdout)
    assert totals["policy"] == "psm:100"
    assert totals["pages"] == 3
    assert totals["energy_j_per_page"] == pytest.approx(
        (totals["awake_j"] + totals["sleep_j"] + totals["listen_j"]) / 3, rel=1e-12
    )
    assert totals["listen_j"] == pytest.approx(1.5e-3 * totals["beacons"])


def test_the_world_is_todays_unless_another_is_asked_for(lpsm, workload, tmp_path):
    world = tmp_path / "world.toml"

    def run(*arguments):
        data = json.loads(lpsm("simulate", workload, "--policy", "psm", "--json", *arguments).stdout)
        assert data.pop("preset") == ("thesis" if "thesis" in arguments[:2] and "--preset" in arguments else "today")
        return data

    assert run() == run("--preset", "today") == run("--radio", "esp32-c6", "--server-delay", "recorded")
    of_python = netsim.simulate(traces.read_workload(workload), "psm")
    assert run("--radio", "thesis")["energy_j_per_page"] == of_python.energy.per_page_j
    world.write_text(
        'connections = "per-object"\nmss_bytes = 536\nnagle = true\nserver_delay = 0.5\nradio = "thesis"\n'
    )
    assert run("--preset", "thesis") == run("--world", str(world))
    assert run("--preset", "thesis", "--radio", "ns3") == run("--world", str(world), "--radio", "ns3")
    said = lpsm("simulate", workload, "--world", world, "--out", tmp_path / "p.csv").stderr
    assert "World (today): radio thesis, connections per-object, mss_bytes 536, nagle True, server_delay 0.5." in said


def test_polls_and_radio_intervals_are_written_where_asked(lpsm, workload, tmp_path):
    polls, radio = tmp_path / "polls.csv", tmp_path / "radio.csv"
    assert lpsm("simulate", workload, "--policy", "psm", "--polls", polls, "--intervals", radio).exit_code == 0
    assert polls.read_text().splitlines()[0] == "time_s,slept_ms,buffered_bytes,next_sleep_ms"
    intervals = list(csv.DictReader(radio.open()))
    assert all(before["end_s"] == after["start_s"] for before, after in pairwise(intervals))


@pytest.mark.parametrize(
    ("setting", "slower"),
    [
        ("--rtt 0.4", True), ("--server-delay 0.3", True), ("--server-delay exponential:0.5", True),
        ('connections = "per-object"', True), ("wireless_mbps = 1", True), ("wired_mbps = 1", True),
        ("initial_window = 20", False), ("nagle = true", True), ("mss_bytes = 200", True), ("rtt = 0.4", True),
    ],
)  # fmt: skip
def test_settings_of_the_world_change_the_latency_as_they_should(lpsm, workload, tmp_path, setting, slower):
    def total(*extra):
        text = lpsm("simulate", workload, *extra).stdout
        return sum(float(row["latency_s"]) for row in csv.DictReader(io.StringIO(text)))

    (tmp_path / "w.toml").write_text(setting)
    changed = total(*setting.split()) if setting.startswith("--") else total("--world", tmp_path / "w.toml")
    assert changed > total("--rtt", "0.0402") == total() if slower else changed < total()


@pytest.mark.parametrize("policy", ["none", "psm:200", "bsd:0.5", "lpsm:log"])
def test_engines_write_the_same_bytes(lpsm, workload, policy):
    one, two = (lpsm("simulate", workload, "--policy", policy, "--engine", engine) for engine in ("packet", "express"))
    assert one.exit_code == two.exit_code == 0
    assert one.stdout == two.stdout


def test_json_has_the_limit_the_slowdown_and_the_life_of_a_battery(lpsm, workload):
    arguments = ["--policy", "bsd-phase:0.5", "--radio", "cc3235sf", "--battery-mwh", "1000", "--json"]
    found = json.loads(lpsm("simulate", workload, *arguments).stdout)
    total = sum(found[part] for part in ("awake_j", "sleep_j", "listen_j", "wakeup_j"))
    assert found["wakeups"] > 0
    assert found["wakeup_j"] == pytest.approx(2.59e-3 * found["wakeups"])
    assert total == pytest.approx(3 * found["energy_j_per_page"])
    assert found["limit_j_per_page"] < found["page_awake_j_per_page"] < found["energy_j_per_page"]
    assert found["battery_h"] == pytest.approx(1000 / (1000 * total / found["elapsed_s"]))
    assert 1 <= found["slowdown_mean"] <= found["slowdown_p95"]


def test_a_radio_is_a_name_or_a_file_and_single_figures_win(lpsm, complaint, workload, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text("awake_mw = 750\nasleep_mw = 40\nbeacon_mj = 1.5\n")

    def sleeping(*arguments):
        found = json.loads(lpsm("simulate", workload, "--policy", "psm", "--json", *arguments).stdout)
        return float(found["sleep_j"])

    usual = sleeping("--radio", "thesis")
    asleep = tmp_path / "asleep.toml"
    asleep.write_text("asleep_mw = 50\n")
    assert sleeping("--world", asleep) == usual  # what belongs to a radio of two states is of the thesis'
    assert sleeping("--radio", mine) == pytest.approx(0.8 * usual)
    assert sleeping("--radio", mine, "--world", asleep) == pytest.approx(usual)
    mine.write_text("awake_mw = 750\n")
    assert "mine.toml: asleep_mw must be given" in complaint("simulate", workload, "--radio", mine)


def test_the_options_of_the_air_are_those_of_its_configuration(lpsm, workload, tmp_path):
    options = ["--air", "11b:2", "--dtim", "3", "--retrieval", "null", "--neighbours", "1:0.2", "--broadcast", "2:100",
               "--radio", "esp32-c6", "--rtt", "0.03", "--world", tmp_path / "w.toml"]  # fmt: skip
    (tmp_path / "w.toml").write_text("rts_bytes = 500\ntwt_announced = true\nneighbour_mbps = 7\n")
    found = json.loads(lpsm("simulate", workload, "--policy", "psm", "--json", *options).stdout)
    air = netsim.AirConfig(
        phy=netsim.Phy.parse("11b:2"), beacons=netsim.BeaconConfig(
            dtim_period=3, broadcast_per_s=2.0, broadcast_bytes=100
        ), retrieval="null", neighbours=1, neighbour_mbps=0.2, rts_bytes=500,
        twt_announced=True,
    )  # fmt: skip
    config = netsim.SimulationConfig(
        medium=air, radio=netsim.Radio.named("esp32-c6"), link=netsim.LinkConfig(wired_delay_ms=15.0)
    )
    result = netsim.simulate(traces.read_workload(workload), "psm", config=config)
    assert found["elapsed_s"] == result.elapsed_s
    assert found["energy_j_per_page"] == result.energy.per_page_j


def test_a_short_run_imports_neither_pandas_nor_numba(tmp_path):
    (tmp_path / "w.jsonl").write_text('{"page": "a", "request_bytes": 400, "reply_bytes": 9000, "think_s": 1.0}\n')
    code = (
        "import sys; from experiments.cli import main; "
        "main(['simulate', 'w.jsonl', '--policy', 'psm', '--out', 'p.csv'], standalone_mode=False); "
        "print([name for name in ('pandas', 'numba', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
