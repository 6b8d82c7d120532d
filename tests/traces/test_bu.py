"""Boston University sessions: the documented counts, the documented defects, and every other damage."""

import io
import lzma
import tarfile

import pytest

import traces
from tests.tables import cases_of, named
from traces import TraceError
from traces.server_times import network_us

NAME = "con7.cs18.1000"
GOOD = 'cs18 1005 5 "http://a.edu/" 2000 0.5\n'
NEXT = 'cs18 1006 50 "http://a.edu/x.gif" 700 0.25\n'


def read(tmp_path, text):
    (tmp_path / NAME).write_bytes(text.encode("latin-1"))
    requests = traces.read(tmp_path / NAME)
    return list(requests), requests.report


def archive(files, **options):
    """Pack files; what is no text is a member of that type, which leads to the text of the first."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", **options) as tar:
        for name, text in files.items():
            item = tarfile.TarInfo(name)
            item.size = len(text) if isinstance(text, str) else 0
            if not item.size:
                item.type, item.linkname = text or tarfile.REGTYPE, "con9.cs18.1000"
            tar.addfile(item, io.BytesIO(text.encode("latin-1") if item.size else b""))
    return stream.getvalue()


def test_a_line_is_read_to_the_microsecond_whichever_way_it_ends(tmp_path):
    line, url = 'cs18 785551460 5 "http://cs-www.bu.edu:80/a b" 1937 0.719736\n', "http://cs-www.bu.edu:80/a b"
    start = 785551460_000005
    wait_us = 719_736 - network_us(1937)
    expected = traces.Request(NAME, "cs-www.bu.edu", start, start + 719_736, 300, 1937, url, 0, wait_us)
    for text in (line, line.replace("\n", "\r\n")):
        requests, report = read(tmp_path, text)
        assert (requests, report["requests"]) == ([expected], 1)


@cases_of("line count kept", r"""
'cs18 1005 9 "http://a.edu/i.gif" 0 0.0\n', "cache_hits", 0
'cs18 1005 9 "http://a.edu/i\n.gif" 5 0.1\n', "requests_with_a_line_end_in_the_url", 0
'cs18 1005 9 "http://a.edu/i\r.gif" 5 0.1\n', "requests_with_a_line_end_in_the_url", 0
'cs18 1005 9 "http://a.edu/i.gif" 0 0.1\n', "network_requests_of_size_0", 1
""")  # fmt: skip
def test_cache_hits_and_documented_defects_are_counted_and_not_errors(tmp_path, line, count, kept):
    requests, report = read(tmp_path, GOOD + line + NEXT)
    assert (report[count], report["damaged"], len(requests)) == (1, 0, 2 + kept)
    assert [requests[0].reply_bytes, requests[-1].reply_bytes] == [2000, 700]


def test_a_file_a_folder_and_archives_give_the_same_sessions(tmp_path):
    files = {NAME: GOOD + NEXT, "con8.cs19.1003": GOOD.replace("cs18", "cs19")}
    folder = tmp_path / "sessions" / "Nov94"
    folder.mkdir(parents=True)
    (folder.parent / "README.txt").write_text("not a session")
    for name, text in files.items():
        (folder / name).write_text(text)
    expected = [session for name in files for session in traces.sessions(folder / name)]
    found = [(session.name, session.user, len(session.requests)) for session in expected]
    assert found == [(NAME, "7", 2), ("con8.cs19.1003", "8", 1)]
    assert list(traces.sessions(tmp_path / "sessions")) == expected
    inside = {f"{'x' * 150}/a/{name}": text for name, text in files.items()} | {"a/README": "x"}
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        packed = archive(inside, format=form)
        for content in (packed, lzma.compress(packed)):
            (tmp_path / "t").write_bytes(content)
            assert list(traces.sessions(tmp_path / "t")) == expected


def test_members_are_chosen_by_a_glob_on_the_end_or_the_whole_of_their_path(tmp_path):
    files = {f"c/272/{month}/con{user}.cs18.1000": GOOD for month in ("Nov94", "Dec94") for user in (1, 12)}
    (tmp_path / "t").write_bytes(archive(files))
    chosen = {"Nov94/*": ["1", "12"], "con1.*": ["1", "1"], "*/Dec94/con12*": ["12"], "c/272/*": ["1", "12", "1", "12"]}
    for glob, users in chosen.items():
        assert [session.user for session in traces.sessions(tmp_path / "t", member=glob)] == users
    with pytest.raises(TraceError, match="--member must match at least one of 4 sessions, got Jan95"):
        list(traces.sessions(tmp_path / "t", member="Jan95/*"))


def test_an_archive_writes_nothing_and_follows_neither_paths_nor_links(tmp_path):
    (tmp_path / "con9.cs18.1000").write_text(GOOD)
    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)
    files = {f"con5.cs18.{at}": kind for at, kind in enumerate(kinds)}
    files |= {"../con1.cs18.1000": GOOD, str(tmp_path / "con3.cs18.1000"): GOOD}
    (tmp_path / "t").write_bytes(archive(files))
    before = sorted(tmp_path.rglob("*"))
    assert [session.name for session in traces.sessions(tmp_path / "t")] == ["con1.cs18.1000", "con3.cs18.1000"]
    assert sorted(tmp_path.rglob("*")) == before


def test_the_samples_have_the_requests_that_a_count_of_lines_gives(data):
    folder = data / "bu-www-client" / "sample"
    rows = [line.rsplit(" ", 2) for path in folder.iterdir() for line in path.read_text("latin-1").splitlines()]
    requests, hits = traces.read(folder), sum(row[1:] == ["0", "0.0"] for row in rows)
    assert sum(1 for _ in requests) == len(rows) - hits
    assert (requests.report["cache_hits"], requests.report["sessions"]) == (hits, 3)


@pytest.mark.long
def test_the_whole_archive_has_the_counts_published_with_it(data):
    requests = traces.read(data / "bu-www-client" / "condensed.tar.xz")
    total = sum(int(batch["reply_bytes"].sum()) for batch in requests.batches())
    published = named("""
sessions = 9633 ; records = 853_512 + 290_320 ; cache_hits = 853_512 ; requests = 290_320
requests_with_a_line_end_in_the_url = 7 ; network_requests_of_size_0 = 41 ; damaged = 0""")  # fmt: skip
    assert {name: requests.report[name] for name in published} == published
    assert round(total / 1e9, 2) == 4.34
