"""Real programs on the simulated air, where namespaces and TUN devices are to be had; else these are skipped."""

import io
import json
import os
import random
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import netsim
import traces
from experiments import world
from experiments.emulate import Capture
from tests.tables import each, near

LPSM = [sys.executable, "-m", "lpsm", "emulate", "--preset", "wires"]
KEYS = ["policy", "exit_status", "elapsed_s", "packets", "added_delay_ms", "energy_j", "awake_share", "beacons",
    "late_ms", "trusted"]  # fmt: skip
LISTENS = shlex.join([sys.executable, "-c", "import socket as s; s.create_server(('', 9)).accept()"])
PING = {"none": (40.0, 42.5), "dynamic:200": (40.0, 42.5), "psm:100": (40.0, 143.0)}  # round trips, ms
BASE_MS = 40.8
WIRE_S, SYN_BYTES = 0.02, 20  # from the server to the access point; of its options


def _allowed():
    if find_spec("pyroute2") is None or not Path("/dev/net/tun").exists() or not hasattr(os, "SCHED_FIFO"):
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0


pytestmark = [
    pytest.mark.emulate,
    pytest.mark.skipif(
        sys.platform != "linux" or shutil.which("unshare") is None or not _allowed(),
        reason="no network of one's own is to be had here: pyroute2, /dev/net/tun, namespaces",
    ),
]


def needs(*programs):
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def emulate(*words, command, server=LISTENS, **more):
    behind = ["--server", server] if server else []
    call = [*LPSM, *behind, "--json", *words, "--", *command]
    return subprocess.run(call, capture_output=True, text=True, timeout=200, **more)


def served(folder):
    code = (
        f"import os, http.server as h; os.chdir({str(folder)!r}); "
        "h.HTTPServer(('0.0.0.0', 8000), h.SimpleHTTPRequestHandler).serve_forever()"
    )
    return shlex.join([sys.executable, "-c", code])


def networks():
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found.add(os.readlink(f"/proc/{process}/ns/net"))
    return found


def trips(output):
    return np.array([float(line.split("time=")[1].split()[0]) for line in output.splitlines() if "time=" in line])


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
    done = emulate("--policy", policy, command=["ping", "-4", "-c", "40", "-i", "0.037", "server"], server=LISTENS)
    found, least_most = json.loads(done.stdout), PING[policy]
    assert list(found) == KEYS
    assert (found["exit_status"], done.returncode, found["packets"]) == (0, 0, {"up": 40, "down": 40})
    if found["trusted"]:
        assert least_most[0] <= np.median(trips(done.stderr)) <= least_most[1]
    assert found["added_delay_ms"]["max"] <= (100.0 if policy == "psm:100" else 0.0)


def test_programs_end_with_their_status_and_with_all_that_they_began(tmp_path):
    before = networks()
    command = ["sh", "-c", "setsid sleep 27182 & echo out; exit 7"]
    done = emulate("--policies", "none,psm", "--out", tmp_path / "out", command=command)
    rows = json.loads(done.stdout)["summary"]
    assert done.returncode == 7
    assert [(row["policy"], row["exit_status"], row["packets"]["up"]) for row in rows] == [
        ("none", 7, 0), ("psm:100", 7, 0)
    ]  # fmt: skip
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written >= {"emulation.txt", "runs.csv", "timeline.png", "manifest.json", "SHA256SUMS"}
    assert networks() == before
    (tmp_path / "out" / "mine").write_text("")
    assert emulate("--out", tmp_path / "out", command=["true"]).returncode == 2


def test_two_at_once_do_not_see_each_other(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    fetch = "import urllib.request as u;print(u.urlopen('http://server:8000/file').read().decode())"
    call = [sys.executable, "-c", fetch]
    both = [
        subprocess.Popen([*LPSM, "--server", served(tmp_path / name), "--", *call], stdout=-1, stderr=-1, text=True)
        for name in "ab"
    ]
    assert [one.communicate(timeout=60)[0].strip() for one in both] == ["a", "b"]


def test_ctrl_c_ends_the_program_and_results_are_written(tmp_path):
    call = [*LPSM, "--server", LISTENS, "--out", tmp_path / "out", "--", "sh", "-c", "echo begun; exec sleep 60"]
    with subprocess.Popen(call, stdout=-1, stderr=-1, text=True, start_new_session=True) as running:
        assert running.stdout.readline() == "begun\n"
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(timeout=20) == 130
    assert (tmp_path / "out" / "runs.csv").exists()


ECHO = """import socket as s
u = s.socket(s.AF_INET, s.SOCK_DGRAM); u.bind(('10.9.0.2', 9))
while True: u.sendto(*u.recvfrom(99))"""
ASK = """import random, socket as s, time
u, r = s.socket(s.AF_INET, s.SOCK_DGRAM), random.Random(1); u.connect(('10.9.0.2', 9))
for n in range(300):
    time.sleep(r.uniform(.001, .101)); t = time.perf_counter()
    u.send(bytes(56)); u.recv(99); print(f'time={1e3 * (time.perf_counter() - t)}')"""


@pytest.mark.long
def test_round_trips_under_psm_are_the_base_and_a_wait_that_is_uniform():
    server = shlex.join([sys.executable, "-c", ECHO])
    for _ in range(3):  # for a quiet moment
        done = emulate("--policy", "psm:100", command=[sys.executable, "-c", ASK], server=server)
        if json.loads(done.stdout)["trusted"]:
            break
    waits_ms = trips(done.stderr) - BASE_MS
    assert stats.kstest(waits_ms, "uniform", args=(0.0, 100.0)).pvalue > 0.01


@pytest.mark.long
@needs("nghttpd", "curl")
@each("policy", ["none", "psm:100", "dynamic:100", "bsd:1", "lpsm", "lpsm3"])
def test_the_packets_of_a_run_simulated_are_that_run(policy, tmp_path):
    for size in (2_000, 100_000, 2_000_000):
        (tmp_path / str(size)).write_bytes(os.urandom(size))
    fetch = "curl -4 --http2-prior-knowledge -so /dev/null -w '%{time_total}\\n' http://server:8000/"
    script = f"sleep .3; for n in 2000 100000 2000000; do {fetch}$n >&2; sleep 1.137; done"
    server = f"nghttpd --no-tls -d {tmp_path} -a 0.0.0.0 8000"
    done = emulate("--policy", policy, "--pcap", tmp_path / "c.jsonl", command=["sh", "-c", script], server=server)
    found, took_s = json.loads(done.stdout), [float(line) for line in done.stderr.split("policy")[0].split()]
    known = netsim.simulate(traces.read_workload(tmp_path / "c.jsonl"), policy, config=world.made("wires").config)
    assert known.elapsed_s == near(found["elapsed_s"])
    assert known.energy.total_j == near(found["energy_j"]["total"], rel=1e-9)
    assert known.beacons == found["beacons"]
    assert took(known.datagrams) == near(
        took_s, rel=0.05, abs=0.05
    )  # curl takes more than its packets where the machine is busy


def took(rows):
    """Return how long each connection took, from its SYN, known by its size, to its last large packet down."""
    number = ((rows["size_bytes"] == SYN_BYTES) & rows["up"]).cumsum()
    landed_s = rows["sent_s"] + WIRE_S + rows["delay_s"]
    ends = landed_s[(rows["size_bytes"] > 100) & ~rows["up"]].groupby(number).max()
    return (ends - rows.groupby(number)["sent_s"].min()).tolist()


@pytest.mark.long
def test_twenty_kills_leave_no_network_and_no_process():
    before, rng = networks(), random.Random(1)
    devices = os.listdir("/sys/class/net")
    for _ in range(20):
        call = [*LPSM, "--server", LISTENS, "--", "sh", "-c", "(setsid sleep 27182 &); sleep 27182"]
        with subprocess.Popen(call, stdout=-3, stderr=-3) as running:
            time.sleep(rng.uniform(0.3, 3.0))
            running.kill()
        for _ in range(100):
            if networks() == before:
                break
            time.sleep(0.02)
        assert networks() == before
    assert os.listdir("/sys/class/net") == devices


@pytest.mark.long
@needs("iperf3")
def test_a_flood_is_told_and_counted():
    call = ["iperf3", "-u", "-b", "50M", "-t", "4", "-c", "10.9.0.2"]
    done = emulate(command=call, server="iperf3 -s")
    assert done.returncode == 0
    assert "packets were dropped" in done.stderr
