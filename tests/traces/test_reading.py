"""The front door: formats by content, requests as often as wanted, sessions whole, memory flat."""

import gzip
import lzma
import os
import tracemalloc

import numpy as np
import pytest

import traces
from tests.fuzzing import formats
from tests.tables import each, named
from tests.traces.home_ip import pack, records
from traces import TraceError, ucb
from traces.records import REQUEST_DTYPE

FORMATS = named("""
ucb = 'ucb' ; bu = 'bu' ; bu-tar = 'bu' ; workload = 'workload' ; har = 'har' ; capture = 'pcap'
air = 'pcap' ; table = 'csv'""")  # fmt: skip


@each("name, found", FORMATS.items())
@each("pack", [bytes, gzip.compress, lzma.compress])
def test_the_format_is_told_by_content_plain_or_packed(tmp_path, name, found, pack):
    path, own = tmp_path / "anything.at.all", formats.FORMATS[name]
    for content in own.files:
        path.write_bytes(pack(own.render(content)))
        assert traces.detect(path) == found


def test_every_format_is_drawn():
    assert set(FORMATS.values()) == set(traces.registry())


def test_requests_can_be_read_again_and_are_the_rows_of_the_batches(tmp_path):
    (tmp_path / "t").write_bytes(pack(records(5_000)))
    requests = traces.read(tmp_path / "t")
    first, report = list(requests), requests.report
    assert list(requests) == first
    assert requests.report == report
    sizes = np.concatenate([batch["reply_bytes"] for batch in traces.batches(tmp_path / "t")])
    assert sizes.tolist() == [request.reply_bytes for request in first]
    assert sum(len(batch) for batch in requests.batches()) == 5_000
    for batch in requests.batches():
        assert batch.columns.dtype == REQUEST_DTYPE
        assert all((batch.columns[name] == batch[name]).all() for name in REQUEST_DTYPE.names)
    assert isinstance(first[0], traces.Request)


def test_clients_that_are_interleaved_become_whole_sessions(tmp_path):
    (tmp_path / "t").write_bytes(pack(records(3_000, clients=37)))
    expected = {}
    for request in traces.read(tmp_path / "t"):
        expected.setdefault(request.client, []).append(request)
    report = traces.Report()
    sessions = list(traces.sessions(tmp_path / "t", report=report))
    assert {session.name: list(session.requests) for session in sessions} == expected
    assert report["sessions"] == len(sessions) == 37
    on_disk = list(traces.sessions(tmp_path / "t", on_disk=True))
    assert [(one.name, one.user, tuple(one.requests)) for one in on_disk] == sessions
    assert list(traces.browsed(on_disk)) == list(traces.browsed(sessions)) == traces.pages(traces.read(tmp_path / "t"))


def test_what_is_no_file_or_folder_of_traces_is_refused(tmp_path):
    with pytest.raises(TraceError, match=r"name the files themselves.*got no such file"):
        list(traces.read(tmp_path))
    with pytest.raises(FileNotFoundError):
        traces.read(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TraceError, match="a trace must be a file or a folder"):
        traces.read(tmp_path / "pipe")
    (tmp_path / "t").write_bytes(b"time,bytes\n0.5,2000\n")
    with pytest.raises(TraceError, match="--member is for folders and archives of sessions, got csv"):
        list(traces.read(tmp_path / "t", member="*"))


@pytest.mark.parametrize("squeeze", [lambda data: gzip.compress(data, mtime=0), lzma.compress], ids=["gzip", "xz"])
def test_a_flipped_bit_anywhere_in_packed_data_never_gives_other_requests(tmp_path, squeeze):
    packed = squeeze(pack(records(30)))
    (tmp_path / "t").write_bytes(packed)
    expected = list(traces.read(tmp_path / "t"))
    refused = 0
    for at in range(len(packed)):
        changed = bytearray(packed)
        changed[at] ^= 1 << at % 8
        (tmp_path / "t").write_bytes(changed)
        try:
            assert list(traces.read(tmp_path / "t")) == expected
        except TraceError:
            refused += 1
    assert refused > 0.9 * len(packed)


def peak_bytes(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("work", [
    traces.batches, traces.read, lambda path: traces.iter_pages(traces.read(path)),
], ids=["columns", "tuples", "pages"])  # fmt: skip
def test_memory_does_not_grow_with_the_trace(tmp_path, work, monkeypatch):
    monkeypatch.setattr(ucb, "_PIECE_BYTES", 1 << 17)
    peaks = []
    for n in (8_000, 16_000):
        path = tmp_path / str(n)
        path.write_bytes(pack(records(n, url=b"GET 1.html HTTP/1.0")))
        peaks.append(peak_bytes(lambda path=path: sum(1 for _ in work(path))))
    assert peaks[1] < 1.1 * peaks[0]
