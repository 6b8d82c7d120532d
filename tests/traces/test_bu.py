"""Boston University sessions: the documented counts, the documented defects, and every other damage."""

import io
import lzma
import tarfile

import pytest

import traces
from traces import TraceError
from traces.waits import network_us

NAME = "con7.cs18.1000"
GOOD = 'cs18 1005 5 "http://a.edu/" 2000 0.5\n'
NEXT = 'cs18 1006 50 "http://a.edu/x.gif" 700 0.25\n'


def read(tmp_path, text, name=NAME, **options):
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    requests = traces.read(tmp_path / name, **options)
    return list(requests), requests.report


def archive(files, **options):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", **options) as tar:
        for name, text in files.items():
            item = tarfile.TarInfo(name)
            item.size = len(text)
            tar.addfile(item, io.BytesIO(text.encode("latin-1")))
    return stream.getvalue()


def test_a_line_is_read_to_the_microsecond(tmp_path):
    (request,), report = read(tmp_path, 'cs18 785551460 5 "http://cs-www.bu.edu:80/a b" 1937 0.719736\n')
    start = 785551460_000005
    url = "http://cs-www.bu.edu:80/a b"
    assert request == traces.Request(
        NAME, "cs-www.bu.edu", start, start + 719_736, 300, 1937, url, 0, 719_736 - network_us(1937)
    )
    assert report["requests"] == 1


def test_lines_that_end_as_on_windows_are_the_same_requests(tmp_path):
    assert read(tmp_path, (GOOD + NEXT).replace("\n", "\r\n")) == read(tmp_path, GOOD + NEXT)


def test_cache_hits_are_left_out_and_counted(tmp_path):
    requests, report = read(tmp_path, GOOD + 'cs18 1005 9 "http://a.edu/i.gif" 0 0.0\n' + NEXT)
    assert [request.reply_bytes for request in requests] == [2000, 700]
    assert report["cache_hits"] == 1
    assert report["records"] == 3


@pytest.mark.parametrize(
    ("line", "count", "kept"),
    [
        ('cs18 1005 9 "http://a.edu/i\n.gif" 5 0.1\n', "requests_with_a_line_end_in_the_url", 0),
        ('cs18 1005 9 "http://a.edu/i.gif\n" 5 0.1\n', "requests_with_a_line_end_in_the_url", 0),
        ('cs18 1005 9 "http://a.edu/i\r.gif" 5 0.1\n', "requests_with_a_line_end_in_the_url", 0),
        ('cs18 1005 9 "http://a.edu/i.gif" 0 0.1\n', "network_requests_of_size_0", 1),
        ('mcs18 1005 9 "http://a.edu/i.gif" 5 0.1\n', "rows_of_another_machine", 1),
    ],
)
def test_documented_defects_are_counted_and_not_errors(tmp_path, line, count, kept):
    requests, report = read(tmp_path, GOOD + line + NEXT)
    assert report[count] == 1
    assert len(requests) == 2 + kept
    assert report["damaged"] == 0


def test_a_start_far_from_the_name_is_counted_once(tmp_path):
    _, report = read(tmp_path, GOOD + NEXT, name="con7.cs18.100")
    assert report["sessions_off_the_time_in_their_name"] == 1


def test_a_file_a_folder_and_archives_give_the_same_sessions(tmp_path):
    files = {NAME: GOOD + NEXT, "con8.cs19.1003": GOOD.replace("cs18", "cs19")}
    folder = tmp_path / "sessions" / "Nov94"
    folder.mkdir(parents=True)
    (folder.parent / "README.txt").write_text("not a session")
    for name, text in files.items():
        (folder / name).write_text(text)
    expected = [session for name in files for session in traces.sessions(folder / name)]
    assert [(session.name, session.user, len(session.requests)) for session in expected] == [
        (NAME, "7", 2),
        ("con8.cs19.1003", "8", 1),
    ]
    assert list(traces.sessions(tmp_path / "sessions")) == expected
    inside = {f"a/{name}": text for name, text in files.items()} | {"a/README": "x"}
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        packed = archive({"x" * 150 + "/" + name: text for name, text in inside.items()}, format=form)
        (tmp_path / "t").write_bytes(packed)
        assert list(traces.sessions(tmp_path / "t")) == expected
        (tmp_path / "t").write_bytes(lzma.compress(packed))
        assert list(traces.sessions(tmp_path / "t")) == expected


def test_members_are_chosen_by_a_glob_on_the_end_or_the_whole_of_their_path(tmp_path):
    files = {f"c/272/{month}/con{user}.cs18.1000": GOOD for month in ("Nov94", "Dec94") for user in (1, 12)}
    (tmp_path / "t").write_bytes(archive(files))
    chosen = {"Nov94/*": ["1", "12"], "con1.*": ["1", "1"], "*/Dec94/con12*": ["12"], "c/272/*": ["1", "12", "1", "12"]}
    for glob, users in chosen.items():
        assert [session.user for session in traces.sessions(tmp_path / "t", member=glob)] == users
    with pytest.raises(TraceError, match="--member must match at least one of 4 sessions, got Jan95"):
        list(traces.sessions(tmp_path / "t", member="Jan95/*"))


def test_paths_that_lead_out_of_an_archive_are_only_names(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    outside = str(tmp_path / "con3.cs18.1000")
    files = {"../../con1.cs18.1000": GOOD, outside: GOOD}
    (inner / "t").write_bytes(archive(files))
    before = sorted(tmp_path.rglob("*"))
    assert [session.name for session in traces.sessions(inner / "t")] == ["con1.cs18.1000", "con3.cs18.1000"]
    assert sorted(tmp_path.rglob("*")) == before


def test_links_and_devices_in_an_archive_are_not_followed(tmp_path):
    secret = tmp_path / "con9.cs18.1000"
    secret.write_text(GOOD)
    with tarfile.open(tmp_path / "t", "w") as tar:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            item = tarfile.TarInfo("con5.cs18.1000")
            item.type, item.linkname = kind, str(secret)
            tar.addfile(item)
        item = tarfile.TarInfo(NAME)
        item.size = len(GOOD)
        tar.addfile(item, io.BytesIO(GOOD.encode()))
    assert [session.name for session in traces.sessions(tmp_path / "t")] == [NAME]


def test_the_samples_have_the_requests_that_a_count_of_lines_gives(data):
    folder = data / "bu-www-client" / "sample"
    rows = [line.rsplit(" ", 2) for path in folder.iterdir() for line in path.read_text("latin-1").splitlines()]
    requests = traces.read(folder)
    assert sum(1 for _ in requests) == sum(row[1:] != ["0", "0.0"] for row in rows)
    assert requests.report["cache_hits"] == sum(row[1:] == ["0", "0.0"] for row in rows)
    assert requests.report["sessions"] == 3


@pytest.mark.long
def test_the_whole_archive_has_the_counts_published_with_it(data):
    requests = traces.read(data / "bu-www-client" / "condensed.tar.xz")
    total = sum(int(batch["reply_bytes"].sum()) for batch in requests.batches())
    report = requests.report
    assert report["sessions"] == 9633
    assert report["records"] == 853_512 + 290_320
    assert report["cache_hits"] == 853_512
    assert report["requests"] == 290_320
    assert report["requests_with_a_line_end_in_the_url"] == 7
    assert report["network_requests_of_size_0"] == 41
    assert report["rows_of_another_machine"] == 2
    assert report["sessions_off_the_time_in_their_name"] == 6
    assert report["damaged"] == 0
    assert round(total / 1e9, 2) == 4.34
    users = {session.user for session in traces.sessions(data / "bu-www-client" / "condensed.tar.xz")}
    assert len(users) <= 762
