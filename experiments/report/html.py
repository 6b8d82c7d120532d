"""One self-contained HTML page of a result: tables, interactive pictures, configuration, and how to repeat it.

The page asks for nothing over the network (its content policy forbids it): style, script,
Plotly's library and data are inside.  Every number of a table is in the page as the CSV file has
it, in the attribute ``data-value`` of its cell, and whole tables can be saved from the page; what is
shown is rounded.  A page holds no clock time, path or host name: the same result gives the same bytes.

Pictures are Plotly figures as plain data (`experiments.report.html_charts`), drawn when the page is opened.
"""

from __future__ import annotations

import base64
import csv
import importlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape as escaped_html
from importlib import resources
from math import isfinite
from typing import Any, NamedTuple

import pandas as pd

from experiments.inert import inert
from experiments.quantities import Quantity
from experiments.report.text import cell
from experiments.study.files import csv_text

__all__ = ["Chart", "Page", "Table", "plotly_library", "render"]

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
LISTED = 200  # rows of a table that are shown; the saved table has all


class Table(NamedTuple):
    """A table: the name of its CSV file, what it says, its frame, and the columns shown.

    `prose` says that cells are sentences; rows are shown in ascending `order` of a column, if one is given; the row
    whose first cell is `marked` stands out, with a star.
    """

    file: str
    caption: str
    frame: pd.DataFrame
    columns: Sequence[Quantity]
    prose: bool = False
    order: str = ""
    marked: str = ""


class Chart(NamedTuple):
    """A picture: a name, a title, what it shows, and a Plotly figure as plain data (``data`` and ``layout``).

    A trace whose ``meta`` is ``{"choice": NAME}``, or a point whose entry of ``ids`` is NAME, is shown while NAME
    is chosen.
    """

    name: str
    title: str
    caption: str
    figure: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Everything a page says.

    Attributes
    ----------
    title, lead : str
        What it is, and what was done, in words.
    command : str
        The command line that makes it again.
    configuration, versions : mapping
        As the manifest of the result has them.
    tables, charts : sequences
        In the order shown.
    choices : sequence of (name, label)
        What a reader can take out of the pictures and the first table, such as policies.
    chosen : str
        What the choices are called, such as "policies".
    notes : str
        How to read the numbers.
    """

    title: str
    lead: str
    command: str
    configuration: Mapping[str, Any]
    versions: Mapping[str, str]
    tables: Sequence[Table]
    charts: Sequence[Chart]
    choices: Sequence[tuple[str, str]] = ()
    chosen: str = "policies"
    notes: Sequence[str] = field(default=())


def escape(text: str) -> str:
    """Return text as it stands in HTML: inert, with no markup."""
    return escaped_html(inert(text, "\n\t"))


def plotly_library() -> str:
    """Return Plotly's JavaScript.

    Raises
    ------
    ValueError
        If Plotly is not installed.
    """
    try:
        return str(importlib.import_module("plotly.offline").get_plotlyjs())
    except ImportError:
        raise ValueError("a report needs Plotly, which is not installed: pip install 'lpsm[report]'") from None


def render(page: Page) -> str:
    """Return the page as one HTML document.

    Raises
    ------
    ValueError
        If Plotly is not installed.
    """
    library = plotly_library()
    figures = [{"name": chart.name, **chart.figure} for chart in page.charts]
    sections = [
        f"<h1>{escape(page.title)}</h1>\n<p>{escape(page.lead)}</p>",
        _choices(page.choices, page.chosen),
        *(_table(table, page.choices) for table in page.tables[:1]),
        *(f'<p class="note">{escape(note)}</p>' for note in page.notes),
        *(_chart(chart) for chart in page.charts),
        *(_table(table, ()) for table in page.tables[1:]),
        _repeat(page),
    ]
    body = "\n".join(section for section in sections if section)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(page.title)}</title>\n<style>\n{_asset('html.css')}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n"
        f'<script type="application/json" id="figures">{_json(figures)}</script>\n'
        f"<script>{library}</script>\n<script>\n{_asset('html.js')}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return resources.files("experiments.report").joinpath(name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    """Return JSON that may stand inside a script element, with null for what is not a number."""
    return json.dumps(_finite(data), allow_nan=False, ensure_ascii=False).replace("<", "\\u003c")


def _finite(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(name): _finite(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not isfinite(data):
        return None
    return inert(data, "\n\t") if isinstance(data, str) else data


def _choices(choices: Sequence[tuple[str, str]], chosen: str) -> str:
    if not choices:
        return ""
    boxes = "\n".join(
        f'<label><input type="checkbox" value="{escape(name)}" checked> {escape(label)}</label>'
        for name, label in choices
    )
    return (
        f'<fieldset id="choices">\n<legend>Show these {escape(chosen)}</legend>\n{boxes}\n'
        '<button type="button" data-all="yes">all</button> <button type="button" data-all="">none</button>\n</fieldset>'
    )


def _table(table: Table, choices: Sequence[tuple[str, str]]) -> str:
    text = csv_text(table.frame)
    cells = list(csv.DictReader(io.StringIO(text)))
    rows: Any = table.frame.to_dict("records")
    listed = list(zip(rows, cells, strict=True))
    if table.order:
        listed.sort(key=lambda pair: float(pair[0][table.order]))
    head = "".join(f'<th scope="col">{escape(column.heading)}</th>' for column in table.columns)
    names = {name for name, _ in choices}
    body = []
    for row, exact in listed[:LISTED]:
        first = str(row[table.columns[0].name])
        choice = f' data-choice="{escape(first)}"' if first in names else ""
        star = "\N{BLACK STAR} " if first == table.marked else ""
        drawn = "".join(
            f'<{kind} data-column="{escape(column.name)}" data-value="{escape(exact[column.name])}">'
            f"{star if tag == 'th' else ''}{escape(cell(column, row))}</{tag}>"
            for column, kind, tag in _kinds(table.columns)
        )
        marked = ' class="marked"' if star else ""
        body.append(f"<tr{choice}{marked}>{drawn}</tr>")
    saved = base64.b64encode(text.encode()).decode()
    more = f" The first {LISTED} of {len(rows)} rows are shown." if len(rows) > LISTED else ""
    lines = "\n".join(body)
    kind = "table prose" if table.prose else "table"
    return (
        f'<figure class="{kind}" data-file="{escape(table.file)}">\n<figcaption>{escape(table.caption)}{more} '
        f'<a class="save" download="{escape(table.file)}" href="data:text/csv;base64,{saved}">{escape(table.file)}</a>'
        f'</figcaption>\n<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n'
        "</table></div>\n</figure>"
    )


def _kinds(columns: Sequence[Quantity]) -> Iterator[tuple[Quantity, str, str]]:
    for place, column in enumerate(columns):
        yield (column, "td", "td") if place else (column, 'th scope="row"', "th")


def _chart(chart: Chart) -> str:
    height = int(chart.figure["layout"]["height"])
    return (
        f'<figure class="chart">\n<h2>{escape(chart.title)}</h2>\n'
        f'<div id="{escape(chart.name)}" class="plot" style="height: {height}px" role="img" '
        f'aria-label="{escape(chart.title)}"></div>\n'
        f"<figcaption>{escape(chart.caption)}</figcaption>\n</figure>"
    )


def _repeat(page: Page) -> str:
    rows = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in _flat("", page.configuration)
    )
    versions = ", ".join(f"{name} {version}" for name, version in page.versions.items())
    return (
        f'<section>\n<h2>To repeat it</h2>\n<pre id="command">{escape(page.command)}</pre>\n'
        f"<p>Made with {escape(versions)}.</p>\n<details open>\n<summary>Configuration</summary>\n"
        f'<div class="scroll"><table class="configuration">\n<tbody>\n{rows}\n</tbody>\n</table></div>\n</details>\n'
        "</section>\n<noscript><p>The pictures need JavaScript; the tables do not.</p></noscript>"
    )


def _flat(prefix: str, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name}.", value)
        elif isinstance(value, (list, tuple)):
            yield f"{prefix}{name}", ", ".join(str(item) for item in value)
        elif value is not None:
            yield f"{prefix}{name}", str(value)
