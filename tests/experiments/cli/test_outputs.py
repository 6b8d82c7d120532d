"""Nothing that is read is ever written over; what is no ordinary file is written as what it is, by every command."""

import os
import stat
from threading import Thread

import click
import pytest

from experiments.cli import COMMANDS, load_command
from tests.experiments.cli.test_audit import capture

__all__ = ["capture"]  # a fixture

# the options of each command that name a file to write, with how such a name must end
FILES = {
    "audit": (["CAPTURE", "--policies", "none"], {"--picture": ".svg"}),
    "generate": (["--pages", "2"], {"--out": ".jsonl"}),
    "pages": (["TABLE"], {"--out": ".jsonl", "--picture": ".svg"}),
    "report": (["FOLDER"], {"--out": ".html"}),
    "simulate": (["WORKLOAD"], {"--out": ".csv", "--polls": ".csv", "--intervals": ".csv"}),
    "timeline": (
        ["WORKLOAD", "--policies", "psm", "--air", "11g"],
        {"--out": ".svg", "--perfetto": ".json", "--pcap": ".pcapng"},
    ),
}
# commands that write a folder
FOLDERS = {
    "compare": ["--pages", "1", "--seeds", "1"],
    "label": ["STREAM", "--algorithm", "ssmd"],
    "population": ["WORKLOAD"],
    "replay": ["TABLE"],
    "reproduce": ["thesis/fig-2-7", "--size", "smoke"],
    "tune": ["--pages", "1", "--seeds", "2"],
}
READ = {"trace", "folder", "data", "file", "world"}  # the other parameters that are paths


@pytest.fixture
def places(workload, capture, tmp_path):
    table, stream = tmp_path / "t.csv", tmp_path / "s.csv"
    table.write_text("time,bytes\n0.5,2000\n0.6,300\n9.5,3000\n")
    stream.write_text("a,b,label\n1,2,x\n2,1,y\n0,1,x\n1,0,y\n")
    results = tmp_path / "results"
    results.mkdir()
    (results / "manifest.json").write_text('{"command": "x", "configuration": {}, "versions": {}, "files": {}}')
    return {"FOLDER": results, "WORKLOAD": workload, "CAPTURE": capture, "TABLE": table, "STREAM": stream}


def command(name, places, files):
    words = [places.get(word, word) for word in FILES[name][0]]
    return [name, *words, *(part for option, path in files.items() for part in (option, path))]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_can_be_loaded_and_every_path_that_it_writes_is_tried_here(name):
    written = {
        one.opts[0] for one in load_command(name).params
        if isinstance(one, click.Option) and one.type.name in ("path", "directory") and one.name not in READ
    }  # fmt: skip
    known = {*FILES.get(name, ((), {}))[1], *({"--out"} if name in FOLDERS else ())}
    assert written <= known


@pytest.mark.parametrize("name", ["generate", "simulate", pytest.param("timeline", marks=pytest.mark.long)])
def test_a_link_is_followed_and_a_pipe_is_written_and_both_stay(lpsm, places, tmp_path, name):
    plain, links, pipes = ({} for _ in range(3))
    for at, (option, suffix) in enumerate(FILES[name][1].items()):
        plain[option], links[option], pipes[option] = (tmp_path / f"{kind}{at}{suffix}" for kind in ("p", "l", "f"))
        links[option].symlink_to(f"target{at}")
        os.mkfifo(pipes[option])
    assert lpsm(*command(name, places, plain)).exit_code == 0
    wanted = [path.read_bytes() for path in plain.values()]
    assert lpsm(*command(name, places, links)).exit_code == 0
    assert all(path.is_symlink() for path in links.values())
    assert [path.read_bytes() for path in links.values()] == [
        content.replace(b"p0", b"l0") if name == "timeline" else content for content in wanted
    ]
    got = {}
    readers = [Thread(target=lambda path=path: got.update({path: path.read_bytes()})) for path in pipes.values()]
    for reader in readers:
        reader.start()
    assert lpsm(*command(name, places, pipes)).exit_code == 0
    for reader in readers:
        reader.join(timeout=20)
    assert all(stat.S_ISFIFO(path.stat().st_mode) for path in pipes.values())
    assert [len(got[path]) for path in pipes.values()] == [len(content) for content in wanted]


@pytest.mark.parametrize("name", ["generate", "pages"])
def test_a_device_is_written_and_stays_a_device(lpsm, places, tmp_path, name):
    files = {option: tmp_path / f"null{at}{suffix}" for at, (option, suffix) in enumerate(FILES[name][1].items())}
    try:
        for path in files.values():
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            path.write_bytes(b"")
    except OSError:
        pytest.skip("no devices may be made here")
    result = lpsm(*command(name, places, files))
    assert result.exit_code == 0, result.stderr
    assert all(stat.S_ISCHR(path.stat().st_mode) for path in files.values())


@pytest.mark.parametrize(("name", "option"), [("generate", "--out"), ("pages", "--picture"), ("simulate", "--polls")])
def test_a_folder_where_a_file_is_wanted_is_refused(complaint, places, tmp_path, name, option):
    others = {one: tmp_path / f"other{at}{end}" for at, (one, end) in enumerate(FILES[name][1].items())}
    folder = tmp_path / f"folder{FILES[name][1][option]}"
    folder.mkdir()
    assert str(folder) in complaint(*command(name, places, {**others, option: folder}))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_results_folder_that_is_something_else_is_refused_before_anything_is_computed(
    complaint, places, tmp_path, name
):
    words = [name, *(places.get(word, word) for word in FOLDERS[name])]
    file, pipe, filled = tmp_path / "file", tmp_path / "pipe", tmp_path / "filled"
    file.write_text("mine")
    os.mkfifo(pipe)
    filled.mkdir()
    (filled / "mine").write_text("mine")
    for out in (
        file,
        pipe,
        file / "below",
        *([] if name == "reproduce" else [filled]),
    ):  # which adds a folder to others
        assert str(tmp_path) in complaint(*words, "--out", out)
    assert file.read_text() == (filled / "mine").read_text() == "mine"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_output_that_is_the_input_or_another_output_is_refused_and_the_input_stays(complaint, places, tmp_path):
    table, work, new = places["TABLE"], places["WORKLOAD"], tmp_path / "x"
    before = [path.read_bytes() for path in (table, work)]
    for words in (
        ["pages", table, "--out", table], ["simulate", work, "--out", work],
        ["simulate", work, "--out", new, "--polls", new],
    ):  # fmt: skip
        assert "an output must be a file of its own" in complaint(*words)
    assert [path.read_bytes() for path in (table, work)] == before
