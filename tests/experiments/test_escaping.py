"""Names from hostile files are harmless in everything that commands print and write."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest

from experiments.escaping import as_meant, cell, inert, is_number
from tests.experiments.makers import Page
from tests.tables import cases_of, each

HOSTILE = ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\u202egpj.exe\u202c", "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>",
    "a\x9b2Jb\x7f\u2028c", "$\\frac{1}$", "{0}%s\\n", "a;=1+1", 'b; "@SUM(A1)', "\uff1d1+1", "c;\uff0b1+cmd",
    "\u540d\u524d", "'=1+1"]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a table, a workload and a stream whose names are all hostile; return their places."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = {"TABLE": [["time", "bytes", "client", "server", "url"]], "STREAM": [["a", "b", "label"]]}
    rows["TABLE"] += [[20 * visit + 2 * at, "3000", name, name, f"http://{name}/{at}.html"]
                      for visit in range(2) for at, name in enumerate(HOSTILE)]  # fmt: skip
    rows["TABLE"][1:] = sorted(rows["TABLE"][1:])
    rows["STREAM"] += [[at, at % 3 + 1, name] for at, name in enumerate(HOSTILE * 3)]
    for name, lines in rows.items():
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows(lines)
    pages = [{"page": name, "request_bytes": 300, "reply_bytes": 900, "think_s": 1.0} for name in HOSTILE]
    (folder / "PAGES").write_text("".join(json.dumps(page) + "\n" for page in pages))
    return {path.name: path for path in folder.iterdir()}


def is_plain(text):
    found = sorted({one for one in text if not one.isprintable() and one not in "\n\t\N{NO-BREAK SPACE}"})
    assert found == [], found


def is_a_harmless_table(text):
    for row in csv.reader(io.StringIO(text)):
        for value in row:
            is_plain(value)
            for part in value.split(";"):
                bare = part.lstrip(' "')
                assert bare[:1] not in tuple("=+-@＝＋－＠") or is_number(part) or bare in "+-", value


def is_a_harmless_page(text):
    assert not Page(text).runs_something()
    is_plain(text)


def is_a_harmless_picture(text):
    root = ElementTree.fromstring(text)
    assert not [element for element in root.iter() if element.tag.endswith(("script", "foreignObject"))]
    is_plain(text)


def holds_no_name(text):
    assert not [name for name in HOSTILE if name in text]


CHECKS = {".csv": is_a_harmless_table, ".html": is_a_harmless_page, ".svg": is_a_harmless_picture,
          ".txt": is_plain, ".json": is_plain, ".pcapng": holds_no_name}  # fmt: skip
COMMANDS = """
    compare --trace TABLE --policies none,psm --jobs 1 --out OUT
    population TABLE --policies none,psm --jobs 1 --out OUT
    replay TABLE --out OUT
    simulate PAGES --policy psm --out OUT/pages.csv
    label STREAM --algorithm ssmd --one-vs-rest --out OUT
    timeline PAGES --policies psm --air 11g --out OUT/t.svg --perfetto OUT/t.json --pcap OUT/t.pcapng
    pages TABLE --out OUT.json
""".strip().splitlines()
SLOW = ("compare", "replay")


@each("words", [pytest.param(one, marks=[pytest.mark.long] * (one.split()[0] in SLOW)) for one in COMMANDS])
def test_whatever_a_command_writes_of_hostile_names_is_harmless(lpsm, files, tmp_path, words):
    out = tmp_path / "out"
    result = lpsm(*(str(files.get(word, word.replace("OUT", str(out)))) for word in words.split()))
    assert result.exit_code == 0, result.output
    is_plain(result.stdout + result.stderr)
    if (out / "manifest.json").exists():
        assert lpsm("report", out).exit_code == 0
    written = [path for path in tmp_path.rglob("*") if path.suffix in CHECKS]
    assert written
    for path in written:
        CHECKS[path.suffix](path.read_text(errors="replace" if path.suffix == ".pcapng" else "strict"))


@cases_of("words", "'simulate PAGES' ; 'label STREAM --algorithm ssmd --one-vs-rest'")
def test_what_is_printed_is_harmless_too(lpsm, files, words):
    for form in ((), ("--json",)):
        result = lpsm(*(files.get(word, word) for word in words.split()), *form)
        assert result.exit_code == 0, result.output
        is_plain(result.stdout + result.stderr)
        if form:
            json.loads(result.stdout)
        elif "simulate" in words:
            is_a_harmless_table(result.stdout)


def test_complaints_about_hostile_names_are_one_harmless_line(lpsm, files, tmp_path):
    for at, name in enumerate(HOSTILE):
        path = tmp_path / f"{at}.jsonl"
        path.write_text(json.dumps({"page": "a", name: 1, "request_bytes": 1, "reply_bytes": 1}))
        for words in (("simulate", files["PAGES"], "--policy", name), ("simulate", tmp_path / name.replace("/", "_")),
            ("simulate", path), (name,),
            ("replay", "--member", name, files["TABLE"], "--out", tmp_path / "o")):  # fmt: skip
            result = lpsm(*words)
            assert result.exit_code == 2, words
            is_plain(result.stderr)
            assert result.stderr.count("lpsm: ") == 1


def test_what_a_spreadsheet_takes_for_a_formula_has_an_apostrophe_before_it_and_is_read_back_as_it_was_meant():
    for text, written in (("a;=1+1", "a;'=1+1"), ('a; "=1', "a;' \"=1"), ("\uff1d1+1", "'\uff1d1+1"),
        ("x;\uff20A", "x;'\uff20A"), (";-cmd", ";'-cmd")):  # fmt: skip
        assert cell(text) == written
        assert as_meant(written) == text
    for text in ("w0", "http://a.edu/i.gif?q=1", "naïve שלום 日本", "-1.5e-3", "+1", "psm:100", "-", "a;-1.5;+2",
                 "a; b;c", "a=1;b=-x", "-;+"):  # fmt: skip
        assert inert(text) == cell(text) == text
    for text in (*HOSTILE, "-13.2 ± 0.9 %", "+", "'tis", "a;'=1", "''=1", "'-", "a; -0.2 %;"):
        assert as_meant(cell(text)) == inert(text)
