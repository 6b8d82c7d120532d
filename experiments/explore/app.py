"""The explorer's page: controls on one side; the front and the energies on the other.

It is served on 127.0.0.1 alone; requests that were sent to another name, or by another page, are refused, so that no
page elsewhere can read it or set it to work.  A link carries the position of all controls.  The pictures are those of
`lpsm compare`, and a short script of the page asks for them anew when a control has moved.
"""

import hashlib
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from select import select
from socket import MSG_PEEK
from string import Template
from threading import Lock
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.escaping import echo
from experiments.explore.answer import Explorer
from experiments.explore.settings import DEFAULT_POLICIES, NUMBERS, SERVERS, Settings
from experiments.figures.comparison import energy, energy_front
from experiments.figures.style import label, saved
from experiments.quantities import BASELINE, COMPARISON
from experiments.report.comparison import advice
from experiments.report.text import cells
from netsim.policies import registry
from netsim.radio import profiles

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
_DRAWING = Lock()  # Matplotlib's settings are those of the whole process


class Page(ThreadingHTTPServer):
    """The server of the page; `trace` is the name of the file whose sessions are browsed, if any."""

    daemon_threads = True

    def __init__(self, explorer: Explorer, port: int = 0, trace: str | None = None) -> None:
        super().__init__(("127.0.0.1", port), _Request)
        self.explorer, self.trace = explorer, trace

    def settings(self, query: str) -> Settings:
        """Return what a link says; where it names no kind of server, those of a recording answer that tells of them."""
        return Settings.of_link(query, "recorded" if self.explorer.tells_waits else Settings().server)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Leave a client that hung up unsaid; what else goes wrong is said in a line."""
        if not isinstance(error := sys.exc_info()[1], ConnectionError | TimeoutError):
            echo(f"lpsm: a request failed: {type(error).__name__}: {error}", err=True)

    def whole(self, query: str) -> tuple[int, str]:
        """Return the status, and the page with its controls at the position of a link."""
        try:
            status, settings, complaint = 200, self.settings(query), ""
        except ValueError as error:
            status, settings, complaint = 400, self.settings(""), _complaint(error)
        return status, Template(_PAGE).safe_substitute(
            controls="\n".join(_controls(settings, self.trace)), answers=complaint
        )

    def answer(self, query: str, is_gone: Callable[[], bool] = lambda: False) -> tuple[int, str]:
        """Return the status, and what stands beside the controls; nothing is computed for a client that `is_gone`."""
        try:
            settings = self.settings(query)
            summary = self.explorer.answer(settings, is_gone)
        except ValueError as error:
            return 400, _complaint(error)
        header, rows = cells(COMPARISON, summary)
        with _DRAWING:
            drawn = {title: b64encode(saved(one, "svg")).decode() for title, one in pictures(summary).items()}
        parts = [
            f'<details data-link="{escape(settings.link)}"><summary>Command</summary>',
            f"<pre>{escape(settings.command(self.trace))}</pre></details>",
            *(f'<h2>{title}</h2>\n<img alt="{title}" src="data:image/svg+xml;base64,{one}">'
              for title, one in drawn.items()),
            f'<p>{escape(advice(summary))}</p>\n<div class="scroll"><table>\n<thead>{_row("th", header)}</thead>',
            *(_row("td", row) for row in rows), "</table></div>",
        ]  # fmt: skip
        return 200, "\n".join(parts)


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
        elif path in ("/", "/answer"):
            self._reply(*(self.server.whole(query) if path == "/" else self.server.answer(query, self._is_gone)))
        else:
            self._reply(404, "there is no such file")

    def _is_gone(self) -> bool:
        """Whether the client has hung up."""
        ready, _, _ = select([self.connection], [], [], 0.0)
        return bool(ready) and not self.connection.recv(1, MSG_PEEK)

    def _reply(self, status: int, text: str) -> None:
        content = text.encode(errors="backslashreplace")
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Leave requests unsaid."""


def pictures(summary: pd.DataFrame) -> dict[str, Figure]:
    """Return the pictures of an answer, by their titles."""
    drawn = {"Energy of a page, by its parts": energy(summary)}
    return {"Energy against waiting": energy_front(summary), **drawn} if summary["slowdown_mean"].any() else drawn


def _complaint(error: ValueError) -> str:
    return f'<p role="alert">{escape(str(error))}</p>'


def _row(kind: str, row: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(one)}</{kind}>' for one in row)}</tr>"


def _controls(settings: Settings, trace: str | None) -> Iterator[str]:
    """Yield the controls, at the position of the settings."""
    if trace:
        yield f'<p class="note">Traffic: {escape(trace)}</p>'
    for name, (words, low, high, step) in NUMBERS.items():
        if not trace or name not in ("pages", "seeds"):
            slider = f'<input type="range" id="{name}" name="{name}" min="{low}" max="{high}" step="{step}" '
            slider += f'value="{getattr(settings, name):g}">'
            yield f'<label>{words} <output for="{name}"></output>{slider}</label>'
    radios = dict.fromkeys([*profiles(), settings.radio])
    for name, words, among in (
        ("server", "Server's delay is", SERVERS[: 4 if trace else 3]),
        ("radio", "Radio", radios),
    ):
        chosen = getattr(settings, name)
        options = [f"<option{' selected' * (one == chosen)}>{escape(one)}</option>" for one in among]
        yield f'<label>{words}<select name="{name}">{"".join(options)}</select></label>'
    examples = (entry.example for entry in registry().values())
    known = dict.fromkeys([*settings.policies, *DEFAULT_POLICIES, *examples, "bsd:0.2", "lpsm", "lpsm3:1.2"])
    yield '<fieldset><legend>Policies</legend>\n<input type="hidden" name="policies">'
    for one in known:
        if one not in (BASELINE, "psm:100"):  # static PSM has no interval of its own
            box = f'<input type="checkbox" name="policies" value="{escape(one)}"'
            box += f"{' checked' * (one in settings.policies)}>"
            yield f"<label>{box} {escape(label(one))} ({escape(one)})</label>"
    yield "</fieldset>"
