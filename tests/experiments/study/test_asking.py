"""A person at the keyboard: whoever stops loses nothing, and goes on to where he would have been."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.cli import main
from experiments.study.asking import Answers, label_by_asking
from experiments.study.label import LabelConfig
from lpsm import samplers

WORDS = ("spam", "ham")


@pytest.fixture
def mails(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.random(40) < 0.5
    words = {True: ["cheap", "pills", "buy", "now"], False: ["dear", "friend", "see", "you"]}
    texts = [" ".join(rng.choice(words[bool(spam)], 3)) for spam in truth]
    path = tmp_path / "mails.jsonl"
    path.write_text("\n".join(json.dumps({"body": text}) for text in texts))
    return path, ["spam" if spam else "ham" for spam in truth], texts


def run(path, answers, *more, said="", key="ss"):
    arguments = ["label", str(path), "--algorithm", key, "--text", "body", "--ask", "--classes", "ham,spam"]
    return CliRunner().invoke(
        main, [*arguments, "--answers", str(answers), "--json", *more], input=said, standalone_mode=False
    )


def questions(result):
    return [line for line in result.stderr.splitlines() if line.startswith("mails.jsonl: line")]


def test_answers_are_kept_as_they_come_and_a_second_run_goes_on_where_the_first_would_have_been(mails, tmp_path):
    path, truth, texts = mails
    X = samplers.make("ss", 2**18)  # the same sampler, played by hand
    from experiments.datasets.tables import hashed

    log = X.run(hashed(texts), np.where(np.array(truth) == "spam", 1, -1))
    rows = np.flatnonzero(log.queried)
    assert 4 < len(rows) < 40
    whole = run(path, tmp_path / "whole.csv", "--out", tmp_path / "o", said="".join(f"{truth[t]}\n" for t in rows))
    assert whole.exception is None, whole.output
    result = json.loads(whole.stdout)
    assert (result["labels"], result["rounds"], result["stopped"]) == (len(rows), 40, False)
    lines = (tmp_path / "whole.csv").read_text().splitlines()
    assert lines[1:] == ["row,label", *(f"{t},{truth[t]}" for t in rows)]
    predictions = (tmp_path / "o" / "predictions.csv").read_text().splitlines()
    assert len(predictions) == 41
    assert all(texts[t] in whole.stderr for t in rows)

    first = run(path, tmp_path / "parts.csv", said="s\nnonsense\nham\nq\n".replace("s\n", f"{truth[rows[0]][0]}\n", 1))
    assert json.loads(first.stdout)["stopped"]
    assert "an answer must be one of ham, spam" in first.stderr
    kept = (tmp_path / "parts.csv").read_text().splitlines()[2:]
    assert kept == [f"{rows[0]},{truth[rows[0]]}", f"{rows[1]},ham"]
    (tmp_path / "parts.csv").write_text("\n".join(lines[:5]) + "\n")
    rest = run(path, tmp_path / "parts.csv", "--out", tmp_path / "p", said="".join(f"{truth[t]}\n" for t in rows[3:]))
    assert json.loads(rest.stdout)["labels"] == len(rows)
    assert len(questions(rest)) == len(rows) - 3
    assert (tmp_path / "p" / "predictions.csv").read_bytes() == (tmp_path / "o" / "predictions.csv").read_bytes()


def test_an_interruption_says_what_is_kept(mails, tmp_path, monkeypatch):
    path = mails[0]

    lines = ["ham\n", "spam\n"]

    def typed():
        if not lines:
            raise KeyboardInterrupt
        return lines.pop(0)

    monkeypatch.setattr("experiments.cli.asking.read_line", typed)
    result = run(path, tmp_path / "a.csv")
    assert "2 labels are kept in" in str(result.exception.format_message())
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--classes", "one"], "--classes must be two different names"),
        (["--label", "body"], "--ask needs --classes, and takes no --label"),
    ],
)
def test_a_wrong_option_is_one_line(mails, tmp_path, more, said):
    result = run(mails[0], tmp_path / "a.csv", *more)
    assert said in str(result.exception)
    assert not (tmp_path / "a.csv").exists()


def test_answers_of_other_data_are_refused(mails, tmp_path):
    path = mails[0]
    assert run(path, tmp_path / "a.csv", said="ham\n").exception is None
    path.write_text(path.read_text() + "\n" + json.dumps({"body": "more"}))
    assert "answers must be of these data" in str(run(path, tmp_path / "a.csv").exception)
    (tmp_path / "a.csv").write_text("".join((tmp_path / "a.csv").read_text().splitlines(True)[:0]))
    assert "answers must be of these data" in str(run(path, tmp_path / "a.csv").exception)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"X": 3}, "X must be an array or CSR of shape (T, d), got 3"),
        ({"classes": "ab"}, "classes must be two labels, got 'ab'"),
        ({"config": None}, "config must be of the type LabelConfig, got None"),
        ({"answers": {}}, "answers must be of the type Answers, got {}"),
        ({"put": "x"}, "put must have the methods __call__, got 'x'"),
    ],
)
def test_an_argument_of_a_wrong_type_is_named_with_rule_and_value(tmp_path, wrong, said):
    given = {
        "X": np.ones((2, 2)),
        "classes": ["a", "b"],
        "config": LabelConfig(algorithm="sop", parameters={}),
        "answers": Answers(tmp_path / "a.csv", "0", ["a", "b"]),
        "put": lambda *_: None,
    }
    with pytest.raises((TypeError, ValueError)) as refused:
        label_by_asking(**{**given, **wrong})
    assert str(refused.value) == said
