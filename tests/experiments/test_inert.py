"""Names from hostile files are harmless in everything that commands print and write."""

import csv
import io
import json
import struct
from xml.etree import ElementTree

import dpkt
import pytest

from experiments.inert import as_meant, cell, inert
from tests.experiments.makers import Page

HOSTILE = [
    "=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\x1b[31mred\x1b[0m\x1b]0;title\x07", "\u202egpj.exe\u202c",
    "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "a\x9b2Jb\x7f\u2028c",
    "$\\frac{1}$", "{0}%s\\n", "a;=1+1", 'b; "@SUM(A1)', "\uff1d1+1", "c;\uff0b1+cmd", "\u540d\u524d", "'=1+1",
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a table, a workload and a stream whose names are all hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [["time", "bytes", "client", "server", "url"]]
    rows += [[f"{20 * visit + 2 * at}", "3000", name, name, f"http://{name}/{at}.html"]
             for visit in range(2) for at, name in enumerate(HOSTILE)]  # fmt: skip
    with (folder / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows(sorted(rows[1:], key=lambda row: float(row[0])) and rows)
    pages = [{"page": name, "request_bytes": 300, "reply_bytes": 900, "think_s": 1.0} for name in HOSTILE]
    (folder / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    with (folder / "stream.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["a", "b", "label"], *([at, at % 3 + 1, name] for at, name in enumerate(HOSTILE * 3))]
        )
    return folder


def says_only_what_is_printed(text):
    found = sorted({one for one in text if not one.isprintable() and one not in "\n\t\N{NO-BREAK SPACE}"})
    assert found == [], found


def is_a_harmless_table(text):
    for row in csv.reader(io.StringIO(text)):
        for value in row:
            says_only_what_is_printed(value)
            for part in value.split(";"):
                bare = part.lstrip(' "')
                assert bare[:1] not in tuple("=+-@＝＋－＠") or is_a_number(part) or bare in "+-", value


def is_a_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_a_harmless_page(text):
    assert not Page(text).runs_something()
    says_only_what_is_printed(text)


def is_a_harmless_picture(text):
    root = ElementTree.fromstring(text)
    assert not [element for element in root.iter() if element.tag.endswith(("script", "foreignObject"))]
    says_only_what_is_printed(text)


CHECKS = {".csv": is_a_harmless_table, ".html": is_a_harmless_page, ".svg": is_a_harmless_picture,
          ".txt": says_only_what_is_printed, ".json": says_only_what_is_printed}  # fmt: skip
MODEL = ["--jobs", "1"]
COMMANDS = {
    "compare": ["compare", "--trace", "TABLE", "--policies", "none,psm", *MODEL, "--out", "OUT"],
    "population": ["population", "TABLE", "--policies", "none,psm", *MODEL, "--out", "OUT"],
    "replay": ["replay", "TABLE", "--out", "OUT"],
    "simulate": ["simulate", "PAGES", "--policy", "psm", "--out", "OUT/pages.csv"],
    "label": ["label", "STREAM", "--algorithm", "ssmd", "--one-vs-rest", "--out", "OUT"],
    "timeline": ["timeline", "PAGES", "--policies", "psm", "--air", "11g", "--out", "OUT/t.svg",
                 "--perfetto", "OUT/t.json", "--pcap", "OUT/t.pcapng"],
    "pages": ["pages", "TABLE", "--out", "FILE"],
}  # fmt: skip


SLOW = ("compare", "replay")


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[pytest.mark.long] if one in SLOW else []) for one in COMMANDS]
)
def test_whatever_a_command_writes_of_hostile_names_is_harmless(lpsm, files, tmp_path, name):
    out = tmp_path / "out"
    places = {"TABLE": files / "table.csv", "PAGES": files / "pages.jsonl", "STREAM": files / "stream.csv",
              "OUT": out, "FILE": tmp_path / "w.json"}  # fmt: skip
    words = [str(places[word]) if word in places else word.replace("OUT/", f"{out}/") for word in COMMANDS[name]]
    result = lpsm(*words)
    assert result.exit_code == 0, result.output
    says_only_what_is_printed(result.stdout + result.stderr)
    if (out / "manifest.json").exists():
        assert lpsm("report", out).exit_code == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    for path in written:
        if path.suffix in CHECKS:
            CHECKS[path.suffix](path.read_text())
    assert {path.suffix for path in written} & set(CHECKS)


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("words", [["simulate", "PAGES"], ["label", "STREAM", "--algorithm", "ssmd", "--one-vs-rest"]])
def test_what_is_printed_is_harmless_too(lpsm, files, words, form):
    places = {"PAGES": files / "pages.jsonl", "STREAM": files / "stream.csv"}
    result = lpsm(*(places.get(word, word) for word in words), *form)
    assert result.exit_code == 0, result.output
    says_only_what_is_printed(result.stdout + result.stderr)
    if form:
        json.loads(result.stdout)
    elif words[0] == "simulate":
        is_a_harmless_table(result.stdout)


def test_a_capture_that_is_written_holds_no_name_of_the_workload(lpsm, files, tmp_path):
    path = tmp_path / "t.pcapng"
    lpsm("timeline", files / "pages.jsonl", "--policies", "psm", "--air", "11g", "--out", tmp_path / "t.svg",
         "--pcap", path)  # fmt: skip
    data = path.read_bytes()
    assert not [name for name in HOSTILE if name.encode() in data]
    with path.open("rb") as file:
        frames = [frame for _, frame in dpkt.pcapng.Reader(file)]
    assert {struct.unpack_from("<H", frame, 2)[0] for frame in frames} != set()


def complaints(files, folder):
    for at, name in enumerate(HOSTILE):
        yield ["simulate", str(files / "pages.jsonl"), "--policy", name]
        yield ["simulate", str(folder / name.replace("/", "_"))]
        (folder / f"{at}.jsonl").write_text(json.dumps({"page": "a", name: 1, "request_bytes": 1, "reply_bytes": 1}))
        yield ["simulate", str(folder / f"{at}.jsonl")]
        yield [name]
        yield ["replay", "--member", name, str(files / "table.csv"), "--out", str(folder / "o")]


def test_complaints_about_hostile_names_are_one_harmless_line(lpsm, files, tmp_path):
    for words in complaints(files, tmp_path):
        result = lpsm(*words)
        assert result.exit_code == 2, words
        says_only_what_is_printed(result.stderr)
        assert result.stderr.count("lpsm: ") == 1


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a;=1+1", "a;'=1+1"), ('a; "=1', "a;' \"=1"), ("\uff1d1+1", "'\uff1d1+1"), ("x;\uff20A", "x;'\uff20A"),
        (";-cmd", ";'-cmd"),
        ("a;-1.5;+2", "a;-1.5;+2"), ("a; b;c", "a; b;c"), ("a=1;b=-x", "a=1;b=-x"), ("-;+", "-;+"),
    ],
)  # fmt: skip
def test_what_a_spreadsheet_takes_for_a_formula_has_an_apostrophe_before_it(text, written):
    assert cell(text) == written
    assert as_meant(written) == text


def test_ordinary_names_and_numbers_stay_as_they_are():
    for text in ("w0", "http://a.edu/i.gif?q=1", "naïve שלום 日本", "-1.5e-3", "+1", "psm:100", "-"):
        assert inert(text) == cell(text) == text


@pytest.mark.parametrize("text", [*HOSTILE, "-13.2 ± 0.9 %", "+", "'tis", "plain", "a;'=1", "''=1", "'-", "a; -0.2 %;"])
def test_a_cell_that_is_read_back_is_as_it_was_meant(text):
    assert as_meant(cell(text)) == inert(text)
