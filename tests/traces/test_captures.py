"""Captures of encrypted, pushed and other traffic: what was made is found, to the byte and to the millisecond."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import traces
from tests.tables import cases_of, each, named, near, rows
from tests.traces.captures import DEVICE, SERVER, Tcp, authenticated, loaded, pcap, record, udp, with_options
from traces import Report, TraceError
from traces.captures.flows import open_loop
from traces.captures.streams import Stream
from traces.records import DATAGRAM_DOWN, DATAGRAM_UP, MESSAGE, UNASKED

NAME = "192.168.1.7"


def entered(payload):
    return payload.in_requests + payload.in_replies + payload.in_messages + payload.in_datagrams


def conserved(report, packets):
    assert report.packets.captured == packets
    for book in (report.payload, report.packets):
        assert book.captured == entered(book) + sum(book.left_out.values())


def found(tmp_path, frames, *, empty=False, **options):
    """Return requests with payload and the report, held to conservation."""
    (tmp_path / "c").write_bytes(pcap(frames))
    report = Report()
    requests = [one for batch in traces.batches(tmp_path / "c", report=report, **options) for one in batch.requests()]
    conserved(report, len(frames))
    return (requests if empty else loaded(requests)), report


def sizes(requests):
    return [(request.request_bytes, request.reply_bytes) for request in requests]


def exchange(start_s, **ports):
    """Return a connection with one exchange of 305 and 905 bytes, for which the server takes 250 ms."""
    made = Tcp(start_s, 0.05, **ports)
    made.up(start_s + 0.1, record(300))
    made.down(start_s + 0.4, record(900))
    return made


@cases_of("opens_s to_client_s", "0.0, 0.0 ; 0.02, 0.02 ; 0.2, 0.02")  # the last one slept when it was answered
def test_tls_exchanges_have_the_sizes_waits_and_round_trip_of_the_server(tmp_path, opens_s, to_client_s):
    trip_s, waits = 0.03, [0.2, 0.0, 1.5, 0.05]
    flow = Tcp(1000.0, trip_s, opens_s)
    at_s = 1001.0
    for number, wait_s in enumerate(waits):
        flow.up(at_s, record(300 + number))
        flow.down(at_s + trip_s + wait_s, record(5000 + number))
        flow.up(at_s + trip_s + wait_s + to_client_s, record(30))  # acknowledges: no exchange of its own
        at_s += 5.0
    requests, report = found(tmp_path, flow.frames)
    assert sizes(requests) == [(305 + n + 35, 5005 + n) for n in range(4)]
    assert [request.wait_us for request in requests] == near([1e6 * wait for wait in waits], abs=1000)
    assert report.round_trip_s == near(trip_s + to_client_s, abs=1e-4)
    assert {request.client for request in requests} == {NAME}
    assert [page.waits_s for page in traces.pages(requests)] == [near((wait,), abs=0.001) for wait in waits]


def test_quic_acknowledgements_belong_to_the_exchange_and_its_first_answer_tells_the_round_trip(tmp_path):
    frames = [udp(1.0, True, b"\xc0\0\0\0\1" + b"i" * 1195), udp(1.04, False, b"h" * 1200)]
    for at_s, wait_s in ((3.0, 0.3), (7.0, 0.1)):
        frames.append(udp(at_s, True, b"q" * 400))
        begin_s = at_s + 0.04 + wait_s
        for number in range(20):
            frames += [udp(begin_s + 0.002 * number, False, b"d" * 1200),
                udp(begin_s + 0.002 * number + 0.001, True, b"a" * 40)]  # fmt: skip
    requests, report = found(tmp_path, frames)
    assert sizes(requests) == [(1200, 1200), (400 + 800, 24_000), (400 + 800, 24_000)]
    assert [request.wait_us for request in requests[1:]] == near([300_000, 100_000], abs=1000)
    assert report.round_trip_s == near(0.04, abs=1e-5)


def test_mqtt_keep_alives_reports_and_pushes_are_exchanges_uploads_and_messages(tmp_path):
    flow = Tcp(10.0, 0.05, server_port=1883)
    flow.up(10.1, b"\x10" + b"c" * 40)
    flow.down(10.2, b"\x20\x02\0\0")
    for number in range(1, 6):
        at_s = 10.0 + 60 * number
        flow.up(at_s, b"\xc0\0")
        flow.down(at_s + 0.05, b"\xd0\0")
        flow.down(at_s + 20, b"\x30" + b"p" * (99 + number))
        flow.down(at_s + 20.04, b"\x30" + b"p" * 9)  # goes on within a tenth of a second: one message
        flow.up(at_s + 30, b"\x30" + b"r" * 149)
    requests, report = found(tmp_path, flow.frames)
    exchanges = [one for one in sizes(requests) if one[0]]
    assert [one for one in exchanges if one[1]] == [(41, 4)] + [(2, 2)] * 5
    assert [one for one in exchanges if not one[1]] == [(150, 0)] * 5
    assert report["uploads"] == 5
    messages = [one.reply_bytes for one in requests if one.kind == MESSAGE]
    assert messages == [100 + n + 10 for n in range(1, 6)]
    workload = traces.workload_of(requests, report=report)
    assert [message.at_s for message in workload.messages] == near([80.0 + 60 * n for n in range(5)], abs=1e-5)
    assert workload.round_trip_s == near(0.05, abs=1e-5)


def test_what_is_left_out_is_counted_by_reason_with_its_bytes(tmp_path):
    home = b"\xc0\xa8\x01\x63"
    sent = ((DEVICE, b"\xe0\0\0\xfb", 5353, 100), (DEVICE, home, 1900, 90), (DEVICE, home, 7000, 80),
        (DEVICE, home, 53, 70), (DEVICE, SERVER, 123, 48), (home, SERVER, 123, 49))  # fmt: skip
    frames = [
        (1.0 + at / 10, udp(0, True, b"x" * size, server_port=port)[1].replace(DEVICE, source).replace(SERVER, target))
        for at, (source, target, port, size) in enumerate(sent)]  # fmt: skip
    requests, report = found(tmp_path, frames, empty=True)
    assert report.payload.left_out == {"background_multicast": 100, "background_unicast": 90}
    kinds = [(one.client, one.kind if one.kind in UNASKED else one.request_bytes) for one in requests]
    other = "192.168.1.99"
    up, down = DATAGRAM_UP, DATAGRAM_DOWN
    assert kinds == [(NAME, up), (NAME, up), (other, down), (NAME, up), (NAME, up), (NAME, up), (other, up)]
    requests, report = found(tmp_path, frames, empty=True, client=other)
    assert sizes(requests) == [(0, 0), (0, 80), (0, 70), (49, 0)]
    assert report.payload.left_out["other_clients"] == 48
    of_device = [(at_s, frame[:6] + b"\2\0\0\0\0\1" + frame[12:]) for at_s, frame in frames]
    for client, name in ((f"{NAME},{other}", NAME), ("02:00:00:00:00:01", "02:00:00:00:00:01")):
        requests, report = found(tmp_path, of_device, client=client)
        assert (sizes(requests), {one.client for one in requests}) == ([(80, 0), (70, 0), (48, 0), (49, 0)], {name})
        assert "other_clients" not in report.packets.left_out
    for client, message in (("nobody", "--client must be an IP address"), ("9.9.9.9", r"an exchange of 9\.9\.9\.9")):
        with pytest.raises(TraceError, match=message):
            found(tmp_path, frames, client=client)
    assert sizes(found(tmp_path, frames[2:3])[0]) == [(80, 0)]  # nothing else: what is local is taken


def test_connections_at_home_are_left_out_beside_one_that_leaves_it(tmp_path):
    ends = {DEVICE: b"\xc0\xa8\x01\x62", SERVER: b"\xc0\xa8\x01\x63"}
    home = [
        (at_s, frame.replace(DEVICE, ends[DEVICE]).replace(SERVER, ends[SERVER])) for at_s, frame in exchange(1).frames
    ]
    elsewhere = exchange(9, port=40_001).frames
    requests, report = found(tmp_path, home + elsewhere)
    assert [request.start_us for request in requests] == [9_100_000]
    assert report.payload.left_out == {"local": 305 + 905}
    assert report["exchanges_between_local_addresses"] == 1
    assert report.packets.left_out == {"acknowledgements_and_copies": 2, "local": 4}
    own = [
        (at_s, frame.replace(ends[DEVICE], DEVICE)) for at_s, frame in home
    ]  # of whoever leaves it, all frames count
    requests, _ = found(tmp_path, own + elsewhere)
    assert [request.start_us for request in requests] == [1_100_000, 9_100_000]


def test_a_syn_that_is_sent_again_opens_no_other_connection(tmp_path):
    frames = exchange(2.0).frames
    requests, report = found(tmp_path, [(1.0, frames[0][1]), *frames])
    assert (report["connections"], report.flows["tcp/443"].flows, report["connections_without_data"]) == (1, 1, 0)
    assert [(*sizes([one])[0], one.wait_us) for one in requests] == [(305, 905, 250_000)]


def test_fragments_after_the_first_are_payload_that_is_left_out(tmp_path):
    whole = struct.pack(">HHHH", 40_000, 5000, 3008, 0) + bytes(3000)
    frames = []
    for at in range(0, len(whole), 1480):
        part, more = whole[at : at + 1480], at + 1480 < len(whole)
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(part), 7, at // 8 | more << 13, 64, 17, 0)
        frames.append((1.0 + at / 1e6, head + DEVICE + SERVER + part))
        head = struct.pack(">IHBB", 0x60000000, 8 + len(part), 44, 64) + b" \1" + bytes(14) + b" \2" + bytes(14)
        frames.append((2.0 + at / 1e6, head + struct.pack(">BBHI", 17, 0, at | more, 7) + part))
    (tmp_path / "c").write_bytes(pcap(frames, link=101))
    report = Report()
    (batch,) = traces.batches(tmp_path / "c", report=report)
    assert batch["request_bytes"].tolist() == [1472, 0, 0] * 2
    assert (report.payload.captured, report.payload.left_out, report["fragments"]) == (6000, {"fragments": 3056}, 4)


def _cooked(frame):
    return struct.pack(">HHH8sHHH", 0, 1, 6, b"", 0x8100, 5, 0x0800) + frame[14:]


@pytest.mark.parametrize(
    ("link", "changed"),
    [(1 | 0x24 << 24, bytes), (113, _cooked), (101, authenticated), (101, with_options)],
    ids=["checksums told of in the link type", "a tagged frame of a Linux cooked capture", "authentication", "options"],
)
def test_what_stands_around_a_connection_changes_nothing(tmp_path, link, changed):
    (tmp_path / "c").write_bytes(pcap([(at_s, changed(frame)) for at_s, frame in exchange(1.0).frames], link))
    (request,) = loaded(traces.read(tmp_path / "c"))
    assert (request.request_bytes, request.reply_bytes, request.wait_us) == (305, 905, 250_000)


def test_acknowledgements_are_known_by_their_heads_where_no_more_was_captured(tmp_path):
    connection = exchange(1.0)
    connection.up(1.405, record(50))
    connection.down(1.41, record(900))
    for kept_bytes in (1 << 16, 59):
        (tmp_path / "c").write_bytes(pcap(connection.frames, kept_bytes=kept_bytes))
        assert sizes(loaded(traces.read(tmp_path / "c"))) == [(360, 1810)]


@cases_of("step_s sessions", "3599, 1 ; 3601, 2 ; -0.9, 1 ; -1.1, 2")
def test_a_clock_that_jumps_begins_a_new_session_and_no_time_is_negative(tmp_path, step_s, sessions):
    frames = [udp(10_000.0, True, b"a" * 50, server_port=7), udp(10_000.1, False, b"b" * 50, server_port=7)]
    later = [(at_s + 0.1 + step_s, frame) for at_s, frame in frames]
    (tmp_path / "c").write_bytes(pcap(frames) + pcap(later)[24:])
    report = Report()
    of_clients = list(traces.sessions(tmp_path / "c", report=report))
    assert (len(of_clients), report["clock_jumps"]) == (sessions, sessions - 1)
    for session in of_clients:
        assert all(page.think_s >= 0 for page in traces.workload_of(session.requests))
        assert all(request.end_us >= request.start_us for request in session.requests)


@settings(max_examples=200)
@given(st.integers(0, 2**32), st.integers(1, 40), st.booleans())
def test_every_byte_of_a_stream_is_counted_once_in_whatever_order_it_comes(seed, n, opened):
    chance = random.Random(seed)
    first = chance.choice([0, 5, (1 << 32) - 30])
    stream, seen, total = Stream(), set(), 0
    if opened:
        stream.begin(first, opening=True)
    for _ in range(n):
        at, size = chance.randrange(100), chance.randrange(1, 20)
        total += stream.count((first + at) % (1 << 32), size)
        seen.update(range(at, at + size))
    assert total == len(seen)


COUNTS = named("""
alexa-app.pcapng = (1050245, 4913) ; coap_mqtt.pcap = (246663, 47512)
googledns_android10.pcap = (97087, 0) ; instagram.pcap = (2696206, 1320) ; mqtt.pcap = (875, 0)
nest_log_sink.pcap = (73707, 982) ; netflix.pcap = (5680132, 5269) ; quic-mvfst-22.pcap = (0, 267723)
telegram.pcap = (0, 268533) ; webex.pcap = (761255, 14931) ; wechat.pcap = (535982, 23190)
whatsapp_login_chat.pcap = (16508, 3142) ; wireguard.pcap = (0, 633424) ; youtube_quic.pcap = (0, 179501)
""")
"""Bytes of TCP streams, each once, and of datagrams, counted independently with a union of intervals."""


@each("name", COUNTS)
def test_real_captures_are_conserved_and_equal_an_independent_count(data, name):
    report = Report()
    sizes = [(batch["request_bytes"].sum(), batch["reply_bytes"].sum()) for batch in traces.batches(
        data / "captures" / name, report=report
    )]  # fmt: skip
    payload = report.payload
    assert payload.captured == sum(COUNTS[name])
    conserved(report, report["packets"])
    assert entered(payload) == sum(up + down for up, down in sizes) - report["bytes_lost_in_the_capture"]
    assert min(payload.in_requests, payload.in_replies, payload.in_messages, *payload.left_out.values(), 0) == 0


def test_encrypted_frames_of_802_11_are_the_runs_of_their_station(tmp_path):
    radiotap = struct.pack("<BBHI", 0, 0, 8, 0)
    ap, station = b"\2\0\0\0\0\1", b"\2\0\0\0\0\2"

    def data(up, size, number, again=False):
        bits = 0x40 | (1 if up else 2) | again << 3
        ends = ap + station + ap if up else station + ap + ap
        header = bytes([0x88, bits, 0, 0]) + ends + struct.pack("<H", number << 4) + b"\0\0"
        return radiotap + header + bytes(8 + 16 + 40 + size)  # LLC, encryption, IP and TCP

    frames = [(1.0, data(True, 300, 7)), (1.001, data(True, 300, 7, again=True)), (1.2, data(False, 1400, 7))]
    frames += [(1.201, data(False, 600, 8, again=True)), (1.202, data(True, 0, 8))]  # the first copy was not heard
    frames.append((9.0, data(False, 90, 9)))
    for client, kept_bytes in ((None, 1 << 16), ("02:00:00:00:00:02", 1 << 16), (None, 50)):
        (tmp_path / "c").write_bytes(pcap(frames, link=127, kept_bytes=kept_bytes))
        requests = traces.read(tmp_path / "c", client=client)
        found = traces.workload_of(requests)
        assert [page[:3] for page in found] == [("02:00:00:00:00:02/0", 300, 2000)]
        assert found.messages == (traces.Message(8.0, 90),)
        assert requests.report["frames_of_802.11_heard_before"] == 1


@each("seed", range(5))
def test_voice_has_its_own_clock_and_questions_and_answers_have_not(seed):
    rng = np.random.default_rng(seed)
    pace, asked = 0.02 * np.arange(400), np.cumsum(rng.exponential(0.3, 100))
    uneven = pace + rng.normal(0.0, 0.002, 400), 0.02 * (1 + 1e-4) * np.arange(400) + rng.normal(0.01, 0.003, 400)
    bursts = np.concatenate([at + 0.0002 * np.arange(20) for at in np.cumsum(rng.exponential(0.2, 15))])
    for ups, downs, own in rows("""
pace, pace + 0.005, True  # the very same clock
*uneven, True ; np.cumsum(rng.exponential(0.05, 300)), np.cumsum(rng.exponential(0.04, 300)), True ; pace, [], True
asked, asked + 0.03 + rng.exponential(0.005, 100), False  # look-ups
0.1 * np.arange(200), 0.1 * np.arange(200) + 0.03, False  # polls
bursts[::4] + 0.001, bursts, False  # acknowledgements of QUIC
asked[:10], asked[:10] + 0.03, False  # too few to tell
""", {"pace": pace, "uneven": uneven, "rng": rng, "asked": asked, "bursts": bursts}):  # fmt: skip
        packets = sorted((int(1e6 * at), way) for way, instants in ((True, ups), (False, downs)) for at in instants)
        assert open_loop([(way, at_us, 100, b"") for at_us, way in packets[:512]]) is own
