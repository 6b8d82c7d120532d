"""Captures of the shared air: the audit and the readers of traces find in them what the run says of itself."""

import shutil
import subprocess
from collections import Counter
from itertools import pairwise

import pytest

import netsim
import traces
from experiments.audit import audit
from experiments.report.capture import CLIENT, capture
from experiments.report.perfetto import trace_events
from experiments.timeline import record, timeline
from tests.tables import cases_of, each
from tests.traces.captures import loaded
from traces.captures.frames import WIRELESS
from traces.captures.packets import frames as captured_frames

WORK = traces.Workload.of(traces.Page(f"p{i}", 300, 9_000, ((310 + i, 4_000 + i),), 0.3) for i in range(3))
TOGETHER = {"phy": netsim.Phy.parse("11n"), "max_ampdu_bytes": 65_535}


def browsed(policy, workload=WORK, loss_rate=0.0, **options):
    """Record a run in a cell of such options."""
    medium, link = netsim.AirConfig(**options), netsim.LinkConfig(wired_mbps=1000.0, loss_rate=loss_rate)
    config = netsim.SimulationConfig(medium=medium, link=link, beacon_interval_ns=102_400_000)
    return record(workload, policy, config)


def written(run, folder):
    path = folder / "air.pcapng"
    path.write_bytes(capture(run))
    return path


def heard(run, folder):
    """Write a run, and yield each frame: the length of its radiotap header, the header, and what is behind it."""
    path = written(run, folder)
    with path.open("rb") as stream:
        for _, _, packet, _ in captured_frames(stream, path, traces.Report(), links=WIRELESS):
            length = int.from_bytes(packet[2:4], "little")
            yield packet[:length], packet[length:]


def audited(run, folder):
    path = written(run, folder)
    with path.open("rb") as stream:
        return audit(captured_frames(stream, path, traces.Report(), links=WIRELESS))


def number(frame):
    return int.from_bytes(frame[22:24], "little") >> 4


@each("policy", "none psm dynamic:50 uapsd listen:3")
def test_the_audit_of_a_capture_has_the_beacons_frames_and_sleep_of_the_run(policy, tmp_path):
    beacons = netsim.BeaconConfig(dtim_period=3, broadcast_per_s=8.0)
    run = browsed(policy, neighbours=1, neighbour_mbps=2.0, beacons=beacons)
    frames = [frame for frame in run.recorder.frames if frame.end_ns <= run.result.elapsed_s * 1e9]
    found = audited(run, tmp_path)
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
    header = 32 + 2 * (policy == "uapsd")
    assert client.bytes_up == sum(frame.size_bytes + header for frame in carried if not frame.down)
    assert client.bytes_down == sum(frame.size_bytes + header for frame in carried if frame.down)
    if policy == "dynamic:50":
        gates = [(0, True), *run.recorder.gates, (found.end_us * 1000, True)]
        closed_us = sum(until - at for (at, opened), (until, _) in pairwise(gates) if not opened) / 1000
        assert client.asleep_us == pytest.approx(closed_us, abs=500 * len(gates))
        assert client.nearest_policy() == "dynamic:50"
        assert client.sleeps == sum(at > 0 and not opened for at, opened in run.recorder.gates) >= 3


@each("policy", "psm driver:esp-idf bsd:1 lpsm uapsd twt:500:20")
def test_the_mean_power_of_a_run_lies_in_the_interval_that_its_audit_tells(policy, tmp_path):
    medium = netsim.AirConfig(beacons=netsim.BeaconConfig(dtim_period=3))
    radio = netsim.Radio.named("esp32-c6")
    config = netsim.SimulationConfig(medium=medium, radio=radio, beacon_interval_ns=102_400_000)
    pages = traces.Workload.of(traces.Page(f"p{i}", 300, 9_000, ((310, 4_000),), 8.0) for i in range(6))
    run = record(pages, policy, config)
    found = audited(run, tmp_path)
    client, [network] = found.clients[CLIENT], found.networks.values()
    mean_mw, low_mw, high_mw = client.power_mw(network, radio)
    assert low_mw <= mean_mw <= high_mw
    assert low_mw <= 1000 * run.result.energy.total_j / run.result.elapsed_s <= high_mw
    assert client.service_us == ((500_000, 19_968) if policy.startswith("twt") else None)


@cases_of("policy options", """
"none", {} ; "psm", {} ; "uapsd", {} ; "dynamic:50", {"rts_bytes": 500} ; "uapsd", TOGETHER
""", globals())  # fmt: skip
def test_the_requests_of_a_capture_are_the_pages_also_after_losses_and_collisions(policy, options, tmp_path):
    run = browsed(policy, loss_rate=0.1, neighbours=2, neighbour_mbps=2.0, **options)
    sizes = sorted(pair for page in WORK for pair in ((page.request_bytes, page.reply_bytes), *page.objects))
    found = traces.read(written(run, tmp_path), client="192.168.1.2")
    assert sorted((one.request_bytes, one.reply_bytes) for one in loaded(found)) == sizes


def test_the_tim_announces_what_the_client_was_told_waits(tmp_path):
    run = browsed("psm")
    polls = run.result.polls
    sizes = zip(polls["time_s"], polls["buffered_bytes"], strict=True)
    told = {round(at * 1e9 / 102_400_000): size > 0 for at, size in sizes}
    beacons = [frame for _, frame in heard(run, tmp_path) if frame[0] == 0x80]
    tims = {beacon: bool(frame[24 + 12 + 6 + 6 + 5] & 0b10) for beacon, frame in enumerate(beacons, 1)}
    assert any(told.values())
    assert all(tims.get(beacon, waits) == waits for beacon, waits in told.items())


def test_a_frame_that_is_sent_again_says_so_and_keeps_its_number(tmp_path):
    numbers = {}
    for _, frame in heard(browsed("none", loss_rate=0.3), tmp_path):
        if frame[0] == 0x08:
            numbers.setdefault(frame[4:16], []).append((number(frame), bool(frame[1] & 8)))
    assert sum(again for found in numbers.values() for _, again in found) > 5
    for found in numbers.values():
        for (before, _), (this, again) in pairwise(found):
            assert (this == before) == again


@pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark here")
def test_tshark_finds_nothing_malformed(tmp_path):
    for more in ({"rts_bytes": 500, "beacons": netsim.BeaconConfig(broadcast_per_s=8.0)}, TOGETHER):
        path = written(browsed("uapsd", neighbours=1, neighbour_mbps=5.0, loss_rate=0.2, **more), tmp_path)
        command = ["tshark", "-r", str(path), "-Y", "_ws.malformed", "-T", "fields", "-e", "frame.number"]
        command += ["-o", "tcp.reassemble_out_of_order:TRUE"]  # on the air they are
        found = subprocess.run(command, check=True, capture_output=True, text=True)
        assert not found.stdout.strip()


@cases_of("spec bits_told", "'11n', 64 ; '11ax', 256")
def test_frames_that_go_together_say_so_follow_in_number_and_the_block_ack_tells_what_was_received(
    tmp_path, spec, bits_told
):
    options = {**TOGETHER, "phy": netsim.Phy.parse(spec)}
    run = browsed("dynamic:50", neighbours=1, neighbour_mbps=5.0, loss_rate=0.2, **options)
    together, received, latest, answered = {}, {}, -1, 0
    for radiotap, frame in heard(run, tmp_path):
        if frame[0] == 0x88:
            broken = bool(radiotap[16] & 0x40)
            if len(radiotap) == 32:
                latest, flags = int.from_bytes(radiotap[24:28], "little"), int.from_bytes(radiotap[28:30], "little")
                together.setdefault(latest, []).append((number(frame), bool(flags & 8), broken))
            if not broken:
                received.setdefault(frame[4:16], set()).add(number(frame))
        elif frame[0] == 0x94:
            first, bits = int.from_bytes(frame[18:20], "little") >> 4, int.from_bytes(frame[20:], "little")
            assert (8 * len(frame[20:]), frame[18] & 15) == (bits_told, 4 * (bits_told == 256))  # 802.11ax, 9.3.1.8
            assert first == together[latest][0][0]
            for one, _, broken in together[latest]:
                assert bool(bits >> (one - first) & 1) == (not broken)
            had = received[frame[10:16] + frame[4:10]]
            assert all((first + place in had) == bool(bits >> place & 1) for place in range(bits_told))
            answered += 1
    assert answered > 20
    for members in together.values():
        assert [last for _, last, _ in members] == [False] * (len(members) - 1) + [True]
        assert all(before < this for (before, _, _), (this, _, _) in pairwise(members))


def test_datagrams_are_frames_of_udp_and_named_so_in_a_timeline(tmp_path):
    datagrams = [traces.Datagram(0.5, 100, True), traces.Datagram(0.7, 1200, False)]
    run = browsed("psm", traces.Workload.of([*WORK], datagrams=datagrams))
    requests = list(traces.read(written(run, tmp_path), client="192.168.1.2"))
    assert [(one.request_bytes, one.reply_bytes) for one in requests].count((100, 1200)) == 1
    events = trace_events([timeline(run, 0.0, 60.0)])["traceEvents"]
    assert [event["args"]["payload_bytes"] for event in events if event["name"] == "datagram"] == [100, 1200]
