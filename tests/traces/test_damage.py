"""Damage of every format: it is named with path, place, rule and value, and skipped and counted where that is asked."""

import gzip
import json
import re
import struct
import tarfile

import pytest

import traces
from tests.fuzzing import formats
from tests.tables import each, rows, words
from tests.traces.home_ip import pack, records
from tests.traces.test_bu import archive
from tests.traces.test_har import ENTRY, entry
from tests.traces.test_pcap import GET, OPENING, capture, reply, segment
from traces import TraceError

SESSION = "con7.cs18.1000"
LINE = 'cs18 1005 5 "http://a.edu/" 2000 0.5\n'
NEXT = 'cs18 1006 50 "http://a.edu/x.gif" 700 0.25\n'
LINES = [  # of a session of Boston University
    *(
        'cs18 1005 9 "http://a.edu/" -5 0.1',
        'cs18 1005 9 "http://a.edu/" 5 nan',
        'cs18 1005 1000000 "http://a.edu/" 5 0.1',
    ),
    *('cs18 99999999999 9 "http://a.edu/" 5 0.1', 'cs18 1005 9 "http://a.edu/', "cs18 1005", ""),
]
WHOLE_LINE = 'a line must be whole: machine sec usec "url" size delay, numbers of at least 0, usec below 1000000, got '
ROWS = rows("""
# of a table
"0.9,5" -> times must not run backwards, got -100000 us ; "2,1.5" -> bytes must be a whole number .*got 1.5
"nan,5" -> time must be a number of seconds .*got nan ; "2" -> a row must have 2 cells, as the first line has
'2,"5' -> a row must be separated by ','
""")
TIMES = [  # of a record of Home IP: which of request, first and last byte, later by so many us
    ("last", -5_000_000), ("first", -1_000_000),
]  # fmt: skip
PAGE = {"page": "a", "request_bytes": 300, "reply_bytes": 500, "objects": [[1, 2]], "think_s": 1.5}
FIELDS = rows(r"""
# of a page of a workload, behind one issued at 7 s
{"reply_bytes": -1} -> reply_bytes must be a whole number in \[0, .*got -1
{"waits_s": [0.5]} -> waits_s must be a list of one wait an exchange \(2\), got 1
{"waits_s": [0.5, -1]} -> a wait must be a number of seconds .*got -1
{"servers": [3]} -> servers must be a list of one server an exchange \(2\), got 1
{"servers": [3, -2]} -> a server must be a whole number in \[-1, .*got -2
{"request_bytes": 0} -> request_bytes .*got 0 ; {"request_bytes": True} -> request_bytes .*got True
{"objects": [[1, -2]]} -> reply must .*got -2 ; {"objects": [[1]]} -> pair .*got \[1\]
{"think_s": nan} -> think_s .*got nan ; {"think_s": "1"} -> think_s .*got 1
{"issue_s": 1.0} -> issue_s must not run backwards \(the page before has 7.0\), got 1.0
{"page": ""} -> page must be a name ; {"thinks": 1} -> only the fields .*got thinks
{"page": ...} -> a page must have page ; {"request_bytes": ...} -> a page must have request_bytes
{"reply_bytes": ...} -> a page must have reply_bytes
""")
BESIDE = rows(r"""
# lines beside the pages of a workload, and which of them is damaged
[{"message_bytes": 0, "at_s": 1}], 1 -> message_bytes must be a whole number in \[1, .*got 0
[{"message_bytes": 5}], 1 -> a message must have at_s
[{"message_bytes": 5, "at_s": 1, "page": "a"}], 1 -> a message has only the fields at_s, message_bytes
[{"message_bytes": 5, "at_s": 2}, {"message_bytes": 5, "at_s": 1}], 2
  -> at_s must not run backwards \(the message before has 2.0\), got 1.0
[{"round_trip_s": -1}], 1 -> round_trip_s must be a number of seconds
[{"round_trip_s": 1}] * 2, 2 -> a workload must hold at most one round trip, got another, 1
""")
PACKED = archive({SESSION: LINE * 20})  # a header, two blocks of contents


def absurd(kind, size):
    """The header of a member of an archive that would be so long."""
    item = tarfile.TarInfo(SESSION)
    item.type, item.size = kind, size
    return item.tobuf(tarfile.GNU_FORMAT) + b"x"


def har(*entries):
    return json.dumps({"log": {"entries": entries}})


OWN = r"must not be empty|known format .*Home IP"
WHOLE = rows(r"""
# what a file holds that is damaged as a whole, or has nothing in it
"t", b"", OWN ; "t", "hello world\n", OWN ; "t", "a, list, of words\n", OWN ; "t", bytes(1000), OWN
"t", b"%PDF-1.4\n", OWN ; "w.jsonl", "[" * 100_000 -> line 1|nested|whole JSON|known
"w.jsonl", '{"page": ' + "1" * 5000 + "}" -> line 1|nested|whole JSON|known
"w.jsonl", "\xff" -> line 1|nested|whole JSON|known ; "w.jsonl", "7" -> line 1|nested|whole JSON|known
"w.jsonl", "time,bytes\n1,100\n" -> run lpsm pages first, which makes one of a trace, got a trace, csv
"w.jsonl", '{"a": 1}' -> a page must have page, got only a
"w.jsonl", json.dumps([PAGE]) -> line 1: a page must be a JSON object
"t.tar", PACKED[:600] -> must be complete|must end with empty blocks
"t.tar", PACKED[:1023] -> must be complete|must end with empty blocks
"t.tar", PACKED[:1124] -> must be complete|must end with empty blocks
"t.tar", PACKED[:1536] -> must be complete|must end with empty blocks
"t.tar", PACKED[:130] + bytes([PACKED[130] ^ 1]) + PACKED[131:] -> checksum
"t.tar", absurd(tarfile.REGTYPE, 1 << 62) -> a member must not exceed
"t.tar", absurd(tarfile.REGTYPE, 1 << 29) -> a line must be whole|must be complete
"t.tar", absurd(tarfile.XHDTYPE, 1 << 29) -> a long name must not exceed
"h.har", har(*[entry({"_transferSize": 0})] * 2) -> a request that used the network, got 2 records, 2 cache hits
"w.jsonl", '{"round_trip_s": 1}\n' -> at least one page, message or datagram, got none
"w.jsonl", '{"datagram_bytes": 1, "at_s": 1, "up": true, "head": "4x"}' -> head must be bytes, .* got 4x
"w.jsonl", "" -> at least one page ; "w.jsonl", "\n\n" -> at least one page
"t.csv", "time,size of it\n1,2\n" -> must include bytes, got time, size of it
"t.csv", "time,bytes\n" -> at least one reply
"t.csv", "time,bytes,url\n0.5,200,http://a/\n0.7,2\n" -> line 3: a row must have 3 cells
"t.csv", "time,bytes\n0,5,100\n" -> line 2: a row must have 2 cells.*decimal commas
"t.csv", '"No.","Time","Source","Destination","Protocol","Length","Info"\n"1","0.0","a","b","T","9",""\n'
  -> save the capture itself in Wireshark
"t.csv", "1,1\n" + "x" * 70_000 + "\n" -> a line must not be longer than 65536 bytes
"h.har", har() -> got no entries
"c.pcap", capture(OPENING) + struct.pack("<IIII", 1000, 0, 0xFFFF_FFF0, 0xFFFF_FFF0) + b"x" * 100
  -> at most 1048576 bytes long, got 4294967280
""", {**globals(), "capture": capture})  # fmt: skip


def later(name, us):
    """Return three records of Home IP, of whose second an instant is moved."""
    made = records(3)
    moment = int(made.columns[f"{name}_s"][1]) * 1_000_000 + int(made.columns[f"{name}_us"][1]) + us
    made.columns[f"{name}_s"][1], made.columns[f"{name}_us"][1] = divmod(moment, 1_000_000)
    return made


def cases():
    """Yield the name of a file, its content, the message, the place of the damage, and how many requests are whole."""
    for line in LINES:
        yield SESSION, f"{LINE}{line}\n{NEXT}", WHOLE_LINE + re.escape(line), "line 2", 2
    for line, message in ((LINE.replace("2000", "9" * 13), "size must be at most 1099511627776"),
        (LINE.replace(" 5 ", " 4 "), "times must not run backwards in a session, got -1 us")):  # fmt: skip
        yield SESSION, LINE + line + NEXT, message, "line 2", 2
    for row, message in ROWS:
        yield "t.csv", f"1,1\n{row}\n3,1\n", message, "line 2", 2
    of_one = len(pack(records(1)))
    for name, us in TIMES:
        message = "no byte of a reply may precede the request, .*, got 84689000.* us"
        yield "t", pack(later(name, us)), message, f"byte {of_one}", 2
    for change, message in FIELDS:
        page = {name: value for name, value in {**PAGE, **change}.items() if value is not ...}
        yield "w.jsonl", f"{json.dumps(PAGE | {'issue_s': 7.0})}\n{json.dumps(page)}\n", message, "line 2", None
    for lines, at, message in BESIDE:
        yield "w.jsonl", "".join(json.dumps(line) + "\n" for line in lines), message, f"line {at}", None
    for at in ("yesterday", 7):
        message = f"startedDateTime must be an ISO 8601 time, got {at}"
        yield "h.har", har(ENTRY, entry(startedDateTime=at)), message, "entry 2", 1
    for name, content, message in WHOLE:
        yield name, content, message, "", None


def read(path):
    return traces.read_workload(path) if path.name == "w.jsonl" else list(traces.read(path))


@each("name, content, message, place, whole", list(cases()))
def test_damage_is_named_with_its_place_or_skipped_and_counted(tmp_path, name, content, message, place, whole):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("latin-1"))
    with pytest.raises(TraceError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, {place}: " if place else str(path))
    assert "\n" not in str(caught.value)
    if whole is not None:
        requests = traces.read(path, skip_damaged=True)
        assert (len(list(requests)), requests.report["damaged"]) == (whole, 1)


EXCHANGE = [*OPENING, segment(True, 100, GET % 1), segment(False, 500, reply(50)), segment(True, 200)]
CUTS = rows(r"""
# what is cut, where, the message, and how many requests are whole before it
SESSION, LINE + NEXT, range(-len(NEXT) + 1, 0), "line 2: a line must be whole", None
"t", pack(records(2)), (24, 59, 60, 78, 83, 120, -1), "a record must be complete", None
"c.pcap", capture(EXCHANGE), (-1, -8, -20, -40), "a packet must be complete", 3
"h.har", '{"log": {"entries": [{"startedDateTime": "2020-01-01T00:00:00Z"}]}}', (20, 40, -1), "whole JSON", None
"w.jsonl", json.dumps(PAGE), (14, -1), r"w\.jsonl", None
""", globals())  # fmt: skip


@pytest.mark.parametrize(("name", "content", "cuts", "message", "whole"), CUTS, ids=[cut[0] for cut in CUTS])
def test_a_file_that_is_cut_is_an_error_and_not_a_shorter_trace(tmp_path, name, content, cuts, message, whole):
    content = content if isinstance(content, bytes) else content.encode()
    for cut in cuts:
        (tmp_path / name).write_bytes(content[:cut])
        with pytest.raises(TraceError, match=message):
            read(tmp_path / name)
        if whole:
            requests = traces.read(tmp_path / name, skip_damaged=True)
            assert (len(list(requests)), requests.report["files_cut_short_by_damage"]) == (whole, 1)


@each("name", words("ucb bu bu-tar workload har capture table"))
def test_a_gzip_member_that_is_cut_is_an_error_in_every_format(tmp_path, name):
    own = formats.FORMATS[name]
    whole = gzip.compress(own.render(own.files[0]))
    for keep in (5, 12, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        (tmp_path / "t").write_bytes(whole[:keep])
        with pytest.raises(TraceError, match=r"gzip|must"):
            traces.read_workload(tmp_path / "t") if name == "workload" else list(traces.read(tmp_path / "t"))


def test_with_skipping_what_follows_lost_framing_is_left_out_and_counted_once(tmp_path):
    good, of_one = pack(records(3)), len(pack(records(1)))
    for length in (0, 4097, 0xFFFF):
        bad = bytearray(pack(records(1)))
        bad[58:60] = struct.pack(">H", length)
        (tmp_path / "t").write_bytes(good + bytes(bad) + good * 700)
        with pytest.raises(TraceError, match=rf"byte {3 * of_one}: .*request line must lie in .*got {length}$"):
            list(traces.read(tmp_path / "t"))
        requests = traces.read(tmp_path / "t", skip_damaged=True)
        assert (len(list(requests)), requests.report["damaged"]) == (3, 1)
