"""A disk that is full ends a command in one clear line, leaves nothing half-written, and can be gone on from."""

import resource
import subprocess
from contextlib import contextmanager
from shutil import copytree
from tempfile import gettempdir

import pytest

from tests.experiments.makers import contents

FULL = ("No space left on device", "File too large")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A file system with so many kilobytes of room, where one may be mounted."""
    folder = tmp_path_factory.mktemp("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")

    def with_room(kilobytes):
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", folder], check=True)
        return folder

    yield with_room
    subprocess.run(["umount", folder], check=True)


@contextmanager
def no_file_over(n_bytes):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def one_line(result, folder):
    """What a command said that ended for want of room: one line, and nothing half-written is there."""
    assert result.exit_code == 2, result.output
    said = [line for line in result.stderr.splitlines() if line.startswith("lpsm: ")]  # also what was asked for, say
    (line,) = [line for line in said if any(reason in line for reason in FULL)]
    assert line == said[-1]
    assert str(folder) in line or f"the tasks of a trace are kept in {gettempdir()}" in line
    assert not [path for path in folder.rglob("*") if path.name.endswith(".tmp")]
    return line


@pytest.mark.long
@pytest.mark.parametrize("name", ["population", "reproduce"])  # results in the journal, and whole
def test_a_full_disk_at_any_stage_is_one_line_and_the_same_command_goes_on_once_there_is_room(
    lpsm, small, results, name
):
    words, wanted, _ = results(name)
    needed = sum(-(-path.stat().st_size // 4096) * 4 for path in wanted.rglob("*") if path.is_file())
    for share in (0.05, 0.3, 0.6, 0.9):
        folder = small(max(4, int(share * needed)))
        out = folder / f"out-{share}"
        line = one_line(lpsm(*words, "--out", out), folder)
        assert not list(out.rglob("*.png"))
        if "kept" in line and "nothing is kept" not in line:
            assert any(folder.iterdir())
        elif name != "reproduce":  # whose experiments are whole one by one
            assert not [path for path in folder.rglob("*") if path.is_file()]
        small(20_000)
        result = lpsm(*words, "--out", out)
        assert result.exit_code == 0, result.output
        assert contents(out) == contents(wanted)
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


def test_a_file_that_may_not_grow_is_one_line_too_and_earlier_results_stay(lpsm, results, tmp_path):
    words, folder, _ = results("compare")
    copytree(folder, tmp_path / "out")
    with no_file_over(3000):
        one_line(lpsm(*words, "--seed", "9", "--out", tmp_path / "out"), tmp_path)
    assert contents(tmp_path / "out") == contents(folder)
