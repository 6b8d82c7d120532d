"""Every path that a command writes is known; what is no ordinary file is written as what it is."""

import os
import stat
from threading import Thread

import click
import pytest

from experiments.cli import COMMANDS, load_command
from tests.experiments.conftest import RESULTS
from tests.tables import each

FILES = {  # the options of each command that name a file to write, with how such a name must end
    "audit": {"--picture": ".svg"},
    "benchmark": {"--out": ""},  # a folder, which `tests.experiments.test_benchmark` has made
    "emulate": {"--out": "", "--pcap": ".pcap"},  # which `tests.experiments.test_emulate` has made
    "export": {"--out": ""},  # a folder, whose files are refused where others made them
    "generate": {"--out": ".jsonl"},
    "pages": {"--out": ".jsonl"},
    "radio": {"--out": ".toml"},
    "report": {"--out": ".html"},
    "simulate": {"--out": ".csv"},
    "timeline": {"--out": ".svg", "--perfetto": ".json", "--pcap": ".pcapng"},
}
READ = {"trace", "folder", "data", "file", "world", "capture"}  # the other parameters that are paths


@each("name", sorted(COMMANDS))
def test_every_command_can_be_loaded_and_every_path_that_it_writes_is_tried_here(name):
    written = {one.opts[0] for one in load_command(name).params if isinstance(one, click.Option)
        and one.type.name in ("path", "directory") and one.name not in READ}  # fmt: skip
    assert written <= {*FILES.get(name, ()), *(["--out"] if name in RESULTS else [])}


@pytest.fixture
def run(lpsm, workload, tmp_path):
    """Run a command with a path for each of the options that name a file."""
    words = {"generate": ["--pages", "2"], "simulate": [workload],
        "timeline": [workload, "--policies", "psm", "--air", "11g"]}  # fmt: skip

    def run(name, paths):
        options = [part for option, path in zip(FILES[name], paths, strict=True) for part in (option, path)]
        result = lpsm(name, *words[name], *options)
        assert result.exit_code == 0, result.output

    return run


def paths_of(folder, name, called):
    return [folder / f"{called}{at}{suffix}" for at, suffix in enumerate(FILES[name].values())]


@each("name", ["generate", "simulate", pytest.param("timeline", marks=pytest.mark.long)])
def test_a_link_is_followed_and_a_pipe_is_written_and_both_stay(run, tmp_path, name):
    plain, links, pipes = (paths_of(tmp_path, name, called) for called in ("p", "l", "f"))
    for at, (link, pipe) in enumerate(zip(links, pipes, strict=True)):
        link.symlink_to(f"target{at}")
        os.mkfifo(pipe)
    run(name, plain)
    wanted = [path.read_bytes() for path in plain]
    run(name, links)
    assert all(path.is_symlink() for path in links)
    assert [path.read_bytes() for path in links] == [content.replace(b"p0", b"l0") if path.suffix == ".svg" else content
        for path, content in zip(links, wanted, strict=True)]  # fmt: skip
    got = {}
    readers = [Thread(target=lambda path=path: got.update({path: path.read_bytes()})) for path in pipes]
    for reader in readers:
        reader.start()
    run(name, pipes)
    for reader in readers:
        reader.join(timeout=600)
    assert all(stat.S_ISFIFO(path.stat().st_mode) for path in pipes)
    assert [len(got[path]) for path in pipes] == [len(content) for content in wanted]
