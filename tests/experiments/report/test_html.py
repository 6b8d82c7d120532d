from __future__ import annotations

import base64
import csv
import io
import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.quantities import Quantity
from experiments.report.html import Chart, Page, Table, render
from experiments.report.html_charts import figure, line, thin
from tests.experiments.browser import AVAILABLE, browser

plotly = pytest.importorskip("plotly.graph_objects")
chromium = pytest.mark.skipif(not AVAILABLE, reason="no Chromium here")
COMPARE = ["compare", "--pages", "4", "--seeds", "2", "--policies", "psm,bsd:0.5,lpsm:log"]
MADE = ["compared", "replayed", "tuned", "populated"]
DRAWN = "document.documentElement.dataset.drawn"


class Reader(HTMLParser):
    """The tables of a page (file -> rows of (column, exact, shown)), its saved files, and its figures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[tuple[str, str, str]]]] = {}
        self.saved: dict[str, bytes] = {}
        self.addresses: list[str] = []
        self.words: dict[str, str] = {}
        self.places: set[str] = set()
        self._file = self._within = ""
        self._cell: tuple[str, str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.addresses += [given[name] for name in ("src", "href") if name in given]
        self.places.add(given.get("id", ""))
        self._within = given.get("id", self._within if tag == "script" else "")
        if "data-file" in given:
            self._file = given["data-file"]
            self.tables[self._file] = []
        if "download" in given:
            self.saved[given["download"]] = base64.b64decode(given["href"].partition(",")[2])
        if tag == "tr" and self._file:
            self.tables[self._file].append([])
        if "data-value" in given:
            self._cell = given["data-column"], given["data-value"]
            self.tables[self._file][-1].append((*self._cell, ""))

    def handle_endtag(self, tag: str) -> None:
        self._cell = None
        if tag == "figure":
            self._file = ""
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self.tables[self._file][-1][-1] = (*self._cell, data)
        if self._within:
            self.words[self._within] = self.words.get(self._within, "") + data


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    return invoke(tmp_path_factory.mktemp("compared"), *COMPARE, "--jobs", "1")


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replayed")
    write_sessions(folder / "browsing")
    return invoke(folder, "replay", str(folder / "browsing"))


def invoke(folder, *arguments):
    from click.testing import CliRunner

    from experiments.cli import main

    result = CliRunner().invoke(main, [*arguments, "--out", str(folder / "out"), "--report", str(folder / "page.html")])
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    return invoke(folder, "tune", "--pages", "3", "--seeds", "4", "--policies", "psm,bsd:1,lpsm:log", "--jobs", "1")


@pytest.fixture(scope="module")
def populated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("populated")
    write_sessions(folder / "browsing")
    return invoke(folder, "population", str(folder / "browsing"), "--jobs", "1", "--pages-per-task", "20")


def write_sessions(folder: Path) -> None:
    folder.mkdir()
    for user in (1, 2, 3):
        lines = [
            f'cs20 {790000000 + 7 * number} {1000 * user} "http://a.b/{number}.html" {2000 * user} 0.5\n'
            for number in range(12 * user)
        ]
        (folder / f"con{user}.cs20.790000000").write_text("".join(lines))


def small_page(**more) -> Page:
    frame = pd.DataFrame({"policy": ["a", "b"], "energy_j": [1 / 3, 2.0], "energy_j_half_width": [0.125, np.nan]})
    return Page(**{
        "title": "T", "lead": "L", "command": "lpsm", "configuration": {"a": {"b": 1}}, "versions": {"lpsm": "1"},
        "tables": [Table("t.csv", "C", frame, [Quantity("policy", "policy"), Quantity("energy_j", "J", interval=True)])],  # noqa: E501
        "charts": [Chart("c", "C", "D", figure([line("a", [0, 1], [np.nan, 2.0], 0)]))], **more,
    })  # fmt: skip


@pytest.mark.parametrize("made", MADE)
def test_every_number_of_the_page_is_that_of_the_csv_file(made, request) -> None:
    folder = request.getfixturevalue(made)
    page = Reader((folder / "page.html").read_text())
    assert {"summary.csv", "held-out.csv"} & set(page.tables)
    numbers = 0
    for name, rows in page.tables.items():
        data = (folder / "out" / name).read_bytes()
        assert page.saved[name] == data
        records = list(csv.DictReader(io.StringIO(data.decode())))
        cells = [row for row in rows if row]
        assert len(cells) == len(records)
        if made == "tuned":  # shown by energy, as in the terminal
            records.sort(key=lambda record: float(record["energy_j_per_page"]))
        for row, record in zip(cells, records, strict=True):
            for column, exact, shown in row:
                assert exact == record[column], (name, column)
                rounded = re.match(r"^[+-]?[\d.]+(e-?\d+)?", shown)
                if rounded and re.fullmatch(r"-?[\d.]+(e-?\d+)?", exact):
                    digits = len(rounded[0].partition(".")[2]) if "e" not in rounded[0] else 12
                    assert float(rounded[0]) == pytest.approx(float(exact), abs=0.51 * 10**-digits)
                    numbers += 1
    assert numbers > 20


@pytest.mark.parametrize("made", MADE)
def test_the_pictures_follow_plotlys_schema_and_are_drawn_where_the_page_has_room(made, request) -> None:
    page = Reader((request.getfixturevalue(made) / "page.html").read_text())
    figures = json.loads(page.words["figures"])
    assert len(figures) >= 2
    for drawn in figures:
        assert drawn["name"] in page.places
        plotly.Figure(data=drawn["data"], layout=drawn["layout"])  # raises on what Plotly does not know
        assert drawn["data"]


@pytest.mark.parametrize("made", MADE)
def test_the_page_asks_for_nothing_and_tells_no_path(made, request) -> None:
    folder = request.getfixturevalue(made)
    text = (folder / "page.html").read_text()
    assert all(address.startswith("data:") for address in Reader(text).addresses)
    assert "default-src 'none'" in text
    assert str(folder) not in text


def test_the_same_result_gives_the_same_page_whatever_it_is_called(compared, lpsm, tmp_path) -> None:
    result = lpsm(
        *COMPARE, "--jobs", "2", "--out", tmp_path / "elsewhere", "--report", tmp_path / "other.html", "--json"
    )
    assert result.exit_code == 0
    json.loads(result.stdout)
    assert (tmp_path / "other.html").read_bytes() == (compared / "page.html").read_bytes()


def test_the_command_in_the_page_makes_the_page_again(replayed, lpsm, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(replayed)
    first = lpsm(
        "replay", replayed / "browsing", "--member", "con[23].*", "--times", "100:500:200", "--energy", "1/log T",
        "--skip-damaged", "--out", tmp_path / "first", "--report", tmp_path / "first.html",
    )  # fmt: skip
    assert first.exit_code == 0, first.output
    text = (tmp_path / "first.html").read_text()
    command = shlex.split(Reader(text).words["command"])
    assert command == [
        "lpsm", "replay", "--member", "con[23].*", "--times", "100:500:200", "--energy", "1/log T", "--skip-damaged",
        "browsing", "--report", "report.html",
    ]  # fmt: skip
    assert lpsm(*command[1:], "--out", tmp_path / "again").exit_code == 0
    assert (replayed / "report.html").read_text() == text


def test_a_page_in_the_folder_of_results_is_one_of_them(lpsm, tmp_path) -> None:
    arguments = [
        "compare",
        "--pages",
        "2",
        "--seeds",
        "1",
        "--policies",
        "psm",
        "--jobs",
        "1",
        "--out",
        tmp_path / "out",
    ]
    for _ in range(2):  # the second replaces the first, page and all
        assert lpsm(*arguments, "--report", tmp_path / "out" / "page.html").exit_code == 0
    assert "page.html" in json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]


def test_a_populations_page_lies_outside_its_folder(complaint, tmp_path) -> None:
    write_sessions(tmp_path / "browsing")
    told = complaint(
        "population", tmp_path / "browsing", "--out", tmp_path / "out", "--report", tmp_path / "out" / "page.html"
    )
    assert "must lie outside the output folder" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("report", "rule"),
    [
        ("page.htm", "must be the name of a file that ends in .html"),
        ("out/deep/page.html", "output folder itself or outside"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_first(complaint, tmp_path, monkeypatch, report, rule) -> None:
    monkeypatch.chdir(tmp_path)
    assert rule in complaint("compare", "--out", "out", "--report", report)
    assert list(tmp_path.iterdir()) == []


def test_without_plotly_one_line_tells_what_to_install(complaint, tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plotly.offline", None)
    told = complaint("compare", "--out", tmp_path / "out", "--report", tmp_path / "page.html")
    assert "lpsm[report]" in told
    assert list(tmp_path.iterdir()) == []


def test_what_a_trace_calls_itself_cannot_leave_its_place() -> None:
    hostile = "</script><img src=x onerror=alert(1)>\"'&"
    frame = pd.DataFrame({"policy": [hostile], "x": [1.0]})
    text = render(
        small_page(
            title=hostile, lead=hostile, command=hostile, configuration={hostile: hostile},
            choices=[(hostile, hostile)],
            tables=[Table(hostile, hostile, frame, [Quantity("policy", hostile), Quantity("x", "x")])],
            charts=[Chart("c", hostile, hostile, figure([line(hostile, [0], [1], 0)]))],
        )
    )  # fmt: skip
    page = Reader(text)
    assert "<img" not in text
    assert page.tables[hostile][1][0] == ("policy", hostile, hostile)
    assert json.loads(page.words["figures"])[0]["data"][0]["name"] == hostile


def test_what_is_no_number_is_shown_as_nothing_and_drawn_as_a_gap() -> None:
    page = Reader(render(small_page()))
    assert [row[1] for row in page.tables["t.csv"] if row] == [
        ("energy_j", "0.3333333333333333", "0.33 ± 0.12"), ("energy_j", "2.0", "2.00"),
    ]  # fmt: skip
    assert json.loads(page.words["figures"])[0]["data"][0]["y"] == [None, 2.0]


def test_a_long_table_shows_its_beginning_and_saves_the_whole() -> None:
    frame = pd.DataFrame({"policy": [f"p{number}" for number in range(500)]})
    page = Reader(render(small_page(tables=[Table("t.csv", "C", frame, [Quantity("policy", "policy")])])))
    assert len([row for row in page.tables["t.csv"] if row]) == 200
    assert page.saved["t.csv"].count(b"\n") == 501


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 1000, 1001])
def test_no_more_points_are_drawn_than_are_wanted_and_few_are_all_drawn(count) -> None:
    drawn = len(range(count)[thin(count, 8)])
    assert drawn <= 8
    assert drawn == count or count > 8


@chromium
def test_the_page_opens_without_a_complaint_and_draws_the_numbers_of_the_csv_file(compared, tmp_path) -> None:
    records = {row["policy"]: row for row in csv.DictReader((compared / "out" / "summary.csv").open())}
    with browser(tmp_path) as session:
        session.open(compared / "page.html")
        session.wait(DRAWN)
        assert session.complaints() == []
        drawn = session.run("return document.getElementById('energy').data.map(t => [t.name, t.ids, t.x, t.error_x]);")
        parts = {name: dict(zip(ids, x, strict=True)) for name, ids, x, _ in drawn}
        for policy in ("none", "psm:100", "bsd:0.5", "lpsm:log"):
            assert parts["asleep"][policy] == float(records[policy]["sleep_j_per_page"])
            assert parts["awake"][policy] == float(records[policy]["awake_j_per_page"])
            assert parts["listening to beacons"][policy] == float(records[policy]["listen_j_per_page"])
            assert parts["total, 95 % interval"][policy] == float(records[policy]["total_j_per_page"])
        cells = session.run(
            "return [...document.querySelectorAll('[data-file=\"summary.csv\"] tbody tr')].map("
            "r => [...r.children].map(c => [c.dataset.column, c.dataset.value]));"
        )
        assert len(cells) == len(records)
        for row in map(dict, cells):
            assert all(value == records[row["policy"]][column] for column, value in row.items())
        session.run("document.querySelector('#choices input[value=\"none\"]').click();")
        session.wait("document.getElementById('energy').data[0].ids.length === 3")
        assert session.run("return document.querySelector('tr[data-choice=\"none\"]').offsetHeight;") == 0
        assert session.complaints() == []


@chromium
@pytest.mark.long
@pytest.mark.parametrize("made", MADE)
def test_the_page_fits_a_phone_and_paper(made, request, tmp_path) -> None:
    page = request.getfixturevalue(made) / "page.html"
    with browser(tmp_path / "phone", width=390, height=844, phone=True) as session:
        session.open(page)
        session.wait(DRAWN)
        assert session.run("return document.documentElement.scrollWidth;") <= 390
        widths = session.run("return [...document.querySelectorAll('.plot .main-svg')].map(p => p.clientWidth);")
        assert max(widths) <= 390
        session.screenshot(tmp_path / "phone.png")
        assert session.complaints() == []
    with browser(tmp_path / "paper") as session:
        session.open(page)
        session.wait(DRAWN)
        paper = base64.b64decode(session.cdp("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"])
        assert paper.startswith(b"%PDF")
        assert session.run("return Math.max(...[...document.querySelectorAll('.plot')].map(p => p.clientWidth));") > 680
        assert session.complaints() == []


@chromium
@pytest.mark.long
def test_a_replays_page_hides_an_expert_and_reads_without_a_script(replayed, tmp_path) -> None:
    with browser(tmp_path) as session:
        session.open(replayed / "page.html")
        session.wait(DRAWN)
        session.run("document.querySelector('#choices input[value=\"expert 300\"]').click();")
        session.wait("document.getElementById('losses').data[2].visible === false")
        assert session.run("return document.getElementById('losses').data[0].visible;") is True
        session.cdp("Emulation.setScriptExecutionDisabled", {"value": True})
        session.open(replayed / "page.html")
        session.cdp("Emulation.setScriptExecutionDisabled", {"value": False})
        assert "con3" in session.run("return document.querySelector('[data-file=\"summary.csv\"]').innerText;")
