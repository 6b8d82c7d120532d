"""Folders of results, of every command that writes one: the same bytes again, and as said on standard output."""

import json
import time

import pandas as pd
import pytest

from tests.experiments.conftest import JOBS, RESULTS
from tests.experiments.makers import contents
from tests.tables import cases_of, each, near

WRITTEN = {
    "compare": "comparison.txt pages.csv replications.csv runs.csv slowdown-by-page.csv summary.csv energy.svg "
               "front.png slowdown.svg slowdown-by-page.png",
    "label": "label.txt classes.csv windows.csv rounds.csv label.svg",
    "population": "population.txt part-000000.parquet part-000005.parquet summary.csv",
    "replay": "summary.csv losses.png weights.svg competition.png alphas.png",
    "reproduce": "claims.csv points.parquet",
    "tune": "tune.txt recommendation.json candidates.csv splits.csv units.csv runs.csv tradeoff.svg",
}  # fmt: skip


def inside(made, name):
    """The files of the folder that the command itself wrote."""
    return contents(made.folder / "thesis" / "counterexample-4-3" if name == "reproduce" else made.folder)


QUICK = ("compare",)  # the others go the same way


@each("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.long) for name in RESULTS])
def test_the_same_command_gives_the_same_bytes_with_one_process_and_with_two(lpsm, results, tmp_path, name):
    made = results(name)
    again = lpsm(*made.words, *(["--jobs", "2"] if name in JOBS else []), "--out", tmp_path / "out")
    assert again.exit_code == 0, again.output
    assert contents(tmp_path / "out") == contents(made.folder)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not any(path.suffix == ".tmp" for path in tmp_path.rglob("*"))


@each("name", RESULTS)
def test_a_folder_holds_what_its_manifest_lists_and_neither_paths_nor_dates_nor_job_counts(results, name):
    found = inside(results(name), name)
    manifest = json.loads(found["manifest.json"])
    assert set(manifest["files"]) == set(found) - {"manifest.json", "SHA256SUMS"}
    assert {*WRITTEN[name].split()} <= set(manifest["files"])
    assert "jobs" not in found["manifest.json"].decode()
    for file, content in found.items():
        assert str(results(name).folder.parent).encode() not in content, file
        assert time.strftime("%Y-%m-%d").encode() not in content, file


@cases_of("name listed table column", """
"compare", "summary", "summary" -> total_j_per_page ; "population", "summary", "summary" -> total_j
"replay", "replays", "summary" -> mixture_loss ; "tune", "candidates", "candidates" -> mean_mw
""")  # fmt: skip
def test_the_json_of_a_command_agrees_with_its_tables(results, name, listed, table, column):
    made = results(name)
    rows = pd.read_csv(made.folder / f"{table}.csv")
    assert rows[column].tolist() == [row[column] for row in made.found[listed]]


def test_a_comparison_says_what_was_run_and_its_figures_follow_from_one_another(results):
    made = results("compare")
    traffic = {"kind": "generated", "pages": 4, "seed": 0, "seeds": 2, "units": "seeds", "recorded": {}, "web": "2025"}
    assert made.found["traffic"] == {**traffic, "think_s": None}
    rows = pd.read_csv(made.folder / "summary.csv").set_index("policy")
    assert rows.index.tolist() == ["none", "psm:102.4", "lpsm:log", "limit", "page-awake"]
    assert rows.loc["psm:102.4", "energy_vs_psm_percent"] == 0
    assert rows.loc["lpsm:log", "wakeup_j_per_page"] > 0
    assert (rows["total_j_per_page"] >= rows.loc["limit", "total_j_per_page"]).all()


def test_the_json_of_a_labelled_stream_agrees_with_its_rounds(results):
    made = results("label")
    rounds = pd.read_csv(made.folder / "rounds.csv")
    assert made.found["label_rate"] == near(rounds["queried"].mean())
    assert made.found["accuracy"] == near((rounds["prediction"] == rounds["label"]).mean())
    assert made.found["windows"][-1]["t"] == made.found["rounds"] == len(rounds) == 120
    assert made.found["parameters"] == {"b": "0.1"}


def test_a_recommendation_is_a_row_of_its_table_with_the_battery_life_that_follows(results):
    made = results("tune")
    found = made.found["recommendation"]
    assert found == json.loads((made.folder / "recommendation.json").read_text())
    rows = pd.read_csv(made.folder / "candidates.csv").set_index("policy")
    assert "psm:102.4" in rows.index
    assert rows.loc[found["policy"], "mean_mw"] == found["mean_mw"]
    assert found["battery_h"] == near(found["battery_mwh"] / found["mean_mw"])
    assert found["battery_h_low"] < found["battery_h"]
    assert made.found["sentence"].startswith(f"Take {found['policy']}: ")
