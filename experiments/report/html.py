"""One HTML page of a finished folder of results: its words, its pictures, its tables, and how it was configured.

The page is one file.  It runs nothing and asks for nothing over the network, which its content policy forbids:
pictures are SVG files inside ``img`` elements, where no script of theirs would run, and every text from the folder is
escaped.  It holds no clock time and no path, so that the same folder gives the same bytes.
"""

import base64
import csv
from collections.abc import Iterator
from html import escape
from importlib import resources
from io import StringIO
from pathlib import Path
from string import Template

from experiments.escaping import as_meant, inert, is_number
from experiments.quantities import Row
from experiments.study.store import MANIFEST, content_of, finished

_MOST_BYTES = 1 << 26
"""Of the files of one folder that the page holds, together."""
_MOST_ROWS = 200
"""Of a table, in the page; the folder has the whole."""


def folder_page(folder: Path) -> str:
    """Return the page of a folder of results, or of all those one or two levels below a folder.

    Raises a ValueError if it holds no finished results of ``lpsm``, or a file is missing, damaged or too large.
    """
    results = [folder] if (folder / MANIFEST).exists() else sorted(
        path.parent for depth in ("*", "*/*") for path in folder.glob(f"{depth}/{MANIFEST}")
    )  # fmt: skip
    if not results:
        raise ValueError(f"{folder}: a folder of results must hold a {MANIFEST}, there is none")
    sections, titles = [], []
    for one in results:
        try:
            manifest = finished(one)
            titles.append(f"lpsm {manifest['command']}")
            sections.append("\n".join(_section(one, manifest)))
        except RecursionError:
            raise ValueError(f"{one / MANIFEST}: its configuration is nested too deeply") from None
    title = titles[0] if len(titles) == 1 else f"{len(titles)} results of lpsm"
    page = resources.files("experiments.report").joinpath("page.html").read_text(encoding="utf-8")
    return Template(page).substitute(title=_text(title), sections="\n".join(sections))


def _text(words: object) -> str:
    """Return words as they stand in HTML: with no markup, and escapes for what is not printed."""
    return escape(inert(str(words), "\n\t"))


def _section(folder: Path, manifest: Row) -> Iterator[str]:
    """Yield the parts of the page that show one folder."""
    room, shown = _MOST_BYTES, {}
    for name in sorted(name for name in manifest["files"] if name.endswith(tuple(_SHOWN))):
        shown[name] = content_of(folder, name, manifest, _MOST_BYTES)
        room -= len(shown[name])
        if room < 0:
            raise ValueError(
                f"{folder}: the files that a page shows must have at most {_MOST_BYTES} bytes, there are more"
            )
    yield f"<h1>lpsm {_text(manifest['command'])}</h1>"
    for ending, show in _SHOWN.items():
        for name in (name for name in shown if name.endswith(ending)):
            try:
                yield show(name, shown[name])
            except (UnicodeDecodeError, csv.Error) as error:
                raise ValueError(f"{folder / name}: it must be text as lpsm writes it: {error}") from None
    rows = "\n".join(
        f'<tr><th scope="row">{_text(name)}</th><td>{_text(value)}</td></tr>'
        for name, value in _flat("", manifest["configuration"])
    )
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    yield (
        f"<details>\n<summary>Configuration</summary>\n<p>Made with {_text(versions)}.</p>\n"
        f'<div class="scroll"><table class="configuration">\n{rows}\n</table></div>\n</details>'
    )


def _words(_name: str, content: bytes) -> str:
    return f"<pre>{_text(content.decode().rstrip())}</pre>"


def _picture(name: str, content: bytes) -> str:
    title = _text(name.removesuffix(".svg").replace("-", " ").capitalize())
    data = base64.b64encode(content).decode()
    return f'<figure>\n<h2>{title}</h2>\n<img alt="{title}" src="data:image/svg+xml;base64,{data}">\n</figure>'


def _table(name: str, content: bytes) -> str:
    head, *rows = [*csv.reader(StringIO(content.decode(), newline=""))] or [[]]
    more = f", of which the first {_MOST_ROWS} are here" if len(rows) > _MOST_ROWS else ""
    columns = "".join(f'<th scope="col">{_text(column)}</th>' for column in head)
    lines = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:_MOST_ROWS])
    return (
        f"<details>\n<summary>{_text(name)}: {len(rows)} row{'s' * (len(rows) != 1)}{more}</summary>\n"
        f'<div class="scroll"><table>\n<thead><tr>{columns}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table></div>\n'
        "</details>"
    )


def _cell(value: str) -> str:
    """Return a cell: five digits of a number, whose exact value a pointer over it shows, or a text."""
    if not is_number(value):
        return f'<td class="words">{_text(as_meant(value))}</td>'
    short = f"{float(value):.5g}"
    return f"<td>{_text(value)}</td>" if len(value) <= len(short) else f'<td title="{_text(value)}">{short}</td>'


def _flat(prefix: str, data: Row) -> Iterator[tuple[str, str]]:
    """Yield the settings of a nested configuration that are set, as dotted names and words."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        elif value is not None:
            yield f"{prefix}{name}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)


_SHOWN = {".txt": _words, ".svg": _picture, ".csv": _table}
