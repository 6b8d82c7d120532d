import csv
import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest

import netsim
import traces
from experiments.world import made
from tests.tables import near

COLUMNS = ["policy", "page", "issue_s", "latency_s", "awake_s", "asleep_s", "beacons", "energy_j"]


@pytest.fixture
def rows(lpsm, workload):
    """Simulate the workload and return the rows printed."""

    def run(*words):
        result = lpsm("simulate", workload, *words)
        assert result.exit_code == 0, result.output
        return list(csv.DictReader(io.StringIO(result.stdout)))

    return run


@pytest.fixture
def totals(lpsm, workload):
    """Simulate the workload under PSM and return the object of --json."""

    def run(*words):
        result = lpsm("simulate", workload, "--json", "--policy", "psm", *words)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


def test_pages_are_written_in_order_and_to_the_nanosecond_to_a_file_or_standard_output(lpsm, rows, workload, tmp_path):
    at_once = "--server-delay", "0"
    printed = rows("--policy", "bsd:0.50", *at_once)
    result = lpsm("simulate", workload, *at_once, "--policy", "bsd:0.5", "--out", tmp_path / "pages.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    assert list(csv.DictReader(io.StringIO((tmp_path / "pages.csv").read_text()))) == printed
    assert list(printed[0]) == COLUMNS
    assert [(row["policy"], row["page"]) for row in printed] == [("bsd:0.5", page) for page in "abc"]
    assert all(len(row["latency_s"].partition(".")[2]) == 9 for row in printed)
    config = made("today", {"server_delay": "0"}).config
    expected = netsim.simulate(traces.read_workload(workload), "bsd:0.5", config=config).pages
    assert [float(row["latency_s"]) for row in printed] == near(expected["latency_s"].tolist(), abs=1e-9)
    assert rows("--policy", "bsd:0.5", "--engine", "packet") == rows("--policy", "bsd:0.5", "--engine", "express")


def test_the_world_is_todays_unless_another_is_asked_for(lpsm, totals, workload, tmp_path):
    world = tmp_path / "world.toml"
    world.write_text(
        'connections = "per-object"\nmss_bytes = 536\nnagle = true\nserver_delay = 0.5\nradio = "thesis"\n'
        'air = "wires"\nbeacon_ms = 100\nwired_mbps = 10\nrtt = 0.0402\nmax_connections = 4\nheader_bytes = 40\n'
        'initial_window = 2\nwindow = 20\nmin_rto_s = 1\ninitial_rto_s = 3\ncontrol = "ns-2"\n'
        'stream_window_bytes = 0\ntls = ""\n'
    )

    def run(preset, *words):
        found = totals(*words)
        assert found.pop("preset") == preset
        return found

    today = run("today")
    assert today == run("today", "--preset", "today", "--radio", "pixel-7-pro", "--server-delay", "lognormal:0.2")
    config = made("today", {"radio": "thesis", "server_delay": "recorded"}).config
    of_python = netsim.simulate(traces.read_workload(workload), "psm", config=config)
    assert (
        run("today", "--radio", "thesis", "--server-delay", "recorded")["energy_j_per_page"]
        == of_python.energy.per_page_j
    )
    for radio in ((), ("--radio", "ns3")):
        assert run("thesis", "--preset", "thesis", *radio) == run("today", "--world", str(world), *radio)
    said = lpsm("simulate", workload, "--world", world, "--out", tmp_path / "p.csv").stderr
    assert "World (today): radio thesis, " in said
    assert "connections per-object, nagle True, server_delay 0.5, rtt 0.0402." in said


def test_the_totals_of_a_run_follow_from_one_another(totals, tmp_path):
    found = totals("--policy", "bsd-phase:0.5", "--radio", "80211g", "--server-delay", "0")
    assert (found["policy"], found["pages"]) == ("bsd-phase:0.5", 3)
    total = sum(found[part] for part in ("awake_j", "sleep_j", "listen_j", "wakeup_j"))
    assert found["wakeups"] > 0
    assert found["wakeup_j"] == near(109.825 * 0.25e-6 * found["wakeups"])
    assert total == near(3 * found["energy_j_per_page"], rel=1e-12)
    assert found["limit_j_per_page"] < found["page_awake_j_per_page"] < found["energy_j_per_page"]
    assert found["mean_mw"] == near(1000 * total / found["elapsed_s"])
    assert 1 <= found["slowdown_mean"] <= found["slowdown_p95"]
    thesis = totals("--radio", "thesis")
    assert thesis["listen_j"] == near(1.5e-3 * thesis["beacons"])
    (tmp_path / "mine.toml").write_text("awake_mw = 750\nasleep_mw = 40\nbeacon_mj = 1.5\n")
    assert totals("--radio", tmp_path / "mine.toml")["sleep_j"] == near(0.8 * thesis["sleep_j"])


def test_the_options_of_the_air_are_those_of_its_configuration(totals, workload, tmp_path):
    (tmp_path / "w.toml").write_text("rts_bytes = 500\ntwt_announced = true\n")
    options = "--air 11b:2 --dtim 3 --retrieval null --neighbours 1:0.2 --broadcast 2:100 --beacon-bytes 300"
    options += " --radio esp32-c6 --rtt 0.03 --server-delay 0"
    found = totals(*options.split(), "--world", tmp_path / "w.toml")
    air = netsim.AirConfig(phy=netsim.Phy.parse("11b:2"), retrieval="null", neighbours=1, neighbour_mbps=0.2,
        rts_bytes=500, twt_announced=True, beacons=netsim.BeaconConfig(dtim_period=3, broadcast_per_s=2.0,
            broadcast_bytes=100, beacon_mbps=1.0, size_bytes=300))  # fmt: skip
    config = replace(made("today", {"radio": "esp32-c6", "server_delay": "0"}).config, medium=air)
    result = netsim.simulate(traces.read_workload(workload), "psm", config=config)
    assert (found["elapsed_s"], found["energy_j_per_page"]) == (result.elapsed_s, result.energy.per_page_j)


def test_a_short_run_imports_neither_pandas_nor_numba(tmp_path):
    (tmp_path / "w.jsonl").write_text('{"page": "a", "request_bytes": 400, "reply_bytes": 9000, "think_s": 1.0}\n')
    code = (
        "import atexit, sys; from experiments.cli import main; "
        "atexit.register(lambda: print([name for name in ('pandas', 'numba', 'matplotlib') if name in sys.modules])); "
        "main(['simulate', 'w.jsonl', '--policy', 'psm', '--out', 'p.csv'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
