"""The pages on experiments: their Python, their pictures, and the commands that need data of their own to run."""

import gzip
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.test_docs import SHELL, blocks, commands

DOCS = Path(__file__).parents[2] / "docs"


def shown(page, command):
    """The command lines that a page shows, without those whose error is shown with them."""
    found, mentioned = blocks(DOCS / page)
    lines = [words for language, text in found if language in SHELL and "\nlpsm: " not in text for words in commands(text)]  # noqa: E501  # fmt: skip
    return [words[1:] for words in (*lines, *mentioned) if words[:2] == ["lpsm", command] and words[2:]]


LABEL = shown("label.md", "label")
REPRODUCE = shown("reproduce.md", "reproduce")


@pytest.mark.parametrize(("page", "printed"), [("compare.md", "bsd:0.5"), ("replay.md", "Corollary 1")])
def test_the_example_in_the_page_runs(capsys, page, printed):
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    exec(compile(code, page, "exec"), {})
    assert printed in capsys.readouterr().out


@pytest.mark.parametrize("page", ["compare.md", "replay.md"])
def test_the_pictures_of_the_page_are_there(page):
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", (DOCS / page).read_text())
    assert pictures
    assert all((DOCS / picture).is_file() for picture in pictures)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder, now the current one, with small files under the names that the page on labelling uses."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0)
    X = draw.normal(size=(120, 4))
    y = (X[:, 0] > 0).astype(int)
    rows = [",".join([*(f"{value:.3f}" for value in row), str(label)]) for row, label in zip(X, y, strict=True)]
    Path("mails.csv").write_text("a,b,c,d,spam\n" + "\n".join(rows) + "\n")
    dated = [f"{number},{row}" for number, row in enumerate(rows)]
    with gzip.open("prices.csv.gz", "wt") as table:
        table.write("date,a,b,c,d,class\n" + "\n".join(dated) + "\n")
    np.savez("digits.npz", X=X, y=draw.integers(0, 10, size=len(X)))
    mails = pd.DataFrame({"body": ["win a prize now" if spam else "see you at noon" for spam in y], "kind": y})
    mails["kind"] = mails["kind"].map({0: "ham", 1: "spam"})
    mails.to_json("mails.jsonl", orient="records", lines=True)
    mails[["body"]].to_parquet("mails.parquet")
    return tmp_path


def test_the_pages_show_what_is_run_here():
    assert len(LABEL) >= 4
    assert len(REPRODUCE) >= 4
    assert ["lpsm", "doctor"] in blocks(DOCS / "commands.md")[1]


@pytest.mark.parametrize("words", [words for words in LABEL if "--data" not in words], ids=" ".join)
def test_the_commands_of_the_page_on_labelling_run(lpsm, files, words):
    result = lpsm(*words)
    assert result.exit_code == 0, result.output
    if "--out" in words:
        assert (files / words[words.index("--out") + 1] / "manifest.json").is_file()


@pytest.mark.long
@pytest.mark.parametrize("words", [words for words in LABEL if "--data" in words], ids=" ".join)
def test_the_commands_on_data_sets_run_where_these_are(lpsm, files, words):
    if not os.environ.get("LPSM_DATA"):
        pytest.skip("LPSM_DATA names no folder of data sets")
    result = lpsm(*(word.replace("FOLDER", os.environ["LPSM_DATA"]) for word in words), "--rows", "500")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=" ".join(words), marks=() if "--list" in words else pytest.mark.long)
        for words in REPRODUCE
        if "all" not in words  # hours, and every experiment has a test of its own
    ],
)
def test_the_commands_of_the_page_on_reproducing_run(lpsm, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    result = lpsm(*words, *([] if "--list" in words else ["--size", "smoke", "--stand-in"]))
    assert result.exit_code == 0, result.output


def test_the_doctor_runs_as_the_page_shows_it(lpsm):
    result = lpsm("doctor")
    assert result.exit_code == 0, result.output
