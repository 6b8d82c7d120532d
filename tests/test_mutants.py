"""The tool that puts faults in on purpose says when it cannot use the tests."""

import pytest

from mutants.relevance import profiled


@pytest.mark.long
def test_a_file_of_tests_that_cannot_be_collected_is_an_error_and_not_a_room_without_kills(tmp_path):
    (tmp_path / "tests" / "lpsm").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    texts = {"whole": "def test_one():\n    assert True\n", "broken": "import no_such_module\n", "empty": ""}
    for name, text in texts.items():
        (tmp_path / "tests" / "lpsm" / f"test_{name}.py").write_text(text)
    for names, message in ((["whole", "broken"], r"test_broken.py: .*no_such_module"), (["empty"], "none that can")):
        with pytest.raises(RuntimeError, match=f"collected, got .*{message}"):
            profiled(tmp_path, [f"tests/lpsm/test_{name}.py" for name in names], [])
    assert len(profiled(tmp_path, ["tests/lpsm/test_whole.py"], []).seconds) == 1
