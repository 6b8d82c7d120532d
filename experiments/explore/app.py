"""The explorer's page: controls on one side, the front, the energies and the timeline on the other.

Dash serves it on 127.0.0.1 alone; requests that were sent to another name, or by another page, are refused, so that no
page elsewhere can read it or set it to work.  So is what the page itself would not ask.  A link carries the position
of all controls.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import DependencyException
from flask import Response, abort, request

from experiments.explore.answer import Answer, Explorer
from experiments.explore.pictures import BACK, GRID, energy_bars, front, timelines
from experiments.explore.settings import Settings
from experiments.figures.style import INK, label, readable
from experiments.quantities import BASELINE
from experiments.report.text import number
from netsim.policies import registry
from netsim.radio import profiles

__all__ = ["WITHIN_S", "app", "figures"]

WITHIN_S = 0.15  # an answer that takes longer comes in parts
_GRAPHS = {
    "front": "Energy against waiting",
    "energy": "Energy of a page, by its parts",
    "timeline": "One page, frame by frame",
}
_ASK, _ANSWERED = 0, 1  # ticks of the clock: it asks once an answer came, as a question drops the one before it
_MOST_BYTES = 1 << 16  # of a request: the page's own have 4,000
_HOSTS = ("127.0.0.1", "localhost")
_DARK_BACK, _DARK_INK = "#16181c", "#e8e8e8"
_DARK = {GRID: "#33373e", BACK: _DARK_BACK, INK: _DARK_INK, "#000000": _DARK_INK}
_HIDDEN = {"visible": False}
_CLEAR = "rgba(0,0,0,0)"
_EMPTY: Any = {"layout": {"xaxis": _HIDDEN, "yaxis": _HIDDEN, "paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR}}
_CLOSED: Any = {"aria-expanded": "false", "aria-controls": "code"}
_NAMED: Any = {"aria-label": "settings"}
_CONTROLS = ("pages", "seeds", "server", "server_s", "rtt_ms", "radio", "beacon_ms", "policies", "page")
_OUTPUTS = (
    *(Output(graph, "figure") for graph in _GRAPHS), Output("table", "children"), Output("complaint", "children"),
    Output("command", "children"), Output("python", "children"), Output("url", "search"), Output("pending", "children"),
    Output("again", "n_intervals"), *(Output(name, "value") for name in _CONTROLS),
)  # fmt: skip
_ICON = '<link rel="icon" href="data:,"><meta name="viewport" content="width=device-width, initial-scale=1">'
_NOTE = (
    "Move anything: all policies browse the same pages again. Left and low is better. The address of this page carries "
    "the position of every control."
)
_SLIDERS: dict[str, tuple[str, float, float, float]] = {
    "pages": ("Pages a seed", 10, 200, 10),
    "seeds": ("Seeds", 1, 20, 1),
    "server_s": ("Mean delay of the server [s]", 0, 2, 0.05),
    "rtt_ms": ("Round trip [ms]", 5, 400, 5),
    "beacon_ms": ("Time between beacons [ms]", 50, 400, 0.4),  # 100 and 102.4 are among them
    "page": ("Page of the timeline", 1, 20, 1),
}
"""Control to its words, ends and step."""


def app(explorer: Explorer, *, trace: str | None = None) -> Dash:
    """Return the application; `trace` is the name of the file whose sessions are browsed, if any."""
    made = Dash(__name__, title="lpsm explore", update_title="", serve_locally=True)
    made.server.config["MAX_CONTENT_LENGTH"] = _MOST_BYTES
    made.server.register_error_handler(DependencyException, lambda _: ("there is no such file", 404))
    css = resources.files("experiments.explore").joinpath("page.css").read_text(encoding="utf-8")
    page = made.index_string.replace("<html>", '<html lang="en">').replace("{%favicon%}", _ICON)
    made.index_string = page.replace("{%css%}", "{%css%}<style>" + css + "</style>")
    made.layout = _layout(trace)

    @made.server.before_request  # type: ignore[untyped-decorator]
    def refuse_others() -> None:
        if request.host.rpartition(":")[0] not in _HOSTS and request.host not in _HOSTS:
            abort(403, "the page answers to this machine alone")
        own = f"{request.scheme}://{request.host}"
        site = request.headers.get("Sec-Fetch-Site", "none")
        if site not in ("none", "same-origin") or request.headers.get("Origin", own) != own:
            abort(403, "another page asks: type or paste the address")
        if request.method == "POST":
            try:
                body = request.get_json()
            except RecursionError:
                body = None
            if not _is_own(made, body):
                abort(400, "the page does not ask this")

    @made.server.after_request  # type: ignore[untyped-decorator]
    def keep_to_itself(response: Response) -> Response:
        response.headers.update({"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"})
        return response

    made.clientside_callback(  # type: ignore[no-untyped-call]
        "() => window.matchMedia('(prefers-color-scheme: dark)').matches",
        Output("dark", "data"),
        Input("url", "pathname"),
    )

    @made.callback(
        *_OUTPUTS, *(Input(name, "value") for name in _CONTROLS), Input("dark", "data"), Input("url", "search"),
        Input("again", "n_intervals"),
    )  # fmt: skip
    def follow(*given: Any) -> Any:
        *values, dark, search, _ = given
        first = ctx.triggered_id in (None, "url")
        try:
            settings = _settings(search, None if first else dict(zip(_CONTROLS, values, strict=True)), trace)
            found = explorer.answer(settings, within_s=WITHIN_S)
        except ValueError as error:
            kept = [no_update] * (len(_GRAPHS) + 1)
            return [*kept, str(error), *[no_update] * 3, "", _ANSWERED, *[no_update] * len(_CONTROLS)]
        pending = [*map(label, found.pending), *["the timelines"] * (found.timelines is None)]
        shown = [getattr(settings, name) for name in _CONTROLS]
        shown[_CONTROLS.index("policies")] = list(settings.policies)
        return [
            *(no_update if figure is None else _themed(figure, bool(dark)) for figure in figures(found)),
            _table(found), "", settings.command(trace), settings.python(trace, explorer.few), settings.link,
            f"Still computing: {', '.join(pending)} ..." if pending else "", _ASK if pending else _ANSWERED,
            *(shown if first else [no_update] * len(_CONTROLS)),
        ]  # fmt: skip

    @made.callback(
        Output("code", "hidden"), Output("show-code", "aria-expanded"), Input("show-code", "n_clicks"),
        State("code", "hidden"), prevent_initial_call=True,
    )  # fmt: skip
    def show(_clicks: int, hidden: bool) -> tuple[bool, str]:
        return not hidden, "true" if hidden else "false"

    return made


def figures(found: Answer) -> list[dict[str, Any] | None]:
    """Return the pictures of an answer: front, energies, timeline (None while it is not there yet)."""
    return [
        front(found.rows, "slowdown_mean", found.references, "mean slowdown of a page"),
        energy_bars(found.rows, found.references),
        timelines(found.timelines) if found.timelines else None,
    ]


def _is_own(made: Dash, body: Any) -> bool:
    """Whether the body of a request is a question of the page: one of its own callbacks, with all that it takes."""
    try:
        known = made.callback_map[body["output"]]
        lists = [body.get(part, []) for part in ("inputs", "state", "outputs", "changedPropIds")]
        wanted = [[(one["id"], one["property"]) for one in known[part]] for part in ("inputs", "state")]
        given = [[(one["id"], one["property"]) for one in part] for part in lists[:2]]
        outputs = "...".join(f"{one['id']}.{one['property']}" for one in lists[2])
        strange = set(lists[3]) - {".".join(one) for one in wanted[0]}
    except (AttributeError, KeyError, TypeError):
        return False
    own = all(isinstance(part, list) for part in lists) and "callback" in known
    return own and given == wanted and f"..{outputs}.." == body["output"] and not strange


def _settings(search: Any, values: Mapping[str, Any] | None, trace: str | None) -> Settings:
    """Return what the controls are set to, or what a link says where there are no values of controls.

    Where nothing is chosen servers answer as recorded, if there is a recording.
    """
    try:
        if values is not None:
            return Settings.of(values)
        return Settings.of_link(search, "recorded" if trace else Settings().server)
    except TypeError as error:
        abort(400, str(error))


def _layout(trace: str | None) -> html.Div:
    known = [entry.example for entry in registry().values()]
    more = [name for name in (*Settings().policies, "bsd:0.2", "lpsm", "lpsm3:1.2") if name not in known]
    policies = [{"label": f"{label(name)} ({name})", "value": name} for name in [*known, *more] if name != BASELINE]
    if trace:
        traffic: list[Any] = [html.P(f"Traffic: {trace}", className="note")]
        traffic += [dcc.Input(id=name, type="hidden", value=getattr(Settings(), name)) for name in ("pages", "seeds")]
    else:
        traffic = [_slider("pages"), _slider("seeds")]
    servers = [*["recorded"] * bool(trace), "constant", "exponential", "lognormal"]
    chosen = dcc.Dropdown(policies, list(Settings().policies), id="policies", multi=True, clearable=False)
    controls = [
        *traffic, _choice("server", "Server's delay is", servers), _slider("server_s"), _slider("rtt_ms"),
        _choice("radio", "Radio", list(profiles())), _slider("beacon_ms"), _labelled("policies", "Policies", chosen),
        _slider("page"), html.Button("Command and Python", id="show-code", **_CLOSED),
    ]  # fmt: skip
    code = [
        html.Div([html.Pre(id=name), dcc.Clipboard(target_id=name, title="copy")]) for name in ("command", "python")
    ]
    pictures = {name: _graph(name, title) for name, title in _GRAPHS.items()}
    answers = [
        html.P(id="complaint", role="alert"), html.P(id="pending", role="status", className="note"),
        html.Div(code, id="code", hidden=True), pictures["front"], pictures["energy"], html.Div(id="table"),
        pictures["timeline"],
    ]  # fmt: skip
    columns = [html.Div(controls, id="controls", role="form", **_NAMED), html.Div(answers, id="answers")]
    return html.Div(
        [
            dcc.Location(id="url", refresh=False),
            dcc.Store(id="dark"),
            dcc.Interval(id="again", interval=50, max_intervals=_ANSWERED, n_intervals=_ANSWERED),
            html.H1("What saving power costs"),
            html.P(_NOTE, className="note"),
            html.Div(columns, id="columns"),
        ]
    )


def _labelled(name: str, words: str, control: Any, **more: Any) -> html.Div:
    return html.Div([html.Label(words, htmlFor=name), control], **more)


def _slider(name: str) -> html.Div:
    words, low, high, step = _SLIDERS[name]
    value = getattr(Settings(), name)
    slider = dcc.Slider(low, high, step, value=value, id=name, marks=None, updatemode="mouseup")
    return _labelled(name, words, slider, className="slider")


def _choice(name: str, words: str, options: list[str]) -> html.Div:
    value = getattr(Settings(), name)
    return _labelled(name, words, dcc.Dropdown(options, value, id=name, clearable=False, searchable=False))


def _graph(name: str, title: str) -> html.Section:
    config: Any = {"displaylogo": False, "responsive": True, "modeBarButtons": [["toImage"]]}
    return html.Section([html.H2(title), dcc.Graph(id=name, figure=_EMPTY, config=config)])


def _table(found: Answer) -> html.Table:
    late = {"added_delay_mean_s": "messages later [s]", "datagram_delay_mean_s": "datagrams late [s]"}
    late = {name: words for name, words in late.items() if found.rows[name].notna().any()}
    head = html.Tr([html.Th(words) for words in ("policy", "mW", "J a page", "mean slowdown", "p95", *late.values())])
    records: Any = found.rows.to_dict("records")
    rows = [
        (
            f"{row['mean_mw']:.3g}", f"{row['total_j_per_page']:.3g}", number(row["slowdown_mean"], 3),
            number(row["slowdown_p95"], 2), *(number(row[name], 3) for name in late),
        )
        for row in records
    ]  # fmt: skip
    body = [
        html.Tr([html.Th(label(policy)), *map(html.Td, cells)])
        for policy, cells in zip(found.rows["policy"], rows, strict=True)
    ]
    return html.Table([html.Thead(head), html.Tbody(body)])


def _themed(figure: Mapping[str, Any], dark: bool) -> dict[str, Any]:
    """Return the figure as it stands on a light or on a dark page."""
    found = _recoloured(figure) if dark else dict(figure)
    back = {"paper_bgcolor": _DARK_BACK, "plot_bgcolor": _DARK_BACK} if dark else {}
    found["layout"] = {**found["layout"], **back, "uirevision": "kept", "autosize": True, "dragmode": False}
    return found


def _recoloured(part: Any) -> Any:
    """Replace every colour that would not stand out from a dark background by a lighter one."""
    if isinstance(part, Mapping):
        return {name: _recoloured(value) for name, value in part.items()}
    if isinstance(part, (list, tuple)):
        plain = all(isinstance(value, (int, float)) or value is None for value in part[:2])  # coordinates
        return part if plain else [_recoloured(value) for value in part]
    if isinstance(part, str) and part.startswith("#"):
        return _DARK.get(part) or _lighter(part)
    return part


@cache
def _lighter(colour: str) -> str:
    return readable(colour, _DARK_BACK)
