"""Whatever a file holds, reading it ends in a result or in one clear error, soon and in little memory."""

import gzip
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import traces
from tests.traces.fuzzing import KINDS, NASTY, SECONDS, change, fuzz, outcome, seeds
from traces import TraceError
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
