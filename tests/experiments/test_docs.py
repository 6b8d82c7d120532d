from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "printed"), [("compare.md", "bsd:0.5"), ("replay.md", "Corollary 1")])
def test_the_example_in_the_page_runs(capsys: pytest.CaptureFixture[str], page: str, printed: str) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    exec(compile(code, page, "exec"), {})
    assert printed in capsys.readouterr().out


@pytest.mark.parametrize("page", ["compare.md", "replay.md"])
def test_the_pictures_of_the_page_are_there(page: str) -> None:
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", (DOCS / page).read_text())
    assert pictures
    assert all((DOCS / picture).is_file() for picture in pictures)
