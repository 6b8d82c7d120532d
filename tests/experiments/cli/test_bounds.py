import json

import numpy as np
import pandas as pd
import pytest

from experiments.presets import LEARNERS, PROCESSES
from experiments.study import trials as bounds_trials
from lpsm import synthetic
from lpsm.bounds import expert_report


def test_one_trial_prints_every_statement_about_every_learner(lpsm):
    shown = lpsm("bounds", "--rounds", "30", "--experts", "3", "--process", "piecewise")
    assert shown.exit_code == 0
    for word in ("Theorem 1", "Theorem 2", "Lemma 1", "Claim 1", "Corollary 1", "markov-share", "T = 30, n = 3"):
        assert word in shown.stdout
    assert " 0 violated." in shown.stdout


def test_what_may_be_drawn_is_what_the_library_draws():
    assert PROCESSES == synthetic.PROCESSES


@pytest.mark.parametrize("process", [*PROCESSES, "random"])
def test_json_is_one_object_whatever_the_process(lpsm, process):
    shown = lpsm("bounds", "--json", "--trials", "2", "--process", process)
    found = json.loads(shown.stdout, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert found["violated"] == 0
    assert {row["learner"] for row in found["statements"]} == set(LEARNERS)
    one = json.loads(lpsm("bounds", "--json", "--process", process, "--rounds", "12").stdout)
    assert {row["rounds"] for row in one["statements"]} == {12}


def test_the_same_seed_prints_the_same_and_another_does_not(lpsm):
    first, again, other = (lpsm("bounds", "--seed", seed, "--trials", "2").stdout for seed in ("4", "4", "5"))
    assert first == again != other


def test_losses_of_ones_own_are_taken_from_text_and_from_npy(lpsm, tmp_path):
    text, binary = tmp_path / "losses.csv", tmp_path / "losses.npy"
    text.write_text("# two experts\n0,1\n1 0.5\n\ninf, 0\n")
    np.save(binary, np.array([[0, 1], [1, 0.5], [np.inf, 0]]))
    assert "process given, T = 3, n = 2" in lpsm("bounds", "--losses", text).stdout
    of_text, of_binary = (
        lpsm("bounds", "--losses", path, "--learner", "fixed-share", "--alpha", "0.25").stdout
        for path in (text, binary)
    )
    assert of_text == of_binary
    assert "fixed-share" in of_text
    assert "markov-share" not in of_text


@pytest.mark.parametrize("kind", ["numbers", "times", "named times", "none"])
def test_losses_are_read_as_pandas_writes_them(lpsm, tmp_path, kind):
    rows = np.array([[0, 1], [1, 0.5], [0.25, 0.0]])
    frame = pd.DataFrame(rows, columns=["steady", "last week, again"])
    if "times" in kind:
        frame.index = pd.date_range("2024-01-01", periods=3, freq="h", name="time" if "named" in kind else None)
    frame.to_csv(tmp_path / "frame.csv", index=kind != "none")
    np.save(tmp_path / "plain.npy", rows)
    of_frame, of_matrix = (lpsm("bounds", "--losses", tmp_path / name).stdout for name in ("frame.csv", "plain.npy"))
    assert of_frame == of_matrix
    assert "T = 3, n = 2" in of_frame


def test_experts_that_sleep_are_missing_losses_if_one_says_so(lpsm, complaint, tmp_path):
    rows = np.array([[0.0, 1.0], [np.nan, 0.5], [0.25, np.nan], [0.5, 0.1]])
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(tmp_path / "losses.csv", index=False)
    np.save(tmp_path / "losses.npy", rows)
    of_table, of_matrix = (
        lpsm("bounds", "--sleepers", "--losses", tmp_path / name).stdout for name in ("losses.csv", "losses.npy")
    )
    assert of_table == of_matrix
    assert "against an expert while it is awake" in of_table
    assert "Learn-alpha against k segments while they are awake" in of_table
    assert " 0 violated." in of_table
    assert "losses must be numbers" in complaint("bounds", "--losses", tmp_path / "losses.csv")
    assert "it needs --losses" in complaint("bounds", "--sleepers")
    (tmp_path / "losses.csv").write_text("a,b\n1,2\n,nan\n")
    said = complaint("bounds", "--sleepers", "--losses", tmp_path / "losses.csv")
    assert "round 2: an expert must be awake, all are asleep" in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n0,1\n1,x\n", "line 3: losses must be numbers, got '1,x'"),
        (",a,b\n0,0,1\n1,2\n", "line 3: every round must have 2 losses, got 1"),
        ("0 1\n1 x\n", "line 2: losses must be numbers, got '1 x'"),
        ("0 1\n1\n", "line 2: every round must have 2 losses, got 1"),
        ("0 1\n1 -2\n", "losses must be at least 0, got -2.0"),
        ("0 inf\n1 1e308\n", "losses must be at most 1e+290, or inf, got 1e+308"),
        ("nan 1\n", "NaN"),
        ("", "losses must have shape"),
        (bytes(range(1, 256)), "must be"),
    ],
)
@pytest.mark.parametrize("name", ["losses.txt", "losses.npy"])
def test_bad_losses_are_one_line_that_names_the_file(complaint, tmp_path, content, message, name):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    line = complaint("bounds", "--losses", path)
    assert str(path) in line
    assert ("must be" if name.endswith("npy") else message) in line
    assert not any(word in line for word in ("codec", "pickle", "magic"))


def test_a_violated_statement_ends_with_status_one(lpsm, monkeypatch):
    row = expert_report.Row("Theorem 1", "upper", 2.0, 1.0, -1.0, False, "violated")
    monkeypatch.setattr(expert_report, "rows", lambda *_, **__: [row])
    shown = lpsm("bounds", "--rounds", "5")
    assert shown.exit_code == 1
    assert "4 violated" in shown.stdout


def test_a_trial_depends_on_its_index_and_seed_alone():
    alone = bounds_trials.play(bounds_trials.Trial(index=3, seed=1))
    bounds_trials.play(bounds_trials.Trial(index=2, seed=1))
    assert alone == bounds_trials.play(bounds_trials.Trial(index=3, seed=1))


def test_the_summary_counts_every_report_once():
    reports = pd.DataFrame(row for index in range(12) for row in bounds_trials.play(bounds_trials.Trial(index=index)))
    found = bounds_trials.summary(reports)
    assert (found["void"] + found["vacuous"] + found["firm"] == found["checked"]).all()
    assert (found["checked"] == 12).all()
