"""Home IP traces: both forms hold the same, the golden lines come back, and every damage is named."""

import gzip
import io
import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import traces
from tests.traces.home_ip import pack, showtrace
from traces import Report, ucb
from traces.files import Source

# the layout as printed with the trace, independent of the reader's own description
LAYOUT = struct.Struct(">6I I H I H B B 5I H")
KNOWN = (846890339, 661920, 846890339, 755475, 846890340, 197141)


def record(times=KNOWN, url=b"GET 1..gif HTTP/1.0", header=170, body=844, length=None, client=0x17F00862):
    fixed = (client, 1462, 0xCF24CDC2, 80, 2, 8, 1, 2, 835418853, header, body)
    return LAYOUT.pack(*times, *fixed, len(url) if length is None else length) + url


def read(tmp_path, data, **options):
    (tmp_path / "t").write_bytes(data)
    requests = traces.read(tmp_path / "t", **options)
    return list(requests), requests.report


def raw(data, reader=ucb.binary):
    return list(reader(Source(io.BytesIO(data), "t", Report())))


def test_the_golden_lines_come_back_identically_from_both_forms(data):
    packed = (data / "ucb-home-ip" / "golden4.tr").read_bytes()
    text = (data / "ucb-home-ip" / "golden4.showtrace.txt").read_bytes()
    (from_binary,), (from_text,) = raw(packed), raw(text, ucb.text)
    for records in (from_binary, from_text):
        assert "".join(line + "\n" for line in showtrace(records)).encode() == text
        assert pack(records) == packed
    assert np.array_equal(from_binary.columns, from_text.columns)


def test_lines_that_end_as_on_windows_are_the_same_records():
    text = "".join(
        f"{line}\n" for records in raw(record() + record(url=b"GET 2..html\r")) for line in showtrace(records)
    )
    for ended in (text, text.replace("\n", "\r\n")):
        (found,) = raw(ended.encode("latin-1"), ucb.text)
        assert pack(found) == record() + record(url=b"GET 2..html\r")


def test_both_forms_plain_and_packed_are_the_same_requests(data, tmp_path):
    folder = data / "ucb-home-ip"
    expected = list(traces.read(folder / "golden4.tr"))
    assert len(expected) == 4
    assert expected[0] == traces.Request(
        "23.240.8.98",
        "207.36.205.194:80",
        848278028_829593,
        848278028_895350,
        300,
        1014,
        "GET 9168504434183313441..gif HTTP/1.0",
        wait_us=23_877,  # the first byte came 64,077 us after the request, one round trip of 40,200 us included
    )
    for name in ("golden4.tr", "golden4.showtrace.txt"):
        (tmp_path / name).write_bytes(gzip.compress((folder / name).read_bytes()))
        assert list(traces.read(folder / name)) == expected
        assert list(traces.read(tmp_path / name)) == expected


word, half, byte = (st.integers(0, (1 << bits) - 1) for bits in (32, 16, 8))
moments = st.tuples(st.integers(700_000_000, 2_000_000_000), st.integers(0, 999_999))
urls = st.binary(min_size=1, max_size=40).filter(lambda url: b"\n" not in url)


@given(st.lists(st.tuples(moments, word, half, word, half, byte, byte, *[word] * 5, urls), min_size=1, max_size=5))
def test_any_record_survives_both_forms(rows):
    packed = b"".join(LAYOUT.pack(*moment * 3, *fixed, len(url)) + url for moment, *fixed, url in rows)
    (first,) = raw(packed)
    text = "".join(line + "\n" for line in showtrace(first)).encode("latin-1")
    (second,) = raw(text, ucb.text)
    assert pack(first) == pack(second) == packed


def test_fields_are_those_of_the_layout():
    for line in showtrace(raw(record())[0]):
        fields = line.split(" ")
        assert fields[:3] == ["846890339:661920", "846890339:755475", "846890340:197141"]
        assert fields[3:5] == ["23.240.8.98:1462", "207.36.205.194:80"]
        assert fields[5:13] == ["2", "8", "1", "2", "835418853", "170", "844", "19"]


def test_records_that_straddle_the_pieces_of_a_large_file_are_whole(records, monkeypatch, tmp_path):
    made = records(300)
    packed = pack(made)
    for piece in (61, 85, 1000):
        monkeypatch.setattr(ucb, "_PIECE_BYTES", piece)
        chunks = raw(packed)
        assert len(chunks) > 1
        assert b"".join(map(pack, chunks)) == packed


def test_unknown_values_are_counted_and_what_cannot_be_used_left_out(tmp_path):
    never = (ucb.UNKNOWN, ucb.UNKNOWN)
    rows = [
        record(KNOWN),
        record((*KNOWN[:4], *never)),  # ends at its first byte
        record((*KNOWN[:2], *never, *never)),  # ends when it begins
        record((*never, *KNOWN[2:])),
        record(body=ucb.UNKNOWN),
        record(header=ucb.UNKNOWN),
    ]
    requests, report = read(tmp_path, b"".join(rows))
    assert [request.end_us - request.start_us for request in requests] == [535221, 93555, 0, 535221]
    assert [request.reply_bytes for request in requests] == [1014, 1014, 1014, 844]
    counted = {"records": 6, "without_request_time": 1, "without_size": 1, "without_end": 2, "requests": 4}
    assert report.counts == counted
