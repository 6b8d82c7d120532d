"""Home IP traces: the golden records come back, and what is unknown is counted."""

import io
import struct

import traces
from tests.tables import named
from tests.traces.home_ip import pack, records
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


def raw(data):
    return list(ucb.binary(Source(io.BytesIO(data), "t", Report())))


def printed(records):
    """The line that the collection's own `showtrace` prints of each record, without its end."""
    for row, at in zip(records.columns, records.url_at.tolist(), strict=True):
        numbers = [int(number) for number in row]
        times = [f"{second}:{micro}" for second, micro in zip(numbers[0:6:2], numbers[1:6:2], strict=True)]
        ends = [f"{'.'.join(map(str, numbers[at].to_bytes(4, 'big')))}:{numbers[at + 1]}" for at in (6, 8)]
        yield " ".join((*times, *ends, *map(str, numbers[10:]), records.text[at : at + numbers[-1]].decode("latin-1")))


def test_the_golden_records_are_those_that_showtrace_prints(data):
    packed = (data / "ucb-home-ip" / "golden4.tr").read_bytes()
    (records,) = raw(packed)
    assert list(printed(records)) == (data / "ucb-home-ip" / "golden4.showtrace.txt").read_text().splitlines()
    assert pack(records) == packed


def test_a_record_is_a_request_to_the_microsecond(data):
    golden = data / "ucb-home-ip" / "golden4.tr"
    expected = list(traces.read(golden))
    assert len(expected) == 4
    ends, times = ("23.240.8.98", "207.36.205.194:80"), (848278028_829593, 848278028_895350)
    # the first byte came 64,077 us after the request, one round trip of 40,200 us included
    url, wait_us = "GET 9168504434183313441..gif HTTP/1.0", 23_877
    assert expected[0] == traces.Request(*ends, *times, 300, 1014, url, wait_us=wait_us)


def test_records_that_straddle_the_pieces_of_a_large_file_are_whole(monkeypatch):
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
    counted = named("""
records = 6 ; without_request_time = 1 ; without_size = 1 ; without_end = 2 ; requests = 4""")
    assert report.counts == counted
