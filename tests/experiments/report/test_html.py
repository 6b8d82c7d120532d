"""The page of a folder of results shows what is in it, runs nothing, and is refused where the folder is not whole."""

import base64
import hashlib
import json
from html.parser import HTMLParser

import pytest

from experiments.report import html

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e"
PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


class Reader(HTMLParser):
    """Tags, the addresses they name, and the words of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.addresses = []
        self.attributes = set()
        self.words = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.words.append(data)


def result(folder, content, **changed):
    """Write a folder as a command does."""
    folder.mkdir(parents=True)
    for name, data in content.items():
        (folder / name).write_bytes(data)
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in content.items()}
    manifest = {"command": "compare", "configuration": {"seed": 7}, "versions": {"lpsm": "1"}, "files": digests}
    (folder / "manifest.json").write_text(json.dumps({**manifest, **changed}))
    return folder


def test_words_pictures_tables_and_settings_are_in_the_page(tmp_path):
    table = b"policy,total_j\npsm:100,3.14159265358979\n'=1+1,\n"
    files = {"said.txt": b"3 < 4\n", "front.svg": PICTURE, "summary.csv": table, "front.png": b"\x89PNG"}
    page = html.folder_page(result(tmp_path / "out", files))
    found = Reader(page)
    assert {"3 < 4", "psm:100", "3.1416", "=1+1", "seed", "7"} <= set(found.words)
    assert 'title="3.14159265358979"' in page
    assert base64.b64decode(found.addresses[-1].partition(",")[2]) == PICTURE
    assert page.count("<img") == 1
    assert str(tmp_path) not in page


def test_the_page_of_several_results_has_each_of_them(tmp_path):
    for name in ("thesis/fig-1", "drift/fig-2"):
        result(tmp_path / name, {"claims.csv": f"claim\n{name} holds\n".encode()}, command=f"reproduce {name}")
    page = html.folder_page(tmp_path)
    assert "<title>2 results of lpsm</title>" in page
    assert page.index("drift/fig-2 holds") < page.index("thesis/fig-1 holds")


def test_a_long_table_shows_its_beginning(tmp_path):
    rows = "".join(f"row {number}\n" for number in range(500))
    page = html.folder_page(result(tmp_path / "out", {"t.csv": b"name\n" + rows.encode()}))
    assert "500 rows, of which the first 200 are here" in page
    assert page.count("<td") - page.count('<th scope="row">') == 200


def test_what_files_and_manifests_say_runs_nothing_and_loads_nothing(tmp_path):
    nested = {HOSTILE: {HOSTILE: [HOSTILE, {"x": HOSTILE}]}}
    files = {"a.txt": HOSTILE.encode(), "b.csv": f'"{HOSTILE}"\n"=HYPERLINK(1)"\n'.encode(), f"{'x' * 9}'.svg": PICTURE}
    versions = {HOSTILE: HOSTILE}
    folder = result(tmp_path / "out", files, command=HOSTILE, configuration=nested, versions=versions)
    page = html.folder_page(folder)
    found = Reader(page)
    assert "script" not in found.tags
    assert not {name for name in found.attributes if name.startswith("on")}
    assert all(address.startswith("data:") for address in found.addresses)
    assert "default-src 'none'" in page
    assert "\u202e" not in page


DAMAGE = {
    "no manifest": (lambda f: (f / "manifest.json").unlink(), "must hold a manifest.json"),
    "no JSON": (lambda f: (f / "manifest.json").write_text("{"), "it must be JSON"),
    "nested": (lambda f: (f / "manifest.json").write_text('{"a":' * 50_000), "nested too deeply|must be JSON"),
    "a list": (lambda f: (f / "manifest.json").write_text("[]"), "names no command"),
    "not UTF-8": (lambda f: (f / "manifest.json").write_bytes(b'{"command": "\xff"}'), "must be JSON"),
    "another file": (lambda f: (f / "t.csv").write_text("a\n2\n"), "another checksum"),
    "no file": (lambda f: (f / "t.csv").unlink(), "'t.csv', which is listed"),
    "a link": (lambda f: ((f / "t.csv").unlink(), (f / "t.csv").symlink_to("/etc/hostname")), "'t.csv', which is li"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_folder_is_refused_in_one_line(tmp_path, complaint, name):
    folder = result(tmp_path / "out", {"t.csv": b"a\n1\n"})
    damage, said = DAMAGE[name]
    damage(folder)
    with pytest.raises(ValueError, match=said):
        html.folder_page(folder)
    complaint("report", folder)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"files": {"../x.csv": "0"}}, "'../x.csv', which is listed"), ({"files": {"/etc/x.txt": "0"}}, "'/etc/x.txt'"),
        ({"files": 3}, "files must be an object, got '3'"), ({"versions": []}, "versions must be an object"),
        ({"command": 3}, "names no command"), ({"files": {"t.csv": 5}}, "another checksum"),
    ],
)  # fmt: skip
def test_a_foreign_manifest_is_refused_in_one_line(tmp_path, complaint, changed, said):
    folder = result(tmp_path / "out", {"t.csv": b"a\n1\n"}, **changed)
    assert said in complaint("report", folder)


def test_bytes_that_are_no_text_and_files_that_are_too_large_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"t\.csv: it must be text as lpsm writes it"):
        html.folder_page(result(tmp_path / "bytes", {"t.csv": b"\xff\n"}))
    monkeypatch.setattr(html, "_MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="must have at most 1000 bytes"):
        html.folder_page(result(tmp_path / "large", {"a.svg": b"x" * 600, "b.svg": b"y" * 600}))


def test_checksums_beside_the_manifest_are_those_that_count(tmp_path):
    folder = result(tmp_path / "out", {"t.csv": b"a\n1\n"})
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "SHA256SUMS").write_text(f"{manifest.pop('files')['t.csv']}  t.csv\n")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "t.csv: 1 row<" in html.folder_page(folder)


def test_the_command_writes_the_page_whole_into_the_folder_or_outside_it(lpsm, complaint, tmp_path):
    words = ["compare", "--pages", "2", "--seeds", "1", "--policies", "psm", "--jobs", "1", "--out", tmp_path / "out"]
    assert lpsm(*words).exit_code == 0
    assert "report.html" in complaint("report", tmp_path / "out", "--out", tmp_path / "out" / "deep" / "page.html")
    assert "ends in .html" in complaint("report", tmp_path / "out", "--out", tmp_path / "page.htm")
    assert "must be a folder of results" in complaint("report", tmp_path / "absent")
    for page in (tmp_path / "other" / "page.html", tmp_path / "out" / "report.html"):
        assert lpsm("report", tmp_path / "out", "--out", page).exit_code == 0
    content = page.read_bytes()
    assert content == (tmp_path / "other" / "page.html").read_bytes()
    assert len(content) < 1_500_000
    assert content.count(b"data:image/svg+xml") == len(list((tmp_path / "out").glob("*.svg")))
    assert not list(tmp_path.rglob("*.tmp"))
