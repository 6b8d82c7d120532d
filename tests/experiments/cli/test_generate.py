import json

import pytest

import traces
from lpsm.randomness import WORKLOAD, generator
from traces.traffic import APPS


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(lpsm, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        assert lpsm("generate", "--pages", "7", "--seed", str(seed), "--out", tmp_path / name).exit_code == 0
    first, second, third = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == second != third
    assert len(first.splitlines()) == 7


def test_the_pages_are_those_that_compare_draws_for_the_seed(lpsm, tmp_path):
    lpsm("generate", "--pages", "5", "--seed", "2", "--out", tmp_path / "w")
    drawn = generator(2, WORKLOAD)
    assert traces.read_workload(tmp_path / "w") == traces.generate(5, drawn)


@pytest.mark.parametrize("kind", [*APPS, "web-exponential", "web-pareto", "web-jump", "web-cache"])
def test_programs_and_their_servers_are_made_too(lpsm, tmp_path, kind):
    assert lpsm("generate", "--kind", kind, "--hours", "0.05", "--out", tmp_path / "w").exit_code == 0
    found = traces.read_workload(tmp_path / "w")
    assert found or found.messages


def test_without_a_file_the_lines_go_to_standard_output(lpsm, tmp_path):
    lpsm("generate", "--pages", "3", "--out", tmp_path / "w")
    assert lpsm("generate", "--pages", "3").stdout == (tmp_path / "w").read_text()


def test_json_is_one_object_that_adds_up(lpsm, tmp_path):
    result = lpsm("generate", "--pages", "20", "--out", tmp_path / "w", "--json")
    totals = json.loads(result.stdout)
    pages = traces.read_workload(tmp_path / "w")
    assert totals["pages"] == 20
    assert totals["objects"] == sum(len(page.objects) for page in pages)
    assert totals["think_s"] == sum(page.think_s for page in pages)


def test_a_folder_is_no_name_for_a_workload(complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for out in (".", str(tmp_path)):
        assert "is a folder, a file name is needed" in complaint("generate", "--pages", "2", "--out", out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["web", "mqtt", "push", "stream", "mixed"])
def test_every_kind_is_a_workload_that_the_seed_decides(lpsm, tmp_path, kind):
    arguments = ("generate", "--kind", kind, "--hours", "0.5", "--seed", "5")
    result = lpsm(*arguments, "--out", tmp_path / "w", "--json")
    totals = json.loads(result.stdout)
    found = traces.read_workload(tmp_path / "w")
    assert (totals["pages"], totals["messages"]) == (len(found), len(found.messages))
    assert lpsm(*arguments).stdout == (tmp_path / "w").read_text()
    assert bool(found.messages) == (kind in ("mqtt", "push", "mixed"))
    assert bool(found) == (kind != "push")


def test_keep_alives_reports_and_messages_come_as_wished(lpsm, tmp_path):
    lpsm(
        *("generate", "--kind", "mqtt", "--hours", "10", "--keep-alive", "90", "--messages-per-hour", "30"),
        *("--message-bytes", "400", "--reports-per-hour", "0", "--out", tmp_path / "w"),
    )
    found = traces.read_workload(tmp_path / "w")
    assert [page.issue_s for page in found] == [90.0 * number for number in range(1, 401)]
    assert all((page.request_bytes, page.reply_bytes) == (2, 2) for page in found)
    assert 240 < len(found.messages) < 360  # 300 on average
    assert {message.size_bytes for message in found.messages} == {400}
