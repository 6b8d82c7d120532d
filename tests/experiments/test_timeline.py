import json
from itertools import pairwise
from pathlib import Path

import dpkt
import numpy as np
import pytest

import netsim
import traces
from experiments.report.capture import capture
from experiments.report.perfetto import trace_events
from experiments.timeline import record, timeline, window_of_page
from tests.tables import each, near, unequal, value_error

WORK = traces.Workload.of(list(traces.generate(5, np.random.default_rng(11), "1996")))
CONFIG = netsim.SimulationConfig(server_delay=netsim.ServerDelay(mean_s=0.2))
POLICIES = ["none", "psm", "bsd:1", "lpsm", "lpsm2:1.05", "dynamic"]


@pytest.fixture(scope="module")
def runs():
    return {policy: record(WORK, policy, CONFIG) for policy in POLICIES}


@each("policy", POLICIES)
def test_a_timeline_of_the_whole_run_adds_up_to_its_result(runs, policy):
    run = runs[policy]
    seen = timeline(run, 0.0, run.result.elapsed_s)
    assert sum(end - start for start, end in seen.awake) == near(run.result.awake_s, abs=1e-6)
    assert not unequal("""
len(seen.frames) -> len(run.recorder.transmissions)
sum(beacon.heard == "listened" for beacon in seen.beacons) -> run.result.beacons
len(seen.beacons) -> int(run.result.elapsed_s / 0.1 + 1e-6) + 1
len(seen.loads) -> len(WORK)
""", globals() | locals())  # fmt: skip
    down = [frame for frame in run.recorder.transmissions if frame.down]
    waited = sum(frame.size_bytes * (frame.start_ns - frame.reached_ns) for frame in down) / 1e9
    assert sum(step.value * (step.end_s - step.start_s) for step in seen.waiting) == near(waited, abs=1e-3)
    asked = sum(one.answered_ns - one.asked_ns for one in run.recorder.exchanges) / 1e9
    assert sum(step.value * (step.end_s - step.start_s) for step in seen.outstanding) == near(asked, abs=1e-6)
    assert {step.value for step in seen.outstanding} <= {0, 1, 2, 3, 4}  # connections at a time


def test_a_radio_that_takes_time_wakes_up_before_it_is_awake_and_before_every_beacon_it_listens_to():
    config = netsim.SimulationConfig(radio=netsim.Radio.profile("esp32-c6"))
    run = record(WORK, "psm", config)
    seen = timeline(run, 0.0, run.result.elapsed_s)
    assert len(seen.waking) >= run.result.beacons - 1
    assert {round(end - start, 9) for start, end in seen.waking} == {round(config.radio.wakeup_ms / 1000, 9)}
    starts = {start for start, _ in seen.awake} | {one.time_s for one in seen.beacons if one.heard == "listened"}
    assert {end for _, end in seen.waking} == starts - {0.0}


def test_a_window_is_a_piece_of_the_whole_and_inside_the_run_which_on_wires_has_no_capture(runs):
    run = runs["bsd:1"]
    start, length = window_of_page(run, 2)
    piece, whole = timeline(run, start, length), timeline(run, 0.0, run.result.elapsed_s)
    inside = [b for b in whole.beacons if start - 1e-9 <= b.time_s <= start + length + 1e-9]
    heard = [(round(start + b.time_s, 6), b.heard) for b in piece.beacons]
    assert heard == [(round(b.time_s, 6), b.heard) for b in inside]
    ((begin, end),) = piece.loads
    assert end - begin == near(float(run.result.pages["latency_s"][2]))
    assert all(step.end_s == after.start_s for step, after in pairwise(piece.waiting))
    for window in ((-1.0, 1.0), (1e9, 1.0), (0.0, 0.0)):
        with value_error("window"):
            timeline(run, *window)
    with value_error("page must lie in \\[1, 5\\], got 6"):
        window_of_page(run, 5)
    with value_error("wires have no frames"):
        capture(run)


def test_trace_events_have_the_published_shape_and_lose_no_beacon(runs):
    data = json.loads(json.dumps(trace_events([timeline(run, 0.0, 60.0) for run in runs.values()]), allow_nan=False))
    assert data.keys() == {"traceEvents", "displayTimeUnit"}
    fields = {"X": {"cat", "ts", "dur"}, "i": {"cat", "ts", "s"}, "C": {"ts"}, "M": set()}  # as the format has them
    spans = {}
    for event in data["traceEvents"]:
        assert event.keys() == {"ph", "pid", "tid", "name", "args"} | fields[event["ph"]]
        assert min(event.get("ts", 0), event.get("dur", 0)) >= 0
        if event["ph"] == "X":
            spans.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    assert {event["ph"] for event in data["traceEvents"]} == fields.keys()
    for rows in spans.values():  # complete events of a thread nest or follow one another
        assert all(first[1] <= second[0] + 0.01 for first, second in pairwise(sorted(rows)))
    for pid, run in enumerate(runs.values(), 1):
        told = [one for one in data["traceEvents"] if one["pid"] == pid and one.get("cat") == "beacons"]
        heard = [beacon.heard for beacon in timeline(run, 0.0, 60.0).beacons]
        assert [one["name"].removeprefix("beacon ") for one in told] == [one for one in heard if one != "slept"]
        after_last = min(heard[::-1].index(kind) for kind in {*heard} - {"slept"})
        assert sum(one["args"]["slept_through"] for one in told) + after_last == heard.count("slept")


def test_the_command_writes_what_it_is_asked_for(lpsm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    traces.write_workload("work.jsonl", WORK)
    page = ("timeline", "work.jsonl", "--policies", "psm,lpsm", "--page", "2", "--perfetto", "e.json")
    for out in ("a.png", "c.png"):
        assert lpsm(*page, "--out", out).exit_code == 0
    assert Path("a.png").read_bytes() == Path("c.png").read_bytes()
    events = json.loads(Path("e.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events} == {1, 2}
    assert max(event.get("ts", 0) for event in events) < 60e6  # the page, not the run
    part = ("--from", "3", "--length", "2", "--air", "11g", "--pcap", "r.pcapng")
    assert lpsm("timeline", "work.jsonl", "--policies", "psm", *part).exit_code == 0
    with Path("r.pcapng").open("rb") as file:
        assert all(3.0 <= at <= 5.0 for at, _ in dpkt.pcapng.Reader(file))
