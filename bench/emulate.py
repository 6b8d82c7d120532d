"""Real programs on the simulated air, beside a simulation, and what a packet costs in real time.

    python -m bench.emulate [POINT ...]

Points are pings, curl, chromium, mqtt, endings and speed; without any, all of them, in some ten minutes.  What needs a
program that is not installed (Debian: iputils-ping, nghttp2-server and curl, chromium, mosquitto and
mosquitto-clients, iperf3), or a network of one's own, is left out and said.  Intervals are of 95 %, by Student's t.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

import netsim
import traces
from experiments import world
from experiments.emulate import Capture, Emulation, emulate
from experiments.namespaces import CLIENT
from netsim.config import TcpConfig
from netsim.running.real_time import Emulated, RealTime
from traces.captures.frames import decode_ip, ends
from traces.columns import Workload
from traces.records import Message, Page
from traces.workload import gathered

WIRES = world.made("wires").config
LINUX = netsim.SimulationConfig(
    radio=WIRES.radio, max_connections=6, tcp=TcpConfig.today(stream_window_bytes=0, tls="")
)  # the same links, with the transport of the kernel on both sides
LISTENS = shlex.join([sys.executable, "-c", "import socket as s; s.create_server(('', 9)).accept()"])
COMMAND = [sys.executable, "-m", "lpsm", "emulate", "--preset", "wires"]
POLICIES = "none", "psm:100", "dynamic:100", "bsd:1", "lpsm", "lpsm3:1.05:400"


def missing(*programs: str) -> str:
    """Return what is not to be had here: programs, or a network of one's own; or nothing."""
    lacking = [name for name in ("unshare", *programs) if shutil.which(name) is None]
    if lacking or find_spec("pyroute2") is None:
        return f"not installed: {', '.join(lacking) or 'pyroute2'}"
    if not Path("/dev/net/tun").exists() or subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        return "no network of one's own is to be had here: /dev/net/tun, namespaces"
    return ""


# -- a run, and what it wrote


class Ran(NamedTuple):
    """A program that was emulated."""

    found: Emulation
    output: str
    packets: Workload  #: that it wrote, each when it was sent
    capture: Path  #: for a client that never sleeps


class Both:
    """A capture and a workload of the same run."""

    def __init__(self, *captures: Capture) -> None:
        self._captures = captures

    def sent(self, packet: bytes, up: bool, at_ns: int, landing_ns: int) -> None:
        """Take a packet."""
        for one in self._captures:
            one.sent(packet, up, at_ns, landing_ns)

    def write(self, until_ns: int) -> None:
        """Write what is before an instant."""
        for one in self._captures:
            one.write(until_ns)

    def end(self, elapsed_s: float) -> None:
        """Write the rest."""
        for one in self._captures:
            one.end(elapsed_s)


def run(folder: Path, script: str, policy: str, server: str = LISTENS) -> Ran:
    """Run a script of the shell behind a policy, and read what the run wrote into a folder."""
    paths = folder / "run.pcap", folder / "run.jsonl"
    with paths[0].open("wb") as first, paths[1].open("wb") as second, TemporaryFile() as out:
        both = Both(Capture(first), Capture(second, WIRES.tcp.header_bytes))
        words = ["sh", "-c", script]
        found = emulate(words, policy, WIRES, server=shlex.split(server), capture=both, output=out.fileno())
        out.seek(0)
        output = out.read().decode()
    packets = traces.read_workload(paths[1]) if sum(found.emulated.packets) else Workload.of([])
    return Ran(found, output, packets, paths[0])


def ended(script: str, server: str = LISTENS, policy: str = "psm:100") -> Ran:
    """Run a script until it ends."""
    with TemporaryDirectory() as folder:
        return run(Path(folder), script, policy, server)


def pages_of(capture: Path) -> Workload:
    """Return what `lpsm pages` finds in a capture of a run."""
    report = traces.Report()
    found = gathered(traces.browsed(traces.sessions(capture, client=",".join(CLIENT), report=report), report=report))
    return found.changed(round_trip_s=report.round_trip_s)


def interval(values: list[float], digits: int = 1) -> str:
    """Return the mean of values, and how far from it the true one may be."""
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values) if len(values) > 1 else np.nan
    return f"{np.mean(values):.{digits}f} ± {half:.{digits}f}"


# -- 1. pings

BASE_MS = 40.603  # 84 bytes there and back: 20.1 ms each way, at 10 and at 5 Mb/s
ECHO = """import socket as s
u = s.socket(s.AF_INET, s.SOCK_DGRAM); u.bind(('10.9.0.2', 9))
while True: u.sendto(*u.recvfrom(99))"""
ASK = """import random, socket as s, sys, time
u, r = s.socket(s.AF_INET, s.SOCK_DGRAM), random.Random(1); u.connect(('10.9.0.2', 9))
for n in range(int(sys.argv[1])):
    time.sleep(r.uniform(.001, .101)); t = time.perf_counter()
    u.send(bytes(56)); u.recv(99); print(f'time={1e3 * (time.perf_counter() - t)}')"""


class Trips(NamedTuple):
    """Round trips as a program tells them, and by the instants of their packets in a simulation; ms."""

    ran: Ran
    told_ms: np.ndarray
    simulated_ms: np.ndarray

    @property
    def uniform(self) -> float:
        """How likely, by Kolmogorov and Smirnov, the trips are further from the base and a uniform wait than these."""
        return float(stats.kstest(self.told_ms - BASE_MS, "uniform", args=(0.0, 100.0)).pvalue)


def round_trips(policy: str, count: int, *, at_random: bool = False) -> Trips:
    """Measure round trips: of pings, one each 37 ms, or of datagrams at random instants."""
    script, server = f"ping -4 -c {count} -i 0.037 server", LISTENS
    if at_random:
        script, server = (shlex.join([sys.executable, "-c", *words]) for words in ((ASK, str(count)), (ECHO,)))
    ran = ended(script, server, policy)
    told_ms = np.array([float(one) for one in re.findall(r"time=([\d.]+)", ran.output)])
    at, _, up, _, _, landed = netsim.simulate(ran.packets, policy, config=WIRES)._trip.datagrams.T
    return Trips(ran, told_ms, (landed[up == 0] - at[up == 1]) / 1e6)


def pings(count: int = 300) -> None:
    """Round trips are the base, and under static PSM a wait until the next beacon."""
    print(f"{count} round trips: pings, one each 37 ms, and datagrams at random instants; base {BASE_MS} ms")
    print("packets    policy       median ms    min      max    apart from simulated: median, p99, most   "
          "uniform on (0, 100] above the base: KS p  late p99 ms")  # fmt: skip
    for words, policy in (("pings", "none"), ("pings", "dynamic:200"), ("pings", "psm:100"), ("random", "psm:100")):
        found = round_trips(policy, count, at_random=words == "random")
        trips_ms, apart_ms = found.told_ms, np.abs(found.told_ms - found.simulated_ms)
        print(f"{words:<10} {policy:<12} {np.median(trips_ms):9.3f}  {min(trips_ms):7.3f}  {max(trips_ms):7.3f}  "
              f"{', '.join(f'{one:.3f}' for one in np.percentile(apart_ms, (50, 99, 100))):>37}  "
              f"{f'{found.uniform:.4f}' if policy == 'psm:100' else '-':>41}  "
              f"{found.ran.found.row['late_ms']['p99']:11.3f}")  # fmt: skip


# -- 2. curl

SIZES = 2_000, 100_000, 2_000_000
WIRE_S, SYN_BYTES = 0.02, 20  # from the server to the access point; of the options of a SYN


class Fetched(NamedTuple):
    """What three fetches took: to curl, in the packets of the run simulated, and as pages simulated; seconds."""

    ran: Ran
    simulated: netsim.SimulationResult
    curl_s: list[float]
    packets_s: list[float]
    pages_s: list[float]


def fetched(policy: str, sizes: Sequence[int] = SIZES) -> Fetched:
    """Fetch files from nghttpd, and simulate what the run wrote."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for size in sizes:
            (folder / str(size)).write_bytes(os.urandom(size))
        call = "curl -4 --http2-prior-knowledge -so /dev/null -w '%{time_total}\\n' http://server:8000/"
        script = f"sleep .3; for n in {' '.join(map(str, sizes))}; do {call}$n; sleep 1.137; done"
        ran = run(folder, script, policy, f"nghttpd --no-tls -d {folder} -a 0.0.0.0 8000")
    simulated = netsim.simulate(ran.packets, policy, config=WIRES)
    rows = simulated.datagrams
    number = ((rows["size_bytes"] == SYN_BYTES) & rows["up"]).cumsum()
    begun_s = rows.groupby(number)["sent_s"].min().tolist()
    first = [one.head[24:28] for one in ran.packets.datagrams]  # the number of a segment's first byte
    landed_s = (rows["sent_s"] + WIRE_S + rows["delay_s"])[(rows["size_bytes"] > 100) & ~rows["up"]]
    landed_s = landed_s.groupby([number, pd.Series(first)]).min()  # not when it came again
    asked = rows[rows["up"]].groupby(number)["size_bytes"].max()  # the request is the largest packet up
    pages = [
        Page(str(size), int(request), size, issue_s=begin_s)
        for size, request, begin_s in zip(sizes, asked, begun_s, strict=True)
    ]
    latency_s = netsim.simulate(pages, policy, config=LINUX).pages["latency_s"].tolist()
    took_s = (landed_s.groupby(level=0).max().to_numpy() - begun_s).tolist()
    return Fetched(ran, simulated, [float(line) for line in ran.output.split()], took_s, latency_s)


def within(found_s: list[float], known_s: list[float]) -> int:
    """Return how many values are within 5 % or 5 ms of others."""
    return sum(abs(a - b) <= max(0.05 * b, 0.005) for a, b in zip(found_s, known_s, strict=True))


def curl(times: int = 3) -> None:
    """Fetches from nghttpd beside the same packets simulated, and beside pages simulated."""
    print(f"curl of {SIZES} bytes over HTTP/2, {times} runs; ms are medians")
    print("policy          energy above sleeping J: emulated, most off %  beacons: most off  curl ms                "
          "pages simulated ms       within 5 % or 5 ms of its packets, of pages  late p99 ms")  # fmt: skip
    for policy in POLICIES:
        found = [fetched(policy) for _ in range(times)]
        above = [[r.energy.total_j - r.energy.sleep_j for r in (one.ran.found.emulated.result, one.simulated)]
                 for one in found]  # fmt: skip
        off = max(abs(simulated / emulated - 1) for emulated, simulated in above)
        beacons = max(abs(one.ran.found.emulated.result.beacons - one.simulated.beacons) for one in found)
        curl_ms, pages_ms = (
            " ".join(f"{1000 * value:.1f}" for value in np.median([getattr(one, name) for one in found], axis=0))
            for name in ("curl_s", "pages_s")
        )
        by_packets, by_pages = (
            f"{sum(within(one.curl_s, getattr(one, name)) for one in found)} of {3 * times}"
            for name in ("packets_s", "pages_s")
        )
        late_ms = max(one.ran.found.row["late_ms"]["p99"] for one in found)
        print(f"{policy:<14} {np.median([emulated for emulated, _ in above]):10.4f}  {100 * off:9.2e}  {beacons:9d}  "
              f"{curl_ms:<24} {pages_ms:<24} {by_packets}, {by_pages}  {late_ms:.3f}")  # fmt: skip


# -- 3. a browser

OBJECTS = 60
KINDS = (
    ("css", '<link rel=stylesheet href="{}">', b"/*", b"*/"), ("js", '<script defer src="{}"></script>', b"/*", b"*/"),
    ("gif", '<img src="{}">', b"GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\0;", b""),
)  # fmt: skip
TELL = """addEventListener('load', () => setTimeout(() => {
  const page = performance.getEntriesByType('navigation')[0], parts = performance.getEntriesByType('resource');
  document.title = JSON.stringify([parts.length, page.connectStart, page.requestStart,
    Math.max(...parts.map(one => one.responseEnd)), page.loadEventEnd])}))"""
BROWSER = (
    "chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync "
    "--disable-component-update --disable-extensions"
)


SERVE = """import http.server as h, os, socket, sys
class Handler(h.SimpleHTTPRequestHandler):
    protocol_version, wbufsize, log_message = 'HTTP/1.1', 1 << 20, lambda *_: None
class Server(h.ThreadingHTTPServer):
    address_family = socket.AF_INET6
os.chdir(sys.argv[1])
Server(('', 8000), Handler).serve_forever()"""


def write_site(folder: Path) -> None:
    """Write a page of style sheets, scripts and pictures, some 400 kB, whose title tells its load."""
    rng, tags = random.Random(1), []
    for n in range(OBJECTS):
        name, tag, begin, end = KINDS[n % 3]
        size = int(min(60_000, max(500, rng.lognormvariate(8.5, 1.0))))
        (folder / f"{n}.{name}").write_bytes(begin + b"x" * (size - len(begin) - len(end)) + end)
        tags.append(tag.format(f"{n}.{name}"))
    head = "<!doctype html><link rel=icon href=data:,><title>none</title>"
    (folder / "index.html").write_text(f"{head}<script>{TELL}</script>{''.join(tags)}")


class Load(NamedTuple):
    """A page that a browser has loaded, by its own clock from the beginning of the navigation, and in packets; ms."""

    ran: Ran
    page: Workload  #: what `lpsm pages` finds in its capture
    connect_ms: float
    request_ms: float
    last_byte_ms: float
    load_ms: float
    packets_ms: float  #: from the first SYN to the last payload that came for the page


def load(policy: str) -> Load:
    """Load the page once, in a browser that has never run."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "www").mkdir()
        write_site(folder / "www")
        server = shlex.join([sys.executable, "-c", SERVE, str(folder / "www")])
        script = f"{BROWSER} --user-data-dir={folder}/profile --dump-dom http://server:8000/ 2>/dev/null"
        ran = run(folder, script, policy, server)
        page = pages_of(ran.capture)
    told = re.search(r"<title>(\[.*?\])</title>", ran.output)
    assert told is not None, ran.output[-2000:]
    parts, *times_ms = json.loads(told[1])
    assert parts == OBJECTS
    simulated = netsim.simulate(ran.packets, policy, config=WIRES)
    began_s, last_s = 1e9, 0.0
    for one, landed_ns in zip(ran.packets.datagrams, simulated._trip.datagrams[:, 5], strict=True):
        segment = decode_ip(one.head, 0)
        if segment.flags >= 0 and 8000 in ends(segment.key):
            began_s = min(began_s, one.at_s)
            last_s = max(last_s, landed_ns / 1e9 * (not one.up and segment.size > 0))
    return Load(ran, page, *times_ms, 1000 * (last_s - began_s))


def simulated_ms(page: Workload, policy: str, **server: object) -> float:
    """Return the latency of a recorded page under a policy."""
    config = world.made("wires", server).config
    config = netsim.SimulationConfig(radio=config.radio, tcp=LINUX.tcp, server_delay=config.server_delay)
    return float(1000 * netsim.simulate(page, policy, config=config).pages["latency_s"].iloc[0])


def chromium(times: int = 10) -> None:
    """Chromium's load event beside the packets of the run, and beside the page of a capture simulated."""
    loads: dict[str, list[Load]] = {name: [] for name in ("none", "lpsm3:1.05:400", "psm:100")}
    for _, policy in [(n, policy) for n in range(times) for policy in loads]:
        loads[policy].append(load(policy))
    print(f"Chromium, a page of {OBJECTS} objects over HTTP/1.1, {times} loads of new browsers under each policy; ms")
    print("Later than under none: by the browser; the page of a capture under none simulated, servers as recorded and "
          "answering at once")  # fmt: skip
    heads = "load event", "not in packets", "later: browser", "recorded", "at once", "energy simulated off %, late p99"
    print(f"{'policy':<14}  {'  '.join(f'{head:<16}' for head in heads)}")
    first = loads["none"]
    for policy, own in loads.items():
        later = [[one.load_ms - base.load_ms for one, base in zip(own, first, strict=True)]]
        later += [
            [simulated_ms(base.page, policy, **given) - simulated_ms(base.page, "none", **given) for base in first]
            for given in ({}, {"server_delay": 0.0})
        ]
        off = max(
            abs(netsim.simulate(one.ran.packets, policy, config=WIRES).energy.total_j
                / one.ran.found.row["energy_j"]["total"] - 1) for one in own
        )  # fmt: skip
        late_ms = max(one.ran.found.row["late_ms"]["p99"] for one in own)
        columns = [one.load_ms for one in own], [one.load_ms - one.packets_ms for one in own], *later
        print(f"{policy:<14}  {'  '.join(f'{interval(one):<16}' for one in columns)}  {100 * off:.1e}  {late_ms:.3f}")


# -- 4. MQTT


class Told(NamedTuple):
    """Messages from a publisher beside the broker: the delays of each, ms."""

    ran: Ran
    program_ms: list[float]  #: from the line handed to mosquitto_pub to the subscriber's stamp
    simulated_ms: list[float]  #: of the same messages, pushed at the instants at which the broker sent them


def told(seconds: int, policy: str = "psm:300", every_s: float = 3.0) -> Told:
    """Publish messages at QoS 1 for some time, each so many seconds."""
    count = int(seconds / every_s)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "broker.conf").write_text("listener 1883 0.0.0.0\nallow_anonymous true\n")
        publish = f"for n in $(seq {count}); do sleep {every_s}; date +%s.%N; done | mosquitto_pub -q 1 -t news -l"
        server = f"mosquitto -c {folder}/broker.conf >/dev/null 2>&1 & sleep .5; {publish}; wait"
        script = f"mosquitto_sub -h server -t news -q 1 -F '%U %p' -C {count}"
        ran = run(folder, script, policy, shlex.join(["sh", "-c", server]))
    stamps = [line.split() for line in ran.output.splitlines()]
    sent = [one for one in ran.packets.datagrams if not one.up and b"news" in one.head]
    assert len(stamps) == len(sent) == count
    pushed = [Message(one.at_s, decode_ip(one.head, 0).size) for one in sent]
    known = netsim.simulate(Workload.of([], pushed), policy, config=WIRES)
    return Told(ran, [1000 * (float(a) - float(b)) for a, b in stamps], (1000 * known.message_delay_s).tolist())


def mqtt(seconds: int = 60) -> None:
    """Delays of messages, as the programs tell them, beside a simulation in which the same are pushed."""
    found = told(seconds)
    apart = np.abs(np.subtract(found.program_ms, found.simulated_ms))
    print("mosquitto, QoS 1, a message each 3 s under psm:300: delays ms, median and range")
    for name, values in (("programs", found.program_ms), ("simulated", found.simulated_ms)):
        print(f"{name:<10} {np.median(values):7.1f}  {min(values):.1f} to {max(values):.1f}")
    print(f"{len(apart)} messages, apart: median {np.median(apart):.2f}, most {max(apart):.2f}; "
          f"late p99 {found.ran.found.row['late_ms']['p99']:.3f}")  # fmt: skip


# -- 5. endings


def networks() -> set[str]:
    """Return the networks that processes of this machine are in."""
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found.add(os.readlink(f"/proc/{process}/ns/net"))
    return found


class Left(NamedTuple):
    """What kills have left behind."""

    networks: int
    devices: int
    processes: int


def killed(times: int, seed: int, together: int = 5) -> tuple[Left, int]:
    """Kill emulations at random instants, some at a time; return what is left, and how many programs had begun.

    The instants lie within three times as long as one takes to begin.
    """
    rng, marker = random.Random(seed), f"{270_000_000 + os.getpid()}"
    before, devices, begun = networks(), set(os.listdir("/sys/class/net")), 0
    server = shlex.join(["sh", "-c", f"(setsid sleep {marker} &); exec {LISTENS} {marker}"])
    script = f"echo begun; (setsid sleep {marker} &); exec sleep {marker}"
    call = [*COMMAND, "--server", server, "--", "sh", "-c", script]
    start_s = time.monotonic()
    with subprocess.Popen(call, stdout=-1, stderr=-3) as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.kill()
    until_s = 3.0 * (time.monotonic() - start_s)
    for done in range(0, times, together):
        many = [subprocess.Popen(call, stdout=-1, stderr=-3) for _ in range(min(together, times - done))]
        start_s = time.monotonic()
        for at_s, one in sorted(((rng.uniform(0.1, until_s), one) for one in many), key=lambda pair: pair[0]):
            time.sleep(max(0.0, start_s + at_s - time.monotonic()))
            one.kill()
            begun += b"begun" in one.communicate()[0]
    until = time.monotonic() + 5.0
    while True:
        processes = 0
        for process in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                processes += marker.encode() in Path(f"/proc/{process}/cmdline").read_bytes()
        left = Left(len(networks() - before), len(set(os.listdir("/sys/class/net")) - devices), processes)
        if not any(left) or time.monotonic() > until:
            return left, begun
        time.sleep(0.05)


def both_fetched() -> list[str]:
    """Fetch a file of the same name from the servers of two emulations at once; return what each got."""
    fetch = "import urllib.request as u; print(u.urlopen('http://server:8000/file').read().decode())"
    with TemporaryDirectory() as name:
        running = []
        for letter in "ab":
            (folder := Path(name, letter)).mkdir()
            (folder / "file").write_text(letter)
            server = shlex.join([sys.executable, "-c", SERVE, str(folder)])
            call = [*COMMAND, "--server", server, "--", sys.executable, "-c", fetch]
            running.append(subprocess.Popen(call, stdout=-1, stderr=-1, text=True))
        return [one.communicate(timeout=60)[0].strip() for one in running]


FLOOD = "iperf3 -u -b 50M -t 4 -c 10.9.0.2 >/dev/null", "sh -c 'exec iperf3 -s >/dev/null'"


def endings(times: int = 20) -> None:
    """What is left of killed emulations, and how programs end that have no use for a network, or too much."""
    left, begun = killed(times, seed=1)
    print(f"{times} kills at random instants, {begun} of them after the program had begun; left: {left}")
    print(f"two at once, each with a file of its own: {' and '.join(both_fetched())}")
    for words, script in (("exits at once with 7", "exit 7"), ("without network", "sleep 1"), ("flood", FLOOD[0])):
        if words == "flood" and (why := missing("iperf3")):
            print(f"flood: left out, {why}")
            continue
        ran = ended(script, FLOOD[1] if words == "flood" else LISTENS)
        row = ran.found.row
        took = f"status {row['exit_status']} after {row['elapsed_s']:.2f} s, {row['packets']['up']:,} packets up"
        print(f"{words}: {took}; said: {' '.join(ran.found.warnings) or 'nothing'}")


# -- 6. speed

PACKETS, BYTES = 10_000, 100
WORLDS = {"wires": None, "11g:54": netsim.AirConfig()}


class Turned:
    """A clock that stands still until it is turned."""

    now_ns = 0

    def __call__(self) -> int:
        """Return the instant."""
        return self.now_ns


class Pair:
    """An end whose packets come and go through a socket of the kernel."""

    def __init__(self) -> None:
        self.mine, self.other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.mine.setblocking(False)
        self.other.setblocking(False)

    def fileno(self) -> int:
        """Return what may be waited for."""
        return self.mine.fileno()

    def read(self) -> bytes:
        """Return the next packet."""
        with suppress(BlockingIOError):
            return self.mine.recv(2048)
        return b""

    def write(self, packet: bytes) -> None:
        """Send a packet, and take it off at the other side."""
        self.mine.send(packet)
        self.other.recv(2048)


def in_the_model(policy: str, config: netsim.SimulationConfig, gap_ns: int) -> float:
    """Return CPU seconds a packet of the model alone."""
    clock, packet = Turned(), b"\x45" + bytes(BYTES - 1)
    link = RealTime(policy, config, deliver=lambda packet, up: None, clock=clock)
    begun = time.process_time()
    for number in range(PACKETS):
        while clock.now_ns + (wait := link.step()) < number * gap_ns:
            clock.now_ns += max(1, wait)
        clock.now_ns = number * gap_ns
        link.send(packet, number % 2 == 0)
    return (time.process_time() - begun) / PACKETS


def with_the_kernel(policy: str, config: netsim.SimulationConfig, gap_ns: int) -> tuple[float, Emulated]:
    """Return CPU seconds a packet, all loops included, and what was found."""
    ends, packet = (Pair(), Pair()), b"\x45" + bytes(BYTES - 1)
    link = RealTime(policy, config, deliver=lambda packet, up: ends[up].write(packet))
    begun, sent = time.process_time(), 0
    for _ in link.carry(ends[0], ends[1]):
        with suppress(BlockingIOError):  # the socket is full: what is due waits before it
            while sent < min(PACKETS, link.now_ns // gap_ns):
                ends[sent % 2].other.send(packet)
                sent += 1
        if link.late.n >= PACKETS or link.now_ns > 1.25 * PACKETS * gap_ns:
            break
    used_s = time.process_time() - begun
    return used_s / PACKETS, link.end()


def speed() -> None:
    """CPU time of a packet in the model, under a clock that is turned, and with the kernel on both sides."""
    print(f"{PACKETS:,} packets of {BYTES} bytes, by turns up and down")
    print("policy           world     packets/s each way  model us  with kernel us  late p99 ms  carried %  trusted")
    for policy, worlds, gap_ns in (
        *((policy, WORLDS, 500_000) for policy in ("none", "psm", "dynamic:100", "lpsm3:1.05")),
        ("none", ("wires",), 100_000), ("psm", ("wires",), 100_000),
    ):  # fmt: skip
        for name in worlds:
            config = netsim.SimulationConfig(medium=WORLDS[name])
            model_s, (all_s, found) = (way(policy, config, gap_ns) for way in (in_the_model, with_the_kernel))
            print(f"{policy:<16} {name:<9} {0.5e9 / gap_ns:18,.0f}  {1e6 * model_s:8.1f}  {1e6 * all_s:14.1f}  "
                  f"{found.late.ms()['p99']:11.3f}  {100 * found.late.n / PACKETS:9.1f}  "
                  f"{'yes' if found.trusted else 'no'}")  # fmt: skip


POINTS = {
    pings: ("ping",), curl: ("nghttpd", "curl"), chromium: ("chromium",), mqtt: ("mosquitto", "mosquitto_sub"),
    endings: (), speed: None,
}  # fmt: skip


def main() -> None:
    """Print the figures of the points that are named, or of all."""
    known = {point.__name__: point for point in POINTS}
    if unknown := sorted(set(sys.argv[1:]) - set(known)):
        sys.exit(f"POINT must be one of {', '.join(known)}; got {unknown[0]}")
    print(f"machine: {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the beginning")
    for name in sys.argv[1:] or known:
        begun, programs = time.monotonic(), POINTS[known[name]]
        print(f"\n# {name}", flush=True)
        if programs is not None and (why := missing(*programs)):
            print(f"left out, {why}")
            continue
        known[name]()
        print(f"({time.monotonic() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
