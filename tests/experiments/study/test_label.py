"""What `lpsm label` counts is what a person would count, and what it cannot take it says with its place."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_array_equal

from experiments.datasets.stream import Stream
from experiments.study.label import LabelConfig, label, parse_parameters, problems
from lpsm import samplers
from tests.tables import cases_of, each, near, unequal, words


def drawn(rounds=300, d=4, seed=0):
    rng = default_rng(seed)
    X = rng.normal(size=(rounds, d))
    return X, np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=rounds) >= 0, 1, -1)


def three(rounds=300, noise=0.4):
    rng = default_rng(1)
    y = rng.integers(0, 3, size=rounds)
    return np.eye(3)[y] + noise * rng.normal(size=(rounds, 3)), y


def yes_or_no(y):
    return problems((y > 0).astype(int), ("no", "yes"))


@pytest.fixture
def table(tmp_path):
    X, y = drawn()
    named = pd.DataFrame(X, columns=[*"abcd"]).assign(kind=np.where(y > 0, "spam", "ham"))
    named.to_csv(tmp_path / "stream.csv", index=False)
    return tmp_path / "stream.csv"


@pytest.fixture
def found(lpsm):
    """Run the command, and return the object it prints."""

    def run(*words):
        result = lpsm("label", *words, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


def test_a_dense_file_is_standardised_by_the_rows_so_far_unless_told_not_to(tmp_path, found):
    X, y = drawn(rounds=80)
    accuracy = {}
    for name, rows in (("one", X), ("other", 1000.0 * X + 5e4)):
        np.savetxt(tmp_path / name, np.column_stack([rows, y]), delimiter=",", fmt=["%.17g"] * 4 + ["%d"])
        for option in ((), ("--scale",), ("--no-scale",)):
            accuracy[name, *option] = found(tmp_path / name, "--algorithm", "ssmd", *option)["accuracy"]
    assert accuracy["other",] == accuracy["other", "--scale"] == accuracy["one", "--scale"]  # units do not matter
    assert accuracy["other", "--scale"] > accuracy["other", "--no-scale"] + 0.05
    X[:, 1] = 7.0
    scaled = Stream(name="s", X=X, y=y, classes=("a", "b")).scaled().X
    assert (scaled[0] == 1.0).all()
    assert not scaled[1:, 1].any()
    for t, j in ((1, 0), (17, 2), (79, 3)):
        so_far = X[: t + 1, j]
        assert scaled[t, j] == near((X[t, j] - so_far.mean()) / so_far.std(), rel=1e-9)


def test_a_sampler_that_stopped_asking_early_is_told_of(tmp_path, lpsm):
    X, y = drawn(rounds=600)
    y[:300] = 1  # all of one class, until a small K asks no more
    np.savez(tmp_path / "late.npz", X=np.column_stack([X, np.ones(600)]), y=y)
    common = ("label", tmp_path / "late.npz", "--no-scale", "--window", "50")
    small = lpsm(*common, "--param", "K=1e-4").stderr
    assert "ss asked for no label after round" in small
    assert "--rate, asks for more" in small
    assert "asked for" not in lpsm(*common, "--rate", "0.1").stderr


@settings(max_examples=25)
@given(seed=st.integers(0, 999), window=st.integers(1, 90), key=st.sampled_from(["ssmd", "perceptron-ss", "ss"]))
def test_every_window_is_what_counting_its_rounds_gives(seed, window, key):
    X, y = drawn(rounds=60, seed=seed)
    outcome = label(X, yes_or_no(y), LabelConfig(algorithm=key, parameters={}, window=window, seed=seed))
    labels, said, asked = (outcome.rounds[name].to_numpy() for name in ("label", "prediction", "queried"))
    assert outcome.windows["t"].iloc[-1] == 60
    for row in outcome.windows.to_dict("records"):
        for suffix, start in (("", row["t"] - min(window, 60)), ("_so_far", 0)):
            inside = slice(start, row["t"])
            label_is, is_said = labels[inside] == 1, said[inside] == 1
            f = 2 * (label_is & is_said).sum() / (label_is.sum() + is_said.sum() or np.nan)
            found = [row[f"{name}{suffix}"] for name in ("accuracy", "label_rate", "f_measure")]
            assert found == near([(label_is == is_said).mean(), asked[inside].mean(), f], nan_ok=True)


def test_the_run_is_the_samplers_own_and_a_label_not_asked_for_changes_nothing():
    X, y = drawn()
    config = LabelConfig(algorithm="perceptron-ss", parameters={"b": 0.05}, seed=7)
    rows = label(X, yes_or_no(y), config).rounds
    rng = default_rng(np.random.SeedSequence(7, spawn_key=(3, 0)))
    log = samplers.make("perceptron-ss", 4, b=0.05, rng=rng).run(X, y)
    assert_array_equal(rows["margin"], log.margin)
    assert_array_equal(rows["queried"], log.queried)
    again = label(X, yes_or_no(np.where(log.queried, y, -y)), config).rounds
    assert_array_equal(rows["prediction"], again["prediction"])


def test_one_against_the_rest_answers_with_the_largest_margin():
    X, y = three(400)
    config = LabelConfig(algorithm="ssmd", parameters={"K": 0.5})
    outcome = label(X, problems(y, ("a", "b", "c"), one_vs_rest=True), config)
    margins = [samplers.make("ssmd", 3, K=0.5).run(X, np.where(y == k, 1, -1)).margin for k in range(3)]
    assert outcome.summary["accuracy"] == near(np.mean(np.argmax(margins, axis=0) == y))
    assert outcome.summary["exclusive"]
    assert outcome.summary["label_rate"] < outcome.summary["rounds_asked"] <= 1
    both = label(X, problems(np.stack([y > 0, X[:, 0] > 0.5], axis=1), ("p", "q"), one_vs_rest=True), config)
    assert not both.summary["exclusive"]
    assert both.summary["accuracy"] == near(both.classes["accuracy"].mean())


@cases_of("y classes options said", """
[0, 1, 2, 0], ("-1", "1", "7"), {} -> an instance must have one of two classes, got -1 (2 times), 1 (1 times)
[0, 0], ("ham",), {} -> labels must name two classes, all 2 name ham
[0, 1], ("a", "b"), {"positive": "c"} -> the positive class must be one of a, b, got 'c'
[[True, False], [False, False]], ("a", "b"), {} -> an instance must have one of two classes
""")  # fmt: skip
def test_labels_that_are_no_question_of_yes_and_no_are_errors(y, classes, options, said):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the beginning of the message is compared
        problems(np.array(y), classes, **options)
    assert str(error.value).startswith(said)


def test_a_parameter_is_read_as_what_it_looks_like():
    expected = {"a": 3, "b": 0.5, "c": float("inf"), "d": True, "e": 0.001, "f": "x"}
    read = parse_parameters(words("a=3 b=0.5 c=inf d=True e=1e-3 f=x"))
    assert read == expected
    assert [*map(type, read.values())] == [*map(type, expected.values())]


def test_options_change_what_they_say(found, table):
    common = (table, "--algorithm", "perceptron")
    plain = found(*common)
    assert not unequal("""
found(*common, "--intercept")["features"] -> 5
found(*common, "--drop", "a", "--drop", "1")["features"] -> 2
found(*common, "--rows", "100")["rounds"] -> 100
""", globals() | locals())  # fmt: skip
    assert found(*common, "--normalize")["classes"] != plain["classes"]
    assert found(*common, "--positive", "ham")["mapping"] == "label +1 is ham, label -1 is spam"
    assert found(table, "--algorithm", "ssmd", "--budget", "7")["classes"][0]["queries"] == 7


def test_a_rate_is_kept_by_any_sampler_which_stores_all_it_buys_where_it_is_to(found, complaint, table):
    kept, others = found(table, "--rate", "0.2"), found(table, "--rate", "0.2", "--algorithm", "ssmd")
    assert (kept["algorithm"], kept["parameters"]) == ("kept-rate", {"rate": "0.2"})
    (one,), (other,) = kept["classes"], others["classes"]
    assert 10 / 300 < one["label_rate"] <= 61 / 300  # within a label, and 1/step of them
    assert one["stored"] == one["queries"]
    assert other["stored"] < other["queries"] <= 61
    (all_kept,) = found(table, "--rate", "0.2", "--algorithm", "ssmd", "--store-all")["classes"]
    assert all_kept["stored"] == all_kept["queries"]
    assert found(table)["algorithm"] == "ss"
    assert "a filter predicts by asking" in complaint("label", table, "--rate", "0.2", "--algorithm", "ffole")


@each("lately", [0, 9])
def test_one_sampler_asks_for_the_class_itself_and_may_see_the_labels_bought_lately(found, complaint, tmp_path, lately):
    X, y = three()
    config = LabelConfig(algorithm="nearest", parameters={"rate": 0.3}, multiclass=True, last_labels=bool(lately))
    counted = label(X, problems(y, ("a", "b", "c"), one_vs_rest=True), config)
    model = samplers.MulticlassSampler("nearest", 3 + lately, 3, rate=0.3)
    said, asked = (samplers.LastLabels(model) if lately else model).run(X, y)
    assert counted.summary["accuracy"] == near(np.mean(said == y))
    assert counted.summary["queries"] == asked.sum() == counted.classes["stored"][0]
    assert counted.summary["label_rate"] == counted.summary["rounds_asked"] == asked.mean()
    assert counted.classes["mistakes"].sum() == 2 * (said != y).sum()  # each is one of the class, and one of another
    np.savez(tmp_path / "t.npz", X=X, y=y)
    common = (tmp_path / "t.npz", "--rate", "0.3", "--multiclass", *["--last-labels"][:lately])
    assert found(*common, "--algorithm", "nearest", "--no-scale")["accuracy"] == counted.summary["accuracy"]
    assert "--last-labels, --multiclass" in complaint("label", *common, "--bounds", "2")
    np.savez(tmp_path / "several.npz", X=X, y=np.ones((300, 3)) * (np.arange(3) <= y[:, None]) * (y > 0)[:, None])
    assert "one of several classes" in complaint("label", tmp_path / "several.npz", *common[1:])


def test_bounds_are_printed_written_and_decide_the_exit_status(table, lpsm, tmp_path, monkeypatch):
    common = ("label", table, "--algorithm", "sop-label-efficient", "--bounds", "4")
    plain = lpsm(*common, "--out", tmp_path / "out")
    assert "R theorem 3, mistakes in the mean of 2 runs" in plain.stdout
    assert set(pd.read_csv(tmp_path / "out" / "bounds.csv")["verdict"]) == {"holds"}
    monkeypatch.setattr("lpsm.bounds.sampler_report.Theorem.bound", lambda *_: 0.0)
    assert lpsm(*common).exit_code == 1
