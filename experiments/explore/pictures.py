"""The explorer's pictures as Plotly figures in plain data: energies, energy against slowdown, and timelines.

Dash draws them and answers the pointer.  Colours, markers and dashes are those of `experiments.figures.style`, as in
the pictures of `lpsm compare`; energy is along the horizontal axis here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures.comparison import bar_end, bar_parts
from experiments.figures.front import energy_range, far_from, nondominated
from experiments.figures.style import BLUE, GREY, INK, ORANGE, PURPLE, SKY, VERMILLION, Look, label, looks, readable
from experiments.figures.timeline import HEARD, PLACES, ROWS
from experiments.quantities import BASELINE, REFERENCES
from experiments.timeline import Timeline

__all__ = ["BACK", "GRID", "energy_bars", "front", "marker", "timelines"]

GRID, BACK = "#e3e3e3", "#ffffff"
_FLAGS = {0: "", 1: "SYN ", 2: "SYN-ACK "}
_HEARD = {"listened": "listened to", "awake": "passed awake", "slept": "slept through"}
_ROW_HEIGHT = 16
_AT_TIME = "%{x:.6f} s: %{text}<extra></extra>"

Point = tuple[float | None, float | None, str]
"""Time, place and words of a point."""


def energy_bars(rows: pd.DataFrame, references: Mapping[str, float]) -> dict[str, Any]:
    """Return the energy a page of every policy as a bar of its parts, which end at the total.

    `rows` have `policy`, `total_j_per_page`, `total_j_per_page_half_width`, and the parts of the energy a page;
    `references` are ``limit`` and ``page-awake`` in joules a page.
    """
    names = [label(policy) for policy in rows["policy"]]
    data: list[dict[str, Any]] = [
        {
            "type": "bar", "orientation": "h", "name": part.called, "x": rows[part.name].tolist(), "y": names,
            "marker": {
                "color": colour, "line": {"color": INK, "width": 0.7},
                "pattern": {"shape": hatch[:1], "fillmode": "overlay", "fgcolor": INK, "size": 5},
            },
            "hovertemplate": "%{y}, " + part.called + ": %{x:.4g} J a page<extra></extra>",
        }
        for part, colour, hatch in bar_parts(rows)
    ]  # fmt: skip
    half_widths = rows["total_j_per_page_half_width"].fillna(0.0)
    data.append(
        _scatter(
            rows["total_j_per_page"].tolist(), names, "markers", name="total, 95 % interval",
            marker={"color": INK, "size": 6}, hovertemplate="%{y}: %{x:.4g} J a page in all<extra></extra>",
            error_x={"type": "data", "array": half_widths.tolist(), "thickness": 1.2},
        )
    )  # fmt: skip
    return _figure(
        data, 150 + 36 * len(names), shapes=_reference_lines(references), barmode="stack", bargap=0.35,
        xaxis=_axis("energy [J per page]", range=[0, bar_end(rows, half_widths, 1.1)]),
        yaxis=_axis("", autorange="reversed"),
    )  # fmt: skip


def front(rows: pd.DataFrame, slowdown: str, references: Mapping[str, float], words: str) -> dict[str, Any]:
    """Return energy against slowdown: a point a policy, its name beside it, and the front of those that none beats.

    `rows` have `policy`, `energy_j_per_page`, and the column `slowdown`, along whose axis `words` stand; `references`
    are those of `energy_bars`.
    """
    saving = rows[(rows["policy"] != BASELINE) & (rows["energy_j_per_page"] <= far_from(rows))]
    energy, slow = saving["energy_j_per_page"].tolist(), saving[slowdown].tolist()
    best = nondominated(energy, slow)
    steps = {"color": GREY, "shape": "hv", "width": 1.5}
    data = [_scatter([energy[i] for i in best], [slow[i] for i in best], "lines", name="front", hoverinfo="skip",
                     showlegend=False, line=steps)]  # fmt: skip
    low, high = energy_range([*energy, *references.values()])
    rank = {place: number for number, place in enumerate(np.argsort(slow, kind="stable").tolist())}
    for place, (policy, look) in enumerate(looks(saving["policy"].tolist()).items()):
        side = "left" if energy[place] > low**0.4 * high**0.6 else "right"  # the names stay inside
        named, called = place in best or len(energy) <= 12, label(policy)
        data.append(
            _scatter(
                [energy[place]], [slow[place]], "markers+text" if named else "markers", name=called,
                showlegend=not named, text=[called], cliponaxis=False, meta={"policy": policy},
                textposition=f"{('bottom', 'middle', 'top')[rank[place] % 3]} {side}",
                textfont={"color": readable(look.colour), "size": 11}, marker=marker(look),
                hovertemplate=f"{called}: %{{x:.4g}} J a page, slowdown %{{y:.3g}}<extra></extra>",
            )
        )  # fmt: skip
    top = max([1.1, *slow])
    dtick = "D2" if high > 4 * low else "D1"
    return _figure(
        data, 400, shapes=_reference_lines(references), showlegend=True,
        xaxis=_log_axis("energy [J per page]", low, high, dtick=dtick), yaxis=_log_axis(words, top**-0.12, top**1.1),
    )  # fmt: skip


def timelines(runs: Sequence[Timeline]) -> dict[str, Any]:
    """Return a panel a policy under one another, with a common axis of time."""
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": [], "shapes": []}
    share = 1.0 / max(len(runs), 1)
    for number, run in enumerate(runs, 1):
        top, place = 1.0 - (number - 1) * share, str(number) if number > 1 else ""
        layout[f"yaxis{place}"] = _axis(
            "", domain=[top - 0.86 * share, top - 0.1 * share], tickvals=list(range(len(ROWS))), fixedrange=True,
            ticktext=list(ROWS.values()), range=[-0.6, len(ROWS) - 0.4], zeroline=False, ticks="",
        )  # fmt: skip
        layout["annotations"].append(
            {
                "text": f"<b>{label(run.policy)}</b>: {run.title}", "xref": "paper", "yref": "paper", "x": 0,
                "y": top - 0.085 * share, "xanchor": "left", "yanchor": "bottom", "showarrow": False,
            }
        )  # fmt: skip
        layout["shapes"] += [
            {
                "type": "rect", "xref": "x", "yref": f"y{place} domain", "x0": start, "x1": end, "y0": 0, "y1": 1,
                "fillcolor": GREY, "opacity": 0.18, "line": {"width": 0}, "layer": "below",
            }
            for start, end in run.loads
        ]  # fmt: skip
        data += [{**trace, "yaxis": f"y{place}", "showlegend": False} for trace in _panel(run)]
    time = _axis(
        "time since the start of the window [s]", zeroline=False, range=[0, max(run.length_s for run in runs)],
        anchor=f"y{len(runs)}" if runs[1:] else "y",
    )  # fmt: skip
    return _figure(data, 90 + len(runs) * (_ROW_HEIGHT * len(ROWS) + 50), xaxis=time, **layout)


def _panel(run: Timeline) -> Iterator[dict[str, Any]]:
    """Yield what is drawn of a run, row by row."""
    for spans, words, colour, width in (
        (run.waking, "waking up", PURPLE, 7), (run.awake, "awake to send only", INK, 4),
        (run.gate, "awake, frames delivered at once", SKY, 14),
    ):  # fmt: skip
        yield _bars("radio", [(*span, words) for span in spans], colour, width)
    for heard, colour in HEARD.items():
        beacons = [(one.time_s, f"beacon {_HEARD[heard]}") for one in run.beacons if one.heard == heard]
        yield _marks("beacons", beacons, colour, 12 if heard != "slept" else 6)
    for down, row, colour in ((True, "down", ORANGE), (False, "up", BLUE)):
        frames = []
        for frame in run.frames:
            waited = f", waited {(frame.start_ns - frame.reached_ns) / 1e6:.4g} ms" if down else ""
            words = f"{_FLAGS[frame.flag]}connection {frame.connection}, {frame.length} B of payload{waited}"
            if frame.down == down:
                frames.append((*run.frame_span(frame), words + ", lost" * frame.lost))
        yield _bars(row, frames, colour, 14)
    for row, steps, colour, words in (
        ("waiting", run.waiting, VERMILLION, "bytes wait"),
        ("outstanding", run.outstanding, PURPLE, "requests outstanding"),
    ):
        most, low = max((step.value for step in steps), default=0) or 1, PLACES[row] - 0.4
        points = [(at, low + 0.8 * one.value / most, f"{one.value:,} {words}") for one in steps for at in one[:2]]
        yield _on_time(points, "lines", line={"color": colour, "width": 1.5})
    yield _marks("decisions", run.decisions, INK, 9)


def _bars(row: str, spans: Iterable[tuple[float, float, str]], colour: str, width: int) -> dict[str, Any]:
    place = PLACES[row]
    points: list[Point] = []
    for start, end, words in spans:
        points += [(start, place, words), (end, place, words), (None, None, "")]
    return _on_time(
        points, "lines+markers", line={"color": colour, "width": width}, marker=_upright(colour, width, 1.5)
    )


def _marks(row: str, marks: Sequence[tuple[float, str]], colour: str, size: int) -> dict[str, Any]:
    return _on_time([(at, PLACES[row], words) for at, words in marks], "markers", marker=_upright(colour, size, 2))


def _upright(colour: str, size: int, width: float) -> dict[str, Any]:
    return {"symbol": "line-ns", "size": size, "line": {"color": colour, "width": width}}


def _on_time(points: Sequence[Point], mode: str, **more: Any) -> dict[str, Any]:
    times, places, words = ([point[at] for point in points] for at in range(3))
    return _scatter(times, places, mode, text=words, hovertemplate=_AT_TIME, **more)


def marker(look: Look) -> dict[str, Any]:
    """Return the marker of a look as Plotly has it."""
    line = {"color": INK, "width": 0.5}
    return {"color": look.colour, "symbol": look.symbol, "size": 1.5 * look.size, "line": line}


def _figure(data: list[dict[str, Any]], height: float, **layout: Any) -> dict[str, Any]:
    legend = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"}
    common = {
        "font": {"color": INK, "size": 12}, "paper_bgcolor": BACK, "plot_bgcolor": BACK, "hovermode": "closest",
        "margin": {"l": 8, "r": 12, "t": 28, "b": 8}, "height": height, "legend": legend,
    }  # fmt: skip
    return {"data": data, "layout": {**common, **layout}}


def _axis(title: str, **more: Any) -> dict[str, Any]:
    return {
        "title": {"text": title}, "gridcolor": GRID, "linecolor": INK, "ticks": "outside", "automargin": True,
        "exponentformat": "power", **more,
    }  # fmt: skip


def _log_axis(title: str, low: float, high: float, **more: Any) -> dict[str, Any]:
    return _axis(title, type="log", range=np.log10([low, high]).tolist(), tickformat="~g", **more)


def _scatter(x: Sequence[Any], y: Sequence[Any], mode: str, **more: Any) -> dict[str, Any]:
    return {"type": "scatter", "mode": mode, "x": x, "y": y, **more}


def _reference_lines(references: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the reference energies as lines across the picture, named in the legend."""
    return [
        {
            "type": "line", "xref": "x", "yref": "paper", "x0": references[name], "x1": references[name],
            "y0": 0, "y1": 1, "name": f"{name}, {references[name]:.3g} J", "showlegend": True, "layer": "below",
            "line": {"color": INK, "width": 1.5, "dash": dash},
        }
        for name, dash in zip(REFERENCES, ("dash", "dot"), strict=True)
        if name in references
    ]  # fmt: skip
