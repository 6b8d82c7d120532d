"""The explorer's server: the page, what can be set on it, and answers that tell how far they are.

It is served on 127.0.0.1 alone; what was sent to another name, or by another page, is refused, so that no page
elsewhere can read it or set it to work.  An answer is a line of JSON after another, the last of which is the summary;
whoever hangs up takes back the runs that nobody has begun.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from socket import socket

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from experiments.escaping import echo
from experiments.explore.answer import Explorer, Work
from experiments.explore.settings import NUMBERS, SERVERS, Settings
from experiments.figures.style import PART_FILLS, label, looks
from experiments.quantities import BASELINE, COMPARISON, ENERGY_PARTS, REFERENCES, Quantity, Row
from experiments.report.text import cells, plain
from netsim.policies import registry

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_LARGEST_BYTES = 1 << 16
_PATIENCE_S = 0.4  # after which an answer over the first replications is worth its time
_UNDER_WAY = 2  # runs of one answer at a time, so that another one waits for no more of them
_SYMBOLS = {
    "o": "circle", "s": "square", "d": "diamond-tall", "D": "diamond", "^": "triangle-up", "v": "triangle-down",
    "<": "triangle-left", ">": "triangle-right", "P": "cross", "X": "x", "*": "star", "p": "pentagon", "h": "hexagon",
}  # fmt: skip
_HOURS = Quantity("battery_h", "hours", ".0f")
_TIMED = ("policy", "mean_mw", "battery_h", "energy_vs_psm_percent", "slowdown_mean", "slowdown_p95")


class Guard:
    """Refuses what another page asks, and says in every answer what the page may load."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        headers = Headers(scope=scope)
        own = f"http://{headers.get('host')}"
        answers = self.app
        if len(scope["query_string"]) > _LARGEST_BYTES:
            answers = PlainTextResponse(f"a link must have at most {_LARGEST_BYTES} bytes", 414)
        elif not (
            headers.get("sec-fetch-site", "none") in ("none", "same-origin") and headers.get("origin", own) == own
        ):
            answers = PlainTextResponse("another page asks: type or paste the address", 403)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await answers(scope, receive, guarded)


class Page:
    """The page of an explorer."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer, self._threads = explorer, ThreadPoolExecutor(2)
        self._html = resources.files("experiments.explore").joinpath("page/index.html").read_text(encoding="utf-8")
        self.app = Starlette(
            routes=[
                Route("/", self.index), Route("/controls", self.controls), Route("/answer", self.answer),
                Mount("/page", StaticFiles(packages=[("experiments.explore", "page")])),
                Mount("/plotly", StaticFiles(packages=[("plotly", "package_data")])),
            ],
            middleware=[Middleware(TrustedHostMiddleware, ["127.0.0.1", "localhost"], False), Middleware(Guard)],
            exception_handlers={Exception: _failed},
        )  # fmt: skip
        self.server = uvicorn.Server(uvicorn.Config(
            self.app, http="h11", ws="none", lifespan="off", log_config=None, log_level="critical",
            access_log=False, proxy_headers=False, server_header=False, timeout_graceful_shutdown=1,
        ))  # fmt: skip

    def serve(self, listening: socket) -> None:
        """Serve until a signal comes, or `server` is told to end."""
        self.server.run([listening])

    def index(self, request: Request) -> Response:
        """Return the page, which asks for the rest."""
        try:
            self.explorer.settings(_query(request))
        except ValueError:
            return HTMLResponse(self._html, 400)  # the page will hear the reason
        return HTMLResponse(self._html)

    def controls(self, request: Request) -> Response:
        """Return what can be set, where it stands at first, and what is browsed."""
        explorer, start = self.explorer, self.explorer.defaults
        examples = [entry.example for entry in registry().values()]
        known = dict.fromkeys([*explorer.own, *start.policies, *examples, "bsd:0.2", "lpsm", "lpsm3:1.2"])
        called = {label(one): one for one in [*known][::-1]}  # lpsm3:1.05 and lpsm3:1.05:400 are one policy
        drawn = ("pages", "seeds")
        found: Row = {
            "start": {name: getattr(start, name) for name in Settings.__slots__},
            "numbers": {name: one for name, one in NUMBERS.items() if not (explorer.trace and name in drawn)},
            "choices": {
                "server": ["Time of servers", [one for one in SERVERS if one != SERVERS[0] or explorer.tells_waits]],
                "radio": ["Radio", [*explorer.radios]],
            },
            "policies": {called[label(one)]: label(one) for one in known if one not in (BASELINE, "psm:100")},
            "trace": str(explorer.trace or ""), "timed": explorer.is_timed,
        }  # fmt: skip
        return JSONResponse(found)

    async def answer(self, request: Request) -> Response:
        """Return how far the answer to a position of the controls is, and then the answer."""
        try:
            settings = await run_in_threadpool(self.explorer.settings, _query(request))
        except ValueError as error:
            return PlainTextResponse(str(error).encode(errors="backslashreplace"), 400)
        return StreamingResponse(self.told(settings), media_type="application/x-ndjson")

    async def told(self, settings: Settings) -> AsyncIterator[str]:
        """Yield lines of JSON: how far the answer is, answers over the first seeds, and the whole one."""
        yield _line({"doing": "preparing"})
        try:
            work = await run_in_threadpool(self.explorer.work, settings)
            loop, rows, running = asyncio.get_running_loop(), dict[str, Row](), dict[asyncio.Future[Row], str]()
            waiting = [] if self.explorer.knows(work) else list(work.tasks)[::-1]
            ready, due_s = 1, loop.time() + _PATIENCE_S  # replications of which an answer is given before all
            try:
                while waiting or running:
                    while waiting and len(running) < _UNDER_WAY:
                        key = waiting.pop()
                        running[loop.run_in_executor(self._threads, self.explorer.play, work.tasks[key])] = key
                    done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    rows |= {running.pop(one): one.result() for one in done}
                    yield _line({"done": len(rows), "of": len(work.tasks)})
                    if waiting and loop.time() > due_s and rows.keys() >= work.first(ready).keys():
                        yield _line(await run_in_threadpool(self._found, work, rows, ready))
                        ready, due_s = 2 * ready, loop.time() + 2 * _PATIENCE_S
            finally:
                for one in running:
                    one.cancel()
            yield _line(await run_in_threadpool(self._found, work, rows))
        except Exception as error:  # a policy of one's own may raise anything
            yield _line({"error": str(error)})

    def _found(self, work: Work, rows: Mapping[str, Row], first: int | None = None) -> Row:
        explorer, settings = self.explorer, work.settings
        summary = explorer.summary(work, rows, first)
        best = explorer.best(summary, settings)
        names = summary["policy"].tolist()
        drawn = {name: {"label": label(name), "colour": one.colour,
                    "symbol": _SYMBOLS[one.marker] + "-open" * (not one.filled)}
                 for name, one in looks([name for name in names if name not in REFERENCES]).items()}  # fmt: skip
        header, table = cells(_columns(explorer.is_timed), summary)
        return {
            "whole": first is None, "best": best, "summary": plain(summary), "header": header, "table": table,
            "looks": drawn,
            "csv": summary.to_csv(index=False), "command": explorer.command(settings),
            "parts": [[f"{name}_per_page", ENERGY_PARTS[name], colour] for name, (colour, _) in PART_FILLS.items()],
        }  # fmt: skip


def _columns(timed: bool) -> list[Quantity]:
    """Return the columns of the table: a recording with times of its own is told in mW and hours."""
    quantities = [one for one in COMPARISON if one.name != "mean_mw"]
    power = next(one for one in COMPARISON if one.name == "mean_mw")
    if not timed:
        return [*quantities, power, _HOURS]
    kept = [one for one in quantities if one.name in _TIMED or "delay" in one.name]
    return [kept[0], power, _HOURS, *kept[1:]]


def _query(request: Request) -> dict[str, str]:
    """Return what a link says, policies that are named one by one with commas between them."""
    return {name: ",".join(request.query_params.getlist(name)) for name in request.query_params}


def _line(found: Row) -> str:
    return json.dumps(found) + "\n"


async def _failed(request: Request, error: Exception) -> Response:
    """Say in a line what nobody foresaw."""
    echo(f"lpsm: a request failed: {type(error).__name__}: {error}", err=True)
    return PlainTextResponse("the program could not answer; its terminal says why", 500)
