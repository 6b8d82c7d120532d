from __future__ import annotations

import io
import json
import shutil
import struct
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pytest

import netsim
import traces
from experiments.report.capture import capture
from experiments.report.perfetto import trace_events
from experiments.timeline import Run, record, timeline, window_of_page

WORK = traces.Workload.of(list(traces.generate(5, np.random.default_rng(11))))
CONFIG = netsim.SimulationConfig(server_delay=netsim.ServerDelay(mean_s=0.2))
POLICIES = ["none", "psm", "bsd:1", "lpsm", "lpsm2:1.05", "dynamic"]
tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark here")


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {policy: record(WORK, policy, CONFIG) for policy in POLICIES}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_timeline_of_the_whole_run_adds_up_to_its_result(runs: dict[str, Run], policy: str) -> None:
    run = runs[policy]
    seen = timeline(run, 0.0, run.result.elapsed_s)
    assert sum(end - start for start, end in seen.awake) == pytest.approx(run.result.awake_s, abs=1e-6)
    assert len(seen.frames) == len(run.recorder.transmissions)
    listened = [beacon.time_s for beacon in seen.beacons if beacon.heard == "listened"]
    assert len(listened) == run.result.beacons
    assert len(seen.beacons) == int(run.result.elapsed_s / 0.1 + 1e-6) + 1
    assert len(seen.loads) == len(WORK)
    waited = sum(step.value * (step.end_s - step.start_s) for step in seen.waiting)
    down = [frame for frame in run.recorder.transmissions if frame.down]
    assert waited == pytest.approx(
        sum(frame.size_bytes * (frame.start_ns - frame.reached_ns) for frame in down) / 1e9, abs=1e-3
    )
    outstanding = sum(step.value * (step.end_s - step.start_s) for step in seen.outstanding)
    asked = run.recorder.exchanges
    assert outstanding == pytest.approx(sum(one.answered_ns - one.asked_ns for one in asked) / 1e9, abs=1e-6)
    assert {step.value for step in seen.outstanding} <= {0, 1, 2, 3, 4}  # connections at a time


def test_a_radio_that_takes_time_wakes_up_before_it_is_awake_and_before_every_beacon_it_listens_to() -> None:
    config = netsim.SimulationConfig(radio=netsim.Radio.profile("esp32-c6"))
    run = record(WORK, "psm", config)
    seen = timeline(run, 0.0, run.result.elapsed_s)
    assert len(seen.waking) >= run.result.beacons - 1
    assert {round(end - start, 9) for start, end in seen.waking} == {round(config.radio.wakeup_ms / 1000, 9)}
    starts = {start for start, _ in seen.awake} | {one.time_s for one in seen.beacons if one.heard == "listened"}
    assert {end for _, end in seen.waking} == starts - {0.0}
    window, length = window_of_page(run, 2)
    inside = timeline(run, window, length).waking
    assert all(0.0 <= start < end <= length for start, end in inside)


def test_a_window_is_a_piece_of_the_whole(runs: dict[str, Run]) -> None:
    run = runs["bsd:1"]
    start, length = window_of_page(run, 2)
    piece, whole = timeline(run, start, length), timeline(run, 0.0, run.result.elapsed_s)
    inside = [b for b in whole.beacons if start - 1e-9 <= b.time_s <= start + length + 1e-9]
    assert [(round(start + b.time_s, 6), b.heard) for b in piece.beacons] == [
        (round(b.time_s, 6), b.heard) for b in inside
    ]
    assert len(piece.loads) == 1
    ((begin, end),) = piece.loads
    assert end - begin == pytest.approx(float(run.result.pages["latency_s"][2]))
    for step, after in pairwise(piece.waiting):
        assert step.end_s == after.start_s


@pytest.mark.parametrize(("start", "length"), [(-1.0, 1.0), (1e9, 1.0), (0.0, 0.0)])
def test_a_window_outside_the_run_is_refused(runs: dict[str, Run], start: float, length: float) -> None:
    with pytest.raises(ValueError, match="window"):
        timeline(runs["psm"], start, length)
    with pytest.raises(ValueError, match="page must lie in \\[1, 5\\], got 6"):
        window_of_page(runs["psm"], 5)


def test_trace_events_have_the_published_shape(runs: dict[str, Run]) -> None:
    data = json.loads(json.dumps(trace_events([timeline(run, 0.0, 60.0) for run in runs.values()]), allow_nan=False))
    assert set(data) == {"traceEvents", "displayTimeUnit"}
    assert data["displayTimeUnit"] in ("ms", "ns")
    needed: dict[str, dict[str, Any]] = {  # fields of each phase as the format has them
        "X": {"name": str, "cat": str, "pid": int, "tid": int, "ts": (int, float), "dur": (int, float), "args": dict},
        "i": {"name": str, "cat": str, "pid": int, "tid": int, "ts": (int, float), "s": str, "args": dict},
        "C": {"name": str, "pid": int, "tid": int, "ts": (int, float), "args": dict},
        "M": {"name": str, "pid": int, "tid": int, "args": dict},
    }
    for event in data["traceEvents"]:
        shape = needed[event["ph"]]
        assert set(event) == {"ph", *shape}
        assert all(isinstance(event[field], kind) for field, kind in shape.items())
        assert event.get("ts", 0) >= 0
        assert event.get("dur", 0) >= 0
        assert event.get("s", "t") in ("g", "p", "t")
        if event["ph"] == "C":
            assert all(isinstance(value, (int, float)) for value in event["args"].values())
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name", "thread_sort_index")
    assert {event["ph"] for event in data["traceEvents"]} == set(needed)
    for pid, run in enumerate(runs.values(), 1):  # nothing is lost where beacons are told together
        told = [one for one in data["traceEvents"] if one["pid"] == pid and one.get("cat") == "beacons"]
        listened = [one["args"].get("beacons", 1) for one in told if "awake" not in one["name"]]
        beacons = timeline(run, 0.0, 60.0).beacons
        assert sum(listened) == sum(beacon.heard == "listened" for beacon in beacons)
        slept = sum(one["args"]["slept_through"] * one["args"].get("beacons", 1) for one in told)
        after_last = [beacon.heard for beacon in reversed(beacons)].index
        assert slept + min(after_last(kind) for kind in {one.heard for one in beacons} - {"slept"}) == sum(
            beacon.heard == "slept" for beacon in beacons
        )
    spans: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in data["traceEvents"]:
        if event["ph"] == "X":
            spans.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    for rows in spans.values():  # complete events of a thread nest or follow one another
        rows.sort()
        assert all(first[1] <= second[0] + 0.01 for first, second in pairwise(rows))


def blocks(data: bytes) -> list[tuple[int, bytes]]:
    """The packets of a pcapng file, time in nanoseconds and bytes, read by hand."""
    found, place = [], 0
    while place < len(data):
        kind, length = struct.unpack_from("<II", data, place)
        assert struct.unpack_from("<I", data, place + length - 4) == (length,)
        if kind == 6:
            _, high, low, size, _ = struct.unpack_from("<IIIII", data, place + 8)
            found.append(((high << 32) + low, data[place + 28 : place + 28 + size]))
        place += length
    return found


@pytest.mark.parametrize("policy", POLICIES)
def test_a_capture_holds_the_beacons_pm_bits_and_bytes_of_the_run(runs: dict[str, Run], policy: str) -> None:
    run = runs[policy]
    frames = [(at, packet[22:]) for at, packet in blocks(capture(run))]
    assert [at for at, _ in frames] == sorted(at for at, _ in frames)
    beacons = [(at, frame) for at, frame in frames if frame[0] == 0x80]
    assert [at for at, _ in beacons] == [k * 100_000_000 for k in range(len(beacons))]
    polls = run.result.polls
    found = {round(at * 1e9): size > 0 for at, size in zip(polls["time_s"], polls["buffered_bytes"], strict=True)}
    for at, frame in beacons:
        if at in found:  # the TIM tells what the client was told
            assert bool(frame[-1]) == found[at], at
    payload = {True: 0, False: 0}
    for _, frame in frames:
        if frame[0] == 0x08:
            ip = dpkt.ip.IP(frame[32:])
            payload[bool(frame[1] & 2)] += len(ip.data.data)
    down = [frame for frame in run.recorder.transmissions if frame.down]
    assert payload[True] == sum(frame.length for frame in down)
    assert payload[False] == sum(page.request_bytes + sum(request for request, _ in page.objects) for page in WORK)
    mode = [(at, bool(frame[1] & 0x10)) for at, frame in frames if frame[0] in (0x08, 0x48) and frame[1] & 1]
    asleep_ns, since = 0, 0 if policy != "none" and mode[0][1] else None
    for at, saving in mode:  # power saving is announced whenever the gate is closed
        if saving and since is None:
            since = at
        if not saving and since is not None:
            asleep_ns, since = asleep_ns + at - since, None
    if since is not None:
        asleep_ns += round(run.result.elapsed_s * 1e9) - since
    closed = sum(1e9 * (end - start) for start, end in timeline(run, 0.0, run.result.elapsed_s).gate)
    assert asleep_ns == pytest.approx(run.result.elapsed_s * 1e9 - closed, abs=1e6)


def test_the_sizes_of_http_messages_are_those_of_the_pages_even_of_the_smallest() -> None:
    pages = [
        traces.Page("a", request, reply, ((1, 1), (60, 47), (61, 48)))
        for request, reply in ((40, 20), (45, 137), (300, 1040))
    ]
    run = record(traces.Workload.of(pages), "psm", CONFIG)
    streams: dict[tuple[int, bool], bytes] = {}
    for _, packet in blocks(capture(run)):
        frame = packet[22:]
        if frame[0] == 0x08:
            segment = dpkt.ip.IP(frame[32:]).data
            key = (min(segment.sport, segment.dport) and max(segment.sport, segment.dport), bool(frame[1] & 2))
            streams[key] = streams.get(key, b"") + segment.data
    up = b"".join(stream for (_, down), stream in streams.items() if not down)
    assert len(up) == sum(page.request_bytes + 122 for page in pages)
    reply = dpkt.http.Response(
        next(s for (_, down), s in streams.items() if down and len(s) >= 1040 and s.startswith(b"HTTP"))
    )
    assert len(reply.body) == int(reply.headers["content-length"]) > 0


@tshark
@pytest.mark.parametrize("policy", ["psm", "lpsm", "bsd:1"])
def test_tshark_reads_the_run_back(runs: dict[str, Run], policy: str, tmp_path: Path) -> None:
    run, path = runs[policy], tmp_path / "run.pcapng"
    path.write_bytes(capture(run))

    def fields(*names: str, only: str) -> list[list[str]]:
        words = [word for name in names for word in ("-e", name)]
        command = ["tshark", "-r", str(path), "-Y", only, "-T", "fields", *words]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [line.split("\t") for line in text.splitlines()]

    assert not fields("frame.number", only="_ws.malformed || _ws.expert.severity == error")
    beacons = fields("frame.time_epoch", "wlan.tim.partial_virtual_bitmap", only="wlan.fc.type_subtype == 8")
    assert len(beacons) == int(run.result.elapsed_s * 10 + 1e-6) + 1
    waiting = {round(float(at) * 10) for at, bits in beacons if int(bits, 16)}
    polls = run.result.polls
    assert {
        round(at * 10) for at, size in zip(polls["time_s"], polls["buffered_bytes"], strict=True) if size
    } <= waiting
    up = fields("wlan.fc.pwrmgt", "tcp.len", only="wlan.fc.tods == 1")
    gates = run.recorder.gates
    assert sum(bit in ("1", "True") for bit, length in up if not length) == sum(not opened for _, opened in gates)
    lengths = fields("tcp.len", only="tcp && wlan.fc.fromds == 1")
    replies = sum(page.reply_bytes + sum(reply for _, reply in page.objects) for page in WORK)
    assert sum(int(length) for (length,) in lengths) == replies
    assert len(fields("http.request.method", only="http.request")) == sum(1 + len(page.objects) for page in WORK)


@pytest.mark.parametrize("policy", ["psm", "lpsm", "dynamic"])
def test_audit_reads_the_run_back(runs: dict[str, Run], policy: str, lpsm: Any, tmp_path: Path) -> None:
    run, path = runs[policy], tmp_path / "run.pcapng"
    path.write_bytes(capture(run))
    found = json.loads(lpsm("audit", path, "--policies", "none", "--json").stdout)
    [network], [client] = found["networks"], found["clients"]
    assert network["beacons"] == int(run.result.elapsed_s * 10 + 1e-6) + 1
    assert network["beacons_missed_by_the_sniffer"] == client["frames_missed_by_the_sniffer"] == 0
    assert client["sleeps"] == sum(not opened for _, opened in run.recorder.gates)
    opened = sum(end - start for start, end in timeline(run, 0.0, run.result.elapsed_s).gate)
    last_s = blocks(path.read_bytes())[-1][0] / 1e9  # what comes after the last frame is not in the capture
    assert client["asleep_share"] * client["known_s"] == pytest.approx(last_s - opened, abs=2e-3)
    for way, is_down in (("up", False), ("down", True)):
        sent = [frame for frame in run.recorder.transmissions if frame.down == is_down]
        assert client[f"frames_{way}"] == len(sent)
        assert client[f"bytes_{way}"] == sum(32 + frame.size_bytes for frame in sent)  # 802.11 and LLC headers
    if policy == "dynamic":
        assert client["nearest_policy"] == "dynamic:100"


def test_the_command_writes_what_it_is_asked_for(lpsm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    traces.write_workload("work.jsonl", WORK)
    for out in ("a.png", "b.svg"):
        result = lpsm(
            "timeline", "work.jsonl", "--policies", "psm,lpsm", "--page", "2", "--out", out, "--perfetto", "e.json"
        )
        assert result.exit_code == 0, result.output
        assert Path(out).stat().st_size > 10_000
    events = json.loads(Path("e.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events} == {1, 2}
    assert max(event.get("ts", 0) for event in events) < 60e6  # the page, not the run
    first = Path("a.png").read_bytes()
    lpsm("timeline", "work.jsonl", "--policies", "psm,lpsm", "--page", "2", "--out", "a.png")
    assert Path("a.png").read_bytes() == first
    result = lpsm("timeline", "work.jsonl", "--policies", "psm", "--from", "3", "--length", "2", "--pcap", "r.pcapng")
    assert result.exit_code == 0, result.output
    assert all(3e9 <= at <= 5e9 for at, _ in blocks(Path("r.pcapng").read_bytes()))
    list(dpkt.pcapng.Reader(io.BytesIO(Path("r.pcapng").read_bytes())))


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--pcap", "r.pcapng"], "name one policy"), (["--out", "x.gif"], "must end in"),
        (["--page", "9"], "page must lie"),
        (["--page", "1", "--from", "2"], "exclude each other"), (["--from", "1e9"], "window must begin"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_refused_in_one_line(
    complaint: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], wrong: str
) -> None:
    monkeypatch.chdir(tmp_path)
    traces.write_workload("work.jsonl", WORK)
    assert wrong in complaint("timeline", "work.jsonl", *words)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work.jsonl"]
