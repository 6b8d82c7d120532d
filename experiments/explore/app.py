"""The explorer's page: controls on one side; the front, the energies and the timeline on the other.

It is served on 127.0.0.1 alone; requests that were sent to another name, or by another page, are refused, so that no
page elsewhere can read it or set it to work.  A link carries the position of all controls.  The pictures are those of
`lpsm compare` and `lpsm timeline`, and a short script of the page asks for them anew when a control has moved.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from string import Template
from threading import Lock

from matplotlib.figure import Figure

from experiments.explore.answer import Answer, Explorer
from experiments.explore.settings import Settings
from experiments.figures.comparison import energy, energy_front
from experiments.figures.style import label, saved
from experiments.figures.timeline import timelines
from experiments.quantities import BASELINE, COMPARISON
from experiments.report.comparison import advice
from experiments.report.text import cells
from netsim.policies import registry
from netsim.radio import profiles

__all__ = ["WITHIN_S", "Page", "pictures"]

WITHIN_S = 0.15  # an answer that takes longer comes in two parts
_HOSTS = ("127.0.0.1", "localhost")
_PAGE = resources.files("experiments.explore").joinpath("page.html").read_text(encoding="utf-8")
_SCRIPT = _PAGE.partition("<script>")[2].partition("</script>")[0]
_DIGEST = b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    f"script-src 'sha256-{_DIGEST}'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_SLIDERS: dict[str, tuple[str, float, float, float]] = {
    "pages": ("Pages a seed", 10, 200, 10),
    "seeds": ("Seeds", 1, 20, 1),
    "server_s": ("Mean delay of the server [s]", 0, 2, 0.05),
    "rtt_ms": ("Round trip [ms]", 5, 400, 0.2),
    "beacon_ms": ("Time between beacons [ms]", 50, 400, 0.4),  # 100 and 102.4 are among them
    "page": ("Page of the timeline", 1, 20, 1),
}
"""Control to its words, ends and step."""
_DRAWING = Lock()  # Matplotlib's settings are those of the whole process


class Page(ThreadingHTTPServer):
    """The server of the page; `trace` is the name of the file whose sessions are browsed, if any."""

    daemon_threads = True

    def __init__(self, explorer: Explorer, port: int = 0, trace: str | None = None) -> None:
        super().__init__(("127.0.0.1", port), _Request)
        self.explorer, self.trace = explorer, trace

    def settings(self, query: str) -> Settings:
        """Return what a link says; where it names no kind of server, those of the recording answer, if there is one."""
        return Settings.of_link(query, "recorded" if self.trace else Settings().server)

    def whole(self, query: str) -> str:
        """Return the page with its controls at the position of a link."""
        try:
            settings, complaint = self.settings(query), ""
        except ValueError as error:
            settings, complaint = self.settings(""), _complaint(error)
        return Template(_PAGE).safe_substitute(controls="\n".join(_controls(settings, self.trace)), answers=complaint)

    def answer(self, query: str, within_s: float | None) -> str:
        """Return what stands beside the controls: all of it, or what there is after so many seconds."""
        try:
            settings = self.settings(query)
            found = self.explorer.answer(settings, within_s=within_s)
        except ValueError as error:
            return _complaint(error)
        pending = [*map(label, found.pending), *["the timelines"] * (found.timelines is None)]
        header, rows = cells(COMPARISON, found.summary)
        with _DRAWING:  # of an answer that is not whole the page keeps the pictures that it has
            drawn = [] if pending else [_picture(title, figure) for title, figure in pictures(found).items()]
        parts = [
            f'<p id="pending" class="note">Still computing: {escape(", ".join(pending))} ...</p>' * bool(pending),
            f'<details data-link="{escape(settings.link)}"><summary>Command</summary>',
            f"<pre>{escape(settings.command(self.trace))}</pre></details>",
            '<div id="pictures">', *drawn, "</div>",
            f'<p>{escape(advice(found.summary))}</p>\n<div class="scroll"><table>\n<thead>{_row("th", header)}</thead>',
            *(_row("td", row) for row in rows), "</table></div>",
        ]  # fmt: skip
        return "\n".join(parts)


class _Request(BaseHTTPRequestHandler):
    """A question of the page, or of somebody else."""

    server: Page
    timeout = 60

    def do_GET(self) -> None:
        host, (path, _, query) = self.headers.get("Host", ""), self.path.partition("?")
        origin, site = self.headers.get("Origin", f"http://{host}"), self.headers.get("Sec-Fetch-Site", "none")
        if host.rpartition(":")[0] not in _HOSTS and host not in _HOSTS:
            self._reply(403, "the page answers to this machine alone")
        elif site not in ("none", "same-origin") or origin != f"http://{host}":
            self._reply(403, "another page asks: type or paste the address")
        elif path == "/":
            self._reply(200, self.server.whole(query))
        elif path in ("/quick", "/whole"):
            self._reply(200, self.server.answer(query, WITHIN_S if path == "/quick" else None))
        else:
            self._reply(404, "there is no such file")

    def _reply(self, status: int, text: str) -> None:
        content = text.encode(errors="backslashreplace")
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Leave requests unsaid."""


def pictures(found: Answer) -> dict[str, Figure]:
    """Return the pictures of an answer, by their titles."""
    drawn = {"Energy of a page, by its parts": energy(found.summary)}
    if found.summary["slowdown_mean"].notna().any():
        drawn = {"Energy against waiting": energy_front(found.summary), **drawn}
    return drawn | ({"One page, frame by frame": timelines(found.timelines)} if found.timelines else {})


def _picture(title: str, figure: Figure) -> str:
    data = b64encode(saved(figure, "svg")).decode()
    return f'<h2>{title}</h2>\n<img alt="{title}" src="data:image/svg+xml;base64,{data}">'


def _complaint(error: ValueError) -> str:
    return f'<p role="alert">{escape(str(error))}</p>'


def _row(kind: str, row: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(one)}</{kind}>' for one in row)}</tr>"


def _controls(settings: Settings, trace: str | None) -> Iterator[str]:
    """Yield the controls, at the position of the settings."""
    if trace:
        yield f'<p class="note">Traffic: {escape(trace)}</p>'
    servers = [*["recorded"] * bool(trace), "constant", "exponential", "lognormal"]
    lists = {
        "server": ("Server's delay is", servers),
        "radio": ("Radio", [*dict.fromkeys([*profiles(), settings.radio])]),
    }
    for name in ("pages", "seeds", "server", "server_s", "rtt_ms", "radio", "beacon_ms", "policies", "page"):
        value = getattr(settings, name)
        if name == "policies":
            known = [
                *(entry.example for entry in registry().values()),
                *Settings().policies,
                "bsd:0.2",
                "lpsm",
                "lpsm3:1.2",
            ]
            boxes = [
                f'<label><input type="checkbox" name="policies" value="{escape(one)}"{" checked" * (one in value)}> '
                f"{escape(label(one))} ({escape(one)})</label>"
                for one in dict.fromkeys([*value, *known])
                if one != BASELINE
            ]
            none = '<input type="hidden" name="policies">'
            yield "\n".join(["<fieldset><legend>Policies</legend>", none, *boxes, "</fieldset>"])
        elif name in lists:
            words, among = lists[name]
            options = [f"<option{' selected' * (one == value)}>{escape(one)}</option>" for one in among]
            yield f'<label>{words}<select name="{name}">{"".join(options)}</select></label>'
        elif not trace or name not in ("pages", "seeds"):
            words, low, high, step = _SLIDERS[name]
            ends = f'min="{min(low, value)}" max="{max(high, value)}" step="{step}" value="{value:g}"'
            slider = f'<input type="range" id="{name}" name="{name}" {ends}>'
            yield f'<label>{words} <output for="{name}"></output>{slider}</label>'
