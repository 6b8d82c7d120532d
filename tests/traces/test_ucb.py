"""Home IP traces: both forms hold the same, the golden lines come back, and every damage is named."""

import gzip
import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import traces
from tests.traces.home_ip import pack, showtrace
from traces import Report, TraceError, ucb

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
    return list(reader(io.BytesIO(data), "t", Report()))


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


@pytest.mark.parametrize("keep", [24, 59, 60, 78, 79 + 1, 79 + 59, 79 * 2 - 1])
def test_a_file_cut_in_a_record_is_an_error_with_its_offset(tmp_path, keep):
    with pytest.raises(TraceError, match="a record must be complete") as caught:
        read(tmp_path, (record() * 2)[:keep])
    assert f", byte {keep // 79 * 79}: " in str(caught.value)


@pytest.mark.parametrize("length", [0, 4097, 0xFFFF])
@pytest.mark.parametrize("before", [0, 1, 2000])
def test_an_impossible_length_is_an_error_wherever_it_stands(tmp_path, length, before):
    data = record() * before + record(length=length) + record() * 2000
    with pytest.raises(TraceError, match="length of the request line must lie in") as caught:
        read(tmp_path, data)
    assert f", byte {79 * before}: " in str(caught.value)
    assert str(caught.value).endswith(f"got {length}")


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ((*KNOWN[:4], 846890338, 197141), "the last byte of the reply must not precede the request, got -1464779 us"),
        ((*KNOWN[:2], 846890339, 600000, *KNOWN[4:]), "the first byte of the reply must not precede the request"),
        ((*KNOWN[:3], 1_000_000, *KNOWN[4:]), "first microseconds must be below 1000000, got 1000000"),
    ],
)
def test_impossible_times_are_an_error_in_both_forms_unless_skipped(tmp_path, times, message):
    packed = record() + record(times) + record()
    text = "".join(line + "\n" for good in (record(), record()) for line in showtrace(raw(good)[0])).splitlines()
    seconds = " ".join(f"{s}:{us}" for s, us in zip(times[::2], times[1::2], strict=True))
    text.insert(1, " ".join((seconds, *text[0].split(" ")[3:])))
    for body, place in ((packed, "byte 79"), ("\n".join(text).encode(), "line 2")):
        with pytest.raises(TraceError, match=message) as caught:
            read(tmp_path, body)
        assert f", {place}: " in str(caught.value)
        requests, report = read(tmp_path, body, skip_damaged=True)
        assert len(requests) == 2
        assert report["damaged"] == 1


def test_with_skipping_a_lost_framing_ends_the_file_and_is_counted(tmp_path):
    for bad in (record(length=0xFFFF), record()[:-1]):
        requests, report = read(tmp_path, record() * 3 + bad, skip_damaged=True)
        assert len(requests) == 3
        assert report["damaged"] == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1.gif", "1.gi", "as long as its length field says"),
        ("23.240", "23.256", "a part of an address must be at most 255, got 256"),
        (":1462", ":65536", "client_port must be at most 65535"),
        (" 844 ", " -844 ", "a line must hold three times"),
        (" 844 ", " 9999999999 ", "body_bytes must be at most 4294967295, got 9999999999"),
        ("HTTP/1.0", "HTTP", "as long as its length field says"),
        (" 2 8 ", " 2 ", "a line must hold"),
    ],
)
def test_a_garbled_line_is_named(tmp_path, old, new, message):
    (line,) = showtrace(raw(record(url=b"GET 1.gif HTTP/1.0"))[0])
    (tmp_path / "t").write_text(line + "\n" + line.replace(old, new) + "\n")
    with pytest.raises(TraceError, match=message) as caught:
        list(traces.read(tmp_path / "t"))
    assert ", line 2: " in str(caught.value)


def test_a_gzip_member_that_is_cut_is_an_error(records, tmp_path):
    whole = gzip.compress(pack(records(5000)))
    (tmp_path / "t").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TraceError, match="gzip member must be complete"):
        list(traces.read(tmp_path / "t"))
    requests, report = read(tmp_path, whole[: len(whole) // 2], skip_damaged=True)
    assert 1000 < len(requests) < 4000
    assert report["files_cut_short_by_damage"] == 1
