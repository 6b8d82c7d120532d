"""What fills memory or time on purpose is refused before it does: filler, zeros, lines and nesting without end."""

import gzip
import json
import time

import pytest

import traces
from tests.tables import each
from tests.traces.test_bu import archive
from tests.traces.test_har import entry
from traces import TraceError, bu
from traces.files import open_trace

SECONDS = 4.0  # of processor time


@each("filler", [b"\t", b",", b" ", b"\n", b"#", b'"', b"[", b"{", b"1", b"1:1 ", b"a 1 1 "])
def test_long_runs_of_one_thing_do_not_hold_detection_up(tmp_path, filler):
    (tmp_path / "t").write_bytes(filler * (1 << 17))
    start = time.process_time()
    with pytest.raises(TraceError):
        list(traces.batches(tmp_path / "t"))
    assert time.process_time() - start < SECONDS


def test_a_bomb_of_zeros_is_refused_at_its_first_bytes(tmp_path):
    bomb = gzip.compress(bytes(1 << 24), 1) * 400  # 6.7 GB
    (tmp_path / "t").write_bytes(bomb)
    start = time.process_time()
    with pytest.raises(TraceError, match="known format"):
        traces.read(tmp_path / "t")
    assert time.process_time() - start < SECONDS


def test_unpacking_stops_at_the_limit(tmp_path):
    (tmp_path / "t").write_bytes(gzip.compress(bytes(100_000)))
    with open_trace(tmp_path / "t", max_unpacked_bytes=100_000) as stream:
        assert len(stream.read()) == 100_000
    refused = pytest.raises(TraceError, match="must not exceed 99999 bytes")
    with refused, open_trace(tmp_path / "t", max_unpacked_bytes=99_999) as stream:
        stream.read()


@each("opening", [b'{"log": {"entries": ', b'{"page": ', b""])
def test_json_that_is_nested_without_end_is_refused(tmp_path, opening):
    (tmp_path / "t").write_bytes(opening + b"[" * 100_000)
    with pytest.raises(TraceError):
        traces.read_workload(tmp_path / "t")
    with pytest.raises(TraceError):
        list(traces.read(tmp_path / "t"))


def test_numbers_of_any_size_in_a_har_are_unknown_or_refused(tmp_path):
    absurd = {"time": 10**400, "timings": {"wait": 10**400, "connect": -1e308}}
    answer = {"bodySize": 10**400, "_transferSize": 90}
    (tmp_path / "t").write_text(json.dumps({"log": {"entries": [entry(answer, **absurd)]}}))
    (request,) = traces.read(tmp_path / "t")
    assert (request.reply_bytes, request.end_us - request.start_us, request.wait_us) == (90, 0, -1)


def test_an_archive_of_too_many_members_is_refused(tmp_path, monkeypatch):
    (tmp_path / "t").write_bytes(archive(dict.fromkeys(("con1.a.1", "con1.a.2", "con1.a.3"), "")))
    assert list(traces.sessions(tmp_path / "t")) == []
    monkeypatch.setattr(bu, "_MOST_MEMBERS", 2)
    with pytest.raises(TraceError, match="an archive must have at most 2 members"):
        list(traces.sessions(tmp_path / "t"))
