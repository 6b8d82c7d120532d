"""The page of a folder of results shows what is in it, runs nothing, and is refused where the folder is not whole."""

import base64
import hashlib
import json
import re
from shutil import copytree

import pytest

from experiments.report import html
from tests.experiments.makers import Page
from tests.tables import value_error

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e"
PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def result(folder, content, **changed):
    """Write a folder as a command does."""
    folder.mkdir(parents=True)
    for name, data in content.items():
        (folder / name).write_bytes(data)
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
    manifest = {"command": "compare", "configuration": {"seed": 7}, "versions": {"lpsm": "1"}, "files": digests}
    text = json.dumps({"source_sha256": "", **manifest, **changed})
    (folder / "manifest.json").write_text(text)
    sums = {"manifest.json": hashlib.sha256(text.encode()).hexdigest()}
    (folder / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return folder


def test_words_pictures_tables_and_settings_are_in_the_page(tmp_path):
    table = b"policy,total_j\npsm:100,3.14159265358979\n'=1+1,\n"
    files = {"said.txt": b"3 < 4\n", "front.svg": PICTURE, "summary.csv": table, "front.png": b"\x89PNG"}
    page = html.folder_page(result(tmp_path / "out", files))
    found = Page(page)
    assert {"3 < 4", "psm:100", "3.1416", "=1+1", "seed", "7"} <= set(found.words)
    assert 'title="3.14159265358979"' in page
    assert base64.b64decode(found.addresses[-1].partition(",")[2]) == PICTURE
    assert page.count("<img") == 1
    assert str(tmp_path) not in page


def test_the_page_of_several_results_has_each_of_them_and_of_a_long_table_the_beginning(tmp_path):
    rows = "".join(f"row {number}\n" for number in range(500)).encode()
    for name in ("thesis/fig-1", "drift/fig-2"):
        result(tmp_path / name, {"claims.csv": f"claim\n{name} holds\n".encode() + rows}, command=f"reproduce {name}")
    page = html.folder_page(tmp_path)
    assert "<title>2 results of lpsm</title>" in page
    assert page.index("drift/fig-2 holds") < page.index("thesis/fig-1 holds")
    assert page.count("501 rows, of which the first 200 are here") == 2
    assert page.count("<td") - page.count('<th scope="row">') == 400


def test_what_files_and_manifests_say_runs_nothing_and_loads_nothing(tmp_path):
    nested = {HOSTILE: {HOSTILE: [HOSTILE, {"x": HOSTILE}]}}
    files = {"a.txt": HOSTILE.encode(), "b.csv": f'"{HOSTILE}"\n"=HYPERLINK(1)"\n'.encode(), f"{'x' * 9}'.svg": PICTURE}
    versions = {HOSTILE: HOSTILE}
    folder = result(tmp_path / "out", files, command=HOSTILE, configuration=nested, versions=versions)
    page = html.folder_page(folder)
    found = Page(page)
    assert not found.runs_something()
    assert all(address.startswith("data:") for address in found.addresses)
    assert "default-src 'none'" in page
    assert "\u202e" not in page


UNFINISHED = '{"command": "x", "configuration": {}, "source_sha256": "", "versions": {}'
MANIFESTS = {  # what the manifest says in place of the right words, and the complaint
    '{"command"': "must be JSON as lpsm writes it",
    '{"a":' * 50_000: "nested too deeply|must be JSON",
    "[]": "must have what lpsm writes into a manifest",
    '{"command": 3}': "must have what lpsm writes into a manifest",
    UNFINISHED + "}": "are not finished: no files are listed",
    UNFINISHED + ', "files": {}}': "manifest.json is not as it was written",
}


@pytest.mark.parametrize(("manifest", "said"), MANIFESTS.items(), ids=range(len(MANIFESTS)))
def test_a_foreign_manifest_is_refused_in_one_line(tmp_path, complaint, manifest, said):
    folder = result(tmp_path / "out", {"t.csv": b"a\n1\n"})
    (folder / "manifest.json").write_text(manifest)
    assert re.search(said, complaint("report", folder))
    assert not (folder / "report.html").exists()


def test_a_file_that_is_not_as_it_was_written_or_lies_elsewhere_is_refused(tmp_path, complaint, monkeypatch):
    folder = result(tmp_path / "out", {"t.csv": b"a\n1\n"})
    (folder / "t.csv").write_text("a\n2\n")
    assert "t.csv is not as it was written" in complaint("report", folder)
    (folder / "t.csv").unlink()
    assert "t.csv is not there" in complaint("report", folder)
    (folder / "t.csv").symlink_to("/etc/hostname")
    assert "t.csv is not there" in complaint("report", folder)
    (folder / "manifest.json").unlink()
    assert "must hold a manifest.json" in complaint("report", folder)
    with value_error(r"must list files in the folder itself, got '\.\./x\.csv'"):
        html.folder_page(result(tmp_path / "upwards", {}, files={"../x.csv": "0"}))
    with value_error(r"t\.csv: it must be text as lpsm writes it"):
        html.folder_page(result(tmp_path / "bytes", {"t.csv": b"\xff\n"}))
    monkeypatch.setattr(html, "_MOST_BYTES", 1000)
    with value_error("must have at most 1000 bytes"):
        html.folder_page(result(tmp_path / "large", {"a.svg": b"x" * 600, "b.svg": b"y" * 600}))


def test_the_command_writes_the_page_whole_into_the_folder_or_outside_it(lpsm, results, tmp_path):
    folder = copytree(results("compare").folder, tmp_path / "out")
    for page in (tmp_path / "other" / "page.html", folder / "report.html"):
        assert lpsm("report", folder, "--out", page).exit_code == 0
    content = page.read_bytes()
    assert content == (tmp_path / "other" / "page.html").read_bytes()
    assert len(content) < 1_500_000
    assert content.count(b"data:image/svg+xml") == len(list(folder.glob("*.svg")))
    assert not list(tmp_path.rglob("*.tmp"))
