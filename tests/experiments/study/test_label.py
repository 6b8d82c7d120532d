"""What `lpsm label` counts is what a person would count, and what it cannot take it says with its place."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.datasets.stream import Stream
from experiments.study.label import LabelConfig, label, parse_parameters, problems
from lpsm import samplers


def drawn(rounds=300, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, d))
    return X, np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=rounds) >= 0, 1, -1)


@pytest.fixture
def table(tmp_path):
    X, y = drawn()
    named = pd.DataFrame(X, columns=[*"abcd"]).assign(kind=np.where(y > 0, "spam", "ham"))
    named.to_csv(tmp_path / "stream.csv", index=False)
    return tmp_path / "stream.csv"


def by_hand(predicted, positive):
    """2PR/(P+R) as printed, by precision and recall."""
    hit = sum(p and k for p, k in zip(predicted, positive, strict=True))
    if not sum(predicted) and not sum(positive):
        return float("nan")
    if not hit:
        return 0.0
    precision, recall = hit / sum(predicted), hit / sum(positive)
    return 2 * precision * recall / (precision + recall)


def test_a_dense_file_is_standardised_by_the_rows_so_far_unless_told_not_to(tmp_path, lpsm):
    X, y = drawn(rounds=80)
    accuracy = {}
    for name, rows in (("one", X), ("other", 1000.0 * X + 5e4)):
        np.savetxt(tmp_path / name, np.column_stack([rows, y]), delimiter=",", fmt=["%.17g"] * 4 + ["%d"])
        for option in ((), ("--scale",), ("--no-scale",)):
            result = lpsm("label", tmp_path / name, "--algorithm", "ssmd", "--json", *option)
            accuracy[name, *option] = json.loads(result.stdout)["accuracy"]
    assert accuracy["other",] == accuracy["other", "--scale"] == accuracy["one", "--scale"]  # units do not matter
    assert accuracy["other", "--scale"] > accuracy["other", "--no-scale"] + 0.05


def test_standardisation_is_that_of_the_rows_so_far():
    X, y = drawn(rounds=30)
    X[:, 1] = 7.0
    stream = Stream(name="s", X=X, y=y, classes=("a", "b"), lines=np.zeros(0, dtype=np.int64))
    scaled = stream.scaled().X
    assert (scaled[0] == 1.0).all()
    assert not scaled[1:, 1].any()
    for t in range(1, 30):
        for j in (0, 2, 3):
            so_far = X[: t + 1, j]
            assert scaled[t, j] == pytest.approx((X[t, j] - so_far.mean()) / so_far.std(), rel=1e-9)


def test_a_budget_is_kept_and_asking_for_nearly_all_or_none_is_said(table, lpsm):
    result = lpsm("label", table, "--algorithm", "ssmd", "--budget", "7", "--json")
    assert json.loads(result.stdout)["classes"][0]["queries"] == 7
    assert "asked for" not in result.stderr
    greedy = lpsm("label", table, "--algorithm", "ssmd", "--param", "K=1e9")
    assert "lpsm: ssmd asked for" in greedy.stderr
    assert "asks for fewer" in greedy.stderr
    shy = lpsm("label", table, "--algorithm", "sop-fixed-bias", "--param", "rate=0.0")
    assert "asked for only 0 of" in shy.stderr
    assert "asked for" not in lpsm("label", table, "--algorithm", "sop").stderr


def test_a_sampler_that_stopped_asking_early_is_told_of(tmp_path, lpsm):
    X, y = drawn(rounds=600)
    y[:300] = 1  # all of one class, until a small K asks no more
    np.savez(tmp_path / "late.npz", X=np.column_stack([X, np.ones(600)]), y=y)
    common = ("label", tmp_path / "late.npz", "--no-scale", "--window", "50")
    small = lpsm(*common, "--param", "K=1e-4").stderr
    assert "ss asked for no label after round" in small
    assert "--rate, asks for more" in small
    assert "asked for" not in lpsm(*common, "--rate", "0.1").stderr


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999), window=st.integers(1, 90), key=st.sampled_from(["ssmd", "perceptron-ss", "ss"]))
def test_every_window_is_what_counting_its_rounds_gives(seed, window, key):
    X, y = drawn(rounds=60, seed=seed)
    config = LabelConfig(algorithm=key, parameters={}, window=window, seed=seed)
    outcome = label(X, problems((y > 0).astype(int), ("no", "yes")), config)
    rows = outcome.rounds
    assert outcome.windows["t"].iloc[-1] == 60
    for window_row in outcome.windows.to_dict("records"):
        for suffix, start in (("", window_row["t"] - min(window, 60)), ("_so_far", 0)):
            inside = rows[(rows["t"] > start) & (rows["t"] <= window_row["t"])]
            f = by_hand(list(inside["prediction"] > 0), list(inside["label"] > 0))
            assert window_row[f"accuracy{suffix}"] == pytest.approx((inside["prediction"] == inside["label"]).mean())
            assert window_row[f"label_rate{suffix}"] == pytest.approx(inside["queried"].mean())
            assert window_row[f"f_measure{suffix}"] == pytest.approx(f, nan_ok=True)


def test_the_run_is_the_samplers_own_and_a_label_not_asked_for_changes_nothing():
    X, y = drawn()
    config = LabelConfig(algorithm="perceptron-ss", parameters={"b": 0.05}, seed=7)
    rows = label(X, problems((y > 0).astype(int), ("no", "yes")), config).rounds
    rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(3, 0)))
    log = samplers.make("perceptron-ss", 4, b=0.05, rng=rng).run(X, y)
    np.testing.assert_array_equal(rows["margin"], log.margin)
    np.testing.assert_array_equal(rows["queried"], log.queried)
    lies = np.where(log.queried, y, -y)
    again = label(X, problems((lies > 0).astype(int), ("no", "yes")), config).rounds
    np.testing.assert_array_equal(rows["prediction"], again["prediction"])


def test_one_against_the_rest_answers_with_the_largest_margin():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=400)
    X = np.eye(3)[y] + 0.4 * rng.normal(size=(400, 3))
    config = LabelConfig(algorithm="ssmd", parameters={"K": 0.5})
    outcome = label(X, problems(y, ("a", "b", "c"), one_vs_rest=True), config)
    margins = [samplers.make("ssmd", 3, K=0.5).run(X, np.where(y == k, 1, -1)).margin for k in range(3)]
    assert outcome.summary["accuracy"] == pytest.approx(np.mean(np.argmax(margins, axis=0) == y))
    assert outcome.summary["exclusive"]
    assert outcome.summary["label_rate"] < outcome.summary["rounds_asked"] <= 1
    assert outcome.summary["f_measure"] == pytest.approx(outcome.classes["f_measure"].mean())


def test_several_classes_an_instance_are_counted_a_yes_or_no_at_a_time():
    X, y = drawn()
    both = np.stack([y > 0, X[:, 0] > 0.5], axis=1)
    outcome = label(X, problems(both, ("p", "q"), one_vs_rest=True), LabelConfig(algorithm="sop", parameters={}))
    assert not outcome.summary["exclusive"]
    assert outcome.summary["accuracy"] == pytest.approx(outcome.classes["accuracy"].mean())


@pytest.mark.parametrize(
    ("y", "classes", "options", "said"),
    [
        ([0, 1, 2, 0, 1], ("-1", "1", "7"), {}, "row 2: a label must be one of two, got '7' beside '-1', '1'"),
        ([0, 2, 1], ("-1", "1", "7"), {}, "row 2: a label must be one of two, got '1' beside '-1', '7'"),
        ([0, 0], ("ham",), {}, "labels must name two classes, all 2 name ham"),
        ([0, 0], ("ham", "spam"), {}, "labels must name two classes, all 2 name something else than spam"),
        ([0, 1], ("a", "b"), {"positive": "c"}, "the positive class must be one of a, b, got 'c'"),
        ([[True, False], [False, False]], ("a", "b"), {}, "an instance must have one of two classes"),
    ],
)
def test_labels_that_are_no_question_of_yes_and_no_are_errors(y, classes, options, said):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the beginning of the message is compared
        problems(np.array(y), classes, **options)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("0.5", 0.5), ("inf", float("inf")), ("True", True), ("1e-3", 0.001), ("x", "x")]
)  # fmt: skip
def test_a_parameter_is_read_as_what_it_looks_like(text, value):
    found = parse_parameters([f"x={text}"])["x"]
    assert found == value
    assert type(found) is type(value)


def test_more_than_two_classes_need_a_word_and_get_a_picture_by_class(lpsm, complaint, tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=200)
    np.savez(tmp_path / "t.npz", X=np.eye(3)[y] + 0.1 * rng.normal(size=(200, 3)), y=y)
    assert "t.npz: row " in complaint("label", tmp_path / "t.npz", "--algorithm", "ssmd")
    result = lpsm("label", tmp_path / "t.npz", "--algorithm", "ssmd", "--one-vs-rest", "--out", tmp_path / "o")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "o" / "classes.svg").is_file()
    assert "3 classes, label +1 is each of them in turn" in result.stdout
    one = lpsm("label", tmp_path / "t.npz", "--algorithm", "ssmd", "--positive", "2", "--json")
    assert json.loads(one.stdout)["mapping"] == "label +1 is 2, label -1 is the rest"


def test_options_change_what_they_say(lpsm, table):
    def found(*more):
        result = lpsm("label", table, "--algorithm", "perceptron", "--json", *more)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    plain = found()
    assert found("--intercept")["features"] == 5
    assert found("--drop", "a", "--drop", "1")["features"] == 2
    assert found("--rows", "100")["rounds"] == 100
    assert found("--normalize")["classes"] != plain["classes"]
    assert found("--positive", "ham")["mapping"] == "label +1 is ham, label -1 is spam"


def test_a_rate_is_kept_by_any_sampler_which_stores_all_it_buys_where_it_is_to(lpsm, complaint, table):
    def found(*more):
        result = lpsm("label", table, "--json", *more)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    kept, others = found("--rate", "0.2"), found("--rate", "0.2", "--algorithm", "ssmd")
    assert (kept["algorithm"], kept["parameters"]) == ("kept-rate", {"rate": "0.2"})
    (one,), (other,) = kept["classes"], others["classes"]
    assert 10 / 300 < one["label_rate"] <= 61 / 300  # within a label, and 1/step of them
    assert one["stored"] == one["queries"]
    assert other["stored"] < other["queries"] <= 61
    (all_kept,) = found("--rate", "0.2", "--algorithm", "ssmd", "--store-all")["classes"]
    assert all_kept["stored"] == all_kept["queries"]
    assert found()["algorithm"] == "ss"
    assert "a filter predicts by asking" in complaint("label", table, "--rate", "0.2", "--algorithm", "ffole")
    assert "rate must lie in [0, 1]" in complaint("label", table, "--param", "rate=2")
    assert "2.0 is not in the range 0.0<x<=1.0" in complaint("label", table, "--rate", "2")


def test_labels_bought_lately_are_shown_and_are_no_others():
    X, _ = drawn(rounds=400)
    y = np.where(np.arange(400) // 40 % 2 == 0, 1, -1)
    asked = problems((y > 0).astype(int), ("a", "b"))
    chosen = {"rate": 0.3, "step": 0.1}
    config = LabelConfig(algorithm="kept-rate", parameters=chosen, last_labels=True)
    found, model = label(X, asked, config), samplers.LastLabels(samplers.make("kept-rate", 7, **chosen))
    assert np.array_equal(found.rounds["margin"], model.run(X, y).margin)
    assert found.summary["features"] == 4
    assert found.summary["accuracy"] > 0.7
    with pytest.raises(ValueError, match="last_labels must be False with multiclass"):
        LabelConfig(algorithm="ss", parameters={}, last_labels=True, multiclass=True)


def test_one_sampler_asks_for_the_class_itself(lpsm, complaint, tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=300)
    X = np.eye(3)[y] + 0.4 * rng.normal(size=(300, 3))
    config = LabelConfig(algorithm="nearest", parameters={"rate": 0.3}, multiclass=True)
    found = label(X, problems(y, ("a", "b", "c"), one_vs_rest=True), config)
    said, asked = samplers.MulticlassSampler("nearest", 3, 3, rate=0.3).run(X, y)
    assert found.summary["accuracy"] == pytest.approx(np.mean(said == y))
    assert found.summary["queries"] == asked.sum() == found.classes["stored"][0]
    assert found.summary["label_rate"] == found.summary["rounds_asked"] == asked.mean()
    assert found.classes["mistakes"].sum() == 2 * (said != y).sum()  # each is one of the class, and one of another
    np.savez(tmp_path / "t.npz", X=X, y=y)
    common = ("label", tmp_path / "t.npz", "--rate", "0.3")
    result = lpsm(*common, "--multiclass", "--algorithm", "nearest", "--no-scale", "--json")
    assert json.loads(result.stdout)["accuracy"] == found.summary["accuracy"]
    assert "--last-labels, --multiclass" in complaint(*common, "--multiclass", "--bounds", "2")
    np.savez(tmp_path / "several.npz", X=X, y=np.ones((300, 3)) * (np.arange(3) <= y[:, None]) * (y > 0)[:, None])
    assert "one of several classes" in complaint("label", tmp_path / "several.npz", "--multiclass", "--rate", "0.3")


def test_bounds_are_printed_written_and_decide_the_exit_status(table, lpsm, tmp_path, monkeypatch):
    out = tmp_path / "out"
    plain = lpsm("label", table, "--algorithm", "sop-label-efficient", "--bounds", "4", "--out", out)
    assert plain.exit_code == 0
    assert "R theorem 3, mistakes in the mean of 2 runs" in plain.stdout
    assert len(pd.read_csv(out / "bounds.csv")) == 3
    again = lpsm("label", table, "--algorithm", "sop-label-efficient", "--bounds", "4", "--json")
    assert {row["verdict"] for row in json.loads(again.stdout)["statements"]} == {"holds"}
    monkeypatch.setattr("lpsm.bounds.sampler_theorems.Theorem.bound", lambda *_: 0.0)
    assert lpsm("label", table, "--algorithm", "sop-label-efficient", "--bounds", "4").exit_code == 1
