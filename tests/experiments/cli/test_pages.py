import json

import pytest

import traces
from traces.waits import network_us

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
    (folder / "con1.cs18.1000").write_text(LINES)
    (folder / "con2.cs18.1000").write_text(LINES)
    return folder


def test_a_trace_becomes_a_workload_with_its_think_times(lpsm, sessions, tmp_path):
    result = lpsm("pages", sessions, "--out", tmp_path / "w", "--json")
    assert result.exit_code == 0
    pages = traces.read_workload(tmp_path / "w")
    assert [page._replace(waits_s=()) for page in pages[:2]] == [
        traces.Page("con1.cs18.1000/0", 300, 2000, ((300, 700),), 1094.0),
        traces.Page("con1.cs18.1000/1", 300, 900),
    ]
    assert pages[0].waits_s == ((500_000 - network_us(2000)) / 1e6, (400_000 - network_us(700)) / 1e6)
    counts = json.loads(result.stdout)
    assert counts["format"] == "bu"
    assert counts["pages"] == len(pages) == 4
    assert counts["counts"]["cache_hits"] == 2
    assert "2 cache hits" in result.stderr


def test_members_limits_and_gaps_are_obeyed(lpsm, sessions, tmp_path):
    lpsm("pages", sessions, "--out", tmp_path / "w", "--member", "con2.*", "--max-think", "1000")
    pages = traces.read_workload(tmp_path / "w")
    assert [(page.page, page.think_s) for page in pages] == [("con2.cs18.1000/0", 0.0), ("con2.cs18.1000/1", 0.0)]
    lpsm("pages", sessions / "con1.cs18.1000", "--out", tmp_path / "w", "--same-server-gap", "0.05")
    assert len(traces.read_workload(tmp_path / "w")) == 3


def test_damage_writes_nothing_unless_it_is_to_be_skipped(lpsm, complaint, sessions, tmp_path):
    with (sessions / "con2.cs18.1000").open("a") as file:
        file.write("cs18 2200 0 cut")
    before = sorted(tmp_path.rglob("*"))
    message = complaint("pages", sessions, "--out", tmp_path / "w")
    assert "con2.cs18.1000, line 5: a line must be whole" in message
    assert sorted(tmp_path.rglob("*")) == before
    result = lpsm("pages", sessions, "--out", tmp_path / "w", "--skip-damaged", "--json")
    assert json.loads(result.stdout)["counts"]["damaged"] == 1
    assert len(traces.read_workload(tmp_path / "w")) == 4


def test_what_was_found_is_told_in_a_table_a_picture_and_as_json(lpsm, sessions, tmp_path):
    result = lpsm("pages", sessions, "--out", tmp_path / "w", "--picture", tmp_path / "traffic.svg")
    assert result.exit_code == 0, result.stderr
    assert "exchanges" in result.stdout
    assert "4 pages from bu: 2 sessions, 8 records" in result.stderr
    assert (tmp_path / "traffic.svg").read_bytes().startswith(b"<?xml")
    found = json.loads(lpsm("pages", sessions, "--out", tmp_path / "w", "--json").stdout)
    assert (found["exchanges"], found["messages"], found["payload_bytes"]) == (6, 0, None)
    assert found["server_times"] == 6
    assert found["reply_bytes"] == 2 * (2000 + 700 + 900)


def test_standard_input_and_output_are_written_as_a_hyphen(lpsm, tmp_path):
    table = "time,bytes\n1,500\n9,600\n"
    (tmp_path / "t.csv").write_text(table)
    lpsm("pages", tmp_path / "t.csv", "--out", tmp_path / "of-file")
    result = lpsm("pages", "-", "--out", tmp_path / "of-input", given=table)
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "of-input").read_bytes() == (tmp_path / "of-file").read_bytes()


def test_traffic_without_urls_is_grouped_by_gaps_and_this_is_said(lpsm, tmp_path):
    (tmp_path / "t.csv").write_text("time,bytes\n1,500\n1.5,600\n9,600\n")
    result = lpsm("pages", tmp_path / "t.csv", "--out", tmp_path / "w")
    assert len(traces.read_workload(tmp_path / "w")) == 2
    assert "told apart by pauses" in result.stdout
    lpsm("pages", tmp_path / "t.csv", "--out", tmp_path / "w", "--page-gap", "0.2")
    assert len(traces.read_workload(tmp_path / "w")) == 3
