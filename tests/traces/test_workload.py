"""The workload file: what is written is read, and what is wrong is named; columns hold exactly what the pages hold."""

import gzip
import json
import lzma
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
import traces
from tests.tables import cases_of, each, value_error
from tests.wrong_calls import refused, table
from traces import Message, Page, Timing, TraceError, Workload

GOOD = {"page": "a", "request_bytes": 300, "reply_bytes": 500, "objects": [[1, 2]], "think_s": 1.5}
sizes = st.integers(1, 1 << 40)
seconds = st.floats(0, 1e9)


@st.composite
def some_pages(draw):
    objects = tuple(draw(st.lists(st.tuples(sizes, sizes | st.just(0)), max_size=4)))
    waits = draw(st.just(()) | st.tuples(seconds, *[seconds | st.just(math.nan)] * len(objects)))
    servers = draw(st.just(()) | st.tuples(st.integers(0, 2**31), *[st.integers(-1, 9)] * len(objects)))
    name, reply = draw(st.text('a é"\n\u2028\U0001f600', min_size=1, max_size=8)), draw(sizes | st.just(0))
    times = draw(seconds), None, waits, draw(st.none() | seconds)
    return Page(name, draw(sizes), reply, objects, *times, servers=servers)


workloads = st.lists(some_pages(), min_size=1, max_size=6)
pushed = st.lists(st.builds(Message, at_s=seconds, size_bytes=sizes), max_size=4).map(sorted)


@settings(max_examples=50)
@given(workloads, st.booleans(), pushed, st.none() | seconds)
def test_what_is_written_is_read_back_and_written_again_to_the_same_bytes(tmp_path_factory, pages, timed, sent, trip_s):
    folder = tmp_path_factory.mktemp("w")
    if timed:
        pages = [page._replace(issue_s=index * 0.1) for index, page in enumerate(pages)]
    whole = Workload.of(pages, sent, trip_s)
    assert traces.write_workload(folder / "a.jsonl", whole) == len(pages)
    again = traces.read_workload(folder / "a.jsonl")
    assert again == pages
    assert again == whole
    for name, records, told in (("b.jsonl", again, None), ("c.jsonl", [*sent, *pages], lambda: trip_s)):
        traces.write_workload(folder / name, records, told)
    assert traces.read_workload(folder / "c.jsonl") == again
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()
    assert len(list(folder.iterdir())) == 3


@settings(max_examples=40)
@given(workloads)
def test_pages_made_from_columns_are_those_that_the_columns_were_made_from(pages):
    workload = Workload.of(pages)
    again = workload.changed()
    assert list(again) == pages
    assert again == pages == workload
    assert again[1:] == pages[1:]
    assert again + workload == again + pages == pages + again == [*pages, *pages]
    assert len(again.sizes) == len(pages) + sum(len(page.objects) for page in pages)
    assert Workload.of(again) is again


@each("pack", [
    bytes, lzma.compress, lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:]) + bytes(9),
])  # fmt: skip
def test_a_byte_order_mark_line_ends_as_on_windows_packing_and_several_members_change_nothing(tmp_path, pack):
    lines = b"".join(json.dumps(GOOD | {"page": name}).encode() + b"\r\n" for name in "ab")
    (tmp_path / "w").write_bytes(pack(b"\xef\xbb\xbf" + lines))
    assert traces.read_workload(tmp_path / "w") == [Page(name, 300, 500, ((1, 2),), 1.5) for name in "ab"]


def test_what_could_not_be_read_back_is_not_written_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "w.jsonl"
    assert traces.write_workload(path, [Message(1.5, 300)]) == 0  # messages alone
    found, before = traces.read_workload(path), path.read_bytes()
    assert (len(found), found.messages) == (0, (Message(1.5, 300),))
    backwards = [Page("a", 1, 1, issue_s=2.0), Page("b", 1, 1, issue_s=1.0)]
    wrong = [Page("b", 1, 1), Page("c", 1, -1)]
    for records in (backwards, wrong, [Message(2.0, 1), Message(1.0, 1)], [Page("a", 0, 1)], [Message(1.0, 0)], []):
        with pytest.raises(TraceError):
            traces.write_workload(path, records)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_pause_within_a_reply_stands_in_the_line_if_there_is_one(tmp_path):
    odd = Timing(2, 1, 0.5, 0, 0, 0, 0, 7)  # which means nothing, and is kept
    timings = Timing(0, 0, 1, 0, 0, 0.3, 0.25, 400), Timing(1, 1, 0.5), odd
    pages = [Page("a", 300, 500, ((1, 2), (3, 4)), timings=timings)]
    traces.write_workload(tmp_path / "w", pages)
    assert traces.read_workload(tmp_path / "w") == pages
    (line,) = (tmp_path / "w").read_text().splitlines()
    assert json.loads(line)["timings"] == [[0, 0, 1, 0, 0, 0.3, 0.25, 400], [1, 1, 0.5, 0, 0, 0], [*odd]]


@cases_of("timing said", """
"[0, 0, 1, 0, 0, 0.3, 0.1]" -> timings must be a list of six or eight numbers an exchange .2., got 7
"[0, 0, 1, 0, 0, 0.3, -1, 4]" -> a time of a timing must be a number of seconds in .*, got -1
"[0, 0, 1, 0, 0, 0.3, 0.1, -4]" -> the bytes before a pause must be a whole number
"[0, 0, 1, 0, 0, 0.3, 0.1, 0.5]" -> the bytes before a pause must be a whole number
"[0, 2, 1, 0, 0, 0.3]" -> the exchange that one waits for must be a whole number in .0, 1., got 2
"[-1, 0, 1, 0, 0, 0.3]" -> the connection of a timing must be a whole number
""")  # fmt: skip
def test_a_timing_that_breaks_a_rule_is_named_with_its_line(tmp_path, timing, said):
    (tmp_path / "w").write_text(json.dumps(GOOD | {"timings": [[0, 0, 1, 0, 0, 0], json.loads(timing)]}))
    with pytest.raises(TraceError, match=f"line 1: {said}"):
        traces.read_workload(tmp_path / "w")


def test_waits_and_servers_stand_in_the_order_of_the_exchanges():
    two = Page("b", 300, 500, ((1, 2),))
    for name, known, unknown in (("waits_s", (0.5, np.nan), np.nan), ("servers", (7, 3), -1)):
        workload = Workload.of([Page("a", 300, 500), two._replace(**{name: known}), Page("c", 1, 0)])
        assert np.array_equal(getattr(workload, name), [unknown, *known, unknown], equal_nan=True)
        with value_error(rf"page 'b': {name} must have one .* an exchange \(2\), got 1"):
            Workload.of([two._replace(**{name: known[:1]})])


FITTING = {"names": ["a", "b"], "objects": [1, 0], "sizes": [[300, 500], [1, 2], [300, 700]], "think_s": [0.0, 1.0],
    "issue_s": [math.nan, 5.0]}  # fmt: skip


def columns(**changed):
    return Workload(**{**FITTING, **changed})


@table(r"""
columns(objects=[2, 0]) -> sizes must have shape \(4, 2\), got \(3, 2\)
columns(objects=[1 << 40, 0]) -> objects must lie in \[0, 4294967296\], got 0 to 1099511627776
columns(objects=[-1, 2]) -> objects must lie in \[0, 4294967296\], got -1 to 2
columns(sizes=[300, 500, 1]) -> sizes must have shape \(3, 2\), got \(3,\)
columns(think_s=[0.0]) -> think_s must have shape \(2,\), got \(1,\)
columns(issue_s=[]) -> issue_s must have shape \(2,\), got \(0,\)
columns(waits_s=[0.5]) -> waits_s must have shape \(3,\), got \(1,\)
columns(servers=[1, 2, 0.5]) -> servers must hold whole numbers below 2\^63, got list of float64
columns(deadline_s=np.zeros((2, 1))) -> deadline_s must have shape \(2,\), got \(2, 1\)
columns(timings=[[0, 0, 1.0]]) -> timings must have shape \(3, 8\), got \(1, 3\)
columns(names=["a"]) -> objects must have shape \(1,\), got \(2,\)
columns(names=["a", 5]) -> names must be text, got one of type int
columns(sizes=np.full((3, 2), 5, np.uint64)) -> sizes must hold whole numbers below 2\^63, got ndarray
columns(think_s=[0.0, 1j]) -> think_s must hold numbers, got list of complex128
columns(think_s=np.ma.masked_array([0.0, 1.0], [0, 1])) -> think_s must hold numbers, got MaskedArray
""")
def test_columns_that_do_not_belong_together_are_refused_before_any_engine_sees_them(call, message):
    refused(call, message, globals())


def test_columns_cannot_be_changed_after_they_were_checked():
    objects = np.array([1, 0])
    workload = columns(objects=objects)
    objects[0] = 1000
    assert workload.objects.tolist() == [1, 0]
    for column in (workload.objects, workload.sizes, workload.think_s, workload.issue_s, workload.waits_s):
        with value_error("read-only"):
            column[0] = 7
    for engine in ("packet", "express"):
        assert len(netsim.simulate(workload, "psm", engine=engine).pages) == 2
