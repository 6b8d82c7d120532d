"""`lpsm reproduce`: records first, then claims; nothing lost, nothing silently replaced."""

import json
from copy import copy

import pandas as pd
import pytest

from experiments.papers import archive
from experiments.papers.claims import Claim
from experiments.papers.kit import Setup
from experiments.papers.predicates import above
from experiments.papers.registry import PAPERS, all_experiments, choose
from experiments.report.results import HEADING, details_markdown, results_markdown
from tests.experiments.makers import contents
from tests.tables import cases_of, each, named, value_error

SMOKE = Setup(size="smoke")
POINTS = "thesis/counterexample-4-3"  # the quickest experiment
FAMILIES = ("thesis/fig-2-11", "worst-case/fig-3-d")  # one on generated traffic, one on generated news
CLAIM = named("""
statement = 's' ; printed = '' ; ours = '1' ; holds = True ; tolerance = 't' ; why_not = ''""")
RECORD = {"experiment": "rls/x", "about": "a", "size": "full", "seed": 0, "data": "m", "runs": 1, "claims": [CLAIM]}


@pytest.fixture
def points(tmp_path):
    """The quickest experiment, its record in `tmp_path`, and the folder of that."""
    experiment = all_experiments()[POINTS]
    return experiment, archive.reproduce(experiment, SMOKE, tmp_path), tmp_path / POINTS


@pytest.fixture
def reproduce(lpsm, tmp_path):
    """Run the command with small runs into `tmp_path`."""
    return lambda *words, out=tmp_path: lpsm("reproduce", *words, "--size", "smoke", "--jobs", "1", "--out", out)


def pages(*records):
    """The page of all papers, and that of the survey."""
    return results_markdown(records, PAPERS), details_markdown(records, "rls", PAPERS["rls"])


def test_a_paper_and_all_mean_their_experiments():
    everything = list(all_experiments().values())
    assert choose("all") == everything
    assert choose("thesis") == [one for one in everything if one.paper == "thesis"]
    with value_error("thesis/fig-2-6"):
        choose("thesis/fig-2-66")
    by_name = all_experiments()
    assert [by_name[f"thesis/{one}"].minutes for one in ("fig-4-5", "counterexample-4-3", "svm")] == [0.0, 1 / 60, 5.0]
    assert 60 < sum(one.minutes for one in everything) < 600


def test_how_long_many_experiments_take_is_said_before_they_run(lpsm, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "reproduce", lambda *_, **__: (_ for _ in ()).throw(archive.MissingRecordError("no")))
    arguments = ("thesis/fig-2-10", "thesis/svm", "--stand-in", "--out", tmp_path)
    said = "lpsm: 2 experiments, about 0.1 h of one processor without records; what is finished is kept"
    assert said in lpsm("reproduce", *arguments).stderr


@each("name", FAMILIES)
def test_a_smoke_run_of_each_family_gives_claims_pictures_and_a_page(name, reproduce, tmp_path, monkeypatch):
    monkeypatch.delenv("LPSM_DATA", raising=False)
    ran = reproduce(name, "--stand-in", "--json")
    assert ran.exit_code == 0, ran.output
    (result,) = json.loads(ran.stdout)["results"]
    claims = pd.read_csv(tmp_path / name / "claims.csv", keep_default_na=False)
    assert len(claims) == len(result["claims"]) == len(all_experiments()[name].claims)
    assert list((tmp_path / name).glob("*.png"))
    page = (tmp_path / "RESULTS.md").read_text()
    assert page.startswith(HEADING)
    assert page.count(f"\n|{name.partition('/')[2]}|") == len(claims)


@pytest.mark.long
@each("name", list(all_experiments()))
def test_every_smoke_run_gives_the_same_record_byte_for_byte_again(name, reproduce, tmp_path):
    for out in ("first", "second"):
        ran = reproduce(name, "--stand-in", out=tmp_path / out)
        assert ran.exit_code == 0, ran.output
    assert contents(tmp_path / "first" / name) == contents(tmp_path / "second" / name)
    assert pd.read_csv(tmp_path / "first" / name / "claims.csv", keep_default_na=False)["ours"].ne("").all()


def test_the_same_record_is_found_again_and_redrawn_but_another_folder_is_left_alone(tmp_path, points):
    experiment, first, folder = points
    before = contents(folder)
    assert first.computed
    assert not archive.reproduce(experiment, SMOKE, tmp_path).computed
    assert not archive.reproduce(experiment, SMOKE, tmp_path, redraw=True).computed
    assert contents(folder) == before
    other = tmp_path / "other" / POINTS
    other.mkdir(parents=True)
    (other / "letter.txt").write_text("mine")
    with value_error("must be new or hold results of lpsm reproduce"):
        archive.reproduce(experiment, SMOKE, tmp_path / "other")
    assert contents(other) == {"letter.txt": b"mine"}


def test_redrawing_a_paper_leaves_out_what_has_no_record(lpsm, tmp_path, points):
    answer = json.loads(lpsm("reproduce", "thesis", "--redraw", "--out", tmp_path, "--json").stdout)
    assert [one["experiment"] for one in answer["results"]] == [POINTS]
    assert len(answer["left_out"]) == len(choose("thesis")) - 1
    there = tmp_path / "thesis" / "fig-2-5"
    assert f"redraw needs a record of thesis/fig-2-5, there is none in {there}" in answer["left_out"]


def test_a_record_of_another_program_is_summed_up_as_it_stands_but_not_drawn_again(tmp_path, points):
    old, _, folder = points
    now, before = copy(old), contents(folder)
    now.claims = [Claim("of another table", above(lambda polls: polls["slept_ms"]))]
    assert [result.experiment.name for result in archive.results(tmp_path)] == [old.name]
    with value_error("has no 'polls': another version of the program made it"):
        archive.reproduce(now, SMOKE, tmp_path, redraw=True)
    assert contents(folder) == before


@cases_of("more absent", "(), True ; ('--redraw',), False")
def test_a_damaged_record_is_said_to_be_one_and_is_not_summed_up(complaint, tmp_path, points, more, absent):
    table = points[2] / "points.parquet"
    content = table.read_bytes()
    table.unlink() if absent else table.write_bytes(content[: len(content) // 2])
    before = contents(tmp_path)
    what = "is not there" if absent else "is not as it was written"
    said = complaint("reproduce", POINTS, "--size", "smoke", "--out", tmp_path, *more)
    assert f"{table} {what}; delete {points[2]} and run again" in said
    assert contents(tmp_path) == before
    (points[2] / archive.CLAIMS).write_text("")
    with value_error(r"claims\.csv is not as it was written; delete .* and run again"):
        archive.results(tmp_path)


def test_a_page_somebody_else_wrote_is_not_replaced(complaint, tmp_path):
    (tmp_path / "RESULTS.md").write_text("my results")
    assert "was not written by lpsm reproduce" in complaint("reproduce", POINTS, "--out", tmp_path)
    assert (tmp_path / "RESULTS.md").read_text() == "my results"


def test_an_interrupted_experiment_keeps_its_finished_runs_and_goes_on(tmp_path):
    experiment = all_experiments()["thesis/theorem-7"]
    whole = archive.reproduce(experiment, SMOKE, tmp_path / "whole")
    other, ran = copy(experiment), []

    def interrupted(task):
        ran.append(task)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return experiment.run(task)

    other.run = interrupted
    with pytest.raises(KeyboardInterrupt, match="goes on from there"):
        archive.reproduce(other, SMOKE, tmp_path / "broken")
    archive.reproduce(other, SMOKE, tmp_path / "broken")
    assert len(ran) == len(whole.configuration["tasks"]) + 1
    assert contents(tmp_path / "whole") == contents(tmp_path / "broken")


def test_missing_data_says_what_is_wanted_and_what_stands_in_is_said_everywhere(reproduce, tmp_path, monkeypatch):
    for experiment in all_experiments().values():
        if experiment.data and not experiment.data.unasked:
            with pytest.raises(FileNotFoundError, match=experiment.data.folder):
                experiment.setup(Setup(data=tmp_path))
    monkeypatch.setenv("LPSM_DATA", "/nonexistent")
    ran = reproduce("thesis/fig-2-9")
    assert ran.exit_code == 0, ran.output
    assert "lpsm: thesis/fig-2-9: bu-www-client is not there" in ran.stderr
    folder, instead = tmp_path / "thesis" / "fig-2-9", "generated browsing over a dial-up line"
    assert json.loads((folder / "manifest.json").read_text())["configuration"]["material"] == instead
    for picture in folder.glob("*.svg"):
        assert f"on {instead}, in place of bu-www-client" in picture.read_text()


# -- the pages of results -----------------------------------------------------------------------------------------
def test_a_claim_that_fails_comes_first_with_the_figure_that_decides_and_its_reason():
    untested = {**CLAIM, "statement": "all is well", "tolerance": "not a test: it is so"}
    bad = {**CLAIM, "statement": "f", "short": "b 2 (worst of 3)", "holds": False, "why_not": "it is"}
    good = {**CLAIM, "statement": "s | s", "ours": "1/(c = 2) 3 (a (b))"}
    own = {**RECORD, "experiment": "ours/x", "claims": [{**CLAIM, "statement": "a goal", "holds": False}]}
    page, details = pages({**RECORD, "claims": [untested, good, bad]}, own)
    assert "What is claimed: 1 hold, 2 fail; Printed levels: 0 hold, 0 fail; " in page
    assert (
        "|x|m|f||b 2 (worst of 3)|fails|\n|x|m|s \\| s||1/(c = 2) 3 (a (b))|holds|\n|x|m|all is well||1|not a test|\n"
    ) in page
    assert "- *f* (t): it is.\n- *all is well*: it is so." in details
    assert "|beyond the papers|0 / 1 / 0||||0|" in page  # goals of our own are counted
    assert "a goal" not in page
    assert "a goal" in details_markdown([own], "ours", PAPERS["ours"])
    assert "All claims hold in rls/x (1)." in pages(RECORD)[1]


def test_what_all_records_have_in_common_is_said_once_and_the_rest_of_each():
    one = {**RECORD, "seed": 7, "runs": 3, "made": "commit abc", "claims": [{**CLAIM, "holds": False}]}
    other = {**one, "experiment": "rls/y", "runs": 5}
    short, long = pages(one, other)
    for page in (short, long):
        assert page.count("Every record: full size, from seed 7, commit abc.") == page.count("commit abc") == 1
    assert "A. 3 runs, data: m." in long
    other = {**other, "seed": 8, "made": "program 123"}
    short, long = pages(one, other)
    assert "- rls/y: full size, from seed 8, program 123\n" in short
    assert "A. Full size, 5 runs from seed 8, data: m, program 123." in long
    short, _ = pages(one, other, {**other, "experiment": "rls/z"})
    assert "Every record that says nothing else: full size, from seed 8, program 123." in short
    assert "- rls/x: full size, from seed 7, commit abc\n" in short
    assert "- rls/z" not in short


def test_a_commit_is_named_beside_the_records_of_its_program_alone(points, monkeypatch):
    digest = points[1].configuration["program_sha256"]
    with value_error("commit must be one of the repository that lpsm lies in, got 'no-such'"):
        archive.program_at("no-such")
    monkeypatch.setattr(archive, "program_at", {"mine": digest, "theirs": "0" * 64}.__getitem__)
    for commits, made in ((["theirs", "mine"], "commit mine"), (["theirs"], f"program {digest[:12]}")):
        assert archive.collect([points[1]], commits)[0]["made"] == made
