"""The workload file: what is written is read, and what is wrong is named."""

import gzip
import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

import traces
from traces import Page, TraceError

GOOD = {"page": "a", "request_bytes": 300, "reply_bytes": 500, "objects": [[1, 2]], "think_s": 1.5}
sizes = st.integers(1, 1 << 40)
seconds = st.floats(0, 1e9)
workloads = st.lists(
    st.builds(
        Page,
        page=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
        request_bytes=sizes,
        reply_bytes=sizes,
        objects=st.lists(st.tuples(sizes, sizes), max_size=4).map(tuple),
        think_s=seconds,
        issue_s=st.none(),
    ),
    min_size=1,
    max_size=6,
)


@given(workloads, st.booleans())
def test_what_is_written_is_read_back_and_written_again_to_the_same_bytes(tmp_path_factory, pages, timed):
    folder = tmp_path_factory.mktemp("w")
    if timed:
        pages = [page._replace(issue_s=index * 0.1) for index, page in enumerate(pages)]
    assert traces.write_workload(folder / "a.jsonl", pages) == len(pages)
    again = traces.read_workload(folder / "a.jsonl")
    assert again == pages
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reply_bytes": -1}, r"line 2: reply_bytes must be a whole number in \[1, .*got -1"),
        ({"request_bytes": 0}, "line 2: request_bytes .*got 0"),
        ({"request_bytes": True}, "request_bytes .*got True"),
        ({"reply_bytes": 1.5}, "reply_bytes .*got 1.5"),
        ({"reply_bytes": 10**30}, "reply_bytes .*got 10"),
        ({"objects": [[1, -2]]}, "reply must .*got -2"),
        ({"objects": [[1]]}, r"pair .*got \[1\]"),
        ({"objects": 3}, "objects must be a list .*got int"),
        ({"think_s": -0.5}, "think_s .*got -0.5"),
        ({"think_s": float("nan")}, "think_s .*got nan"),
        ({"think_s": float("inf")}, "think_s .*got inf"),
        ({"think_s": "1"}, "think_s .*got 1"),
        ({"issue_s": 1.0}, r"line 2: issue_s must not run backwards \(the page before has 7.0\), got 1.0"),
        ({"page": ""}, "page must be a name"),
        ({"thinks": 1}, "only the fields .*got thinks"),
    ],
)
def test_a_bad_field_is_named_with_path_line_rule_and_value(tmp_path, change, message):
    path = tmp_path / "w.jsonl"
    path.write_text(json.dumps(GOOD | {"issue_s": 7.0}) + "\n" + json.dumps(GOOD | change) + "\n")
    with pytest.raises(TraceError, match=message) as caught:
        traces.read_workload(path)
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["page", "request_bytes", "reply_bytes"])
def test_a_missing_field_is_named(tmp_path, key):
    (tmp_path / "w").write_text(json.dumps({k: v for k, v in GOOD.items() if k != key}))
    with pytest.raises(TraceError, match=f"line 1: a page must have {key}"):
        traces.read_workload(tmp_path / "w")


@pytest.mark.parametrize("text", ["", "\n\n", "[]"])
def test_an_empty_workload_is_an_error(tmp_path, text):
    (tmp_path / "w").write_text(text)
    with pytest.raises(TraceError, match="at least one page"):
        traces.read_workload(tmp_path / "w")


@pytest.mark.parametrize(
    "text", ['{"page": "a", "req', "[" * 100_000, '{"page": ' + "1" * 5000 + "}", "\xff", '"a"', "7", "null"]
)
def test_a_line_that_is_cut_or_is_no_page_is_an_error(tmp_path, text):
    (tmp_path / "w").write_text(text, encoding="latin-1")
    with pytest.raises(TraceError):
        traces.read_workload(tmp_path / "w")


def test_a_cut_gzip_member_is_an_error_and_not_a_shorter_workload(tmp_path):
    whole = gzip.compress(b"".join(json.dumps(GOOD | {"reply_bytes": n}).encode() + b"\n" for n in range(1, 3000)))
    for keep in (5, 12, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        (tmp_path / "w").write_bytes(whole[:keep])
        with pytest.raises(TraceError, match="gzip"):
            traces.read_workload(tmp_path / "w")


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
        traces.write_workload(path, [Page("b", 1, 1), Page("c", 1, 0)])
    with pytest.raises(TraceError, match="at least one page"):
        traces.write_workload(path, [])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
