"""`lpsm reproduce`: records first, then claims; nothing lost, nothing silently replaced."""

import hashlib
import json
from copy import copy

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from experiments.cli import main
from experiments.papers import archive
from experiments.papers.kit import Setup
from experiments.papers.registry import PAPERS, all_experiments, choose
from experiments.report.results import HEADING, details_markdown, results_markdown

FAMILIES = (
    "adaptive/fig-5",
    "drift/fig-2-a",
    "ours/sensitivity",
    "rls/risk-bound",
    "thesis/counterexample-4-3",
    "thesis/fig-2-11",
    "thesis/table-4-1",
    "worst-case/fig-3-d",
)


def reproduce(*arguments):
    return CliRunner().invoke(main, ["reproduce", *arguments], standalone_mode=False)


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_paper_and_all_mean_their_experiments():
    everything = list(all_experiments().values())
    assert choose("all") == everything
    assert choose("thesis") == [one for one in everything if one.paper == "thesis"]
    with pytest.raises(ValueError, match="thesis/fig-2-6"):
        choose("thesis/fig-2-66")


@pytest.mark.parametrize("name", FAMILIES)
def test_a_smoke_run_of_each_family_gives_claims_pictures_and_a_page(name, tmp_path, monkeypatch):
    monkeypatch.delenv("LPSM_DATA", raising=False)
    ran = reproduce(name, "--size", "smoke", "--out", str(tmp_path), "--jobs", "1", "--stand-in", "--json")
    assert ran.exception is None
    (result,) = json.loads(ran.stdout)["results"]
    folder = tmp_path / name
    claims = pd.read_csv(folder / "claims.csv", keep_default_na=False)
    assert len(claims) == len(result["claims"]) == len(all_experiments()[name].claims)
    assert list(folder.glob("*.png"))
    page = (tmp_path / "RESULTS.md").read_text()
    assert page.startswith(HEADING)
    assert page.count(f"### {name}: ") == 1


@pytest.mark.long
@pytest.mark.parametrize("name", list(all_experiments()))
def test_every_smoke_run_gives_the_same_record_byte_for_byte_again(name, tmp_path):
    for out in ("first", "second"):
        ran = reproduce(name, "--size", "smoke", "--out", str(tmp_path / out), "--jobs", "1", "--stand-in", "--json")
        assert ran.exception is None
    assert bytes_of(tmp_path / "first" / name) == bytes_of(tmp_path / "second" / name)


def test_the_same_record_is_found_again_and_redrawn_but_another_folder_is_left_alone(tmp_path):
    experiment = all_experiments()["thesis/counterexample-4-3"]
    setup = Setup(size="smoke")
    first = archive.reproduce(experiment, setup, tmp_path)
    before = bytes_of(archive.folder_of(tmp_path, experiment))
    assert first.computed
    assert not archive.reproduce(experiment, setup, tmp_path).computed
    assert not archive.reproduce(experiment, setup, tmp_path, redraw=True).computed
    assert bytes_of(archive.folder_of(tmp_path, experiment)) == before
    other = archive.folder_of(tmp_path / "other", experiment)
    other.mkdir(parents=True)
    (other / "letter.txt").write_text("mine")
    with pytest.raises(ValueError, match="must be new or hold results of lpsm reproduce"):
        archive.reproduce(experiment, setup, tmp_path / "other")
    assert (other / "letter.txt").read_text() == "mine"


def test_redrawing_needs_a_record(tmp_path):
    with pytest.raises(ValueError, match="redraw needs a record"):
        archive.reproduce(all_experiments()["thesis/fig-2-5"], Setup(size="smoke"), tmp_path, redraw=True)


def test_redrawing_a_paper_leaves_out_what_has_no_record(tmp_path):
    archive.reproduce(all_experiments()["thesis/counterexample-4-3"], Setup(size="smoke"), tmp_path)
    ran = reproduce("thesis", "--redraw", "--out", str(tmp_path), "--json")
    assert ran.exception is None
    told = json.loads(ran.stdout)
    assert [one["experiment"] for one in told["results"]] == ["thesis/counterexample-4-3"]
    assert len(told["left_out"]) == len(choose("thesis")) - 1
    assert (
        f"redraw needs a record of thesis/fig-2-5, there is none in {tmp_path / 'thesis/fig-2-5'}" in told["left_out"]
    )


def test_a_record_of_another_program_is_summed_up_as_it_stands_but_not_drawn_again(tmp_path):
    old, other = (all_experiments()[f"thesis/{place}"] for place in ("counterexample-4-3", "fig-2-5"))
    setup = Setup(size="smoke")
    archive.reproduce(old, setup, tmp_path)
    manifest = archive.folder_of(tmp_path, old) / archive.MANIFEST
    listed = json.loads(manifest.read_text())
    for table in manifest.parent.glob("*.parquet"):
        frame = pd.read_parquet(table)
        frame.rename(columns={name: f"old {name}" for name in frame}).to_parquet(table)
        listed["files"][table.name] = hashlib.sha256(table.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(listed))
    archive.reproduce(other, setup, tmp_path)
    assert [result.experiment.name for result in archive.results(tmp_path)] == [other.name, old.name]
    before = bytes_of(archive.folder_of(tmp_path, old))
    with pytest.raises(ValueError, match="another version of the program made it"):
        archive.reproduce(old, setup, tmp_path, redraw=True)
    assert bytes_of(archive.folder_of(tmp_path, old)) == before


@pytest.mark.parametrize("more", [(), ("--redraw",)])
@pytest.mark.parametrize("absent", [False, True])
def test_a_damaged_record_is_said_to_be_one(tmp_path, more, absent):
    experiment = all_experiments()["thesis/counterexample-4-3"]
    archive.reproduce(experiment, Setup(size="smoke"), tmp_path)
    folder = archive.folder_of(tmp_path, experiment)
    table = folder / "points.parquet"
    content = table.read_bytes()
    table.unlink()
    if not absent:
        table.write_bytes(content[: len(content) // 2])
    before = bytes_of(folder)
    ran = reproduce(experiment.name, "--size", "smoke", "--out", str(tmp_path), *more)
    assert isinstance(ran.exception, ValueError)
    what = "is not there" if absent else "is not as it was written"
    assert str(ran.exception) == f"{table} {what}; delete {folder} and run again"
    assert bytes_of(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_damaged_claims_are_not_summed_up(tmp_path):
    experiment = all_experiments()["thesis/counterexample-4-3"]
    archive.reproduce(experiment, Setup(size="smoke"), tmp_path)
    (archive.folder_of(tmp_path, experiment) / archive.CLAIMS).write_text("")
    with pytest.raises(ValueError, match=r"claims\.csv is not as it was written; delete .* and run again"):
        archive.results(tmp_path)


def test_a_page_somebody_else_wrote_is_not_replaced(tmp_path):
    (tmp_path / "RESULTS.md").write_text("my results")
    ran = reproduce("thesis/counterexample-4-3", "--out", str(tmp_path))
    assert "was not written by lpsm reproduce" in str(ran.exception)
    assert (tmp_path / "RESULTS.md").read_text() == "my results"


@pytest.mark.parametrize("name", ["afile", "afile/deeper"])
def test_an_output_that_is_a_file_is_said_to_be_one(tmp_path, name):
    (tmp_path / "afile").write_text("mine")
    ran = reproduce("thesis/counterexample-4-3", "--size", "smoke", "--out", str(tmp_path / name))
    assert str(ran.exception) == f"the output must be a folder, {tmp_path / 'afile'} is a file"
    assert (tmp_path / "afile").read_text() == "mine"


def test_an_interrupted_experiment_keeps_its_finished_runs_and_goes_on(tmp_path, monkeypatch):
    experiment = all_experiments()["thesis/theorem-7"]
    setup = Setup(size="smoke")
    whole = archive.reproduce(experiment, setup, tmp_path / "whole")
    calls = []

    def interrupted(task):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(task)
        return experiment.run(task)

    other = copy(experiment)
    other.run = interrupted
    with pytest.raises(KeyboardInterrupt, match="goes on from there"):
        archive.reproduce(other, setup, tmp_path / "broken")
    ran = []

    def counted(task):
        ran.append(task)
        return experiment.run(task)

    other.run = counted
    archive.reproduce(other, setup, tmp_path / "broken")
    assert len(ran) == len(whole.configuration["tasks"]) - 2
    folder = archive.folder_of(tmp_path, experiment).relative_to(tmp_path)
    assert bytes_of(tmp_path / "whole" / folder) == bytes_of(tmp_path / "broken" / folder)


def test_a_record_carries_its_configuration_and_versions(tmp_path):
    from pyarrow import parquet

    experiment = all_experiments()["thesis/counterexample-4-3"]
    archive.reproduce(experiment, Setup(size="smoke", seed=4), tmp_path)
    note = json.loads(parquet.read_schema(archive.folder_of(tmp_path, experiment) / "points.parquet").metadata[b"lpsm"])
    assert note["configuration"]["seed"] == 4
    assert note["versions"]["numpy"] == np.__version__


def test_missing_data_says_what_is_wanted_and_what_stands_in(tmp_path):
    for experiment in all_experiments().values():
        if experiment.data and not experiment.data.unasked:
            with pytest.raises(FileNotFoundError, match=experiment.data.folder):
                experiment.setup(Setup(data=tmp_path))
        elif experiment.data:
            assert experiment.material(experiment.setup(Setup(data=tmp_path))) == experiment.data.stand_in


def test_a_claim_that_fails_stays_on_the_page_with_its_reason():
    claim = {
        "statement": "all is well",
        "printed": "1",
        "ours": "2",
        "holds": False,
        "tolerance": "",
        "why_not": "it is",
    }
    result = {"experiment": "thesis/x", "about": "a", "size": "full", "seed": 0, "material": "m", "runs": 1}
    results = [{**result, "claims": [claim, {**claim, "tolerance": "not a test: it is so", "holds": True}]}]
    page = results_markdown(results, PAPERS)
    assert "2 claims, of which 0 hold and 1 do not; 1 more say of themselves that they can hardly fail" in page
    assert "### thesis/x: a\n\n- □ all is well: 2 (1)\n- · all is well: 2 (1)\n" in page
    assert "| Monteleoni 2006 | 0 | 1 |" in page
    assert "*all is well*: it is." in details_markdown(results, "thesis", PAPERS["thesis"])


def test_the_page_has_a_short_line_a_claim_and_the_details_all_of_it():
    ours = "a 1.00 ± 0.20 (of all), " + ", ".join(f"name {i} {i}.50 (beside)" for i in range(20))
    claim = {"statement": "s", "printed": "", "ours": ours, "holds": True, "tolerance": "t", "why_not": ""}
    result = {"experiment": "rls/x", "about": "a", "size": "full", "seed": 0, "material": "m", "runs": 1}
    short = results_markdown([{**result, "claims": [claim]}], PAPERS)
    assert "\n- ■ s: a 1.00 ± 0.20, name 0 0.50 ...\n" in short
    assert ours in details_markdown([{**result, "claims": [claim]}], "rls", PAPERS["rls"])


def test_claims_that_differ_in_a_few_words_share_a_line_and_each_keeps_its_verdict():
    statements = {
        "web: it uses less energy than the other": ("1", True, ""),
        "push: it uses less energy than the other": ("2", False, ""),
        "push: it is quicker than LPSM at every delay": ("3", True, "all"),
        "push: it is quicker than dynamic PSM at every delay": ("4", False, "most"),
        "push: it is quicker than anything that was ever thought of at every delay": ("5", True, "all"),
        "web: 2 %": ("6", True, "2 %"),
        "push: 2 %": ("7", True, ""),
    }
    claims = [
        {"statement": one, "printed": printed, "ours": ours, "holds": holds, "tolerance": "t", "why_not": ""}
        for one, (ours, holds, printed) in statements.items()
    ]
    result = {"experiment": "rls/x", "about": "a", "size": "full", "seed": 0, "material": "m", "runs": 1}
    page = results_markdown([{**result, "claims": claims}], PAPERS)
    assert [line for line in page.splitlines() if line.startswith("- ")] == [
        "- it uses less energy than the other: ■ web: 1; □ push: 2",
        "- push: it is quicker than – at every delay: ■ LPSM: 3 (all); □ dynamic PSM: 4 (most)",
        "- ■ push: it is quicker than anything that was ever thought of at every delay: 5 (all)",
        "- ■ web: 2 %: 6",
        "- ■ push: 2 %: 7",
    ]


def test_what_all_records_have_in_common_is_said_once_and_the_rest_of_each():
    claim = {"statement": "s", "printed": "", "ours": "1", "holds": True, "tolerance": "t", "why_not": ""}
    one = {
        "experiment": "rls/x",
        "about": "a",
        "size": "full",
        "seed": 7,
        "material": "m",
        "runs": 3,
        "claims": [claim],
    }
    one["made"] = "commit abc"
    other = {**one, "experiment": "rls/y", "runs": 5}
    short, long = results_markdown([one, other], PAPERS), details_markdown([one, other], "rls", "the survey")
    for page in (short, long):
        assert page.count("Every record: full size, from seed 7, commit abc.") == 1
        assert page.count("commit abc") == page.count("seed 7") == 1
    assert "A. 3 runs, data: m." in long
    assert "A. 5 runs, data: m." in long
    other = {**other, "seed": 8, "made": "program 123"}
    short, long = results_markdown([one, other], PAPERS), details_markdown([one, other], "rls", "the survey")
    assert "### rls/x: a (from seed 7, commit abc)\n" in short
    assert "### rls/y: a (from seed 8, program 123)\n" in short
    assert "A. 3 runs from seed 7, data: m, commit abc." in long
    assert "A. 5 runs from seed 8, data: m, program 123." in long
    assert "Every record: full size." in short
    assert "Every record: full size." in long
    third = {**other, "experiment": "rls/z"}
    short = results_markdown([one, other, third], PAPERS)
    assert "Every record that says nothing else: full size, from seed 8, program 123." in short
    assert "### rls/x: a (from seed 7, commit abc)\n" in short
    assert "### rls/z: a\n" in short


def test_a_commit_is_named_beside_the_records_of_its_program_alone(tmp_path, monkeypatch):
    experiment = all_experiments()["thesis/counterexample-4-3"]
    result = archive.reproduce(experiment, Setup(size="smoke"), tmp_path)
    digest = result.configuration["program_sha256"]
    monkeypatch.setattr(archive, "program_at", {"mine": digest, "theirs": "0" * 64}.__getitem__)
    assert [archive.collect([result], commits)[0]["made"] for commits in (["theirs", "mine"], ["theirs"], [])] == [
        "commit mine", *2 * [f"program {digest[:12]}"]
    ]  # fmt: skip


def test_the_program_of_a_commit_is_that_of_its_files(tmp_path):
    with pytest.raises(ValueError, match="commit must be one of the repository that lpsm lies in, got 'no-such'"):
        archive.program_at("no-such")
