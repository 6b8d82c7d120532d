from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.experiments.browsing import contents
from tests.experiments.program import PROGRAM, finish

Run = Callable[..., Result]
SMALL = ["--pages", "4", "--seeds", "2", "--policies", "none,psm,lpsm:log", "--jobs", "1"]
PICTURES = {"energy", "front", "slowdown", "slowdown-by-page", "sleep-times"}
TABLES = {
    "pages", "published", "replications", "runs", "slowdown-by-page", "sleep-times-pages", "sleep-times", "summary",
}  # fmt: skip


def test_the_same_seed_gives_the_same_bytes_with_one_process_and_with_two(lpsm: Run, tmp_path: Path) -> None:
    arguments = [
        "compare", "--pages", "5", "--seeds", "2", "--seed", "3", "--policies", "psm,bsd:0.5,lpsm:log",
        "--preset", "thesis", "--server-delay", "exponential:0.4", "--loss", "0.01",
    ]  # fmt: skip
    shown = [
        lpsm(*arguments, "--jobs", jobs, "--out", tmp_path / name)
        for name, jobs in (("a", "1"), ("b", "2"), ("c", "1"))
    ]
    assert {result.exit_code for result in shown} == {0}
    found = contents(tmp_path / "a")
    assert found == contents(tmp_path / "b") == contents(tmp_path / "c")
    assert set(found) == {
        "manifest.json", "comparison.txt",
        *(f"{name}.csv" for name in TABLES), *(f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg")),
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_files_hold_no_paths_dates_or_job_counts(lpsm: Run, tmp_path: Path) -> None:
    lpsm("compare", *SMALL, "--out", tmp_path / "out")
    for name, data in contents(tmp_path / "out").items():
        assert str(tmp_path).encode() not in data, name
        assert time.strftime("%Y-%m-%d").encode() not in data, name
    assert b"jobs" not in (tmp_path / "out" / "manifest.json").read_bytes()


def test_json_is_one_object_and_agrees_with_the_files(lpsm: Run, tmp_path: Path) -> None:
    result = lpsm("compare", *SMALL, "--out", tmp_path / "out", "--json")
    data = json.loads(result.stdout)
    assert [row["policy"] for row in data["summary"]] == ["none", "psm:100", "lpsm:log", "limit", "page-awake"]
    with (tmp_path / "out" / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["total_j_per_page"]) for row in rows] == [row["total_j_per_page"] for row in data["summary"]]
    assert data["traffic"] == {"kind": "generated", "pages": 4, "seed": 0, "seeds": 2}


def test_the_preset_prints_the_thesis_beside_ours_and_options_win_over_it(lpsm: Run, tmp_path: Path) -> None:
    result = lpsm("compare", *SMALL, "--out", tmp_path / "out", "--preset", "thesis", "--mss", "1000")
    assert "3.62" in result.stdout
    model = json.loads((tmp_path / "out" / "manifest.json").read_text())["configuration"]["model"]
    assert model["tcp"]["mss_bytes"] == 1000
    assert model["tcp"]["nagle"] is True
    assert model["connections"] == "per-object"
    assert model["server_delay"]["mean_s"] == 0.5


def test_one_seed_has_no_intervals_and_prints_none(lpsm: Run, tmp_path: Path) -> None:
    result = lpsm(
        "compare", "--pages", "3", "--seeds", "1", "--policies", "psm", "--jobs", "1", "--out", tmp_path / "o"
    )
    assert result.exit_code == 0
    assert "±" not in result.stdout.split("J/page: mean")[0]


def test_sessions_of_a_trace_are_replications_and_members_can_be_chosen(lpsm: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for user in (1, 2, 3):
        lines = [
            f'cs20 {790000000 + 30 * number} {1000 * user} "http://a.b/{number}.html" {2000 * user} 0.5\n'
            for number in range(user + 1)
        ]
        (folder / f"con{user}.cs20.790000000").write_text("".join(lines))
    arguments = ["compare", "--trace", folder, "--policies", "psm", "--jobs", "1", "--json"]
    data = json.loads(lpsm(*arguments, "--out", tmp_path / "all").stdout)
    assert data["replications"] == 3
    assert {row["pages"] for row in data["summary"]} == {2 + 3 + 4}
    data = json.loads(lpsm(*arguments, "--member", "con[12].*", "--out", tmp_path / "two").stdout)
    assert data["replications"] == 2
    (folder / "con1.cs20.790000000").write_text('cs20 790000000 0 "http://a.b/0.html" 99 0.5\n')
    digest = data["traffic"]["sha256"]
    data = json.loads(lpsm(*arguments, "--member", "con[12].*", "--out", tmp_path / "two").stdout)
    assert data["traffic"]["sha256"] != digest


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--policies", "none,pms"], "did you mean psm?"),
        (["--policies", "bsd:0"], "0"),
        (["--policies", "bsd:-0.5"], "-0.5"),
        (["--policies", "psm:150"], "150"),
        (["--policies", ","], "at least one policy"),
        (["--policies", "psm,psm:100"], "policies must differ"),
        (["--pages", "0"], "pages must be at least 1, got 0"),
        (["--seeds", "0"], "seeds must be at least 1, got 0"),
        (["--seed", "-1"], "seed must be at least 0, got -1"),
        (["--jobs", "0"], "jobs must be at least 1, got 0"),
        (["--member", "x*"], "no --trace is given"),
        (["--trace", "absent.tar"], "absent.tar"),
        (["--preset", "these"], "'these' is not one of 'today', 'thesis', 'model'"),
    ],
)
def test_a_bad_value_is_one_line_and_leaves_nothing(
    complaint: Callable[..., str], tmp_path: Path, arguments: list[str], rule: str
) -> None:
    assert rule in complaint("compare", "--out", tmp_path / "out", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_garbled_trace_is_one_line_that_says_where(complaint: Callable[..., str], tmp_path: Path) -> None:
    trace = tmp_path / "con1.cs20.790000000"
    trace.write_text('cs20 790000000 0 "http://a.b/0.html" 99 0.5\ncs20 7900')
    line = complaint("compare", "--trace", trace, "--out", tmp_path / "out")
    assert "con1.cs20.790000000, line 2" in line
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_cannot_be_made_or_is_not_ours_is_named(
    complaint: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert "the output must be a folder, " in complaint("compare", *SMALL, "--out", tmp_path / "file" / "out")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    assert "home" in complaint("compare", *SMALL, "--out", tmp_path / "home")
    assert (tmp_path / "home" / "letter.txt").read_text() == "dear"


def test_a_policy_that_does_not_fit_the_beacons_leaves_nothing(complaint: Callable[..., str], tmp_path: Path) -> None:
    line = complaint("compare", "--policies", "psm:100", "--beacon-interval", "70", "--out", tmp_path / "out")
    assert "the psm period must be a positive multiple of 70 ms, got 100 ms" in line
    assert not (tmp_path / "out").exists()


def test_at_the_beacons_of_real_access_points_psm_is_every_beacon_and_the_differences_are_from_it(
    lpsm: Run, tmp_path: Path
) -> None:
    arguments = ["--policies", "psm,listen:2,lpsm", "--beacon-ms", "102.4", "--radio", "cc3235sf"]
    result = lpsm("compare", *SMALL, *arguments, "--battery-mwh", "5000", "--out", tmp_path / "out", "--json")
    rows = {row["policy"]: row for row in json.loads(result.stdout)["summary"]}
    assert list(rows) == ["none", "psm:102.4", "listen:2", "lpsm", "limit", "page-awake"]
    assert rows["psm:102.4"]["energy_vs_psm_percent"] == 0
    assert rows["listen:2"]["energy_vs_psm_percent"] < 0
    assert rows["lpsm"]["wakeup_j_per_page"] > 0
    for row in rows.values():
        assert row["battery_h"] == pytest.approx(5000 / row["mean_mw"])
        assert row["total_j_per_page"] >= rows["limit"]["total_j_per_page"]
    assert "battery" in (tmp_path / "out" / "comparison.txt").read_text()


LARGE = ["compare", "--pages", "150", "--seeds", "12", "--policies", "psm,bsd:1"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    finish([*LARGE, "--jobs", "1", "--out", str(out)])
    return contents(out)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_comparison_says_what_it_keeps_and_goes_on_from_there(
    tmp_path: Path, jobs: str, undisturbed: dict[str, bytes]
) -> None:
    words = [*LARGE, "--jobs", jobs, "--out", str(tmp_path / "out")]
    journal = tmp_path / "out.partial" / "finished.jsonl"
    process = subprocess.Popen(
        [*PROGRAM, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (journal.exists() and journal.read_text().count("\n") >= 2):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does on Ctrl-C
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert stdout == ""
    last = stderr.splitlines()[-1]
    assert last.startswith("lpsm: interrupted, ")
    assert "of 36 runs of a policy were finished" in last
    assert str(tmp_path / "out.partial") in last
    assert "Traceback" not in stderr
    kept = journal.read_text().splitlines()
    assert 2 <= len(kept) < 36
    assert not (tmp_path / "out").exists()

    finish(words)
    assert contents(tmp_path / "out") == undisturbed
    assert not (tmp_path / "out.partial").exists()


def test_a_workload_file_is_one_session(lpsm: Run, workload: Path, tmp_path: Path) -> None:
    arguments = ["compare", "--trace", workload, "--policies", "psm", "--jobs", "1", "--out", tmp_path / "out"]
    data = json.loads(lpsm(*arguments, "--json").stdout)
    assert data["replications"] == 1
    assert {row["pages"] for row in data["summary"]} == {3}
    assert lpsm(*arguments, "--member", "x").exit_code == 2


@pytest.mark.parametrize("option", ["--pages", "--seeds"])
def test_what_decides_drawn_traffic_is_refused_beside_a_trace(
    complaint: Callable[..., str], workload: Path, tmp_path: Path, option: str
) -> None:
    line = complaint("compare", "--trace", workload, option, "3", "--out", tmp_path / "out")
    assert f"{option} is for traffic that is drawn, and --trace is given" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_cell_of_clients_is_said_and_each_has_a_row_of_its_own(
    lpsm: Run, complaint: Callable[..., str], tmp_path: Path
) -> None:
    small = ("--pages", "2", "--seeds", "2", "--policies", "psm", "--clients", "2", "--jobs", "1")
    for command, called in (("compare", "traffic"), ("tune", "traffic")):
        out = tmp_path / command
        data = json.loads(lpsm(command, *small, "--air", "11g", "--out", out, "--json").stdout)
        assert data[called]["clients"] == 2
        assert len((out / "clients.csv").read_text().splitlines()) == 1 + 2 * 2 * 2
        text = (out / ("comparison.txt" if command == "compare" else "tune.txt")).read_text()
        assert "2 clients behind one access point; figures are means over them." in text
    line = complaint("compare", *small, "--preset", "thesis", "--out", tmp_path / "thesis")
    assert "clients must be 1 with --preset thesis, which has one client, got 2" in line


def test_a_limit_to_the_slowdown_is_what_the_sentence_is_about(
    lpsm: Run, complaint: Callable[..., str], tmp_path: Path
) -> None:
    small = ("compare", "--pages", "3", "--seeds", "2", "--policies", "none,psm,bsd:1", "--jobs", "1")
    text = lpsm(*small, "--max-slowdown", "1.0001", "--out", tmp_path / "out").stdout
    [line] = [line for line in text.splitlines() if line.startswith("Which to take")]
    assert line == "Which to take: none of them keeps the mean slowdown within 1.0001."
    assert "at least 1" in complaint(*small, "--max-slowdown", "0.5", "--out", tmp_path / "other")
