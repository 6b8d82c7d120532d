import csv
import json
import time

import numpy as np
import pytest

import netsim
import traces
from experiments.study.compare import estimate
from lpsm.randomness import WORKLOAD, generator
from tests.experiments.browsing import contents

SMALL = ["--pages", "4", "--seeds", "2", "--policies", "none,psm,lpsm:log", "--jobs", "1"]
PICTURES = {"energy", "front", "slowdown", "slowdown-by-page", "sleep-times"}
TABLES = {
    "pages", "published", "replications", "runs", "slowdown-by-page", "sleep-times-pages", "sleep-times", "summary",
}  # fmt: skip


def test_the_same_seed_gives_the_same_bytes_with_one_process_and_with_two(lpsm, tmp_path):
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
        "manifest.json", "SHA256SUMS", "comparison.txt",
        *(f"{name}.csv" for name in TABLES), *(f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg")),
    }  # fmt: skip
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]
    for name, data in found.items():
        assert str(tmp_path).encode() not in data, name
        assert time.strftime("%Y-%m-%d").encode() not in data, name
    assert b"jobs" not in found["manifest.json"]


def test_json_is_one_object_and_agrees_with_the_files(lpsm, tmp_path):
    result = lpsm("compare", *SMALL, "--out", tmp_path / "out", "--json")
    data = json.loads(result.stdout)
    assert [row["policy"] for row in data["summary"]] == ["none", "psm:100", "lpsm:log", "limit", "page-awake"]
    with (tmp_path / "out" / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["total_j_per_page"]) for row in rows] == [row["total_j_per_page"] for row in data["summary"]]
    assert data["traffic"] == {"kind": "generated", "pages": 4, "seed": 0, "seeds": 2, "units": "seeds"}


def test_the_preset_prints_the_thesis_beside_ours_and_options_win_over_it(lpsm, tmp_path):
    world = tmp_path / "world.toml"
    world.write_text("mss_bytes = 1000\n")
    result = lpsm("compare", *SMALL, "--out", tmp_path / "out", "--preset", "thesis", "--world", world)
    assert "3.62" in result.stdout
    model = json.loads((tmp_path / "out" / "manifest.json").read_text())["configuration"]["model"]
    assert model["tcp"]["mss_bytes"] == 1000
    assert model["tcp"]["nagle"] is True
    assert model["connections"] == "per-object"
    assert model["server_delay"]["mean_s"] == 0.5


def test_one_seed_has_no_intervals_and_prints_none(lpsm, tmp_path):
    result = lpsm(
        "compare", "--pages", "3", "--seeds", "1", "--policies", "psm", "--jobs", "1", "--out", tmp_path / "o"
    )
    assert result.exit_code == 0
    assert "±" not in result.stdout.split("J/page: mean")[0]


def test_sessions_of_a_trace_are_replications_and_members_can_be_chosen(lpsm, tmp_path):
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


def test_at_the_beacons_of_real_access_points_psm_is_every_beacon_and_the_differences_are_from_it(lpsm, tmp_path):
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


def test_a_workload_file_is_one_session(lpsm, workload, tmp_path):
    arguments = ["compare", "--trace", workload, "--policies", "psm", "--jobs", "1", "--out", tmp_path / "out"]
    data = json.loads(lpsm(*arguments, "--json").stdout)
    assert data["replications"] == 1
    assert {row["pages"] for row in data["summary"]} == {3}


def test_a_limit_to_the_slowdown_is_what_the_sentence_is_about(lpsm, tmp_path):
    small = ("compare", "--pages", "3", "--seeds", "2", "--policies", "none,psm,bsd:1", "--jobs", "1")
    text = lpsm(*small, "--max-slowdown", "1.0001", "--out", tmp_path / "out").stdout
    [line] = [line for line in text.splitlines() if line.startswith("Which to take")]
    assert line == "Which to take: none of them keeps the mean slowdown within 1.0001."


CELLS = ["compare", "--air", "11g:54", "--pages", "2", "--seeds", "2", "--jobs", "1"]


@pytest.mark.long
def test_cells_of_several_sizes_are_those_of_the_library_and_of_comparisons_one_by_one(lpsm, tmp_path):
    several = ["--clients", "1,3", "--policies", "psm,twt:200:10"]
    found = json.loads(lpsm(*CELLS, *several, "--out", tmp_path / "out", "--json").stdout)
    assert found["policies"] == ["none", "psm:100", "twt:200:10"]
    rows = {(row["clients"], row["policy"]): row for row in found["summary"]}
    assert len(rows) == 2 * (3 + 2)
    config = netsim.SimulationConfig(
        medium=netsim.AirConfig(), radio=netsim.Radio.named("esp32-c6"),
        server_delay=netsim.ServerDelay.parse("lognormal:0.2"),
    )  # fmt: skip
    slowdowns = []
    for seed in (0, 1):
        pages = [list(traces.generate(2, generator(seed, WORKLOAD, client))) for client in range(3)]
        base, psm = (
            netsim.simulate_cell([(own, name) for own in pages], config=config, seed=seed) for name in ("none", "psm")
        )
        slowdowns.append(
            np.concatenate([own.against(at_once).slowdowns for own, at_once in zip(psm, base, strict=True)])
        )
    wanted = estimate([of_seed.mean() for of_seed in slowdowns])
    psm_row = rows[3, "psm:100"]
    assert (psm_row["slowdown_mean"], psm_row["slowdown_mean_half_width"]) == pytest.approx(wanted)
    for count in ("1", "3"):  # the same figures as of this number alone
        alone = lpsm(*CELLS, *several[2:], "--clients", count, "--out", tmp_path / count, "--json")
        for row in json.loads(alone.stdout)["summary"]:
            assert {**rows[int(count), row["policy"]], **row} == rows[int(count), row["policy"]]
    text = (tmp_path / "3" / "comparison.txt").read_text()
    assert "3 clients behind one access point; figures are means over them." in text
    assert "3 clients: Which to take" in (tmp_path / "out" / "comparison.txt").read_text()
    assert {"cell.png", "cell.svg", "summary.csv", "clients.csv"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


def test_a_smaller_comparison_does_not_take_the_place_of_a_larger_one_unless_told(lpsm, complaint, tmp_path):
    def words(pages, seeds):
        return ["compare", "--pages", pages, "--seeds", seeds, "--policies", "psm", "--out", str(tmp_path / "out")]

    assert lpsm(*words("2", "3"), "--jobs", "1").exit_code == 0
    line = complaint(*words("2", "2"), "--jobs", "1")
    assert "holds 6 finished runs of another configuration (seeds was 3, is 2), more than these; --replace" in line
    assert lpsm(*words("2", "2"), "--jobs", "1", "--replace").exit_code == 0
    assert "which this one replaces: pages was 2, is 1" in lpsm(*words("1", "2"), "--jobs", "1").stderr
