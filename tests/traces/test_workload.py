"""The workload file: what is written is read, and what is wrong is named."""

import gzip
import json
import lzma
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import traces
from traces import Message, Page, TraceError, Workload

GOOD = {"page": "a", "request_bytes": 300, "reply_bytes": 500, "objects": [[1, 2]], "think_s": 1.5}
sizes = st.integers(1, 1 << 40)
replies = st.integers(0, 1 << 40)
seconds = st.floats(0, 1e9)


@st.composite
def some_pages(draw):
    objects = tuple(draw(st.lists(st.tuples(sizes, replies), max_size=4)))
    waits = st.lists(seconds | st.just(math.nan), min_size=1 + len(objects), max_size=1 + len(objects))
    return Page(
        page=draw(st.text('a é"\n\u2028\U0001f600', min_size=1, max_size=8)),
        request_bytes=draw(sizes),
        reply_bytes=draw(replies),
        objects=objects,
        think_s=draw(seconds),
        waits_s=draw(st.just(()) | waits.map(tuple)),
        deadline_s=draw(st.none() | seconds),
        servers=draw(st.just(()) | st.tuples(st.integers(0, 2**31), *(st.integers(-1, 9) for _ in objects))),
    )


workloads = st.lists(some_pages(), min_size=1, max_size=6)
pushed = st.lists(st.builds(Message, at_s=seconds, size_bytes=sizes), max_size=4).map(sorted)


@given(workloads, st.booleans(), pushed, st.none() | seconds)
def test_what_is_written_is_read_back_and_written_again_to_the_same_bytes(tmp_path_factory, pages, timed, sent, trip_s):
    folder = tmp_path_factory.mktemp("w")
    if timed:
        pages = [page._replace(issue_s=index * 0.1) for index, page in enumerate(pages)]
    assert traces.write_workload(folder / "a.jsonl", Workload.of(pages, sent, trip_s)) == len(pages)
    again = traces.read_workload(folder / "a.jsonl")
    assert again == pages
    assert again == Workload.of(pages, sent, trip_s)
    mixed = [*sent, *pages]
    traces.write_workload(folder / "b.jsonl", mixed, lambda: trip_s)
    assert traces.read_workload(folder / "b.jsonl") == again
    traces.write_workload(folder / "b.jsonl", again)
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_lines_and_arrays_plain_and_packed_are_the_same_pages(tmp_path, pack):
    (tmp_path / "lines").write_bytes(pack("".join(json.dumps(GOOD | {"page": n}) + "\n" for n in "ab").encode()))
    (tmp_path / "array").write_bytes(pack(json.dumps([GOOD | {"page": n} for n in "ab"], indent=1).encode()))
    pages = traces.read_workload(tmp_path / "lines")
    assert pages == traces.read_workload(tmp_path / "array")
    assert pages == [Page(n, 300, 500, ((1, 2),), 1.5) for n in "ab"]


@pytest.mark.parametrize("text", [json.dumps(GOOD), json.dumps([GOOD, GOOD], indent=1)])
def test_a_byte_order_mark_and_line_ends_as_on_windows_change_nothing(tmp_path, text):
    (tmp_path / "w").write_text(text)
    expected = list(traces.read_workload(tmp_path / "w"))
    (tmp_path / "w").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert list(traces.read_workload(tmp_path / "w")) == expected


def test_several_gzip_members_are_one_file(tmp_path):
    (tmp_path / "w").write_bytes(
        b"".join(gzip.compress(json.dumps(GOOD).encode() + b"\n") for _ in range(3)) + b"\0" * 9
    )
    assert len(traces.read_workload(tmp_path / "w")) == 3


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "w.jsonl"
    traces.write_workload(path, [Page("a", 1, 1)])
    before = path.read_bytes()
    with pytest.raises(TraceError, match="reply_bytes"):
        traces.write_workload(path, [Page("b", 1, 1), Page("c", 1, -1)])
    with pytest.raises(TraceError, match="at least one page"):
        traces.write_workload(path, [])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_could_not_be_read_back_is_not_written(tmp_path):
    backwards = [Page("a", 1, 1, issue_s=2.0), Page("b", 1, 1, issue_s=1.0)]
    for records in (backwards, [Message(2.0, 1), Message(1.0, 1)], [Page("a", 0, 1)], [Message(1.0, 0)], []):
        with pytest.raises(TraceError):
            traces.write_workload(tmp_path / "w", records)
    assert not list(tmp_path.iterdir())


def test_a_workload_may_be_messages_alone(tmp_path):
    assert traces.write_workload(tmp_path / "w", [Message(1.5, 300)]) == 0
    found = traces.read_workload(tmp_path / "w")
    assert (len(found), found.messages) == (0, (Message(1.5, 300),))
