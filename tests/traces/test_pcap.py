"""Captures: connections made by hand in any disorder, the samples against a plain count, damage named."""

import random
import re
import struct

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import traces
from tests.tables import cases_of
from tests.traces.captures import ACK, FIN, SYN, ip, loaded, pcap
from traces import Report, TraceError
from traces.captures.packets import frames
from traces.files import open_trace

CLIENT, SERVER = b"\x0a\x00\x00\x02", b"\xc0\xa8\x00\x01"
GET = b"GET /%d.gif HTTP/1.1\r\nHost: a.edu\r\n\r\n"


def reply(size, kind=b"image/gif"):
    return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, size) + b"x" * size


def segment(to_server, seq, data=b"", flags=ACK, ack=0, port=4000):
    sport, dport = (port, 80) if to_server else (80, port)
    tcp = dpkt.tcp.TCP(sport=sport, dport=dport, seq=seq % (1 << 32), ack=ack % (1 << 32), flags=flags, data=data)
    return ip(tcp, 6, to_server, CLIENT, SERVER)


def pieces(to_server, start, data, size):
    return [segment(to_server, start + at, data[at : at + size]) for at in range(0, len(data), size)]


def capture(frames, step_s=0.001):
    return pcap((1000 + number * step_s, frame) for number, frame in enumerate(frames))


def read(tmp_path, data, **options):
    (tmp_path / "c").write_bytes(data)
    requests = traces.read(tmp_path / "c", **options)
    return loaded(requests), requests.report


OPENING = [segment(True, 99, flags=SYN), segment(False, 499, flags=SYN | ACK, ack=100)]


def test_one_exchange_is_timed_by_its_first_and_last_packets(tmp_path):
    asked, answer = GET % 1, reply(3000)
    frames = [*OPENING, segment(True, 100, asked), *pieces(False, 500, answer, 1000), segment(True, 140, b"")]
    (request,), report = read(tmp_path, capture(frames))
    sent_us = 1_000_002_000
    ends = "10.0.0.2", "192.168.0.1:80", sent_us, sent_us + 1000 * -(-len(answer) // 1000)
    # the answer came 1 ms after the request, as long as the round trip
    times = 2, 0, 1, sent_us, sent_us + 1000, 1000, 1000  # no gap is longer than that before the second packet
    assert request == (*ends, len(asked), len(answer), "http://a.edu/1.gif", *times)
    assert report.counts == {"connections": 1, "packets": len(frames), "requests": 1} | report.counts


def test_of_a_reply_in_bursts_the_longest_pause_is_told_and_what_came_before_it(tmp_path):
    answer, parts = reply(7000), (0.0, 0.001, 0.101, 0.102, 0.452, 0.453, 0.454, 0.455)
    packets = zip(parts, pieces(False, 500, answer, 1000), strict=True)
    asked = segment(True, 100, GET % 1)
    (tmp_path / "c").write_bytes(pcap([(999.0, asked), *((1000.0 + at_s, frame) for at_s, frame in packets)]))
    ((request,),) = ([*session.requests] for session in traces.sessions(tmp_path / "c"))
    assert (request.pause_us, request.before_pause, request.reply_bytes) == (350_000, 4000, len(answer))
    (page,) = traces.workload_of([request])
    assert page.timings == (traces.Timing(0, 0, 0.0, 0.0, 1.0, 0.455, 0.35, 4000),)


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=5), st.integers(7, 1460), st.integers(0, 99),
    st.sampled_from([500, (1 << 32) - 700]), st.booleans())  # fmt: skip
def test_disorder_repetition_pipelining_and_wrapping_numbers_change_nothing(
    tmp_path_factory, sizes, mss, seed, first, pipelined
):
    chance = random.Random(seed)
    asked, answers = [GET % number for number in range(len(sizes))], [reply(size) for size in sizes]
    frames = [segment(True, 99, flags=SYN), segment(False, first - 1, flags=SYN | ACK, ack=100)]
    rounds = [(b"".join(asked), b"".join(answers))] if pipelined else zip(asked, answers, strict=True)
    up, down = 100, first
    for question, answer in rounds:
        part = pieces(False, down, answer, mss)
        part += chance.sample(part, len(part) // 2)
        chance.shuffle(part)
        frames += pieces(True, up, question, mss) + part
        up, down = up + len(question), down + len(answer)
    requests, report = read(tmp_path_factory.mktemp("c"), capture(frames))
    assert [request.url for request in requests] == [f"http://a.edu/{number}.gif" for number in range(len(sizes))]
    assert [request.reply_bytes for request in requests] == [len(answer) for answer in answers]
    assert [request.request_bytes for request in requests] == [len(question) for question in asked]
    assert report["bytes_lost_in_the_capture"] == 0


def test_bodies_in_chunks_without_length_and_without_body_end_where_they_do(tmp_path):
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    none = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n"
    early = b"HTTP/1.1 100 Continue\r\n\r\n" + reply(10, b"text/html; charset=x")
    until_close = b"HTTP/1.0 200 OK\r\n\r\n" + b"y" * 2500
    answers = [chunked, none, early, until_close]
    stream = b"".join(answers)
    frames = [*OPENING, segment(True, 100, b"".join(GET % n for n in range(4))), *pieces(False, 500, stream, 700)]
    frames.append(segment(False, 500 + len(stream), flags=FIN | ACK))
    requests, report = read(tmp_path, capture(frames))
    assert [request.reply_bytes for request in requests] == [len(answer) for answer in answers]
    assert requests[2].kind == 1
    assert report["requests_without_reply"] == report["replies_cut"] == 0


def test_a_packet_that_only_the_capture_lost_counts_with_its_bytes(tmp_path):
    asked, answer = GET % 1, reply(5000)
    parts = pieces(False, 500, answer, 1000)
    frames = [*OPENING, segment(True, 100, asked), parts[0], *parts[2:]]
    frames.append(segment(True, 100 + len(asked), ack=500 + len(answer)))
    (request,), report = read(tmp_path, capture(frames))
    assert request.reply_bytes == len(answer)
    assert report["bytes_lost_in_the_capture"] == 1000
    (request,), report = read(tmp_path, capture(frames[:-1]))  # nobody says that it arrived
    assert request.reply_bytes == 1000
    assert report["replies_cut"] == report["connections_cut_at_a_gap"] == 1


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def interface(link, *options):
    made = [struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4) for code, value in options]
    return block(1, struct.pack("<HHI", link, 0, 0) + b"".join(made))


def packet(number, stamp, data, kind=6):
    return block(kind, struct.pack("<IIIII", number, stamp >> 32, stamp & 0xFFFFFFFF, len(data), len(data)) + data)


def test_interfaces_of_several_links_and_clocks_and_sections_are_read_each_as_it_is(tmp_path):
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    usb, ethernet = interface(220), interface(1, (1, b"text"), (0, b""), (9, b"\3"))
    raw = interface(101, (9, b"\x94"), (14, struct.pack("<q", 1000)))
    one, other = (segment(True, 99 + at, b"\x17\3\3" + bytes(98)) for at in (0, 101))
    data = section + usb + ethernet + packet(0, 5, b"usb") + packet(1, 1_000_000_000, one) + block(3, b"\3\0\0\0now")
    data += section + raw + packet(0, 3 << 19, other[14:]) + ethernet + packet(1, 1_002_000_001, other[:-1], kind=2)
    data += section + interface(1, (9, b"\t")) + packet(0, 1_003_000_001_500, other)  # nanoseconds, which are rounded
    report = Report()
    (tmp_path / "c").write_bytes(data)
    with open_trace(tmp_path / "c") as stream:
        found = [frame[:3] for frame in frames(stream, tmp_path / "c", report)]
    raw_us, obsolete_us = 1_001_500_000, 1_002_000_001
    assert found == [(1_000_000_000, 1, one), (raw_us, 101, other[14:]), (obsolete_us, 1, other[:-1]),
                     (1_003_000_002, 1, other)]  # fmt: skip
    assert report.counts == {"packets_of_other_link_layers": 1, "packets_without_a_time": 1, "packets": 4}
    for wrong, message in (
        (section + usb + packet(0, 5, b"usb"), r"the link layer must be Ethernet, .*, got link type 220"),
        (section + packet(0, 5, b"x"), "the interface of a packet must be described before it, got number 0"),
        (section[:12] + b"\2\0\2\0" + section[16:], "the version of pcapng must be 1"),
        (section + interface(1) + packet(0, 1 << 63, b"x"), "the time of a packet must lie in .* s, got 92"),
    ):
        with pytest.raises(TraceError, match=message):
            read(tmp_path, wrong)


def test_the_order_of_bytes_of_a_section_is_its_own(tmp_path):
    sent = segment(True, 99, b"\x17\3\3" + bytes(99))  # of 156 bytes
    data = struct.pack(">IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28) + struct.pack(">IIHHII", 1, 20, 1, 0, 0,
        20)  # fmt: skip
    data += struct.pack(">7I", 6, 188, 0, 0, 10**9, 156, 156) + sent + struct.pack(">I", 188)
    (request,), _ = read(tmp_path, data)
    assert (request.start_us, request.request_bytes) == (10**9, 102)


@cases_of("name requests connections", """
"bro.org.pcap", 31, 8 ; "http_espn.pcapng", 61, 25 ; "pipelined-requests.pcap", None, 1 ; "wikipedia.pcap", None, 9
""")  # fmt: skip
def test_samples_have_the_requests_that_a_search_of_the_packets_finds(data, name, requests, connections):
    starts, speaking = set(), set()
    with (data / "pcap" / name).open("rb") as file:
        for _, frame in (dpkt.pcapng if name.endswith("ng") else dpkt.pcap).Reader(file):
            packet = dpkt.ethernet.Ethernet(frame).data
            if not isinstance(packet, dpkt.ip.IP) or not isinstance(packet.data, dpkt.tcp.TCP):
                continue
            tcp = packet.data
            for verb in re.finditer(rb"(?:\A|(?<=\r\n))(?:GET|POST) /(?=[^\0]{0,2000}? HTTP/1\.)", tcp.data):
                starts.add((packet.src, tcp.sport, tcp.seq + verb.start()))
                speaking.add((packet.src, tcp.sport))
    found = [request for request in traces.read(data / "pcap" / name) if request.url]
    assert len(found) == len(starts)
    assert len(speaking) == connections
    assert requests is None or len(found) == requests
