"""What is written is whole or absent; what is no regular file is written to, and never replaced."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from traces.files import replacing

WRITE = """
import sys
from traces.files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b'all of it')
"""


def write(path, content=b"all of it", *, fails=False):
    with replacing(path) as file:
        file.write(content)
        if fails:
            raise RuntimeError("stop")


def test_a_symbolic_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "deep").mkdir()
    target, link = tmp_path / "deep" / "target", tmp_path / "link"
    link.symlink_to("deep/target")
    for content in (b"all of it", b"other"):  # it need not be there
        write(link, content)
        assert (link.is_symlink(), target.read_bytes()) == (True, content)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "link", "target"]


def test_a_folder_is_refused_and_so_is_a_link_to_one(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (tmp_path, tmp_path / "link"):
        with pytest.raises(IsADirectoryError, match="is a folder"):
            write(path)


def test_a_failure_leaves_the_earlier_file_as_it_was_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    write(path)
    with pytest.raises(RuntimeError):
        write(path, b"half", fails=True)
    assert path.read_bytes() == b"all of it"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    path, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write(path)
    reader.join(600.0)
    assert read == [b"all of it"]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_device_stays_a_device_and_its_error_names_it():
    with pytest.raises(OSError, match="No space left") as raised:
        write("/dev/full")
    assert raised.value.filename == "/dev/full"
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="standard output has no name here")
def test_standard_output_is_written_where_it_goes_and_no_file_of_it_is_replaced(tmp_path):
    words = [sys.executable, "-c", WRITE, "/dev/stdout"]
    assert subprocess.run(words, capture_output=True, check=True).stdout == b"all of it"
    with (tmp_path / "out").open("wb") as file:
        file.write(b"before, ")
        file.flush()
        subprocess.run(words, stdout=file, check=True)
    assert (tmp_path / "out").read_bytes() == b"before, all of it"
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
