import json

import pytest

import traces
from tests.traces.captures import Tcp, pcap, record
from traces.server_times import network_us

LINES = (
    'cs18 1005 0 "http://a.edu/" 2000 0.5\n'
    'cs18 1005 600000 "http://a.edu/i.gif" 700 0.4\n'
    'cs18 1005 700000 "http://a.edu/i.gif" 0 0.0\n'
    'cs18 2100 0 "http://a.edu/next.html" 900 1.0\n'
)


@pytest.fixture
def sessions(tmp_path):
    """Write a folder of two sessions."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    for user in (1, 2):
        (folder / f"con{user}.cs18.1000").write_text(LINES)
    return folder


@pytest.fixture
def pages(lpsm, tmp_path):
    """Make a workload, and return its pages and the result of the command."""

    def run(*words, **more):
        result = lpsm("pages", *words, "--out", tmp_path / "w", **more)
        assert result.exit_code == 0, result.output
        return traces.read_workload(tmp_path / "w"), result

    return run


def test_a_trace_becomes_a_workload_with_its_think_times_and_counts(pages, sessions):
    found, result = pages(sessions, "--json")
    assert [page._replace(waits_s=()) for page in found[:2]] == [
        traces.Page("con1.cs18.1000/0", 300, 2000, ((300, 700),), 1094.0, servers=(0, 0)),
        traces.Page("con1.cs18.1000/1", 300, 900, servers=(0,))]  # fmt: skip
    assert found[0].waits_s == ((500_000 - network_us(2000)) / 1e6, (400_000 - network_us(700)) / 1e6)
    counts = json.loads(result.stdout)
    assert (counts["format"], counts["pages"], counts["counts"]["cache_hits"]) == ("bu", 4, 2)
    assert (counts["exchanges"], counts["messages"], counts["payload_bytes"]) == (6, 0, None)
    assert (counts["server_times"], counts["reply_bytes"]) == (6, 2 * (2000 + 700 + 900))
    assert "2 cache hits" in result.stderr


def test_members_limits_and_gaps_are_obeyed(pages, sessions):
    found, _ = pages(sessions, "--member", "con2.*", "--max-think", "1000")
    assert [(page.page, page.think_s) for page in found] == [("con2.cs18.1000/0", 0.0), ("con2.cs18.1000/1", 0.0)]


def test_damage_writes_nothing_unless_it_is_to_be_skipped(complaint, pages, sessions, tmp_path):
    with (sessions / "con2.cs18.1000").open("a") as file:
        file.write("cs18 2200 0 cut")
    message = complaint("pages", sessions, "--out", tmp_path / "w")
    assert "con2.cs18.1000, line 5: a line must be whole" in message
    assert not (tmp_path / "w").exists()
    found, result = pages(sessions, "--skip-damaged", "--json")
    assert (len(found), json.loads(result.stdout)["counts"]["damaged"]) == (4, 1)


def test_traffic_without_urls_is_grouped_by_gaps_and_this_is_said(pages):
    table = "time,bytes\n1,500\n1.5,600\n9,600\n"
    found, result = pages("-", given=table)  # standard input
    assert len(found) == 2
    assert "told apart by pauses" in result.stdout
    assert "2 pages from csv: " in result.stderr
    assert len(pages("-", "--page-gap", "0.2", given=table)[0]) == 3


def test_a_capture_is_cut_between_two_instants(complaint, pages, sessions, tmp_path):
    flow = Tcp(100.0, 0.02)
    for at_s in (101.0, 103.0, 106.0, 109.0):
        flow.up(at_s, record(300))
        flow.down(at_s + 0.1, record(2000))
    (tmp_path / "c.pcap").write_bytes(pcap(flow.frames))
    whole, _ = pages(tmp_path / "c.pcap")
    part, _ = pages(tmp_path / "c.pcap", "--from", 2.5, "--to", 8.0)
    assert whole.issue_s == pytest.approx([1.0, 3.0, 6.0, 9.0])
    assert part.issue_s == pytest.approx([0.5, 3.5])
    assert (part.captured_s, part.sizes.tolist()) == (5.5, whole.sizes[1:3].tolist())
    out = "--out", tmp_path / "w"
    assert "--from must lie before 8 s" in complaint("pages", tmp_path / "c.pcap", *out, "--from", 9, "--to", 8)
    assert "--from and --to are for captures" in complaint("pages", sessions, *out, "--to", 5)
