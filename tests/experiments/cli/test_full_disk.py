"""A disk that is full ends a command in one clear line, leaves nothing half-written, and can be gone on from."""

import resource
from shutil import copytree

import pytest

from tests.experiments.makers import contents
from tests.tables import each


def held_to(n_bytes, run):
    """Run a command while no file may grow beyond so many bytes; return the line in which it says so."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        result = run()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert result.exit_code == 2, result.output
    said = [line for line in result.stderr.splitlines() if line.startswith("lpsm: ")]  # also what was asked for, say
    (line,) = [line for line in said if "File too large" in line]
    assert line == said[-1]
    return line


@each("name, n_bytes", [  # results in the journal, and whole
    ("population", 300), ("reproduce", 9_000),
    *(pytest.param(*one, marks=pytest.mark.long)
      for one in (("population", 3_000), ("population", 9_000), ("reproduce", 300), ("reproduce", 3_000))),
])  # fmt: skip
def test_a_full_disk_at_any_stage_is_one_line_and_the_same_command_goes_on_once_there_is_room(
    lpsm, results, tmp_path, name, n_bytes
):
    words, wanted, _ = results(name)
    out = tmp_path / "out"
    line = held_to(n_bytes, lambda: lpsm(*words, "--out", out))
    assert str(tmp_path) in line
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".tmp", ".png")]
    assert any(tmp_path.rglob("*.jsonl")) == ("what was finished is kept" in line)
    assert lpsm(*words, "--out", out).exit_code == 0
    assert contents(out) == contents(wanted)


def test_earlier_results_stay_where_new_ones_find_no_room(lpsm, results, tmp_path):
    words, folder, _ = results("compare")
    copytree(folder, tmp_path / "out")
    held_to(3000, lambda: lpsm(*words, "--seed", "9", "--force", "--out", tmp_path / "out"))
    assert contents(tmp_path / "out") == contents(folder)
