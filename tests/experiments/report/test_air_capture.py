"""Captures of the shared air: the audit and the readers of traces find in them what the run says of itself."""

import shutil
import subprocess
from collections import Counter
from itertools import pairwise

import pytest

import netsim
import traces
from experiments.report.capture import CLIENT, capture
from experiments.report.perfetto import trace_events
from experiments.timeline import record, timeline
from netsim import AirRecorder
from traces.captures.audit import audit
from traces.captures.frames import WIRELESS
from traces.captures.packets import frames as captured_frames

WORK = traces.Workload.of(traces.Page(f"p{i}", 300, 9_000, ((310 + i, 4_000 + i),), 0.3) for i in range(3))
POLICIES = ("none", "psm", "dynamic:50", "uapsd", "listen:3")
TOGETHER = netsim.SimulationConfig(
    medium=netsim.AirConfig(phy=netsim.Phy.parse("11n"), max_ampdu_bytes=65_535, neighbours=1, neighbour_mbps=5.0),
    link=netsim.LinkConfig(wired_mbps=1000.0, loss_rate=0.2),
)


def world(**options):
    return netsim.SimulationConfig(medium=netsim.AirConfig(**options), beacon_interval_ns=102_400_000)


def audited(path):
    with path.open("rb") as stream:
        return audit(captured_frames(stream, path, traces.Report(), links=WIRELESS))


def written(run, folder):
    path = folder / "air.pcapng"
    path.write_bytes(capture(run))
    return path


@pytest.mark.parametrize("policy", POLICIES)
def test_the_audit_of_a_capture_has_the_beacons_frames_and_sleep_of_the_run(policy, tmp_path):
    busy = {"neighbours": 1, "neighbour_mbps": 2.0, "beacons": netsim.BeaconConfig(dtim_period=3, broadcast_per_s=8.0)}
    run = record(WORK, policy, world(**busy))
    assert isinstance(run.recorder, AirRecorder)
    frames = [frame for frame in run.recorder.frames if frame.end_ns <= run.result.elapsed_s * 1e9]
    found = audited(written(run, tmp_path))
    [network], client = found.networks.values(), found.clients[CLIENT]
    counts = Counter((frame.kind, frame.sender, frame.receiver) for frame in frames if frame.received)
    assert (network.beacons, network.missed_beacons) == (sum(frame.kind == "beacon" for frame in frames), 0)
    assert network.dtim_period == 3
    heard_from = next(frame.start_ns for frame in frames if frame.kind == "beacon")  # a network is known by its beacons
    groups = sum(frame.kind == "group" and frame.received and frame.start_ns > heard_from for frame in frames)
    assert network.multicast_frames == groups > 0
    if policy != "none":  # they wait for the DTIM, unless nobody ever sleeps
        assert network.multicast_after_dtim == groups
    assert client.frames_up == counts["data", "client 0", "access point"]
    assert client.frames_down == counts["data", "access point", "client 0"]
    assert client.woke_by["ps_polls"] == counts["poll", "client 0", "access point"]
    again = [frame for frame in frames if frame.kind in ("data", "null") and frame.retry and frame.received]
    assert client.retries == sum("client 0" in (frame.sender, frame.receiver) for frame in again)
    carried = [frame for frame in run.recorder.transmissions if not frame.lost]
    qos = 2 * (policy == "uapsd")
    assert client.bytes_up == sum(frame.size_bytes + 32 + qos for frame in carried if not frame.down)
    assert client.bytes_down == sum(frame.size_bytes + 32 + qos for frame in carried if frame.down)
    if policy == "dynamic:50":
        closed_us, since_ns = 0.0, None
        for at, opened in run.recorder.gates:
            if opened and since_ns is not None:
                closed_us, since_ns = closed_us + (at - since_ns) / 1000, None
            elif not opened and since_ns is None:
                since_ns = at
        closed_us += 0.0 if since_ns is None else found.end_us - since_ns / 1000
        assert client.asleep_us == pytest.approx(closed_us, abs=500 * len(run.recorder.gates))
        assert client.nearest_policy() == "dynamic:50"
        assert client.sleeps == sum(at > 0 and not opened for at, opened in run.recorder.gates) >= 3


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("none", {}), ("psm", {}), ("uapsd", {}), ("dynamic:50", {"rts_bytes": 500}),
        ("uapsd", {"phy": netsim.Phy.parse("11n"), "max_ampdu_bytes": 65_535}),
    ],
)  # fmt: skip
def test_the_requests_of_a_capture_are_the_pages_also_after_losses_and_collisions(policy, options, tmp_path):
    config = world(neighbours=2, neighbour_mbps=2.0, **options)
    lossy = netsim.SimulationConfig(medium=config.medium, link=netsim.LinkConfig(loss_rate=0.1))
    run = record(WORK, policy, lossy)
    sizes = sorted((one.request_bytes, one.reply_bytes) for one in run.recorder.exchanges)
    assert sizes == sorted(pair for page in WORK for pair in ((page.request_bytes, page.reply_bytes), *page.objects))
    found = traces.read(written(run, tmp_path), client="192.168.1.2")
    assert sorted((one.request_bytes, one.reply_bytes) for one in found) == sizes


def test_the_tim_announces_what_the_client_was_told_waits():
    run = record(WORK, "psm", world())
    assert isinstance(run.recorder, AirRecorder)
    polls = run.result.polls
    told = {
        round(at * 1e9 / 102_400_000): size > 0
        for at, size in zip(polls["time_s"], polls["buffered_bytes"], strict=True)
    }
    beacons = {frame.number: frame.announces for frame in run.recorder.frames if frame.kind == "beacon"}
    assert {number: beacons[number] for number in told if number in beacons} == {
        number: waits for number, waits in told.items() if number in beacons
    }
    assert any(told.values())


def test_a_frame_that_is_sent_again_says_so_and_keeps_its_number(tmp_path):
    run = record(
        WORK, "none", netsim.SimulationConfig(medium=netsim.AirConfig(), link=netsim.LinkConfig(loss_rate=0.3))
    )
    path = written(run, tmp_path)
    numbers = {}
    with path.open("rb") as stream:
        for _, _, packet, _ in captured_frames(stream, path, traces.Report(), links=WIRELESS):
            frame = packet[22:]
            if frame[0] == 0x08:
                again = bool(frame[1] & 8)
                numbers.setdefault(frame[4:16], []).append((int.from_bytes(frame[22:24], "little") >> 4, again))
    assert sum(again for found in numbers.values() for _, again in found) > 5
    for found in numbers.values():
        for (before, _), (number, again) in pairwise(found):
            assert (number == before) == again


@pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark here")
def test_tshark_finds_nothing_malformed(tmp_path):
    plain = world(neighbours=1, rts_bytes=500, beacons=netsim.BeaconConfig(broadcast_per_s=8.0))
    for place, config in enumerate((plain, TOGETHER)):
        path = tmp_path / str(place)
        path.mkdir()
        command = ["tshark", "-r", str(written(record(WORK, "uapsd", config), path)), "-Y", "_ws.malformed", "-T"]
        command += ["fields", "-e", "frame.number", "-o", "tcp.reassemble_out_of_order:TRUE"]  # on the air they are
        found = subprocess.run(command, check=True, capture_output=True, text=True)
        assert not found.stdout.strip()


def test_frames_that_go_together_say_so_follow_in_number_and_the_block_ack_tells_what_was_received(tmp_path):
    run = record(WORK, "dynamic:50", TOGETHER)
    path = written(run, tmp_path)
    together = {}
    received = {}
    latest, answered = -1, 0
    with path.open("rb") as stream:
        for _, _, packet, _ in captured_frames(stream, path, traces.Report(), links=WIRELESS):
            length = int.from_bytes(packet[2:4], "little")
            frame = packet[length:]
            if frame[0] == 0x88:
                number, broken = int.from_bytes(frame[22:24], "little") >> 4, bool(packet[16] & 0x40)
                if length == 32:
                    latest, flags = int.from_bytes(packet[24:28], "little"), int.from_bytes(packet[28:30], "little")
                    together.setdefault(latest, []).append((number, bool(flags & 8), broken))
                if not broken:
                    received.setdefault(frame[4:16], set()).add(number)
            elif frame[0] == 0x94:
                first, bits = int.from_bytes(frame[18:20], "little") >> 4, int.from_bytes(frame[20:28], "little")
                assert first == together[latest][0][0]
                for number, _, broken in together[latest]:
                    assert bool(bits >> (number - first) & 1) == (not broken)
                had = received[frame[10:16] + frame[4:10]]
                assert all((first + place in had) == bool(bits >> place & 1) for place in range(64))
                answered += 1
    assert answered > 20
    for members in together.values():
        assert [last for _, last, _ in members] == [False] * (len(members) - 1) + [True]
        assert all(before < number for (before, _, _), (number, _, _) in pairwise(members))
    carried = [frame for frame in run.recorder.transmissions if not frame.lost]
    client = audited(path).clients[CLIENT]
    assert client.frames_down == sum(frame.down for frame in carried)
    assert client.bytes_up == sum(frame.size_bytes + 34 for frame in carried if not frame.down)


def test_datagrams_are_frames_of_udp_and_named_so_in_a_timeline(tmp_path):
    datagrams = [traces.Datagram(0.5, 100, True), traces.Datagram(0.7, 1200, False)]
    run = record(traces.Workload.of([*WORK], datagrams=datagrams), "psm", world())
    requests = list(traces.read(written(run, tmp_path), client="192.168.1.2"))
    assert [(one.request_bytes, one.reply_bytes) for one in requests].count((100, 1200)) == 1
    events = trace_events([timeline(run, 0.0, 60.0)])["traceEvents"]
    assert [event["args"]["payload_bytes"] for event in events if event["name"] == "datagram"] == [100, 1200]
