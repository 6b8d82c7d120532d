"""The page of `lpsm timeline`: policies under one another on one axis of time, to zoom into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.figures.style import BLUE, GREY, INK, ORANGE, PURPLE, SKY, VERMILLION, label
from experiments.figures.timeline import HEARD, ROW_WORDS, ROWS
from experiments.report.html import Chart, Page
from experiments.report.html_charts import axis, figure
from experiments.timeline import Step, Timeline

__all__ = ["timeline_figure", "timeline_page"]

_PLACE = {row: place for place, row in enumerate(ROWS)}
_FLAGS = {0: "", 1: "SYN ", 2: "SYN-ACK "}


def timeline_page(
    runs: Sequence[Timeline], *, what: str, command: str, configuration: Mapping[str, Any], versions: Mapping[str, str]
) -> Page:
    """Lay out timelines of policies on the same traffic; `what` says which stretch of it."""
    caption = (
        "Drag to zoom, double click for all of it. A panel a policy: frames, beacons, the radio (thick: frames are "
        "delivered at once; thin: awake to send only; purple: waking up), what waits at the access point, requests "
        "outstanding, decisions."
    )
    return Page(
        title="What the radio does",
        lead=f"{what}, under {len(runs)} policies.",
        command=command,
        configuration=configuration,
        versions=versions,
        tables=[],
        charts=[Chart("timeline", "Timelines", caption, timeline_figure(runs))],
    )


def timeline_figure(runs: Sequence[Timeline], *, row_height: int = 24) -> dict[str, Any]:
    """Return the panels as one Plotly figure with a common axis of time."""
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    annotations = []
    shapes: list[dict[str, Any]] = []
    share = 1.0 / max(len(runs), 1)
    for number, run in enumerate(runs):
        top = 1.0 - number * share
        name = "y" if number == 0 else f"y{number + 1}"
        layout["yaxis" if number == 0 else f"yaxis{number + 1}"] = axis(
            "", domain=[top - 0.86 * share, top - 0.1 * share], tickvals=list(range(len(ROWS))), fixedrange=True,
            ticktext=[ROW_WORDS[row] for row in ROWS], range=[-0.6, len(ROWS) - 0.4], zeroline=False, ticks="",
        )  # fmt: skip
        annotations.append(
            {
                "text": f"<b>{label(run.policy)}</b>: {run.title}", "xref": "paper", "yref": "paper", "x": 0,
                "y": top - 0.085 * share, "xanchor": "left", "yanchor": "bottom", "showarrow": False,
            }
        )  # fmt: skip
        shapes += [
            {
                "type": "rect", "xref": "x", "yref": f"{name} domain", "x0": start, "x1": end, "y0": 0, "y1": 1,
                "fillcolor": GREY, "opacity": 0.18, "line": {"width": 0}, "layer": "below",
            }
            for start, end in run.loads
        ]  # fmt: skip
        data += [{**trace, "yaxis": name, "showlegend": False} for trace in _traces(run)]
    time = axis(
        "time since the start of the window [s]", zeroline=False, range=[0, max(run.length_s for run in runs)],
        anchor=f"y{len(runs)}" if runs[1:] else "y",
    )  # fmt: skip
    height = 90 + len(runs) * (row_height * len(ROWS) + 50)
    return figure(data, height=height, shapes=shapes, annotations=annotations, xaxis=time, **layout)


def _traces(run: Timeline) -> Iterable[dict[str, Any]]:
    yield _bars("radio", [(start, end, "waking up") for start, end in run.waking], PURPLE, 7)
    yield _bars("radio", [(start, end, "awake to send only") for start, end in run.awake], INK, 4)
    yield _bars("radio", [(start, end, "awake, frames delivered at once") for start, end in run.gate], SKY, 14)
    for heard, colour in HEARD.items():
        at = [beacon.time_s for beacon in run.beacons if beacon.heard == heard]
        words = {"listened": "listened to", "awake": "passed awake", "slept": "slept through"}[heard]
        yield _marks("beacons", [(time, f"beacon {words}") for time in at], colour, 12 if heard != "slept" else 6)
    for down, row, colour in ((True, "down", ORANGE), (False, "up", BLUE)):
        yield _bars(
            row,
            [
                (
                    *run.frame_span(frame),
                    f"{_FLAGS[frame.flag]}connection {frame.connection}, {frame.length} B of payload"
                    + (f", waited {(frame.start_ns - frame.reached_ns) / 1e6:.4g} ms" if down else "")
                    + (", lost" if frame.lost else ""),
                )
                for frame in run.frames
                if frame.down == down
            ],
            colour, 14,
        )  # fmt: skip
    yield _level("waiting", run.waiting, VERMILLION, "bytes wait")
    yield _level("outstanding", run.outstanding, PURPLE, "requests outstanding")
    yield _marks("decisions", run.decisions, INK, 9)


def _bars(row: str, spans: Sequence[tuple[float, float, str]], colour: str, width: int) -> dict[str, Any]:
    place = _PLACE[row]
    x, y, text = [], [], []
    for start, end, words in spans:
        x += [start, end, None]
        y += [place, place, None]
        text += [words, words, ""]
    return {
        "type": "scatter", "mode": "lines+markers", "x": x, "y": y, "text": text,
        "line": {"color": colour, "width": width},
        "marker": {"symbol": "line-ns", "size": width, "line": {"color": colour, "width": 1.5}},
        "hovertemplate": "%{x:.6f} s: %{text}<extra></extra>",
    }  # fmt: skip


def _marks(row: str, marks: Sequence[tuple[float, str]], colour: str, size: int) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "x": [time for time, _ in marks], "y": [_PLACE[row]] * len(marks),
        "text": [words for _, words in marks],
        "marker": {"symbol": "line-ns", "size": size, "line": {"color": colour, "width": 2}},
        "hovertemplate": "%{x:.6f} s: %{text}<extra></extra>",
    }  # fmt: skip


def _level(row: str, steps: Sequence[Step], colour: str, words: str) -> dict[str, Any]:
    most = max((step.value for step in steps), default=0) or 1
    low = _PLACE[row] - 0.4
    return {
        "type": "scatter", "mode": "lines", "x": [value for step in steps for value in (step.start_s, step.end_s)],
        "y": [low + 0.8 * step.value / most for step in steps for _ in range(2)],
        "text": [f"{step.value:,} {words}" for step in steps for _ in range(2)],
        "line": {"color": colour, "width": 1.5}, "hovertemplate": "%{x:.6f} s: %{text}<extra></extra>",
    }  # fmt: skip
