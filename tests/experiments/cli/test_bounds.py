import json

import numpy as np
import pandas as pd
import pytest

from experiments.presets import LEARNERS, PROCESSES
from experiments.study import trials as bounds_trials
from lpsm import synthetic
from lpsm.bounds import expert_report
from tests.tables import cases_of


def test_one_trial_prints_every_statement_about_every_learner(lpsm):
    shown = lpsm("bounds", "--rounds", "30", "--experts", "3", "--process", "piecewise")
    assert shown.exit_code == 0
    for word in ("Theorem 1", "Theorem 2", "Lemma 1", "Claim 1", "Corollary 1", "markov-share", "T = 30, n = 3"):
        assert word in shown.stdout
    assert " 0 violated." in shown.stdout
    first, again, other = (lpsm("bounds", "--seed", seed, "--trials", "2").stdout for seed in "445")
    assert first == again != other


def test_json_is_one_object_whatever_the_process(lpsm):
    assert PROCESSES == synthetic.PROCESSES
    for process in (*PROCESSES, "random"):
        shown = lpsm("bounds", "--json", "--trials", "2", "--process", process)
        found = json.loads(shown.stdout, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
        assert found["violated"] == 0
        assert {row["learner"] for row in found["statements"]} == set(LEARNERS)
    one = json.loads(lpsm("bounds", "--json", "--rounds", "12").stdout)
    assert {row["rounds"] for row in one["statements"]} == {12}


ROWS = np.array([[0, 1], [1, 0.5], [np.inf, 0]])
TIMES = pd.date_range("2024-01-01", periods=3, freq="h", name="time")


def test_losses_are_read_from_text_from_npy_and_as_pandas_writes_them(lpsm, tmp_path):
    frame = pd.DataFrame(ROWS, columns=["steady", "last week, again"])
    (tmp_path / "losses.txt").write_text("# two experts\n0 1\n1  0.5\n\ninf 0\n")
    frame.to_csv(tmp_path / "numbers.csv")
    frame.set_index(TIMES).to_csv(tmp_path / "times.csv")
    frame.to_csv(tmp_path / "none.csv", index=False)
    np.save(tmp_path / "losses.npy", ROWS)
    shown = {lpsm("bounds", "--losses", path, "--alpha", "0.25").stdout for path in tmp_path.iterdir()}
    assert len(shown) == 1
    assert "process given, T = 3, n = 2, alpha of fixed-share = 0.25" in shown.pop()
    assert "markov" not in lpsm("bounds", "--losses", tmp_path / "losses.npy", "--learner", "fixed-share").stdout


def test_a_frame_whose_columns_nobody_named_is_read_or_refused(lpsm, complaint, tmp_path):
    path = tmp_path / "losses.csv"
    frame = pd.DataFrame(ROWS)
    for table, index in ((frame, True), (frame.set_index(TIMES), True), (frame + 0.5, False), (frame[:2], True)):
        table.to_csv(path, index=index)
        assert f"T = {len(table)}, n = 2" in lpsm("bounds", "--losses", path).stdout
    path.write_text("0,1\n0.5,1\n0,inf\n")  # 0 and 0.5 in one column: not as pandas writes
    assert "T = 3, n = 2" in lpsm("bounds", "--losses", path).stdout
    path.write_text(",0,1\n,0.5,1\n0,,2\n")
    assert "T = 3, n = 3" in lpsm("bounds", "--sleepers", "--losses", path).stdout
    path.write_text("0,1\n1,0\n0,1\n")
    assert "line 1: columns must have names, for 0,1 may be their numbers" in complaint("bounds", "--losses", path)


def test_experts_that_sleep_are_missing_losses_if_one_says_so(lpsm, complaint, tmp_path):
    rows = np.array([[0.0, 1.0], [np.nan, 0.5], [0.25, np.nan], [0.5, 0.1]])
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(tmp_path / "losses.csv", index=False)
    np.save(tmp_path / "losses.npy", rows)
    of_table, of_matrix = (lpsm("bounds", "--sleepers", "--losses", tmp_path / name).stdout
        for name in ("losses.csv", "losses.npy"))  # fmt: skip
    assert of_table == of_matrix
    assert "against an expert while it is awake" in of_table
    assert "Learn-alpha against k segments while they are awake" in of_table
    assert " 0 violated." in of_table
    assert "losses must be numbers" in complaint("bounds", "--losses", tmp_path / "losses.csv")
    (tmp_path / "losses.csv").write_text("a,b\n1,2\n,nan\n")
    said = complaint("bounds", "--sleepers", "--losses", tmp_path / "losses.csv")
    assert "round 2: an expert must be awake, all are asleep" in said


@cases_of("content message", r"""
b"\xc2\x85,\n" -> losses must hold at least one round
b"a,b\n0,1\n1,x\n" -> line 3: losses must be numbers, got ['1', 'x']
b",a,b\n0,0,1\n1,2\n" -> line 3: every line must have 3 columns, as the first has, got 2
b"0 1\n1 x\n" -> line 2: losses must be numbers, got ['1', 'x']
b"0 1\n1 -2\n" -> losses must be at least 0 and at most 1e+290, or inf, got -2
b"0 inf\n1 1e308\n" -> or inf, got 1e+308 ; b"nan 1\n" -> NaN ; b"" -> must hold an example, got none
bytes(range(1, 256)) -> must be
""")  # fmt: skip
def test_bad_losses_are_one_line_that_names_the_file(complaint, tmp_path, content, message):
    for name in ("losses.txt", "losses.npy"):
        path = tmp_path / name
        path.write_bytes(content)
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


def test_trials_depend_on_their_index_and_seed_alone_and_each_is_counted_once():
    rows = [bounds_trials.play(bounds_trials.Trial(index=index, seed=1)) for index in range(12)]
    assert rows[3] == bounds_trials.play(bounds_trials.Trial(index=3, seed=1))
    found = bounds_trials.summary(pd.DataFrame(row for own in rows for row in own))
    assert (found["void"] + found["vacuous"] + found["firm"] == found["checked"]).all()
    assert (found["checked"] == 12).all()
