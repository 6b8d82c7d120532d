"""Whatever a file holds, reading it ends in a result or in one clear error, soon and in little memory."""

import gzip
import io
import json
import tarfile
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import traces
from tests.traces.fuzzing import KINDS, NASTY, SECONDS, change, fuzz, outcome, seeds
from traces import TraceError, tape
from traces.files import open_trace

VALID = seeds()
operations = st.lists(
    st.tuples(st.sampled_from(KINDS), st.floats(0, 1), st.sampled_from(NASTY) | st.binary(min_size=1, max_size=8)),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("name", VALID)
def test_the_files_that_are_changed_are_valid(tmp_path, name):
    (tmp_path / "con1.cs18.1000").write_bytes(VALID[name])
    assert outcome(tmp_path / "con1.cs18.1000") == "whole"


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", VALID)
@given(operations=operations, skip_damaged=st.booleans())
def test_a_changed_file_is_read_or_refused(tmp_path, name, operations, skip_damaged):
    path = tmp_path / "con1.cs18.1000"
    path.write_bytes(change(VALID[name], operations))
    start = time.process_time()
    outcome(path, skip_damaged=skip_damaged)
    assert time.process_time() - start < SECONDS


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400))
def test_noise_is_read_or_refused(tmp_path, data):
    (tmp_path / "t").write_bytes(data)
    outcome(tmp_path / "t")


@pytest.mark.parametrize("filler", [b"\t", b",", b" ", b"\n", b"#", b'"', b"[", b"{", b"1", b"1:1 ", b"a 1 1 "])
def test_long_runs_of_one_thing_do_not_hold_detection_up(tmp_path, filler):
    (tmp_path / "t").write_bytes(filler * (1 << 16))
    start = time.process_time()
    outcome(tmp_path / "t")
    assert time.process_time() - start < SECONDS


def test_a_bomb_of_zeros_is_refused_at_its_first_bytes(tmp_path):
    bomb = gzip.compress(bytes(1 << 26), 1) * 20  # 1.3 GB
    (tmp_path / "t").write_bytes(bomb)
    start = time.process_time()
    with pytest.raises(TraceError, match="known format"):
        traces.read(tmp_path / "t")
    assert time.process_time() - start < SECONDS


def test_a_line_without_end_is_refused_before_it_fills_memory(tmp_path):
    (tmp_path / "t").write_bytes(gzip.compress(b'cs18 1000 5 "http://' + b"x" * (1 << 26), 1))
    with pytest.raises(TraceError, match="must not be longer than 65536 bytes"):
        list(traces.read(tmp_path / "t"))


def test_unpacking_stops_at_the_limit(tmp_path):
    (tmp_path / "t").write_bytes(gzip.compress(bytes(100_000)))
    with open_trace(tmp_path / "t", max_unpacked_bytes=100_000) as stream:
        assert len(stream.read()) == 100_000
    with (
        open_trace(tmp_path / "t", max_unpacked_bytes=99_999) as stream,
        pytest.raises(TraceError, match="must not exceed 99999 bytes"),
    ):
        stream.read()


@pytest.mark.long
def test_a_hundred_thousand_changed_files_are_read_or_refused():
    report = fuzz(100_000, seed=1)
    assert report["slowest_s"] < 10 * SECONDS  # wall clock of a busy machine
    assert report["peak_mb"] < 500
    assert report["whole"] + report["past the header"] > 50_000


@pytest.mark.parametrize("opening", [b'{"log": {"entries": ', b'{"page": ', b""])
def test_json_that_is_nested_without_end_is_refused(tmp_path, opening):
    (tmp_path / "t").write_bytes(opening + b"[" * 100_000)
    with pytest.raises(TraceError):
        traces.read_workload(tmp_path / "t")
    with pytest.raises(TraceError):
        list(traces.read(tmp_path / "t"))


def test_numbers_of_any_size_in_a_har_are_unknown_or_refused(tmp_path):
    entry = {
        "startedDateTime": "2020-01-01T00:00:00Z",
        "time": 10**400,
        "timings": {"wait": 10**400, "connect": -1e308},
    }
    entry |= {"request": {"url": "http://a/"}, "response": {"status": 200, "bodySize": 10**400, "_transferSize": 90}}
    (tmp_path / "t").write_text(json.dumps({"log": {"entries": [entry]}}))
    (request,) = traces.read(tmp_path / "t")
    assert (request.reply_bytes, request.end_us - request.start_us, request.wait_us) == (90, 0, -1)


def test_an_archive_of_too_many_members_is_refused_and_paths_lead_nowhere(tmp_path, monkeypatch):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in ("../../con1.a.1", "/etc/con1.a.2", "con1.a.3"):
            item = tarfile.TarInfo(name)
            item.type = tarfile.SYMTYPE if name == "con1.a.3" else tarfile.REGTYPE
            item.linkname = "/etc/passwd"
            tar.addfile(item, io.BytesIO())
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "t").write_bytes(archive.getvalue())
    before = sorted(tmp_path.rglob("*"))
    assert list(traces.sessions(tmp_path / "folder" / "t")) == []
    assert sorted(tmp_path.rglob("*")) == before
    monkeypatch.setattr(tape, "_MOST_MEMBERS", 2)
    with pytest.raises(TraceError, match="an archive must have at most 2 members"):
        list(traces.sessions(tmp_path / "folder" / "t"))
