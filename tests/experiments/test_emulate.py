"""Real programs on the simulated air, where namespaces and TUN devices are to be had; else these are skipped."""

import io
import json
import os
import signal
import struct
import subprocess

import numpy as np
import pytest

from bench import emulate as bench
from experiments.emulate import Capture
from tests.tables import each, near

KEYS = ["policy", "exit_status", "elapsed_s", "packets", "added_delay_ms", "energy_j", "awake_share", "beacons",
    "late_ms", "trusted"]  # fmt: skip
PING = {"none": (40.0, 42.5), "dynamic:200": (40.0, 42.5), "psm:100": (40.0, 143.0)}  # round trips, ms


def needs(*programs):
    why = bench.missing(*programs)
    return pytest.mark.skipif(bool(why), reason=why)


pytestmark = [pytest.mark.emulate, needs()]


def moments(run):
    """Run again and again, five times at most: real programs take longer while the machine is busy."""
    return (run() for _ in range(5))


def call(*words, command):
    return [*bench.COMMAND, "--server", bench.LISTENS, *words, "--", *command]


def test_a_capture_has_packets_up_when_they_are_sent_and_packets_down_when_they_land():
    file = io.BytesIO()
    capture = Capture(file)
    capture.sent(b"down", False, 1, 30)
    capture.sent(b"up", True, 10, 40)
    capture.write(20)
    assert file.getvalue()[24:] == struct.pack("<4I", 0, 10, 2, 2) + b"up"
    capture.end(1.0)
    assert file.getvalue()[42:] == struct.pack("<4I", 0, 30, 4, 4) + b"down"


@needs("ping")
@each("policy", PING)
def test_a_ping_takes_as_long_as_the_policy_lets_it(policy):
    trips = bench.round_trips(policy, 40)
    found, least_most = trips.ran.found.row, PING[policy]
    assert (found["exit_status"], found["packets"]) == (0, {"up": 40, "down": 40})
    if found["trusted"]:
        assert least_most[0] <= np.median(trips.told_ms) <= least_most[1]
        assert np.median(np.abs(trips.told_ms - trips.simulated_ms)) < 2.0
    assert found["added_delay_ms"]["max"] <= (100.0 if policy == "psm:100" else 0.0)


def test_round_trips_at_random_instants_are_the_base_and_a_wait_that_is_uniform():
    for trips in moments(lambda: bench.round_trips("psm:100", 100, at_random=True)):
        if trips.ran.found.trusted:
            break
    assert trips.uniform > 0.001


def test_programs_end_with_their_status_and_with_all_that_they_began(tmp_path):
    before = bench.networks()
    words = "--json", "--policies", "none,psm", "--out", tmp_path / "out"
    command = ["sh", "-c", "setsid sleep 27182 & echo out; exit 7"]
    done = subprocess.run(call(*words, command=command), capture_output=True, text=True)
    rows = json.loads(done.stdout)["summary"]
    assert done.returncode == 7
    assert [list(row) for row in rows] == [KEYS] * 2
    assert [(row["policy"], row["exit_status"], row["packets"]["up"]) for row in rows] == [
        ("none", 7, 0), ("psm:100", 7, 0)
    ]  # fmt: skip
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written >= {"emulation.txt", "runs.csv", "timeline.png", "manifest.json", "SHA256SUMS"}
    assert bench.networks() == before
    (tmp_path / "out" / "mine").write_text("")
    assert subprocess.run(call(*words[3:], command=["true"]), capture_output=True).returncode == 2


def test_two_at_once_do_not_see_each_other():
    assert bench.both_fetched() == ["a", "b"]


def test_ctrl_c_ends_the_program_and_results_are_written(tmp_path):
    words = call("--out", tmp_path / "out", command=["sh", "-c", "echo begun; exec sleep 60"])
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True, start_new_session=True) as running:
        assert running.stdout.readline() == "begun\n"
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(timeout=20) == 130
    assert (tmp_path / "out" / "runs.csv").exists()


@needs("nghttpd", "curl")
@each("policy", bench.POLICIES)
def test_the_packets_of_a_run_simulated_are_that_run(policy):
    for found in moments(lambda: bench.fetched(policy, (2_000, 100_000))):
        known, emulated = found.simulated, found.ran.found.emulated.result
        assert known.elapsed_s == near(emulated.elapsed_s)
        assert known.energy.total_j == near(emulated.energy.total_j, rel=1e-9)
        assert known.beacons == emulated.beacons
        if found.packets_s == near(found.curl_s, rel=0.05, abs=0.05):
            break
    assert found.packets_s == near(found.curl_s, rel=0.05, abs=0.05)


@needs("chromium")
@each("policy", ["none", "lpsm3:1.05:400"])
def test_a_browser_has_a_page_of_sixty_objects_when_its_packets_have_come(policy):
    for found in moments(lambda: bench.load(policy)):
        assert found.page.objects.tolist() == [bench.OBJECTS]
        assert found.load_ms >= found.last_byte_ms
        if found.last_byte_ms - found.connect_ms == near(found.packets_ms, rel=0.05, abs=100):
            break
    assert found.last_byte_ms - found.connect_ms == near(found.packets_ms, rel=0.05, abs=100)


@needs("mosquitto", "mosquitto_sub")
def test_messages_of_a_broker_are_delayed_as_simulated():
    for found in moments(lambda: bench.told(9)):
        assert len(found.simulated_ms) == 3
        # a message that has not landed cannot be told
        assert np.all(np.subtract(found.program_ms, found.simulated_ms) > -1)
        if found.program_ms == near(found.simulated_ms, abs=30):
            break
    assert found.program_ms == near(found.simulated_ms, abs=30)


def test_twenty_kills_leave_no_network_no_device_and_no_process():
    left, begun = bench.killed(20, seed=1)
    assert not any(left)
    assert 0 < begun < 20


@needs("iperf3")
def test_a_flood_is_told_and_counted():
    found = bench.ended(*bench.FLOOD, "none").found
    assert found.status == 0
    assert any("packets were dropped" in words for words in found.warnings)
